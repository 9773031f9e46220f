//! Table 8.1 of *Pruning algorithms for one-hidden-layer feedforward neural
//! networks*: regularisation networks on PROBEN1 with a Gaussian kernel, a sum
//! and a product of two.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::time::Instant;

use faer::{Mat, MatRef};
use flate2::bufread::MultiGzDecoder;
use rayon::prelude::*;

use super::section::{Grid, Plot, Section, Series};
use super::{Settings, unreadable};
use crate::kernel::{Kernel, LeftOut, Points, leave_one_out, matrix};
use koan_trainer::Error;

/// The paper's errors: problem; RN, sum and product kernel, each on training
/// and test rows, in percent.
#[rustfmt::skip]
const PAPER: [(&str, [f64; 6]); 33] = [
    ("cancer1", [2.28, 1.75, 0.00, 1.77, 2.68, 1.81]),
    ("cancer2", [1.86, 3.01, 0.00, 2.96, 2.07, 3.61]),
    ("cancer3", [2.11, 2.79, 0.00, 2.73, 2.28, 2.81]),
    ("card1", [8.75, 10.01, 8.81, 10.03, 8.90, 10.05]),
    ("card2", [7.55, 12.53, 0.00, 12.54, 8.11, 12.55]),
    ("card3", [6.52, 12.35, 6.55, 12.32, 7.01, 12.45]),
    ("diabetes1", [13.97, 16.02, 14.01, 16.00, 16.44, 16.75]),
    ("diabetes2", [14.00, 16.77, 13.78, 16.80, 15.87, 18.14]),
    ("diabetes3", [13.69, 16.01, 13.69, 15.95, 16.31, 16.62]),
    ("flare1", [0.36, 0.55, 0.35, 0.54, 0.36, 0.54]),
    ("flare2", [0.42, 0.28, 0.44, 0.26, 0.42, 0.28]),
    ("flare3", [0.38, 0.35, 0.42, 0.33, 0.40, 0.35]),
    ("glass1", [3.37, 6.99, 2.35, 6.15, 2.64, 7.31]),
    ("glass2", [4.32, 7.93, 1.09, 6.97, 2.55, 7.46]),
    ("glass3", [3.96, 7.25, 3.04, 6.29, 3.31, 7.26]),
    ("heart1", [9.61, 13.66, 0.00, 13.91, 9.56, 13.67]),
    ("heart2", [9.33, 13.83, 0.00, 13.82, 9.43, 13.86]),
    ("heart3", [9.23, 15.99, 0.00, 15.94, 9.15, 16.06]),
    ("hearta1", [3.42, 4.38, 0.00, 4.37, 3.47, 4.39]),
    ("hearta2", [3.54, 4.07, 3.51, 4.06, 3.28, 4.29]),
    ("hearta3", [3.44, 4.43, 0.00, 4.49, 3.40, 4.44]),
    ("heartac1", [4.22, 2.76, 0.00, 3.26, 4.22, 2.76]),
    ("heartac2", [3.50, 3.86, 0.00, 3.85, 3.49, 3.87]),
    ("heartac3", [3.36, 5.01, 3.36, 5.01, 3.26, 5.18]),
    ("heartc1", [9.99, 16.07, 0.00, 15.69, 10.00, 16.08]),
    ("heartc2", [12.70, 6.13, 0.00, 6.33, 12.37, 6.29]),
    ("heartc3", [8.79, 12.68, 0.00, 12.38, 8.71, 12.65]),
    ("horse1", [7.35, 11.90, 0.20, 11.90, 14.25, 12.45]),
    ("horse2", [7.97, 15.14, 2.84, 15.11, 12.24, 15.97]),
    ("horse3", [4.26, 13.61, 0.18, 14.13, 9.63, 15.88]),
    ("soybean1", [0.12, 0.66, 0.11, 0.66, 0.13, 0.86]),
    ("soybean2", [0.24, 0.50, 0.25, 0.53, 0.23, 0.71]),
    ("soybean3", [0.23, 0.58, 0.22, 0.57, 0.21, 0.78]),
];

/// Widths of single Gaussians: from 1/4 up by √2.
const WIDTHS: usize = 14;
/// Width of the narrow part of a sum: nearly nothing but a row itself is
/// within it.
const NARROW: f64 = 1.0 / 64.0;
/// Ridges γN: from 1e-10 up by half decades.
const RIDGES: usize = 25;
/// A network goes through its training rows when its error there, in percent,
/// is printed as 0.00.
const THROUGH: f64 = 0.005;

/// Rows of a PROBEN1 file as its network sees them: inputs and targets as they
/// stand there, training and validation rows first, test rows last.
struct DataSet {
    inputs: Points,
    targets: Mat<f64>,
    train: usize,
}

/// A chosen network.
struct Chosen {
    train: f64,
    test: f64,
    what: String,
}

/// Runs the experiment.
///
/// # Errors
/// Files that are there but cannot be read.
pub fn run(settings: &Settings) -> Result<Section, Error> {
    let mut section =
        Section::new("Regularisation networks on PROBEN1 (Pruning algorithms, Table 8.1)");
    let folder = settings.data.join("proben1");
    let start = Instant::now();
    let (there, missing): (Vec<_>, Vec<_>) =
        PAPER.iter().partition(|(name, _)| file(&folder, name).is_some());
    section.skipped = match missing.len() {
        0 => Vec::new(),
        33 => vec!["proben1".into()],
        _ => missing.iter().map(|(name, _)| format!("proben1/{name}")).collect(),
    };
    let results: Vec<([f64; 6], [Chosen; 3], f64, &str)> = there
        .par_iter()
        .map(|(name, paper)| {
            let start = Instant::now();
            let problem = DataSet::read(&folder, name)?;
            let chosen = [problem.single()?, problem.sum()?, problem.product()?];
            Ok((*paper, chosen, start.elapsed().as_secs_f64(), *name))
        })
        .collect::<Result<_, Error>>()?;
    if !results.is_empty() {
        report(&mut section, &results);
    }
    section.seconds = start.elapsed().as_secs_f64();
    Ok(section)
}

fn report(section: &mut Section, results: &[([f64; 6], [Chosen; 3], f64, &str)]) {
    section.protocol = vec![
        "The rows for training and validation of each file train, its test rows judge; inputs \
         and targets are what the file has. The error is PROBEN1's squared error percentage, \
         100/(N·P)·Σ(output − target)² over N rows and P outputs. Kernels are \
         exp(−‖x − y‖²/d²). Width and γN are those with the least leave-one-out error on the \
         training rows (exact, from one eigendecomposition for each kernel): γN from 1e-10 to \
         100 by half decades; d from 0.25 to 22.6 by √2."
            .into(),
        "The sum is of two widths of {0.5, 1, 2, 4, 8}, or of one from 0.25 to 16 and one of \
         1/64, the paper's high and low frequencies. Of sums that go through their training \
         rows (error 0.00) the one with the least leave-one-out error is taken if that is \
         within one standard error of the least of all. The product has one width for the \
         first half of the inputs and one for the second, of {0.35, 0.7, 1.4, 2.8, 5.6, 16}; \
         the paper does not say how it divided them."
            .into(),
    ];
    let head = [
        "problem",
        "RN train",
        "paper",
        "RN test",
        "paper",
        "sum train",
        "paper",
        "sum test",
        "paper",
        "product train",
        "paper",
        "product test",
        "paper",
        "d, γN",
        "s",
    ];
    let mut grid = Grid::new("Errors in percent; d and γN of the RN.", &head);
    let mut test = Vec::new();
    for (paper, chosen, seconds, name) in results {
        let mut cells = vec![(*name).to_owned()];
        for (network, paper) in chosen.iter().zip(paper.chunks(2)) {
            for (koan, paper) in [(network.train, paper[0]), (network.test, paper[1])] {
                cells.push(format!("{koan:.2}"));
                cells.push(format!("{paper:.2}"));
            }
        }
        cells.push(chosen[0].what.clone());
        cells.push(format!("{seconds:.1}"));
        grid.row(cells);
        test.push((paper[1], chosen[0].test));
    }
    section.grids.push(grid);
    let near = |index: usize| {
        let ratio = |r: &&([f64; 6], [Chosen; 3], f64, &str)| {
            (r.1[index].test / r.0[2 * index + 1] - 1.0).abs() <= 0.15
        };
        results.iter().filter(ratio).count()
    };
    let count = results.len();
    let zeros: Vec<_> = results.iter().filter(|r| r.0[2] == 0.0).collect();
    let kept = zeros.iter().filter(|r| r.1[1].train < THROUGH).count();
    section.findings = vec![
        format!(
            "Test errors within 15 % of the paper's: RN {} of {count}, sum {} of {count}, \
             product {} of {count}. Where the paper's sum has a training error of 0.00 \
             ({} problems), Koan's has it on {kept}.",
            near(0),
            near(1),
            near(2),
            zeros.len(),
        ),
        "A sum with a narrow part goes through its training rows and hardly differs elsewhere: \
         on other rows the narrow part is 0, and in the matrix it stands where γN = 1 would. \
         That the paper's zeros come about like this is an inference from the figures. A zero \
         cannot be where equal inputs have different targets (all of flare and horse). Why some \
         test errors differ by more than 15 % was not tested."
            .into(),
    ];
    let largest = test.iter().fold(0.0f64, |m, &(x, y)| m.max(x).max(y));
    section.plots.push(Plot {
        title: "Test errors of regularisation networks".into(),
        axes: ["paper, %".into(), "Koan, %".into()],
        log: [false, false],
        series: vec![
            Series::points("problems", test),
            Series::line("equal", vec![(0.0, 0.0), (largest, largest)]),
        ],
    });
}

/// The file of a problem, gzipped or not.
fn file(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    ["dt.gz", "dt"].iter().map(|end| folder.join(format!("{name}.{end}"))).find(|p| p.is_file())
}

impl DataSet {
    fn read(folder: &Path, name: &str) -> Result<Self, Error> {
        let path = file(folder, name).unwrap_or_else(|| folder.join(name));
        let shown = path.display().to_string();
        let mut text = String::new();
        let opened = File::open(&path).map_err(|e| unreadable(&path, &e.to_string()))?;
        let mut reader = BufReader::new(opened);
        let read = if shown.ends_with(".gz") {
            MultiGzDecoder::new(reader).read_to_string(&mut text)
        } else {
            reader.read_to_string(&mut text)
        };
        read.map_err(|e| unreadable(&path, &e.to_string()))?;
        Self::parse(&text).map_err(|problem| unreadable(&path, &problem))
    }

    /// `text`: seven counts, then rows, several outputs each. The library's
    /// reader makes classes of outputs; here all of them are targets.
    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let mut counts = [0usize; 7];
        for count in &mut counts {
            let line = lines.next().unwrap_or_default();
            let number = line.split_once('=').and_then(|(_, number)| number.trim().parse().ok());
            *count = number.ok_or_else(|| format!("`{line}` is no count of the header"))?;
        }
        let (inputs, outputs) = (counts[0] + counts[1], counts[2] + counts[3]);
        let (train, rows) = (counts[4] + counts[5], counts[4..].iter().sum::<usize>());
        let (mut values, mut targets) = (Vec::new(), Vec::new());
        for line in lines {
            let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
            let numbers = numbers.map_err(|error| format!("`{line}`: {error}"))?;
            if numbers.len() != inputs + outputs {
                return Err(format!("a row of {} fields", numbers.len()));
            }
            values.extend_from_slice(&numbers[..inputs]);
            targets.extend_from_slice(&numbers[inputs..]);
        }
        if inputs == 0 || outputs == 0 || values.len() != rows * inputs || train == 0 {
            return Err(format!("{} rows of {inputs} inputs", values.len() / inputs.max(1)));
        }
        let targets = Mat::from_fn(rows, outputs, |row, t| targets[row * outputs + t]);
        Ok(Self { inputs: Points::new(values, inputs), targets, train })
    }

    fn points(&self, rows: std::ops::Range<usize>) -> Points {
        let values = rows.flat_map(|row| self.inputs.point(row)).copied().collect();
        Points::new(values, self.inputs.inputs())
    }

    fn gaussian(&self, width: f64) -> Kernel {
        Kernel::Gaussian { inputs: 0..self.inputs.inputs(), width }
    }

    /// The regularisation network with one Gaussian.
    fn single(&self) -> Result<Chosen, Error> {
        let kernels = (0..WIDTHS).map(|i| {
            let width = 0.25 * 2f64.powf(i as f64 / 2.0);
            (format!("{width:.2}"), self.gaussian(width))
        });
        self.choose(kernels, false)
    }

    /// The sum of two Gaussians.
    fn sum(&self) -> Result<Chosen, Error> {
        let two = |a: f64, b: f64| {
            (format!("{a} + {b}"), Kernel::Sum(vec![self.gaussian(a), self.gaussian(b)]))
        };
        let wide = [0.5, 1.0, 2.0, 4.0, 8.0];
        let pairs =
            wide.iter().enumerate().flat_map(|(i, &a)| wide[..i].iter().map(move |&b| two(a, b)));
        let narrow = (0..10).map(|i| two(0.25 * 2f64.powf(f64::from(i) * 2.0 / 3.0), NARROW));
        self.choose(narrow.chain(pairs), true)
    }

    /// The product of a Gaussian over each half of the inputs.
    fn product(&self) -> Result<Chosen, Error> {
        let all = self.inputs.inputs();
        let widths = [0.35, 0.7, 1.4, 2.8, 5.6, 16.0];
        let pair = move |a: f64, b: f64| {
            let half = |inputs, width| Kernel::Gaussian { inputs, width };
            (
                format!("{a} × {b}"),
                Kernel::Product(vec![half(0..all / 2, a), half(all / 2..all, b)]),
            )
        };
        self.choose(widths.iter().flat_map(|&a| widths.iter().map(move |&b| pair(a, b))), false)
    }

    /// The best of `kernels` and ridges by leaving one out; with `through` the
    /// best that goes through the training rows, if it is as good.
    fn choose(
        &self,
        kernels: impl Iterator<Item = (String, Kernel)>,
        through: bool,
    ) -> Result<Chosen, Error> {
        let train = self.points(0..self.train);
        let targets = self.targets.as_ref().subrows(0, self.train);
        let ridges: Vec<f64> = (0..RIDGES).map(|i| 10f64.powf(-10.0 + i as f64 / 2.0)).collect();
        let mut best: [Option<(LeftOut, String, Kernel)>; 2] = [None, None];
        for (name, kernel) in kernels {
            let gram = matrix(&kernel, &train, &train)?;
            for fit in leave_one_out(gram.as_ref(), targets, &ridges)? {
                // Below this the ridge is lost in rounding.
                if !fit.error.is_finite() {
                    continue;
                }
                let passes = 100.0 * fit.train_error < THROUGH;
                for best in &mut best[..1 + usize::from(through && passes)] {
                    if best.as_ref().is_none_or(|(least, ..)| fit.error < least.error) {
                        *best = Some((fit.clone(), name.clone(), kernel.clone()));
                    }
                }
            }
        }
        let [Some(all), passing] = best else {
            return Err(Error::Impossible("no kernel fits".into()));
        };
        let limit = all.0.error + all.0.deviation;
        let (fit, name, kernel) = passing.filter(|(fit, ..)| fit.error <= limit).unwrap_or(all);
        let test = self.points(self.train..self.inputs.len());
        let values = matrix(&kernel, &test, &train)? * &fit.coefficients;
        let wanted = self.targets.as_ref().subrows(self.train, test.len());
        Ok(Chosen {
            train: 100.0 * fit.train_error,
            test: 100.0 * mean_square(values.as_ref(), wanted),
            what: format!("{name}, {:.0e}", fit.ridge),
        })
    }
}

fn mean_square(values: MatRef<'_, f64>, wanted: MatRef<'_, f64>) -> f64 {
    (values - wanted).squared_norm_l2() / (wanted.nrows() * wanted.ncols()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty rows of two inputs and one target, x + y/2, the last five for the
    /// test.
    fn text() -> String {
        let head = "bool_in=0\nreal_in=2\nbool_out=0\nreal_out=1\n\
                    training_examples=10\nvalidation_examples=5\ntest_examples=5\n";
        let draw = koan::generator::Stream::new(9, 0);
        let value = |i: u64| f64::from(draw.draw(i) as u8) / 256.0;
        (0..20).fold(head.to_owned(), |text, i| {
            let (x, y) = (value(2 * i), value(2 * i + 1));
            format!("{text}{x} {y} {}\n", x + y / 2.0)
        })
    }

    #[test]
    fn networks_learn_a_smooth_function() {
        let problem = DataSet::parse(&text()).unwrap();
        assert_eq!((problem.train, problem.inputs.len()), (15, 20));
        for chosen in [problem.single().unwrap(), problem.product().unwrap()] {
            assert!(chosen.test < 0.1 && chosen.train < 0.1, "{}", chosen.test);
        }
        // The sum goes through the rows only if that costs nothing.
        assert!(problem.sum().unwrap().test < 1.0);
    }

    #[test]
    fn damaged_files_are_errors() {
        let good = text();
        assert!(DataSet::parse(&good.replace("real_in=2", "real_in=3")).is_err());
        assert!(DataSet::parse(&good.replace("test_examples=5", "test_examples=6")).is_err());
        assert!(DataSet::parse(&good.replace("real_in=2", "real_in=two")).is_err());
        assert!(DataSet::parse("").is_err());
    }
}
