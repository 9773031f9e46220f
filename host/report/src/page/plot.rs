//! Plots of series of points: lines, clouds, fronts, bars.

use super::Figure;
use super::axis::Axis;

/// Why a plot cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// No series has a point.
    #[error("there is nothing to plot")]
    Empty,
    /// A coordinate that an axis has no place for.
    #[error("{series}: {value} has no place on the axis `{axis}`")]
    Value {
        /// The series.
        series: String,
        /// The axis.
        axis: String,
        /// The coordinate.
        value: f64,
    },
    /// The back end failed.
    #[error("drawing failed: {0}")]
    Drawing(String),
}

/// A point with, optionally, how far up and down it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// Lower and upper end of an error bar.
    pub bar: Option<(f64, f64)>,
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Self { x, y, bar: None }
    }
}

/// x, y, lower and upper end of the error bar.
impl From<(f64, f64, f64, f64)> for Point {
    fn from((x, y, low, high): (f64, f64, f64, f64)) -> Self {
        Self { x, y, bar: Some((low, high)) }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Markers joined by a line.
    Line,
    /// Markers alone.
    Scatter,
    /// Small faint dots, of which there may be many.
    Cloud,
    /// Markers joined by a falling staircase.
    Step,
    /// A dashed line without markers.
    Rule,
    /// A line without markers.
    Curve,
}

#[derive(Clone, Debug)]
pub(super) struct Series {
    pub name: String,
    pub points: Vec<Point>,
    pub mark: Mark,
    /// Index of the colour and of the marker's shape.
    pub colour: usize,
    /// What shows where a pointer rests on a point, if it is not its coordinates.
    pub notes: Vec<String>,
}

/// Boxes from `start` to `end` on the x axis, `height` high.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub start: f64,
    pub end: f64,
    pub height: f64,
}

/// A plot of named series over two axes.
#[derive(Clone, Debug)]
pub struct Plot {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    pub(super) bars: Vec<Bar>,
    pub(super) square: bool,
}

impl Plot {
    /// An empty plot; the axes' names say what is measured, and in which unit.
    #[must_use]
    pub fn new(x: &str, y: &str) -> Self {
        let (x, y) = (Axis::new(x), Axis::new(y));
        Self { x, y, series: Vec::new(), bars: Vec::new(), square: false }
    }

    /// Makes the x axis logarithmic.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.x.log = true;
        self
    }

    /// Makes the y axis logarithmic.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.y.log = true;
        self
    }

    /// Puts ticks on the x axis at these values only.
    #[must_use]
    pub fn ticks_x(mut self, ticks: &[f64]) -> Self {
        self.x.ticks = ticks.to_vec();
        self
    }

    /// Keeps the y axis within the values that the quantity can have.
    #[must_use]
    pub fn within_y(mut self, least: f64, largest: f64) -> Self {
        self.y.bounds = Some((least, largest));
        self
    }

    /// Begins the y axis at 0 (if it is not logarithmic).
    #[must_use]
    pub fn from_zero(mut self) -> Self {
        self.y.zero = true;
        self
    }

    /// Sets the ends of the x axis.
    #[must_use]
    pub fn range_x(mut self, low: f64, high: f64) -> Self {
        self.x.range = Some((low, high));
        self
    }

    /// Sets the ends of the y axis.
    #[must_use]
    pub fn range_y(mut self, low: f64, high: f64) -> Self {
        self.y.range = Some((low, high));
        self
    }

    /// Makes the plot as high as wide, for axes of the same unit.
    #[must_use]
    pub fn square(mut self) -> Self {
        self.square = true;
        self
    }

    /// Points joined by a line in the order given: `(x, y)`, or with an error bar
    /// `(x, y, low, high)`.
    #[must_use]
    pub fn series<P: Into<Point>>(self, name: &str, points: impl IntoIterator<Item = P>) -> Self {
        self.with(name, points, Mark::Line)
    }

    /// Points that are not joined.
    #[must_use]
    pub fn scatter<P: Into<Point>>(self, name: &str, points: impl IntoIterator<Item = P>) -> Self {
        self.with(name, points, Mark::Scatter)
    }

    /// Many points, drawn small.
    #[must_use]
    pub fn cloud<P: Into<Point>>(self, name: &str, points: impl IntoIterator<Item = P>) -> Self {
        self.with(name, points, Mark::Cloud)
    }

    /// Points joined by a line without markers, each with words that show where a pointer
    /// rests on it.
    #[must_use]
    pub fn curve(self, name: &str, points: Vec<(f64, f64, String)>) -> Self {
        let mut plot = self.with(name, points.iter().map(|&(x, y, _)| (x, y)), Mark::Curve);
        if let Some(series) = plot.series.last_mut() {
            series.notes = points.into_iter().map(|(_, _, words)| words).collect();
        }
        plot
    }

    /// The points that no other beats in both coordinates (less is better), joined
    /// by a staircase, and the others as faint dots.
    #[must_use]
    pub fn front<P: Into<Point>>(self, name: &str, points: impl IntoIterator<Item = P>) -> Self {
        let points: Vec<Point> = points.into_iter().map(Into::into).collect();
        let best = pareto(&points.iter().map(|point| (point.x, point.y)).collect::<Vec<_>>());
        let colour = self.next_colour();
        let others: Vec<Point> = (0..points.len())
            .filter(|index| !best.contains(index))
            .map(|index| points[index])
            .collect();
        let best = best.into_iter().map(|index| points[index]);
        let mut plot = self.with(name, best, Mark::Step);
        if !others.is_empty() {
            plot = plot.with(&format!("{name}, beaten"), others, Mark::Cloud);
            if let Some(series) = plot.series.last_mut() {
                series.colour = colour;
            }
        }
        plot
    }

    /// A dashed line at a height, such as a baseline.
    #[must_use]
    pub fn level(self, name: &str, y: f64) -> Self {
        // The ends are those of the axis, which are not known yet.
        self.with(name, [(f64::NAN, y)], Mark::Rule)
    }

    /// A dashed line through two points, such as the diagonal.
    #[must_use]
    pub fn line(self, name: &str, from: (f64, f64), to: (f64, f64)) -> Self {
        self.with(name, [from, to], Mark::Rule)
    }

    /// Boxes side by side: `edges` has one value more than `heights`.
    #[must_use]
    pub fn bars(mut self, edges: &[f64], heights: &[f64]) -> Self {
        self.bars = edges
            .windows(2)
            .zip(heights)
            .map(|(edge, &height)| Bar { start: edge[0], end: edge[1], height })
            .collect();
        self.from_zero()
    }

    /// A value in few characters, as tables beside plots have it.
    #[must_use]
    pub fn label(value: f64) -> String {
        super::axis::short(value)
    }

    fn with<P: Into<Point>>(
        mut self,
        name: &str,
        points: impl IntoIterator<Item = P>,
        mark: Mark,
    ) -> Self {
        let points = points.into_iter().map(Into::into).collect();
        let colour = self.next_colour();
        self.series.push(Series { name: name.to_owned(), points, mark, colour, notes: Vec::new() });
        self
    }

    fn next_colour(&self) -> usize {
        self.series.iter().map(|series| series.colour + 1).max().unwrap_or(0)
    }

    /// Draws the plot.
    ///
    /// # Errors
    /// No points, or one that is not finite or not positive on a logarithmic
    /// axis.
    pub fn draw(&self) -> Result<Figure, PlotError> {
        super::draw::draw(self)
    }
}

/// Indices of the points that no other beats in both coordinates, less being
/// better, from the least x to the largest.
#[must_use]
pub fn pareto(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let by = |i: usize| points[i];
    order.sort_by(|&a, &b| by(a).0.total_cmp(&by(b).0).then(by(a).1.total_cmp(&by(b).1)));
    let mut least = f64::INFINITY;
    order.retain(|&index| {
        let better = points[index].1 < least;
        least = least.min(points[index].1);
        better
    });
    order
}

/// Whether values need a logarithmic axis: all are positive, and the largest is so far above
/// the least that on a linear axis the small ones would look the same.
#[must_use]
pub fn needs_log(values: &[f64]) -> bool {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(0.0, f64::max);
    least > 0.0 && largest.is_finite() && largest > 4.0 * least
}
