//! The memory that prediction works in: owned with sizes known when compiling,
//! or lent by the caller. Its size does not depend on the number of features.

use crate::error::Error;
use crate::model::BufferSizes;

/// Borrowed working memory of one prediction.
#[derive(Debug)]
pub struct Workspace<'b> {
    /// Quantised inputs.
    pub inputs: &'b mut [i16],
    /// Transform block of fourier features.
    pub block: &'b mut [i16],
    /// Transform block or shared pool of maxout and sigmoid features.
    pub wide: &'b mut [i32],
    /// Accumulators, one for each output.
    pub sums: &'b mut [i64],
    /// Scores, one for each output.
    pub scores: &'b mut [i32],
}

/// Something that a [`Predictor`](crate::Predictor) can work in.
pub trait Buffers {
    /// The working memory.
    fn workspace(&mut self) -> Workspace<'_>;
}

/// Working memory that the predictor owns, its lengths known when compiling
/// (see [`BufferSizes`] for what the parameters count).
#[derive(Clone, Debug)]
pub struct OwnedBuffers<
    const INPUTS: usize,
    const BLOCK: usize,
    const WIDE: usize,
    const OUTPUTS: usize,
> {
    inputs: [i16; INPUTS],
    block: [i16; BLOCK],
    wide: [i32; WIDE],
    sums: [i64; OUTPUTS],
    scores: [i32; OUTPUTS],
}

impl<const I: usize, const B: usize, const W: usize, const O: usize> OwnedBuffers<I, B, W, O> {
    /// Zeroed buffers.
    #[must_use]
    pub const fn new() -> Self {
        Self { inputs: [0; I], block: [0; B], wide: [0; W], sums: [0; O], scores: [0; O] }
    }
}

impl<const I: usize, const B: usize, const W: usize, const O: usize> Default
    for OwnedBuffers<I, B, W, O>
{
    fn default() -> Self {
        Self::new()
    }
}

impl<const I: usize, const B: usize, const W: usize, const O: usize> Buffers
    for OwnedBuffers<I, B, W, O>
{
    fn workspace(&mut self) -> Workspace<'_> {
        Workspace {
            inputs: &mut self.inputs,
            block: &mut self.block,
            wide: &mut self.wide,
            sums: &mut self.sums,
            scores: &mut self.scores,
        }
    }
}

/// Working memory that the caller lends.
impl Buffers for Workspace<'_> {
    fn workspace(&mut self) -> Workspace<'_> {
        Workspace {
            inputs: self.inputs,
            block: self.block,
            wide: self.wide,
            sums: self.sums,
            scores: self.scores,
        }
    }
}

impl<'b> Workspace<'b> {
    /// Cuts every buffer to exactly what the model needs.
    ///
    /// # Errors
    /// [`Error::Buffer`] names the first one that is too small.
    pub(crate) fn fit(self, sizes: BufferSizes) -> Result<Self, Error> {
        Ok(Self {
            inputs: cut(self.inputs, sizes.inputs, "inputs")?,
            block: cut(self.block, sizes.block, "block")?,
            wide: cut(self.wide, sizes.wide, "wide")?,
            sums: cut(self.sums, sizes.outputs, "sums")?,
            scores: cut(self.scores, sizes.outputs, "scores")?,
        })
    }
}

fn cut<'b, T>(
    buffer: &'b mut [T],
    needed: usize,
    name: &'static str,
) -> Result<&'b mut [T], Error> {
    let given = buffer.len();
    buffer.get_mut(..needed).ok_or(Error::Buffer { buffer: name, needed, given })
}
