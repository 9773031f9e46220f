//! What a reader should know first: how good, how large, what next.

use maud::{Markup, html};

use super::{Block, Page};

/// How good something is, which has a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// Does what it should.
    Good,
    /// Of use, or perhaps.
    Fair,
    /// Of no use.
    Poor,
}

/// A figure that stands large: its name, its value and what it is compared with.
#[derive(Clone, Debug)]
pub struct Tile {
    /// What is measured.
    pub name: &'static str,
    /// With its unit.
    pub value: String,
    /// In small letters below it.
    pub note: String,
}

/// The verdict at the top of a page.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Its colour.
    pub grade: Grade,
    /// A sentence.
    pub words: String,
    /// What the sentence is drawn from.
    pub text: String,
    /// The figures.
    pub tiles: Vec<Tile>,
    /// What to try next; words between backticks are typed.
    pub next: Vec<String>,
}

impl Page {
    /// Puts the verdict where the page is now.
    pub fn verdict(&mut self, verdict: &Verdict) -> &mut Self {
        let Verdict { grade, words, text, tiles, next } = verdict;
        let class = match grade {
            Grade::Good => "verdict good",
            Grade::Fair => "verdict fair",
            Grade::Poor => "verdict poor",
        };
        self.push(Block::Wide(html! {
            div class=(class) {
                p.words { (words) }
                p { (typed(text)) }
                dl.tiles { @for Tile { name, value, note } in tiles {
                    div { dt { (name) } dd { strong { (value) } span { (note) } } }
                } }
                @if !next.is_empty() {
                    p.next { "What to try next" }
                    ul { @for step in next { li { (typed(step)) } } }
                }
            }
        }))
    }
}

/// A text whose parts between backticks are set as code.
fn typed(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
