//! AdaBoost with decision stumps (Freund and Schapire 1997): the rival of random
//! stumps in *Weighted Sums of Random Kitchen Sinks*.
//!
//! Each round takes the stump with the largest edge Σ w_i·y_i·h(x_i) of all
//! inputs, thresholds and signs. Columns are sorted once and kept as runs of
//! equal values, the longest run left out, as its sum is what the others leave
//! of the total: a round costs one addition for each value that is not its
//! column's most frequent one.

use rayon::prelude::*;

use koan_data::Table;

/// Stump with a sign: sign·(+1 if x > threshold, else −1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stump {
    /// Which input is looked at.
    pub input: usize,
    /// What it is compared with.
    pub threshold: f32,
    /// Whether values above the threshold speak for the class.
    pub above: bool,
}

impl Stump {
    /// +1 for the class, −1 against it.
    #[must_use]
    pub fn decide(&self, row: &[f32]) -> f64 {
        if (row[self.input] > self.threshold) == self.above { 1.0 } else { -1.0 }
    }
}

/// One round of boosting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The stump that was taken.
    pub stump: Stump,
    /// Its weight in the vote, ½·ln((1 − ε)/ε).
    pub alpha: f64,
    /// ε, its error on the rows as they were weighted in this round.
    pub weighted_error: f64,
    /// Fraction of the rows, weighted as at first, that the vote up to and
    /// including this round gets wrong.
    pub train_error: f64,
}

/// Why boosting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A stump made no error: more rounds would repeat it.
    Perfect,
    /// No stump is better than chance on the weighted rows.
    NoEdge,
}

/// The columns of a table, sorted.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<Column>,
    rows: usize,
}

/// Runs of equal values, ascending.
#[derive(Clone, Debug)]
struct Column {
    /// The value of each run.
    values: Vec<f32>,
    /// Where each run starts in `rows`; the longest one is empty there.
    starts: Vec<usize>,
    rows: Vec<u32>,
    longest: usize,
}

impl Columns {
    /// Sorts all columns of `table`.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        let columns =
            (0..table.inputs).into_par_iter().map(|input| Column::new(table, input)).collect();
        Self { columns, rows: table.rows() }
    }
}

impl Column {
    fn new(table: &Table, input: usize) -> Self {
        let value = |row: u32| table.row(row as usize)[input];
        let mut sorted: Vec<u32> = (0..table.rows() as u32).collect();
        sorted.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        // −0 and 0 are one value, although they sort apart.
        let runs: Vec<&[u32]> = sorted.chunk_by(|&a, &b| value(a) == value(b)).collect();
        let longest = (0..runs.len()).max_by_key(|&run| runs[run].len()).unwrap_or(0);
        let mut column = Self { values: Vec::new(), starts: vec![0], rows: Vec::new(), longest };
        for (number, run) in runs.iter().enumerate() {
            column.values.push(value(run[0]));
            if number != longest {
                column.rows.extend_from_slice(run);
            }
            column.starts.push(column.rows.len());
        }
        column
    }

    /// The largest |edge| of a threshold between two runs: its edge for the sign
    /// "above", and the run below it. `signed`: w_i·y_i.
    fn best(&self, signed: &[f64], total: f64) -> Option<(f64, usize)> {
        let sums: Vec<f64> = self
            .starts
            .windows(2)
            .map(|run| self.rows[run[0]..run[1]].iter().map(|&row| signed[row as usize]).sum())
            .collect();
        let others: f64 = sums.iter().sum();
        let mut below = 0.0;
        let mut best: Option<(f64, usize)> = None;
        // Above the last run there is nothing.
        for (run, sum) in sums.iter().enumerate().take(sums.len().saturating_sub(1)) {
            below += if run == self.longest { total - others } else { *sum };
            let edge = total - 2.0 * below;
            if best.is_none_or(|(largest, _)| edge.abs() > largest.abs()) {
                best = Some((edge, run));
            }
        }
        best
    }

    /// A number with run `run` on its lower side and the next one above it.
    fn threshold(&self, run: usize) -> f32 {
        let (low, high) = (self.values[run], self.values[run + 1]);
        let middle = low + (high - low) / 2.0;
        if middle > low && middle < high { middle } else { low }
    }
}

/// Boosting of one class against the others, round by round.
#[derive(Debug)]
pub struct Booster<'c> {
    columns: &'c Columns,
    /// ±1.
    targets: Vec<f64>,
    /// Weights of the rows at first and now; both sum to 1.
    given: Vec<f64>,
    weights: Vec<f64>,
    margins: Vec<f64>,
    end: Option<End>,
}

impl<'c> Booster<'c> {
    /// Nothing boosted yet. `class`: for each row whether it is of the class;
    /// `weights` of rows: none for all the same.
    ///
    /// # Panics
    /// If there are not as many of both as rows.
    #[must_use]
    pub fn new(columns: &'c Columns, class: &[bool], weights: Option<&[f64]>) -> Self {
        assert_eq!(class.len(), columns.rows, "a class for each row");
        let given = weights.map_or_else(|| vec![1.0; class.len()], <[f64]>::to_vec);
        assert_eq!(given.len(), columns.rows, "a weight for each row");
        let total: f64 = given.iter().sum();
        let given: Vec<f64> = given.iter().map(|weight| weight / total).collect();
        Self {
            columns,
            targets: class.iter().map(|&class| if class { 1.0 } else { -1.0 }).collect(),
            weights: given.clone(),
            given,
            margins: vec![0.0; class.len()],
            end: None,
        }
    }

    /// Why there are no more rounds; none while there may be.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The next round; none when boosting has ended.
    pub fn step(&mut self, table: &Table) -> Option<Round> {
        if self.end.is_some() {
            return None;
        }
        let signed: Vec<f64> = self.weights.iter().zip(&self.targets).map(|(w, y)| w * y).collect();
        let total: f64 = signed.iter().sum();
        let found: Vec<Option<(f64, usize)>> =
            self.columns.columns.par_iter().map(|column| column.best(&signed, total)).collect();
        let best = found
            .iter()
            .enumerate()
            .filter_map(|(input, found)| found.map(|(edge, run)| (edge, input, run)))
            .reduce(|a, b| if b.0.abs() > a.0.abs() { b } else { a });
        let Some((edge, input, run)) = best.filter(|best| best.0.abs() > 1e-12) else {
            self.end = Some(End::NoEdge);
            return None;
        };
        let threshold = self.columns.columns[input].threshold(run);
        let stump = Stump { input, threshold, above: edge > 0.0 };
        let weighted_error = (0.5 * (1.0 - edge.abs())).max(0.0);
        if weighted_error < 1e-12 {
            self.end = Some(End::Perfect);
        }
        let held = weighted_error.max(1e-12);
        let alpha = 0.5 * ((1.0 - held) / held).ln();
        let (mut sum, mut wrong) = (0.0, 0.0);
        for row in 0..self.targets.len() {
            let agrees = self.targets[row] * stump.decide(table.row(row));
            self.margins[row] += alpha * agrees;
            self.weights[row] *= (-alpha * agrees).exp();
            sum += self.weights[row];
            // A vote of 0 is a vote against the class, as in `koan`.
            let right = if self.targets[row] > 0.0 {
                self.margins[row] > 0.0
            } else {
                self.margins[row] >= 0.0
            };
            if !right {
                wrong += self.given[row];
            }
        }
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
        Some(Round { stump, alpha, weighted_error, train_error: wrong })
    }
}

/// Boosted stumps: for two classes one vote, whose sign decides, otherwise one
/// for each class against the rest, of which the largest decides.
#[derive(Clone, Debug)]
pub struct AdaBoost {
    /// The rounds of each vote.
    pub votes: Vec<Vec<Round>>,
    /// Why a vote has fewer rounds than were asked for, if it has.
    pub ends: Vec<Option<End>>,
}

impl AdaBoost {
    /// At most `rounds` rounds for the classes `labels` of the rows of `table`.
    #[must_use]
    pub fn fit(
        table: &Table,
        labels: &[u32],
        classes: usize,
        weights: Option<&[f64]>,
        rounds: usize,
    ) -> Self {
        let columns = Columns::new(table);
        let outputs = if classes > 2 { classes } else { 1 };
        let (mut votes, mut ends) = (Vec::new(), Vec::new());
        for output in 0..outputs {
            let class = if outputs == 1 { 1 } else { output };
            let members: Vec<bool> = labels.iter().map(|&label| label as usize == class).collect();
            let mut booster = Booster::new(&columns, &members, weights);
            votes.push((0..rounds).map_while(|_| booster.step(table)).collect());
            ends.push(booster.end());
        }
        Self { votes, ends }
    }

    /// The fraction of rows misclassified after each round.
    #[must_use]
    pub fn staged_errors(&self, table: &Table, labels: &[u32]) -> Vec<f64> {
        let rounds = self.votes.iter().map(Vec::len).max().unwrap_or(0);
        let outputs = self.votes.len();
        let mut margins = vec![0.0; labels.len() * outputs];
        let mut errors = Vec::new();
        for round in 0..rounds {
            let mut wrong = 0usize;
            for (i, margins) in margins.chunks_exact_mut(outputs).enumerate() {
                for (margin, vote) in margins.iter_mut().zip(&self.votes) {
                    if let Some(round) = vote.get(round) {
                        *margin += round.alpha * round.stump.decide(table.row(i));
                    }
                }
                let class = if let [margin] = margins {
                    usize::from(*margin > 0.0)
                } else {
                    (0..outputs).fold(0, |m, c| if margins[c] > margins[m] { c } else { m })
                };
                wrong += usize::from(class != labels[i] as usize);
            }
            errors.push(wrong as f64 / labels.len().max(1) as f64);
        }
        errors
    }
}
