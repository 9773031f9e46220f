//! Writes what the runtime in C is tested with, for `c/test/replay.c`, which has the layout:
//! the golden models with what they must give, those of little work once more in small files,
//! and damaged blobs with the core's verdicts.
//! `cargo run -p koan-tests --bin vectors FOLDER [MUTANTS]`

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use koan::format::{field, flag};
use koan::numerics::Scale;
use koan::{Error, Family, Field, Form, Law, Model, Predictor, Task, Width, class_of};
use koan_tests::arbitrary::{codes, model, runner};
use koan_tests::feature_map::FeatureMap;
use koan_tests::golden::{Golden, Typed, all};
use koan_tests::mutate::{fix_crc, mutated};
use koan_tests::random::Random;
use koan_trainer::internal::blob::{BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec};
use koan_trainer::internal::heap::HeapBuffers;
use koan_trainer::internal::nearest;
use proptest::strategy::{Strategy, ValueTree};

/// Kinds of entries.
const SCORES: u8 = 1;
const FEATURES: u8 = 2;
const VERDICT: u8 = 3;

/// Types that a row may be run in.
const WORDS: u8 = 1;
const BYTES: u8 = 2;

/// Where a row has no class.
const NO_CLASS: u8 = 255;
/// In the place of each probability, of a detector of anomalies.
const NO_PROBABILITY: f32 = -1.0;

/// Damaged blobs, unless the command says another number.
const MUTANTS: usize = 20_000;
/// Vectors of small devices come in files of so many bytes, of models of so much work.
const SMALL_BYTES: usize = 24_000;
const SMALL_WORK: u32 = 10_000;
/// A prediction with an accepted one takes at most so many steps; others are only judged.
const MOST_WORK: u32 = 50_000;

/// `koan_status` of `c/koan.h`, in its order; the texts of fields are those of [`Field`].
const STATUSES: [&str; 34] = [
    "ok",
    "magic",
    "version",
    "truncated",
    "checksum",
    "too long",
    "flags",
    "inputs",
    "input map",
    "bank family",
    "bank law",
    "bank options",
    "bank features",
    "bank scale",
    "bin slot bits",
    "maxout pool",
    "conv shape",
    "fern depth",
    "series shape",
    "group inputs",
    "group law",
    "group scale",
    "kept features",
    "banks",
    "score scale",
    "score shift",
    "class names",
    "golden rows",
    "calibration",
    "section (twice)",
    "required section",
    "work",
    "generator",
    "not built",
];

/// A status of the runtime in C.
fn status(name: &str) -> u8 {
    let place = STATUSES.iter().position(|status| *status == name);
    place.unwrap_or_else(|| panic!("no status for {name}")) as u8
}

fn field(field: Field, offset: usize) -> (u8, u32) {
    (status(field.name()), offset as u32)
}

/// What the runtime in C must say of a blob.
fn verdict(blob: &[u8]) -> (u8, u32, Option<u32>) {
    let refused = |error: Error| match error {
        Error::NotKoan => field(Field::Magic, 0),
        Error::Version { .. } => field(Field::Version, koan::format::field::VERSION),
        Error::Truncated { offset, .. } => (status("truncated"), offset as u32),
        Error::Checksum => (status("checksum"), 0),
        Error::Field { field: its, offset } => field(its, offset),
        Error::RequiredSection { offset, .. } => (status("required section"), offset as u32),
        Error::Generator { .. } => (status("generator"), 17),
        error => panic!("unexpected: {error}"),
    };
    let predictor = Model::parse(blob)
        .and_then(|model| Predictor::new(model, HeapBuffers::new(model.buffer_sizes(Form::Fast))));
    match predictor {
        Err(error) => {
            let (status, offset) = refused(error);
            (status, offset, None)
        }
        Ok(mut predictor) if predictor.model().work() <= MOST_WORK => {
            (0, 0, Some(predictor.golden_digest().expect("memory that suits")))
        }
        Ok(_) => (0, 0, None),
    }
}

fn head(out: &mut impl Write, kind: u8, name: &str, blob: &[u8]) -> io::Result<()> {
    out.write_all(&[kind, name.len() as u8])?;
    out.write_all(name.as_bytes())?;
    out.write_all(&(blob.len() as u32).to_le_bytes())?;
    out.write_all(blob)
}

fn numbers<const N: usize>(
    out: &mut impl Write,
    numbers: impl IntoIterator<Item = [u8; N]>,
) -> io::Result<()> {
    numbers.into_iter().try_for_each(|number| out.write_all(&number))
}

fn write_scores(out: &mut impl Write, golden: &Golden) -> io::Result<()> {
    head(out, SCORES, &golden.name, &golden.blob)?;
    let model = Model::parse(&golden.blob).map_err(io::Error::other)?;
    let buffers = HeapBuffers::new(model.buffer_sizes(Form::Fast));
    let mut core = Predictor::new(model, buffers).map_err(io::Error::other)?;
    let classes = model.task() == Task::Classification;
    let mut real = vec![0.0; model.outputs() + model.classes()];
    out.write_all(&(golden.rows.len() as u16).to_le_bytes())?;
    for row in &golden.rows {
        let types = row.typed().iter().fold(0, |types, typed| match typed {
            Typed::Floats(_) => types,
            Typed::Words(_) => types | WORDS,
            Typed::Bytes(_) => types | BYTES,
        });
        let class = if classes { class_of(&row.scores) as u8 } else { NO_CLASS };
        out.write_all(&[types, class])?;
        numbers(out, row.row.iter().map(|x| x.to_le_bytes()))?;
        numbers(out, row.scores.iter().map(|score| score.to_le_bytes()))?;
        let (values, probabilities) = real.split_at_mut(model.outputs());
        core.values(&row.row, values).map_err(io::Error::other)?;
        if model.has_probabilities() {
            core.probabilities(&row.row, probabilities).map_err(io::Error::other)?;
        } else {
            probabilities.fill(NO_PROBABILITY);
        }
        numbers(out, real.iter().map(|x| x.to_le_bytes()))?;
    }
    Ok(())
}

fn write_features(out: &mut impl Write, map: &FeatureMap) -> io::Result<()> {
    head(out, FEATURES, &map.name, &map.blob)?;
    out.write_all(&(map.rows.len() as u16).to_le_bytes())?;
    for row in &map.rows {
        let counts = [row.features.len() as u32, row.codes.len() as u32];
        numbers(out, counts.map(u32::to_le_bytes))?;
        numbers(out, row.row.iter().map(|x| x.to_le_bytes()))?;
        numbers(out, row.features.iter().map(|phi| phi.to_le_bytes()))?;
        numbers(out, row.codes.iter().map(|code| code.to_le_bytes()))?;
    }
    Ok(())
}

/// The blobs that are damaged: golden models, and random ones with and without outputs.
fn originals() -> Vec<Vec<u8>> {
    let mut blobs: Vec<_> = all().into_iter().map(|golden| golden.blob).collect();
    let mut runner = runner(1, 23);
    for _ in 0..300 {
        let spec = model().new_tree(&mut runner).expect("the strategy rejects nothing").current();
        blobs.push(spec.encode().expect("a valid model"));
    }
    blobs.retain(|blob| blob.len() < 2000);
    blobs
}

/// Models of more weights than golden models have, of every width: features are weighed in
/// runs, and some are left over.
fn long(family: Family, law: Law, features: u16, bits: u8) -> Vec<u8> {
    let mut random = Random::new(u64::from(bits));
    let (scale, width) = (Scale::ONE, Width::new(bits, bits < 8).unwrap());
    let bank = BankSpec { family, law, features, scale, groups: Vec::new(), kept: None };
    let weights = BankWeights {
        width,
        codes: (0..3).map(|_| codes(width, usize::from(features), &mut random)).collect(),
        multipliers: vec![100, 1, 65_535],
    };
    let map = MapSpec::Shared(nearest::map(8.0, 500.0, false));
    let mut spec = ModelSpec::features(random.bits(), 64, map, vec![bank]);
    spec.task = Task::Regression;
    spec.head = Some(HeadSpec { scale: 1.0, shift: 14, weights: vec![weights], bias: vec![0; 3] });
    spec.encode().expect("a valid model")
}

fn write_verdict(out: &mut impl Write, blob: &[u8]) -> io::Result<()> {
    head(out, VERDICT, "", blob)?;
    let (status, offset, digest) = verdict(blob);
    out.write_all(&[status, u8::from(digest.is_some())])?;
    numbers(out, [offset, digest.unwrap_or(0)].map(u32::to_le_bytes))
}

/// Models that are sound, then damaged ones, most of them with a checksum that holds again.
fn write_mutants(out: &mut impl Write, count: usize) -> io::Result<()> {
    let (blobs, mut random) = (originals(), Random::new(23));
    blobs.iter().try_for_each(|blob| write_verdict(out, blob))?;
    for bits in Width::BITS {
        write_verdict(out, &long(Family::Linear, Law::None, 64, bits))?;
        write_verdict(out, &long(Family::Fourier, Law::Hadamard, 200, bits))?;
    }
    for number in 0..count {
        let blob = &blobs[random.below(blobs.len())];
        let other = &blobs[random.below(blobs.len())];
        let mut bytes = mutated(blob, other, &mut random);
        if number % 16 > 0 {
            fix_crc(&mut bytes);
        }
        write_verdict(out, &bytes)?;
    }
    Ok(())
}

/// Blobs that end before their input maps do, of so many inputs that numbers of 16 bits do not hold
/// the maps' bytes: maps of six bytes, and gains.
fn too_many_maps(blob: &[u8]) -> [Vec<u8>; 2] {
    [(flag::MAP_PER_INPUT, 10_923_u16), (flag::GAIN_PER_INPUT, 65_531)].map(|(maps, inputs)| {
        let mut blob = blob.to_vec();
        blob[field::FLAGS] = blob[field::FLAGS] & !flag::MAP_PER_CHANNEL | maps;
        blob[field::INPUTS..][..2].copy_from_slice(&inputs.to_le_bytes());
        fix_crc(&mut blob);
        blob
    })
}

/// The vectors of models of little work, in files `small-0.vectors` and so on.
fn write_small(folder: &Path) -> io::Result<()> {
    let little = |blob: &[u8]| Model::parse(blob).is_ok_and(|model| model.work() <= SMALL_WORK);
    let mut entries = Vec::new();
    for blob in too_many_maps(include_bytes!("../../../core/tests/tiny.koan")) {
        let mut entry = Vec::new();
        write_verdict(&mut entry, &blob)?;
        entries.push(entry);
    }
    for golden in all().iter().filter(|golden| little(&golden.blob)) {
        let mut entry = Vec::new();
        write_scores(&mut entry, golden)?;
        entries.push(entry);
    }
    for map in FeatureMap::all().map_err(io::Error::other)? {
        let mut entry = Vec::new();
        if little(&map.blob) {
            write_features(&mut entry, &map)?;
            entries.push(entry);
        }
    }
    entries.retain(|entry| entry.len() <= SMALL_BYTES);
    let (mut number, mut bytes) = (0, Vec::new());
    for entry in entries {
        if bytes.len() + entry.len() > SMALL_BYTES {
            std::fs::write(folder.join(format!("small-{number}.vectors")), &bytes)?;
            (number, bytes) = (number + 1, Vec::new());
        }
        bytes.extend(entry);
    }
    std::fs::write(folder.join(format!("small-{number}.vectors")), &bytes)
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or_else(|| io::Error::other("no folder given"))?;
    let folder = Path::new(&folder);
    let count = arguments.next().map(|count| count.parse()).transpose();
    let count = count.map_err(io::Error::other)?.unwrap_or(MUTANTS);
    std::fs::create_dir_all(folder)?;
    let create = |name| File::create(folder.join(name)).map(BufWriter::new);
    let mut golden = create("golden.vectors")?;
    all().iter().try_for_each(|model| write_scores(&mut golden, model))?;
    golden.flush()?;
    // Trained models, with more weights than a golden model has.
    let mut trained = create("trained.vectors")?;
    let models = koan_tests::golden::folder().join("../models");
    let models = koan_tests::golden::load(&models).map_err(io::Error::other)?;
    models.iter().try_for_each(|model| write_scores(&mut trained, model))?;
    trained.flush()?;
    let mut features = create("features.vectors")?;
    let maps = FeatureMap::all().map_err(io::Error::other)?;
    maps.iter().try_for_each(|map| write_features(&mut features, map))?;
    features.flush()?;
    write_small(folder)?;
    let mut mutants = create("mutants.vectors")?;
    write_mutants(&mut mutants, count)?;
    mutants.flush()
}
