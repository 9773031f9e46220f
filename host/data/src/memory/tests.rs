//! Tables from memory.

use super::*;

#[test]
fn columns_become_the_table_that_a_file_of_them_is() {
    let text = "t,job,7,y\n1.5,b,3,x\n,a,-4,z\n2.5,b,0,x\n0.25,a,9,y\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let options = crate::ReadOptions {
        header: Some(true),
        missing: Missing::Impute,
        ..crate::ReadOptions::default()
    };
    let expected = crate::read(&path, &options).unwrap();
    let found = TableBuilder::new(4)
        .column("t", &[1.5, f64::NAN, 2.5, 0.25][..])
        .column("job", &["b", "a", "b", "a"][..])
        .column("7", &[3i64, -4, 0, 9][..])
        .classes("y", &["x", "z", "x", "y"][..])
        .missing(Missing::Impute)
        .build();
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn matrices_of_every_type_are_taken() {
    let build = |values: Values<'_>| {
        let builder = TableBuilder::new(2).matrix(2, [1.0f32, 2.0, 3.0, 4.0].as_slice());
        let table = builder.named_matrix(&["a", "b"], values);
        let table = table.values("y", &[0.5f32, 1.5][..]).groups(&[7u8, 7][..]);
        table.weights(&[1i32, 3][..]).build().unwrap()
    };
    let first = build(Values::F64(&[5.0, 6.0, 7.0, 8.0]));
    assert_eq!(first.values, [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
    assert_eq!(first.target, Target::Values(vec![0.5, 1.5]));
    assert_eq!(first.division, Division::Groups(vec![0, 0]));
    assert_eq!(first.weights, Some(vec![1.0, 3.0]));
    for same in [
        Values::F32(&[5.0, 6.0, 7.0, 8.0]),
        Values::I64(&[5, 6, 7, 8]),
        Values::I32(&[5, 6, 7, 8]),
        Values::I16(&[5, 6, 7, 8]),
        Values::U8(&[5, 6, 7, 8]),
    ] {
        assert_eq!(build(same), first);
    }
}

/// Of any width, beside texts, with more threads than columns: as with one thread.
#[test]
fn several_threads_build_the_same_table() {
    let rows = 1 << 17;
    let number = |i: usize| (i * 2_654_435_761 % 1_009) as f64;
    let wide: Vec<f64> =
        (0..7 * rows).map(|i| if i % 1_013 == 5 { f64::NAN } else { 1e9 + number(i) }).collect();
    let narrow: Vec<f32> = (0..rows).map(|i| (i % 5) as f32).collect();
    let texts: Vec<&str> = (0..rows).map(|i| ["a", "b", "", "c"][i % 4]).collect();
    let target: Vec<f64> = (0..rows).map(number).collect();
    let build = |threads: usize| {
        let builder = TableBuilder::new(rows).threads(threads).matrix(7, &wide[..]);
        let builder = builder.column("text", &texts[..]).column("narrow", &narrow[..]);
        let builder = builder.values("y", &target[..]).missing(Missing::Impute);
        builder.build().unwrap()
    };
    let one = build(1);
    assert_eq!(one.inputs, 7 + 3 + 1);
    assert!(!one.schema.warnings.is_empty());
    for threads in [0, 2, 3, 8, 1000] {
        assert_eq!(build(threads), one, "{threads} threads");
    }
}

#[test]
fn numbers_of_classes_are_in_order() {
    let build = |classes: Values<'_>| {
        let builder = TableBuilder::new(4).column("x", &[1u8, 2, 3, 4][..]);
        builder.classes("y", classes).build().unwrap()
    };
    let table = build(Values::I64(&[10, -2, 9, 10]));
    assert_eq!(table.schema.classes, ["-2", "9", "10"]);
    assert_eq!(table.target, Target::Classes { labels: vec![2, 0, 1, 2] });
    assert_eq!(build(Values::F32(&[10.0, -2.0, 9.0, 10.0])), table);
    // As `f64` the first two are one number.
    let large = build(Values::I64(&[(1 << 53) + 1, 1 << 53, 0, 1 << 53]));
    assert_eq!(large.schema.classes, ["0", "9007199254740992", "9007199254740993"]);
    assert_eq!(large.target, Target::Classes { labels: vec![2, 1, 0, 1] });
    // As texts they would be in another order.
    let folder = tempfile::tempdir().unwrap();
    for [low, high] in [[10i64.pow(16) - 1, 10i64.pow(16)], [-(1 << 53) - 1, -(1 << 53)]] {
        let given = [high, low, low, high];
        let (large, names) = (build(Values::I64(&given)), [low, high].map(|n| n.to_string()));
        assert_eq!(large.schema.classes, names);
        assert_eq!(large.target, Target::Classes { labels: vec![1, 0, 0, 1] });
        let builder = TableBuilder::new(4).column("x", &[1u8, 2, 3, 4][..]);
        let parts = builder.classes("y", &given[..]).found().unwrap();
        assert_eq!(parts.schema(None).unwrap().classes, names);
        let path = folder.path().join("t.csv");
        let text = format!("x,y\n1,{high}\n2,{low}\n3,{low}\n4,{high}\n");
        std::fs::write(&path, text).unwrap();
        let file = crate::read(&path, &crate::ReadOptions::default()).unwrap();
        assert_eq!((file.schema.classes, file.target), (names.to_vec(), large.target));
    }
    // Labels that are texts stay texts.
    let texts = build(Values::Text(&["9", "10", "9", "9.0"]));
    assert_eq!(texts.schema.classes, ["10", "9", "9.0"]);
    let zeros = build(Values::F64(&[0.0, 1.0, -0.0, 1.0]));
    assert_eq!(zeros.schema.classes, ["0", "1"]);
    assert_eq!(zeros.target, Target::Classes { labels: vec![0, 1, 0, 1] });
}

#[test]
fn what_is_wrong_is_named_with_its_column_and_row() {
    let xs = [1.0f64, 2.0, 3.0];
    let of = |x: &'static [f64]| TableBuilder::new(3).column("x", x);
    let refused = |builder: TableBuilder<'_>, expected: &str| {
        let message = builder.build().unwrap_err().to_string();
        assert_eq!(message, expected);
    };
    let good = || TableBuilder::new(3).column("x", &xs[..]);
    let classes = |b: TableBuilder<'static>| b.classes("y", &["a", "b", "a"][..]);
    refused(
        classes(TableBuilder::new(3)),
        "the table: no inputs; the target is the only column left",
    );
    refused(classes(of(&[1.0, 2.0])), "the table: column 1 (`x`): 2 values for 3 rows");
    refused(
        classes(of(&[1.0, f64::NAN, 2.0])),
        "the table: row 2, column 1 (`x`): the value is missing",
    );
    refused(
        classes(of(&[1.0, 2.0, 1e39])),
        "the table: row 3, column 1 (`x`): 1000000000000000000000000000000000000000 is too large",
    );
    refused(good(), "the table: no target: say what is to be predicted");
    refused(
        good().classes("y", &[1u8, 1, 1][..]),
        "the table: every row has the same class, \"1\"; classification needs two",
    );
    refused(
        good().classes("y", &["a", "", "b"][..]),
        "the table: row 2, column 2 (`y`): the value is missing",
    );
    refused(
        good().values("y", &["a", "b", "c"][..]),
        "the table: column 2 (`y`): texts are no numbers",
    );
    refused(
        good().values("y", &xs[..]).weights(&[1.0f32, -1.0, 0.0][..]),
        "the table: row 2: a weight is a finite number, at least 0",
    );
    refused(
        good().matrix(2, &xs[..]).values("y", &xs[..]),
        "the table: column 2: 3 values for 3 rows of 2 columns",
    );
    let huge = Shape { height: usize::MAX, width: 2, channels: 1 };
    refused(
        good().values("y", &xs[..]).shape(huge),
        "the table: a row has 1 inputs, not those of the shape",
    );
    refused(
        good().values("y", &xs[..]).groups(&[1u8][..]),
        "the table: groups: 1 values for 3 rows",
    );
    refused(
        good().values("y", &xs[..]).groups(&["a", "", "b"][..]),
        "the table: row 2, groups: the group is missing",
    );
    refused(
        good().group_column("g", &[1.0, 2.0, f64::NAN][..]).values("y", &xs[..]),
        "the table: row 3, column 2 (`g`): the group is missing",
    );
    // Apart from the table a target may have any name, and comes last.
    assert!(good().values("a", &xs[..]).build().is_ok());
    refused(
        TableBuilder::new(3).values("a", &xs[..]).column("a", &xs[..]),
        "the table: columns 1 and 2 are both called `a`",
    );
}

/// Numbers as texts would be an input each, where a file of them has one.
#[test]
fn numbers_as_texts_are_told() {
    let build = |different: u32, rows: u32| {
        let texts: Vec<String> =
            (0..rows).map(|row| format!("0.{}", 100 + row % different)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let y: Vec<f64> = (0..rows).map(f64::from).collect();
        let table = TableBuilder::new(rows as usize).column("v", &texts[..]).values("y", &y[..]);
        let told = |warning: &DataWarning| match warning {
            DataWarning::Numerals { values, text, .. } => {
                assert_eq!(text, "0.100");
                Some(*values)
            }
            _ => None,
        };
        table.build().map(|table| table.schema.warnings.iter().find_map(told))
    };
    assert_eq!(build(19, 80).unwrap(), None);
    assert_eq!(build(20, 80).unwrap(), Some(20));
    assert_eq!(build(40, 80).unwrap(), Some(40));
    for (different, rows) in [(41, 80), (1001, 4004)] {
        let error = build(different, rows).unwrap_err();
        assert!(matches!(error, DataError::Numerals { .. }), "{error}");
    }
}

/// A file whose target, weights and recordings stand among the inputs.
#[test]
fn columns_stand_where_they_are_given() {
    let text = "who,x,y,w,job\na,1.5,p,1,b\nb,2.5,q,2,a\na,3.5,p,0,b\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let options = crate::ReadOptions {
        target: Some("y".into()),
        weights: Some("w".into()),
        group: Some("who".into()),
        header: Some(true),
        ..crate::ReadOptions::default()
    };
    let expected = crate::read(&path, &options).unwrap();
    let found = TableBuilder::new(3)
        .group_column("who", &["a", "b", "a"][..])
        .column("x", &[1.5, 2.5, 3.5][..])
        .classes("y", &["p", "q", "p"][..])
        .weight_column("w", &[1i64, 2, 0][..])
        .column("job", &["b", "a", "b"][..])
        .build();
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn rows_without_a_target() {
    let table = TableBuilder::new(2).column("x", &[1.0, 2.0][..]).unlabelled().build().unwrap();
    assert_eq!((table.rows(), table.schema.columns.len()), (2, 1));
    let two = TableBuilder::new(1).values("y", &[1.0][..]).values("z", &[1.0][..]);
    let two = two.column("x", &[1.0][..]).build().unwrap_err().to_string();
    assert_eq!(two, "the table: two targets: one can be predicted");
}

/// A search takes columns of few whole numbers for categories, and other numbers are none of them.
/// Zip codes and names of places are texts, which somebody may have turned into numbers.
#[test]
fn numbers_are_none_of_the_texts_only_where_these_were_numbers() {
    let under = |values: &[&str], notes: bool| {
        let values = values.repeat(4);
        let train = TableBuilder::new(values.len()).column("c", &values[..]);
        let target: Vec<f64> = (0..values.len()).map(|row| row as f64).collect();
        let schema = train.values("y", &target[..]).build().unwrap().schema;
        let schema = if notes { schema.for_notes() } else { schema };
        let coded = matches!(schema.columns[0].kind, ColumnKind::Coded(_));
        assert_eq!(coded, notes);
        let number = TableBuilder::new(1).column("c", &[7u8][..]);
        number.rows_under(&schema, Unlisted::Refuse)
    };
    assert!(under(&["10", "11", "12"], false).is_ok());
    let error = under(&["00", "10", "11"], false).unwrap_err().to_string();
    assert!(error.contains("\"7\" is none of the values: 00, 10, 11"), "{error}");
    let towns: Vec<String> = (0..60).map(|town| format!("a long name of town {town}")).collect();
    let towns: Vec<&str> = towns.iter().map(String::as_str).collect();
    let error = under(&towns, true).unwrap_err().to_string();
    assert!(error.contains("\"7\" is none of the 60 values"), "{error}");
}

/// By position as many columns as there are inputs, or those that were dropped beside them.
#[test]
fn dropped_columns_may_be_given_from_memory() {
    let train = TableBuilder::new(3).column("a", &[1.0, 2.0, 3.0][..]);
    let mut schema = train.values("y", &[0.5, 1.5, 2.5][..]).build().unwrap().schema;
    schema.columns.push(crate::Column { name: "w".into(), kind: ColumnKind::Dropped });
    let one = TableBuilder::new(1).column("", &[4.0][..]);
    let two = one.clone().column("", &[5.0][..]);
    assert_eq!(one.rows_under(&schema, Unlisted::Refuse).unwrap(), [4.0]);
    assert_eq!(two.rows_under(&schema, Unlisted::Refuse).unwrap(), [4.0]);
    let three = two.clone().column("", &[6.0][..]);
    let error = three.rows_under(&schema, Unlisted::Refuse).unwrap_err().to_string();
    assert_eq!(error, "the table: 3 columns, where the model was trained on 1");
    // A text that a search left out stands before the number that is the model's.
    schema.columns.rotate_right(1);
    let texts = TableBuilder::new(1).column("", &["ship"][..]).column("", &[4.0][..]);
    assert_eq!(texts.rows_under(&schema, Unlisted::Refuse).unwrap(), [4.0]);
}

/// Under a schema, rows from memory are those of a file.
#[test]
fn rows_under_a_schema() {
    let train = TableBuilder::new(3)
        .column("t", &[1.5, f64::NAN, 2.5][..])
        .column("job", &["b", "a", "b"][..])
        .values("y", &[0.5, 1.5, 2.5][..])
        .column("7", &[3i64, -4, 0][..])
        .missing(Missing::Impute);
    let schema = train.clone().build().unwrap().schema;
    let rows = |builder: TableBuilder<'_>, unlisted| {
        builder.rows_under(&schema, unlisted).map_err(|error| error.to_string())
    };
    let under = |builder| rows(builder, Unlisted::Refuse);
    assert_eq!(rows(train, Unlisted::Refuse).unwrap()[..4], [1.5, 0.0, 1.0, 3.0]);
    // By name, in another order, and by position, without the target.
    let named = TableBuilder::new(1).column("7", &[9i32][..]).column("job", &["a"][..]);
    let named = named.column("t", &[f32::NAN][..]);
    assert_eq!(under(named).unwrap(), [2.0, 1.0, 0.0, 9.0]);
    let row = || TableBuilder::new(1).column("", &[4.0][..]).column("", &["a"][..]);
    assert_eq!(under(row().column("", &[9i32][..])).unwrap(), [4.0, 1.0, 0.0, 9.0]);
    let whole = row().column("", &[0u8][..]).column("", &[9i32][..]);
    let more = "the table: 4 columns, where the model was trained on 3";
    assert_eq!(under(whole).unwrap_err(), more);
    // What is wrong says where.
    let of = |job: &'static [&'static str], last: &'static [f64]| {
        let builder = TableBuilder::new(2).column("t", &[0u8, 0][..]).column("job", job);
        builder.column("7", last)
    };
    let jobs = &["a", "c"][..];
    assert_eq!(
        under(of(jobs, &[0.0, 0.0])).unwrap_err(),
        "the table: row 2, column 2 (`job`): \"c\" is none of the values: a, b"
    );
    let zeros = rows(of(jobs, &[0.0, 0.0]), Unlisted::Zeros).unwrap();
    assert_eq!(zeros[4..], [0.0, 0.0, 0.0, 0.0]);
    // A text is missing, and numbers are no texts, unless somebody says that they may be.
    let job = |job| {
        TableBuilder::new(1).column("t", &[0u8][..]).column("job", job).column("7", &[0u8][..])
    };
    let absent = "the table: row 1, column 2 (`job`): the value is missing, which is none of the \
                  values";
    assert_eq!(under(job(Values::Text(&[""]))).unwrap_err(), absent);
    assert_eq!(under(job(Values::F64(&[f64::NAN]))).unwrap_err(), absent);
    let unknown = "the table: row 1, column 2 (`job`): \"5\" is none of the values: a, b";
    assert_eq!(under(job(Values::U8(&[5]))).unwrap_err(), unknown);
    let zeros = [0.0; 4];
    assert_eq!(under(job(Values::Text(&[""])).missing(Missing::Impute)).unwrap(), zeros);
    assert_eq!(rows(job(Values::U8(&[5])), Unlisted::Zeros).unwrap(), zeros);
    assert_eq!(
        under(of(&["a", "a"], &[0.0, f64::NAN])).unwrap_err(),
        "the table: row 2, column 3 (`7`): the value is missing, and was never missing in the \
         training rows"
    );
    assert_eq!(
        under(of(&["a", "a"], &[1e300, 0.0])).unwrap_err().split(": 1").next().unwrap(),
        "the table: row 1, column 3 (`7`)"
    );
    let texts = TableBuilder::new(1).column("t", &["x"][..]).column("job", &["a"][..]);
    assert_eq!(
        under(texts.column("7", &[0u8][..])).unwrap_err(),
        "the table: row 1, column 1 (`t`): \"x\" is not a number"
    );
    let texts = TableBuilder::new(1).column("t", &["11.84"][..]).column("job", &["a"][..]);
    assert_eq!(
        under(texts.column("7", &[0u8][..])).unwrap_err(),
        "the table: row 1, column 1 (`t`): \"11.84\" is a text, in a column that has numbers"
    );
    assert_eq!(
        under(TableBuilder::new(1).column("t", &[1.0][..])).unwrap_err(),
        "the table: no column `job`; there are `t`"
    );
    assert_eq!(
        under(TableBuilder::new(1).matrix(2, &[1.0, 2.0][..])).unwrap_err(),
        "the table: 2 columns, where the model was trained on 3"
    );
}

/// Columns that are no inputs do not shift what a window's values are.
#[test]
fn windows_under_a_schema() {
    let number = |missing| ColumnKind::Numeric { missing };
    let columns = [
        ("who", ColumnKind::Dropped),
        ("x", number(None)),
        ("kind", ColumnKind::Target),
        ("y", number(Some(0.5))),
    ];
    let column = |(name, kind): (&str, ColumnKind)| Column { name: name.to_owned(), kind };
    let mut schema = Schema::new(Format::Csv);
    schema.columns = columns.map(column).to_vec();
    schema.inputs = 6;
    schema.recordings.window = Some(crate::Window { samples: 3, stride: 1 });
    let rows = |values: &[f64]| {
        let builder = TableBuilder::new(values.len() / 6).matrix(6, values);
        builder.rows_under(&schema, Unlisted::Refuse).map_err(|error| error.to_string())
    };
    let whole = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(rows(&whole).unwrap(), whole.map(|value| value as f32));
    assert_eq!(rows(&[1.0, f64::NAN, 3.0, 4.0, 5.0, f64::NAN]).unwrap()[..2], [1.0, 0.5]);
    let absent = rows(&[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0]).unwrap_err();
    assert!(absent.contains("column 3") && absent.contains("missing"), "{absent}");
}

#[test]
fn columns_have_names_of_their_own() {
    let twice = TableBuilder::new(2).column("t", &[1.0, 2.0][..]).column("t", &[1.0, 3.0][..]);
    let error = twice.values("y", &[1.0, 2.0][..]).build().unwrap_err().to_string();
    assert_eq!(error, "the table: columns 1 and 2 are both called `t`");
    // What a column is later, under its own name.
    let now = TableBuilder::new(2).column("t", &[1.0, 2.0][..]).values("t", &[2.0, 3.0][..]);
    assert!(now.build().is_ok());
}

/// Truth values are words in CSV files, numbers in Parquet files and tables in memory.
#[test]
fn words_of_truth_are_zero_and_one() {
    let on = &["True", "False", "True"][..];
    let train = TableBuilder::new(3).column("on", on).values("y", &[0.5, 1.5, 2.5][..]);
    let schema = train.build().unwrap().schema;
    let under = |on: Values<'_>| {
        TableBuilder::new(2).column("on", on).rows_under(&schema, Unlisted::Refuse)
    };
    let expected = [1.0, 0.0, 0.0, 1.0];
    assert_eq!(under(Values::U8(&[0, 1])).unwrap(), expected);
    assert_eq!(under(Values::F64(&[0.0, 1.0])).unwrap(), expected);
    assert_eq!(under(Values::Text(&["false", "TRUE"])).unwrap(), expected);
    assert!(under(Values::U8(&[0, 2])).is_err());
    // Names are no truth values.
    let jobs = TableBuilder::new(3).column("on", &["True", "cook", "cook"][..]);
    let schema = jobs.values("y", &[0.5, 1.5, 2.5][..]).build().unwrap().schema;
    let one = TableBuilder::new(1).column("on", &[1u8][..]);
    assert!(one.rows_under(&schema, Unlisted::Refuse).is_err());
}

/// What is said of two columns, each of 40 rows.
fn warnings(of: fn(f64) -> (f64, f64)) -> Vec<String> {
    let (a, b): (Vec<f64>, Vec<f64>) = (0..40).map(|row| of(row.into())).unzip();
    let y: Vec<i64> = (0..40).map(|row| row % 2).collect();
    let table = TableBuilder::new(40).column("a", &a[..]).column("b", &b[..]).classes("y", &y[..]);
    table.build().unwrap().schema.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn columns_that_go_up_from_row_to_row_are_said() {
    assert_eq!(warnings(|row| (row.sin(), row.cos())), [""; 0]);
    let numbers = warnings(|row| (row.sin(), row + 1.0));
    assert!(numbers[0].starts_with("the table: column 2 (`b`) numbers the rows"), "{numbers:?}");
    let times = warnings(|row| (row * 0.1, row.cos()));
    assert!(times[0].starts_with("the table: column 1 (`a`) never falls"), "{times:?}");
    assert_eq!((numbers.len(), times.len()), (1, 1));
    // A single input may have been gone through in order.
    let a: Vec<f64> = (0..40).map(f64::from).collect();
    let table = TableBuilder::new(40).column("a", &a[..]).values("y", &a[..]).build().unwrap();
    assert_eq!(table.schema.warnings, []);
}

#[test]
fn digits_that_are_lost_are_said() {
    let said = warnings(|row| (row.sin(), 1e9 + row.cos()));
    assert!(said[0].starts_with("the table: row ") && said.len() == 1, "{said:?}");
    assert!(said[0].contains("column 2 (`b`): ") && said[0].contains("24 bits"));
    assert_eq!(warnings(|row| (row.sin(), 1e3 + row.cos())), [""; 0]);
}
