//! A blob field by field: where its bytes go, and a commented hex dump.

use std::fmt::Write;

use koan::format::field;
use koan::{Conv, Family, Group, Model, Series};

use crate::percent::counted;

/// A run of bytes of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub name: String,
    /// Where it starts.
    pub offset: usize,
    /// How many bytes it has.
    pub length: usize,
}

/// What the input maps are.
fn input_maps(model: &Model<'_>) -> String {
    let count = model.map_period();
    match (model.map_per_channel(), model.gain_per_input()) {
        (true, _) => format!("input maps of {count} channels"),
        (_, true) => format!("input map with {count} gains"),
        _ if model.map_per_input() => format!("input maps ({count})"),
        _ => "input map of all inputs".into(),
    }
}

/// The parts of a model's blob, in order, without gaps.
#[must_use]
pub fn parts(model: &Model<'_>) -> Vec<Segment> {
    let mut listed: Vec<(String, usize)> = vec![
        ("magic KOAN, version, flags".into(), field::INPUTS),
        (
            format!("{}, {}", counted(model.inputs(), "input"), counted(model.outputs(), "output")),
            3,
        ),
        (format!("seed {}, generator check word", model.seed()), 10),
        (input_maps(model), model.map_bytes()),
    ];
    for bank in model.banks() {
        let parameters = match bank.family() {
            Family::Bin { .. } | Family::Fern { .. } => 1,
            Family::Maxout { .. } => 3,
            Family::Conv(_) => Conv::BYTES,
            Family::Series(_) => Series::BYTES,
            _ => 0,
        };
        let groups = if bank.is_grouped() { 1 + bank.groups().count() * Group::BYTES } else { 0 };
        listed.push((
            format!("bank {}: {} {}", bank.index(), bank.features(), bank.family().name()),
            koan::Bank::BYTES + parameters + groups,
        ));
        if bank.is_kept() {
            listed.push((
                format!("kept features of bank {}: {}", bank.index(), bank.features()),
                bank.kept_bytes(),
            ));
        }
    }
    if model.outputs() > 0 {
        let multipliers = model.banks().count() * model.outputs();
        listed.push(("score scale and shift".into(), 5));
        listed.push(("biases".into(), 4 * model.outputs()));
        if multipliers > 1 {
            listed.push(("multipliers".into(), 2 * multipliers));
        }
        for bank in model.banks() {
            listed.push((
                format!(
                    "weights of bank {}: {} x {} of {} bits",
                    bank.index(),
                    model.outputs(),
                    bank.columns(),
                    bank.width().bits()
                ),
                bank.row_bytes() * model.outputs(),
            ));
        }
    }
    let mut parts = Vec::new();
    let mut offset = 0;
    for (name, length) in listed {
        parts.push(Segment { name, offset, length });
        offset += length;
    }
    let blob = model.blob();
    let end = blob.len() - 8;
    while offset + 3 <= end {
        let length = 3 + usize::from(u16::from_le_bytes([blob[offset + 1], blob[offset + 2]]));
        let name = match blob[offset] {
            koan::format::section::CLASS_NAMES => "section: class names",
            koan::format::section::NOTES => "section: notes",
            koan::format::section::GOLDEN_ROWS => "section: golden rows",
            koan::format::section::CALIBRATION => "section: calibration",
            _ => "section: unknown to this build",
        };
        parts.push(Segment { name: name.into(), offset, length });
        offset += length;
    }
    parts.push(Segment { name: "golden digest".into(), offset: end, length: 4 });
    parts.push(Segment { name: "CRC-32".into(), offset: end + 4, length: 4 });
    parts
}

/// The blob as hex, 12 bytes a line, each part under its name.
#[must_use]
pub fn hex(model: &Model<'_>) -> String {
    let mut text = String::new();
    for part in parts(model) {
        let bytes = &model.blob()[part.offset..part.offset + part.length];
        for (number, line) in bytes.chunks(12).enumerate() {
            let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = if number == 0 { part.name.as_str() } else { "" };
            let line = format!("{:06x}  {:<35}  {name}", part.offset + 12 * number, hex.join(" "));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}
