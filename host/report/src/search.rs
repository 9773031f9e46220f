//! What a search found: its page.

use koan_trainer::tune::{Metric, Outcome, Rung};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::page::Page;
use crate::page::plot::{Plot, needs_log};
use crate::words::{error_percent, number};

/// A search: all that its page tells of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Search {
    /// The task, as reports have it.
    #[serde(default)]
    pub task: String,
    /// What was made small.
    pub metric: Metric,
    /// Whether the time was over before the search was.
    pub cut: bool,
    /// The front, the best model last.
    pub front: Vec<Searched>,
    /// Bytes and loss of all models that were judged as finished ones.
    pub judged: Vec<(usize, f64)>,
    /// The rounds before that.
    pub rungs: Vec<Rung>,
}

/// A model of the front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Searched {
    /// Of the blob.
    pub bytes: usize,
    /// Of its code on a Cortex-M0, about.
    #[serde(default)]
    pub code: usize,
    /// Its loss on held-out training rows.
    pub held_out: f64,
    /// Its loss on test rows, where there are any and the metric is defined on them.
    pub test: Option<f64>,
    /// The family.
    pub family: String,
    /// Its projection.
    pub projection: String,
    /// How many features, of how many candidates.
    pub features: String,
    /// Bits of a weight.
    pub bits: u8,
    /// Bytes of the buffers.
    pub ram: usize,
    /// Instructions of a prediction, as predicted.
    pub instructions: u64,
}

impl Search {
    /// That which had this outcome; `tested` says whether there were test rows.
    #[must_use]
    pub fn of(outcome: &Outcome, metric: Metric, tested: bool) -> Self {
        let front = outcome.front.iter().map(|tuned| {
            let (point, report) = (&tuned.point, &tuned.report);
            Searched {
                bytes: report.bytes,
                code: report.code_bytes,
                held_out: point.loss,
                test: (tested && metric.is_defined(&tuned.test)).then(|| metric.loss(&tuned.test)),
                family: report.family.clone(),
                projection: report.projection.clone(),
                features: match point.options.candidates {
                    Some(candidates) => format!("{} of {candidates}", report.features),
                    None => report.features.to_string(),
                },
                bits: report.bits,
                ram: point.ram,
                instructions: point.instructions,
            }
        });
        let (judged, rungs) = (outcome.judged.clone(), outcome.rungs.clone());
        let task = outcome.front.last().map(|best| best.report.task.clone()).unwrap_or_default();
        Self { task, metric, cut: outcome.cut, front: front.collect(), judged, rungs }
    }

    /// The best model in words.
    #[must_use]
    pub fn verdict(&self) -> String {
        let Some(best) = self.front.last() else { return "No model was found.".into() };
        let (name, held_out) = (self.metric.name(), shown(&self.task, self.metric, best.held_out));
        let test = best
            .test
            .map(|test| format!(", {} on the test rows", shown(&self.task, self.metric, test)));
        let (bytes, test) = (best.bytes, test.unwrap_or_default());
        let seeming = self.seeming().map_or_else(String::new, |text| format!("; {text}"));
        format!(
            "The best model has {bytes} bytes: {name} {held_out} on held-out rows{test}{seeming}."
        )
    }

    /// Which model of the front to take: the best, or another one that has no more bytes and
    /// instructions, no worse a figure on held-out rows as it is shown, and one of them better.
    #[must_use]
    pub fn recommended(&self) -> usize {
        let shown = |model: &Searched| shown(&self.task, self.metric, model.held_out);
        let beats = |one: &Searched, other: &Searched| {
            let alike = shown(one) == shown(other);
            let less = one.bytes < other.bytes || one.instructions < other.instructions;
            one.bytes <= other.bytes
                && one.instructions <= other.instructions
                && if alike { less } else { one.held_out < other.held_out }
        };
        let mut best = self.front.len().saturating_sub(1);
        // Each beats the one before it, so that none comes twice.
        while let Some(better) =
            self.front.iter().rposition(|model| beats(model, &self.front[best]))
        {
            best = better;
        }
        best
    }

    /// What to say of a model that looks better than the best.
    #[must_use]
    pub fn seeming(&self) -> Option<String> {
        let place = self.recommended();
        let model = self.front.get(place).filter(|_| place + 1 < self.front.len())?;
        let (bytes, held_out) = (model.bytes, shown(&self.task, self.metric, model.held_out));
        Some(format!(
            "the model of {bytes} bytes shows {held_out}, which is no worse, and needs no more bytes \
             or instructions; the best one is ahead by the smoothed error that the search compares \
             models by, which depends less on chance"
        ))
    }
}

/// The metric of a loss in a task as text.
#[must_use]
pub fn shown(task: &str, metric: Metric, loss: f64) -> String {
    match metric {
        Metric::Rmse => number(loss),
        Metric::Auc | Metric::MacroF1 => format!("{:.4}", metric.value(loss)),
        Metric::Error | Metric::BalancedError => error_percent(task, loss),
    }
}

/// The page of a search: a verdict, bytes against error, the front, the rounds, and what is typed
/// to have its models again.
///
/// # Errors
/// A plot that cannot be drawn.
pub fn of_search(search: &Search, verdict: &str, commands: &[String]) -> Result<String> {
    of_search_with_warnings(search, verdict, commands, &[])
}

/// [`of_search`], with what somebody should know of the data and of the model that the verdict names.
///
/// # Errors
/// A plot that cannot be drawn.
pub fn of_search_with_warnings(
    search: &Search,
    verdict: &str,
    commands: &[String],
    warnings: &[String],
) -> Result<String> {
    let mut page = Page::new("A search for models");
    page.text(verdict);
    if search.cut {
        page.warning("The time was over before the search was.");
    }
    for warning in warnings {
        page.warning(warning);
    }
    page.heading("Bytes against error");
    let caption = "The models that no other beats in bytes, error and instructions, and what else was judged.";
    page.figure(&plot(search).draw()?, caption);
    let metric = search.metric;
    let tested = search.front.iter().any(|model| model.test.is_some());
    let row = |model: &Searched| {
        let test = model.test.map_or_else(String::new, |test| shown(&search.task, metric, test));
        let (ram, instructions) = (model.ram.to_string(), model.instructions.to_string());
        let (bytes, bits) = (model.bytes.to_string(), model.bits.to_string());
        let code = model.code.to_string();
        let family = format!("{} ({})", model.family, model.projection);
        let features = model.features.clone();
        let held_out = shown(&search.task, metric, model.held_out);
        let all = [bytes, code, held_out, test, family, features, bits, ram, instructions];
        all.into_iter().enumerate().filter(|(i, _)| tested || *i != 3).map(|(_, text)| text)
    };
    let all = [
        "bytes",
        "code",
        "held out",
        "test",
        "family",
        "features",
        "bits",
        "buffers",
        "instructions",
    ];
    let heads: Vec<&str> = all.into_iter().filter(|&head| tested || head != "test").collect();
    page.table("The front", &heads, search.front.iter().map(row));
    page.heading("The search");
    page.table(
        "Rounds: in each the better ones of the round before, on more rows",
        &["round", "candidates", "rows", "columns of the largest", "sizes judged"],
        search.rungs.iter().enumerate().map(|(number, rung)| {
            let counts = [number + 1, rung.candidates, rung.rows, rung.columns, rung.points];
            counts.map(|count| count.to_string())
        }),
    );
    page.heading("How to repeat it");
    for command in commands {
        page.code(command);
    }
    Ok(page.render())
}

/// Bytes against the metric.
fn plot(search: &Search) -> Plot {
    let (metric, name) = (search.metric, search.metric.name());
    let percent = matches!(metric, Metric::Error | Metric::BalancedError);
    let unit = if percent { 100.0 } else { 1.0 };
    let of = |loss: f64| unit * metric.value(loss);
    let axis = if percent { format!("{name} in %") } else { name.to_owned() };
    let points = |loss: &dyn Fn(&Searched) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |model: &Searched| Some((model.bytes as f64, of(loss(model)?)));
        search.front.iter().filter_map(point).collect()
    };
    let (held, test) = (points(&|model| Some(model.held_out)), points(&|model| model.test));
    let judged: Vec<(f64, f64)> =
        search.judged.iter().map(|&(bytes, loss)| (bytes as f64, of(loss))).collect();
    let plot = Plot::new("bytes", &axis).log_x();
    let most = if metric == Metric::Rmse { f64::INFINITY } else { unit };
    let plot = plot.within_y(0.0, most);
    let all: Vec<f64> = held.iter().chain(&test).chain(&judged).map(|point| point.1).collect();
    let plot = if !metric.is_gain() && needs_log(&all) { plot.log_y() } else { plot };
    let plot = plot
        .cloud("judged as finished models", judged)
        .series("front, held-out training rows", held);
    if test.is_empty() { plot } else { plot.scatter("front, test rows", test) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_test_errors_where_there_are_any() {
        let model = |bytes, test| Searched {
            bytes,
            code: 2500,
            held_out: 0.1,
            test,
            family: "fern".into(),
            projection: "gaussian".into(),
            features: "20 of 4096".into(),
            bits: 3,
            ram: 100,
            instructions: 5000,
        };
        let rungs = vec![Rung { candidates: 9, rows: 100, columns: 50, points: 20 }];
        let judged = vec![(300, 0.2), (500, 0.1)];
        let search = |test| Search {
            task: "classification".into(),
            metric: Metric::Error,
            cut: false,
            front: vec![model(200, test), model(500, test)],
            judged: judged.clone(),
            rungs: rungs.clone(),
        };
        let page = |test| {
            let search = search(test);
            of_search(&search, &search.verdict(), &["again".into()]).unwrap()
        };
        let (with, without) = (page(Some(0.25)), page(None));
        assert!(with.contains("error 10.00 % on held-out rows, 25.00 % on the test rows"));
        assert!(with.contains("front, test rows") && !without.contains("test rows"));
        for page in [with, without] {
            assert!(
                page.contains("20 of 4096")
                    && page.contains("fern (gaussian)")
                    && page.contains("again")
            );
        }
        assert!(
            search(None)
                .verdict()
                .contains("the model of 200 bytes shows 10.00 %, which is no worse")
        );
        let json = serde_json::to_string(&search(None)).unwrap();
        let read: Search = serde_json::from_str(&json).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", search(None)));
    }

    /// What another row beats in every figure that is shown is not what to take.
    #[test]
    fn what_is_recommended_is_beaten_by_no_row() {
        let recommended_by = |metric: Metric, models: &[(usize, f64, u64)]| {
            let model = |&(bytes, held_out, instructions): &(usize, f64, u64)| Searched {
                bytes,
                code: 2500,
                held_out,
                test: None,
                family: "linear".into(),
                projection: "gaussian".into(),
                features: "1".into(),
                bits: 3,
                ram: 100,
                instructions,
            };
            let search = Search {
                task: if metric == Metric::Rmse { "regression" } else { "classification" }.into(),
                metric,
                cut: false,
                front: models.iter().map(model).collect(),
                judged: Vec::new(),
                rungs: Vec::new(),
            };
            search.recommended()
        };
        let recommended = |models: &[(usize, f64, u64)]| recommended_by(Metric::Auc, models);
        assert_eq!(recommended(&[(139, 0.0008, 4444), (1417, 0.0011, 549_512)]), 0);
        // Slower, or worse by a digit that is shown.
        assert_eq!(recommended(&[(139, 0.0008, 4444), (1417, 0.0011, 4000)]), 1);
        assert_eq!(recommended(&[(139, 0.0012, 4444), (1417, 0.0011, 549_512)]), 1);
        // What differs in no digit that is shown is the same.
        assert_eq!(recommended(&[(139, 0.00081, 4444), (1417, 0.00080, 4444)]), 0);
        let chain = [(100, 0.2001, 100), (200, 0.2, 200), (300, 0.3, 300)];
        assert_eq!(recommended(&chain), 1);
        assert_eq!(recommended(&[(100, 0.3, 100), (100, 0.3, 100)]), 1);
        // Errors of small targets have digits, too.
        let small = [(139, 9e-7, 4444), (1417, 1e-7, 549_512)];
        assert_eq!(recommended_by(Metric::Rmse, &small), 1);
        let [worse, better] = small.map(|(_, loss, _)| shown("regression", Metric::Rmse, loss));
        assert_ne!(worse, better);
    }
}
