//! Tables other than CSV: ARFF, PROBEN1, NumPy arrays and Parquet.

use super::*;

/// A file that `make.py` wrote.
fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/fixtures").join(name)
}

fn message(result: Result<Table, DataError>) -> String {
    let text = result.unwrap_err().to_string();
    text.rsplit_once("fixtures/").map_or(text.clone(), |(_, rest)| rest.to_owned())
}

const ARFF: &str = "% made by hand\n@RELATION weather\n\n@attribute 'air temp' NUMERIC\n\
    @attribute wind {calm, 'not \\'calm\\'', \"1\"}\n@attribute n integer % more\n\
    @attribute play {yes,no} % {or no} play\n@DATA\n% rows\n1.5, calm, 1, yes\n-2,'not \\'calm\\'',2,no\n\
    {0 4, 3 no}\n  3e1,\"1\",?,yes\n";

#[test]
fn arff() {
    let text = ARFF.replace(" % more", "");
    let table = read_text(&text, &imputing()).unwrap();
    // Two numbers and three values of the text column.
    assert_eq!((table.rows(), table.inputs), (4, 5));
    assert_eq!(table.schema.classes, ["no", "yes"]);
    assert_eq!(table.target, Target::Classes { labels: vec![1, 0, 0, 1] });
    let names: Vec<&str> = table.schema.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["air temp", "wind", "n", "play"]);
    let ColumnKind::Text { values } = &table.schema.columns[1].kind else { panic!("no text") };
    assert_eq!(values, &["1", "calm", "not 'calm'"]);
    assert_eq!(table.row(0), [1.5, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(table.row(1), [-2.0, 0.0, 0.0, 1.0, 2.0]);
    // What a sparse row leaves out is 0, or the first of the values.
    assert_eq!(table.row(2), [4.0, 0.0, 1.0, 0.0, 0.0]);
    // A missing number is the median of 1, 2 and 0.
    assert_eq!(table.row(3), [30.0, 1.0, 0.0, 0.0, 1.0]);
    // The same columns as a CSV file, in another order.
    let rows = stream("n,wind,air temp\n7,calm,8\n", &table.schema).unwrap();
    assert_eq!(rows, [(2, vec![8.0, 0.0, 1.0, 0.0, 7.0])]);
}

#[test]
fn arff_errors() {
    let head = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n";
    for (text, expected) in [
        (format!("{head}1,x\n"), "t.csv:4: `1,x` is no ARFF declaration"),
        (head.to_owned(), "t.csv:3: the file ends before `@data`"),
        ("@relation r\n@data\n1\n".to_owned(), "t.csv:2: no `@attribute` before `@data`"),
        (
            "@relation r\n@attribute a\n".to_owned(),
            "t.csv:2: `a` is not the name and the type of an attribute",
        ),
        (
            "@relation r\n@attribute a relational\n".to_owned(),
            "t.csv:2: attribute `a` is `relational`; numeric, real, integer, string, date and \
             {lists, of, values} are read",
        ),
        (format!("{head}@data\n1,x\n1\n"), "t.csv:6: 1 field, where the first line has 2"),
        (format!("{head}@data\n1,x\n?,y\n"), "t.csv:6: column 1 (`a`): the value is missing"),
        (format!("{head}@data\n1,'x\n"), "t.csv:5: a quote that is not closed"),
        (format!("{head}@data\n{{0 1\n"), "t.csv:5: a sparse row without its closing brace"),
        (format!("{head}@data\n{{1 x, 0 1, 1 y}}\n"), "t.csv:5: index 1 is there twice"),
        (format!("{head}@data\n{{2 1}}\n"), "t.csv:5: `2 1` is not an index below 2 and a value"),
        (format!("{head}@data\n"), "t.csv: no rows of data"),
    ] {
        assert_eq!(read_text(&text, &options()).unwrap_err(), expected, "{text:?}");
    }
}

fn proben1(counts: [u32; 7], rows: &str) -> String {
    let names = [
        "bool_in",
        "real_in",
        "bool_out",
        "real_out",
        "training_examples",
        "validation_examples",
        "test_examples",
    ];
    let header: String = names.iter().zip(counts).map(|(n, c)| format!("{n}={c}\n")).collect();
    header + rows
}

#[test]
fn proben1_classes_and_parts() {
    let rows = "0 0.5 1 0 0\n1 0.25  0 1 0 \n 0 1 0 0 1\n1 1 0 0 1\n";
    let table = read_text(proben1([1, 1, 3, 0, 2, 1, 1], rows), &options()).unwrap();
    assert_eq!((table.rows(), table.inputs), (4, 2));
    assert_eq!(table.schema.classes, ["1", "2", "3"]);
    assert_eq!(table.target, Target::Classes { labels: vec![0, 1, 2, 2] });
    use Part::{Test, Train, Validation};
    assert_eq!(table.division, Division::Parts(vec![Train, Train, Validation, Test]));
    assert_eq!(table.select(&[3, 0]).division, Division::Parts(vec![Test, Train]));
    assert_eq!(json(&table.schema), r#"{"columns":[2,{"target":"class"}]}"#);
    // Under a schema, too.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dt");
    std::fs::write(&path, proben1([1, 1, 3, 0, 2, 1, 1], rows)).unwrap();
    assert_eq!(read_with(&path, &table.schema, &options()).unwrap().division, table.division);
}

#[test]
fn proben1_values() {
    let text = proben1([0, 2, 0, 2, 1, 1, 1], "1 2 0.5 9\n3 4 0.25 8\n5 6 0.75 7\n");
    let table = read_text(&text, &options()).unwrap();
    // Outputs that are not asked for are no inputs.
    assert_eq!(table.inputs, 2);
    let task = Some(Task::Regression);
    let target = Some("output1".to_owned());
    let table = read_text(&text, &ReadOptions { target, task, ..options() }).unwrap();
    assert_eq!(table.target, Target::Values(vec![0.5, 0.25, 0.75]));
    assert_eq!(table.row(1), [3.0, 4.0]);
}

#[test]
fn proben1_errors() {
    let counts = [0, 1, 2, 0, 2, 0, 1];
    for (text, expected) in [
        (proben1(counts, "1 1 0\n1 1 0\n"), "t.csv:9: 2 rows, where the header has 3"),
        (
            proben1(counts, "1 1 0\n1 1 0\n1 0 1\n1 0 1\n"),
            "t.csv:11: more rows than the header's 3",
        ),
        (proben1(counts, "1 1 0\n1 0\n"), "t.csv:9: 2 fields, where the first line has 3"),
        (proben1(counts, "1 1 1\n"), "t.csv:8: the outputs `1 1` do not name one class"),
        (proben1(counts, "1 0 0\n"), "t.csv:8: the outputs `0 0` do not name one class"),
        (
            "bool_in=1\nreal_in=x\n".to_owned(),
            "t.csv:2: `real_in=x`, where the header has `real_in=` and a number",
        ),
        ("bool_in=1\n".to_owned(), "t.csv:1: the file ends within the header"),
        (proben1([0, 0, 2, 0, 1, 1, 1], ""), "t.csv:7: 0 inputs and 2 outputs cannot be read"),
        (proben1(counts, "1 1 0\nx 1 0\n3 0 1\n"), "t.csv:9: `x` is not a number"),
    ] {
        let found = read_text(&text, &options()).unwrap_err();
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn npy_of_every_layout() {
    let labels = Some(fixture("labels.npy"));
    let rows: Vec<f32> = (0..12).map(|i| i as f32 / 8.0).collect();
    for name in ["c.npy", "fortran.npy", "big_endian.npy"] {
        let options = ReadOptions { labels: labels.clone(), ..options() };
        let table = read(fixture(name), &options).unwrap();
        assert_eq!((table.rows(), table.inputs), (4, 3), "{name}");
        assert_eq!(table.values, rows, "{name}");
        assert_eq!(table.schema.classes, ["1", "3"]);
        assert_eq!(table.target, Target::Classes { labels: vec![1, 0, 1, 0] });
    }
    // Without labels the last column is the target.
    let table = read(fixture("c.npy"), &regression()).unwrap();
    assert_eq!(table.row(1), [0.375, 0.5]);
    assert_eq!(table.target, Target::Values(vec![0.25, 0.625, 1.0, 1.375]));
    // Axes after the first are flattened, the last one first.
    let table = read(fixture("cube.npy"), &regression()).unwrap();
    assert_eq!(table.row(1), [6.0, 7.0, 8.0, 9.0, 10.0]);
}

#[test]
fn npz_and_its_arrays() {
    let table = read(fixture("arrays.npz"), &options()).unwrap();
    assert_eq!((table.rows(), table.inputs), (4, 3));
    assert_eq!(table.schema.target_name(), Some("y"));
    assert_eq!(table.schema.classes, ["down", "up"]);
    assert_eq!(
        message(read(fixture("uneven.npz"), &options())),
        "uneven.npz: arrays of different numbers of rows: X [4, 3], y [4], X_test [2, 3], \
         y_test [2]; some must be chosen"
    );
    let arrays =
        |names: [&str; 2]| ReadOptions { arrays: names.map(str::to_owned).to_vec(), ..options() };
    let table = read(fixture("uneven.npz"), &arrays(["X", "y"])).unwrap();
    let test = read_with(fixture("uneven.npz"), &table.schema, &arrays(["X_test", "y_test"]));
    assert_eq!(test.unwrap().values, table.values[..6]);
    assert_eq!(
        message(read(fixture("arrays.npz"), &arrays(["X", "z"]))),
        "arrays.npz: no array `z`; there are X, y"
    );
}

#[test]
fn arrays_that_cannot_be_read() {
    assert_eq!(
        message(read(fixture("complex.npy"), &options())),
        "complex.npy: elements of type '<c8'; booleans, integers, 32- and 64-bit floats and \
         texts are read"
    );
    let whole = std::fs::read(fixture("c.npy")).unwrap();
    let cut = read_text(&whole[..whole.len() - 5], &regression()).unwrap_err();
    assert_eq!(cut, "t.csv: the file ends within row 4 of 4");
    let archive = std::fs::read(fixture("arrays.npz")).unwrap();
    for length in [4, 40, archive.len() / 2, archive.len() - 30] {
        let cut = read_text(&archive[..length], &options()).unwrap_err();
        assert!(cut.starts_with("t.csv: "), "{cut}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_of_every_compression() {
    for codec in ["none", "snappy", "gzip", "lz4", "zstd"] {
        let table = read(fixture(&format!("{codec}.parquet")), &imputing()).unwrap();
        assert_eq!((table.rows(), table.inputs), (6, 5), "{codec}");
        assert_eq!(table.schema.classes, ["cold", "hot"]);
        // A text column stays one where its values are numbers.
        let ColumnKind::Text { values } = &table.schema.columns[3].kind else { panic!("a number") };
        assert_eq!(values, &["1", "2"]);
        assert_eq!(table.row(0), [1.5, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(table.row(2), [1.5, 3.0, 1.0, 1.0, 0.0], "the median of 5 temperatures");
        assert_eq!(table.row(5), [3.5, 6.0, 0.0, 0.0, 1.0]);
    }
    assert_eq!(
        message(read(fixture("none.parquet"), &options())),
        "none.parquet:3: column 1 (`temp`): the value is missing"
    );
    assert_eq!(
        message(read(fixture("nested.parquet"), &options())),
        "nested.parquet: column `list` is nested; flat columns are read"
    );
}

/// Times and durations are microseconds, in whichever unit they are stored.
#[cfg(feature = "parquet")]
#[test]
fn times_of_parquet_have_one_unit() {
    let table = read(fixture("times.parquet"), &regression()).unwrap();
    assert_eq!(table.row(0), [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    let microseconds = 90_061e6;
    assert_eq!(table.row(1)[..5], [microseconds; 5]);
    assert_eq!(table.row(1)[5], 1.0);
    // Without the notes of pandas, too.
    for name in ["durations.parquet", "polars.parquet"] {
        let table = read(fixture(name), &regression()).unwrap();
        assert_eq!((table.row(0), table.row(1)), (&[0.0; 4][..], &[90_061e6; 4][..]), "{name}");
    }
    // Times of day have a type of their own.
    let table = read(fixture("clock.parquet"), &regression()).unwrap();
    assert_eq!((table.row(0), table.row(1)), (&[0.0; 3][..], &[45_296_789e3; 3][..]));
}

/// The index that pandas stores behind the columns is no column, unless it is asked for.
#[cfg(feature = "parquet")]
#[test]
fn index_of_pandas() {
    let plain = read(fixture("plain.parquet"), &options()).unwrap();
    assert_eq!((plain.schema.target_name(), plain.inputs), (Some("state"), 4));
    for (name, index) in [("shuffled", "__index_level_0__"), ("indexed", "id")] {
        let path = fixture(&format!("{name}.parquet"));
        let table = read(&path, &options()).unwrap();
        let told: Vec<String> = table.schema.warnings.iter().map(ToString::to_string).collect();
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(told.contains(&format!("column 5 (`{index}`) is an index")), "{told}");
        assert_eq!(Schema { warnings: Vec::new(), ..table.schema.clone() }, plain.schema);
        assert_eq!(table.row(0), [5.0, 0.0, 1.0, 0.0]);
        // Nor is it one of rows to predict, with and without names.
        for schema in [plain.schema.clone(), plain.schema.clone().without_names()] {
            let again = read_with(&path, &schema, &options()).unwrap();
            assert_eq!(again.values, table.values);
        }
        // As it may be said.
        let drop = ReadOptions { drop: vec![index.to_owned()], ..options() };
        assert_eq!(read(&path, &drop).unwrap().schema, plain.schema);
        // As the target it comes back, and under the schema of that as well.
        let target = Some(index.to_owned());
        let table = read(&path, &ReadOptions { target, ..regression() }).unwrap();
        assert_eq!(table.target, Target::Values(vec![4.0, 0.0, 3.0, 5.0, 1.0, 2.0]));
        let again = read_with(&path, &table.schema, &options()).unwrap();
        assert_eq!(again.target, table.target);
    }
    assert!(matches!(
        read(fixture("indexed.parquet"), &ReadOptions { target: Some("5".into()), ..options() }),
        Err(DataError::NoColumn { .. })
    ));
}

const SIGNS: &str = "@relation r\n@attribute a numeric\n@attribute class {+1,-1}\n@data\n\
    1,+1\n2,+1\n3,-1\n4,-1\n";

/// Classes that are texts are told apart as they are written, also where they look like numbers.
#[test]
fn texts_like_numbers_against_the_rest() {
    let positive = |name: &str| ReadOptions { positive: Some(name.to_owned()), ..options() };
    let table = read_text(SIGNS, &positive("+1")).unwrap();
    assert_eq!(table.schema.classes, ["not +1", "+1"]);
    assert_eq!(table.target, Target::Classes { labels: vec![1, 1, 0, 0] });
    let table = read_text("x,c\n1,1.0\n2,none\n3,1.0\n", &positive("1.0")).unwrap();
    assert_eq!(table.target, Target::Classes { labels: vec![1, 0, 1] });
    // Classes that are numbers have one name, however they are written.
    let table = read_text("x,c\n1,1.0\n2,2\n3,1\n4,2\n", &positive("+1.0")).unwrap();
    assert_eq!(table.schema.classes, ["not 1", "1"]);
    assert_eq!(table.target, Target::Classes { labels: vec![1, 0, 1, 0] });
    #[cfg(feature = "parquet")]
    {
        let table = read(fixture("decimals.parquet"), &positive("1.0")).unwrap();
        assert_eq!(table.target, Target::Classes { labels: vec![1, 0, 1, 0] });
    }
}

/// A Parquet file may also come through a pipe or compressed.
#[cfg(feature = "parquet")]
#[test]
fn parquet_from_a_stream() {
    let bytes = std::fs::read(fixture("snappy.parquet")).unwrap();
    let table = read_text(gzip(&bytes), &imputing()).unwrap();
    assert_eq!(table.rows(), 6);
    assert_eq!(stream(&bytes, &table.schema).unwrap().len(), 6);
    for length in [4, 100, bytes.len() - 1] {
        let cut = read_text(&bytes[..length], &imputing()).unwrap_err();
        assert!(cut.starts_with("t.csv: "), "{cut}");
    }
}

/// Damaged bytes give a table or an error, never a panic.
#[cfg(feature = "parquet")]
#[test]
fn damaged_parquet() {
    let mut state = 5;
    for codec in ["none", "snappy", "zstd"] {
        let whole = std::fs::read(fixture(&format!("{codec}.parquet"))).unwrap();
        for _ in 0..300 {
            let mut bytes = whole.clone();
            let place = wyhash::final3::wyrng(&mut state) as usize % bytes.len();
            bytes[place] = wyhash::final3::wyrng(&mut state) as u8;
            let _ = read_text(&bytes, &imputing());
        }
    }
}

#[test]
fn comments_and_spaced_rows() {
    let comment = |byte| ReadOptions { comment: Some(byte), ..options() };
    let text = "# Task: walking\n# Frequency: 20\na,b,y\n1,2,u\n# a pause\n3,x,v\n1,2,u\n";
    let slip = read_text(text, &comment(b'#')).unwrap();
    assert_eq!((slip.rows(), slip.inputs), (3, 3));
    let slip = read_text(text.replace("3,x", "3"), &comment(b'#')).unwrap_err();
    assert_eq!(slip, "t.csv:6: 2 fields, where the first line has 3");
    // A header between commas over rows between spaces.
    let table = read_text("time,a,y\n0 1.5 u \n250 2.5 v\n500 1 u\n", &options()).unwrap();
    assert_eq!(table.row(1), [250.0, 2.5]);
    assert_eq!(table.schema.columns[1].name, "a");
    let again = read_text_with("time,a,y\n7 8 v\n9 1 u\n", &table.schema).unwrap();
    assert_eq!(again.row(0), [7.0, 8.0]);
}
