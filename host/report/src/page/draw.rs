//! Drawing plots as SVG.

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axis::{Axis, Scale, short};
use super::colour::{self, Colour, GRID, INK, MUTED};
use super::hover::{Area, areas, with_areas};
use super::plot::{Mark, Plot, PlotError, Point, Series};
use super::{Figure, Numbers};

/// Size in units of which a letter has 14: on a phone it is still legible. The
/// back end divides the size of letters by 1.24.
const WIDTH: u32 = 480;
const HEIGHT: u32 = 320;
/// Height of a square plot.
const SQUARE: u32 = 420;
const FONT: u32 = 17;
/// Points up to which a figure carries its numbers as a table too.
const MOST_NUMBERS: usize = 80;

/// Outlines of markers around (0, 0); an empty one is a circle.
const SHAPES: [&[(i32, i32)]; 4] = [
    &[],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, -5), (5, 4), (-5, 4)],
    &[(0, -6), (6, 0), (0, 6), (-6, 0)],
];
const RADIUS: i32 = 4;

pub(super) fn draw(plot: &Plot) -> Result<Figure, PlotError> {
    check(plot)?;
    let (x, y) = scales(plot)?;
    let size = (WIDTH, if plot.square { SQUARE } else { HEIGHT });
    let mut svg = String::new();
    let areas = {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let areas = paint(plot, &x, &y, &root).map_err(PlotError::Drawing)?;
        root.present().map_err(|error| PlotError::Drawing(error.to_string()))?;
        areas
    };
    let svg = with_areas(&svg, &areas);
    let named: Vec<&Series> = plot.series.iter().filter(|s| !s.name.is_empty()).collect();
    let legend = named.iter().map(|series| (swatch(series), series.name.clone())).collect();
    let names: Vec<&str> = named.iter().map(|series| series.name.as_str()).collect();
    let description = match names.as_slice() {
        [] => format!("{} over {}", plot.y.name, plot.x.name),
        names => format!("{} over {}: {}", plot.y.name, plot.x.name, names.join(", ")),
    };
    let markup = PreEscaped(labelled(&svg, &description));
    Ok(Figure { markup, legend, numbers: numbers(plot), wide: false })
}

/// The SVG, as large as there is room and named for those who do not see it.
fn labelled(svg: &str, description: &str) -> String {
    let body = svg.find("viewBox").map_or(svg, |start| &svg[start..]);
    let open = html! { svg.plot role="img" aria-label=(description) {} }.into_string();
    format!("{} {body}", open.trim_end_matches("></svg>"))
}

/// Refuses what the axes have no place for.
fn check(plot: &Plot) -> Result<(), PlotError> {
    let fits = |axis: &Axis, value: f64| value.is_finite() && (!axis.log || value > 0.0);
    let refuse = |series: &str, axis: &Axis, value: f64| PlotError::Value {
        series: series.to_owned(),
        axis: axis.name.clone(),
        value,
    };
    for series in &plot.series {
        for point in &series.points {
            // A level has no x of its own.
            let level = series.mark == Mark::Rule && point.x.is_nan();
            if !level && !fits(&plot.x, point.x) {
                return Err(refuse(&series.name, &plot.x, point.x));
            }
            let bar = point.bar.unwrap_or((point.y, point.y));
            if let Some(bad) = [point.y, bar.0, bar.1].into_iter().find(|&v| !fits(&plot.y, v)) {
                return Err(refuse(&series.name, &plot.y, bad));
            }
        }
    }
    for bar in &plot.bars {
        if let Some(bad) = [bar.start, bar.end].into_iter().find(|&v| !fits(&plot.x, v)) {
            return Err(refuse("bars", &plot.x, bad));
        }
        if !fits(&plot.y, bar.height) {
            return Err(refuse("bars", &plot.y, bar.height));
        }
    }
    Ok(())
}

/// The scales that hold all that is drawn.
fn scales(plot: &Plot) -> Result<(Scale, Scale), PlotError> {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let xs = points().map(|point| point.x).filter(|x| !x.is_nan());
    let xs = xs.chain(plot.bars.iter().flat_map(|bar| [bar.start, bar.end]));
    let ys = points().flat_map(|point| {
        let (low, high) = point.bar.unwrap_or((point.y, point.y));
        [point.y, low, high]
    });
    let ys = ys.chain(plot.bars.iter().map(|bar| bar.height));
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let (x, y) = (ends(&mut { xs }), ends(&mut { ys }));
    if x.0 > x.1 || y.0 > y.1 {
        return Err(PlotError::Empty);
    }
    Ok((plot.x.scale(x.0, x.1), plot.y.scale(y.0, y.1)))
}

/// An axis of a chart: values are on the plot's own scale already.
impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        (f64::from(start) + share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

type Ground<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn paint(plot: &Plot, x: &Scale, y: &Scale, root: &Ground<'_>) -> Result<Vec<Area>, String> {
    let text = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    let longest = y.ticks.iter().map(|&tick| y.label(tick).chars().count()).max().unwrap_or(1);
    let mut chart = ChartBuilder::on(root)
        .margin(10)
        // Half of the last label stands beyond the end of the axis.
        .margin_right(22)
        .x_label_area_size(48)
        .y_label_area_size(36 + 8 * longest as u32)
        .build_cartesian_2d(x.clone(), y.clone())
        .map_err(text)?;
    let font = ("sans-serif", FONT).into_font().color(&INK.light());
    chart
        .configure_mesh()
        .axis_style(MUTED.light())
        .bold_line_style(GRID.light())
        .light_line_style(TRANSPARENT)
        .label_style(font.clone())
        .axis_desc_style(font)
        .x_label_formatter(&|&tick| x.label(tick))
        .y_label_formatter(&|&tick| y.label(tick))
        .x_desc(plot.x.name.as_str())
        .y_desc(plot.y.name.as_str())
        .draw()
        .map_err(text)?;
    let place = |point: &Point| (x.own(point.x), y.own(point.y));
    let fill = series_colour(0).light().mix(0.55).filled();
    let boxes = plot.bars.iter().map(|bar| {
        let (low, high) = ((x.own(bar.start), y.low), (x.own(bar.end), y.own(bar.height)));
        let mut block = Rectangle::new([low, high], fill);
        // A gap tells neighbours apart.
        block.set_margin(0, 0, 0, 1);
        block
    });
    chart.draw_series(boxes).map_err(text)?;
    for series in &plot.series {
        let colour = line_colour(series).light();
        let joined: Vec<(f64, f64)> = match series.mark {
            Mark::Line | Mark::Curve => series.points.iter().map(place).collect(),
            Mark::Step => staircase(&series.points.iter().map(place).collect::<Vec<_>>()),
            Mark::Rule => rule(series, x, y),
            Mark::Scatter | Mark::Cloud => Vec::new(),
        };
        if series.mark == Mark::Rule {
            let dashes = DashedPathElement::new(joined, 6, 4, colour.stroke_width(2));
            chart.draw_series(std::iter::once(dashes)).map_err(text)?;
            continue;
        }
        if !joined.is_empty() {
            let path = PathElement::new(joined, colour.stroke_width(2));
            chart.draw_series(std::iter::once(path)).map_err(text)?;
        }
        let bars = series.points.iter().filter_map(|point| {
            let (low, high) = point.bar?;
            let (at, middle) = (x.own(point.x), y.own(point.y));
            let (low, high) = (y.own(low), y.own(high));
            Some(ErrorBar::new_vertical(at, low, middle, high, colour.filled(), 8))
        });
        chart.draw_series(bars).map_err(text)?;
        if series.mark == Mark::Cloud {
            let dots =
                series.points.iter().map(|p| Circle::new(place(p), 2, colour.mix(0.5).filled()));
            chart.draw_series(dots).map_err(text)?;
            continue;
        }
        if series.mark == Mark::Curve {
            continue;
        }
        match shape(series) {
            [] => chart.draw_series(
                series.points.iter().map(|p| Circle::new(place(p), RADIUS, colour.filled())),
            ),
            outline => chart.draw_series(series.points.iter().map(|point| {
                EmptyElement::at(place(point)) + Polygon::new(outline.to_vec(), colour.filled())
            })),
        }
        .map_err(text)?;
    }
    Ok(areas(plot, |a, b| chart.backend_coord(&(x.own(a), y.own(b).max(y.low)))))
}

/// The ends of a dashed line; a level goes from end to end.
fn rule(series: &Series, x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
    match series.points.as_slice() {
        [level] => vec![(x.low, y.own(level.y)), (x.high, y.own(level.y))],
        points => points.iter().map(|point| (x.own(point.x), y.own(point.y))).collect(),
    }
}

/// A line that goes right before it goes down: what is reached up to a point.
fn staircase(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut stairs = Vec::new();
    for pair in points.windows(2) {
        stairs.extend([pair[0], (pair[1].0, pair[0].1)]);
    }
    stairs.extend(points.last());
    stairs
}

fn series_colour(index: usize) -> Colour {
    colour::SERIES[index % colour::SERIES.len()]
}

fn line_colour(series: &Series) -> Colour {
    // Lines of reference are told apart by their places; they stay quiet.
    if series.mark == Mark::Rule { MUTED } else { series_colour(series.colour) }
}

fn shape(series: &Series) -> &'static [(i32, i32)] {
    SHAPES[series.colour % SHAPES.len()]
}

/// What a series looks like, for the legend.
fn swatch(series: &Series) -> Markup {
    let colour = line_colour(series).attribute();
    let (line, dashes) = match series.mark {
        Mark::Line | Mark::Step | Mark::Curve => (true, "none"),
        Mark::Rule => (true, "6 4"),
        Mark::Scatter | Mark::Cloud => (false, "none"),
    };
    html! {
        svg aria-hidden="true" viewBox="-13 -8 26 16" width="26" height="16" {
            @if line {
                line x1="-13" x2="13" y1="0" y2="0" stroke=(colour) stroke-width="2"
                    stroke-dasharray=(dashes) {}
            }
            @match series.mark {
                Mark::Rule | Mark::Curve => {},
                // A faint dot says which colour it has only where there are many.
                Mark::Cloud => circle r=(RADIUS) fill=(colour) {},
                _ => @match shape(series) {
                    [] => circle r=(RADIUS) fill=(colour) {},
                    outline => polygon fill=(colour) points=(
                        outline.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
                    ) {},
                },
            }
        }
    }
}

/// All points in words, unless there are too many to read.
fn numbers(plot: &Plot) -> Option<Numbers> {
    let points: usize = plot.series.iter().map(|series| series.points.len()).sum();
    if points + plot.bars.len() > MOST_NUMBERS {
        return None;
    }
    if !plot.bars.is_empty() {
        let headers = vec![format!("{} from", plot.x.name), "to".into(), plot.y.name.clone()];
        let rows = plot.bars.iter();
        let rows = rows.map(|b| vec![short(b.start), short(b.end), short(b.height)]).collect();
        return Some(Numbers { headers, rows });
    }
    let bars = plot.series.iter().flat_map(|s| &s.points).any(|point| point.bar.is_some());
    let mut headers = vec!["series".to_owned(), plot.x.name.clone(), plot.y.name.clone()];
    if bars {
        headers.extend(["from".to_owned(), "to".to_owned()]);
    }
    let mut rows = Vec::new();
    for series in &plot.series {
        for point in &series.points {
            let x = if point.x.is_nan() { "everywhere".into() } else { short(point.x) };
            let mut row = vec![series.name.clone(), x, short(point.y)];
            if bars {
                row.extend(match point.bar {
                    Some((low, high)) => [short(low), short(high)],
                    None => [String::new(), String::new()],
                });
            }
            rows.push(row);
        }
    }
    Some(Numbers { headers, rows })
}
