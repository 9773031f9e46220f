//! Test rows of files of their own.

use super::*;
use crate::{Window, read_all_with, read_test};

const TRAIN: &str = "n,text,m,y\n1,a,10,u\n2,b,20,v\n3,a,40,u\n9,b,NA,v\n";

fn missing(table: &Table) -> Vec<Option<f32>> {
    let of = |column: &Column| match column.kind {
        ColumnKind::Numeric { missing } => missing,
        _ => None,
    };
    table.schema.columns.iter().map(of).collect()
}

/// Medians of the training rows stand in where only test rows have gaps, and where both have some.
#[test]
fn numbers_may_be_missing_in_test_rows_alone() {
    let files = Files::new();
    let path = files.write("test.csv", "m,y,n,text\n,u,,\n7,v,5,a\n");
    let mut train = read_text(TRAIN, &imputing()).unwrap();
    assert_eq!(missing(&train), [None, None, Some(20.0), None]);
    let values = train.values.clone();
    let test = read_test(std::slice::from_ref(&path), &mut train, &imputing()).unwrap();
    assert_eq!(test.values, [2.5, 0.0, 0.0, 20.0, 5.0, 1.0, 0.0, 7.0]);
    assert_eq!(missing(&train), [Some(2.5), None, Some(20.0), None]);
    assert_eq!((&train.values, &train.schema), (&values, &test.schema));
    // The model's schema takes them from then on.
    let again = read_all_with(&[path], &train.schema, &options()).unwrap();
    assert_eq!(again.values, test.values);
}

/// Nothing is added where the test rows lack nothing, nor where it is not asked for.
#[test]
fn gaps_are_filled_where_there_are_some_and_it_is_asked_for() {
    let files = Files::new();
    let whole = files.write("whole.csv", "n,text,m,y\n5,a,7,v\n");
    let mut train = read_text(TRAIN, &imputing()).unwrap();
    let before = train.schema.clone();
    read_test(&[whole], &mut train, &imputing()).unwrap();
    assert_eq!(train.schema, before);

    let gaps = files.write("gaps.csv", "n,text,m,y\n,a,7,v\n");
    let error = read_test(&[gaps], &mut train, &options()).unwrap_err();
    let told = files.message(&error);
    assert!(told.starts_with("gaps.csv:2: column 1 (`n`): the value is missing"), "{told}");
    assert_eq!(train.schema, before);

    // Samples around one that is missing are no window.
    let window = Some(Window { samples: 2, stride: 2 });
    let of_windows = ReadOptions { window, ..imputing() };
    let mut train = read_text(TRAIN.replace("NA", "60"), &of_windows).unwrap();
    let gaps = files.write("windows.csv", "n,text,m,y\n,a,7,v\n1,a,7,v\n1,a,7,v\n1,a,7,v\n");
    assert!(read_test(&[gaps], &mut train, &of_windows).is_err());
}
