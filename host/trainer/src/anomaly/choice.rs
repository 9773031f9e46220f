//! Projection, frequency and λ of a detector, chosen without an anomaly.
//!
//! Rows that were not fitted to are to be told from artificial ones: the same rows with
//! their inputs shuffled, each for itself, rows of noise over the range of the inputs, and
//! the rows themselves with noise. What tells these apart best (area under the ROC curve)
//! most often also tells anomalies, which are not known yet. And rows far from all normal ones
//! have to be anomalies: the share of them that is not counts against a way.

use koan::generator::Stream;
use koan::{Family, Law};

use super::far::{far_rows, mean_and_spread};
use super::{auc, similarity};
use crate::features::FeatureMap;
use crate::plan::BankPlan;
use crate::solve::Design;
use crate::unsupervised::plain;
use crate::{Error, TrainOptions};
use faer::Mat;
use koan_data::{Division, Table};

/// Frequencies to try, and values of λ, infinity for the mean of the features.
const FREQUENCIES: [f64; 5] = [1.0, 0.5, 2.0, 0.25, 4.0];
const LAMBDAS: [f64; 4] = [f64::INFINITY, 1.0, 0.1, 0.01];
/// Smaller ones tell artificial rows ever better, and real anomalies worse, but where all inputs are
/// driven by the same thing and anomalies break the relation between them. There the area above
/// the curve becomes less by more than this factor.
const SMALL_LAMBDAS: [f64; 3] = [1e-3, 1e-4, 1e-5];
const FEWER: f64 = 4.0;
/// Laws of dense projections to try instead of a transform.
const LAWS: [Option<Law>; 2] = [Some(Law::Gaussian), Some(Law::Cauchy)];
/// Inputs up to which they are.
const DENSE_INPUTS: usize = 128;
/// Rows to choose by, and the part of them that is fitted to.
const ROWS: usize = 6000;
const FITTED: f64 = 2.0 / 3.0;
/// Columns up to which λ is chosen: more have the mean of the features.
const COLUMNS: usize = 2048;
/// Standard deviations of noise that is added to rows.
const NOISE: f64 = 0.5;
/// Far rows have to be below the score that so many of the normal rows are below that may be
/// called anomalies, by a factor: the threshold is of few rows, and rounding moves all scores.
const OF_ALARMS: f64 = 0.25;
const BELOW: f64 = 0.5;

/// What suits best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chosen {
    /// Instead of transforms, which make many features nearly equal where inputs are few.
    pub law: Option<Law>,
    /// Factor on the frequencies of all banks.
    pub frequency: f64,
    /// As [`similarity`] has it.
    pub lambda: f64,
}

impl Chosen {
    /// The banks with this frequency and law.
    pub fn apply(self, banks: &[BankPlan]) -> Vec<BankPlan> {
        let of = |bank: &BankPlan| BankPlan {
            frequency: bank.frequency * self.frequency,
            law: self.law.filter(|_| bank.law == Law::Hadamard).unwrap_or(bank.law),
            ..bank.clone()
        };
        banks.iter().map(of).collect()
    }
}

/// Chooses by the rows of `normal`, all of which are normal; what the options give stays.
///
/// # Errors
/// Banks that the format does not allow.
pub(super) fn choose(
    normal: &Table,
    banks: &[BankPlan],
    false_alarm: f64,
    options: &TrainOptions,
) -> Result<Chosen, Error> {
    let tuned =
        banks.iter().any(|bank| !matches!(bank.family, Family::Linear | Family::Maxout { .. }));
    let given = options.frequency.is_some() || !tuned;
    let frequencies = if given { &FREQUENCIES[..1] } else { &FREQUENCIES[..] };
    let columns: usize = banks.iter().map(BankPlan::columns).sum();
    let own = options.lambda.map(|lambda| [lambda]);
    let lambdas = match &own {
        Some(own) => &own[..],
        None if columns > COLUMNS => &LAMBDAS[..1],
        None => &LAMBDAS[..],
    };
    let small: &[f64] = if lambdas.len() > 1 { &SMALL_LAMBDAS } else { &[] };
    let dense = |bank: &BankPlan| bank.law == Law::Hadamard && bank.family == Family::Fourier;
    let few = normal.inputs <= DENSE_INPUTS && banks.iter().all(dense);
    let laws = match options.projection {
        None if few => &LAWS[..],
        _ => &[None],
    };
    let first = Chosen { law: laws[0], frequency: frequencies[0], lambda: lambdas[0] };
    let mut best = (f64::NEG_INFINITY, first);
    let mut best_small = best;
    let rows: Vec<usize> = (0..normal.rows()).step_by(normal.rows().div_ceil(ROWS)).collect();
    let (fit, judge) = divided(normal, &rows);
    if fit.len() < 2 || judge.len() < 2 || frequencies.len() * lambdas.len() * laws.len() == 1 {
        return Ok(best.1);
    }
    let (fit, judge) = (normal.select(&fit), normal.select(&judge));
    let artificial = artificial(&fit, &judge);
    let far = far_rows(&judge);
    let ways = laws.iter().flat_map(|&law| frequencies.iter().map(move |&f| (law, f)));
    for (law, frequency) in ways {
        let way = Chosen { law, frequency, lambda: 0.0 };
        let choice = plain(&fit, &way.apply(banks), options);
        let map = FeatureMap::new(&choice.spec)?;
        let design =
            |table: &Table| Design::of(&map, table, &(0..table.rows()).collect::<Vec<usize>>());
        let fitted = design(&fit)?;
        let none = Mat::zeros(1, fitted.rows());
        let moments = fitted.moments(none.as_ref(), None);
        let (real, false_ones, far) = (design(&judge)?, design(&artificial)?, design(&far)?);
        for &lambda in lambdas.iter().chain(small) {
            let weights = similarity(&moments, lambda);
            let scores = |design: &Design| -> Vec<f64> {
                design.scores(weights.as_ref(), &[0.0]).row(0).iter().copied().collect()
            };
            let mut all = scores(&real);
            all.extend(scores(&false_ones));
            let normal: Vec<bool> = (0..all.len()).map(|i| i < real.rows()).collect();
            let passed = passed(&all[..real.rows()], &scores(&far), false_alarm);
            let reached = auc(&all, &normal).unwrap_or(0.0) - passed;
            let best = if small.contains(&lambda) { &mut best_small } else { &mut best };
            if reached > best.0 {
                *best = (reached, Chosen { lambda, ..way });
            }
        }
    }
    let is_worth_it = FEWER * (1.0 - best_small.0) < 1.0 - best.0;
    Ok(if is_worth_it { best_small.1 } else { best.1 })
}

/// The share of `far` scores that are normal, or nearly, where a share `rate` of the `normal` ones
/// is not.
fn passed(normal: &[f64], far: &[f64], rate: f64) -> f64 {
    let mut sorted = normal.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (OF_ALARMS * rate * sorted.len() as f64) as usize;
    let limit = BELOW * sorted[rank.min(sorted.len() - 1)];
    far.iter().filter(|&&score| score >= limit).count() as f64 / far.len() as f64
}

/// Rows to fit and rows to judge by. Rows of a group, such as windows that overlap, are on one
/// side.
fn divided(normal: &Table, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let draw = |one: u64| Stream::new(one, 11).draw(0);
    if let Division::Groups(groups) = &normal.division {
        let mut all: Vec<u32> = rows.iter().map(|&row| groups[row]).collect();
        all.sort_unstable();
        all.dedup();
        all.sort_by_key(|&group| draw(u64::from(group)));
        // A part of the groups on each side, and of a single one its beginning and its end.
        let few = ((FITTED * all.len() as f64).round() as usize).clamp(1, all.len());
        if few < all.len() {
            return rows.iter().partition(|&&row| all[..few].contains(&groups[row]));
        }
        let (fit, judge) = rows.split_at((FITTED * rows.len() as f64).round() as usize);
        return (fit.to_vec(), judge.to_vec());
    }
    let (mut fit, mut judge) = (Vec::new(), Vec::new());
    for (i, &row) in rows.iter().enumerate() {
        let share = draw(i as u64) as f64 / u64::MAX as f64;
        if share < FITTED { fit.push(row) } else { judge.push(row) }
    }
    (fit, judge)
}

/// Rows that are not normal, three for each of `rows`.
fn artificial(fit: &Table, rows: &Table) -> Table {
    let (count, inputs) = (rows.rows(), rows.inputs);
    let draws = |stream: u32| {
        let stream = Stream::new(12, stream);
        move |i: usize| stream.draw(i as u64)
    };
    let uniform = |draw: u64| draw as f64 / u64::MAX as f64;
    let mut values = vec![0.0f32; 3 * count * inputs];
    for input in 0..inputs {
        let of = |table: &Table, row: usize| table.row(row)[input];
        let all = || (0..fit.rows()).map(|row| f64::from(of(fit, row)));
        let (least, most) =
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let (_, spread) = mean_and_spread(fit, input);
        let mut order: Vec<usize> = (0..count).collect();
        let shuffle = draws(3 * input as u32);
        order.sort_by_key(|&row| shuffle(row));
        let (box_draw, noise_draw) = (draws(3 * input as u32 + 1), draws(3 * input as u32 + 2));
        for row in 0..count {
            let mut put = |kind: usize, value: f64| {
                values[(kind * count + row) * inputs + input] = value as f32;
            };
            put(0, of(rows, order[row]).into());
            put(1, least + uniform(box_draw(row)) * (most - least));
            // Of the same variance as a normal distribution.
            let noise = (uniform(noise_draw(row)) - 0.5) * 12f64.sqrt();
            put(2, f64::from(of(rows, row)) + NOISE * spread * noise);
        }
    }
    let three: Vec<usize> = (0..3 * count).map(|i| i % count).collect();
    Table { values, ..rows.select(&three) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::digits;

    #[test]
    fn artificial_rows_have_the_inputs_ranges() {
        let table = digits::table();
        let (fit, rows) = (table.select(&[0, 1, 2, 3, 4, 5]), table.select(&[6, 7, 8]));
        let made = artificial(&fit, &rows);
        assert_eq!(made.rows(), 9);
        for input in 0..table.inputs {
            let column = |table: &Table| {
                let mut all: Vec<f32> = (0..3).map(|row| table.row(row)[input]).collect();
                all.sort_by(f32::total_cmp);
                all
            };
            assert_eq!(column(&made), column(&rows));
            let of_fit = || (0..6).map(|row| fit.row(row)[input]);
            let (least, most) =
                of_fit().fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(x), b.max(x)));
            for row in 3..6 {
                assert!((least..=most).contains(&made.row(row)[input]));
            }
        }
    }

    /// However few groups there are and whatever their numbers.
    #[test]
    fn few_groups_are_on_both_sides() {
        let values: Vec<f32> = (0..60u8).map(|row| f32::from(row % 7)).collect();
        let table = koan_data::TableBuilder::new(60).matrix(1, &values[..]);
        let free = table.values("y", &values[..]).build().unwrap();
        let rows: Vec<usize> = (0..60).collect();
        for count in 1..6 {
            for first in 0..20 {
                let groups: Vec<u32> = (0..60).map(|row| first + row % count).collect();
                let table = Table { division: Division::Groups(groups.clone()), ..free.clone() };
                let (fit, judge) = divided(&table, &rows);
                assert!(!fit.is_empty() && !judge.is_empty(), "{count} groups from {first}");
                assert_eq!(fit.len() + judge.len(), 60);
                let shared = fit.iter().any(|&row| judge.iter().any(|&j| groups[j] == groups[row]));
                assert_eq!(shared, count == 1);
            }
        }
    }

    #[test]
    fn groups_are_on_one_side() {
        let values: Vec<f32> = (0..120u8).map(|row| f32::from(row % 7)).collect();
        let table = koan_data::TableBuilder::new(120).matrix(1, &values[..]);
        let free = table.values("y", &values[..]).build().unwrap();
        let groups: Vec<u32> = (0..120).map(|row| row / 10).collect();
        let grouped = Table { division: Division::Groups(groups.clone()), ..free.clone() };
        let rows: Vec<usize> = (0..120).collect();
        let sides = |table: &Table| {
            let (fit, judge) = divided(table, &rows);
            let of = |rows: &[usize]| rows.iter().map(|&row| groups[row]).collect::<Vec<_>>();
            let (fit, judge) = (of(&fit), of(&judge));
            assert!(!fit.is_empty() && !judge.is_empty());
            (fit.len() + judge.len(), fit.iter().any(|group| judge.contains(group)))
        };
        assert_eq!(sides(&free), (120, true));
        assert_eq!(sides(&grouped), (120, false));
    }
}
