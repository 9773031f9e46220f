//! From real weights to the integers of a head.

use koan::Width;

use crate::blob::{BankWeights, HeadSpec, ModelSpec};
use crate::quantise::Levels;

/// One output, rounded: all columns' codes, each bank's levels, and the bias in
/// real units.
#[derive(Clone, Debug)]
pub struct RoundedOutput {
    /// Codes of all columns, bank after bank.
    pub codes: Vec<u32>,
    /// Levels of each bank; steps are real values of one integer feature unit.
    pub levels: Vec<Levels>,
    /// Bias in real units.
    pub bias: f64,
}

/// Puts rounded outputs together: multipliers carry the ratio of the steps, the
/// shift is the least for which no score can saturate.
#[must_use]
pub fn assemble(spec: &ModelSpec, width: Width, outputs: &[RoundedOutput]) -> HeadSpec {
    let single = outputs.len() * spec.banks.len() == 1;
    let largest = outputs
        .iter()
        .flat_map(|output| &output.levels)
        .fold(0.0f64, |step, levels| step.max(levels.step));
    let unit = if single { largest } else { largest / 65535.0 };
    let multiplier = |step: f64| ((step / unit).round() as u16).max(1);

    let mut worst = 0.0f64;
    let mut weights: Vec<BankWeights> = spec
        .banks
        .iter()
        .map(|_| BankWeights { width, codes: Vec::new(), multipliers: Vec::new() })
        .collect();
    for output in outputs {
        let mut reach = output.bias.abs() / unit;
        let mut start = 0;
        for (index, bank) in spec.banks.iter().enumerate() {
            let codes = output.codes[start..start + bank.columns()].to_vec();
            start += bank.columns();
            let step = multiplier(output.levels[index].step);
            let magnitude = |&code: &u32| f64::from(width.value(code).unsigned_abs());
            let active: f64 = match bank.family {
                // One column of a grid is on: the largest weight bounds it.
                koan::Family::Bin { slot_bits } => codes
                    .chunks(1 << slot_bits)
                    .map(|grid| grid.iter().map(magnitude).fold(0.0, f64::max))
                    .sum(),
                _ => codes.iter().map(magnitude).sum(),
            };
            reach += active * 32768.0 * f64::from(step);
            weights[index].codes.push(codes);
            weights[index].multipliers.push(step);
        }
        worst = worst.max(reach);
    }
    let mut shift = 0u8;
    while worst / 2f64.powi(i32::from(shift)) > 1e9 && shift < 40 {
        shift += 1;
    }
    let scale = unit * 2f64.powi(i32::from(shift));
    let bias = outputs.iter().map(|output| (output.bias / scale).round() as i32).collect();
    HeadSpec { scale: scale as f32, shift, bias, weights }
}
