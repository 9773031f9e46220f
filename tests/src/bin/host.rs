//! What the host computes, for runtimes elsewhere to be compared with:
//! `cargo run -p koan-tests --bin host FILE` writes JSON with the results of every
//! call on the golden models' rows, what is wrong with damaged blobs, models without
//! outputs, a model for the cosine of every phase, input maps of any kind, the images that
//! the demo tests on, and the patch that comes of learning.
//!
//! Floats are given by their bits, blobs as hexadecimal text.

use std::fmt::Write;

use koan::format::Conv;
use koan::numerics::Scale;
use koan::{BufferSizes, Family, Form, InputMap, Law, Model, Task};
use koan_data::{SplitSize, Target, digits, split};
use koan_tests::arbitrary::{case, runner};
use koan_tests::golden::{Golden, all};
use koan_tests::mutate::{fix_crc, mutated};
use koan_tests::random::Random;
use koan_trainer::internal::blob::{BankSpec, MapSpec, ModelSpec, predictor};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Damaged copies of golden models.
const DAMAGED: usize = 3000;

/// Models without outputs.
const FEATURES: usize = 200;

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Input maps.
const MAPS: usize = 1000;

fn calls(golden: &Golden) -> Result<Value, koan::Error> {
    let mut predictor = predictor(&golden.blob)?;
    let model = *predictor.model();
    let mut rows = Vec::new();
    for row in &golden.rows {
        let mut features = vec![0; model.features()];
        let mut values = vec![0.0; model.outputs()];
        let mut probabilities = vec![0.0; model.classes()];
        predictor.features(&row.row, &mut features)?;
        predictor.values(&row.row, &mut values)?;
        let mut class = None;
        if model.task() == Task::Classification {
            class = Some(predictor.classify(&row.row)?);
        }
        if model.has_probabilities() {
            predictor.probabilities(&row.row, &mut probabilities)?;
        }
        rows.push(json!({
            "features": features,
            "values": bits(&values),
            "class": class,
            "probabilities": model.has_probabilities().then(|| bits(&probabilities)),
        }));
    }
    let names: Vec<_> = (0..model.classes()).filter_map(|class| model.class_name(class)).collect();
    // In the browser the small form has room for whole transforms.
    let (fast, small) = (model.buffer_sizes(Form::Fast), model.buffer_sizes(Form::Small));
    let buffers = BufferSizes { block: fast.block.max(2 * fast.wide), ..small };
    Ok(json!({
        "name": golden.name,
        "info": {
            "task": model.task().name(),
            "inputs": model.inputs(),
            "outputs": model.outputs(),
            "classes": model.classes(),
            "features": model.features(),
            "classNames": names,
            "notes": model.notes(),
            "seed": model.seed().to_string(),
            "bytes": golden.blob.len(),
        },
        "bufferBytes": buffers.bytes(),
        "scoreScale": f64::from(model.score_scale()),
        "rows": rows,
    }))
}

/// A damaged blob and what the core says of it: nothing if it is still a model.
fn damaged(models: &[Golden], random: &mut Random) -> Value {
    let [first, second] = [0, 0].map(|_| &models[random.below(models.len())].blob);
    let mut blob = mutated(first, second, random);
    // Behind a wrong checksum nothing else would be looked at.
    if random.below(8) > 0 {
        fix_crc(&mut blob);
    }
    let message = match Model::parse(&blob).and(predictor(&blob).map(|_| ())) {
        Ok(()) => None,
        Err(error) => Some(error.to_string()),
    };
    json!({ "blob": hexadecimal(&blob), "message": message })
}

fn hexadecimal(blob: &[u8]) -> String {
    let mut text = String::new();
    for byte in blob {
        write!(text, "{byte:02x}").expect("a text takes anything");
    }
    text
}

/// A model without outputs, of any banks: the golden digest of its blob is that of
/// features. With its features of a row of words.
fn without_outputs(runner: &mut TestRunner) -> Result<Value, Box<dyn std::error::Error>> {
    let (spec, rows) =
        case().new_tree(runner).map_err(|reason| reason.message().to_string())?.current();
    let blob = ModelSpec::features(spec.seed, spec.inputs, spec.maps, spec.banks).encode()?;
    let mut predictor = predictor(&blob)?;
    let mut features = vec![0; predictor.model().features()];
    predictor.features(&rows.words, &mut features)?;
    Ok(json!({ "blob": hexadecimal(&blob), "row": rows.words, "features": features }))
}

/// A model of a convolution with more positions than 16 bits hold the sum of, on a row whose
/// windows are all the same.
fn long_series() -> Result<Value, Box<dyn std::error::Error>> {
    let conv = Conv {
        height: 1,
        channels: 1,
        kernel: 40,
        stride: 1,
        grid: 1,
        proportion: true,
        dilated: false,
        transform: 64,
    };
    let bank = BankSpec {
        family: Family::Conv(conv),
        law: Law::Hadamard,
        features: 64,
        scale: Scale::ONE,
        groups: Vec::new(),
        kept: None,
    };
    let map = InputMap::new(0, 8, false, 128).unwrap();
    let blob = ModelSpec::features(1, 700, MapSpec::Shared(map), vec![bank]).encode()?;
    let mut predictor = predictor(&blob)?;
    let (row, mut features) = ([0i16; 700], vec![0; predictor.model().features()]);
    predictor.features(&row, &mut features)?;
    Ok(json!({ "blob": hexadecimal(&blob), "row": &row[..], "features": features }))
}

/// A model whose input is the phase of its features, but for sign and offset:
/// inputs from -32767 to 32767 take the cosine of every phase. As many features
/// as fill no whole number of vectors.
fn phases() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let bank = BankSpec {
        family: Family::Fourier,
        law: Law::Hadamard,
        features: 43,
        scale: Scale::ONE,
        groups: Vec::new(),
        kept: None,
    };
    let map = InputMap::new(0, 8, false, 128).unwrap();
    Ok(ModelSpec::features(1, 1, MapSpec::Shared(map), vec![bank]).encode()?)
}

/// Any input map without logarithm.
fn map(random: &mut Random) -> InputMap {
    let offset = (random.bits() as i32) >> random.below(32);
    InputMap::new(offset, random.below(128) as i8 - 64, false, random.bits() as u8).unwrap()
}

/// The offsets beside those with which the double of the largest difference overflows.
const LARGE: [i32; 4] = [-1_065_353_217, 1_065_353_216, 1_065_353_217, 1_065_353_218];

/// A model whose features are its inputs, by a map; a row of its floats, most of them where
/// the map does not saturate, some in the middle of two integers; and its features.
fn mapped(map: InputMap, random: &mut Random) -> Result<Value, Box<dyn std::error::Error>> {
    const INPUTS: u16 = 35;
    let bank = BankSpec {
        family: Family::Linear,
        law: Law::None,
        features: INPUTS,
        scale: Scale::ONE,
        groups: Vec::new(),
        kept: None,
    };
    let blob = ModelSpec::features(1, INPUTS, MapSpec::Shared(map), vec![bank]).encode()?;
    let row: Vec<f32> = (0..INPUTS)
        .map(|input| {
            let distance = (random.bits() as i32) >> (7 + random.below(24));
            let place = f64::from(map.offset()) + f64::from(distance);
            match input % 4 {
                0 => f32::from_bits(random.bits() as u32),
                1 => ((place + 0.5) * f64::from(-map.shift()).exp2()) as f32,
                _ => ((place + random.unit()) * f64::from(-map.shift()).exp2()) as f32,
            }
        })
        .collect();
    let mut predictor = predictor(&blob)?;
    let mut features = vec![0; predictor.model().features()];
    predictor.features(&row, &mut features)?;
    Ok(json!({ "blob": hexadecimal(&blob), "row": bits(&row), "features": features }))
}

/// The images that `koan demo` tests on: 64 pixels and the digit.
fn tested_digits() -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let table = digits::table();
    let (_, tested) = split(&table.target, SplitSize::TrainRows(digits::TRAIN_ROWS), 1)?;
    let Target::Classes { labels } = &table.target else { return Err("digits are classes".into()) };
    Ok(tested.iter().map(|&row| json!({ "row": table.row(row), "digit": labels[row] })).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: host FILE")?;
    let models = all();
    let calls = models.iter().map(calls).collect::<Result<Vec<_>, _>>()?;
    let mut random = Random::new(0xda4a);
    let damaged: Vec<_> = (0..DAMAGED).map(|_| damaged(&models, &mut random)).collect();
    let phases = hexadecimal(&phases()?);
    let mut runner = runner(1, 0xfea7);
    let features = (0..FEATURES).map(|_| without_outputs(&mut runner));
    let features = features.chain([long_series()]).collect::<Result<Vec<_>, _>>()?;
    let mut maps: Vec<_> = (0..MAPS).map(|_| map(&mut random)).collect();
    maps.extend(LARGE.map(|offset| InputMap::new(offset, 0, false, 128).unwrap()));
    let maps = maps.into_iter().map(|map| mapped(map, &mut random));
    let maps = maps.collect::<Result<Vec<_>, _>>()?;
    let text = json!({
        "models": calls, "damaged": damaged, "phases": phases, "features": features,
        "maps": maps, "digits": tested_digits()?, "learned": koan_learned::patch()?,
    })
    .to_string();
    std::fs::write(file, text)?;
    println!("{} models, {DAMAGED} damaged blobs", models.len());
    Ok(())
}
