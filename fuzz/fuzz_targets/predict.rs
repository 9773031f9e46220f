//! Blobs with a checksum that holds, against the reference: both parsers give the same
//! verdict, and what is accepted gives the same numbers in every form.

#![no_main]

use koan::{Any, Input, Model, Predictor, Profile, Small};
use koan_fuzz::memory::Memory;
use koan_fuzz::naive::naive_work;
use koan_fuzz::reference::Reference;
use koan_fuzz::repair::repaired;
use libfuzzer_sys::fuzz_target;

/// The most work of a model that is run, and of one that is run in every way.
const MOST_WORK: u32 = 200_000;
const LITTLE_WORK: u32 = 10_000;
/// The same for the reference, as it counts its own work.
const MOST_NAIVE_WORK: usize = 50_000;
const LITTLE_NAIVE_WORK: usize = 5_000;

fuzz_target!(|data: &[u8]| {
    let blob = repaired(data);
    let (model, reference) = match (Model::parse(&blob), Reference::parse(&blob)) {
        (Ok(model), Ok(reference)) => (model, reference),
        (Err(_), Err(_)) => return,
        (core, reference) => panic!("core: {:?}, reference: {:?}", core.err(), reference.err()),
    };
    assert_eq!(u64::from(model.work()), reference.work());
    assert_eq!(i64::from(model.input_limit()), reference.limit);
    assert!(reference.generator_agrees);
    if model.work() > MOST_WORK {
        return;
    }
    let rows = rows(data, &model);
    let naive = naive_work(&reference);
    if model.work() > LITTLE_WORK || naive > LITTLE_NAIVE_WORK {
        let [row, _] = &rows.floats;
        let found = of_row(&mut core::<Any>(&model), row);
        assert!(found == of_row(&mut core::<Small>(&model), row), "the forms differ");
        if naive <= MOST_NAIVE_WORK {
            found.equals(&reference, row);
        }
        return;
    }
    let fast = run::<Any>(&model, &rows);
    assert!(fast == run::<Small>(&model, &rows), "the forms differ");
    assert_eq!(fast.digest, reference.digest());
    let mut passes = fast.digest == reference.stated_digest;
    for (row, scores) in reference.sections.golden_rows.iter().flatten() {
        passes &= reference.scores(row) == *scores;
    }
    assert_eq!(fast.passes, passes);
    for (row, found) in rows.all().iter().zip(&fast.rows) {
        found.equals(&reference, row);
    }
});

/// Rows of floats, one of words and one of bytes.
struct Rows {
    floats: [Vec<f32>; 2],
    words: Vec<i16>,
    bytes: Vec<u8>,
}

impl Rows {
    /// All of them as floats.
    fn all(&self) -> Vec<Vec<f32>> {
        let words = self.words.iter().map(|&x| x.into()).collect();
        let bytes = self.bytes.iter().map(|&x| x.into()).collect();
        let [first, second] = self.floats.clone();
        vec![first, second, words, bytes]
    }
}

/// The numbers that the data stand for, as often as need be.
fn numbers<'d, const N: usize>(data: &'d [u8]) -> impl Iterator<Item = [u8; N]> + 'd {
    let mut bytes = data.iter().copied().cycle();
    std::iter::repeat_with(move || [0; N].map(|_: u8| bytes.next().unwrap_or(0)))
}

/// Rows from the data: of any bits, and of bits that are usual numbers.
fn rows(data: &[u8], model: &Model<'_>) -> Rows {
    let any = numbers(data).map(f32::from_le_bytes);
    let usual = numbers(data).map(|bytes| f32::from(i16::from_le_bytes(bytes)) / 64.0);
    let inputs = model.inputs();
    let floats = [any.take(inputs).collect(), usual.take(inputs).collect()];
    let words = numbers(data).map(i16::from_le_bytes).take(inputs).collect();
    let bytes = numbers(data).map(u8::from_le_bytes).take(inputs).collect();
    Rows { floats, words, bytes }
}

/// What a model gives.
#[derive(PartialEq)]
struct Outcome {
    digest: u32,
    passes: bool,
    rows: Vec<OfRow>,
}

/// What a row gives.
#[derive(PartialEq)]
struct OfRow {
    scores: Vec<i32>,
    features: Vec<i16>,
    codes: Vec<u16>,
}

impl OfRow {
    /// Asserts that the reference gives the same for the row.
    fn equals(&self, reference: &Reference, row: &[f32]) {
        assert_eq!(self.scores, reference.scores(row));
        let features: Vec<i64> = self.features.iter().map(|&feature| feature.into()).collect();
        assert_eq!(features, reference.features(row));
        assert_eq!(self.codes, reference.codes(row));
    }
}

/// A predictor with no more memory than it needs.
fn core<'m, P: Profile>(model: &Model<'m>) -> Predictor<'m, Memory, P> {
    let memory = Memory::new(model.buffer_sizes(P::FORM));
    Predictor::serving(*model, memory).expect("exactly what it needs")
}

fn run<P: Profile>(model: &Model<'_>, rows: &Rows) -> Outcome {
    let mut core = core::<P>(model);
    let mut of_rows: Vec<OfRow> = rows.floats.iter().map(|row| of_row(&mut core, row)).collect();
    of_rows.push(of_row(&mut core, &rows.words));
    of_rows.push(of_row(&mut core, &rows.bytes));
    let digest = core.golden_digest().expect("the buffers have not changed");
    Outcome { digest, passes: core.self_test().is_ok(), rows: of_rows }
}

fn of_row<P: Profile, I: Input>(core: &mut Predictor<'_, Memory, P>, row: &[I]) -> OfRow {
    let model = *core.model();
    let mut features = vec![7; model.features()];
    core.features(row, &mut features).expect("the lengths are right");
    let mut codes = vec![7; model.codes()];
    core.codes(row, &mut codes).expect("the lengths are right");
    let mut scores = Vec::new();
    if model.outputs() > 0 {
        scores = core.scores(row).expect("a model with outputs").to_vec();
    }
    if model.has_probabilities() {
        let mut probabilities = vec![f32::NAN; model.classes()];
        core.probabilities(row, &mut probabilities).expect("a model with probabilities");
        let sum: f32 = probabilities.iter().sum();
        assert!((sum - 1.0).abs() < 1e-3, "{probabilities:?}");
        let mut coarse = vec![f32::NAN; model.classes()];
        core.coarse_probabilities(row, &mut coarse).expect("a model with probabilities");
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 0.005;
        assert!(probabilities.iter().zip(&coarse).all(near), "{probabilities:?}, {coarse:?}");
    }
    OfRow { scores, features, codes }
}
