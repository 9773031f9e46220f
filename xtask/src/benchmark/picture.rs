//! docs/size.svg: bytes against error, one panel for each data set with others to compare.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::Measured;
use super::experiments::Part;
use super::rivals::{Kind, Rival};
use crate::steps::root;

const PANEL: (u32, u32) = (440, 330);
const COLUMNS: usize = 2;
const LEGEND: u32 = 34;
const KOAN: RGBColor = RGBColor(0x0b, 0x62, 0xa8);
const FOREST: RGBColor = RGBColor(0x15, 0x80, 0x3d);
const PUBLISHED: RGBColor = RGBColor(0xc2, 0x41, 0x0c);
const GRID: RGBColor = RGBColor(0xda, 0xdf, 0xe4);
const FONT: &str = "sans-serif";

/// Bytes and error in percent.
type Points = Vec<(f64, f64)>;

/// Draws the panels of all parts that were measured.
pub fn write<'s>(
    parts: &[Part],
    find: impl Fn(&Part) -> &'s [Measured],
    rivals: &[Rival],
) -> Result<()> {
    // A picture of koan alone says nothing.
    let compared =
        |part: &&Part| !find(part).is_empty() && rivals.iter().any(|rival| rival.part == part.name);
    let shown: Vec<&Part> = parts.iter().filter(compared).collect();
    let rows = shown.len().div_ceil(COLUMNS);
    let size = (PANEL.0 * COLUMNS as u32, PANEL.1 * rows as u32 + LEGEND);
    let path = root()?.join("docs/size.svg");
    let area = SVGBackend::new(&path, size).into_drawing_area();
    let drawn = || -> Result<(), Box<dyn std::error::Error>> {
        area.fill(&WHITE)?;
        let (top, below) = area.split_vertically(LEGEND);
        legend(&top)?;
        for (part, panel) in shown.iter().zip(below.split_evenly((rows, COLUMNS))) {
            let of = |kind| -> Points {
                let ours =
                    rivals.iter().filter(|rival| rival.part == part.name && rival.kind == kind);
                ours.map(|rival| (rival.bytes as f64, 100.0 * rival.error)).collect()
            };
            let koan = find(part).iter().flat_map(|measured| measured.models());
            let koan: Points = koan.map(|(bytes, mean, ..)| (bytes as f64, 100.0 * mean)).collect();
            draw(&panel, part.title, &koan, &of(Kind::Forest), &of(Kind::Published))?;
        }
        area.present()?;
        Ok(())
    };
    drawn().map_err(|error| anyhow!("{}: {error}", path.display()))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn legend(area: &Area<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let style = (FONT, 14).into_font();
    let names = [
        "koan: the blob, mean over seeds",
        "emlearn trees and forests: code and constants",
        "published: the model alone",
    ];
    let mut x = 14;
    for (series, name) in names.into_iter().enumerate() {
        match series {
            0 => area.draw(&Circle::new((x, 17), 4, KOAN.filled()))?,
            1 => area.draw(&TriangleMarker::new((x, 17), 5, FOREST.filled()))?,
            _ => area.draw(&Cross::new((x, 17), 4, PUBLISHED.stroke_width(2)))?,
        }
        area.draw(&Text::new(name, (x + 12, 10), style.clone()))?;
        x += 44 + 7 * name.len() as i32;
    }
    Ok(())
}

fn draw(
    panel: &Area<'_>,
    title: &str,
    koan: &Points,
    forests: &Points,
    published: &Points,
) -> Result<(), Box<dyn std::error::Error>> {
    let all = || koan.iter().chain(forests).chain(published);
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (least, most) = ends(&mut all().map(|point| point.0));
    let (_, worst) = ends(&mut all().map(|point| point.1));
    let mut chart = ChartBuilder::on(panel)
        .caption(title.split(',').next().unwrap_or(title), (FONT, 16))
        .margin(10)
        .x_label_area_size(38)
        .y_label_area_size(52)
        .build_cartesian_2d((0.7 * least..1.5 * most).log_scale(), 0.0..1.08 * worst)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_desc("bytes")
        .y_desc("test error in %")
        .x_label_formatter(&|bytes| match *bytes {
            small if small < 1_000.0 => format!("{small:.0}"),
            large => format!("{} K", large / 1_000.0),
        })
        .y_label_formatter(&|error| format!("{error}"))
        .label_style((FONT, 13))
        .draw()?;
    chart.draw_series(published.iter().map(|&at| Cross::new(at, 4, PUBLISHED.stroke_width(2))))?;
    chart.draw_series(forests.iter().map(|&at| TriangleMarker::new(at, 5, FOREST.filled())))?;
    chart.draw_series(koan.iter().map(|&at| Circle::new(at, 4, KOAN.filled())))?;
    Ok(())
}
