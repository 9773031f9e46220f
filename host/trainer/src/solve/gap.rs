//! How far a logistic regression is from the least objective, at most.

use faer::Mat;

use super::logistic::{Logistic, State};

impl Logistic<'_> {
    /// The loss without features: the entropy of the classes' shares, for all rows.
    pub(crate) fn ignorance(&self) -> f64 {
        let entropy = |sum: f64| if sum > 0.0 { -sum * (sum / self.known.total).ln() } else { 0.0 };
        let others = if self.outputs == 1 {
            entropy(self.known.total - self.known.class_totals[0])
        } else {
            0.0
        };
        others + self.known.class_totals.iter().map(|&sum| entropy(sum)).sum::<f64>()
    }

    /// The lower bound on the objective that the probabilities give.
    pub(super) fn bound(&self, state: &State, gathered: &Mat<f64>, penalty: f64) -> f64 {
        let (outputs, chances) = (self.outputs, &state.chances);
        // Mixing in one distribution gives every class its total.
        let sums: Vec<f64> = (0..outputs)
            .map(|t| (0..self.labels.len()).map(|i| self.weight(i) * chances[(t, i)]).sum())
            .collect();
        let excess = |sum: f64, wanted: f64| if sum > wanted { 1.0 - wanted / sum } else { 0.0 };
        let mut share = (0..outputs)
            .map(|t| excess(sums[t], self.known.class_totals[t]))
            .fold(0.0f64, f64::max);
        if outputs == 1 {
            share = share.max(excess(
                self.known.total - sums[0],
                self.known.total - self.known.class_totals[0],
            ));
        }
        let mixed: Vec<f64> = (0..outputs)
            .map(|t| {
                let left = self.known.class_totals[t] - (1.0 - share) * sums[t];
                if share > 0.0 { (left / (share * self.known.total)).clamp(0.0, 1.0) } else { 0.0 }
            })
            .collect();
        // The entropy is concave: of a mixture it is at least the mixture of both.
        let of = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let other = if outputs == 1 { of(1.0 - mixed[0]) } else { 0.0 };
        let of_mixed = other + mixed.iter().map(|&p| of(p)).sum::<f64>();
        let entropies = (1.0 - share) * state.entropy + share * self.known.total * of_mixed;
        let mut square = 0.0;
        for t in 0..outputs {
            for k in 0..self.design.features() {
                let towards = self.known.class_sums[(k, t)] - mixed[t] * self.known.sums[(k, 0)];
                square += (share * towards - (1.0 - share) * gathered[(k, t)]).powi(2);
            }
        }
        entropies - square / (2.0 * penalty)
    }
}
