//! What is searched: ways to make features, each a set of [`TrainOptions`] whose
//! number of features, bits and λ are still open.

use koan::{Law, Series};

use super::likeness;
use crate::map_choice;
use crate::normalise::Kind;
use crate::problem::Problem;
use crate::series;
use crate::{ConvOptions, Error, FamilyName, TrainOptions};
use koan_data::{Shape, Table};

/// Inputs up to which dense projections are candidates beside the transform.
const DENSE_INPUTS: usize = 128;
/// Frequencies beyond which nothing is new.
const SENSIBLE: std::ops::RangeInclusive<f64> = 0.01..=100.0;
/// Inputs from which the transform is a candidate.
const HADAMARD_INPUTS: usize = 8;
/// Inputs up to which grids over all of them are.
const BIN_INPUTS: usize = 160;

/// Rows of series below which the family series is not compared with others: on few held-out
/// rows chance would make a wrong one the best too often.
const FEW_SERIES: usize = 1000;

/// The families that are searched: convolutions where rows have a shape, or may be
/// images.
pub const FAMILIES: [FamilyName; 9] = [
    FamilyName::Fourier,
    FamilyName::Stump,
    FamilyName::Bin,
    FamilyName::Maxout,
    FamilyName::Sigmoid,
    FamilyName::Conv,
    FamilyName::Fern,
    FamilyName::Series,
    FamilyName::Linear,
];

/// The options that a search starts from, and which families it may choose.
#[derive(Clone, Debug)]
pub struct Space {
    /// What is the same for all candidates: seed, class weights, golden rows.
    pub base: TrainOptions,
    /// Families to choose from.
    pub families: Vec<FamilyName>,
}

/// What a row is, where that is known; columns whose neighbours are alike may be the pixels of
/// a square image, or a series.
pub(super) fn shape_of(options: &TrainOptions, table: &Table) -> Option<Shape> {
    options.conv.shape.or_else(|| table.schema.shape()).or_else(|| likeness::guess(table))
}

/// One family's ways to make features, before the input map is known.
struct Way {
    family: FamilyName,
    law: Law,
    frequencies: &'static [f64],
    pool: u8,
    slot_bits: u8,
    conv: ConvOptions,
    series: Option<Series>,
    linear: bool,
}

impl Space {
    /// The same for a table: of few rows that are series only the family series; where
    /// instructions are `limited`, convolutions as well, which take less of them.
    #[must_use]
    pub(super) fn of(&self, table: &Table, limited: bool) -> Self {
        let mut space = self.clone();
        let open = FAMILIES.iter().all(|family| self.families.contains(family));
        if open && table.rows() < FEW_SERIES && self.series(table).is_some() {
            space.families = vec![FamilyName::Series];
            if limited {
                space.families.push(FamilyName::Conv);
            }
        }
        space
    }

    /// The first candidates: every family with its laws and a coarse grid of
    /// frequencies, on every input map that suits the data. Simple ones first.
    #[must_use]
    pub fn candidates(&self, problem: &Problem<'_>) -> Vec<TrainOptions> {
        let rows: Vec<usize> = (0..problem.table.rows()).collect();
        let inputs = problem.table.inputs;
        let mut candidates = Vec::new();
        let kinds = self.kinds(problem, &rows);
        for &kind in &kinds {
            for way in self.ways(problem.table) {
                // Filters see all pixels alike.
                let alike = matches!(way.family, FamilyName::Conv | FamilyName::Series);
                if alike && kind != kinds[0] {
                    continue;
                }
                for &frequency in way.frequencies {
                    candidates.push(self.candidate(&way, kind, frequency, false));
                }
            }
        }
        // Learned scales want other frequencies: they are candidates of their own,
        // on the richest map only, since learning takes long.
        let richest =
            candidates.iter().rev().filter(|c| Some(c.map) == kinds.last().map(|k| Some(*k)));
        let learned: Vec<TrainOptions> = richest
            .filter(|options| !matches!(options.families[..], [FamilyName::Bin]))
            .filter_map(|options| {
                let learned = self.with_relevance(options, inputs)?;
                self.with_frequency(&learned, 2.0).or(Some(learned))
            })
            .collect();
        candidates.extend(learned);
        candidates
    }

    /// The same way with learned scales of the inputs, if that makes sense: the
    /// family cares for distances, and inputs have lines or gains of their own: a shared line gets
    /// scales only where that is asked for.
    #[must_use]
    pub fn with_relevance(&self, options: &TrainOptions, inputs: usize) -> Option<TrainOptions> {
        let [family] = options.families.as_slice() else { return None };
        let cares = !matches!(
            family,
            FamilyName::Stump
                | FamilyName::Fern
                | FamilyName::Conv
                | FamilyName::Series
                | FamilyName::Linear
        );
        let mapped = options.map.is_some_and(Kind::is_of_each_input);
        let open = self.base.relevance.is_none() && options.relevance == Some(false);
        (cares && mapped && open && inputs > 1)
            .then(|| TrainOptions { relevance: Some(true), ..options.clone() })
    }

    /// The same way with the inputs themselves as a second bank.
    #[must_use]
    pub fn with_linear(&self, options: &TrainOptions) -> Option<TrainOptions> {
        let linear = options.linear
            || options.families.contains(&FamilyName::Linear)
            || options.families.contains(&FamilyName::Fern)
            || options.families.contains(&FamilyName::Series)
            || !self.families.contains(&FamilyName::Linear);
        (!linear).then(|| TrainOptions { linear: true, ..options.clone() })
    }

    /// The same way with a frequency that is `factor` times as large; none where
    /// it is given, means nothing, or leaves what makes sense.
    #[must_use]
    pub fn with_frequency(&self, options: &TrainOptions, factor: f64) -> Option<TrainOptions> {
        // Gains of series are measured.
        let means = !matches!(
            options.families.as_slice(),
            [FamilyName::Linear | FamilyName::Maxout | FamilyName::Series]
        );
        if !means || self.base.frequency.is_some() {
            return None;
        }
        // Three digits are enough, and what a user wants to read.
        let round = |b: f64| (b * factor * 1e3).round() / 1e3;
        let frequency: Vec<f64> = options.frequency.as_ref()?.iter().map(|&b| round(b)).collect();
        if !frequency.iter().all(|frequency| SENSIBLE.contains(frequency)) {
            return None;
        }
        Some(TrainOptions { frequency: Some(frequency), ..options.clone() })
    }

    /// Why there are no candidates: of the families that are given none goes with the table and
    /// the other options.
    #[must_use]
    pub(super) fn why_empty(&self, table: &Table) -> Error {
        let of =
            |&family: &FamilyName| TrainOptions { families: vec![family], ..self.base.clone() };
        let refused = self.families.iter().find_map(|name| of(name).banks(&table.schema).err());
        refused.unwrap_or_else(|| {
            let message = "no family goes with the other options: ferns have no linear term in a \
                           search, and bins and linear models no candidates";
            Error::parameter("families", message)
        })
    }

    fn candidate(&self, way: &Way, kind: Kind, frequency: f64, relevance: bool) -> TrainOptions {
        let base = &self.base;
        TrainOptions {
            families: vec![way.family],
            projection: Some(base.projection.unwrap_or(way.law)),
            frequency: Some(base.frequency.clone().unwrap_or_else(|| vec![frequency])),
            map: Some(kind),
            relevance: Some(base.relevance.unwrap_or(relevance)),
            pool: way.pool,
            slot_bits: way.slot_bits,
            conv: way.conv,
            series: way.series,
            linear: way.linear,
            ..base.clone()
        }
    }

    pub(super) fn kinds(&self, problem: &Problem<'_>, rows: &[usize]) -> Vec<Kind> {
        if let Some(kind) = self.base.map {
            return vec![kind];
        }
        map_choice::kinds(problem.table, rows)
    }

    /// The ways to make features of the inputs of a table.
    fn ways(&self, table: &Table) -> Vec<Way> {
        use FamilyName::{Bin, Fourier, Linear, Maxout, Sigmoid, Stump};
        let base = &self.base;
        let inputs = table.inputs;
        let mut ways = self.convolutions(table);
        ways.extend(self.series(table));
        let mut add = |family, law, frequencies: &'static [f64], pool, slot_bits| {
            // Features are kept one by one; cells of bins are not, and inputs are all there are.
            let kept = base.candidates.is_none() || !matches!(family, Bin | Linear);
            let wanted = kept
                && self.families.contains(&family)
                && base.projection.is_none_or(|given| family == Linear || given == law);
            if wanted {
                let given = base.frequency.is_some();
                let frequencies = if given { &frequencies[..1] } else { frequencies };
                let linear = base.linear && family != Linear;
                let conv = base.conv;
                let series = None;
                ways.push(Way { family, law, frequencies, pool, slot_bits, conv, series, linear });
            }
        };
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
        add(Stump, Law::Gaussian, &[0.7, 1.4], pool, slots);
        add(Stump, Law::Uniform, &[0.7, 1.0], pool, slots);
        if inputs <= BIN_INPUTS {
            for slots in [4, 6] {
                add(Bin, Law::Gamma2, &[0.7, 2.8, 11.0], pool, slots);
            }
        }
        ways
    }

    /// Convolutions with some kernels over rows whose shape is known or guessed.
    fn convolutions(&self, table: &Table) -> Vec<Way> {
        let base = &self.base;
        let wanted = self.families.contains(&FamilyName::Conv);
        let law = base.projection.is_none_or(|given| given == Law::Hadamard);
        let Some(shape) = shape_of(base, table).filter(|_| wanted && law) else {
            return Vec::new();
        };
        let kernels: &[Option<u8>] = match base.conv.kernel {
            Some(_) => &[None],
            None if shape.height == 1 => &[Some(5), Some(9), Some(17)],
            None => &[Some(3), Some(5), Some(7)],
        };
        let frequencies: &[f64] = if base.frequency.is_some() { &[1.0] } else { &[0.3, 0.6, 1.2] };
        let of_kernel = |kernel: &Option<u8>| {
            let kernel = kernel.or(base.conv.kernel);
            let conv = ConvOptions { shape: Some(shape), kernel, ..base.conv };
            conv.family(&table.schema).is_ok().then_some(Way {
                family: FamilyName::Conv,
                law: Law::Hadamard,
                frequencies,
                pool: base.pool,
                slot_bits: base.slot_bits,
                conv,
                series: None,
                linear: base.linear,
            })
        };
        kernels.iter().filter_map(of_kernel).collect()
    }

    /// Filters over rows that are series, or may be.
    fn series(&self, table: &Table) -> Option<Way> {
        let base = &self.base;
        let wanted = self.families.contains(&FamilyName::Series)
            && base.projection.is_none_or(|given| given == Law::Hadamard);
        let conv = ConvOptions { shape: shape_of(base, table), ..base.conv };
        // A row of no shape, or of another one, is no series.
        let series = series::family(&conv, &table.schema).ok().filter(|_| wanted)?;
        Some(Way {
            family: FamilyName::Series,
            law: Law::Hadamard,
            frequencies: &[1.0],
            pool: base.pool,
            slot_bits: base.slot_bits,
            conv,
            series: Some(series::measured(series, table, base.map)),
            linear: base.linear,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::digits;

    #[test]
    fn all_candidates_are_trainable_and_different() {
        let table = digits::table();
        let problem = Problem::new(&table, false);
        let space = Space { base: TrainOptions::default(), families: FAMILIES.to_vec() };
        let candidates = space.candidates(&problem);
        for (index, candidate) in candidates.iter().enumerate() {
            assert!(candidate.banks(&table.schema).is_ok(), "{candidate:?}");
            assert!(!candidates[..index].contains(candidate), "{candidate:?}");
        }
        // Images are no series.
        for family in FAMILIES.into_iter().filter(|&family| family != FamilyName::Series) {
            let ferns = space.ferns(&problem);
            let mut all = candidates.iter().chain(&ferns);
            assert!(all.any(|candidate| candidate.families == [family]));
        }
    }

    #[test]
    fn what_is_given_is_not_searched() {
        let table = digits::table();
        let problem = Problem::new(&table, false);
        let base = TrainOptions {
            map: Some(Kind::Shared),
            projection: Some(Law::Hadamard),
            frequency: Some(vec![0.9]),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let space = Space { base: base.clone(), families: vec![FamilyName::Fourier] };
        let candidates = space.candidates(&problem);
        assert_eq!(candidates.len(), 1);
        assert_eq!(candidates[0].frequency, base.frequency);
        assert_eq!(space.with_frequency(&candidates[0], 2.0), None);
        let open = Space { base: TrainOptions { frequency: None, ..base }, ..space.clone() };
        assert!(open.with_frequency(&candidates[0], 2.0).is_some());
        assert_eq!(open.with_frequency(&candidates[0], 1e3), None, "nothing is new there");
        assert_eq!(space.with_relevance(&candidates[0], 64), None);
    }
}
