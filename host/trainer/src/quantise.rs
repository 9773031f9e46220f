//! Rounding weights to few bits.
//!
//! The ridge objective around its minimum w* is (w − w*)ᵀH(w − w*), H = G + λI.
//! With H = LLᵀ it is ‖Lᵀe‖², e = w − w*, and (Lᵀe)_i involves e_i and the
//! errors after it only. So weights are rounded from the last to the first, and
//! each takes up what the roundings before it left over: rounding compensated
//! through the Gram matrix (the optimal-brain-surgeon order of GPTQ, without an
//! inverse). A coordinate descent on the levels follows.

use faer::{Mat, MatRef};
use koan::Width;

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
    pub fn code(self, weight: f64) -> u32 {
        let half = 1i64 << (self.width.bits() - 1);
        let c = ((weight / self.step - f64::from(u8::from(self.width.odd()))) / 2.0).round();
        // Symmetric even levels leave the lowest one unused.
        let lowest = if self.width.odd() || half == 1 { -half } else { -half + 1 };
        (c.clamp(lowest as f64, (half - 1) as f64) as i64 + half) as u32
    }

    /// The weight that code `u` stands for.
    #[must_use]
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
    let levels: Vec<Vec<Levels>> =
        reaches.iter().map(|&reach| steps(weights, banks, reach)).collect();
    let columns: Vec<Vec<Levels>> = levels.iter().map(|levels| spread(banks, levels)).collect();
    let nearest: Vec<Vec<u32>> = columns
        .iter()
        .map(|levels| weights.iter().zip(levels).map(|(&w, l)| l.code(w)).collect())
        .collect();
    let side_by_side = if reaches.len() <= FEW { attempts::<FEW> } else { attempts::<ALL> };
    let attempts = side_by_side(weights, &columns, nearest, factor, rounding);
    let mut best: Option<Rounded> = None;
    for (reach, levels) in levels.iter().enumerate() {
        for (excesses, codes) in &attempts {
            let excess = excesses[reach];
            if best.as_ref().is_none_or(|best| excess < best.excess) {
                best =
                    Some(Rounded { codes: codes[reach].clone(), levels: levels.clone(), excess });
            }
        }
    }
    let mut best = best.unwrap_or(Rounded { codes: Vec::new(), levels: Vec::new(), excess: 0.0 });
    if rounding == Rounding::Compensated {
        let column_levels = spread(banks, &best.levels);
        descend(weights, &column_levels, &mut best.codes, matrix);
        let codes = std::slice::from_ref(&best.codes);
        [best.excess] = excesses(weights, &[column_levels], codes, factor);
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

/// Reaches that go side by side through the factor, which is read once for them.
const ALL: usize = REACHES.len();
/// Likewise; enough for the top of the list.
const FEW: usize = 4;

/// What each reach adds to the objective, and its codes.
type Attempt = (Vec<f64>, Vec<Vec<u32>>);

/// Rounds with each of at most `N` levels.
fn attempts<const N: usize>(
    weights: &[f64],
    levels: &[Vec<Levels>],
    nearest: Vec<Vec<u32>>,
    factor: MatRef<'_, f64>,
    rounding: Rounding,
) -> Vec<Attempt> {
    let excess = excesses::<N>(weights, levels, &nearest, factor);
    let mut attempts = vec![(excess.to_vec(), nearest)];
    if rounding == Rounding::Compensated {
        // A greedy order can lose against plain rounding on a hard problem,
        // so the plain one stays in the race.
        attempts.push(compensated::<N>(weights, levels, factor));
    }
    attempts
}

/// Σ column·errors of each lane, in the order of the rows.
fn products<const N: usize>(column: impl Iterator<Item = f64>, errors: &[[f64; N]]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (entry, errors) in column.zip(errors) {
        for (sum, error) in sums.iter_mut().zip(errors) {
            *sum += entry * error;
        }
    }
    sums
}

/// Rounds from the last column to the first, each time against what is left, with each
/// of the `levels`.
fn compensated<const N: usize>(
    weights: &[f64],
    levels: &[Vec<Levels>],
    factor: MatRef<'_, f64>,
) -> Attempt {
    let mut codes = vec![vec![0; weights.len()]; levels.len()];
    let mut excesses = vec![0.0; levels.len()];
    let mut errors = vec![[0.0; N]; weights.len()];
    for i in (0..weights.len()).rev() {
        let column = factor.col(i);
        let rest = column.get(i + 1..).iter().copied();
        let carried = products(rest, &errors[i + 1..]);
        for (lane, levels) in levels.iter().enumerate() {
            // Zero of (Lᵀe)_i = L_ii·(w − w*) + carried.
            let wanted = weights[i] - carried[lane] / column[i];
            codes[lane][i] = levels[i].code(wanted);
            let error = levels[i].weight(codes[lane][i]) - weights[i];
            errors[i][lane] = error;
            excesses[lane] += (column[i] * error + carried[lane]).powi(2);
        }
    }
    (excesses, codes)
}

/// eᵀHe = ‖Lᵀe‖², for each of the `levels` and their codes.
fn excesses<const N: usize>(
    weights: &[f64],
    levels: &[Vec<Levels>],
    codes: &[Vec<u32>],
    factor: MatRef<'_, f64>,
) -> [f64; N] {
    let mut errors = vec![[0.0; N]; weights.len()];
    for (lane, (levels, codes)) in levels.iter().zip(codes).enumerate() {
        for (k, errors) in errors.iter_mut().enumerate() {
            errors[lane] = levels[k].weight(codes[k]) - weights[k];
        }
    }
    let mut excesses = [0.0; N];
    for i in 0..weights.len() {
        let sums = products(factor.col(i).get(i..).iter().copied(), &errors[i..]);
        for (excess, sum) in excesses.iter_mut().zip(sums) {
            *excess += sum * sum;
        }
    }
    excesses
}

/// Moves single weights to better levels until none moves (or 20 sweeps).
fn descend(weights: &[f64], levels: &[Levels], codes: &mut [u32], matrix: MatRef<'_, f64>) {
    let errors = Mat::from_fn(weights.len(), 1, |k, _| levels[k].weight(codes[k]) - weights[k]);
    let mut gradient = matrix * &errors;
    for _ in 0..20 {
        let mut moved = false;
        for k in 0..weights.len() {
            let now = levels[k].weight(codes[k]);
            let code = levels[k].code(now - gradient[(k, 0)] / matrix[(k, k)]);
            let change = levels[k].weight(code) - now;
            let gain = change * (2.0 * gradient[(k, 0)] + change * matrix[(k, k)]);
            if code != codes[k] && gain < 0.0 {
                codes[k] = code;
                let column = matrix.col(k);
                for i in 0..weights.len() {
                    gradient[(i, 0)] += change * column[i];
                }
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
