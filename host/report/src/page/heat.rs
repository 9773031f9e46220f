//! Matrices of counts as coloured tables.

use maud::html;

use super::Figure;

/// Least share of a row that is coloured at all.
const FAINTEST: f64 = 0.004;
/// Classes up to which cells have their share beside the count.
const SHARES: usize = 8;
/// Classes up to which cells have letters of the usual size...
const LARGE: usize = 12;
/// ...and of a smaller one.
const MEDIUM: usize = 24;
/// Letters of a class name over a column, all columns together, that stand upright.
const LETTERS: usize = 90;

/// A confusion matrix: `counts[actual][predicted]`. Cells are shaded by their share of their
/// row, hits in one colour and errors in another, equally strong for equal shares. It is a
/// table as wide as the page, so that it can be read aloud, copied, and seen whole.
///
/// Classes that `names` does not name have their numbers.
#[must_use]
pub fn confusion(names: &[String], counts: &[Vec<u64>]) -> Figure {
    let name = |class: usize| names.get(class).cloned().unwrap_or_else(|| class.to_string());
    let columns = counts.iter().map(Vec::len).max().unwrap_or(0);
    let longest = (0..columns).map(|class| name(class).chars().count()).max().unwrap_or(0);
    let turned = longest > 2 && longest * columns > LETTERS;
    let size = match columns {
        0..=LARGE => "",
        13..=MEDIUM => "medium",
        _ => "small",
    };
    let markup = html! {
        div.scroll role="region" aria-label="Confusion matrix" tabindex="0" {
            table class={ "heat " (size) } {
                thead {
                    tr { td {} th scope="colgroup" colspan=(columns) { "predicted" } }
                    tr {
                        th scope="col" { "actual" }
                        @for class in 0..columns {
                            th.turned[turned] scope="col" { span { (name(class)) } }
                        }
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
                                .none[count == 0]
                                style=[(share >= FAINTEST).then_some(style)] {
                                (count)
                                @if columns <= SHARES && count > 0 {
                                    " " small { (format!("{:.1} %", 100.0 * share)) }
                                }
                            }
                        }
                    }
                } }
            }
        }
    };
    Figure { markup, legend: Vec::new(), numbers: None, wide: true }
}
