//! The logistic loss over all rows: a few passes, each of which gives the loss and its gradient.
//!
//! The fit to the sample is the first step: it is off by what a sample is off. Each further step
//! goes where a model of the objective is least, the loss of the sample with the gradient of all
//! rows (Shamir, Srebro and Zhang 2014), corrected by what the passes have shown (limited-memory
//! BFGS). Where the sample's rows are many more than features it bends as all rows do, but for a
//! small share, and that share of the error is what a step leaves. Where it does not, what it
//! lacks is made up by the Gram matrix of all rows, which bounds the Hessian: a step after which
//! the loss is higher is taken back, and the next one has more of it. What it has shown is kept.

use faer::Mat;
use koan::Calibration;
use serde::{Deserialize, Serialize};

use super::gradients::Gradients;
use super::plan::Plan;
use super::step::{Step, StoredStep};
use super::sums::Sums;
use super::{from_bytes, to_bytes};
use crate::Error;
use crate::fit::{Beginning, Sampled};
use crate::progress::Progress;
use crate::ridge::{LinearFit, System};
use crate::solve::conjugate::Vector;
use crate::solve::{Bend, Loss, Pair, Whole};

/// First bytes of a descent; the last one is the version of its form.
const MAGIC: &[u8; 8] = b"KOANDSC\x01";
/// Passes at most.
const PASSES: u32 = 10;
/// What a step may be expected to take off the objective, relative to it, when it is not worth a
/// pass: as in memory.
const ENOUGH: f64 = 2e-4;
/// Share of the loss without features below which the decrease is not taken relative to the
/// objective, as in memory.
const NEGLIGIBLE: f64 = 0.05;
/// The share of the decrease that its slope promises which a step must bring.
const ARMIJO: f64 = 1e-4;
/// Damping after the first step that was too long: as if the objective bent twice as much.
const DAMPED: f64 = 1.0;
/// Steps whose gradients are remembered.
const REMEMBERED: usize = 6;

/// A fit by the logistic loss to all rows: gives out [`Step`]s, and takes the [`Gradients`] of
/// each. It is where the plan's sample is: on the client.
pub struct Descent {
    state: State,
    step: Step,
    sample: Sampled,
    whole: Whole,
}

/// What a descent goes on from.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    lambda: f64,
    /// Slope and intercept.
    calibration: Option<(f32, f32)>,
    warnings: Vec<String>,
    step: StoredStep,
    rows: u64,
    /// The sum of the rows' hashes.
    hashes: Option<i128>,
    best: Option<Place>,
    /// Steps and the differences of gradients.
    pairs: Vec<(Vec<f64>, Vec<f64>)>,
    /// The direction's slope at the best place.
    slope: f64,
    /// How much more the objective is taken to bend than the passes say.
    damping: f64,
    done: bool,
}

/// Weights and biases with the objective there.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    /// Of each output its K weights, of features in their units; then the biases.
    at: Vec<f64>,
    objective: f64,
    gradient: Vec<f64>,
    /// Mean curvature of the loss by each output's score.
    curvatures: Vec<f64>,
}

impl Descent {
    /// Fits to the plan's sample, and chooses λ on it as training in memory does.
    ///
    /// # Errors
    /// A plan for another loss, or for workers; sums of another plan, or without the rows of its
    /// sample; or the user's stop.
    pub fn new(plan: &Plan, sums: &Sums, progress: &Progress) -> Result<Self, Error> {
        let options = plan.stored.options.options();
        if options.loss() != Loss::Logistic {
            let loss = options.loss().name();
            let problem = format!("a plan for the {loss} loss needs no descent: finish the sums");
            return Err(Error::Impossible(problem));
        }
        let whole = whole(plan, sums)?;
        let problem = plan.stored.problem(plan.own_sample()?)?;
        let head = options.head(problem.task());
        let (sample, beginning) = Sampled::new(&problem, &plan.map, &plan.spec, &head, progress)?;
        let Beginning { fit, calibration, warnings } = beginning;
        let step = Step::at(plan, 1, &fit.weights, &fit.bias)?;
        let mut state = State {
            lambda: fit.lambda,
            calibration: calibration.map(|found| (found.slope, found.intercept)),
            warnings,
            step: step.stored().clone(),
            rows: sums.rows(),
            hashes: None,
            best: None,
            pairs: Vec::new(),
            slope: 0.0,
            damping: 0.0,
            done: false,
        };
        // The sample has all rows: the fit to it is the fit.
        if state.rows == plan.stored.sample_rows {
            let at = flat(&Pair { weights: fit.weights, bias: fit.bias });
            let (gradient, curvatures) = (vec![0.0; at.len()], vec![0.0; plan.outputs()]);
            state.best = Some(Place { at, objective: 0.0, gradient, curvatures });
            state.done = true;
        }
        Ok(Self { state, step, sample, whole })
    }

    /// Whether no more passes are needed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state.done
    }

    /// The weights that the next pass takes the gradient at.
    #[must_use]
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// Passes whose gradients were taken: none, where the sample has all rows.
    #[must_use]
    pub fn passes(&self) -> u32 {
        self.step.number() - u32::from(!self.state.done || self.state.hashes.is_none())
    }

    /// Takes the gradients of all rows at the step, and chooses the next step.
    ///
    /// # Errors
    /// Gradients of another plan or step, or of other rows than before; or the user's stop.
    pub fn advance(
        &mut self,
        plan: &Plan,
        gradients: &Gradients,
        progress: &Progress,
    ) -> Result<(), Error> {
        gradients.check(plan, &self.step)?;
        if self.state.done {
            return Err(Error::Impossible("no more passes are needed: finish".into()));
        }
        let hashes = gradients.hashes();
        if gradients.rows() != self.state.rows || self.state.hashes.unwrap_or(hashes) != hashes {
            let problem = "the rows of this pass are not those of the passes before: all passes \
                           must see the same rows";
            return Err(Error::Impossible(problem.into()));
        }
        self.state.hashes = Some(hashes);
        progress.phase("solving")?;
        let here = self.place(plan, gradients);
        self.state.take(here);
        self.next(plan)
    }

    /// Where the step was, and the objective there.
    fn place(&self, plan: &Plan, gradients: &Gradients) -> Place {
        let penalty = self.state.lambda * self.whole.system.unit();
        let (weights, bias) = self.step.real(plan);
        let (mut by_weights, by_bias) = gradients.derivatives(plan);
        let objective = gradients.loss(plan) + 0.5 * penalty * weights.squared_norm_l2();
        by_weights += faer::Scale(penalty) * &weights;
        let at = flat(&Pair { weights, bias });
        let gradient = flat(&Pair { weights: by_weights, bias: by_bias });
        Place { at, objective, gradient, curvatures: gradients.curvatures(plan) }
    }

    /// The step after the best place; or none, where little is to be had.
    fn next(&mut self, plan: &Plan) -> Result<(), Error> {
        let state = &mut self.state;
        let Some(best) = &state.best else { return Ok(()) };
        let outputs = plan.outputs();
        let at = pair(&best.at, outputs);
        let at = LinearFit { weights: at.weights, bias: at.bias, lambda: state.lambda };
        let bend = Bend { curvatures: &best.curvatures, damping: state.damping };
        let inverse =
            |vector: &[f64]| flat(&self.sample.step(&self.whole, &at, bend, pair(vector, outputs)));
        let mut direction = quasi_newton(&best.gradient, &state.pairs, inverse);
        let mut slope = direction.dot(&best.gradient);
        if slope.is_nan() || slope >= 0.0 {
            state.pairs.clear();
            direction = quasi_newton(&best.gradient, &[], inverse);
            slope = direction.dot(&best.gradient);
        }
        // Half of the slope is what the quadratic falls.
        let expected = -0.5 * slope;
        let negligible = NEGLIGIBLE * self.sample.ignorance() * self.whole.total;
        let share = expected / best.objective.max(negligible);
        if share.is_nan() || share <= ENOUGH {
            state.done = true;
            return Ok(());
        }
        if self.step.number() >= PASSES {
            state.done = true;
            state.warnings.push(format!(
                "logistic regression stopped after {PASSES} passes over the rows, where another \
                 was expected to take {share:.1e} off the objective, relative to it; {ENOUGH:.1e} \
                 was asked for"
            ));
            return Ok(());
        }
        state.slope = slope;
        let mut next = best.at.clone();
        next.add(1.0, &direction);
        let next = pair(&next, outputs);
        self.step = Step::at(plan, self.step.number() + 1, &next.weights, &next.bias)?;
        self.state.step = self.step.stored().clone();
        Ok(())
    }

    /// The sample, and what [`Descent::advance`] has found: the fit of the best place.
    pub(super) fn found(&self, plan: &Plan) -> Result<Found<'_>, Error> {
        let Some(best) = self.state.best.as_ref().filter(|_| self.state.done) else {
            let problem = "the descent is not done: advance it by the gradients of its step";
            return Err(Error::Impossible(problem.into()));
        };
        let Pair { weights, bias } = pair(&best.at, plan.outputs());
        let calibration = self.state.calibration;
        Ok(Found {
            fit: LinearFit { weights, bias, lambda: self.state.lambda },
            calibration: calibration.map(|(slope, intercept)| Calibration { slope, intercept }),
            warnings: &self.state.warnings,
            rows: self.state.rows,
            sample: &self.sample,
        })
    }

    /// The objective and the passes so far.
    #[cfg(test)]
    pub(super) fn objective(&self) -> Option<f64> {
        self.state.best.as_ref().map(|best| best.objective)
    }

    /// The descent as bytes, without the plan: a client that was killed goes on from them.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        to_bytes(MAGIC, &self.state)
    }

    /// A descent of the plan and the sums from its bytes.
    ///
    /// # Errors
    /// Bytes of something else, of another plan or sums, or damaged; a plan for workers.
    pub fn from_bytes(plan: &Plan, sums: &Sums, bytes: &[u8]) -> Result<Self, Error> {
        let state: State = from_bytes(MAGIC, bytes, "a descent")?;
        let step = Step::of(plan, state.step.clone())?;
        let length = plan.outputs() * (plan.features() + 1);
        let long = |vector: &Vec<f64>| vector.len() == length;
        let fits = state.pairs.iter().all(|(step, change)| long(step) && long(change))
            && state.rows == sums.rows()
            && state.best.iter().all(|best| {
                long(&best.at) && long(&best.gradient) && best.curvatures.len() == plan.outputs()
            });
        if !fits {
            return Err(Error::Impossible("the bytes of a descent do not fit together".into()));
        }
        let whole = whole(plan, sums)?;
        let problem = plan.stored.problem(plan.own_sample()?)?;
        let sample = Sampled::again(&problem, &plan.map, plan.stored.options.options().seed)?;
        Ok(Self { state, step, sample, whole })
    }
}

/// What the sums say of all rows.
fn whole(plan: &Plan, sums: &Sums) -> Result<Whole, Error> {
    sums.check_whole(plan)?;
    let moments = sums.clone().moments(plan);
    Ok(Whole { system: System::new(&moments), total: moments.count })
}

/// What a descent came to.
pub(super) struct Found<'d> {
    pub fit: LinearFit,
    pub calibration: Option<Calibration>,
    pub warnings: &'d [String],
    /// Rows that were trained on.
    pub rows: u64,
    pub sample: &'d Sampled,
}

impl State {
    /// Goes to a place, if it is better than the best one; either remembers the difference.
    fn take(&mut self, here: Place) {
        let Some(best) = &self.best else {
            self.best = Some(here);
            return;
        };
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let step: Vec<f64> = difference(&here.at, &best.at);
        let change: Vec<f64> = difference(&here.gradient, &best.gradient);
        let (bend, size) = (step.dot(&change), change.dot(&change) * step.dot(&step));
        if bend > 1e-10 * size.sqrt() {
            self.pairs.push((step, change));
            if self.pairs.len() > REMEMBERED {
                self.pairs.remove(0);
            }
        }
        if here.objective <= best.objective + ARMIJO * self.slope {
            self.damping = if self.damping > DAMPED { self.damping / 4.0 } else { 0.0 };
            self.best = Some(here);
        } else {
            self.damping = (self.damping * 4.0).max(DAMPED);
        }
    }
}

/// The direction of limited-memory BFGS. `inverse`: minus the first inverse Hessian times a
/// vector.
fn quasi_newton(
    gradient: &[f64],
    pairs: &[(Vec<f64>, Vec<f64>)],
    inverse: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let mut left = gradient.to_vec();
    let mut shares = Vec::with_capacity(pairs.len());
    for (step, change) in pairs.iter().rev() {
        let share = step.dot(&left) / step.dot(change);
        left.add(-share, change);
        shares.push(share);
    }
    let mut direction = inverse(&left);
    for ((step, change), share) in pairs.iter().zip(shares.into_iter().rev()) {
        // The direction is downhill, so signs are turned.
        let other = change.dot(&direction) / step.dot(change);
        direction.add(-share - other, step);
    }
    direction
}

/// Of each output its weights, then the biases.
fn flat(pair: &Pair) -> Vec<f64> {
    let weights = pair.weights.col_iter().flat_map(|column| column.iter().copied());
    weights.chain(pair.bias.iter().copied()).collect()
}

/// What [`flat`] made.
fn pair(flat: &[f64], outputs: usize) -> Pair {
    let features = flat.len() / outputs - 1;
    let (weights, bias) = flat.split_at(features * outputs);
    let weights = Mat::from_fn(features, outputs, |k, t| weights[t * features + k]);
    Pair { weights, bias: bias.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With as many pairs as there are unknowns the direction is Newton's, whatever the metric.
    #[test]
    fn pairs_of_all_unknowns_give_the_newton_step() {
        let hessian = [[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]];
        let times = |x: &[f64]| -> Vec<f64> {
            hessian.iter().map(|row| row.to_vec().dot(&x.to_vec())).collect()
        };
        // Conjugate steps, which no later one undoes.
        let mut steps: Vec<Vec<f64>> = Vec::new();
        for k in 0..3 {
            let mut step = vec![0.0; 3];
            step[k] = 1.0;
            for before in steps.clone() {
                let image = times(&before);
                step.add(-step.dot(&image) / before.dot(&image), &before);
            }
            steps.push(step);
        }
        let pairs: Vec<_> = steps.into_iter().map(|step| (step.clone(), times(&step))).collect();
        let gradient = vec![1.0, -2.0, 0.5];
        let metric = |v: &[f64]| v.iter().map(|x| -0.7 * x).collect();
        let back = times(&quasi_newton(&gradient, &pairs, metric));
        assert!(back.iter().zip(&gradient).all(|(a, b)| (a + b).abs() < 1e-12), "{back:?}");
    }

    #[test]
    fn flat_vectors_are_pairs() {
        let weights = Mat::from_fn(3, 2, |k, t| (10 * k + t) as f64);
        let vector = flat(&Pair { weights: weights.clone(), bias: vec![7.0, 8.0] });
        assert_eq!(vector, [0.0, 10.0, 20.0, 1.0, 11.0, 21.0, 7.0, 8.0]);
        let back = pair(&vector, 2);
        assert_eq!((back.weights, back.bias), (weights, vec![7.0, 8.0]));
    }
}
