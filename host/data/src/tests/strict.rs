//! Nothing is lost, and nothing silent: slips in files that once gave a table all the same.

use super::*;

#[test]
fn quotes_that_swallow_rows() {
    let rows = |bad: &[(usize, &str)]| -> String {
        let row =
            |i: usize| format!("{i}.5,-{i},{}\n", if i.is_multiple_of(3) { "no" } else { "yes" });
        let mut lines: Vec<String> = (2..=61).map(row).collect();
        for &(line, text) in bad {
            lines[line - 2] = format!("{text}\n");
        }
        format!("a,b,y\n{}", lines.concat())
    };
    for (bad, expected) in [
        (
            &[(11, "0.2,-0.1,\"yes"), (41, "-2.8,0.1,\"no")][..],
            "t.csv:41: text after the quote that ends the field of line 11; one of the quotes is \
             too many",
        ),
        (
            &[(11, "0.2,-0.1,\"yes"), (41, "-2.8,0.1,no\"")],
            "t.csv:11: quotes hold what look like rows, up to line 41",
        ),
        (
            &[(11, "\"0.2,-0.1,yes"), (12, "-2.8\",0.1,no")],
            "t.csv:11: quotes hold what look like rows, up to line 12",
        ),
        (&[(11, "0.2,\"-0.1,yes")], "t.csv:11: a quote is opened and not closed"),
        (&[(11, "0.2,\"-0.1\"x,yes")], "t.csv:11: text after the quote that ends a field"),
    ] {
        assert_eq!(read_text(rows(bad), &options()).unwrap_err(), expected);
    }
}

/// Line breaks in quotes, quotes in quotes and blanks around them are what they were.
#[test]
fn quotes_that_are_right() {
    let text = "a,note,y\n1, \"two\nlines, \"\"quoted\"\"\" ,u\n2,\"\",v\n3,5\" pipe,u\n4,x,v\n";
    let table = read_text(text, &imputing()).unwrap();
    let ColumnKind::Text { values } = &table.schema.columns[1].kind else { panic!("a number") };
    assert_eq!(values, &["5\" pipe", "two\nlines, \"quoted\"", "x"]);
    assert_eq!(table.rows(), 4);
    // A single column's empty field is a row, not a blank line.
    let schema = read_text("a,y\n1,2.5\n3,4.5\n", &regression()).unwrap().schema;
    let error = stream("7\n\"\"\n8\n", &schema).unwrap_err();
    assert!(error.starts_with("standard input:2: column 1"), "{error}");
}

/// A stream of the same byte without an end in sight, for a while.
struct Long {
    start: &'static [u8],
    byte: u8,
    left: usize,
}

impl std::io::Read for Long {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.start.is_empty() {
            return self.start.read(buffer);
        }
        // What would not fit in memory must not be asked for.
        assert!(self.left > 0, "read on after the longest line");
        let count = buffer.len().min(self.left);
        buffer[..count].fill(self.byte);
        self.left -= count;
        Ok(count)
    }
}

/// A short line of many delimiters takes little memory.
#[test]
fn columns_of_bounded_number() {
    let text = format!("{}\n1\n", ",".repeat(MAX_INPUTS + 2));
    let expected = "t.csv:1: more than 1048577 columns";
    assert_eq!(read_text(&text, &options()).unwrap_err(), expected);
    let schema = read_text("1,2\n2,3\n4,5\n", &regression()).unwrap().schema;
    let error = stream(&text, &schema).unwrap_err();
    assert!(error.ends_with("more than 1048577 columns"), "{error}");
    // Without the target they are inputs, none of which has a value.
    let most = read_text(format!("{}\n1\n", ",".repeat(MAX_INPUTS)), &options()).unwrap_err();
    assert!(most.contains("1 field, where the first line has 1048577"), "{most}");
}

#[test]
fn lines_of_bounded_length() {
    let csv = read_text("a,y\n1,2.5\n3,4.5\n", &regression()).unwrap().schema;
    let svm = read_text("1 1:2\n-1 1:3\n1 1:1\n-1 1:2\n", &options()).unwrap().schema;
    let long = |start: &'static [u8], byte| Long { start, byte, left: MAX_LINE + (1 << 20) };
    let problem = format!("standard input:2: a line of more than {MAX_LINE} bytes");
    for (start, schema, expected) in [
        (&b"5\n"[..], &csv, problem.as_str()),
        (b"1 1:5\n", &svm, problem.as_str()),
        (b"@relation r\n%", &csv, problem.as_str()),
        (b"bool_in=1\n", &csv, problem.as_str()),
        (b"5\n\"", &csv, &problem),
        (b"5\n6\n\"\n", &csv, "standard input:3: a quote is opened and not closed"),
    ] {
        // Lines of their own within the quotes, in the last case.
        let byte = if start.ends_with(b"\"\n") { b'\n' } else { b'1' };
        let error = rows_from(long(start, byte), "standard input", schema, &options())
            .and_then(|mut rows| rows.by_ref().find_map(Result::err).map_or(Ok(()), Err))
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    // Nor is there a row after it.
    let mut rows = rows_from(long(b"5\n", b'1'), "in", &csv, &options()).unwrap();
    assert!(rows.next().unwrap().is_ok() && rows.next().unwrap().is_err());
    assert!(rows.next().is_none());
}

#[test]
fn lines_that_end_in_carriage_returns_alone() {
    let told = read_text("a,b,y\r1,2,u\r3,4,v\r", &options()).unwrap_err();
    assert_eq!(told, "t.csv: its lines end in carriage returns alone, not in line feeds");
    assert_eq!(read_text("sep=,\na,b,y\r1,2,u\r3,4,v\n", &options()).unwrap_err(), told);
    let schema = read_text("a,b,y\r\n1,2,u\r\n3,4,v", &options()).unwrap().schema;
    assert!(stream("a,b\r1,2\r", &schema).unwrap_err().contains("carriage returns"));
    assert_eq!(stream("1,2\r", &schema).unwrap().len(), 1);
}

#[test]
fn no_line_end_or_quote_is_a_delimiter() {
    for delimiter in [b'\n', b'\r', b'"'] {
        let options = ReadOptions { delimiter: Some(delimiter), ..options() };
        let error = read_text("a,b\n1,2\n3,4\n", &options).unwrap_err();
        assert!(error.contains("neither a line's end nor a quote"), "{error}");
    }
}

#[test]
fn decimal_commas() {
    let plain = read_text("a;b;y\n1.25;-3;u\n2.5;1e3;v\n-0.5;4.5;u\n", &options()).unwrap();
    let comma = read_text("a;b;y\n1,25;-3;u\n2,5;1e3;v\n-0,5;4,5;u\n", &options()).unwrap();
    assert_eq!(plain, comma);
    // Also without a header, whose commas would be as many as the semicolons.
    let bare = read_text("1,25;-3,0;u\n2,5;1,0e3;v\n-0,5;4,5;u\n", &options()).unwrap();
    assert_eq!(bare.values, plain.values);
    assert_eq!(stream("1,5;2,5\n", &plain.schema).unwrap()[0].1, [1.5, 2.5]);
    // Three decimals are not thousands.
    assert_eq!(stream("21,375;-1,250\n", &plain.schema).unwrap()[0].1, [21.375, -1.25]);
    for (text, expected) in [
        (
            "a;b;y\n1,25;1;u\n1.5;2;v\n",
            "t.csv:3: column 1 has numbers with a decimal comma and with a decimal point, in this \
             line and in line 2",
        ),
        (
            "a;b;y\n1.200;0,57;u\n616;0,26;v\n",
            "t.csv:2: 1.200 in column 1 may be 1200, since column 2 has decimal commas: write \
             numbers without points between thousands",
        ),
        (
            "a\tb\ty\n1,25\t1\tu\n2,5\t2\tv\n",
            "t.csv:2: column 1 (`a`): \"1,25\" is a number with a decimal comma, which is read \
             between semicolons only",
        ),
        (
            "a,b,y\n\"1,25\",1,u\n\"2,5\",2,v\n",
            "t.csv:2: column 1 (`a`): \"1,25\" is a number with a decimal comma, which is read \
             between semicolons only",
        ),
    ] {
        assert_eq!(read_text(text, &options()).unwrap_err(), expected, "{text:?}");
    }
    let text = vec!["a".to_owned()];
    let asked = ReadOptions { text, ..options() };
    assert_eq!(read_text("a,y\n\"1,25\",u\n\"2,5\",v\n", &asked).unwrap().inputs, 2);
}

#[test]
fn columns_of_numbers_that_become_text() {
    let table = read_text("a,b,y\n1,2,u\n2,?,v\n3,oops,u\n4,5,v\n", &imputing()).unwrap();
    let warnings: Vec<String> = table.schema.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].ends_with(
            "t.csv:4: column 2 (`b`): \"oops\" is not a number, so the column is read as text, \
             though 2 of its values are numbers"
        ),
        "{warnings:?}"
    );
    // Not where it was asked for, nor of columns that are not used.
    let named = || vec!["b".to_owned()];
    for options in
        [ReadOptions { text: named(), ..imputing() }, ReadOptions { drop: named(), ..imputing() }]
    {
        let table = read_text("a,b,y\n1,2,u\n2,?,v\n3,oops,u\n4,5,v\n", &options).unwrap();
        assert!(table.schema.warnings.is_empty());
    }
}

#[test]
fn values_that_arff_does_not_declare() {
    let head = "@relation r\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n";
    let text = |rows: &str| format!("{head}@attribute y {{no,yes}}\n@data\n{rows}");
    let good = "1,x,no\n2,'y z',yes\n3,?,no\n{0 4, 2 yes}\n";
    let table = read_text(text(good), &imputing()).unwrap();
    assert_eq!((table.rows(), table.inputs), (4, 3));
    for (row, expected) in [
        (
            "5,x,maybe",
            "t.csv:10: column 3 (`y`): \"maybe\" is not among the declared values: no, yes",
        ),
        ("5,y,no", "t.csv:10: column 2 (`b c`): \"y\" is not among the declared values: x, y z"),
        ("{2 on}", "t.csv:10: column 3 (`y`): \"on\" is not among the declared values: no, yes"),
    ] {
        let bad = text(&format!("{good}{row}\n"));
        assert_eq!(read_text(&bad, &imputing()).unwrap_err(), expected);
        // Rows to predict are of the same kind.
        assert!(stream(&bad, &table.schema).unwrap_err().contains("declared values"), "{row}");
    }
}

#[test]
fn names_that_two_columns_have() {
    let arff = "@relation r\n@attribute a numeric\n@attribute a numeric\n@data\n1,2\n";
    for text in ["a,a,y\n1,2,0.5\n3,4,1\n", "y,x,y\n1,2,0.5\n3,4,1\n", arff] {
        let error = read_text(text, &regression()).unwrap_err();
        assert!(error.contains("are both called `"), "{error}");
    }
    let schema = read_text("a,b,y\n1,2,0.5\n3,4,1\n", &regression()).unwrap().schema;
    assert_eq!(
        stream("a,b,a\n1,2,3\n", &schema).unwrap_err(),
        "standard input: columns 1 and 3 are both called `a`"
    );
    // Columns without a name are told apart by their numbers.
    let header = Some(true);
    let options = ReadOptions { header, ..regression() };
    assert_eq!(read_text(",,y\n1,2,0.5\n3,4,1\n", &options).unwrap().inputs, 2);
}

/// Element `<f8`, shape (2, 2).
fn npy(header: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    [&file, header.as_bytes(), bytes].concat()
}

#[test]
fn npy_headers_and_ends() {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n";
    let fortran = header.replace("False", "True");
    let numbers: Vec<u8> = [1.0f64, 2.0, 3.0, 5.0].iter().flat_map(|n| n.to_le_bytes()).collect();
    let table = read_text(npy(header, &numbers), &regression()).unwrap();
    assert_eq!(table.values, [1.0, 3.0]);
    let longer = [&numbers[..], &[0]].concat();
    for header in [header, &fortran] {
        let error = read_text(npy(header, &longer), &regression()).unwrap_err();
        assert_eq!(error, "t.csv: array: bytes after the last element");
    }
    let quoted = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), '{{{{{{{{{{{{{{': 1}";
    // Braces within quotes are none.
    assert!(read_text(npy(quoted, &numbers), &regression()).is_ok());
    for bad in [
        "{".repeat(16),
        "{".repeat(60_000),
        "[".repeat(16),
        "(((((((((((((((((1,),),),),),),),),),),),),),),),)".to_owned(),
        "{'descr'".to_owned(),
        String::new(),
    ] {
        let start = std::time::Instant::now();
        assert!(read_text(npy(&bad, &numbers), &regression()).is_err(), "{bad}");
        assert!(start.elapsed().as_secs() < 5, "{bad}");
    }
    let cut = b"\x93NUMPY\x01\0\x10\0{{{{{{{{{{{{{{{{";
    let error = read_text(cut, &regression()).unwrap_err();
    assert_eq!(error, "t.csv: a header of more than 4 brackets within each other");
    let wide = npy(&header.replace("<f8", "<U99999999"), &numbers);
    let error = read_text(wide, &regression()).unwrap_err();
    assert_eq!(error, "t.csv: texts of 399999996 bytes; at most 33554432 are read");
    let many = npy(&header.replace("(2, 2)", "(4294967296, 4294967296)"), &numbers);
    let error = read_text(many, &regression()).unwrap_err();
    assert!(error.ends_with("has more elements than there can be"), "{error}");
    for (bytes, element) in [(&b"\xff"[..], "|S1"), (&[0, 0xd8, 0, 0], "<U1"), (&[2], "|b1")] {
        let one = header.replace("<f8", element).replace("(2, 2)", "(1, 2)");
        let error = read_text(npy(&one, &bytes.repeat(2)), &regression()).unwrap_err();
        assert!(error.contains("t.csv") && !error.contains("ends within"), "{error}");
    }
    let version_3 = b"\x93NUMPY\x03\0\xff\xff\xff\xff{}";
    let error = read_text(version_3, &regression()).unwrap_err();
    assert!(error.contains("a header of 4294967295 bytes"), "{error}");
    for length in 0..npy(header, &numbers).len() {
        if length > 6 {
            let cut = &npy(header, &numbers)[..length];
            assert!(read_text(cut, &regression()).is_err(), "{length}");
        }
    }
}

#[test]
fn the_same_file_twice() {
    let files = Files::new();
    let text = "a,y\n1,0.5\n2,1.5\n";
    let path = files.write("t.csv", text);
    let again = path.parent().unwrap().join(".").join("t.csv");
    let copy = files.write("copy.csv", text);
    let schema = read(&path, &regression()).unwrap().schema;
    let mut others = vec![path.clone(), again];
    #[cfg(unix)]
    {
        let (link, hard) = (files.0.path().join("link.csv"), files.0.path().join("hard.csv"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        std::fs::hard_link(&path, &hard).unwrap();
        others.extend([link, hard]);
    }
    for other in others {
        let twice = [path.clone(), copy.clone(), other.clone()];
        let error = files.message(&read_all(&twice, &regression()).unwrap_err());
        assert!(error.contains("the file is given twice, first as t.csv"), "{error}");
        assert!(read_all_with(&twice, &schema, &options()).is_err());
        assert!(rows_of(&twice, &schema, &options()).is_err());
    }
    assert_eq!(read_all(&[path, copy], &regression()).unwrap().rows(), 4);
}

#[test]
fn rows_of_another_kind() {
    let csv = read_text("a,b,y\n1,2,0.5\n3,4,1\n", &regression()).unwrap().schema;
    let svm = read_text("1 1:2 2:1\n-1 1:3\n1 1:1\n-1 1:2\n", &options()).unwrap().schema;
    for (text, schema, found, expected) in [
        ("1 1:2\n", &csv, "an svmlight file", "a table such as a CSV file"),
        ("1,2\n", &svm, "a table such as a CSV file", "an svmlight file"),
        ("a,b\n1,2\n", &svm, "a table such as a CSV file", "an svmlight file"),
        ("1\n2,3\n", &svm, "a table such as a CSV file", "an svmlight file"),
        ("1;2\n", &svm, "a table such as a CSV file", "an svmlight file"),
        ("1\t2\n", &svm, "a table such as a CSV file", "an svmlight file"),
        ("1 2\n", &svm, "a table such as a CSV file", "an svmlight file"),
        ("@relation r\n@attribute a numeric\n@data\n1\n", &svm, "a table", "an svmlight file"),
    ] {
        let error = stream(text, schema).unwrap_err();
        let message = format!("looks like {found}");
        assert!(error.contains(&message) && error.ends_with(expected), "{text:?}: {error}");
    }
    // Rows without values may be of either kind, but not further on.
    assert_eq!(stream("1\n-1\n", &svm).unwrap().len(), 2);
    let error = stream(format!("{}2,3\n", "1\n".repeat(100)), &svm).unwrap_err();
    assert_eq!(error, "standard input:101: `2,3` is not a label");
}

#[test]
fn compressions_that_are_not_read() {
    for (bytes, expected) in [
        (&b"BZh91AY&SYabcdefgh"[..], "compressed with bzip2"),
        (b"\xfd7zXZ\0\0\x04abcdefgh", "compressed with xz"),
        (b"\x28\xb5\x2f\xfdabcdefgh", "compressed with zstd"),
        (b"\x04\x22\x4d\x18abcdefgh", "compressed with lz4"),
        (b"\xff\xfea\0,\0b\0\n\0", "UTF-16 text"),
    ] {
        let error = read_text(bytes, &options()).unwrap_err();
        let gzip = if expected == "UTF-16 text" { "" } else { "gzip, or text in " };
        let told = format!("t.csv: {expected}, which is not supported: use {gzip}UTF-8");
        assert_eq!(error, told);
    }
    // A header may begin so.
    assert_eq!(read_text("BZh,y\n1,0.5\n2,1.5\n", &regression()).unwrap().inputs, 1);
}

#[test]
fn class_labels_keep_their_zeros_and_digits() {
    let classes = |text: &str| {
        let task = Some(Task::Classification);
        read_text(text, &ReadOptions { task, ..options() }).unwrap().schema.classes
    };
    assert_eq!(classes("1,007\n2,07\n3,7\n4,+7.0\n"), ["007", "07", "7"]);
    assert_eq!(classes("1,01\n2,1\n3,-01\n4,0\n5,0.50\n6,.5\n"), ["-01", "0", "0.5", "01", "1"]);
    // Numbers that f64 would make one.
    let long = ["9007199254740992", "9007199254740993"];
    assert_eq!(classes(&format!("1,{}\n2,{}\n", long[0], long[1])), long);
    let table = read_text("1,01\n2,1\n3,01\n4,1\n", &options()).unwrap();
    assert_eq!(table.target, Target::Classes { labels: vec![0, 1, 0, 1] });
    let positive = Some("01".to_owned());
    let options = ReadOptions { positive, ..options() };
    let table = read_text("1,01\n2,1\n3,01\n4,1\n", &options).unwrap();
    assert_eq!(table.schema.classes, ["not 01", "01"]);
    assert_eq!(table.target, Target::Classes { labels: vec![1, 0, 1, 0] });
}

#[test]
fn headers_that_options_name() {
    let with = |target: &str| ReadOptions { target: Some(target.to_owned()), ..options() };
    // Categories only, of few rows: nothing else tells the header.
    let text = "cap,ring\nx,e\ny,p\nx,p\n";
    let table = read_text(text, &with("ring")).unwrap();
    assert_eq!((table.rows(), table.schema.target_name()), (3, Some("ring")));
    let drop = vec!["cap".to_owned()];
    let text = "cap,ring,y\nx,e,u\ny,p,v\n";
    assert_eq!(read_text(text, &ReadOptions { drop, ..options() }).unwrap().rows(), 2);
    // Years: names, as there are not so many columns.
    let years = "2019,2020,2021\n0.5,0.25,1.5\n0.75,0.5,2.5\n";
    let options = ReadOptions { target: Some("2021".to_owned()), ..regression() };
    let table = read_text(years, &options).unwrap();
    assert_eq!((table.rows(), table.schema.target_name()), (2, Some("2021")));
}

#[test]
fn headers_of_numbers_are_asked_about() {
    let question = "t.csv:1: the line may be a header of numbers, or the first row; say whether \
                    it is a header";
    let fractions = "0.5,0.25,1.5\n0.75,0.5,2.5\n".repeat(3);
    let classes = "0.5,0.25,u\n0.75,0.5,v\n".repeat(3);
    for text in [
        format!("0,1,2\n{fractions}"),
        format!("2019,2020,2021\n{fractions}"),
        format!("10,20,40\n{fractions}"),
        format!("10,20,class\n{classes}"),
        "1,2,3\n4,5,6\n7,8,9\n".to_owned(),
        // What pandas writes, over texts and with its index.
        format!("0,1,2\n{classes}"),
        format!("0,1\n{}", "0.5,u\n0.75,v\n".repeat(3)),
        format!("0,1\n{}", "p,u\nq,v\n".repeat(3)),
        format!(",0,1\n{}", "0,0.5,u\n1,0.75,v\n".repeat(3)),
    ] {
        assert_eq!(read_text(&text, &options()).unwrap_err(), question, "{text}");
        if text.starts_with(',') {
            continue;
        }
        for header in [true, false] {
            let options = ReadOptions { header: Some(header), ..options() };
            let rows = text.lines().count() - usize::from(header);
            assert_eq!(read_text(&text, &options).unwrap().rows(), rows, "{text}");
        }
    }
    // Rows of a known model are asked about as well; one is no header where it holds no count.
    let schema = read_text("0.5,0.25,u\n0.75,0.5,v\n", &options()).unwrap().schema;
    for text in ["0,1,2\n0.5,1.5,u\n", "5,6,7\n0.5,1.5,u\n"] {
        assert_eq!(stream(text, &schema).unwrap_err(), question.replace("t.csv", "standard input"));
        let known = ReadOptions { header: Some(true), ..options() };
        assert_eq!(rows_from(text.as_bytes(), "t", &schema, &known).unwrap().count(), 1);
    }
    // Two numbers say little.
    for text in ["1,2\n0.5,1.5\n", "0,1\n1,2\n", "0,1,u\n0.5,1.5,u\n", "0,1,3\n0.5,1.5,u\n"] {
        assert_eq!(stream(text, &schema).unwrap().len(), 2, "{text}");
    }
    // Rows as they come.
    for text in ["0,1\n1,0\n0,0\n", "5,1,2\n0,3,4\n", "1,2,3.5\n2,3,4.5\n", "1,2,u\n0,1,u\n2,3,v\n"]
    {
        assert_eq!(read_text(text, &options()).unwrap().rows(), text.lines().count(), "{text}");
    }
}

#[test]
fn a_number_is_never_silently_a_name() {
    let with = |target: &str| ReadOptions { target: Some(target.to_owned()), ..regression() };
    let text = "a,1,2\n0.5,0.25,1.5\n0.75,0.5,2.5\n";
    let header = |target: &str| ReadOptions { header: Some(true), ..with(target) };
    assert_eq!(
        read_text(text, &header("1")).unwrap_err(),
        "t.csv: `1` is the number of column 1 and the name of column 2; counted from the last \
         column they are -3 and -2: say one of these"
    );
    let target = |target: &str| read_text(text, &header(target)).unwrap().target;
    assert_eq!(target("a"), Target::Values(vec![0.5, 0.75]));
    assert_eq!(target("3"), Target::Values(vec![1.5, 2.5]));
    assert_eq!(target("-2"), Target::Values(vec![0.25, 0.5]));
}

/// Microseconds of one hour: f32 has a grid of 134 seconds there.
#[test]
fn numbers_that_lose_their_digits() {
    let start = 1_600_000_000_000_000u64;
    let rows = |step: u64, from: u64| -> String {
        (0..60).map(|i| format!("{},{}\n", from + i * step, (i * 7 % 60) as f32 / 8.0)).collect()
    };
    let warnings = |text: String| -> Vec<String> {
        let table = read_text(format!("time,y\n{text}"), &regression()).unwrap();
        table.schema.warnings.iter().map(ToString::to_string).collect()
    };
    let found = warnings(rows(60_000_000, start));
    assert_eq!(found.len(), 1);
    for part in ["column 1 (`time`): 16000", " is read as 16000", "1.8", "% of the column's spread"]
    {
        assert!(found[0].contains(part), "{found:?}");
    }
    // The same hour from its start, and a year of it, lose nothing that matters.
    assert!(warnings(rows(60_000_000, 0)).is_empty());
    assert!(warnings(rows(525_600_000_000, start)).is_empty());
    // Fractions of usual numbers are rounded, too, and that is no matter.
    assert!(warnings("0.1,0.3\n0.2,0.7\n1e-3,2\n".to_owned()).is_empty());
    // A target is told as well.
    let text = "a,y\n1,16000000.25\n2,16000000.5\n3,16000001.5\n";
    let table = read_text(text, &regression()).unwrap();
    assert!(matches!(table.schema.warnings[..], [DataWarning::Rounded { .. }]));
}
