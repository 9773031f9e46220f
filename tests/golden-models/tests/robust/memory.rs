//! Working memory of exactly the lengths that a model says.

use koan::{BufferSizes, Buffers, Workspace};

/// Buffers that are dirty, as lent ones may be.
#[derive(Debug)]
pub struct Memory {
    inputs: Vec<i16>,
    block: Vec<i16>,
    wide: Vec<i32>,
    sums: Vec<[i32; 2]>,
}

impl Memory {
    /// Buffers of these lengths.
    #[must_use]
    pub fn new(sizes: BufferSizes) -> Self {
        Self {
            inputs: vec![-1; sizes.inputs],
            block: vec![-1; sizes.block],
            wide: vec![-1; sizes.wide],
            sums: vec![[-1; 2]; sizes.outputs],
        }
    }
}

impl Buffers for Memory {
    fn workspace(&mut self) -> Workspace<'_> {
        Workspace {
            inputs: &mut self.inputs,
            block: &mut self.block,
            wide: &mut self.wide,
            sums: &mut self.sums,
        }
    }
}
