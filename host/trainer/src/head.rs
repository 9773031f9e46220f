//! From real weights to the integers of a head.

use koan::{Calibration, FEATURE_ONE, Family, Width};

use crate::blob::{BankWeights, HeadSpec, ModelSpec};
use crate::features::unit;
use crate::quantise::Levels;

/// One output, rounded: all columns' codes, each bank's levels, and the bias in
/// real units.
#[derive(Clone, Debug)]
pub struct RoundedOutput {
    /// Codes of all columns, bank after bank.
    pub codes: Vec<u32>,
    /// Levels of each bank; steps are real values of what a feature is multiplied by.
    pub levels: Vec<Levels>,
    /// Bias in real units.
    pub bias: f64,
}

/// The largest magnitude of a bank's integer features.
fn largest_feature(family: Family) -> f64 {
    f64::from(if family == Family::Linear { i16::MAX } else { FEATURE_ONE })
}

/// The nearest number of 16 significant bits. Products of matrices, and so steps, differ in their last
/// bits from one kind of processor to another: the factor that a model has of them does not.
fn of_16_bits(x: f64) -> f64 {
    const LEFT: u32 = f64::MANTISSA_DIGITS - 16;
    let half = 1 << (LEFT - 1);
    f64::from_bits((x.to_bits() + half) >> LEFT << LEFT)
}

/// A calibration as a model has it: as little depends on such bits. Intercepts, which may be near 0,
/// are in units of 2^-14.
pub(crate) fn rounded(found: Calibration) -> Calibration {
    const UNIT: f64 = (1 << 14) as f64;
    let intercept = (f64::from(found.intercept) * UNIT).round() / UNIT;
    let [slope, intercept] = [found.slope.into(), intercept].map(|x| of_16_bits(x) as f32);
    Calibration { slope, intercept }
}

/// Puts rounded outputs together: multipliers carry the ratio of the steps, the
/// shift is the least for which no score can saturate.
#[must_use]
pub fn assemble(spec: &ModelSpec, width: Width, outputs: &[RoundedOutput]) -> HeadSpec {
    // Steps of the core's integers.
    let step = |output: &RoundedOutput, bank: usize| {
        output.levels[bank].step * unit(spec.banks[bank].family)
    };
    let banks = 0..spec.banks.len();
    let single = outputs.len() * spec.banks.len() == 1;
    let largest = outputs
        .iter()
        .flat_map(|output| banks.clone().map(move |bank| step(output, bank)))
        .fold(0.0, f64::max);
    let of_one = of_16_bits(if single { largest } else { largest / f64::from(u16::MAX) });

    let mut worst = 0.0f64;
    let mut weights: Vec<BankWeights> = spec
        .banks
        .iter()
        .map(|_| BankWeights { width, codes: Vec::new(), multipliers: Vec::new() })
        .collect();
    for output in outputs {
        let mut reach = output.bias.abs() / of_one;
        let mut start = 0;
        for (index, bank) in spec.banks.iter().enumerate() {
            let wanted = step(output, index) / of_one;
            let multiplier = (wanted.round() as u16).max(1);
            let levels = Levels { width, step: f64::from(multiplier) };
            // The same codes, unless the step is so small beside the largest one that its
            // multiplier is far from it.
            let code = |&code: &u32| levels.code(f64::from(width.value(code)) * wanted);
            let codes: Vec<u32> =
                output.codes[start..start + bank.columns()].iter().map(code).collect();
            start += bank.columns();
            let magnitude = |&code: &u32| f64::from(width.value(code).unsigned_abs());
            let active: f64 = match bank.family.slot_bits() {
                // One column of a grid is on: the largest weight bounds it.
                Some(slot_bits) => codes
                    .chunks(1 << slot_bits)
                    .map(|grid| grid.iter().map(magnitude).fold(0.0, f64::max))
                    .sum(),
                None => codes.iter().map(magnitude).sum(),
            };
            reach += active * largest_feature(bank.family) * f64::from(multiplier);
            weights[index].codes.push(codes);
            weights[index].multipliers.push(multiplier);
        }
        worst = worst.max(reach);
    }
    let mut shift = 0u8;
    while worst / 2f64.powi(i32::from(shift)) > 1e9 && shift < 40 {
        shift += 1;
    }
    let scale = of_one * 2f64.powi(i32::from(shift));
    let bias = outputs.iter().map(|output| (output.bias / scale).round() as i32).collect();
    HeadSpec { scale: scale as f32, shift, bias, weights }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::{BankSpec, MapSpec};
    use koan::numerics::Scale;
    use koan::{InputMap, Law};

    /// A head of 4-bit weights for one output over features and inputs.
    fn head(steps: [f64; 2]) -> HeadSpec {
        let bank = |family, law| BankSpec {
            family,
            law,
            features: 8,
            scale: Scale::ONE,
            groups: Vec::new(),
            kept: None,
        };
        let map = MapSpec::Shared(InputMap::new(0, 0, false, 1).unwrap());
        let banks = vec![bank(Family::Fourier, Law::Gaussian), bank(Family::Linear, Law::None)];
        let spec = ModelSpec::features(1, 8, map, banks);
        let width = Width::new(4, true).unwrap();
        let output = RoundedOutput {
            codes: (0..16).collect(),
            levels: steps.map(|step| Levels { width, step }).to_vec(),
            bias: 0.25,
        };
        assemble(&spec, width, &[output])
    }

    #[test]
    fn heads_do_not_depend_on_the_last_bits_of_steps() {
        for k in 1..2000 {
            let step = 1e-4 * f64::from(k) * 1.000_271;
            let [less, more] =
                [1.0 - 1e-10, 1.0 + 1e-10].map(|by| head([by * step, 0.7 * by * step]));
            assert_eq!(less.scale, more.scale, "{step}");
            assert_eq!(less.weights, more.weights, "{step}");
        }
        assert_eq!(
            [0.0, 1.0, 65_535.0, 131_071.0].map(of_16_bits),
            [0.0, 1.0, 65_535.0, 131_072.0]
        );
    }

    #[test]
    fn calibrations_do_not_depend_on_last_bits() {
        let of = |slope, intercept| rounded(Calibration { slope, intercept });
        assert_eq!(of(4.944_888_6, 1.158_782_2), of(4.944_889, 1.158_782_4));
        assert_eq!(of(1.0, -1e-5), Calibration { slope: 1.0, intercept: 0.0 });
    }

    #[test]
    fn heads_are_what_was_rounded() {
        // Inputs count in units of 1/256; the last step is so small beside the first that
        // no multiplier is near it.
        for (steps, off) in [([0.5, 0.5], 0.002), ([0.01, 2.0], 1e-4), ([0.5, 3e-3], 0.6)] {
            let head = head(steps);
            let of_one = f64::from(head.scale) / 2f64.powi(head.shift.into());
            for (bank, unit) in [(0, 1.0), (1, 1.0 / 256.0)] {
                let weights = &head.weights[bank];
                let step = of_one * f64::from(weights.multipliers[0]);
                for (k, &code) in weights.codes[0].iter().enumerate() {
                    let found = step * f64::from(weights.width.value(code));
                    let code = (8 * bank + k) as u32;
                    let wanted = steps[bank] * unit * f64::from(weights.width.value(code));
                    let apart = (found - wanted).abs();
                    assert!(
                        apart <= off * steps[bank] * unit * 15.0,
                        "{steps:?}: {found} {wanted}"
                    );
                }
            }
            let bias = f64::from(head.bias[0]) * f64::from(head.scale);
            assert!((bias - 0.25).abs() < 1e-5, "{bias}");
        }
    }
}
