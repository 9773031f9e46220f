//! Which line each input goes through before features are made of it: offset
//! and scale per input, per channel or shared, logarithm of heavy tails.

use crate::blob::MapSpec;
use crate::nearest;
use crate::parallel;
use koan_data::{Column, ColumnKind, Table};

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
pub enum Kind {
    /// one line for all inputs: pixels, one-hot columns, sensors of one kind
    Shared,
    /// one line for each channel of a window, an image or a series: sensors of several kinds
    PerChannel,
    /// each input has mean 0 and standard deviation 1
    PerInput,
    /// as per-input, heavy-tailed inputs through their logarithm first
    PerInputLog,
}

impl Kind {
    /// What suits rows of many inputs: one line for each channel where channels spread
    /// differently, else one line for all.
    pub(crate) fn of_many(table: &Table) -> Self {
        if channels_differ(table) { Self::PerChannel } else { Self::Shared }
    }

    /// The kind's name, as the command line and reports have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::PerChannel => "per-channel",
            Self::PerInput => "per-input",
            Self::PerInputLog => "per-input-log",
        }
    }
}

/// How far normalised rows spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Σ over inputs of the variance: half the mean squared distance of two rows.
    pub variance: f64,
    /// Mean squared norm of a row.
    pub square_norm: f64,
    /// Mean of ‖x − y‖₁ over pairs of rows.
    pub distance_l1: f64,
    /// Inputs of a row.
    pub inputs: f64,
    /// Nearly the largest |u| (its 99.99 % quantile).
    pub largest: f64,
}

fn logged(x: f64, log: bool) -> f64 {
    if log { x.signum() * x.abs().ln_1p() } else { x }
}

/// Mean, variance and fourth moment of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shape {
    mean: f64,
    deviation: f64,
    kurtosis: f64,
    lowest: f64,
    highest: f64,
    two_valued: bool,
}

/// Inputs of a thread, at least: their numbers in a row are a line of the cache.
const LEAST_TOGETHER: usize = 16;

/// The shapes of these inputs: each thread reads its part of every row, twice.
fn shapes_of(table: &Table, rows: &[usize], inputs: &[usize], log: bool) -> Vec<Shape> {
    let part = inputs.len().div_ceil(rayon::current_num_threads()).max(LEAST_TOGETHER);
    let shapes = parallel::each(inputs.chunks(part), |_, inputs| {
        let mut numbers = vec![0.0; inputs.len()];
        // Numbers side by side are taken several at a time.
        let side_by_side = !log && inputs.windows(2).all(|pair| pair[1] == pair[0] + 1);
        shapes_together(rows.len(), inputs.len(), |each| {
            for &row in rows {
                let row = table.row(row);
                if let (true, Some(&first)) = (side_by_side, inputs.first()) {
                    let row = &row[first..first + inputs.len()];
                    numbers.iter_mut().zip(row).for_each(|(number, &x)| *number = x.into());
                } else {
                    let taken = numbers.iter_mut().zip(inputs);
                    taken.for_each(|(number, &i)| *number = logged(row[i].into(), log));
                }
                each(&numbers);
            }
        })
    });
    shapes.into_iter().flatten().collect()
}

/// The shapes of inputs side by side: sums over the rows in their order, as of each alone.
fn shapes_together(
    rows: usize,
    inputs: usize,
    mut for_each_row: impl FnMut(&mut dyn FnMut(&[f64])),
) -> Vec<Shape> {
    let count = rows.max(1) as f64;
    let mut sums = vec![0.0; inputs];
    let (mut lowest, mut highest) = (vec![f64::INFINITY; inputs], vec![f64::NEG_INFINITY; inputs]);
    for_each_row(&mut |numbers| {
        let places = sums.iter_mut().zip(&mut lowest).zip(&mut highest);
        for (((sum, lowest), highest), &v) in places.zip(numbers) {
            *sum += v;
            *lowest = lowest.min(v);
            *highest = highest.max(v);
        }
    });
    let means: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
    let (mut squares, mut fourths) = (vec![0.0; inputs], vec![0.0; inputs]);
    let mut at_ends = vec![0.0; inputs];
    for_each_row(&mut |numbers| {
        let places = squares.iter_mut().zip(&mut fourths).zip(&means);
        for (((squares, fourths), mean), &v) in places.zip(numbers) {
            let square = (v - mean).powi(2);
            *squares += square;
            *fourths += square.powi(2);
        }
        let places = at_ends.iter_mut().zip(&lowest).zip(&highest);
        for (((at_ends, lowest), highest), v) in places.zip(numbers) {
            *at_ends += f64::from(u8::from(v == lowest || v == highest));
        }
    });
    let shape = |input: usize| {
        let (lowest, highest) = (lowest[input], highest[input]);
        let variance = squares[input] / count;
        // Rounding in the mean of a constant column is no variance.
        let deviation = if highest > lowest { variance.sqrt() } else { 0.0 };
        let kurtosis = fourths[input] / count / (variance * variance);
        Shape {
            mean: means[input],
            deviation,
            kurtosis: if deviation > 0.0 { kurtosis } else { 0.0 },
            lowest,
            highest,
            two_valued: at_ends[input] == rows as f64,
        }
    };
    (0..inputs).map(shape).collect()
}

/// How many times as far as another channel one spreads that would hide it behind one line.
const DIFFERENT: f64 = 4.0;

/// Numbers of a sample or a pixel, where rows are of such and there are several.
fn channels(table: &Table) -> Option<usize> {
    let shape = table.schema.shape()?;
    let several = (2..=255).contains(&shape.channels) && shape.inputs() == table.inputs;
    several.then_some(shape.channels)
}

/// Whether one channel of the rows spreads much farther than another one.
fn channels_differ(table: &Table) -> bool {
    let Some(channels) = channels(table) else { return false };
    let step = table.rows().div_ceil(2000).max(1);
    let rows: Vec<usize> = (0..table.rows()).step_by(step).collect();
    let scale = |channel| pooled(&shapes(table, &rows, channel, channels)).scale;
    let scales = (0..channels).map(scale).filter(|&scale| scale > 0.0);
    let ends = scales
        .fold((f64::INFINITY, 0f64), |(least, most), scale| (least.min(scale), most.max(scale)));
    ends.1 >= DIFFERENT * ends.0
}

/// One line for all inputs hides one whose values span less than this many of the line's standard
/// deviations.
const HIDDEN: f64 = 0.25;

/// Whether most inputs that vary do so within a small part of what one line for all inputs tells
/// apart, so that features of that line hardly see them.
pub(crate) fn one_line_hides_most(table: &Table) -> bool {
    let step = table.rows().div_ceil(2000).max(1);
    let rows: Vec<usize> = (0..table.rows()).step_by(step).collect();
    let shapes = shapes(table, &rows, 0, 1);
    let scale = pooled(&shapes).scale;
    let hidden = |shape: &&Shape| (shape.highest - shape.lowest) * scale < HIDDEN;
    2 * shapes.iter().filter(hidden).count() > shapes.len()
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

/// Inputs up to which maps of their own, of six bytes each, are always tried.
pub(crate) const MAPPED_INPUTS: usize = 160;

/// Whether a line for all inputs has a gain for each: categories beside numbers, too many for maps
/// of their own in a small model.
fn wants_gains(table: &Table) -> bool {
    let text = |column: &Column| matches!(column.kind, ColumnKind::Text { .. });
    table.inputs > MAPPED_INPUTS
        && table.schema.columns.iter().any(text)
        && one_line_hides_most(table)
}

/// Where inputs share an offset, no scaled value is beyond ± this.
const REACH: f64 = 4.0;
/// So many times the least gain is the largest that a byte can hold.
const GAINS: f64 = 255.0;

/// A scale for each input, with one offset. Scales that a byte does not tell from the others are
/// 0 where they are smaller, and less where they are larger.
fn gain_per_input(table: &Table, rows: &[usize]) -> Vec<Axis> {
    let inputs: Vec<usize> = (0..table.inputs).collect();
    let scale = |shape: &Shape| {
        let range = shape.highest - shape.lowest;
        let alone = if shape.two_valued { 0.5 * range } else { shape.deviation };
        let reach = shape.highest.abs().max(shape.lowest.abs());
        reciprocal(alone).min(REACH * reciprocal(reach))
    };
    let scales: Vec<f64> = shapes_of(table, rows, &inputs, false).iter().map(scale).collect();
    let most = most_within(&scales, GAINS);
    let told = |scale: f64| if scale * GAINS < most { 0.0 } else { scale.min(most) };
    scales.iter().map(|&scale| Axis { log: false, offset: 0.0, scale: told(scale) }).collect()
}

/// The end of the range, from a number to so many times it, that has the most of these positive
/// numbers; 0 if there is none.
fn most_within(numbers: &[f64], ratio: f64) -> f64 {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|&number| number > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let within = |end: usize| end - sorted.partition_point(|&low| low * ratio < sorted[end]);
    let end = (0..sorted.len()).max_by_key(|&end| within(end));
    end.map_or(0.0, |end| sorted[end])
}

/// A line for each input.
fn each_input(table: &Table, rows: &[usize], kind: Kind) -> Vec<Axis> {
    let inputs: Vec<usize> = (0..table.inputs).collect();
    let raw = shapes_of(table, rows, &inputs, false);
    let mut logs: Vec<Option<Shape>> = vec![None; table.inputs];
    if kind == Kind::PerInputLog {
        let heavy = |&input: &usize| !raw[input].two_valued && raw[input].kurtosis > 5.0;
        let heavy: Vec<usize> = inputs.into_iter().filter(heavy).collect();
        for (&input, log) in heavy.iter().zip(shapes_of(table, rows, &heavy, true)) {
            logs[input] = Some(log);
        }
    }
    let line = |(raw, log): (&Shape, Option<Shape>)| match log {
        Some(log) if log.kurtosis < 0.7 * raw.kurtosis => {
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
            Kind::Shared if wants_gains(table) => gain_per_input(table, rows),
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
            Kind::Shared => 1,
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

    /// How far the given rows spread once normalised.
    #[must_use]
    pub fn spread(&self, table: &Table, rows: &[usize]) -> Spread {
        let step = rows.len().div_ceil(2000).max(1);
        let sample: Vec<usize> = rows.iter().copied().step_by(step).collect();
        let count = sample.len().max(1) as f64;
        let mut spread = Spread {
            variance: 0.0,
            square_norm: 0.0,
            distance_l1: 0.0,
            inputs: self.axes.len() as f64,
            largest: 0.0,
        };
        let mut magnitudes = Vec::with_capacity(sample.len() * self.axes.len());
        for (input, axis) in self.axes.iter().enumerate() {
            let mut values: Vec<f64> =
                sample.iter().map(|&row| axis.apply(table.row(row)[input])).collect();
            let mean = values.iter().sum::<f64>() / count;
            let square = values.iter().map(|u| u * u).sum::<f64>() / count;
            spread.square_norm += square;
            spread.variance += (square - mean * mean).max(0.0);
            magnitudes.extend(values.iter().map(|u| u.abs()));
            // Mean |x − y| of pairs, from the order statistics.
            values.sort_by(f64::total_cmp);
            let last = values.len() as f64 - 1.0;
            let weighted: f64 =
                values.iter().enumerate().map(|(i, u)| (2.0 * i as f64 - last) * u).sum();
            spread.distance_l1 += 2.0 * weighted / (count * count);
        }
        let rank = (magnitudes.len() as f64 * 0.9999) as usize;
        if rank < magnitudes.len() {
            spread.largest = *magnitudes.select_nth_unstable_by(rank, f64::total_cmp).1;
        }
        for place in [&mut spread.variance, &mut spread.square_norm, &mut spread.distance_l1] {
            *place = place.max(1e-12);
        }
        spread.largest = spread.largest.max(1e-6);
        spread
    }
}

fn reciprocal(deviation: f64) -> f64 {
    if deviation > 0.0 { 1.0 / deviation } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of an input alone.
    fn shape(values: &[f64]) -> Shape {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let moment = |power| values.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / count;
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let deviation = if highest > lowest { moment(2).sqrt() } else { 0.0 };
        let kurtosis = if deviation > 0.0 { moment(4) / moment(2).powi(2) } else { 0.0 };
        let two_valued = values.iter().all(|&v| v == lowest || v == highest);
        Shape { mean, deviation, kurtosis, lowest, highest, two_valued }
    }

    #[test]
    fn inputs_have_the_shapes_that_they_have_alone() {
        let table = koan_data::digits::table();
        let rows: Vec<usize> = (0..table.rows()).step_by(3).collect();
        let some: Vec<usize> = (0..table.inputs).step_by(2).rev().chain([0, 63]).collect();
        let all: Vec<usize> = (0..table.inputs).collect();
        for (inputs, log) in [(&some, false), (&some, true), (&all, false), (&all, true)] {
            let alone = inputs.iter().map(|&input| {
                let values = rows.iter().map(|&row| logged(f64::from(table.row(row)[input]), log));
                shape(&values.collect::<Vec<_>>())
            });
            assert_eq!(shapes_of(&table, &rows, inputs, log), alone.collect::<Vec<_>>());
            assert!(inputs.len() > 2 * LEAST_TOGETHER);
        }
    }

    /// Rows of these columns, each of as many values.
    fn table_of(columns: &[Vec<f32>]) -> Table {
        let mut table = koan_data::digits::table().select(&vec![0; columns[0].len()]);
        table.inputs = columns.len();
        table.values = (0..table.rows()).flat_map(|r| columns.iter().map(move |c| c[r])).collect();
        table.schema.image = None;
        table
    }

    #[test]
    fn gains_tell_numbers_beside_categories() {
        let rows: Vec<usize> = (0..60).collect();
        let category = |which: usize| rows.iter().map(|row| f32::from(row % 6 == which)).collect();
        let number = |of: fn(f64) -> f64| rows.iter().map(|&row| of(row as f64) as f32).collect();
        let mut columns: Vec<Vec<f32>> = (0..6).map(category).collect();
        columns.push(number(|row| 20.0 + (row * 0.7).sin() * 9.0));
        // Too far for a byte; a constant; far smaller than the others.
        columns.push(number(|row| 1e6 * row));
        columns.push(number(|_| 7.0));
        columns.push(number(|row| 1e-6 * row));
        let table = table_of(&columns);
        assert!(one_line_hides_most(&table));
        let line = Normaliser { period: 1, axes: gain_per_input(&table, &rows) };
        let scales: Vec<f64> = line.axes.iter().map(|axis| axis.scale).collect();
        assert!(scales[..6].iter().all(|&scale| scale == 2.0), "{scales:?}");
        // Nearly a standard deviation is 1, and no value is beyond 4.
        assert!((0.13..0.16).contains(&scales[6]) && scales[6] * 28.9 <= 4.0, "{scales:?}");
        assert_eq!(scales[7..], [0.0, 0.0, 2.0]);
        let MapSpec::GainPerInput(map, gains) = line.maps(100.0) else { panic!("other maps") };
        assert_eq!(gains[..6], [map.mult(); 6]);
        assert!(gains[6] > 4 && gains[7] == 0, "{gains:?}");

        // Pixels are of one kind.
        let digits = koan_data::digits::table();
        assert!(!one_line_hides_most(&digits));
    }

    #[test]
    fn the_range_with_most_numbers_is_found() {
        assert_eq!(most_within(&[], 10.0), 0.0);
        assert_eq!(most_within(&[0.0, 5.0], 10.0), 5.0);
        assert_eq!(most_within(&[1.0, 2.0, 9.0, 1e4, 2e4], 10.0), 9.0);
        assert_eq!(most_within(&[1.0, 11.0, 12.0, 100.0], 10.0), 100.0);
        // Of equally many the larger.
        assert_eq!(most_within(&[1.0, 2.0, 100.0, 200.0], 10.0), 200.0);
    }

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
