//! What to try next, from what the figures of a report say.

use koan::{Family, Model};
use koan_trainer::internal::learning_curve::{LearningCurves, LearningPoint, Run};
use koan_trainer::internal::train::most_columns;
use koan_trainer::{Loss, Report};

use super::drift::Drift;
use super::verdict::clearly_below;
use crate::Asked;
use crate::words::error_percent;

/// Steps that are told, at most.
const MOST: usize = 3;
/// Share of its own error that a model's rounding may add unmentioned.
const ROUNDING: f64 = 0.1;
/// Share of its rows that are found below which a class is worth a step.
const FOUND: f64 = 0.5;
/// Shift of a column between training and test rows that is worth a step.
const SHIFT: f64 = 0.2;
/// Share of a model's error that a much smaller one may have.
const WORSE: f64 = 1.1;
/// Rows of a class from which its share says something.
const ROWS: u64 = 20;

/// What steps are drawn from, besides the training's own report.
pub struct Figures<'f> {
    /// Other sizes, and fewer training rows.
    pub curves: Option<&'f LearningCurves>,
    /// Of each class its name, its test rows, and how many of them are found.
    pub found: &'f [(String, u64, u64)],
    /// Training rows against test rows.
    pub drift: Option<&'f Drift>,
    /// How many features the model was to have, if somebody said so: then no search found them.
    pub given: Option<usize>,
}

/// Steps after a training, the most promising first, in the words of what asks.
pub fn steps(
    report: &Report,
    model: &Model<'_>,
    figures: &Figures<'_>,
    asked: Asked,
) -> Vec<String> {
    let &Figures { curves, found, drift, given } = figures;
    let word = |command: &str, python: &str| match asked {
        Asked::Command => format!("`{command}`"),
        Asked::Python => format!("`{python}`"),
    };
    // Whether all classes were to count the same.
    let alike = report.balanced_errors().is_some();
    let mut steps = Vec::new();
    if let Some(baselines) = report.baselines {
        if report.is_of_no_use() {
            steps.push(format!(
                "Look whether {} names the right column and whether the inputs say anything about \
                 it: see “What the inputs are worth”.",
                word("--target", "y")
            ));
        } else if !alike
            && baselines.linear.is_some_and(|linear| report.judged_error() >= linear)
            && model.banks().any(|bank| bank.family() != Family::Linear)
        {
            steps.push(format!(
                "{} makes a model that is as good in fewer bytes; {} adds the inputs themselves to \
                 this one.",
                word("--family linear", "family=\"linear\""),
                word("--linear", "linear=True")
            ));
        }
    }
    if let (Some(real), Some(rounded)) = (report.error_float, report.error_compensated)
        && rounded > (1.0 + ROUNDING) * real
        && clearly_below(&report.task, real, rounded, report.rows)
        && let Some(bits) = koan::Width::BITS.into_iter().find(|&bits| bits > report.bits)
    {
        steps.push(format!(
            "{}: rounding the weights to {} bits raises the error from {} to {}.",
            word(&format!("--bits {bits}"), &format!("bits={bits}")),
            report.bits,
            error_percent(&report.task, real),
            error_percent(&report.task, rounded)
        ));
    }
    let balanced = word("--class-weights balanced", "class_weight=\"balanced\"");
    if !alike {
        steps.extend(weakest(found, &balanced));
    }
    if let Some(drift) = drift
        && let Some(largest) = drift.shifts.first().filter(|shift| shift.distance > SHIFT)
        && drift.shifted() > 0
    {
        steps.push(format!(
            "Training rows that are like the test rows: the column {} differs most between them, \
             by a shift of {:.2}.",
            largest.name, largest.distance
        ));
    }
    if let Some(curves) = curves {
        steps.extend(more_rows(&report.task, curves));
        steps.extend(size(report, model, (curves, given), asked));
    }
    steps.push(format!(
        "{} searches longer, for the best models of every size.",
        word("koan tune", "KoanSearch")
    ));
    steps.truncate(MOST);
    steps
}

/// The class of which the smallest share is found, if that is small.
fn weakest(found: &[(String, u64, u64)], balanced: &str) -> Option<String> {
    let share = |&(_, rows, hits): &(String, u64, u64)| hits as f64 / rows.max(1) as f64;
    let enough = found.iter().filter(|(_, rows, _)| *rows >= ROWS);
    let weakest = enough.min_by(|a, b| share(a).total_cmp(&share(b)))?;
    (share(weakest) < FOUND).then(|| {
        format!(
            "{balanced}, if rare classes matter: only {} of the {} test rows of the class {} are \
             found.",
            weakest.2, weakest.1, weakest.0
        )
    })
}

/// Points of a learning curve, the last ones, that are looked at together.
const STEPS: usize = 4;

/// What the end of the learning curve says, in words.
pub fn lesson(task: &str, curves: &LearningCurves) -> Option<(bool, String)> {
    let [.., before, last] = curves.by_rows.as_slice() else { return None };
    let LearningPoint { rows, test_error, .. } = *last;
    let clearly =
        |point: &LearningPoint| clearly_below(task, test_error, point.test_error, curves.test_rows);
    // One step may be too short to tell from chance, several in a row need not be.
    let mut falling = 1;
    while falling < STEPS
        && let [.., a, b] = &curves.by_rows[..curves.by_rows.len() - falling + 1]
        && b.test_error < a.test_error
    {
        falling += 1;
    }
    let from_where = curves.by_rows.iter().rev().nth(falling - 1);
    // What is 0 falls no further.
    let falls = test_error > 0.0 && (clearly(before) || from_where.is_some_and(clearly));
    let from = format!(
        "from {} to {rows} training rows the test error went from {} to {}",
        before.rows,
        error_percent(task, before.test_error),
        error_percent(task, test_error)
    );
    let text = if falls {
        format!("{from}: more rows are likely to lower it further")
    } else if test_error > 0.0 && test_error < before.test_error {
        format!("{from}, which may be chance: more rows may help a little")
    } else {
        format!("{from}: more rows of this kind promise little")
    };
    Some((falls, text))
}

fn more_rows(task: &str, curves: &LearningCurves) -> Option<String> {
    let (falls, text) = lesson(task, curves)?;
    falls.then(|| format!("More training rows: {text}."))
}

/// Fewer bytes where more hardly help, more features where they do and were given: what a search
/// finds in more bytes is not seen from the same features in fewer.
fn size(
    report: &Report,
    model: &Model<'_>,
    (curves, given): (&LearningCurves, Option<usize>),
    asked: Asked,
) -> Option<String> {
    let own: Vec<&Run> = curves.runs.iter().filter(|run| run.bits == curves.bits).collect();
    // Others are compared with that, which was fitted as they were.
    let whole = own.iter().max_by_key(|run| run.bytes)?;
    let least = own.iter().filter(|run| 3 * run.bytes <= 2 * whole.bytes);
    let task = &report.task;
    let good = |run: &&&Run| run.error <= WORSE * whole.error;
    if let Some(run) = least.clone().filter(good).min_by_key(|run| run.bytes) {
        let pruned = |bank: koan::Bank<'_>| {
            !matches!(bank.family(), Family::Bin { .. } | Family::Fern { .. })
        };
        let shrinks = asked == Asked::Command && model.banks().all(pruned);
        let how = if shrinks { "`koan shrink` with" } else { "Train with" };
        return Some(format!(
            "{how} {}: {} features in so many bytes have {}, which is hardly worse than {} of {}.",
            flash(&run.bytes.to_string(), asked),
            run.features,
            error_percent(task, run.error),
            error_percent(task, whole.error),
            whole.features
        ));
    }
    let half = least.max_by_key(|run| run.bytes)?;
    let more = 2 * given.filter(|_| whole.features == report.features)?;
    let advised = more <= usize::from(u16::MAX) && may_double(report, model);
    let falls = clearly_below(task, whole.error, half.error, curves.test_rows);
    (advised && falls).then(|| {
        let option = match asked {
            Asked::Command => format!("`--features {more}`"),
            Asked::Python => format!("`n_features={more}`"),
        };
        format!(
            "{option}: from {} to {} features the error fell from {} to {}, and may fall on.",
            half.features,
            whole.features,
            error_percent(task, half.error),
            error_percent(task, whole.error)
        )
    })
}

/// Whether there can be such a model of twice the features.
fn may_double(report: &Report, model: &Model<'_>) -> bool {
    let families = || model.banks().map(|bank| bank.family());
    let columns = |bank: koan::Bank<'_>| match bank.family() {
        Family::Linear => bank.columns() as usize,
        _ => 2 * bank.columns() as usize,
    };
    let bins = model.banks().count() == 1 && families().all(|f| matches!(f, Family::Bin { .. }));
    // Leaves of ferns are fitted by sums over them, whatever the loss.
    let ferns = families().all(|family| matches!(family, Family::Fern { .. }));
    let ridge = ferns || report.loss == Some(Loss::Squared) && report.box_c.is_none();
    model.banks().map(columns).sum::<usize>() <= most_columns(bins, ridge)
}

/// What bounds the bytes, as it is typed.
fn flash(bytes: &str, asked: Asked) -> String {
    match asked {
        Asked::Command => format!("`--flash {bytes}`"),
        Asked::Python => format!("`flash={bytes}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve of these test errors, each of twice the rows of the one before.
    fn curves(errors: &[f64]) -> LearningCurves {
        let point = |(index, &test_error): (usize, &f64)| LearningPoint {
            rows: 100 << index,
            train_error: 0.0,
            test_error,
        };
        LearningCurves {
            train_rows: 1000,
            test_rows: 1000,
            features: 10,
            bits: 4,
            runs: Vec::new(),
            by_rows: errors.iter().enumerate().map(point).collect(),
        }
    }

    #[test]
    fn the_advice_is_what_the_curve_shows() {
        for (errors, falls, words) in [
            (&[0.3, 0.2, 0.1][..], true, "likely to lower"),
            // Each step alone may be chance.
            (&[0.085, 0.076, 0.063, 0.055], true, "likely to lower"),
            (&[0.3, 0.1, 0.1], false, "promise little"),
            (&[0.3, 0.1, 0.12], false, "promise little"),
            (&[0.098, 0.105, 0.1], false, "may help a little"),
            (&[0.0, 0.0], false, "promise little"),
            (&[0.3, 0.1, 0.0], false, "promise little"),
        ] {
            let (found, text) = lesson("classification", &curves(errors)).unwrap();
            assert_eq!(found, falls, "{errors:?}: {text}");
            assert!(text.contains(words), "{errors:?}: {text}");
        }
        assert!(lesson("classification", &curves(&[0.1])).is_none());
    }

    /// What is compared was fitted alike; more bytes are not advised where a search chose them.
    #[test]
    fn sizes_are_compared_with_their_like() {
        let table = koan_data::digits::table().select(&(0..200).collect::<Vec<_>>());
        let options = koan_trainer::TrainOptions {
            features: vec![16],
            frequency: Some(vec![1.0]),
            ..Default::default()
        };
        let progress = koan_trainer::Progress::none();
        let trained = koan_trainer::train(&table, None, &options, &progress).unwrap();
        let model = Model::parse(&trained.blob).unwrap();
        let mut report = trained.report;
        (report.error, report.rows) = (0.2175, 4000);
        let told = |errors: [f64; 3], given| {
            let run = |(index, &error): (usize, &f64)| {
                let features = report.features >> index;
                Run { features, bits: 4, bytes: 100 + 30 * features, error }
            };
            let runs = errors.iter().enumerate().map(run).collect();
            let curves = LearningCurves { runs, test_rows: 4000, ..curves(&[]) };
            size(&report, &model, (&curves, given), Asked::Command)
        };
        let falling = told([0.2175, 0.2605, 0.35], Some(16)).unwrap();
        let (half, whole) = (report.features / 2, report.features);
        let fell = format!("`--features 32`: from {half} to {whole} features the");
        assert!(falling.starts_with(&fell), "{falling}");
        assert!(falling.contains("from 26.05 % to 21.75 %"), "{falling}");
        assert_eq!(told([0.2175, 0.2605, 0.35], None), None);
        // `--features 80000` would be refused.
        assert_eq!(told([0.2175, 0.2605, 0.35], Some(40_000)), None);
        // Hardly worse than what is compared, though not than the model, which had more rows.
        let fewer = told([0.3, 0.31, 0.4], None).unwrap();
        assert!(fewer.contains("31.00 %, which is hardly worse than 30.00 % of "), "{fewer}");
    }

    /// Of 5000 features a ridge regression may have twice as many, a logistic fit may not.
    #[test]
    fn nobody_is_advised_more_features_than_can_be_had() {
        let table = koan_data::digits::table().select(&(0..40).collect::<Vec<_>>());
        let options = koan_trainer::TrainOptions {
            goal: koan_trainer::Goal::Features,
            features: vec![5000],
            frequency: Some(vec![1.0]),
            map: Some(koan_trainer::MapKind::Shared),
            relevance: Some(false),
            ..Default::default()
        };
        let progress = koan_trainer::Progress::none();
        let trained = koan_trainer::train(&table, None, &options, &progress).unwrap();
        let model = Model::parse(&trained.blob).unwrap();
        let mut report = trained.report;
        for (loss, may) in [(Loss::Squared, true), (Loss::Logistic, false)] {
            report.loss = Some(loss);
            assert_eq!(may_double(&report, &model), may, "{loss:?}");
        }
    }

    #[test]
    fn bytes_are_told_as_they_are_typed() {
        let told = |asked| flash("600", asked);
        assert_eq!([told(Asked::Command), told(Asked::Python)], ["`--flash 600`", "`flash=600`"]);
    }
}
