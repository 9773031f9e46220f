//! Damaged and hostile blobs: refused, or harmless. Never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use koan::{Error, Form, Model, Predictor, Small, Task};
use koan_tests::arbitrary::{model, runner};
use koan_tests::golden::all;
use koan_tests::mutate::{fix_crc, mutated};
use koan_tests::random::Random;
use koan_tests::reference::{self, Reference};
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::heap::HeapBuffers;
use proptest::strategy::{Strategy, ValueTree};

/// Real blobs: the golden models, and random ones with and without outputs.
fn blobs() -> Vec<Vec<u8>> {
    let mut blobs: Vec<_> = all().into_iter().map(|golden| golden.blob).collect();
    let mut runner = runner(1, 100);
    for _ in 0..300 {
        let spec = model().new_tree(&mut runner).expect("the strategy rejects nothing").current();
        blobs.push(spec.encode().expect("a valid model"));
    }
    blobs.retain(|blob| blob.len() < 2000);
    assert!(blobs.len() > 300);
    blobs
}

/// Runs a case; a panic is reported with the blob that caused it.
fn guarded<T>(blob: &[u8], case: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|_| {
        let hex: Vec<_> = blob.iter().map(|byte| format!("{byte:02x}")).collect();
        panic!("panicked on {}", hex.concat())
    })
}

/// What the reference takes for a row: it multiplies matrices that the core transforms.
fn naive_work(reference: &Reference) -> usize {
    let d = reference.inputs;
    let each = |bank: &reference::Bank| match bank.family {
        reference::Family::Maxout { pool, shared: 0 } => bank.features * pool * d,
        reference::Family::Maxout { pool, shared } => shared * d + bank.features * pool,
        reference::Family::Conv(conv) => {
            let positions: usize = conv.positions(1).iter().product();
            bank.features * positions * (conv.taps() + conv.transform)
        }
        _ => bank.features * d,
    };
    reference.banks.iter().map(each).sum()
}

/// Everything that a model says of itself.
fn describe(model: &Model<'_>) -> usize {
    let mut seen = model.blob().len() + model.features() + model.codes() + model.classes();
    seen += model.task().name().len() + usize::from(model.input_limit().unsigned_abs());
    seen += model.buffer_sizes(Form::Fast).bytes() + model.buffer_sizes(Form::Small).bytes();
    seen += model.weight_bytes().len() + model.notes().len();
    seen += model.work() as usize + model.needs().names().count();
    seen += usize::from(model.check_word()) + model.golden_digest() as usize;
    seen += model.map_bytes() + model.map_period() + usize::from(model.score_scale() > 0.0);
    seen += model.banks().next().map_or(0, |bank| bank.row_bytes());
    for index in [0, 1, model.inputs(), 300, 65_535, usize::MAX] {
        seen += usize::from(model.input_map(index).mult());
        seen += model.class_name(index).map_or(0, str::len);
        seen += usize::from(model.bias(index) > 0) + usize::from(model.multiplier(index, index));
        seen += usize::from(model.golden().score(index, index) > 0);
        seen += usize::from(model.golden().input(index, index) > 0.0);
    }
    seen += usize::from(model.calibration().is_some()) + model.golden().count();
    for bank in model.banks() {
        seen += usize::from(bank.index()) + bank.family().name().len() + bank.law().name().len();
        let covered: usize = bank.groups().map(|group| usize::from(group.inputs)).sum();
        assert_eq!(covered, model.inputs());
        let indices: Vec<_> = bank.indices().collect();
        assert_eq!(indices.len(), usize::from(bank.features()));
        assert!(indices.is_sorted_by(|a, b| a < b) && indices.last() < Some(&(1 << 20)));
        seen += bank.kept_bytes() + usize::from(bank.is_kept());
    }
    seen
}

/// Everything that can be called with an accepted model. The amount of work
/// decides how much of it.
fn exercise(model: Model<'_>, reference: &Reference, random: &mut Random) {
    assert!(describe(&model) > 0);
    let work = model.work();
    assert_eq!(u64::from(work), reference.work());
    if work > 2_000_000 {
        return;
    }
    let mut core = match Predictor::new(model, HeapBuffers::new(model.buffer_sizes(Form::Fast))) {
        Ok(core) => core,
        Err(error @ Error::Generator { .. }) => {
            assert!(error.to_string().contains("mum32bit"));
            return;
        }
        Err(error) => panic!("{error}"),
    };
    // Whole-range bits: NaN, infinities and subnormals among them.
    let row: Vec<f32> = (0..model.inputs()).map(|_| f32::from_bits(random.bits() as u32)).collect();
    let (mut features, mut codes) = (vec![0; model.features()], vec![0; model.codes()]);
    core.features(&row, &mut features).unwrap();
    if work > 50_000 {
        return;
    }
    core.codes(&row, &mut codes).unwrap();
    let words: Vec<i16> = (0..model.inputs()).map(|_| random.bits() as i16).collect();
    let bytes: Vec<u8> = (0..model.inputs()).map(|_| random.bits() as u8).collect();
    let mut values = vec![0.0; model.outputs()];
    let with_outputs = model.outputs() > 0;
    assert_eq!(core.scores(&row).is_ok(), with_outputs);
    assert_eq!(core.scores(&words).is_ok(), with_outputs);
    assert_eq!(core.scores(&bytes).is_ok(), with_outputs);
    assert_eq!(core.values(&words, &mut values).is_ok(), with_outputs);
    let classification = model.task() == Task::Classification;
    assert_eq!(core.predict(&bytes).is_ok(), model.task() == Task::Regression);
    assert_eq!(core.classify(&row).is_ok(), classification);
    let mut probabilities = vec![0.0; model.classes()];
    let probable = model.has_probabilities();
    assert_eq!(core.probabilities(&words, &mut probabilities).is_ok(), probable);
    let digest = core.golden_digest().unwrap();
    match core.self_test() {
        Ok(()) => assert_eq!(digest, model.golden_digest()),
        Err(error) => assert!(error.to_string().contains("differs on this build")),
    }
    let buffers = HeapBuffers::new(model.buffer_sizes(Form::Small));
    let mut small = Predictor::<_, Small>::serving(model, buffers).expect("it serves all");
    assert_eq!(small.golden_digest().unwrap(), digest);
    // The same numbers as the reference, where that is cheap.
    if naive_work(reference) < 5_000 {
        assert_eq!(reference.digest(), digest);
        if with_outputs {
            assert_eq!(core.scores(&row).unwrap(), reference.scores(&row));
        }
    }
}

/// Parses a hostile blob, compares the verdict with the reference's, and runs
/// the model if it is accepted. Whether it was.
fn attack(blob: &[u8], random: &mut Random) -> bool {
    guarded(blob, || {
        let reference = Reference::parse(blob);
        match Model::parse(blob) {
            Ok(model) => {
                let reference = reference.expect("accepted, but not by the reference");
                exercise(model, &reference, random);
                true
            }
            Err(error) => {
                assert!(reference.is_err(), "only the core refuses: {error}");
                assert!(!error.to_string().is_empty() && !error.message().is_empty());
                false
            }
        }
    })
}

#[test]
fn every_truncation_is_refused() {
    for blob in blobs().iter().step_by(9) {
        assert!(Model::parse(blob).is_ok());
        for length in 0..blob.len() {
            let error = guarded(blob, || Model::parse(&blob[..length]).err());
            assert!(error.is_some(), "{length} bytes of {} accepted", blob.len());
        }
    }
}

/// The same with a checksum that suits the shorter blob: sections may end
/// anywhere, but both parsers must agree where a blob may end.
#[test]
fn truncations_with_a_right_checksum_are_judged_alike() {
    let mut random = Random::new(6);
    for blob in blobs().iter().step_by(23) {
        for length in 0..blob.len() {
            let mut short = blob[..length].to_vec();
            fix_crc(&mut short);
            attack(&short, &mut random);
        }
    }
}

#[test]
fn damage_is_always_noticed() {
    let (blobs, mut random) = (blobs(), Random::new(1));
    let mut damaged = 0;
    while damaged < 500_000 {
        let blob = &blobs[random.below(blobs.len())];
        let other = &blobs[random.below(blobs.len())];
        let bytes = mutated(blob, other, &mut random);
        if bytes == *blob || bytes == *other {
            continue;
        }
        let accepted = guarded(&bytes, || Model::parse(&bytes).is_ok());
        assert!(!accepted, "a damaged blob was accepted: {bytes:02x?}");
        damaged += 1;
    }
}

/// Mutations whose checksum is right again.
fn hostile(seed: u64) {
    const CASES: usize = 120_000;
    let (blobs, mut random) = (blobs(), Random::new(seed));
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

#[test]
fn hostile_blobs_are_refused_or_harmless_1() {
    hostile(11);
}

#[test]
fn hostile_blobs_are_refused_or_harmless_2() {
    hostile(12);
}

#[test]
fn hostile_blobs_are_refused_or_harmless_3() {
    hostile(13);
}

#[test]
fn hostile_blobs_are_refused_or_harmless_4() {
    hostile(14);
}

#[test]
fn random_bytes_are_refused_or_harmless() {
    let mut random = Random::new(2);
    let real = blobs();
    for case in 0..200_000 {
        let length = random.below(200);
        let mut bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        if case % 4 > 0 && length > 19 {
            // A real header, then mostly small numbers, as fields are.
            let header = &real[random.below(real.len())][..19];
            bytes[..19].copy_from_slice(header);
            for byte in &mut bytes[19..] {
                if random.below(2) == 0 {
                    *byte %= 8;
                }
            }
        }
        if case % 4 > 1 {
            fix_crc(&mut bytes);
        }
        attack(&bytes, &mut random);
    }
}

/// What a real blob's field at `at` says when it is changed to `bytes`.
fn refusal(blob: &[u8], at: usize, bytes: &[u8]) -> String {
    let mut blob = blob.to_vec();
    blob[at..at + bytes.len()].copy_from_slice(bytes);
    fix_crc(&mut blob);
    Model::parse(&blob).expect_err("a wrong field").to_string()
}

fn golden(name: &str) -> Vec<u8> {
    all().into_iter().find(|golden| golden.name.starts_with(name)).expect("a golden model").blob
}

/// Offset of the first bank.
fn bank_at(blob: &[u8]) -> usize {
    let model = Model::parse(blob).unwrap();
    19 + model.map_bytes()
}

/// Sizes that are 0, too large or not a divisor, of an image of 7 × 8 pixels.
fn convolutions_that_do_not_fit(bad: impl Fn(&str, usize) -> String) {
    let blob = golden("conv-image-w2");
    let bank = bank_at(&blob);
    let shape = bank + 6;
    for (at, values) in [
        (0, &[0, 5, 57, 255][..]),  // height
        (1, &[0, 3, 16, 255]),      // channels
        (2, &[0, 6, 8, 255]),       // kernel, of which 3 × 3 cells leave 5
        (3, &[0, 3, 15, 64, 0xc3]), // stride, mode
        (4, &[0, 6, 255]),          // grid
    ] {
        for &value in values {
            assert_eq!(refusal(&blob, shape + at, &[value]), bad("conv shape", shape), "{at}");
        }
    }
    // One tap could be dilated for ever.
    assert_eq!(refusal(&blob, shape + 2, &[1, 0x21]), bad("conv shape", shape));
    // Whole filters, a law of its own, no groups.
    assert_eq!(refusal(&blob, bank + 2, &[10, 0]), bad("bank features", bank + 2));
    assert_eq!(refusal(&blob, bank, &[0x16]), bad("bank law", bank));
    assert_eq!(refusal(&blob, bank + 1, &[0x10]), bad("bank law", bank));
    assert_eq!(refusal(&blob, bank + 5, &[17]), bad("bank scale", bank + 4));
}

#[test]
fn refusals_name_field_and_offset() {
    let blob = golden("fourier-gaussian-w16");
    let bank = bank_at(&blob);
    let head = bank + 6;
    let bad = |field: &str, at: usize| {
        format!("field `{field}` at offset {at} has a value that is not allowed")
    };
    convolutions_that_do_not_fit(bad);
    assert!(refusal(&blob, 0, b"NOAK").contains("not a koan blob"));
    assert_eq!(refusal(&blob, 4, &[2]), "unknown format version 2");
    assert_eq!(refusal(&blob, 5, &[8]), bad("flags", 5));
    // A model of one channel has one map, and none of more channels than inputs.
    let channels = golden("channels-3-fourier-hadamard");
    for count in [0, 1, 37, 255] {
        assert_eq!(refusal(&channels, 19, &[count]), bad("input map", 19));
    }
    assert_eq!(refusal(&blob, 6, &[0, 0]), bad("inputs", 6));
    assert_eq!(refusal(&blob, bank, &[0x19]), bad("bank family", bank));
    // Uniform, of which projections are none; one that no law has.
    assert_eq!(refusal(&blob, bank, &[0x51]), bad("bank law", bank));
    assert_eq!(refusal(&blob, bank, &[0x71]), bad("bank law", bank));
    assert_eq!(refusal(&blob, bank, &[0xf1]), bad("bank law", bank));
    assert_eq!(refusal(&blob, bank + 1, &[0x80]), bad("bank options", bank + 1));
    assert_eq!(refusal(&blob, bank + 1, &[5]), bad("bank options", bank + 1));
    assert_eq!(refusal(&blob, bank + 2, &[0, 0]), bad("bank features", bank + 2));
    assert_eq!(refusal(&blob, bank + 4, &[0]), bad("bank scale", bank + 4));
    assert_eq!(refusal(&blob, bank + 5, &[17]), bad("bank scale", bank + 4));
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert_eq!(refusal(&blob, head, &scale.to_le_bytes()), bad("score scale", head));
    }
    assert_eq!(refusal(&blob, head + 4, &[41]), bad("score shift", head + 4));
    assert_eq!(
        refusal(&blob, bank + 2, &[255, 255]),
        format!("the blob ends before field `weights` at offset {}", head + 9)
    );
    let mut damaged = blob.clone();
    damaged[head] ^= 1;
    let error = Model::parse(&damaged).unwrap_err().to_string();
    assert_eq!(error, "checksum mismatch: the blob is damaged");
}

#[test]
fn refusals_of_parameters_groups_and_sections_name_field_and_offset() {
    let bad = |field: &str, at: usize| {
        format!("field `{field}` at offset {at} has a value that is not allowed")
    };
    let bin = golden("bin-gamma2-");
    let at = bank_at(&bin) + 6;
    assert_eq!(refusal(&bin, at, &[0]), bad("bin slot bits", at));
    assert_eq!(refusal(&bin, at, &[13]), bad("bin slot bits", at));
    let fern = golden("fern-gaussian-3-w4");
    let bank = bank_at(&fern);
    assert_eq!(refusal(&fern, bank + 6, &[0]), bad("fern depth", bank + 6));
    assert_eq!(refusal(&fern, bank + 6, &[5]), bad("fern depth", bank + 6));
    // Ferns have no groups, and no thresholds of the law sign.
    assert_eq!(refusal(&fern, bank, &[0x37]), bad("bank law", bank));
    assert_eq!(refusal(&fern, bank + 1, &[0x10]), bad("bank law", bank));
    let series = golden("series-usual-w");
    let bank = bank_at(&series);
    let shape = |at: usize, bytes: &[u8]| {
        assert_eq!(refusal(&series, bank + at, bytes), bad("series shape", bank + 6));
    };
    // Channels, taps, dilations that the 37 samples do not have; levels beyond their range.
    for (at, byte) in [(6, 0), (6, 2), (7, 1), (7, 65), (8, 0), (8, 4), (8, 17)] {
        shape(at, &[byte]);
    }
    for gain in [[255, 1], [254, 1], [0, 255], [1, 255]] {
        shape(9, &gain);
        shape(11, &gain);
    }
    assert_eq!(refusal(&series, bank, &[0x18]), bad("bank law", bank));
    assert_eq!(refusal(&series, bank + 4, &[2]), bad("bank scale", bank + 4));
    let maxout = golden("maxout-sign-w");
    let at = bank_at(&maxout) + 6;
    assert_eq!(refusal(&maxout, at, &[0]), bad("maxout pool", at));

    let grouped = golden("fourier-grouped");
    let first = bank_at(&grouped) + 7;
    // One input less than all; one more.
    let inputs = grouped[first];
    assert_eq!(refusal(&grouped, first, &[inputs - 1]), bad("group inputs", first));
    let last = first + 5 * usize::from(grouped[first - 1] - 1);
    assert_eq!(refusal(&grouped, last, &[255]), bad("group inputs", last));
    assert_eq!(refusal(&grouped, first, &[0]), bad("group inputs", first));
    // Hadamard (4) mixes all inputs: no law for a group.
    assert_eq!(refusal(&grouped, first + 2, &[4]), bad("group law", first + 2));
    assert_eq!(refusal(&grouped, first + 3, &[0]), bad("group scale", first + 3));
    assert_eq!(refusal(&grouped, first + 4, &[17]), bad("group scale", first + 4));

    // The first section of the digits starts where the weights end.
    let digits = golden("digits");
    let section = 19 + 6 + 6 + 5 + 10 * (4 + 2) + 10 * 512 / 2;
    assert_eq!(
        refusal(&digits, section, &[200]),
        format!("unknown required section 200 at offset {section}")
    );
    assert_eq!(refusal(&digits, section + 3, b"\n"), bad("class names", section));
    let mut skipped = digits.clone();
    skipped[section] = 100;
    fix_crc(&mut skipped);
    assert_eq!(Model::parse(&skipped).unwrap().class_name(0), None);
}

#[test]
fn refusals_of_lists_name_field_and_offset() {
    let bad =
        |at: usize| format!("field `kept features` at offset {at} has a value that is not allowed");
    let blob = golden("kept-fourier-gaussian-");
    let bank = bank_at(&blob);
    let at = bank + 6;
    let length = usize::from(blob[at + 1]);
    assert_eq!(refusal(&blob, at, &[16]), bad(at));
    // Another index than there are features; one more than fits; nothing at all.
    assert_eq!(refusal(&blob, bank + 2, &[blob[bank + 2] - 1]), bad(at));
    assert_eq!(refusal(&blob, bank + 2, &[blob[bank + 2] + 1]), bad(at));
    assert_eq!(refusal(&blob, at + 3, &vec![0; length]), bad(at));
    assert_eq!(refusal(&blob, at + 1, &[0, 0]), bad(at));
    // The last byte is not all padding.
    assert_eq!(refusal(&blob, at + 2 + length, &[0xff]), bad(at));
    assert_eq!(
        refusal(&blob, at + 1, &[255, 255]),
        format!("the blob ends before field `kept features` at offset {}", at + 3)
    );
}

/// A slope that is not positive, or that scores overflow with, would make
/// probabilities of NaN.
#[test]
fn a_calibration_without_a_positive_finite_slope_is_refused() {
    let blob = koan_tests::tiny::blob().unwrap();
    // Behind the class names: 19 + 6 + 6 + 9 + 4 weights, 3 + 10 names.
    let section = 57;
    assert_eq!(blob[section..section + 3], [4, 8, 0]);
    for slope in [-5.0f32, 0.0, f32::NAN, f32::INFINITY] {
        assert_eq!(
            refusal(&blob, section + 3, &slope.to_le_bytes()),
            format!("field `calibration` at offset {section} has a value that is not allowed")
        );
    }
}

/// A head that ends within its biases.
#[test]
fn a_short_head_is_refused() {
    let blob = golden("fourier-gaussian-w16");
    let head = bank_at(&blob) + 6;
    let mut short = blob[..head + 7].to_vec();
    short.extend([0; 8]);
    fix_crc(&mut short);
    let error = Model::parse(&short).unwrap_err().to_string();
    assert_eq!(error, format!("the blob ends before field `head` at offset {head}"));
    assert!(predictor(&short).is_err());
}
