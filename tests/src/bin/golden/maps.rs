//! Input maps where a value that is off by one, or not saturated, shows: of each input,
//! one number, and an offset that puts it beside the step from q = −1 to q = 0.

use koan::numerics::Scale;
use koan::{Family, InputMap, Law};
use koan_tests::golden::Golden;
use koan_tests::random::Random;
use koan_tests::reference::{signed_log, signed_log_by};
use koan_trainer::internal::blob::{BankSpec, MapSpec};

use crate::parts::exact;

/// Steps of the gain's product: q is -1 up to c = -65, then 0. Linear features leave the
/// lowest bit of q out, so that this step shows.
const STEEPEST: u8 = 255;

/// An input: the number that is looked at, its map, and what it is as a word and a byte.
struct Edge {
    x: f32,
    map: InputMap,
}

impl Edge {
    /// The value v of `x` is beside the step towards `wrong`.
    fn of(x: f32, shift: i8, log: bool, v: i64, wrong: i64) -> Self {
        let offset = if wrong < v { v + 64 } else { v + 65 };
        let offset = i32::try_from(offset).expect("a value that leaves room");
        Self { x, map: InputMap::new(offset, shift, log, STEEPEST).unwrap() }
    }

    fn with(x: f32, offset: i32, mult: u8) -> Self {
        Self { x, map: InputMap::new(offset, 0, false, mult).unwrap() }
    }
}

fn linear(inputs: usize) -> BankSpec {
    BankSpec {
        family: Family::Linear,
        law: Law::None,
        features: inputs as u16,
        scale: Scale::ONE,
        groups: Vec::new(),
        kept: None,
    }
}

/// The number if it is whole and of a type, else `other`.
fn as_whole(x: f32, least: f32, most: f32, other: f32) -> f32 {
    if x.fract() == 0.0 && (least..=most).contains(&x) && x.to_bits() != 1 << 31 {
        x
    } else {
        other
    }
}

fn model(name: &str, seed: u64, edges: &[Edge]) -> Golden {
    let each = |number: &dyn Fn(f32) -> f32| edges.iter().map(|edge| number(edge.x)).collect();
    let rows = vec![
        each(&|x| x),
        each(&|x| as_whole(x, -32768.0, 32767.0, 3.0)),
        each(&|x| as_whole(x, 0.0, 255.0, 7.0)),
        // The other side of each step is not always far.
        each(&|x| if x.abs() < 1e9 { -x } else { x / 2.0 }),
    ];
    let maps = MapSpec::PerInput(edges.iter().map(|edge| edge.map).collect());
    exact(name, seed, edges.len() as u16, maps, linear(edges.len()), rows)
}

/// Rounding, saturation of v and of c, and a number that is none.
fn saturation() -> Golden {
    let most = i64::from(i32::MAX);
    let half = |x: f32, shift: i8, v: i64| Edge::of(x, shift, false, v, v - v.signum());
    model(
        "input-map",
        51,
        &[
            // Halves are rounded away from zero: not to even, not up, not cut off.
            half(0.5, 0, 1),
            half(-0.5, 0, -1),
            half(2.5, 0, 3),
            half(-2.5, 0, -3),
            half(5.0, -1, 3),
            half(-5.0, -1, -3),
            half(7.0, -1, 4),
            half(200.0, -4, 13),
            half(-0.75, 1, -2),
            // v is saturated at -(2^31 - 1), not at -2^31; an infinity is nothing else.
            Edge::of(-1e10, 0, false, -most, -most - 1),
            Edge::of(-32768.0, 60, false, -most, -most - 1),
            Edge::of(f32::NEG_INFINITY, -64, false, -most, -most - 1),
            // c = 193, just where q steps from 1 to 2; far more were v not saturated.
            Edge::with(1e10, i32::MAX - 193, STEEPEST),
            Edge::with(f32::INFINITY, i32::MAX - 193, STEEPEST),
            Edge::with(255.0, i32::MAX, 1),
            // c is saturated at the i32 range, then at 2^23 - 1, which mult 1 makes 256.
            Edge::with(5.0, i32::MIN, 1),
            Edge::with(-6.0, i32::MAX, 1),
            Edge::with(2e7, 0, 100),
            Edge::with(-2e7, 0, 100),
            Edge::with(f32::NAN, 77_777, 200),
            // Smaller than all that counts.
            Edge::of(1e-45, 63, false, 0, 1),
        ],
    )
}

/// ln(1 + t), in and out in Q30.
fn exact_log(t: i128) -> i128 {
    let one = f64::from(1 << 30);
    ((t as f64 / one).ln_1p() * one).round() as i128
}

/// Numbers whose logarithm by the specified polynomial is another integer than by the
/// function that it stands for: other polynomials go wrong at many of them.
fn logarithm() -> Golden {
    let mut random = Random::new(52);
    let mut edges = Vec::new();
    let mut add = |number: &mut dyn FnMut(&mut Random) -> f32, count: usize| {
        let mut found = 0;
        for _ in 0..100_000 {
            if found == count {
                return;
            }
            let x = number(&mut random);
            let (log, wrong) = (signed_log(x), signed_log_by(x, exact_log));
            if log == wrong || edges.iter().any(|edge: &Edge| edge.x == x) {
                continue;
            }
            // The largest shift that saturates nothing.
            let power = (25..31).rev().find(|power| log.abs() << (power - 24) < (1 << 31) - 128);
            let power = power.unwrap_or(24);
            let of = |log: i64| log << (power - 24);
            edges.push(Edge::of(x, power as i8, true, of(log), of(wrong)));
            found += 1;
        }
        panic!("{found} numbers of {count}");
    };
    add(&mut |random| random.below(256) as f32, 3);
    add(&mut |random| random.below(65_536) as f32 - 32_768.0, 6);
    add(&mut |random| random.between(-1.7, 1.7) as f32, 8);
    add(&mut |random| random.between(0.0, 10.0).exp() as f32, 6);
    add(&mut |random| -random.between(10.0, 88.0).exp() as f32, 8);
    // An infinity is 2^128, not the largest value.
    let infinite = signed_log(f32::INFINITY);
    edges.push(Edge::of(f32::INFINITY, 24, true, infinite, infinite - 1));
    model("logarithm", 52, &edges)
}

pub fn models() -> Vec<Golden> {
    vec![saturation(), logarithm()]
}
