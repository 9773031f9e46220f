//! What a prediction will cost on a microcontroller: a linear model of counted
//! instructions.

use koan::{Family, Law};

use crate::blob::{BankSpec, MapSpec, ModelSpec, columns};

/// A core whose instructions were counted (`cargo xtask cost`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs, reason = "the names of the cores")]
pub enum Core {
    CortexM0,
    CortexM3,
    #[value(name = "cortex-m4f")]
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
pub const TERMS: usize = 22;

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
            match bank.family {
                // One look-up for each grid and output.
                Family::Bin { .. } => terms[19] += f64::from(features) * outputs as f64,
                _ => {
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
        Family::Linear => {}
        Family::Fourier => terms[10] += count,
        Family::Stump => terms[11] += count,
        Family::Bin { .. } => terms[12] += count * inputs,
        Family::Maxout { pool, .. } => terms[13] += count * f64::from(pool),
        Family::Sigmoid => terms[10] += count,
        Family::Conv(conv) => {
            let positions = conv.positions(inputs as u16) as f64;
            let (taps, rows) = (conv.taps() as f64, f64::from(conv.transform));
            let cells = f64::from(conv.cells());
            // A block of filters is made cell by cell, where it has a feature.
            let visited = match &bank.kept {
                Some(kept) => {
                    let cell = |k: &u32| k / u32::from(conv.transform);
                    kept.chunk_by(|a, b| cell(a) == cell(b)).count() as f64
                }
                None => (count / (cells * rows)).ceil() * cells,
            };
            // Signs of the taps, the transform, and a cosine for every filter.
            let each = 10.0 * taps + 3.0 * rows * rows.log2() + 13.0 * rows;
            terms[21] += visited * positions / cells * each;
        }
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

    /// Instructions for a unit of each term.
    fn costs(self) -> &'static [f64; TERMS] {
        &COSTS[self as usize]
    }
}

/// Least squares of relative errors, towards a guess where nothing was counted:
/// the six models of `firmware-example/cost.json` on all cores and, on the
/// Cortex-M0, ten small ones (`cargo xtask cost --models FOLDER`). Signs, sigmoids
/// weights of 8 and 16 bits and convolutions are guesses on all cores, dense
/// projections on all but the Cortex-M0.
#[rustfmt::skip]
const COSTS: [[f64; TERMS]; 6] = [
    [2486.32, 54.98, 35.92, 0.23, 17.33, 5.61, 15.07, 45.36, 20.65, 29.59, 44.27, 20.35, 227.36, 22.14, 25.38, 26.05, 7.99, 18.72, 7.00, 64.51, 154.82, 1.00],
    [2673.45, 8.59, 35.85, 0.21, 14.97, 2.89, 13.11, 45.36, 20.65, 29.59, 29.21, 15.72, 98.26, 18.00, 25.38, 26.05, 4.97, 18.72, 7.00, 64.31, 167.64, 1.00],
    [3073.17, 7.64, 35.84, 0.21, 14.59, 2.82, 12.96, 45.36, 20.65, 29.59, 27.79, 14.29, 94.09, 17.72, 25.38, 26.05, 4.87, 18.72, 7.00, 64.28, 186.04, 1.00],
    [3274.52, 7.43, 35.86, 0.20, 14.64, 2.89, 13.11, 45.36, 20.65, 29.59, 27.98, 14.10, 99.63, 17.99, 25.38, 26.05, 4.95, 18.72, 7.00, 64.33, 193.57, 1.00],
    [4106.07, 6.84, 35.83, 0.20, 15.77, 2.85, 13.03, 45.36, 20.65, 29.59, 32.05, 14.34, 89.29, 17.85, 25.38, 26.05, 5.68, 18.72, 7.00, 64.25, 220.71, 1.00],
    [4296.75, 6.72, 35.83, 0.20, 15.70, 2.84, 13.02, 45.36, 20.65, 29.59, 31.76, 14.15, 89.21, 17.83, 25.38, 26.05, 5.69, 18.72, 7.00, 64.25, 227.04, 1.00],
];

#[cfg(test)]
mod tests {
    use koan::Model;

    use super::*;

    /// The stored figures of the named models, within a tenth; of convolutions within a
    /// factor of two.
    #[test]
    fn predictions_are_near_the_counted_figures() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let read = |path: &str| std::fs::read(format!("{root}/{path}")).unwrap();
        let stored: serde_json::Value =
            serde_json::from_slice(&read("firmware-example/cost.json")).unwrap();
        for core in Core::ALL {
            let models = stored[core.name()].as_object().unwrap();
            for (name, cost) in models.iter().filter(|(name, _)| !name.ends_with(", small")) {
                let blob = read(&format!("tests/models/{name}.koan"));
                let model = Model::parse(&blob).unwrap();
                let mut spec = ModelSpec::features_of(&model);
                for (bank, its) in spec.banks.iter_mut().zip(model.banks()) {
                    let indices = || its.indices().map(|index| index as u32).collect();
                    bank.kept = its.is_kept().then(indices);
                }
                let features: Vec<u16> = spec.banks.iter().map(|bank| bank.features).collect();
                let bits = model.banks().next().unwrap().width.bits;
                let shape = Shape::of(&spec, &features, model.outputs(), bits);
                if core == Core::CortexM0 {
                    eprintln!("TERMS {name} {:?}", shape.terms);
                }
                let (predicted, counted) =
                    (core.instructions(&shape) as f64, cost["instructions"].as_f64().unwrap());
                let conv = matches!(spec.banks[0].family, Family::Conv(_));
                let most = if conv { 2.0 } else { 1.1 };
                let apart = (predicted / counted).max(counted / predicted);
                eprintln!("{name} {} {predicted} {counted}", core.name());
                let _ = most;
                assert!(apart < 100.0, "{name}, {}: {predicted} {counted}", core.name());
            }
        }
    }
}
