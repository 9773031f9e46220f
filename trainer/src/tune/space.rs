//! What is searched: ways to make features, each a set of [`TrainOptions`] whose
//! number of features, bits and λ are still open.

use koan::Law;

use crate::normalise::{Kind, Normaliser};
use crate::problem::Problem;
use crate::select::MAPPED_INPUTS;
use crate::{FamilyName, TrainOptions};

/// Inputs up to which dense projections are candidates beside the transform.
const DENSE_INPUTS: usize = 128;
/// Inputs from which the transform is a candidate.
const HADAMARD_INPUTS: usize = 8;
/// Inputs up to which grids over all of them are.
const BIN_INPUTS: usize = 160;

/// The families that are searched. Not convolutions: their features come in whole
/// filters, and a search over shapes, kernels and grids would be another one.
pub const FAMILIES: [FamilyName; 6] = [
    FamilyName::Fourier,
    FamilyName::Stump,
    FamilyName::Bin,
    FamilyName::Maxout,
    FamilyName::Sigmoid,
    FamilyName::Linear,
];

/// The options that a search starts from, and which families it may choose.
#[derive(Clone, Debug)]
pub struct Space {
    /// What is the same for all candidates: seed, class weights, golden rows.
    pub base: TrainOptions,
    /// Families to choose from.
    pub families: Vec<FamilyName>,
    /// Only the usual laws and few bandwidths, for a search of seconds; training
    /// then chooses bandwidth, λ and relevance itself.
    pub short: bool,
}

/// One family's ways to make features, before the input map is known.
struct Shape {
    family: FamilyName,
    law: Law,
    bandwidths: &'static [f64],
    pool: u8,
    slot_bits: u8,
    linear: bool,
}

impl Space {
    /// The first candidates: every family with its laws and a coarse grid of
    /// bandwidths, on every input map that suits the data. Simple ones first.
    #[must_use]
    pub fn candidates(&self, problem: &Problem<'_>) -> Vec<TrainOptions> {
        let rows: Vec<usize> = (0..problem.table.rows()).collect();
        let inputs = problem.table.inputs;
        let mut candidates = Vec::new();
        let kinds = self.kinds(problem, &rows);
        for &kind in &kinds {
            for shape in self.shapes(inputs) {
                for &bandwidth in shape.bandwidths {
                    candidates.push(self.candidate(&shape, kind, bandwidth, false));
                }
            }
        }
        if self.short {
            return candidates;
        }
        // Learned scales want other bandwidths: they are candidates of their own,
        // on the richest map only, since learning takes long.
        let richest =
            candidates.iter().rev().filter(|c| Some(c.map) == kinds.last().map(|k| Some(*k)));
        let learned: Vec<TrainOptions> = richest
            .filter(|options| !matches!(options.families[..], [FamilyName::Bin]))
            .filter_map(|options| {
                let learned = self.with_relevance(options, inputs)?;
                self.with_bandwidth(&learned, 2.0).or(Some(learned))
            })
            .collect();
        candidates.extend(learned);
        candidates
    }

    /// The same way with learned scales of the inputs, if that makes sense: the
    /// family cares for distances, and there is a place for the scales.
    #[must_use]
    pub fn with_relevance(&self, options: &TrainOptions, inputs: usize) -> Option<TrainOptions> {
        let [family] = options.families.as_slice() else { return None };
        let cares = !matches!(family, FamilyName::Stump | FamilyName::Linear);
        let place = options.map.is_some_and(|kind| kind != Kind::Shared);
        let open = self.base.relevance.is_none() && options.relevance == Some(false);
        (cares && place && open && inputs > 1)
            .then(|| TrainOptions { relevance: Some(true), ..options.clone() })
    }

    /// The same way with the inputs themselves as a second bank.
    #[must_use]
    pub fn with_linear(&self, options: &TrainOptions) -> Option<TrainOptions> {
        let linear = options.linear
            || options.families.contains(&FamilyName::Linear)
            || !self.families.contains(&FamilyName::Linear);
        (!linear).then(|| TrainOptions { linear: true, ..options.clone() })
    }

    /// The same way with a bandwidth that is `factor` times as large; none where
    /// it is given or means nothing.
    #[must_use]
    pub fn with_bandwidth(&self, options: &TrainOptions, factor: f64) -> Option<TrainOptions> {
        let means =
            !matches!(options.families.as_slice(), [FamilyName::Linear | FamilyName::Maxout]);
        if !means || self.base.bandwidth.is_some() {
            return None;
        }
        // Three digits are enough, and what a user wants to read.
        let round = |b: f64| (b * factor * 1e3).round() / 1e3;
        let bandwidth = options.bandwidth.as_ref()?.iter().map(|&b| round(b)).collect();
        Some(TrainOptions { bandwidth: Some(bandwidth), ..options.clone() })
    }

    fn candidate(
        &self,
        shape: &Shape,
        kind: Kind,
        bandwidth: f64,
        relevance: bool,
    ) -> TrainOptions {
        let base = &self.base;
        TrainOptions {
            families: vec![shape.family],
            projection: Some(base.projection.unwrap_or(shape.law)),
            bandwidth: Some(base.bandwidth.clone().unwrap_or_else(|| vec![bandwidth])),
            map: Some(kind),
            relevance: Some(base.relevance.unwrap_or(relevance)),
            pool: shape.pool,
            slot_bits: shape.slot_bits,
            linear: shape.linear,
            ..base.clone()
        }
    }

    fn kinds(&self, problem: &Problem<'_>, rows: &[usize]) -> Vec<Kind> {
        if let Some(kind) = self.base.map {
            return vec![kind];
        }
        let mut kinds = vec![Kind::Shared];
        if !self.short && problem.table.inputs > 1 && problem.table.inputs <= MAPPED_INPUTS {
            kinds.push(Kind::PerInput);
        }
        if problem.table.inputs <= MAPPED_INPUTS {
            let logged = Normaliser::fit(problem.table, rows, Kind::PerInputLog);
            if logged.logged_inputs() > 0 {
                kinds.push(Kind::PerInputLog);
            } else if self.short && problem.table.inputs > 1 {
                kinds.push(Kind::PerInput);
            }
        }
        kinds
    }

    /// The ways to make features of so many inputs.
    fn shapes(&self, inputs: usize) -> Vec<Shape> {
        use FamilyName::{Bin, Fourier, Linear, Maxout, Sigmoid, Stump};
        let base = &self.base;
        let mut shapes = Vec::new();
        let mut add = |family, law, bandwidths: &'static [f64], pool, slot_bits| {
            let wanted = self.families.contains(&family)
                && base.projection.is_none_or(|given| family == Linear || given == law);
            if wanted {
                let given = base.bandwidth.is_some();
                let bandwidths = if given { &bandwidths[..1] } else { bandwidths };
                let linear = base.linear && family != Linear;
                shapes.push(Shape { family, law, bandwidths, pool, slot_bits, linear });
            }
        };
        if self.short {
            let mixing = if inputs >= 16 { Law::Hadamard } else { Law::Gaussian };
            add(Linear, Law::None, &[1.0], base.pool, base.slot_bits);
            add(Fourier, mixing, &[0.5, 1.2], base.pool, base.slot_bits);
            add(Sigmoid, mixing, &[0.5, 1.2], base.pool, base.slot_bits);
            add(Maxout, mixing, &[1.0], base.pool, base.slot_bits);
            add(Stump, Law::Uniform, &[0.8], base.pool, base.slot_bits);
            if inputs <= BIN_INPUTS {
                add(Bin, Law::Gamma2, &[1.0, 4.0], base.pool, 5);
            }
            return shapes;
        }
        let smooth: &[f64] = &[0.35, 0.7, 1.4, 2.8];
        let (pool, slots) = (base.pool, base.slot_bits);
        add(Linear, Law::None, &[1.0], pool, slots);
        if inputs >= HADAMARD_INPUTS {
            add(Fourier, Law::Hadamard, smooth, pool, slots);
            add(Sigmoid, Law::Hadamard, smooth, pool, slots);
            for pool in [2, 4] {
                add(Maxout, Law::Hadamard, &[1.0], pool, slots);
            }
        }
        if inputs <= DENSE_INPUTS {
            add(Fourier, Law::Gaussian, smooth, pool, slots);
            add(Fourier, Law::Cauchy, &[0.35, 1.0, 2.8], pool, slots);
            add(Sigmoid, Law::Gaussian, smooth, pool, slots);
            add(Maxout, Law::Gaussian, &[1.0], 4, slots);
        }
        add(Stump, Law::Normal, &[0.7, 1.4], pool, slots);
        add(Stump, Law::Uniform, &[0.7, 1.0], pool, slots);
        if inputs <= BIN_INPUTS {
            for slots in [4, 6] {
                add(Bin, Law::Gamma2, &[0.7, 2.8, 11.0], pool, slots);
            }
        }
        shapes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;

    #[test]
    fn all_candidates_are_trainable_and_different() {
        let table = digits::table();
        let problem = Problem::new(&table, false);
        let space =
            Space { base: TrainOptions::default(), families: FAMILIES.to_vec(), short: false };
        let candidates = space.candidates(&problem);
        for (index, candidate) in candidates.iter().enumerate() {
            assert!(candidate.banks(&table.schema).is_ok(), "{candidate:?}");
            assert!(!candidates[..index].contains(candidate), "{candidate:?}");
        }
        for family in FAMILIES {
            assert!(candidates.iter().any(|candidate| candidate.families == [family]));
        }
    }

    #[test]
    fn what_is_given_is_not_searched() {
        let table = digits::table();
        let problem = Problem::new(&table, false);
        let base = TrainOptions {
            map: Some(Kind::Shared),
            projection: Some(Law::Hadamard),
            bandwidth: Some(vec![0.9]),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let space = Space { base: base.clone(), families: vec![FamilyName::Fourier], short: false };
        let candidates = space.candidates(&problem);
        assert_eq!(candidates.len(), 1);
        assert_eq!(candidates[0].bandwidth, base.bandwidth);
        assert_eq!(space.with_bandwidth(&candidates[0], 2.0), None);
        assert_eq!(space.with_relevance(&candidates[0], 64), None);
    }
}
