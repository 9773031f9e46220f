//! Working memory on the heap, for hosts that meet models of any size.

use koan::{BufferSizes, Buffers, Workspace};

/// Buffers sized for a model when the program runs.
#[derive(Clone, Debug)]
pub struct HeapBuffers {
    inputs: Vec<i16>,
    block: Vec<i16>,
    wide: Vec<i32>,
    sums: Vec<[i32; 2]>,
}

impl HeapBuffers {
    /// Zeroed buffers of the given sizes.
    #[must_use]
    pub fn new(sizes: BufferSizes) -> Self {
        Self {
            inputs: vec![0; sizes.inputs],
            block: vec![0; sizes.block],
            wide: vec![0; sizes.wide],
            sums: vec![[0; 2]; sizes.outputs],
        }
    }
}

impl Buffers for HeapBuffers {
    fn workspace(&mut self) -> Workspace<'_> {
        Workspace {
            inputs: &mut self.inputs,
            block: &mut self.block,
            wide: &mut self.wide,
            sums: &mut self.sums,
        }
    }
}
