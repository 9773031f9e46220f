//! Lists of kept features in a build without them: refused.

use core::marker::PhantomData;

use crate::error::Feature;
use crate::format::Cursor;

/// No list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<'a>(PhantomData<&'a [u8]>);

impl<'a> Kept<'a> {
    pub(crate) const NONE: Self = Self(PhantomData);

    pub(crate) const fn read(cursor: &mut Cursor<'a>) -> Self {
        cursor.not_built(Feature::Kept);
        Self::NONE
    }

    pub(crate) const fn bytes(&self) -> usize {
        0
    }

    pub(super) const fn codes(&self) -> Option<Codes<'a>> {
        None
    }

    pub(crate) const fn check(&self, _: u16, _: u32) -> bool {
        true
    }
}

/// Nothing: there are no codes.
pub(super) enum Codes<'a> {
    #[expect(dead_code, reason = "for the lifetime")]
    Never(core::convert::Infallible, PhantomData<&'a [u8]>),
}

impl Codes<'_> {
    pub(super) fn next_of_checked(&mut self) -> usize {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }
}
