//! The logistic loss: the same bytes, whatever the parts; and as good as in memory.

use koan_data::stream::stand_in;
use koan_data::{Table, Target};
use proptest::prelude::*;
use wyhash::final3::wyrng;

use super::tests::{Data, Kind, QUIET, Way, options, planned_by, planned_on, runner, sums};
use super::*;
use crate::evaluate::evaluate;
use crate::solve::{Design, Logistic};
use crate::{Loss, TrainOptions};

const WHOLE: Way = Way { parts: 1, seed: 0, batch: 10_000 };

fn plain(classes: usize) -> Kind {
    Kind { classes, weighted: false, balanced: false, grouped: false, missing: false }
}

fn logistic(kind: Kind) -> TrainOptions {
    TrainOptions { loss: Some(Loss::Logistic), ..options(kind) }
}

fn planned(data: &Data, kind: Kind, fraction: f64, way: &Way) -> Plan {
    planned_by(data, kind, fraction, way, logistic(kind))
}

/// The gradients of parts, each as from another machine.
fn gradients(data: &Data, plan: &Plan, step: &Step, way: &Way) -> Gradients {
    let worker = Plan::from_bytes(&plan.for_workers().to_bytes().unwrap()).unwrap();
    let step = Step::from_bytes(&worker, &step.to_bytes().unwrap()).unwrap();
    let parts = way.parts(data.table.rows());
    let sum = |rows: &Vec<usize>| {
        let mut sums = Gradients::new(&worker, &step);
        for batch in data.batches(rows, way.batch) {
            sums.add(&worker, &step, batch.batch()).unwrap();
        }
        Gradients::from_bytes(plan, &step, &sums.to_bytes().unwrap()).unwrap()
    };
    way.merged(parts.iter().map(sum).collect(), |sums, other| sums.merge(&other).unwrap())
}

fn summed(data: &Data, plan: &Plan, way: &Way) -> Sums {
    way.merged(sums(data, plan, way), |sums, other| sums.merge(&other).unwrap())
}

/// A descent that is done; `broken`: whether the client was killed after each pass.
fn descended(data: &Data, plan: &Plan, way: &Way, broken: bool) -> Descent {
    let whole = summed(data, plan, way);
    let mut descent = Descent::new(plan, &whole, &QUIET()).unwrap();
    while !descent.is_done() {
        let sums = gradients(data, plan, descent.step(), way);
        descent.advance(plan, &sums, &QUIET()).unwrap();
        if broken {
            descent = Descent::from_bytes(plan, &whole, &descent.to_bytes().unwrap()).unwrap();
        }
    }
    descent
}

fn trained(data: &Data, kind: Kind, fraction: f64, way: &Way, broken: bool) -> Vec<u8> {
    let plan = planned(data, kind, fraction, way);
    let descent = descended(data, &plan, way, broken);
    finish(&plan, &descent, &QUIET()).unwrap().blob
}

#[test]
fn any_parts_in_any_order_give_the_same_bytes() {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let ways = (prop_oneof![Just(3usize), Just(7), Just(64)], any::<u64>(), 1usize..90);
    let classes = prop_oneof![Just(2usize), Just(3)];
    let strategy = (classes, flags, any::<u64>(), prop_oneof![Just(0.0), Just(0.25)], ways);
    runner(24)
        .run(&strategy, |(classes, flags, seed, fraction, (parts, order, batch))| {
            let (weighted, balanced, grouped, missing) = flags;
            let kind = Kind { classes, weighted, balanced, grouped, missing };
            let data = Data::new(kind, 700, seed);
            let way = Way { parts, seed: order, batch };
            let expected = trained(&data, kind, fraction, &WHOLE, false);
            prop_assert!(trained(&data, kind, fraction, &way, true) == expected);
            Ok(())
        })
        .unwrap();
}

/// Loops over rows and features, by nothing but the definition.
#[test]
fn gradients_are_those_of_loops_over_the_rows() {
    for classes in [2usize, 3] {
        for weighted in [false, true] {
            let kind = Kind { weighted, missing: true, ..plain(classes) };
            let data = Data::new(kind, 1500, 5);
            let way = Way { parts: 3, seed: 8, batch: 700 };
            let plan = planned(&data, kind, 0.0, &way);
            let descent = Descent::new(&plan, &summed(&data, &plan, &WHOLE), &QUIET()).unwrap();
            let step = descent.step();
            let sums = gradients(&data, &plan, step, &way);
            let mut table = data.table.clone();
            stand_in(&mut table, plan.filled());
            let rows: Vec<usize> = (0..table.rows()).collect();
            let features = plan.map.features_of(&table, &rows).unwrap();
            let (weights, bias) = step.real(&plan);
            let (count, outputs) = (plan.features(), plan.outputs());
            let Target::Classes { labels } = &table.target else { panic!("classes") };
            let (unit, residual_unit) = (plan.stored.weight_unit(), 2f64.powi(-27));
            let (mut loss, mut total) = (0.0, 0.0);
            let mut by_weights = vec![0i128; count * outputs];
            let mut by_bias = vec![0i128; outputs];
            for &row in &rows {
                let score = |t: usize| -> f64 {
                    let products =
                        (0..count).map(|k| weights[(k, t)] * f64::from(features[row * count + k]));
                    products.sum::<f64>() + bias[t]
                };
                let scores: Vec<f64> = (0..outputs).map(score).collect();
                let all: Vec<f64> = if outputs == 1 { vec![0.0, scores[0]] } else { scores };
                let top = all.iter().fold(f64::MIN, |a, &b| a.max(b));
                let sum: f64 = all.iter().map(|s| libm::exp(s - top)).sum();
                let weight = plan.stored.weight(&table, row).unwrap();
                let own = all[labels[row] as usize];
                loss += weight as f64 * unit * (top + libm::log(sum) - own);
                total += weight as f64 * unit;
                for t in 0..outputs {
                    let class = if outputs == 1 { 1 } else { t };
                    let chance = libm::exp(all[class] - top) / sum;
                    let wanted = if labels[row] as usize == class { 1.0 } else { 0.0 };
                    let residual = ((chance - wanted) / residual_unit).round() as i128;
                    let value = residual * i128::from(weight);
                    by_bias[t] += value;
                    for k in 0..count {
                        let feature = i128::from(features[row * count + k]);
                        by_weights[t * count + k] += value * feature;
                    }
                }
            }
            let (found_weights, found_bias) = sums.derivatives(&plan);
            // Sums of integers are equal but for the last bit of a residual, of few rows.
            let near = |found: f64, expected: i128| {
                let expected = expected as f64 * residual_unit * unit;
                assert!((found - expected).abs() <= 1e-5, "{found} {expected}");
            };
            for t in 0..outputs {
                near(found_bias[t], by_bias[t]);
                for k in 0..count {
                    near(found_weights[(k, t)], by_weights[t * count + k]);
                }
            }
            assert!((sums.loss(&plan) - loss).abs() < 1e-6 * loss, "{} {loss}", sums.loss(&plan));
            assert!((sums.total(&plan) - total).abs() < 1e-9 * total);
        }
    }
}

/// Weights of rows up to the largest integer, features of 16 bits: digits are put together right.
#[test]
fn weights_of_rows_count_them_several_times() {
    let kind = Kind { weighted: true, ..plain(3) };
    let mut data = Data::new(kind, 300, 9);
    let counts: Vec<usize> = (0..300).map(|row| row % 4).collect();
    data.table.weights = Some(counts.iter().map(|&count| count as f32).collect());
    let linear = TrainOptions { linear: true, ..logistic(kind) };
    let plan = planned_by(&data, kind, 0.0, &WHOLE, linear);
    let descent = Descent::new(&plan, &summed(&data, &plan, &WHOLE), &QUIET()).unwrap();
    let sums = gradients(&data, &plan, descent.step(), &WHOLE);
    let copies: Vec<usize> =
        (0..300).flat_map(|row| std::iter::repeat_n(row, counts[row])).collect();
    let one = data.table.weights.as_mut().unwrap();
    one.fill(1.0);
    let mut repeated = data.batches(&copies, copies.len());
    let repeated = gradients(&repeated.remove(0), &plan, descent.step(), &WHOLE);
    let (found, expected) = (sums.derivatives(&plan), repeated.derivatives(&plan));
    assert_eq!(found.0, expected.0);
    assert_eq!(found.1, expected.1);
    assert_eq!(sums.loss(&plan), repeated.loss(&plan));
}

/// The least objective of the same problem, from all rows in memory.
fn in_memory(data: &Data, plan: &Plan, descent: &Descent) -> f64 {
    let rows: Vec<usize> = (0..data.table.rows()).collect();
    let design = Design::of(&plan.map, &data.table, &rows).unwrap();
    let Target::Classes { labels } = &data.table.target else { panic!("classes") };
    let found = descent.found(plan).unwrap();
    let regression = Logistic::new(&design, labels, plan.outputs(), None);
    regression.solve(found.fit.lambda, Some(&found.fit), 1e-7).convergence.objective
}

/// Rows of which none is another one: a sample of them is one at random.
fn unlike(kind: Kind, rows: usize, seed: u64) -> Data {
    let mut data = Data::new(kind, rows, seed);
    let mut state = seed;
    let mut uniform = || wyrng(&mut state) as f64 / 2f64.powi(64);
    data.table.values.iter_mut().for_each(|value| *value = (uniform() * 2.0 - 1.0) as f32);
    data
}

/// A sample of a twentieth of the rows is enough to be within a thousandth in few passes.
#[test]
fn few_passes_come_close_to_the_least_loss() {
    for classes in [2, 3] {
        let mut data = unlike(plain(classes), 8000, 11);
        let Table { values, target: Target::Classes { labels }, .. } = &mut data.table else {
            panic!("classes")
        };
        let mut state = 2;
        for (row, label) in values.chunks_exact(3).zip(labels) {
            let noise = wyrng(&mut state) as f32 / 2f32.powi(64);
            let score = row[0] + row[1] * row[2] + noise;
            *label = ((1.4 * score + 0.8).max(0.0) as u32).min(classes as u32 - 1);
        }
        let kind = plain(classes);
        let plan = planned_on(400, &data, kind, 0.0, &WHOLE, logistic(kind));
        let descent = descended(&data, &plan, &WHOLE, false);
        let least = in_memory(&data, &plan, &descent);
        let found = descent.objective().unwrap();
        assert!(found < 1.001 * least, "{found} {least}");
        assert!((2..=5).contains(&descent.passes()), "{} passes", descent.passes());
        assert!(descent.found(&plan).unwrap().warnings.is_empty());
    }
}

/// A class of which the sample has no row is learned from the others.
#[test]
fn a_class_that_the_sample_lacks_is_learned() {
    let kind = plain(4);
    let mut data = Data::new(kind, 4000, 13);
    if let Target::Classes { labels } = &mut data.table.target {
        labels.iter_mut().for_each(|label| *label = (*label).min(2));
        // Rows far away from all others, of a class of their own.
        for row in (0..4000).step_by(250) {
            labels[row] = 3;
            let place = 0.01 * row as f32 / 250.0;
            data.table.values[3 * row..3 * row + 3].copy_from_slice(&[8.0 + place, -8.0, 8.0]);
        }
    }
    let plan = planned(&data, kind, 0.0, &WHOLE);
    let Target::Classes { labels } = &plan.sample.as_ref().unwrap().target else {
        panic!("classes")
    };
    assert!(labels.iter().all(|&label| label != 3), "another seed");
    let descent = descended(&data, &plan, &WHOLE, false);
    let least = in_memory(&data, &plan, &descent);
    let found = descent.objective().unwrap();
    assert!(found < 1.1 * least, "{found} {least} in {} passes", descent.passes());
}

/// Rows in rings of many classes.
fn rings(rows: usize, seed: u64) -> Data {
    let mut data = unlike(plain(12), rows, seed);
    let Table { values, target: Target::Classes { labels }, .. } = &mut data.table else {
        panic!("classes")
    };
    for (row, label) in values.chunks_exact(3).zip(labels) {
        let radius = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        *label = ((radius * 8.0) as u32).min(11);
    }
    data
}

#[test]
fn streamed_is_as_good_as_in_memory_and_better_than_squares() {
    let (data, test) = (rings(3000, 17), rings(3000, 18));
    let options = |loss| TrainOptions {
        loss: Some(loss),
        features: vec![96],
        bits: Some(8),
        seed: 3,
        ..options(plain(12))
    };
    let error = |blob: &[u8]| evaluate(blob, &test.table).unwrap().error;
    let quiet = QUIET();
    let memory = crate::train(&data.table, None, &options(Loss::Logistic), &quiet).unwrap().blob;
    let squared = crate::train(&data.table, None, &options(Loss::Squared), &quiet).unwrap().blob;
    let roles = Roles::new(3, 0.0).unwrap();
    let mut sample = Sample::new(&data.table.schema, false, roles, 1000).unwrap();
    sample.add(data.batch()).unwrap();
    let (plan, _) = plan(sample, &options(Loss::Logistic), &quiet).unwrap();
    let descent = descended(&data, &plan, &WHOLE, false);
    let streamed = finish(&plan, &descent, &quiet).unwrap().blob;
    let [streamed, memory, squared] = [error(&streamed), error(&memory), error(&squared)];
    assert!(streamed < memory + 0.02, "{streamed} {memory} {squared}");
    assert!(streamed < squared - 0.02, "{streamed} {memory} {squared}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let kind = plain(2);
    let data = Data::new(kind, 700, 6);
    let plan = planned(&data, kind, 0.0, &WHOLE);
    let squared = planned_by(&data, kind, 0.0, &WHOLE, options(kind));
    let message = |error: Error| error.to_string();
    let refused = |error: Error, text: &str| {
        let error = message(error);
        assert!(error.contains(text), "{error}");
    };
    let mut descent = Descent::new(&plan, &summed(&data, &plan, &WHOLE), &QUIET()).unwrap();
    refused(finish(&plan, &descent, &QUIET()).unwrap_err(), "the descent is not done");
    let whole = summed(&data, &plan, &WHOLE);
    refused(finish(&plan, whole.clone(), &QUIET()).unwrap_err(), "by a descent, not by sums");
    let begun = |plan: &Plan, sums: &Sums| Descent::new(plan, sums, &QUIET()).err().unwrap();
    let of_squared = summed(&data, &squared, &WHOLE);
    refused(begun(&squared, &of_squared), "needs no descent");
    refused(begun(&plan, &of_squared), "another plan");
    refused(begun(&plan, &Sums::new(&plan)), "lack rows of the plan's sample");
    refused(begun(&plan.for_workers(), &whole), "plan for workers");
    let step = descent.step();
    let bytes = step.to_bytes().unwrap();
    refused(Step::from_bytes(&squared, &bytes).err().unwrap(), "another plan");
    // Too few rows, and others.
    let mut some: Vec<usize> = (0..699).collect();
    let fewer = data.batches(&some, 700).remove(0);
    some.push(0);
    let others = data.batches(&some, 700).remove(0);
    let first = gradients(&data, &plan, step, &WHOLE);
    let some = gradients(&fewer, &plan, step, &WHOLE);
    refused(descent.advance(&plan, &some, &QUIET()).unwrap_err(), "must see the same rows");
    descent.advance(&plan, &first, &QUIET()).unwrap();
    assert!(!descent.is_done(), "another seed");
    refused(descent.advance(&plan, &some, &QUIET()).unwrap_err(), "another plan or step");
    let mut second = gradients(&others, &plan, descent.step(), &WHOLE);
    refused(second.clone().merge(&first).unwrap_err(), "another plan or step");
    refused(descent.advance(&plan, &second, &QUIET()).unwrap_err(), "must see the same rows");
    let step = Step::from_bytes(&plan, &bytes).unwrap();
    refused(second.add(&plan, &step, data.batch()).unwrap_err(), "another plan or step");
    let of_first = first.to_bytes().unwrap();
    let error = Gradients::from_bytes(&plan, descent.step(), &of_first).unwrap_err();
    refused(error, "another plan or step");
    for damage in [0, 9, 40] {
        let damaged = |mut bytes: Vec<u8>| {
            bytes[damage] ^= 1;
            bytes
        };
        refused(Step::from_bytes(&plan, &damaged(bytes.clone())).err().unwrap(), "a step");
        let other = Gradients::from_bytes(&plan, &step, &damaged(of_first.clone()));
        refused(other.unwrap_err(), "gradients");
        let own = damaged(descent.to_bytes().unwrap());
        refused(Descent::from_bytes(&plan, &whole, &own).err().unwrap(), "a descent");
    }
    // Numbers have no logistic loss; other losses need the rows.
    let numbers = Data::new(plain(0), 300, 6);
    let roles = Roles::new(3, 0.0).unwrap();
    for (data, loss, text) in [
        (&numbers, Loss::Logistic, "is for classes, not for numbers"),
        (&data, Loss::Hinge, "the loss hinge needs the rows in memory"),
    ] {
        let mut sample = Sample::new(&data.table.schema, false, roles, 150).unwrap();
        sample.add(data.batch()).unwrap();
        let options = TrainOptions { loss: Some(loss), ..options(kind) };
        refused(super::plan(sample, &options, &QUIET()).unwrap_err(), text);
    }
}
