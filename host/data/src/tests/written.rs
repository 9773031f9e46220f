//! Numbers and files that are not written as they are read.

use super::*;

/// A column of these texts again and again, in so many rows.
fn column(texts: &[String], rows: usize) -> String {
    let row =
        |row: usize| format!("\"{}\",{}.5,{}\n", texts[row % texts.len()], row * row % 7, row % 2);
    format!("v,a,y\n{}", (0..rows).map(row).collect::<String>())
}

/// Each is named for what it is, whether the column has many of them or few.
#[test]
fn numbers_that_are_read_as_text() {
    type Text<'a> = &'a dyn Fn(usize) -> String;
    let written: [(Text<'_>, &str, &str); 5] = [
        (
            &|i| format!("{}.{:03},46", 1 + i / 700, 300 + i % 700),
            "with thousands separators",
            "1.300,46",
        ),
        (
            &|i| format!("{},{:03}.6", 1 + i / 700, 300 + i % 700),
            "with thousands separators",
            "1,300.6",
        ),
        (&|i| format!("2{i}.5 C"), "with a unit", "20.5 C"),
        (&|i| format!("{}{}.5", ["−", ""][i % 2], 10 + i), "with a minus sign", "−10.5"),
        (&|i| format!("0x{:04x}", 16 + i), "in hexadecimal", "0x0010"),
    ];
    for (text, how, such) in written {
        let texts = |count: usize| (0..count).map(text).collect::<Vec<_>>();
        for count in [30, 1500] {
            let error = read_text(column(&texts(count), count), &options()).unwrap_err();
            let told = format!(" different numbers {how}");
            assert!(error.contains(&told) && error.contains(&format!("\"{such}\"")), "{error}");
        }
        let table = read_text(column(&texts(6), 60), &options()).unwrap();
        let told: Vec<String> = table.schema.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(&format!("6 different numbers {how}")), "{told:?}");
        let asked = ReadOptions { text: vec!["v".into()], ..options() };
        let table = read_text(column(&texts(30), 30), &asked).unwrap();
        assert!(table.schema.warnings.is_empty());
    }
    // Addresses on a bus and numbers of telephones, each many times, are categories.
    let buses = |i: usize| format!("0x{i:03x}");
    let telephones = |i: usize| format!("555 123 {}", 100 + i);
    for text in [&buses as Text<'_>, &telephones] {
        let texts: Vec<String> = (0..30).map(text).collect();
        assert_eq!(read_text(column(&texts, 600), &options()).unwrap().inputs, 31);
    }
    // Full hours are times.
    let hours: Vec<String> = (0..24).map(|hour| format!("{hour:02}:00")).collect();
    let error = read_text(column(&hours, 48), &options()).unwrap_err();
    assert!(error.contains("dates or times"), "{error}");
    let few = read_text(column(&hours[8..16], 48), &options()).unwrap();
    assert!(few.schema.warnings.iter().all(|warning| !warning.to_string().contains("unit")));
}

#[test]
fn bytes_that_are_no_text() {
    let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "a,y\n1,2\n3,4\n".encode_utf16().flat_map(order).collect()
    };
    for text in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        let error = read_text(text, &options()).unwrap_err();
        assert!(error.starts_with("t.csv: UTF-16 text, which is not supported"), "{error}");
    }
    for (text, place) in [
        ("a,y\n1,u\n2,v\0\n", "t.csv:3: column 2 (`y`)"),
        ("a,y\nx,1\nx\0,2\n", "t.csv:3: column 1 (`a`)"),
    ] {
        let error = read_text(text, &options()).unwrap_err();
        assert_eq!(error, format!("{place}: a byte 0, which text does not have"));
    }
}

#[test]
fn bars_and_lines_that_name_their_delimiter() {
    let rows = |text: &str| text.replace(';', "|");
    let plain = "a;b;y\n1;2;u\n3;4;v\n5;6;u\n";
    let expected = read_text(plain, &options()).unwrap();
    for text in [
        rows(plain),
        format!("sep=;\n{plain}"),
        format!("sep=;\r\n{plain}"),
        format!("sep=;;;\n{plain}"),
        format!("SEP=|\n{}", rows(plain)),
        format!("sep=\t\n{}", plain.replace(';', "\t")),
    ] {
        let table = read_text(&text, &options()).unwrap();
        assert_eq!((&table.values, &table.target), (&expected.values, &expected.target));
        assert_eq!(stream(&text, &expected.schema).unwrap().len(), 3, "{text}");
    }
    // Lines keep their numbers.
    let short = stream(format!("sep=;\n{plain}7;8\n"), &expected.schema).unwrap_err();
    assert_eq!(short, "standard input:6: 2 fields, where the first line has 3");
    // A bar within fields delimits nothing.
    assert_eq!(read_text("a|b,y\n1,u\n3,v\n5,u\n", &options()).unwrap().inputs, 1);
    let table = "| a | y |\n|---|---|\n| 1 | u |\n| 2 | v |\n";
    let error = read_text(table, &options()).unwrap_err();
    assert!(error.contains("begin and end with `|`, as tables of Markdown"), "{error}");
    // Empty fields at both ends are no frame.
    let ends = "|a|b|\n1|2|u|4\n5|6|v|7\n8|9|u|4\n";
    let asked = ReadOptions { target: Some("2".into()), header: Some(true), ..options() };
    // Two numbers, and two texts of one column.
    assert_eq!(read_text(ends, &asked).unwrap().inputs, 4);
    // Texts with bars, for a model of one text column; whichever row is first.
    let tags = read_text("tags,y\na|b,u\nc,v\na|c,u\na|b,v\nc,u\na|c,v\n", &options()).unwrap();
    for text in ["a|b\nc\na|c\n", "c\na|b\na|c\n"] {
        assert_eq!(stream(text, &tags.schema).unwrap().len(), 3, "{text}");
    }
    // A magnitude among names between spaces.
    let spaced = read_text("|a| b y\n1 2 u\n3 4 v\n5 7 u\n", &options()).unwrap();
    assert_eq!(spaced.inputs, 2);
    // An index without a name is left out.
    assert_eq!(read_text("|a|y\n0|1.5|u\n1|2.5|v\n2|3.5|u\n", &options()).unwrap().inputs, 1);
}

/// Figures that are told of digits that are lost agree with each other.
#[test]
fn what_is_read_is_told_to_the_last_digit() {
    let rows: String = (0..60)
        .map(|i| format!("{},{}.5\n", 1_767_225_600_000u64 + 15_000 * i, i * 7 % 60))
        .collect();
    let table = read_text(format!("time,y\n{rows}"), &regression()).unwrap();
    let told = table.schema.warnings[0].to_string();
    let number = |from: &str, to: &str| -> f64 {
        told.split(from).nth(1).unwrap().split(to).next().unwrap().parse().unwrap()
    };
    let (text, kept) = (number("(`time`): ", " is"), number("read as ", ","));
    let share = number("off by ", " %");
    assert!((100.0 * (text - kept).abs() / (15_000.0 * 59.0) - share).abs() < 0.01, "{told}");
}
