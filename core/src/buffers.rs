//! The memory that prediction works in: owned with sizes known when compiling,
//! or lent by the caller. Its size does not depend on the number of features.

use crate::error::Error;
use crate::format::model::Model;
use crate::needs::Form;

/// Borrowed working memory of one prediction.
#[derive(Debug)]
pub struct Workspace<'b> {
    /// Quantised inputs.
    pub inputs: &'b mut [i16],
    /// Transform block of fourier features (in the fast form, of 256 inputs and more), taps of
    /// conv features.
    pub block: &'b mut [i16],
    /// Transform block or shared pool of all other transforms, sums of conv and series features.
    pub wide: &'b mut [i32],
    /// Accumulators, one for each output: an i64, its low half first. The scores
    /// take their place.
    pub sums: &'b mut [[i32; 2]],
}

/// Something that a [`Predictor`](crate::Predictor) can work in.
pub trait Buffers {
    /// The working memory.
    fn workspace(&mut self) -> Workspace<'_>;
}

/// Working memory that the predictor owns, its lengths known when compiling
/// (see [`BufferSizes`](crate::BufferSizes) for what the parameters count).
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
    sums: [[i32; 2]; OUTPUTS],
}

impl<const I: usize, const B: usize, const W: usize, const O: usize> OwnedBuffers<I, B, W, O> {
    /// Zeroed buffers.
    #[must_use]
    pub const fn new() -> Self {
        Self { inputs: [0; I], block: [0; B], wide: [0; W], sums: [[0; 2]; O] }
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
        }
    }
}

/// Working memory that the caller lends.
impl Buffers for Workspace<'_> {
    fn workspace(&mut self) -> Workspace<'_> {
        Workspace { inputs: self.inputs, block: self.block, wide: self.wide, sums: self.sums }
    }
}

/// Working memory that lies elsewhere, such as in a static.
impl<B: Buffers> Buffers for &mut B {
    fn workspace(&mut self) -> Workspace<'_> {
        (**self).workspace()
    }
}

/// A buffer that is too small.
pub(crate) struct Short {
    buffer: &'static str,
    needed: usize,
    given: usize,
}

impl Short {
    #[inline]
    pub(crate) const fn error(&self) -> Error {
        Error::Buffer { buffer: self.buffer, needed: self.needed, given: self.given }
    }
}

impl Workspace<'_> {
    /// Cuts every buffer to exactly what the model needs, or names the first one that
    /// is too small.
    #[inline(never)]
    pub(crate) fn fit(&mut self, model: &Model<'_>, form: Form) -> Option<Short> {
        let sizes = model.buffer_sizes(form);
        cut(&mut self.inputs, sizes.inputs, "inputs")
            .or_else(|| cut(&mut self.block, sizes.block, "block"))
            .or_else(|| cut(&mut self.wide, sizes.wide, "wide"))
            .or_else(|| cut(&mut self.sums, sizes.outputs, "sums"))
    }
}

#[inline]
fn cut<T>(buffer: &mut &mut [T], needed: usize, name: &'static str) -> Option<Short> {
    let given = buffer.len();
    match core::mem::take(buffer).get_mut(..needed) {
        Some(cut) => *buffer = cut,
        None => return Some(Short { buffer: name, needed, given }),
    }
    None
}
