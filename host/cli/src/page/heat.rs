//! Matrices of counts as coloured tables.

use maud::html;

use super::Figure;

/// Least share of a row that is coloured at all.
const FAINTEST: f64 = 0.004;

/// A confusion matrix: `counts[actual][predicted]`. Cells are coloured by their
/// share of their row: hits in one colour, errors in another. It is a table, so
/// that it can be read aloud, copied, and scrolled on a small screen.
///
/// Classes that `names` does not name have their numbers.
#[must_use]
pub fn confusion(names: &[String], counts: &[Vec<u64>]) -> Figure {
    let name = |class: usize| names.get(class).cloned().unwrap_or_else(|| class.to_string());
    let columns = counts.iter().map(Vec::len).max().unwrap_or(0);
    let markup = html! {
        div.scroll role="region" aria-label="Confusion matrix" tabindex="0" {
            table.heat {
                thead {
                    tr { td {} th scope="colgroup" colspan=(columns) { "predicted" } }
                    tr {
                        th scope="col" { "actual" }
                        @for class in 0..columns { th scope="col" { (name(class)) } }
                    }
                }
                tbody { @for (actual, row) in counts.iter().enumerate() {
                    @let total = row.iter().sum::<u64>().max(1) as f64;
                    tr {
                        th scope="row" { (name(actual)) }
                        @for (predicted, &count) in row.iter().enumerate() {
                            @let share = count as f64 / total;
                            @let style = format!("--share:{share:.3}");
                            td.hit[actual == predicted] .miss[actual != predicted]
                                style=[(share >= FAINTEST).then_some(style)] { (count) }
                        }
                    }
                } }
            }
        }
    };
    Figure { markup, legend: Vec::new(), numbers: None, wide: columns > 6 }
}
