//! `koan device`: rows through a device, every score compared with the host's.

mod arguments;
mod compare;
mod session;
mod stream;
mod transport;

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use koan::Task;
use koan_data::{expand, read_all_with};
use koan_trainer::internal::blob::predictor;
use koan_trainer::{Evaluation, Progress};
use serde_json::json;

pub use arguments::Device;

use crate::inspect::summary;
use crate::out::{self, say};
use crate::output::{self, named_error, parse, read_blob, schema};
use crate::sign::unsealed;
use crate::terminal::Terminal;
use session::Session;

pub fn run(arguments: &Device) -> Result<()> {
    let path = arguments.model.display();
    let file = read_blob(&arguments.model)?;
    // Who has signed it is for the device to judge.
    let blob = unsealed(&file).with_context(|| path.to_string())?;
    let signed = blob.len() < file.len();
    let model = parse(&arguments.model, blob)?;
    // The device tests itself.
    predictor(blob).with_context(|| path.to_string())?;
    ensure!(model.task() != Task::Features, "{path}: a model without outputs answers no rows");
    let files = expand(arguments.data.as_slice())?;
    let mut learn = None;
    if arguments.stream {
        let schema = schema(&arguments.model, &model)?;
        stream::window_of(&schema).with_context(|| path.to_string())?;
        let class = |text: &String| stream::class_of(text, &schema.classes);
        learn = arguments.learn.as_ref().map(class).transpose()?;
    }
    let table = if files.is_empty() || arguments.stream {
        None
    } else {
        let schema = schema(&arguments.model, &model)?;
        Some(read_all_with(&files, &schema, &arguments.reading.options())?)
    };

    let address = &arguments.connect;
    let mut session = Session::open(address, arguments.timeout)?;
    let terminal = Terminal::stderr();
    let progress = terminal.progress();
    let uploaded = prepare(&mut session, arguments, &file, blob, progress);
    let start = Instant::now();
    let result = uploaded.and_then(|uploaded| {
        let streamed = if arguments.stream {
            let schema = schema(&arguments.model, &model)?;
            let options = arguments.reading.options();
            let (model, data) = ((blob, &schema), (&files[..], &options));
            Some(stream::samples(&mut session, model, data, learn, progress)?)
        } else {
            None
        };
        let rows = |table| compare::rows(&mut session, blob, table, progress);
        Ok((uploaded, table.as_ref().map(rows).transpose()?, streamed))
    });
    drop(terminal);
    let (uploaded, result, streamed) = result.with_context(|| address.to_string())?;
    let seconds = start.elapsed().as_secs_f64();

    if arguments.json {
        let mut object = summary(&model);
        object["connection"] = json!(address.to_string());
        object["built_in"] = json!(session.info.built_in);
        object["uploaded"] = json!(uploaded);
        object["self_test"] = json!("passed");
        if signed {
            // A device takes an envelope only after it has verified it.
            object["signature"] = json!(if uploaded { "verified" } else { "not verified" });
        }
        if let Some(evaluation) = &result {
            object["rows"] = json!(evaluation.rows);
            object["equal"] = json!(evaluation.rows);
            object["error"] = json!(evaluation.error);
            object["seconds"] = json!(seconds);
            object["rows_per_second"] = json!(rate(evaluation, seconds));
            if let Some(rmse) = evaluation.rmse {
                object["rmse"] = json!(rmse);
            }
            if !evaluation.confusion.is_empty() {
                let names = (0..model.classes()).filter_map(|class| model.class_name(class));
                object["balanced_error"] = json!(evaluation.balanced_error());
                object["classes"] = names.collect();
                object["confusion"] = json!(evaluation.confusion);
            }
        }
        if let Some(streamed) = &streamed {
            object["stream"] = streamed.json();
        }
        out::object(&object)?;
        return Ok(());
    }
    let origin = match (uploaded, session.info.built_in) {
        (true, _) => "now uploaded",
        (false, true) => "built in",
        (false, false) => "uploaded before",
    };
    let bytes = blob.len();
    if signed && !uploaded {
        say!("{address}: runs the model in {path} ({bytes} bytes, {origin}), self test passed")?;
        say!("  its signature and counter were not verified: --upload has the device do it")?;
    } else {
        say!("{address}: runs {path} ({bytes} bytes, {origin}), self test passed")?;
    }
    if let Some(evaluation) = &result {
        let rows = evaluation.rows;
        say!(
            "  {rows} of {rows} rows equal the host's, {}, {:.1} rows/s ({seconds:.2} s)",
            named_error(model.task().name(), evaluation.error),
            rate(evaluation, seconds),
        )?;
        if let Some(rmse) = evaluation.rmse {
            say!("  {}", output::rmse(rmse, None))?;
        }
    }
    if let Some(streamed) = &streamed {
        for (sample, class) in &streamed.steady {
            say!("  sample {sample}: {}", class.as_deref().map_or("unknown".into(), out::name))?;
        }
        let (samples, windows) = (streamed.samples, streamed.windows);
        say!("  {samples} samples, {windows} windows with the host's scores")?;
    }
    Ok(())
}

/// Sees to it that the device runs the model in `blob` and computes as it
/// should; whether the model was sent: the file that it is in, as it is. One that is signed is
/// always sent: who has signed it, and its counter, only the device can say, and it is to keep
/// the counter even where it runs the same model already.
fn prepare(
    session: &mut Session,
    arguments: &Device,
    file: &[u8],
    blob: &[u8],
    progress: &Progress,
) -> Result<bool> {
    let (runs, signed) = (session.info.runs(blob), blob.len() < file.len());
    let upload = arguments.upload && (signed || !runs);
    if upload {
        let sent = session.upload(file, blob, progress);
        if runs {
            sent.context("the device runs the model in it, but did not take the signed file")?;
        } else {
            sent?;
        }
    } else if !runs {
        let path = arguments.model.display();
        bail!("the device runs another model than {path}; --upload sends it");
    }
    session.self_test()?;
    Ok(upload)
}

fn rate(evaluation: &Evaluation, seconds: f64) -> f64 {
    evaluation.rows as f64 / seconds
}
