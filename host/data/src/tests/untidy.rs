//! Tables as programs for sheets and people leave them.

use super::*;

fn told(text: &str, options: &ReadOptions) -> Vec<String> {
    let warnings = read_text(text, options).unwrap().schema.warnings;
    warnings.iter().map(ToString::to_string).collect()
}

/// Between semicolons a comma is a decimal one, unless points are decimal and each comma may be
/// between thousands.
#[test]
fn commas_between_thousands() {
    let expected = "t.csv:2: 1,007 in column 3 may be 1007, since column 1 has decimal points: write \
                    numbers without commas between thousands";
    let read = |text: &str| read_text(text, &regression());
    assert_eq!(read("a;b;c;y\n28.5;2;1,007;3\n27.5;3;923;4\n").unwrap_err(), expected);
    let later = "a;b;c;y\n28;2;1,007;3\n27.5;3;923;4\n";
    assert_eq!(read(later).unwrap_err(), expected);
    // Other commas are decimal, and so may these be.
    let table = read("a;b;y\n28.5;0,25;3\n27.5;1,007;4\n").unwrap();
    assert_eq!(table.values, [28.5, 0.25, 27.5, 1.007]);
    assert_eq!(read("a;b;y\n28;1,007;3\n27;1,250;4\n").unwrap().values[1], 1.007);
    let commas = "a,b,y\n1,\"1,007\",u\n2,\"2,250\",v\n";
    let told = read_text(commas, &options()).unwrap_err();
    assert!(
        told.contains("a comma, decimal or between thousands, which is read between"),
        "{told}"
    );
}

/// A last line whose numbers are sums of those above.
#[test]
fn lines_of_totals_are_told() {
    let rows = |last: &str| {
        let row = |row: usize| format!("{}.5,{},{}.25\n", 20 + row % 7, 900 + row % 50, row % 9);
        let rows: String = (0..60).map(row).collect();
        format!("temp,rpm,y\n{rows}{last}")
    };
    let found = told(&rows("1400.5,55000,240.5\n"), &options());
    let total = "t.csv:62: the last line, and 3 columns have a number in it that is many times as \
                 large as all others: if it is a line of totals, delete it";
    assert!(found.iter().any(|warning| warning.ends_with(total)), "{found:?}");
    // One column alone may have such a number, and so may another line.
    for last in ["", "1400.5,930,3.5\n", "1400.5,55000,240.5\n24.5,930,3.5\n"] {
        let found = told(&rows(last), &options());
        assert!(!found.iter().any(|warning| warning.contains("totals")), "{found:?}");
    }
}

/// Nines for unknown values need not be far away, and may be many.
#[test]
fn nines_are_codes() {
    let rows = |code: &str, every: usize| {
        let row = |row: usize| match row % every {
            1 => format!("{code},{}\n", row % 2),
            _ => format!("{},{}\n", 531 + row * 37 % 1070, row % 2),
        };
        format!("rpm,y\n{}", (0..400).map(row).collect::<String>())
    };
    for (code, every) in [("-999", 20), ("-999", 3), ("9999", 20), ("-9999", 5)] {
        let found = told(&rows(code, every), &options());
        assert!(found.iter().any(|warning| warning.contains("unknown value")), "{code} {found:?}");
    }
    // No such number, or not apart from the others.
    for (code, every) in [("-1000", 20), ("1999", 20), ("-99", 20), ("0", 3)] {
        assert_eq!(told(&rows(code, every), &options()), [""; 0], "{code}");
    }
}

/// Names of columns say nothing to a model without any.
#[test]
fn headers_for_models_without_names_are_told() {
    let table = read_text("a,b,y\n1,2,u\n2,3,v\n3,1,u\n", &options()).unwrap();
    let nameless = table.schema.clone().without_names();
    let warned = |schema: &Schema, text: &str| {
        let mut reader = rows_from(text.as_bytes(), "new.csv", schema, &options()).unwrap();
        assert_eq!(reader.by_ref().count(), 1);
        reader.left_out().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let expected = "new.csv: the model has no names of columns: those of the file are taken in the \
                    order that they had in training";
    assert_eq!(warned(&nameless, "b,a\n2,1\n"), [expected]);
    assert!(
        warned(&nameless, "2,1\n").is_empty() && warned(&table.schema, "b,a\n2,1\n").is_empty()
    );
}

/// A column that names recordings is a channel of windows where nothing says what it is.
#[test]
fn recordings_are_told_from_windows() {
    let row = |row: usize| {
        let recording = row / 64;
        format!("{recording},{},{}\n", row * 31 % 17, ["walk", "run"][recording % 2])
    };
    let text = format!("rec,x,y\n{}", (0..24 * 64).map(row).collect::<String>());
    let window = Some(Window { samples: 8, stride: 8 });
    let found = told(&text, &ReadOptions { window, ..options() });
    let of_one =
        |warning: &&String| warning.contains("24 values of column 1 (`rec`) comes with one");
    assert_eq!(found.iter().filter(of_one).count(), 1, "{found:?}");
    let group = Some("rec".to_owned());
    let grouped = told(&text, &ReadOptions { window, group, ..options() });
    assert!(!grouped.iter().any(|warning| warning.contains("comes with one class")), "{grouped:?}");
}
