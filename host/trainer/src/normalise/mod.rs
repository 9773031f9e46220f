//! Which line each input goes through before features are made of it: offset
//! and scale per input, per channel or shared, logarithm of heavy tails.

use crate::blob::MapSpec;
use crate::nearest;
use koan_data::Table;

mod gains;
mod shape;
mod spread;

pub(crate) use gains::{MAPPED_INPUTS, one_line_hides_most};
pub use spread::Spread;

use gains::{gain_per_input, wants_gains};
use shape::{Shape, logged, shapes_of};

/// One input's line: u = (v − offset)·scale, v = x or sign(x)·ln(1 + |x|).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Whether v is the signed logarithm of x.
    pub log: bool,
    /// What becomes 0.
    pub offset: f64,
    /// 1 / standard deviation, times the input's relevance; 0 switches it off.
    pub scale: f64,
}

impl Axis {
    /// The normalised value of `x`.
    #[must_use]
    pub fn apply(&self, x: f32) -> f64 {
        (logged(f64::from(x), self.log) - self.offset) * self.scale
    }
}

/// The lines of all inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Normaliser {
    /// After how many inputs their lines come again, but for their scale. With 1, all that
    /// are not off have the same offset: then the blob stores one line, and at most a gain for
    /// each input.
    pub period: usize,
    /// One for each input.
    pub axes: Vec<Axis>,
}

/// How lines are fitted to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// one line for all inputs: pixels, one-hot columns, sensors of one kind
    Shared,
    /// one line for each channel of a window, an image or a series: sensors of several kinds
    PerChannel,
    /// each input has mean 0 and standard deviation 1
    PerInput,
    /// as per-input, heavy-tailed inputs through their logarithm first
    PerInputLog,
    /// one offset for all inputs and a gain for each, a byte an input; a logarithm for all where
    /// most have heavy tails
    GainPerInput,
}

impl Kind {
    /// What suits rows of many inputs: one line for each channel where channels spread
    /// differently, else one line for all, with a gain for each input where the same gain would
    /// hide most of them.
    pub(crate) fn of_many(table: &Table) -> Self {
        if channels_differ(table) {
            Self::PerChannel
        } else if wants_gains(table) {
            Self::GainPerInput
        } else {
            Self::Shared
        }
    }

    /// Whether each input has a line, or a gain, of its own.
    pub(crate) fn is_of_each_input(self) -> bool {
        matches!(self, Self::PerInput | Self::PerInputLog | Self::GainPerInput)
    }

    /// The kind's name, as the command line and reports have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::PerChannel => "per-channel",
            Self::PerInput => "per-input",
            Self::PerInputLog => "per-input-log",
            Self::GainPerInput => "gain-per-input",
        }
    }
}

/// How many times as far as a channel another one spreads, or all together do, that would hide it
/// behind one line.
const DIFFERENT: f64 = 4.0;

/// Numbers of a sample or a pixel, where rows are of such and there are several.
fn channels(table: &Table) -> Option<usize> {
    let shape = table.schema.shape()?;
    let several = (2..=255).contains(&shape.channels) && shape.inputs() == table.inputs;
    several.then_some(shape.channels)
}

/// Whether one channel of the rows spreads much farther than another one, or all together do.
fn channels_differ(table: &Table) -> bool {
    let Some(channels) = channels(table) else { return false };
    let step = table.rows().div_ceil(2000).max(1);
    let rows: Vec<usize> = (0..table.rows()).step_by(step).collect();
    let scale = |channel| pooled(&shapes(table, &rows, channel, channels)).scale;
    let scales = (0..channels).map(scale).filter(|&scale| scale > 0.0);
    let ends = scales
        .fold((f64::INFINITY, 0f64), |(least, most), scale| (least.min(scale), most.max(scale)));
    // Channels that spread alike around different numbers are hidden, too.
    let together = pooled(&shapes(table, &rows, 0, 1)).scale;
    ends.1 >= DIFFERENT * ends.0.min(together)
}

/// The shapes of a channel's inputs, of so many channels. A constant input says nothing of the
/// scale of the others, and is left out.
fn shapes(table: &Table, rows: &[usize], channel: usize, channels: usize) -> Vec<Shape> {
    let inputs: Vec<usize> = (channel..table.inputs).step_by(channels).collect();
    let shapes = shapes_of(table, rows, &inputs, false);
    shapes.into_iter().filter(|shape| shape.deviation > 0.0).collect()
}

/// One line for inputs of these shapes.
fn pooled(shapes: &[Shape]) -> Axis {
    let count = shapes.len().max(1) as f64;
    let mean = shapes.iter().map(|s| s.mean).sum::<f64>() / count;
    let square = |s: &Shape| s.deviation.powi(2) + (s.mean - mean).powi(2);
    let deviation = (shapes.iter().map(square).sum::<f64>() / count).sqrt();
    Axis { log: false, offset: mean, scale: reciprocal(deviation) }
}

/// The line of an input of two values. A rare indicator must not dwarf the rest: ±1, not ±1/σ.
fn indicator(low: f64, high: f64) -> Axis {
    Axis { log: false, offset: 0.5 * (low + high), scale: reciprocal(0.5 * (high - low)) }
}

/// A line for each input.
fn each_input(table: &Table, rows: &[usize], kind: Kind) -> Vec<Axis> {
    let inputs: Vec<usize> = (0..table.inputs).collect();
    let raw = shapes_of(table, rows, &inputs, false);
    let mut logs: Vec<Option<Shape>> = vec![None; table.inputs];
    if kind == Kind::PerInputLog {
        let heavy: Vec<usize> = inputs.into_iter().filter(|&i| raw[i].has_tails()).collect();
        for (&input, log) in heavy.iter().zip(shapes_of(table, rows, &heavy, true)) {
            logs[input] = Some(log);
        }
    }
    let line = |(raw, log): (&Shape, Option<Shape>)| match log {
        Some(log) if raw.is_tamed_by(&log) => {
            Axis { log: true, offset: log.mean, scale: reciprocal(log.deviation) }
        }
        _ if raw.two_valued => indicator(raw.lowest, raw.highest),
        _ => Axis { log: false, offset: raw.mean, scale: reciprocal(raw.deviation) },
    };
    raw.iter().zip(logs).map(line).collect()
}

impl Normaliser {
    /// Fits lines to the given rows of a table.
    #[must_use]
    pub fn fit(table: &Table, rows: &[usize], kind: Kind) -> Self {
        let channels = channels(table).unwrap_or(1);
        let axes: Vec<Axis> = match kind {
            Kind::GainPerInput => gain_per_input(table, rows),
            Kind::Shared => vec![pooled(&shapes(table, rows, 0, 1)); table.inputs],
            Kind::PerChannel => {
                let line = |channel| {
                    let shapes = shapes(table, rows, channel, channels);
                    let least = shapes.iter().map(|shape| shape.lowest).reduce(f64::min);
                    let most = shapes.iter().map(|shape| shape.highest).reduce(f64::max);
                    match (least, most) {
                        (Some(least), Some(most)) if shapes.iter().all(|s| s.two_valued) => {
                            indicator(least, most)
                        }
                        _ => pooled(&shapes),
                    }
                };
                let lines: Vec<Axis> = (0..channels).map(line).collect();
                lines.iter().copied().cycle().take(table.inputs).collect()
            }
            Kind::PerInput | Kind::PerInputLog => each_input(table, rows, kind),
        };
        let mut used = axes.iter().filter(|axis| axis.scale > 0.0);
        let first = used.next();
        let period = match kind {
            _ if used.all(|axis| Some(axis) == first) => 1,
            Kind::Shared | Kind::GainPerInput => 1,
            Kind::PerChannel => channels,
            _ => table.inputs,
        };
        Self { period, axes }
    }

    /// The same lines, but an input that is constant, which says nothing to tell these rows
    /// apart by, is looked at in its own unit: rows where it differs are unlike these.
    #[must_use]
    pub fn with_constants(mut self) -> Self {
        let inputs = self.axes.len();
        for axis in self.axes.iter_mut().filter(|axis| axis.scale == 0.0) {
            axis.scale = 1.0;
            if self.period == 1 {
                self.period = inputs;
            }
        }
        self
    }

    /// Whether any input goes through its logarithm.
    #[must_use]
    pub fn logged_inputs(&self) -> usize {
        self.axes.iter().filter(|axis| axis.log).count()
    }

    /// The same lines, each input's scale multiplied by its relevance.
    #[must_use]
    pub fn scaled(&self, relevance: &[f64]) -> Self {
        let axes = self
            .axes
            .iter()
            .zip(relevance)
            .map(|(axis, factor)| Axis { scale: axis.scale * factor, ..*axis })
            .collect();
        Self { period: self.period, axes }
    }

    /// Whether the lines come again after a period, with the same relevances.
    fn repeats(&self) -> bool {
        let earlier = self.axes.iter();
        self.axes.iter().skip(self.period).zip(earlier).all(|(axis, earlier)| axis == earlier)
    }

    /// The most integers for a normalised 1 with which all lines have the gain they should:
    /// what lies far from 0 for its deviation has fewer (see [`nearest::map`]).
    #[must_use]
    pub fn finest(&self) -> f64 {
        let used = self.axes.iter().filter(|axis| axis.scale > 0.0);
        used.map(|axis| nearest::most_gain(axis.offset) / axis.scale).fold(f64::INFINITY, f64::min)
    }

    /// The maps of the blob when `unit` integers stand for a normalised 1.
    #[must_use]
    pub fn maps(&self, unit: f64) -> MapSpec {
        let map = |axis: &Axis| nearest::map(axis.offset, axis.scale * unit, axis.log);
        let widest = self.axes.iter().max_by(|a, b| a.scale.total_cmp(&b.scale));
        let Some(widest) = widest.filter(|_| self.period == 1) else {
            if self.period < self.axes.len() && self.repeats() {
                return MapSpec::PerChannel(self.axes.iter().take(self.period).map(map).collect());
            }
            return MapSpec::PerInput(self.axes.iter().map(map).collect());
        };
        let (widest, map) = (widest.scale, map(widest));
        if self.axes.iter().all(|axis| axis.scale == widest) {
            return MapSpec::Shared(map);
        }
        let gain = |axis: &Axis| (f64::from(map.mult()) * axis.scale / widest).round() as u8;
        MapSpec::GainPerInput(map, self.axes.iter().map(gain).collect())
    }
}

fn reciprocal(deviation: f64) -> f64 {
    if deviation > 0.0 { 1.0 / deviation } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_can_be_looked_at_in_their_own_unit() {
        let mut table = koan_data::digits::table().select(&[0, 1, 2, 3]);
        (0..4).for_each(|row| table.values[row * table.inputs] = 5.0);
        let plain = Normaliser::fit(&table, &[0, 1, 2, 3], Kind::PerInput);
        assert_eq!(plain.axes[0].scale, 0.0);
        let all = plain.clone().with_constants();
        assert_eq!((all.axes[0].offset, all.axes[0].scale), (5.0, 1.0));
        let varied = plain.axes.iter().zip(&all.axes).filter(|(axis, _)| axis.scale > 0.0);
        assert!(varied.into_iter().all(|(a, b)| a == b));
    }
}
