//! Tables of shares with a bar to each row.

use maud::html;

use super::{Block, Page, is_number};

/// A row: its cells, the first of which names it, and one or two shares of the longest bar.
pub type BarRow = (Vec<String>, Vec<f64>);

impl Page {
    /// A table whose rows end with bars: `shares` from 0 to 1, the second one in the second
    /// colour, named by `bars`.
    pub fn bars(
        &mut self,
        caption: &str,
        headers: &[&str],
        bars: &[&str],
        rows: &[BarRow],
    ) -> &mut Self {
        let right = |column: usize| {
            column > 0
                && rows.iter().all(|(cells, _)| cells.get(column).is_some_and(|c| is_number(c)))
        };
        self.push(Block::Wide(html! {
            div.scroll role="region" aria-label=(caption) tabindex="0" {
                table.bars {
                    caption { (caption) }
                    thead { tr {
                        @for (column, header) in headers.iter().enumerate() {
                            th.number[right(column)] scope="col" { (header) }
                        }
                        th scope="col" { @for (index, bar) in bars.iter().enumerate() {
                            span.key.second[index == 1] { (bar) } " "
                        } }
                    } }
                    tbody { @for (cells, shares) in rows { tr {
                        @for (column, cell) in cells.iter().enumerate() {
                            @if column == 0 { th scope="row" { (cell) } }
                            @else { td.number[right(column)] { (cell) } }
                        }
                        td { @for (index, share) in shares.iter().enumerate() {
                            div.bar.second[index == 1]
                                style={ "--share:" (format!("{:.4}", share.clamp(0.0, 1.0))) } {}
                        } }
                    } } }
                }
            }
        }))
    }
}
