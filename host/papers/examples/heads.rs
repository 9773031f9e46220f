//! Test errors of heads of equal size with several outputs: widths of weights, a product of
//! two matrices (low rank), codes of classes (error-correcting), and weights that an ideal
//! entropy code would hold.
//!
//! `cargo run --release -p koan-papers --example heads -- DATA [TEST]`

use std::error::Error;
use std::path::PathBuf;
use std::slice::from_ref;

use faer::{Mat, MatRef, Side};
use koan::Width;
use koan::generator::Stream;
use koan_data::{ReadOptions, SplitSize, Table, read_all, read_all_with, split};
use koan_trainer::internal::evaluate::of_scores;
use koan_trainer::internal::features::FeatureMap;
use koan_trainer::internal::lambda::LAMBDAS;
use koan_trainer::internal::moments::Moments;
use koan_trainer::internal::problem::Problem;
use koan_trainer::internal::quantise::{Rounding, round};
use koan_trainer::internal::ridge::{System, best_on};
use koan_trainer::internal::select::choose;
use koan_trainer::internal::solve::Design;
use koan_trainer::{Progress, TrainOptions};

/// Features that there are.
const POOL: usize = 1536;
/// Training rows at most.
const ROWS: usize = 20_000;
/// Features of a head with 2 bits for each weight: what sets the sizes.
const FEATURES: [usize; 4] = [64, 128, 256, 512];
/// Bits of an entry of the second matrix of a product.
const SECOND: usize = 8;
/// λ for rounded weights, relative to the best one for real ones.
const STRONGER: [f64; 4] = [1.0, 3.0, 10.0, 30.0];

/// What a head is.
#[derive(Clone, Copy)]
enum Head {
    /// One weight of so many bits for each feature and output.
    Plain(u8),
    /// The same in an ideal entropy code.
    Entropy(u8),
    /// Features × r with 2 bits, r × outputs with 8.
    Rank(usize),
    /// So many outputs that tell classes apart by ±1, with 2 bits.
    Codes(usize),
}

struct Setting<'s> {
    fit: &'s Moments,
    held: &'s Moments,
    design: &'s Design,
    test: &'s Table,
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let options = ReadOptions::default();
    let (train, test) = match &files[..] {
        [data] => {
            let all = read_all(from_ref(data), &options)?;
            let (train, test) = split(&all.target, SplitSize::TestFraction(0.25), 1)?;
            (all.select(&train), all.select(&test))
        }
        [data, test] => {
            let all = read_all(from_ref(data), &options)?;
            let test = read_all_with(from_ref(test), &all.schema, &options)?;
            (all, test)
        }
        _ => return Err("DATA [TEST]".into()),
    };
    let train = if train.rows() > ROWS {
        train.select(&split(&train.target, SplitSize::TrainRows(ROWS), 1)?.0)
    } else {
        train
    };
    let quiet = Progress::none();
    let problem = Problem::new(&train, false);
    let outputs = problem.outputs;
    if outputs < 4 {
        return Err("data of at least four classes".into());
    }
    let options = TrainOptions { features: vec![POOL as u16], ..TrainOptions::default() };
    let rows: Vec<usize> = (0..train.rows()).collect();
    let banks = options.banks(&train.schema)?;
    let spec = choose(&problem, &rows, &banks, &options.choice(problem.task()), &quiet)?.spec;
    let map = FeatureMap::new(&spec)?;
    let (fit_rows, held_rows) = split(&train.target, SplitSize::TestFraction(0.15), 1)?;
    let fit = problem.moments(&map, &fit_rows, &quiet)?;
    let held = problem.moments(&map, &held_rows, &quiet)?;
    let test_rows: Vec<usize> = (0..test.rows()).collect();
    let design = Design::of(&map, &test, &test_rows)?;
    let setting = Setting { fit: &fit, held: &held, design: &design, test: &test };

    println!("{} training rows, {} test rows, {outputs} outputs\n", train.rows(), test.rows());
    let mut heads = vec![
        ("2 bits".to_owned(), Head::Plain(2)),
        ("3 bits".into(), Head::Plain(3)),
        ("4 bits".into(), Head::Plain(4)),
        ("2 bits, entropy-coded".into(), Head::Entropy(2)),
        ("3 bits, entropy-coded".into(), Head::Entropy(3)),
        ("4 bits, entropy-coded".into(), Head::Entropy(4)),
    ];
    for rank in [outputs - 1, outputs - 2, outputs * 2 / 3, outputs / 2] {
        heads.push((format!("rank {rank}, 2 bits"), Head::Rank(rank)));
    }
    for columns in [outputs * 2 / 3, outputs, outputs * 3 / 2] {
        heads.push((format!("{columns} class codes, 2 bits"), Head::Codes(columns)));
    }
    let bytes = FEATURES.map(|features| (features * outputs * 2).div_ceil(8));
    line("test error (features)", bytes.iter().map(|bytes| format!("{bytes} bytes of weights")));
    line("---", bytes.iter().map(|_| "---:".into()));
    for (name, head) in heads {
        let cells = bytes.map(|bytes| match setting.error(head, 8 * bytes) {
            Some((error, features)) => format!("{:.2} % ({features})", 100.0 * error),
            None => String::new(),
        });
        line(&name, cells.into_iter());
    }
    Ok(())
}

fn line(name: &str, cells: impl Iterator<Item = String>) {
    println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

impl Setting<'_> {
    /// The test error of a head of so many bits, and its features.
    fn error(&self, head: Head, bits: usize) -> Option<(f64, usize)> {
        let outputs = self.fit.outputs();
        let none = Mat::identity(outputs, outputs);
        match head {
            Head::Plain(width) => self.fitted(bits / outputs / usize::from(width), width, &none),
            Head::Entropy(width) => {
                // What its codes would take decides how many features there are.
                let mut features = bits / outputs / usize::from(width);
                for _ in 0..3 {
                    let entropy = self.solved(features, width, &none)?.2;
                    features = (bits as f64 / outputs as f64 / entropy) as usize;
                }
                self.fitted(features, width, &none)
            }
            Head::Rank(rank) => {
                let features = bits.checked_sub(SECOND * rank * outputs)? / (2 * rank);
                if features < rank || features > POOL {
                    return None;
                }
                // The directions in which the fitted scores of the training rows spread.
                let (system, lambda) = self.best(features);
                let weights = system.solve(lambda).weights;
                let spread = weights.transpose() * system.gram() * &weights;
                let eigen = spread.self_adjoint_eigen(Side::Lower).ok()?;
                let basis = eigen.U().subcols(outputs - rank, rank).to_owned();
                self.fitted(features, 2, &basis)
            }
            Head::Codes(columns) => {
                let stream = Stream::new(1, columns as u32);
                let bit = |t: usize, c: usize| stream.draw((t * columns + c) as u64) >> 63 == 1;
                let sign = |t, c| if bit(t, c) { 1.0 } else { -1.0 };
                let codes = Mat::from_fn(outputs, columns, sign);
                self.fitted(bits / columns / 2, 2, &codes)
            }
        }
    }

    /// The system of the first features, and λ by the rows held out.
    fn best(&self, features: usize) -> (System, f64) {
        let kept: Vec<usize> = (0..features).collect();
        let system = System::new(&self.fit.select(&kept));
        let lambda = best_on(&system, &self.held.select(&kept), &LAMBDAS).0.lambda;
        (system, lambda)
    }

    /// Rounded weights of the columns of `basis` (outputs × columns), back in the space of
    /// the outputs, with bias and the mean entropy of a code.
    fn solved(
        &self,
        features: usize,
        bits: u8,
        basis: &Mat<f64>,
    ) -> Option<(Mat<f64>, Vec<f64>, f64)> {
        if features == 0 || features > POOL {
            return None;
        }
        let kept: Vec<usize> = (0..features).collect();
        let held = self.held.select(&kept);
        let (system, lambda) = self.best(features);
        // Scores of the columns become scores of the outputs by least squares.
        let square = basis.transpose() * basis;
        let mut regular = square.clone();
        (0..square.nrows()).for_each(|i| regular[(i, i)] += 1e-9 * square[(i, i)]);
        let back = regular.llt(Side::Lower).ok()?;
        let mut best: Option<(f64, Mat<f64>, Vec<f64>, f64)> = None;
        for factor in STRONGER {
            let (llt, lambda) = system.factor(lambda * factor);
            let matrix = system.regularised(lambda);
            let columns = system.solve_with(&llt, lambda).weights * basis;
            for odd in [false, true] {
                let (rounded, entropy) = rounded(
                    columns.as_ref(),
                    Width::new(bits, odd).unwrap(),
                    llt.L(),
                    matrix.as_ref(),
                );
                let weights =
                    rounded * faer::linalg::solvers::Solve::solve(&back, basis.transpose());
                let bias = system.bias(&weights);
                let error = held.mean_squared_error(weights.as_ref(), &bias);
                if best.as_ref().is_none_or(|best| error < best.0) {
                    best = Some((error, weights, bias, entropy));
                }
            }
        }
        best.map(|(_, weights, bias, entropy)| (weights, bias, entropy))
    }

    fn fitted(&self, features: usize, bits: u8, basis: &Mat<f64>) -> Option<(f64, usize)> {
        let (weights, bias, _) = self.solved(features, bits, basis)?;
        let mut all = Mat::zeros(self.design.features(), bias.len());
        all.as_mut().subrows_mut(0, features).copy_from(&weights);
        let scores = self.design.scores(all.as_ref(), &bias);
        let by_row: Vec<f64> =
            scores.col_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        Some((of_scores(self.test, &by_row).error, features))
    }
}

/// The columns rounded, and the mean entropy of their codes in bits.
fn rounded(
    columns: MatRef<'_, f64>,
    width: Width,
    factor: MatRef<'_, f64>,
    matrix: MatRef<'_, f64>,
) -> (Mat<f64>, f64) {
    let banks = [(columns.nrows(), width)];
    let mut entropy = 0.0;
    let mut all = Mat::zeros(columns.nrows(), columns.ncols());
    for column in 0..columns.ncols() {
        let weights: Vec<f64> = columns.col(column).iter().copied().collect();
        let found = round(&weights, &banks, factor, matrix, Rounding::Compensated);
        let mut counts = vec![0usize; 1 << width.bits()];
        for (k, &code) in found.codes.iter().enumerate() {
            counts[code as usize] += 1;
            all[(k, column)] = found.levels[0].weight(code);
        }
        let shares = counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 / weights.len() as f64);
        entropy -= shares.map(|share| share * share.log2()).sum::<f64>();
    }
    (all, entropy / columns.ncols() as f64)
}
