//! Table I of *Uniform Approximation of Functions with Random Bases*: ridge
//! regression on Fourier features and on bins.

use std::path::PathBuf;
use std::time::Instant;

use super::Settings;
use super::section::{Grid, Plot, Section, Series, mean_and_deviation, percent};
use koan_data::{ReadOptions, SplitSize, Table, read, read_with, split};
use koan_trainer::{Error, FamilyName, Loss, Progress, Report, TrainOptions, train};

/// A line of the table.
struct Case {
    name: &'static str,
    /// Training file and test file; without the latter so many rows train.
    files: &'static [&'static str],
    train_rows: usize,
    positive: Option<&'static str>,
    family: FamilyName,
    features: u16,
    slot_bits: u8,
    loss: Loss,
    /// Draws of split and model.
    draws: u64,
    /// The paper's error in percent and time.
    paper: (&'static str, &'static str),
    full: bool,
}

const ADULT: &[&str] = &["adult/a9a.gz", "adult/a9a.t.gz"];
const FOREST: &[&str] = &["covtype/covtype.random16pct.data.gz"];
const CPU: &[&str] = &["cpu_act/cpu_act.tsv.gz"];
const HOUSE: &[&str] = &["house/house_16H.tsv.gz"];

/// The paper's lines, and more features where the paper's are too few to see
/// what the method can do.
#[rustfmt::skip]
const CASES: [Case; 12] = [
    case("CPU", CPU, 6500, FamilyName::Fourier, 300, 3, ("3.6", "20 s")),
    case("CPU", CPU, 6500, FamilyName::Bin, 350, 1, ("5.3", "3 min")),
    case("Census (house_16H)", HOUSE, 18_000, FamilyName::Fourier, 500, 3, ("5", "36 s")),
    case("Census (house_16H)", HOUSE, 18_000, FamilyName::Bin, 30, 1, ("7.5", "19 min")),
    case("Adult", ADULT, 0, FamilyName::Fourier, 500, 3, ("14.9", "9 s")),
    Case { loss: Loss::Logistic, ..case("Adult", ADULT, 0, FamilyName::Fourier, 500, 3, ("14.9", "9 s")) },
    case("Adult", ADULT, 0, FamilyName::Fourier, 2000, 1, ("–", "–")),
    case("Adult", ADULT, 0, FamilyName::Bin, 30, 1, ("15.3", "1.5 min")),
    Case { positive: Some("2"), ..case("Forest (16 %)", FOREST, 83_000, FamilyName::Fourier, 1000, 1, ("–", "–")) },
    Case { positive: Some("2"), full: true, ..case("Forest (16 %)", FOREST, 83_000, FamilyName::Fourier, 5000, 1, ("11.6", "71 min")) },
    Case { positive: Some("2"), slot_bits: 12, ..case("Forest (16 %)", FOREST, 83_000, FamilyName::Bin, 50, 1, ("2.2", "25 min")) },
    Case { positive: Some("2"), slot_bits: 12, full: true, ..case("Forest (16 %)", FOREST, 83_000, FamilyName::Bin, 200, 1, ("–", "–")) },
];

/// Rows of the learning curve on Forest.
const CURVE: [usize; 3] = [10_000, 20_000, 40_000];

const fn case(
    name: &'static str,
    files: &'static [&'static str],
    train_rows: usize,
    family: FamilyName,
    features: u16,
    draws: u64,
    paper: (&'static str, &'static str),
) -> Case {
    Case {
        name,
        files,
        train_rows,
        positive: None,
        family,
        features,
        slot_bits: 8,
        loss: Loss::Squared,
        draws,
        paper,
        full: false,
    }
}

/// Runs the experiment.
///
/// # Errors
/// Data that are there but cannot be read.
pub fn run(settings: &Settings) -> Result<Section, Error> {
    let start = Instant::now();
    let mut section = Section::new("Fourier features and bins (Uniform Approximation, Table I)");
    section.protocol.push(
        "Models as `koan train` makes them (8-bit weights, errors of the blob): input map, \
         frequency and λ are chosen by rows held out of the training rows, and the seconds include \
         that search. The loss is squared, the paper's, where it does not say logistic. Adult has its own split; the others are shuffled once for each seed. \
         Regression errors are RMS errors over the RMS of the target. Mean ± standard deviation \
         over the draws; `constant` and `linear` are baselines on the same rows. The paper's \
         Census has 119 inputs, which were not found; house_16H is made of the same census, with \
         16. Of Forest a random 16 % of the rows is public here."
            .into(),
    );
    let head = [
        "set",
        "features",
        "K",
        "draws",
        "constant",
        "linear",
        "Koan",
        "paper",
        "Koan s",
        "paper's time",
    ];
    let mut grid = Grid::new("Errors in percent.", &head);
    let (mut forest, mut higher) = (None, Vec::new());
    let mut loaded: Option<(&[&str], Table, Option<Table>)> = None;
    for case in CASES.iter().filter(|case| settings.full || !case.full) {
        let Some(files) = settings.files(case.files) else {
            let set = case.files[0].split('/').next().unwrap_or(case.name).to_owned();
            if !section.skipped.contains(&set) {
                section.skipped.push(set);
            }
            continue;
        };
        if loaded.as_ref().is_none_or(|loaded| loaded.0 != case.files) {
            let (all, test) = case.read(&files)?;
            loaded = Some((case.files, all, test));
        }
        let Some((_, all, test)) = &loaded else { continue };
        let (mut errors, mut seconds) = (Vec::new(), Vec::new());
        let mut last = None;
        for draw in 0..case.draws {
            let part =
                format!("{}, {}, draw {} of {}", case.name, case.way(), draw + 1, case.draws);
            let progress = settings.progress.within(&part);
            let seed = settings.seed + draw;
            let report = case.train(seed, all, test.as_ref(), case.train_rows, &progress)?;
            errors.push(report.error);
            seconds.push(report.seconds);
            last = Some(report);
        }
        let (mean, deviation) = mean_and_deviation(&errors);
        // The paper's errors have at most one decimal.
        if case.paper.0.parse().is_ok_and(|theirs: f64| 100.0 * mean >= theirs + 0.05) {
            let (name, way) = (case.name, case.way());
            higher.push(format!("{name}, {way} ({})", percent(mean)));
        }
        let baselines = last.and_then(|report| report.baselines);
        let linear = baselines.and_then(|b| b.linear).map_or("–".into(), percent);
        grid.row([
            case.name.to_owned(),
            case.kind(),
            case.features.to_string(),
            case.draws.to_string(),
            baselines.map_or("–".into(), |b| percent(b.constant)),
            linear,
            if case.draws > 1 {
                format!("{} ± {}", percent(mean), percent(deviation))
            } else {
                percent(mean)
            },
            case.paper.0.to_owned(),
            format!("{:.0}", mean_and_deviation(&seconds).0),
            case.paper.1.to_owned(),
        ]);
        if case.family == FamilyName::Bin && case.files == FOREST && case.features == 50 {
            forest = Some(learning_curve(settings, case, all, mean, &mut section)?);
        }
    }
    section.grids.insert(0, grid);
    section.findings = findings(&higher, forest.as_deref());
    section.seconds = start.elapsed().as_secs_f64();
    Ok(section)
}

impl Case {
    fn read(&self, files: &[PathBuf]) -> Result<(Table, Option<Table>), Error> {
        let positive = self.positive.map(str::to_owned);
        let all = read(&files[0], &ReadOptions { positive, ..ReadOptions::default() })?;
        let test = match files.get(1) {
            Some(file) => Some(read_with(file, &all.schema, &ReadOptions::default())?),
            None => None,
        };
        Ok((all, test))
    }

    /// Family, and the loss if it is not the usual one.
    fn kind(&self) -> String {
        match self.loss {
            Loss::Squared => self.family.name().to_owned(),
            loss => format!("{}, {}", self.family.name(), loss.name()),
        }
    }

    fn way(&self) -> String {
        format!("{}, K = {}", self.kind(), self.features)
    }

    /// Trains on so many rows of `all`, or on all of them if there is a test
    /// table.
    fn train(
        &self,
        seed: u64,
        all: &Table,
        test: Option<&Table>,
        rows: usize,
        progress: &Progress,
    ) -> Result<Report, Error> {
        let options = TrainOptions {
            families: vec![self.family],
            features: vec![self.features],
            slot_bits: self.slot_bits,
            bits: Some(8),
            loss: Some(self.loss),
            seed,
            ..TrainOptions::default()
        };
        let trained = match test {
            Some(test) => train(all, Some(test), &options, progress)?,
            None => {
                // The same test rows for every number of training rows.
                let size = SplitSize::TrainRows(self.train_rows);
                let (mut kept, judged) = split(&all.target, size, seed)?;
                if rows < kept.len() {
                    let some = all.target.select(&kept);
                    let (fewer, _) = split(&some, SplitSize::TrainRows(rows), seed)?;
                    kept = fewer.into_iter().map(|i| kept[i]).collect();
                }
                train(&all.select(&kept), Some(&all.select(&judged)), &options, progress)?
            }
        };
        Ok(trained.report)
    }
}

/// Error over training rows of a case, whose error on all of them is known.
fn learning_curve(
    settings: &Settings,
    case: &Case,
    all: &Table,
    last: f64,
    section: &mut Section,
) -> Result<Vec<(f64, f64)>, Error> {
    let mut line = Vec::new();
    for rows in CURVE {
        let part = format!("{}, {}, {rows} rows", case.name, case.way());
        let progress = settings.progress.within(&part);
        let report = case.train(settings.seed, all, None, rows, &progress)?;
        line.push((rows as f64, 100.0 * report.error));
    }
    line.push((case.train_rows as f64, 100.0 * last));
    let mut grid = Grid::new("Forest: bins over the number of training rows.", &["rows", "error"]);
    for (rows, error) in &line {
        grid.row([format!("{rows}"), format!("{error:.2}")]);
    }
    section.grids.push(grid);
    section.plots.push(Plot {
        title: "Forest: error of 50 grids of bins over training rows".into(),
        axes: ["training rows".into(), "test error, %".into()],
        log: [true, true],
        series: vec![
            Series::line("Koan", line.clone()),
            Series::points("paper", vec![(522_000.0, 2.2)]),
        ],
    });
    Ok(line)
}

/// The slope of ln y over ln x, and what it gives at `x`.
fn extrapolated(line: &[(f64, f64)], x: f64) -> (f64, f64) {
    let count = line.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| line.iter().map(|p| of(p).ln()).sum::<f64>() / count;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let across: f64 = line.iter().map(|p| (p.0.ln() - mx) * (p.1.ln() - my)).sum();
    let along: f64 = line.iter().map(|p| (p.0.ln() - mx).powi(2)).sum();
    let slope = across / along;
    (slope, (my + slope * (x.ln() - mx)).exp())
}

fn findings(higher: &[String], forest: Option<&[(f64, f64)]>) -> Vec<String> {
    let mut all = Vec::new();
    if !higher.is_empty() {
        all.push(format!(
            "Higher than the paper's error: {}. Census and Forest are not the paper's rows, and \
             Census not its inputs; whether that or something else makes the gaps was not tested.",
            higher.join("; ")
        ));
    }
    if let Some(line) = forest {
        let (slope, at) = extrapolated(line, 522_000.0);
        all.push(format!(
            "Forest is not finished learning: over the training rows the error of bins falls like \
             rows^{slope:.2}. Carried on to the paper's 522,000 rows, more than six times as many \
             as were tried, that line gives {at:.1} %, against the paper's 2.2 %. Another difference \
             is untested: a grid here has at most 4096 cells, which hashing shares, where the paper \
             keeps every occupied cell."
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_carried_on() {
        let line: Vec<(f64, f64)> = [1.0, 4.0, 16.0].map(|x: f64| (x, 6.0 / x.sqrt())).into();
        let (slope, at) = extrapolated(&line, 64.0);
        assert!((slope + 0.5).abs() < 1e-12 && (at - 0.75).abs() < 1e-12);
    }
}
