use super::*;

const SPARSE: &str = "# made by hand\n+1 1:0.5 3:-2 # why not\n\n-1 qid:7 2:1e1\n+1\n-1 4:1\r\n";

#[test]
fn svmlight() {
    let table = read_text(SPARSE, &options()).unwrap();
    assert_eq!((table.rows(), table.inputs), (4, 4));
    assert_eq!(table.row(0), [0.5, 0.0, -2.0, 0.0]);
    assert_eq!(table.row(1), [0.0, 10.0, 0.0, 0.0]);
    assert_eq!(table.row(2), [0.0; 4]);
    assert_eq!(table.schema.classes, ["-1", "1"]);
    let labels = vec![1, 0, 1, 0];
    assert_eq!(table.target, Target::Classes { labels });
    assert_eq!(json(&table.schema), r#"{"format":"svmlight"}"#);
    assert_eq!(through_json(&table.schema), table.schema);
    let rows = stream("1:0.5 9:0\n2 2:3\n", &table.schema).unwrap();
    assert_eq!(rows[0], (1, vec![0.5, 0.0, 0.0, 0.0]));
    assert_eq!(rows[1], (2, vec![0.0, 3.0, 0.0, 0.0]));
    assert_eq!(stream("1\n-1\n", &table.schema).unwrap().len(), 2);
}

#[test]
fn svmlight_counted_from_zero() {
    let table = read_text("1.5 0:1 2:1\n2 1:1\n", &options()).unwrap();
    assert_eq!(table.inputs, 3);
    assert_eq!(table.row(0), [1.0, 0.0, 1.0]);
    assert_eq!(table.target, Target::Values(vec![1.5, 2.0]));
    assert_eq!(json(&table.schema), r#"{"format":"svmlight","zero_based":true}"#);
}

#[test]
fn svmlight_errors() {
    for (text, expected) in [
        ("1 2:1\n-1 2:x\n", "t.csv:2: `2:x` is not index:value"),
        ("1 2:1\n-1 2\n", "t.csv:2: `2` is not index:value"),
        ("1 2:1\n-1 3:1 3:2\n", "t.csv:2: `3:2` does not come after index 3"),
        ("1 2:1\n-1 3:inf\n", "t.csv:2: `3:inf` is not a finite number"),
        ("1 2:1\n-1 9999999:1\n", "t.csv:2: `9999999:1` has an index above 1048576"),
        ("1 2:1\n3:1\n", "t.csv:2: column 1 (`label`): the target is missing"),
        (
            "1 2:1\n1 2:2\n1 2:3\n",
            "t.csv: every row has the same class, \"1\"; classification needs two",
        ),
    ] {
        assert_eq!(read_text(text, &options()).unwrap_err(), expected, "{text:?}");
    }
    let drop = vec!["1".to_string()];
    assert_eq!(
        read_text(SPARSE, &ReadOptions { drop, ..options() }).unwrap_err(),
        "t.csv: `drop` applies to tables such as CSV files; this is an svmlight file"
    );
    let schema = read_text(SPARSE, &options()).unwrap().schema;
    for (text, expected) in [
        ("1 5:2\n", "test.csv:1: `5:2` is beyond the model's 4 inputs"),
        ("1 0:2\n", "test.csv:1: `0:2` has index 0; the training data counts from 1"),
        ("7 1:1\n", "test.csv:1: class \"7\" is not among the model's classes: -1, 1"),
        ("1:1\n", "test.csv:1: the target is missing"),
        ("1\n1,2 1:1\n", "test.csv:2: `1,2` is not a label"),
        ("# nothing\n", "test.csv: no rows of data"),
        (
            "\0\0\u{8}\u{3}",
            "test.csv: looks like an idx file, but the model takes an svmlight file",
        ),
    ] {
        assert_eq!(read_text_with(text, &schema).unwrap_err(), expected, "{text:?}");
    }
}

/// An idx file of unsigned bytes.
fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, dimensions.len() as u8];
    file.extend(dimensions.iter().flat_map(|d| d.to_be_bytes()));
    file.extend(bytes);
    file
}

#[test]
fn idx_pairs() {
    let images = idx(&[3, 1, 2], &[0, 255, 1, 2, 3, 4]);
    let labels = idx(&[3], &[7, 3, 7]);
    let (plain, pressed) = (Files::new(), Files::new());
    let path = plain.write("train-images-idx3-ubyte", &images);
    plain.write("train-labels-idx1-ubyte.gz", gzip(&labels));
    let table = read(path, &options()).unwrap();
    assert_eq!((table.rows(), table.inputs), (3, 2));
    assert_eq!(table.row(0), [0.0, 255.0]);
    assert_eq!(table.row(2), [3.0, 4.0]);
    assert_eq!(table.schema.classes, ["3", "7"]);
    assert_eq!(json(&table.schema), r#"{"format":"idx"}"#);
    let target = Target::Classes { labels: vec![1, 0, 1] };
    assert_eq!(table.target, target);

    let path = pressed.write("images.gz", gzip(&images));
    let labels = Some(pressed.write("answers", &labels));
    let given = ReadOptions { labels, ..options() };
    assert_eq!(read(&path, &given).unwrap(), table);
    let schema = through_json(&table.schema);
    // The shape is for training: a model has its own.
    let again = read_with(&path, &schema, &given).unwrap();
    assert_eq!(again, Table { schema: schema.clone(), ..table });
    let streamed: Vec<_> = rows(&path, &schema, &options()).unwrap().collect();
    assert_eq!(streamed.len(), 3);
    assert_eq!(streamed[1].as_ref().unwrap(), &(2, vec![1.0, 2.0]));
}

#[test]
fn idx_errors() {
    let files = Files::new();
    let refused = |images: &[u8], labels: &[u8]| {
        let path = files.write("images", images);
        let labels = Some(files.write("answers", labels));
        let options = ReadOptions { labels, ..options() };
        files.message(&read(path, &options).unwrap_err())
    };
    let labels = idx(&[2], &[0, 1]);
    let images = idx(&[2, 1, 2], &[1, 2, 3, 4]);
    for (file, expected) in [
        (&images[..7], "images: at byte 7: the file ends within the header"),
        (&images[..19], "images: at byte 19: the file ends within row 2 of 2"),
        (&[&images[..], &[9]].concat(), "images: at byte 20: bytes after the last element"),
        (&labels, "images: at byte 3: 1 dimensions, images have 3"),
        (
            &[0, 0, 13, 1],
            "images: at byte 2: elements of type 0x0d; only unsigned bytes, 0x08, are read",
        ),
        (
            &idx(&[2, u32::MAX, u32::MAX], &[]),
            "images: at byte 8: rows of [4294967295, 4294967295]; 1 to 1048576 values can be read",
        ),
        (&idx(&[0, 1, 2], &[]), "images: no rows of data"),
        (&idx(&[3, 1, 2], &[0; 6]), "images: at byte 4: 3 rows, but there are 2 labels"),
    ] {
        assert_eq!(refused(file, &labels), expected);
    }
    for (file, expected) in [
        (&labels[..9], "answers: at byte 9: the file ends within its 2 labels"),
        (&images, "answers: at byte 3: 3 dimensions, labels have 1"),
        (b"7\n8\n", "answers: at byte 0: not the start of an idx file"),
        (
            &idx(&[2], &[5, 5]),
            "images: every row has the same class, \"5\"; classification needs two",
        ),
    ] {
        assert_eq!(refused(&images, file), expected);
    }

    let path = files.write("a-images-idx3-ubyte", &images);
    assert_eq!(
        files.message(&read(path, &options()).unwrap_err()),
        "a-images-idx3-ubyte: no labels found; looked for a-labels-idx1-ubyte and \
         a-labels-idx1-ubyte.gz"
    );
    let other: Schema = serde_json::from_str(r#"{"format":"idx"}"#).unwrap();
    let other = other.restored(3, Vec::new()).unwrap();
    assert_eq!(
        stream(&images, &other).unwrap_err(),
        "standard input: 2 inputs, where the model takes 3"
    );
}

#[test]
fn gzip_is_known_by_its_content() {
    let text = "a,b\n1,2\n3,4\n";
    let plain = read_text(text, &regression()).unwrap();
    assert_eq!(read_text(gzip(text), &regression()).unwrap(), plain);
    // Several members, one after the other, are one file.
    let members = [gzip("a,b\n1,"), gzip("2\n3,4\n")].concat();
    assert_eq!(read_text(members, &regression()).unwrap(), plain);
    let rows = stream(gzip("5\n"), &plain.schema).unwrap();
    assert_eq!(rows, [(1, vec![5.0])]);
}

#[test]
fn times_of_day_are_not_svmlight() {
    for first in ["2020-01-01 10:30:00,1", "1\t10:30\t5", "09:15,2"] {
        let input = open::Input::new(first.as_bytes(), "t").unwrap();
        assert_eq!(input.container(None), Container::Text, "{first}");
    }
}

/// Yields one byte at a time and fails if read past a line that is enough.
struct Slow<'a>(&'a [u8]);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Err(std::io::Error::other("nothing more"));
        };
        self.0 = rest;
        buffer[0] = *first;
        Ok(1)
    }
}

#[test]
fn a_slow_stream_gives_its_rows_as_they_come() {
    let schema = read_text("a,b\n1,2\n3,4\n", &regression()).unwrap().schema;
    let mut reader = rows_from(Slow(b"a\n5\n6\n"), "pipe", &schema, &options()).unwrap();
    assert_eq!(reader.next().unwrap().unwrap(), (2, vec![5.0]));
    assert_eq!(reader.next().unwrap().unwrap(), (3, vec![6.0]));
    let error = reader.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "pipe: cannot be read: nothing more");
    assert!(reader.next().is_none());
}

/// A first line of one character tells no format: the next ones do.
#[test]
fn svmlight_that_begins_with_a_label_alone() {
    let text = "1\n2 1:0.5\n1 2:3\n2 1:1\n";
    for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
        let table = read_text(bytes, &options()).unwrap();
        assert_eq!((table.schema.format, table.rows(), table.inputs), (Format::Svmlight, 4, 2));
        assert_eq!(table.values, [0.0, 0.0, 0.5, 0.0, 0.0, 3.0, 1.0, 0.0]);
    }
}

/// A slow stream is read no further than its first line.
#[test]
fn one_line_of_a_slow_stream_is_enough() {
    let schema = read_text("1,2\n2,3\n4,5\n", &regression()).unwrap().schema;
    let mut lines = ["7\n", "8\n"].into_iter();
    struct Slow<F>(F);
    impl<F: FnMut(&mut [u8]) -> std::io::Result<usize>> std::io::Read for Slow<F> {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            (self.0)(bytes)
        }
    }
    let given = std::cell::Cell::new(0);
    let slow = Slow(|bytes: &mut [u8]| {
        let Some(line) = lines.next() else { return Ok(0) };
        given.set(given.get() + 1);
        bytes[..2].copy_from_slice(line.as_bytes());
        Ok(2)
    });
    let mut rows = rows_from(slow, "standard input", &schema, &options()).unwrap();
    assert_eq!(given.get(), 1);
    assert_eq!(rows.next().unwrap().unwrap(), (1, vec![7.0]));
    assert_eq!(given.get(), 1);
    assert_eq!(rows.next().unwrap().unwrap(), (2, vec![8.0]));
}
