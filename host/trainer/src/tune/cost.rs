//! What a prediction will cost on a microcontroller: a linear model of counted
//! instructions.

use koan::{Conv, Family, Law, Model};

use crate::blob::{BankSpec, MapSpec, ModelSpec, columns};

/// A core whose instructions were counted (`cargo xtask cost`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the cores")]
pub enum Core {
    CortexM0,
    CortexM3,
    CortexM4F,
    CortexM33,
    Rv32imc,
    Rv32imac,
}

/// What of a model the count depends on.
#[derive(Clone, Debug)]
pub struct Shape {
    terms: [f64; TERMS],
}

/// Number of terms.
pub const TERMS: usize = 29;

impl Shape {
    /// The shape of the model of `spec` whose banks have so many features, with
    /// weights of so many bits for each output.
    #[must_use]
    pub fn of(spec: &ModelSpec, features: &[u16], outputs: usize, bits: u8) -> Self {
        let inputs = f64::from(spec.inputs);
        let mut terms = [0.0; TERMS];
        terms[0] = 1.0;
        terms[if matches!(spec.maps, MapSpec::Shared(_)) { 1 } else { 2 }] = inputs;
        for (bank, &features) in spec.banks.iter().zip(features) {
            add_bank(&mut terms, bank, features, inputs);
            let products = (columns(bank.family, features) * outputs) as f64;
            match bank.family.slot_bits() {
                // One look-up for each grid or fern, and output.
                Some(_) => terms[19] += f64::from(features) * outputs as f64,
                None => {
                    let place = match bits {
                        2 => 14,
                        3 => 15,
                        4 => 16,
                        8 => 17,
                        _ => 18,
                    };
                    terms[place] += products;
                }
            }
            terms[20] += outputs as f64;
        }
        Self { terms }
    }

    /// The terms of the linear model.
    #[must_use]
    pub fn terms(&self) -> &[f64; TERMS] {
        &self.terms
    }
}

/// Adds what making the features of a bank takes.
fn add_bank(terms: &mut [f64; TERMS], bank: &BankSpec, features: u16, inputs: f64) {
    let count = f64::from(features);
    let projections = match bank.family {
        Family::Maxout { shared: 0, pool } => count * f64::from(pool),
        Family::Maxout { shared, .. } => f64::from(shared),
        _ => count,
    };
    let mixes = matches!(bank.family, Family::Fourier | Family::Maxout { .. } | Family::Sigmoid);
    if mixes && bank.law == Law::Hadamard {
        let length = (inputs.max(8.0)).log2().ceil().exp2();
        let blocks = match &bank.kept {
            // Those that a kept feature has a projection of.
            Some(kept) => {
                let each = projections / count;
                let block = |&k: &u32| (f64::from(k) * each / length) as u64;
                kept.chunk_by(|a, b| block(a) == block(b)).count() as f64 * each.max(1.0)
            }
            None => (projections / length).ceil(),
        };
        let narrow = matches!(bank.family, Family::Fourier);
        terms[if narrow { 3 } else { 5 }] += blocks * length * length.log2();
        terms[if narrow { 4 } else { 6 }] += blocks * length;
    } else if mixes && bank.law == Law::Sign {
        terms[8] += projections * inputs;
        terms[9] += projections;
    } else if mixes {
        // Also groups, whose laws are all of them dense.
        terms[7] += projections * inputs;
        terms[9] += projections;
    }
    match bank.family {
        Family::Fourier => terms[10] += count,
        Family::Stump => terms[11] += count,
        Family::Bin { .. } => terms[12] += count * inputs,
        Family::Fern { depth } => {
            terms[25] += count;
            terms[26] += count * f64::from(depth);
        }
        Family::Maxout { pool, .. } => terms[13] += count * f64::from(pool),
        Family::Sigmoid => terms[10] += count,
        Family::Conv(conv) => {
            let visits = Visits::of(conv, bank.kept.as_deref(), features, inputs as u16);
            let rows = f64::from(conv.transform);
            // A cosine for every filter and position; sums of a cell are scaled.
            terms[21] += visits.positions * rows;
            if conv.taps() > usize::from(conv.transform) {
                terms[22] += visits.positions * conv.taps() as f64;
            }
            terms[23] += visits.transforms;
            terms[24] += visits.cells * rows;
        }
        Family::Series(series) => {
            let blocks = match &bank.kept {
                Some(kept) => kept.chunk_by(|a, b| a / 8 == b / 8).count(),
                None => usize::from(features).div_ceil(8),
            };
            let positions = (blocks * series.length(inputs as u16)) as f64;
            terms[27] += positions;
            terms[28] += positions * f64::from(series.kernel);
        }
        // The inputs themselves.
        _ => {}
    }
}

/// What a bank of convolutions goes through.
#[derive(Default)]
struct Visits {
    /// Cells of blocks of filters.
    cells: f64,
    /// Positions in them.
    positions: f64,
    /// Transforms: one for two positions beside each other where a window is not folded.
    transforms: f64,
}

impl Visits {
    /// Those of the features `kept`, or of the first `features` if there is no list.
    fn of(conv: Conv, kept: Option<&[u32]>, features: u16, inputs: u16) -> Self {
        let (rows, cells) = (u32::from(conv.transform), u32::from(conv.cells()).max(1));
        let all: Vec<u32>;
        let kept = match kept {
            Some(kept) => kept,
            None => {
                all = (0..u32::from(features)).collect();
                &all
            }
        };
        let axis = |length: usize, dilation: usize| {
            let reach = usize::from(conv.kernel - 1) * dilation;
            let positions = length.saturating_sub(reach).div_ceil(usize::from(conv.stride));
            let grid = usize::from(conv.grid);
            let start = move |cell: usize| (cell * positions).div_ceil(grid);
            (0..grid).map(|cell| start(cell + 1) - start(cell)).collect::<Vec<usize>>()
        };
        let places = |dilation: usize| {
            let lines = if conv.height == 1 { vec![1] } else { axis(conv.height.into(), dilation) };
            (lines, axis(conv.width(inputs), dilation))
        };
        let mut by_dilation = vec![places(1)];
        while conv.dilated && by_dilation.len() < 16 {
            let next = places(1 << by_dilation.len());
            if next.1.contains(&0) || next.0.contains(&0) {
                break;
            }
            by_dilation.push(next);
        }
        let paired = conv.taps() <= usize::from(conv.transform);
        let mut visits = Self::default();
        // Of each filter there is one feature in each cell: whole blocks, cell by cell.
        for group in kept.chunk_by(|a, b| a / rows == b / rows) {
            let place = group[0] / rows;
            let (lines, columns) = &by_dilation[(place / cells) as usize % by_dilation.len()];
            let cell = (place % cells) as usize;
            let line = lines[cell / columns.len() % lines.len()] as f64;
            let column = columns[cell % columns.len()];
            visits.cells += 1.0;
            visits.positions += line * column as f64;
            visits.transforms += line * if paired { column.div_ceil(2) } else { column } as f64;
        }
        visits
    }
}

impl Core {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::CortexM0,
        Self::CortexM3,
        Self::CortexM4F,
        Self::CortexM33,
        Self::Rv32imc,
        Self::Rv32imac,
    ];

    /// The name, as tables have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CortexM0 => "Cortex-M0",
            Self::CortexM3 => "Cortex-M3",
            Self::CortexM4F => "Cortex-M4F",
            Self::CortexM33 => "Cortex-M33",
            Self::Rv32imc => "RV32IMC",
            Self::Rv32imac => "RV32IMAC",
        }
    }

    /// Predicted instructions of one prediction from a row of integers.
    #[must_use]
    pub fn instructions(self, shape: &Shape) -> u64 {
        let costs = self.costs();
        shape.terms.iter().zip(costs).map(|(term, cost)| term * cost).sum::<f64>().round() as u64
    }

    /// Predicted instructions of one prediction of a finished model from a row of integers.
    #[must_use]
    pub fn instructions_of(self, model: &Model<'_>) -> u64 {
        let mut spec = ModelSpec::features_of(model);
        for (bank, its) in spec.banks.iter_mut().zip(model.banks()) {
            let indices = || its.indices().map(|index| index as u32).collect();
            bank.kept = its.is_kept().then(indices);
        }
        let features: Vec<u16> = spec.banks.iter().map(|bank| bank.features).collect();
        let bits = model.banks().next().map_or(8, |bank| bank.width().bits());
        self.instructions(&Shape::of(&spec, &features, model.outputs(), bits))
    }

    /// Instructions for a unit of each term.
    fn costs(self) -> &'static [f64; TERMS] {
        &COSTS[self as usize]
    }
}

/// Least squares of relative errors, towards a guess where nothing was counted: the models
/// of `firmware-example/cost.json`, and small ones of other families, projections and bits
/// (`cargo xtask cost --models FILE`). Ferns: 60 of them, with one and with four comparisons.
/// Series were not counted: the last two are estimates, the same for all cores.
#[rustfmt::skip]
const COSTS: [[f64; TERMS]; 6] = [
    [3985.12, 115.63, 10.78, 0.15, 1.73, 1.67, 68.63, 37.92, 23.27, 31.30, 11.04, 15.94, 166.39, 6.63, 4.41, 32.14, 5.03, 7.06, 14.62, 19.35, 17.88, 27.98, 70.00, 0.00, 92.59, 348.00, 31.50, 130.00, 22.00],
    [2037.59, 69.30, 10.76, 0.15, 1.72, 0.85, 37.84, 17.23, 11.57, 27.61, 9.62, 13.88, 82.47, 5.34, 2.81, 47.99, 3.10, 6.90, 12.95, 19.29, 17.81, 18.59, 49.26, 21.33, 77.90, 194.00, 20.80, 130.00, 22.00],
    [1954.29, 63.34, 10.75, 0.15, 1.74, 0.84, 39.38, 18.03, 11.69, 27.72, 11.12, 13.71, 82.98, 5.27, 2.76, 48.47, 3.00, 2.10, 13.66, 19.28, 17.81, 18.53, 50.05, 35.91, 76.98, 193.00, 21.10, 130.00, 22.00],
    [1941.24, 63.71, 10.76, 0.15, 1.74, 0.85, 39.04, 18.15, 11.72, 27.74, 11.03, 13.67, 83.58, 5.34, 2.76, 49.67, 3.01, 2.10, 13.65, 19.30, 17.80, 18.52, 50.05, 35.58, 77.03, 195.00, 21.40, 130.00, 22.00],
    [2141.02, 65.18, 10.75, 0.15, 1.76, 0.84, 41.74, 21.63, 15.03, 28.49, 16.15, 15.40, 84.48, 5.32, 5.01, 61.89, 4.96, 2.10, 14.98, 19.27, 17.95, 23.19, 45.75, 0.00, 80.80, 233.00, 29.40, 130.00, 22.00],
    [2140.71, 65.19, 10.75, 0.15, 1.76, 0.84, 41.75, 21.63, 15.03, 28.49, 16.15, 15.40, 84.48, 5.31, 5.01, 61.91, 4.96, 2.10, 14.98, 19.27, 17.95, 23.19, 45.75, 0.00, 80.80, 233.00, 29.40, 130.00, 22.00],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The stored figures of the named models in the fast form, within a tenth; of
    /// convolutions within a quarter.
    #[test]
    fn predictions_are_near_the_counted_figures() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let read = |path: &str| std::fs::read(format!("{root}/{path}")).unwrap();
        let stored: serde_json::Value =
            serde_json::from_slice(&read("firmware-example/cost.json")).unwrap();
        for core in Core::ALL {
            let models = stored[core.name()].as_object().unwrap();
            for (name, cost) in models.iter().filter(|(name, _)| !name.ends_with(", small")) {
                let blob = read(&format!("tests/models/{name}.koan"));
                let model = Model::parse(&blob).unwrap();
                let (predicted, counted) =
                    (core.instructions_of(&model) as f64, cost["instructions"].as_f64().unwrap());
                let conv = model.banks().any(|bank| matches!(bank.family(), Family::Conv(_)));
                let most = if conv { 1.25 } else { 1.1 };
                let apart = (predicted / counted).max(counted / predicted);
                assert!(apart < most, "{name}, {}: {predicted} {counted}", core.name());
            }
        }
    }
}
