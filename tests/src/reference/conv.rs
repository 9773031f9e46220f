//! Convolutions: a Hadamard transform of the window at every position.

use super::banks::{Bank, Conv};
use super::features::{cosine, hadamard, offset, scaled, weights_stream};

/// Where a feature comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block of filters.
    pub block: usize,
    /// The row of the transform.
    pub row: usize,
    /// The cell of the grid.
    pub cell: usize,
}

/// Where feature `k` comes from: features are ordered by block, cell, row.
pub fn place(bank: &Bank, conv: &Conv, k: usize) -> Place {
    let (length, cells) = (conv.transform, conv.cells());
    let block = k / (length * cells);
    let rows =
        if bank.has_list() { length } else { length.min(bank.features / cells - block * length) };
    let rest = k % (length * cells);
    Place { block, row: rest % rows, cell: rest / rows }
}

/// The signs of a block's taps.
pub fn signs(bank: &Bank, conv: &Conv, seed: u64, block: usize) -> Vec<i64> {
    let (stream, n) = (weights_stream(bank, seed), conv.taps());
    let negative = |i: usize| stream.bit(block * n.div_ceil(64) + i / 64, 63 - i % 64);
    (0..n).map(|i| if negative(i) { -1 } else { 1 }).collect()
}

/// t_j of a block at a position, modulo 2^16: the taps with their signs, folded to the
/// length of the transform.
pub fn folded(
    conv: &Conv,
    s: &[i64],
    signs: &[i64],
    dilation: usize,
    [y, x]: [usize; 2],
) -> Vec<i64> {
    let mut t = vec![0; conv.transform];
    for (i, sign) in signs.iter().enumerate() {
        let (tap, c) = (i / conv.channels, i % conv.channels);
        let (u, v) = (tap / conv.kernel[1], tap % conv.kernel[1]);
        let line = y * conv.stride + u * dilation;
        let column = x * conv.stride + v * dilation;
        t[i % conv.transform] += sign * s[(line * conv.width + column) * conv.channels + c];
    }
    t.into_iter().map(|t| t.rem_euclid(1 << 16)).collect()
}

/// The phase of a filter where the folded taps are `t`, modulo 2^16.
pub fn phase(bank: &Bank, seed: u64, Place { block, row, .. }: Place, t: &[i64]) -> i64 {
    let transformed: i64 = t.iter().enumerate().map(|(j, t)| hadamard(row, j) * t).sum();
    (offset(bank, seed, block * t.len() + row) + transformed).rem_euclid(1 << 16)
}

/// What a phase counts.
pub fn value(conv: &Conv, phase: i64) -> i64 {
    match conv.proportion {
        false => cosine(phase),
        true if phase < 1 << 15 => 127,
        true => 0,
    }
}

/// Positions of the largest cell, m.
pub fn largest_cell(conv: &Conv, dilation: usize) -> usize {
    let [rows, columns] = conv.positions(dilation);
    rows.div_ceil(conv.grid[0]) * columns.div_ceil(conv.grid[1])
}

/// Σ of the values in each cell, for one filter of a block.
fn sums(conv: &Conv, dilation: usize, values: impl Fn(usize, usize) -> i64) -> Vec<i64> {
    let [rows, columns] = conv.positions(dilation);
    let [down, along] = conv.grid;
    let mut sums = vec![0; down * along];
    for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
        sums[y * down / rows * along + x * along / columns] += values(y, x);
    }
    sums
}

pub(super) fn conv(bank: &Bank, conv: &Conv, seed: u64, q: &[i64]) -> Vec<i64> {
    let s = scaled(bank, q, 4);
    let places: Vec<Place> = bank.indices.iter().map(|&k| place(bank, conv, k)).collect();
    let mut features = Vec::new();
    for places in places.chunk_by(|one, other| one.block == other.block) {
        let block = places[0].block;
        let dilation = conv.dilation(block);
        let signs = signs(bank, conv, seed, block);
        let columns = conv.positions(dilation)[1];
        let all: Vec<Vec<i64>> = (0..conv.positions(dilation).iter().product())
            .map(|n| folded(conv, &s, &signs, dilation, [n / columns, n % columns]))
            .collect();
        let m = largest_cell(conv, dilation) as i64;
        let mut pooled = vec![None; conv.transform];
        for &place in places {
            let sums = pooled[place.row].get_or_insert_with(|| {
                let value = |n: usize| value(conv, phase(bank, seed, place, &all[n]));
                sums(conv, dilation, |y, x| value(y * columns + x))
            });
            let sum: i64 = sums[place.cell];
            features.push((sum * (65_536 / m) + (1 << 15)).div_euclid(1 << 16));
        }
    }
    features
}
