//! Tables of the terminal, no wider than it.

use std::fmt;
use std::io::{IsTerminal, stderr, stdout};

use console::{Term, measure_text_width};

/// Letters of a line where there is no terminal that says it.
const USUAL: usize = 80;
/// Lines shorter than this have room for nothing.
const LEAST: usize = 40;
/// Spaces between columns.
const GAP: &str = "  ";

/// Letters of a line.
pub fn width() -> usize {
    let size = || stdout().is_terminal().then(|| Term::stdout().size_checked()).flatten();
    size().map_or(USUAL, |(_, columns)| usize::from(columns)).max(LEAST)
}

/// A table: the first column names the rows, the others are numbers unless they are text.
/// Where it is wider than a line, the columns that are too many follow below, under the names
/// once more; text columns at the end are cut.
#[derive(Clone, Debug)]
pub struct Grid {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns flush left.
    text: Vec<usize>,
    width: usize,
}

impl Grid {
    /// An empty table of the terminal's width.
    pub fn new<S: Into<String>>(headers: impl IntoIterator<Item = S>) -> Self {
        let headers = headers.into_iter().map(Into::into).collect();
        Self { headers, rows: Vec::new(), text: vec![0], width: width() }
    }

    /// With these columns flush left.
    #[must_use]
    pub fn text(mut self, columns: &[usize]) -> Self {
        self.text = columns.to_vec();
        self
    }

    /// Within so many letters.
    #[cfg(test)]
    pub fn within(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The width of each column.
    fn widths(&self) -> Vec<usize> {
        let of = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.chain([&self.headers[column]]).map(|cell| measure_text_width(cell)).max()
        };
        (0..self.headers.len()).map(|column| of(column).unwrap_or(0)).collect()
    }

    /// The columns that stand beside each other, the first one always among them.
    fn blocks(&self, widths: &[usize]) -> Vec<Vec<usize>> {
        let first = widths.first().copied().unwrap_or(0);
        let mut blocks = vec![vec![0]];
        let mut taken = first;
        for (column, width) in widths.iter().enumerate().skip(1) {
            let more = GAP.len() + width;
            let block =
                blocks.last_mut().filter(|block| block.len() == 1 || taken + more <= self.width);
            match block {
                Some(block) => {
                    block.push(column);
                    taken += more;
                }
                None => {
                    blocks.push(vec![0, column]);
                    taken = first + more;
                }
            }
        }
        blocks
    }

    fn line(&self, cells: &[String], block: &[usize], widths: &[usize]) -> String {
        let mut line = String::new();
        for (place, &column) in block.iter().enumerate() {
            if place > 0 {
                line.push_str(GAP);
            }
            let cell = cells.get(column).map_or("", String::as_str);
            let pad = " ".repeat(widths[column].saturating_sub(measure_text_width(cell)));
            match self.text.contains(&column) {
                true => line.extend([cell, &pad]),
                false => line.extend([pad.as_str(), cell]),
            }
        }
        cut(line.trim_end(), self.width)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (number, block) in self.blocks(&widths).iter().enumerate() {
            if number > 0 {
                f.write_str("\n\n")?;
            }
            let wide: usize = block.iter().map(|&column| widths[column] + GAP.len()).sum();
            f.write_str(&self.line(&self.headers, block, &widths))?;
            write!(f, "\n{}", "─".repeat((wide - GAP.len()).min(self.width)))?;
            for row in &self.rows {
                write!(f, "\n{}", self.line(row, block, &widths))?;
            }
        }
        Ok(())
    }
}

/// A text of at most so many letters; what is missing is told by an ellipsis.
pub fn cut(text: &str, width: usize) -> String {
    console::truncate_str(text, width, "…").into_owned()
}

/// A text broken between words into lines of the terminal's width, all but the first
/// indented; files and other programs get it on one line.
pub fn wrapped(text: &str, indent: usize) -> String {
    if stdout().is_terminal() { broken(text, indent, width()) } else { text.to_owned() }
}

/// A text for standard error, as [`wrapped`].
pub fn wrapped_error(text: &str, indent: usize) -> String {
    match stderr().is_terminal().then(|| Term::stderr().size_checked()).flatten() {
        Some((_, columns)) => broken(text, indent, usize::from(columns).max(LEAST)),
        None => text.to_owned(),
    }
}

fn broken(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut taken = 0;
    let start: String = text.chars().take_while(|c| *c == ' ').collect();
    for word in text.split_whitespace() {
        let letters = measure_text_width(word);
        if taken == 0 {
            lines.push_str(&start);
            taken = start.len();
        } else if taken + 1 + letters > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            taken = indent;
        } else {
            lines.push(' ');
            taken += 1;
        }
        lines.push_str(word);
        taken += letters;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(columns: usize, width: usize) -> String {
        let headers = (0..columns).map(|c| if c == 0 { "class".into() } else { format!("c{c}") });
        let mut grid = Grid::new(headers).within(width);
        for row in 1..3 {
            grid.row((0..columns).map(|column| format!("{}", 100 * row + column)));
        }
        grid.to_string()
    }

    #[test]
    fn a_table_that_fits_is_one() {
        assert_eq!(
            grid(3, 80),
            "class   c1   c2\n───────────────\n100    101  102\n200    201  202"
        );
    }

    #[test]
    fn no_line_is_wider_and_no_column_is_lost() {
        for width in [40, 80, 120] {
            let text = grid(40, width);
            assert!(text.lines().all(|line| measure_text_width(line) <= width), "{text}");
            for column in 1..40 {
                assert_eq!(
                    text.split_whitespace().filter(|w| *w == format!("c{column}")).count(),
                    1
                );
                assert!(text.contains(&(200 + column).to_string()));
            }
        }
    }

    #[test]
    fn long_cells_are_cut_and_long_lines_broken() {
        let mut grid = Grid::new(["a", "b"]).text(&[0, 1]).within(40);
        grid.row(["x".to_owned(), "long ".repeat(30)]);
        let text = grid.to_string();
        assert!(text.lines().all(|line| measure_text_width(line) <= 40) && text.contains('…'));
        let text = broken("  one two three four", 4, 12);
        assert_eq!(text, "  one two\n    three\n    four");
    }
}
