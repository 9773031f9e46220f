//! The features of every family, by the formulas of the specification.

use koan::Law;

use super::banks::{Bank, Family};
use super::conv::conv;
use super::generator::{Stream, wyrng};
use super::series::series;
use super::tables::{CAUCHY, COSINE, NORMAL, RECIPROCAL_GAMMA2, sigmoid};

/// The stream of weights.
pub fn weights_stream(bank: &Bank, seed: u64) -> Stream {
    Stream::new(seed, 4 * bank.number as u64)
}

/// The stream of offsets.
pub fn offsets_stream(bank: &Bank, seed: u64) -> Stream {
    Stream::new(seed, 4 * bank.number as u64 + 1)
}

/// The stream of choices.
pub fn choices_stream(bank: &Bank, seed: u64) -> Stream {
    Stream::new(seed, 4 * bank.number as u64 + 2)
}

/// The entry of a Hadamard matrix.
pub fn hadamard(row: usize, column: usize) -> i64 {
    if (row & column).count_ones() % 2 == 1 { -1 } else { 1 }
}

/// P: the length of a transform of `d` inputs.
pub fn transform_length(d: usize) -> usize {
    d.next_power_of_two().max(8)
}

/// The cosine of a phase, of which the low 16 bits count.
pub fn cosine(phase: i64) -> i64 {
    COSINE[(phase.rem_euclid(1 << 16) >> 8) as usize]
}

/// The weight of input `i` of `d` in projection `k`, as if the bank had no scale.
pub fn weight(bank: &Bank, stream: &Stream, k: usize, i: usize, d: usize) -> i64 {
    let of_bytes = || usize::from(stream.byte(k * d.div_ceil(8) + i / 8, i % 8));
    let sign = |row: usize| match stream.bit(row * d.div_ceil(64) + i / 64, 63 - i % 64) {
        true => -1,
        false => 1,
    };
    match bank.group_of(i).law {
        Law::Gaussian => NORMAL[of_bytes()],
        Law::Cauchy => CAUCHY[of_bytes()],
        Law::Sign => sign(k),
        Law::Hadamard => {
            let p = transform_length(d);
            sign(k / p) * hadamard(k % p, i)
        }
        Law::None => 0,
        law => unreachable!("{law:?} makes no projections"),
    }
}

/// Projection `k` of `inputs`, modulo 2^32 as an i32.
pub fn project(bank: &Bank, stream: &Stream, k: usize, inputs: &[i64]) -> i64 {
    let d = inputs.len();
    let z: i64 = (0..d).map(|i| weight(bank, stream, k, i, d) * inputs[i]).sum();
    i64::from(z as i32)
}

/// Which projection comes at place `n` in the order of units that have their own.
pub fn row_in_order(bank: &Bank, seed: u64, n: usize, d: usize) -> usize {
    if bank.groups[0].law != Law::Hadamard {
        return n;
    }
    let p = transform_length(d);
    let choices = choices_stream(bank, seed);
    let word = |j| usize::from(choices.word(n / p, j));
    let (a, c, e, i) = (word(0) | 1, word(1), word(2), n % p);
    n / p * p + (c + a * i + 2 * e * i * i) % p
}

/// Projection `n` in the order in which maxout units and sigmoids take them.
pub fn project_in_order(bank: &Bank, seed: u64, n: usize, inputs: &[i64]) -> i64 {
    let k = row_in_order(bank, seed, n, inputs.len());
    project(bank, &weights_stream(bank, seed), k, inputs)
}

/// o, a and c, of which the offsets of a bank are made.
pub fn offsets(bank: &Bank, seed: u64) -> [i64; 3] {
    [0, 1, 2].map(|j| i64::from(offsets_stream(bank, seed).word(0, j) & !15))
}

/// b_k, the phase of feature (or filter) `k` for inputs of 0.
pub fn offset(bank: &Bank, seed: u64, k: usize) -> i64 {
    let [o, a, c] = offsets(bank, seed);
    let k = k as i64;
    (o + a * k + c * (k * (k - 1) / 2)).rem_euclid(1 << 16)
}

/// The low 16 bits of the scaled inputs, as i16, of which the lowest `cleared` are 0.
pub fn scaled(bank: &Bank, q: &[i64], cleared: u32) -> Vec<i64> {
    let low = |q: i64| i64::from(bank.groups[0].scale.wrap(q) as i16);
    q.iter().map(|&q| low(q).div_euclid(1 << cleared) << cleared).collect()
}

/// What the inputs add to the phase of feature `k`, modulo nothing yet.
pub fn turn(bank: &Bank, stream: &Stream, k: usize, q: &[i64]) -> i64 {
    if bank.groups[0].law == Law::Hadamard {
        let scaled = scaled(bank, q, if q.len() < 256 { 4 } else { 0 });
        return project(bank, stream, k, &scaled);
    }
    let mut total = 0;
    let mut first = 0;
    for group in &bank.groups {
        // The group's own part: every other input as if it were 0.
        let inside = first..first + group.inputs;
        let part: Vec<i64> =
            (0..q.len()).map(|i| if inside.contains(&i) { q[i] } else { 0 }).collect();
        total += group.scale.wrap(project(bank, stream, k, &part));
        first += group.inputs;
    }
    total
}

fn fourier(bank: &Bank, seed: u64, q: &[i64]) -> Vec<i64> {
    let weights = weights_stream(bank, seed);
    let feature = |&k: &usize| cosine(turn(bank, &weights, k, q) + offset(bank, seed, k));
    bank.indices.iter().map(feature).collect()
}

/// The numbers of all stumps: n, start, first, step.
pub fn stump_sequence(bank: &Bank, seed: u64, n: usize) -> [usize; 3] {
    let choices = choices_stream(bank, seed);
    let part = |i: usize| (((choices.draw(i) % (1 << 32)) * n as u64) >> 32) as usize;
    [part(0), usize::from(choices.word(2, 0)), (40_503 + 65_536 * part(1)) / n]
}

/// What stump `k` looks at: the input, the byte, and the threshold.
pub fn stump(bank: &Bank, seed: u64, k: usize, d: usize) -> (usize, usize, i64) {
    let used: Vec<usize> = (0..d).filter(|&i| bank.group_of(i).law != Law::None).collect();
    let n = used.len();
    let [start, first, step] = stump_sequence(bank, seed, n);
    let input = used[(start + k) % n];
    let byte = (first + k * step) % 65_536 / 256;
    let group = bank.group_of(input);
    let v = match group.law {
        Law::Gaussian => NORMAL[byte],
        Law::Uniform => 2 * byte as i64 - 255,
        law => unreachable!("{law:?} draws no thresholds"),
    };
    (input, byte, group.scale.wrap(v))
}

fn stumps(bank: &Bank, seed: u64, q: &[i64]) -> Vec<i64> {
    let feature = |&k: &usize| {
        let (input, _, threshold) = stump(bank, seed, k, q.len());
        if q[input] > threshold { 127 } else { -127 }
    };
    bank.indices.iter().map(feature).collect()
}

/// The cell of input `i` in grid `k`.
pub fn bin_cell(bank: &Bank, seed: u64, k: usize, i: usize, q: &[i64]) -> i64 {
    let group = bank.group_of(i);
    if group.law == Law::None {
        return 0;
    }
    let weights = weights_stream(bank, seed);
    let draw = k * q.len().div_ceil(4) + i / 4;
    let pitch = usize::from(weights.byte(draw, 2 * (i % 4)));
    let shift = i64::from(weights.byte(draw, 2 * (i % 4) + 1));
    let position = group.scale.round(q[i]) * RECIPROCAL_GAMMA2[pitch] + (shift << 12);
    position.div_euclid(1 << 20)
}

/// The hash of all cells of grid `k`.
pub fn bin_hash(bank: &Bank, seed: u64, k: usize, q: &[i64]) -> u64 {
    let d = q.len();
    let mut hash = choices_stream(bank, seed).draw(k);
    for first in (0..d).step_by(4) {
        let mut word = 0u64;
        for i in first..d.min(first + 4) {
            word |= u64::from(bin_cell(bank, seed, k, i, q) as u16) << (16 * (i - first));
        }
        hash = wyrng(hash ^ word);
    }
    hash
}

/// A comparison of a fern.
pub struct Comparison {
    /// Which input.
    pub input: usize,
    /// Which entry of the law's table its threshold is.
    pub byte: usize,
    /// What the input is above for a bit that is set.
    pub threshold: i64,
}

/// Comparison `j` of fern `k` over `d` inputs.
pub fn comparison(bank: &Bank, seed: u64, k: usize, j: usize, d: usize) -> Comparison {
    let p = usize::from(choices_stream(bank, seed).word(k, j)) * d;
    let (input, byte) = (p / 65_536, p / 256 % 256);
    let group = &bank.groups[0];
    let v = match group.law {
        Law::Gaussian => NORMAL[byte],
        Law::Uniform => 2 * byte as i64 - 255,
        law => unreachable!("{law:?} draws no thresholds"),
    };
    Comparison { input, byte, threshold: group.scale.wrap(v) }
}

fn fern_codes(bank: &Bank, depth: u32, seed: u64, q: &[i64]) -> Vec<u16> {
    let bit = |k: usize, j: usize| {
        let comparison = comparison(bank, seed, k, j, q.len());
        u16::from(q[comparison.input] > comparison.threshold) << j
    };
    let code = |&k: &usize| (0..depth as usize).map(|j| bit(k, j)).sum();
    bank.indices.iter().map(code).collect()
}

/// Columns of which one in each run of 2^bits is 127.
fn one_hot(bank: &Bank, bits: u32, codes: Vec<u16>) -> Vec<i64> {
    let mut columns = vec![0; bank.columns];
    for (k, code) in codes.into_iter().enumerate() {
        columns[(k << bits) + usize::from(code)] = 127;
    }
    columns
}

fn bin_slots(bank: &Bank, slot_bits: u32, seed: u64, q: &[i64]) -> Vec<u16> {
    let slot = |&k: &usize| (bin_hash(bank, seed, k, q) >> (64 - slot_bits)) as u16;
    bank.indices.iter().map(slot).collect()
}

/// Which of the shared projections is number `n` of those that units take.
pub fn choice(bank: &Bank, shared: usize, seed: u64, n: usize) -> usize {
    (usize::from(choices_stream(bank, seed).word(n / 4, n % 4)) * shared) >> 16
}

/// The q projections of every maxout unit.
fn maxout_members(bank: &Bank, pool: usize, shared: usize, seed: u64, q: &[i64]) -> Vec<Vec<i64>> {
    let weights = weights_stream(bank, seed);
    let all: Vec<i64> = (0..shared).map(|k| project(bank, &weights, k, q)).collect();
    let member = |n: usize| match shared {
        0 => project_in_order(bank, seed, n, q),
        _ => all[choice(bank, shared, seed, n)],
    };
    bank.indices.iter().map(|&k| (0..pool).map(|j| member(k * pool + j)).collect()).collect()
}

/// What is added to the projection of sigmoid `k`.
pub fn bias(bank: &Bank, seed: u64, k: usize) -> i64 {
    let unit = if bank.groups[0].law == Law::Gaussian { 2048 } else { 46 };
    NORMAL[usize::from(offsets_stream(bank, seed).byte(k / 8, k % 8))] * unit
}

fn sigmoids(bank: &Bank, seed: u64, q: &[i64]) -> Vec<i64> {
    let scale = bank.groups[0].scale;
    let feature = |&k: &usize| {
        sigmoid(scale.round8(project_in_order(bank, seed, k, q) + bias(bank, seed, k)))
    };
    bank.indices.iter().map(feature).collect()
}

/// The features (columns) of a bank.
#[must_use]
pub fn bank_features(bank: &Bank, seed: u64, q: &[i64]) -> Vec<i64> {
    match bank.family {
        Family::Linear => bank.indices.iter().map(|&k| 2 * q[k].div_euclid(2)).collect(),
        Family::Fourier => fourier(bank, seed, q),
        Family::Stump => stumps(bank, seed, q),
        Family::Bin { slot_bits } => one_hot(bank, slot_bits, bin_slots(bank, slot_bits, seed, q)),
        Family::Fern { depth } => one_hot(bank, depth, fern_codes(bank, depth, seed, q)),
        Family::Maxout { pool, shared } => maxout_members(bank, pool, shared, seed, q)
            .iter()
            .map(|members| {
                let highest = *members.iter().max().expect("a pool has members");
                bank.groups[0].scale.round8(highest)
            })
            .collect(),
        Family::Sigmoid => sigmoids(bank, seed, q),
        Family::Conv(shape) => conv(bank, &shape, seed, q),
        Family::Series(shape) => series(bank, &shape, seed, q),
    }
}

/// The codes of a bank: slots, bits of comparisons, or which projection is the maximum.
#[must_use]
pub fn bank_codes(bank: &Bank, seed: u64, q: &[i64]) -> Vec<u16> {
    match bank.family {
        Family::Bin { slot_bits } => bin_slots(bank, slot_bits, seed, q),
        Family::Fern { depth } => fern_codes(bank, depth, seed, q),
        Family::Maxout { pool, shared } => maxout_members(bank, pool, shared, seed, q)
            .iter()
            .map(|members| {
                let highest = members.iter().max().expect("a pool has members");
                members.iter().position(|z| z == highest).expect("it is one of them") as u16
            })
            .collect(),
        _ => Vec::new(),
    }
}
