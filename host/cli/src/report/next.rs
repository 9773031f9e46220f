//! What to try next, from what the figures of a report say.

use koan::{Family, Model};
use koan_trainer::Report;
use koan_trainer::learning_curve::{LearningCurves, LearningPoint, Run};

use super::drift::Drift;
use super::verdict::clearly_below;
use crate::output::percent;

/// Steps that are told, at most.
const MOST: usize = 3;
/// Share of its own error that a model's rounding may add unmentioned.
const ROUNDING: f64 = 0.1;
/// Share of its rows that are found below which a class is worth a step.
const FOUND: f64 = 0.5;
/// Shift of a column between training and test rows that is worth a step.
const SHIFT: f64 = 0.2;
/// Rows of a class from which its share says something.
const ROWS: u64 = 20;

/// Steps after a training, the most promising first. `found` has for each class its name,
/// its test rows, and how many of them are found.
pub fn steps(
    report: &Report,
    model: &Model<'_>,
    curves: Option<&LearningCurves>,
    found: &[(String, u64, u64)],
    drift: Option<&Drift>,
) -> Vec<String> {
    let mut steps = Vec::new();
    if let Some(baselines) = report.baselines {
        if report.error >= baselines.constant {
            steps.push(
                "Look whether `--target` names the right column and whether the inputs say \
                 anything about it: see “What the inputs are worth”."
                    .into(),
            );
        } else if baselines.linear.is_some_and(|linear| report.error >= linear)
            && model.banks().any(|bank| bank.family != Family::Linear)
        {
            steps.push(
                "`--family linear` makes a model that is as good in fewer bytes; `--linear` adds \
                 the inputs themselves to this one."
                    .into(),
            );
        }
    }
    if let (Some(real), Some(rounded)) = (report.error_float, report.error_compensated)
        && rounded > (1.0 + ROUNDING) * real
        && clearly_below(&report.task, real, rounded, report.rows)
        && let Some(bits) = koan::Width::BITS.into_iter().find(|&bits| bits > report.bits)
    {
        steps.push(format!(
            "`--bits {bits}`: rounding the weights to {} bits raises the error from {} to {}.",
            report.bits,
            percent(real),
            percent(rounded)
        ));
    }
    steps.extend(weakest(found));
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
        steps.extend(size(report, model, curves));
    }
    steps.push("`koan tune` searches longer, for the best models of every size.".into());
    steps.truncate(MOST);
    steps
}

/// The class of which the smallest share is found, if that is small.
fn weakest(found: &[(String, u64, u64)]) -> Option<String> {
    let share = |&(_, rows, hits): &(String, u64, u64)| hits as f64 / rows.max(1) as f64;
    let enough = found.iter().filter(|(_, rows, _)| *rows >= ROWS);
    let weakest = enough.min_by(|a, b| share(a).total_cmp(&share(b)))?;
    (share(weakest) < FOUND).then(|| {
        format!(
            "`--class-weights balanced`, if rare classes matter: only {} of the {} test rows of \
             the class {} are found.",
            weakest.2, weakest.1, weakest.0
        )
    })
}

/// What the end of the learning curve says, in words.
pub fn lesson(task: &str, curves: &LearningCurves) -> Option<(bool, String)> {
    let [.., before, last] = curves.by_rows.as_slice() else { return None };
    let LearningPoint { rows, test_error, .. } = *last;
    let falls = clearly_below(task, test_error, before.test_error, curves.test_rows);
    let from = format!(
        "from {} to {rows} training rows the test error went from {} to {}",
        before.rows,
        percent(before.test_error),
        percent(test_error)
    );
    let text = if falls {
        format!("{from}: more rows are likely to lower it further")
    } else if test_error <= before.test_error {
        format!("{from}, which may be chance: more rows of this kind promise little")
    } else {
        format!("{from}: more rows of this kind promise nothing")
    };
    Some((falls, text))
}

fn more_rows(task: &str, curves: &LearningCurves) -> Option<String> {
    let (falls, text) = lesson(task, curves)?;
    falls.then(|| format!("More training rows: {text}."))
}

/// More bytes where they still help, fewer where they do not.
fn size(report: &Report, model: &Model<'_>, curves: &LearningCurves) -> Option<String> {
    let own: Vec<&Run> = curves.runs.iter().filter(|run| run.bits == curves.bits).collect();
    let least = own.iter().filter(|run| 3 * run.bytes <= 2 * report.bytes);
    let task = &report.task;
    let good = |run: &&&Run| !clearly_below(task, report.error, run.error, report.rows);
    if let Some(run) = least.clone().filter(good).min_by_key(|run| run.bytes) {
        let pruned =
            |bank: koan::Bank<'_>| !matches!(bank.family, Family::Bin { .. } | Family::Fern { .. });
        let how = if model.banks().all(pruned) { "`koan shrink` with" } else { "Train with" };
        return Some(format!(
            "{how} `--flash {}`: {} features in so many bytes have {}, which is hardly worse.",
            run.bytes,
            run.features,
            percent(run.error)
        ));
    }
    let half = least.max_by_key(|run| run.bytes)?;
    clearly_below(task, report.error, half.error, report.rows).then(|| {
        format!(
            "`--flash {}`: from {} to {} bytes the error fell from {} to {}, and may fall on.",
            flash(2 * report.bytes),
            half.bytes,
            report.bytes,
            percent(half.error),
            percent(report.error)
        )
    })
}

/// So many bytes as `--flash` takes them, rounded up to whole k where that is near.
fn flash(bytes: usize) -> String {
    if bytes >= 1024 { format!("{}k", bytes.div_ceil(1024)) } else { bytes.to_string() }
}
