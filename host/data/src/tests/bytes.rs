//! Tables whose bytes are in memory.

use super::*;

const TEXT: &str = "x,kind,state\n0.5,a,on\n-1,b,off\n2,a,on\n";

#[test]
fn bytes_are_read_as_a_file_of_them() {
    let from_file = read_text(TEXT, &options()).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(TEXT.as_bytes()).unwrap();
    for bytes in [TEXT.as_bytes().to_vec(), packed.finish().unwrap()] {
        let table = read_bytes("t.csv", bytes, &options()).unwrap();
        assert_eq!(table.values, from_file.values);
        assert_eq!(table.target, from_file.target);
        assert_eq!(table.schema.columns, from_file.schema.columns);
    }
    let svmlight = read_bytes("t.txt", &b"+1 1:0.5 3:2\n-1 2:1\n"[..], &options()).unwrap();
    assert_eq!((svmlight.rows(), svmlight.inputs), (2, 3));
}

#[test]
fn names_of_columns_need_no_target() {
    let names = |text: &str| column_names("t.csv", text.as_bytes(), &options());
    assert_eq!(names(TEXT).unwrap(), ["x", "kind", "state"]);
    assert_eq!(names("1,2\n3,4\n").unwrap(), ["", ""]);
    // No target: all rows have the same one.
    assert_eq!(names("x,same\n1,a\n2,a\n").unwrap(), ["x", "same"]);
    let error = names("+1 1:0.5\n-1 2:1\n").unwrap_err().to_string();
    assert!(error.starts_with("t.csv: "), "{error}");
}

#[test]
fn errors_have_the_name_that_was_given() {
    let error = |bytes: &[u8]| read_bytes("a table", bytes, &options()).unwrap_err().to_string();
    assert_eq!(error(b"\n"), "a table: the file is empty");
    assert!(error(b"a,b\n1,2\n3\n").starts_with("a table:3: "), "{}", error(b"a,b\n1,2\n3\n"));
    let images = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7];
    let labels = "a table: idx images in memory have their labels in another file";
    assert_eq!(error(&images), labels);
}
