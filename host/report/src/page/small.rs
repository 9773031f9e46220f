//! Small pictures in a row: images, series and histograms, each with a line below it.

use std::fmt::Write;

use base64ct::{Base64, Encoding};
use maud::{Markup, PreEscaped, html};

use super::colour::SERIES;
use super::{Block, Page};

/// Size of a small drawing.
const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 80.0;

/// A small picture with what it says and a line below it.
#[derive(Clone, Debug)]
pub struct Small {
    picture: Markup,
    line: String,
    note: String,
}

impl Small {
    /// An image of `height` × `width` pixels of one or three channels, the least value light
    /// and the largest dark where there is one.
    pub fn image(size: (usize, usize, usize), values: &[f32], ends: (f32, f32)) -> Self {
        let uri =
            format!("data:image/bmp;base64,{}", Base64::encode_string(&bmp(size, values, ends)));
        Self::of(html! { img.pixels src=(uri) alt="The picture" width="96" height="96"; })
    }

    /// Lines over a common axis, each of another colour.
    pub fn lines(lines: &[Vec<f32>], ends: (f32, f32)) -> Self {
        let (low, high) = (f64::from(ends.0), f64::from(ends.1));
        let span = if high > low { high - low } else { 1.0 };
        let mut paths = String::new();
        for (index, line) in lines.iter().enumerate() {
            let step = WIDTH / (line.len().max(2) - 1) as f64;
            let points: Vec<String> = line
                .iter()
                .enumerate()
                .map(|(i, &v)| {
                    let y = HEIGHT - 2.0 - (f64::from(v) - low) / span * (HEIGHT - 4.0);
                    format!("{:.1},{y:.1}", i as f64 * step)
                })
                .collect();
            // Writing to a string does not fail.
            let _ = write!(
                paths,
                "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" points=\"{}\"/>",
                SERIES[index % SERIES.len()].attribute(),
                points.join(" ")
            );
        }
        Self::svg(&paths, "The series")
    }

    /// Two histograms of shares over the same bins: the first filled, the second as a line.
    pub fn histograms(first: &[f64], second: &[f64]) -> Self {
        let highest = first.iter().chain(second).copied().fold(1e-12, f64::max);
        let width = WIDTH / first.len().max(1) as f64;
        let y = |share: f64| HEIGHT - 1.0 - share / highest * (HEIGHT - 4.0);
        let mut marks = String::new();
        for (bin, &share) in first.iter().enumerate() {
            let (x, top) = (bin as f64 * width, y(share));
            let _ = write!(
                marks,
                "<rect fill=\"{}\" fill-opacity=\"0.45\" x=\"{x:.1}\" y=\"{top:.1}\" \
                 width=\"{:.1}\" height=\"{:.1}\"/>",
                SERIES[0].attribute(),
                (width - 0.5).max(0.5),
                HEIGHT - 1.0 - top
            );
        }
        let mut points = Vec::new();
        for (bin, &share) in second.iter().enumerate() {
            let (x, top) = (bin as f64 * width, y(share));
            points.push(format!("{x:.1},{top:.1} {:.1},{top:.1}", x + width));
        }
        let _ = write!(
            marks,
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>",
            SERIES[1].attribute(),
            points.join(" ")
        );
        Self::svg(&marks, "Training and test rows")
    }

    /// A grid of cells, each shaded by its share and with words for who rests on it.
    pub fn grid(columns: usize, shares: &[f64], words: &[String]) -> Self {
        let columns = columns.max(1);
        let rows = shares.len().div_ceil(columns).max(1);
        let side = 30.0;
        let mut marks = String::new();
        for (index, (share, words)) in shares.iter().zip(words).enumerate() {
            let (x, y) = ((index % columns) as f64 * side, (index / columns) as f64 * side);
            let words = html! { (words) }.into_string();
            let _ = write!(
                marks,
                "<rect fill=\"{}\" fill-opacity=\"{:.3}\" class=\"cell\" x=\"{x}\" y=\"{y}\" \
                 width=\"{side}\" height=\"{side}\"><title>{words}</title></rect>",
                SERIES[0].attribute(),
                share.clamp(0.0, 1.0)
            );
        }
        let (width, height) = (columns as f64 * side, rows as f64 * side);
        Self::of(html! {
            svg.grid role="img" aria-label="Shares of the parts of a picture"
                viewBox={ "0 0 " (width) " " (height) } { (PreEscaped(marks)) }
        })
    }

    fn svg(marks: &str, label: &str) -> Self {
        Self::of(html! {
            svg.drawing role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
                (PreEscaped(marks))
            }
        })
    }

    fn of(picture: Markup) -> Self {
        Self { picture, line: String::new(), note: String::new() }
    }

    /// With a line, and a note in small letters, below it.
    #[must_use]
    pub fn with(mut self, line: &str, note: &str) -> Self {
        (self.line, self.note) = (line.to_owned(), note.to_owned());
        self
    }
}

impl Page {
    /// Small pictures side by side.
    pub fn small(&mut self, caption: &str, pictures: &[Small]) -> &mut Self {
        self.push(Block::Wide(html! {
            figure.wide {
                figcaption { (caption) }
                ul.small { @for Small { picture, line, note } in pictures {
                    li { (picture) span { (line) } @if !note.is_empty() { small { (note) } } }
                } }
            }
        }))
    }
}

/// A bitmap of 24 bits a pixel, the lowest line first.
fn bmp(
    (height, width, channels): (usize, usize, usize),
    values: &[f32],
    ends: (f32, f32),
) -> Vec<u8> {
    let stride = (3 * width).next_multiple_of(4);
    let size = 54 + stride * height;
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(b"BM");
    for number in [size as u32, 0, 54, 40, width as u32, height as u32] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    // One plane of 24 bits, not compressed; the rest has no meaning here.
    bytes.extend_from_slice(&[1, 0, 24, 0]);
    bytes.resize(54, 0);
    let span = if ends.1 > ends.0 { ends.1 - ends.0 } else { 1.0 };
    let level = |value: f32| ((value - ends.0) / span * 255.0).round().clamp(0.0, 255.0) as u8;
    for y in (0..height).rev() {
        let start = bytes.len();
        for x in 0..width {
            let at = (y * width + x) * channels;
            let pixel = &values[at..at + channels];
            match *pixel {
                [red, green, blue] => bytes.extend([blue, green, red].map(level)),
                // Ink on paper.
                [grey, ..] => bytes.extend([255 - level(grey); 3]),
                [] => bytes.extend([255; 3]),
            }
        }
        bytes.resize(start + stride, 0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_has_its_pixels_where_they_belong() {
        let values = [0.0, 16.0, 8.0, 0.0, 0.0, 16.0];
        let bytes = bmp((2, 3, 1), &values, (0.0, 16.0));
        assert_eq!(bytes.len(), 54 + 2 * 12);
        assert_eq!(u32::from_le_bytes(bytes[2..6].try_into().unwrap()) as usize, bytes.len());
        // The last line comes first; blue, green and red of each pixel.
        assert_eq!(bytes[54..66], [255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[66..72], [255, 255, 255, 0, 0, 0]);
        let colours = bmp((1, 1, 3), &[1.0, 0.5, 0.0], (0.0, 1.0));
        assert_eq!(colours[54..57], [0, 128, 255]);
    }
}
