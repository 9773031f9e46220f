//! The parser: the whole blob into plain vectors, every rule checked.

use koan::Task;

use super::banks::{Bank, banks, limit};
use super::generator::check_word;
use super::head::crc32;

/// A parsed model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// What the outputs are.
    pub task: Task,
    /// Numbers in a row, d.
    pub inputs: usize,
    /// Scores for a row, T.
    pub outputs: usize,
    /// Seed of all random draws.
    pub seed: u64,
    /// Whether the blob's check word is that of the specified generator.
    pub generator_agrees: bool,
    /// One map, or one for each input.
    pub maps: Vec<Map>,
    /// Quantised inputs saturate at this magnitude.
    pub limit: i64,
    /// The banks, in order.
    pub banks: Vec<Bank>,
    /// The trained part; `None` without outputs.
    pub head: Option<Head>,
    /// The optional parts.
    pub sections: Sections,
    /// The golden digest that the blob states.
    pub stated_digest: u32,
}

/// An input map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// What maps to 0.
    pub offset: i32,
    /// Binary places of the value.
    pub shift: i32,
    /// Whether the logarithm comes first.
    pub log: bool,
    /// The gain's mantissa.
    pub mult: u8,
}

/// The head.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Real value of a score of 1.
    pub scale: f32,
    /// Score shift.
    pub shift: u32,
    /// Bias of each output.
    pub bias: Vec<i32>,
    /// `multipliers[bank][output]`.
    pub multipliers: Vec<Vec<u16>>,
    /// `weights[bank][output][column]`.
    pub weights: Vec<Vec<Vec<i64>>>,
}

/// The sections that version 1 knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// Class names.
    pub class_names: Option<Vec<String>>,
    /// The trainer's notes.
    pub notes: Option<String>,
    /// Rows and their exact scores.
    pub golden_rows: Option<Vec<(Vec<f32>, Vec<i32>)>>,
    /// Slope and intercept.
    pub calibration: Option<(f32, f32)>,
}

/// Bytes not yet read.
pub(super) struct Reader<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        if self.rest.len() < count {
            return Err(format!("{count} bytes needed, {} left", self.rest.len()));
        }
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        Ok(taken)
    }

    fn uint(&mut self, bytes: usize) -> Result<u64, String> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(super) fn u8(&mut self) -> Result<u8, String> {
        Ok(self.uint(1)? as u8)
    }

    pub(super) fn u16(&mut self) -> Result<u16, String> {
        Ok(self.uint(2)? as u16)
    }

    fn i32(&mut self) -> Result<i32, String> {
        Ok(self.uint(4)? as u32 as i32)
    }

    fn f32(&mut self) -> Result<f32, String> {
        Ok(f32::from_bits(self.uint(4)? as u32))
    }
}

pub(super) fn check(condition: bool, rule: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(rule.to_owned()) }
}

impl Reference {
    /// Parses a blob.
    ///
    /// # Errors
    /// The rule that the blob breaks.
    pub fn parse(blob: &[u8]) -> Result<Self, String> {
        check(blob.len() >= 8, "digest and CRC-32 always are present")?;
        let (body, crc) = blob.split_at(blob.len() - 4);
        check(crc == crc32(body).to_le_bytes(), "CRC-32")?;
        let (body, digest) = body.split_at(body.len() - 4);
        let mut reader = Reader { rest: body };

        check(reader.take(4)? == b"KOAN", "magic")?;
        check(reader.u8()? == 1, "version")?;
        let flags = reader.u8()?;
        check(flags < 8, "flags")?;
        let classification = flags & 1 != 0;
        let inputs = usize::from(reader.u16()?);
        check(inputs >= 1, "inputs")?;
        let outputs = usize::from(reader.u8()?);
        check(outputs > 0 || !classification, "a model without outputs is no classification")?;
        let seed = reader.uint(8)?;
        let generator_agrees = reader.u16()? == check_word(seed);

        let count = match flags >> 1 {
            0 | 2 => 1,
            1 => inputs,
            _ => usize::from(reader.u8()?),
        };
        check(flags >> 1 != 3 || (2..=inputs).contains(&count), "channels")?;
        let mut maps = (0..count).map(|_| map(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        if flags >> 1 == 2 {
            for _ in 1..inputs {
                maps.push(Map { mult: reader.u8()?, ..maps[0] });
            }
        }
        let banks = banks(&mut reader, inputs, outputs)?;
        let head = if outputs > 0 { Some(head(&mut reader, &banks, outputs)?) } else { None };
        let task = match (outputs, classification) {
            (0, _) => Task::Features,
            (_, true) => Task::Classification,
            (_, false) => Task::Regression,
        };
        let score_scale = head.as_ref().map_or(1.0, |head| head.scale);
        let sections = sections(&mut reader, task, inputs, outputs, score_scale)?;
        let model = Self {
            task,
            inputs,
            outputs,
            seed,
            generator_agrees,
            maps,
            limit: limit(&banks, inputs),
            banks,
            head,
            sections,
            stated_digest: u32::from_le_bytes(digest.try_into().expect("four bytes")),
        };
        check(model.work() <= Self::MOST_WORK, "work")?;
        Ok(model)
    }
}

fn map(reader: &mut Reader<'_>) -> Result<Map, String> {
    let offset = reader.i32()?;
    let kind = reader.u8()?;
    let shift = i32::from(kind & 127) - 64;
    Ok(Map { offset, shift, log: kind >= 128, mult: reader.u8()? })
}

fn head(reader: &mut Reader<'_>, banks: &[Bank], outputs: usize) -> Result<Head, String> {
    let scale = reader.f32()?;
    check(scale.is_finite() && scale > 0.0, "score scale")?;
    let shift = u32::from(reader.u8()?);
    check(shift <= 40, "score shift")?;
    let bias = (0..outputs).map(|_| reader.i32()).collect::<Result<_, _>>()?;
    let present = banks.len() * outputs > 1;
    let multipliers = banks
        .iter()
        .map(|_| (0..outputs).map(|_| if present { reader.u16() } else { Ok(1) }).collect())
        .collect::<Result<_, _>>()?;
    let weights = banks
        .iter()
        .map(|bank| (0..outputs).map(|_| row(reader, bank)).collect())
        .collect::<Result<_, _>>()?;
    Ok(Head { scale, shift, bias, multipliers, weights })
}

/// The weights of one output, unpacked bit by bit.
fn row(reader: &mut Reader<'_>, bank: &Bank) -> Result<Vec<i64>, String> {
    let bytes = reader.take((bank.columns * bank.bits).div_ceil(8))?;
    let bit = |n: usize| i64::from(bytes[n / 8] >> (n % 8) & 1);
    let weight = |column: usize| {
        let code: i64 = (0..bank.bits).map(|j| bit(column * bank.bits + j) << j).sum();
        2 * (code - (1 << (bank.bits - 1))) + i64::from(bank.odd)
    };
    Ok((0..bank.columns).map(weight).collect())
}

/// What is no UTF-8 is not refused, only not readable.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sections(
    reader: &mut Reader<'_>,
    task: Task,
    inputs: usize,
    outputs: usize,
    score_scale: f32,
) -> Result<Sections, String> {
    let classes = match (task, outputs) {
        (Task::Classification, 1) => 2,
        (Task::Classification, outputs) => outputs,
        _ => 0,
    };
    let mut sections = Sections::default();
    let mut seen = Vec::new();
    while !reader.rest.is_empty() {
        let tag = reader.u8()?;
        let length = usize::from(reader.u16()?);
        let bytes = reader.take(length)?;
        if (1..=4).contains(&tag) {
            check(!seen.contains(&tag), "a known section twice")?;
            seen.push(tag);
        }
        match tag {
            1 => {
                let names: Vec<_> = text(bytes).split('\n').map(str::to_owned).collect();
                check(names.len() == classes, "as many names as classes")?;
                sections.class_names = Some(names);
            }
            2 => sections.notes = Some(text(bytes)),
            3 => {
                let each = 4 * (inputs + outputs);
                check(outputs > 0, "golden rows are of models with outputs")?;
                check(length > 0 && length.is_multiple_of(each), "golden rows are whole")?;
                let mut rows = Reader { rest: bytes };
                let row = |_| {
                    let row = (0..inputs).map(|_| rows.f32()).collect::<Result<_, _>>()?;
                    Ok((row, (0..outputs).map(|_| rows.i32()).collect::<Result<_, _>>()?))
                };
                let all = (0..length / each).map(row).collect::<Result<_, String>>()?;
                sections.golden_rows = Some(all);
            }
            4 => {
                check(length == 8 && classes > 0, "calibration of a classification")?;
                let mut pair = Reader { rest: bytes };
                let (slope, intercept) = (pair.f32()?, pair.f32()?);
                let exponent = |x: f32| i32::from((x.to_bits() >> 23) as u8) - 127;
                check(slope > 0.0 && slope.is_finite(), "calibration's slope")?;
                check(exponent(slope) + exponent(score_scale) < 127, "calibration's slope")?;
                check(intercept.is_finite(), "calibration's intercept")?;
                sections.calibration = Some((slope, intercept));
            }
            _ => check(tag < 128, "unknown tags of 128 or more are refused")?,
        }
    }
    Ok(sections)
}
