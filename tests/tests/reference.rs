//! The core against the naive reference, bit for bit, on random models.

use std::collections::BTreeSet;

use koan::{
    Buffers, Error, Family, Form, Input, Model, OwnedBuffers, Predictor, Profile, Small, Task,
    Workspace,
};
use koan_data::{Division, Format, Schema, Table, Target};
use koan_tests::arbitrary::{case, runner};
use koan_tests::reference::Reference;
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::features::FeatureMap;
use koan_trainer::internal::heap::HeapBuffers;
use koan_trainer::internal::scorer::{Number, Scorer};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestCaseError;

/// Runs `property` on `cases` random models with rows.
fn check(
    cases: u32,
    seed: u64,
    property: impl Fn(&[u8], &koan_tests::arbitrary::Rows) -> Result<(), TestCaseError>,
) {
    runner(cases, seed)
        .run(&case(), |(spec, rows)| {
            let blob = spec.encode().expect("a valid model");
            property(&blob, &rows)
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

fn floats<T: Copy + Into<f32>>(row: &[T]) -> Vec<f32> {
    row.iter().map(|&x| x.into()).collect()
}

fn unsuited<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Unsuited { .. }))
}

/// Everything that the core and the reference both compute from a row.
fn same_on_row<B: Buffers, P: Profile>(
    core: &mut Predictor<'_, B, P>,
    reference: &Reference,
    row: &[f32],
) -> Result<(), TestCaseError> {
    let model = *core.model();
    let mut features = vec![77; model.features()];
    core.features(row, &mut features).unwrap();
    let expected: Vec<_> = reference.features(row).iter().map(|&phi| phi as i16).collect();
    prop_assert_eq!(features, expected);
    let mut codes = vec![77; model.codes()];
    core.codes(row, &mut codes).unwrap();
    prop_assert_eq!(codes, reference.codes(row));
    if model.outputs() == 0 {
        prop_assert!(unsuited(core.scores(row)));
        return Ok(());
    }
    let expected = reference.scores(row);
    prop_assert_eq!(core.scores(row).unwrap(), &expected);
    let scale = model.score_scale();
    if model.task() == Task::Classification {
        prop_assert_eq!(core.classify(row).unwrap(), reference.class(row));
        prop_assert!(unsuited(core.predict(row)));
        probabilities(core, row, &expected)?;
    } else {
        prop_assert!(unsuited(core.classify(row)));
        prop_assert_eq!(core.predict(row).unwrap(), expected[0] as f32 * scale);
    }
    let mut values = vec![0.0; model.outputs()];
    core.values(row, &mut values).unwrap();
    let expected: Vec<_> = expected.iter().map(|&score| score as f32 * scale).collect();
    prop_assert_eq!(values, expected);
    Ok(())
}

/// The probabilities against the same formula in `f64`.
fn probabilities<B: Buffers, P: Profile>(
    core: &mut Predictor<'_, B, P>,
    row: &[f32],
    scores: &[i32],
) -> Result<(), TestCaseError> {
    let model = *core.model();
    let mut found = vec![0.0; model.classes()];
    // One score without calibration is a detector's.
    let has_some = model.outputs() > 1 || model.calibration().is_some();
    prop_assert_eq!(model.has_probabilities(), has_some);
    if !has_some {
        prop_assert!(unsuited(core.probabilities(row, &mut found)));
        return Ok(());
    }
    core.probabilities(row, &mut found).unwrap();
    let (a, b) = model.calibration().map_or((1.0, 0.0), |c| (c.slope, c.intercept));
    let value = |score: i32| f64::from(score) * f64::from(model.score_scale());
    let expected: Vec<f64> = if let [score] = scores {
        let one = 1.0 / (1.0 + (-(f64::from(a) * value(*score) + f64::from(b))).exp());
        vec![1.0 - one, one]
    } else {
        let highest = scores.iter().copied().max().unwrap();
        let exponential = |score: &i32| (f64::from(a) * (value(*score) - value(highest))).exp();
        let sum: f64 = scores.iter().map(exponential).sum();
        scores.iter().map(|score| exponential(score) / sum).collect()
    };
    for (&found, expected) in found.iter().zip(expected) {
        prop_assert!((f64::from(found) - expected).abs() < 2e-5, "{} for {}", found, expected);
    }
    Ok(())
}

fn equals_reference(blob: &[u8], rows: &koan_tests::arbitrary::Rows) -> Result<(), TestCaseError> {
    let reference = Reference::parse(blob).map_err(TestCaseError::fail)?;
    prop_assert!(reference.generator_agrees);
    let mut core = predictor(blob).unwrap();
    let model = *core.model();
    prop_assert_eq!(i64::from(model.input_limit()), reference.limit);
    prop_assert_eq!(u64::from(model.work()), reference.work());
    let digest = reference.digest();
    prop_assert_eq!(core.golden_digest().unwrap(), digest);
    prop_assert_eq!(model.golden_digest(), digest);
    prop_assert_eq!(reference.stated_digest, digest);
    core.self_test().unwrap();
    let buffers = HeapBuffers::new(model.buffer_sizes(Form::Small));
    let mut small = Predictor::<_, Small>::serving(model, buffers).unwrap();
    small.self_test().unwrap();
    for row in &rows.floats {
        same_on_row(&mut core, &reference, row)?;
        same_on_row(&mut small, &reference, row)?;
    }
    for (number, (row, scores)) in reference.sections.golden_rows.iter().flatten().enumerate() {
        prop_assert_eq!(&reference.scores(row), scores);
        for (input, x) in row.iter().enumerate() {
            prop_assert_eq!(model.golden().input(number, input).to_bits(), x.to_bits());
        }
        for (output, &score) in scores.iter().enumerate() {
            prop_assert_eq!(model.golden().score(number, output), score);
        }
    }
    Ok(())
}

#[test]
fn the_core_equals_the_reference_1() {
    check(2_000, 1, equals_reference);
}

#[test]
fn the_core_equals_the_reference_2() {
    check(2_000, 2, equals_reference);
}

#[test]
fn the_core_equals_the_reference_3() {
    check(2_000, 3, equals_reference);
}

/// What both parsers read besides the numbers that predictions show.
#[test]
fn both_parsers_read_the_same() {
    check(500, 4, |blob, _| {
        let model = Model::parse(blob).unwrap();
        let reference = Reference::parse(blob).map_err(TestCaseError::fail)?;
        prop_assert_eq!(model.task(), reference.task);
        prop_assert_eq!(model.inputs(), reference.inputs);
        prop_assert_eq!(model.outputs(), reference.outputs);
        prop_assert_eq!(model.seed(), reference.seed);
        prop_assert_eq!(model.banks().count(), reference.banks.len());
        for (bank, expected) in model.banks().zip(&reference.banks) {
            prop_assert_eq!(bank.columns() as usize, expected.columns);
            prop_assert_eq!(bank.is_grouped(), expected.grouped);
            prop_assert_eq!(bank.indices().collect::<Vec<_>>(), expected.indices.clone());
            prop_assert_eq!(bank.kept_bytes(), expected.list_bytes);
            prop_assert_eq!(bank.is_kept(), expected.list_bytes > 0);
            let groups: Vec<_> = bank.groups().map(|g| (usize::from(g.inputs), g.law)).collect();
            let expected: Vec<_> = expected.groups.iter().map(|g| (g.inputs, g.law)).collect();
            prop_assert_eq!(groups, expected);
        }
        let sections = &reference.sections;
        prop_assert_eq!(model.notes(), sections.notes.as_deref().unwrap_or(""));
        for (index, name) in sections.class_names.iter().flatten().enumerate() {
            prop_assert_eq!(model.class_name(index), Some(name.as_str()));
        }
        let calibration = model.calibration().map(|c| (c.slope, c.intercept));
        prop_assert_eq!(calibration, sections.calibration);
        let golden = sections.golden_rows.as_ref().map_or(0, Vec::len);
        prop_assert_eq!(model.golden().count(), golden);
        if let Some(head) = &reference.head {
            prop_assert_eq!(model.score_scale(), head.scale);
            let bias: Vec<_> = (0..model.outputs()).map(|t| model.bias(t)).collect();
            prop_assert_eq!(&bias, &head.bias);
            for (b, multipliers) in head.multipliers.iter().enumerate() {
                let found: Vec<_> = (0..model.outputs()).map(|t| model.multiplier(b, t)).collect();
                prop_assert_eq!(&found, multipliers);
            }
        }
        Ok(())
    });
}

/// Scores of a row in one type, or features where there are no scores.
fn outcome<B: Buffers, I: Input>(core: &mut Predictor<'_, B>, row: &[I]) -> Vec<i32> {
    if core.model().outputs() > 0 {
        return core.scores(row).unwrap().to_vec();
    }
    let mut features = vec![0; core.model().features()];
    core.features(row, &mut features).unwrap();
    features.into_iter().map(i32::from).collect()
}

#[test]
fn the_same_numbers_in_every_type_give_the_same() {
    check(500, 5, |blob, rows| {
        let mut core = predictor(blob).unwrap();
        let of_words = outcome(&mut core, &rows.words);
        prop_assert_eq!(of_words, outcome(&mut core, &floats(&rows.words)));
        let of_bytes = outcome(&mut core, &rows.bytes);
        let words: Vec<_> = rows.bytes.iter().map(|&x| i16::from(x)).collect();
        prop_assert_eq!(&of_bytes, &outcome(&mut core, &words));
        prop_assert_eq!(&of_bytes, &outcome(&mut core, &floats(&rows.bytes)));
        if core.model().outputs() > 0 {
            let reference = Reference::parse(blob).map_err(TestCaseError::fail)?;
            prop_assert_eq!(of_bytes, reference.scores(&floats(&rows.bytes)));
        }
        Ok(())
    });
}

#[test]
fn features_of_many_rows_equal_row_by_row() {
    // More rows than share what is drawn, the last ones fewer.
    runner(300, 8)
        .run(&case(), |(spec, rows)| {
            let blob = spec.encode().expect("a valid model");
            let mut core = predictor(&blob).unwrap();
            let (inputs, columns) = (core.model().inputs(), core.model().features());
            let table = Table {
                inputs,
                values: rows.floats.iter().cycle().take(70).flatten().copied().collect(),
                target: Target::Values(vec![0.0; 70]),
                schema: Schema { inputs, ..Schema::new(Format::Csv) },
                division: Division::Free,
                weights: None,
            };
            let map = FeatureMap::new(&spec).unwrap();
            let features = map.features_of(&table, &(0..70).collect::<Vec<_>>()).unwrap();
            for (row, features) in features.chunks(columns).enumerate() {
                let mut expected = vec![0; columns];
                core.features(table.row(row), &mut expected).unwrap();
                prop_assert_eq!(features, expected);
            }
            let other = map.features_of(&Table { inputs: inputs + 1, ..table }, &[0]);
            let expected = Error::Length { what: "row", needed: inputs, given: inputs + 1 };
            prop_assert_eq!(other, Err(expected));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

/// Rows one after the other through a [`Scorer`], and one by one.
fn same_scores<I: Number>(blob: &[u8], rows: &[I]) -> Result<(), TestCaseError> {
    let mut core = predictor(blob).unwrap();
    let inputs = core.model().inputs();
    let mut scorer = Scorer::new(blob, rows.len() / inputs).unwrap();
    let mut seen = 0;
    scorer
        .run(rows, |row, scores| {
            let expected = core.scores(&rows[row * inputs..][..inputs])?;
            assert_eq!((row, scores), (seen, expected));
            seen += 1;
            Ok(())
        })
        .unwrap();
    prop_assert_eq!(seen, rows.len() / inputs);
    let given = inputs - 1;
    if given > 0 {
        let expected = Err(Error::Length { what: "row", needed: inputs, given });
        prop_assert_eq!(scorer.run(&rows[..given], |_, _| Ok(())), expected);
    }
    Ok(())
}

#[test]
fn scores_of_many_rows_equal_row_by_row() {
    check(600, 9, |blob, rows| {
        if Model::parse(blob).unwrap().outputs() == 0 {
            prop_assert!(unsuited(Scorer::new(blob, 70)));
            return Ok(());
        }
        // Of 70 the last are a block of few rows, of 75 one of more.
        for count in [1, 70, 75] {
            let floats = rows.floats.iter().cycle().take(count).flatten();
            same_scores(blob, &floats.copied().collect::<Vec<f32>>())?;
            same_scores(blob, &rows.words.repeat(count))?;
            same_scores(blob, &rows.bytes.repeat(count))?;
        }
        Ok(())
    });
}

#[test]
fn wrong_lengths_say_what_is_needed() {
    check(200, 7, |blob, rows| {
        let mut core = predictor(blob).unwrap();
        let model = *core.model();
        let (inputs, outputs) = (model.inputs(), model.outputs());
        let row = &rows.floats[0];
        for given in [0, inputs - 1, inputs + 1, 2 * inputs] {
            let wrong = vec![0u8; given];
            let mut features = vec![0; model.features()];
            let expected = Err(Error::Length { what: "row", needed: inputs, given });
            prop_assert_eq!(core.features(&wrong, &mut features), expected);
            if outputs > 0 {
                prop_assert_eq!(core.scores(&wrong).map(|_| ()), expected);
            }
        }
        let needed = model.features();
        let given = needed + 1;
        let expected = Error::Length { what: "features", needed, given };
        prop_assert_eq!(core.features(row, &mut vec![0; given]), Err(expected));
        prop_assert_eq!(
            expected.to_string(),
            format!("features has length {given}, the model needs {needed}")
        );
        let (needed, given) = (model.codes(), model.codes() + 1);
        let expected = Err(Error::Length { what: "codes", needed, given });
        prop_assert_eq!(core.codes(row, &mut vec![0; given]), expected);
        let (needed, given) = (outputs, outputs + 1);
        let expected = Err(Error::Length { what: "values", needed, given });
        prop_assert_eq!(core.values(row, &mut vec![0.0; given]), expected);
        if model.has_probabilities() {
            let (needed, given) = (model.classes(), model.classes() - 1);
            let expected = Err(Error::Length { what: "probabilities", needed, given });
            prop_assert_eq!(core.probabilities(row, &mut vec![0.0; given]), expected);
        }
        Ok(())
    });
}

/// Room for the largest model that [`case`] makes.
type Owned = OwnedBuffers<600, 2048, 1024, 5>;

#[test]
fn owned_and_lent_buffers_equal_the_heap() {
    check(300, 8, |blob, rows| {
        let mut heap = predictor(blob).unwrap();
        let model = *heap.model();
        let sizes = model.buffer_sizes(Form::Fast);
        let mut owned = Predictor::new(model, Owned::new()).unwrap();
        // Lent memory is dirty and longer than needed.
        let (mut inputs, mut block) = (vec![-1; sizes.inputs + 3], vec![-1; sizes.block + 3]);
        let mut wide = vec![-1; sizes.wide + 3];
        let mut sums = vec![[-1; 2]; sizes.outputs + 3];
        let lent =
            Workspace { inputs: &mut inputs, block: &mut block, wide: &mut wide, sums: &mut sums };
        let mut lent = Predictor::new(model, lent).unwrap();
        for row in &rows.floats {
            let expected = outcome(&mut heap, row);
            prop_assert_eq!(&outcome(&mut owned, row), &expected);
            prop_assert_eq!(&outcome(&mut lent, row), &expected);
        }
        owned.self_test().unwrap();
        lent.self_test().unwrap();
        Ok(())
    });
}

#[test]
fn short_buffers_are_refused_by_name() {
    check(200, 9, |blob, _| {
        let model = Model::parse(blob).unwrap();
        let sizes = model.buffer_sizes(Form::Fast);
        let lengths = [sizes.inputs, sizes.block, sizes.wide, sizes.outputs];
        let names = ["inputs", "block", "wide", "sums"];
        for (short, (&needed, name)) in lengths.iter().zip(names).enumerate() {
            if needed == 0 {
                continue;
            }
            let given = needed - 1;
            let length = |buffer: usize| if buffer == short { given } else { lengths[buffer] };
            let (mut inputs, mut block) = (vec![0; length(0)], vec![0; length(1)]);
            let mut wide = vec![0; length(2)];
            let mut sums = vec![[0; 2]; length(3)];
            let workspace = Workspace {
                inputs: &mut inputs,
                block: &mut block,
                wide: &mut wide,
                sums: &mut sums,
            };
            let error = Predictor::new(model, workspace).err();
            prop_assert_eq!(error, Some(Error::Buffer { buffer: name, needed, given }));
            let text = format!("buffer `{name}` has length {given}, the model needs {needed}");
            prop_assert_eq!(error.unwrap().to_string(), text);
        }
        Ok(())
    });
}

/// The random models reach what they are meant to reach.
#[test]
fn random_models_are_of_every_kind() {
    let mut kinds = BTreeSet::new();
    let (mut limited, mut inner, mut total) = (0, 0, 0);
    let mut runner = runner(1, 10);
    for _ in 0..600 {
        let (spec, rows) = case().new_tree(&mut runner).unwrap().current();
        let blob = spec.encode().unwrap();
        let model = Model::parse(&blob).unwrap();
        for bank in model.banks() {
            let more = match bank.family() {
                Family::Maxout { shared, .. } => u8::from(shared > 0),
                Family::Conv(conv) => conv.transform,
                _ => 0,
            };
            let law = (bank.law().name(), more, bank.is_grouped());
            kinds.insert((bank.family().name(), law));
        }
        limited += usize::from(model.input_limit() < 32767);
        let q = Reference::parse(&blob).unwrap().quantise(&rows.floats[0]);
        let limit = i64::from(model.input_limit());
        inner += q.iter().filter(|q| **q != 0 && q.abs() < limit).count();
        total += q.len();
    }
    assert_eq!(kinds.len(), koan_tests::arbitrary::kinds().len());
    assert!(limited >= 5, "{limited} models with a lower limit");
    assert!(inner * 3 > total, "{inner} of {total} inputs neither 0 nor saturated");
}
