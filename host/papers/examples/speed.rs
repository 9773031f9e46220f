//! Seconds of feature generation and fit at fixed hyper-parameters, and the
//! test error of the real-valued weights: Koan's side of the comparison with
//! scikit-learn that `benches/sklearn.py` makes and prints.
//!
//! `speed DATA adult|mnist|cpu_act FEATURES GAMMA ALPHA [avx2] SEED…`: the kernel
//! exp(−GAMMA·‖x − y‖²) of the inputs (0 and 1, grey levels over 255, or
//! standardised), ridge ALPHA·‖w‖² for features √(2/FEATURES)·cos. Files are
//! read, and a first fit is made, before the clock starts. One JSON line for each seed.
//! With `avx2` the products of features are summed as where there is no AVX-512.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use koan::{FEATURE_ONE, Family, Law};
use koan_data::{ReadOptions, Table, Target, read, read_with};
use koan_trainer::Progress;
use koan_trainer::internal::evaluate::of_scores;
use koan_trainer::internal::features::FeatureMap;
use koan_trainer::internal::moments::{Kernel, Moments};
use koan_trainer::internal::normalise::{Axis, Kind, Normaliser};
use koan_trainer::internal::plan::{BankPlan, realise};
use koan_trainer::internal::problem::Problem;
use koan_trainer::internal::ridge::System;
use koan_trainer::internal::solve::Design;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, set, features, gamma, alpha, rest @ ..] = arguments.as_slice() else {
        bail!("usage: speed DATA adult|mnist|cpu_act FEATURES GAMMA ALPHA [avx2] SEED...");
    };
    let (kernel, seeds) = match rest {
        [first, seeds @ ..] if first == "avx2" => (Kernel::Avx2, seeds),
        seeds => (Kernel::best(), seeds),
    };
    let (features, gamma, alpha): (u16, f64, f64) =
        (features.parse()?, gamma.parse()?, alpha.parse()?);
    let (train, test) = tables(Path::new(data), set)?;
    let rows: Vec<usize> = (0..train.rows()).collect();
    let first = seeds.first();
    for (number, seed) in first.into_iter().chain(seeds).enumerate() {
        let start = Instant::now();
        let normaliser = match set.as_str() {
            "cpu_act" => Normaliser::fit(&train, &rows, Kind::PerInput),
            _ => {
                let scale = if set == "mnist" { 1.0 / 255.0 } else { 1.0 };
                let axis = Axis { log: false, offset: 0.0, scale };
                Normaliser { period: 1, axes: vec![axis; train.inputs] }
            }
        };
        let spread = normaliser.spread(&train, &rows);
        let plan = BankPlan {
            family: Family::Fourier,
            law: if train.inputs >= 16 && set != "cpu_act" { Law::Hadamard } else { Law::Gaussian },
            features,
            // At frequency 1 the kernel is exp(−‖x − y‖²/(2·variance)).
            frequency: (2.0 * gamma * spread.variance).sqrt(),
            groups: Vec::new(),
            kept: None,
        };
        let map = FeatureMap::new(&realise(seed.parse()?, &[plan], &normaliser, &spread))?;
        let problem = Problem::new(&train, false);
        let empty = Moments::with_kernel(map.features(), problem.outputs, kernel);
        let moments = problem.moments_by(empty, &map, &rows, &Progress::none())?;
        let summed = start.elapsed().as_secs_f64();
        let system = System::new(&moments);
        let unit = f64::from(FEATURE_ONE).powi(2) * f64::from(features) / 2.0;
        let fit = system.solve(alpha * unit / system.unit());
        let seconds = start.elapsed().as_secs_f64();

        let judged: Vec<usize> = (0..test.rows()).collect();
        let design = Design::of(&map, &test, &judged)?;
        let scores = design.scores(fit.weights.as_ref(), &fit.bias);
        let scores: Vec<f64> = (0..test.rows())
            .flat_map(|row| scores.col(row).iter().copied().collect::<Vec<_>>())
            .collect();
        let error = of_scores(&test, &scores).error;
        if number == 0 {
            continue;
        }
        println!("{{\"seconds\": {seconds:.4}, \"sums\": {summed:.4}, \"error\": {error:.6}}}");
    }
    Ok(())
}

/// Training and test rows.
fn tables(data: &Path, set: &str) -> Result<(Table, Table)> {
    let (train, test) = match set {
        "adult" => ("adult/a9a.gz", "adult/a9a.t.gz"),
        "mnist" => ("mnist/train-images-idx3-ubyte.gz", "mnist/t10k-images-idx3-ubyte.gz"),
        "cpu_act" => ("cpu_act/cpu_act.tsv.gz", ""),
        other => bail!("no set {other}"),
    };
    let options = ReadOptions::default();
    let all = read(data.join(train), &options).context("training data")?;
    if test.is_empty() {
        // 6,500 of the rows, evenly spread.
        let count = all.rows();
        let kept = |row: usize| (row + 1) * 6500 / count > row * 6500 / count;
        let (fit, judged): (Vec<_>, Vec<_>) = (0..count).partition(|&row| kept(row));
        if !matches!(all.target, Target::Values(_)) {
            bail!("{set} has no values as targets");
        }
        return Ok((all.select(&fit), all.select(&judged)));
    }
    let judged = read_with(data.join(test), &all.schema, &options).context("test data")?;
    Ok((all, judged))
}
