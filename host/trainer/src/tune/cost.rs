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
pub const TERMS: usize = 34;

impl Shape {
    /// The shape of the model of `spec` whose banks have so many features, with
    /// weights of so many bits for each output.
    #[must_use]
    pub fn of(spec: &ModelSpec, features: &[u16], outputs: usize, bits: u8) -> Self {
        let inputs = f64::from(spec.inputs);
        let mut terms = [0.0; TERMS];
        terms[0] = 1.0;
        terms[if matches!(spec.maps, MapSpec::Shared(_)) { 1 } else { 2 }] = inputs;
        if let MapSpec::PerInput(maps) = &spec.maps {
            terms[29] = maps.iter().filter(|map| map.log()).count() as f64;
        }
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
            if bank.family == Family::Linear {
                terms[32] += products;
            }
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
    if bank.kept.is_some() && !matches!(bank.family, Family::Fern { .. }) {
        terms[30] += count;
    }
    match bank.family {
        Family::Fourier => terms[10] += count,
        Family::Stump => {
            terms[11] += count;
            // The fewer inputs, the more stumps look at each.
            terms[33] += count / inputs.max(1.0);
        }
        Family::Bin { .. } => terms[12] += count * inputs,
        Family::Fern { depth } => {
            terms[25] += count;
            terms[26] += count * f64::from(depth);
        }
        Family::Maxout { pool, .. } => terms[13] += count * f64::from(pool),
        Family::Sigmoid => {
            terms[10] += count;
            terms[31] += count;
        }
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
        let spec = ModelSpec::features_of(model);
        let features: Vec<u16> = spec.banks.iter().map(|bank| bank.features).collect();
        let bits = model.banks().next().map_or(8, |bank| bank.width().bits());
        self.instructions(&Shape::of(&spec, &features, model.outputs(), bits))
    }

    /// Instructions for a unit of each term.
    fn costs(self) -> &'static [f64; TERMS] {
        &COSTS[self as usize]
    }
}

/// Least squares of relative errors, none below 0: the models of `firmware-example/cost.json`,
/// counted six times, and 121 others of all families, projections, input maps and bits, from 2 to
/// 470 inputs, half of them from searches (`cargo xtask cost --models FILE`). Of the 131 models
/// the prediction of 122 is within a quarter of the count on a Cortex-M0, of 111 within a tenth;
/// it is lowest, with six tenths, for stumps and bins of 2 inputs and for small convolutions.
#[rustfmt::skip]
const COSTS: [[f64; TERMS]; 6] = [
    [3806.02, 15.84, 159.20, 5.41, 0.00, 0.00, 112.85, 35.31, 18.85, 215.19, 0.00, 28.42, 163.86, 0.00, 4.02, 6.69, 4.61, 17.18, 0.00, 100.64, 0.00, 24.18, 0.00, 495.91, 225.05, 320.55, 26.32, 267.54, 51.41, 604.12, 123.15, 87.66, 48.87, 95.33],
    [2045.63, 12.61, 142.05, 3.38, 0.00, 0.00, 63.46, 16.18, 10.62, 82.46, 2.46, 20.43, 79.17, 0.00, 2.57, 2.65, 2.81, 13.72, 0.00, 77.43, 0.00, 14.95, 0.00, 402.86, 152.43, 135.08, 19.68, 232.11, 38.37, 122.71, 106.13, 31.24, 30.39, 75.95],
    [2134.81, 11.81, 134.34, 3.15, 0.00, 0.00, 63.67, 16.08, 10.61, 80.92, 4.25, 19.42, 79.65, 0.00, 2.50, 2.59, 2.72, 13.11, 0.00, 76.62, 0.00, 15.14, 0.00, 380.24, 151.24, 134.02, 20.36, 232.90, 38.61, 124.92, 109.70, 28.77, 30.44, 74.74],
    [2117.15, 12.35, 138.46, 3.17, 0.00, 0.00, 63.55, 16.19, 10.62, 81.85, 3.86, 19.36, 80.18, 0.00, 2.51, 2.61, 2.74, 13.67, 0.00, 77.07, 0.00, 15.16, 0.00, 377.57, 151.45, 134.58, 19.56, 232.89, 38.61, 124.52, 109.20, 29.42, 30.28, 74.88],
    [3157.56, 9.79, 138.04, 3.72, 0.00, 0.00, 66.31, 21.56, 14.18, 87.62, 3.66, 20.65, 79.89, 0.00, 4.81, 4.85, 4.85, 12.78, 0.00, 106.88, 0.00, 19.24, 0.00, 417.66, 147.14, 134.77, 26.98, 199.46, 32.37, 228.88, 108.10, 26.87, 40.94, 57.46],
    [3157.56, 9.79, 138.04, 3.72, 0.00, 0.00, 66.31, 21.56, 14.18, 87.62, 3.66, 20.65, 79.89, 0.00, 4.81, 4.85, 4.85, 12.78, 0.00, 106.88, 0.00, 19.24, 0.00, 417.66, 147.14, 134.77, 26.98, 199.46, 32.37, 228.88, 108.10, 26.87, 40.94, 57.46],
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
