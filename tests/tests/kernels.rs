//! The features of each family approximate their kernel: the error falls as
//! 1/√K towards the closed form, and ends below an absolute bound.
//!
//! The error is the mean over pairs of points, and over seeds, of
//! |Σ φ(x)φ(y)·norm/K − k(x, y)|. Its product with √K must stay between 0.6 and
//! 1.5 of its value at the smallest K. That does not test the law alone: a wrong
//! scale or a bias would show as an error that stops to fall.

use std::f64::consts::TAU;

use koan::numerics::{CAUCHY_ONE, NORMAL, NORMAL_ONE, Scale};
use koan::{Family, Group, Law};
use koan_tests::random::Random;
use koan_trainer::internal::blob::{BankSpec, MapSpec, ModelSpec, predictor};
use koan_trainer::internal::nearest;

/// Quantised units of an input's 1: exactly the gain of the map.
const GAIN: f64 = 1024.0;
/// What a feature of 1 is.
const ONE: f64 = koan::FEATURE_ONE as f64;

type Pair = (Vec<f64>, Vec<f64>);

/// Features under test and what their products should be.
struct Case<'a> {
    inputs: usize,
    /// The banks for a number of features each.
    banks: &'a dyn Fn(u16) -> Vec<BankSpec>,
    /// Draws a pair of points.
    pair: &'a dyn Fn(&mut Random) -> Pair,
    /// The most features that one model may have; more are taken from several.
    most: u16,
    /// What features of two points are compared by.
    product: &'a Product,
    /// What a product is multiplied by.
    norm: f64,
    kernel: &'a dyn Fn(&[f64], &[f64]) -> f64,
}

type Core<'m> = koan::Predictor<'m, koan_trainer::internal::heap::HeapBuffers>;

/// Compares two points by a model's features.
type Product = dyn Fn(&mut Core<'_>, &[f64], &[f64]) -> f64;

/// Σ φ(x)φ(y).
fn feature_product(core: &mut Core<'_>, x: &[f64], y: &[f64]) -> f64 {
    let count = core.model().features();
    let mut both = [vec![0; count], vec![0; count]];
    core.features(&row(x), &mut both[0]).expect("a row");
    core.features(&row(y), &mut both[1]).expect("a row");
    both[0].iter().zip(&both[1]).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

/// How many codes are equal.
fn equal_codes(core: &mut Core<'_>, x: &[f64], y: &[f64]) -> f64 {
    let count = core.model().codes();
    let mut both = [vec![0; count], vec![0; count]];
    core.codes(&row(x), &mut both[0]).expect("a row");
    core.codes(&row(y), &mut both[1]).expect("a row");
    both[0].iter().zip(&both[1]).filter(|(a, b)| a == b).count() as f64
}

/// A bank of one law.
fn bank(family: Family, law: Law, features: u16, scale: Scale) -> BankSpec {
    BankSpec { family, law, features, scale, groups: Vec::new(), kept: None }
}

fn row(x: &[f64]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

/// Blob of a model that is features only.
fn blob(inputs: usize, seed: u64, banks: Vec<BankSpec>) -> Vec<u8> {
    let map = MapSpec::Shared(nearest::map(0.0, GAIN, false));
    ModelSpec::features(seed, inputs as u16, map, banks).encode().expect("a valid model")
}

impl Case<'_> {
    /// Mean absolute error with `features` features.
    fn error(&self, features: u16) -> f64 {
        const SEEDS: u64 = 100;
        const PAIRS: usize = 8;
        let mut total = 0.0;
        for seed in 0..SEEDS {
            // The same pairs for every K.
            let mut random = Random::new(1000 + seed);
            let pairs: Vec<Pair> = (0..PAIRS).map(|_| (self.pair)(&mut random)).collect();
            let mut sums = [0.0; PAIRS];
            let each = features.min(self.most);
            for part in 0..features / each {
                let blob = blob(self.inputs, seed << 16 | u64::from(part), (self.banks)(each));
                let mut core = predictor(&blob).expect("a valid model");
                for (sum, (x, y)) in sums.iter_mut().zip(&pairs) {
                    *sum += (self.product)(&mut core, x, y);
                }
            }
            for (sum, (x, y)) in sums.iter().zip(&pairs) {
                let estimate = sum * self.norm / f64::from(features);
                total += (estimate - (self.kernel)(x, y)).abs();
            }
        }
        total / (SEEDS as f64 * PAIRS as f64)
    }

    /// Asserts that the error falls like 1/√K over `counts`, as for independent
    /// draws, and the bound at the last of them.
    fn check(&self, name: &str, counts: &[u16], bound: f64) {
        self.check_rate(name, counts, bound, 0.6);
    }

    /// The same with the least ratio of error times √K to the first one's: 0 where
    /// the error may fall faster.
    fn check_rate(&self, name: &str, counts: &[u16], bound: f64, least: f64) {
        let errors: Vec<_> = counts.iter().map(|&count| self.error(count)).collect();
        let scaled: Vec<_> =
            errors.iter().zip(counts).map(|(e, &count)| e * f64::from(count).sqrt()).collect();
        println!("{name}: errors {errors:.4?}, times root of K {scaled:.3?}");
        for constant in &scaled {
            let ratio = constant / scaled[0];
            assert!((least..=1.5).contains(&ratio), "{name}: {errors:?} over {counts:?}");
        }
        let last = errors[errors.len() - 1];
        assert!(last < bound, "{name}: error {last}, allowed {bound}");
    }
}

fn differences<'a>(x: &'a [f64], y: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    x.iter().zip(y).map(|(x, y)| x - y)
}

fn gaussian(s: f64, x: &[f64], y: &[f64]) -> f64 {
    (-differences(x, y).map(|z| z * z).sum::<f64>() * s * s / 2.0).exp()
}

fn laplacian(s: f64, x: &[f64], y: &[f64]) -> f64 {
    (-differences(x, y).map(f64::abs).sum::<f64>() * s).exp()
}

/// Points of a cube and others at a distance in (0.3, 2), measured by `norm`.
fn pair_at(inputs: usize, norm: impl Fn(&[f64]) -> f64) -> impl Fn(&mut Random) -> Pair {
    move |random| {
        let x: Vec<f64> = (0..inputs).map(|_| random.between(-2.0, 2.0)).collect();
        let way: Vec<f64> = (0..inputs).map(|_| random.normal()).collect();
        let length = random.between(0.3, 2.0) / norm(&way);
        let y = x.iter().zip(&way).map(|(x, way)| x + length * way).collect();
        (x, y)
    }
}

fn euclidean(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum::<f64>().sqrt()
}

fn manhattan(z: &[f64]) -> f64 {
    z.iter().map(|z| z.abs()).sum()
}

/// Radians of a feature's argument for an input's 1 and a weight of `unit`.
fn radians(scale: Scale, unit: i32) -> f64 {
    TAU / 65_536.0 * scale.factor() * f64::from(unit) * GAIN
}

/// Scales under which an input's 1 is about 1 radian for a weight of 1.
const OF_NORMAL: Scale = Scale::new(237, 10).unwrap();
const OF_CAUCHY: Scale = Scale::new(209, 12).unwrap();
const OF_SIGN: Scale = Scale::new(163, 4).unwrap();

#[test]
fn gaussian_projections_give_the_gaussian_kernel() {
    let s = radians(OF_NORMAL, NORMAL_ONE);
    Case {
        inputs: 8,
        banks: &|k| vec![bank(Family::Fourier, Law::Gaussian, k, OF_NORMAL)],
        pair: &pair_at(8, euclidean),
        most: u16::MAX,
        product: &feature_product,
        norm: 2.0 / (ONE * ONE),
        kernel: &|x, y| gaussian(s, x, y),
    }
    .check("fourier gaussian", &[64, 256, 1024, 4096], 0.015);
}

#[test]
fn cauchy_projections_give_the_laplacian_kernel() {
    // The table's tails end at 163 units: a bias of about 0.002 an input.
    let s = radians(OF_CAUCHY, CAUCHY_ONE);
    Case {
        inputs: 4,
        banks: &|k| vec![bank(Family::Fourier, Law::Cauchy, k, OF_CAUCHY)],
        pair: &pair_at(4, manhattan),
        most: u16::MAX,
        product: &feature_product,
        norm: 2.0 / (ONE * ONE),
        kernel: &|x, y| laplacian(s, x, y),
    }
    .check("fourier cauchy", &[64, 256, 1024, 4096], 0.018);
}

/// Random signs, alone or in a transform (whose rows are random signs each):
/// exactly Π cos(s·z_i), which is the Gaussian kernel for many inputs.
fn signs(law: Law) {
    let s = radians(OF_SIGN, 1);
    let case = Case {
        inputs: 48,
        banks: &|k| vec![bank(Family::Fourier, law, k, OF_SIGN)],
        pair: &pair_at(48, euclidean),
        most: u16::MAX,
        product: &feature_product,
        norm: 2.0 / (ONE * ONE),
        kernel: &|x, y| differences(x, y).map(|z| (s * z).cos()).product(),
    };
    case.check(law.name(), &[64, 256, 1024], 0.03);
    let limit = Case { kernel: &|x, y| gaussian(s, x, y), ..case };
    let error = limit.error(1024);
    assert!(error < 0.03, "{}: {error} from the gaussian kernel", law.name());
}

#[test]
fn sign_projections_give_the_gaussian_kernel() {
    signs(Law::Sign);
}

#[test]
fn hadamard_projections_give_the_gaussian_kernel() {
    signs(Law::Hadamard);
}

/// 256 quantised units are one kernel width, after the scale: here 1/4 of the
/// gain of 1024. With slots of 12 bits collisions of cells hardly count; a model
/// then has room for 15 grids. Features of two points multiply to 1 for each
/// grid in which they have the same slot.
#[test]
fn bins_give_the_laplacian_kernel() {
    let quarter = Scale::new(1, 2).unwrap();
    let case = Case {
        inputs: 3,
        banks: &|k| vec![bank(Family::Bin { slot_bits: 12 }, Law::Gamma2, k, quarter)],
        pair: &pair_at(3, manhattan),
        most: 15,
        product: &equal_codes,
        norm: 1.0,
        kernel: &|x, y| laplacian(1.0, x, y),
    };
    case.check("bin", &[60, 240, 960], 0.02);
    let by_features = Case { product: &feature_product, norm: 1.0 / (ONE * ONE), ..case };
    assert_eq!(by_features.error(15), case.error(15));
}

/// For one input and thresholds uniform on [−a, a], the product is −1 if the
/// threshold separates the points, of probability |x − y|/(2a), else 1: its mean
/// is 1 − |x − y|/a. For d inputs, each looked at equally often, that is
/// averaged over them: 1 − ‖x − y‖₁/(a·d). The number of features is a multiple
/// of d here, so that the stratified choice of inputs is exactly equal.
#[test]
fn stumps_give_the_kernel_of_thresholds() {
    const INPUTS: usize = 8;
    // 2·byte − 255 are the middles of 256 parts of [−256, 256].
    let scale = Scale::new(64, 0).unwrap();
    let a = 256.0 * scale.factor() / GAIN;
    Case {
        inputs: INPUTS,
        banks: &|k| vec![bank(Family::Stump, Law::Uniform, k, scale)],
        pair: &|random| {
            let mut point = || (0..INPUTS).map(|_| random.between(-a, a)).collect::<Vec<_>>();
            let (x, far) = (point(), point());
            let part = random.unit();
            let y = x.iter().zip(far).map(|(x, far)| x + part * (far - x)).collect();
            (x, y)
        },
        most: u16::MAX,
        product: &feature_product,
        norm: 1.0 / (ONE * ONE),
        kernel: &|x, y| 1.0 - differences(x, y).map(f64::abs).sum::<f64>() / (a * INPUTS as f64),
    }
    // Thresholds that fill the range evenly: 1/K until their 256 levels show.
    .check_rate("stump", &[64, 256, 1024, 4096], 0.003, 0.0);
}

/// Of q standard normals: E max², (E max)² and E max·min, numerically.
struct Moments {
    square: f64,
    mean_squared: f64,
    max_min: f64,
}

fn moments(q: i32) -> Moments {
    const STEPS: usize = 1500;
    let width = 16.0 / STEPS as f64;
    let points: Vec<f64> = (0..STEPS).map(|i| -8.0 + (i as f64 + 0.5) * width).collect();
    let density: Vec<f64> =
        points.iter().map(|x| (-x * x / 2.0).exp() / TAU.sqrt() * width).collect();
    let mut below = 0.0;
    let distribution: Vec<f64> = density
        .iter()
        .map(|part| {
            below += part;
            below - part / 2.0
        })
        .collect();
    let (mut mean, mut square, mut max_min) = (0.0, 0.0, 0.0);
    let count = f64::from(q);
    for i in 0..STEPS {
        let weight = count * density[i] * distribution[i].powi(q - 1);
        mean += points[i] * weight;
        square += points[i] * points[i] * weight;
        // The maximum is point i, the minimum point j, the others between.
        for j in 0..i {
            let between = (distribution[i] - distribution[j]).powi(q - 2);
            let both = count * (count - 1.0) * density[i] * density[j] * between;
            max_min += points[i] * points[j] * both;
        }
    }
    Moments { square, mean_squared: mean * mean, max_min }
}

#[test]
fn the_moments_of_two_normals_are_known() {
    let two = moments(2);
    assert!((two.square - 1.0).abs() < 1e-3);
    assert!((two.mean_squared - 2.0 / TAU).abs() < 1e-3);
    assert!(two.max_min.abs() < 1e-2);
}

/// A point of length 1, and one of length 1 whose cosine with it is −1, 0 or 1.
fn pair_of_cosine(inputs: usize, cosine: i32) -> impl Fn(&mut Random) -> Pair {
    move |random| {
        let mut draw = || (0..inputs).map(|_| random.normal()).collect::<Vec<_>>();
        let unit = |z: Vec<f64>| {
            let length = euclidean(&z);
            z.into_iter().map(|z| z / length).collect::<Vec<_>>()
        };
        let (x, other) = (unit(draw()), draw());
        if cosine != 0 {
            let y = x.iter().map(|x| f64::from(cosine) * x).collect();
            return (x, y);
        }
        let along: f64 = x.iter().zip(&other).map(|(x, y)| x * y).sum();
        let y = unit(x.iter().zip(other).map(|(x, y)| y - along * x).collect());
        (x, y)
    }
}

/// Members of a maxout unit in these tests.
const POOL: u8 = 4;

/// E φ(x)φ(y) for points of length 1, where two normals of correlation ρ have a
/// closed form: E max² = σ²(q) for ρ = 1; for ρ = 0 the maxima are independent,
/// (E max)²; for ρ = −1 the second is minus the minimum of the first's, −E max·min.
///
fn maxout(law: Law, inputs: usize, shared: u16, counts: &[u16], bound: f64) {
    // One unit of a projection's weight: the table's actual deviation.
    let square = |w: &i8| f64::from(*w) * f64::from(*w);
    let deviation = (NORMAL.iter().map(square).sum::<f64>() / 256.0).sqrt();
    let (unit, scale) = match law {
        // A deviation of 22: maxima hardly ever reach 127.
        Law::Gaussian => (deviation, Scale::new(1, 11).unwrap()),
        _ => (1.0, Scale::new(11, 9).unwrap()),
    };
    let of_one = unit * GAIN * scale.factor();
    let moments = moments(i32::from(POOL));
    let kernels = [(1, moments.square), (0, moments.mean_squared), (-1, -moments.max_min)];
    for (cosine, kernel) in kernels {
        let family = Family::Maxout { pool: POOL, shared };
        Case {
            inputs,
            banks: &|k| vec![bank(family, law, k, scale)],
            pair: &pair_of_cosine(inputs, cosine),
            most: u16::MAX,
            product: &feature_product,
            norm: 1.0 / (of_one * of_one),
            kernel: &|_, _| kernel,
        }
        .check(&format!("maxout {} {cosine} {kernel:.3}", law.name()), counts, bound);
    }
}

#[test]
fn maxout_units_have_the_moments_of_maxima() {
    maxout(Law::Gaussian, 16, 0, &[64, 256, 1024], 0.06);
    maxout(Law::Sign, 64, 0, &[64, 256, 1024], 0.06);
    // A small transform has too few rows to be like independent ones (an error of
    // about 2/P that no K takes away): a larger one.
    maxout(Law::Hadamard, 512, 0, &[64, 256, 1024], 0.06);
}

/// Units that share projections are not independent: only a bound.
#[test]
fn maxout_units_of_a_shared_pool_have_the_moments_of_maxima() {
    maxout(Law::Gaussian, 16, 1024, &[1024], 0.1);
    maxout(Law::Hadamard, 64, 1024, &[1024], 0.1);
}

/// Locality-sensitive codes agree with probability κ(ρ): 0 for opposite points,
/// 1/q for orthogonal ones, 1 for equal ones.
#[test]
fn maxout_codes_collide_as_often_as_cosines_say() {
    for (law, scale) in [(Law::Gaussian, Scale::new(1, 4).unwrap()), (Law::Hadamard, Scale::ONE)] {
        for shared in [0, 1024] {
            for (cosine, expected) in [(-1, 0.0), (0, 1.0 / f64::from(POOL)), (1, 1.0)] {
                let pair = pair_of_cosine(64, cosine);
                let mut equal = 0.0;
                let (seeds, units) = (60, 256);
                for seed in 0..seeds {
                    let family = Family::Maxout { pool: POOL, shared };
                    let blob = blob(64, seed, vec![bank(family, law, units, scale)]);
                    let mut core = predictor(&blob).expect("a valid model");
                    let (x, y) = pair(&mut Random::new(seed));
                    equal += equal_codes(&mut core, &x, &y);
                }
                let frequency = equal / (seeds as f64 * f64::from(units));
                let error = (frequency - expected).abs();
                assert!(error < 0.02, "{} {shared} {cosine}: {frequency}", law.name());
                // A tie of all projections would be an accident.
                assert!(cosine == 0 || error < 1e-3, "{frequency}");
            }
        }
    }
}

/// Groups of inputs multiply their kernels; inputs left out do not matter.
#[test]
fn groups_give_the_product_of_their_kernels() {
    let (s, t) = (radians(OF_NORMAL, NORMAL_ONE), radians(OF_CAUCHY, CAUCHY_ONE));
    let near = pair_at(6, manhattan);
    Case {
        inputs: 8,
        banks: &|k| {
            let groups = vec![
                Group { inputs: 3, law: Law::Gaussian, scale: OF_NORMAL },
                Group { inputs: 2, law: Law::None, scale: Scale::ONE },
                Group { inputs: 3, law: Law::Cauchy, scale: OF_CAUCHY },
            ];
            let plain = bank(Family::Fourier, Law::None, k, Scale::ONE);
            vec![BankSpec { groups, ..plain }]
        },
        pair: &|random| {
            let (mut x, mut y) = near(random);
            for point in [&mut x, &mut y] {
                let left_out = [random.normal(), random.normal()];
                point.splice(3..3, left_out);
            }
            (x, y)
        },
        most: u16::MAX,
        product: &feature_product,
        norm: 2.0 / (ONE * ONE),
        kernel: &|x, y| gaussian(s, &x[..3], &y[..3]) * laplacian(t, &x[5..], &y[5..]),
    }
    .check("product", &[64, 256, 1024, 4096], 0.015);
}

/// Banks add their kernels.
#[test]
fn two_banks_give_the_sum_of_their_kernels() {
    let wide = Scale::new(237, 12).unwrap();
    let (s, t) = (radians(wide, NORMAL_ONE), radians(OF_CAUCHY, CAUCHY_ONE));
    Case {
        inputs: 4,
        banks: &|k| {
            let first = bank(Family::Fourier, Law::Gaussian, k, wide);
            vec![first, bank(Family::Fourier, Law::Cauchy, k, OF_CAUCHY)]
        },
        pair: &pair_at(4, manhattan),
        most: u16::MAX,
        product: &feature_product,
        norm: 2.0 / (ONE * ONE),
        kernel: &|x, y| gaussian(s, x, y) + laplacian(t, x, y),
    }
    .check("sum", &[64, 256, 1024, 4096], 0.025);
}
