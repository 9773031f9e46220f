//! What a program in C takes of a microcontroller: sums of the parts that a model needs.

use koan::{Model, Needs};

use crate::c;

/// About what predictions take in a program with the files of [`crate::Language::C`], compiled by
/// `gcc -Os` for a Cortex-M0. All are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CSize {
    /// Code and constants beside the model, in flash; the self test takes some 800 more.
    pub code: usize,
    /// What the header's macro of memory declares, in RAM; this is exact.
    pub memory: usize,
    /// The deepest stack of a prediction; that of the self test is some 140 deeper.
    pub stack: usize,
}

/// A part of the runtime, and its bytes of code and of stack.
type Part = (Needs, usize, usize);

/// What every program has.
const CODE: usize = 1910;
const STACK: usize = 370;
/// More than one output.
const OUTPUTS: usize = 30;

/// Least squares of relative errors, none below 0, in tens of bytes: the 14 models of
/// `tests/models` and 95 others of all families, projections, input maps and bits. The root mean
/// square of the relative errors is 2.4 % of the code and 7 % of the stack; the largest are 9 and
/// 18 %.
const PARTS: [Part; 18] = [
    (Needs::LINEAR, 190, 20),
    (Needs::FOURIER, 790, 0),
    (Needs::STUMP, 1010, 30),
    (Needs::BIN, 790, 20),
    (Needs::MAXOUT, 440, 30),
    (Needs::SIGMOID, 600, 10),
    (Needs::CONV, 1710, 240),
    (Needs::FERN, 450, 0),
    (Needs::SERIES, 1310, 90),
    (Needs::HADAMARD, 510, 50),
    (Needs::DENSE, 930, 30),
    (Needs::GROUPS, 130, 0),
    (Needs::LISTS, 210, 0),
    (Needs::LOGARITHM, 290, 0),
    (Needs::MAPS, 230, 0),
    (Needs::BITS_2, 340, 40),
    (Needs::BITS_3, 320, 50),
    (Needs::BITS_4, 420, 60),
];

/// About what predictions of a model take in C.
#[must_use]
pub fn c_size(model: &Model<'_>) -> CSize {
    let needed = PARTS.iter().filter(|(part, ..)| model.needs().covers(*part));
    let (code, stack) =
        needed.fold((CODE, STACK), |(code, stack), part| (code + part.1, stack + part.2));
    let (halves, words) = c::buffers(model);
    CSize {
        code: code + if model.outputs() > 1 { OUTPUTS } else { 0 },
        memory: 2 * halves.max(1) + 4 * words.max(1) + 8 * model.outputs().max(1),
        stack,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/c.md, which `cargo xtask c --cost` counts: code within a tenth, stack
    /// within a fifth.
    #[test]
    fn sizes_are_near_what_was_counted() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let page = std::fs::read_to_string(format!("{root}/docs/c.md")).unwrap();
        let mut models = 0;
        for line in page.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let Ok(blob) = std::fs::read(format!("{root}/tests/models/{}.koan", cells[1])) else {
                continue;
            };
            let told = c_size(&Model::parse(&blob).unwrap());
            let apart = |told: usize, cell: &str| told as f64 / cell.parse::<f64>().unwrap();
            let (code, stack) = (apart(told.code, cells[3]), apart(told.stack, cells[4]));
            assert!((0.9..1.1).contains(&code), "{line}: {told:?}");
            assert!((0.8..1.2).contains(&stack), "{line}: {told:?}");
            models += 1;
        }
        assert!(models > 10, "{models} models in the table");
    }
}
