//! What an experiment has to say: tables, plots and reasons, as Markdown.

use std::fmt::Write;

use koan_report::page::Page;
use koan_report::page::plot::{self, PlotError};

/// A table: a column for each heading, cells as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What it shows.
    pub caption: String,
    /// Headings of the columns.
    pub head: Vec<String>,
    /// Rows of as many cells as there are headings.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// An empty table.
    #[must_use]
    pub fn new(caption: &str, head: &[&str]) -> Self {
        let head = head.iter().map(|&cell| cell.to_owned()).collect();
        Self { caption: caption.to_owned(), head, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// As a Markdown table, the first column to the left, numbers to the right.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = (0..self.head.len()).map(|column| if column == 0 { "---" } else { "---:" });
        let mut text = format!("{}\n\n{}", self.caption, line(&self.head));
        text += &line(&rule.map(str::to_owned).collect::<Vec<_>>());
        self.rows.iter().for_each(|row| text += &line(row));
        text
    }
}

/// A line, or points without a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// x and y.
    pub points: Vec<(f64, f64)>,
    /// Whether the points are joined.
    pub joined: bool,
}

impl Series {
    /// Joined points.
    #[must_use]
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), points, joined: true }
    }

    /// Points alone.
    #[must_use]
    pub fn points(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), points, joined: false }
    }
}

/// A picture of some series.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// Names of both axes.
    pub axes: [String; 2],
    /// Whether an axis is logarithmic.
    pub log: [bool; 2],
    /// What is drawn.
    pub series: Vec<Series>,
}

impl Plot {
    fn figure(&self) -> plot::Plot {
        let mut figure = plot::Plot::new(&self.axes[0], &self.axes[1]);
        if self.log[0] {
            figure = figure.log_x();
        }
        if self.log[1] {
            figure = figure.log_y();
        }
        for series in &self.series {
            let points = series.points.iter().copied();
            figure = match (series.joined, series.points.len()) {
                (true, _) => figure.series(&series.name, points),
                (false, 0..100) => figure.scatter(&series.name, points),
                (false, _) => figure.cloud(&series.name, points),
            };
        }
        figure
    }
}

/// The outcome of one experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What was done: splits, seeds, choices.
    pub protocol: Vec<String>,
    /// Paper beside Koan.
    pub grids: Vec<Grid>,
    /// Pictures.
    pub plots: Vec<Plot>,
    /// What came out, and why where it is not what the paper has.
    pub findings: Vec<String>,
    /// Sets that were not there, by name.
    pub skipped: Vec<String>,
    /// Wall seconds of the experiment.
    pub seconds: f64,
}

impl Section {
    /// A section without contents yet.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), ..Self::default() }
    }

    /// As a section of a page, with its plots.
    ///
    /// # Errors
    /// A plot without a finite point.
    pub fn add_to(&self, page: &mut Page) -> Result<(), PlotError> {
        page.heading(&self.title);
        for text in &self.findings {
            page.text(text);
        }
        for plot in &self.plots {
            page.figure(&plot.figure().draw()?, &plot.title);
        }
        for grid in &self.grids {
            page.table(&grid.caption, &grid.head, &grid.rows);
        }
        for text in &self.protocol {
            page.text(text);
        }
        for name in &self.skipped {
            page.warning(&format!("Skipped, not there: {name}."));
        }
        page.text(&format!("Seconds of this part: {:.0}.", self.seconds));
        Ok(())
    }

    /// As Markdown; plots are left to the page.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n", self.title);
        let blocks = self.protocol.iter().cloned();
        let blocks = blocks.chain(self.grids.iter().map(Grid::markdown));
        let skipped = self.skipped.iter().map(|name| format!("Skipped, not there: {name}."));
        for block in blocks.chain(self.findings.iter().cloned()).chain(skipped) {
            let _ = write!(text, "\n{}\n", block.trim_end());
        }
        let _ = write!(text, "\nSeconds of this part: {:.0}.\n", self.seconds);
        text
    }
}

/// A fraction in percent, two decimals, without the sign.
#[must_use]
pub fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

/// Mean and standard deviation (over one less than their number).
#[must_use]
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (spread / (count - 1.0)).sqrt() } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_as_markdown() {
        let mut section = Section::new("Part");
        section.protocol.push("How.".into());
        let mut grid = Grid::new("What", &["set", "error"]);
        grid.row(["a".to_owned(), percent(0.01234)]);
        section.grids.push(grid);
        section.skipped.push("mnist".into());
        let expected = "## Part\n\nHow.\n\nWhat\n\n| set | error |\n| --- | ---: |\n| a | 1.23 |\n\n\
                        Skipped, not there: mnist.\n\nSeconds of this part: 0.\n";
        assert_eq!(section.markdown(), expected);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 2f64.sqrt()));
        assert_eq!(mean_and_deviation(&[5.0]), (5.0, 0.0));
    }
}
