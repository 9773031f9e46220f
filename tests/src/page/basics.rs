//! Examples of the generator, tables, logarithm, input maps, lists and scores.

use std::fmt::Write;

use super::{SEED, hex, list, model_of};
use crate::reference::generator::check_word;
use crate::reference::log::{polynomial, power_and_fraction};
use crate::reference::{Map, Reference, Stream, crc32, signed_log, table_bytes};

pub(super) fn parts(tiny: &[u8]) -> Result<Vec<(&'static str, String)>, String> {
    let parts = [
        ("generator", generator()),
        ("tables", tables()),
        ("logarithm", logarithm()),
        ("input maps", input_maps()),
        ("kept features", kept()),
        ("score", score(tiny)),
    ];
    parts.into_iter().map(|(name, text)| Ok((name, text?))).collect()
}

fn failed(error: std::fmt::Error) -> String {
    error.to_string()
}

fn generator() -> Result<String, String> {
    let mut text = format!("seed {SEED}\n");
    for (name, number) in
        [("0", 0), ("1", 1), ("2", 2), ("2^32 - 2", (1 << 32) - 2), ("2^32 - 1", (1 << 32) - 1)]
    {
        let stream = Stream::new(SEED, number);
        let [first, second] = [0, 1].map(|i| stream.draw(i));
        writeln!(
            text,
            "stream {name:8}  base {:016x}  draw 0 {first:016x}  draw 1 {second:016x}",
            stream.base()
        )
        .map_err(failed)?;
    }
    let draw = Stream::new(SEED, 0).draw(0);
    let bytes = (0..8).map(|j| Stream::new(SEED, 0).byte(0, j));
    writeln!(text, "bytes 0 to 7 of {draw:016x}: {}", list(bytes)).map_err(failed)?;
    let words = (0..4).map(|j| Stream::new(SEED, 0).word(0, j));
    writeln!(text, "u16 0 to 3 of {draw:016x}: {}", list(words)).map_err(failed)?;
    writeln!(text, "check word {:04x}", check_word(SEED)).map_err(failed)?;
    Ok(text)
}

fn tables() -> Result<String, String> {
    let mut text = String::new();
    for (name, bytes) in table_bytes() {
        let wide = bytes.len() == 512;
        let numbers: Vec<i32> = match (name, wide) {
            ("RECIPROCAL_GAMMA2", _) => {
                bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]]).into()).collect()
            }
            (_, true) => bytes.chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]]).into()).collect(),
            _ => bytes.iter().map(|&b| i32::from(b as i8)).collect(),
        };
        let kind = match (name, wide) {
            ("RECIPROCAL_GAMMA2", _) => "u16",
            (_, true) => "i16",
            _ => "i8",
        };
        let count = numbers.len();
        let middle = count / 2;
        writeln!(
            text,
            "{name:17}  {count} x {kind:3}  CRC-32 {:08x}  {} ... {} ... {}",
            crc32(&bytes),
            list(&numbers[..3]),
            list(&numbers[middle - 1..=middle + 1]),
            list(&numbers[count - 2..]),
        )
        .map_err(failed)?;
    }
    Ok(text)
}

fn logarithm() -> Result<String, String> {
    let mut text = String::new();
    for x in [0.1f32, 1.0, -255.0, 32767.0, 3e9, f32::INFINITY] {
        let (power, t) = power_and_fraction(x);
        writeln!(
            text,
            "x {x:<10}  e {power:3}  t {t:10}  p {:10}  L {}",
            polynomial(t),
            signed_log(x)
        )
        .map_err(failed)?;
    }
    Ok(text)
}

fn input_maps() -> Result<String, String> {
    let mut text = String::new();
    let plain = Map { offset: 1000, shift: 4, log: false, mult: 200 };
    let log = Map { offset: 30_000_000, shift: 24, log: true, mult: 100 };
    for (bytes, map) in [("e8 03 00 00 44 c8", plain), ("80 c3 c9 01 d8 64", log)] {
        let Map { offset, shift, mult, .. } = map;
        let what = if map.log { "logarithm, " } else { "" };
        writeln!(text, "{bytes}: {what}shift {shift}, offset {offset}, mult {mult}, limit 32767")
            .map_err(failed)?;
        for x in [0.03125f32, -1.0, 300.0, -1e6, f32::INFINITY] {
            let (v, c, q) = (map.value(x), map.centred(x), map.quantise(x, 32767));
            writeln!(text, "  x {x:<8} v {v:11}  c {c:8}  q {q:6}").map_err(failed)?;
        }
    }
    Ok(text)
}

fn kept() -> Result<String, String> {
    // Fourier, gaussian, 5 features; r = 1, 2 bytes of codes.
    let bank = [0x11, 0x40, 5, 0, 1, 0, 1, 2, 0, 0x65, 0x0f];
    let model = model_of(3, &bank)?;
    let bank_of = &model.banks[0];
    let mut text = format!("{}\nbits, the lowest of each byte first: ", hex(&bank[6..]));
    for byte in &bank[9..] {
        (0..8).try_for_each(|bit| write!(text, "{}", byte >> bit & 1)).map_err(failed)?;
        text.push(' ');
    }
    let gaps = bank_of.indices.iter().scan(-1i64, |before, &index| {
        let gap = index as i64 - *before - 1;
        *before = index as i64;
        Some(gap)
    });
    writeln!(text, "\ngaps {}", list(gaps)).map_err(failed)?;
    writeln!(text, "indices {}", list(&bank_of.indices)).map_err(failed)?;
    Ok(text)
}

/// The tiny model on its golden row.
fn score(tiny: &[u8]) -> Result<String, String> {
    let model = Reference::parse(tiny)?;
    let head = model.head.as_ref().ok_or("a model without a head")?;
    let rows = model.sections.golden_rows.as_ref().and_then(|rows| rows.first());
    let (row, scores) = rows.ok_or("a model without golden rows")?;
    let (phi, weights) = (model.features(row), &head.weights[0][0]);
    let sum: i64 = phi.iter().zip(weights).map(|(phi, w)| phi * w).sum();
    let mut text = format!("x        {}\n", list(row));
    let lines = [
        ("q", list(model.quantise(row))),
        ("features", list(&phi)),
        ("codes u", list(weights.iter().map(|w| (w - 1) / 2 + 8))),
        ("weights", list(weights)),
        ("sum", format!("{sum}, multiplier {}", head.multipliers[0][0])),
        ("score", format!("({sum} + {}) >> {} = {}", (1 << head.shift) / 2, head.shift, scores[0])),
    ];
    for (name, numbers) in lines {
        writeln!(text, "{name:8} {numbers}").map_err(failed)?;
    }
    Ok(text)
}
