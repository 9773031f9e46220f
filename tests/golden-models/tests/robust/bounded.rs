//! Blobs of a few bytes that ask for too much.
//!
//! Each is the like of a file that once showed a fault; those files, of the format as it was
//! then, are in `tests/repro`.

use std::fs;
use std::path::Path;

use koan::format::{MAX_WORK, field};
use koan::{Any, Error, Field, Form, Limits, Model, OwnedBuffers, Predictor, Profile, Small};

use crate::builder::{Builder, bank, section};
use crate::memory::Memory;
use crate::mutate::fix_crc;
use crate::reference::Reference;
use crate::unchecked::describe;

const FIRST_BANK: usize = 25;

/// Codes of families and laws.
const LINEAR: u8 = 0;
const FOURIER: u8 = 1;
const BIN: u8 = 3;
const MAXOUT: u8 = 4;
const CONV: u8 = 6;
const NONE: u8 = 0;
const GAUSSIAN: u8 = 1;
const HADAMARD: u8 = 4;
const GAMMA2: u8 = 6;

/// What both parsers refuse, and why the core does.
fn refusal(blob: &[u8]) -> (Field, usize) {
    assert!(Reference::parse(blob).is_err());
    match Model::parse(blob) {
        Err(Error::Field { field, offset } | Error::Truncated { field, offset }) => (field, offset),
        other => panic!("{other:?}"),
    }
}

/// Grids times slots times outputs times bits is far beyond 32 bits.
#[test]
fn weights_that_no_32_bits_count_are_refused() {
    let bins = |slot_bits, grids| Builder {
        inputs: 1,
        outputs: 255,
        banks: vec![bank(BIN, GAMMA2, grids, &[slot_bits])],
        ..Builder::default()
    };
    assert_eq!(refusal(&bins(12, 65_535).blob()), (Field::BankFeatures, FIRST_BANK + 2));
    assert_eq!(refusal(&bins(15, 65_535).blob()), (Field::BinSlotBits, FIRST_BANK + 6));
    // The most columns that there may be, with the widest weights: these are missing.
    let mut most = bins(12, 256);
    most.banks[0][1] = 4;
    let head = FIRST_BANK + 7 + 5 + 4 * 255 + 2 * 255;
    assert_eq!(refusal(&most.blob()), (Field::Weights, head));
    // One grid more in another bank.
    most.banks.push(bank(BIN, GAMMA2, 1, &[12]));
    assert_eq!(refusal(&most.blob()), (Field::BankFeatures, FIRST_BANK + 7 + 2));
}

#[test]
fn more_features_than_fit_are_refused_in_as_many_banks() {
    let banks = vec![bank(FOURIER, GAUSSIAN, 65_535, &[]), bank(FOURIER, GAUSSIAN, 1, &[])];
    let blob = Builder { inputs: 1, banks, ..Builder::default() }.blob();
    assert_eq!(refusal(&blob), (Field::BankFeatures, FIRST_BANK + 6 + 2));
    let banks = vec![bank(LINEAR, NONE, 1, &[]); 256];
    let blob = Builder { inputs: 1, banks, ..Builder::default() }.blob();
    assert_eq!(refusal(&blob).0, Field::Banks);
}

/// Blobs of some 40 bytes, a row of which once took more than half an hour.
#[test]
fn work_of_hours_is_refused_by_name() {
    let most = 65_535;
    let banks = [
        // Units of 255 projections each, of as many inputs as there can be.
        bank(MAXOUT, GAUSSIAN, most, &[255, 0, 0]),
        bank(MAXOUT, GAUSSIAN, 1, &[1, 0xff, 0xff]),
        // A window of 128 × 128 pixels on an image of 255 × 257.
        bank(CONV, HADAMARD, most, &[255, 1, 128, 1, 1]),
        bank(CONV, HADAMARD, most, &[255, 1, 128, 0xc1, 1]),
        bank(FOURIER, GAUSSIAN, 4096, &[]),
    ];
    for bank in banks {
        let blob = Builder { inputs: most, banks: vec![bank], ..Builder::default() }.blob();
        assert!(blob.len() < 50);
        assert_eq!(refusal(&blob), (Field::Work, FIRST_BANK));
    }
}

/// All of the banks count: of these the last one is too much.
#[test]
fn work_is_refused_where_it_is_too_much() {
    let inputs = 65_535;
    let of = |count| {
        let banks = vec![bank(FOURIER, GAUSSIAN, 200, &[]); count];
        Builder { inputs, banks, ..Builder::default() }.blob()
    };
    let work = |blob: &[u8]| Model::parse(blob).unwrap().work() - u32::from(inputs);
    let each = work(&of(1));
    let most = (MAX_WORK - u32::from(inputs)) / each;
    assert!(most > 1);
    assert_eq!(work(&of(most as usize)), most * each);
    let last = FIRST_BANK + 6 * most as usize;
    assert_eq!(refusal(&of(most as usize + 1)), (Field::Work, last));
}

/// A classifier that fits the buffers of a microcontroller and keeps it busy for long.
fn busy(features: u16, pool: u8) -> Vec<u8> {
    let banks = vec![bank(MAXOUT, GAUSSIAN, features, &[pool, 0, 0])];
    let weights = (2 * usize::from(features)).div_ceil(8);
    Builder { inputs: 128, outputs: 1, banks, weights, ..Builder::default() }.blob()
}

#[test]
fn small_buffers_do_not_hide_much_work() {
    assert_eq!(refusal(&busy(16_100, 255)), (Field::Work, FIRST_BANK));
    let blob = busy(16_100, 10);
    let model = Model::parse(&blob).unwrap();
    let sizes = model.buffer_sizes(Form::Fast);
    assert_eq!((sizes.inputs, sizes.block, sizes.wide, sizes.outputs), (128, 0, 0, 1));
    let needed = model.work();
    assert_eq!(u64::from(needed), Reference::parse(&blob).unwrap().work());
    assert!(needed > 128 * 16_100 * 10);
    for work in [0, 1 << 20, needed - 1] {
        let refused = Error::Limit { what: "work", needed, limit: work };
        let limits = Limits { work, ..Limits::NONE };
        assert_eq!(Model::parse_within(&blob, limits).err(), Some(refused));
    }
    let limits = Limits { work: needed, ..Limits::NONE };
    assert!(Model::parse_within(&blob, limits).is_ok());
}

#[test]
fn little_work_does_not_hide_large_buffers() {
    let banks = vec![bank(MAXOUT, HADAMARD, 1, &[1, 0xff, 0xff])];
    let blob = Builder { inputs: 1, banks, ..Builder::default() }.blob();
    let model = Model::parse(&blob).unwrap();
    let needed = 2 + 4 * 65_536;
    assert_eq!(model.buffer_sizes(Form::Fast).bytes(), needed as usize);
    let limits = Limits { memory: needed - 1, ..Limits::NONE };
    let refused = Error::Limit { what: "memory", needed, limit: limits.memory };
    assert_eq!(Model::parse_within(&blob, limits).err(), Some(refused));
    let limits = Limits { memory: needed, ..Limits::NONE };
    assert!(Model::parse_within(&blob, limits).is_ok());
}

/// A row of a model, in a form.
fn scores<P: Profile>(model: &Model<'_>, row: &[f32]) -> Result<Vec<i32>, Error> {
    let memory = Memory::new(model.buffer_sizes(P::FORM));
    let mut core = Predictor::<_, P>::serving(*model, memory)?;
    core.self_test()?;
    core.scores(row).map(<[i32]>::to_vec)
}

/// A linear model of one input, with as many golden rows as a section holds, behind unknown
/// sections without a byte.
fn behind_sections(count: usize) -> Vec<u8> {
    let mut sections = section(5, &[]).repeat(count);
    sections.extend(section(3, &[0; 8 * 8191]));
    let mut model = Builder {
        inputs: 1,
        outputs: 1,
        banks: vec![bank(LINEAR, NONE, 1, &[])],
        weights: 1,
        sections,
        digest: 0,
    };
    let blob = model.blob();
    let mut core =
        Predictor::new(Model::parse(&blob).unwrap(), OwnedBuffers::<1, 0, 0, 1>::new()).unwrap();
    model.digest = core.golden_digest().unwrap();
    model.blob()
}

/// The sections are walked some times for a model, not for each of its 16,382 numbers: that
/// would take minutes here.
#[test]
fn sections_in_front_of_golden_rows_do_not_multiply_a_self_test() {
    let without = behind_sections(0);
    let blob = behind_sections(2_000_000);
    let expected = scores::<Any>(&Model::parse(&without).unwrap(), &[0.5]);
    assert!(expected.is_ok());
    let model = Model::parse(&blob).unwrap();
    assert_eq!(model.golden_rows(), 8191);
    assert_eq!(scores::<Any>(&model, &[0.5]), expected);
    assert_eq!(scores::<Small>(&model, &[0.5]), expected);
    // Neither do they count as work of a prediction.
    assert_eq!(model.work(), Model::parse(&without).unwrap().work());
}

/// The small form transforms in parts, each of all inputs: that must not be much more than the work
/// that a model declares, which is that of whole transforms.
#[test]
fn parts_of_transforms_take_about_as_long_as_whole_ones() {
    for inputs in [1u16, 8, 100, 255, 256, 2048, 2049, 4096, 16_384, 65_535] {
        let banks = vec![bank(FOURIER, HADAMARD, 1, &[])];
        let blob = Builder { inputs, banks, ..Builder::default() }.blob();
        let model = Model::parse(&blob).unwrap();
        let whole = usize::from(inputs).next_power_of_two().max(8);
        let part = model.buffer_sizes(Form::Small).block;
        let steps = whole / part * usize::from(inputs) + whole * part.ilog2() as usize;
        assert!(steps <= 2 * whole * whole.ilog2() as usize, "{inputs} inputs: {steps} steps");
    }
}

/// Inputs find their map whatever their number is, as they do where a row is mapped.
#[test]
fn maps_of_channels_come_again() {
    let mut blob = Builder {
        inputs: 65_535,
        banks: vec![bank(FOURIER, HADAMARD, 1, &[])],
        ..Builder::default()
    }
    .blob();
    blob[field::FLAGS] |= 6;
    let maps: Vec<u8> = (1..=3).flat_map(|gain| [0, 0, 0, 0, 64, gain]).collect();
    blob.splice(field::INPUT_MAP..FIRST_BANK, [3].into_iter().chain(maps));
    fix_crc(&mut blob);
    let model = Model::parse(&blob).unwrap();
    for input in 0..model.inputs() {
        assert_eq!(usize::from(model.input_map(input).mult()), input % 3 + 1);
    }
    assert_eq!(model.input_map(65_535).mult(), 0);
}

/// The format takes any text for a name: whoever prints it has to mind what is in it.
#[test]
fn names_with_escapes_are_given_as_they_are() {
    let named = |names: &[u8]| Builder {
        inputs: 2,
        outputs: 2,
        banks: vec![bank(LINEAR, NONE, 2, &[])],
        weights: 2,
        sections: section(1, names),
        ..Builder::default()
    };
    let blob = named(b"\x1b[2J\x1b[31mred\x1b]0;owned\x07\n=cmd|'/c calc'!A1").blob();
    let model = Model::parse(&blob).unwrap();
    assert_eq!(model.class_name(0), Some("\x1b[2J\x1b[31mred\x1b]0;owned\x07"));
    assert_eq!(model.class_name(1), Some("=cmd|'/c calc'!A1"));
    assert_eq!(model.class_name(2), None);
    let blob = named(b"\xff\xfe\n\x80").blob();
    assert_eq!(Model::parse(&blob).unwrap().class_name(0), None);
    assert_eq!(refusal(&named(b"one\ntwo\nthree").blob()).0, Field::ClassNames);
}

/// The files of an older format, under the same magic and version: whether they still are
/// models does not matter.
#[test]
fn the_old_files_are_refused_or_bounded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../repro");
    let mut accepted = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let blob = fs::read(&path).unwrap();
        count += 1;
        if let Ok(model) = Model::parse(&blob) {
            describe(&model);
            assert!(model.work() < 100_000);
            let row = vec![1.0; model.inputs()];
            assert_eq!(scores::<Any>(&model, &row), scores::<Small>(&model, &row));
            accepted.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    assert_eq!(count, 7);
    accepted.sort();
    // A linear bank is what it was.
    assert_eq!(accepted, ["esc_names", "sections_fixed_1000"]);
}
