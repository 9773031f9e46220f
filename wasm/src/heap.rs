//! Memory whose allocation may fail without ending the program.

use alloc::boxed::Box;

use bytemuck::allocation::try_zeroed_slice_box;
use bytemuck::cast_slice_mut;
use koan::{Model, Workspace};

/// There is no memory left.
#[derive(Clone, Copy, Debug)]
pub struct Full;

/// Zeros of at least `bytes` bytes, aligned for every type.
#[inline(never)]
pub fn zeros(bytes: usize) -> Result<Box<[u64]>, Full> {
    try_zeroed_slice_box(bytes.div_ceil(8)).map_err(|()| Full)
}

/// What a model works in: a row (f32), features (i16), accumulators that scores take
/// the place of (i32), inputs, transform blocks (two). Each part is whole words.
#[derive(Default)]
pub struct Memory([Box<[u64]>; 6]);

impl Memory {
    /// Makes the memory that a model needs.
    pub fn fill(&mut self, model: &Model<'_>) -> Result<(), Full> {
        let sizes = model.buffer_sizes();
        let bytes = [
            4 * sizes.inputs,
            2 * model.features(),
            8 * sizes.outputs,
            2 * sizes.inputs,
            2 * sizes.block,
            4 * sizes.wide,
        ];
        for (part, bytes) in self.0.iter_mut().zip(bytes) {
            *part = zeros(bytes)?;
        }
        Ok(())
    }

    /// Where a row is written, and scores and features are read.
    pub fn places(&self) -> [u32; 3] {
        let [row, features, scores, ..] = &self.0;
        [row, scores, features].map(|part| part.as_ptr() as u32)
    }

    /// The row, the features, and what predictions work in.
    pub fn parts(&mut self) -> (&mut [f32], &mut [i16], Workspace<'_>) {
        let [row, features, sums, inputs, block, wide] = &mut self.0;
        let workspace = Workspace {
            inputs: cast_slice_mut(inputs),
            block: cast_slice_mut(block),
            wide: cast_slice_mut(wide),
            sums: cast_slice_mut(sums),
        };
        (cast_slice_mut(row), cast_slice_mut(features), workspace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_length() {
        let model = Model::parse(include_bytes!("../../core/tests/tiny.koan")).unwrap();
        let mut memory = Memory::default();
        memory.fill(&model).unwrap();
        let (row, features, workspace) = memory.parts();
        assert!(row.len() >= model.inputs() && features.len() >= model.features());
        let sizes = model.buffer_sizes();
        assert!(workspace.inputs.len() >= sizes.inputs);
        assert!(workspace.block.len() >= sizes.block);
        assert!(workspace.wide.len() >= sizes.wide);
        assert_eq!(workspace.sums.len(), sizes.outputs);
        assert!(zeros(usize::MAX / 2).is_err());
    }
}
