//! From what a user asks for (family, projection, frequency) to the integers of
//! a model: input maps, scales and laws.

use koan::numerics::{CAUCHY_ONE, NORMAL_ONE, Scale};
use koan::{FEATURE_ONE, Family, Group, Law};

use crate::blob::{BankSpec, MapSpec, ModelSpec, columns};
use crate::nearest;
use crate::normalise::{Normaliser, Spread};
use crate::series;

/// A run of inputs with a law and a frequency of its own, for product kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupPlan {
    /// How many inputs.
    pub inputs: u16,
    /// Their law; [`Law::None`] leaves them out.
    pub law: Law,
    /// Their frequency, times the bank's.
    pub frequency: f64,
}

/// A bank as a user thinks of it.
#[derive(Clone, Debug, PartialEq)]
pub struct BankPlan {
    /// Family with its parameters.
    pub family: Family,
    /// Law of the random draws.
    pub law: Law,
    /// Features; grids for bins, ferns.
    pub features: u16,
    /// How fast features vary, relative to how far the data spread: at 1 two
    /// typical rows have a kernel of 1/e. Larger is wigglier. For stumps and ferns, how
    /// far thresholds spread, in standard deviations (normal) or in the largest
    /// input (uniform). For convolutions, the standard deviation of a filter's sum, in
    /// radians. For series, how far sums spread beside thresholds. Without meaning for
    /// maxout and linear.
    pub frequency: f64,
    /// Groups of inputs; empty for one law over all.
    pub groups: Vec<GroupPlan>,
    /// Indices of the kept features, rising, as many as `features`; `None` for all.
    pub kept: Option<Vec<u32>>,
}

/// Units of a phase in a radian.
const PHASE: f64 = 65536.0 / std::f64::consts::TAU;
/// Magnitude that typical extreme inputs are mapped to at most.
const ROOM: f64 = 30_000.0;
/// The same where the inputs themselves are features: half of it, so that a line goes on to twice the
/// distance that training rows have from its offset before inputs saturate.
const LINEAR_ROOM: f64 = 0.5 * ROOM;
/// Integers for a normalised 1, at least: fewer would make the other inputs coarse, and the one
/// that lies so far from 0 that its line cannot have as many counts for less instead.
const LEAST_UNIT: f64 = 1024.0;

impl BankPlan {
    /// Features that the head needs weights for.
    #[must_use]
    pub fn columns(&self) -> usize {
        columns(self.family, self.features)
    }

    /// Real value that one unit of weight of this law stands for.
    fn law_unit(law: Law) -> f64 {
        match law {
            Law::Gaussian => f64::from(NORMAL_ONE),
            Law::Cauchy => f64::from(CAUCHY_ONE),
            Law::Uniform => 256.0,
            _ => 1.0,
        }
    }

    /// Absolute frequency under `law`: radians, kernel widths or logistic
    /// arguments for a normalised 1.
    fn width(&self, law: Law, spread: &Spread) -> f64 {
        let typical = match (self.family, law) {
            (Family::Bin { .. }, _) | (_, Law::Cauchy) => 1.0 / spread.distance_l1,
            (Family::Sigmoid, _) => 2.0 / spread.variance.sqrt(),
            // The part of the variance that is under a filter.
            (Family::Conv(conv), _) => {
                (spread.inputs / conv.taps() as f64 / spread.variance).sqrt()
            }
            _ => 1.0 / spread.variance.sqrt(),
        };
        self.frequency * typical
    }

    /// The scale's factor when `unit` integers stand for a normalised 1.
    fn factor(&self, law: Law, unit: f64, spread: &Spread) -> f64 {
        let one = Self::law_unit(law);
        match self.family {
            Family::Fourier | Family::Conv(_) => self.width(law, spread) * PHASE / (unit * one),
            Family::Stump | Family::Fern { .. } => match law {
                Law::Uniform => self.frequency * spread.largest * unit / one,
                _ => self.frequency * unit / one,
            },
            Family::Bin { .. } => self.width(law, spread) * 256.0 / unit,
            // Five standard deviations of a projection stay below saturation.
            Family::Maxout { .. } => {
                0.18 * f64::from(FEATURE_ONE) / (one * unit * spread.square_norm.sqrt())
            }
            Family::Sigmoid => self.width(law, spread) * 16.0 / (unit * one),
            // The inputs themselves, and series, which have gains of their own.
            _ => 1.0,
        }
    }

    fn max_shift(&self) -> u8 {
        match self.family {
            Family::Maxout { .. } | Family::Sigmoid => 31,
            _ => 16,
        }
    }

    /// The bank when `unit` integers stand for a normalised 1.
    fn realise(&self, unit: f64, spread: &Spread) -> BankSpec {
        let scale = |law: Law, frequency: f64| {
            let plan = Self { frequency: self.frequency * frequency, ..self.clone() };
            let scale = nearest::scale(plan.factor(law, unit, spread), self.max_shift());
            // The format wants a positive mantissa; the smallest is next to 0.
            Scale::new(scale.mult().max(1), scale.shift()).unwrap_or(scale)
        };
        let whole = self.groups.is_empty();
        let one = matches!(self.family, Family::Linear | Family::Series(_));
        let ungrouped = if one { Scale::ONE } else { scale(self.law, 1.0) };
        let family = match self.family {
            Family::Series(shape) => Family::Series(series::in_unit(shape, unit, self.frequency)),
            family => family,
        };
        BankSpec {
            family,
            law: if whole { self.law } else { Law::None },
            features: self.features,
            kept: self.kept.clone(),
            scale: if whole { ungrouped } else { Scale::ONE },
            groups: self
                .groups
                .iter()
                .map(|group| Group {
                    inputs: group.inputs,
                    law: group.law,
                    scale: scale(group.law, group.frequency),
                })
                .collect(),
        }
    }

    /// The unit that suits the bank when it is alone: for fourier features the
    /// one that makes inputs phases, so that no scale is left.
    fn own_unit(&self, spread: &Spread) -> f64 {
        match self.family {
            Family::Fourier | Family::Conv(_) if self.groups.is_empty() => {
                self.width(self.law, spread) * PHASE
            }
            Family::Bin { .. } => self.width(Law::Gamma2, spread) * 4.0 * 256.0,
            _ => f64::INFINITY,
        }
    }
}

/// Whether a model of these has no features but the inputs.
pub(crate) fn are_linear(banks: &[BankPlan]) -> bool {
    banks.iter().all(|bank| matches!(bank.family, Family::Linear))
}

/// The feature part of a model: maps and banks for the given plans.
#[must_use]
pub fn realise(
    seed: u64,
    banks: &[BankPlan],
    normaliser: &Normaliser,
    spread: &Spread,
) -> ModelSpec {
    let inputs = normaliser.axes.len();
    let limited = banks.iter().any(|bank| {
        matches!(bank.family, Family::Maxout { .. } | Family::Sigmoid)
            && matches!(bank.law, Law::Gaussian)
    });
    // Dense gaussian projections of many inputs must not overflow an i32: the
    // core saturates inputs there, so they are made to fit.
    let linear = banks.iter().any(|bank| matches!(bank.family, Family::Linear));
    let room = if linear { LINEAR_ROOM } else { ROOM };
    let room = if limited { room.min(2e9 / (127.0 * inputs as f64)) } else { room };
    // Weights undo what a line lacks of its gain.
    let finest =
        if are_linear(banks) { f64::INFINITY } else { normaliser.finest().max(LEAST_UNIT) };
    let most = (room / spread.largest).min(finest);
    let unit = match banks {
        [bank] => bank.own_unit(spread).min(most),
        _ => most,
    };
    let maps = normaliser.maps(unit);
    let banks = banks.iter().map(|bank| bank.realise(unit, spread)).collect();
    ModelSpec::features(seed, inputs as u16, maps, banks)
}

/// Whether the maps switch every input off (a table of constants).
#[must_use]
pub fn all_off(maps: &MapSpec) -> bool {
    match maps {
        MapSpec::Shared(map) => map.mult() == 0,
        MapSpec::GainPerInput(_, gains) => gains.iter().all(|&gain| gain == 0),
        MapSpec::PerChannel(maps) | MapSpec::PerInput(maps) => {
            maps.iter().all(|map| map.mult() == 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::normalise::Kind;
    use crate::{FamilyName, Progress, TrainOptions, train};
    use koan::generator::Stream;
    use koan_data::TableBuilder;

    const ROWS: usize = 800;

    /// The error with an input that has this offset, and one near 0; the target depends on them
    /// with these weights.
    fn error(offset: f64, [far, near]: [f64; 2]) -> f64 {
        let stream = Stream::new(8, 0);
        let number = |at: usize| f64::from(stream.draw(at as u64) as i32) / 2f64.powi(30);
        let [a, b]: [Vec<f64>; 2] = [0, ROWS].map(|from| (from..from + ROWS).map(number).collect());
        let value = |(a, b): (&f64, &f64)| far * (2.0 * a).sin() + near * b * b;
        let values: Vec<f64> = a.iter().zip(&b).map(value).collect();
        let moved: Vec<f64> = a.iter().map(|a| a + offset).collect();
        let table = TableBuilder::new(ROWS).column("far", &moved[..]).column("near", &b[..]);
        let table = table.values("value", &values[..]).build().unwrap();
        let (fit, test): (Vec<usize>, Vec<usize>) = (0..ROWS).partition(|row| row % 4 > 0);
        let options = TrainOptions {
            families: vec![FamilyName::Fourier],
            features: vec![60],
            bits: Some(8),
            map: Some(Kind::PerInput),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let (fit, test) = (table.select(&fit), table.select(&test));
        train(&fit, Some(&test), &options, &Progress::none()).unwrap().report.error
    }

    /// Pressures in Pa, coordinates, temperatures in kelvin: what lies far from 0 for how far it
    /// spreads counts as much as it does without the offset.
    #[test]
    fn an_offset_takes_nothing_from_an_input() {
        let near = error(0.0, [1.0, 1.0]);
        for offset in [2e3, 4e3] {
            let far = error(offset, [1.0, 1.0]);
            assert!(far < 1.5 * near, "{far} at {offset}, {near} at 0");
        }
    }

    /// A calibration is used beyond the values it was made of.
    #[test]
    fn a_line_goes_on_beyond_the_training_rows() {
        let table = |from: usize, to: usize| {
            let values: Vec<f64> = (from..to).map(|adc| adc as f64).collect();
            let targets: Vec<f64> = values.iter().map(|adc| 0.05 * adc + 6.0).collect();
            let rows = TableBuilder::new(values.len()).column("adc", &values[..]);
            rows.values("kPa", &targets[..]).build().unwrap()
        };
        let (fit, beyond) = (table(1000, 3000), table(100, 3900));
        let families = vec![FamilyName::Linear];
        let options = TrainOptions { families, bits: Some(16), ..TrainOptions::default() };
        let report = train(&fit, Some(&beyond), &options, &Progress::none()).unwrap().report;
        assert!(report.error < 1e-3, "{}", report.error);
    }

    /// One that says nothing leaves the others as fine as they are.
    #[test]
    fn an_offset_takes_nothing_from_the_others() {
        let near = error(0.0, [0.0, 1.0]);
        let far = error(1e6, [0.0, 1.0]);
        assert!(far < 1.2 * near + 1e-4, "{far} with an offset, {near} without");
    }
}
