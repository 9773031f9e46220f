use super::*;

const SENSORS: &str = "\
temp,job,y
1.5,clerk,a
2,boss,b
3,clerk,a
4,\"x, y\",b
";

#[test]
fn numeric_and_one_hot_inputs() {
    let table = read_text(SENSORS, &options()).unwrap();
    assert_eq!((table.rows(), table.inputs), (4, 4));
    assert_eq!(table.row(0), [1.5, 0.0, 1.0, 0.0]);
    assert_eq!(table.row(1), [2.0, 1.0, 0.0, 0.0]);
    assert_eq!(table.row(3), [4.0, 0.0, 0.0, 1.0]);
    assert_eq!(table.schema.classes, ["a", "b"]);
    assert_eq!(table.schema.task(), Task::Classification);
    assert_eq!(table.schema.target_name(), Some("y"));
    let labels = vec![0, 1, 0, 1];
    assert_eq!(table.target, Target::Classes { labels });
    assert_eq!(
        json(&table.schema),
        r#"{"columns":["temp",{"name":"job","values":["boss","clerk","x, y"]},{"target":"y"}]}"#
    );
    assert_eq!(through_json(&table.schema), table.schema);
}

#[test]
fn without_labels_every_column_is_an_input() {
    let unlabelled = ReadOptions { unlabelled: true, ..options() };
    let table = read_text(SENSORS, &unlabelled).unwrap();
    assert_eq!((table.rows(), table.inputs), (4, 6));
    assert_eq!(table.target, Target::Values(vec![0.0; 4]));
    assert!(table.schema.unlabelled());
    assert!(through_json(&table.schema).unlabelled());
    // A target that is named is one.
    let named = ReadOptions { target: Some("y".into()), ..unlabelled };
    let table = read_text(SENSORS, &named).unwrap();
    assert!(!table.schema.unlabelled() && table.inputs == 4);
}

#[test]
fn select_takes_rows_in_the_order_given() {
    let table = read_text(SENSORS, &options()).unwrap();
    let some = table.select(&[2, 0]);
    assert_eq!(some.rows(), 2);
    assert_eq!(some.row(0), table.row(2));
    assert_eq!(some.row(1), table.row(0));
    assert_eq!(some.target, Target::Classes { labels: vec![0, 0] });
}

#[test]
fn unknown_values_are_all_zeros() {
    let table = read_text(SENSORS, &options()).unwrap();
    let test = read_text_with("temp,job,y\n7,cook,b\n8,?,a\n", &table.schema).unwrap();
    assert_eq!(test.row(0), [7.0, 0.0, 0.0, 0.0]);
    assert_eq!(test.row(1), [8.0, 0.0, 0.0, 0.0]);
    assert_eq!(test.target, Target::Classes { labels: vec![1, 0] });
}

#[test]
fn columns_match_by_name_or_by_position() {
    let schema = through_json(&read_text(SENSORS, &options()).unwrap().schema);
    let expected = [1.5, 1.0, 0.0, 0.0];
    let sources = [
        ("job,extra,temp\nboss,9,1.5\n", 2), // names in another order, no target
        ("y,temp,job\na,1.5,boss\n", 2),
        ("1.5,boss,a\n", 1), // positions with the target
        ("1.5,boss\n", 1),   // and without
        ("\n\n1.5\tboss\r\n", 3),
        ("1.5;boss\n", 1),
    ];
    for (text, line) in sources {
        let rows = stream(text, &schema).unwrap();
        assert_eq!(rows, [(line, expected.to_vec())], "{text:?}");
    }
}

#[test]
fn unnamed_schemas_skip_a_header() {
    let table = read_text(SENSORS, &options()).unwrap();
    let schema = through_json(&table.schema.clone().without_names());
    assert_eq!(json(&schema), r#"{"columns":[1,{"values":["boss","clerk","x, y"]},0]}"#);
    assert_eq!(stream(SENSORS, &schema).unwrap().len(), 4);
    assert_eq!(stream("1,boss\n2,boss\n", &schema).unwrap().len(), 2);
    // Above an index there is no name.
    let text = ",a,y\n1,0.5,7\n1,1.5,8\n2,2.5,9\n";
    let schema = through_json(&read_text(text, &options()).unwrap().schema.without_names());
    assert_eq!(stream(text, &schema).unwrap().len(), 3);
    assert!(stream(",0.5,7\n", &schema).is_err());
}

#[test]
fn dropped_columns_may_stay_away() {
    let text = "id,a,y\nq,1,0.5\nr,2,0.25\ns,3,0.75\n";
    let drop = vec!["id".to_string()];
    let table = read_text(text, &ReadOptions { drop, ..options() }).unwrap();
    assert_eq!(table.inputs, 1);
    assert_eq!(json(&table.schema), r#"{"columns":[{"dropped":"id"},"a",{"target":"y"}]}"#);
    let schema = through_json(&table.schema);
    for text in ["x,4,0\n", "x,4\n", "4\n", "a\n4\n", "y,a\n0,4\n"] {
        let rows = stream(text, &schema).unwrap();
        assert_eq!(rows[0].1, [4.0], "{text:?}");
    }
    let test = read_text_with("4,0.5\n", &schema).unwrap();
    assert_eq!(test.target, Target::Values(vec![0.5]));
}

#[test]
fn targets_by_name_and_number() {
    let text = "a,b,c\n1,0.5,3\n2,1.5,5\n";
    for (target, expected) in [
        ("b", [0.5, 1.5]),
        ("2", [0.5, 1.5]),
        ("-2", [0.5, 1.5]),
        ("-3", [1.0, 2.0]),
        ("1", [1.0, 2.0]),
    ] {
        let target = Some(target.to_string());
        let options = ReadOptions { target, ..regression() };
        let table = read_text(text, &options).unwrap();
        assert_eq!(table.target, Target::Values(expected.to_vec()));
    }
}

#[test]
fn missing_values_become_the_median() {
    let text = "a,job,y\n1,x,0\n?,NA,1\n5,x,0\n3,null,1\nNaN,,0\n2,z,1\n";
    let table = read_text(text, &imputing()).unwrap();
    let a: Vec<f32> = (0..table.rows()).map(|i| table.row(i)[0]).collect();
    assert_eq!(a, [1.0, 2.5, 5.0, 3.0, 2.5, 2.0]);
    assert_eq!(table.row(1)[1..], [0.0, 0.0]);
    assert_eq!(
        json(&table.schema),
        r#"{"columns":[{"name":"a","missing":2.5},{"name":"job","values":["x","z"]},{"target":"y"}]}"#
    );
    let schema = through_json(&table.schema);
    assert_eq!(schema, table.schema);
    assert_eq!(stream("?,x\n", &schema).unwrap()[0].1, [2.5, 1.0, 0.0]);
}

#[test]
fn names_of_numeric_classes_are_normalised() {
    let task = Some(Task::Classification);
    let options = ReadOptions { task, ..options() };
    let table = read_text("1,+1\n2,-1.0\n3,1.0\n4,10\n5,1e1\n", &options).unwrap();
    assert_eq!(table.schema.classes, ["-1", "1", "10"]);
    let labels = vec![1, 0, 1, 2, 2];
    assert_eq!(table.target, Target::Classes { labels });
    let test = read_text_with("1,1.00\n", &table.schema).unwrap();
    assert_eq!(test.target, Target::Classes { labels: vec![1] });
}

#[test]
fn tasks_are_guessed() {
    let task = |targets: &[&str]| {
        let rows: String = targets.iter().map(|y| format!("1,{y}\n")).collect();
        read_text(rows, &options()).unwrap().schema.task()
    };
    assert_eq!(task(&["0", "1", "1.0", "0"]), Task::Classification);
    assert_eq!(task(&["a", "b"]), Task::Classification);
    assert_eq!(task(&["0", "1", "2"]), Task::Regression);
    assert_eq!(task(&["0", "0.5", "0", "0.5"]), Task::Regression);
    let many: Vec<String> = (0..63).map(|i| (i % 21).to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(task(&many), Task::Regression);
    assert_eq!(task(&many[..20].repeat(2)), Task::Classification);
}

#[test]
fn headers_are_guessed() {
    let rows = |text: &str| read_text(text, &options()).unwrap().rows();
    assert_eq!(rows("1,0\n2,1\n3,0\n4,1\n"), 4);
    assert_eq!(rows("a,b\n2,1\n3,0\n4,1\n5,0\n"), 4);
    assert_eq!(rows(",a,b\n0,2,1\n1,3,0\n2,4,1\n3,5,0\n"), 4);
    // Categories only: names that never come back as values.
    let flags = "cap,ring\nx,e\ny,p\nx,e\ny,p\nx,e\n";
    assert_eq!(rows(flags), 5);
    assert_eq!(rows("x,e\ny,p\nx,e\ny,p\nx,e\n"), 5);
    let header = Some(false);
    let options = ReadOptions { header, ..options() };
    assert_eq!(read_text(flags, &options).unwrap().rows(), 6);
}

#[test]
fn forms_of_delimited_text() {
    let plain = read_text("a,b\n1,2\n3,4\n", &regression()).unwrap();
    for text in [
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4",
        "\u{feff}a,b\r\n\r\n1,2\r\n 3 , 4 \r\n\r\n",
        "  a b\n 1   2\n3 4  \n",
        "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
    ] {
        let table = read_text(text, &regression()).unwrap();
        assert_eq!(table, plain, "{text:?}");
    }
    let options = ReadOptions { delimiter: Some(b'|'), ..regression() };
    assert_eq!(read_text("a|b\n1|2\n3|4\n", &options).unwrap(), plain);
}

#[test]
fn tabs_come_first_in_tsv() {
    let files = Files::new();
    let path = files.write("t.tsv.gz", gzip("a\tb\n\"1,2,3\"\t0.5\n\"4,5,6\"\t1.5\n"));
    let table = read(path, &regression()).unwrap();
    assert_eq!(table.row(1), [0.0, 1.0]);
}

#[test]
fn numbers_can_be_taken_as_text() {
    let text = vec!["code".to_string()];
    let options = ReadOptions { text, ..regression() };
    let table = read_text("code,y\n10,1\n2,2\n10,3\n", &options).unwrap();
    assert_eq!(table.row(0), [1.0, 0.0]);
    assert_eq!(table.row(1), [0.0, 1.0]);
}

#[test]
fn a_stream_goes_on_after_a_bad_row() {
    let table = read_text(SENSORS, &options()).unwrap();
    let text = "temp,job\n1,boss\noops,boss\n2\n3,boss\n";
    let mut reader = rows_from(text.as_bytes(), "in", &table.schema, &options()).unwrap();
    let lines: Vec<_> = reader.by_ref().map(|row| row.ok().map(|r| r.0)).collect();
    assert_eq!(lines, [Some(2), None, None, Some(5)]);
}

/// Between spaces a field in quotes may be empty, also each of a line.
#[test]
fn empty_fields_in_quotes_between_spaces() {
    let table = read_text("\"\"  1 u\n2 3 v\n4 \"\" u\n", &imputing()).unwrap();
    assert_eq!((table.rows(), table.values), (3, vec![3.0, 1.0, 2.0, 3.0, 4.0, 2.0]));
    for text in ["\"\" \"\"\n1 2\n", "\"\" \"\"\n\"\" \"\"\n", "sep= \n\"\" \"\"\n1 2\n"] {
        let error = read_text(text, &options()).unwrap_err();
        assert!(error.starts_with("t.csv:"), "{error}");
    }
    assert_eq!(
        read_text("\"\" 1\n2 3 4\n", &options()).unwrap_err(),
        "t.csv:2: 3 fields, where line 1 has 2: the first lines may be a title, which is no data"
    );
}

/// A comma in a name between semicolons delimits nothing, whichever rows are read again.
#[test]
fn commas_in_names_between_semicolons() {
    let text = "x1;x2;price, EUR\n1;2;3.5\n4;5;6\n7;8;9\n";
    let table = read_text(text, &regression()).unwrap();
    assert_eq!((table.rows(), table.inputs), (3, 2));
    let again = read_text_with(text, &table.schema).unwrap();
    assert_eq!((again.values, again.target), (table.values, table.target));
    let rows = stream(text, &table.schema).unwrap();
    assert_eq!(rows[1], (3, vec![4.0, 5.0]));
    // A file without the target and with as many commas still has semicolons.
    let rows = stream("x1;x2\n1;2\n", &table.schema).unwrap();
    assert_eq!(rows, [(2, vec![1.0, 2.0])]);
}
