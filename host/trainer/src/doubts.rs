//! What a user should know first: a model that is of little use.

use crate::anomaly::Detection;
use crate::percent::{error_percent, percent};
use crate::{Baselines, Report};
use koan_data::{DataWarning, Division, Table, Target};

/// Share of the error that rounding may add.
const ROUNDING: f64 = 0.1;
/// Test rows more that must be wrong for it not to be chance.
const ROWS: f64 = 5.0;
/// False alarms more than were asked for, in standard deviations of their share, for it not to be
/// chance, and far rows that may be taken for normal.
const DEVIATIONS: f64 = 3.0;
const FAR: f64 = 0.05;
/// Bits of weights, at most.
const MOST_BITS: u8 = 16;
/// The family of models that are linear in the inputs.
const LINEAR: &str = "linear";
/// Classes that are named, at most.
const NAMED: usize = 5;

/// Classes without training rows, rounding that costs much, and a model no better than a
/// baseline; the worst first. `balanced` is the mean error over the classes of a model that makes
/// all of them count the same.
pub(crate) fn of(report: &Report, train: &Table, balanced: Option<[f64; 2]>) -> Vec<String> {
    let mut doubts = Vec::new();
    // A sample of streamed rows may lack what the others have.
    if train.rows() == report.train_rows {
        doubts.extend(unseen(train));
        doubts.extend(of_classes(train, 1).map(|names| {
            format!("a single training row is of the class {names}: it can hardly be learned")
        }));
    }
    if let Some(baselines) = report.baselines {
        doubts.extend(match balanced {
            Some([error, constant]) => no_better_balanced(error, constant),
            None => {
                let weighted = report.weighted_error.is_some();
                beside(report, report.judged_error(), &baselines, weighted)
            }
        });
    }
    if let (Some(real), Some(rounded)) = (report.error_float, report.error_compensated) {
        let rows = (rounded - real) * report.rows as f64;
        let costly = rounded > (1.0 + ROUNDING) * real;
        let percent = |error| error_percent(&report.task, error);
        let (real, rounded, bits) = (percent(real), percent(rounded), report.bits);
        // What the digits do not show is not worth a warning.
        if costly && real != rounded && (rows >= ROWS || report.task == "regression") {
            let advice = if bits < MOST_BITS {
                "more bits or a larger lambda make that less"
            } else {
                "a larger lambda makes that less"
            };
            doubts.push(format!(
                "rounding the weights to {bits} bits raises the error from {real} to {rounded}: {advice}"
            ));
        }
    }
    doubts
}

/// What to say of a detector: more false alarms on `rows` normal test rows than were `asked` for,
/// and a share `far` of rows far from all normal ones that it takes for normal.
pub(crate) fn of_detector(found: &Detection, rows: usize, asked: f64, far: f64) -> Vec<String> {
    let chance = DEVIATIONS * (asked * (1.0 - asked) / rows.max(1) as f64).sqrt();
    let many = found.false_alarms.filter(|alarms| alarms - asked > chance);
    let alarms = many.map(|alarms| {
        format!(
            "{} of the normal test rows are alarms, where {} were asked for: they differ from the \
             rows that the threshold is of, as those of other recordings do",
            percent(alarms),
            percent(asked)
        )
    });
    let far = (far > FAR).then(|| {
        format!(
            "{} of made-up rows with inputs far outside the training range are taken for normal; a \
             lower frequency or fewer inputs make that less",
            percent(far)
        )
    });
    alarms.into_iter().chain(far).collect()
}

/// [`no_better`] of the model of a report, whose error on some rows, `weighted` or not, is this.
pub(crate) fn beside(
    report: &Report,
    error: f64,
    baselines: &Baselines,
    weighted: bool,
) -> Option<String> {
    // Who asks for a linear model knows that it is one.
    let linear = baselines.linear.filter(|_| report.family != LINEAR);
    let baselines = Baselines { linear, ..*baselines };
    no_better(error, &baselines, report.task == "regression", weighted)
}

/// A model whose error is not below that of a baseline on rows of the same kind.
fn no_better(error: f64, baselines: &Baselines, numbers: bool, weighted: bool) -> Option<String> {
    let worse = |baseline: f64| error >= baseline;
    let task = if numbers { "regression" } else { "classification" };
    let constant = match weighted {
        _ if numbers => "always predicting the mean",
        true => "always predicting the class of the most weight",
        false => {
            "always predicting the most frequent class (balanced class weights make rare ones count)"
        }
    };
    let beaten = |what: &str, other: f64| {
        let (own, other) = (error_percent(task, error), error_percent(task, other));
        format!("the model is no better than {what}: an error of {own}, not below {other}")
    };
    if worse(baselines.constant) {
        return Some(beaten(constant, baselines.constant));
    }
    // Of models without a fault no other is better.
    let linear = baselines.linear.filter(|&linear| error > 0.0 && worse(linear))?;
    Some(beaten("a linear one of the inputs", linear))
}

/// The mean error over so many classes of always predicting one of them.
pub(crate) fn of_one_class(classes: usize) -> f64 {
    1.0 - 1.0 / classes.max(1) as f64
}

/// A model whose mean error over the classes is not below that of any constant.
pub(crate) fn no_better_balanced(error: f64, constant: f64) -> Option<String> {
    (error >= constant).then(|| {
        let (own, other) = (percent(error), percent(constant));
        format!(
            "the model is no better than always predicting one class: a mean error over the \
             classes of {own}, not below {other}"
        )
    })
}

/// The names of classes that so many training rows have.
fn of_classes(train: &Table, rows: usize) -> Option<String> {
    let Target::Classes { labels } = &train.target else { return None };
    let classes = &train.schema.classes;
    let mut counts = vec![0; classes.len()];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    let counted = classes.iter().zip(counts).filter(|&(_, count)| count == rows);
    let names: Vec<&str> = counted.map(|(name, _)| name.as_str()).collect();
    let more = if names.len() > NAMED { ", ..." } else { "" };
    (!names.is_empty()).then(|| names[..names.len().min(NAMED)].join(", ") + more)
}

/// Classes that no training row has.
fn unseen(train: &Table) -> Option<String> {
    let names = of_classes(train, 0)?;
    let whole = "groups of rows are never divided: with fewer test rows, or more groups of it, \
                 some may be left to train on";
    let short = |warning: &DataWarning| matches!(warning, DataWarning::Short { .. });
    let advice = if train.schema.warnings.iter().any(short) {
        "; recordings that are shorter than a window give no row".to_owned()
    } else if matches!(train.division, Division::Groups(_)) {
        format!("; {whole}")
    } else {
        String::new()
    };
    Some(format!("no training row is of the class {names}: it is never predicted{advice}"))
}

#[cfg(test)]
mod tests {
    use crate::{Progress, Report, TrainOptions, train};
    use koan_data::{Table, Target, digits};

    fn report(train_table: &Table, test: &Table, options: &TrainOptions) -> Report {
        let options = TrainOptions {
            features: if options.features.is_empty() { vec![200] } else { vec![60] },
            frequency: Some(vec![1.0]),
            map: Some(crate::MapKind::Shared),
            relevance: Some(false),
            ..options.clone()
        };
        train(train_table, Some(test), &options, &Progress::none()).unwrap().report
    }

    fn warnings(train_table: &Table, test: &Table, options: &TrainOptions) -> Vec<String> {
        report(train_table, test, options).warnings
    }

    fn halves() -> (Table, Table) {
        let table = digits::table();
        let part = |odd: usize| (0..table.rows()).filter(|row| row % 2 == odd).collect::<Vec<_>>();
        (table.select(&part(0)), table.select(&part(1)))
    }

    #[test]
    fn what_is_good_is_not_doubted() {
        let (fit, test) = halves();
        assert!(warnings(&fit, &test, &TrainOptions::default()).is_empty());
    }

    #[test]
    fn classes_without_rows_are_named_first() {
        let (fit, test) = halves();
        let Target::Classes { labels } = &fit.target else { panic!("digits are classes") };
        let rows: Vec<usize> = (0..fit.rows()).filter(|&row| labels[row] != 7).collect();
        let found = warnings(&fit.select(&rows), &test, &TrainOptions::default());
        assert!(found[0].starts_with("no training row is of the class 7:"), "{found:?}");
        let sevens = (0..fit.rows()).filter(|&row| labels[row] == 7);
        let one: Vec<usize> = rows.iter().copied().chain(sevens.take(1)).collect();
        let found = warnings(&fit.select(&one), &test, &TrainOptions::default());
        let told = "a single training row is of the class 7: it can hardly be learned";
        assert!(found.contains(&told.to_owned()), "{found:?}");
        // Of a sample nobody knows.
        let sample = fit.select(&rows);
        let streamed = report(&sample, &test, &TrainOptions::default());
        let streamed = Report { train_rows: streamed.train_rows + 1, ..streamed };
        assert!(
            super::of(&streamed, &sample, None).iter().all(|w| !w.starts_with("no training row"))
        );
    }

    #[test]
    fn rounding_that_destroys_a_model_is_said() {
        let (fit, test) = halves();
        let options = TrainOptions {
            features: vec![60],
            loss: Some(crate::Loss::Logistic),
            lambda: Some(1e-9),
            bits: Some(2),
            ..TrainOptions::default()
        };
        let destroyed = report(&fit, &test, &options);
        let found = &destroyed.warnings;
        assert!(found.iter().any(|w| w.starts_with("rounding the weights to 2 bits")), "{found:?}");
        // With the lambda left open it is chosen for rounded weights.
        let chosen = report(&fit, &test, &TrainOptions { lambda: None, ..options });
        assert!(chosen.error < 0.8 * destroyed.error, "{} {}", chosen.error, destroyed.error);
    }

    #[test]
    fn what_cannot_be_helped_is_not_advised() {
        let (fit, test) = halves();
        let options = TrainOptions { lambda: Some(1e5), ..TrainOptions::default() };
        let found = report(&fit, &test, &options);
        let told = |report: Report| super::of(&report, &fit, None).join("\n");
        let baselines =
            crate::Baselines { constant: 0.9, linear: Some(0.1), ..crate::Baselines::default() };
        let of_linear = |family: &str| Report {
            family: family.to_owned(),
            error: 0.2,
            baselines: Some(baselines),
            ..found.clone()
        };
        assert!(told(of_linear("fourier")).contains("no better than a linear one"));
        assert!(!told(of_linear("linear")).contains("no better"));
        let rounded = |bits, from, to| {
            let (error_float, error_compensated) = (Some(from), Some(to));
            Report { bits, error_float, error_compensated, rows: 1_000_000, ..of_linear("linear") }
        };
        assert!(told(rounded(8, 0.1, 0.2)).contains("more bits or a larger lambda"));
        assert!(told(rounded(16, 0.1, 0.2)).contains("20.00 %: a larger lambda makes"));
        assert!(!told(rounded(16, 0.000_01, 0.000_02)).contains("rounding"));
    }

    #[test]
    fn balanced_models_are_compared_by_the_mean_over_the_classes() {
        let (fit, test) = halves();
        let balanced = TrainOptions { balanced: true, ..TrainOptions::default() };
        assert!(warnings(&fit, &test, &balanced).is_empty());
        let unjudged = TrainOptions { features: vec![60], ..balanced.clone() };
        let unjudged = train(&fit, None, &unjudged, &Progress::none()).unwrap().report;
        assert!(!unjudged.warnings.iter().any(|told| told.contains("no better")), "{unjudged:?}");
        let useless = TrainOptions { lambda: Some(1e6), ..balanced };
        let found = report(&fit, &test, &useless);
        let of_ten = super::of_one_class(10);
        assert!(super::no_better_balanced(0.89, of_ten).is_none());
        assert!(
            super::no_better_balanced(0.9, of_ten).unwrap().contains("90.00 %, not below 90.00 %")
        );
        assert!(
            super::of(&found, &fit, Some([0.9, 0.9]))[0].contains("mean error over the classes")
        );
    }

    #[test]
    fn a_model_no_better_than_a_baseline_is_said() {
        let (fit, test) = halves();
        let options = TrainOptions { lambda: Some(1e5), ..TrainOptions::default() };
        let found = warnings(&fit, &test, &options);
        assert!(found[0].starts_with("the model is no better than"), "{found:?}");
    }

    #[test]
    fn a_model_without_a_fault_is_as_good_as_it_gets() {
        let of = |constant| crate::Baselines { constant, linear: Some(0.0), ..Default::default() };
        assert!(super::no_better(0.0, &of(0.5), false, false).is_none());
        assert!(super::no_better(1e-3, &of(0.5), false, false).unwrap().contains("a linear one"));
        // Test rows of one class say nothing of it.
        assert!(super::no_better(0.0, &of(0.0), false, false).is_some());
        let by_weight = super::no_better(0.6, &of(0.5), false, true).unwrap();
        assert!(by_weight.contains("the class of the most weight: an error"), "{by_weight}");
    }
}
