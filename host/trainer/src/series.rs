//! The family series over the rows of a table: its shape, and what samples and differences
//! are multiplied by at each dilation, measured on training rows.
//!
//! A filter's sums spread differently at each dilation, and those of differences otherwise
//! than those of samples. A median of their magnitudes is what a few large ones, such as the
//! peaks of a heartbeat, do not move. The factors that bring it to the same size at every
//! dilation lie near a line through their logarithms: the line is what a blob has.

use koan::{Gain, Series};

use crate::normalise::{Kind, Normaliser};
use crate::{ConvOptions, Error};
use koan_data::{Schema, Table};

/// Taps of a filter, where there is room for them: those of MiniRocket.
const KERNEL: usize = 9;
/// Integers that stand for a normalised 1 in the gains of a plan.
const UNIT: f64 = 4096.0;
/// Standard deviations of a normal distribution that thresholds reach to either side.
const REACH: f64 = 2.5;
/// The median magnitude of a normal number of deviation 1.
const NORMAL_MEDIAN: f64 = 0.6745;
/// A median below this share of the root of the mean square is that of a series that
/// hardly ever moves.
const LEAST_SHARE: f64 = 0.05;
/// Rows, and positions of each, that are measured.
const ROWS: usize = 64;
const POSITIONS: usize = 64;
/// Signs of the filters that measure: any would do.
const SIGNS: u64 = 0x6a09_e667_f3bc_c908;
/// Gain of level 0: see `docs/format.md`.
const LEVEL_0: f64 = 1.0 / 32.0;

/// The family over rows of a schema, its gains not yet measured.
pub(crate) fn family(options: &ConvOptions, schema: &Schema) -> Result<Series, Error> {
    let refused = |message: String| Err(Error::parameter("shape", message));
    let Some(shape) = options.shape.or_else(|| schema.shape()) else {
        let problem = "the family series needs the shape of a row, LENGTHxCHANNELS";
        return refused(problem.into());
    };
    ConvOptions::check_shape(shape, schema.inputs)?;
    let (length, Ok(channels)) = (shape.width, u8::try_from(shape.channels)) else {
        return Err(Error::TooMany { what: "channels", found: shape.channels, most: 255 });
    };
    if shape.height != 1 || length < 2 {
        return refused(format!("the family series needs rows of 2 samples or more, not {shape}"));
    }
    let kernel = match options.kernel {
        Some(kernel) => usize::from(kernel),
        None => KERNEL.min(length.div_ceil(2)).max(2),
    };
    let mut dilations = 1;
    while (kernel.saturating_sub(1) << dilations) < length && dilations < 16 {
        dilations += 1;
    }
    let gain = Gain { level: 0, slope: 0 };
    let kernel = kernel as u8;
    let series = Series { channels, kernel, dilations, samples: gain, differences: gain };
    if u16::try_from(schema.inputs).is_ok_and(|inputs| series.fits(inputs)) {
        return Ok(series);
    }
    let message = format!(
        "filters of the family series have 2 to 64 taps and room for them in \
                           {length} samples, not {kernel}"
    );
    Err(Error::parameter("kernel", message))
}

/// The family with gains that suit the rows of `table`, for [`UNIT`] integers to a
/// normalised 1 of the kind of input map that is given, or usual.
pub(crate) fn measured(series: Series, table: &Table, kind: Option<Kind>) -> Series {
    let rows: Vec<usize> = (0..table.rows()).collect();
    let kind = kind.unwrap_or_else(|| Kind::of_many(table));
    let axes = Normaliser::fit(table, &rows, kind).axes;
    if axes.iter().all(|axis| axis.scale == 0.0) {
        return series;
    }
    let count = ROWS.min(rows.len());
    let sample = |i: usize| table.row(rows[i * rows.len() / count]);
    let rows: Vec<Vec<f64>> = (0..count)
        .map(|i| sample(i).iter().zip(&axes).map(|(&x, a)| a.apply(x)).collect())
        .collect();
    let gain = |difference: bool| {
        let level = |log: u8| {
            let deviation = deviation(&rows, series, 1 << log, difference);
            level_of(32_768.0 / (REACH * UNIT * deviation))
        };
        let levels: Vec<f64> = (0..series.dilations).map(level).collect();
        let (first, last) = line(&levels);
        between(first, last, series.dilations)
    };
    Series { samples: gain(false), differences: gain(true), ..series }
}

/// The family where `unit` integers stand for a normalised 1, and thresholds are spread over
/// `frequency` times less.
pub(crate) fn in_unit(series: Series, unit: f64, frequency: f64) -> Series {
    let more = 16.0 * (UNIT * frequency / unit).log2();
    let gain = |gain: Gain| {
        let first = f64::from(gain.level) + more;
        let all = f64::from(gain.slope) * f64::from(series.dilations - 1);
        between(first, first + all, series.dilations)
    };
    Series { samples: gain(series.samples), differences: gain(series.differences), ..series }
}

/// The level of a gain, between two of which the gain is a straight line.
fn level_of(gain: f64) -> f64 {
    let octave = (gain / LEVEL_0).log2().floor();
    16.0 * (octave + gain / LEVEL_0 / octave.exp2() - 1.0)
}

/// Both ends of the line of least squares through values at 0, 1, 2...
fn line(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let (middle, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let (mut up, mut along) = (0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        let x = i as f64 - middle;
        (up, along) = (up + x * (value - mean), along + x * x);
    }
    let half = if along > 0.0 { up / along * middle } else { 0.0 };
    (mean - half, mean + half)
}

/// The gain whose levels for so many dilations are nearest to a line from one to the other
/// and from 0 to 255.
fn between(first: f64, last: f64, dilations: u8) -> Gain {
    let steps = f64::from(dilations - 1);
    let (first, last) = (first.clamp(0.0, 255.0), last.clamp(0.0, 255.0));
    let slope = ((last - first) / steps.max(1.0)).trunc().clamp(-127.0, 127.0);
    let all = slope * steps;
    let level = ((first + last - all) / 2.0).round();
    let (least, most) = ((-all).max(0.0), (255.0 - all).min(255.0));
    Gain { level: level.clamp(least, most) as u8, slope: slope as i8 }
}

/// The deviation of the sums of filters at a dilation, by their median magnitude.
fn deviation(rows: &[Vec<f64>], series: Series, dilation: usize, difference: bool) -> f64 {
    let (channels, kernel) = (usize::from(series.channels), usize::from(series.kernel));
    let length = rows.first().map_or(0, |row| row.len() / channels);
    let positions = if difference { length - dilation } else { length };
    let before = (kernel - 1) * dilation / 2;
    let count = POSITIONS.min(positions);
    let mut sums = Vec::with_capacity(8 * rows.len() * count);
    for (r, row) in rows.iter().enumerate() {
        let channel = r % channels;
        let sample = |place: usize| row[place * channels + channel];
        for i in 0..count {
            let position = i * positions / count;
            let mut folded = [0.0; 8];
            for tap in 0..kernel {
                let place = (position + tap * dilation).wrapping_sub(before);
                if place < positions {
                    let before = if difference { -sample(place) } else { 0.0 };
                    let after = sample(if difference { place + dilation } else { place });
                    let sign = if SIGNS >> tap & 1 == 1 { -1.0 } else { 1.0 };
                    folded[tap % 8] += sign * (after + before);
                }
            }
            sums.extend((0..8usize).map(|r| {
                let signed = |(j, t): (usize, &f64)| {
                    if (r & j).count_ones() % 2 == 1 { -t } else { *t }
                };
                folded.iter().enumerate().map(signed).sum::<f64>().abs()
            }));
        }
    }
    let root = (sums.iter().map(|sum| sum * sum).sum::<f64>() / sums.len() as f64).sqrt();
    let middle = sums.len() / 2;
    let median = *sums.select_nth_unstable_by(middle, f64::total_cmp).1;
    // A series that never moves has any deviation.
    (median / NORMAL_MEDIAN).max(LEAST_SHARE * root).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::TableBuilder;

    /// Waves of 40 samples around a level.
    fn waves(level: f32, height: f32) -> Table {
        let wave = |i: usize| ((i % 40) as f32 * 0.2 + (i / 40 * 17 % 11) as f32).sin();
        let values: Vec<f32> = (0..200 * 40).map(|i| level + height * wave(i)).collect();
        let y = vec![0.0f32; 200];
        TableBuilder::new(200).matrix(40, &values[..]).values("y", &y[..]).build().unwrap()
    }

    fn of(table: &Table) -> Series {
        let shape = Some("40x1".parse().unwrap());
        family(&ConvOptions { shape, ..ConvOptions::default() }, &table.schema).unwrap()
    }

    /// What a gain is at a dilation.
    fn factor(gain: Gain, log: u8) -> f64 {
        let level = gain.level(log).unwrap();
        (16.0 + f64::from(level % 16)) * f64::from(level / 16).exp2() / 512.0
    }

    #[test]
    fn levels_are_the_formats() {
        for level in 0..=255 {
            let gain = factor(Gain { level, slope: 0 }, 0);
            assert!((level_of(gain) - f64::from(level)).abs() < 1e-9, "{level}");
        }
    }

    #[test]
    fn sums_spread_over_the_thresholds_at_any_level_and_height() {
        for (level, height) in [(0.0, 1.0), (300.0, 0.01), (-5.0, 1e4)] {
            let table = waves(level, height);
            let series = measured(of(&table), &table, None);
            assert_eq!((series.kernel, series.dilations), (9, 3));
            let rows: Vec<usize> = (0..200).collect();
            let normaliser = Normaliser::fit(&table, &rows, Kind::Shared);
            let rows: Vec<Vec<f64>> = rows
                .iter()
                .map(|&row| {
                    let axes = normaliser.axes.iter().zip(table.row(row));
                    axes.map(|(axis, &x)| axis.apply(x)).collect()
                })
                .collect();
            for log in 0..3 {
                for (gain, difference) in [(series.samples, false), (series.differences, true)] {
                    let spread = deviation(&rows, series, 1 << log, difference);
                    let reach = 32_768.0 / (factor(gain, log) * UNIT * spread);
                    // A line is not all of it.
                    assert!((1.5..4.0).contains(&reach), "{level} {log} {difference}: {reach}");
                }
            }
        }
    }

    #[test]
    fn another_unit_has_other_gains() {
        let table = waves(0.0, 1.0);
        let series = measured(of(&table), &table, None);
        let halved = in_unit(series, 2.0 * UNIT, 1.0);
        let both = [(series.samples, halved.samples), (series.differences, halved.differences)];
        for (one, other) in both {
            assert_eq!((one.level - 16, one.slope), (other.level, other.slope));
        }
        // Far beyond what levels are: they stop at the ends, and the blob stays a blob.
        for unit in [1e-9, 1e12] {
            assert!(in_unit(series, unit, 1.0).fits(40), "{unit}");
        }
    }

    #[test]
    fn rows_that_are_no_series_are_refused() {
        let table = waves(0.0, 1.0);
        for shape in ["5x8x1", "41x1"] {
            let shape = Some(shape.parse().unwrap());
            let options = ConvOptions { shape, ..ConvOptions::default() };
            assert!(family(&options, &table.schema).is_err());
        }
        let shape = Some("40x1".parse().unwrap());
        let options = ConvOptions { shape, kernel: Some(41), ..ConvOptions::default() };
        assert!(family(&options, &table.schema).unwrap_err().to_string().contains("taps"));
    }

    #[test]
    fn series_that_never_move_have_gains_too() {
        let y: Vec<f32> = (0..20u8).map(f32::from).collect();
        let flat = vec![3.0f32; 20 * 40];
        let table =
            TableBuilder::new(20).matrix(40, &flat[..]).values("y", &y[..]).build().unwrap();
        assert!(measured(of(&table), &table, None).fits(40));
    }
}
