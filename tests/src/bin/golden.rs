//! Rewrites the golden models, on purpose: `cargo run -p koan-tests --bin golden`.
//!
//! One small model for every family, law, width and number of outputs, and one
//! as large as a digit recogniser; one with a list of kept features for every family
//! and law. The scores are the reference's, not the
//! core's. Also the example of the documentation, `core/tests/tiny.koan`, and its
//! listing in `docs/format.md`.

use std::{fs, io};

use koan::numerics::Scale;
use koan::{Calibration, Conv, Family, Group, InputMap, Law, Task, Width};
use koan_tests::arbitrary::{codes, kinds};
use koan_tests::golden::{Golden, GoldenRow, folder, load};
use koan_tests::random::Random;
use koan_tests::reference::Reference;
use koan_tests::tiny;
use koan_trainer::blob::{BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec};

/// A scale that leaves the features of usual rows (|q| about 10,000) unsaturated.
fn scale(family: Family, law: Law) -> Scale {
    let (mult, shift) = match (family, law) {
        (Family::Linear, _) | (_, Law::None) => (1, 0),
        (Family::Fourier, Law::Gaussian) => (201, 13),
        (Family::Fourier, Law::Cauchy) => (77, 14),
        (Family::Fourier, _) => (93, 7),
        (Family::Stump, Law::Normal) => (113, 0),
        (Family::Stump, _) => (251, 2),
        (Family::Bin { .. }, _) => (11, 8),
        (Family::Maxout { .. }, Law::Gaussian) => (177, 14),
        (Family::Maxout { .. }, _) => (91, 8),
        (Family::Sigmoid, Law::Gaussian) => (147, 16),
        (Family::Sigmoid, _) => (29, 8),
        (Family::Conv(_), _) => (27, 6),
    };
    Scale { mult, shift }
}

/// Three or four groups; the second one is left out.
fn groups(family: Family, inputs: u16) -> Vec<Group> {
    let laws = match family {
        Family::Fourier => [Law::Gaussian, Law::None, Law::Cauchy, Law::Sign],
        Family::Stump => [Law::Normal, Law::None, Law::Uniform, Law::Normal],
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

fn bank((family, law, grouped): (Family, Law, bool), inputs: u16, features: u16) -> BankSpec {
    BankSpec {
        family,
        law,
        features: if family == Family::Linear { inputs } else { features },
        scale: scale(family, law),
        groups: if grouped { groups(family, inputs) } else { Vec::new() },
        kept: None,
    }
}

/// The bank with a list of kept features: near each other, or blocks of a transform
/// apart, or far.
fn kept(mut bank: BankSpec, number: usize, inputs: u16, random: &mut Random) -> BankSpec {
    let far = [3, 100, 7000][number % 3];
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
fn kind_name((family, law, grouped): (Family, Law, bool)) -> String {
    match (family, grouped) {
        (Family::Linear, _) => "linear".to_owned(),
        (_, true) => format!("{}-grouped", family.name()),
        (Family::Maxout { shared: 1.., .. }, _) => format!("maxout-{}-shared", law.name()),
        _ => format!("{}-{}", family.name(), law.name()),
    }
}

fn maps(number: usize, inputs: u16, random: &mut Random) -> MapSpec {
    let log = InputMap::nearest(3.0, 4000.0, true);
    let per_input = |_| match random.below(4) {
        0 => log,
        _ => InputMap::nearest(random.between(-50.0, 200.0), random.between(40.0, 160.0), false),
    };
    match number % 3 {
        0 => MapSpec::Shared(InputMap::nearest(100.0, 90.0, false)),
        1 => MapSpec::Shared(log),
        _ => MapSpec::PerInput((0..inputs).map(per_input).collect()),
    }
}

fn head(banks: &[BankSpec], width: Width, outputs: usize, random: &mut Random) -> HeadSpec {
    let weights = banks.iter().map(|bank| BankWeights {
        width,
        codes: (0..outputs).map(|_| codes(width, bank.columns(), random)).collect(),
        multipliers: (0..outputs).map(|_| 100 + random.below(200) as u16).collect(),
    });
    HeadSpec {
        scale: 0.001,
        // Scores of about 2^15: 2^15 of a feature, 2^bits and 2^8 of a weight.
        shift: width.bits + if banks.len() * outputs > 1 { 10 } else { 2 },
        weights: weights.collect(),
        bias: (0..outputs).map(|_| random.below(2001) as i32 - 1000).collect(),
    }
}

/// Rows of bytes, words, floats, and of numbers at the limits.
fn rows(number: usize, inputs: usize, random: &mut Random) -> Vec<Vec<f32>> {
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

/// The spec's blob with the reference's scores.
fn golden(name: String, spec: &ModelSpec, rows: Vec<Vec<f32>>) -> Golden {
    let blob = spec.encode().unwrap_or_else(|error| panic!("{name}: {error}"));
    let reference = Reference::parse(&blob).unwrap_or_else(|error| panic!("{name}: {error}"));
    let rows = rows.into_iter().map(|row| GoldenRow { scores: reference.scores(&row), row });
    Golden { name, blob, rows: rows.collect() }
}

fn small(number: usize, name: &str, banks: Vec<BankSpec>, width: Width, outputs: usize) -> Golden {
    sized(number, name, inputs_of(number), banks, width, outputs)
}

fn sized(
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
    let parity = if width.odd { "odd" } else { "even" };
    golden(format!("{name}-w{}{parity}-t{outputs}", width.bits), &spec, rows)
}

/// 5 to 24 inputs: fewer and more than a draw of bytes or a block has.
fn inputs_of(number: usize) -> u16 {
    5 + (number * 7 % 20) as u16
}

/// As large as a recogniser of digits: 8 × 8 pixels, 512 features, 10 classes.
fn digits() -> Golden {
    let mut random = Random::new(0xd161);
    let banks = vec![BankSpec {
        family: Family::Fourier,
        law: Law::Gaussian,
        features: 512,
        scale: Scale { mult: 201, shift: 15 },
        groups: Vec::new(),
        kept: None,
    }];
    let map = MapSpec::Shared(InputMap::nearest(8.0, 1000.0, false));
    let mut row = || (0..64).map(|_| random.below(17) as f32).collect::<Vec<_>>();
    let rows = vec![row(), row(), row()];
    let head = head(&banks, Width { bits: 4, odd: true }, 10, &mut random);
    let mut spec = ModelSpec::features(random.bits(), 64, map, banks);
    spec.task = Task::Classification;
    spec.head = Some(head);
    spec.class_names = (0..10).map(|digit: i32| digit.to_string()).collect();
    spec.golden_rows = vec![rows[0].clone()];
    golden("digits".to_owned(), &spec, rows)
}

fn every_model() -> Vec<Golden> {
    let mut models = vec![digits()];
    let kinds = kinds().into_iter().filter(|kind| !matches!(kind.0, Family::Conv(_)));
    let mut kinds: Vec<_> = kinds.map(|kind| vec![kind]).collect();
    let fourier = (Family::Fourier, Law::Gaussian, false);
    let maxout = (Family::Maxout { pool: 2, shared: 0 }, Law::Sign, false);
    let bin = (Family::Bin { slot_bits: 3 }, Law::Gamma2, false);
    kinds.push(vec![(Family::Linear, Law::None, false), fourier]);
    kinds.push(vec![bin, maxout, (Family::Stump, Law::Normal, false)]);
    for (k, kind) in kinds.into_iter().enumerate() {
        let name: Vec<_> = kind.iter().map(|&kind| kind_name(kind)).collect();
        for (w, bits) in Width::BITS.into_iter().enumerate() {
            for (t, outputs) in [1, 3].into_iter().enumerate() {
                let number = models.len();
                // One of the two has odd weights, the other even ones.
                let width = Width { bits, odd: (k + w + t) % 2 == 0 };
                let inputs = inputs_of(number);
                let banks = kind.iter().map(|&kind| {
                    // Grids have 8 columns each. 17, 25 and 33 end amid bytes and runs.
                    let more = (number % 3) as u16;
                    let bin = matches!(kind.0, Family::Bin { .. });
                    bank(kind, inputs, if bin { 3 + more } else { 17 + 8 * more })
                });
                models.push(small(number, &name.join("+"), banks.collect(), width, outputs));
            }
        }
    }
    let first = models.len();
    convolutions(&mut models);
    models.extend(with_lists(first));
    models.push(convolution_with_list(models.len()));
    models.extend(with_gains(models.len()));
    models
}

/// Adds images and series of one and of several channels, with strides, dilations and
/// both poolings, in every width.
fn convolutions(models: &mut Vec<Golden>) {
    let image = Conv {
        height: 7,
        channels: 1,
        kernel: 3,
        stride: 1,
        grid: 3,
        proportion: false,
        dilated: false,
    };
    let channels = Conv { height: 5, channels: 2, stride: 2, grid: 2, ..image };
    let dilated = Conv { grid: 2, proportion: true, dilated: true, ..image };
    let series = Conv { height: 1, kernel: 9, grid: 1, dilated: true, ..image };
    let pooled = Conv { channels: 3, stride: 2, kernel: 4, grid: 5, dilated: false, ..series };
    let long = Conv { kernel: 70, grid: 4, dilated: false, ..series };
    let shapes = [
        ("image", 7 * 8, image),
        ("image-channels-stride", 5 * 6 * 2, channels),
        ("image-dilated-proportion", 7 * 7, dilated),
        ("series-dilated", 43, series),
        ("series-channels-proportion", 15 * 3, Conv { proportion: true, ..pooled }),
        ("series-long-kernel", 80, long),
    ];
    for (s, (shape, inputs, conv)) in shapes.into_iter().enumerate() {
        for (w, bits) in Width::BITS.into_iter().enumerate() {
            for (t, outputs) in [1, 3].into_iter().enumerate() {
                // The first shape in every way, the others in every width.
                if s > 0 && (s + w) % 2 != t {
                    continue;
                }
                let width = Width { bits, odd: (s / 2 + w + t) % 2 == 0 };
                let kind = (Family::Conv(conv), Law::Sign, false);
                let features = (20 + 3 * w as u16).div_ceil(conv.cells()) * conv.cells();
                let mut banks = vec![bank(kind, inputs, features)];
                let mut name = format!("conv-{shape}");
                if s > 0 && w == 2 {
                    let linear = (Family::Linear, Law::None, false);
                    banks.push(bank(linear, inputs, inputs));
                    name.push_str("+linear");
                }
                models.push(sized(models.len(), &name, inputs, banks, width, outputs));
            }
        }
    }
}

/// A gain for each input, some of which are off, with and without logarithm.
fn with_gains(first: usize) -> Vec<Golden> {
    [Law::Hadamard, Law::Gaussian]
        .into_iter()
        .enumerate()
        .map(|(k, law)| {
            let mut random = Random::new((first + k) as u64);
            let inputs = 37 + 4 * k as u16;
            let log = k == 1;
            let map = InputMap::nearest(if log { 3.0 } else { 60.0 }, 2000.0, log);
            let gains = (0..inputs).map(|_| random.below(256).saturating_sub(40) as u8).collect();
            let banks = vec![bank((Family::Fourier, law, false), inputs, 41)];
            let head = head(&banks, Width { bits: 3, odd: true }, 2, &mut random);
            let rows = rows(first + k, usize::from(inputs), &mut random);
            let maps = MapSpec::GainPerInput(map, gains);
            let mut spec = ModelSpec::features(random.bits(), inputs, maps, banks);
            spec.task = Task::Regression;
            spec.head = Some(head);
            let name = format!("gains{}-fourier-{}", if log { "-log" } else { "" }, law.name());
            golden(name, &spec, rows)
        })
        .collect()
}

/// A list of features of some of the filters, of an image.
fn convolution_with_list(number: usize) -> Golden {
    let mut random = Random::new(number as u64);
    let conv = Conv {
        height: 7,
        channels: 1,
        kernel: 3,
        stride: 1,
        grid: 2,
        proportion: false,
        dilated: true,
    };
    let all = bank((Family::Conv(conv), Law::Sign, false), 56, 32);
    let banks = vec![kept(all, number, 56, &mut random)];
    sized(number, "kept-conv-sign", 56, banks, Width { bits: 4, odd: true }, 3)
}

/// A model with a list for every kind, and some of several banks, one of which has
/// all its features.
fn with_lists(first: usize) -> Vec<Golden> {
    let fourier = (Family::Fourier, Law::Hadamard, false);
    let stump = (Family::Stump, Law::Uniform, false);
    let kinds = kinds().into_iter().filter(|kind| !matches!(kind.0, Family::Conv(_)));
    let mut lists: Vec<_> = kinds.map(|kind| vec![kind]).collect();
    lists.push(vec![fourier, (Family::Sigmoid, Law::Hadamard, false), stump]);
    lists.push(vec![(Family::Linear, Law::None, false), fourier]);
    lists
        .into_iter()
        .enumerate()
        .map(|(k, kinds)| {
            let number = first + k;
            let mut random = Random::new(0x6e97 + number as u64);
            let inputs = inputs_of(number);
            let banks = kinds.iter().enumerate().map(|(b, &kind)| {
                let few = matches!(kind.0, Family::Bin { .. });
                // 140 is more than a run of features has.
                let features = if few { 4 } else { [17, 33, 140][number % 3] };
                let all = bank(kind, inputs, features);
                if b == 1 { all } else { kept(all, number + b, inputs, &mut random) }
            });
            let name: Vec<_> = kinds.iter().map(|&kind| kind_name(kind)).collect();
            let name = format!("kept-{}", name.join("+"));
            let width = Width { bits: Width::BITS[k % 5], odd: k % 2 == 0 };
            small(number, &name, banks.collect(), width, if number % 3 == 2 { 1 } else { 3 })
        })
        .collect()
}

/// Writes the example and the page that lists it.
fn write_tiny() -> io::Result<()> {
    let blob = tiny::blob().map_err(|error| io::Error::other(error.to_string()))?;
    let page = fs::read_to_string(tiny::page_path())?;
    let page = tiny::with_listing(&page, &blob).map_err(io::Error::other)?;
    fs::create_dir_all(tiny::path().parent().expect("it has a folder"))?;
    fs::write(tiny::path(), blob)?;
    fs::write(tiny::page_path(), page)
}

fn main() -> io::Result<()> {
    let folder = folder();
    fs::create_dir_all(folder.join("bad"))?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let ours = ["koan", "json"].map(|ours| path.extension().is_some_and(|its| its == ours));
        if ours.contains(&true) {
            fs::remove_file(path)?;
        }
    }
    let models = every_model();
    let mut bytes = 0;
    for model in &models {
        let json = model.to_json();
        bytes += model.blob.len() + json.len();
        fs::write(folder.join(&model.name).with_extension("koan"), &model.blob)?;
        fs::write(folder.join(&model.name).with_extension("json"), json)?;
    }
    let mut random = Random::new(0xbad);
    let garbage: Vec<u8> = (0..100).map(|_| random.bits() as u8).collect();
    fs::write(folder.join("bad").join("garbage.bin"), garbage)?;
    // The decimal texts must read back as the very numbers that were scored.
    let read = load(&folder).map_err(io::Error::other)?;
    for model in &models {
        let found = read.iter().find(|found| found.name == model.name).expect("just written");
        let bits = |model: &Golden| -> Vec<u32> {
            model.rows.iter().flat_map(|row| row.row.iter().map(|x| x.to_bits())).collect()
        };
        assert_eq!(bits(found), bits(model), "{}", model.name);
    }
    write_tiny()?;
    println!("{} models, {bytes} bytes, and the example", models.len());
    Ok(())
}
