//! Logistic regression on stumps over inputs of two values each.
//!
//! A stump sees one input. Where that has two values, it is a constant or tells
//! them apart, and all stumps of an input that do are one column up to the sign.
//! So the fit has one weight for each input instead of one for each stump, and a
//! row takes part with those inputs alone that have their rarer value: of one-hot
//! inputs few. Newton's steps are exact, and the first ones need only some rows.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rayon::prelude::*;

use koan::FEATURE_ONE;
use koan_data::{Division, Table, Target};
use koan_trainer::internal::features::FeatureMap;
use koan_trainer::internal::ridge::LinearFit;

/// Rows of a block: sums over a block are one term of the sum over all rows.
const BLOCK: usize = 2048;
/// Rows by which the common value of an input is guessed.
const LOOKED_AT: usize = 64;
/// Of so many blocks one is used by the first steps.
const FIRST_STEPS: usize = 4;
/// Newton steps at most, each time.
const STEPS: usize = 50;
/// Half the squared Newton decrement, about what the objective is above the
/// least one, at which it ends, relative to the objective.
const TOLERANCE: f64 = 1e-8;

/// A table of two-valued inputs as lists of the inputs that have the other value.
#[derive(Clone, Debug)]
pub struct Indicators {
    /// The value of each input that is not listed.
    common: Vec<f32>,
    /// The other value; the same where there is none.
    other: Vec<f32>,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// Where the list of each row ends.
    ends: Vec<u32>,
    inputs: Vec<u16>,
}

impl Block {
    fn rows(&self) -> impl Iterator<Item = &[u16]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.inputs[start as usize..end as usize])
    }
}

impl Indicators {
    /// The rows of `table`; none if an input has more than two values.
    #[must_use]
    pub fn new(table: &Table) -> Option<Self> {
        let look = LOOKED_AT.min(table.rows());
        let common: Vec<f32> = (0..table.inputs)
            .map(|input| {
                let first = table.row(0)[input];
                let values = || (0..look).map(|row| table.row(row)[input]);
                let others = values().filter(|&value| value != first).count();
                let other = values().find(|&value| value != first).unwrap_or(first);
                if 2 * others > look { other } else { first }
            })
            .collect();
        let (blocks, found): (Vec<Block>, Vec<Vec<f32>>) =
            lists(table, &common, None)?.into_iter().unzip();
        let mut other = common.clone();
        for found in found {
            for (input, value) in found.into_iter().enumerate() {
                let known = other[input] != common[input];
                if value != common[input] && known && value != other[input] {
                    return None;
                }
                if !known {
                    other[input] = value;
                }
            }
        }
        Some(Self { common, other, blocks })
    }

    /// The rows of another table by the same values; none if it has others.
    #[must_use]
    pub fn like(&self, table: &Table) -> Option<Self> {
        let lists = lists(table, &self.common, Some(&self.other))?;
        let blocks = lists.into_iter().map(|(block, _)| block).collect();
        Some(Self { common: self.common.clone(), other: self.other.clone(), blocks })
    }

    /// Mean and variance of each input.
    #[must_use]
    pub fn moments(&self) -> Vec<(f64, f64)> {
        let mut counts = vec![0.0; self.common.len()];
        for block in &self.blocks {
            block.inputs.iter().for_each(|&input| counts[usize::from(input)] += 1.0);
        }
        let rows = self.blocks.iter().map(|block| block.ends.len()).sum::<usize>() as f64;
        let of = |((&common, &other), &count): ((&f32, &f32), &f64)| {
            let (share, apart) = (count / rows, f64::from(other) - f64::from(common));
            (f64::from(common) + share * apart, share * (1.0 - share) * apart * apart)
        };
        self.common.iter().zip(&self.other).zip(&counts).map(of).collect()
    }

    /// What the stumps of `map` say of the two values of each input.
    ///
    /// # Errors
    /// A map for another number of inputs.
    fn stumps(&self, map: &FeatureMap) -> Result<Stumps, koan::Error> {
        let inputs = self.common.len();
        let mut values = self.common.repeat(inputs + 1);
        for input in 0..inputs {
            values[(input + 1) * inputs + input] = self.other[input];
        }
        let table = Table {
            inputs,
            values,
            target: Target::Values(vec![0.0; inputs + 1]),
            weights: None,
            schema: koan_data::Schema { inputs, ..koan_data::Schema::new(koan_data::Format::Csv) },
            division: Division::Free,
        };
        let features = map.features_of(&table, &(0..=inputs).collect::<Vec<_>>())?;
        let mut rows = features.chunks_exact(map.features());
        let common = rows.next().map(<[i16]>::to_vec).unwrap_or_default();
        let split =
            rows.map(|row| (0..row.len()).filter(|&k| row[k] != common[k]).collect()).collect();
        Ok(Stumps { common, split })
    }

    /// Minimises Σ ln(1 + exp(−y·s)) + ½·λ·n·‖ONE·w‖² over the stumps of `map`,
    /// s = wᵀφ + b, y = ±1, n rows. As a stump's variance is at most 1, λ is the one
    /// of [`koan_trainer::internal::ridge`] where stumps halve the rows. None where Newton's method
    /// does not end.
    ///
    /// # Errors
    /// A map for another number of inputs.
    pub fn fit(
        &self,
        map: &FeatureMap,
        class: &[bool],
        lambda: f64,
    ) -> Result<Option<LinearFit>, koan::Error> {
        let stumps = self.stumps(map)?;
        let rows = class.len() as f64;
        // m stumps that share a weight γ evenly have the square γ²/(4m).
        let penalties: Vec<f64> = stumps
            .split
            .iter()
            .map(|split| match split.len() {
                0 => f64::INFINITY,
                count => lambda * rows / (4.0 * count as f64),
            })
            .collect();
        let mut state = vec![0.0; self.common.len() + 1];
        // Until every block has its turn the result is only a start.
        if self.blocks.len() >= 2 * FIRST_STEPS {
            self.minimise(&mut state, class, &penalties, FIRST_STEPS, 1e-3);
        }
        if !self.minimise(&mut state, class, &penalties, 1, TOLERANCE) {
            return Ok(None);
        }
        let one = f64::from(FEATURE_ONE);
        let mut weights = Mat::<f64>::zeros(map.features(), 1);
        let mut bias = state[self.common.len()];
        for (split, gamma) in stumps.split.iter().zip(&state) {
            for &k in split {
                // The feature changes by −2·its common value.
                let before = f64::from(stumps.common[k]).signum();
                let weight = -before * gamma / (2.0 * split.len() as f64);
                weights[(k, 0)] = weight / one;
                bias -= weight * before;
            }
        }
        Ok(Some(LinearFit { weights, bias: vec![bias], lambda }))
    }

    /// The scores of all rows by a fit on the stumps of `map`.
    ///
    /// # Errors
    /// A map for another number of inputs.
    pub fn scores(&self, map: &FeatureMap, fit: &LinearFit) -> Result<Vec<f64>, koan::Error> {
        let stumps = self.stumps(map)?;
        let value = |k: usize| fit.weights[(k, 0)] * f64::from(stumps.common[k]);
        let bias = fit.bias[0] + (0..stumps.common.len()).map(value).sum::<f64>();
        let gammas: Vec<f64> =
            stumps.split.iter().map(|split| split.iter().map(|&k| -2.0 * value(k)).sum()).collect();
        let of = |row: &[u16]| bias + row.iter().map(|&i| gammas[usize::from(i)]).sum::<f64>();
        Ok(self.blocks.iter().flat_map(|block| block.rows().map(of)).collect())
    }

    /// Newton's method from `state` (a weight for each input, the bias last) on
    /// every `every`-th block; whether it ended.
    fn minimise(
        &self,
        state: &mut Vec<f64>,
        class: &[bool],
        penalties: &[f64],
        every: usize,
        tolerance: f64,
    ) -> bool {
        // Weights of inputs that no stump tells apart stay 0.
        let free: Vec<usize> = (0..state.len())
            .filter(|&i| penalties.get(i).is_none_or(|penalty| penalty.is_finite()))
            .collect();
        let share = 1.0 / every as f64;
        let penalty = |i: usize| share * penalties.get(i).copied().unwrap_or(0.0);
        let mut now = self.sums(state, class, every, &penalty);
        for _ in 0..STEPS {
            let hessian = Mat::from_fn(free.len(), free.len(), |a, b| {
                let (i, j) = (free[a.max(b)], free[a.min(b)]);
                let own = if a == b { penalty(i) + 1e-9 } else { 0.0 };
                now.hessian[i * state.len() + j] + own
            });
            let gradient = Mat::from_fn(free.len(), 1, |a, _| now.gradient[free[a]]);
            let Ok(factor) = hessian.llt(Side::Lower) else { return false };
            let step = factor.solve(&gradient);
            let fall: f64 = (0..free.len()).map(|a| step[(a, 0)] * gradient[(a, 0)]).sum();
            if 0.5 * fall <= tolerance * now.objective {
                return true;
            }
            let mut length = 1.0;
            loop {
                let mut next = state.clone();
                free.iter().enumerate().for_each(|(a, &i)| next[i] -= length * step[(a, 0)]);
                let reached = self.sums(&next, class, every, &penalty);
                if reached.objective <= now.objective - 1e-4 * length * fall {
                    (*state, now) = (next, reached);
                    break;
                }
                length *= 0.5;
                if length < 1e-10 {
                    return false;
                }
            }
        }
        false
    }

    /// Objective, gradient and Hessian at `state`.
    fn sums(
        &self,
        state: &[f64],
        class: &[bool],
        every: usize,
        penalty: &dyn Fn(usize) -> f64,
    ) -> Sums {
        let size = state.len();
        let parts: Vec<Sums> = self
            .blocks
            .par_iter()
            .enumerate()
            .filter(|(number, _)| number.is_multiple_of(every))
            .map(|(number, block)| {
                let mut sums = Sums::new(size);
                for (row, &class) in block.rows().zip(&class[number * BLOCK..]) {
                    sums.add(row, state, class);
                }
                sums
            })
            .collect();
        let mut all = Sums::new(size);
        for part in &parts {
            all.objective += part.objective;
            all.gradient.iter_mut().zip(&part.gradient).for_each(|(a, b)| *a += b);
            all.hessian.iter_mut().zip(&part.hessian).for_each(|(a, b)| *a += b);
        }
        for (i, &value) in state.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            all.objective += 0.5 * penalty(i) * value * value;
            all.gradient[i] += penalty(i) * value;
        }
        all
    }
}

/// What stumps say of the inputs' values.
struct Stumps {
    /// The features of a row of common values.
    common: Vec<i16>,
    /// For each input, the stumps that tell its values apart.
    split: Vec<Vec<usize>>,
}

struct Sums {
    objective: f64,
    gradient: Vec<f64>,
    /// Lower triangle, row-major.
    hessian: Vec<f64>,
}

impl Sums {
    fn new(size: usize) -> Self {
        Self { objective: 0.0, gradient: vec![0.0; size], hessian: vec![0.0; size * size] }
    }

    fn add(&mut self, row: &[u16], state: &[f64], class: bool) {
        let last = state.len() - 1;
        let score = state[last] + row.iter().map(|&i| state[usize::from(i)]).sum::<f64>();
        let small = (-score.abs()).exp();
        let chance = if score > 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
        let wrong = if class { -score } else { score };
        self.objective += wrong.max(0.0) + small.ln_1p();
        let slope = chance - f64::from(u8::from(class));
        let curve = chance * (1.0 - chance);
        // Inputs of a row are ascending.
        for (number, &i) in row.iter().enumerate() {
            let i = usize::from(i);
            self.gradient[i] += slope;
            let line = &mut self.hessian[i * state.len()..][..=i];
            row[..=number].iter().for_each(|&j| line[usize::from(j)] += curve);
            self.hessian[last * state.len() + i] += curve;
        }
        self.gradient[last] += slope;
        self.hessian[last * state.len() + last] += curve;
    }
}

/// For each block the inputs of its rows that do not have the common value, and
/// the value that each has instead (the common one where none has); none if an
/// input has a third one, or another one than `other`.
fn lists(table: &Table, common: &[f32], other: Option<&[f32]>) -> Option<Vec<(Block, Vec<f32>)>> {
    let blocks: Vec<usize> = (0..table.rows()).step_by(BLOCK).collect();
    blocks
        .par_iter()
        .map(|&start| {
            let mut block = Block::default();
            let mut found = other.unwrap_or(common).to_vec();
            for row in start..(start + BLOCK).min(table.rows()) {
                for (input, (&value, &usual)) in table.row(row).iter().zip(common).enumerate() {
                    if value == usual {
                        continue;
                    }
                    if value != found[input] {
                        if other.is_some() || found[input] != usual {
                            return None;
                        }
                        found[input] = value;
                    }
                    block.inputs.push(input as u16);
                }
                block.ends.push(block.inputs.len() as u32);
            }
            Some((block, found))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan::generator::Stream;
    use koan::{Family, Law};
    use koan_data::{Format, Schema};
    use koan_trainer::internal::normalise::{Axis, Normaliser};
    use koan_trainer::internal::plan::{BankPlan, realise};
    use koan_trainer::internal::solve::{Design, Logistic};

    /// Rows of inputs of the values 1 (one time in four) and −2.
    fn table(rows: usize, inputs: usize) -> (Table, Vec<bool>) {
        let draw = Stream::new(5, 1);
        let rare = |i: usize| draw.draw(i as u64).is_multiple_of(4);
        let values = (0..rows * inputs).map(|i| if rare(i) { 1.0 } else { -2.0 }).collect();
        let noise = |row: usize| Stream::new(5, 2).draw(row as u64).is_multiple_of(5);
        let class = (0..rows).map(|row| rare(row * inputs) != noise(row)).collect::<Vec<_>>();
        let labels = class.iter().map(|&class| u32::from(class)).collect();
        let schema = Schema { inputs, ..Schema::new(Format::Csv) };
        let target = Target::Classes { labels };
        (Table { inputs, values, target, weights: None, schema, division: Division::Free }, class)
    }

    fn stumps(table: &Table, features: u16) -> FeatureMap {
        let axis = Axis { log: false, offset: -1.0, scale: 0.7 };
        let normaliser = Normaliser { period: 1, axes: vec![axis; table.inputs] };
        let rows: Vec<usize> = (0..table.rows()).collect();
        let spread = normaliser.spread(table, &rows);
        let (family, law) = (Family::Stump, Law::Gaussian);
        let plan =
            BankPlan { family, law, features, frequency: 1.0, groups: Vec::new(), kept: None };
        FeatureMap::new(&realise(3, &[plan], &normaliser, &spread)).unwrap()
    }

    #[test]
    fn the_fit_is_that_of_all_stumps() {
        // More rows than the first steps look at.
        let (table, class) = table(2 * FIRST_STEPS * BLOCK, 5);
        let rows: Vec<usize> = (0..table.rows()).collect();
        let map = stumps(&table, 23);
        let indicators = Indicators::new(&table).unwrap();
        let fit = indicators.fit(&map, &class, 1e-2).unwrap().unwrap();
        let design = Design::of(&map, &table, &rows).unwrap();
        let labels: Vec<u32> = class.iter().map(|&class| u32::from(class)).collect();
        // λ of the dense solver counts from the variance of the features.
        let logistic = Logistic::new(&design, &labels, 1, None);
        let unit = logistic.unit() / (rows.len() as f64 * f64::from(FEATURE_ONE).powi(2));
        let dense = logistic.solve(1e-2 / unit, None, 1e-9).fit;
        let expected = design.scores(dense.weights.as_ref(), &dense.bias);
        let by_core = design.scores(fit.weights.as_ref(), &fit.bias);
        let scores = indicators.scores(&map, &fit).unwrap();
        for row in 0..rows.len() {
            assert!((scores[row] - by_core[(0, row)]).abs() < 1e-9);
            let (found, expected) = (scores[row], expected[(0, row)]);
            assert!((found - expected).abs() < 2e-3, "{found} {expected}");
        }
    }

    #[test]
    fn moments_are_those_of_the_rows() {
        let (table, _) = table(5000, 4);
        for (input, (mean, variance)) in
            Indicators::new(&table).unwrap().moments().into_iter().enumerate()
        {
            let values = || (0..5000).map(|row| f64::from(table.row(row)[input]));
            let own = values().sum::<f64>() / 5000.0;
            let square = values().map(|x| (x - own).powi(2)).sum::<f64>() / 5000.0;
            assert!((own - mean).abs() < 1e-9 && (square - variance).abs() < 1e-9);
        }
    }

    #[test]
    fn other_values_are_refused() {
        let (table, _) = table(5000, 4);
        let indicators = Indicators::new(&table).unwrap();
        assert!(indicators.like(&table).is_some());
        for row in [10, 4000] {
            let mut third = table.clone();
            third.values[4 * row + 1] = 0.5;
            assert!(Indicators::new(&third).is_none());
            assert!(indicators.like(&third).is_none());
        }
    }
}
