//! The input map of floats.

use core::arch::wasm32::{
    f32x4_eq, f32x4_mul, f32x4_splat, i16x8_narrow_i32x4, i32x4_add, i32x4_max, i32x4_min,
    i32x4_mul, i32x4_shr, i32x4_splat, i32x4_sub, i32x4_trunc_sat_f32x4, v128, v128_and,
};

use bytemuck::cast;

use crate::format::map::InputMap;

/// Beyond this a difference to the offset saturates.
const MOST: i32 = (1 << 23) - 1;

/// Maps the whole fours of a row, all by one map; how many numbers that are. None by a map
/// with logarithm, or with an offset that is so large that its double overflows.
#[inline(never)]
pub(crate) fn quantise(map: &InputMap, limit: i32, row: &[f32], q: &mut [i16]) -> usize {
    if map.log || map.offset.saturating_abs() >= (1 << 30) - MOST {
        return 0;
    }
    // Halves of the map's unit. Products with a power of two are exact but where they are 0
    // or saturate in any case.
    let halves = f32x4_splat(f32::from_bits(((128 + i32::from(map.shift)) as u32) << 23));
    let [first, last] = [-MOST, MOST].map(|most| i32x4_splat(2 * (map.offset + most)));
    let (offset, mult) = (i32x4_splat(map.offset), i32x4_splat(map.mult.into()));
    let [least, most] = [-limit, limit].map(|limit| i32x4_splat(limit));
    let mut done = 0;
    for (place, &four) in q.as_chunks_mut::<4>().0.iter_mut().zip(row.as_chunks::<4>().0) {
        let values: v128 = cast(four);
        let doubled = i32x4_trunc_sat_f32x4(f32x4_mul(values, halves));
        let bounded = i32x4_min(i32x4_max(doubled, first), last);
        // Halves are rounded away from zero: 1 more where they are not negative.
        let one = i32x4_add(i32x4_shr(bounded, 31), i32x4_splat(1));
        let centred = i32x4_sub(i32x4_shr(i32x4_add(bounded, one), 1), offset);
        let scaled = i32x4_shr(i32x4_add(i32x4_mul(centred, mult), i32x4_splat(1 << 14)), 15);
        let limited = i32x4_max(i32x4_min(scaled, most), least);
        // NaN gives 0.
        let known = v128_and(limited, f32x4_eq(values, values));
        [*place, _] = cast(i16x8_narrow_i32x4(known, known));
        done += 4;
    }
    done
}
