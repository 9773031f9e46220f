//! Figures 1 and 2 of *Random Maxout Features*: distances saturate sooner the
//! more projections a unit has, and components of the features unroll a curve.

use std::time::Instant;

use koan::{Family, Law};

use super::section::{Grid, Plot, Section, Series};
use super::{Settings, unreadable};
use koan_data::{Division, Format, ReadOptions, Schema, Table, Target, read};
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::features::FeatureMap;
use koan_trainer::internal::normalise::{Axis, Kind, Normaliser};
use koan_trainer::internal::plan::{BankPlan, realise};
use koan_trainer::{Error, FamilyName, Goal, TrainOptions, train};

/// Units of the first figure.
const UNITS: u16 = 1000;
/// Points on the circle.
const POINTS: usize = 100;
/// Projections of a unit in the first figure; the paper draws 8 and 32.
const POOLS: [u8; 6] = [2, 4, 8, 16, 32, 64];
/// Images of the second figure.
const IMAGES: usize = 33;
/// Their file.
const DIGITS: &str = "mnist/train-images-idx3-ubyte.gz";

/// Runs the experiment.
///
/// # Errors
/// Data that are there but cannot be read.
pub fn run(settings: &Settings) -> Result<Section, Error> {
    let start = Instant::now();
    let mut section =
        Section::new("Locality of maxout features (Random Maxout Features, Figures 1 and 2)");
    circle(settings, &mut section)?;
    match settings.files(&[DIGITS]) {
        Some(files) => turned(settings, &files[0], &mut section)?,
        None => section.skipped.push("mnist".into()),
    }
    section.seconds = start.elapsed().as_secs_f64();
    Ok(section)
}

/// Values without targets as a table.
fn table(values: Vec<f32>, inputs: usize) -> Table {
    let rows = values.len() / inputs;
    Table {
        inputs,
        values,
        target: Target::Values(vec![0.0; rows]),
        weights: None,
        schema: Schema { inputs, ..Schema::new(Format::Csv) },
        division: Division::Free,
    }
}

/// Figure 1: distances of points on the unit circle before and after.
fn circle(settings: &Settings, section: &mut Section) -> Result<(), Error> {
    let draw = koan::generator::Stream::new(settings.seed, 0);
    let angle = |i: usize| f64::from(draw.draw(i as u64) as u16) / 65536.0 * std::f64::consts::TAU;
    let points = table(
        (0..POINTS).flat_map(|i| [angle(i).cos() as f32, angle(i).sin() as f32]).collect(),
        2,
    );
    let rows: Vec<usize> = (0..POINTS).collect();
    let axis = Axis { log: false, offset: 0.0, scale: 1.0 };
    let normaliser = Normaliser { period: 1, axes: vec![axis; 2] };
    let spread = normaliser.spread(&points, &rows);
    section.protocol.push(format!(
        "Figure 1: {POINTS} points drawn from the unit circle, {UNITS} units of q Gaussian \
         projections. The distance of features is divided by √m and the deviation of a \
         projection. The radius is the distance of points at which the mean distance of \
         features (in steps of 0.1) first reaches 90 % of its largest."
    ));
    let mut grid = Grid::new(
        "Distances of features for some distances of points; the paper has pictures for q = 8 and 32.",
        &["q", "at 0.1", "at 0.5", "at 1", "at 1.5", "at 2", "radius"],
    );
    let mut plot = Plot {
        title: "Distances of maxout features".into(),
        axes: ["‖x − z‖".into(), "‖Φ(x) − Φ(z)‖".into()],
        log: [false, false],
        series: Vec::new(),
    };
    let mut radii = Vec::new();
    for pool in POOLS {
        let plan = BankPlan {
            family: Family::Maxout { pool, shared: 0 },
            law: Law::Gaussian,
            features: UNITS,
            frequency: 1.0,
            groups: Vec::new(),
            kept: None,
        };
        let spec = realise(settings.seed, &[plan], &normaliser, &spread);
        let features = FeatureMap::new(&spec)?.features_of(&points, &rows)?;
        // Five deviations of a projection stay below saturation: 6000 is one.
        let pairs = distances(&points, &features, 6000.0 * f64::from(UNITS).sqrt());
        let steps = stepped(&pairs);
        let largest = steps.iter().fold(0.0f64, |m, step| m.max(step.1));
        let radius = steps.iter().find(|step| step.1 >= 0.9 * largest).map_or(0.0, |step| step.0);
        radii.push(radius);
        let at = |x: f64| {
            let near =
                |a: &&(f64, f64), b: &&(f64, f64)| (a.0 - x).abs().total_cmp(&(b.0 - x).abs());
            steps.iter().min_by(near).map_or(0.0, |step| step.1)
        };
        let mut cells = vec![pool.to_string()];
        cells.extend([0.1, 0.5, 1.0, 1.5, 2.0].map(|x| format!("{:.3}", at(x))));
        cells.push(format!("{radius:.1}"));
        grid.row(cells);
        if [8, 32].contains(&pool) {
            let some = pairs.iter().copied().step_by(7).collect();
            plot.series.push(Series::points(&format!("q = {pool}"), some));
        }
    }
    section.grids.push(grid);
    section.plots.push(plot);
    let grows = radii.windows(2).any(|pair| pair[1] > pair[0]);
    section.findings.push(format!(
        "Distances rise linearly and then saturate: the radius goes from {:.1} (q = 2) to {:.1} \
         (q = 64), and {} with a doubling of q. The paper's Figure 1 has it smaller for q = 32 than \
         for q = 8.",
        radii[0],
        radii[radii.len() - 1],
        if grows { "rises at least once" } else { "never rises" },
    ));
    Ok(())
}

/// Distances of all pairs of rows: of their points, and of their features over
/// `unit`.
fn distances(points: &Table, features: &[i16], unit: f64) -> Vec<(f64, f64)> {
    let each = features.len() / points.rows();
    let feature = |i: usize| &features[i * each..][..each];
    let mut pairs = Vec::new();
    for i in 0..points.rows() {
        for j in 0..i {
            let square = |a: f64, b: f64| (a - b) * (a - b);
            let before: f64 = points
                .row(i)
                .iter()
                .zip(points.row(j))
                .map(|(&a, &b)| square(a.into(), b.into()))
                .sum();
            let after: f64 =
                feature(i).iter().zip(feature(j)).map(|(&a, &b)| square(a.into(), b.into())).sum();
            pairs.push((before.sqrt(), after.sqrt() / unit));
        }
    }
    pairs
}

/// Means of y over x in steps of 0.1 around 0.1, 0.2, …; steps without pairs
/// left out.
fn stepped(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    (1..=20)
        .filter_map(|step| {
            let x = f64::from(step) / 10.0;
            let mine = || pairs.iter().filter(|pair| (pair.0 - x).abs() <= 0.05);
            let count = mine().count();
            (count > 0).then(|| (x, mine().map(|pair| pair.1).sum::<f64>() / count as f64))
        })
        .collect()
}

/// Figure 2: images of one thing at many angles on the two leading components.
fn turned(settings: &Settings, file: &std::path::Path, section: &mut Section) -> Result<(), Error> {
    let digits = read(file, &ReadOptions::default())?;
    let side = digits.inputs.isqrt();
    let Target::Classes { labels } = &digits.target else {
        return Err(unreadable(file, "no labels"));
    };
    // The first 4: no turn of it looks like another one.
    let Some(row) =
        labels.iter().position(|&label| label == 4).filter(|_| side * side == digits.inputs)
    else {
        return Err(unreadable(file, "no square images of a 4"));
    };
    let degrees: Vec<f64> = (0..IMAGES).map(|i| -80.0 + 5.0 * i as f64).collect();
    let values = degrees.iter().flat_map(|angle| turn(digits.row(row), side, angle.to_radians()));
    let images = table(values.collect(), digits.inputs);
    let mut grid = Grid::new(
        "The share of images whose nearest neighbour in the plane is next to them in angle.",
        &["embedding", "neighbours kept"],
    );
    let mut plot = Plot {
        title: "A digit at 33 angles on two components (joined in order of angle)".into(),
        axes: ["first component".into(), "second component".into()],
        log: [false, false],
        series: Vec::new(),
    };
    let mut shares = Vec::new();
    for (name, family) in
        [("maxout, m = 2000, q = 12", FamilyName::Maxout), ("linear", FamilyName::Linear)]
    {
        let options = TrainOptions {
            goal: Goal::Embed { outputs: 2 },
            families: vec![family],
            projection: (family == FamilyName::Maxout).then_some(Law::Gaussian),
            features: vec![2000],
            pool: 12,
            map: Some(Kind::Shared),
            seed: settings.seed,
            ..TrainOptions::default()
        };
        let trained = train(&images, Some(&images), &options, &settings.progress)?;
        let mut runner = predictor(&trained.blob)?;
        let mut places = Vec::new();
        for row in 0..IMAGES {
            let mut values = [0.0f32; 2];
            runner.values(images.row(row), &mut values)?;
            places.push((f64::from(values[0]), f64::from(values[1])));
        }
        let kept = neighbours_kept(&places);
        shares.push(100.0 * kept);
        grid.row([name.to_owned(), format!("{:.0} %", 100.0 * kept)]);
        // Of very different sizes: each in its own unit.
        let size = places.iter().fold(0.0f64, |m, p| m.max(p.0.abs()).max(p.1.abs()));
        let shown = places.iter().map(|p| (p.0 / size, p.1 / size)).collect();
        plot.series.push(Series::line(name, shown));
    }
    section.protocol.push(format!(
        "Figure 2: the paper's {IMAGES} photographs of a face are not public here; instead the first \
         4 of MNIST, turned from −80° to 80° in steps of 5°. The embedding is a model (8-bit \
         weights, as `koan train --task embedding` makes it), run by the core; m is 2000 instead \
         of 10000, as components are computed of at most 4096 features."
    ));
    section.grids.push(grid);
    section.plots.push(plot);
    section.findings.push(format!(
        "Maxout components put the angles in order on a curve, as in the paper's Figure 2: {:.0} % \
         of the images lie next to a neighbour in angle. Linear components, which the paper does \
         not show, keep {:.0} %.",
        shares[0], shares[1]
    ));
    Ok(())
}

/// An image of side × side turned about its middle, bilinear, outside 0.
fn turn(image: &[f32], side: usize, angle: f64) -> Vec<f32> {
    let pixel = |x: isize, y: isize| -> f64 {
        let inside = |v: isize| usize::try_from(v).ok().filter(|&v| v < side);
        match (inside(x), inside(y)) {
            (Some(x), Some(y)) => f64::from(image[y * side + x]),
            _ => 0.0,
        }
    };
    let middle = (side as f64 - 1.0) / 2.0;
    let (sin, cos) = angle.sin_cos();
    let mut turned = Vec::with_capacity(side * side);
    for row in 0..side {
        for column in 0..side {
            let (dx, dy) = (column as f64 - middle, row as f64 - middle);
            let (x, y) = (middle + cos * dx + sin * dy, middle - sin * dx + cos * dy);
            let (left, top) = (x.floor(), y.floor());
            let (fx, fy) = (x - left, y - top);
            let (l, t) = (left as isize, top as isize);
            let upper = (1.0 - fx) * pixel(l, t) + fx * pixel(l + 1, t);
            let lower = (1.0 - fx) * pixel(l, t + 1) + fx * pixel(l + 1, t + 1);
            turned.push(((1.0 - fy) * upper + fy * lower) as f32);
        }
    }
    turned
}

/// The share of places whose nearest one is the one before or after them.
fn neighbours_kept(places: &[(f64, f64)]) -> f64 {
    let square = |i: usize, j: usize| {
        (places[i].0 - places[j].0).powi(2) + (places[i].1 - places[j].1).powi(2)
    };
    let kept = (0..places.len()).filter(|&i| {
        let others = (0..places.len()).filter(|&j| j != i);
        others
            .min_by(|&a, &b| square(i, a).total_cmp(&square(i, b)))
            .is_some_and(|j| i.abs_diff(j) == 1)
    });
    kept.count() as f64 / places.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_moves_pixels() {
        let mut image = vec![0.0; 9];
        image[1] = 1.0;
        let turned = turn(&image, 3, std::f64::consts::FRAC_PI_2);
        let brightest = (0..9).max_by(|&a, &b| turned[a].total_cmp(&turned[b])).unwrap();
        assert!([3, 5].contains(&brightest) && (turned[brightest] - 1.0).abs() < 1e-6);
        assert_eq!(turn(&image, 3, 0.0), image);
    }

    #[test]
    fn neighbours_in_the_plane() {
        assert_eq!(neighbours_kept(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.1)]), 1.0);
        assert_eq!(neighbours_kept(&[(0.0, 0.0), (9.0, 0.0), (0.0, 0.1), (9.0, 0.2)]), 0.0);
    }
}
