//! What the inputs are worth: how much larger the error is when one is shuffled between the
//! test rows (Breiman 2001, "Random forests", section 10).

use crate::Result;
use koan::Model;
use koan::generator::Stream;
use koan_data::{Shape, Table, Task};
use koan_trainer::evaluate;
use koan_trainer::internal::folds::drawn_rows;

use super::parts::{self, Part};
use crate::page::Page;
use crate::page::plot::Plot;
use crate::page::small::Small;
use crate::words::{error_decimals, error_percent, task_name};

/// Elementary steps of all predictions together, about.
const WORK: u64 = 30_000_000_000;
/// Test rows, at most...
const ROWS: u64 = 2000;
/// ...and at least, if there are so many.
const FEWEST: u64 = 100;
/// Times that each part is shuffled.
const TIMES: u32 = 3;
/// Columns that are shuffled one by one.
const COLUMNS: usize = 300;
/// Columns that are listed.
const LISTED: usize = 20;
/// Pieces of a picture in each direction, and stretches of a series.
const PIECES: usize = 7;
const STRETCHES: usize = 32;
/// Stream of the draws, told apart from those of features and of splits.
const STREAM: u32 = 31;

/// A part of a row and what shuffling it does.
pub struct Worth {
    /// The part.
    pub part: Part,
    /// The error with the part shuffled, less the error without.
    pub loss: f64,
}

/// The measured importance.
pub struct Importance {
    shape: Option<Shape>,
    /// Pieces of a picture beside each other.
    across: usize,
    rows: usize,
    all: usize,
    task: Task,
    error: f64,
    /// Every part, in the order of the row.
    worths: Vec<Worth>,
}

impl Importance {
    /// The parts, those that are worth most first.
    pub fn best(&self) -> Vec<&Worth> {
        let mut best: Vec<&Worth> = self.worths.iter().collect();
        best.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        best
    }
}

/// Shuffles each column, piece or stretch in turn. None where there are too many columns.
pub fn measure(model: &Model<'_>, test: &Table) -> Result<Option<Importance>> {
    let shape = parts::shape(model, test);
    let (across, parts) = match shape {
        Some(shape) if shape.height > 1 => parts::pieces(shape, PIECES),
        Some(shape) => parts::pieces(shape, STRETCHES),
        None => (1, parts::columns(test)),
    };
    if parts.len() > COLUMNS || test.rows() < 2 {
        return Ok(None);
    }
    let each = u64::from(TIMES) * parts.len() as u64 * u64::from(model.work().max(1));
    let rows = (WORK / each).clamp(FEWEST, ROWS).min(test.rows() as u64) as usize;
    let table = test.select(&drawn_rows(test.rows(), rows, model.seed()));
    let error = evaluate(model.blob(), &table)?.error;
    let mut shuffled = table.clone();
    let mut worths = Vec::new();
    for (number, part) in parts.into_iter().enumerate() {
        let mut sum = 0.0;
        for time in 0..TIMES {
            let draws = Stream::new(model.seed(), STREAM + time);
            let mut order: Vec<usize> = (0..rows).collect();
            order.sort_by_key(|&row| draws.draw((number * rows + row) as u64));
            for (row, &from) in order.iter().enumerate() {
                for &input in &part.inputs {
                    shuffled.values[row * table.inputs + input] =
                        table.values[from * table.inputs + input];
                }
            }
            sum += evaluate(model.blob(), &shuffled)?.error;
        }
        for row in 0..rows {
            for &input in &part.inputs {
                let at = row * table.inputs + input;
                shuffled.values[at] = table.values[at];
            }
        }
        worths.push(Worth { part, loss: sum / f64::from(TIMES) - error });
    }
    let (all, task) = (test.rows(), test.schema.task());
    Ok(Some(Importance { shape, across, rows, all, task, error, worths }))
}

/// Writes what was measured.
pub fn section(page: &mut Page, importance: Option<&Importance>) -> Result<()> {
    page.heading("What the inputs are worth");
    let Some(importance) = importance else {
        page.text(
            "Not measured: there are too many inputs to shuffle one by one, or too few rows.",
        );
        return Ok(());
    };
    let Importance { shape, across, rows, all, task, error, worths } = importance;
    let what = match shape {
        Some(shape) if shape.height > 1 => "piece of the picture",
        Some(_) => "stretch of the series",
        None => "column",
    };
    let which = if rows == all { "all".to_owned() } else { format!("{rows} of the") };
    page.text(&format!(
        "The error, {} unshuffled, when a {what} is shuffled between rows, so that it says nothing \
         any more: measured on {which} {all} test rows, {TIMES} times each with fixed draws. Inputs \
         that say the same stand in for each other and look worth less than they are together.",
        error_percent(task_name(*task), *error)
    ));
    let most = worths.iter().map(|worth| worth.loss).fold(0.0, f64::max);
    let share = |worth: &Worth| if most > 0.0 { (worth.loss / most).max(0.0) } else { 0.0 };
    // As many digits as errors of that size have.
    let decimals = error_decimals(task_name(*task), most);
    let added = |worth: &Worth| format!("{:+.decimals$}", 100.0 * worth.loss).replace('-', "−");
    match shape {
        Some(shape) if shape.height > 1 => {
            let words: Vec<String> = worths
                .iter()
                .map(|worth| format!("{}: {} percentage points", worth.part.name, added(worth)))
                .collect();
            let shares: Vec<f64> = worths.iter().map(share).collect();
            let line = format!("darkest: {:+.decimals$} percentage points of error", 100.0 * most);
            let picture = Small::grid(*across, &shares, &words).with(&line, "white: nothing");
            page.small("Pieces of the picture by what they are worth.", &[picture]);
        }
        Some(shape) => {
            let ends = |worth: &Worth| worth.part.inputs.last().map_or(0, |last| last + 1);
            let edges: Vec<f64> = std::iter::once(0)
                .chain(worths.iter().map(|worth| ends(worth) / shape.channels.max(1)))
                .map(|edge| edge as f64)
                .collect();
            let heights: Vec<f64> = worths.iter().map(|w| 100.0 * w.loss.max(0.0)).collect();
            let plot = Plot::new("sample", "percentage points of error added")
                .range_x(edges[0], edges[edges.len() - 1])
                .bars(&edges, &heights);
            page.figure(&plot.draw()?, "Stretches of the series by what they are worth.");
        }
        None => {
            let best = importance.best();
            let rows: Vec<_> = best
                .iter()
                .take(LISTED)
                .map(|worth| (vec![worth.part.name.clone(), added(worth)], vec![share(worth)]))
                .collect();
            let caption = "Columns by what they are worth, the most important first";
            page.bars(caption, &["column", "percentage points"], &["error added"], &rows);
            if best.len() > LISTED {
                page.text(&format!("… and {} columns that are worth less.", best.len() - LISTED));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::TableBuilder;
    use koan_trainer::{Progress, TrainOptions, train};

    #[test]
    fn an_input_that_decides_is_worth_more_than_noise() {
        let draws = Stream::new(5, 0);
        let draw = |i: usize| (draws.draw(i as u64) % 2000) as f32 / 1000.0 - 1.0;
        let x: Vec<f32> = (0..400).map(draw).collect();
        let noise: Vec<f32> = (400..800).map(draw).collect();
        let y: Vec<&str> = x.iter().map(|&x| if x > 0.2 { "up" } else { "down" }).collect();
        let table = TableBuilder::new(400)
            .column("noise", &noise[..])
            .column("x", &x[..])
            .classes("y", &y[..])
            .build()
            .unwrap();
        let options = TrainOptions {
            features: vec![64],
            frequency: Some(vec![1.0]),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let blob = train(&table, None, &options, &Progress::none()).unwrap().blob;
        let model = Model::parse(&blob).unwrap();
        let run = || measure(&model, &table).unwrap().unwrap();
        let importance = run();
        let best = importance.best();
        assert_eq!(best[0].part.name, "x");
        assert!(best[0].loss > 0.3 && best[1].loss.abs() < 0.1, "{}", best[1].loss);
        assert_eq!(run().best()[0].loss, best[0].loss, "the draws are fixed");
    }
}
