//! Schemas as the notes of models: short, and as good as long ones.

use super::*;

/// Columns of the census data "adult" and their values; a number has none.
fn census(named: bool) -> Schema {
    const COLUMNS: [(&str, &str); 14] = [
        ("age", ""),
        (
            "workclass",
            "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
        ),
        ("fnlwgt", ""),
        (
            "education",
            "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool",
        ),
        ("education-num", ""),
        (
            "marital-status",
            "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
        ),
        (
            "occupation",
            "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
        ),
        ("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
        ("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
        ("sex", "Female Male"),
        ("capital-gain", ""),
        ("capital-loss", ""),
        ("hours-per-week", ""),
        (
            "native-country",
            "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
        ),
    ];
    let mut columns: Vec<Column> = COLUMNS
        .iter()
        .map(|(name, values)| {
            let mut values: Vec<String> = values.split_whitespace().map(str::to_owned).collect();
            values.sort();
            let numeric = ColumnKind::Numeric { missing: None };
            let kind = if values.is_empty() { numeric } else { ColumnKind::Text { values } };
            Column { name: (*name).to_owned(), kind }
        })
        .collect();
    columns.push(Column { name: "class".to_owned(), kind: ColumnKind::Target });
    let classes = vec!["<=50K".to_owned(), ">50K".to_owned()];
    let schema = Schema { columns, inputs: 105, classes, ..Schema::new(Format::Csv) };
    if named { schema } else { schema.without_names() }
}

#[test]
fn notes_of_census_data_take_350_bytes() {
    for named in [true, false] {
        let schema = census(named);
        let long = json(&schema).len();
        let short = schema.for_notes();
        let bytes = json(&short).len();
        assert!(bytes <= MAX_NOTES && long > 1300, "{bytes} of {long}: {}", json(&short));
        assert_eq!(through_json(&short), short);
        assert_eq!(short.for_notes(), short);
        // Columns without names keep none.
        assert_eq!(short.name_code.is_some(), named);
    }
    // What is short stays as it is, and only what is long is given up.
    let table = read_text("temp,job,y\n1,clerk,a\n2,boss,b\n3,cook,a\n", &options()).unwrap();
    assert_eq!(table.schema.for_notes(), table.schema);
    let mut wide = table.schema;
    let values = (0..60).map(|i| format!("a long value {i:02}")).collect();
    wide.columns[0].kind = ColumnKind::Text { values };
    let short = wide.for_notes();
    assert!(matches!(short.columns[0].kind, ColumnKind::Coded(_)), "{}", json(&short));
    assert_eq!(short.columns[1], wide.columns[1]);
    assert_eq!(short.columns[0].name, "temp");
}

/// Rows under the notes are those under the schema of the training data, in any order of
/// the columns.
#[test]
fn codes_read_rows_as_names_do() {
    let schema = census(true);
    let coded = through_json(&schema.for_notes());
    let header: Vec<&str> = schema.columns.iter().map(|c| c.name.as_str()).collect();
    let mut rows = Vec::new();
    for row in 0..200usize {
        let field = |(index, column): (usize, &Column)| match &column.kind {
            ColumnKind::Text { values } => {
                let unknown = row % 17 == index;
                let missing = row % 13 == index;
                let value = values[(row * 7 + index) % values.len()].clone();
                if missing {
                    "?".to_owned()
                } else if unknown {
                    "Atlantis".to_owned()
                } else {
                    value
                }
            }
            ColumnKind::Target => ["<=50K", ">50K"][row % 2].to_owned(),
            _ => (row * (index + 1)).to_string(),
        };
        rows.push(schema.columns.iter().enumerate().map(field).collect::<Vec<String>>());
    }
    let text = |order: &[usize], header: &[&str]| -> String {
        let line = |fields: Vec<&str>| format!("{}\n", fields.join(","));
        let mut text = line(order.iter().map(|&at| header[at]).collect());
        for row in &rows {
            text += &line(order.iter().map(|&at| row[at].as_str()).collect());
        }
        text
    };
    let straight: Vec<usize> = (0..15).collect();
    let turned: Vec<usize> = (0..15).rev().collect();
    let expected = read_text_with(text(&straight, &header), &schema).unwrap();
    for order in [&straight, &turned] {
        let table = read_text_with(text(order, &header), &coded).unwrap();
        assert_eq!((&table.values, &table.target), (&expected.values, &expected.target));
    }
    // Without a header, and without the target.
    let bare = text(&straight, &header).split_once('\n').unwrap().1.to_owned();
    assert_eq!(read_text_with(&bare, &coded).unwrap().values, expected.values);
    // A column that lacks is missed.
    let lacking = text(&straight[1..], &header);
    let lacking = lacking.replacen(header[1], "other", 1);
    let error = read_text_with(lacking, &coded).unwrap_err();
    let told = "test.csv: the model's column 1 is missing; the model keeps codes of names, not \
                the names; columns of the file that are none of the model's: `other`";
    assert_eq!(error, told);
    // What is wrong in a column is told by the file's own name.
    let broken = text(&straight, &header);
    let first = broken.lines().nth(1).unwrap();
    let broken = broken.replacen(&first[..first.find(',').unwrap()], "old", 1);
    let error = read_text_with(broken, &coded).unwrap_err();
    assert!(error.contains(&format!("column 1 (`{}`): \"old\"", header[0])), "{error}");
    let unlisted = read_text_with(text(&straight, &header), &coded).unwrap().schema.warnings;
    assert!(unlisted.iter().all(|told| !told.to_string().contains('#')), "{unlisted:?}");
}

#[test]
fn names_with_the_code_of_another_are_refused() {
    let coded = through_json(&census(true).for_notes());
    let wanted = &coded.columns[0].name;
    let code = coded.name_code.unwrap();
    let twin = (0..).map(|i| format!("other{i}")).find(|name| code.name(name) == *wanted).unwrap();
    let names: Vec<String> = census(true).columns.iter().map(|c| c.name.clone()).collect();
    let row: Vec<&str> = census(true)
        .columns
        .iter()
        .map(|c| if matches!(c.kind, ColumnKind::Numeric { .. }) { "1" } else { "x" })
        .collect();
    let text = format!("{},{twin}\n{},1\n", names.join(","), row.join(","));
    assert_eq!(
        stream(&text, &coded).unwrap_err(),
        format!(
            "standard input: the model, which keeps codes of names, cannot tell column `age` from \
             `{twin}`; rename the one that it does not need"
        )
    );
    // Any other column may be there.
    let text = text.replace(&twin, if code.name("id") == *wanted { "row" } else { "id" });
    assert_eq!(stream(&text, &coded).unwrap().len(), 1);
}

#[test]
fn notes_from_elsewhere() {
    for (text, expected) in [
        (r##"{"columns":[["a","#"]]}"##, "the columns make 0 inputs"),
        (r##"{"columns":[["a","#abc"]]}"##, "values that are no codes"),
        (r##"{"columns":[["a","#abab"]]}"##, "values that are no codes"),
        (r##"{"columns":[["a","éab"]]}"##, "values that are no codes"),
        (r##"{"columns":[["a",""]]}"##, "values that are no codes"),
        (r##"{"columns":[["ab#cd"]]}"##, "whose values are no codes"),
        (r##"{"columns":[[]]}"##, "whose values are no codes"),
        (r##"{"columns":[["a","b","c"]]}"##, "whose values are no codes"),
        (r##"{"columns":["abc"],"salt":"x"}"##, "a name that is no code"),
        (r##"{"columns":[["é"]],"salt":"x"}"##, "codes"),
        (r##"{"columns":[1],"salt":""}"##, "a salt that is none"),
        (r##"{"columns":[1],"salt":"é"}"##, "a salt that is none"),
    ] {
        let read = serde_json::from_str::<Schema>(text).map_err(|e| e.to_string());
        let error = read
            .and_then(|schema| schema.restored(9, Vec::new()).map_err(|e| e.to_string()))
            .unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let text = r##"{"columns":["ab",["cd#efgh"],{"target":"ij"}],"salt":"x"}"##;
    let schema: Schema = serde_json::from_str(text).unwrap();
    assert_eq!(json(&schema), text);
    assert_eq!(schema.columns[1].name, "#cd");
    assert_eq!(schema.columns[1].inputs(), 2);
}

/// The notes, table and rows that `wasm/tests/columns.test.mjs` reads, too: the trainer's
/// codes and those of the page are the same.
#[test]
fn the_rows_of_the_page() {
    let fixture: serde_json::Value =
        serde_json::from_str(include_str!("fixtures/coded_notes.json")).unwrap();
    let inputs = fixture["inputs"].as_u64().unwrap() as usize;
    let schema: Schema = serde_json::from_value(fixture["notes"].clone()).unwrap();
    let classes = vec!["<=50K".to_owned(), ">50K".to_owned()];
    let schema = schema.restored(inputs, classes).unwrap();
    let table = read_text_with(fixture["csv"].as_str().unwrap(), &schema).unwrap();
    let places = |row: usize| -> serde_json::Value {
        let numbers = table.row(row).iter().enumerate().filter(|(_, number)| **number != 0.0);
        numbers.map(|(place, &number)| serde_json::json!([place, number as i64])).collect()
    };
    let rows: serde_json::Value = (0..table.rows()).map(places).collect();
    assert_eq!(rows, fixture["rows"]);
}
