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
        best.excess = excesses(&[errors], factor)[0];
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

/// What each reach adds to the objective, and the codes of the columns with it.
type Attempted = (Vec<f64>, Vec<Vec<u32>>);

/// Weights that are to be rounded with each reach. They go through the factor side by side: it is
/// read once.
struct Attempt<'a> {
    weights: &'a [f64],
    of_banks: &'a [BankLevels],
    reaches: usize,
    factor: MatRef<'a, f64>,
    rounding: Rounding,
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
    let attempt = |rounding| {
        wide(Attempt { weights, of_banks: &of_banks, reaches: reaches.len(), factor, rounding })
    };
    // A greedy order can lose against plain rounding on a hard problem, so the plain one stays in
    // the race.
    let mut attempts = vec![attempt(Rounding::Nearest)];
    if rounding == Rounding::Compensated {
        attempts.push(attempt(Rounding::Compensated));
    }
    let (mut best, mut of_best, mut excess) = (0, 0, f64::INFINITY);
    for reach in 0..reaches.len() {
        for (number, (excesses, _)) in attempts.iter().enumerate() {
            if excesses[reach] < excess {
                (best, of_best, excess) = (reach, number, excesses[reach]);
            }
        }
    }
    let codes = attempts.swap_remove(of_best).1.swap_remove(best);
    Rounded { codes, levels: levels.swap_remove(best), excess }
}

impl Work for Attempt<'_> {
    type Output = Attempted;

    #[inline(always)]
    fn call(self) -> Attempted {
        match self.rounding {
            Rounding::Nearest => self.nearest(),
            Rounding::Compensated => self.compensated(),
        }
    }
}

impl Attempt<'_> {
    /// Numbers for each reach and column.
    fn zeros<T: Clone + Default>(&self) -> Vec<Vec<T>> {
        vec![vec![T::default(); self.weights.len()]; self.reaches]
    }

    /// Rounds each weight by itself.
    #[inline(always)]
    fn nearest(&self) -> Attempted {
        let (mut codes, mut errors) = (self.zeros(), self.zeros());
        for BankLevels { columns, levels } in self.of_banks {
            for (reach, levels) in levels.iter().enumerate() {
                for k in columns.clone() {
                    let code = levels.code(self.weights[k]);
                    codes[reach][k] = code;
                    errors[reach][k] = levels.weight(code) - self.weights[k];
                }
            }
        }
        (excesses(&errors, self.factor), codes)
    }

    /// Rounds from the last column to the first, each time against what is left.
    #[inline(always)]
    fn compensated(&self) -> Attempted {
        let (mut codes, mut errors) = (self.zeros(), self.zeros());
        let mut excesses = vec![0.0; self.reaches];
        for BankLevels { columns, levels } in self.of_banks.iter().rev() {
            for k in columns.clone().rev() {
                let (weight, column) = (self.weights[k], entries(self.factor, k));
                let (own, rest) = (column[k], &column[k + 1..]);
                for (reach, levels) in levels.iter().enumerate() {
                    let errors = &mut errors[reach];
                    let carried = dot(rest, &errors[k + 1..]);
                    // Zero of (Lᵀe)_k = L_kk·(w − w*) + carried.
                    let code = levels.code(weight - carried / own);
                    let error = levels.weight(code) - weight;
                    (codes[reach][k], errors[k]) = (code, error);
                    excesses[reach] += (own * error + carried).powi(2);
                }
            }
        }
        (excesses, codes)
    }
}

/// eᵀHe = ‖Lᵀe‖² of the errors with each reach.
#[inline(always)]
fn excesses(errors: &[Vec<f64>], factor: MatRef<'_, f64>) -> Vec<f64> {
    let mut excesses = vec![0.0; errors.len()];
    for k in 0..factor.ncols() {
        let column = &entries(factor, k)[k..];
        for (excess, errors) in excesses.iter_mut().zip(errors) {
            *excess += dot(column, &errors[k..]).powi(2);
        }
    }
    excesses
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
