//! The parser: the whole blob into plain vectors, every rule checked.

use koan::{Law, Task};

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

/// A family and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Family 0.
    Linear,
    /// Family 1.
    Fourier,
    /// Family 2.
    Stump,
    /// Family 3.
    Bin {
        /// Bits of a slot's number, h.
        slot_bits: u32,
    },
    /// Family 4.
    Maxout {
        /// Projections of a unit, q.
        pool: usize,
        /// Projections that all units share, R; 0 for none.
        shared: usize,
    },
    /// Family 5.
    Sigmoid,
    /// Family 6.
    Conv(Conv),
}

/// What a convolution slides over, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv {
    /// H.
    pub height: usize,
    /// W.
    pub width: usize,
    /// C.
    pub channels: usize,
    /// κ, and κ' with 1 for the height of a series.
    pub kernel: [usize; 2],
    /// S.
    pub stride: usize,
    /// Whether positives are counted.
    pub proportion: bool,
    /// Whether filters are dilated.
    pub dilated: bool,
    /// G' and G.
    pub grid: [usize; 2],
}

impl Conv {
    /// P'(D) and P(D).
    #[must_use]
    pub fn positions(&self, dilation: usize) -> [usize; 2] {
        [self.height, self.width]
            .into_iter()
            .zip(self.kernel)
            .map(|(length, kernel)| {
                let room = length as i64 - 1 - (kernel as i64 - 1) * dilation as i64;
                if room < 0 { 0 } else { room as usize / self.stride + 1 }
            })
            .collect::<Vec<_>>()
            .try_into()
            .expect("two")
    }

    /// Whether every cell has a position.
    #[must_use]
    pub fn fits(&self, dilation: usize) -> bool {
        let [rows, columns] = self.positions(dilation);
        rows >= self.grid[0] && columns >= self.grid[1]
    }
}

fn conv(reader: &mut Reader<'_>, inputs: usize) -> Result<Conv, String> {
    let [height, channels, kernel] = [reader.u8()?, reader.u8()?, reader.u8()?].map(usize::from);
    let mode = reader.u8()?;
    let grid = usize::from(reader.u8()?);
    let stride = usize::from(mode & 15);
    check(height >= 1 && channels >= 1 && kernel >= 1 && grid >= 1 && stride >= 1, "conv: sizes")?;
    check(mode < 64, "conv: mode, bits 6 and 7")?;
    check(inputs.is_multiple_of(height * channels), "conv: d = H·W·C")?;
    let (proportion, dilated) = (mode & 16 != 0, mode & 32 != 0);
    check(!dilated || kernel >= 2, "conv: kernel of a dilated bank")?;
    let tall = |size: usize| if height == 1 { 1 } else { size };
    let conv = Conv {
        height,
        width: inputs / (height * channels),
        channels,
        kernel: [tall(kernel), kernel],
        stride,
        proportion,
        dilated,
        grid: [tall(grid), grid],
    };
    check(conv.fits(1), "conv: a position for every cell")?;
    check(height * channels * stride * conv.width.div_ceil(stride) <= 65535, "conv: sizes")?;
    Ok(conv)
}

/// mult / 2^shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    pub(super) mult: i64,
    pub(super) shift: u32,
}

/// A run of inputs with a law and a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many inputs.
    pub inputs: usize,
    /// Their law.
    pub law: Law,
    /// Their scale.
    pub scale: Scale,
}

/// A bank. One that declares no groups has a single one of all inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Bank {
    /// Its number, from 0.
    pub number: usize,
    /// Its family.
    pub family: Family,
    /// Features or grids, K.
    pub features: usize,
    /// The index n_j of each.
    pub indices: Vec<usize>,
    /// Bytes of the list of kept features; 0 without one.
    pub list_bytes: usize,
    /// Weights of an output.
    pub columns: usize,
    /// Bits of a weight.
    pub bits: usize,
    /// Whether weights are odd.
    pub odd: bool,
    /// Whether the blob declares groups.
    pub grouped: bool,
    /// The groups; they cover all inputs.
    pub groups: Vec<Group>,
}

impl Bank {
    /// The group of input `i`.
    #[must_use]
    pub fn group_of(&self, i: usize) -> &Group {
        let mut end = 0;
        let mut covering = self.groups.iter().filter(|group| {
            end += group.inputs;
            i < end
        });
        covering.next().expect("groups cover the inputs")
    }
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
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
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

    fn u8(&mut self) -> Result<u8, String> {
        Ok(self.uint(1)? as u8)
    }

    fn u16(&mut self) -> Result<u16, String> {
        Ok(self.uint(2)? as u16)
    }

    fn i32(&mut self) -> Result<i32, String> {
        Ok(self.uint(4)? as u32 as i32)
    }

    fn f32(&mut self) -> Result<f32, String> {
        Ok(f32::from_bits(self.uint(4)? as u32))
    }
}

fn check(condition: bool, rule: &str) -> Result<(), String> {
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
        check(flags < 6, "flags")?;
        let [classification, map_per_input, gain_per_input] = [1, 2, 4].map(|bit| flags & bit != 0);
        let inputs = usize::from(reader.u16()?);
        check(inputs >= 1, "inputs")?;
        let outputs = usize::from(reader.u8()?);
        check(outputs > 0 || !classification, "a model without outputs is no classification")?;
        let seed = reader.uint(8)?;
        let generator_agrees = reader.u16()? == check_word(seed);

        let count = if map_per_input { inputs } else { 1 };
        let mut maps = (0..count).map(|_| map(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        if gain_per_input {
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
        Ok(Self {
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
        })
    }
}

fn map(reader: &mut Reader<'_>) -> Result<Map, String> {
    let offset = reader.i32()?;
    let kind = reader.u8()?;
    let shift = i32::from(kind & 127) - 64;
    Ok(Map { offset, shift, log: kind >= 128, mult: reader.u8()? })
}

fn limit(banks: &[Bank], inputs: usize) -> i64 {
    let of_bank = |bank: &Bank| {
        if !matches!(bank.family, Family::Maxout { .. } | Family::Sigmoid) {
            return 32767;
        }
        let w = if bank.groups[0].law == Law::Gaussian { 127 } else { 1 };
        ((1i64 << 31) - 1 - 127 * 2048) / (inputs as i64 * w)
    };
    banks.iter().map(of_bank).fold(32767, i64::min)
}

fn banks(reader: &mut Reader<'_>, inputs: usize, outputs: usize) -> Result<Vec<Bank>, String> {
    let mut banks = Vec::new();
    loop {
        let (bank, more) = bank(reader, banks.len(), inputs, outputs)?;
        banks.push(bank);
        check(banks.iter().map(|bank| bank.features).sum::<usize>() <= 65535, "features")?;
        check(banks.iter().map(|bank| bank.columns).sum::<usize>() <= 1 << 20, "columns")?;
        if !more {
            return Ok(banks);
        }
        check(banks.len() < 255, "number of banks")?;
    }
}

fn law(code: u8) -> Result<Law, String> {
    Ok(match code {
        0 => Law::None,
        1 => Law::Gaussian,
        2 => Law::Cauchy,
        3 => Law::Sign,
        4 => Law::Hadamard,
        5 => Law::Normal,
        6 => Law::Uniform,
        7 => Law::Gamma2,
        _ => return Err(format!("law {code}")),
    })
}

/// The laws of a bank of a family, those of its groups, and the largest shift.
fn laws(family: Family) -> (&'static [Law], &'static [Law], u8) {
    use Law::{Cauchy, Gamma2, Gaussian, Hadamard, None, Normal, Sign, Uniform};
    match family {
        Family::Linear => (&[None], &[], 0),
        Family::Fourier => {
            (&[Gaussian, Cauchy, Sign, Hadamard], &[None, Gaussian, Cauchy, Sign], 16)
        }
        Family::Stump => (&[Normal, Uniform], &[None, Normal, Uniform], 16),
        Family::Bin { .. } => (&[Gamma2], &[None, Gamma2], 16),
        Family::Maxout { .. } | Family::Sigmoid => (&[Gaussian, Sign, Hadamard], &[], 31),
        Family::Conv(_) => (&[Sign], &[], 16),
    }
}

fn bank(
    reader: &mut Reader<'_>,
    number: usize,
    inputs: usize,
    outputs: usize,
) -> Result<(Bank, bool), String> {
    let kind = reader.u8()?;
    let options = reader.u8()?;
    let features = usize::from(reader.u16()?);
    let (mult, shift) = (reader.u8()?, reader.u8()?);
    let scale = Scale { mult: i64::from(mult), shift: u32::from(shift) };

    check(features >= 1, "features")?;
    check(mult >= 1, "mult")?;
    check(options < 128, "options, bit 7")?;
    check(options & 7 <= 4, "width code")?;
    check(outputs > 0 || options & 15 == 0, "width without outputs")?;
    let family = match kind & 15 {
        0 => Family::Linear,
        1 => Family::Fourier,
        2 => Family::Stump,
        3 => {
            let slot_bits = u32::from(reader.u8()?);
            check((1..=12).contains(&slot_bits), "slot bits")?;
            Family::Bin { slot_bits }
        }
        4 => {
            let pool = usize::from(reader.u8()?);
            check(pool >= 1, "pool")?;
            Family::Maxout { pool, shared: usize::from(reader.u16()?) }
        }
        5 => Family::Sigmoid,
        6 => Family::Conv(conv(reader, inputs)?),
        other => return Err(format!("family {other}")),
    };
    let (bank_laws, group_laws, largest_shift) = laws(family);
    check(shift <= largest_shift, "shift")?;
    let law = law(kind >> 4)?;
    let grouped = options & 16 != 0;
    let groups = if grouped {
        check(!group_laws.is_empty(), "a family without groups")?;
        check(law == Law::None && mult == 1 && shift == 0, "law and scale with groups")?;
        groups(reader, group_laws, inputs)?
    } else {
        check(bank_laws.contains(&law), "law of the family")?;
        vec![Group { inputs, law, scale }]
    };
    if family == Family::Linear {
        check(mult == 1 && shift == 0, "linear: scale 1")?;
    }
    let before = reader.rest.len();
    let indices = if options & 64 != 0 {
        kept(reader, features)?
    } else {
        check(family != Family::Linear || features == inputs, "linear: K = d")?;
        (0..features).collect()
    };
    let list_bytes = before - reader.rest.len();
    if family == Family::Linear {
        check(indices.iter().all(|&n| n < inputs), "linear: kept inputs")?;
    }
    if let Family::Conv(conv) = family
        && options & 64 == 0
    {
        check(features % (conv.grid[0] * conv.grid[1]) == 0, "conv: whole filters")?;
    }
    let columns = match family {
        Family::Bin { slot_bits } => features << slot_bits,
        _ => features,
    };
    let bits = [2, 3, 4, 8, 16][usize::from(options & 7)];
    let odd = options & 8 != 0;
    let bank =
        Bank { number, family, features, indices, list_bytes, columns, bits, odd, grouped, groups };
    Ok((bank, options & 32 != 0))
}

fn groups(reader: &mut Reader<'_>, laws: &[Law], inputs: usize) -> Result<Vec<Group>, String> {
    let count = reader.u8()?;
    check(count >= 1, "number of groups")?;
    let mut groups = Vec::new();
    for _ in 0..count {
        let inputs = usize::from(reader.u16()?);
        check(inputs >= 1, "inputs of a group")?;
        let law = law(reader.u8()?)?;
        check(laws.contains(&law), "law of a group")?;
        let (mult, shift) = (reader.u8()?, reader.u8()?);
        check(mult >= 1 && shift <= 16, "scale of a group")?;
        let scale = Scale { mult: i64::from(mult), shift: u32::from(shift) };
        groups.push(Group { inputs, law, scale });
    }
    check(groups.iter().map(|group| group.inputs).sum::<usize>() == inputs, "groups cover")?;
    check(groups.iter().any(|group| group.law != Law::None), "not all may be left out")?;
    Ok(groups)
}

/// The indices of a list of kept features, from all its bits at once.
fn kept(reader: &mut Reader<'_>, features: usize) -> Result<Vec<usize>, String> {
    let low_bits = usize::from(reader.u8()?);
    check(low_bits <= 15, "low bits of kept features")?;
    let length = usize::from(reader.u16()?);
    let bytes = reader.take(length)?;
    let bits: Vec<usize> =
        (0..8 * length).map(|n| usize::from(bytes[n / 8] >> (n % 8) & 1)).collect();
    let mut rest = bits.as_slice();
    let mut indices: Vec<usize> = Vec::new();
    for _ in 0..features {
        let zeros = rest.iter().position(|&bit| bit == 1).ok_or("kept features end early")?;
        rest = &rest[zeros + 1..];
        check(rest.len() >= low_bits, "kept features end early")?;
        let (low, others) = rest.split_at(low_bits);
        rest = others;
        let low: usize = low.iter().enumerate().map(|(j, bit)| bit << j).sum();
        let gap = (zeros << low_bits) + low;
        let index = indices.last().map_or(gap, |last| last + 1 + gap);
        check(index < 1 << 20, "index of a kept feature")?;
        indices.push(index);
    }
    check(rest.len() < 8 && !rest.contains(&1), "what follows the kept features")?;
    Ok(indices)
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
