//! An example of every family, with all numbers on the way.

use std::fmt::{Error, Write};

use super::{SEED, hex, list, model_of};
use crate::reference::features::*;
use crate::reference::tables::sigmoid;
use crate::reference::{Bank, Conv, Family, Reference, bank_codes, bank_features};
use crate::reference::{conv, series as slides};

/// A bank, and what is written of it for a row of integers.
struct Example {
    name: &'static str,
    bank: &'static [u8],
    q: &'static [i64],
    write: fn(&mut String, &Bank, &[i64]) -> Result<(), Error>,
}

const EXAMPLES: [Example; 13] = [
    Example { name: "linear", bank: &[0x00, 0, 3, 0, 1, 0], q: &[1000, -3, -32767], write: linear },
    Example {
        name: "fourier gaussian",
        bank: &[0x11, 0, 2, 0, 93, 12],
        q: &[1000, -2000, 3001],
        write: fourier,
    },
    Example {
        name: "fourier hadamard",
        bank: &[0x41, 0, 10, 0, 5, 1],
        q: &[1000, -2000, 3001],
        write: fourier_hadamard,
    },
    Example {
        name: "fourier groups",
        bank: &[0x01, 0x10, 1, 0, 1, 0, 3, 1, 0, 1, 93, 8, 1, 0, 0, 1, 0, 1, 0, 2, 77, 14],
        q: &[1000, -2000, 3001],
        write: fourier_groups,
    },
    Example { name: "stump", bank: &[0x52, 0, 4, 0, 3, 1], q: &[100, -200, 300], write: stumps },
    Example {
        name: "bin",
        bank: &[0x63, 0, 1, 0, 11, 4, 3],
        q: &[1000, -2000, 3001, -1, 500],
        write: bin,
    },
    Example {
        name: "maxout hadamard",
        bank: &[0x44, 0, 3, 0, 91, 12, 3, 0, 0],
        q: &[1000, -2000, 3001],
        write: maxout,
    },
    Example {
        name: "maxout shared",
        bank: &[0x34, 0, 3, 0, 91, 12, 3, 5, 0],
        q: &[1000, -2000, 3001],
        write: maxout_shared,
    },
    Example {
        name: "sigmoid",
        bank: &[0x15, 0, 2, 0, 147, 20],
        q: &[1000, -2000, 3001],
        write: sigmoids,
    },
    Example {
        name: "conv",
        // 10 filters of 2 cells: a block of 8 and one of 2, with dilations 1 and 2.
        bank: &[0x46, 0, 20, 0, 1, 0, 1, 1, 3, 0x21, 2],
        q: &[1000, -2000, 3001, 4000, -5000, 6000, 777, -8],
        write: convolution,
    },
    Example {
        name: "conv image",
        // 3 x 4 pixels, 9 taps folded to 8, proportions.
        bank: &[0x46, 0, 4, 0, 5, 1, 3, 1, 3, 0x11, 1],
        q: &[1000, -2000, 3001, 4000, -5000, 6000, 777, -8, 90, 1234, -2345, 3456],
        write: convolution,
    },
    Example {
        name: "series",
        // Some of block 1, samples at dilation 2, and of block 3, differences there.
        bank: &[0x48, 0x40, 4, 0, 1, 0, 1, 3, 2, 0x50, 0xfc, 0x5a, 0xfe, 3, 3, 0, 0x22, 0x74, 0],
        q: &[1000, -2000, 3001, 4000, -5000, 6000, 777],
        write: series,
    },
    Example {
        name: "fern",
        bank: &[0x17, 0x40, 2, 0, 21, 0, 3, 1, 1, 0, 0x33],
        q: &[1000, -2000, 3001, -1, 500],
        write: ferns,
    },
];

pub(super) fn parts() -> Result<Vec<(&'static str, String)>, String> {
    EXAMPLES.iter().map(|example| Ok((example.name, example.text()?))).collect()
}

impl Example {
    fn text(&self) -> Result<String, String> {
        let model: Reference = model_of(self.q.len() as u16, self.bank)?;
        let bank = &model.banks[0];
        let mut text = format!("bank     {}\nq        {}\n", hex(self.bank), list(self.q));
        (self.write)(&mut text, bank, self.q).map_err(|error| error.to_string())?;
        let features = bank_features(bank, SEED, self.q);
        let line = |text: &mut String, name: &str, numbers: String| {
            writeln!(text, "{name:8} {numbers}").map_err(|error| error.to_string())
        };
        line(&mut text, "features", list(features))?;
        let codes = bank_codes(bank, SEED, self.q);
        if !codes.is_empty() {
            line(&mut text, "codes", list(codes))?;
        }
        line(&mut text, "work", model.work().to_string())?;
        Ok(text)
    }
}

fn linear(_: &mut String, _: &Bank, _: &[i64]) -> Result<(), Error> {
    Ok(())
}

/// The weights of projection `k`.
fn weights(bank: &Bank, k: usize, d: usize) -> Vec<i64> {
    let stream = weights_stream(bank, SEED);
    (0..d).map(|i| weight(bank, &stream, k, i, d)).collect()
}

fn offset_line(text: &mut String, bank: &Bank) -> Result<(), Error> {
    let [o, a, c] = offsets(bank, SEED);
    let draw = offsets_stream(bank, SEED).draw(0);
    writeln!(text, "offsets  draw 0 {draw:016x}: o {o}, a {a}, c {c}")
}

/// Phase and cosine.
fn phase_line(text: &mut String, bank: &Bank, k: usize, turn: i64) -> Result<(), Error> {
    let b = offset(bank, SEED, k);
    let p = (turn + b).rem_euclid(1 << 16);
    writeln!(text, "  b {b}, p {p}: COSINE[{}] = {}", p >> 8, cosine(p))
}

fn fourier(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let stream = weights_stream(bank, SEED);
    offset_line(text, bank)?;
    for &k in &bank.indices {
        let z = project(bank, &stream, k, q);
        let draw = stream.draw(k * q.len().div_ceil(8));
        writeln!(text, "k = {k}: draw {draw:016x}, weights {}", list(weights(bank, k, q.len())))?;
        writeln!(text, "  z {z}, wrap(z) {}", bank.groups[0].scale.wrap(z))?;
        phase_line(text, bank, k, turn(bank, &stream, k, q))?;
    }
    Ok(())
}

fn fourier_hadamard(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let stream = weights_stream(bank, SEED);
    offset_line(text, bank)?;
    let s = scaled(bank, q, 4);
    writeln!(text, "without the lowest 4 bits: {}", list(&s))?;
    for &k in bank.indices.iter().filter(|&k| !(2..8).contains(k)) {
        if k % 8 == 0 {
            let draw = stream.draw(k / 8);
            let signed: Vec<i64> =
                (0..q.len()).map(|i| weight(bank, &stream, k, i, q.len()) * s[i]).collect();
            writeln!(text, "block {}: draw {draw:016x}, s {}", k / 8, list(signed))?;
        }
        let z = turn(bank, &stream, k, q);
        writeln!(text, "k = {k}: row {} of H: z {z}", k % 8)?;
        phase_line(text, bank, k, z)?;
    }
    Ok(())
}

fn fourier_groups(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    offset_line(text, bank)?;
    let weights = weights(bank, 0, q.len());
    writeln!(text, "k = 0: weights {}", list(&weights))?;
    let mut total = 0;
    for ((group, weight), q) in bank.groups.iter().zip(&weights).zip(q) {
        let wrapped = group.scale.wrap(weight * q);
        writeln!(text, "  {:8} z {}, wrap(z) {wrapped}", group.law.name(), weight * q)?;
        total += wrapped;
    }
    phase_line(text, bank, 0, total)
}

fn stumps(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let choices = choices_stream(bank, SEED);
    let draws: Vec<_> = (0..3).map(|i| format!("{:016x}", choices.draw(i))).collect();
    let [start, first, step] = stump_sequence(bank, SEED, q.len());
    writeln!(text, "choices  draws 0 to 2: {}", draws.join(" "))?;
    writeln!(text, "n {}, start {start}, first {first}, step {step}", q.len())?;
    for &k in &bank.indices {
        let (input, byte, threshold) = stump(bank, SEED, k, q.len());
        writeln!(text, "k = {k}: input {input}, byte {byte}, wrap(v) {threshold}")?;
    }
    Ok(())
}

fn ferns(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let Family::Fern { depth } = bank.family else { return Err(Error) };
    let choices = choices_stream(bank, SEED);
    for (&k, code) in bank.indices.iter().zip(bank_codes(bank, SEED, q)) {
        writeln!(text, "fern {k}: draw {:016x}", choices.draw(k))?;
        for j in 0..depth as usize {
            let Comparison { input, byte, threshold } = comparison(bank, SEED, k, j, q.len());
            let bit = code >> j & 1;
            let word = choices.word(k, j);
            writeln!(
                text,
                "  u {word}: input {input}, q {}, byte {byte}, wrap(v) {threshold}: bit {bit}",
                q[input]
            )?;
        }
    }
    Ok(())
}

fn bin(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let (weights, choices) = (weights_stream(bank, SEED), choices_stream(bank, SEED));
    for first in (0..q.len()).step_by(4) {
        writeln!(text, "weights  draw {} {:016x}", first / 4, weights.draw(first / 4))?;
        for (i, &q_i) in q.iter().enumerate().skip(first).take(4) {
            let [pitch, shift] = [0, 1].map(|j| weights.byte(i / 4, 2 * (i % 4) + j));
            let x = bank.groups[0].scale.round(q_i);
            let cell = bin_cell(bank, SEED, 0, i, q);
            writeln!(text, "  input {i}: x {x}, pitch {pitch}, shift {shift}: cell {cell}")?;
        }
    }
    writeln!(text, "h        {:016x} to begin with", choices.draw(0))?;
    writeln!(text, "h        {:016x} at last", bin_hash(bank, SEED, 0, q))
}

fn maxout(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let Family::Maxout { pool, .. } = bank.family else { return Err(Error) };
    let choices = choices_stream(bank, SEED);
    for n in 0..bank.features * pool {
        if n % 8 == 0 {
            let [a, c, e] = [0, 1, 2].map(|j| choices.word(n / 8, j));
            writeln!(text, "block {}: A {}, C {c}, E {e}", n / 8, a | 1)?;
        }
        let row = row_in_order(bank, SEED, n, q.len());
        let z = project_in_order(bank, SEED, n, q);
        writeln!(
            text,
            "  {n}: row {} of H, weights {}, z {z}",
            row % 8,
            list(weights(bank, row, q.len()))
        )?;
    }
    Ok(())
}

fn maxout_shared(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let Family::Maxout { pool, shared } = bank.family else { return Err(Error) };
    let weights = weights_stream(bank, SEED);
    let all = (0..shared).map(|k| project(bank, &weights, k, q));
    writeln!(text, "z        {}", list(all))?;
    for &k in &bank.indices {
        let choices: Vec<_> = (0..pool).map(|j| choice(bank, shared, SEED, k * pool + j)).collect();
        writeln!(text, "k = {k}: projections {}", list(choices))?;
    }
    Ok(())
}

fn sigmoids(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    for &k in &bank.indices {
        let (z, bias) = (project_in_order(bank, SEED, k, q), bias(bank, SEED, k));
        let v = bank.groups[0].scale.round8(z + bias);
        writeln!(text, "k = {k}: weights {}, z {z}, bias {bias}", list(weights(bank, k, q.len())))?;
        writeln!(text, "  v {v}, SIGMOID[{v}] = {}", sigmoid(v))?;
    }
    Ok(())
}

fn convolution(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let Family::Conv(shape) = &bank.family else { return Err(Error) };
    offset_line(text, bank)?;
    let s = scaled(bank, q, 4);
    writeln!(text, "s        {}", list(&s))?;
    let mut block = usize::MAX;
    for (number, &k) in bank.indices.iter().enumerate() {
        let place = conv::place(bank, shape, k);
        if place.block != block {
            block = place.block;
            block_lines(text, bank, shape, block, &s)?;
        }
        // The first filters of each block and cell.
        if place.row < 2 {
            let filter = block * shape.transform + place.row;
            writeln!(text, "feature {number}: filter {filter}, cell {}", place.cell)?;
            filter_line(text, bank, shape, place, &s)?;
        }
    }
    Ok(())
}

fn series(text: &mut String, bank: &Bank, q: &[i64]) -> Result<(), Error> {
    let Family::Series(shape) = &bank.family else { return Err(Error) };
    offset_line(text, bank)?;
    let mut block = usize::MAX;
    for &k in &bank.indices {
        let slide = slides::slide(bank, shape, SEED, k / 8, q);
        let positions = slide.s.len();
        if k / 8 != block {
            block = k / 8;
            let draw = weights_stream(bank, SEED).draw(block);
            let of = if slide.difference { "differences" } else { "samples" };
            writeln!(
                text,
                "block {block}: {of}, dilation {}, P {positions}, draw {draw:016x}, signs {}",
                slide.dilation,
                list(&slide.signs)
            )?;
            writeln!(text, "  s {}", list(&slide.s))?;
            for y in 0..positions {
                writeln!(text, "  position {y}: t {}", list(slide.folded(y)))?;
            }
        }
        let b = slides::threshold(bank, SEED, k);
        let sums: Vec<i64> = (0..positions).map(|y| slides::sum(k % 8, &slide.folded(y))).collect();
        let n = sums.iter().filter(|&z| z + b >= 0).count();
        writeln!(text, "filter {k}: row {}, b {b}, z {}: n {n}", k % 8, list(&sums))?;
    }
    Ok(())
}

fn block_lines(
    text: &mut String,
    bank: &Bank,
    shape: &Conv,
    block: usize,
    s: &[i64],
) -> Result<(), Error> {
    let (signs, dilation) = (conv::signs(bank, shape, SEED, block), shape.dilation(block));
    let draw = weights_stream(bank, SEED).draw(block);
    let m = conv::largest_cell(shape, dilation);
    writeln!(
        text,
        "block {block}: dilation {dilation}, m {m}, draw {draw:016x}, signs {}",
        list(&signs)
    )?;
    let [rows, columns] = shape.positions(dilation);
    for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
        let t = conv::folded(shape, s, &signs, dilation, [y, x]);
        let t = t.iter().map(|&t| t as i16);
        writeln!(text, "  position {y}, {x}: t {}", list(t))?;
    }
    Ok(())
}

/// Phases and values of a filter at the positions of a cell.
fn filter_line(
    text: &mut String,
    bank: &Bank,
    shape: &Conv,
    place: conv::Place,
    s: &[i64],
) -> Result<(), Error> {
    let (signs, dilation) =
        (conv::signs(bank, shape, SEED, place.block), shape.dilation(place.block));
    let [rows, columns] = shape.positions(dilation);
    let mut parts = Vec::new();
    for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
        let cell = y * shape.grid[0] / rows * shape.grid[1] + x * shape.grid[1] / columns;
        if cell == place.cell {
            let t = conv::folded(shape, s, &signs, dilation, [y, x]);
            let p = conv::phase(bank, SEED, place, &t);
            parts.push(format!("{p}: {}", conv::value(shape, p)));
        }
    }
    let b = offset(bank, SEED, place.block * shape.transform + place.row);
    writeln!(text, "  b {b}, phases and values {}", parts.join(", "))
}
