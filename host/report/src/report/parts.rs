//! What a row of inputs consists of, for people: columns, pieces of a picture, or stretches
//! of a series.

use std::ops::Range;

use koan::{Family, Model};
use koan_data::{Column, ColumnKind, Shape, Table};
use koan_trainer::tune::guess_shape;

/// A column of the data, as inputs of a row.
#[derive(Clone, Debug)]
pub struct Part {
    /// The column's name, or the numbers of its inputs.
    pub name: String,
    /// Its inputs.
    pub inputs: Vec<usize>,
    /// The values that its inputs stand for, one each, if it is a text.
    pub values: Vec<String>,
    /// What is done about missing values.
    pub missing: String,
}

impl Part {
    fn number(name: String, inputs: Vec<usize>) -> Self {
        Self { name, inputs, values: Vec::new(), missing: "none".into() }
    }

    /// What a row has there.
    pub fn shown(&self, row: &[f32]) -> String {
        if self.values.is_empty() {
            let value = self.inputs.first().map_or(f64::NAN, |&input| f64::from(row[input]));
            return crate::page::plot::Plot::label(value);
        }
        let set = self.inputs.iter().zip(&self.values).find(|(input, _)| row[**input] > 0.5);
        set.map_or("–".to_owned(), |(_, value)| value.clone())
    }
}

/// The columns of a table, of a window those of each sample, or its inputs where it has none.
pub fn columns(table: &Table) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut next = 0;
    let mut text = |column: &Column, values: Vec<String>| {
        let inputs: Range<usize> = next..next + values.len();
        next = inputs.end;
        let (name, inputs) = (column.name.clone(), inputs.collect());
        Part { name, inputs, values, missing: "all 0".into() }
    };
    for column in &table.schema.columns {
        match &column.kind {
            ColumnKind::Numeric { missing } => {
                let mut part = text(column, vec![String::new()]);
                part.values.clear();
                part.missing = missing.map_or("none".into(), |value| format!("taken for {value}"));
                parts.push(part);
            }
            ColumnKind::Text { values } => parts.push(text(column, values.clone())),
            ColumnKind::Coded(values) => {
                let values = values.shown().map(|value| value.to_string()).collect();
                parts.push(text(column, values));
            }
            ColumnKind::Target | ColumnKind::Dropped => {}
        }
    }
    let samples = table.schema.recordings.window.map_or(1, |window| window.samples);
    if next * samples != table.inputs {
        // Files without columns.
        parts = (0..table.inputs).map(|i| Part::number(String::new(), vec![i])).collect();
    } else if samples > 1 {
        parts = (0..samples).flat_map(|sample| of_sample(&parts, sample, next)).collect();
    }
    for (index, part) in parts.iter_mut().enumerate() {
        if part.name.is_empty() {
            part.name = format!("input {}", index + 1);
        }
    }
    parts
}

/// The parts of a sample of so many inputs, in a window.
fn of_sample(parts: &[Part], sample: usize, width: usize) -> impl Iterator<Item = Part> {
    parts.iter().map(move |part| {
        let name = match part.name.as_str() {
            "" => String::new(),
            name => format!("{name} of sample {}", sample + 1),
        };
        let inputs = part.inputs.iter().map(|input| sample * width + input).collect();
        Part { name, inputs, ..part.clone() }
    })
}

/// The name of each input, and what is done about missing values in it.
pub fn inputs(table: &Table) -> Vec<(String, String)> {
    let parts = columns(table);
    let named = |part: &Part| -> Vec<(String, String)> {
        let name = |value: &String| format!("{} = {value}", part.name);
        if part.values.is_empty() {
            return vec![(part.name.clone(), part.missing.clone())];
        }
        part.values.iter().map(|value| (name(value), part.missing.clone())).collect()
    };
    parts.iter().flat_map(named).collect()
}

/// What a row is where it is more than a list of columns: an image or a series.
pub fn shape(model: &Model<'_>, table: &Table) -> Option<Shape> {
    let inputs = table.inputs;
    let samples =
        |samples: usize| Shape { height: 1, width: samples, channels: inputs / samples.max(1) };
    let said = table
        .schema
        .image
        .or_else(|| table.schema.recordings.window.map(|window| samples(window.samples)));
    let of_banks = || {
        model.banks().find_map(|bank| match bank.family() {
            Family::Conv(conv) => {
                let (height, channels) = (usize::from(conv.height), usize::from(conv.channels));
                let width = inputs / (height * channels).max(1);
                Some(Shape { height, width, channels })
            }
            Family::Series(series) => {
                let channels = usize::from(series.channels).max(1);
                Some(Shape { height: 1, width: inputs / channels, channels })
            }
            _ => None,
        })
    };
    let texts = columns(table).iter().any(|part| !part.values.is_empty());
    let guessed = || if texts { None } else { guess_shape(table) };
    said.or_else(of_banks).or_else(guessed).filter(|shape| shape.inputs() == inputs)
}

/// The pieces of a picture, at most `most` in each direction, row by row, and how many there
/// are in a row.
pub fn pieces(shape: Shape, most: usize) -> (usize, Vec<Part>) {
    let cuts = |length: usize| {
        let count = length.min(most);
        (0..count).map(|i| i * length / count..(i + 1) * length / count).collect::<Vec<_>>()
    };
    let (lines, across) = (cuts(shape.height), cuts(shape.width));
    let mut parts = Vec::new();
    for line in &lines {
        for stretch in &across {
            let mut inputs = Vec::new();
            for y in line.clone() {
                let start = (y * shape.width + stretch.start) * shape.channels;
                let end = (y * shape.width + stretch.end) * shape.channels;
                inputs.extend(start..end);
            }
            let name = if shape.height > 1 {
                format!(
                    "rows {} to {}, columns {} to {}",
                    line.start + 1,
                    line.end,
                    stretch.start + 1,
                    stretch.end
                )
            } else {
                format!("samples {} to {}", stretch.start + 1, stretch.end)
            };
            parts.push(Part::number(name, inputs));
        }
    }
    (across.len(), parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::{ReadOptions, Window, read_bytes};

    #[test]
    fn columns_of_windows_are_those_of_their_samples() {
        let text = "a,b,state\n1,2,on\n3,4,on\n5,6,off\n7,8,off\n";
        let window = Some(Window { samples: 2, stride: 2 });
        let options = ReadOptions { window, ..ReadOptions::default() };
        let table = read_bytes("w.csv", text.as_bytes(), &options).unwrap();
        let found: Vec<(String, Vec<usize>)> =
            columns(&table).into_iter().map(|part| (part.name, part.inputs)).collect();
        let names = ["a of sample 1", "b of sample 1", "a of sample 2", "b of sample 2"];
        assert!(found.iter().map(|(name, _)| name).eq(names), "{found:?}");
        assert!(found.iter().enumerate().all(|(index, (_, inputs))| *inputs == [index]));
    }

    #[test]
    fn pieces_cover_a_picture_once() {
        for (height, width, channels, most) in [(28, 28, 1, 8), (1, 275, 2, 32), (5, 3, 3, 8)] {
            let shape = Shape { height, width, channels };
            let (across, parts) = pieces(shape, most);
            assert_eq!(across, width.min(most));
            let mut inputs: Vec<usize> = parts.into_iter().flat_map(|part| part.inputs).collect();
            inputs.sort_unstable();
            assert_eq!(inputs, (0..shape.inputs()).collect::<Vec<_>>());
        }
    }
}
