//! What `koan train` says of the model that it made.

use std::path::Path;

use anyhow::Result;
use koan::{Form, Model};
use koan_data::{ColumnKind, Schema};
use koan_trainer::{Core, Detection, Evaluation, Faster, Loss, Report, Smaller};
use serde_json::json;

use super::numbers;
use crate::arguments::Train;
use crate::grid::wrapped;
use crate::inspect;
use crate::out::{self, say};
use crate::output::{self, counted, error_percent, named_error, percent, quoted};
use crate::read::BY_FILE;

/// Recordings and rows to test on that are few.
const FEW_RECORDINGS: usize = 20;
const FEW_ROWS: usize = 20;

/// A model that was written, and what is known of it.
pub struct Summary<'s> {
    pub arguments: &'s Train,
    pub output: &'s Path,
    pub report: &'s Report,
    pub model: &'s Model<'s>,
    /// Of its notes.
    pub schema: &'s Schema,
    /// The target's name, if it has one.
    pub target: Option<String>,
    /// Classes that are numbers; none where they could be nothing else, or are only two.
    pub numbers_as_classes: Option<usize>,
    /// Recordings that the test rows are of, where rows are of some.
    pub recordings: Option<usize>,
    /// How good the model is on the test rows, where some classes have many more of them.
    pub uneven: Option<Evaluation>,
    /// Whether the rows were not in memory.
    pub streamed: bool,
}

impl Summary<'_> {
    /// Warnings, on standard error.
    pub fn warn(&self) {
        let (arguments, report) = (self.arguments, self.report);
        let guessed = self.numbers_as_classes.is_some() && arguments.source.task.is_none();
        for warning in &report.warnings {
            // Counts that were taken for classes are hardly told apart as such.
            let task = if guessed && warning.contains("the most frequent class") {
                "; numbers were taken for classes: --task regression predicts numbers"
            } else {
                ""
            };
            out::warn(&format!("warning: {warning}{task}"));
        }
        if report.nameless {
            out::warn(
                "warning: the names of the columns, which would take too many of the bytes, are left \
                 out: the model takes columns in their order",
            );
        }
        let held_out = arguments.source.test.is_empty() && report.fold_errors.is_empty();
        if held_out
            && arguments.source.has_target()
            && (1..FEW_ROWS).contains(&report.rows)
            && self.schema.recordings.group.is_none()
        {
            let rows = counted(report.rows, "test row");
            let say = if report.rows == 1 { "says" } else { "say" };
            out::warn(&format!(
                "warning: {rows} {say} little of others: `--folds 5` tests on every row in turn"
            ));
        }
    }

    /// The report as JSON, with the model's file and target.
    pub fn object(&self) -> Result<()> {
        let mut object = serde_json::to_value(self.report)?;
        object["output"] = json!(self.output.display().to_string());
        object["target"] = json!(self.target.clone().or_else(|| self.target_number()));
        object["instructions"] = inspect::instructions(self.model);
        if let Some(uneven) = &self.uneven {
            object["balanced_error"] = json!(uneven.balanced_error());
        }
        out::object(&object)
    }

    /// The report in sentences.
    pub fn print(&self) -> Result<()> {
        self.headline()?;
        self.size()?;
        self.choices()?;
        self.errors()?;
        self.guesses()?;
        let model = quoted(&self.output.display().to_string());
        say!("Next: `koan inspect {model}` tells what a device needs for it, in Rust and in C.")?;
        Ok(())
    }

    /// The error and the bytes, and how far to trust the error.
    fn headline(&self) -> Result<()> {
        let report = self.report;
        let output = self.output.display();
        let error = named_error(&report.task, report.error);
        match report.fold_errors.len() {
            0 => out::headline(&format!(
                "{output}: {error} on {}{}, in {} bytes",
                counted(report.rows, "test row"),
                self.recordings.map_or_else(String::new, |count| match count {
                    1 => " of 1 recording".to_owned(),
                    _ => format!(" of {count} recordings"),
                }),
                report.bytes
            ))?,
            parts => out::headline(&format!(
                "{output}: {error} on average over {parts} parts, each tested by a model of the \
                 others, in {} bytes",
                report.bytes
            ))?,
        }
        let few = |&count: &usize| count < FEW_RECORDINGS && self.arguments.source.test.is_empty();
        if let Some(count) = self.recordings.filter(few) {
            let recordings = match count {
                1 => "1 recording says".to_owned(),
                _ => format!("{count} recordings say"),
            };
            say_wrapped(&format!(
                "  {recordings} little: the error depends on which they are; `--folds 5` tests on \
                 all"
            ))?;
        }
        Ok(())
    }

    /// What the model is made of, and what a device needs for it.
    fn size(&self) -> Result<()> {
        let report = self.report;
        // A linear model has no projection.
        let projection = match report.projection.as_str() {
            "none" => String::new(),
            name => format!(" ({name})"),
        };
        say!(
            "  {} {} features{projection}, {} output{}, {} bits a weight",
            report.features,
            report.family,
            report.outputs,
            if report.outputs == 1 { "" } else { "s" },
            report.bits
        )?;
        say!(
            "  trained on {} of {} in {:.1} s, seed {}",
            counted(report.train_rows, "row"),
            counted(report.inputs, "input"),
            report.seconds,
            report.seed
        )?;
        let names = bytes_of_names(self.model, self.schema)?;
        if 3 * names > report.bytes {
            say_wrapped(&format!(
                "  {names} of the bytes are names of columns: `--no-column-names` leaves them out"
            ))?;
        }
        let form = self.arguments.with_code.unwrap_or(Form::Fast);
        let core = self.arguments.core.unwrap_or(Core::CortexM0);
        say_wrapped(&output::on_device("on a Cortex-M0 in Rust", self.model, form, core))
    }

    /// What training chose.
    fn choices(&self) -> Result<()> {
        let report = self.report;
        let logs = match report.logged_inputs {
            0 => String::new(),
            n => format!(", logarithm of {}", counted(n, "input")),
        };
        let relevance = if report.relevance { ", a frequency learned for every input" } else { "" };
        say_wrapped(&format!(
            "  chosen: {} input map{logs}{relevance}{}{}",
            report.map,
            frequencies(report),
            head(report)
        ))?;
        if !report.categories.is_empty() {
            let columns = numbers(&report.categories);
            say!("  columns of whole numbers taken as categories: --text {columns}")?;
        }
        Ok(())
    }

    /// Errors beside that of the headline.
    fn errors(&self) -> Result<()> {
        let report = self.report;
        let percent = |error: f64| error_percent(&report.task, error);
        if let Some(weighted) = report.weighted_error {
            let error = named_error(&report.task, weighted);
            let all = if report.baselines.is_some() { ", as for the baselines" } else { "" };
            say!(
                "  {error} with test rows counted by their weights{all}; all else counts them once"
            )?;
        }
        if let Some(uneven) = &self.uneven {
            say_wrapped(&of_classes(uneven, &self.schema.classes))?;
        }
        if let (Some(float), Some(nearest), Some(compensated)) =
            (report.error_float, report.error_nearest, report.error_compensated)
        {
            say_wrapped(&format!(
                "  cost of rounding: {} with real weights, {} as they are rounded here, {} if each \
                 were rounded by itself",
                percent(float),
                percent(compensated),
                percent(nearest)
            ))?;
        }
        if let Some(Smaller { bytes, held_out, than }) = report.smaller {
            say_wrapped(&format!(
                "  {bytes} bytes may do (`--flash {bytes}`): {} on rows that the search held out, \
                 where this model had {}",
                named_error(&report.task, held_out),
                percent(than)
            ))?;
        }
        if let Some(Faster { instructions, than_instructions, held_out, than }) = report.faster {
            // Two digits are enough; rounded up, so that the model keeps the limit.
            let limit = rounded_up(instructions);
            say_wrapped(&format!(
                "  {limit} instructions a prediction may do (`--instructions {limit}`), {:.0} times \
                 fewer: {} on rows that the search held out, where this model had {}",
                than_instructions as f64 / limit as f64,
                named_error(&report.task, held_out),
                percent(than)
            ))?;
        }
        if let Some(found) = &report.baselines {
            say!("  baselines: {}", output::baselines(&report.task, found))?;
        }
        if let Some(rmse) = report.rmse {
            say!("  {}", output::rmse(rmse, report.baselines.as_ref()))?;
        }
        if let Some(detection) = &report.detection {
            say!("  {}", described(detection))?;
        }
        Ok(())
    }

    /// What was guessed of the data, with the options that say otherwise.
    fn guesses(&self) -> Result<()> {
        let (source, schema) = (&self.arguments.source, self.schema);
        if schema.recordings.group.is_some() && source.group.is_none() {
            say!("  {BY_FILE}")?;
        }
        let target = self.target.as_ref().map(|name| quoted(&out::name(name)));
        if schema.unlabelled() {
            say!("  all columns are inputs: `--target COLUMN` leaves one with labels out")?;
        } else if let (Some(target), None) =
            (target.or_else(|| self.target_number()), &source.target)
        {
            say!("  target: {target}, the last column; `--target` names another")?;
        }
        if let (Some(classes), None) = (self.numbers_as_classes, source.task) {
            say_wrapped(&format!(
                "  task: classification, {classes} classes, since the target has few different \
                 whole numbers; `--task regression` predicts numbers"
            ))?;
        }
        if self.arguments.could_be_searched() && !self.streamed {
            say_wrapped(
                "  not searched, since options of the model are given: with `--flash 2k` these are \
                 kept, and the rest is chosen for the best model of so many bytes",
            )?;
        }
        Ok(())
    }

    /// The target by its number among the columns, if it is one of them.
    fn target_number(&self) -> Option<String> {
        let columns = &self.schema.columns;
        let place = columns.iter().position(|column| column.kind == ColumnKind::Target)?;
        Some(format!("column {}", place + 1))
    }
}

/// Prints a line that is broken where the terminal ends.
fn say_wrapped(text: &str) -> Result<()> {
    say!("{}", wrapped(text, 4))
}

/// Bytes of a model's notes that are names of columns: of this schema, as the notes have it.
fn bytes_of_names(model: &Model<'_>, schema: &Schema) -> Result<usize> {
    let nameless = serde_json::to_string(&schema.clone().without_names().for_notes())?;
    Ok(model.notes().len().saturating_sub(nameless.len()))
}

/// The frequencies of the banks that have one.
fn frequencies(report: &Report) -> String {
    let banks = report.family.split(',').zip(&report.frequency);
    let drawn = banks.filter(|(family, _)| !["linear", "maxout"].contains(family));
    let all: Vec<String> = drawn.map(|(_, frequency)| format!("{frequency:.3}")).collect();
    if all.is_empty() { String::new() } else { format!(", frequency {}", all.join(", ")) }
}

/// How the head was fitted.
fn head(report: &Report) -> String {
    let Some(loss) = report.loss else { return String::new() };
    let boxed = report.box_c.map_or(String::new(), |c| format!(" within a box of {c}"));
    match loss {
        Loss::Squared if report.box_c.is_none() => format!(", lambda {:.1e}", report.lambda),
        _ => format!(", {} loss{boxed}, lambda {:.1e}", loss.name(), report.lambda),
    }
}

/// How good a model is where all classes count the same, and with the class that it tells worst.
fn of_classes(uneven: &Evaluation, names: &[String]) -> String {
    let balanced = percent(uneven.balanced_error());
    let mut worst: Option<(u64, u64, usize)> = None;
    for (class, row) in uneven.confusion.iter().enumerate() {
        let rows: u64 = row.iter().sum();
        let wrong = rows - row[class];
        if worst.is_none_or(|(most, of, _)| wrong * of > most * rows) && rows > 0 {
            worst = Some((wrong, rows, class));
        }
    }
    let worst = worst.filter(|&(wrong, ..)| wrong > 0).map_or_else(String::new, |worst| {
        let (wrong, rows, class) = worst;
        format!("; {wrong} of {rows} wrong of the class {}", out::name(&names[class]))
    });
    format!("  balanced error, the mean over the classes: {balanced}{worst}")
}

/// What a detector does on the test rows.
fn described(detection: &Detection) -> String {
    let part = |share: Option<f64>, what: &str| match share {
        Some(share) => format!("{} of {what}", percent(share)),
        None => format!("no {what} to judge by"),
    };
    let auc = detection.auc.map_or(String::new(), |auc| format!(", AUC {auc:.4}"));
    format!(
        "alarms: {}, {}{auc}",
        part(detection.false_alarms, "normal rows"),
        part(detection.detected, "anomalies")
    )
}

/// A count of two digits and zeros that is no less.
fn rounded_up(count: u64) -> u64 {
    let unit = 10u64.pow(count.max(1).ilog10().saturating_sub(1));
    count.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::rounded_up;

    #[test]
    fn limits_of_two_digits_are_never_less() {
        assert_eq!([1, 9, 99, 100, 101, 48_231].map(rounded_up), [1, 9, 99, 100, 110, 49_000]);
    }
}
