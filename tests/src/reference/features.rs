//! The features of every family, by the formulas of the specification.

use koan::Law;
use koan::numerics::{CAUCHY, NORMAL, RECIPROCAL_GAMMA2, cos, logistic};

use super::generator::{Stream, wyrng};
use super::parse::{Bank, Family, Scale};

impl Scale {
    /// (z·mult modulo 2^32, as an i32) >> shift.
    fn wrap(&self, z: i64) -> i64 {
        i64::from((z * self.mult) as i32).div_euclid(1 << self.shift)
    }

    /// z·mult / 2^shift, rounded, saturated to ±32767.
    fn round(&self, z: i64) -> i64 {
        (z * self.mult + (1 << self.shift) / 2).div_euclid(1 << self.shift).clamp(-32767, 32767)
    }
}

fn weights_stream(bank: &Bank, seed: u64) -> Stream {
    Stream::new(seed, 4 * bank.number as u64)
}

fn offsets_stream(bank: &Bank, seed: u64) -> Stream {
    Stream::new(seed, 4 * bank.number as u64 + 1)
}

fn choices_stream(bank: &Bank, seed: u64) -> Stream {
    Stream::new(seed, 4 * bank.number as u64 + 2)
}

/// Row `k` of the matrix of projections, as if the bank had no scale.
///
/// `law` and `grouped` are those of the input `i`: in a group, signs come from
/// the byte that the normal law would use.
fn weight(bank: &Bank, stream: &Stream, k: usize, i: usize, d: usize) -> i64 {
    let of_bytes = || stream.byte(k * d.div_ceil(8) + i / 8, i % 8);
    let sign = |negative: bool| if negative { -1 } else { 1 };
    match bank.group_of(i).law {
        Law::Gaussian => i64::from(NORMAL[usize::from(of_bytes())]),
        Law::Cauchy => i64::from(CAUCHY[usize::from(of_bytes())]),
        Law::Sign if bank.grouped => sign(of_bytes() >> 7 == 1),
        Law::Sign => sign(stream.bit(k * d.div_ceil(64) + i / 64, 63 - i % 64)),
        Law::Hadamard => {
            let p = d.next_power_of_two().max(8);
            let negated = stream.bit(k / p * d.div_ceil(64) + i / 64, 63 - i % 64);
            let odd = ((k % p) & i).count_ones() % 2 == 1;
            sign(negated) * sign(odd)
        }
        Law::None => 0,
        law => unreachable!("{law:?} makes no projections"),
    }
}

/// Projection `k` of `inputs`, modulo 2^32 as an i32.
fn project(bank: &Bank, stream: &Stream, k: usize, inputs: &[i64]) -> i64 {
    let d = inputs.len();
    let z: i64 = (0..d).map(|i| weight(bank, stream, k, i, d) * inputs[i]).sum();
    i64::from(z as i32)
}

/// Projection `n` in the order in which maxout units and sigmoids take them.
fn project_in_order(bank: &Bank, seed: u64, n: usize, inputs: &[i64]) -> i64 {
    let mut k = n;
    if bank.groups[0].law == Law::Hadamard {
        let p = inputs.len().next_power_of_two().max(8);
        let choices = choices_stream(bank, seed);
        let word = |j| usize::from(choices.word(n / p, j));
        let (a, c, e, i) = (word(0) | 1, word(1), word(2), n % p);
        k = n / p * p + (c + a * i + 2 * e * i * i) % p;
    }
    project(bank, &weights_stream(bank, seed), k, inputs)
}

/// The argument of cos, before the offset, modulo nothing yet.
fn phase(bank: &Bank, stream: &Stream, k: usize, q: &[i64]) -> i64 {
    if bank.groups[0].law == Law::Hadamard {
        let scale = &bank.groups[0].scale;
        let scaled: Vec<i64> = q.iter().map(|&q| scale.wrap(q).rem_euclid(1 << 16)).collect();
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
    let (weights, offsets) = (weights_stream(bank, seed), offsets_stream(bank, seed));
    let [o, a, c] = [0, 1, 2].map(|j| i64::from(offsets.word(0, j)));
    bank.indices
        .iter()
        .map(|&k| {
            let n = k as i64;
            let b = (o + a * n + c * (n * (n - 1) / 2)).rem_euclid(1 << 16);
            i64::from(cos((phase(bank, &weights, k, q) + b) as i16))
        })
        .collect()
}

fn stump(bank: &Bank, seed: u64, q: &[i64]) -> Vec<i64> {
    let choices = choices_stream(bank, seed);
    let used: Vec<usize> = (0..q.len()).filter(|&i| bank.group_of(i).law != Law::None).collect();
    let n = used.len();
    let part = |i: usize| ((choices.draw(i) % (1 << 32)) as usize * n) >> 32;
    let (start, first) = (part(0), usize::from(choices.word(2, 0)));
    let step = (40_503 + 65_536 * part(1)) / n;
    bank.indices
        .iter()
        .map(|&k| {
            let i = used[(start + k) % n];
            let byte = (first + k * step) % 65_536 / 256;
            let v = match bank.group_of(i).law {
                Law::Normal => i64::from(NORMAL[byte]),
                Law::Uniform => 2 * byte as i64 - 255,
                law => unreachable!("{law:?} draws no thresholds"),
            };
            if q[i] > bank.group_of(i).scale.wrap(v) { 32767 } else { -32767 }
        })
        .collect()
}

fn bin_slots(bank: &Bank, slot_bits: u32, seed: u64, q: &[i64]) -> Vec<u16> {
    let (weights, choices) = (weights_stream(bank, seed), choices_stream(bank, seed));
    let d = q.len();
    let cell = |k: usize, i: usize| {
        let group = bank.group_of(i);
        if group.law == Law::None {
            return 0;
        }
        let draw = k * d.div_ceil(4) + i / 4;
        let pitch = weights.byte(draw, 2 * (i % 4));
        let shift = i64::from(weights.byte(draw, 2 * (i % 4) + 1));
        let x = group.scale.round(q[i]);
        let position = x * i64::from(RECIPROCAL_GAMMA2[usize::from(pitch)]) + (shift << 12);
        position.div_euclid(1 << 20)
    };
    bank.indices
        .iter()
        .map(|&k| {
            let mut hash = choices.draw(k);
            for first in (0..d).step_by(4) {
                let mut word = 0u64;
                for j in 0..4 {
                    let cell = if first + j < d { cell(k, first + j) } else { 0 };
                    word |= u64::from(cell as u16) << (16 * j);
                }
                hash = wyrng(hash ^ word);
            }
            (hash >> (64 - slot_bits)) as u16
        })
        .collect()
}

/// The q projections of every maxout unit.
fn maxout_members(bank: &Bank, pool: usize, shared: usize, seed: u64, q: &[i64]) -> Vec<Vec<i64>> {
    let (weights, choices) = (weights_stream(bank, seed), choices_stream(bank, seed));
    let all: Vec<i64> = (0..shared).map(|k| project(bank, &weights, k, q)).collect();
    let member = |n: usize| {
        if shared == 0 {
            return project_in_order(bank, seed, n, q);
        }
        let c = usize::from(choices.word(n / 4, n % 4));
        all[(c * shared) >> 16]
    };
    bank.indices.iter().map(|&k| (0..pool).map(|j| member(k * pool + j)).collect()).collect()
}

fn sigmoid(bank: &Bank, seed: u64, q: &[i64]) -> Vec<i64> {
    let offsets = offsets_stream(bank, seed);
    let law = bank.groups[0].law;
    let unit = if law == Law::Gaussian { 2048 } else { 46 };
    bank.indices
        .iter()
        .map(|&k| {
            let bias = i64::from(NORMAL[usize::from(offsets.byte(k / 8, k % 8))]) * unit;
            let z = bank.groups[0].scale.round(project_in_order(bank, seed, k, q) + bias);
            i64::from(logistic(z as i16))
        })
        .collect()
}

/// The features (columns) of a bank.
#[must_use]
pub fn bank_features(bank: &Bank, seed: u64, q: &[i64]) -> Vec<i64> {
    match bank.family {
        Family::Linear => bank.indices.iter().map(|&k| q[k]).collect(),
        Family::Fourier => fourier(bank, seed, q),
        Family::Stump => stump(bank, seed, q),
        Family::Bin { slot_bits } => {
            let mut columns = vec![0; bank.columns];
            for (k, slot) in bin_slots(bank, slot_bits, seed, q).into_iter().enumerate() {
                columns[(k << slot_bits) + usize::from(slot)] = 32767;
            }
            columns
        }
        Family::Maxout { pool, shared } => maxout_members(bank, pool, shared, seed, q)
            .iter()
            .map(|members| {
                let highest = *members.iter().max().expect("a pool has members");
                bank.groups[0].scale.round(highest)
            })
            .collect(),
        Family::Sigmoid => sigmoid(bank, seed, q),
    }
}

/// The codes of a bank: slots, or which projection is the maximum.
#[must_use]
pub fn bank_codes(bank: &Bank, seed: u64, q: &[i64]) -> Vec<u16> {
    match bank.family {
        Family::Bin { slot_bits } => bin_slots(bank, slot_bits, seed, q),
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
