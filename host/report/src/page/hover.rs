//! Values that show where a pointer rests on a plot: titles of invisible areas, no script.

use std::fmt::Write;

use super::axis::short;
use super::plot::{Mark, Plot, Point};

/// Points of a series that have such areas, at most, evenly spread.
const MOST: usize = 200;
/// Half the side of the area around a point.
const REACH: i32 = 9;

/// An invisible area with its words.
pub struct Area {
    left: i32,
    top: i32,
    width: i32,
    height: i32,
    round: bool,
    words: String,
}

/// The areas of all points and bars; `place` says where values are in the drawing.
pub fn areas(plot: &Plot, place: impl Fn(f64, f64) -> (i32, i32)) -> Vec<Area> {
    let mut areas = Vec::new();
    for bar in &plot.bars {
        let (left, top) = place(bar.start, bar.height);
        let (right, bottom) = place(bar.end, 0.0);
        let (start, end, height) = (short(bar.start), short(bar.end), short(bar.height));
        areas.push(Area {
            left,
            // A flat bar is hard to find.
            top: top.min(bottom - 2 * REACH),
            width: (right - left).max(1),
            height: (bottom - top).max(2 * REACH),
            round: false,
            words: format!("{} {start} to {end}\n{} {height}", plot.x.name, plot.y.name),
        });
    }
    for series in plot.series.iter().filter(|series| series.mark != Mark::Rule) {
        let count = series.points.len();
        for shown in 0..count.min(MOST) {
            let index = shown * count / count.min(MOST);
            let point = series.points[index];
            let (x, y) = place(point.x, point.y);
            let words = series.notes.get(index).cloned();
            areas.push(Area {
                left: x - REACH,
                top: y - REACH,
                width: 2 * REACH,
                height: 2 * REACH,
                round: true,
                words: words.unwrap_or_else(|| described(plot, &series.name, point)),
            });
        }
    }
    areas
}

fn described(plot: &Plot, series: &str, point: Point) -> String {
    let mut words = String::new();
    if !series.is_empty() {
        words = format!("{series}\n");
    }
    words += &format!("{} {}\n{} {}", plot.x.name, short(point.x), plot.y.name, short(point.y));
    if let Some((low, high)) = point.bar {
        words += &format!(", {} to {}", short(low), short(high));
    }
    words
}

/// The drawing with the areas over all else.
pub fn with_areas(svg: &str, areas: &[Area]) -> String {
    let mut group = String::from("<g class=\"hover\">");
    for Area { left, top, width, height, round, words } in areas {
        let radius = if *round { REACH } else { 0 };
        let words = maud::html! { (words) }.into_string();
        // Writing to a string does not fail.
        let _ = write!(
            group,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             rx=\"{radius}\"><title>{words}</title></rect>"
        );
    }
    group.push_str("</g>");
    match svg.rfind("</svg>") {
        Some(end) => format!("{}{group}{}", &svg[..end], &svg[end..]),
        None => svg.to_owned(),
    }
}
