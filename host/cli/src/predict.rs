//! `koan predict`: rows in, lines out, in bounded memory.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use koan::{Task, class_of, steps};
use koan_data::{ReadOptions, RowReader, expand, rows_from, rows_of};
use koan_trainer::AtomicFile;
use koan_trainer::internal::beyond::Beyond;
use koan_trainer::internal::blob::predictor;
use serde_json::{Map, Value, json};

use crate::arguments::{Predict, PredictFormat};
use crate::files::{check, check_stdout};
use crate::out::{self, failed, say};
use crate::output::{counted, read_blob, schema, tested};

pub fn run(arguments: &Predict) -> Result<()> {
    let stdin = |path: &PathBuf| path == Path::new("-");
    anyhow::ensure!(
        arguments.data.len() < 2 || !arguments.data.iter().any(stdin),
        "`-`, which is standard input, goes alone: leave the files out, or give them alone"
    );
    let files = match &arguments.data[..] {
        [path] if stdin(path) => Vec::new(),
        paths => expand(paths)?,
    };
    check_stdout(&files)?;
    let inputs = files.iter().chain([&arguments.model]);
    check(inputs, arguments.output.as_deref())?;
    let blob = read_blob(&arguments.model)?;
    let model = tested(&arguments.model, &blob)?;
    anyhow::ensure!(
        model.task() != Task::Features,
        "{}: a model without outputs predicts nothing",
        arguments.model.display()
    );
    anyhow::ensure!(
        !arguments.probabilities || model.has_probabilities(),
        "{}: {} has no probabilities: leave --probabilities out",
        arguments.model.display(),
        if model.task() == Task::Classification { "a detector of anomalies" } else { "the model" }
    );
    let mut predictor = predictor(&blob).with_context(|| arguments.model.display().to_string())?;
    let schema = schema(&arguments.model, &model)?;
    let options = ReadOptions { keep: arguments.keep.clone(), ..arguments.reading.options() };
    let mut reader = match &files[..] {
        [] => rows_from(std::io::stdin().lock(), "standard input", &schema, &options)?,
        files => rows_of(files, &schema, &options)?,
    };

    let mut file = match &arguments.output {
        Some(path) => Some(AtomicFile::create(path).with_context(|| cannot(path))?),
        None => None,
    };
    let written = |result: std::io::Result<()>| match &arguments.output {
        Some(path) => result.with_context(|| cannot(path)),
        None => failed(result),
    };
    let out: Box<dyn Write + '_> = match &mut file {
        Some(file) => Box::new(BufWriter::new(file)),
        None => Box::new(BufWriter::new(std::io::stdout().lock())),
    };
    let mut lines: Box<dyn Lines + '_> = match arguments.format {
        PredictFormat::Csv => Box::new(CsvLines(csv::Writer::from_writer(out))),
        PredictFormat::Json => Box::new(JsonLines(out)),
    };
    let answer = if model.task() == Task::Classification { "class" } else { "value" };
    let coordinates = model.task() == Task::Regression && model.outputs() > 1;
    let place = Place { window: schema.recordings.window.is_some(), files: files.len() > 1 };
    let mut answers = if coordinates {
        (0..model.outputs()).map(|output| format!("{answer} {output}")).collect()
    } else {
        vec![answer.to_owned()]
    };
    if arguments.probabilities {
        answers.extend(schema.classes.iter().map(|class| format!("probability {class}")));
    }
    if arguments.scores {
        answers.extend((0..model.outputs()).map(|output| format!("score {output}")));
    }
    let mut names = place.names(&reader, &answers);
    names.extend(answers);
    written(lines.header(&names))?;
    let mut row = Vec::new();
    let mut probabilities = vec![0.0f32; model.classes()];
    // Whoever writes rows to a pipe one by one waits for the answer to each.
    let live = files.is_empty() && arguments.output.is_none();
    if live {
        written(lines.flush())?;
    }
    let mut rows = 0;
    let mut beyond = Beyond::new(&model);
    while let Some(line) = reader.next_into(&mut row) {
        line?;
        let scores = predictor.scores(&row)?;
        beyond.row(&row);
        let mut values = place.values(&reader);
        match model.task() {
            Task::Classification => {
                let class = schema.classes.get(class_of(scores));
                values.push(Value::from(class.cloned().unwrap_or_default()));
            }
            _ => {
                let scale = model.score_scale();
                values.extend(scores.iter().map(|&score| shortest(score as f32 * scale)));
            }
        }
        if arguments.probabilities {
            steps::probabilities(&model, scores, &mut probabilities);
            values.extend(probabilities.iter().map(|p| shortest(*p)));
        }
        if arguments.scores {
            values.extend(scores.iter().map(|score| json!(score)));
        }
        written(lines.line(&names, values))?;
        rows += 1;
        if live {
            written(lines.flush())?;
        }
    }
    written(lines.flush())?;
    drop(lines);
    out::warnings(&reader.left_out()?);
    beyond.told(Some(&schema)).iter().for_each(|told| out::warn(&format!("warning: {told}")));
    if let (Some(path), Some(file)) = (&arguments.output, file) {
        file.commit().with_context(|| cannot(path))?;
        say!("{}: {}", path.display(), counted(rows, "prediction"))?;
    }
    Ok(())
}

fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// A number with no more digits than tell it from other numbers of 32 bits.
fn shortest(number: f32) -> Value {
    json!(number.to_string().parse::<f64>().ok().filter(|number| number.is_finite()))
}

/// What tells the row of an answer, before it.
struct Place {
    /// Whether rows are windows, which have the number of their first row.
    window: bool,
    /// Whether there are several files, the name of which windows then have.
    files: bool,
}

impl Place {
    /// Names of the columns, none of which is one of the `answers`.
    fn names(&self, reader: &RowReader<'_>, answers: &[String]) -> Vec<String> {
        let mut names = Vec::new();
        if self.window {
            names.extend(self.files.then(|| "file".to_owned()));
            names.push("row".to_owned());
        }
        for kept in reader.kept_names() {
            let taken = names.contains(kept) || answers.contains(kept);
            names.push(if taken { format!("data {kept}") } else { kept.clone() });
        }
        names
    }

    fn values(&self, reader: &RowReader<'_>) -> Vec<Value> {
        let mut values = Vec::new();
        if self.window {
            values.extend(self.files.then(|| Value::from(reader.file())));
            values.push(Value::from(reader.number()));
        }
        values.extend(reader.kept().iter().map(|field| Value::from(field.as_str())));
        values
    }
}

trait Lines {
    fn header(&mut self, names: &[String]) -> std::io::Result<()>;
    fn line(&mut self, names: &[String], values: Vec<Value>) -> std::io::Result<()>;
    fn flush(&mut self) -> std::io::Result<()>;
}

struct CsvLines<W: Write>(csv::Writer<W>);

impl<W: Write> Lines for CsvLines<W> {
    fn header(&mut self, names: &[String]) -> std::io::Result<()> {
        recorded(self.0.write_record(names.iter().map(|name| out::field(name))))
    }

    fn line(&mut self, _names: &[String], values: Vec<Value>) -> std::io::Result<()> {
        let fields = values.iter().map(|value| match value {
            Value::String(text) => out::field(text),
            other => other.to_string(),
        });
        recorded(self.0.write_record(fields))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// The result of writing a record.
fn recorded(result: csv::Result<()>) -> std::io::Result<()> {
    result.map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    })
}

struct JsonLines<W>(W);

impl<W: Write> Lines for JsonLines<W> {
    fn header(&mut self, _names: &[String]) -> std::io::Result<()> {
        Ok(())
    }

    fn line(&mut self, names: &[String], values: Vec<Value>) -> std::io::Result<()> {
        let object: Map<String, Value> = names.iter().cloned().zip(values).collect();
        writeln!(self.0, "{}", out::json(&Value::Object(object)))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
