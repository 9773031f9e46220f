//! Files that are damaged, missing, or cannot be written.

use crate::common::{Folder, QUICK, quadrants, text};

fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.train("q.csv --features 12").success();
    folder
}

/// Every command refuses the model, naming it.
fn refused(folder: &Folder, parts: &[&str]) {
    let parts = [&["bad.koan"], parts].concat();
    for arguments in ["eval bad.koan q.csv", "predict bad.koan q.csv", "inspect bad.koan"] {
        folder.fails(arguments, &parts);
    }
}

/// A recording by another name, which nothing but its content tells.
#[test]
fn copies_of_files_are_told() {
    let folder = Folder::new();
    let csv = quadrants(60);
    // The same length, and not the same.
    let other = csv.replacen("-0.", "-1.", 1);
    assert_eq!(csv.len(), other.len());
    for (name, text) in [("a.csv", &csv), ("b.csv", &other), ("c.csv", &csv), ("d.csv", &csv)] {
        folder.write(name, text);
    }
    let told = |arguments: &str| {
        let run = folder.train(&format!("{arguments} --features 8")).success();
        text(&run.get_output().stderr)
    };
    assert!(!told("a.csv b.csv").contains("same bytes"));
    assert!(told("a.csv b.csv c.csv").contains("warning: c.csv: holds the same bytes as a.csv: "));
    let found = told("a.csv b.csv --test d.csv c.csv --stream yes");
    assert!(found.contains("d.csv: holds the same bytes as a.csv, and another file is"), "{found}");
    let shrink = "shrink m.koan b.csv a.csv --test d.csv --flash 300 --candidates 64 -o s.koan";
    let run = folder.run(shrink).success();
    assert!(text(&run.get_output().stderr).contains("d.csv: holds the same bytes as a.csv"));
}

#[test]
fn a_truncated_model() {
    let folder = trained();
    let blob = folder.read("m.koan");
    for length in [0, 3, 10, 50, blob.len() - 1] {
        folder.write("bad.koan", &blob[..length]);
        refused(&folder, &[]);
    }
    folder.write("bad.koan", &blob[..10]);
    refused(&folder, &["ends before"]);
}

#[test]
fn a_model_with_a_flipped_bit() {
    let folder = trained();
    let blob = folder.read("m.koan");
    for place in [30, blob.len() / 2, blob.len() - 1] {
        let mut damaged = blob.clone();
        damaged[place] ^= 4;
        folder.write("bad.koan", damaged);
        refused(&folder, &["checksum"]);
    }
}

#[test]
fn a_file_that_is_no_model() {
    let folder = trained();
    folder.write("bad.koan", quadrants(20));
    refused(&folder, &["not a koan blob"]);
}

#[test]
fn files_that_do_not_exist() {
    let folder = trained();
    refused(&folder, &["cannot read"]);
    folder.fails("eval m.koan no.csv", &["no.csv", "cannot be read"]);
    folder.fails("predict m.koan no.csv", &["no.csv", "cannot be read"]);
    folder.train_fails("no.csv", &["no.csv", "cannot be read"]);
    folder.train_fails("q.csv --test no.csv", &["no.csv", "cannot be read"]);
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.train_fails("empty", &["empty: no data files in this folder"]);
}

/// What an operating system says of a file is said once.
#[test]
fn a_cause_is_told_once() {
    let folder = trained();
    let output = folder.run("train no.csv -o m.koan").failure().get_output().clone();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.matches("No such file").count(), 1, "{text}");
    let output = folder.run("train q.csv --features 12 -o no/m.koan").failure();
    let text = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(text.contains("no/m.koan") && !text.contains(".koan-"), "{text}");
}

#[test]
fn an_output_that_cannot_be_written() {
    let folder = trained();
    std::fs::create_dir(folder.path("taken.koan")).unwrap();
    for output in ["no/such/m.koan", "taken.koan"] {
        let train = format!("train q.csv --features 12 --output {output} {QUICK}");
        folder.fails(&train, &["cannot write", output]);
    }
    // Nor does half a file stay behind.
    let mut names: Vec<_> = std::fs::read_dir(folder.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["m.koan", "q.csv", "taken.koan"]);
}

#[test]
fn a_failed_training_leaves_the_old_model() {
    let folder = trained();
    let before = folder.read("m.koan");
    folder.write("bad.csv", "a,b,y\n1,2,u\n1,2\n");
    folder.train_fails("bad.csv", &["bad.csv:3"]);
    folder.train_fails("q.csv --input-groups 1:gaussian", &["the groups cover 1 inputs"]);
    assert_eq!(folder.read("m.koan"), before);
    folder.train("q.csv --features 13").success();
    assert_ne!(folder.read("m.koan"), before);
}

/// Files of other kinds, by name.
#[test]
fn workbooks_and_json_are_named() {
    let folder = Folder::new();
    // An archive with one empty member, `a.xml`.
    let member = |signature: &[u8], more: usize| {
        let mut bytes = signature.to_vec();
        bytes.resize(more - 4, 0);
        bytes
    };
    let mut zip = member(b"PK\x03\x04\x14\0", 30);
    zip.extend([5, 0, 0, 0]);
    zip.extend(b"a.xml");
    let place = zip.len() as u32;
    let mut central = member(b"PK\x01\x02\x14\0\x14\0", 46 + 4);
    central[28] = 5;
    zip.extend(&central);
    zip.extend(b"a.xml");
    let size = zip.len() as u32 - place;
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend(size.to_le_bytes());
    zip.extend(place.to_le_bytes());
    zip.extend([0, 0]);
    folder.write("t.xlsx", zip);
    folder.train_fails("t.xlsx", &["t.xlsx: a zip archive without", "Excel", "save it as CSV"]);
    let told = ["JSON, which is not read: save it as CSV"];
    for json in
        ["{\"x\": 1, \"y\": 2}\n{\"x\": 2, \"y\": 3}\n", "[\n  {\n    \"x\": 1\n", "[{\"x\":1}]"]
    {
        folder.write("t.json", json);
        folder.train_fails("t.json", &told);
    }
}
