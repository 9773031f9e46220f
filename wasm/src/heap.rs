//! Memory whose allocation may fail without ending the program.

use alloc::vec::Vec;

use bytemuck::cast_slice_mut;
use koan::{BufferSizes, Buffers, Workspace};

/// There is no memory left.
#[derive(Clone, Copy, Debug)]
pub struct Full;

/// Zeros of at least `bytes` bytes, aligned for every type.
#[inline(never)]
pub fn zeros(bytes: usize) -> Result<Vec<u64>, Full> {
    let length = bytes.div_ceil(8);
    let mut vector = Vec::new();
    vector.try_reserve_exact(length).map_err(|_| Full)?;
    vector.resize(length, 0);
    Ok(vector)
}

/// Buffers sized for a model when it is loaded, cut from one allocation.
#[derive(Debug)]
pub struct HeapBuffers {
    memory: Vec<u64>,
    sizes: BufferSizes,
}

impl HeapBuffers {
    /// Zeroed buffers of the given sizes.
    pub fn new(sizes: BufferSizes) -> Result<Self, Full> {
        Ok(Self { memory: zeros(sizes.bytes())?, sizes })
    }
}

impl Buffers for HeapBuffers {
    fn workspace(&mut self) -> Workspace<'_> {
        // The widest first, so that each is aligned for its type.
        let (sizes, memory) = (self.sizes, self.memory.as_mut_slice());
        let (sums, rest) = memory.split_at_mut(sizes.outputs.min(memory.len()));
        let words = cast_slice_mut::<u64, i32>(rest);
        let (wide, words) = words.split_at_mut(sizes.wide.min(words.len()));
        let halves = cast_slice_mut::<i32, i16>(words);
        let (block, inputs) = halves.split_at_mut(sizes.block.min(halves.len()));
        Workspace { inputs, block, wide, sums: cast_slice_mut(sums) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_buffer_has_its_length() {
        for (inputs, block, wide, outputs) in
            [(1, 0, 0, 0), (5, 8, 16, 3), (7, 0, 33, 1), (300, 512, 0, 255)]
        {
            let sizes = BufferSizes { inputs, block, wide, outputs };
            let mut buffers = HeapBuffers::new(sizes).unwrap();
            let workspace = buffers.workspace();
            assert!(workspace.inputs.len() >= inputs);
            assert_eq!(workspace.block.len(), block);
            assert_eq!(workspace.wide.len(), wide);
            assert_eq!(workspace.sums.len(), outputs);
        }
        assert!(zeros(usize::MAX / 2).is_err());
    }
}
