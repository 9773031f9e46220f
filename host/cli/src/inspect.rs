//! `koan inspect`: everything in a blob.

use anyhow::Result;
use koan::{Conv, Family, Form, InputMap, Law, Model};
use koan_data::{Schema, Shape, Window};
use koan_export::c_size;
use koan_export::internal::{Streamed, may_replace, stream_of};
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::{listing, row};
use koan_trainer::tune::{Core, code_bytes};
use serde_json::{Value, json};

use crate::arguments::Inspect;
use crate::columns;
use crate::files;
use crate::grid::wrapped;
use crate::out::{self, say};
use crate::output::{counted, in_c, number, parse, read_blob, schema, write_whole};

/// Cores that predictions are counted on.
const CORES: [Core; 2] = [Core::CortexM0, Core::CortexM4F];
/// Inputs that are listed.
const SHOWN: usize = 6;

/// What `--json` of every command says of a model.
pub fn summary(model: &Model<'_>) -> Value {
    let join = |names: Vec<&str>| names.join(",");
    let bits: Vec<u8> = model.banks().map(|bank| bank.width().bits()).collect();
    json!({
        "task": model.task().name(),
        "family": join(model.banks().map(|bank| bank.family().name()).collect()),
        "projection": join(model.banks().map(|bank| {
            if bank.is_grouped() { "groups" } else { bank.law().name() }
        }).collect()),
        "features": model.features(),
        "bits": if bits.iter().all(|b| *b == bits[0]) { json!(bits[0]) } else { json!(bits) },
        "bytes": model.blob().len(),
        "code_bytes": code_bytes(model, Form::Fast),
        "inputs": model.inputs(),
        "outputs": model.outputs(),
        "seed": model.seed(),
    })
}

pub fn run(arguments: &Inspect) -> Result<()> {
    files::check([&arguments.model], arguments.rust.as_deref())?;
    let blob = read_blob(&arguments.model)?;
    let model = parse(&arguments.model, &blob)?;
    if let Some(path) = &arguments.rust {
        anyhow::ensure!(
            may_replace(path, row::FIRST),
            "{} is there and not of `koan inspect`: name another file",
            path.display()
        );
        let name = arguments.model.file_name().unwrap_or_default().to_string_lossy();
        let schema = schema(&arguments.model, &model)?;
        let cache = stream_of(&model, &schema).ok().map(|stream| stream.words);
        write_whole(path, row::rust(&schema, &name, cache).as_bytes())?;
    }
    if arguments.hex {
        return out::line(listing::hex(&model).trim_end());
    }
    let self_test = predictor(&blob)
        .and_then(|mut predictor| predictor.self_test())
        .map_or_else(|error| error.to_string(), |()| "passed".to_owned());
    if arguments.json {
        let object = detailed(&model, &self_test);
        out::object(&object)?;
    } else {
        print_human(&model, &self_test)?;
        // Models need not have notes.
        let schema = schema(&arguments.model, &model).ok();
        print_use(&model, schema.as_ref())?;
    }
    anyhow::ensure!(self_test == "passed", "{}: {self_test}", arguments.model.display());
    Ok(())
}

fn map_json(map: InputMap) -> Value {
    json!({
        "offset": f64::from(map.offset()) / 2f64.powi(i32::from(map.shift())),
        "gain": f64::from(map.mult()) * 2f64.powi(i32::from(map.shift()) - 15),
        "log": map.log(),
    })
}

/// What a convolution takes a row for.
fn shape(conv: Conv, model: &Model<'_>) -> String {
    Shape {
        height: conv.height.into(),
        width: model.inputs() / usize::from(conv.height) / usize::from(conv.channels),
        channels: conv.channels.into(),
    }
    .to_string()
}

/// The name of a convolution's pooling.
fn pooling(conv: Conv) -> &'static str {
    if conv.proportion { "proportion" } else { "average" }
}

/// Filters that are made: whole blocks where a bank keeps only some of its features.
fn filters(bank: &koan::Bank<'_>, conv: Conv) -> u32 {
    if !bank.is_kept() {
        return conv.filters(bank.features());
    }
    let of_block = usize::from(conv.transform) * usize::from(conv.cells());
    let mut blocks: Vec<usize> = bank.indices().map(|index| index / of_block).collect();
    blocks.dedup();
    blocks.len() as u32 * u32::from(conv.transform)
}

/// How many features a bank's kept ones are among, up to the last one.
fn candidates(bank: &koan::Bank<'_>) -> usize {
    bank.indices().last().map_or(0, |last| last + 1)
}

fn detailed(model: &Model<'_>, self_test: &str) -> Value {
    let sizes = model.buffer_sizes(Form::Fast);
    let maps = model.map_period();
    let mut object = summary(model);
    object["check_word"] = json!(model.check_word());
    object["input_maps"] = (0..maps).map(|i| map_json(model.input_map(i))).collect();
    object["banks"] = model
        .banks()
        .map(|bank| {
            let mut entry = json!({
                "family": bank.family().name(),
                "law": bank.law().name(),
                "features": bank.features(),
                "columns": bank.columns(),
                "scale": bank.scale().factor(),
                "bits": bank.width().bits(),
                "odd_levels": bank.width().odd(),
            });
            match bank.family() {
                Family::Bin { slot_bits } => entry["slot_bits"] = json!(slot_bits),
                Family::Fern { depth } => entry["depth"] = json!(depth),
                Family::Maxout { pool, shared } => {
                    entry["pool"] = json!(pool);
                    entry["shared_pool"] = json!(shared);
                }
                Family::Conv(conv) => {
                    entry["shape"] = json!(shape(conv, model));
                    entry["filters"] = json!(filters(&bank, conv));
                    entry["kernel"] = json!(conv.kernel);
                    entry["stride"] = json!(conv.stride);
                    entry["grid"] = json!(conv.grid);
                    entry["pooling"] = json!(pooling(conv));
                    entry["dilated"] = json!(conv.dilated);
                    entry["transform"] = json!(conv.transform);
                }
                Family::Series(series) => {
                    entry["length"] = json!(model.inputs() / usize::from(series.channels).max(1));
                    entry["channels"] = json!(series.channels);
                    entry["kernel"] = json!(series.kernel);
                    entry["dilations"] = json!(series.dilations);
                }
                _ => {}
            }
            if bank.is_kept() {
                entry["kept"] = json!({
                    "candidates": candidates(&bank),
                    "indices": bank.indices().collect::<Vec<_>>(),
                    "bytes": bank.kept_bytes(),
                });
            }
            if bank.is_grouped() {
                entry["groups"] = bank
                    .groups()
                    .map(|group| {
                        json!({
                            "inputs": group.inputs,
                            "law": group.law.name(),
                            "scale": group.scale.factor(),
                        })
                    })
                    .collect();
            }
            entry
        })
        .collect();
    object["score_scale"] = json!(model.score_scale());
    object["bias"] = (0..model.outputs()).map(|t| json!(model.bias(t))).collect();
    object["classes"] = (0..model.classes()).map(|c| json!(model.class_name(c))).collect();
    object["calibration"] = model
        .calibration()
        .map_or(Value::Null, |c| json!({"slope": c.slope, "intercept": c.intercept}));
    object["notes"] = serde_json::from_str(model.notes()).unwrap_or(Value::Null);
    object["golden_rows"] = json!(model.golden_rows());
    object["golden_digest"] = json!(model.golden_digest());
    object["self_test"] = json!(self_test);
    object["work"] = json!(model.work());
    object["needs"] = model.needs().names().map(|name| json!(name)).collect();
    object["code_bytes_small"] = json!(code_bytes(model, Form::Small));
    let c = c_size(model);
    object["in_c"] = json!({
        "code_bytes": c.code,
        "memory_bytes": c.memory,
        "stack_bytes": c.stack,
    });
    object["ram_bytes"] = json!(sizes.bytes());
    object["ram_bytes_small"] = json!(model.buffer_sizes(Form::Small).bytes());
    object["buffers"] = json!({
        "inputs": sizes.inputs, "block": sizes.block, "wide": sizes.wide, "outputs": sizes.outputs,
    });
    object["instructions"] = instructions(model);
    object["parts"] =
        listing::parts(model).iter().map(|part| json!({part.name.clone(): part.length})).collect();
    object
}

/// Instructions of a prediction, by core.
pub fn instructions(model: &Model<'_>) -> Value {
    CORES.iter().map(|core| (core.name().to_owned(), json!(core.instructions_of(model)))).collect()
}

fn print_human(model: &Model<'_>, self_test: &str) -> Result<()> {
    say!(
        "{} model, {} bytes, {}, {}, {}",
        model.task().name(),
        model.blob().len(),
        counted(model.inputs(), "input"),
        counted(model.outputs(), "output"),
        counted(model.features(), "feature")
    )?;
    say!(
        "  seed {}, generator check word {:#06x}, self test {self_test}",
        model.seed(),
        model.check_word()
    )?;
    for bank in model.banks() {
        let law = if bank.is_grouped() { "groups" } else { bank.law().name() };
        let extra = match bank.family() {
            Family::Bin { slot_bits } => {
                format!(", {} grids of 2^{slot_bits} slots", bank.features())
            }
            Family::Fern { depth } => format!(", {} ferns of {depth} comparisons", bank.features()),
            Family::Maxout { pool, shared: 0 } => format!(", pools of {pool}"),
            Family::Maxout { pool, shared } => format!(", pools of {pool} out of {shared} shared"),
            Family::Conv(conv) => format!(
                ", {} filters of {} taps{} and stride {} over {}, {} in {} cells each",
                filters(&bank, conv),
                conv.taps(),
                if conv.dilated { ", dilated," } else { "" },
                conv.stride,
                shape(conv, model),
                pooling(conv),
                conv.cells()
            ),
            Family::Series(series) => format!(
                ", filters of {} taps, {} dilations, over {}x{}",
                series.kernel,
                series.dilations,
                model.inputs() / usize::from(series.channels).max(1),
                series.channels
            ),
            _ => String::new(),
        };
        say!(
            "  bank {}: {} {} ({law}){extra}, scale {}, {} bits{}",
            bank.index(),
            bank.columns(),
            bank.family().name(),
            number(bank.scale().factor()),
            bank.width().bits(),
            if bank.width().odd() { " (odd levels)" } else { "" }
        )?;
        if bank.is_kept() {
            say!(
                "    kept: {} of the first {}, a list of {} bytes",
                bank.features(),
                candidates(&bank),
                bank.kept_bytes()
            )?;
        }
        if bank.is_grouped() {
            for group in bank.groups() {
                let scale = group.scale.factor();
                let none = group.law == Law::None;
                say!(
                    "    {} inputs: {}{}",
                    group.inputs,
                    group.law.name(),
                    if none { String::new() } else { format!(", scale {}", number(scale)) }
                )?;
            }
        }
    }
    let maps = model.map_period();
    for index in 0..maps.min(SHOWN) {
        let map = model.input_map(index);
        let which = match maps {
            1 => "all inputs".to_owned(),
            _ if model.map_per_channel() => format!("channel {}", index + 1),
            _ => format!("input {}", index + 1),
        };
        let value = if map.log() { "slog(x)" } else { "x" };
        let offset = f64::from(map.offset()) / 2f64.powi(i32::from(map.shift()));
        let sign = if offset < 0.0 { '+' } else { '-' };
        let gain = f64::from(map.mult()) * 2f64.powi(i32::from(map.shift()) - 15);
        say!("  {which}: q = ({value} {sign} {}) * {}", number(offset.abs()), number(gain))?;
    }
    if (0..maps.min(SHOWN)).any(|index| model.input_map(index).log()) {
        say!("  slog(x) is sign(x) * ln(1 + |x|)")?;
    }
    if maps > SHOWN {
        let what = if model.map_per_channel() { "channels" } else { "inputs" };
        say!("  ... and {} {what} more (--json lists them)", maps - SHOWN)?;
    }
    if model.classes() > 0 {
        let names = (0..model.classes()).filter_map(|class| model.class_name(class));
        let names: Vec<String> = names.map(out::name).collect();
        say!("{}", wrapped(&format!("  classes: {}", names.join(", ")), 4))?;
    }
    if let Some(calibration) = model.calibration() {
        say!(
            "  probabilities: slope {:.4}, intercept {:.4}",
            calibration.slope,
            calibration.intercept
        )?;
    }
    if model.outputs() > 0 {
        say!("  a score of 1 is {:e} in real units", model.score_scale())?;
    }
    let golden = counted(model.golden_rows(), "golden row");
    say!("  golden digest {:#010x}, {golden}", model.golden_digest())?;
    say!(
        "  code for it in Rust: about {} bytes on a Cortex-M0, {} in the small form",
        code_bytes(model, Form::Fast),
        code_bytes(model, Form::Small)
    )?;
    let sizes = model.buffer_sizes(Form::Fast);
    say!(
        "  RAM of the predictor's buffers: {} bytes, {} in the small form; the stack comes on top",
        sizes.bytes(),
        model.buffer_sizes(Form::Small).bytes()
    )?;
    say!(
        "    values in them: {}, {} in the transform's block (16 bits), {} in the wide one (32 bits), {}",
        counted(sizes.inputs, "input"),
        sizes.block,
        sizes.wide,
        counted(sizes.outputs, "output")
    )?;
    say!("{}", wrapped(&in_c(model), 4))?;
    for core in CORES {
        let count = core.instructions_of(model);
        say!("  a prediction in Rust: about {count} instructions on a {}", core.name())?;
    }
    say!("  where the bytes go:")?;
    for part in listing::parts(model) {
        say!("    {:>6}  {}", part.length, part.name)?;
    }
    Ok(())
}

/// What a program with the model has to know.
fn print_use(model: &Model<'_>, schema: Option<&Schema>) -> Result<()> {
    say!("  work of a prediction: at most {} additions, products and look-ups", model.work())?;
    say!("{}", wrapped(&format!("  needs: {}", model.needs()), 4))?;
    say!("  in C: `koan export MODEL --c FOLDER` writes the runtime and the model as source")?;
    say!("  in Rust, in Cargo.toml:")?;
    say!("    [dependencies]")?;
    say!("    koan = {{ path = \"CLONE/core\" }}  # CLONE: a clone of Koan's repository")?;
    say!("    [profile.release]\n    opt-level = \"s\"\n    lto = \"fat\"")?;
    say!("    codegen-units = 1\n    panic = \"abort\"")?;
    let Some(schema) = schema else {
        if !model.notes().is_empty() {
            say!("  notes: {}", out::name(model.notes()))?;
        }
        return Ok(());
    };
    columns::print(schema)?;
    say!("")?;
    say!("{}", wrapped(&format!("a row: {}", row::described(schema)), 2))?;
    match stream_of(model, schema) {
        Ok(Streamed { channels, window: Window { samples, stride }, words, bytes }) => {
            say!(
                "a stream: {channels} channels, {samples} samples, a hop of {stride}, {words} \
                 words of cache"
            )?;
            say!(
                "  RAM of it in Rust (koan-stream): {bytes} bytes on a core of 32 bits, the predictor's \
                 buffers included"
            )?;
        }
        Err(why) if schema.recordings.window.is_some() => {
            let text = format!(
                "no stream: {why}. `koan_stream::Window` and a predictor take each window whole"
            );
            say!("{}", wrapped(&text, 2))?;
        }
        Err(_) => {}
    }
    let places = row::places(schema);
    for (number, place) in places.iter().enumerate().take(SHOWN) {
        say!("  {number}: {}", out::name(&place.to_string()))?;
    }
    if places.len() > SHOWN {
        say!("  ... and {} more (--rust FILE.rs writes all)", places.len() - SHOWN)?;
    }
    Ok(())
}
