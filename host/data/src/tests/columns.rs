//! Columns that look like inputs and are none.

use super::*;

/// Names, times and serial numbers: an input for each text would say nothing of other rows.
#[test]
fn texts_that_tell_rows_apart() {
    let text = |rows: usize, different: usize| -> String {
        let row = |row: usize| format!("line {},{}.5,{}\n", row % different, row, row % 2);
        format!("when,a,y\n{}", (0..rows).map(row).collect::<String>())
    };
    assert_eq!(
        read_text(text(60, 60), &options()).unwrap_err(),
        "t.csv: column 1 (`when`) has 60 different texts in 60 rows: it tells these rows apart \
         and says nothing of others, as names and times do"
    );
    // Where most texts stand in several rows, or there are few, they are categories.
    assert_eq!(read_text(text(60, 30), &options()).unwrap().inputs, 31);
    assert_eq!(read_text(text(19, 19), &options()).unwrap().inputs, 20);
    // Times and numbers with a unit are none, however often each stands there.
    let others = |each: &dyn Fn(usize) -> String| {
        let row = |row: usize| format!("{},{}.5,{}\n", each(row % 30), row, row % 2);
        let text = format!("when,a,y\n{}", (0..600).map(row).collect::<String>());
        read_text(text, &options()).unwrap_err()
    };
    assert_eq!(
        others(&|row| format!("2026-01-{:02} 10:00", row + 1)),
        "t.csv: column 1 (`when`) has 30 different dates or times, which are no categories: what \
         they say must be told by numbers, such as the hour of the day"
    );
    let minute =
        |row: usize| format!("2026-01-02 {:02}:{:02},{row}.5,{}\n", row / 60, row % 60, row % 2);
    let text_of_day = format!("when,a,y\n{}", (0..1200).map(minute).collect::<String>());
    let told = read_text(text_of_day, &options()).unwrap_err();
    assert!(told.contains("has more than 1000 different dates or times"), "{told}");
    assert_eq!(
        others(&|row| format!("{}.5C", row + 20)),
        "t.csv: column 1 (`when`) has 30 different numbers with a unit, such as \"20.5C\", which is \
         text: without the unit they are read as numbers"
    );
    let asked = ReadOptions { text: vec!["when".into()], ..options() };
    assert_eq!(read_text(text(60, 60), &asked).unwrap().inputs, 61);
    let dropped = ReadOptions { drop: vec!["when".into()], ..options() };
    assert_eq!(read_text(text(60, 60), &dropped).unwrap().inputs, 1);
    // The same in memory, whole or in parts.
    let names: Vec<String> = (0..60).map(|row| format!("row {row}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let classes: Vec<i64> = (0..60).map(|row| row % 2).collect();
    let table = crate::TableBuilder::new(60).column("when", &names[..]).classes("y", &classes[..]);
    let part = table.found().unwrap();
    for error in [table.build().map(|_| ()), part.schema(None).map(|_| ())] {
        let refused = matches!(error, Err(DataError::Identifier { values: 60, rows: 60, .. }));
        assert!(refused, "{error:?}");
    }
}

/// The same values are no classes either.
#[test]
fn targets_that_tell_rows_apart() {
    let text = |rows: usize, value: &dyn Fn(usize) -> String| -> String {
        let row = |row: usize| format!("{}.5,{}\n", row * 7 % 5, value(row));
        format!("a,y\n{}", (0..rows).map(row).collect::<String>())
    };
    let classes = ReadOptions { task: Some(Task::Classification), ..options() };
    for (value, told) in [
        (&(|row| format!("n{row}")) as &dyn Fn(usize) -> String, "texts"),
        (&|row| format!("{row}:30"), "dates or times"),
        (&|row| format!("{row}.5%"), "numbers with a unit"),
    ] {
        let options = options();
        // Who says so knows it, and classes of several rows are classes, however they are written.
        assert_eq!(read_text(text(60, value), &classes).unwrap().schema.classes.len(), 60);
        let again = text(2400, &|row| value(row % 24));
        assert_eq!(read_text(again, &options).unwrap().schema.classes.len(), 24);
        let error = read_text(text(60, value), &options).unwrap_err();
        let start = format!(
            "t.csv: column 2 (`y`) is the target, and has 60 different {told} in 60 rows, such as \""
        );
        assert!(error.starts_with(&start) && error.contains("too many to be classes"), "{error}");
        assert_eq!(error.ends_with("without the unit they are numbers"), told.contains("unit"));
        let asked = ReadOptions { text: vec!["y".into()], ..options.clone() };
        assert_eq!(read_text(text(60, value), &asked).unwrap().schema.classes.len(), 60);
        // One against the rest.
        let positive = ReadOptions { positive: Some(value(3)), ..options.clone() };
        assert_eq!(read_text(text(60, value), &positive).unwrap().schema.classes.len(), 2);
    }
    for different in [19, 30] {
        let value = |row: usize| format!("n{}", row % different);
        let rows = if different == 19 { 19 } else { 60 };
        let table = read_text(text(rows, &value), &options()).unwrap();
        assert_eq!(table.schema.classes.len(), different);
    }
}

/// Sheets have columns beside them in which nothing was ever written.
#[test]
fn trailing_columns_of_nothing() {
    let text = "a,b,y,,\n1,2,u,,\n2,4,v,,\n3,1,u,,\n";
    let table = read_text(text, &options()).unwrap();
    assert_eq!((table.inputs, table.schema.target_name()), (2, Some("y")));
    let [warning @ DataWarning::NothingInSeveral { columns, .. }] = &table.schema.warnings[..]
    else {
        panic!("{:?}", table.schema.warnings)
    };
    let (said, columns) = (warning.to_string(), columns.len());
    let expected = "2 columns have no value, and are left out: column 4, column 5";
    assert!(columns == 2 && said.ends_with(expected), "{said}");
    // Lines without titles may end in a delimiter, too.
    let table = read_text(text.split_once('\n').unwrap().1, &options()).unwrap();
    assert_eq!((table.inputs, &table.schema.classes[..]), (2, &["u".into(), "v".into()][..]));
    // With a value in the last one the other is a column as well.
    let error = read_text(text.replace("4,v,,", "4,v,,7"), &options()).unwrap_err();
    let expected = "t.csv: column 4 has no values\nalso t.csv:2: column 5: the target is missing: the \
                    last column was taken as the target";
    assert_eq!(error, expected);
}

/// Where gaps are filled, a column that is one gap is no input; nor is it later, with values.
#[test]
fn columns_without_a_value() {
    let text = "a,b,c,y\n1,,?,u\n2,NA,?,v\n3,,?,u\n";
    let error = read_text(text, &options()).unwrap_err();
    assert!(error.contains("column 2 (`b`) has no values"), "{error}");
    let table = read_text(text, &imputing()).unwrap();
    assert_eq!((table.inputs, &table.values[..]), (1, &[1.0, 2.0, 3.0][..]));
    let [warning] = &table.schema.warnings[..] else { panic!("{:?}", table.schema.warnings) };
    let expected =
        "t.csv: 2 columns have no value, and are left out: column 2 (`b`), column 3 (`c`)";
    assert!(warning.to_string().ends_with(expected), "{warning}");
    let schema = through_json(&table.schema);
    for later in ["a,b,c,y\n5,7,x,u\n", "a,y\n5,u\n"] {
        assert_eq!(stream(later, &schema).unwrap(), [(2, vec![5.0])], "{later}");
    }
    // Nothing is learned from nothing.
    let error = read_text("a,y\n,1\n,2\n,1\n", &imputing()).unwrap_err();
    assert!(error.contains("no input"), "{error}");
}

/// The number of a column of groups may count from the last.
#[test]
fn groups_by_a_negative_number() {
    let row = |row: usize| format!("{},{},{},r{}\n", row % 20 * 3, row * 7 % 5, row % 2, row / 20);
    let text = format!("t,a,y,who\n{}", (0..80).map(row).collect::<String>());
    for group in ["who", "4", "-1"] {
        let target = Some("y".to_owned());
        let options = ReadOptions { target, group: Some(group.into()), ..options() };
        let warnings = read_text(&text, &options).unwrap().schema.warnings;
        assert!(matches!(warnings[..], [DataWarning::Rising { .. }]), "{group}: {warnings:?}");
    }
}

/// The index that other programs write as a first column without a name, in any order.
#[test]
fn an_index_without_a_name_is_left_out() {
    let of = |name: &str, first: &dyn Fn(usize) -> String| {
        let row = |row: usize| format!("{},{}.5,{}\n", first(row), row * 7 % 5, row % 2);
        let text = format!("{name},a,y\n{}", (0..40).map(row).collect::<String>());
        let table = read_text(text, &options()).unwrap();
        let left_out = |warning: &DataWarning| matches!(warning, DataWarning::Index { .. });
        (table.inputs, table.schema.warnings.iter().any(left_out))
    };
    let shuffled = |row: usize| (row * 23 % 40).to_string();
    assert_eq!(of("", &shuffled), (1, true));
    assert_eq!(of("Unnamed: 0", &shuffled), (1, true));
    assert_eq!(of("", &|row| (row * 23 % 40 * 3).to_string()), (1, true), "some rows of more");
    assert_eq!(of("x", &shuffled), (2, false), "a name");
    assert_eq!(of("", &|row| (row * 23 % 39).to_string()), (2, false), "a number twice");
    assert_eq!(of("", &|row| format!("{}.5", row * 23 % 40)), (2, false));
    // Each file has one of its own.
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = [0, 1]
        .map(|file| {
            let row = |row: usize| format!("{row},{}.5,{}\n", row * 7 % 5 + file, row % 2);
            let path = folder.path().join(format!("{file}.csv"));
            std::fs::write(&path, format!(",a,y\n{}", (0..20).map(row).collect::<String>()))
                .unwrap();
            path
        })
        .to_vec();
    assert_eq!(crate::read_all(&paths, &options()).unwrap().inputs, 1);
    // Rows to predict come with the index or without.
    let text = format!(
        ",a,y\n{}",
        (0..40).map(|row| format!("{row},{row}.5,{}\n", row % 2)).collect::<String>()
    );
    let schema = through_json(&read_text(&text, &options()).unwrap().schema);
    for rows in [",a\n7,1.5\n", "a\n1.5\n"] {
        assert_eq!(stream(rows, &schema).unwrap()[0].1, [1.5]);
    }
}

/// Two of them are not one column, and the target is none of the inputs.
#[test]
fn columns_without_a_name_are_told_by_their_order() {
    let body = "1.5,2,3.5,0.25\n1.5,3,4.5,0.5\n2.5,2,5.5,0.75\n";
    for (header, end) in
        [(",b,c,", ""), (",b,,y", ""), ("a,,,y", ""), ("a,b,,", ""), (",b,,y,,", ",,")]
    {
        let text = format!("{header}\n{}", body.replace('\n', &format!("{end}\n")));
        let table = read_text(text, &options()).unwrap();
        assert_eq!(table.values, [1.5, 2.0, 3.5, 1.5, 3.0, 4.5, 2.5, 2.0, 5.5], "{header}");
        let schema = through_json(&table.schema);
        let rows = |text: &str| stream(text, &schema).map(|rows| rows[0].1.clone());
        assert_eq!(
            rows(&format!("{header}\n7,8,9,1{end}\n")).unwrap(),
            [7.0, 8.0, 9.0],
            "{header}"
        );
        let without = header.trim_end_matches(end).rsplit_once(',').unwrap().0;
        assert_eq!(rows(&format!("{without}\n7,8,9\n")).unwrap(), [7.0, 8.0, 9.0], "{without}");
    }
    let text = format!(",b,,y\n{body}");
    let schema = through_json(&read_text(text, &options()).unwrap().schema);
    for (header, found) in [(",b,y,", 2), (",b,x,y", 1), (",,,b,y", 3)] {
        let row = vec!["1"; header.split(',').count()].join(",");
        let read = stream(format!("{header}\n{row}\n"), &schema);
        let expected = format!(
            "standard input: {found} columns have no name in the header, and 2 had none in training: which of \
             them is which cannot be told; write the columns as they were in training"
        );
        match found {
            2 => assert_eq!(read.unwrap()[0].1, [1.0; 3]),
            _ => assert_eq!(read.unwrap_err(), expected),
        }
    }
}

#[test]
fn columns_that_number_the_rows() {
    let warnings = |first: &dyn Fn(usize) -> String| -> Vec<String> {
        let row = |row: usize| format!("{},{}.5,{}\n", first(row), row * 7 % 5, row % 2);
        let text = format!("n,a,y\n{}", (0..40).map(row).collect::<String>());
        let table = read_text(text, &options()).unwrap();
        table.schema.warnings.iter().map(ToString::to_string).collect()
    };
    let told = warnings(&|row| row.to_string());
    let text = "t.csv: column 1 (`n`) numbers the rows, and is an input: leave it out unless the \
                numbers of new rows say something";
    assert!(matches!(&told[..], [one] if one.ends_with(text)), "{told:?}");
    assert_eq!(warnings(&|row| (row + 1).to_string()).len(), 1);
    assert!(warnings(&|row| (row % 39).to_string()).is_empty());
    // Times and counters.
    let text =
        "t.csv: column 1 (`n`) never falls from one row to the next, as times and counters do";
    for rising in [&(|row: usize| 2 * row) as &dyn Fn(usize) -> usize, &|row| 10 * row + row % 7] {
        let told = warnings(&|row| format!("{}.5", rising(row)));
        assert!(matches!(&told[..], [one] if one.contains(text)), "{told:?}");
    }
    // Levels that are gone through in order are no times.
    assert!(warnings(&|row| (row / 4).to_string()).is_empty());
    // So large that the next number is the same one to `f32`.
    let large = warnings(&|row| (1_600_000_000_000_000 + row).to_string());
    assert!(large.iter().all(|told| !told.contains("numbers the rows")), "{large:?}");
}

/// -999 and the like.
#[test]
fn codes_of_unknown_values_are_told() {
    let number = |row: usize| if row % 20 == 3 { -999.0 } else { (row * 7 % 50) as f64 / 2.0 };
    let rows = |y: &dyn Fn(usize) -> String| -> String {
        (0..100).map(|row| format!("{},{},{}\n", row * 37 % 100, number(row), y(row))).collect()
    };
    let told = |text: String| -> Vec<String> {
        let table = read_text(text, &options()).unwrap();
        table.schema.warnings.iter().map(ToString::to_string).collect()
    };
    let text = "5 of 100 values are -999, far from the others (0 to 24.5)";
    let found = told(format!("a,b,y\n{}", rows(&|row| (row % 2).to_string())));
    assert!(
        matches!(&found[..], [one] if one.contains(&format!("column 2 (`b`): {text}"))),
        "{found:?}"
    );
    // A target of numbers, but not the names of classes.
    let found = told(format!("a,b,y\n{}", rows(&|row| (number(row) + 0.25).to_string())));
    assert_eq!(found.len(), 2, "{found:?}");
    // Rows without a target can be left out, others not.
    let advice = "if it stands for an unknown value, leave these rows out";
    assert!(found[1].contains("5 of 100 targets are -998.75") && found[1].ends_with(advice));
    let classes = told(format!("a,y\n{}", {
        let class = |row: usize| if row % 20 == 3 { 9999 } else { row % 3 };
        (0..100).map(|row| format!("{}.5,{}\n", row * 37 % 100, class(row))).collect::<String>()
    }));
    assert!(classes.is_empty(), "{classes:?}");
    // The same in memory, of inputs and the target.
    let b: Vec<f64> = (0..100).map(number).collect();
    let table = crate::TableBuilder::new(100).column("b", &b[..]).values("y", &b[..]);
    let found: Vec<String> =
        table.build().unwrap().schema.warnings.iter().map(ToString::to_string).collect();
    assert!(found.len() == 2 && found[0].contains(text), "{found:?}");
    assert!(found[1].contains("5 of 100 targets are -999") && found[1].ends_with(advice));
}

#[test]
fn classes_that_differ_in_case_only_are_told() {
    let rows = |classes: [&str; 2]| -> String {
        (0..20).map(|row| format!("{row}.5,{}\n", classes[row % 2])).collect()
    };
    let told = |text: String| read_text(text, &options()).unwrap().schema.warnings;
    assert_eq!(told(format!("a,y\n{}", rows(["ok", "bad"]))), []);
    let found = told(format!("a,y\n{}", rows(["OK", "ok"])));
    let [one] = &found[..] else { panic!("{found:?}") };
    let expected = "column 2 (`y`): the classes \"OK\" and \"ok\" differ in case only: if they are \
                    one, give them one name";
    assert!(one.to_string().ends_with(expected), "{one}");
}

/// A delimiter at the end of each line makes a last column of nothing.
#[test]
fn a_last_column_of_nothing_is_left_out() {
    let rows: String = (0..40).map(|row| format!("{},{},\n", row * 7 % 5, row % 2)).collect();
    let table = read_text(format!("a,y,\n{rows}"), &options()).unwrap();
    assert_eq!((table.inputs, table.schema.target_name()), (1, Some("y")));
    assert!(matches!(table.schema.warnings[..], [DataWarning::Nothing { .. }]));
    // Later rows have it or not.
    let schema = through_json(&table.schema);
    for text in ["a,y,\n3,1,\n", "a,y\n3,1\n", "a\n3\n"] {
        assert_eq!(stream(text, &schema).unwrap(), [(2, vec![3.0])], "{text}");
    }
    // A value in it, or a name, makes it the target as any last column.
    for head in ["a,y,\n1,0,5\n", "a,y,z\n"] {
        let error = read_text(format!("{head}{rows}"), &options()).unwrap_err();
        assert!(error.contains("the target is missing"), "{error}");
    }
}

/// Loggers write a few lines of their own before the header.
#[test]
fn lines_of_a_comment() {
    let text = "# logged by device 7\n# at noon\na,b,y\n1,2,0\n2,1,1\n3,3,0\n4,1,1\n";
    assert_eq!(
        read_text(text, &options()).unwrap_err(),
        "t.csv:2: 3 fields, where the first line, which begins with `#`, has 5"
    );
    let passed = ReadOptions { comment: Some(b'#'), ..options() };
    assert_eq!(read_text(text, &passed).unwrap().inputs, 2);
}
