//! Columns of few whole numbers as categories.

use super::*;
use crate::code::CodedValues;
use crate::{Unlisted, Values};

const FILE: &str = "a,b,c,y\n0,1.5,10,p\n1,2.0,2,q\n2,2.5,3,p\n0,0.5,2,q\n1.0,1.5,10,q\n";

fn table(text: &[&str]) -> Table {
    let options = ReadOptions {
        text: text.iter().map(|&name| name.to_owned()).collect(),
        ..ReadOptions::default()
    };
    read_text(FILE, &options).unwrap()
}

#[test]
fn columns_of_few_whole_numbers_may_be_categories() {
    assert_eq!(table(&[]).schema.may_be_categories, [0, 2]);
    assert_eq!(table(&["a"]).schema.may_be_categories, [2]);
    let built = TableBuilder::new(5)
        .column("a", &[0i64, 1, 2, 0, 1][..])
        .column("b", &[1.5, 2.0, 2.5, 0.5, 1.5][..])
        .column("c", &[10.0f32, 2.0, 3.0, 2.0, 10.0][..])
        .classes("y", &["p", "q", "p", "q", "q"][..])
        .build()
        .unwrap();
    assert_eq!(built, table(&[]));
}

#[test]
fn categories_are_what_reading_as_text_makes() {
    let coded = table(&[]).with_categories(&[0, 2]).unwrap();
    let mut read = table(&["a", "c"]);
    assert_eq!(read.schema.may_be_categories, Vec::<usize>::new());
    read.schema.may_be_categories.clear();
    assert_eq!(coded, read);
    assert_eq!(coded.row(4), [0.0, 1.0, 0.0, 1.5, 1.0, 0.0, 0.0]);
    // Once is enough.
    assert_eq!(coded.with_categories(&[0, 2]).unwrap(), coded);
    assert_eq!(coded.with_categories_of(&coded.schema), coded);
    let rows = table(&[]).select(&[4, 0]);
    assert_eq!(rows.with_categories_of(&coded.schema), coded.select(&[4, 0]));
}

#[test]
fn the_notes_of_a_model_turn_numbers_into_its_categories() {
    let coded = table(&[]).with_categories(&[0, 2]).unwrap();
    let mut notes = coded.schema.clone();
    for column in &mut notes.columns {
        if let ColumnKind::Text { values } = &column.kind {
            column.kind = ColumnKind::Coded(CodedValues::of(values).unwrap());
        }
    }
    let text = serde_json::to_string(&notes).unwrap();
    let notes = Schema::of_notes(&text, 7, coded.schema.classes.clone()).unwrap();
    let turned = table(&[]).with_categories_of(&notes);
    for row in 0..5 {
        assert_eq!(turned.row(row), coded.row(row));
    }
    // Columns that are others leave the table as it is.
    let other = table(&["b"]);
    assert_eq!(other.with_categories_of(&notes), other);
    assert!(Schema::of_notes("none", 7, Vec::new()).is_err());
}

#[test]
fn what_cannot_be_categories_is_refused() {
    let options = ReadOptions { missing: Missing::Impute, ..ReadOptions::default() };
    let table = read_text("a,b,y\n1,1,p\n?,2,q\n3,3,p\n", &options).unwrap();
    assert_eq!(table.schema.may_be_categories, [1]);
    let problem = table.with_categories(&[0]).unwrap_err().to_string();
    assert!(problem.contains("column 1 (`a`) has missing values"), "{problem}");
    let problem = table.with_categories(&[7]).unwrap_err().to_string();
    assert!(problem.contains("no column 8"), "{problem}");
}

#[test]
fn tables_without_columns_to_turn_stay_as_they_are() {
    let of_columns = table(&[]);
    let schema = Schema { inputs: of_columns.inputs, ..Schema::new(Format::Idx) };
    let images = Table { schema, ..of_columns.clone() };
    for table in [of_columns, images] {
        let same = table.with_categories(&[]).unwrap();
        assert_eq!(same.values, table.values);
        assert_eq!(table.with_categories_of(&same.schema).values, table.values);
    }
}

#[test]
fn ranges_of_numbers_are_short_notes() {
    let coded = table(&[]).with_categories(&[0]).unwrap();
    let of = |schema: &Schema| serde_json::to_string(&schema.for_notes()).unwrap();
    assert_eq!(of(&coded.schema), r#"{"columns":[["a",0,2],"b","c",{"target":"y"}]}"#);
    let mut columns = vec![coded.schema.columns[0].clone(); 12];
    columns.push(Column { name: "y".into(), kind: ColumnKind::Target });
    let many = Schema { columns, ..Schema::new(Format::Csv) }.without_names();
    assert_eq!(of(&many), r#"{"columns":[[12,0,2],0]}"#);
    for schema in [coded.schema, many] {
        let read: Schema = serde_json::from_str(&of(&schema)).unwrap();
        assert_eq!(read.columns, schema.columns);
    }
    // What is no range has its values.
    let gap = table(&["c"]);
    assert!(of(&gap.schema).contains(r#"{"name":"c","values":["10","2","3"]}"#));
    for bad in
        ["[\"a\",3,2]", "[\"a\",0,5000]", "[4000000,0,900]", "[\"a\",-9223372036854775808,9]"]
    {
        let text = format!("{{\"columns\":[{bad}]}}");
        assert!(serde_json::from_str::<Schema>(&text).is_err(), "{bad}");
    }
}

#[test]
fn numbers_may_be_written_in_other_ways() {
    let coded = table(&[]).with_categories(&[0, 2]).unwrap();
    let read = read_text_with("a,b,c,y\n+1,0,10.0,p\n7,0,02,q\n", &coded.schema).unwrap();
    assert_eq!(read.row(0), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    // 7 was not seen, and 02 is another name than 2.
    assert_eq!(read.row(1), [0.0; 7]);
}

#[test]
fn categories_of_any_type_of_number_are_found_again() {
    const COUNT: usize = 4;
    let doubles = [0.1, 0.2, 0.3, 16_000_000.0];
    let singles = doubles.map(|number| number as f32);
    let longs = [-7, 12, 100_003, 16_777_215i64];
    let csv = |texts: [String; COUNT]| {
        let lines = texts.iter().zip("pqpq".chars()).map(|(text, y)| format!("{text},{y}\n"));
        format!("k,y\n{}", lines.collect::<String>())
    };
    let read = |text: &str| read_text(text, &ReadOptions::default()).unwrap();
    for (values, texts) in [
        (Values::F64(&doubles), doubles.map(|number| number.to_string())),
        (Values::F32(&singles), doubles.map(|number| number.to_string())),
        (Values::I64(&longs), longs.map(|number| number.to_string())),
    ] {
        let builder = TableBuilder::new(COUNT).column("k", values);
        let table = builder.clone().classes("y", &["p", "q", "p", "q"][..]).build().unwrap();
        let coded = table.with_categories(&[0]).unwrap();
        let mut sorted = texts.clone();
        sorted.sort_unstable();
        let kind = &coded.schema.columns[0].kind;
        assert_eq!(*kind, ColumnKind::Text { values: sorted.to_vec() });
        assert_eq!(coded.values.iter().sum::<f32>(), COUNT as f32);
        let file = csv(texts);
        assert_eq!(read(&file).with_categories(&[0]).unwrap().values, coded.values);
        let mut short = coded.schema.clone();
        short.columns[0].kind = ColumnKind::Coded(CodedValues::of(&sorted).unwrap());
        for schema in [&coded.schema, &short] {
            let rows = builder.rows_under(schema, Unlisted::Refuse).unwrap();
            let of_file = read_text_with(&file, schema).unwrap();
            if schema == &coded.schema {
                assert_eq!((&rows, &of_file.values), (&coded.values, &coded.values));
            }
            for row in rows.chunks(COUNT).chain(of_file.values.chunks(COUNT)) {
                assert_eq!(row.iter().filter(|&&input| input == 1.0).count(), 1);
            }
        }
        // What has more digits than tables have, as f32 in double precision.
        let long = csv(singles.map(|number| f64::from(number).to_string()));
        if let Values::F64(_) = values {
            assert_eq!(read_text_with(&long, &coded.schema).unwrap().values, coded.values);
        }
    }
}

#[test]
fn whole_numbers_that_are_one_in_tables_are_no_categories() {
    let dates = [20_240_103i64, 20_240_105, 20_240_107, 20_240_103];
    let negative = dates.map(|date| -date);
    for values in [&dates, &negative] {
        let built = TableBuilder::new(4)
            .column("a", &[1i64, 2, 3, 1][..])
            .column("k", &values[..])
            .classes("y", &["p", "q", "p", "q"][..])
            .build()
            .unwrap();
        let lines =
            (0..4).map(|row| format!("{},{},{}\n", [1, 2, 3, 1][row], values[row], row % 2));
        let file = format!("a,k,y\n{}", lines.collect::<String>());
        for table in [built, read_text(&file, &ReadOptions::default()).unwrap()] {
            assert_eq!(table.schema.may_be_categories, [0]);
            let problem = table.with_categories(&[1]).unwrap_err().to_string();
            assert!(
                problem.contains("column 2 (`k`) has whole numbers beyond ±16777215"),
                "{problem}"
            );
            assert!(problem.ends_with("make the column text"), "{problem}");
        }
    }
}
