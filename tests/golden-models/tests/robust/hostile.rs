//! The golden models, damaged, against the reference.

use koan::{Any, Error, Model, Predictor, Profile, Small};
use koan_golden::all;

use crate::memory::Memory;
use crate::mutate::{fix_crc, mutated};
use crate::naive::naive_work;
use crate::random::Random;
use crate::reference::Reference;
use crate::unchecked::{describe, exercise};

/// Models of more work are only parsed, and of more naive work not asked of the reference.
const MOST_WORK: u32 = 20_000;
const MOST_NAIVE_WORK: usize = 2_000;

/// The golden models that are small.
fn blobs() -> Vec<Vec<u8>> {
    let mut blobs: Vec<_> = all().into_iter().map(|golden| golden.blob).collect();
    blobs.retain(|blob| blob.len() < 1000);
    assert!(blobs.len() > 100);
    blobs
}

/// Digest, and scores of a row.
fn run<P: Profile>(model: &Model<'_>, row: &[f32]) -> Result<(u32, Vec<i32>), Error> {
    let memory = Memory::new(model.buffer_sizes(P::FORM));
    let mut core = Predictor::<_, P>::serving(*model, memory)?;
    let digest = core.golden_digest()?;
    let scores = if model.outputs() > 0 { core.scores(row)?.to_vec() } else { Vec::new() };
    Ok((digest, scores))
}

/// Judges a blob as the reference does, and runs it if it is accepted. Whether it was.
fn attack(blob: &[u8], random: &mut Random) -> bool {
    let reference = Reference::parse(blob);
    let (model, reference) = match (Model::parse(blob), reference) {
        (Ok(model), Ok(reference)) => (model, reference),
        (Err(error), Err(_)) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
        (core, reference) => {
            panic!("{:?}, reference {:?}: {blob:02x?}", core.err(), reference.err())
        }
    };
    assert_eq!(u64::from(model.work()), reference.work());
    describe(&model);
    if model.work() > MOST_WORK || !reference.generator_agrees {
        return true;
    }
    let row: Vec<f32> = (0..model.inputs()).map(|_| f32::from_bits(random.bits() as u32)).collect();
    let fast = run::<Any>(&model, &row);
    assert_eq!(fast, run::<Small>(&model, &row), "{blob:02x?}");
    // The reference computes in 64 bits.
    if cfg!(target_pointer_width = "64") && naive_work(&reference) < MOST_NAIVE_WORK {
        assert_eq!(fast, Ok((reference.digest(), reference.scores(&row))), "{blob:02x?}");
    }
    true
}

/// Mutations with a checksum that holds again.
#[test]
fn damaged_models_are_judged_alike_and_harmless() {
    const CASES: usize = 20_000;
    let (blobs, mut random) = (blobs(), Random::new(21));
    let mut accepted = 0;
    for _ in 0..CASES {
        let blob = &blobs[random.below(blobs.len())];
        let other = &blobs[random.below(blobs.len())];
        let mut bytes = mutated(blob, other, &mut random);
        fix_crc(&mut bytes);
        accepted += usize::from(attack(&bytes, &mut random));
    }
    // Were all refused (or none), this would test little.
    assert!(accepted > CASES / 10 && accepted < CASES * 9 / 10, "{accepted} accepted");
}

/// What parsing refused, run all the same: with the words of another blob, or with some that
/// are changed.
#[test]
fn models_that_were_not_checked_are_harmless() {
    let (blobs, mut random) = (blobs(), Random::new(22));
    let words: Vec<_> =
        blobs.iter().filter_map(|blob| Some(Model::parse(blob).ok()?.to_words())).collect();
    assert_eq!(words.len(), blobs.len());
    for _ in 0..20_000 {
        let number = random.below(blobs.len());
        let other = &blobs[random.below(blobs.len())];
        let bytes = mutated(&blobs[number], other, &mut random);
        let mut words = words[number];
        if random.below(2) == 0 {
            let place = random.below(words.len());
            words[place] = match random.below(4) {
                0 => random.bits() as u32,
                1 => u32::MAX - random.below(9) as u32,
                2 => random.below(bytes.len() + 1) as u32,
                _ => words[place] ^ 1 << random.below(32),
            };
        }
        exercise(&Model::from_words(&bytes, words));
    }
}

#[test]
fn truncated_models_are_refused_or_judged_alike() {
    let mut random = Random::new(23);
    for blob in blobs().iter().step_by(17) {
        for length in 0..blob.len() {
            assert!(Model::parse(&blob[..length]).is_err());
            let mut short = blob[..length].to_vec();
            fix_crc(&mut short);
            attack(&short, &mut random);
        }
    }
}
