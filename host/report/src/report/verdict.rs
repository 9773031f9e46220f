//! The verdict on a model, in words that its figures bear out.

use koan::{Form, Model};
use koan_trainer::Baselines;
use koan_trainer::tune::{Core, code_bytes};

use crate::page::chart::wilson;
use crate::page::grouped;
use crate::page::verdict::{Grade, Tile, Verdict};
use crate::words::{error_percent, named_error, percent};

/// The core that instructions are told for.
const CORE: Core = Core::CortexM0;
/// Share of the linear model's error from which a model is far better.
const FAR: f64 = 0.5;

/// What is judged.
pub struct Judged<'j> {
    /// The model.
    pub model: &'j Model<'j>,
    /// The task, as reports have it.
    pub task: &'j str,
    /// Its error.
    pub error: f64,
    /// Rows that it was judged by.
    pub rows: usize,
    /// Where rows count as their weights say, in all errors that are here: as many rows that count
    /// the same say as much.
    pub weighted: Option<usize>,
    /// The recordings that they are of, if they are of some.
    pub recordings: Option<usize>,
    /// Whether all of them have the same target.
    pub alike: bool,
    /// What these rows are called.
    pub called: &'j str,
    /// What it must beat.
    pub baselines: Option<&'j Baselines>,
    /// Where all classes were to count the same: the mean error over them, and that of always
    /// predicting one class.
    pub balanced: Option<[f64; 2]>,
}

/// The verdict, with steps to try next.
pub fn of(judged: &Judged<'_>, next: Vec<String>) -> Verdict {
    let (grade, words) = words(judged);
    let Judged { task, error, rows, recordings, called, .. } = judged;
    let called = if *rows == 1 { called.trim_end_matches('s') } else { called };
    let mut text = format!("{} on {rows} {called}", named_error(task, *error));
    text += &match recordings {
        Some(1) => " of 1 recording".to_owned(),
        Some(count) => format!(" of {count} recordings"),
        None => String::new(),
    };
    if judged.weighted.is_some() {
        text += ", each counted by its weight";
    }
    if shares(task) {
        // An interval takes rows that do not depend on each other.
        text += &match recordings {
            Some(_) => " (no interval: rows of a recording are alike)".to_owned(),
            None if judged.weighted.is_some() => String::new(),
            None => {
                let (low, high) = wilson(*error, *rows);
                format!(" (95 % interval: {} to {})", percent(low), percent(high))
            }
        };
    }
    text += &format!(", in {} bytes.", judged.model.blob().len());
    Verdict { grade, words, text, tiles: tiles(judged), next }
}

/// Whether the error is a share of rows, which has an interval.
pub fn shares(task: &str) -> bool {
    matches!(task, "classification" | "anomaly")
}

/// Whether an error is below another by more than chance, of so many rows each; for errors
/// that are no shares of rows, by a twentieth.
pub fn clearly_below(task: &str, error: f64, other: f64, rows: usize) -> bool {
    if !shares(task) {
        return error < 0.95 * other;
    }
    let variance = |share: f64| share * (1.0 - share) / rows.max(1) as f64;
    other - error > 1.96 * (variance(error) + variance(other)).sqrt()
}

fn words(judged: &Judged<'_>) -> (Grade, String) {
    let &Judged { task, error, .. } = judged;
    let rows = judged.weighted.unwrap_or(judged.rows);
    let Some(baselines) = judged.baselines else {
        let words = match task {
            "anomaly" => "A detector of anomalies",
            "embedding" => "Coordinates without a target: how good they are depends on their use",
            _ if judged.recordings == Some(1) => {
                "All rows are of one recording, which leaves none to fit simpler models to"
            }
            _ if judged.alike && rows > 1 => {
                "All rows have the same target, which leaves nothing to compare the model with"
            }
            _ => "There are too few rows to compare it with simpler models",
        };
        return (Grade::Fair, format!("{words}."));
    };
    if let Some([error, constant]) = judged.balanced {
        let what = "always predicting one class, where all classes count the same";
        return match error < constant {
            // Each class has as few rows as its share of them.
            true if clearly_below(task, error, constant, rows / judged.model.outputs().max(2)) => {
                (Grade::Good, format!("The model is better than {what}."))
            }
            true => (Grade::Fair, format!("The model is hardly better than {what}.")),
            false => (Grade::Poor, format!("Of no use: {what}, is as good.")),
        };
    }
    let constant = match judged.weighted {
        _ if task == "regression" => "always predicting the mean",
        Some(_) => "always predicting the class of the most weight",
        None => "always predicting the most frequent class",
    };
    if error >= baselines.constant {
        return (Grade::Poor, format!("Of no use: {constant} is as good."));
    }
    let is_linear = judged.model.banks().all(|bank| bank.family() == koan::Family::Linear);
    let Some(linear) = baselines.linear.filter(|_| !is_linear) else {
        let clearly = clearly_below(task, error, baselines.constant, rows);
        let what = if is_linear { "A linear model" } else { "The model" };
        return match clearly {
            true => (Grade::Good, format!("{what} is better than {constant}.")),
            false => (Grade::Fair, format!("{what} is hardly better than {constant}.")),
        };
    };
    if error >= linear {
        return (Grade::Poor, "No better than a linear model.".into());
    }
    if !clearly_below(task, error, linear, rows) {
        let why = if shares(task) { "the difference may be chance" } else { "by a few percent" };
        return (Grade::Fair, format!("Hardly better than a linear model: {why}."));
    }
    let times = linear / error;
    if error <= FAR * linear && times.is_finite() {
        let words = format!("Far better than a linear model, which errs {times:.1} times as much.");
        return (Grade::Good, words);
    }
    (Grade::Good, "Better than a linear model.".into())
}

fn tiles(judged: &Judged<'_>) -> Vec<Tile> {
    let &Judged { model, task, error, baselines, .. } = judged;
    let weighted = judged.weighted.is_some();
    let measure = match task {
        "regression" if weighted => "RMSE over the RMS of the target, rows counted by weight",
        "regression" => "RMSE over the RMS of the target",
        "embedding" => "of the features' variance lost",
        _ if weighted => "of the rows' weight misclassified",
        _ => "of the rows misclassified",
    };
    let tile = |name, value: String, note: &str| Tile { name, value, note: note.into() };
    let percent = |error| error_percent(task, error);
    let mut tiles = vec![tile("error", percent(error), measure)];
    if let Some([error, constant]) = judged.balanced {
        let note = format!("error, all counting the same; one class alone: {}", percent(constant));
        tiles.push(tile("mean over the classes", percent(error), &note));
    }
    if let Some(baselines) = baselines {
        let linear = baselines.linear.map_or("–".to_owned(), percent);
        tiles.push(tile("a linear model", linear, "the same measure"));
        let note = match weighted {
            _ if task == "regression" => "the mean",
            true => "the class of the most weight",
            false => "the most frequent class",
        };
        tiles.push(tile("a constant", percent(baselines.constant), note));
    }
    let bytes = |bytes: usize| format!("{} bytes", counted(bytes as u64));
    let ram = model.buffer_sizes(Form::Fast).bytes();
    let code = counted(code_bytes(model, Form::Fast) as u64);
    let note =
        format!("the model; about {code} bytes of code in Rust come on top on a {}", CORE.name());
    tiles.push(tile("flash", bytes(model.blob().len()), &note));
    tiles.push(tile("RAM", bytes(ram), "buffers; the stack comes on top"));
    let note = format!("about, for a prediction on a {}", CORE.name());
    tiles.push(tile("instructions", counted(CORE.instructions_of(model)), &note));
    tiles
}

/// A count with its thousands apart.
pub fn counted(count: u64) -> String {
    grouped(&count.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(task: &str, error: f64, constant: f64, linear: Option<f64>) -> Verdict {
        verdict_of(task, error, (constant, linear), None)
    }

    fn verdict_of(
        task: &str,
        error: f64,
        (constant, linear): (f64, Option<f64>),
        recordings: Option<usize>,
    ) -> Verdict {
        let blob = include_bytes!("../../../../firmware-example/digits.koan");
        let model = Model::parse(blob).unwrap();
        let baselines = Some(&Baselines { constant, linear, ..Baselines::default() });
        let (rows, called) = (1000, "rows");
        let judged = Judged {
            model: &model,
            task,
            error,
            rows,
            weighted: None,
            recordings,
            alike: false,
            called,
            baselines,
            balanced: None,
        };
        of(&judged, Vec::new())
    }

    #[test]
    fn words_follow_from_the_figures() {
        for (task, error, constant, linear, grade, words) in [
            ("classification", 0.3, 0.3, Some(0.1), Grade::Poor, "Of no use"),
            ("classification", 0.2, 0.3, Some(0.2), Grade::Poor, "No better than a linear"),
            ("classification", 0.1, 0.3, Some(0.11), Grade::Fair, "may be chance"),
            ("classification", 0.1, 0.3, Some(0.15), Grade::Good, "Better than a linear"),
            ("classification", 0.1, 0.3, Some(0.25), Grade::Good, "errs 2.5 times as much"),
            ("classification", 0.0, 0.3, Some(0.25), Grade::Good, "Better than a linear"),
            ("classification", 0.1, 0.3, None, Grade::Good, "better than always"),
            ("classification", 0.29, 0.3, None, Grade::Fair, "hardly better than always"),
            ("regression", 0.1, 0.3, Some(0.102), Grade::Fair, "by a few percent"),
            ("regression", 0.1, 0.3, Some(0.2), Grade::Good, "errs 2.0 times as much"),
            ("regression", 0.4, 0.3, Some(0.5), Grade::Poor, "always predicting the mean"),
        ] {
            let found = verdict(task, error, constant, linear);
            assert_eq!(found.grade, grade, "{error} {linear:?}: {}", found.words);
            assert!(found.words.contains(words), "{}", found.words);
        }
    }

    /// The most frequent class errs least, and would be the better model, if all classes did not
    /// count the same.
    #[test]
    fn models_of_rare_classes_are_judged_by_the_mean_over_the_classes() {
        let blob = include_bytes!("../../../../firmware-example/digits.koan");
        let model = &Model::parse(blob).unwrap();
        let baselines = Some(&Baselines { constant: 0.03, ..Baselines::default() });
        for (mean, grade) in [(0.2, Grade::Good), (0.88, Grade::Fair), (0.9, Grade::Poor)] {
            let judged = Judged {
                model,
                task: "classification",
                error: 0.1,
                rows: 1000,
                weighted: None,
                recordings: None,
                alike: false,
                called: "test rows",
                baselines,
                balanced: Some([mean, 0.9]),
            };
            let found = of(&judged, Vec::new());
            assert_eq!(found.grade, grade, "{}", found.words);
            assert!(found.tiles.iter().any(|tile| tile.value == percent(mean)));
        }
    }

    #[test]
    fn rows_of_recordings_have_no_interval() {
        let text = |task, recordings| verdict_of(task, 0.1, (0.3, None), recordings).text;
        let of = |recordings| text("classification", recordings);
        assert!(of(None).contains(" on 1000 rows (95 % interval: 8.29 % to 12.02 %), in"));
        let told = " on 1000 rows of 4 recordings (no interval: rows of a recording are alike), in";
        assert!(of(Some(4)).contains(told));
        assert!(of(Some(1)).contains("of 1 recording (no"));
        assert!(text("regression", Some(4)).contains("on 1000 rows of 4 recordings, in"));
    }

    /// Of rows that count by their weights fewer are as good as others, and the class that a constant
    /// predicts is that of the most weight.
    #[test]
    fn rows_count_by_their_weights() {
        let blob = include_bytes!("../../../../firmware-example/digits.koan");
        let model = &Model::parse(blob).unwrap();
        let found = |weighted, constant, linear| {
            let judged = Judged {
                model,
                task: "classification",
                error: 0.1,
                rows: 5000,
                weighted,
                recordings: None,
                alike: false,
                called: "test rows",
                baselines: Some(&Baselines { constant, linear, ..Baselines::default() }),
                balanced: None,
            };
            of(&judged, Vec::new())
        };
        assert_eq!(found(None, 0.5, Some(0.13)).grade, Grade::Good);
        let some = found(Some(50), 0.5, Some(0.13));
        assert_eq!(some.grade, Grade::Fair);
        assert!(some.text.contains(" on 5000 test rows, each counted by its weight, in "));
        assert!(
            found(Some(50), 0.1, None).words.contains("the class of the most weight is as good")
        );
    }

    /// However many rows one recording has, no simpler model of others can be judged by it.
    #[test]
    fn one_recording_is_not_too_few_rows() {
        let blob = include_bytes!("../../../../firmware-example/digits.koan");
        let model = &Model::parse(blob).unwrap();
        let words = |recordings, alike| {
            let judged = Judged {
                model,
                task: "classification",
                error: 0.1,
                rows: 5000,
                weighted: None,
                recordings,
                alike,
                called: "rows",
                baselines: None,
                balanced: None,
            };
            of(&judged, Vec::new()).words
        };
        assert!(words(Some(1), true).starts_with("All rows are of one recording"));
        assert!(words(None, true).starts_with("All rows have the same target"));
        assert!(words(None, false).starts_with("There are too few rows"));
    }

    #[test]
    fn one_row_is_no_rows() {
        let blob = include_bytes!("../../../../firmware-example/digits.koan");
        let model = &Model::parse(blob).unwrap();
        for (rows, called, told) in
            [(1, "rows", "1 row ("), (1, "test rows", "1 test row ("), (2, "rows", "2 rows (")]
        {
            let judged = Judged {
                model,
                task: "classification",
                error: 0.0,
                rows,
                weighted: None,
                recordings: None,
                alike: false,
                called,
                baselines: None,
                balanced: None,
            };
            let text = of(&judged, Vec::new()).text;
            assert!(text.contains(&format!(" on {told}")), "{text}");
        }
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        assert_eq!(counted(123), "123");
        assert_eq!(counted(1234), "1234");
        assert_eq!(counted(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
