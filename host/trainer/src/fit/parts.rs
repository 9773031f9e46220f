//! λ, biases and selection from few recordings: each is judged by heads that have not
//! seen it.
//!
//! Two or three recordings that are held out say more about themselves than about λ. So
//! recordings are divided into parts, and the rows of each part get scores from
//! features that were selected, and a head that was fitted, on the other parts. λ is
//! the one whose scores are best; for classes by their log-loss after one slope for all
//! outputs and a bias for each ([`recentred`]). These biases also go into the model: on
//! recordings that a head has not seen, classes that vary much score lower than on
//! those that it was fitted to. Rows of a class that one part alone has say nothing: the
//! heads that judge them have never seen the class.

use faer::{ColRef, Mat, MatRef};
use koan::{Calibration, Family, Width};

use super::dense::scores;
use super::rounding::Curvature;
use super::{Fitted, usual_width, widths};
use crate::Error;
use crate::blob::{BankSpec, ModelSpec};
use crate::calibrate::{FAILED, Recentred, recentred};
use crate::features::FeatureMap;
use crate::folds::{Folds, HELD, groups};
use crate::lambda::{LAMBDAS, around, descend, given_or, upwards};
use crate::moments::Moments;
use crate::options::HeadOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::prune::{backward, only, pool, scattered, with_empty_banks};
use crate::quantise::Rounding;
use crate::ridge::{LinearFit, System};
use crate::solve::Design;
use koan_data::{Table, Target};

/// Parts at most: each is left out once.
const MOST_PARTS: usize = 10;
/// Fewer parts than this are no better than one that is held out.
const FEWEST_PARTS: usize = 4;
/// Features up to which a fit for each part and λ is affordable.
const MOST_FEATURES: usize = 1024;
/// Features of all rows that are kept in memory, two bytes each.
const MOST_VALUES: usize = 1 << 26;

/// Parts of whole recordings; none where rows come without recordings, where these are too
/// few, or where it would take too long.
pub(super) fn parts_of(table: &Table, features: usize, seed: u64) -> Option<Folds> {
    Folds::of(table, parts_affordable(table, features)?, seed ^ HELD).ok()
}

/// How many parts those are.
pub(crate) fn parts_affordable(table: &Table, features: usize) -> Option<usize> {
    let affordable = features <= MOST_FEATURES && features * table.rows() <= MOST_VALUES;
    let recordings = affordable.then(|| groups(table)).flatten()?;
    (recordings >= FEWEST_PARTS).then(|| recordings.min(MOST_PARTS))
}

/// Some recordings.
struct FoldPart<'p> {
    rows: &'p [usize],
    design: &'p Design,
    /// What was made of all other parts.
    others: Others,
}

/// Features and normal equations of rows.
struct Others {
    /// Columns of the pool, ascending.
    columns: Vec<usize>,
    /// The features of these columns.
    spec: ModelSpec,
    system: System,
}

impl Others {
    /// All features, or the best `keep` of them.
    fn new(spec: &ModelSpec, moments: &Moments, keep: Option<(usize, f64)>) -> Self {
        let system = System::new(moments);
        let Some((count, lambda)) = keep else {
            return Self { columns: (0..moments.features()).collect(), spec: spec.clone(), system };
        };
        let best = backward(&system, lambda, count).kept(count);
        let columns = with_empty_banks(spec, best);
        let system = System::new(&moments.select(&columns));
        Self { spec: only(spec, &columns), columns, system }
    }
}

impl FoldPart<'_> {
    /// Scores of the part's rows: T × rows.
    fn scores(&self, fit: LinearFit) -> Mat<f64> {
        let fit = scattered(&fit, &self.others.columns, self.design.features());
        self.design.scores(fit.weights.as_ref(), &fit.bias)
    }
}

/// How good scores of rows are that their head has not seen.
struct Scored {
    lambda: f64,
    /// Log-loss of classes, squared error of values.
    loss: f64,
    /// To be added to the biases.
    bias: Vec<f64>,
    /// Slope that makes probabilities of the scores with these biases.
    slope: f64,
    /// Whether slope and biases are those that suit best.
    fitted: bool,
}

/// All parts.
struct Parts<'p> {
    problem: &'p Problem<'p>,
    parts: Vec<FoldPart<'p>>,
    /// The classes that two parts or more have, ascending.
    shared: &'p [u32],
}

/// The classes that two parts or more have, ascending; none of values.
fn shared_classes(problem: &Problem<'_>, parts: &Folds) -> Vec<u32> {
    let Target::Classes { labels } = &problem.table.target else { return Vec::new() };
    let mut having = vec![0; problem.table.schema.classes.len()];
    for rows in &parts.parts {
        let mut here = vec![false; having.len()];
        rows.iter().for_each(|&row| here[labels[row] as usize] = true);
        having.iter_mut().zip(here).for_each(|(count, here)| *count += usize::from(here));
    }
    (0u32..).zip(having).filter(|&(_, count)| count > 1).map(|(class, _)| class).collect()
}

impl Parts<'_> {
    /// What suits the scores of classes, rows × classes, of which only those that parts share
    /// count.
    fn of_classes(&self, scores: &[f64], labels: &[u32], weights: &[f64]) -> Recentred {
        let (shared, outputs) = (self.shared, self.problem.outputs);
        if outputs == 1 || shared.len() == outputs {
            return recentred(scores, labels, weights, outputs);
        }
        let place = |label: &u32| shared.binary_search(label).ok().map(|place| place as u32);
        let rows: Vec<usize> = (0..labels.len()).filter(|&r| place(&labels[r]).is_some()).collect();
        let of_row = |&row: &usize| shared.iter().map(move |&t| scores[row * outputs + t as usize]);
        let kept: Vec<f64> = rows.iter().flat_map(of_row).collect();
        let labels: Vec<u32> = labels.iter().filter_map(place).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
        let found = recentred(&kept, &labels, &weights, shared.len());
        let mut bias = vec![0.0; outputs];
        shared.iter().zip(&found.bias).for_each(|(&class, by)| bias[class as usize] = *by);
        Recentred { bias, ..found }
    }

    /// Judges the scores of rows, one part after the other, each T × rows.
    fn judge(&self, scores: &[Mat<f64>], lambda: f64) -> Scored {
        let problem = self.problem;
        let rows = || self.parts.iter().flat_map(|part| part.rows.iter().copied());
        let columns = || scores.iter().flat_map(|scores| scores.col_iter());
        let weights: Vec<f64> = rows().map(|row| problem.weight(row)).collect();
        match &problem.table.target {
            Target::Classes { labels } => {
                let labels: Vec<u32> = rows().map(|row| labels[row]).collect();
                let scores: Vec<f64> =
                    columns().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
                let found = self.of_classes(&scores, &labels, &weights);
                let Recentred { slope, bias, loss, fitted } = found;
                Scored { lambda, loss, bias, slope, fitted }
            }
            Target::Values(_) => {
                let square = |(row, scores): (usize, ColRef<'_, f64>)| {
                    problem.weight(row) * (scores[0] - problem.target(row, 0)).powi(2)
                };
                let loss = rows().zip(columns()).map(square).sum();
                Scored { lambda, loss, bias: vec![0.0; problem.outputs], slope: 1.0, fitted: true }
            }
        }
    }

    /// Fits for several λ.
    fn real(&self, lambdas: &[f64]) -> Vec<Scored> {
        let of_parts: Vec<Vec<Mat<f64>>> = self
            .parts
            .iter()
            .map(|part| {
                let fits = part.others.system.path(lambdas);
                fits.into_iter().map(|fit| part.scores(fit)).collect()
            })
            .collect();
        let of = |(index, &lambda): (usize, &f64)| {
            let scores: Vec<Mat<f64>> = of_parts.iter().map(|part| part[index].clone()).collect();
            self.judge(&scores, lambda)
        };
        lambdas.iter().enumerate().map(of).collect()
    }

    /// The best of several λ; refined to half decades.
    fn best(&self, lambdas: &[f64]) -> Scored {
        let coarse = self.real(lambdas).into_iter().reduce(better);
        let coarse = coarse.expect("there is at least one lambda");
        if lambdas.len() < 2 {
            return coarse;
        }
        self.real(&around(coarse.lambda)).into_iter().fold(coarse, better)
    }

    /// The fit for a λ with rounded weights.
    fn rounded(&self, width: Width, lambda: f64) -> Scored {
        let score = |part: &FoldPart<'_>| {
            let Others { spec, system, .. } = &part.others;
            let (curvature, fit) = Curvature::with_fit(system, lambda);
            let rounding = Rounding::Compensated;
            let rounded = curvature.round(fit.weights.as_ref(), spec, vec![width], rounding);
            let weights = rounded.weights;
            let bias = system.bias(&weights);
            part.scores(LinearFit { weights, bias, lambda })
        };
        self.judge(&self.parts.iter().map(score).collect::<Vec<_>>(), lambda)
    }

    /// The best λ for rounded weights, from the one for real weights.
    fn best_rounded(&self, width: Width, start: f64) -> Scored {
        let best = descend(upwards(start), |lambda| {
            let scored = self.rounded(width, lambda);
            (scored.loss, scored)
        });
        best.expect("the first λ is judged")
    }
}

/// The better one, the first of equals.
fn better(a: Scored, b: Scored) -> Scored {
    if b.loss < a.loss { b } else { a }
}

/// Fits by the Gram matrix of all features, or of the best of a larger pool; selection,
/// λ and biases are judged by leaving recordings out in turn. None where rows come
/// without recordings or with too few, where each has classes of its own, for bins, and where
/// it would take too long.
///
/// # Errors
/// A specification that the format does not allow.
pub fn fit_parts(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Option<Fitted>, Error> {
    let columns = |spec: &ModelSpec| spec.banks.iter().map(BankSpec::columns).sum::<usize>();
    let count = columns(spec);
    let spec = options.candidates.map_or_else(|| spec.clone(), |most| pool(spec, most));
    let bins = spec.banks.iter().any(|bank| matches!(bank.family, Family::Bin { .. }));
    let parts = parts_of(problem.table, columns(&spec), options.seed);
    let Some(parts) = parts.filter(|_| !bins && columns(&spec) >= count) else {
        return Ok(None);
    };
    let shared = shared_classes(problem, &parts);
    if matches!(problem.table.target, Target::Classes { .. }) && shared.len() < 2 {
        return Ok(None);
    }
    progress.phase("computing features")?;
    let map = FeatureMap::new(&spec)?;
    let nothing = || Moments::new(map.features(), problem.outputs);
    let mut all = nothing();
    let mut sums = Vec::new();
    for rows in parts.parts {
        let design = Design::of(&map, problem.table, &rows)?;
        let weight = |&row: &usize| problem.weight(row);
        let weights: Option<Vec<f64>> =
            problem.weights.is_some().then(|| rows.iter().map(weight).collect());
        let moments = design.moments(problem.targets(&rows).transpose(), weights.as_deref());
        all.merge(&moments);
        sums.push((rows, design, moments));
    }
    let left_out = |keep: Option<(usize, f64)>| {
        let mut parts = Vec::new();
        for (index, (rows, design, _)) in sums.iter().enumerate() {
            let mut others = nothing();
            let rest = sums.iter().enumerate().filter(|(other, _)| *other != index);
            rest.for_each(|(_, (_, _, moments))| others.merge(moments));
            parts.push(FoldPart { rows, design, others: Others::new(&spec, &others, keep) });
        }
        Parts { problem, parts, shared: &shared }
    };
    let lambdas = given_or(options.lambda, &LAMBDAS);
    progress.phase("solving")?;
    let mut judges = left_out(None);
    let mut real = judges.best(&lambdas);
    let mut final_keep = None;
    if count < columns(&spec) {
        progress.phase("selecting features")?;
        final_keep = Some((count, real.lambda));
        judges = left_out(final_keep);
        real = judges.best(&lambdas);
    }
    progress.phase("rounding the weights")?;
    let bits = options.bits;
    let width = usual_width(bits);
    let chosen = match options.lambda {
        Some(lambda) => judges.rounded(width, lambda),
        None => judges.best_rounded(width, real.lambda),
    };
    Ok(Some(finish(problem, &Others::new(&spec, &all, final_keep), &real, &chosen, bits)?))
}

/// The fit to all rows.
fn finish(
    problem: &Problem<'_>,
    all: &Others,
    real: &Scored,
    chosen: &Scored,
    bits: u8,
) -> Result<Fitted, Error> {
    let (system, spec, lambda) = (&all.system, all.spec.clone(), chosen.lambda);
    let (curvature, LinearFit { weights, .. }) = Curvature::with_fit(system, lambda);
    let head = |rounding| {
        let best = curvature.round(weights.as_ref(), &spec, widths(bits), rounding);
        let bias = shifted(system, best.weights.as_ref(), &chosen.bias);
        best.head(&spec, &bias)
    };
    let (nearest, compensated) = (Some(head(Rounding::Nearest)), head(Rounding::Compensated));
    let bias = shifted(system, weights.as_ref(), &real.bias);
    let fit = LinearFit { weights, bias, lambda };
    let map = FeatureMap::new(&spec)?;
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        scores(&map, &fit, table, &rows)
    });
    let classes = matches!(problem.table.target, Target::Classes { .. });
    let calibration = classes.then_some(Calibration { slope: chosen.slope as f32, intercept: 0.0 });
    let failed = !chosen.fitted || !real.fitted;
    let warnings = failed.then(|| FAILED.to_owned()).into_iter().collect();
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}

/// The best biases for weights on the rows fitted to, moved.
fn shifted(system: &System, weights: MatRef<'_, f64>, by: &[f64]) -> Vec<f64> {
    let bias = system.bias(&weights.to_owned());
    bias.iter().zip(by).map(|(bias, by)| bias + by).collect()
}

#[cfg(test)]
mod tests;
