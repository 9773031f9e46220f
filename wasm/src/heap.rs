//! Memory whose allocation may fail without ending the program.

use alloc::boxed::Box;

use bytemuck::allocation::try_zeroed_slice_box;
use bytemuck::cast_slice_mut;
use koan::{Model, Workspace};

/// Rows are staged and results are handed over in about this many bytes, so
/// that a batch of any length needs no more memory than this.
const STAGE_BYTES: usize = 1 << 15;

/// There is no memory left.
#[derive(Clone, Copy, Debug)]
pub struct Full;

/// Zeros of at least `bytes` bytes, aligned for every type.
#[inline(never)]
pub fn zeros(bytes: usize) -> Result<Box<[u64]>, Full> {
    try_zeroed_slice_box(bytes.div_ceil(8)).map_err(|()| Full)
}

/// The bytes of a model's memory, in the order in which [`cut`] cuts it: rows,
/// results, inputs, transform blocks (two), accumulators.
fn bytes(model: &Model<'_>) -> [usize; 6] {
    let sizes = model.buffer_sizes();
    let results = (2 * model.features()).max(4 * sizes.outputs.max(2));
    [
        (4 * sizes.inputs).max(STAGE_BYTES),
        results.max(STAGE_BYTES),
        2 * sizes.inputs,
        2 * sizes.block,
        4 * sizes.wide,
        8 * sizes.outputs,
    ]
}

/// The memory that a model needs.
pub fn memory(model: &Model<'_>) -> Result<Box<[u64]>, Full> {
    // Each part starts on a whole word.
    zeros(bytes(model).iter().map(|bytes| bytes + 7).sum())
}

/// A model's memory in parts: where rows are staged, where results go, and what
/// predictions work in.
pub fn cut<'m>(
    model: &Model<'_>,
    mut memory: &'m mut [u64],
) -> (&'m mut [f32], &'m mut [u64], Workspace<'m>) {
    let [staged, results, inputs, block, wide, sums] = bytes(model).map(|bytes| {
        let (part, rest) = core::mem::take(&mut memory)
            .split_at_mut_checked(bytes.div_ceil(8))
            .unwrap_or_default();
        memory = rest;
        part
    });
    let workspace = Workspace {
        inputs: cast_slice_mut(inputs),
        block: cast_slice_mut(block),
        wide: cast_slice_mut(wide),
        sums: cast_slice_mut(sums),
    };
    (cast_slice_mut(staged), results, workspace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_length() {
        let model = Model::parse(include_bytes!("../../core/tests/tiny.koan")).unwrap();
        let mut memory = memory(&model).unwrap();
        let (staged, results, workspace) = cut(&model, &mut memory);
        assert_eq!(4 * staged.len(), STAGE_BYTES);
        assert_eq!(8 * results.len(), STAGE_BYTES);
        let sizes = model.buffer_sizes();
        assert!(workspace.inputs.len() >= sizes.inputs);
        assert!(workspace.block.len() >= sizes.block);
        assert!(workspace.wide.len() >= sizes.wide);
        assert_eq!(workspace.sums.len(), sizes.outputs);
        assert!(zeros(usize::MAX / 2).is_err());
    }
}
