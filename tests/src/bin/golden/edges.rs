//! Models at the edges of the specification, each for mistakes that usual models let
//! pass.

use koan::numerics::Scale;
use koan::{Conv, Family, Law, Task, Width};
use koan_tests::arbitrary::codes;
use koan_tests::golden::Golden;
use koan_tests::random::Random;
use koan_tests::reference::{self, Reference, conv, features};
use koan_trainer::internal::blob::{BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec};
use koan_trainer::internal::nearest;

use crate::parts::{Kind, SAME, bank, exact, golden, kind_name, rows};
use crate::shapes::{IMAGE, kind};

fn plain(family: Family, law: Law, features: u16, mult: u8, shift: u8) -> BankSpec {
    let scale = Scale::new(mult, shift).unwrap();
    BankSpec { family, law, features, scale, groups: Vec::new(), kept: None }
}

fn usual_map() -> MapSpec {
    MapSpec::Shared(nearest::map(100.0, 90.0, false))
}

/// A model of one bank with usual rows.
fn usual(name: &str, seed: u64, inputs: u16, bank: BankSpec) -> Golden {
    let rows = rows(seed as usize, usize::from(inputs), &mut Random::new(seed));
    exact(name, seed, inputs, usual_map(), bank, rows)
}

/// Rows of many inputs, in short texts: some of them at the limits of q.
fn long_rows(inputs: u16, random: &mut Random) -> Vec<Vec<f32>> {
    let mut row = |numbers: &[f32]| -> Vec<f32> {
        (0..inputs).map(|_| numbers[random.below(numbers.len())]).collect()
    };
    vec![row(&[0.0, 9.0, 60.0, 99.0, 255.0]), row(&[-700.0, 700.0]), row(&[0.5, -900.0, 900.0])]
}

/// So many inputs that q is limited, and so many projections that their draws have
/// numbers above 2^32.
fn limits() -> Vec<Golden> {
    let mut random = Random::new(31);
    let (pool, shared) = (60, 0);
    let maxout = plain(Family::Maxout { pool, shared }, Law::Gaussian, 4, 181, 27);
    let far = BankSpec { kept: Some(vec![0, 1, 700, (1 << 20) - 1]), ..maxout };
    let sigmoid = plain(Family::Sigmoid, Law::Gaussian, 19, 147, 26);
    [("limit-maxout-gaussian", 560, far), ("limit-sigmoid-gaussian", 531, sigmoid)]
        .map(|(name, inputs, bank)| {
            let rows = long_rows(inputs, &mut random);
            exact(name, u64::from(inputs), inputs, usual_map(), bank, rows)
        })
        .into()
}

/// Three inputs, of which a transform has 8 rows nevertheless.
fn few_inputs() -> Vec<Golden> {
    let families = [
        Family::Fourier,
        Family::Maxout { pool: 3, shared: 0 },
        Family::Maxout { pool: 3, shared: 20 },
        Family::Sigmoid,
    ];
    let model = |(number, family)| {
        let kind: Kind = (family, Law::Hadamard, false);
        let name = format!("few-inputs-{}", kind_name(kind));
        usual(&name, 40 + number as u64, 3, bank(kind, 3, 29))
    };
    families.into_iter().enumerate().map(model).collect()
}

/// Biases, alone and with small projections, of so many features that every argument of
/// the sigmoid occurs.
fn biases() -> Golden {
    let bank = plain(Family::Sigmoid, Law::Gaussian, 250, 255, 18);
    let rows = [0, 1, 5, 13, 29, 61, 127, 255, -300].map(|x: i16| vec![f32::from(x)]);
    exact("sigmoid-biases", 68, 1, MapSpec::Shared(SAME), bank, rows.into())
}

/// A parsed model of a bank without outputs, to see what the reference draws for it.
fn drawn(seed: u64, inputs: u16, bank: &BankSpec) -> Reference {
    let spec = ModelSpec::features(seed, inputs, MapSpec::Shared(SAME), vec![bank.clone()]);
    let blob = spec.encode().expect("a valid model");
    Reference::parse(&blob).expect("a valid model")
}

/// Proportions of single positions whose phases, multiples of 16, are 0, the last one
/// below it, and those around half a turn.
fn phases_of_zero() -> Golden {
    const SERIES: u16 = 16;
    let shape =
        Conv { height: 1, kernel: 1, grid: SERIES as u8, proportion: true, transform: 8, ..IMAGE };
    let (family, law, _) = kind(shape);
    let bank = plain(family, law, SERIES * SERIES, 1, 0);
    let seed = 61;
    let reference = drawn(seed, SERIES, &bank);
    let drawn = &reference.banks[0];
    let reference::Family::Conv(shape) = &drawn.family else { unreachable!() };
    // Position x sees input x only, with the sign of the block; filter x gets the phase.
    let row = |phase: i64| -> Vec<f32> {
        (0..usize::from(SERIES))
            .map(|x| {
                let sign = conv::signs(drawn, shape, seed, x / 8)[0];
                let input = sign * (phase - features::offset(drawn, seed, x));
                f32::from(input as i16)
            })
            .collect()
    };
    let mut rows: Vec<_> = [0, -16, (1 << 15) - 16, 1 << 15].map(row).into();
    rows.push((0..SERIES).map(|x| f32::from(x * 16)).collect());
    exact("conv-phase-zero", seed, SERIES, MapSpec::Shared(SAME), bank, rows)
}

/// Sums that are as large as they can be, of a convolution's window, and of transforms
/// of as many inputs as have twelve bits, and of one more.
fn largest_sums() -> Vec<Golden> {
    let shape = Conv { height: 1, kernel: 64, grid: 1, transform: 64, ..IMAGE };
    let (family, law, _) = kind(shape);
    let fourier = |features| plain(Family::Fourier, Law::Hadamard, features, 1, 0);
    [
        ("conv-largest-sums", 66, plain(family, law, 64, 1, 0)),
        ("largest-sums-255", 255, fourier(260)),
        ("largest-sums-256", 256, fourier(260)),
    ]
    .map(|(name, inputs, bank)| {
        let seed = 66 + u64::from(inputs);
        let reference = drawn(seed, inputs, &bank);
        let drawn = &reference.banks[0];
        let signs = match &drawn.family {
            reference::Family::Conv(shape) => conv::signs(drawn, shape, seed, 0),
            _ => {
                let weights = features::weights_stream(drawn, seed);
                let d = usize::from(inputs);
                (0..d).map(|i| features::weight(drawn, &weights, 0, i, d)).collect()
            }
        };
        // The numbers of the window at `first` all count in one direction in row r.
        let row = |first: usize, r: usize, size: f32| -> Vec<f32> {
            let sign = |i: usize| signs[i] * features::hadamard(r, i);
            (0..usize::from(inputs))
                .map(|i| match i.checked_sub(first).filter(|i| *i < signs.len()) {
                    Some(i) => sign(i) as f32 * size,
                    None => -32768.0,
                })
                .collect()
        };
        let rows = vec![
            row(0, 0, 32767.0),
            row(0, 0, -32767.0),
            row(1, 0, 32767.0),
            row(1, 13, -32767.0),
            row(2, 63, -32767.0),
            (0..inputs).map(|x| f32::from(x % 86 * 3)).collect(),
        ];
        exact(name, seed, inputs, MapSpec::Shared(SAME), bank, rows)
    })
    .into()
}

/// Inputs that equal thresholds.
fn thresholds(law: Law, seed: u64) -> Golden {
    const INPUTS: u16 = 6;
    let bank = plain(Family::Stump, law, 90, 1, 0);
    let reference = drawn(seed, INPUTS, &bank);
    let equal = |nth: usize| -> Vec<f32> {
        let stumps = (0..90).map(|k| features::stump(&reference.banks[0], seed, k, INPUTS.into()));
        let stumps: Vec<_> = stumps.collect();
        (0..usize::from(INPUTS))
            .map(|i| {
                let mut its = stumps.iter().filter(|(input, ..)| *input == i);
                its.nth(nth).map_or(0.0, |&(_, _, threshold)| threshold as f32)
            })
            .collect()
    };
    let bytes = (0..INPUTS).map(|i| f32::from(9 * i)).collect();
    let rows = vec![equal(0), equal(1), equal(7), equal(13), bytes];
    let name = format!("thresholds-{}", law.name());
    exact(&name, seed, INPUTS, MapSpec::Shared(SAME), bank, rows)
}

/// Projections whose half is to be rounded, up, also below 0.
fn halves() -> Golden {
    let bank = plain(Family::Maxout { pool: 2, shared: 0 }, Law::Sign, 40, 1, 1);
    let mut random = Random::new(63);
    let mut row = |least: i32, count: usize| -> Vec<f32> {
        (0..5).map(|_| (least + random.below(count) as i32) as f32).collect()
    };
    let rows = vec![row(0, 20), row(-20, 40), row(-20, 40), row(-100, 200)];
    exact("halves", 63, 5, MapSpec::Shared(SAME), bank, rows)
}

/// Slots of other numbers of bits than 3; one of so many grids and so wide inputs that
/// every entry of the table of pitches shows, one whose inputs are saturated before they
/// are divided.
fn slots() -> Vec<Golden> {
    let bin = |slot_bits, features, mult, shift| {
        plain(Family::Bin { slot_bits }, Law::Gamma2, features, mult, shift)
    };
    let mut random = Random::new(71);
    let mut bytes = || (0..33).map(|_| random.below(256) as f32).collect();
    let mut many = rows(71, 33, &mut Random::new(71));
    many.extend((0..12).map(|_| bytes()));
    vec![
        exact("bin-1-bit", 71, 33, usual_map(), bin(1, 256, 2, 0), many),
        usual("bin-8-bits", 72, 9, bin(8, 3, 37, 2)),
        usual("bin-12-bits", 73, 6, BankSpec { kept: Some(vec![5]), ..bin(12, 1, 11, 8) }),
    ]
}

/// Wide pools, shared pools of several transforms, two banks with pools.
fn pools() -> Vec<Golden> {
    let maxout = |pool, shared, law, features, mult, shift| {
        plain(Family::Maxout { pool, shared }, law, features, mult, shift)
    };
    let mut models = vec![
        usual("pool-40-gaussian", 81, 9, maxout(40, 0, Law::Gaussian, 11, 177, 22)),
        usual("pool-40-sign", 82, 13, maxout(40, 0, Law::Sign, 11, 91, 16)),
        usual("pool-255-hadamard", 83, 11, maxout(255, 0, Law::Hadamard, 7, 91, 16)),
        usual("pool-shared-1", 84, 7, maxout(3, 1, Law::Sign, 9, 91, 16)),
    ];
    let two =
        [maxout(40, 200, Law::Hadamard, 37, 91, 16), maxout(5, 90, Law::Gaussian, 21, 177, 22)];
    let inputs = 20;
    let width = Width::new(8, true).unwrap();
    let mut random = Random::new(85);
    let weights = two.iter().map(|bank| BankWeights {
        width,
        codes: (0..2).map(|_| codes(width, bank.columns(), &mut random)).collect(),
        multipliers: vec![3, 5],
    });
    let head = HeadSpec { scale: 0.5, shift: 1, weights: weights.collect(), bias: vec![-9, 9] };
    let mut spec = ModelSpec::features(85, inputs, usual_map(), two.clone().into());
    spec.task = Task::Classification;
    spec.head = Some(head);
    let rows = rows(85, inputs.into(), &mut random);
    models.push(golden("edge-pools-of-two-banks".to_owned(), &spec, rows));
    models
}

/// Scores beyond the i32 range, before and after the bias.
fn saturated_scores() -> Golden {
    let (inputs, width) = (4, Width::new(16, false).unwrap());
    let bank = plain(Family::Linear, Law::None, inputs, 1, 0);
    let codes = |code: u32| vec![code; usize::from(inputs)];
    let most = (1 << 16) - 1;
    let head = HeadSpec {
        scale: 0.001,
        shift: 1,
        weights: vec![BankWeights {
            width,
            codes: vec![codes(most), codes(most), codes(most), codes(most), codes(0)],
            multipliers: vec![65_535, 65_534, 65_533, 65_532, 65_531],
        }],
        bias: vec![-1000, 1000, i32::MIN, i32::MAX, 7],
    };
    let mut spec = ModelSpec::features(91, inputs, MapSpec::Shared(SAME), vec![bank]);
    spec.task = Task::Regression;
    spec.head = Some(head);
    let rows = vec![
        vec![255.0, 200.0, 100.0, 0.0],
        vec![-32767.0, -32000.0, -300.0, 9.0],
        vec![32767.0, 32767.0, 32767.0, 32767.5],
        vec![0.0, 1.0, 0.0, 0.0],
    ];
    golden("edge-scores".to_owned(), &spec, rows)
}

/// Features with the last indices that there are, and every entry of the Cauchy table.
fn tables_and_indices() -> Vec<Golden> {
    let last = (1 << 20) - 1;
    let far = |law| BankSpec {
        kept: Some(vec![0, 65_535, 65_536, 92_683, 600_000, last - 1, last]),
        ..bank((Family::Fourier, law, false), 11, 7)
    };
    let stumps = plain(Family::Stump, Law::Gaussian, 3, 113, 0);
    vec![
        usual("last-indices-hadamard", 95, 11, far(Law::Hadamard)),
        usual("last-indices-sign", 96, 11, far(Law::Sign)),
        usual(
            "last-indices-stump",
            97,
            11,
            BankSpec { kept: Some(vec![0, 70_000, last]), ..stumps },
        ),
        usual("cauchy", 98, 23, bank((Family::Fourier, Law::Cauchy, false), 23, 170)),
    ]
}

pub fn models() -> Vec<Golden> {
    let mut models = limits();
    models.extend(few_inputs());
    models.push(biases());
    models.push(phases_of_zero());
    models.extend(largest_sums());
    models.push(thresholds(Law::Gaussian, 62));
    models.push(thresholds(Law::Uniform, 65));
    models.push(halves());
    models.extend(slots());
    models.extend(pools());
    models.push(saturated_scores());
    models.extend(tables_and_indices());
    models
}
