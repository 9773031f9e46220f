//! The list of kept features: a bank may have only some of its features, and says
//! which.
//!
//! Any feature can be made alone, so a pruned model needs the indices of what it
//! keeps and nothing else. They rise; each is stored as how many are skipped in
//! front of it, in a Rice code (Golomb codes with a power of two: R. F. Rice, *Some
//! practical universal noiseless coding techniques*, 1979): the quotient by 2^r in
//! unary, then r low bits. Read a bit at a time, an index when it is needed.

#[cfg(not(any(feature = "small", target_family = "wasm")))]
use core::ops::Range;

#[cfg(feature = "kept")]
mod list;
#[cfg(not(feature = "kept"))]
mod none;

#[cfg(feature = "kept")]
use list::Codes;
#[cfg(feature = "kept")]
pub(crate) use list::Kept;
#[cfg(not(feature = "kept"))]
use none::Codes;
#[cfg(not(feature = "kept"))]
pub(crate) use none::Kept;

/// Indices of kept features lie below this.
pub const MAX_INDEX: u32 = 1 << 20;

/// The indices of a list that was checked, for what a family does of lists alone.
pub(crate) struct Listed<'a> {
    codes: Codes<'a>,
    left: u16,
}

impl<'a> Listed<'a> {
    /// None for a bank that has all its features.
    pub(crate) const fn new(kept: Kept<'a>, features: u16) -> Option<Self> {
        match kept.codes() {
            Some(codes) => Some(Self { codes, left: features }),
            None => None,
        }
    }
}

impl Iterator for Listed<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        Some(self.codes.next_of_checked())
    }
}

/// The indices of a bank's features, one by one. Where bytes count this does for all
/// families what elsewhere [`Spans`] are for.
#[cfg(any(feature = "small", target_family = "wasm"))]
pub(crate) struct Indices<'a> {
    /// None for a bank that has all its features.
    list: Option<Codes<'a>>,
    next: usize,
    left: u16,
}

#[cfg(any(feature = "small", target_family = "wasm"))]
impl<'a> Indices<'a> {
    pub(crate) const fn new(kept: Kept<'a>, features: u16) -> Self {
        Self { list: kept.codes(), next: 0, left: features }
    }
}

#[cfg(any(feature = "small", target_family = "wasm"))]
impl Iterator for Indices<'_> {
    type Item = usize;

    #[inline(never)]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let index = match &mut self.list {
            Some(codes) => codes.next_of_checked(),
            None => self.next,
        };
        self.next = index + 1;
        Some(index)
    }
}

/// The features of a bank as runs of indices: all at once for a bank that has all,
/// one by one for a list. So what a family does for each of them costs nothing
/// more for want of a list.
#[cfg(not(any(feature = "small", target_family = "wasm")))]
#[derive(Clone)]
pub(crate) struct Spans<'a> {
    /// None for a bank that has all its features.
    list: Option<Codes<'a>>,
    left: usize,
}

#[cfg(not(any(feature = "small", target_family = "wasm")))]
impl<'a> Spans<'a> {
    pub(crate) const fn new(kept: Kept<'a>, features: u16) -> Self {
        Self { list: kept.codes(), left: features as usize }
    }
}

#[cfg(not(any(feature = "small", target_family = "wasm")))]
impl Iterator for Spans<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        if self.left == 0 {
            return None;
        }
        let Some(list) = &mut self.list else {
            let all = 0..self.left;
            self.left = 0;
            return Some(all);
        };
        self.left -= 1;
        let index = list.next_of_checked();
        Some(index..index + 1)
    }
}
