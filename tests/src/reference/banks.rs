//! Banks: families, laws, groups, lists, and how they are read.

use koan::Law;

use super::parse::{Reader, check};

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
    /// Family 7.
    Fern {
        /// Comparisons, D.
        depth: u32,
    },
    /// Family 8.
    Series(Series),
}

/// What filters of a series slide over, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// W.
    pub length: usize,
    /// C.
    pub channels: usize,
    /// κ.
    pub kernel: usize,
    /// E.
    pub dilations: usize,
    /// Level and slope of samples, then of differences.
    pub gains: [[i64; 2]; 2],
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
    /// Length of the transform and filters of a block, R.
    pub transform: usize,
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

    /// Taps of a filter, n.
    #[must_use]
    pub fn taps(&self) -> usize {
        self.kernel.iter().product::<usize>() * self.channels
    }

    /// Cells of the grid, N.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.grid.iter().product()
    }

    /// The dilation of a block of filters, D.
    #[must_use]
    pub fn dilation(&self, block: usize) -> usize {
        let count = (0..).take_while(|&e| e == 0 || self.dilated && self.fits(1 << e)).count();
        1 << (block % count)
    }
}

/// mult / 2^shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Mantissa.
    pub mult: i64,
    /// Binary places to divide by.
    pub shift: u32,
}

impl Scale {
    /// (z·mult modulo 2^32, as an i32) >> shift.
    #[must_use]
    pub fn wrap(&self, z: i64) -> i64 {
        i64::from((z * self.mult) as i32).div_euclid(1 << self.shift)
    }

    /// z·mult / 2^shift, rounded, saturated to ±32767.
    #[must_use]
    pub fn round(&self, z: i64) -> i64 {
        self.rounded(z).clamp(-32767, 32767)
    }

    /// z·mult / 2^shift, rounded, saturated to ±127.
    #[must_use]
    pub fn round8(&self, z: i64) -> i64 {
        self.rounded(z).clamp(-127, 127)
    }

    fn rounded(&self, z: i64) -> i64 {
        (z * self.mult + (1 << self.shift) / 2).div_euclid(1 << self.shift)
    }
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
    /// Bytes of the list of kept features, three more than its codes; 0 without one.
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
    /// Whether the blob lists the features.
    #[must_use]
    pub fn has_list(&self) -> bool {
        self.list_bytes > 0
    }

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

/// The magnitude that quantised inputs are saturated at.
pub(super) fn limit(banks: &[Bank], inputs: usize) -> i64 {
    let of_bank = |bank: &Bank| {
        if !matches!(bank.family, Family::Maxout { .. } | Family::Sigmoid) {
            return 32767;
        }
        let w = if bank.groups[0].law == Law::Gaussian { 127 } else { 1 };
        ((1i64 << 31) - 1 - 127 * 2048) / (inputs as i64 * w)
    };
    banks.iter().map(of_bank).fold(32767, i64::min)
}

/// All banks.
pub(super) fn banks(
    reader: &mut Reader<'_>,
    inputs: usize,
    outputs: usize,
) -> Result<Vec<Bank>, String> {
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
        5 => Law::Uniform,
        6 => Law::Gamma2,
        _ => return Err(format!("law {code}")),
    })
}

/// The laws of a bank of a family, those of its groups, and the largest shift.
fn laws(family: Family) -> (&'static [Law], &'static [Law], u8) {
    use Law::{Cauchy, Gamma2, Gaussian, Hadamard, None, Sign, Uniform};
    match family {
        Family::Linear => (&[None], &[], 0),
        Family::Series(_) => (&[Hadamard], &[], 0),
        Family::Fourier => (&[Gaussian, Cauchy, Sign, Hadamard], &[None, Gaussian, Cauchy], 16),
        Family::Stump => (&[Gaussian, Uniform], &[None, Gaussian, Uniform], 16),
        Family::Bin { .. } => (&[Gamma2], &[None, Gamma2], 16),
        Family::Maxout { .. } | Family::Sigmoid => (&[Gaussian, Sign, Hadamard], &[], 31),
        Family::Conv(_) => (&[Hadamard], &[], 16),
        Family::Fern { .. } => (&[Gaussian, Uniform], &[], 16),
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
        7 => {
            let depth = u32::from(reader.u8()?);
            check((1..=4).contains(&depth), "depth")?;
            Family::Fern { depth }
        }
        8 => Family::Series(series(reader, inputs)?),
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
    if matches!(family, Family::Linear | Family::Series(_)) {
        check(mult == 1 && shift == 0, "scale 1")?;
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
        check(features % conv.cells() == 0, "conv: whole filters")?;
    }
    let columns = match family {
        Family::Bin { slot_bits: bits } | Family::Fern { depth: bits } => features << bits,
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

fn series(reader: &mut Reader<'_>, inputs: usize) -> Result<Series, String> {
    let [channels, kernel, dilations] = [reader.u8()?, reader.u8()?, reader.u8()?].map(usize::from);
    check(channels >= 1 && inputs.is_multiple_of(channels), "series: d = W·C")?;
    check((2..=64).contains(&kernel), "series: kernel")?;
    check((1..=16).contains(&dilations), "series: dilations")?;
    let length = inputs / channels;
    check((kernel - 1) << (dilations - 1) < length, "series: reach")?;
    let mut gains = [[0; 2]; 2];
    for [level, slope] in &mut gains {
        (*level, *slope) = (i64::from(reader.u8()?), i64::from(reader.u8()? as i8));
        let mut levels = (0..dilations as i64).map(|e| *level + *slope * e);
        check(levels.all(|level| (0..256).contains(&level)), "series: levels")?;
    }
    Ok(Series { length, channels, kernel, dilations, gains })
}

fn conv(reader: &mut Reader<'_>, inputs: usize) -> Result<Conv, String> {
    let [height, channels, kernel] = [reader.u8()?, reader.u8()?, reader.u8()?].map(usize::from);
    let mode = reader.u8()?;
    let grid = usize::from(reader.u8()?);
    let stride = usize::from(mode & 15);
    check(height >= 1 && channels >= 1 && kernel >= 1 && grid >= 1 && stride >= 1, "conv: sizes")?;
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
        transform: 8 << (mode >> 6),
    };
    check(conv.fits(1), "conv: a position for every cell")?;
    Ok(conv)
}
