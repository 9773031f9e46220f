use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// One raw field: a number, a category, one that needs quotes, or missing.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-1000i32..1000).prop_map(|n| (n as f32 / 8.0).to_string()),
        2 => "[a-d]",
        1 => "[a-d][,\"\n][a-d]",
        1 => Just("?".to_string()),
    ]
}

/// A CSV text: some columns of one kind each, then a numeric target.
fn table_text() -> impl Strategy<Value = String> {
    let number = || (-1000i32..1000).prop_map(|n| (n as f32 / 8.0).to_string());
    (1usize..5, 1usize..15, any::<bool>()).prop_flat_map(move |(columns, rows, crlf)| {
        let column = prop_oneof![vec(number(), rows), vec(field(), rows)];
        (vec(column, columns), vec(number(), rows)).prop_map(move |(mut columns, target)| {
            columns.push(target);
            let end = if crlf { "\r\n" } else { "\n" };
            let names: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
            let mut text = names.join(",") + end;
            for row in 0..rows {
                let quote = |c: &Vec<String>| format!("\"{}\"", c[row].replace('"', "\"\""));
                let fields: Vec<String> = columns.iter().map(quote).collect();
                text += &(fields.join(",") + end);
            }
            text
        })
    })
}

fn reading() -> ReadOptions {
    ReadOptions { header: Some(true), ..ReadOptions { task: Some(Task::Regression), ..imputing() } }
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn streamed_rows_equal_read_rows(text in table_text()) {
        // A column without a single value is refused; nothing to compare then.
        let Ok(mut table) = read_text(&text, &reading()) else {
            return Err(TestCaseError::reject("a column without values"));
        };
        // Warnings are for who trains.
        table.schema.warnings.clear();
        let schema = through_json(&table.schema);
        prop_assert_eq!(&schema, &table.schema);
        let rows = stream(&text, &schema).unwrap();
        prop_assert_eq!(rows.len(), table.rows());
        let lines: Vec<&str> = text.split('\n').collect();
        for (i, (line, row)) in rows.iter().enumerate() {
            prop_assert_eq!(&row[..], table.row(i));
            prop_assert!(lines[*line as usize - 1].starts_with('"'));
        }
        prop_assert!(rows.is_sorted_by(|a, b| a.0 < b.0));
        let mut known = read_text_with(&text, &schema).unwrap();
        known.schema.warnings.clear();
        prop_assert_eq!(known, table);
    }

    #[test]
    fn schemas_are_the_same_from_json(columns in vec((0..4, any::<bool>()), 1..12), target in 0..12usize) {
        let column = |(index, &(kind, named)): (usize, &(i32, bool))| Column {
            name: if named { format!("c{index}") } else { String::new() },
            kind: match kind {
                _ if index == target => ColumnKind::Target,
                0 => ColumnKind::Dropped,
                1 => ColumnKind::Text { values: vec!["a".into(), "b".into()] },
                2 => ColumnKind::Numeric { missing: Some(0.5) },
                _ => ColumnKind::Numeric { missing: None },
            },
        };
        let columns = columns.iter().enumerate().map(column).collect();
        let schema = Schema { columns, ..Schema::new(Format::Csv) };
        prop_assert_eq!(serde_json::from_str::<Schema>(&json(&schema)).unwrap(), schema);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200), text in "[0-9a:,.\n\" ?-]{0,60}") {
        for bytes in [&bytes[..], text.as_bytes(), &[&[0, 0, 8, 3], &bytes[..]].concat()] {
            let _ = read_text(bytes, &options());
            if let Ok(table) = read_text("a,b\n1,2\n3,4\n", &regression()) {
                let _ = stream(bytes, &table.schema);
            }
        }
    }

    #[test]
    fn splits_partition_and_stratify(
        labels in vec(0u32..4, 2..200),
        part in 0.0..0.95f64,
        seed in any::<u64>(),
    ) {
        let target = Target::Classes { labels: labels.clone() };
        let rows = labels.len();
        let test_rows = ((rows as f64 * part).round() as usize).min(rows - 1);
        let (train, test) = split(&target, SplitSize::TestRows(test_rows), seed).unwrap();
        prop_assert_eq!(test.len(), test_rows);
        let mut all = [train.clone(), test.clone()].concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());

        let count = |rows: &[usize], class| rows.iter().filter(|&&i| labels[i] == class).count();
        let sizes = (0..4).map(|class| labels.iter().filter(|&&l| l == class).count());
        let sizes: Vec<usize> = sizes.collect();
        let classes = sizes.iter().filter(|&&size| size > 0).count();
        let share = |size: usize| size as f64 * test_rows as f64 / rows as f64;
        // Where every class has a training row anyway, the shares are exact to 1.
        let roomy = sizes.iter().all(|&s| s == 0 || s as f64 - share(s) >= 2.0);
        for (class, &size) in (0..).zip(&sizes) {
            if roomy {
                prop_assert!((count(&test, class) as f64 - share(size)).abs() < 1.0);
            }
            if size > 0 && train.len() >= classes {
                prop_assert!(count(&train, class) >= 1);
            }
        }

        let again = split(&target, SplitSize::TrainRows(rows - test_rows), seed).unwrap();
        prop_assert_eq!((train, test), again);
    }
}

#[test]
fn a_split_is_the_same_everywhere() {
    let target = Target::Values(vec![0.0; 10]);
    let (train, test) = split(&target, SplitSize::TestFraction(0.3), 1).unwrap();
    assert_eq!(test, [1, 2, 5]);
    assert_eq!(train.len(), 7);
    let (_, other) = split(&target, SplitSize::TestFraction(0.3), 2).unwrap();
    assert_ne!(test, other);
}

#[test]
fn splits_that_cannot_be() {
    let target = Target::Values(vec![0.0; 10]);
    for (size, expected) in [
        (SplitSize::TestRows(10), "cannot split 10 rows: 10 test rows leave none to train on"),
        (SplitSize::TrainRows(0), "cannot split 10 rows: 10 test rows leave none to train on"),
        (SplitSize::TrainRows(11), "cannot split 10 rows: 11 to train on are more than there are"),
        (
            SplitSize::TestFraction(f64::NAN),
            "cannot split 10 rows: a test fraction of NaN is not within 0 to 1",
        ),
        (
            SplitSize::TestFraction(0.99),
            "cannot split 10 rows: 10 test rows leave none to train on",
        ),
    ] {
        let error = split(&target, size, 1).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
