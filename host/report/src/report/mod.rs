//! What was done and how good it is: the page of a training, and that of an evaluation.

mod curves;
mod data;
mod drift;
mod importance;
mod model;
mod next;
mod parts;
mod quality;
mod thresholds;
mod verdict;
mod worst;

use crate::page::Page;
use koan::Model;
use koan_data::{Table, Task};
use koan_trainer::internal::anomaly::detect;
use koan_trainer::internal::learning_curve::learning_curves;
use koan_trainer::{Baselines, Error, Goal, Progress, Report, TrainOptions, Trained, evaluate};

use crate::words::{error_percent, task_name};
use crate::{Asked, Origin, Result};
use verdict::Judged;

/// A training, and the rows to judge its model by.
#[derive(Clone, Copy, Debug)]
pub struct Training<'t> {
    /// The model, judged by `test`.
    pub trained: &'t Trained,
    /// The rows that it was trained on.
    pub train: &'t Table,
    /// The rows to judge by.
    pub test: &'t Table,
    /// What was asked for; what a search found is not in it.
    pub options: &'t TrainOptions,
    /// The model's name, the files and the command.
    pub origin: &'t Origin,
}

/// The page of a training.
///
/// Models of other sizes and of fewer training rows are fitted for it, which takes the most time.
///
/// # Errors
/// What training may fail with, no rows to judge by, and [`koan_trainer::Error::Cancelled`].
pub fn of_training(training: &Training<'_>, progress: &Progress) -> Result<String> {
    let &Training { trained, train, test, options, origin } = training;
    check_rows(test)?;
    let Trained { blob, report, choice } = trained;
    let model = Model::parse(blob)?;
    let predicts = options.goal == Goal::Predict;
    let curves = if predicts {
        let options = as_chosen(options, report);
        let own = (blob.as_slice(), report.lambda);
        Some(learning_curves(own, train, test, &options, progress)?)
    } else {
        None
    };
    let mut page = Page::new(&format!("{}: a koan model", origin.name));
    let found = if predicts { quality::found(blob, test)? } else { Vec::new() };
    let judged = Judged {
        model: &model,
        task: &report.task,
        error: report.judged_error(),
        rows: report.rows,
        weighted: report.weighted_error.map(|_| counted_alike(test)),
        recordings: test.division.groups(),
        alike: test.target.is_one_value(),
        called: "test rows",
        baselines: report.baselines.as_ref(),
        balanced: report.balanced_errors(),
    };
    let drift = drift::measure(train, test);
    let steps = if predicts {
        let figures = next::Figures {
            curves: curves.as_ref(),
            found: &found,
            drift: drift.as_ref(),
            given: match (&options.features[..], options.candidates) {
                // Of so few candidates no more can be kept.
                (&[features], Some(all)) if features > all / 2 => None,
                (&[features], _) => Some(features.into()),
                _ => None,
            },
        };
        next::steps(report, &model, &figures, origin.asked)
    } else {
        Vec::new()
    };
    page.verdict(&verdict::of(&judged, steps));
    // The verdict says it already.
    for warning in report.warnings.iter().filter(|w| !w.starts_with("the model is no better")) {
        page.warning(warning);
    }
    page.heading("How good it is");
    errors(&mut page, trained);
    if let (Some(detection), Goal::Detect { normal, .. }) = (&report.detection, options.goal) {
        quality::detection(&mut page, detection, blob, test, normal)?;
    }
    match options.goal {
        Goal::Predict => quality::predictions(&mut page, blob, &model, test)?,
        Goal::Embed { .. } => quality::embedding(&mut page, blob, test)?,
        Goal::Features | Goal::Detect { .. } => {}
    }
    if predicts {
        progress.phase("report: shuffling inputs")?;
        quality::details(&mut page, &model, test)?;
    }
    if let Some(curves) = &curves {
        curves::section(&mut page, curves, report, test)?;
    }
    curves::search(&mut page, choice, options)?;
    page.heading("The data");
    data::files(&mut page, origin);
    data::facts(&mut page, &[("training", train), ("test", test)], predicts);
    drift::section(&mut page, drift.as_ref());
    model::section(&mut page, &model, Some(choice));
    repeat(&mut page, &model, origin, Some(report.seconds));
    Ok(page.render())
}

/// Of no rows there is nothing to tell.
fn check_rows(table: &Table) -> Result<()> {
    match table.rows() {
        0 => Err(Error::Impossible("a page needs rows to judge the model by".into()).into()),
        _ => Ok(()),
    }
}

/// The class of normal rows in a detector's model.
const NORMAL: u32 = 1;

/// The options with the loss and the bits that a search chose, and without the names of columns
/// that it left out.
fn as_chosen(options: &TrainOptions, report: &Report) -> TrainOptions {
    let loss = report.loss.or(options.loss);
    let column_names = options.column_names && !report.nameless;
    TrainOptions { loss, bits: Some(report.bits), column_names, ..options.clone() }
}

/// A model, and the rows to judge it by.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'e> {
    /// The model.
    pub blob: &'e [u8],
    /// The rows.
    pub table: &'e Table,
    /// What it must beat on them, if that is known.
    pub baselines: Option<&'e Baselines>,
    /// The model's name, the files and the command.
    pub origin: &'e Origin,
}

/// The page of an evaluation.
///
/// A detector of anomalies is judged by its alarms: the first class of `table` is then that of
/// anomalies.
///
/// # Errors
/// Rows that do not suit the model, or no rows.
pub fn of_evaluation(evaluation: &Evaluation<'_>) -> Result<String> {
    let &Evaluation { blob, table, baselines, origin } = evaluation;
    check_rows(table)?;
    let model = &Model::parse(blob)?;
    let found = evaluate(blob, table)?;
    let error = found.weighted_error.unwrap_or(found.error);
    let task = table.schema.task();
    let detects = task == Task::Classification && !model.has_probabilities();
    // Those of classes say nothing of a model that was not told them.
    let baselines = baselines.filter(|_| !detects);
    let mut page = Page::new(&format!("{}: an evaluation", origin.name));
    let judged = Judged {
        model,
        task: if detects { "anomaly" } else { task_name(task) },
        error,
        rows: table.rows(),
        weighted: found.weighted_error.map(|_| counted_alike(table)),
        recordings: table.division.groups(),
        alike: table.target.is_one_value(),
        called: "rows",
        baselines,
        balanced: None,
    };
    page.verdict(&verdict::of(&judged, Vec::new()));
    page.heading("How good it is");
    let mut rows = vec![("the model".to_owned(), error)];
    rows.extend(baselines.map(baseline_rows).unwrap_or_default());
    let caption = match baselines {
        None if detects => "Share of these rows that are misclassified",
        _ if found.weighted_error.is_some() => {
            "Error on these rows, each counted by its weight; baselines are cross-validated on them"
        }
        None => "Error on these rows",
        Some(_) => "Error on these rows; baselines are cross-validated on them",
    };
    errors_table(&mut page, task_name(task), caption, rows);
    if detects {
        let detection = detect(blob, table, Some(NORMAL))?;
        quality::detection(&mut page, &detection, blob, table, Some(NORMAL))?;
    } else {
        quality::predictions(&mut page, blob, model, table)?;
    }
    quality::details(&mut page, model, table)?;
    page.heading("The data");
    data::files(&mut page, origin);
    data::facts(&mut page, &[("rows", table)], true);
    model::section(&mut page, model, None);
    repeat(&mut page, model, origin, None);
    Ok(page.render())
}

/// The model beside what it must beat and what rounding costs.
fn errors(page: &mut Page, trained: &Trained) {
    let report = &trained.report;
    let numbers = report.task == "regression";
    if let Some(error) = report.weighted_error {
        let mut rows = vec![("the model".to_owned(), error)];
        rows.extend(report.baselines.as_ref().map(baseline_rows).unwrap_or_default());
        let measure = match numbers {
            true => "Relative RMS error, test rows counted by their weights",
            false => "Share of the test rows' weight that is misclassified",
        };
        errors_table(page, &report.task, measure, rows);
    }
    let mut rows = vec![("the model".to_owned(), report.error)];
    for (name, error) in [
        ("the same with real weights", report.error_float),
        ("with each weight rounded to the nearest level", report.error_nearest),
    ] {
        rows.extend(error.map(|error| (name.to_owned(), error)));
    }
    // In one measure with the model's.
    let baselines = report.baselines.as_ref().filter(|_| report.weighted_error.is_none());
    rows.extend(baselines.map(baseline_rows).unwrap_or_default());
    let measure = match report.task.as_str() {
        "regression" => "Relative RMS error: RMSE over the RMS of the target",
        "embedding" => "Share of the features' variance that is lost",
        _ => "Share of the test rows that are misclassified",
    };
    errors_table(page, &report.task, measure, rows);
}

/// How many rows that count the same say as much as those of a table, which have weights (Kish,
/// Survey Sampling, 1965).
fn counted_alike(table: &Table) -> usize {
    let weights = || (0..table.rows()).map(|row| table.weight(row));
    let (sum, squares): (f64, f64) =
        (weights().sum(), weights().map(|weight| weight * weight).sum());
    if squares > 0.0 { (sum * sum / squares).round() as usize } else { 0 }
}

/// Predictors with their errors, and bars.
fn errors_table(page: &mut Page, task: &str, caption: &str, rows: Vec<(String, f64)>) {
    let largest = rows.iter().map(|row| row.1).fold(f64::MIN_POSITIVE, f64::max);
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, error)| (vec![name, error_percent(task, error)], vec![error / largest]))
        .collect();
    page.bars(caption, &["predictor", "error"], &["error"], &rows);
}

fn baseline_rows(baselines: &Baselines) -> Vec<(String, f64)> {
    let mut rows = vec![("baseline: a constant".to_owned(), baselines.constant)];
    let linear = baselines.linear;
    rows.extend(linear.map(|error| ("baseline: linear in the inputs".to_owned(), error)));
    rows
}

/// All that is needed to do it again.
fn repeat(page: &mut Page, model: &Model<'_>, origin: &Origin, seconds: Option<f64>) {
    page.heading("How to repeat it");
    let same = match origin.asked {
        Asked::Command => "files, command",
        Asked::Python => "rows, parameters",
    };
    page.text(&format!(
        "The same {same} and version give the same bytes, with any number of threads."
    ));
    page.code(&origin.lines);
    let mut facts = vec![
        ("koan", env!("CARGO_PKG_VERSION").to_owned()),
        ("format", koan::format::VERSION.to_string()),
        ("seed", model.seed().to_string()),
        ("CRC-32 of the model", format!("{:08x}", checksum(model.blob()))),
    ];
    facts.extend(
        seconds.map(|seconds| ("seconds (this page not counted)", format!("{seconds:.1}"))),
    );
    page.facts("This run", facts);
}

/// The checksum that ends a blob. That of the whole, this one included, is the same for all blobs.
fn checksum(blob: &[u8]) -> u32 {
    blob.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use koan_data::TableBuilder;
    use koan_trainer::tune::{Limits, train_usual};
    use koan_trainer::{FamilyName, Loss, Progress, train};

    use super::*;

    #[test]
    fn other_sizes_have_the_loss_and_the_bits_of_the_model() {
        let table = koan_data::digits::table().select(&(0..100).collect::<Vec<_>>());
        let found = TrainOptions {
            features: vec![16],
            frequency: Some(vec![1.0]),
            lambda: Some(0.01),
            loss: Some(Loss::Logistic),
            bits: Some(3),
            ..TrainOptions::default()
        };
        let report = train(&table, None, &found, &Progress::none()).unwrap().report;
        let options = as_chosen(&TrainOptions::default(), &report);
        assert_eq!((options.loss, options.bits), (Some(Loss::Logistic), Some(3)));
    }

    #[test]
    fn pages_tell_models_apart_by_their_checksums() {
        let digits: &[u8] = include_bytes!("../../../../firmware-example/digits.koan");
        let tiny: &[u8] = include_bytes!("../../../../core/tests/tiny.koan");
        for blob in [digits, tiny] {
            assert_eq!(checksum(blob), crc32fast::hash(&blob[..blob.len() - 4]));
        }
        assert_ne!(checksum(digits), checksum(tiny));
    }

    /// A search leaves out names that are too long for the flash: so do the runs of other sizes.
    #[test]
    fn other_sizes_have_the_names_that_the_model_has() {
        let x: Vec<f64> = (0..90).map(|row| f64::from(row * 37 % 90)).collect();
        let y: Vec<f64> = x.iter().map(|x| 5.0 - 3.0 * x).collect();
        let table = TableBuilder::new(90).column("a name that is longer than most are", &x[..]);
        let table = table.values("y", &y[..]).build().unwrap();
        let (options, quiet) = (TrainOptions::default(), Progress::none());
        for (flash, nameless) in [(110, true), (300, false)] {
            let (families, limits) = ([FamilyName::Linear], Limits::of_flash(flash));
            let (found, _) =
                train_usual(&table, None, &options, &families, limits, &quiet).unwrap();
            let report = &found.report;
            assert_eq!(report.nameless, nameless);
            let options = as_chosen(&options, report);
            let own = (&found.blob[..], report.lambda);
            let curves = learning_curves(own, &table, &table, &options, &quiet).unwrap();
            let mut runs = curves.runs.iter();
            let same = runs.find(|run| run.features == report.features && run.bits == report.bits);
            assert_eq!(same.map(|run| run.bytes), Some(report.bytes));
        }
    }

    #[test]
    fn of_no_rows_there_is_no_page() {
        let table = koan_data::digits::table().select(&(0..100).collect::<Vec<_>>());
        let options = TrainOptions {
            features: vec![16],
            frequency: Some(vec![1.0]),
            lambda: Some(0.01),
            ..TrainOptions::default()
        };
        let trained = &train(&table, None, &options, &Progress::none()).unwrap();
        let (blob, none) = (&trained.blob[..], &table.select(&[]));
        let origin = &Origin::of_command("m.koan", "koan eval m.koan d.csv");
        let options = &options;
        let of_none = Training { trained, train: &table, test: none, options, origin };
        let page = of_training(&of_none, &Progress::none());
        assert!(page.unwrap_err().to_string().contains("needs rows"));
        let evaluation = |table| Evaluation { blob, table, baselines: None, origin };
        let page = of_evaluation(&evaluation(none));
        assert!(page.unwrap_err().to_string().contains("needs rows"));
        // Of some without baselines no caption speaks of these.
        let page = of_evaluation(&evaluation(&table.select(&[0, 1]))).unwrap();
        assert!(page.contains("Error on these rows") && !page.contains("baselines"), "{page}");
    }

    #[test]
    fn a_page_speaks_the_words_of_what_asks() {
        let part = |odd: usize| (0..400).filter(|row| row % 2 == odd).collect::<Vec<_>>();
        let table = koan_data::digits::table();
        let (fit, test) = (table.select(&part(0)), table.select(&part(1)));
        // Little enough for some advice.
        let options = TrainOptions {
            features: vec![16],
            frequency: Some(vec![1.0]),
            bits: Some(2),
            ..TrainOptions::default()
        };
        let trained = &train(&fit, Some(&test), &options, &Progress::none()).unwrap();
        let steps = |origin: &Origin| {
            let options = &options;
            let training = Training { trained, train: &fit, test: &test, options, origin };
            let page = of_training(&training, &Progress::none()).unwrap();
            assert!(page.contains(&format!("<code>{}</code>", origin.lines)));
            let (_, after) = page.split_once("What to try next").unwrap();
            after.split_once("</ul>").unwrap().0.to_owned()
        };
        let command = steps(&Origin::of_command("m.koan", "koan train d.csv"));
        let python = steps(&Origin::of_python("m", "clf.report(X, y)"));
        assert!(command.contains("<code>--class-weights balanced</code>"), "{command}");
        assert!(python.contains("<code>class_weight=&quot;balanced&quot;</code>"), "{python}");
        assert!(!python.contains("--") && !command.contains("=&quot;"), "{python} {command}");
        assert_eq!(command.matches("<li>").count(), python.matches("<li>").count());
    }
}
