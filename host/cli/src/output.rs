//! Files that are whole or not there, and models read from files.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use koan::format::MAGIC;
use koan::{Form, Model};
use koan_data::Schema;
use koan_export::c_size;
pub use koan_export::internal::may_be_model;
pub use koan_report::words::{counted, error_percent, named_error, number, percent, task_name};
use koan_sign::Envelope;
use koan_trainer::Baselines;
use koan_trainer::internal::blob::predictor;
use koan_trainer::tune::{Core, code_bytes};

/// Writes the file whole, or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    koan_trainer::atomic_write(path, bytes)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Where a model goes: where it is told to, or into this folder, named as the data.
pub fn model_path(told: Option<&Path>, data: &[PathBuf]) -> Result<PathBuf> {
    if let Some(path) = told {
        return Ok(path.to_owned());
    }
    let name = data.first().and_then(|data| data.file_name()).map(Path::new);
    let name = name.filter(|name| name.as_os_str() != "-");
    let name = name.context("the data has no name to call the model by: add --output FILE")?;
    let unzipped = if name.extension().is_some_and(|end| end == "gz") {
        name.with_extension("")
    } else {
        name.to_owned()
    };
    let path = unzipped.with_extension("koan");
    // A file of that name that is no model is somebody's.
    anyhow::ensure!(
        may_be_model(&path),
        "{} is there and is no model: add --output FILE",
        path.display()
    );
    Ok(path)
}

/// Bytes of a model file, at most: no device has room for more.
const LARGEST_MODEL: u64 = 1 << 26;

/// The bytes of a model file, signed or not; of any other file no more than the first.
pub fn read_blob(path: &Path) -> Result<Vec<u8>> {
    const FIRST: u64 = 64;
    let mut first = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FIRST).read_to_end(&mut first))
        .with_context(|| format!("cannot read {}", path.display()))?;
    match first.starts_with(&MAGIC) || first.starts_with(&koan_sign::MAGIC) {
        true => read_within(path, LARGEST_MODEL),
        false => Ok(first),
    }
}

/// The bytes of a file that has at most so many.
pub fn read_within(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(
        bytes.len() as u64 <= most,
        "{}: more than {most} bytes: not a file of this kind",
        path.display()
    );
    Ok(bytes)
}

/// The model in `blob`, errors naming the file.
pub fn parse<'b>(path: &Path, blob: &'b [u8]) -> Result<Model<'b>> {
    let signed = Envelope::unverified(blob).is_ok();
    anyhow::ensure!(
        !signed,
        "{}: a signed model, as `koan device` and devices take it: this command takes the model \
         that was signed",
        path.display()
    );
    Model::parse(blob).with_context(|| path.display().to_string())
}

/// As [`parse`], and checks that the model answers its golden rows as when it was made.
pub fn tested<'b>(path: &Path, blob: &'b [u8]) -> Result<Model<'b>> {
    let model = parse(path, blob)?;
    let tested = predictor(blob).and_then(|mut predictor| predictor.self_test());
    tested.with_context(|| path.display().to_string())?;
    Ok(model)
}

/// How raw columns become the inputs of `model`, from its notes.
pub fn schema(path: &Path, model: &Model<'_>) -> Result<Schema> {
    let context = || format!("{}: the model's notes do not say how to read data", path.display());
    koan_trainer::internal::blob::schema(model).with_context(context)
}

/// [`schema`] of a model whose rows have a target, which it can be judged by.
pub fn schema_with_target(path: &Path, model: &Model<'_>) -> Result<Schema> {
    let schema = schema(path, model)?;
    anyhow::ensure!(
        !schema.unlabelled(),
        "{}: the model was trained on rows with no column that says what rows are, so it cannot be \
         judged by any; `koan predict` tells which are normal",
        path.display()
    );
    Ok(schema)
}

/// What baselines reach, in the same measure.
pub fn baselines(task: &str, baselines: &Baselines) -> String {
    let linear = baselines.linear.map_or_else(
        || "linear not fitted, there are too many inputs".to_owned(),
        |error| format!("linear {}", error_percent(task, error)),
    );
    format!("constant {}, {linear}", error_percent(task, baselines.constant))
}

/// Root mean squared errors of a model and of baselines.
pub fn rmse(rmse: f64, baselines: Option<&Baselines>) -> String {
    let of = |name: &str, rmse: Option<f64>| rmse.map(|rmse| format!("{name} {}", number(rmse)));
    let others =
        baselines.map(|found| [("constant", found.constant_rmse), ("linear", found.linear_rmse)]);
    let others = others.into_iter().flatten().filter_map(|(name, rmse)| of(name, rmse));
    let mut text = format!("RMSE {} in the target's units", number(rmse));
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        text += &format!("; {}", others.join(", "));
    }
    text
}

/// A usual clock of a Cortex-M0, and seconds of a prediction that are told.
const MEGAHERTZ: f64 = 48.0;
const LONG: f64 = 0.1;

/// What a device needs for a model; `what` says which device, or which model, and `core` which one
/// instructions are counted for, if not for a Cortex-M0.
pub fn on_device(what: &str, model: &Model<'_>, form: Form, core: Core) -> String {
    let (bytes, code) = (model.blob().len(), code_bytes(model, form));
    // Instructions are known of the fast form alone.
    let (small, instructions) = match form {
        Form::Fast if core != Core::CortexM0 => {
            let count = core.instructions_of(model);
            ("", format!(", {count} instructions a prediction on a {}", core.name()))
        }
        Form::Fast => {
            let count = Core::CortexM0.instructions_of(model);
            // Not one instruction takes less than a cycle.
            let seconds = count as f64 / (1e6 * MEGAHERTZ);
            let slow = match seconds >= LONG {
                true => format!(", {seconds:.1} s or more at {MEGAHERTZ} MHz"),
                false => String::new(),
            };
            ("", format!(", {count} instructions a prediction{slow}"))
        }
        Form::Small => (" in the small form", String::new()),
    };
    format!(
        "  {what}: about {code} bytes of code{small}, {} of flash with the model, {} \
         bytes of buffers beside the stack{instructions}",
        bytes + code,
        model.buffer_sizes(form).bytes()
    )
}

/// What a device needs for a model in C.
pub fn in_c(model: &Model<'_>) -> String {
    let size = c_size(model);
    format!(
        "  in C on a Cortex-M0 (gcc -Os): about {} bytes of code, {} of flash with the model, {} bytes \
         of memory, about {} of stack; the row is the program's own, {} bytes as int16_t, {} as float",
        size.code,
        model.blob().len() + size.code,
        size.memory,
        size.stack,
        2 * model.inputs(),
        4 * model.inputs()
    )
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
