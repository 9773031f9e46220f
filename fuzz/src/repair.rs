//! From any bytes to a blob that both parsers mostly accept.
//!
//! The bytes are read as a blob, field by field. What the format allows stays, so that a
//! blob gives itself; what it does not allow becomes something that it does, and what is
//! missing is zeros. So a fuzzer that changes a byte changes one thing, and lengths that
//! depend on it follow.

use koan::format::{field, flag, section};
use koan::option::{GROUPS, KEPT, MORE};
use koan::{Conv, Gain, Series};

use crate::reference::crc32;
use crate::reference::generator::check_word;

/// What keeps predictions quick. Blobs that are not repaired have no such limits.
const MOST_INPUTS: u16 = 1024;
const MOST_FEATURES: u16 = 600;
const MOST_BANKS: u8 = 16;
const MOST_OUTPUTS: u8 = 16;
const MOST_COLUMNS: u32 = 1 << 13;
const MOST_CODES: usize = 400;

/// Golden digest and CRC-32.
const TRAILER: usize = 8;

/// A blob of the given bytes.
///
/// Where the byte that stands for the version is even nothing is repaired but what no change
/// would ever get right: magic, version, check word and checksum. Rules that say no are so
/// tested as well.
#[must_use]
pub fn repaired(data: &[u8]) -> Vec<u8> {
    let version = data.get(field::VERSION).copied().unwrap_or(1);
    let mut blob = if version % 2 == 1 {
        Repair { rest: data, blob: Vec::new() }.blob()
    } else {
        let mut raw = data.to_vec();
        raw.resize(data.len().max(field::INPUT_MAP + TRAILER), 0);
        raw[..field::FLAGS].copy_from_slice(b"KOAN\x01");
        raw
    };
    let seed = blob[field::SEED..].first_chunk().map_or(0, |seed| u64::from_le_bytes(*seed));
    blob[field::CHECK_WORD..field::INPUT_MAP].copy_from_slice(&check_word(seed).to_le_bytes());
    set_checksum(&mut blob);
    blob
}

/// Makes the last four bytes the CRC-32 of those before.
pub fn set_checksum(blob: &mut [u8]) {
    if let Some((body, checksum)) = blob.split_last_chunk_mut::<4>() {
        *checksum = crc32(body).to_le_bytes();
    }
}

/// `value`, or where it is outside something inside.
fn within<T>(value: T, low: T, high: T) -> T
where
    T: Copy + PartialOrd + TryFrom<u32> + Into<u32>,
{
    if (low..=high).contains(&value) {
        return value;
    }
    let (value, low_number, high) = (value.into(), low.into(), high.into());
    T::try_from(low_number + value % (high - low_number + 1)).unwrap_or(low)
}

/// The largest divisor of `number` that is at most `most`.
fn divisor(number: u16, most: u8) -> u8 {
    (1..=most.max(1)).rev().find(|&size| number.is_multiple_of(size.into())).unwrap_or(1)
}

/// What a bank turned out to be: whether another one follows, and the bytes of an output's
/// weights.
struct Bank {
    more: bool,
    row_bytes: usize,
    columns: u32,
    features: u16,
}

struct Repair<'d> {
    rest: &'d [u8],
    blob: Vec<u8>,
}

impl Repair<'_> {
    fn byte(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    fn half(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        for place in &mut array {
            if let Some((&byte, rest)) = self.rest.split_first() {
                (*place, self.rest) = (byte, rest);
            }
        }
        array
    }

    fn put(&mut self, bytes: &[u8]) {
        self.blob.extend_from_slice(bytes);
    }

    /// So many bytes as they are, then zeros.
    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        self.blob.extend_from_slice(copied);
        self.blob.resize(self.blob.len() + length - copied.len(), 0);
    }

    fn blob(mut self) -> Vec<u8> {
        let _: [u8; field::FLAGS] = self.array();
        self.put(b"KOAN\x01");
        let mut flags = within(self.byte(), 0, 7);
        let inputs = within(self.half(), 1, MOST_INPUTS);
        let outputs = within(self.byte(), 0, MOST_OUTPUTS);
        if outputs == 0 {
            flags &= !flag::CLASSIFICATION;
        }
        if inputs == 1 && flags & flag::MAP_PER_CHANNEL == flag::MAP_PER_CHANNEL {
            flags &= !flag::MAP_PER_CHANNEL;
        }
        self.put(&[flags]);
        self.put(&inputs.to_le_bytes());
        self.put(&[outputs]);
        // Seed and check word, then the maps.
        self.copy(8 + 2);
        match flags & flag::MAP_PER_CHANNEL {
            0 => self.copy(6),
            flag::MAP_PER_INPUT => self.copy(6 * usize::from(inputs)),
            flag::GAIN_PER_INPUT => self.copy(5 + usize::from(inputs)),
            _ => {
                let channels = within(self.byte(), 2, inputs.min(255) as u8);
                self.put(&[channels]);
                self.copy(6 * usize::from(channels));
            }
        }
        let (mut banks, mut weights, mut columns, mut features) = (0, 0, 0, 0u32);
        loop {
            let at = self.blob.len();
            let bank = self.bank(inputs, outputs);
            banks += 1;
            weights += bank.row_bytes * usize::from(outputs);
            columns += bank.columns;
            features += u32::from(bank.features);
            let enough = banks == MOST_BANKS || columns > MOST_COLUMNS || features > 30_000;
            if !bank.more || enough {
                self.blob[at + 1] &= !MORE;
                break;
            }
        }
        let mut scale = 0.0;
        if outputs > 0 {
            scale = f32::from_le_bytes(self.array());
            if !(scale > 0.0 && scale.is_finite()) {
                scale = 0.001;
            }
            self.put(&scale.to_le_bytes());
            let shift = within(self.byte(), 0, 40);
            self.put(&[shift]);
            let multipliers = usize::from(banks) * usize::from(outputs);
            let multipliers = if multipliers == 1 { 0 } else { multipliers };
            self.copy(4 * usize::from(outputs) + 2 * multipliers);
        }
        self.copy(weights);
        let classes = match (flags & flag::CLASSIFICATION != 0, outputs) {
            (false, _) => 0,
            (true, 1) => 2,
            (true, outputs) => usize::from(outputs),
        };
        self.sections(usize::from(inputs), usize::from(outputs), classes, scale);
        // The golden digest, and room for the checksum.
        self.copy(TRAILER);
        self.blob
    }

    fn bank(&mut self, inputs: u16, outputs: u8) -> Bank {
        let [kind, options] = self.array();
        let mut features = self.half();
        let [mult, shift] = self.array();
        let family = match within(kind & 15, 0, 8) {
            // A filter of a series has two taps.
            8 if inputs < 2 => 7,
            family => family,
        };
        let listed = options & KEPT != 0;
        let grouped = options & GROUPS != 0 && (1..=3).contains(&family);
        let parameters = match family {
            3 => vec![within(self.byte(), 1, 12)],
            4 => {
                let pool = self.byte().max(1);
                let [low, high] = within(self.half(), 0, MOST_INPUTS).to_le_bytes();
                vec![pool, low, high]
            }
            6 => self.conv(inputs).to_vec(),
            7 => vec![within(self.byte(), 1, 4)],
            8 => self.series(inputs).to_vec(),
            _ => Vec::new(),
        };
        let laws: &[u8] = match family {
            _ if grouped => &[0],
            0 => &[0],
            1 => &[1, 2, 3, 4],
            2 | 7 => &[1, 5],
            3 => &[6],
            4 | 5 => &[1, 3, 4],
            _ => &[4],
        };
        let law = match kind >> 4 {
            law if laws.contains(&law) => law,
            other => laws[usize::from(other) % laws.len()],
        };
        let (mult, shift) = match family {
            _ if grouped => (1, 0),
            0 | 8 => (1, 0),
            4 | 5 => (mult.max(1), within(shift, 0, 31)),
            _ => (mult.max(1), within(shift, 0, 16)),
        };
        let width = if outputs == 0 { 0 } else { options & 8 | within(options & 7, 0, 4) };
        let groups = if grouped { self.groups(family, inputs) } else { Vec::new() };
        let list = if listed {
            let limit = if family == 0 { inputs.into() } else { koan::MAX_INDEX };
            let (list, count) = self.list(limit);
            features = count;
            list
        } else {
            features = match (family, &parameters[..]) {
                (0, _) => inputs,
                (3 | 7, &[bits]) => within(features, 1, (MOST_COLUMNS >> bits) as u16),
                (6, &[height, .., grid]) => {
                    let cells = u16::from(grid) * if height == 1 { 1 } else { grid.into() };
                    let filters = within(features / cells, 1, MOST_FEATURES.div_ceil(cells));
                    filters * cells
                }
                _ => within(features, 1, MOST_FEATURES),
            };
            Vec::new()
        };
        let flags =
            options & MORE | if grouped { GROUPS } else { 0 } | if listed { KEPT } else { 0 };
        self.put(&[family | law << 4, width | flags]);
        self.put(&features.to_le_bytes());
        self.put(&[mult, shift]);
        for part in [&parameters, &groups, &list] {
            self.blob.extend_from_slice(part);
        }
        let columns = match (family, &parameters[..]) {
            (3 | 7, &[bits]) => u32::from(features) << bits,
            _ => features.into(),
        };
        let bits = [2, 3, 4, 8, 16][usize::from(width & 7)];
        let row_bytes = (columns as usize * bits).div_ceil(8);
        Bank { more: options & MORE != 0, row_bytes, columns, features }
    }

    /// A shape that the inputs can have.
    fn conv(&mut self, inputs: u16) -> [u8; Conv::BYTES] {
        let [height, channels, kernel, mode, grid] = self.array();
        let height = divisor(inputs, height);
        let kernel = kernel.max(1);
        let mut conv = Conv {
            height,
            channels: divisor(inputs / u16::from(height), channels),
            kernel,
            stride: (mode & 15).max(1),
            grid: grid.max(1),
            proportion: mode & 16 != 0,
            dilated: mode & 32 != 0 && kernel > 1,
            transform: 8 << (mode >> 6),
        };
        while !conv.fits(inputs) {
            match (conv.grid, conv.kernel) {
                (2.., _) => conv.grid -= 1,
                (_, 2..) => conv.kernel -= 1,
                _ => conv.dilated = false,
            }
        }
        conv.to_bytes()
    }

    /// A series that the inputs can be.
    fn series(&mut self, inputs: u16) -> [u8; Series::BYTES] {
        let [channels, kernel, dilations, level, slope, other, steep] = self.array();
        let gain = |level: u8, slope: u8| Gain { level, slope: slope as i8 };
        let mut series = Series {
            channels: divisor(inputs, channels),
            kernel: within(kernel, 2, 64),
            dilations: within(dilations, 1, 16),
            samples: gain(level, slope),
            differences: gain(other, steep),
        };
        while !series.fits(inputs) {
            match (series.dilations, series.kernel) {
                (2.., _) => series.dilations -= 1,
                (_, 3..) => series.kernel -= 1,
                _ => series.channels = 1,
            }
        }
        series.to_bytes()
    }

    /// Groups that cover the inputs, one at least with a law.
    fn groups(&mut self, family: u8, inputs: u16) -> Vec<u8> {
        let laws: &[u8] = match family {
            1 => &[1, 2, 0],
            2 => &[1, 5, 0],
            _ => &[6, 0],
        };
        let count = self.byte().max(1);
        let (mut groups, mut number, mut left) = (vec![0], 0, inputs);
        while left > 0 {
            number += 1;
            let [low, high, law, mult, shift] = self.array();
            let covered = match number {
                _ if number == count => left,
                _ => within(u16::from_le_bytes([low, high]), 1, left),
            };
            left -= covered;
            let law = match laws.contains(&law) {
                true => law,
                false => laws[usize::from(law) % laws.len()],
            };
            groups.extend(covered.to_le_bytes());
            groups.extend([law, mult.max(1), within(shift, 0, 16)]);
        }
        groups[0] = number;
        if groups[1..].chunks(5).all(|group| group[2] == 0) {
            groups[3] = laws[0];
        }
        groups
    }

    /// A list of rising indices below `limit`: those that the codes stand for, up to the first
    /// that is none; and how many.
    fn list(&mut self, limit: u32) -> (Vec<u8>, u16) {
        let low_bits = within(self.byte(), 0, 15);
        let length = usize::from(self.half()).min(self.rest.len()).min(MOST_CODES);
        let (codes, rest) = self.rest.split_at(length);
        self.rest = rest;
        let mut bits = codes.iter().flat_map(|&byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        let mut read = || {
            let quotient = bits.by_ref().position(|bit| bit)? as u32;
            let mut low = 0;
            for place in 0..low_bits {
                low |= u32::from(bits.next()?) << place;
            }
            Some((quotient << low_bits) + low)
        };
        let (mut written, mut count, mut least) = (Vec::new(), 0, 0);
        while let Some(gap) = read()
            && least + gap < limit
        {
            written.extend((0..gap >> low_bits).map(|_| false));
            written.push(true);
            written.extend((0..low_bits).map(|place| gap >> place & 1 == 1));
            least += gap + 1;
            count += 1;
        }
        if count == 0 {
            written.push(true);
            written.extend((0..low_bits).map(|_| false));
            count = 1;
        }
        let byte =
            |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        let codes: Vec<u8> = written.chunks(8).map(byte).collect();
        let mut list = vec![low_bits];
        list.extend((codes.len() as u16).to_le_bytes());
        list.extend(codes);
        (list, count)
    }

    /// Sections up to where the trailer is.
    fn sections(&mut self, inputs: usize, outputs: usize, classes: usize, scale: f32) {
        let mut seen = Vec::new();
        while self.rest.len() >= TRAILER + 3 {
            let tag = self.byte();
            let length = usize::from(self.half()).min(self.rest.len() - TRAILER);
            let (bytes, rest) = self.rest.split_at(length);
            self.rest = rest;
            let known = match tag {
                section::CLASS_NAMES | section::CALIBRATION => classes > 0,
                section::NOTES => true,
                section::GOLDEN_ROWS => outputs > 0,
                _ => false,
            };
            let known = known && !seen.contains(&tag);
            let bytes = match tag {
                section::CLASS_NAMES if known => names(bytes, classes),
                section::GOLDEN_ROWS if known => {
                    let row = 4 * (inputs + outputs);
                    let mut rows = bytes.to_vec();
                    rows.resize(length.div_ceil(row).clamp(1, 4) * row, 0);
                    rows
                }
                section::CALIBRATION if known => calibration(bytes, scale),
                _ => bytes.to_vec(),
            };
            seen.push(tag);
            // Of others those that need not be known, 5 to 127.
            let tag = if known { tag } else { within(tag, 5, 127) };
            self.put(&[tag]);
            self.put(&(bytes.len() as u16).to_le_bytes());
            self.put(&bytes);
        }
    }
}

/// As many lines as classes.
fn names(bytes: &[u8], classes: usize) -> Vec<u8> {
    let mut feeds = 0;
    let mut names: Vec<u8> = Vec::new();
    for &byte in bytes {
        feeds += usize::from(byte == b'\n');
        names.push(if byte == b'\n' && feeds >= classes { b' ' } else { byte });
    }
    names.extend((feeds + 1..classes).map(|_| b'\n'));
    names
}

/// A positive slope that no score overflows with, and a finite intercept.
fn calibration(bytes: &[u8], scale: f32) -> Vec<u8> {
    let number = |at: usize| {
        let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
    };
    let (mut slope, mut intercept) = (number(0), number(4));
    let exponent = |x: f32| (x.to_bits() >> 23) as i32 - 127;
    if !(slope > 0.0 && slope.is_finite() && exponent(slope) + exponent(scale) < 127) {
        slope = 0.5;
    }
    if !intercept.is_finite() {
        intercept = 0.0;
    }
    [slope.to_le_bytes(), intercept.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use koan::Model;

    use super::*;

    #[test]
    fn golden_models_are_left_as_they_are() {
        let mut count = 0;
        for folder in ["../tests/golden", "../tests/golden/features"] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "koan") {
                    let blob = fs::read(&path).unwrap();
                    assert_eq!(repaired(&blob), blob, "{}", path.display());
                    count += 1;
                }
            }
        }
        assert!(count > 100, "{count}");
    }

    #[test]
    fn almost_any_bytes_become_a_model() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 56) as u8
        };
        let mut accepted = 0;
        for length in 0..1000 {
            let mut bytes: Vec<u8> = (0..length).map(|_| next()).collect();
            if let Some(version) = bytes.get_mut(4) {
                *version |= 1;
            }
            let blob = repaired(&bytes);
            match Model::parse(&blob) {
                Ok(_) => accepted += 1,
                Err(error) => println!("{length}: {error}"),
            }
        }
        assert!(accepted > 900, "{accepted} of 1000");
    }
}
