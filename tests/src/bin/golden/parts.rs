//! What golden models are put together from.

use koan::numerics::Scale;
use koan::{Calibration, Family, Group, InputMap, Law, Task, Width};
use koan_tests::arbitrary::codes;
use koan_tests::golden::{Golden, GoldenRow};
use koan_tests::mutate::fix_crc;
use koan_tests::random::Random;
use koan_tests::reference::Reference;
use koan_trainer::internal::blob::{BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec};
use koan_trainer::internal::nearest;

/// A family with its parameters, a law, and whether there are groups.
pub type Kind = (Family, Law, bool);

/// q = x: the map of rows that choose their inputs themselves.
pub const SAME: InputMap = InputMap::new(0, 8, false, 128).unwrap();

/// Whether the models of a family are made in a file of their own.
pub fn of_its_own(family: Family) -> bool {
    matches!(family, Family::Conv(_) | Family::Fern { .. } | Family::Series(_))
}

/// A scale that leaves the features of usual rows (|q| about 10,000) unsaturated.
fn scale(family: Family, law: Law) -> Scale {
    let (mult, shift) = match (family, law) {
        (Family::Linear | Family::Series(_), _) | (_, Law::None) => (1, 0),
        (Family::Fourier, Law::Gaussian) => (201, 13),
        (Family::Fourier, Law::Cauchy) => (77, 14),
        (Family::Fourier, _) => (93, 7),
        (Family::Stump | Family::Fern { .. }, Law::Gaussian) => (113, 0),
        (Family::Stump | Family::Fern { .. }, _) => (251, 2),
        (Family::Bin { .. }, _) => (11, 8),
        (Family::Maxout { .. }, Law::Gaussian) => (177, 22),
        (Family::Maxout { .. }, _) => (91, 16),
        (Family::Sigmoid, Law::Gaussian) => (147, 22),
        (Family::Sigmoid, _) => (29, 14),
        // Convolutions.
        _ => (27, 6),
    };
    Scale::new(mult, shift).unwrap()
}

/// Three or four groups; the second one is left out.
fn groups(family: Family, inputs: u16) -> Vec<Group> {
    let laws = match family {
        Family::Fourier => [Law::Gaussian, Law::None, Law::Cauchy, Law::Gaussian],
        Family::Stump => [Law::Gaussian, Law::None, Law::Uniform, Law::Gaussian],
        _ => [Law::Gamma2, Law::None, Law::Gamma2, Law::Gamma2],
    };
    let mut left = inputs;
    let mut groups = Vec::new();
    for (number, law) in laws.into_iter().enumerate() {
        let inputs = if number == 3 { left } else { left.div_ceil(3) };
        groups.push(Group { inputs, law, scale: scale(family, law) });
        left -= inputs;
    }
    groups
}

/// A bank of a kind with a usual scale and all its features.
pub fn bank((family, law, grouped): Kind, inputs: u16, features: u16) -> BankSpec {
    BankSpec {
        family,
        law,
        features: if family == Family::Linear { inputs } else { features },
        scale: scale(family, law),
        groups: if grouped { groups(family, inputs) } else { Vec::new() },
        kept: None,
    }
}

/// The bank with a list of kept features, each at most `far` behind the one before.
pub fn kept(mut bank: BankSpec, far: usize, inputs: u16, random: &mut Random) -> BankSpec {
    let mut indices = Vec::new();
    let mut index = random.below(2) as u32;
    while indices.len() < usize::from(bank.features) {
        if bank.family == Family::Linear && index >= u32::from(inputs) {
            break;
        }
        indices.push(index);
        // Linear: of few inputs many.
        let far = if bank.family == Family::Linear { 2 } else { far };
        index += 1 + random.below(far) as u32;
    }
    bank.features = indices.len() as u16;
    BankSpec { kept: Some(indices), ..bank }
}

/// The name of a kind in file names.
pub fn kind_name((family, law, grouped): Kind) -> String {
    match (family, grouped) {
        (Family::Linear, _) => "linear".to_owned(),
        (_, true) => format!("{}-grouped", family.name()),
        (Family::Maxout { shared: 1.., .. }, _) => format!("maxout-{}-shared", law.name()),
        _ => format!("{}-{}", family.name(), law.name()),
    }
}

/// 5 to 24 inputs: fewer and more than a draw of bytes or a block has.
pub fn inputs_of(number: usize) -> u16 {
    5 + (number * 7 % 20) as u16
}

fn maps(number: usize, inputs: u16, random: &mut Random) -> MapSpec {
    let log = nearest::map(3.0, 4000.0, true);
    let per_input = |_| match random.below(4) {
        0 => log,
        _ => nearest::map(random.between(-50.0, 200.0), random.between(40.0, 160.0), false),
    };
    match number % 3 {
        0 => MapSpec::Shared(nearest::map(100.0, 90.0, false)),
        1 => MapSpec::Shared(log),
        _ => MapSpec::PerInput((0..inputs).map(per_input).collect()),
    }
}

/// Drawn weights, and a shift that makes scores of about 2^15.
pub fn head(banks: &[BankSpec], width: Width, outputs: usize, random: &mut Random) -> HeadSpec {
    let linear = |bank: &BankSpec| bank.family == Family::Linear;
    let any_linear = banks.iter().any(linear);
    let weights = banks.iter().map(|bank| BankWeights {
        width,
        codes: (0..outputs).map(|_| codes(width, bank.columns(), random)).collect(),
        multipliers: (0..outputs)
            .map(|_| {
                // Beside linear features, which are of 16 bits, those of 8 count as much.
                let more = if any_linear && !linear(bank) { 200 } else { 1 };
                more * (100 + random.below(200) as u16)
            })
            .collect(),
    });
    // Of a sum: 2^7 or 2^15 of a feature, 2^bits of a weight, 2^8 of a multiplier.
    let excess = if banks.len() * outputs > 1 { 2 } else { -6 };
    let shift = width.bits() as i8 + excess + if any_linear { 8 } else { 0 };
    HeadSpec {
        scale: 0.001,
        shift: shift.max(0) as u8,
        weights: weights.collect(),
        bias: (0..outputs).map(|_| random.below(2001) as i32 - 1000).collect(),
    }
}

/// Rows of bytes, words, floats, and of numbers at the limits.
pub fn rows(number: usize, inputs: usize, random: &mut Random) -> Vec<Vec<f32>> {
    let extreme = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        -1e-45,
        f32::MIN,
        -32768.0,
        -0.0,
        32767.0,
        1.5,
    ];
    let mut make = |each: &dyn Fn(&mut Random, usize) -> f64| -> Vec<f32> {
        (0..inputs).map(|i| each(random, i) as f32).collect()
    };
    vec![
        make(&|random, _| random.below(256) as f64),
        make(&|random, _| random.below(600) as f64 - 200.0),
        make(&|random, _| (random.between(-50.0, 250.0) * 100.0).round() / 100.0),
        make(&|_, i| f64::from(extreme[(number + 3 * i) % extreme.len()])),
    ]
}

/// The blob of a spec, with the digest of the reference instead of the core's.
///
/// # Panics
/// When the core refuses the spec, or has scored its golden rows otherwise.
pub fn blob_of(name: &str, spec: &ModelSpec) -> (Vec<u8>, Reference) {
    let mut blob = spec.encode().unwrap_or_else(|error| panic!("{name}: {error}"));
    let reference = Reference::parse(&blob).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (row, scores) in reference.sections.golden_rows.iter().flatten() {
        assert_eq!(&reference.scores(row), scores, "{name}: a golden row");
    }
    let digest = blob.len() - 8;
    blob[digest..digest + 4].copy_from_slice(&reference.digest().to_le_bytes());
    fix_crc(&mut blob);
    (blob, reference)
}

/// The spec's blob with the reference's scores.
pub fn golden(name: String, spec: &ModelSpec, rows: Vec<Vec<f32>>) -> Golden {
    let (blob, reference) = blob_of(&name, spec);
    let rows = rows.into_iter().map(|row| GoldenRow { scores: reference.scores(&row), row });
    Golden { name, blob, rows: rows.collect() }
}

/// A model of a usual number of inputs.
pub fn small(
    number: usize,
    name: &str,
    banks: Vec<BankSpec>,
    width: Width,
    outputs: usize,
) -> Golden {
    sized(number, name, inputs_of(number), banks, width, outputs)
}

/// A model with maps, sections, weights and rows that follow from its number.
pub fn sized(
    number: usize,
    name: &str,
    inputs: u16,
    banks: Vec<BankSpec>,
    width: Width,
    outputs: usize,
) -> Golden {
    let mut random = Random::new(number as u64);
    let seed = random.bits();
    let maps = maps(number, inputs, &mut random);
    let head = head(&banks, width, outputs, &mut random);
    let rows = rows(number, usize::from(inputs), &mut random);
    let task = if number % 4 < 2 { Task::Regression } else { Task::Classification };
    let mut spec = ModelSpec::features(seed, inputs, maps, banks);
    spec.task = task;
    spec.head = Some(head);
    // Some with every section, so that readers meet them all.
    if number % 4 == 2 {
        let classes = outputs.max(2);
        spec.class_names = (0..classes).map(|class| format!("class {class}")).collect();
        spec.calibration = Some(Calibration { slope: 1.5, intercept: -0.25 });
        spec.notes = "{}".to_owned();
        spec.golden_rows = vec![rows[2].clone()];
    }
    let parity = if width.odd() { "odd" } else { "even" };
    golden(format!("{name}-w{}{parity}-t{outputs}", width.bits()), &spec, rows)
}

/// A regression whose only score is an exact sum with weights of which none is 0: any
/// feature that differs shows. (Of very many columns short weights, of which some are
/// equal.)
pub fn exact(
    name: &str,
    seed: u64,
    inputs: u16,
    maps: MapSpec,
    bank: BankSpec,
    rows: Vec<Vec<f32>>,
) -> Golden {
    let width = Width::new(if bank.columns() > 1000 { 2 } else { 8 }, true).unwrap();
    let codes = codes(width, bank.columns(), &mut Random::new(seed));
    let mut spec = ModelSpec::features(seed, inputs, maps, vec![bank]);
    spec.task = Task::Regression;
    spec.head = Some(HeadSpec {
        scale: 0.001,
        shift: 0,
        weights: vec![BankWeights { width, codes: vec![codes], multipliers: vec![1] }],
        bias: vec![0],
    });
    golden(format!("edge-{name}"), &spec, rows)
}
