//! A second look at the best models. Of many that were judged, the best is the best partly by
//! luck with the rows that were held out: a few, not all of one kind, are judged again on rows that
//! are divided otherwise, and compared by both.

use super::moves::Sized;
use super::refine::{Refined, Refinement};
use crate::folds::Folds;
use crate::{Error, TrainOptions};

/// Share of the work, and of the time, that is left for it.
pub(super) const SHARE: f64 = 0.15;
/// Models that are looked at again, at most; and of those that differ in size, bits and λ only.
const BEST: usize = 6;
const ALIKE: usize = 2;
/// What makes the seed of the other division.
const OTHERWISE: u64 = 0xa6a1;

impl Refinement<'_> {
    /// Judges the best of `refined` again, as many as there is work for above the `reserve`, and
    /// makes their loss and value the mean of both.
    pub(super) fn confirm(&mut self, refined: &mut [Refined], reserve: f64) -> Result<(), Error> {
        best_first(refined);
        let again = self.affordable(refined, reserve)?;
        let (table, seed) = (self.search.problem.table, self.search.space.base.seed ^ OTHERWISE);
        let mut folds = Folds::new(table, seed)?.sample(self.folds.rows());
        folds.held.truncate(self.folds.held.len());
        // What a data set itself holds out is the same again.
        if again.len() < 2 || folds.held_rows() == self.folds.held_rows() {
            return Ok(());
        }
        let wanted = again.len();
        std::mem::swap(&mut self.folds, &mut folds);
        let second = self.judge_jobs(again, self.clock.deadline, false);
        self.folds = folds;
        let second = second?;
        // The clock may end it: then the first look stands.
        if second.len() == wanted {
            average(refined, &second);
        }
        Ok(())
    }

    /// The first of `refined` that there is work for, which is taken from what is left.
    fn affordable(&mut self, refined: &[Refined], reserve: f64) -> Result<Vec<Sized>, Error> {
        let mut again = Vec::new();
        for refined in refined.iter().take(BEST) {
            let options = refined.options();
            let work = self.work(&options)?;
            if work > self.available(reserve) {
                break;
            }
            self.left -= work;
            again.push(Sized::of(options, refined));
        }
        Ok(again)
    }
}

/// The best models of different kinds first, then all others, each from the best on.
fn best_first(refined: &mut [Refined]) {
    let kind = |refined: &Refined| TrainOptions {
        features: Vec::new(),
        candidates: None,
        bits: None,
        lambda: None,
        ..refined.point.options.clone()
    };
    refined.sort_by(|a, b| a.point.value.total_cmp(&b.point.value));
    let kinds: Vec<TrainOptions> = refined.iter().map(kind).collect();
    let mut chosen = 0;
    for (place, its) in kinds.iter().enumerate() {
        let alike = kinds[..place].iter().filter(|other| *other == its).count();
        if alike < ALIKE && chosen < BEST {
            refined[chosen..=place].rotate_right(1);
            chosen += 1;
        }
    }
}

/// Makes loss and value of the first models the mean of both looks. The others had one only: what
/// luck the first had in the mean is taken from them as well.
fn average(first: &mut [Refined], second: &[Refined]) {
    let (known, others) = first.split_at_mut(second.len());
    let looks = second.len() as f64;
    let (mut luck, mut lost) = (0.0, 0.0);
    for (first, second) in known.iter_mut().zip(second) {
        let (first, second) = (&mut first.point, &second.point);
        let value = f64::midpoint(first.value, second.value);
        let loss = f64::midpoint(first.loss, second.loss);
        luck += (value - first.value) / looks;
        lost += (loss - first.loss) / looks;
        (first.value, first.loss) = (value, loss);
    }
    for other in others {
        other.point.value += luck.max(0.0);
        other.point.loss += lost.max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FamilyName, Point};

    fn judged(values: &[f64]) -> Vec<Refined> {
        let point = |&value: &f64| Point {
            options: TrainOptions::default(),
            bytes: 500,
            ram: 0,
            instructions: 0,
            loss: 2.0 * value,
            value,
        };
        values.iter().map(|value| Refined::new(point(value))).collect()
    }

    #[test]
    fn the_luckiest_falls_behind_and_the_others_lose_the_usual_luck() {
        let mut first = judged(&[0.10, 0.12, 0.13]);
        average(&mut first, &judged(&[0.20, 0.14]));
        let values: Vec<f64> = first.iter().map(|model| model.point.value).collect();
        let expected = [0.15, 0.13, 0.16];
        assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{values:?}");
        assert!((first[0].point.loss - 0.30).abs() < 1e-12);
        // Losses are twice the values here.
        assert!((first[2].point.loss - 0.32).abs() < 1e-12);
        // Bad luck of the first is no gain of the others.
        average(&mut first, &judged(&[0.05, 0.05]));
        assert!((first[2].point.value - 0.16).abs() < 1e-12);
    }

    #[test]
    fn models_that_are_alike_leave_room_for_others() {
        let mut models = judged(&[0.10, 0.11, 0.12, 0.13, 0.14]);
        for (model, bits) in models.iter_mut().zip([2, 3, 4, 8, 2]) {
            model.point.options.bits = Some(bits);
        }
        models[4].point.options.families = vec![FamilyName::Fern];
        best_first(&mut models);
        let values: Vec<f64> = models.iter().map(|model| model.point.value).collect();
        assert_eq!(values, [0.10, 0.11, 0.14, 0.12, 0.13]);
    }
}
