//! WebAssembly's vectors of 128 bits, for the loops that predictions in the small form spend
//! their time in. The same integers as the loops that they stand in for: the golden models are
//! replayed with and without.
//!
//! Written out because these loops would only be vectorised at optimisation levels that double
//! the size of everything else, and half of them not even there.

mod conv;
mod cosine;
mod quantise;
mod transform;
mod weigh;

pub(crate) use conv::Pool;
pub(crate) use cosine::cosines;
pub(crate) use quantise::quantise;
pub(crate) use transform::transform;
pub(crate) use weigh::{lay_out, weigh};

/// Words in which [`lay_out`] lays out a run of the small form.
pub(crate) const LAID_OUT: usize = 8 + 2 * crate::sink::SMALL_RUN;

use core::arch::wasm32::v128;

use bytemuck::cast;

/// Sixteen bytes at any address.
type Bytes = [u8; 16];

/// The eight numbers that `numbers` starts with; zeros where there are none.
#[inline(always)]
fn eight(numbers: &[i16]) -> v128 {
    match numbers.first_chunk::<8>() {
        Some(&whole) => cast(whole),
        None => rare(numbers),
    }
}

#[inline(never)]
fn rare(numbers: &[i16]) -> v128 {
    let mut copy = [0i16; 8];
    copy.iter_mut().zip(numbers).for_each(|(place, &number)| *place = number);
    cast(copy)
}
