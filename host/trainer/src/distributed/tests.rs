//! The same bytes, whatever the parts.

use koan_data::stream::{Groups, stand_in};
use koan_data::{Column, ColumnKind, Division, Format, GroupBy, Schema, Table, Target, digits};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use wyhash::final3::wyrng;

use super::*;
use crate::{Progress, TrainOptions};

/// What a data set is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub classes: usize,
    pub weighted: bool,
    pub balanced: bool,
    pub grouped: bool,
    pub missing: bool,
}

fn kinds() -> impl Strategy<Value = Kind> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (prop_oneof![Just(0usize), Just(2), Just(3)], flags).prop_map(|(classes, flags)| {
        let (weighted, balanced, grouped, missing) = flags;
        // Numbers have no classes to balance.
        Kind { classes, weighted, balanced: balanced && classes > 0, grouped, missing }
    })
}

/// Rows, some of them twice and more.
pub(super) struct Data {
    pub table: Table,
    groups: Vec<Vec<u8>>,
}

impl Data {
    pub fn new(kind: Kind, rows: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut uniform = || wyrng(&mut state) as f64 / 2f64.powi(64);
        let missing = kind.missing.then_some(f32::NAN);
        let numeric = |name: &str, missing| Column {
            name: name.into(),
            kind: ColumnKind::Numeric { missing },
        };
        let mut columns = vec![numeric("a", missing), numeric("b", None), numeric("c", None)];
        columns.push(Column { name: "y".into(), kind: ColumnKind::Target });
        let mut schema = Schema { columns, inputs: 3, ..Schema::new(Format::Csv) };
        schema.classes = (0..kind.classes).map(|class| format!("class {class}")).collect();
        if kind.grouped {
            schema.columns.push(Column { name: "who".into(), kind: ColumnKind::Dropped });
            schema.recordings.group = Some(GroupBy::Column(4));
        }
        let (mut values, mut labels, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let (mut weights, mut groups) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let row: [f32; 3] = [0, 1, 2].map(|i| match (i, row % 3) {
                (0, _) if kind.missing && uniform() < 0.1 => f32::NAN,
                // Coarse, so that rows repeat.
                (_, 0) => (uniform() * 3.0).floor() as f32,
                _ => (uniform() * 2.0 - 1.0) as f32,
            });
            let score = if row[0].is_nan() { 0.0 } else { row[0] } + row[1] * row[2];
            values.extend(row);
            labels.push(((score + 2.0) as u32).min(kind.classes.max(1) as u32 - 1));
            targets.push(1000.0 * score + uniform() as f32);
            weights.push(if uniform() < 0.1 { 0.0 } else { (uniform() * 7.0) as f32 });
            groups.push(format!("group {}", (uniform() * 40.0) as u32).into_bytes());
        }
        let target = match kind.classes {
            0 => Target::Values(targets),
            _ => Target::Classes { labels },
        };
        let weights = kind.weighted.then_some(weights);
        let division = Division::Free;
        let table = Table { inputs: 3, values, target, schema, division, weights };
        Self { table, groups: if kind.grouped { groups } else { Vec::new() } }
    }

    /// The rows of a part, in batches.
    pub fn batches(&self, rows: &[usize], size: usize) -> Vec<Self> {
        let groups =
            |rows: &[usize]| rows.iter().filter_map(|&row| self.groups.get(row).cloned()).collect();
        let batch = |rows: &[usize]| Self { table: self.table.select(rows), groups: groups(rows) };
        // A part without rows is a part as well.
        if rows.is_empty() { vec![batch(&[])] } else { rows.chunks(size).map(batch).collect() }
    }

    pub fn batch(&self) -> Batch<'_> {
        Batch { table: &self.table, groups: &self.groups }
    }
}

/// How rows are divided and merged.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub parts: usize,
    pub seed: u64,
    pub batch: usize,
}

impl Way {
    /// Parts of shuffled rows.
    pub fn parts(&self, rows: usize) -> Vec<Vec<usize>> {
        let mut state = self.seed;
        let mut order: Vec<usize> = (0..rows).collect();
        (1..rows).for_each(|i| order.swap(i, (wyrng(&mut state) % (i as u64 + 1)) as usize));
        let mut parts = vec![Vec::new(); self.parts];
        for row in order {
            parts[(wyrng(&mut state) % self.parts as u64) as usize].push(row);
        }
        parts
    }

    /// Merges any two until one is left.
    pub fn merged<T>(&self, mut parts: Vec<T>, mut merge: impl FnMut(&mut T, T)) -> T {
        let mut state = self.seed ^ 1;
        while parts.len() > 1 {
            let other = parts.swap_remove((wyrng(&mut state) % parts.len() as u64) as usize);
            let place = (wyrng(&mut state) % parts.len() as u64) as usize;
            merge(&mut parts[place], other);
        }
        parts.pop().unwrap()
    }
}

pub(super) fn options(kind: Kind) -> TrainOptions {
    TrainOptions {
        features: vec![12],
        frequency: Some(vec![0.7]),
        map: Some(crate::MapKind::PerInput),
        relevance: Some(false),
        balanced: kind.balanced,
        golden_rows: 2,
        ..TrainOptions::default()
    }
}

pub(super) const QUIET: fn() -> Progress = Progress::none;

fn planned(data: &Data, kind: Kind, fraction: f64, way: &Way) -> Plan {
    planned_by(data, kind, fraction, way, options(kind))
}

pub(super) fn planned_by(
    data: &Data,
    kind: Kind,
    fraction: f64,
    way: &Way,
    options: TrainOptions,
) -> Plan {
    planned_on(150, data, kind, fraction, way, options)
}

/// The plan of a sample of so many rows.
pub(super) fn planned_on(
    most: usize,
    data: &Data,
    kind: Kind,
    fraction: f64,
    way: &Way,
    options: TrainOptions,
) -> Plan {
    let roles = Roles::new(3, fraction).unwrap();
    let parts = way.parts(data.table.rows());
    let samples = parts.iter().map(|rows| {
        let mut sample = Sample::new(&data.table.schema, kind.weighted, roles, most).unwrap();
        for batch in data.batches(rows, way.batch) {
            sample.add(batch.batch()).unwrap();
        }
        // As from another machine.
        Sample::from_bytes(&sample.to_bytes().unwrap()).unwrap()
    });
    let merge = |sample: &mut Sample, other| sample.merge(other).unwrap();
    let sample = way.merged(samples.collect(), merge);
    let options = TrainOptions { seed: 3, ..options };
    plan(sample, &options, &QUIET()).unwrap().0
}

pub(super) fn sums(data: &Data, plan: &Plan, way: &Way) -> Vec<Sums> {
    let worker = Plan::from_bytes(&plan.for_workers().to_bytes().unwrap()).unwrap();
    let parts = way.parts(data.table.rows());
    let sum = |rows: &Vec<usize>| {
        let mut sums = Sums::new(&worker);
        for batch in data.batches(rows, way.batch) {
            sums.add(&worker, batch.batch()).unwrap();
        }
        Sums::from_bytes(plan, &sums.to_bytes().unwrap()).unwrap()
    };
    parts.iter().map(sum).collect()
}

fn trained(data: &Data, kind: Kind, fraction: f64, way: &Way) -> (Vec<u8>, Vec<u8>) {
    let plan = planned(data, kind, fraction, way);
    let parts = sums(data, &plan, way);
    let sums = way.merged(parts, |sums, other| sums.merge(&other).unwrap());
    (plan.to_bytes().unwrap(), finish(&plan, sums, &QUIET()).unwrap().blob)
}

pub(super) fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

#[test]
fn any_parts_in_any_order_give_the_same_bytes() {
    let ways = (1usize..9, any::<u64>(), 1usize..90);
    let ways = ways.prop_map(|(parts, seed, batch)| Way { parts, seed, batch });
    let strategy = (kinds(), any::<u64>(), prop_oneof![Just(0.0), Just(0.25)], ways);
    runner(40)
        .run(&strategy, |(kind, seed, fraction, way)| {
            let data = Data::new(kind, 400, seed);
            let whole = Way { parts: 1, seed: 0, batch: 1000 };
            let expected = trained(&data, kind, fraction, &whole);
            let found = trained(&data, kind, fraction, &way);
            prop_assert!(found.0 == expected.0, "the plan");
            prop_assert!(found.1 == expected.1, "the blob");
            Ok(())
        })
        .unwrap();
}

/// The sums are what loops over rows and features give.
#[test]
fn sums_are_those_of_loops_over_the_rows() {
    for classes in [0, 2, 3] {
        for weighted in [false, true] {
            let kind = Kind { classes, weighted, balanced: false, grouped: false, missing: true };
            let data = Data::new(kind, 1500, 5);
            let way = Way { parts: 3, seed: 8, batch: 700 };
            let plan = planned(&data, kind, 0.0, &way);
            let merge = |sums: &mut Sums, other: Sums| sums.merge(&other).unwrap();
            let moments = way.merged(sums(&data, &plan, &way), merge).moments(&plan);
            let mut table = data.table.clone();
            stand_in(&mut table, plan.filled());
            let rows: Vec<usize> = (0..table.rows()).collect();
            let features = plan.map.features_of(&table, &rows).unwrap();
            let count = plan.features();
            let (weight_unit, stored) = (plan.stored.weight_unit(), &plan.stored);
            let weight = |row| i128::from(stored.weight(&table, row).unwrap());
            let feature = |row: usize, k: usize| i128::from(features[row * count + k]);
            let total = |of: &dyn Fn(usize) -> i128| rows.iter().map(|&row| of(row)).sum::<i128>();
            for i in 0..count {
                for j in 0..=i {
                    let sum = total(&|row| weight(row) * feature(row, i) * feature(row, j));
                    assert_eq!(moments.gram[(i, j)], sum as f64 * weight_unit);
                }
                let sum = total(&|row| weight(row) * feature(row, i));
                assert_eq!(moments.sum[(i, 0)], sum as f64 * weight_unit);
                for output in 0..stored.outputs as usize {
                    let (target, unit): (Box<dyn Fn(usize) -> i128>, f64) = match &table.target {
                        Target::Values(values) => (
                            Box::new(|row: usize| stored.target(values[row]).unwrap().into()),
                            stored.target_unit(),
                        ),
                        Target::Classes { labels } => {
                            let class = if classes == 2 { 1 } else { output as u32 };
                            (Box::new(move |row| if labels[row] == class { 1 } else { -1 }), 1.0)
                        }
                    };
                    let sum = total(&|row| weight(row) * feature(row, i) * target(row));
                    assert_eq!(moments.cross[(i, output)], sum as f64 * weight_unit * unit);
                    let sum = total(&|row| weight(row) * target(row));
                    assert_eq!(moments.target_sum[output], sum as f64 * weight_unit * unit);
                }
            }
            assert_eq!(moments.count, total(&weight) as f64 * weight_unit);
        }
    }
}

/// Targets that are multiples of the scale's unit are not rounded at all; others by less than
/// a 2^32nd of the largest.
#[test]
fn targets_and_weights_are_integers_on_the_scale_of_the_data() {
    let kind = Kind { classes: 0, weighted: true, balanced: false, grouped: false, missing: false };
    let data = Data::new(kind, 300, 1);
    let plan = planned(&data, kind, 0.0, &Way { parts: 1, seed: 0, batch: 300 });
    let Target::Values(values) = &data.table.target else { panic!("a regression") };
    let largest = values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    for &value in values {
        let rounded = plan.stored.target(value).unwrap() as f64 * plan.stored.target_unit();
        assert!((rounded - f64::from(value)).abs() <= f64::from(largest) * 2f64.powi(-32));
    }
    assert!(plan.stored.target(largest * 15.0).is_ok());
    let error = plan.stored.target(largest * 33.0).unwrap_err();
    assert!(error.contains("16 times the largest of the sample"), "{error}");
}

/// Slabs of each sum, merged apart, are the slabs of the whole.
#[test]
fn slabs_are_merged_apart() {
    for classes in [0, 3] {
        let (weighted, balanced) = (classes == 0, classes > 0);
        let kind = Kind { classes, weighted, balanced, grouped: false, missing: false };
        let data = Data::new(kind, 500, 2);
        let way = Way { parts: 4, seed: 3, batch: 100 };
        let plan = planned(&data, kind, 0.0, &way);
        let parts = sums(&data, &plan, &way);
        let merge = |sums: &mut Sums, other: Sums| sums.merge(&other).unwrap();
        let whole = way.merged(parts.clone(), merge);
        for count in [1, 2, 7, 1_000_000] {
            let slabs: Vec<Vec<Slab>> = parts.iter().map(|part| part.slabs(count)).collect();
            let mut merged = slabs[3].clone();
            for other in &slabs[..3] {
                for (slab, other) in merged.iter_mut().zip(other) {
                    let other = Slab::from_bytes(&other.to_bytes().unwrap()).unwrap();
                    slab.merge(&other).unwrap();
                }
            }
            merged.reverse();
            let sums = Sums::from_slabs(&plan, merged.clone()).unwrap();
            assert_eq!(sums.to_bytes().unwrap(), whole.to_bytes().unwrap());
            merged.pop();
            let error = Sums::from_slabs(&plan, merged).unwrap_err().to_string();
            assert!(error.contains("not all"), "{error}");
        }
    }
}

/// Equal rows are all of the sample or, but for the last ones, none; all of a group test or
/// none does.
#[test]
fn equal_rows_have_equal_roles() {
    let kind = Kind { classes: 2, weighted: false, balanced: false, grouped: true, missing: false };
    let data = Data::new(kind, 2000, 4);
    let roles = Roles::new(1, 0.3).unwrap();
    let mut hasher = roles.hasher();
    let mut numbers = Groups::default();
    let mut of_group = std::collections::HashMap::new();
    for row in 0..2000 {
        numbers.push(&data.groups[row]);
        let hash = hasher.row(&data.batch(), row);
        let tests = hasher.tests(&data.batch(), row, hash);
        assert_eq!(*of_group.entry(numbers.numbers[row]).or_insert(tests), tests);
    }
    let tests = of_group.values().filter(|&&tests| tests).count();
    assert!((4..=20).contains(&tests), "{tests} of 40 groups");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let kind =
        Kind { classes: 2, weighted: false, balanced: false, grouped: false, missing: false };
    let data = Data::new(kind, 300, 6);
    let way = Way { parts: 1, seed: 0, batch: 300 };
    let plan = planned(&data, kind, 0.0, &way);
    let message = |error: Error| error.to_string();
    // The rows that the plan holds out must be among the sums.
    let error = message(finish(&plan, Sums::new(&plan), &QUIET()).unwrap_err());
    assert!(error.contains("lack rows of the plan's sample"), "{error}");
    let worker = plan.for_workers();
    let whole = sums(&data, &plan, &way).pop().unwrap();
    let error = message(finish(&worker, whole.clone(), &QUIET()).unwrap_err());
    assert!(error.contains("plan for workers"), "{error}");
    let other = planned(&Data::new(kind, 300, 7), kind, 0.0, &way);
    let error = message(Sums::new(&other).merge(&whole).unwrap_err());
    assert!(error.contains("another plan"), "{error}");
    let weighted = Data::new(Kind { weighted: true, ..kind }, 5, 6);
    let error = message(Sums::new(&plan).add(&plan, weighted.batch()).unwrap_err());
    assert!(error.contains("have weights, the others none"), "{error}");
    let wide = digits::table();
    let batch = Batch { table: &wide, groups: &[] };
    let error = message(Sums::new(&plan).add(&plan, batch).unwrap_err());
    assert!(error.contains("inputs, the others have 3"), "{error}");
    for damage in [0, 9, 40] {
        let mut bytes = plan.to_bytes().unwrap();
        bytes[damage] ^= 1;
        let error = message(Plan::from_bytes(&bytes).unwrap_err());
        assert!(error.contains("a plan"), "{error}");
    }
}
