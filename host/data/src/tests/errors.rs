use super::*;

fn refusal(text: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    read_text(text, options).unwrap_err()
}

#[test]
fn training_data() {
    let bare = |text| refusal(text, &options());
    for (text, expected) in [
        ("", "t.csv: the file is empty"),
        (" \n\n", "t.csv: the file is empty"),
        ("a,b\n", "t.csv: no rows of data"),
        ("a,b\n1,2\n\n1,2,3\n", "t.csv:4: 3 fields, where the first line has 2"),
        ("a,b,y\n1,2,0\n1,,1\n", "t.csv:3: column 2 (`b`): the value is missing"),
        ("a,b,y\n?,1,1\n?,2,0\n", "t.csv: column 1 (`a`) has no values"),
        (
            "a,y\r\n1,2\r\n-inf,1\r\n",
            "t.csv:3: column 1 (`a`): -inf is beyond the range of numbers, ±3.4e38",
        ),
        (
            "a,y\n\"1\n\",2\n1e99,1\n",
            "t.csv:4: column 1 (`a`): 1e99 is beyond the range of numbers, ±3.4e38",
        ),
        (
            "a,y\n1,2\n1,?\n",
            "t.csv:3: column 2 (`y`): the target is missing: the last column was taken as the \
             target",
        ),
        (
            "a,b,y\n1,2,u\n2,3,v\n,,\n,,\n",
            "t.csv:4: the line has only empty fields: leave such lines out",
        ),
        (
            "Export,2024\n\na,b,y\n1,2,u\n",
            "t.csv:3: 3 fields, where line 1 has 2: the first lines may be a title, which is no data",
        ),
        (
            "a,b\n1,2,\n2,3,\n",
            "t.csv:2: 3 fields, where the first line has 2: the line ends in a delimiter",
        ),
        (
            "a,b\n1,2\n# again\n",
            "t.csv:3: 1 field, where the first line has 2, and the line begins with `#`",
        ),
        (
            "a,y\n1,2\n1,2\n2,2.0\n",
            "t.csv: column 2 (`y`) is the target, and every row has the same class, \"2\"; \
             classification needs two",
        ),
        ("y\n1.5\n2.5\n", "t.csv: no inputs; the target is the only column left"),
        (
            "1,2,3,x,5\n1,2,3,4,5\n1,2,3,4,5\n",
            "t.csv:1: column 4: \"x\" is not a number, unlike the rest of its column, yet the \
             line does not look like a header; say whether it is one",
        ),
    ] {
        assert_eq!(bare(text), expected, "{text:?}");
    }
    assert_eq!(
        refusal("a,y\n1,2\n1,ten\n", &regression()),
        "t.csv:3: column 2 (`y`): the target \"ten\" is not a number, as regression needs"
    );
    assert_eq!(
        refusal(b"a,y\n1,2\n\xff,2\n", &options()),
        "t.csv:3: column 1 (`a`): not UTF-8 text"
    );
    assert_eq!(refusal(b"a,y\xff\n1,2\n1,2\n", &options()), "t.csv:1: column 2: not UTF-8 text");
}

/// Every column was text then, and the first line no header.
#[test]
fn a_header_within_the_rows() {
    let one = "a,b,y\n1,2,u\n3,4,v\n5,6,u\n";
    let told = "the header again, as where files were put together: leave the line out, or give \
                the files one by one";
    for (text, line) in [(one.repeat(2), 5), (one.repeat(3), 5), (format!("{one}\n{one}"), 6)] {
        assert_eq!(refusal(&text, &options()), format!("t.csv:{line}: {told}"), "{text}");
        let header = Some(true);
        let stated = ReadOptions { header, ..options() };
        assert_eq!(refusal(&text, &stated), format!("t.csv:{line}: {told}"));
    }
    // Rows of texts come again.
    let texts = "a,b,u\nc,d,v\na,b,u\nc,b,v\n";
    assert_eq!(read_text(texts, &options()).unwrap().rows(), 4);
    let mixed = "a,b,u\n1,d,v\na,b,u\nc,b,v\n";
    assert_eq!(read_text(mixed, &options()).unwrap().rows(), 4);
}

/// All columns that something is wrong with are told at once.
#[test]
fn several_columns() {
    let text = "a,b,c,y\n1,,2,u\n2,1,3,v\n?,1,1e99,u\n4,1,5,\n";
    let expected = "t.csv:4: column 1 (`a`): the value is missing\n\
                    also t.csv:2: column 2 (`b`): the value is missing\n\
                    also t.csv:4: column 3 (`c`): 1e99 is beyond the range of numbers, ±3.4e38\n\
                    also t.csv:5: column 4 (`y`): the target is missing: the last column was taken \
                    as the target";
    assert_eq!(refusal(text, &options()), expected);
    let names: String = (0..20).map(|column| format!("c{column},")).collect();
    let wide = format!("{names}y\n{}u\n{}v\n", ",".repeat(20), "1,".repeat(20));
    let told = refusal(wide, &options());
    assert_eq!(told.lines().count(), 1 + DataError::TOLD + 1);
    assert!(told.ends_with("also 12 other columns"), "{told}");
}

#[test]
fn a_slip_among_numbers() {
    let mut text = "temp,y\n".to_string();
    for i in 0..40 {
        text += &format!("{i},{i}.5\n");
    }
    text += "abc,1\n";
    let error = refusal(&text, &options());
    assert_eq!(
        error,
        "t.csv:42: column 1 (`temp`): \"abc\" is not a number, but 40 other values of this \
         column are"
    );
    let columns = vec!["temp".to_string()];
    let text_options = ReadOptions { text: columns, ..options() };
    assert_eq!(read_text(&text, &text_options).unwrap().inputs, 41);
}

/// One in ten of the values of a column stands for an unknown one.
#[test]
fn placeholders_among_numbers() {
    for marker in ["-", "N/A", "None", "#DIV/0!", "<0.5"] {
        let rows = |rows: usize| -> String {
            let row = |row: usize| match row % 10 {
                7 => format!("{row}.25,{marker},{}\n", row % 2),
                _ => format!("{row}.25,{row}.5,{}\n", row % 2),
            };
            format!("x,a,y\n{}", (0..rows).map(row).collect::<String>())
        };
        let told = |numbers: usize, values: usize| {
            format!(
                "t.csv:9: column 2 (`a`): \"{marker}\" is not a number, but {numbers} of the \
                 {values} values of this column are"
            )
        };
        assert_eq!(refusal(rows(200), &options()), told(180, 200));
        assert_eq!(refusal(rows(1200), &options()), told(1080, 1200));
        let target = ReadOptions { target: Some("a".into()), ..options() };
        assert_eq!(
            refusal(rows(200), &target),
            told(180, 200).replace("): \"", "): the target \"")
        );
    }
}

#[test]
fn too_many_values() {
    let mut text = "name,y\n".to_string();
    for i in 0..1001 {
        text += &format!("n{i},{}\n", i % 2);
    }
    assert_eq!(
        refusal(&text, &options()),
        "t.csv: column 1 (`name`) has more than 1000 distinct values"
    );
    let target = Some("name".to_string());
    let options = ReadOptions { target, ..options() };
    assert_eq!(
        refusal(&text, &options),
        "t.csv: column 1 (`name`) has more than 1000 distinct values, too many to be classes"
    );
}

#[test]
fn columns_that_are_not_there() {
    let with_target = |target: &str| ReadOptions { target: Some(target.to_string()), ..options() };
    let text = "alpha,beta,y\n1,2,0\n1,2,1\n";
    assert_eq!(
        refusal(text, &with_target("betta")),
        "t.csv: no column `betta`; there are `beta`, `alpha`, `y`"
    );
    for number in ["0", "4", "-4"] {
        assert!(refusal(text, &with_target(number)).starts_with("t.csv: no column `"));
    }
    assert_eq!(
        refusal("alpha,beta,y\n1,2,u\n3,4,v\n", &with_target("6")),
        "t.csv: no column `6`; the file has 3 columns: `alpha`, `beta`, `y`"
    );
    assert_eq!(
        refusal("1,2\n1,3\n", &with_target("y")),
        "t.csv: no column `y`; the columns are numbered 1 to 2"
    );
    let names: Vec<String> = (0..20).map(|i| format!("column{i}")).collect();
    let wide = format!("{}\n{}\n", names.join(","), ["1"; 20].join(","));
    assert_eq!(
        refusal(wide, &with_target("column1O")),
        "t.csv: no column `column1O`; the closest of 20 are `column1`, `column10`, `column11`"
    );
    let drop = vec!["gamma".to_string()];
    assert_eq!(
        refusal(text, &ReadOptions { drop, ..options() }),
        "t.csv: no column `gamma`; there are `alpha`, `beta`, `y`"
    );
}

#[test]
fn data_under_a_schema() {
    let table = read_text("temp,job,y\n1,x,a\n2,z,b\n", &options()).unwrap();
    let refused = |text: &str| read_text_with(text, &table.schema).unwrap_err();
    for (text, expected) in [
        ("", "test.csv: the file is empty"),
        ("temp,job,y\n", "test.csv: no rows of data"),
        ("temp,job,y\n1,x,a\nabc,x,a\n", "test.csv:3: column 1 (`temp`): \"abc\" is not a number"),
        (
            "job,temp,y\nx,inf,a\n",
            "test.csv:2: column 2 (`temp`): inf is beyond the range of numbers, ±3.4e38",
        ),
        (
            "temp,job,y\n?,x,a\n",
            "test.csv:2: column 1 (`temp`): the value is missing, and was never missing in the \
             training data",
        ),
        (
            "y,temp,job\nc,1,x\n",
            "test.csv:2: column 1 (`y`): class \"c\" is not among the model's classes: a, b",
        ),
        ("1,x,\n", "test.csv:1: column 3 (`y`): the target is missing"),
        ("1,x,a\n1,x\n", "test.csv:2: 2 fields, where the first line has 3"),
        ("temp,job\n1,x\n", "test.csv: the target column 3 (`y`) is missing from the file"),
        ("1,x\n", "test.csv: the target column 3 (`y`) is missing from the file"),
        (
            "temperature,job,y\n1,x,a\n",
            "test.csv: no column `temp`; there are `temperature`, `job`, `y`",
        ),
        ("1,x,a,9\n", "test.csv: 4 columns, where the model was trained on 3"),
        (
            "a 1:2\n",
            "test.csv: looks like an svmlight file, but the model takes a table such as a CSV file",
        ),
    ] {
        assert_eq!(refused(text), expected, "{text:?}");
    }
    assert_eq!(
        stream("1,x\n1,x,3\n", &table.schema).unwrap_err(),
        "standard input:2: 3 fields, where the first line has 2"
    );
    assert_eq!(stream("", &table.schema).unwrap_err(), "standard input: the file is empty");
}

#[test]
fn files_that_cannot_be_read() {
    let files = Files::new();
    let missing = files.0.path().join("none.csv");
    let error = files.message(&read(&missing, &options()).unwrap_err());
    assert!(error.starts_with("none.csv: cannot be read: "), "{error}");
    let error = read(files.0.path(), &options()).unwrap_err();
    assert!(matches!(error, DataError::NotAFile { .. }), "{error}");
}

#[test]
fn corrupt_gzip() {
    let files = Files::new();
    let rows: String = (0..1000).map(|i| format!("{i},{}\n", i * i)).collect();
    let whole = gzip(&rows);
    let mut flipped = whole.clone();
    flipped[whole.len() - 6] ^= 1;
    for bytes in [&whole[..whole.len() / 2], &flipped, &whole[..5]] {
        let path = files.write("t.csv.gz", bytes);
        let error = files.message(&read(&path, &regression()).unwrap_err());
        assert!(error.starts_with("t.csv.gz: corrupt gzip data: "), "{error}");
    }
}

#[test]
fn schemas_from_elsewhere() {
    let parse = serde_json::from_str::<Schema>;
    for (text, expected) in [
        (r#"{"format":"csv","columns":[99999999999]}"#, "more than 1048576 columns"),
        (r#"{"columns":[1,-9223372036854775808]}"#, "more than 1048576 columns"),
        (r#"{"columns":[1,0,0]}"#, "more than one target"),
        (r#"{"columns":[1],"window":[0,1]}"#, "a window without samples"),
        (r#"{"columns":[1],"window":[4,0]}"#, "or without a stride"),
        (r#"{"columns":[1],"group":"folder"}"#, "did not match"),
        (r#"{"format":"csv","columns":[{"values":["b","a"]}]}"#, "not ascending"),
        (r#"{"format":"csv","columns":[{"target":"a"},{"target":"b"}]}"#, "more than one target"),
        (r#"{"format":"csv","columns":[{"missing":1e39}]}"#, "not finite"),
        (r#"{"format":"csv","columns":[{"name":"a","what":1}]}"#, "did not match"),
        (r#"{"format":"arff"}"#, "unknown variant"),
        (r#"{"format":"csv","rows":1}"#, "unknown field"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let schema = parse(r#"{"format":"csv","columns":[2,"a"]}"#).unwrap();
    let error = schema.restored(4, Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "data schema: the columns make 3 inputs, the model takes 4");
}
