//! Rows without a target.

use super::*;
use crate::stream::{for_each_block, infer_all};

fn named(target: &str) -> ReadOptions {
    ReadOptions { target: Some(target.into()), ..imputing() }
}

/// What was read, but for what is to be said of it.
fn known(mut table: Table) -> (Vec<f32>, Target, Division, Option<Vec<f32>>, Schema) {
    table.schema.warnings.clear();
    (table.values, table.target, table.division, table.weights, table.schema)
}

/// Rows, every third of which has no target, nor numbers where others have some, nor a group.
fn rows(header: &str, target: impl Fn(usize) -> String) -> (String, String) {
    let row = |row: usize| match row % 3 {
        0 => format!("much,only here,{},much,\n", ["", "NA", "?", "nan"][row % 4]),
        _ => format!("{},c{},{},{},who{}\n", row * 7 % 11, row % 5, target(row), row % 4, row / 9),
    };
    let whole = |kept: &dyn Fn(usize) -> bool| -> String {
        std::iter::once(header.to_owned()).chain((0..60).filter(|&r| kept(r)).map(row)).collect()
    };
    (whole(&|_| true), whole(&|row| row % 3 != 0))
}

/// It is as if they were not in the file, whatever stands in them: the first row too.
#[test]
fn rows_without_a_target_are_left_out() {
    let class = |row: usize| ["on", "off"][row % 2].to_owned();
    let number = |row: usize| format!("{row}.5");
    let targets: [&dyn Fn(usize) -> String; 2] = [&class, &number];
    for (target, header) in targets.into_iter().flat_map(|target| [(target, true), (target, false)])
    {
        let (name, first) = if header { ("y", "x,c,y,w,g\n") } else { ("3", "") };
        let (all, kept) = rows(first, target);
        let column = |name: &str, number: &str| Some(if header { name } else { number }.to_owned());
        let bare = ReadOptions { header: Some(header), ..named(name) };
        let divided =
            ReadOptions { weights: column("w", "4"), group: column("g", "5"), ..bare.clone() };
        for options in [&bare, &divided] {
            let table = read_text(&all, options).unwrap();
            let [warning] = &table.schema.warnings[..] else {
                panic!("{:?}", table.schema.warnings)
            };
            let told = warning.to_string();
            let line = 1 + u64::from(header);
            assert!(told.contains(&format!("t.csv:{line}: column 3")), "{told}");
            assert!(told.ends_with("the target is missing: the row and 19 others are left out"));
            let expected = known(read_text(&kept, options).unwrap());
            assert_eq!(known(table), expected);
            // In blocks, and over several files.
            let files = Files::new();
            let paths = [files.write("a.csv", &all), files.write("b.csv", &kept)];
            let (schema, ..) = infer_all(&paths, options).unwrap();
            let mut values = Vec::new();
            let left_out = for_each_block(&paths, &schema, options, 7, |block| {
                assert_eq!(block.next, 80);
                values.extend(block.table.values);
                Ok::<_, DataError>(())
            });
            assert!(matches!(left_out.unwrap()[..], [DataWarning::NoTarget { rows: 20, .. }]));
            let whole = read_all(&paths, options).unwrap();
            assert_eq!((whole.rows(), &whole.values[7 * whole.inputs..]), (80, &values[..]));
        }
    }
}

/// Test rows too.
#[test]
fn test_rows_without_a_target_are_left_out() {
    let table = read_text("x,y\n1,u\n2,v\n3,u\n4,v\n", &named("y")).unwrap();
    let files = Files::new();
    let path = files.write("test.csv", "y,x\n,5\nu,6\nNA,7\n");
    let test = read_with(&path, &table.schema, &named("y")).unwrap();
    assert_eq!((test.rows(), &test.values[..]), (1, &[6.0][..]));
    let [.., warning] = &test.schema.warnings[..] else { panic!("no warning") };
    let told = warning.to_string();
    assert!(told.ends_with(
        ":2: column 1 (`y`): the target is missing: the row and another one are left out"
    ));
    let error = read_with(&path, &table.schema, &options()).unwrap_err();
    assert!(files.message(&error).starts_with("test.csv:2: column 1 (`y`): the target is missing"));
    // Rows to predict have targets or not.
    assert_eq!(rows_of(&[path], &table.schema, &named("y")).unwrap().count(), 3);
}

/// Where it is not said which column the target is, where a row is a part of a window, and where
/// nothing is left.
#[test]
fn targets_that_must_be_there() {
    let text = "x,y\n1,u\n2,\n3,v\n4,u\n";
    let error = |options: &ReadOptions| read_text(text, options).unwrap_err();
    let missing = "t.csv:3: column 2 (`y`): the target is missing";
    assert!(error(&imputing()).starts_with(missing));
    let window = Some(Window { samples: 2, stride: 2 });
    assert_eq!(error(&ReadOptions { window, ..named("y") }), missing);
    let refused = read_text("x,y\n1,\n2,?\n", &named("y")).unwrap_err();
    assert_eq!(refused, "t.csv:2: column 2 (`y`): the target is missing, as in every row");
}
