//! A class that does not flicker.

use koan::{Model, class_of};

/// What a steady class takes.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Votes of the last windows that a class needs to become the answer.
    pub enter: u8,
    /// Votes below which it is the answer no longer; at most `enter`.
    pub keep: u8,
    /// How far the best score must be above the second for a window to vote; a single score
    /// from 0. [`margin_of`] a probability.
    pub margin: i32,
}

/// The class of the last `WINDOWS` windows: each votes for the class of its highest score, or for
/// none where it is not sure. `None` stands for "unknown".
///
/// ```
/// use koan_stream::{Rules, Steady};
///
/// let mut steady = Steady::<3>::new(Rules { enter: 2, keep: 1, margin: 10 }).unwrap();
/// assert_eq!(steady.push(&[50, 0, 0]), None); // one vote
/// assert_eq!(steady.push(&[50, 0, 0]), Some(0));
/// assert_eq!(steady.push(&[0, 0, 50]), Some(0)); // another class for a window
/// assert_eq!(steady.push(&[0, 5, 0]), Some(0)); // not sure, but one vote is left
/// assert_eq!(steady.push(&[0, 5, 0]), None);
/// ```
#[derive(Clone, Debug)]
pub struct Steady<const WINDOWS: usize> {
    rules: Rules,
    votes: [u8; WINDOWS],
    next: usize,
    class: Option<u8>,
}

/// The vote of a window that is not sure. Models have at most 255 outputs.
const NOBODY: u8 = u8::MAX;

impl<const WINDOWS: usize> Steady<WINDOWS> {
    /// No windows yet: unknown. `None` unless more than half of `WINDOWS`, up to all, are to
    /// `enter`, and 1 to as many to `keep`.
    #[must_use]
    pub const fn new(rules: Rules) -> Option<Self> {
        let enter = rules.enter as usize;
        let possible = enter > WINDOWS / 2 && enter <= WINDOWS;
        if !possible || rules.keep == 0 || rules.keep > rules.enter {
            return None;
        }
        Some(Self { rules, votes: [NOBODY; WINDOWS], next: 0, class: None })
    }

    /// Takes the scores of a window; the class, if there is one.
    pub fn push(&mut self, scores: &[i32]) -> Option<usize> {
        let sure = margin(scores) >= self.rules.margin;
        let vote = if sure { class_of(scores) as u8 } else { NOBODY };
        if let Some(place) = self.votes.get_mut(self.next) {
            *place = vote;
        }
        self.next += 1;
        if self.next >= WINDOWS {
            self.next = 0;
        }
        // More than half: no other class can have as many; and only this vote is new.
        if vote != NOBODY && self.count(vote) >= self.rules.enter.into() {
            self.class = Some(vote);
        }
        self.class = self.class.filter(|&class| self.count(class) >= self.rules.keep.into());
        self.class()
    }

    /// Votes for a class.
    fn count(&self, class: u8) -> usize {
        self.votes.iter().filter(|&&vote| vote == class).count()
    }

    /// The class, if there is one.
    #[must_use]
    pub fn class(&self) -> Option<usize> {
        self.class.map(usize::from)
    }

    /// Forgets all windows: after a gap.
    pub fn restart(&mut self) {
        (self.votes, self.next, self.class) = ([NOBODY; WINDOWS], 0, None);
    }
}

/// How far the best score is above the second; a single one from 0.
fn margin(scores: &[i32]) -> i32 {
    if let &[score] = scores {
        return score.saturating_abs();
    }
    let (mut best, mut second) = (i32::MIN, i32::MIN);
    for &score in scores {
        second = second.max(score.min(best));
        best = best.max(score);
    }
    best.saturating_sub(second)
}

/// The margin of scores at which the best class is at least so probable beside the second one:
/// p/(1 − p) = e^(slope·scale·margin), with the slope of the model's calibration and the scale of
/// its scores. For a single score with an intercept both classes are.
///
/// `probability` lies between 0.5 and 1, both not included; else, and for a model that
/// [has no probabilities](Model::has_probabilities) or whose probabilities do not depend on its
/// scores, no margin is enough: `i32::MAX`. In floats, once.
#[must_use]
pub fn margin_of(model: &Model<'_>, probability: f32) -> i32 {
    let (slope, intercept) =
        model.calibration().map_or((1.0, 0.0), |known| (known.slope, known.intercept));
    let intercept = if model.outputs() == 1 { intercept.abs() } else { 0.0 };
    let odds = libm::logf(probability / (1.0 - probability));
    let margin = (odds + intercept) / (slope * model.score_scale());
    let possible = model.has_probabilities()
        && probability > 0.5
        && probability < 1.0
        && margin.is_finite()
        && margin >= 0.0;
    // Rounded up; a float beyond i32 saturates.
    if possible { libm::ceilf(margin) as i32 } else { i32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn scores() -> impl Strategy<Value = Vec<i32>> {
        proptest::collection::vec(-3i32..=3, 3)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: proptest::test_runner::RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// The rules once more, over the whole series.
        #[test]
        fn classes_are_those_of_the_rules(
            series in proptest::collection::vec(scores(), 1..60),
            enter in 3u8..=5, less in 0u8..3, margin in 0i32..3,
        ) {
            let rules = Rules { enter, keep: enter - less, margin };
            let mut steady = Steady::<5>::new(rules).unwrap();
            let mut votes = Vec::new();
            let mut class = None;
            for scores in series {
                let mut sorted = scores.clone();
                sorted.sort();
                votes.push((sorted[2] - sorted[1] >= margin).then(|| class_of(&scores)));
                let last = &votes[votes.len().saturating_sub(5)..];
                let count = |class| last.iter().filter(|&&vote| vote == Some(class)).count() as u8;
                class = (0..3).find(|&other| count(other) >= enter).or(class);
                class = class.filter(|&class| count(class) >= enter - less);
                prop_assert_eq!(steady.push(&scores), class);
            }
        }
    }

    #[test]
    fn rules_that_cannot_be_kept_are_refused() {
        for (enter, keep) in [(2, 1), (6, 1), (3, 0), (3, 4), (0, 0)] {
            assert!(Steady::<5>::new(Rules { enter, keep, margin: 0 }).is_none(), "{enter} {keep}");
        }
        assert!(Steady::<0>::new(Rules { enter: 0, keep: 0, margin: 0 }).is_none());
    }

    #[test]
    fn more_votes_than_a_byte_counts() {
        let mut steady = Steady::<300>::new(Rules { enter: 200, keep: 100, margin: 1 }).unwrap();
        for window in 1..=600 {
            assert_eq!(steady.push(&[0, 1]), (window >= 200).then_some(1), "{window}");
        }
    }

    #[test]
    fn a_single_score_is_sure_far_from_zero() {
        let mut steady = Steady::<1>::new(Rules { enter: 1, keep: 1, margin: 5 }).unwrap();
        for (score, class) in [(4, None), (5, Some(1)), (-5, Some(0)), (i32::MIN, Some(0))] {
            assert_eq!(steady.push(&[score]), class);
        }
    }

    koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");

    #[test]
    fn margins_are_those_of_probabilities() {
        let model = &exercises::MODEL;
        let scale = f64::from(model.calibration().unwrap().slope * model.score_scale());
        for p in [0.51, 0.8, 0.99f32] {
            let margin = f64::from(margin_of(model, p));
            let probable = |margin: f64| 1.0 / (1.0 + (-scale * margin).exp());
            assert!((probable(margin) - f64::from(p)).abs() < 1e-5, "{p}: {margin}");
        }
        for p in [f32::NAN, -1.0, 0.5, 1.0, 2.0] {
            assert_eq!(margin_of(model, p), i32::MAX);
        }
        // A detector of anomalies has none.
        let detector = include_bytes!("../../../wasm/page/detector.koan");
        assert_eq!(margin_of(&Model::parse(detector).unwrap(), 0.8), i32::MAX);
    }
}
