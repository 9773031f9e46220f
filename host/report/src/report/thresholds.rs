//! Two kinds of rows and a score: what every threshold would give.

use crate::Result;

use crate::page::Page;
use crate::page::plot::Plot;
use crate::words::percent;

/// Points of a curve that are drawn.
const DRAWN: f64 = 120.0;
/// Thresholds of probabilities that are listed.
const LISTED: [f64; 11] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

/// Rows with their scores.
pub struct Scored<'s> {
    /// The larger, the more likely a row is of the kind that is looked for.
    pub scores: Vec<f64>,
    /// Whether it is.
    pub positive: Vec<bool>,
    /// What is looked for.
    pub name: &'s str,
    /// What a score is.
    pub measure: &'s str,
    /// The threshold that the model itself has.
    pub own: f64,
    /// Whether scores are probabilities.
    pub probabilities: bool,
}

/// What a threshold gives: rows with at least that score are taken for what is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct At {
    threshold: f64,
    /// Rows that are, and rows that are not.
    hits: usize,
    alarms: usize,
}

/// Every threshold that tells rows apart, the highest first; before it one above all scores.
fn all(scored: &Scored<'_>) -> Vec<At> {
    let mut rows: Vec<(f64, bool)> =
        scored.scores.iter().copied().zip(scored.positive.iter().copied()).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut at = At { threshold: f64::INFINITY, hits: 0, alarms: 0 };
    let mut found = vec![at];
    for run in rows.chunk_by(|a, b| a.0 == b.0) {
        let hits = run.iter().filter(|row| row.1).count();
        at = At { threshold: run[0].0, hits: at.hits + hits, alarms: at.alarms + run.len() - hits };
        found.push(at);
    }
    found
}

/// Those that a line needs that is drawn with so many points.
fn thinned(points: &[At], positives: f64, negatives: f64) -> Vec<At> {
    let mut kept: Vec<At> = Vec::new();
    for (index, at) in points.iter().enumerate() {
        let far = kept.last().is_none_or(|last| {
            let way = (at.hits - last.hits) as f64 / positives
                + (at.alarms - last.alarms) as f64 / negatives;
            way >= 2.0 / DRAWN
        });
        if far || index + 1 == points.len() {
            kept.push(*at);
        }
    }
    kept
}

/// Curves and a table of thresholds. Nothing where all rows are of one kind.
pub fn section(page: &mut Page, scored: &Scored<'_>) -> Result<()> {
    let rows = scored.positive.len();
    let positives = scored.positive.iter().filter(|positive| **positive).count();
    if positives == 0 || positives == rows {
        return Ok(());
    }
    let Scored { name, measure, own, .. } = *scored;
    let (up, down) = (positives as f64, (rows - positives) as f64);
    let points = all(scored);
    let recall = |at: &At| at.hits as f64 / up;
    let false_alarms = |at: &At| at.alarms as f64 / down;
    let precision = |at: &At| at.hits as f64 / (at.hits + at.alarms).max(1) as f64;
    let words = |at: &At| {
        format!(
            "{measure} from {}\nfound {}\nfalse alarms {}\nprecision {}",
            Plot::label(at.threshold),
            percent(recall(at)),
            percent(false_alarms(at)),
            percent(precision(at))
        )
    };
    let given = |threshold: f64| {
        // The last one that is not below it.
        points.iter().rev().find(|at| at.threshold >= threshold).copied().unwrap_or(points[0])
    };
    let usual = given(own);
    let drawn = thinned(&points, up, down);
    let unit = |x: &str, y: &str| Plot::new(x, y).range_x(0.0, 1.0).range_y(0.0, 1.0).square();
    let area: f64 = points
        .windows(2)
        .map(|pair| {
            let width = false_alarms(&pair[1]) - false_alarms(&pair[0]);
            width * f64::midpoint(recall(&pair[0]), recall(&pair[1]))
        })
        .sum();
    let curve = drawn.iter().map(|at| (false_alarms(at), recall(at), words(at))).collect();
    let roc = unit("false alarms: share of the other rows", "found")
        .curve("every threshold", curve)
        .scatter("this model", [(false_alarms(&usual), recall(&usual))])
        .line("by chance", (0.0, 0.0), (1.0, 1.0));
    page.figure(
        &roc.draw()?,
        &format!("ROC curve: how many rows of {name} are found at what price. Area {area:.4}."),
    );
    let average: f64 =
        points.windows(2).map(|p| (recall(&p[1]) - recall(&p[0])) * precision(&p[1])).sum();
    let curve = drawn.iter().skip(1).map(|at| (recall(at), precision(at), words(at))).collect();
    let pr = unit("recall: share of its rows that are found", "precision")
        .curve("every threshold", curve)
        .scatter("this model", [(recall(&usual), precision(&usual))])
        .level("by chance", up / rows as f64);
    page.figure(
        &pr.draw()?,
        &format!("Precision and recall of {name}. Average precision {average:.4}."),
    );
    let f1 = |at: &At| 2.0 * at.hits as f64 / (at.hits + at.alarms + positives) as f64;
    let wrong = |at: &At| at.alarms + positives - at.hits;
    let mut listed: Vec<f64> = if scored.probabilities {
        LISTED.to_vec()
    } else {
        (0..=10).map(|i| drawn[1 + i * (drawn.len() - 2) / 10].threshold).collect()
    };
    // The model's own has a row, and no other row looks like it.
    listed.retain(|&threshold| Plot::label(threshold) != Plot::label(own));
    listed.push(own);
    listed.retain(|threshold| threshold.is_finite());
    listed.sort_by(f64::total_cmp);
    listed.dedup();
    let cells = listed.into_iter().map(|threshold| {
        let at = given(threshold);
        let own = if threshold == own { " (this model)" } else { "" };
        [
            format!("{}{own}", Plot::label(threshold)),
            (at.hits + at.alarms).to_string(),
            percent(recall(&at)),
            percent(precision(&at)),
            percent(false_alarms(&at)),
            percent(f1(&at)),
            percent(wrong(&at) as f64 / rows as f64),
        ]
    });
    let first = format!("{measure} from");
    let headers =
        [&first, "rows taken for it", "recall", "precision", "false alarms", "F1", "error"];
    page.table(&format!("What other thresholds would give for {name}"), &headers, cells);
    let best = points[1..].iter().max_by(|a, b| f1(a).total_cmp(&f1(b)));
    // The first takes no row for it.
    let least = points.iter().min_by_key(|at| wrong(at));
    if let (Some(best), Some(least)) = (best, least) {
        let which = match least.threshold {
            all if all.is_finite() => format!("from {} on", Plot::label(all)),
            _ => "where no row is taken for it".to_owned(),
        };
        page.text(&format!(
            "On these rows F1 is largest from {} on ({}), and the error least {which} ({}). A \
             threshold that is chosen by test rows looks better on them than it is.",
            Plot::label(best.threshold),
            percent(f1(best)),
            percent(wrong(least) as f64 / rows as f64)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored() -> Scored<'static> {
        Scored {
            scores: vec![0.9, 0.8, 0.8, 0.4, 0.1],
            positive: vec![true, true, false, true, false],
            name: "a",
            measure: "probability",
            own: 0.5,
            probabilities: true,
        }
    }

    #[test]
    fn thresholds_count_rows() {
        let found: Vec<(usize, usize)> =
            all(&scored()).iter().map(|at| (at.hits, at.alarms)).collect();
        assert_eq!(found, [(0, 0), (1, 0), (2, 1), (3, 1), (3, 2)]);
    }

    #[test]
    fn the_area_is_that_of_the_trainer() {
        let scored = scored();
        let expected =
            koan_trainer::internal::anomaly::auc(&scored.scores, &scored.positive).unwrap();
        let mut page = Page::new("t");
        section(&mut page, &scored).unwrap();
        assert!(page.render().contains(&format!("Area {expected:.4}")), "{expected}");
        // At the model's own threshold: 3 of 5 rows, of which 2 are right.
        assert!(page.render().contains("0.5 (this model)"));
    }

    /// Where few rows are positive, and others look more like it, no threshold errs less than none.
    #[test]
    fn the_least_error_may_be_that_of_no_row() {
        let told = |positive: Vec<bool>| {
            let mut page = Page::new("t");
            section(&mut page, &Scored { positive, ..scored() }).unwrap();
            page.render()
        };
        let none = told(vec![false, false, false, true, false]);
        assert!(none.contains("the error least where no row is taken for it (20.00 %)"));
        assert!(told(vec![true, true, true, true, false]).contains("the error least from 0.4 on"));
    }

    /// It is the least score of a row that is taken for what is looked for, hardly ever a round
    /// number.
    #[test]
    fn the_models_own_threshold_is_listed() {
        for probabilities in [true, false] {
            let mut page = Page::new("t");
            section(&mut page, &Scored { own: 0.5003, probabilities, ..scored() }).unwrap();
            let page = page.render();
            assert_eq!(page.matches("0.5003 (this model)").count(), 1);
            assert_eq!(page.matches("(this model)").count(), 1);
        }
    }
}
