//! Where models were judged on a part of the rows, the last choices are made on more of them: the
//! loss, the family, bits and bytes, and whether features are kept from a pool. What few rows say
//! of these need not hold for many (the more rows, the more features and the better the logistic
//! loss), and on few rows there is not time to try all that the last fit has time for. Where all
//! rows were there, bits that there was no time to try are tried on fewer of those held out.

use super::ferns::is_fern;
use super::moves::{Change, POOL, Sized, digits};
use super::refine::{ENOUGH_ROWS, Refined, Refinement};
use crate::folds::Folds;
use crate::solve::Loss;
use crate::{Error, Point, TrainOptions};
use koan_data::Task;

/// Kinds that are compared, at most, and how much worse than the best of the models that were
/// judged they may be.
const KINDS: usize = 3;
const NEAR: f64 = 1.15;
/// What a choice may take, as a share of what the last fit may.
const SHARE: f64 = 0.6;
/// Share of the time after the rungs that is left for all of them.
pub(super) const RESERVED: f64 = 0.25;
/// Rows that they are made on, at least, as so many times those of before, and as a share of all.
const MORE: f64 = 1.5;
const OF_ALL: f64 = 0.25;
/// Bits of a weight, each of which is compared with its neighbours.
const BITS: [u8; 4] = [2, 3, 4, 8];
/// Bytes that a model has at least, as a share of those that it may have: it is no match with
/// fewer.
const FULL: f64 = 0.5;
/// Frequencies that are tried in place of the one that fewer features had, as factors.
const OTHER_FREQUENCIES: [f64; 2] = [2.0, 1.4];
/// Another number of features is one that differs by this share.
const OTHER: f64 = 0.1;

/// Rows that a choice is made on, and of these to judge by, at least.
#[derive(Clone, Copy, Debug)]
struct Anew {
    rows: usize,
    held: usize,
}

/// The loss of a model that has `its` on more rows, beside one that had `before` and has `now` on
/// them. With more rows all models become better; where that one becomes worse, as by a λ that
/// rounding does not bear, the other is not the better for it.
fn beside(before: f64, now: f64, its: f64) -> f64 {
    let measure = now.min(before);
    if measure > 0.0 { before * (its / measure) } else { before }
}

/// Whether both have the same families and bits, and features from a pool or not.
fn alike(one: &Point, other: &Point) -> bool {
    let of = |point: &Point| {
        let TrainOptions { families, bits, candidates, .. } = &point.options;
        (families.clone(), *bits, candidates.is_some())
    };
    of(one) == of(other)
}

/// Whether one has clearly more features of its first family than the other.
fn more_features(one: &TrainOptions, other: &TrainOptions) -> bool {
    let (one, other) = (one.features[0] as f64, other.features[0] as f64);
    one - other > OTHER * other
}

impl Refinement<'_> {
    /// Makes the last choices among the `points` of at most `target` bytes, one after the other:
    /// kinds, sizes of the best, and the best of those with features kept from a pool.
    pub(super) fn finals(
        &mut self,
        points: &mut Vec<Point>,
        refined: &[Refined],
        target: usize,
    ) -> Result<(), Error> {
        let mut kinds = self.kinds(points, refined, target)?.into_iter();
        let Some(best) = kinds.next() else { return Ok(()) };
        let more = self.more();
        let best = self.choose(best, kinds.collect(), points, more)?;
        let mut sizes = self.sizes_of(&best, target)?;
        let anew = match self.folds.rows() < self.search.problem.table.rows() {
            true => more,
            false => {
                // All rows were there to judge models by, but not the time for all of their bits.
                sizes.retain(|size| !refined.iter().any(|model| alike(&model.point, size)));
                Anew { rows: self.folds.rows(), held: more.held.min(ENOUGH_ROWS) }
            }
        };
        let best = self.choose(best, sizes, points, anew)?;
        let best = self.choose(best.clone(), self.frequencies_of(&best, refined), points, anew)?;
        let kept = self.kept_of(&best, target)?;
        self.choose(best, kept, points, more)?;
        Ok(())
    }

    /// More rows than models were judged on, and as many to judge by.
    fn more(&self) -> Anew {
        let (judged, whole) = (self.folds.rows(), self.search.problem.table.rows());
        let more = (MORE * judged as f64).max(OF_ALL * whole as f64) as usize;
        // Where some are left that models were not judged on, all are more.
        let rows = if judged < whole { more.min(whole) } else { more };
        Anew { rows, held: self.folds.held_rows().len() }
    }

    /// The best of a model and `others` on the rows of `anew` or more, on which the least likely of
    /// the others are left out if there is no time for all. What is compared gets the value of the
    /// first, times how much better or worse it is.
    fn choose(
        &mut self,
        first: Point,
        mut others: Vec<Point>,
        points: &mut Vec<Point>,
        anew: Anew,
    ) -> Result<Point, Error> {
        let before = self.folds.clone();
        let found = self.enough_rows(&first, &mut others, anew);
        let compared = match found {
            Ok(true) => self.compared(&first, others),
            Ok(false) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        self.folds = before;
        let compared = compared?;
        for point in &compared {
            match points.iter_mut().find(|known| known.options == point.options) {
                Some(known) => *known = point.clone(),
                None => points.push(point.clone()),
            }
        }
        let best = compared.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
        Ok(best.unwrap_or(first))
    }

    /// The best model, the best with the other loss, and the best of other kinds.
    fn kinds(
        &self,
        points: &[Point],
        refined: &[Refined],
        target: usize,
    ) -> Result<Vec<Point>, Error> {
        let kind = |point: &Point| {
            let TrainOptions { families, candidates, .. } = &point.options;
            (families.clone(), candidates.is_some(), point.options.loss())
        };
        let mut sorted: Vec<Point> =
            points.iter().filter(|point| point.bytes <= target).cloned().collect();
        sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
        let Some(best) = sorted.first() else { return Ok(sorted) };
        let near = NEAR * best.value;
        let other = self.other_loss(best, refined)?;
        sorted.splice(1..1, other);
        let mut kinds: Vec<Point> = Vec::new();
        for point in sorted {
            let known = kinds.iter().any(|other| kind(other) == kind(&point));
            if !known && kinds.len() < KINDS && point.value <= near {
                kinds.push(point);
            }
        }
        Ok(kinds)
    }

    /// The best model with the other loss and the λ that models of its families had with that.
    fn other_loss(&self, best: &Point, refined: &[Refined]) -> Result<Option<Point>, Error> {
        let base = &self.search.space.base;
        if self.search.problem.task() != Task::Classification || base.loss.is_some() {
            return Ok(None);
        }
        let loss = match best.options.loss() {
            Loss::Squared => Loss::Logistic,
            _ => Loss::Squared,
        };
        let alike = refined.iter().filter(|model| {
            let options = &model.point.options;
            options.families == best.options.families && options.loss() == loss
        });
        let known = alike.min_by(|a, b| a.point.value.total_cmp(&b.point.value));
        let lambda = known.and_then(|model| model.options().lambda);
        let lambda = self.of_all_rows(lambda.filter(|_| !is_fern(&best.options)));
        let options = TrainOptions { loss: Some(loss), lambda, ..best.options.clone() };
        let bits = options.bits.unwrap_or(4);
        self.largest(&Point { options, ..best.clone() }, bits, best.bytes)
    }

    /// A model with as many features of so many bits as `target` bytes hold and the last fit has
    /// time for.
    fn largest(&self, point: &Point, bits: u8, target: usize) -> Result<Option<Point>, Error> {
        let least = (FULL * target as f64) as usize;
        let sized = self.within_time(&point.options, bits, least, target)?;
        Ok(sized.map(|sized| Point { loss: point.loss, value: point.value, ..sized.point }))
    }

    /// A model in all of `target` bytes, with its bits and with a few more and fewer.
    fn sizes_of(&self, point: &Point, target: usize) -> Result<Vec<Point>, Error> {
        let its = point.options.bits.unwrap_or(4);
        let place = BITS.iter().position(|&bits| bits == its);
        let open = self.search.space.base.bits.is_none();
        let mut sizes = Vec::new();
        for (number, &bits) in BITS.iter().enumerate() {
            let next = open && place.is_some_and(|place| place.abs_diff(number) == 1);
            if !next && bits != its {
                continue;
            }
            let other = |size: &Point| {
                let (one, other) = (&size.options, &point.options);
                bits != its || more_features(one, other) || more_features(other, one)
            };
            sizes.extend(self.largest(point, bits, target)?.filter(other));
        }
        Ok(sizes)
    }

    /// A model with more features than those of its families that were judged, with other
    /// frequencies, the likeliest first: what was best where each feature has to say more is often
    /// too low.
    fn frequencies_of(&self, best: &Point, refined: &[Refined]) -> Vec<Point> {
        let grown = |model: &Refined| {
            let (before, now) = (&model.point.options, &best.options);
            before.families != now.families || more_features(now, before)
        };
        if !refined.iter().all(grown) {
            return Vec::new();
        }
        let of = |factor: f64| {
            let options = self.search.space.with_frequency(&best.options, factor)?;
            Some(Point { options, ..best.clone() })
        };
        OTHER_FREQUENCIES.into_iter().filter_map(of).collect()
    }

    /// The best of the models with features kept from a pool, the largest that the last fit has
    /// time for.
    fn kept_of(&self, best: &Point, target: usize) -> Result<Vec<Point>, Error> {
        let bits = best.options.bits.unwrap_or(4);
        for pool in [POOL, POOL / 2] {
            let sized = self.selected(&best.options, bits, target, pool)?;
            let Some(Sized { point, .. }) = sized else { break };
            if self.last_work(&point.options)? <= self.growth() {
                return Ok(vec![Point { loss: best.loss, value: best.value, ..point }]);
            }
        }
        Ok(Vec::new())
    }

    /// Sets as many rows as there is time to compare a model with `others` on, of which there may
    /// be fewer for it; whether those are enough.
    fn enough_rows(
        &mut self,
        first: &Point,
        others: &mut Vec<Point>,
        anew: Anew,
    ) -> Result<bool, Error> {
        let whole = Folds::new(self.search.problem.table, self.search.space.base.seed)?;
        let work = SHARE * self.growth_in_time();
        while !others.is_empty() {
            let mut rows = whole.rows();
            while rows >= anew.rows {
                self.folds = whole.sample(rows);
                let enough = self.folds.hold(anew.held);
                let all = std::iter::once(first).chain(&*others);
                let works = all.map(|point| self.work(&point.options));
                if enough && works.sum::<Result<f64, Error>>()? <= work {
                    return Ok(true);
                }
                rows = rows * 4 / 5;
            }
            others.pop();
        }
        Ok(false)
    }

    /// A model and `others`, judged on the rows that are set; none where the clock ends it.
    fn compared(&mut self, first: &Point, others: Vec<Point>) -> Result<Vec<Point>, Error> {
        let points: Vec<Point> = std::iter::once(first.clone()).chain(others).collect();
        let mut judged = Vec::new();
        for point in &points {
            // One at a time: each has its own copy of the rows.
            let job = vec![self.on_these_rows(point)];
            match self.judge_jobs(job, self.clock.deadline, false)?.pop() {
                Some(its) => judged.push(its),
                None => return Ok(Vec::new()),
            }
        }
        let base = judged[0].point.clone();
        let of = |(mut point, its): (Point, &Refined)| {
            // Of all rows other ferns are chosen, which want another λ.
            if point.options.lambda.is_none() && !is_fern(&point.options) {
                point.options.lambda = self.of_all_rows(its.lambda);
            }
            point.loss = beside(first.loss, base.loss, its.point.loss);
            point.value = beside(first.value, base.value, its.point.value);
            Ok(point)
        };
        points.into_iter().zip(&judged).map(of).collect()
    }

    /// A model with the λ of all rows as it is to be judged on those that are set.
    fn on_these_rows(&self, point: &Point) -> Sized {
        let mut point = point.clone();
        if self.search.space.base.lambda.is_none() {
            let share = self.of_all_rows(Some(1.0)).unwrap_or(1.0);
            point.options.lambda = point.options.lambda.map(|lambda| digits(lambda / share));
        }
        Sized { change: Change::None, room: point.bytes, columns: 0, point }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FamilyName::{Fern, Fourier, Stump};
    use crate::tune::trial::{judged, with_refinement};

    fn points(models: &[Refined]) -> Vec<Point> {
        let of = |model: &Refined| {
            let mut point = model.point.clone();
            (point.options.lambda, point.options.loss) = (model.lambda, Some(Loss::Squared));
            point
        };
        models.iter().map(of).collect()
    }

    #[test]
    fn the_last_choices_are_made_on_more_rows() {
        let models = judged(&[(Fourier, 500, 0.2), (Stump, 500, 0.21), (Stump, 500, 0.3)]);
        with_refinement(|refinement| {
            let folds = refinement.folds.sample(100);
            refinement.folds = folds.clone();
            let mut all = points(&models);
            refinement.finals(&mut all, &models, 1000).unwrap();
            assert_eq!(refinement.folds.parts, folds.parts, "the rows are what they were");
            let [cosines, stumps, far] = &all[..3] else { panic!("{} models", all.len()) };
            // The best of before is the measure; stumps tell digits worse than cosines do.
            assert!(cosines.value == 0.2 && stumps.value > 0.25, "{stumps:?}");
            assert_eq!(far.value, 0.3, "far from the best");
            let of = |what: fn(&TrainOptions) -> bool| {
                let some = all.iter().find(|point| what(&point.options));
                some.unwrap_or_else(|| panic!("{all:?}"))
            };
            let logistic = of(|options| options.loss() == Loss::Logistic);
            assert!(logistic.options.lambda.is_some() && logistic.value != 0.2);
            of(|options| options.bits == Some(3));
            of(|options| options.bits == Some(8));
            let kept = of(|options| options.candidates.is_some());
            // Twice the bytes are of use, and so are the best features.
            let best = all.iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
            assert!(best.bytes > 900 && best.value < 0.15, "{best:?}");
            assert!(all.iter().all(|point| point.bytes <= 1000) && kept.bytes > 900);
        });
    }

    /// Of other rows other ferns are chosen, which want another λ.
    #[test]
    fn the_last_fit_chooses_the_lambda_of_ferns() {
        let models = judged(&[(Fern, 500, 0.2), (Fourier, 500, 0.21)]);
        with_refinement(|refinement| {
            refinement.folds = refinement.folds.sample(40);
            let mut all = points(&models);
            all[0].options.lambda = None;
            refinement.finals(&mut all, &models, 600).unwrap();
            let ferns = all.iter().filter(|point| is_fern(&point.options));
            let lambdas: Vec<Option<f64>> = ferns.map(|point| point.options.lambda).collect();
            assert!(lambdas.len() > 2 && lambdas.iter().all(Option::is_none), "{lambdas:?}");
        });
    }

    #[test]
    fn a_model_is_not_better_because_another_one_fails() {
        for (now, its, worth) in
            [(0.1, 0.05, 0.1), (0.1, 0.1, 0.2), (0.8, 0.8, 0.8), (0.8, 0.4, 0.4), (0.0, 0.1, 0.2)]
        {
            assert!((beside(0.2, now, its) - worth).abs() < 1e-12, "{now} {its}");
        }
    }

    #[test]
    fn of_all_rows_bits_that_were_not_tried_are() {
        let mut models = judged(&[(Fourier, 500, 0.2), (Stump, 500, 0.21)]);
        with_refinement(|refinement| {
            let bits = |refinement: &mut Refinement<'_>, models: &[Refined]| {
                let mut all = points(models);
                refinement.finals(&mut all, models, 1000).unwrap();
                let tried = all[models.len()..].iter().map(|point| &point.options);
                let same = tried.filter(|options| options.frequency == Some(vec![1.0]));
                same.map(|options| options.bits).collect::<Vec<_>>()
            };
            assert_eq!(bits(refinement, &models), [Some(3), Some(8)]);
            let mut known = models[0].clone();
            known.point.options.bits = Some(8);
            models.push(known);
            assert_eq!(bits(refinement, &models), [Some(3)]);
        });
    }

    #[test]
    fn more_features_may_have_another_frequency() {
        let mut models = judged(&[(Fourier, 500, 0.2)]);
        with_refinement(|refinement| {
            refinement.folds = refinement.folds.sample(60);
            let frequencies = |refinement: &mut Refinement<'_>, models: &[Refined]| {
                let mut all = points(models);
                refinement.finals(&mut all, models, 1000).unwrap();
                let best = all.iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap().clone();
                let of = |point: &Point| point.options.frequency.as_ref().unwrap()[0];
                let mut tried: Vec<f64> = all.iter().map(of).collect();
                tried.sort_by(f64::total_cmp);
                tried.dedup();
                (tried, of(&best))
            };
            // Too low for digits: few features found nothing better, more of them do.
            models[0].point.options.frequency = Some(vec![0.25]);
            assert_eq!(frequencies(refinement, &models), (vec![0.25, 0.35, 0.5], 0.5));
            // Where such a model was judged, so was its frequency.
            models.push(judged(&[(Fourier, 1000, 0.3)]).remove(0));
            models[1].point.options.features = vec![400];
            models[1].point.options.frequency = Some(vec![0.25]);
            assert_eq!(frequencies(refinement, &models), (vec![0.25], 0.25));
        });
    }

    #[test]
    fn without_more_rows_or_time_nothing_is_chosen_anew() {
        let mut models = judged(&[(Fourier, 500, 0.2), (Stump, 500, 0.21)]);
        for bits in [3, 8] {
            let mut known = models[0].clone();
            known.point.options.bits = Some(bits);
            known.point.value = 0.22;
            models.push(known);
        }
        with_refinement(|refinement| {
            let mut all = points(&models);
            let before: Vec<TrainOptions> = all.iter().map(|point| point.options.clone()).collect();
            let mut same = |refinement: &mut Refinement<'_>| {
                refinement.finals(&mut all, &models, 1000).unwrap();
                let after: Vec<&TrainOptions> = all.iter().map(|point| &point.options).collect();
                assert_eq!(after, before.iter().collect::<Vec<_>>());
            };
            same(refinement);
            refinement.folds = refinement.folds.sample(100);
            refinement.growth = 1e6;
            same(refinement);
        });
    }
}
