//! Models are fitted to some rows, rounded, and judged by their blobs on rows held out.

use web_time::Instant;

use super::ferns::is_fern;
use super::moves::Sized;
use super::rank::slowness;
use super::refine::{Refined, Refinement};
use crate::options::{HeadOptions, Purpose};
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solve::Loss;
use crate::train::{encode, fit_head};
use crate::{Error, FamilyName, Point, TrainOptions};
use koan_data::Task;

/// Standard errors by which a smaller model must be better than one that fills its bytes: the rule of
/// one standard error (Breiman et al., Classification and Regression Trees, 1984), the other way round.
/// More random features with a λ of their own are seldom worse, and of many models that few rows judge
/// some small one is lucky.
const PROOF: f64 = 1.0;

impl Refinement<'_> {
    /// Judges what was not `tried` yet, as far as there is work left above the `reserve`.
    pub(super) fn judge_all(
        &mut self,
        wanted: Vec<Sized>,
        tried: &mut Vec<TrainOptions>,
        refined: &mut Vec<Refined>,
        reserve: f64,
    ) -> Result<(), Error> {
        let (mut jobs, mut all) = (Vec::new(), 0.0);
        for sized in wanted {
            if tried.contains(&sized.point.options) {
                continue;
            }
            let work = self.work(&sized.point.options)?;
            // The first one is there whatever it takes.
            let needed = refined.is_empty() && jobs.is_empty() && !self.is_over();
            if !self.affords(&sized.point.options, work, reserve) && !needed {
                continue;
            }
            self.left -= work;
            all += work;
            tried.push(sized.point.options.clone());
            jobs.push(sized);
        }
        let (end, wanted) = (self.end, jobs.len());
        let needed = refined.is_empty() && !self.is_over();
        let start = Instant::now();
        let judged = self.judge_jobs(jobs, end, needed)?;
        if judged.len() == wanted {
            self.judged.0 += all;
            self.judged.1 += start.elapsed();
            self.clock.measured(self.judged.0, self.judged.1);
        }
        self.in_time(self.left, self.clock.possible());
        refined.extend(judged);
        Ok(())
    }

    /// Judges all that there is time for until the `end`, in order; the first whatever it takes
    /// where it is `needed`.
    pub(super) fn judge_jobs(
        &mut self,
        jobs: Vec<Sized>,
        end: Option<Instant>,
        needed: bool,
    ) -> Result<Vec<Refined>, Error> {
        let late =
            |job: usize| !(needed && job == 0) && end.is_some_and(|end| Instant::now() >= end);
        // The first part chooses λ for the others as well.
        let mut judged: Vec<Vec<Judged>> = parallel::try_map(jobs.len(), |job| {
            if late(job) {
                return Ok(Vec::new());
            }
            let point = &jobs[job].point;
            let text = format!("judging a model of {} bytes", point.bytes);
            self.search.progress.phase(&text)?;
            Ok::<_, Error>(vec![self.judge(&point.options, 0)?])
        })?;
        let rest: Vec<(usize, usize)> = (0..jobs.len())
            .filter(|&job| !judged[job].is_empty())
            .flat_map(|job| (1..self.folds.held.len()).map(move |number| (job, number)))
            .collect();
        let others: Vec<(usize, Option<Judged>)> = parallel::try_map(rest.len(), |place| {
            let (job, number) = rest[place];
            if late(job) {
                return Ok((job, None));
            }
            let mut options = jobs[job].point.options.clone();
            if !own_solver(&options) {
                options.lambda = Some(judged[job][0].lambda);
            }
            Ok::<_, Error>((job, Some(self.judge(&options, number)?)))
        })?;
        for (job, other) in others {
            judged[job].extend(other);
        }
        let mut refined = Vec::new();
        for (sized, judged) in jobs.into_iter().zip(judged) {
            if judged.len() == self.folds.held.len() {
                refined.push(self.refined(sized, &judged));
            } else {
                self.cut = true;
            }
        }
        Ok(refined)
    }

    /// A model that held-out part number `number` judges, fitted to all others.
    fn judge(&self, options: &TrainOptions, number: usize) -> Result<Judged, Error> {
        let problem = self.search.problem;
        let specs = super::curve::specs(problem, options, &self.inputs)?;
        let held = self.folds.held[number];
        let spec = &specs[number.min(specs.len() - 1)];
        let table = problem.table.select(&self.folds.fit_rows(held));
        let fold = Problem::new(&table, options.balanced);
        let head = HeadOptions { purpose: Purpose::Comparison, ..options.head(fold.task()) };
        let fitted = fit_head(&fold, spec, &head, &Progress::none())?;
        let blob = encode(&fold, &fitted, &fitted.compensated, options.blob().without_rows())?;
        let table = problem.table.select(&self.folds.parts[held]);
        Ok(Judged { scores: super::scores::of(&blob, &table)?, lambda: fitted.lambda })
    }

    /// What models are compared by, on one held-out part.
    pub(super) fn quick_value(&self, options: &TrainOptions) -> Result<f64, Error> {
        let (problem, metric) = (self.search.problem, self.search.metric);
        let scores = self.judge(options, 0)?.scores;
        let held = problem.table.select(&self.folds.parts[self.folds.held[0]]);
        Ok(metric.smooth(&held, &scores, metric.of_scores(&held, &scores)))
    }

    /// The measure of a model on all held-out parts.
    fn refined(&self, sized: Sized, judged: &[Judged]) -> Refined {
        let (problem, metric) = (self.search.problem, self.search.metric);
        let scores: Vec<f64> = judged.iter().flat_map(|part| part.scores.iter().copied()).collect();
        let held = problem.table.select(&self.folds.held_rows());
        let loss = metric.of_scores(&held, &scores);
        let filled = is_fern(&sized.point.options) || sized.room >= self.rooms.others;
        let proof = if filled { 0.0 } else { PROOF * chance(problem.task(), loss, held.rows()) };
        let smooth = metric.smooth(&held, &scores, loss) + proof;
        let value = smooth * slowness(sized.point.instructions);
        let Sized { point, room, change, .. } = sized;
        let lambda = (!own_solver(&point.options)).then(|| judged[0].lambda);
        let point = Point { loss, value, ..point };
        Refined { point, lambda, expanded: false, change, room }
    }
}

/// The standard error of a loss on so many rows; of the share misclassified with a row more that is
/// wrong, since of none it would be 0.
fn chance(task: Task, loss: f64, rows: usize) -> f64 {
    let rows = rows.max(1) as f64;
    match task {
        Task::Classification => {
            let wrong = (loss + 1.0 / rows).clamp(0.0, 1.0);
            (wrong * (1.0 - wrong) / rows).sqrt()
        }
        Task::Regression => loss / (2.0 * rows).sqrt(),
    }
}

/// Whether bins alone are fitted by a solver of their own, whose λ counts rows.
fn own_solver(options: &TrainOptions) -> bool {
    let bins = matches!(options.families[..], [FamilyName::Bin]) && !options.linear;
    bins && options.loss() == Loss::Squared
}

/// What a held-out part says.
struct Judged {
    scores: Vec<f64>,
    lambda: f64,
}
