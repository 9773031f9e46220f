//! The scales and input maps of a blob that are nearest to real numbers.

use koan::InputMap;
use koan::numerics::Scale;

const ZERO: Scale = Scale::new(0, 0).unwrap();

/// The scale nearest to `factor`, with the most mantissa bits that fit.
///
/// Relative error at most 1/256 for factors in [2^−24, 255]; larger ones saturate at 255.
/// Negative, zero and NaN factors give 0.
#[must_use]
pub fn scale(factor: f64, max_shift: u8) -> Scale {
    if factor.is_nan() || factor <= 0.0 {
        return ZERO;
    }
    let mut scaled = factor;
    let mut shift = 0;
    while scaled < 127.75 && shift < max_shift {
        scaled *= 2.0;
        shift += 1;
    }
    let mut mult = (scaled + 0.5).min(255.0) as u8;
    while mult.is_multiple_of(2) && mult > 0 && shift > 0 {
        mult /= 2;
        shift -= 1;
    }
    Scale::new(mult, shift).unwrap_or(ZERO)
}

/// The gain up to which a map with this offset has what was asked for, within 1/256.
#[must_use]
pub fn most_gain(offset: f64) -> f64 {
    f64::from(1u32 << 22) / offset.abs()
}

/// The map nearest to `q = (u − offset)·gain`, u = x or its signed log.
///
/// `offset` in units of u, `gain` in q per unit of u. The gain is within 1/256 of what was
/// asked for while |offset|·gain is below 2^22; beyond, it is smaller, as precision goes to the
/// offset. A gain that is not positive and finite switches the input off.
#[must_use]
pub fn map(offset: f64, gain: f64, log: bool) -> InputMap {
    if !(gain > 0.0 && gain.is_finite() && offset.is_finite()) {
        return InputMap::OFF;
    }
    let power = |shift: i8| f64::from_bits(((1023 + i64::from(shift)) as u64) << 52);
    let mut shift = 63i8;
    // The largest shift whose mantissa still fits a byte...
    while shift > -64 && gain * 32768.0 / power(shift) < 127.75 {
        shift -= 1;
    }
    // ...and whose offset fits an i32.
    while shift > -64 && offset.abs() * power(shift) > f64::from(1u32 << 30) {
        shift -= 1;
    }
    let mult = (gain * 32768.0 / power(shift)).round().min(255.0) as u8;
    let offset = (offset * power(shift)).round() as i32;
    // The shift is one that maps have.
    InputMap::new(offset, shift, log, mult).filter(|_| mult > 0).unwrap_or(InputMap::OFF)
}

#[cfg(test)]
mod tests {
    use koan::Input;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scales_are_near_and_saturate() {
        for factor in [1.0, 0.5, 2.0, 0.0371, 255.0, 3.3e-5, 77.7] {
            assert!((scale(factor, 24).factor() / factor - 1.0).abs() <= 1.0 / 256.0);
        }
        assert_eq!(scale(1.0, 16), Scale::ONE);
        assert_eq!(scale(1e9, 16).mult(), 255);
        for factor in [f64::NAN, f64::INFINITY, -1.0, 0.0, 5e-324, f64::MAX] {
            assert!(scale(factor, 255).factor() >= 0.0);
        }
    }

    #[test]
    fn an_input_without_gain_is_off() {
        for gain in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(1e30f32.quantise(&map(1.0, gain, false), 32767, true), 0);
        }
        for offset in [f64::NAN, f64::INFINITY, f64::MIN, 1e300, -5e-324] {
            for gain in [f64::NAN, f64::INFINITY, f64::MAX, 5e-324, 1e300] {
                let _ = map(offset, gain, false).to_bytes();
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: proptest::test_runner::RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_map_is_the_asked_for_line(
            offset in -2e3f64..2e3, gain in 1e-3f64..1e3, z in -100f64..100.0, log in any::<bool>()
        ) {
            let map = map(offset, gain, log);
            let x = (offset + z) as f32;
            let u = f64::from(x);
            let u = if log { u.signum() * u.abs().ln_1p() } else { u };
            let exact = ((u - offset) * gain).clamp(-32767.0, 32767.0);
            let q = f64::from(x.quantise(&map, 32767, true));
            // Half a unit, the gain's eight bits, and the fixed point of the value.
            let slack = 1.0 + exact.abs() / 250.0 + gain * 1e-3;
            prop_assert!((q - exact).abs() <= slack, "{} for {}", q, exact);
        }
    }
}
