//! The values of λ that are tried, and the way through them.

use koan_data::Task;

/// Decades around what double precision can tell from zero up to strong shrinkage.
pub const LAMBDAS: [f64; 9] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// Where no row to fit on or to hold out has a weight, so that nothing can be told.
pub const UNTOLD: f64 = 1e-3;

/// Those that compare feature maps, whose weights are real.
pub const FEW_LAMBDAS: [f64; 5] = [1e-7, 1e-5, 1e-3, 1e-2, 1e-1];

/// Those that a search begins with, whose weights are rounded: very little shrinkage only
/// suits numbers.
pub fn few(task: Task) -> &'static [f64] {
    const FEW: [f64; 5] = [1e-6, 1e-4, 1e-3, 1e-2, 1e-1];
    if task == Task::Regression { &FEW } else { &FEW[1..] }
}

/// Penalties of bins, largest first: the weight of a prior for every cell, in rows.
pub const CELL_LAMBDAS: [f64; 5] = [128.0, 32.0, 8.0, 2.0, 0.5];

/// Some of [`CELL_LAMBDAS`] for rows that weigh so much each, in the mean.
pub fn of_cells(lambdas: &[f64], weights: &[f64]) -> Vec<f64> {
    let weighty: Vec<f64> = weights.iter().copied().filter(|&weight| weight > 0.0).collect();
    let mean = match weighty.len() {
        0 => 1.0,
        count => weighty.iter().sum::<f64>() / count as f64,
    };
    lambdas.iter().map(|lambda| lambda * mean).collect()
}

/// λ for the rounded weights of a selection, relative to the best one for real weights. All are
/// tried: [`descend`] through [`upwards`] gave 1.39 % instead of 0.84 % on digits in 900 bytes.
pub const STRONGER: [f64; 4] = [1.0, 3.0, 10.0, 30.0];

/// Half a decade: how finely λ is chosen.
pub const HALF_DECADE: f64 = 3.162_277_660_168_379_5;

/// A held-out loss so many times as large as the least one is no chance.
const CLEARLY: f64 = 1.02;

/// The values to try: the one that was asked for, or the usual ones.
pub fn given_or(given: Option<f64>, usual: &[f64]) -> Vec<f64> {
    given.map_or_else(|| usual.to_vec(), |lambda| vec![lambda])
}

/// Half a decade to both sides of the best of some decades.
pub fn around(best: f64) -> [f64; 2] {
    [best / HALF_DECADE, best * HALF_DECADE]
}

/// Goes through `lambdas` until the loss rises, and returns what came with the least one.
/// `judge` gives a loss, and what to keep, for a λ. One small rise may be chance; two in a
/// row or a large one are not. None without any λ.
pub fn descend<T>(
    lambdas: impl IntoIterator<Item = f64>,
    mut judge: impl FnMut(f64) -> (f64, T),
) -> Option<T> {
    let mut best: Option<(f64, T)> = None;
    let mut worse = 0;
    for lambda in lambdas {
        let (loss, kept) = judge(lambda);
        match &best {
            Some((least, _)) if loss.total_cmp(least).is_ge() => {
                worse += 1;
                if worse == 2 || loss > CLEARLY * least {
                    break;
                }
            }
            _ => {
                best = Some((loss, kept));
                worse = 0;
            }
        }
    }
    best.map(|(_, kept)| kept)
}

/// From the best λ for real weights upwards in half decades, past 1 at most: stronger
/// shrinkage gives smaller, more even weights, which few bits hold better.
pub fn upwards(start: f64) -> impl Iterator<Item = f64> {
    let next = |&lambda: &f64| (lambda < 1.0).then_some(lambda * HALF_DECADE);
    std::iter::successors(Some(start), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The λ chosen among 0, 1, … for these losses, and how many were looked at.
    fn chosen(losses: &[f64]) -> (Option<usize>, usize) {
        let mut looked = 0;
        let best = descend((0..losses.len()).map(|i| i as f64), |lambda| {
            looked += 1;
            (losses[lambda as usize], lambda as usize)
        });
        (best, looked)
    }

    #[test]
    fn a_small_rise_may_be_chance_a_large_one_is_not() {
        assert_eq!(chosen(&[3.0, 2.0, 2.01, 1.5, 1.6, 1.0]), (Some(3), 5));
        assert_eq!(chosen(&[3.0, 2.0, 2.01, 2.02, 1.0]), (Some(1), 4));
        assert_eq!(chosen(&[2.0, 2.0, 2.0, 1.0]), (Some(0), 3));
        assert_eq!(chosen(&[]), (None, 0));
    }

    #[test]
    fn half_decades_end_past_one() {
        let all: Vec<f64> = upwards(0.01).collect();
        assert_eq!(all.len(), 5);
        assert!(all.windows(2).all(|pair| (pair[1] / pair[0] - HALF_DECADE).abs() < 1e-9));
        assert_eq!(upwards(1.0).count(), 1);
        assert_eq!(upwards(30.0).collect::<Vec<_>>(), [30.0]);
    }
}
