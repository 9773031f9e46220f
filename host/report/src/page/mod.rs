//! Pages for people: one HTML file that needs nothing else.
//!
//! A [`Page`] takes headings, paragraphs, tables and figures in order and writes
//! one self-contained file: no script, no request (a content security policy
//! forbids them), light and dark by the reader's choice, readable on a phone and
//! on paper. All text is escaped. [`plot`] draws the figures.
//!
//! ```
//! use koan_report::page::{Page, plot::Plot};
//!
//! let mut page = Page::new("Two models");
//! page.heading("Error");
//! page.text("The larger model is better.");
//! page.table("Models", &["model", "bytes", "error"], [["a", "340", "4.2 %"], ["b", "690", "3.1 %"]]);
//! let plot = Plot::new("bytes", "error in %").log_x().front("models", [(340.0, 4.2), (690.0, 3.1)]);
//! page.figure(&plot.draw()?, "Error against bytes.");
//! assert!(page.render().starts_with("<!DOCTYPE html>"));
//! # Ok::<(), koan_report::page::plot::PlotError>(())
//! ```

mod axis;
mod bars;
pub mod chart;
mod colour;
mod draw;
pub mod heat;
mod hover;
pub mod plot;
pub mod small;
#[cfg(test)]
mod tests;
pub mod verdict;

use std::fmt::Display;

pub(crate) use axis::{grouped, tick};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::words::visible;

/// Rules of the page; colours of figures follow in [`colour::dark_rules`].
const STYLE: &str = include_str!("style.css");

/// Rows from which a table scrolls in a box of its own.
const LONG: usize = 24;
/// Letters of a line of a table up to which it has room beside another.
const NARROW: usize = 58;

/// A picture with the numbers that are in it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// SVG or a table; made by this module only.
    markup: Markup,
    /// One line for each series: its marker and its name.
    legend: Vec<(Markup, String)>,
    /// The numbers, for readers who do not see the picture.
    numbers: Option<Numbers>,
    /// Whether the figure takes the whole width.
    wide: bool,
}

/// The numbers of a figure.
#[derive(Clone, Debug)]
struct Numbers {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A page that is being put together.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    lead: Vec<Block>,
    sections: Vec<Section>,
}

#[derive(Clone, Debug)]
struct Section {
    heading: String,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
enum Block {
    /// Figures and tables stand side by side with others of their kind where there is room.
    Figure(Markup),
    /// A narrow table.
    Table(Markup),
    /// Has the whole width for itself.
    Wide(Markup),
}

impl Page {
    /// An empty page.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), lead: Vec::new(), sections: Vec::new() }
    }

    /// Begins a section.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.sections.push(Section { heading: text.to_owned(), blocks: Vec::new() });
        self
    }

    /// Begins a part of a section.
    pub fn subheading(&mut self, text: &str) -> &mut Self {
        self.push(Block::Wide(html! { h3 { (text) } }))
    }

    /// A paragraph.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.push(Block::Wide(html! { p { (text) } }))
    }

    /// A paragraph that must not be missed.
    pub fn warning(&mut self, text: &str) -> &mut Self {
        self.push(Block::Wide(html! { p.warning { strong { "Note: " } (text) } }))
    }

    /// Lines to be typed or read as they are.
    pub fn code(&mut self, text: &str) -> &mut Self {
        self.push(Block::Wide(html! { pre tabindex="0" { code { (text) } } }))
    }

    /// A table: the first cell of a row names the row. Columns of numbers are set
    /// flush right.
    pub fn table<R, C>(
        &mut self,
        caption: &str,
        headers: &[impl AsRef<str>],
        rows: impl IntoIterator<Item = R>,
    ) -> &mut Self
    where
        R: IntoIterator<Item = C>,
        C: Display,
    {
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(|cell| cell.to_string()).collect())
            .collect();
        let headers: Vec<&str> = headers.iter().map(AsRef::as_ref).collect();
        let table = table(Some(caption), &headers, &rows);
        let long = rows.len() > LONG;
        let markup = html! {
            div.scroll.long[long] role="region" aria-label=(caption) tabindex="0" { (table) }
        };
        let widest = rows.iter().map(|row| row.iter().map(|c| c.chars().count() + 3).sum()).max();
        let letters: usize = headers.iter().map(|header| header.chars().count() + 3).sum();
        let narrow = letters.max(widest.unwrap_or(0)) <= NARROW;
        self.push(if narrow { Block::Table(markup) } else { Block::Wide(markup) })
    }

    /// Names and values, such as facts about a model.
    pub fn facts<V: Display>(
        &mut self,
        caption: &str,
        facts: impl IntoIterator<Item = (&'static str, V)>,
    ) -> &mut Self {
        let rows: Vec<(&str, String)> =
            facts.into_iter().map(|(name, value)| (name, value.to_string())).collect();
        self.push(Block::Table(html! {
            div.scroll role="region" aria-label=(caption) tabindex="0" {
                table.facts {
                    caption { (caption) }
                    tbody { @for (name, value) in rows {
                        tr { th scope="row" { (name) } td { (value) } }
                    } }
                }
            }
        }))
    }

    /// A figure, which stands beside what is next to it where there is room.
    /// The caption says what there is to see.
    pub fn figure(&mut self, figure: &Figure, caption: &str) -> &mut Self {
        let markup = html! {
            figure.wide[figure.wide] {
                figcaption { (caption) }
                @if !figure.legend.is_empty() {
                    ul.legend { @for (marker, name) in &figure.legend { li { (marker) (name) } } }
                }
                (figure.markup)
                @if let Some(numbers) = &figure.numbers {
                    details {
                        summary { "The numbers" }
                        div.scroll role="region" aria-label={ "Numbers: " (caption) } tabindex="0" {
                            (table(None, &numbers.headers, &numbers.rows))
                        }
                    }
                }
            }
        };
        self.push(if figure.wide { Block::Wide(markup) } else { Block::Figure(markup) })
    }

    fn push(&mut self, block: Block) -> &mut Self {
        match self.sections.last_mut() {
            Some(section) => section.blocks.push(block),
            None => self.lead.push(block),
        }
        self
    }

    /// The page as HTML. What would steer a terminal is there as `\u{1b}`: pages are read with
    /// `less` too.
    #[must_use]
    pub fn render(&self) -> String {
        let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
        let style = format!("{STYLE}{}", colour::dark_rules());
        let html = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    title { (self.title) }
                    // Without it a browser asks the server for one.
                    link rel="icon" href="data:,";
                    style { (PreEscaped(style)) }
                }
                body {
                    header { h1 { (self.title) } (blocks(&self.lead)) }
                    @if self.sections.len() > 2 {
                        nav aria-label="Contents" { ul {
                            @for (index, section) in self.sections.iter().enumerate() {
                                li { a href={ "#part-" (index) } { (section.heading) } }
                            }
                        } }
                    }
                    main { @for (index, section) in self.sections.iter().enumerate() {
                        section aria-labelledby={ "part-" (index) } {
                            h2 id={ "part-" (index) } { (section.heading) }
                            (blocks(&section.blocks))
                        }
                    } }
                }
            }
        };
        // The page's own lines end with no other control characters.
        visible(&html.into_string())
    }
}

/// Blocks one after another; neighbouring figures, and neighbouring narrow tables, side by
/// side.
fn blocks(blocks: &[Block]) -> Markup {
    let alike = |a: &Block, b: &Block| {
        matches!((a, b), (Block::Figure(_), Block::Figure(_)) | (Block::Table(_), Block::Table(_)))
    };
    html! {
        @for run in blocks.chunk_by(alike) {
            @if let [Block::Wide(markup)] = run { (markup) } @else {
                div.columns {
                    @for block in run {
                        @match block {
                            Block::Figure(markup) | Block::Table(markup) | Block::Wide(markup) =>
                                (markup),
                        }
                    }
                }
            }
        }
    }
}

/// A table whose rows are named by their first cells.
fn table<H: AsRef<str>>(caption: Option<&str>, headers: &[H], rows: &[Vec<String>]) -> Markup {
    let columns = headers.len();
    let numeric: Vec<bool> = (0..columns)
        .map(|column| {
            let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|c| !c.is_empty());
            cells.clone().next().is_some() && cells.all(|cell| is_number(cell))
        })
        .collect();
    let right = |column: usize| numeric.get(column).copied().unwrap_or(false);
    html! {
        table {
            @if let Some(caption) = caption { caption { (caption) } }
            thead { tr { @for (column, header) in headers.iter().enumerate() {
                th.number[right(column)] scope="col" { (header.as_ref()) }
            } } }
            tbody { @for row in rows { tr { @for (column, cell) in row.iter().enumerate() {
                @if column == 0 {
                    th.number[right(column)] scope="row" { (cell) }
                } @else {
                    td.number[right(column)] { (cell) }
                }
            } } } }
        }
    }
}

/// Whether a cell is a number, perhaps with a unit or an uncertainty.
fn is_number(cell: &str) -> bool {
    let first = cell.trim_start_matches(['-', '−', '<', '≤', '+', ' ']).chars().next();
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    let letters = cell.chars().filter(|c| c.is_alphabetic()).count();
    matches!(cell, "–" | "—" | "-")
        || (first.is_some_and(|c| c.is_ascii_digit()) && letters <= digits)
}
