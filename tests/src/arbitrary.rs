//! Random models and rows.
//!
//! Structure is drawn by proptest, so that failures shrink; long lists of codes
//! are expanded from one drawn seed, so that drawing stays cheap.

use koan::numerics::Scale;
use koan::{Calibration, Conv, Family, Gain, Group, InputMap, Law, Series, Task, Width};
use koan_trainer::internal::blob::{BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec};
use koan_trainer::internal::nearest;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::random::Random;

/// A test runner whose cases depend on `seed` only.
#[must_use]
pub fn runner(cases: u32, seed: u64) -> TestRunner {
    TestRunner::new(Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    })
}

/// Every family and law that a bank may have: (family, law, grouped). Pools,
/// slots, groups and shapes are examples only, but for the length of the transform.
#[must_use]
pub fn kinds() -> Vec<(Family, Law, bool)> {
    use Law::{Cauchy, Gamma2, Gaussian, Hadamard, None, Sign, Uniform};
    let mut kinds = vec![(Family::Linear, None, false)];
    kinds.extend([Gaussian, Cauchy, Sign, Hadamard].map(|law| (Family::Fourier, law, false)));
    kinds.extend([Gaussian, Uniform].map(|law| (Family::Stump, law, false)));
    kinds.push((Family::Bin { slot_bits: 3 }, Gamma2, false));
    for law in [Gaussian, Sign, Hadamard] {
        kinds.push((Family::Maxout { pool: 3, shared: 0 }, law, false));
        kinds.push((Family::Maxout { pool: 3, shared: 20 }, law, false));
        kinds.push((Family::Sigmoid, law, false));
    }
    kinds.push((Family::Fourier, None, true));
    kinds.push((Family::Stump, None, true));
    kinds.push((Family::Bin { slot_bits: 3 }, None, true));
    let image = Conv {
        height: 8,
        channels: 1,
        kernel: 3,
        stride: 1,
        grid: 2,
        proportion: false,
        dilated: false,
        transform: 8,
    };
    for transform in [8, 16, 32, 64] {
        kinds.push((Family::Conv(Conv { transform, ..image }), Hadamard, false));
    }
    kinds.push((Family::Fern { depth: 3 }, Gaussian, false));
    kinds.push((Family::Fern { depth: 2 }, Uniform, false));
    let gain = Gain { level: 80, slope: 0 };
    let (samples, differences) = (gain, gain);
    let series = Series { channels: 1, kernel: 2, dilations: 1, samples, differences };
    kinds.push((Family::Series(series), Hadamard, false));
    kinds
}

/// The convolution of a number of inputs that is nearest to what is asked for: sizes
/// are taken down, numbers to fit the inputs.
#[must_use]
pub fn conv_of(inputs: u16, asked: Conv) -> Conv {
    let divisor = |number: u16, most: u8| {
        (1..=most.max(1)).rev().find(|&size| number.is_multiple_of(size.into())).unwrap_or(1)
    };
    let height = divisor(inputs, asked.height);
    let channels = divisor(inputs / u16::from(height), asked.channels);
    let mut conv = Conv { height, channels, ..asked };
    while !conv.fits(inputs) {
        match (conv.grid, conv.kernel, conv.stride) {
            (2.., ..) => conv.grid -= 1,
            (_, 2.., _) => conv.kernel -= 1,
            (_, _, 2..) => conv.stride -= 1,
            _ => conv.dilated = false,
        }
    }
    conv
}

/// The series of a number of inputs that is nearest to what is asked for: sizes shrink, and
/// levels become flat, until it fits.
///
/// # Panics
/// With a single input.
pub fn series_of(inputs: u16, asked: Series) -> Series {
    assert!(inputs >= 2, "a filter has two taps");
    let divides = |&size: &u8| inputs.is_multiple_of(u16::from(size)) && u16::from(size) < inputs;
    let channels = (1..=asked.channels.max(1)).rev().find(divides).unwrap_or(1);
    let mut series = Series { channels, ..asked };
    (series.kernel, series.dilations) = (series.kernel.clamp(2, 64), series.dilations.clamp(1, 16));
    while !series.fits(inputs) {
        match (series.dilations, series.kernel) {
            (2.., _) => series.dilations -= 1,
            (_, 3..) => series.kernel -= 1,
            _ => series.channels = 1,
        }
    }
    series
}

fn series(inputs: u16) -> impl Strategy<Value = Series> {
    let gain = || (any::<u8>(), -16i8..=16).prop_map(|(level, slope)| Gain { level, slope });
    (1u8..=4, 2u8..=20, 1u8..=5, gain(), gain()).prop_map(
        move |(channels, kernel, dilations, samples, differences)| {
            let asked = Series { channels, kernel, dilations, samples, differences };
            // Kinds that need two inputs are not drawn for one.
            series_of(inputs.max(2), asked)
        },
    )
}

fn conv(inputs: u16, transform: u8) -> impl Strategy<Value = Conv> {
    let sizes = (prop_oneof![Just(1u8), 1u8..=20], 1u8..=5, 1u8..=9);
    (sizes, prop_oneof![2 => Just(1u8), 1 => 1u8..=15], 1u8..=5, any::<bool>(), any::<bool>())
        .prop_map(move |((height, channels, kernel), stride, grid, proportion, dilated)| {
            let asked =
                Conv { height, channels, kernel, stride, grid, proportion, dilated, transform };
            conv_of(inputs, asked)
        })
}

/// The laws that the groups of a family may have.
#[must_use]
pub fn group_laws(family: Family) -> &'static [Law] {
    match family {
        Family::Fourier => &[Law::Gaussian, Law::Cauchy],
        Family::Stump => &[Law::Gaussian, Law::Uniform],
        Family::Bin { .. } => &[Law::Gamma2],
        _ => &[],
    }
}

/// Any positive scale up to a shift.
fn scale(max_shift: u8) -> impl Strategy<Value = Scale> {
    (1u8..=255, 0..=max_shift).prop_map(|(mult, shift)| Scale::new(mult, shift).unwrap())
}

/// Groups that cover the inputs, the first one at least with a law.
fn groups(inputs: u16, family: Family) -> impl Strategy<Value = Vec<Group>> {
    let law = prop_oneof![3 => select(group_laws(family)), 1 => Just(Law::None)];
    let first = select(group_laws(family));
    (vec((1..=inputs, law, scale(16)), 1..6), first, any::<bool>()).prop_map(
        move |(drawn, first, reversed)| {
            let mut left = inputs;
            let mut groups = Vec::new();
            for (number, (count, law, scale)) in drawn.iter().enumerate() {
                let last = number + 1 == drawn.len();
                let inputs = if last { left } else { (*count).div_ceil(2).min(left) };
                if inputs > 0 {
                    let law = if number == 0 { first } else { *law };
                    groups.push(Group { inputs, law, scale: *scale });
                }
                left -= inputs;
            }
            if reversed {
                groups.reverse();
            }
            groups
        },
    )
}

/// A bank of one of the kinds for a number of inputs.
pub fn bank_of(inputs: u16, kinds: Vec<(Family, Law, bool)>) -> impl Strategy<Value = BankSpec> {
    // A filter of a series has two taps.
    let fits = |family| inputs > 1 || !matches!(family, Family::Series(_));
    select(kinds.into_iter().filter(|&(family, ..)| fits(family)).collect::<Vec<_>>())
        .prop_flat_map(move |(family, law, grouped)| {
            let max_shift = match family {
                Family::Maxout { .. } | Family::Sigmoid => 31,
                _ => 16,
            };
            let scale = match family {
                _ if grouped || matches!(family, Family::Linear | Family::Series(_)) => {
                    Just(Scale::ONE).boxed()
                }
                // Runtimes may take a shorter way where there is nothing to scale.
                Family::Conv(_) => prop_oneof![Just(Scale::ONE), scale(max_shift)].boxed(),
                _ => scale(max_shift).boxed(),
            };
            let groups =
                if grouped { groups(inputs, family).boxed() } else { Just(Vec::new()).boxed() };
            let features = match family {
                Family::Linear => Just(inputs).boxed(),
                // Sometimes several blocks of the longest transform.
                Family::Conv(_) => prop_oneof![3 => 1u16..=70, 1 => 71u16..=200].boxed(),
                _ => (1u16..=70).boxed(),
            };
            let transform = match family {
                Family::Conv(conv) => conv.transform,
                _ => 8,
            };
            // Few long pools: they multiply the work.
            let pool = prop_oneof![8 => 1u8..=6, 1 => 7u8..=255];
            let shared = prop_oneof![8 => 1u16..=100, 1 => 101u16..=600];
            let shapes = (conv(inputs, transform), series(inputs));
            (features, scale, groups, pool, shared, 1u8..=12, shapes).prop_map(
                move |(features, scale, groups, pool, shared, slot_bits, (conv, series))| {
                    let (family, features) = match family {
                        Family::Bin { .. } => {
                            (Family::Bin { slot_bits }, features.min(4096 >> slot_bits))
                        }
                        Family::Fern { .. } => {
                            (Family::Fern { depth: 1 + slot_bits % 4 }, features)
                        }
                        Family::Maxout { shared: 0, .. } => (
                            Family::Maxout { pool, shared: 0 },
                            if pool > 6 { features.min(5) } else { features },
                        ),
                        Family::Maxout { .. } => (Family::Maxout { pool, shared }, features),
                        Family::Conv(_) => {
                            let filters = features.div_ceil(conv.cells());
                            (Family::Conv(conv), filters * conv.cells())
                        }
                        Family::Series(_) => (Family::Series(series), features),
                        other => (other, features),
                    };
                    BankSpec { family, law, features, scale, groups, kept: None }
                },
            )
        })
        .prop_flat_map(move |bank| {
            let all = if bank.family == Family::Linear { u32::from(inputs) } else { 1 << 20 };
            (Just(bank), kept(all))
        })
        .prop_map(|(mut bank, kept)| {
            if let Some(mut kept) = kept {
                // Not more: pools and slots multiply the work.
                kept.truncate(usize::from(bank.features));
                bank.features = kept.len() as u16;
                bank.kept = Some(kept);
            }
            bank
        })
}

/// No list, or some indices below `all`: near each other, far apart, or anywhere.
fn kept(all: u32) -> impl Strategy<Value = Option<Vec<u32>>> {
    let largest = prop_oneof![3 => Just(100), 2 => Just(3000), 1 => Just(1 << 20)];
    let some = largest
        .prop_flat_map(move |largest| proptest::collection::btree_set(0..all.min(largest), 1..=70));
    // So few inputs may be fewer than are asked for.
    let some = some.prop_map(|indices| Some(indices.into_iter().collect()));
    if all < 70 {
        let few = vec(any::<bool>(), all as usize).prop_map(move |chosen| {
            let kept: Vec<u32> = (0..all).filter(|&i| chosen[i as usize]).collect();
            Some(if kept.is_empty() { vec![all - 1] } else { kept })
        });
        return prop_oneof![2 => Just(None), 1 => few].boxed();
    }
    prop_oneof![2 => Just(None), 1 => some].boxed()
}

/// An input map: mostly one that leaves usual numbers unsaturated.
pub fn map() -> impl Strategy<Value = InputMap> {
    let usual = (-300f64..300.0, -5f64..9.0, any::<bool>())
        .prop_map(|(offset, gain, log)| nearest::map(offset, gain.exp2(), log));
    let any = (any::<i32>(), -64i8..=63, any::<bool>(), any::<u8>(), 0u32..32).prop_map(
        |(offset, shift, log, mult, down)| InputMap::new(offset >> down, shift, log, mult).unwrap(),
    );
    prop_oneof![3 => usual, 1 => any]
}

fn maps(inputs: u16) -> impl Strategy<Value = MapSpec> {
    prop_oneof![
        map().prop_map(MapSpec::Shared),
        vec(map(), usize::from(inputs)).prop_map(MapSpec::PerInput),
        // One input has no channels.
        vec(map(), 2..=usize::from(inputs.clamp(2, 255))).prop_map(move |maps| match inputs {
            1 => MapSpec::Shared(maps[0]),
            _ => MapSpec::PerChannel(maps),
        }),
        (map(), vec(any::<u8>(), usize::from(inputs)))
            .prop_map(|(map, gains)| MapSpec::GainPerInput(map, gains)),
    ]
}

/// `count` random codes of a width, from a seed; the extreme codes are frequent.
#[must_use]
pub fn codes(width: Width, count: usize, random: &mut Random) -> Vec<u32> {
    let levels = 1usize << width.bits();
    let code = |random: &mut Random| match random.below(16) {
        0 => 0,
        1 => levels - 1,
        _ => random.below(levels),
    };
    (0..count).map(|_| code(random) as u32).collect()
}

/// A head of so many outputs for banks.
pub fn head(banks: &[BankSpec], outputs: usize) -> impl Strategy<Value = HeadSpec> + use<> {
    let columns: Vec<_> = banks.iter().map(BankSpec::columns).collect();
    let width = (select(&Width::BITS[..]), any::<bool>());
    let bias = prop_oneof![Just(0), -1000i32..1000, any::<i32>()];
    let multiplier = prop_oneof![3 => 1u16..=300, 1 => any::<u16>(), 1 => Just(u16::MAX)];
    let (banks, seed) = (columns.len(), any::<u64>());
    let multipliers = vec(vec(multiplier, outputs), banks);
    (vec(width, banks), vec(bias, outputs), multipliers, seed, 0u8..=40, -40i32..=20).prop_map(
        move |(widths, bias, multipliers, seed, shift, scale)| {
            let mut random = Random::new(seed);
            let weights = widths.into_iter().zip(multipliers).zip(&columns);
            let weights = weights.map(|(((bits, odd), multipliers), &columns)| {
                let width = Width::new(bits, odd).unwrap();
                let codes = (0..outputs).map(|_| codes(width, columns, &mut random)).collect();
                BankWeights { width, codes, multipliers }
            });
            HeadSpec { scale: f32::powi(2.0, scale), shift, weights: weights.collect(), bias }
        },
    )
}

/// Inputs and banks. Past 515 inputs there is a bank that lowers the limit of
/// the quantised inputs.
fn banks() -> impl Strategy<Value = (u16, Vec<BankSpec>)> {
    let usual = prop_oneof![12 => 1u16..=80, 2 => 81u16..=300];
    let usual = usual.prop_flat_map(|inputs| (Just(inputs), vec(bank_of(inputs, kinds()), 1..=3)));
    let many = (516u16..=600).prop_flat_map(|inputs| {
        let limiting = kinds().into_iter().filter(|&(family, law, _)| {
            law == Law::Gaussian && matches!(family, Family::Maxout { .. } | Family::Sigmoid)
        });
        let first = bank_of(inputs, limiting.collect());
        let others = vec(bank_of(inputs, kinds()), 0..=1);
        let banks = (first, others).prop_map(|(first, mut banks)| {
            banks.push(first);
            banks
        });
        (Just(inputs), banks)
    });
    prop_oneof![30 => usual, 1 => many]
}

/// The optional parts of a model.
fn sections(spec: ModelSpec) -> impl Strategy<Value = ModelSpec> {
    let outputs = spec.head.as_ref().map_or(0, |head| head.bias.len());
    let classes = match (spec.task, outputs) {
        (Task::Classification, outputs) => outputs.max(2),
        _ => 0,
    };
    let names = prop_oneof![Just(Vec::new()).boxed(), vec("[a-zü ]{0,5}", classes).boxed()];
    let calibration = proptest::option::of((0.01f32..3.0, -5f32..5.0));
    let golden = if outputs > 0 { 0..=2usize } else { 0..=0 };
    let golden = golden.prop_flat_map({
        let inputs = usize::from(spec.inputs);
        move |count| vec(row(inputs), count)
    });
    (names, calibration, "(\\{\"a\": [0-9]{1,3}\\})?", golden).prop_map(
        move |(class_names, calibration, notes, golden_rows)| {
            let calibration = calibration.filter(|_| classes > 0);
            let calibration =
                calibration.map(|(slope, intercept)| Calibration { slope, intercept });
            ModelSpec { class_names, calibration, notes, golden_rows, ..spec.clone() }
        },
    )
}

/// A valid model of any kind.
pub fn model() -> impl Strategy<Value = ModelSpec> {
    (banks(), 0usize..=5, any::<bool>(), any::<u64>())
        .prop_flat_map(|((inputs, banks), outputs, classification, seed)| {
            let head = if outputs == 0 {
                Just(None).boxed()
            } else {
                head(&banks, outputs).prop_map(Some).boxed()
            };
            (maps(inputs), head).prop_map(move |(maps, head)| {
                let task = match (&head, classification) {
                    (None, _) => Task::Features,
                    (_, true) => Task::Classification,
                    (_, false) => Task::Regression,
                };
                let features = ModelSpec::features(seed, inputs, maps, banks.clone());
                ModelSpec { task, head, ..features }
            })
        })
        .prop_flat_map(sections)
}

/// Floats of every kind, most of them usual.
pub fn number() -> impl Strategy<Value = f32> {
    let special = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-45,
        -1e-40,
        0.0,
        -0.0,
    ];
    prop_oneof![
        6 => -300f32..300.0,
        2 => (0u8..=255).prop_map(f32::from),
        1 => any::<i16>().prop_map(f32::from),
        1 => any::<u32>().prop_map(f32::from_bits),
        1 => select(special.to_vec()),
    ]
}

/// A row of floats.
pub fn row(inputs: usize) -> impl Strategy<Value = Vec<f32>> {
    vec(number(), inputs)
}

/// Rows of every type that a model takes.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Floats, row by row.
    pub floats: Vec<Vec<f32>>,
    /// A row of words.
    pub words: Vec<i16>,
    /// A row of bytes.
    pub bytes: Vec<u8>,
}

/// A model and rows for it.
pub fn case() -> impl Strategy<Value = (ModelSpec, Rows)> {
    model().prop_flat_map(|spec| {
        let inputs = usize::from(spec.inputs);
        let words = prop_oneof![-300i16..300, any::<i16>()];
        let rows = (vec(row(inputs), 1..=3), vec(words, inputs), vec(any::<u8>(), inputs));
        let rows = rows.prop_map(|(floats, words, bytes)| Rows { floats, words, bytes });
        (Just(spec), rows)
    })
}
