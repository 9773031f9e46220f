//! The shape of a convolution: what it slides over, and what that needs.

use crate::bytes::byte_at;
use crate::numerics::quotient;

/// Filters of signs that slide over an image or a series: of every window, its numbers
/// with random signs go through a Hadamard transform, each row of which is a filter. A
/// cosine or a sign of the filter's sum at every position, averaged over the cells of a
/// grid: Rahimi and Recht's features, convolutional, with the pooling of Dempster, Schmidt
/// and Webb, *MiniRocket* (2021), as one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Conv {
    /// Rows of the image; 1 for a series.
    pub height: u8,
    /// Numbers of a pixel or sample; they lie together in a row of the data.
    pub channels: u8,
    /// Taps of a filter along the width, and along the height of an image.
    pub kernel: u8,
    /// Pixels from a position to the next, 1 to 15.
    pub stride: u8,
    /// Cells along the width, and along the height of an image.
    pub grid: u8,
    /// Whether features are the proportion of positions whose phase is not negative,
    /// instead of the average cosine.
    pub proportion: bool,
    /// Whether filters are dilated by powers of two, as many as fit, a block of filters by
    /// each in turn.
    pub dilated: bool,
    /// Filters of a block, R: the length of the transform that they come from; 8, 16, 32
    /// or 64. A window of more numbers is folded to it.
    pub transform: u8,
}

/// One direction of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) length: usize,
    pub(crate) kernel: usize,
    pub(crate) cells: usize,
}

impl Axis {
    /// Positions at a stride and a dilation.
    pub(crate) const fn positions(self, stride: usize, dilation: usize) -> usize {
        let reach = self.kernel.saturating_sub(1).saturating_mul(dilation);
        if reach >= self.length { 0 } else { divided(self.length - 1 - reach, stride) + 1 }
    }

    /// The first position of a cell; behind the last cell the number of positions.
    pub(crate) const fn start(self, stride: usize, dilation: usize, cell: usize) -> usize {
        let all = cell.saturating_mul(self.positions(stride, dilation));
        divided(all.saturating_add(self.cells).saturating_sub(1), self.cells)
    }
}

/// ⌊dividend / divisor⌋, 0 for a divisor of 0: the parser checks sizes after it has read
/// them.
pub(crate) const fn divided(dividend: usize, divisor: usize) -> usize {
    if divisor == 0 { 0 } else { quotient(dividend as u32, divisor as u32) as usize }
}

impl Conv {
    /// Bytes of a convolution's parameters in a blob.
    pub const BYTES: usize = 5;
    /// Bit of the mode byte: see [`Conv::proportion`].
    const PROPORTION: u8 = 1 << 4;
    /// Bit of the mode byte: see [`Conv::dilated`].
    const DILATED: u8 = 1 << 5;

    /// The parameters in a blob.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut mode = self.stride & 15 | (self.transform_log().wrapping_sub(3) & 3) << 6;
        if self.proportion {
            mode |= Self::PROPORTION;
        }
        if self.dilated {
            mode |= Self::DILATED;
        }
        [self.height, self.channels, self.kernel, mode, self.grid]
    }

    /// The parameters at `at`, without a look at their values.
    pub(crate) const fn read(blob: &[u8], at: usize) -> Self {
        let mode = byte_at(blob, at + 3);
        Self {
            height: byte_at(blob, at),
            channels: byte_at(blob, at + 1),
            kernel: byte_at(blob, at + 2),
            stride: mode & 15,
            grid: byte_at(blob, at + 4),
            proportion: mode & Self::PROPORTION != 0,
            dilated: mode & Self::DILATED != 0,
            transform: 8 << (mode >> 6),
        }
    }

    /// The stages of the transform.
    pub(crate) const fn transform_log(&self) -> u8 {
        match self.transform {
            ..16 => 3,
            16..32 => 4,
            32..64 => 5,
            _ => 6,
        }
    }

    /// Whether rows of so many inputs can have this shape.
    #[must_use]
    pub const fn fits(&self, inputs: u16) -> bool {
        let pixel = self.height as usize * self.channels as usize;
        // A kernel of one tap could be dilated for ever.
        self.kernel > self.dilated as u8
            && self.grid > 0
            && self.stride > 0
            && self.stride < 16
            && self.transform == 1 << self.transform_log()
            && self.width(inputs) * pixel == inputs as usize
            && self.positions_fit(inputs, 1)
    }

    /// Whether every cell of the grid has a position at this dilation.
    pub(crate) const fn positions_fit(&self, inputs: u16, dilation: usize) -> bool {
        let [y, x] = self.axes(inputs);
        let stride = self.stride as usize;
        y.positions(stride, dilation) >= y.cells && x.positions(stride, dilation) >= x.cells
    }

    /// Height and width.
    pub(crate) const fn axes(&self, inputs: u16) -> [Axis; 2] {
        let (kernel, cells) = (self.kernel as usize, self.grid as usize);
        let width = Axis { length: self.width(inputs), kernel, cells };
        if self.height == 1 {
            [Axis { length: 1, kernel: 1, cells: 1 }, width]
        } else {
            [Axis { length: self.height as usize, ..width }, width]
        }
    }

    /// Pixels of an image's row, or samples of a series.
    #[must_use]
    pub const fn width(&self, inputs: u16) -> usize {
        divided(inputs as usize, self.height as usize * self.channels as usize)
    }

    /// Features of a filter: cells of the grid.
    #[must_use]
    pub const fn cells(&self) -> u16 {
        self.grid as u16 * if self.height == 1 { 1 } else { self.grid as u16 }
    }

    /// Positions of a filter that is not dilated.
    #[must_use]
    pub const fn positions(&self, inputs: u16) -> usize {
        let [y, x] = self.axes(inputs);
        let stride = self.stride as usize;
        y.positions(stride, 1) * x.positions(stride, 1)
    }

    /// By how many powers of two filters are dilated, a block of them by each in turn.
    #[must_use]
    pub const fn dilations(&self, inputs: u16) -> usize {
        let mut dilations = 1;
        // Two taps 2^16 apart fit no row; in a bank that was not checked there may be one tap.
        while self.dilated && dilations < 16 && self.positions_fit(inputs, 1 << dilations) {
            dilations += 1;
        }
        dilations
    }

    /// The first position, along the width, of each cell, and that behind the last one.
    #[must_use]
    pub const fn start(&self, inputs: u16, dilation: usize, cell: usize) -> usize {
        self.axes(inputs)[1].start(self.stride as usize, dilation, cell)
    }

    /// Filters of so many features.
    #[must_use]
    pub const fn filters(&self, features: u16) -> u32 {
        divided(features as usize, self.cells() as usize) as u32
    }

    /// Weights of a filter.
    #[must_use]
    pub const fn taps(&self) -> usize {
        let height = if self.height == 1 { 1 } else { self.kernel as usize };
        height * self.kernel as usize * self.channels as usize
    }
}
