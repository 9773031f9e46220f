use super::*;
use crate::Loss;

/// Loss and entropy come with the probabilities; they are those of their definitions.
#[test]
fn losses_and_entropies_are_those_of_the_probabilities() {
    let rows = 2 * ROWS + 7;
    let values: Vec<i16> = (0..3 * rows).map(|i| (i * i % 61) as i16 - 30).collect();
    let design = Design::new(values, 3);
    let counts: Vec<f64> = (0..rows).map(|i| f64::from(i as u8) / 99.0).collect();
    for outputs in [1, 3] {
        let labels: Vec<u32> = (0..rows as u32).map(|i| i % (outputs as u32).max(2)).collect();
        let weights = Mat::from_fn(3, outputs, |k, t| 0.03 * (k as f64 - t as f64));
        let bias: Vec<f64> = (0..outputs).map(|t| 0.5 - t as f64).collect();
        let regression = Logistic::new(&design, &labels, outputs, Some(&counts));
        let (chances, loss, entropy) = regression.chances(weights.as_ref(), &bias);
        let scores = design.scores(weights.as_ref(), &bias);
        let total = Loss::Logistic.total(scores.as_ref(), &labels, Some(&counts));
        assert!((loss - total).abs() < 1e-9 * total, "{loss} {total}");
        let of = |p: f64| -p * p.ln();
        let of_row = |i: usize| -> f64 {
            let other = if outputs == 1 { of(1.0 - chances[(0, i)]) } else { 0.0 };
            counts[i] * (other + (0..outputs).map(|t| of(chances[(t, i)])).sum::<f64>())
        };
        let direct: f64 = (0..rows).map(of_row).sum();
        assert!((entropy - direct).abs() < 1e-9 * direct, "{entropy} {direct}");
    }
}

/// As of a fit to rows that lack a class: where all chances are 0 or 1, no step leads away.
#[test]
fn a_start_far_off_is_not_gone_on_from() {
    let values: Vec<i16> = (0..1600).map(|i| (i * i % 61) as i16 - 30).collect();
    let design = Design::new(values, 8);
    for outputs in [1, 3] {
        let labels: Vec<u32> = (0..200).map(|i| i % (outputs as u32).max(2)).collect();
        let regression = Logistic::new(&design, &labels, outputs, None);
        let bias = (0..outputs).map(|t| if t == 0 { 200.0 } else { 0.0 }).collect();
        let start = LinearFit { weights: Mat::zeros(8, outputs), bias, lambda: 1.0 };
        let [new, off] = [None, Some(&start)].map(|start| regression.solve(0.01, start, 1e-6));
        assert!((off.convergence.objective / new.convergence.objective - 1.0).abs() < 1e-5);
        let shares: Vec<f64> = (0..outputs).map(|t| regression.share(t)).collect();
        let plain = regression.start(None, 0.0).objective;
        assert!((regression.loss_of_shares(&shares) / plain - 1.0).abs() < 1e-9);
    }
}

/// Features far from 0 move all scores by much where their weights are rounded: from the biases
/// of the fit no step led to the best ones.
#[test]
fn biases_are_the_best_ones_of_weights_far_off() {
    let rows = 300;
    let value = |i: usize| 1000 + ((i * i % 61) as i16 - 30);
    let design = Design::new((0..4 * rows).map(value).collect(), 4);
    for outputs in [1, 3] {
        let labels: Vec<u32> =
            (0..rows as u32).map(|i| i * i % 7 % (outputs as u32).max(2)).collect();
        let regression = Logistic::new(&design, &labels, outputs, None);
        let fit = regression.solve(1e-3, None, 1e-6).fit;
        let signs = [1.0, -1.0, 1.0, 1.0];
        let far = Mat::from_fn(4, outputs, |k, t| 0.05 * signs[(k + t) % 4]);
        let bias = regression.bias(far.as_ref(), &fit);
        let scores = regression.design.scores(far.as_ref(), &bias);
        let (chances, ..) = regression.chances_of(scores);
        for t in 0..outputs {
            let off: f64 = (0..rows).map(|i| chances[(t, i)] - regression.wanted(i, t)).sum();
            assert!(off.abs() < 1e-4 * rows as f64, "{outputs} outputs, {t}: {off}");
        }
    }
}

/// Two classes that a line tells apart have no least objective but for the penalty.
#[test]
fn no_more_products_than_are_allowed() {
    let values: Vec<i16> = (0..1600).map(|i| (i * i % 61) as i16 - 30).collect();
    let labels: Vec<u32> = values.chunks(8).map(|row| u32::from(row[0] + row[1] > 3)).collect();
    let design = Design::new(values, 8);
    let regression = Logistic::new(&design, &labels, 1, None);
    let until = |products: usize| {
        let tolerance = Tolerance { gap: 1e-6, decrease: 0.0, products };
        regression.solve_until(1e-9, None, tolerance).convergence
    };
    let (whole, part) = (until(usize::MAX), until(20));
    assert!(whole.products > 40 && !whole.settled, "{whole:?}");
    assert!(part.settled && part.iterations < whole.iterations, "{part:?}");
    assert!(part.objective > whole.objective && part.objective < 100.0, "{part:?}");
}
