//! What learning does, and does not.

use std::string::ToString;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::{Learner, Mean, Pace, PatchError, patch_bytes};

koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");

const MARGIN: i32 = 76_000_000;

fn learner<const N: usize, const O: usize>(margin: i32, slowness: u8) -> Learner<N, O> {
    Learner::new(&exercises::MODEL, Pace { margin, slowness }).unwrap()
}

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// After a whole step the right score is a margin above that of the rival: the update of the
    /// paper, but for rounding and what 16 bits hold.
    #[test]
    fn a_step_brings_what_was_missing(
        numbers in proptest::collection::vec(-127i16..=127, 40),
        base in proptest::collection::vec(-100_000_000i32..100_000_000, 4),
        class in 0usize..5,
        bits in 12u32..30,
        centre in proptest::collection::vec(-9i16..=9, 40),
    ) {
        prop_assume!(numbers.iter().filter(|x| x.abs() > 30).count() > 20);
        let margin = 1i32 << bits;
        let base: Vec<i32> = base.iter().map(|&score| score >> (30 - bits)).collect();
        let mut learner = learner::<40, 5>(margin, 0);
        learner.centre_on(&centre.try_into().unwrap());
        let before = learner.scores(&base, &numbers).unwrap().to_vec();
        let others = (0..5).filter(|&other| other != class);
        let rival = others.rev().max_by_key(|&other| before[other]).unwrap();
        let missing = before[class] - before[rival] < margin;
        prop_assert_eq!(learner.learn(&base, &numbers, class).unwrap(), missing);
        let after = learner.scores(&base, &numbers).unwrap();
        if missing {
            let above = f64::from(after[class]) - f64::from(after[rival]);
            prop_assert!((above / f64::from(margin) - 1.0).abs() < 0.01, "{}", above);
        }
        for other in 0..5 {
            if !missing || other != class && other != rival {
                prop_assert_eq!(before[other], after[other]);
            }
        }
    }

    /// No numbers overflow, and nothing panics.
    #[test]
    fn any_numbers_can_be_learned(
        rows in proptest::collection::vec(
            (proptest::collection::vec(any::<i16>(), 6), any::<[i32; 4]>(), 0usize..6), 1..40
        ),
        margin in 1i32..=i32::MAX,
        slowness in 0u8..16,
        centre in any::<[i16; 6]>(),
    ) {
        let mut learner = learner::<6, 6>(margin, slowness);
        learner.centre_on(&centre);
        for (numbers, base, class) in rows {
            learner.learn(&base, &numbers, class).unwrap();
            learner.scores(&base, &numbers).unwrap();
        }
    }

    /// What is read gives the scores of the learner that wrote it, or is refused: weights are in
    /// units of the margin, and the score of a class that the model does not know is the margin.
    #[test]
    fn patches_give_the_same_scores_or_are_refused(
        rows in proptest::collection::vec((any::<[i16; 6]>(), any::<[i32; 4]>(), 0usize..5), 1..6),
        margins in (1i32..=i32::MAX, 1i32..=i32::MAX),
        shifts in (0u32..31, 0u32..31),
        same in any::<bool>(),
        slowness in (0u8..16, 0u8..16),
    ) {
        let margin = (margins.0 >> shifts.0).max(1);
        let other = if same { margin } else { (margins.1 >> shifts.1).max(1) };
        let mut learned = learner::<6, 5>(margin, slowness.0);
        for (numbers, base, class) in &rows {
            learned.learn(base, numbers, *class).unwrap();
        }
        let mut patch = [0; patch_bytes(6, 5)];
        let length = learned.write(&mut patch).unwrap();
        let mut read = learner::<6, 5>(other, slowness.1);
        let before = read.clone();
        match read.read(&patch[..length]) {
            Ok(()) => {
                prop_assert_eq!(margin, other);
                for (numbers, base, _) in &rows {
                    let expected = learned.scores(base, numbers).unwrap().to_vec();
                    prop_assert_eq!(read.scores(base, numbers).unwrap(), expected);
                }
            }
            Err(error) => {
                prop_assert!(margin != other);
                prop_assert_eq!(error, PatchError::Margin { patch: margin, learner: other });
                prop_assert_eq!(read, before);
            }
        }
    }

    #[test]
    fn patches_bring_what_was_learned(
        rows in proptest::collection::vec((any::<[i16; 6]>(), any::<[i32; 4]>(), 0usize..5), 0..6),
        bit in any::<usize>(),
        centre in any::<[i16; 6]>(),
    ) {
        let mut learned = learner::<6, 5>(MARGIN, 0);
        learned.centre_on(&centre);
        for (numbers, base, class) in &rows {
            learned.learn(base, numbers, *class).unwrap();
        }
        let mut patch = [0; patch_bytes(6, 5)];
        let length = learned.write(&mut patch).unwrap();
        let mut patch = patch[..length].to_vec();
        let mut other = learner::<6, 5>(MARGIN, 0);
        other.learn(&[1, 2, 3, 4], &[5; 6], 0).unwrap();
        let kept = other.clone();
        other.read(&patch).unwrap();
        prop_assert_eq!((other.weights, other.centre), (learned.weights, learned.centre));
        // Truncated or damaged, it changes nothing.
        let mut other = kept.clone();
        prop_assert_eq!(other.read(&patch[..length - 1]), Err(PatchError::Damaged));
        patch[bit % length] ^= 1 << (bit % 8);
        prop_assert_eq!(other.read(&patch), Err(PatchError::Damaged));
        prop_assert_eq!(other, kept);
    }
}

#[test]
fn means_are_those_of_all_rows() {
    let mut mean = Mean::<2>::new();
    assert_eq!(mean.mean(), [0; 2]);
    for row in [[i16::MAX, 1], [i16::MAX, 2], [i16::MAX, 6]] {
        mean.see(&row).unwrap();
    }
    assert_eq!(mean.mean(), [i16::MAX, 3]);
    for _ in 0..70_000 {
        mean.see(&[i16::MIN; 2]).unwrap();
    }
    assert!(mean.mean()[1] < -32_000);
    assert!(mean.see(&[0; 3]).is_err());
}

#[test]
fn only_what_changed_is_in_a_patch() {
    let mut learner = learner::<160, 5>(MARGIN, 0);
    let mut patch = vec![0; 2000];
    assert_eq!(learner.write(&mut patch), Ok(20));
    learner.learn(&[MARGIN, -MARGIN, 0, 0], &[9; 160], 4).unwrap();
    assert_eq!(learner.write(&mut patch), Ok(662));
    let short = PatchError::Memory { needed: 662, given: 100 };
    assert_eq!(learner.write(&mut [0; 100]), Err(short));
    learner.undo();
    assert_eq!(learner.write(&mut patch), Ok(20));
}

#[test]
fn what_does_not_fit_is_refused() {
    let pace = Pace { margin: 1, slowness: 0 };
    let refused = |learner: Result<Learner<6, 3>, koan::Error>| learner.unwrap_err().to_string();
    assert_eq!(
        refused(Learner::new(&exercises::MODEL, pace)),
        "buffer `OUTPUTS` has length 3, the model needs 4"
    );
    // Of two classes, and no classification.
    koan::include_model!(mod tiny = "../../../core/tests/tiny.koan");
    assert_eq!(
        refused(Learner::new(&tiny::MODEL, pace)),
        "this call needs a score for each class: a model of two classes has a single one, and cannot \
         learn"
    );
    koan::include_model!(mod value = "../../../tests/golden/linear+fourier-gaussian-w16odd-t1.koan");
    assert_eq!(refused(Learner::new(&value::MODEL, pace)), "this call needs a classification");
    assert!(Learner::<6, 4>::new(&exercises::MODEL, Pace { margin: 0, ..pace }).is_err());
    assert!(Learner::<6, 4>::new(&exercises::MODEL, Pace { slowness: 16, ..pace }).is_err());
    let mut learner = learner::<6, 5>(1, 0);
    assert!(learner.learn(&[0; 4], &[0; 6], 5).is_err());
    assert!(learner.scores(&[0; 5], &[0; 6]).is_err());
    assert!(learner.scores(&[0; 4], &[0; 5]).is_err());
    // Nothing describes the row: nothing to learn from.
    assert_eq!(learner.learn(&[0; 4], &[0; 6], 1), Ok(false));

    let mut patch = vec![0; 100];
    let length = learner.write(&mut patch).unwrap();
    let other = self::learner::<7, 5>(1, 0).read(&patch[..length]).unwrap_err();
    assert_eq!(other, PatchError::Shape { numbers: 6, outputs: 5 });
    koan::include_model!(mod gestures = "../../../tests/models/gestures-conv-64.koan");
    let mut other = Learner::<6, 5>::new(&gestures::MODEL, pace).unwrap();
    let message = other.read(&patch[..length]).unwrap_err().to_string();
    assert!(message.starts_with("the patch belongs to the model with the checksum "), "{message}");
    // With the margin that came later: what the crate wrote before.
    let mut earlier = patch[..8].to_vec();
    earlier[..4].copy_from_slice(b"KLRN");
    earlier.extend(&patch[12..length - 4]);
    let crc = koan::Crc32::new().bytes(&earlier).finish();
    earlier.extend(crc.to_le_bytes());
    assert_eq!(learner.read(&earlier), Err(PatchError::Earlier));
    let message = self::learner::<6, 5>(9, 0).read(&patch[..length]).unwrap_err().to_string();
    assert_eq!(message, "the patch was learned with a margin of 1, the learner's pace has 9");
}
