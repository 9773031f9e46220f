//! Rounding weights to few bits.
//!
//! The ridge objective around its minimum w* is (w − w*)ᵀH(w − w*), H = G + λI.
//! With H = LLᵀ it is ‖Lᵀe‖², e = w − w*, and (Lᵀe)_i involves e_i and the
//! errors after it only. So weights are rounded from the last to the first, and
//! each takes up what the roundings before it left over: rounding compensated
//! through the Gram matrix (the optimal-brain-surgeon order of GPTQ, without an
//! inverse). A coordinate descent on the levels follows.

use std::ops::Range;

use faer::{Mat, MatRef};
use koan::Width;

use crate::vector::{Work, dot, wide};

/// Levels of one output's weights in one bank: weight = step·(2c + odd).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Bits and kind of levels.
    pub width: Width,
    /// Half the distance of neighbouring levels.
    pub step: f64,
}

impl Levels {
    /// The code u (0..2^bits) of the level nearest to `weight`.
    #[must_use]
    #[inline(always)]
    pub fn code(self, weight: f64) -> u32 {
        let half = 1i32 << (self.width.bits() - 1);
        let c = (weight / self.step - f64::from(u8::from(self.width.odd()))) / 2.0;
        // Symmetric even levels leave the lowest one unused.
        let lowest = if self.width.odd() || half == 1 { -half } else { -half + 1 };
        let c = c.clamp(f64::from(lowest), f64::from(half - 1));
        // As `round` has it, which is a call where processors of any age are compiled for.
        let whole = c as i32;
        let rest = c - f64::from(whole);
        (whole + i32::from(rest >= 0.5) - i32::from(rest <= -0.5) + half) as u32
    }

    /// The weight that code `u` stands for.
    #[must_use]
    #[inline(always)]
    pub fn weight(self, u: u32) -> f64 {
        f64::from(self.width.value(u)) * self.step
    }
}

/// The largest magnitude of levels over their step.
pub(crate) fn reach(width: Width) -> f64 {
    let half = f64::from(1u32 << (width.bits() - 1));
    if width.odd() { 2.0 * half - 1.0 } else { (2.0 * half - 2.0).max(2.0) }
}

/// How weights are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Each to the nearest level.
    Nearest,
    /// Compensated through the Gram matrix.
    Compensated,
}

/// One output's rounded weights.
#[derive(Clone, Debug)]
pub struct Rounded {
    /// Codes of all columns.
    pub codes: Vec<u32>,
    /// Levels of each bank.
    pub levels: Vec<Levels>,
    /// What the rounding adds to the ridge objective.
    pub excess: f64,
}

/// Fractions of the largest weight that the levels may reach: clipping a few
/// outliers buys a finer step.
pub(crate) const REACHES: [f64; 12] =
    [1.0, 0.9, 0.8, 0.7, 0.6, 0.52, 0.45, 0.38, 0.32, 0.27, 0.22, 0.17];

/// Rounds the weights of one output.
///
/// `weights`: K; `banks`: the columns of each bank, in order, and its width;
/// `factor`: the lower Cholesky factor L of H, K × K; `matrix`: H itself, whose
/// both triangles are filled. The step of each bank is searched.
#[must_use]
pub fn round(
    weights: &[f64],
    banks: &[(usize, Width)],
    factor: MatRef<'_, f64>,
    matrix: MatRef<'_, f64>,
    rounding: Rounding,
) -> Rounded {
    let widest = banks.iter().map(|(_, width)| width.bits()).max().unwrap_or(0);
    // From 8 bits on clipping does not pay: the top of the list is enough.
    let reaches = if widest >= 8 { &REACHES[..3] } else { &REACHES[..] };
    let mut best = best_reach(reaches, weights, banks, factor, rounding);
    if rounding == Rounding::Compensated {
        let columns = spread(banks, &best.levels);
        let error = |k: usize, codes: &[u32]| columns[k].weight(codes[k]) - weights[k];
        let errors = Mat::from_fn(weights.len(), 1, |k, _| error(k, &best.codes));
        let mut gradient = matrix * &errors;
        let gradient = gradient.col_as_slice_mut(0);
        descend(&columns, &mut best.codes, gradient, matrix);
        let errors = (0..weights.len()).map(|k| error(k, &best.codes)).collect();
        best.excess = wide(Excesses { errors: &[errors], factor, bound: f64::INFINITY })[0];
    }
    best
}

/// Each bank's step when its levels reach `reach` times its largest weight.
pub(crate) fn steps(weights: &[f64], banks: &[(usize, Width)], reach: f64) -> Vec<Levels> {
    let mut start = 0;
    banks
        .iter()
        .map(|&(columns, width)| {
            let mine = &weights[start..start + columns];
            start += columns;
            let largest = mine.iter().fold(0.0f64, |a, w| a.max(w.abs()));
            let largest = if largest > 0.0 { largest } else { 1.0 };
            Levels { width, step: largest * reach / self::reach(width) }
        })
        .collect()
}

/// The levels of every column.
pub(crate) fn spread(banks: &[(usize, Width)], levels: &[Levels]) -> Vec<Levels> {
    banks.iter().zip(levels).flat_map(|(&(n, _), &l)| std::iter::repeat_n(l, n)).collect()
}

/// The columns of a bank, and its levels with each reach.
struct BankLevels {
    columns: Range<usize>,
    levels: Vec<Levels>,
}

/// What is best of some reaches.
fn best_reach(
    reaches: &[f64],
    weights: &[f64],
    banks: &[(usize, Width)],
    factor: MatRef<'_, f64>,
    rounding: Rounding,
) -> Rounded {
    let mut levels: Vec<Vec<Levels>> =
        reaches.iter().map(|&reach| steps(weights, banks, reach)).collect();
    let mut start = 0;
    let mut of_banks = Vec::with_capacity(banks.len());
    for (bank, &(columns, _)) in banks.iter().enumerate() {
        let levels = levels.iter().map(|levels| levels[bank]).collect();
        of_banks.push(BankLevels { columns: start..start + columns, levels });
        start += columns;
    }
    let (mut nearest, errors) = each_to_nearest(weights, &of_banks, reaches.len());
    let mut best = Best { excess: f64::INFINITY, place: (0, false), codes: None };
    if rounding == Rounding::Compensated {
        // The one that is likely to be the best goes first, so that others are given up early.
        let square = |reach: &usize| errors[*reach].iter().map(|error| error * error).sum::<f64>();
        let mut order: Vec<usize> = (0..reaches.len()).collect();
        order.sort_by(|a, b| square(a).total_cmp(&square(b)));
        let (likely, others) = order.split_at(order.len().min(1));
        for reaches in [likely, others] {
            let (of_banks, bound) = (&of_banks[..], best.excess);
            let (excesses, codes) =
                wide(Compensation { weights, of_banks, reaches, factor, bound });
            for ((&reach, excess), codes) in reaches.iter().zip(excesses).zip(codes) {
                best.offer(excess, (reach, true), Some(codes));
            }
        }
    }
    // A greedy order can lose against plain rounding on a hard problem, so the plain one stays in
    // the race.
    let excesses = wide(Excesses { errors: &errors, factor, bound: best.excess });
    for (reach, excess) in excesses.into_iter().enumerate() {
        best.offer(excess, (reach, false), None);
    }
    let Best { excess, place: (reach, _), codes } = best;
    let codes = codes.unwrap_or_else(|| nearest.swap_remove(reach));
    Rounded { codes, levels: levels.swap_remove(reach), excess }
}

/// The best way to round so far.
struct Best {
    excess: f64,
    /// Its reach, and whether it is compensated; of ways that are as good the first.
    place: (usize, bool),
    /// None for each to the nearest level.
    codes: Option<Vec<u32>>,
}

impl Best {
    fn offer(&mut self, excess: f64, place: (usize, bool), codes: Option<Vec<u32>>) {
        if excess < self.excess || (excess == self.excess && place < self.place) {
            *self = Self { excess, place, codes };
        }
    }
}

/// The codes of weights that are rounded each by itself, and their errors, with each reach.
fn each_to_nearest(
    weights: &[f64],
    of_banks: &[BankLevels],
    reaches: usize,
) -> (Vec<Vec<u32>>, Vec<Vec<f64>>) {
    let mut codes = vec![vec![0; weights.len()]; reaches];
    let mut errors = vec![vec![0.0; weights.len()]; reaches];
    for BankLevels { columns, levels } in of_banks {
        for ((levels, codes), errors) in levels.iter().zip(&mut codes).zip(&mut errors) {
            for k in columns.clone() {
                codes[k] = levels.code(weights[k]);
                errors[k] = levels.weight(codes[k]) - weights[k];
            }
        }
    }
    (codes, errors)
}

/// Rounds from the last column to the first, each time against what is left. Some reaches go through
/// the factor side by side: it is read once. What adds more than the bound to the objective is given
/// up.
struct Compensation<'a> {
    weights: &'a [f64],
    of_banks: &'a [BankLevels],
    reaches: &'a [usize],
    factor: MatRef<'a, f64>,
    bound: f64,
}

impl Work for Compensation<'_> {
    /// What each of the reaches adds to the objective, infinite where it was given up, and the codes
    /// of the columns with it.
    type Output = (Vec<f64>, Vec<Vec<u32>>);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { weights, of_banks, reaches, factor, bound } = self;
        let mut codes = vec![vec![0; weights.len()]; reaches.len()];
        let mut errors = vec![vec![0.0; weights.len()]; reaches.len()];
        let mut race = Race::new(reaches.len(), bound);
        for BankLevels { columns, levels } in of_banks.iter().rev() {
            for k in columns.clone().rev() {
                let (weight, column) = (weights[k], entries(factor, k));
                let (own, rest) = (column[k], &column[k + 1..]);
                for &place in &race.left {
                    let (levels, errors) = (levels[reaches[place]], &mut errors[place]);
                    let carried = dot(rest, &errors[k + 1..]);
                    // Zero of (Lᵀe)_k = L_kk·(w − w*) + carried.
                    let code = levels.code(weight - carried / own);
                    let error = levels.weight(code) - weight;
                    (codes[place][k], errors[k]) = (code, error);
                    race.sums[place] += (own * error + carried).powi(2);
                }
                race.give_up();
            }
        }
        (race.sums, codes)
    }
}

/// Sums of squares, of which those beyond a bound are given up.
struct Race {
    sums: Vec<f64>,
    /// The places of those that go on.
    left: Vec<usize>,
    bound: f64,
}

impl Race {
    fn new(count: usize, bound: f64) -> Self {
        Self { sums: vec![0.0; count], left: (0..count).collect(), bound }
    }

    #[inline(always)]
    fn give_up(&mut self) {
        let (sums, bound) = (&mut self.sums, self.bound);
        self.left.retain(|&place| {
            let beyond = sums[place] > bound;
            if beyond {
                sums[place] = f64::INFINITY;
            }
            !beyond
        });
    }
}

/// eᵀHe = ‖Lᵀe‖² of several errors; infinite where it is more than the bound.
struct Excesses<'a> {
    errors: &'a [Vec<f64>],
    factor: MatRef<'a, f64>,
    bound: f64,
}

impl Work for Excesses<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn call(self) -> Vec<f64> {
        let Self { errors, factor, bound } = self;
        let mut race = Race::new(errors.len(), bound);
        for k in 0..factor.ncols() {
            let column = &entries(factor, k)[k..];
            for &place in &race.left {
                race.sums[place] += dot(column, &errors[place][k..]).powi(2);
            }
            race.give_up();
        }
        race.sums
    }
}

/// The entries of a column.
fn entries(factor: MatRef<'_, f64>, column: usize) -> &[f64] {
    let column = factor.col(column).try_as_col_major();
    column.expect("columns of a factor are contiguous").as_slice()
}

/// Moves single weights to better levels until none moves (or 20 sweeps). `gradient`: H times the
/// errors.
fn descend(levels: &[Levels], codes: &mut [u32], gradient: &mut [f64], matrix: MatRef<'_, f64>) {
    for _ in 0..20 {
        let mut moved = false;
        for k in 0..codes.len() {
            let now = levels[k].weight(codes[k]);
            let code = levels[k].code(now - gradient[k] / matrix[(k, k)]);
            if code == codes[k] {
                continue;
            }
            let change = levels[k].weight(code) - now;
            if change * (2.0 * gradient[k] + change * matrix[(k, k)]) < 0.0 {
                codes[k] = code;
                let column = matrix.col(k).iter();
                gradient.iter_mut().zip(column).for_each(|(sum, entry)| *sum += change * entry);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Side;
    use koan::generator::Stream;

    fn random(stream: u32, index: usize) -> f64 {
        f64::from(Stream::new(9, stream).draw(index as u64) as i32) / 2f64.powi(31)
    }

    #[test]
    fn codes_round_trip_and_clamp() {
        for bits in Width::BITS {
            for odd in [false, true] {
                let levels = Levels { width: Width::new(bits, odd).unwrap(), step: 0.125 };
                for u in 0..1u32 << bits {
                    let symmetric = odd || u > 0 || bits == 1;
                    if symmetric {
                        assert_eq!(levels.code(levels.weight(u)), u);
                    }
                }
                assert_eq!(levels.code(1e9), (1 << bits) - 1);
                assert_eq!(levels.weight(levels.code(-1e9)), -levels.weight(levels.code(1e9)));
            }
        }
    }

    #[test]
    fn codes_are_those_of_rounded_numbers() {
        for bits in Width::BITS {
            for odd in [false, true] {
                let levels = Levels { width: Width::new(bits, odd).unwrap(), step: 0.37 };
                let half = f64::from(1 << (bits - 1));
                let lowest = if odd { -half } else { 1.0 - half };
                let edges = (-9..9).flat_map(|c| {
                    let weight =
                        levels.step * (2.0 * (f64::from(c) + 0.5) + f64::from(u8::from(odd)));
                    [weight.next_down(), weight, weight.next_up()]
                });
                for weight in edges.chain((0..200).map(|place| 40.0 * random(6, place))) {
                    let c = (weight / levels.step - f64::from(u8::from(odd))) / 2.0;
                    let code = c.round().clamp(lowest, half - 1.0) + half;
                    assert_eq!(f64::from(levels.code(weight)), code, "{bits} {odd} {weight}");
                }
                assert_eq!(levels.code(f64::NAN), 1 << (bits - 1));
            }
        }
    }

    #[test]
    fn compensation_beats_nearest_rounding() {
        let features = 40;
        // Strongly correlated columns: where compensation matters.
        let mixed = Mat::from_fn(features, 60, |k, row| {
            random(1, row * features + k) * 0.3 + random(2, row)
        });
        let mut matrix = &mixed * mixed.transpose();
        for k in 0..features {
            matrix[(k, k)] += 0.01;
        }
        let factor = matrix.llt(Side::Lower).expect("positive definite");
        for bits in [2, 3, 4, 8] {
            for odd in [false, true] {
                let banks = [25, 15].map(|columns| (columns, Width::new(bits, odd).unwrap()));
                let (mut nearest, mut compensated) = (0.0, 0.0);
                for output in 0..20 {
                    let weights: Vec<f64> =
                        (0..features).map(|k| random(3, output * features + k)).collect();
                    let run = |rounding| {
                        round(&weights, &banks, factor.L(), matrix.as_ref(), rounding).excess
                    };
                    let (plain, better) = (run(Rounding::Nearest), run(Rounding::Compensated));
                    assert!(better <= plain, "{bits} bits: {better} {plain}");
                    nearest += plain;
                    compensated += better;
                }
                assert!(compensated < 0.8 * nearest, "{bits} bits: {compensated} {nearest}");
            }
        }
    }

    /// What is given up would not have been the best: as if all were carried out.
    #[test]
    fn the_best_of_all_attempts_is_found() {
        for (features, bits) in [(1, 2), (30, 2), (30, 3), (45, 4), (30, 8)] {
            let mixed = Mat::from_fn(features, 2 * features, |k, row| {
                random(1, row * features + k) + 0.5 * random(2, row)
            });
            let matrix = &mixed * mixed.transpose();
            let factor = matrix.llt(Side::Lower).expect("positive definite");
            for odd in [false, true] {
                let width = Width::new(bits, odd).unwrap();
                let first = features.div_ceil(2);
                let banks = [(first, width), (features - first, width)];
                for output in 0..10 {
                    // Some large ones, so that clipping pays.
                    let weight = |k: usize| random(3, output * features + k).powi(3);
                    let weights: Vec<f64> = (0..features).map(weight).collect();
                    for rounding in [Rounding::Nearest, Rounding::Compensated] {
                        let found = best_reach(&REACHES, &weights, &banks, factor.L(), rounding);
                        let of = |&reach: &f64, rounding| {
                            best_reach(&[reach], &weights, &banks, factor.L(), rounding)
                        };
                        let all = REACHES.iter().map(|reach| of(reach, rounding));
                        let first = all.reduce(|a, b| if b.excess < a.excess { b } else { a });
                        let naive = first.unwrap();
                        assert_eq!((found.excess, found.codes), (naive.excess, naive.codes));
                        assert_eq!(found.levels, naive.levels);
                    }
                }
            }
        }
    }

    #[test]
    fn the_excess_is_the_quadratic_form() {
        let mixed = Mat::from_fn(6, 9, |k, row| random(4, row * 6 + k));
        let mut matrix = &mixed * mixed.transpose();
        for k in 0..6 {
            matrix[(k, k)] += 0.1;
        }
        let factor = matrix.llt(Side::Lower).expect("positive definite");
        let weights: Vec<f64> = (0..6).map(|k| random(5, k)).collect();
        let width = Width::new(3, true).unwrap();
        let rounded =
            round(&weights, &[(6, width)], factor.L(), matrix.as_ref(), Rounding::Compensated);
        let errors =
            Mat::from_fn(6, 1, |k, _| rounded.levels[0].weight(rounded.codes[k]) - weights[k]);
        let direct = (errors.transpose() * &matrix * &errors)[(0, 0)];
        assert!((direct - rounded.excess).abs() < 1e-12);
    }
}
