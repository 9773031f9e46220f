//! The head of one bank of ferns.

use faer::Mat;
use koan::{FEATURE_ONE, Family, Width};

use super::chosen::{Choice, codes, is_open};
use super::leaves::{Codes, Descent, Weights, nearest};
use super::objective::Objective;
use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use crate::calibrate;
use crate::features::FeatureMap;
use crate::fit::{Fitted, hold_out, in_turn, real_scores, usual_width, widths};
use crate::head::{RoundedOutput, assemble};
use crate::options::{HeadOptions, Purpose};
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::quantise::{Levels, reach};
use crate::ridge::LinearFit;
use koan_data::{Table, Target};

/// Values of λ to visit, largest first, relative to the rows that a leaf has in the mean.
const LAMBDAS: [f64; 8] = [1.0, 3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4];
/// Smaller ones are not visited after so many in a row that made held-out rows worse.
const WORSE: usize = 2;
/// Looks at the slopes for a fit, and for rounded weights, at most.
const SWEEPS: usize = 8;
const ROUNDED_SWEEPS: usize = 2;
/// Fractions of the largest weight that the levels may reach.
const REACHES: [f64; 4] = [0.9, 0.65, 0.45, 0.3];

/// Some rows.
struct Rows {
    codes: Codes,
    objective: Objective,
}

impl Rows {
    fn new(
        problem: &Problem<'_>,
        map: &FeatureMap,
        spec: &ModelSpec,
        rows: &[usize],
        options: &HeadOptions,
    ) -> Result<Self, Error> {
        let codes = codes(map, spec, problem, rows)?;
        Ok(Self { codes, objective: Objective::new(problem, rows, options.loss) })
    }

    fn penalty(&self, lambda: f64) -> f32 {
        Descent::penalty(&self.objective, self.codes.depth, lambda)
    }

    /// Weights of nothing yet.
    fn start(&self) -> Weights {
        Weights::none(self.codes.ferns(), self.codes.leaves(), self.objective.first_bias())
    }

    /// The weights for a λ, from others on.
    fn fitted(&self, lambda: f64, start: Weights) -> Weights {
        let mut descent = Descent::new(&self.objective, &self.codes, start);
        descent.settle(self.penalty(lambda), None, SWEEPS);
        descent.weights
    }

    /// Real weights rounded to levels of a width: the best of several steps, each with
    /// weights that make up for each other's rounding.
    fn rounded(&self, real: &Weights, lambda: f64, width: Width) -> Rounded {
        let leaves = self.codes.leaves();
        let reaches = if width.bits() >= 8 { &[1.0][..] } else { &REACHES[..] };
        let penalty = self.penalty(lambda);
        let rounded = |&share: &f64| {
            let levels = levels(real, leaves, width, share);
            let mut descent =
                Descent::new(&self.objective, &self.codes, to_levels(real, leaves, &levels));
            descent.settle(penalty, Some(&levels), ROUNDED_SWEEPS);
            descent.settle_bias();
            let value = descent.value(penalty);
            Rounded { weights: descent.weights, leaves, levels, value }
        };
        let all = parallel::map(reaches.len(), |place| rounded(&reaches[place]));
        let best = all.into_iter().reduce(|a, b| if b.value < a.value { b } else { a });
        best.expect("there is at least one step")
    }
}

/// Weights that are levels.
struct Rounded {
    weights: Weights,
    /// Of a fern.
    leaves: usize,
    /// Of each output.
    levels: Vec<Levels>,
    value: f64,
}

impl Rounded {
    /// Each weight at the nearest level, none of which is beyond the largest weight.
    fn nearest(real: &Weights, leaves: usize, width: Width) -> Self {
        let levels = levels(real, leaves, width, 1.0);
        Self { weights: to_levels(real, leaves, &levels), leaves, levels, value: 0.0 }
    }

    fn head(&self, spec: &ModelSpec) -> HeadSpec {
        let outputs: Vec<RoundedOutput> = self
            .levels
            .iter()
            .enumerate()
            .map(|(t, levels)| {
                let mine = of_output(&self.weights, t, self.leaves);
                RoundedOutput {
                    codes: mine.map(|weight| levels.code(f64::from(weight))).collect(),
                    levels: vec![Levels { step: levels.step / one(), ..*levels }],
                    bias: f64::from(self.weights.bias[t]),
                }
            })
            .collect();
        assemble(spec, self.levels[0].width, &outputs)
    }
}

/// A column that is on.
fn one() -> f64 {
    f64::from(FEATURE_ONE)
}

/// The levels of each output that reach a share of its largest weight.
fn levels(real: &Weights, leaves: usize, width: Width, share: f64) -> Vec<Levels> {
    (0..real.bias.len())
        .map(|t| {
            let mine = of_output(real, t, leaves);
            let largest = mine.fold(0.0f64, |most, weight| most.max(f64::from(weight).abs()));
            let largest = if largest > 0.0 { largest } else { 1.0 };
            Levels { width, step: largest * share / reach(width) }
        })
        .collect()
}

/// The weights of an output, leaf by leaf.
fn of_output(weights: &Weights, t: usize, leaves: usize) -> impl Iterator<Item = f32> {
    let outputs = weights.bias.len();
    let mine = weights.leaves.chunks_exact(leaves).skip(t).step_by(outputs);
    mine.flatten().copied()
}

fn to_levels(real: &Weights, leaves: usize, levels: &[Levels]) -> Weights {
    let level = |place: usize| levels[place / leaves % levels.len()];
    let rounded = |(place, &weight): (usize, &f32)| nearest(level(place), weight);
    Weights {
        leaves: real.leaves.iter().enumerate().map(rounded).collect(),
        bias: real.bias.clone(),
    }
}

/// Fits one bank of ferns: chooses them, if that is not done, fits the weights of all
/// together, and rounds them. λ is the one whose rounded weights are best on held-out rows.
///
/// # Errors
/// As [`grown`](super::grown).
pub fn fit_ferns(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let bits = options.bits;
    let usual = usual_width(bits);
    let splits = match options.purpose {
        Purpose::Model if options.lambda.is_none() => in_turn(problem, options.seed),
        // With nothing left to choose.
        Purpose::Comparison if options.lambda.is_some() => Vec::new(),
        _ => vec![hold_out(problem, options.seed)],
    };
    progress.phase("computing candidates")?;
    let pool = if is_open(spec) { Some(Choice::new(problem, spec, 0, options)?) } else { None };
    let given = options.lambda.map(|lambda| [lambda]);
    let lambdas = given.as_ref().map_or(&LAMBDAS[..], |given| &given[..]);
    let path = |(fit, held): &(Vec<usize>, Vec<usize>)| -> Result<Path, Error> {
        let spec = chosen(problem, spec, pool.as_ref(), fit, options, progress)?;
        let map = FeatureMap::new(&spec)?;
        progress.phase("solving")?;
        let fit = Rows::new(problem, &map, &spec, fit, options)?;
        let held = Rows::new(problem, &map, &spec, held, options)?;
        // Of several splits all must have the same λ.
        let ends = splits.len() == 1;
        Ok(Path { looks: looks(&fit, &held, lambdas, usual, ends), spec })
    };
    let paths = parallel::try_map(splits.len(), |place| path(&splits[place]))?;
    let mut losses = vec![0.0; lambdas.len()];
    // Held-out scores of each λ, and the classes of their rows.
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); lambdas.len()];
    let mut labels: Vec<u32> = Vec::new();
    let mut already = None;
    for (path, (_, held)) in paths.into_iter().zip(&splits) {
        if let Target::Classes { labels: all } = &problem.table.target {
            labels.extend(held.iter().map(|&row| all[row]));
        }
        losses[path.looks.len()..].fill(f64::INFINITY);
        for (place, look) in path.looks.into_iter().enumerate() {
            losses[place] += look.loss;
            scores[place].extend(look.scores);
        }
        already = Some(path.spec);
    }
    let best = (0..lambdas.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap_or(0);
    let lambda = lambdas[best];
    let all: Vec<usize> = (0..problem.table.rows()).collect();
    // A model among many that are compared keeps the ferns of most of the rows.
    let spec = match already.filter(|_| options.purpose != Purpose::Model) {
        Some(spec) => spec,
        None => chosen(problem, spec, pool.as_ref(), &all, options, progress)?,
    };
    let map = FeatureMap::new(&spec)?;
    progress.phase("solving")?;
    let rows = Rows::new(problem, &map, &spec, &all, options)?;
    let mut real = rows.start();
    for &lambda in &lambdas[..=best] {
        real = rows.fitted(lambda, real);
    }
    progress.phase("rounding the weights")?;
    let attempts = widths(bits).into_iter().map(|width| rows.rounded(&real, lambda, width));
    let compensated = attempts.reduce(|a, b| if b.value < a.value { b } else { a });
    let compensated = compensated.expect("there is at least one width");
    let mut warnings = Vec::new();
    let calibration = match &problem.table.target {
        Target::Classes { .. } if options.is_whole() => {
            let (outputs, scores) = (problem.outputs, &scores[best]);
            Some(calibrate::fit_or_warn(scores, &labels, outputs, &mut warnings))
        }
        _ => None,
    };
    let compensated = compensated.head(&spec);
    let nearest = || Rounded::nearest(&real, rows.codes.leaves(), usual).head(&spec);
    let nearest = options.is_whole().then(nearest);
    let fit = linear(&real, rows.codes.leaves(), lambda);
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        real_scores(&map, &fit, table, &rows)
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}

/// Ferns that some of the rows chose, and what held-out rows say of them with each λ.
struct Path {
    spec: ModelSpec,
    looks: Vec<Look>,
}

/// What held-out rows say of rounded weights.
struct Look {
    loss: f64,
    /// Rows × T.
    scores: Vec<f64>,
}

/// Rounded weights for one λ after the other, each from those of the one before on; where the
/// path `ends` early, up to the λ at which held-out rows have only become worse.
fn looks(fit: &Rows, held: &Rows, lambdas: &[f64], width: Width, ends: bool) -> Vec<Look> {
    let (mut looks, mut losses): (Vec<Look>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut weights = fit.start();
    for &lambda in lambdas {
        weights = fit.fitted(lambda, weights);
        let rounded = fit.rounded(&weights, lambda, width).weights;
        let loss = held.objective.loss(&rounded.scores(&held.codes));
        looks.push(Look { loss, scores: by_row(&rounded, &held.codes) });
        losses.push(loss);
        if ends && only_rises(&losses) {
            break;
        }
    }
    looks
}

/// Whether the last losses are each above the one before.
fn only_rises(losses: &[f64]) -> bool {
    losses.len() > WORSE && losses[losses.len() - WORSE - 1..].is_sorted_by(|a, b| a < b)
}

/// The model with ferns chosen by some rows, unless they are given.
fn chosen(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    pool: Option<&Choice>,
    rows: &[usize],
    options: &HeadOptions,
    progress: &Progress,
) -> Result<ModelSpec, Error> {
    let mut spec = spec.clone();
    if let Some(pool) = pool {
        progress.phase("choosing ferns")?;
        spec.banks[0].kept = Some(pool.best(problem, spec.banks[0].features, rows, options));
    }
    Ok(spec)
}

/// Scores of rows: rows × T.
fn by_row(weights: &Weights, codes: &Codes) -> Vec<f64> {
    let scores = weights.scores(codes);
    let of_row = |row: usize| scores.iter().skip(row).step_by(codes.rows);
    (0..codes.rows).flat_map(of_row).map(|&score| f64::from(score)).collect()
}

/// Weights of leaves as those of columns.
fn linear(real: &Weights, leaves: usize, lambda: f64) -> LinearFit {
    let outputs = real.bias.len();
    let weight = |column: usize, t: usize| {
        let (fern, leaf) = (column / leaves, column % leaves);
        f64::from(real.leaves[(fern * outputs + t) * leaves + leaf]) / one()
    };
    LinearFit {
        weights: Mat::from_fn(real.leaves.len() / outputs, outputs, weight),
        bias: real.bias.iter().map(|&bias| f64::from(bias)).collect(),
        lambda,
    }
}

/// Whether a model is one bank of ferns, whose head is fitted here.
#[must_use]
pub fn is_alone(spec: &ModelSpec) -> bool {
    matches!(spec.banks.as_slice(), [bank] if matches!(bank.family, Family::Fern { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_that_only_rise_end_the_path() {
        assert!(!only_rises(&[3.0, 4.0]) && !only_rises(&[3.0, 4.0, 4.0]));
        assert!(!only_rises(&[3.0, 2.0, 4.0]) && !only_rises(&[3.0, 4.0, f64::NAN]));
        assert!(only_rises(&[9.0, 3.0, 4.0, 5.0]));
    }
}
