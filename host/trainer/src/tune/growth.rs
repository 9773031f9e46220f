//! Models that there was no time to judge at all their bytes grow to them in the end: the best of
//! a few families are judged once more, small and large, since what is best small need not be
//! best large.

use super::ferns::is_fern;
use super::moves::Sized;
use super::refine::{Refined, Refinement};
use crate::{Error, Point, TrainOptions};

/// Families that are compared, at most, and how much worse than the best one may be.
const FAMILIES: usize = 3;
const NEAR: f64 = 1.15;
/// What judging them may take, as a share of what the last fit may.
const SHARE: f64 = 0.6;
/// Bytes that they are judged at, at least, as so many times those that they were judged at.
const LARGER: f64 = 1.25;

/// Bytes that there was time to judge models at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rooms {
    pub of_ferns: usize,
    pub others: usize,
}

impl Rooms {
    pub fn of(self, options: &TrainOptions) -> usize {
        if is_fern(options) { self.of_ferns } else { self.others }
    }
}

/// A model that was judged small, and what a larger one was found to be.
struct Growth<'m> {
    model: &'m Refined,
    /// Loss and value of the larger one over those of the small one.
    loss: f64,
    value: f64,
}

impl Refinement<'_> {
    /// The best models with all features that `target` bytes hold, where they were judged with
    /// fewer of them for want of time.
    pub(super) fn grown(
        &mut self,
        refined: &[Refined],
        rooms: Rooms,
        target: usize,
    ) -> Result<Vec<Point>, Error> {
        let chosen = self.near(refined, rooms, target)?;
        let mut points = Vec::new();
        for growth in self.growths(&chosen, target)? {
            points.extend(self.whole(&growth, target)?);
        }
        Ok(points)
    }

    /// The best models of different families that may grow; none where a smaller one than could
    /// be judged was better: then more is no gain.
    fn near<'m>(
        &self,
        refined: &'m [Refined],
        rooms: Rooms,
        target: usize,
    ) -> Result<Vec<&'m Refined>, Error> {
        let mut best: Vec<&Refined> = refined.iter().filter(|r| r.point.bytes <= target).collect();
        best.sort_by(|a, b| a.point.value.total_cmp(&b.point.value));
        let mut chosen: Vec<&Refined> = Vec::new();
        for model in &best {
            let options = &model.point.options;
            let near = model.point.value <= NEAR * best[0].point.value;
            if !near || chosen.len() == FAMILIES {
                break;
            }
            let known = chosen.iter().any(|other| other.point.options.families == options.families);
            let judged = rooms.of(options);
            let whole = !known && judged < target && model.room >= judged;
            if whole && self.large(model, target)?.is_some() {
                chosen.push(model);
            } else if chosen.is_empty() {
                break;
            }
        }
        Ok(chosen)
    }

    /// What becomes of models that grow to as many of the `target` bytes as there is time to
    /// compare them at. Without time only the first grows: what is better small is taken to be
    /// better large.
    fn growths<'m>(
        &mut self,
        chosen: &[&'m Refined],
        target: usize,
    ) -> Result<Vec<Growth<'m>>, Error> {
        let blind = |model| Growth { model, loss: 1.0, value: 1.0 };
        let unseen = chosen.first().map(|&first| blind(first)).into_iter().collect();
        let work = SHARE * self.growth_in_time();
        let least = chosen.iter().map(|model| model.room).max().unwrap_or(target);
        let held = self.folds.held.clone();
        let mut room = target;
        let jobs = loop {
            if (room as f64) < LARGER * least as f64 {
                return Ok(unseen);
            }
            self.folds.held = held[..1].to_vec();
            let jobs = self.small_and_large(chosen, room)?;
            if self.work_of(&jobs)? <= work {
                break jobs;
            }
            room = room * 4 / 5;
        };
        while self.folds.held.len() < held.len() {
            self.folds.held.push(held[self.folds.held.len()]);
            if self.work_of(&jobs)? > work {
                self.folds.held.pop();
                break;
            }
        }
        let wanted = jobs.len();
        let judged = self.judge_jobs(jobs, self.clock.deadline, false);
        self.folds.held = held;
        let judged = judged?;
        if judged.len() < wanted {
            return Ok(unseen);
        }
        let growth = |(model, pair): (&&'m Refined, &[Refined])| {
            let [small, large] = pair else { unreachable!("chunks of two") };
            let of = |large: f64, small: f64| if small > 0.0 { large / small } else { 1.0 };
            Growth {
                model,
                loss: of(large.point.loss, small.point.loss),
                value: of(large.point.value, small.point.value),
            }
        };
        Ok(chosen.iter().zip(judged.chunks_exact(2)).map(growth).collect())
    }

    /// Each model as it was judged, and with as many features as fit into `room`.
    fn small_and_large(&self, chosen: &[&Refined], room: usize) -> Result<Vec<Sized>, Error> {
        let mut jobs = Vec::new();
        for model in chosen {
            let small = Sized::of(model.options(), model);
            let large = self.large(model, room)?.unwrap_or_else(|| small.clone());
            jobs.extend([small, large]);
        }
        Ok(jobs)
    }

    fn work_of(&self, jobs: &[Sized]) -> Result<f64, Error> {
        jobs.iter().map(|sized| self.work(&sized.point.options)).sum()
    }

    /// A model with as many features as fit into `room`; none where those are no more.
    fn large(&self, model: &Refined, room: usize) -> Result<Option<Sized>, Error> {
        let options = model.options();
        let sized = self.resized(&options, options.bits.unwrap_or(4), room)?;
        Ok(sized.filter(|sized| sized.point.bytes > model.point.bytes))
    }

    /// A model with all features that `target` bytes hold, or as many as the last fit has time
    /// for; none where a larger one was worse.
    fn whole(&self, growth: &Growth<'_>, target: usize) -> Result<Option<Point>, Error> {
        let point = &growth.model.point;
        if growth.value > 1.0 {
            return Ok(None);
        }
        let options = growth.model.options();
        let bits = options.bits.unwrap_or(4);
        let large = self.within_time(&options, bits, point.bytes + 1, target)?;
        let large = large.map(|sized| sized.point).filter(|large| large.bytes > point.bytes);
        let Some(mut large) = large else { return Ok(None) };
        large.options.lambda = self.of_all_rows(large.options.lambda);
        let loss = growth.loss * point.loss;
        // At least as good: it has more to say.
        let value = growth.value * point.value * (1.0 - f64::EPSILON.sqrt());
        Ok(Some(Point { loss, value, ..large }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FamilyName;
    use crate::tune::trial::{judged, with_refinement};

    #[test]
    fn the_best_of_each_family_near_the_best_may_grow() {
        use FamilyName::{Fourier, Maxout, Stump};
        let rooms = Rooms { of_ferns: 500, others: 500 };
        with_refinement(|refinement| {
            let models = [
                (Fourier, 500, 0.2),
                (Fourier, 500, 0.201),
                (Stump, 500, 0.22),
                (Maxout, 500, 0.3),
            ];
            let models = judged(&models);
            let chosen = |target| refinement.near(&models, rooms, target).unwrap();
            let values: Vec<f64> = chosen(2000).iter().map(|model| model.point.value).collect();
            assert_eq!(values, [0.2, 0.22]);
            assert!(chosen(500).is_empty(), "all bytes were judged");
            // A smaller one than could be judged is the best.
            let models = judged(&[(Stump, 250, 0.1), (Fourier, 500, 0.11)]);
            assert!(refinement.near(&models, rooms, 2000).unwrap().is_empty());
        });
    }

    #[test]
    fn what_is_better_large_grows() {
        let models = judged(&[(FamilyName::Fourier, 500, 0.2), (FamilyName::Stump, 500, 0.2)]);
        let rooms = Rooms { of_ferns: 500, others: 500 };
        with_refinement(|refinement| {
            let grown = refinement.grown(&models, rooms, 2000).unwrap();
            // Digits are told by more features better, by cosines more so than by thresholds.
            let best = grown.iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
            assert_eq!(best.options.families, [FamilyName::Fourier]);
            assert!((1900..=2000).contains(&best.bytes) && best.value < 0.15, "{best:?}");
            let whole = |value| {
                let growth = Growth { model: &models[0], loss: value, value };
                refinement.whole(&growth, 2000).unwrap()
            };
            assert!(whole(1.01).is_none(), "worse large than small");
            let point = whole(0.5).unwrap();
            assert!((point.value - 0.1).abs() < 1e-6 && (point.loss - 0.1).abs() < 1e-6);
            assert_eq!(point.bytes, best.bytes);
        });
    }

    #[test]
    fn without_time_to_compare_only_the_best_grows() {
        let models = judged(&[(FamilyName::Fourier, 500, 0.2), (FamilyName::Stump, 500, 0.2)]);
        let rooms = Rooms { of_ferns: 500, others: 500 };
        with_refinement(|refinement| {
            refinement.growth = 3e8;
            let grown = refinement.grown(&models, rooms, 2000).unwrap();
            let [best] = grown.as_slice() else { panic!("{} models", grown.len()) };
            assert!(best.options.families == [FamilyName::Fourier] && best.bytes > 500);
            assert!((best.value - 0.2).abs() < 1e-6);
        });
    }
}
