//! Cosines of phases, and their offsets.

use core::arch::wasm32::{
    i8x16_gt, i8x16_lt, i8x16_min, i8x16_splat, i8x16_sub, i8x16_swizzle, i16x8_add, i16x8_splat,
    i16x8_sub, u8x16_narrow_i16x8, u16x8_shr, v128, v128_or, v128_xor,
};
use core::hint::black_box;

use bytemuck::cast;

use super::eight;
use crate::families::Offsets;
use crate::numerics::QUARTER;

/// The cosines of sixteen angles, of which a full turn is 2^8.
#[inline(always)]
pub(super) fn cosines_of(angles: v128) -> v128 {
    // The second half turn mirrors the first, the second quarter is the first's negative.
    let half = v128_xor(angles, i8x16_lt(angles, i8x16_splat(0)));
    let signs = i8x16_gt(half, i8x16_splat(63));
    let mut place = i8x16_min(half, v128_xor(half, i8x16_splat(127)));
    let mut found = i8x16_splat(0);
    // Through memory: the program has the table once.
    for &sixteen in black_box(&QUARTER).as_chunks::<16>().0 {
        // A place beyond its sixteen gives 0.
        found = v128_or(found, i8x16_swizzle(cast(sixteen), place));
        place = i8x16_sub(place, i8x16_splat(16));
    }
    i8x16_sub(v128_xor(found, signs), signs)
}

/// The high bytes of two vectors of phases.
#[inline(always)]
pub(super) fn angles(low: v128, high: v128) -> v128 {
    u8x16_narrow_i16x8(u16x8_shr(low, 8), u16x8_shr(high, 8))
}

/// The offsets of eight features in order, as phases.
#[derive(Clone, Copy)]
pub(super) struct Eight {
    offsets: v128,
    steps: v128,
    growth: v128,
}

impl Eight {
    #[inline(never)]
    pub(super) fn new(mut offsets: Offsets) -> Self {
        let mut first = [0; 16];
        for place in &mut first {
            *place = (offsets.add_next(0) >> 16) as i16;
        }
        let [first, second]: [v128; 2] = cast(first);
        // From a feature to the eighth after it; that grows by eight steps for each of these.
        let growth = i16x8_splat(64u16.wrapping_mul(offsets.growth()) as i16);
        Self { offsets: first, steps: i16x8_sub(second, first), growth }
    }

    /// Those of the next eight features.
    #[inline(always)]
    pub(super) fn next(&mut self) -> v128 {
        let offsets = self.offsets;
        self.offsets = i16x8_add(offsets, self.steps);
        self.steps = i16x8_add(self.steps, self.growth);
        offsets
    }
}

/// The features of phases, to which offsets are added; what is behind them in the run is
/// overwritten up to sixteen.
#[inline(never)]
pub(crate) fn cosines(phases: &[i16], offsets: &mut Offsets, run: &mut [i8]) {
    let mut next = Eight::new(*offsets);
    for (place, phases) in run.as_chunks_mut::<16>().0.iter_mut().zip(phases.chunks(16)) {
        let low = i16x8_add(eight(phases), next.next());
        let high = i16x8_add(eight(phases.get(8..).unwrap_or_default()), next.next());
        *place = cast(cosines_of(angles(low, high)));
    }
    offsets.skip(phases.len());
}
