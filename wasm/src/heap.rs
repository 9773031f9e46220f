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

/// What a model works in. Each part is whole words.
#[derive(Default)]
pub struct Memory {
    /// Where a row is written: f32.
    pub row: Box<[u64]>,
    /// Where features are read: i16.
    pub features: Box<[u64]>,
    /// Where scores are read: i32, one for each output from the front on.
    pub sums: Box<[u64]>,
    inputs: Box<[u64]>,
    block: Box<[u64]>,
    wide: Box<[u64]>,
}

impl Memory {
    /// The memory that a model needs.
    pub fn new(model: &Model<'_>) -> Result<Self, Full> {
        let sizes = model.buffer_sizes();
        Ok(Self {
            row: zeros(4 * sizes.inputs)?,
            features: zeros(2 * model.features())?,
            sums: zeros(8 * sizes.outputs)?,
            inputs: zeros(2 * sizes.inputs)?,
            block: zeros(2 * sizes.block)?,
            wide: zeros(4 * sizes.wide)?,
        })
    }

    /// The row, the features, and what predictions work in.
    pub fn parts(&mut self) -> (&mut [f32], &mut [i16], Workspace<'_>) {
        let workspace = Workspace {
            inputs: cast_slice_mut(&mut self.inputs),
            block: cast_slice_mut(&mut self.block),
            wide: cast_slice_mut(&mut self.wide),
            sums: cast_slice_mut(&mut self.sums),
        };
        (cast_slice_mut(&mut self.row), cast_slice_mut(&mut self.features), workspace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_length() {
        let model = Model::parse(include_bytes!("../../core/tests/tiny.koan")).unwrap();
        let mut memory = Memory::new(&model).unwrap();
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
