//! Public functions with the values that make least sense: they answer something.

use koan::generator::{Stream, check_word};
use koan::numerics::{Scale, fixed_point, log_one_plus, sigmoid};
use koan::{
    Bank, Buffers, Conv, Error, Family, Field, Form, Gain, Group, Input, InputMap, Law, Limits,
    Model, Needs, OwnedBuffers, Predictor, Series, Task, Width, class_of,
};
use koan_golden::all;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::builder::{Builder, bank};
use crate::memory::Memory;
use crate::unchecked::exercise;

/// Numbers at the ends of what 32 bits hold, and around offsets.
const WORDS: [u32; 9] =
    [0, 1, 19, 91, 0x7fff_ffff, 0x8000_0000, u32::MAX - 8, u32::MAX - 1, u32::MAX];

fn fixed(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[test]
fn no_blob_with_any_words_is_a_model_that_answers() {
    for first in WORDS {
        for last in WORDS {
            exercise(&Model::from_words(&[], [first; 8]));
            exercise(&Model::from_words(&[], [first, first, 0, 0, 0, 0, first, last]));
            exercise(&Model::from_words(&[], [first, last, 8, 8, 8, 8, 0, u32::MAX]));
            let blob = [last as u8; 40];
            exercise(&Model::from_words(&blob, [first, last, 8, 8, 8, 8, 0, last]));
        }
    }
    assert!(Model::parse(&[]).is_err());
    assert!(Model::parse_within(&[], Limits { work: 0, memory: 0 }).is_err());
    assert!(Model::examine(&[], true).is_err() && Model::examine(&[], false).is_err());
}

/// Offsets that a word holds, in front of a model that needs everything behind the head.
#[test]
fn a_head_at_the_end_of_memory_is_none() {
    for golden in all().iter().filter(|golden| golden.blob.len() < 300) {
        let right = Model::parse(&golden.blob).unwrap().to_words();
        for place in 0..right.len() {
            for word in WORDS {
                let mut words = right;
                words[place] = word;
                exercise(&Model::from_words(&golden.blob, words));
            }
        }
    }
}

/// One tap, which parsing refuses, could be dilated for ever.
#[test]
fn a_single_tap_that_was_not_checked_is_not_dilated_for_ever() {
    // So little work that it is run: a filter at a single position.
    let banks = vec![bank(6, 4, 1, &[1, 1, 2, 0x22, 1])];
    let mut blob = Builder { inputs: 2, banks, ..Builder::default() }.blob();
    let words = Model::parse(&blob).unwrap().to_words();
    let kernel = 25 + 6 + 2;
    for taps in [0, 1] {
        blob[kernel] = taps;
        exercise(&Model::from_words(&blob, words));
    }
}

/// A blob that may be one: a golden model with some bytes changed, or any bytes.
fn blobs() -> impl Strategy<Value = Vec<u8>> {
    let mut golden: Vec<_> = all().into_iter().map(|golden| golden.blob).collect();
    golden.retain(|blob| blob.len() < 300);
    let changed = (proptest::sample::select(golden), proptest::collection::vec(any::<u32>(), 0..5));
    let changed = changed.prop_map(|(mut blob, changes)| {
        for change in changes {
            let at = change as usize % blob.len();
            blob[at] = (change >> 24) as u8;
        }
        blob
    });
    prop_oneof![3 => changed, 1 => proptest::collection::vec(any::<u8>(), 0..100)]
}

fn words() -> impl Strategy<Value = [u32; 8]> {
    let word = prop_oneof![
        2 => any::<u32>(),
        2 => 0u32..400,
        1 => proptest::sample::select(WORDS.to_vec()),
    ];
    let rest = (any::<u16>(), 0u32..6).prop_map(|(limit, banks)| u32::from(limit) | banks << 16);
    (proptest::array::uniform7(word), rest).prop_map(|([a, b, c, d, e, f, g], rest)| {
        // Buffers that there is memory for.
        [a, b, c % 5000, d % 5000, e % 5000, f % 5000, g, rest]
    })
}

proptest! {
    #![proptest_config(fixed(3000))]

    #[test]
    fn any_words_beside_any_blob_are_a_model_that_answers(blob in blobs(), words in words()) {
        exercise(&Model::from_words(&blob, words));
    }

    #[test]
    fn any_map_takes_any_number(
        offset: i32, shift: i8, log: bool, mult: u8, bits: u32, word: i16, limit: i32, logs: bool
    ) {
        let map = InputMap::new(offset, shift, log, mult);
        prop_assert_eq!(map.is_some(), (-64..64).contains(&shift));
        let map = map.unwrap_or(InputMap::OFF);
        for limit in [limit, i32::MIN, i32::MAX, 0] {
            let _ = f32::from_bits(bits).quantise(&map, limit, logs);
            let _ = word.quantise(&map, limit, logs);
            let _ = (word as u8).quantise(&map, limit, logs);
        }
        let _ = map.to_bytes();
    }

    #[test]
    fn any_shape_says_whether_it_fits(
        sizes: [u8; 5], proportion: bool, dilated: bool, transform: u8, inputs: u16
    ) {
        let [height, channels, kernel, stride, grid] = sizes;
        let conv = Conv { height, channels, kernel, stride, grid, proportion, dilated, transform };
        shape(conv, inputs);
    }

    #[test]
    fn any_scale_and_width_are_numbers(mult: u8, shift: u8, bits: u8, odd: bool, code: u32) {
        let scale = Scale::new(mult, shift);
        prop_assert_eq!(scale.map(|scale| (scale.mult(), scale.shift())), (shift < 32).then_some((mult, shift)));
        let _ = scale.map(Scale::factor);
        for bits in Width::BITS {
            let width = Width::new(bits, odd).unwrap();
            let _ = (width.value(code), width.code(), width.row_bytes(code as usize));
        }
        prop_assert_eq!(Width::new(bits, odd).is_some(), Width::BITS.contains(&bits));
    }
}

fn shape(conv: Conv, inputs: u16) {
    let _ = (conv.fits(inputs), conv.width(inputs), conv.positions(inputs), conv.taps());
    let _ = (conv.cells(), conv.filters(inputs), conv.to_bytes(), conv.dilations(inputs));
    let _ = conv.start(inputs, usize::from(inputs) << 16, usize::MAX);
}

#[test]
fn shapes_without_size_fit_nothing() {
    let zero = Conv {
        height: 0,
        channels: 0,
        kernel: 0,
        stride: 0,
        grid: 0,
        proportion: false,
        dilated: false,
        transform: 0,
    };
    let most = Conv {
        height: 255,
        channels: 255,
        kernel: 255,
        stride: 255,
        grid: 255,
        proportion: true,
        dilated: true,
        transform: 255,
    };
    for inputs in [0, 1, 255, 65_535] {
        assert!(!zero.fits(inputs) && !most.fits(inputs));
        for conv in [
            zero,
            most,
            Conv { height: 0, ..most },
            Conv { channels: 0, ..most },
            Conv { kernel: 0, ..most },
            Conv { stride: 0, ..most },
            Conv { grid: 0, ..most },
            Conv { transform: 0, ..most },
            Conv { dilated: true, ..zero },
        ] {
            shape(conv, inputs);
        }
    }
}

#[test]
fn numbers_at_their_ends_are_numbers() {
    assert!(Scale::new(255, 31).unwrap().factor() > 0.0);
    assert_eq!(Scale::new(255, 32), None);
    let width = Width::new(16, true).unwrap();
    assert_eq!((width.value(0), width.value(u32::MAX)), (-65_535, -65_537));
    assert_eq!(width.row_bytes(usize::MAX), usize::MAX.div_ceil(8));
    for exponent in [i32::MIN, -33, -1, 0, 31, 32, i32::MAX] {
        for magnitude in [0, 1, u32::MAX] {
            let value = fixed_point(false, magnitude, exponent);
            assert_eq!(fixed_point(true, magnitude, exponent), -value);
            let _ = log_one_plus(magnitude, exponent);
        }
    }
    assert_eq!((sigmoid(i8::MIN), sigmoid(i8::MAX)), (-127, 127));
    let stream = Stream::new(u64::MAX, u32::MAX);
    assert_ne!(stream.draw(u64::MAX), stream.draw(0));
    let _ = check_word(u64::MAX);
    assert_eq!((class_of(&[]), class_of(&[i32::MIN]), class_of(&[i32::MIN; 2])), (0, 0, 0));
    assert_eq!(Needs::NONE.to_string(), "");
    assert_eq!(Needs::ALL.without(Needs::ALL), Needs::NONE);
    let _ = (Bank::BYTES, Group::BYTES, Task::Features.name());
}

#[test]
fn every_family_judges_every_law() {
    let conv = Conv {
        height: 0,
        channels: 0,
        kernel: 0,
        stride: 0,
        grid: 0,
        proportion: false,
        dilated: false,
        transform: 0,
    };
    let laws = [
        Law::None,
        Law::Gaussian,
        Law::Cauchy,
        Law::Sign,
        Law::Hadamard,
        Law::Uniform,
        Law::Gamma2,
    ];
    let gain = Gain { level: 255, slope: -128 };
    for family in [
        Family::Linear,
        Family::Fourier,
        Family::Stump,
        Family::Bin { slot_bits: 255 },
        Family::Maxout { pool: 0, shared: 0 },
        Family::Sigmoid,
        Family::Conv(conv),
        Family::Fern { depth: 255 },
        Family::Series(Series {
            channels: 0,
            kernel: 0,
            dilations: 0,
            samples: gain,
            differences: gain,
        }),
    ] {
        let alone = laws.iter().filter(|law| law.suits(family, false)).count();
        assert!(alone > 0 && !family.name().is_empty() && family.code() < 9);
        let _ = laws.map(|law| law.suits(family, true));
    }
}

#[test]
fn errors_of_any_numbers_have_words() {
    let field = Field::Work;
    for number in [0, usize::MAX] {
        for error in [
            Error::Truncated { field, offset: number },
            Error::Field { field, offset: number },
            Error::RequiredSection { tag: 255, offset: number },
            Error::Length { what: "row", needed: number, given: number },
            Error::Buffer { buffer: "wide", needed: number, given: number },
            Error::SelfTest { check: "golden row", row: number },
            Error::Limit { what: "work", needed: number as u32, limit: number as u32 },
            Error::NotServed { missing: Needs::ALL },
            Error::Generator { expected: 0, actual: 1 },
        ] {
            assert!(!error.to_string().is_empty() && !format!("{error:?}").is_empty());
        }
    }
}

/// Calls with rows and results of every length up to two too many.
fn lengths<B: Buffers>(core: &mut Predictor<'_, B>) {
    let model = *core.model();
    let most = 2 + model.inputs().max(model.features()).max(model.codes()).max(model.outputs());
    let row = vec![1u8; most];
    for n in 0..most {
        for m in 0..most {
            let _ = core.features(&row[..n], &mut vec![0; m]);
            let _ = core.codes(&row[..n], &mut vec![0; m]);
            let _ = core.values(&row[..n], &mut vec![0.0; m]);
            let _ = core.probabilities(&row[..n], &mut vec![0.0; m]);
        }
        let _ = (core.scores(&row[..n]).map(<[i32]>::len), core.predict(&row[..n]));
        let _ = core.classify(&row[..n]);
    }
}

#[test]
fn rows_of_any_length_are_refused_or_answered() {
    let mut count = 0;
    for golden in all() {
        let model = Model::parse(&golden.blob).unwrap();
        if model.inputs() > 32 || model.features() > 40 || model.work() > 1000 {
            continue;
        }
        let memory = Memory::new(model.buffer_sizes(Form::Fast));
        lengths(&mut Predictor::new(model, memory).unwrap());
        count += 1;
    }
    // And without outputs.
    let banks = vec![bank(4, 3, 5, &[2, 0, 0])];
    let blob = Builder { inputs: 3, banks, ..Builder::default() }.blob();
    lengths(
        &mut Predictor::new(Model::parse(&blob).unwrap(), OwnedBuffers::<3, 0, 0, 0>::new())
            .unwrap(),
    );
    assert!(count > 10, "{count}");
}
