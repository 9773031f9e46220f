//! What the library writes, refuses and says.

use std::fs;
use std::path::{Path, PathBuf};

use koan::Model;
use koan_data::{Column, ColumnKind, Format, Schema, TableBuilder};
use koan_export::{Error, Export, Language, Warning};
use koan_trainer::{Progress, TrainOptions, train};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn tiny() -> Vec<u8> {
    fs::read(root().join("core/tests/tiny.koan")).unwrap()
}

/// A model of two numbers, one of which is a class, without names of columns.
fn nameless() -> Vec<u8> {
    let x: Vec<f32> = (0..100).map(|i| (i * 37 % 100) as f32).collect();
    let state: Vec<&str> = x.iter().map(|x| if *x > 50.0 { "on" } else { "off" }).collect();
    let table = TableBuilder::new(100).column("x", &x[..]).classes("state", &state[..]).build();
    let options =
        TrainOptions { features: vec![8], column_names: false, ..TrainOptions::default() };
    train(&table.unwrap(), None, &options, &Progress::none()).unwrap().blob
}

fn names(columns: &[&str]) -> Schema {
    let kind = ColumnKind::Numeric { missing: None };
    let column = |name: &&str| Column { name: (*name).to_owned(), kind: kind.clone() };
    Schema { columns: columns.iter().map(column).collect(), ..Schema::new(Format::Csv) }
}

/// Arduino builds the one, Zephyr the other; `cargo xtask c` compiles both.
#[test]
fn examples_of_the_repository_are_what_is_written() {
    let (blob, folder) = (tiny(), tempfile::tempdir().unwrap());
    let model = Model::parse(&blob).unwrap();
    let sketch = folder.path().join("Tiny");
    let export = Export::new(&model, "tiny.koan").unwrap();
    let written = export.write(Language::Arduino, &sketch).unwrap();
    assert_eq!(written.files.len(), 6);
    for example in ["c/examples/Tiny", "c/zephyr/sample/src"] {
        for file in ["tiny.h", "tiny.c"] {
            let expected = fs::read(root().join(example).join(file)).unwrap();
            assert!(fs::read(sketch.join(file)).unwrap() == expected, "{example}/{file}");
        }
    }
}

#[test]
fn nothing_is_written_where_a_file_is_somebody_elses() {
    let (blob, folder) = (tiny(), tempfile::tempdir().unwrap());
    let model = Model::parse(&blob).unwrap();
    fs::write(folder.path().join("tiny.c"), "mine").unwrap();
    let export = Export::new(&model, "tiny.koan").unwrap();
    let error = export.write(Language::C, folder.path()).unwrap_err();
    assert!(matches!(&error, Error::Foreign { path } if path.ends_with("tiny.c")), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    // The model itself, by another name.
    let path = folder.path().join("a.koan");
    fs::write(&path, &blob).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&path, folder.path().join("koan.h")).unwrap();
        let error = Export::of_file(&model, &path).write(Language::C, folder.path()).unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{error}");
    }
    // A model that lies beside the file of Rust already stays where it is.
    let source = folder.path().join("row.rs");
    let written = Export::of_file(&model, &path).write(Language::Rust, &source).unwrap();
    assert_eq!(written.files, [source]);
}

#[test]
fn names_of_files_are_no_paths() {
    let blob = tiny();
    let model = Model::parse(&blob).unwrap();
    for name in ["", "a/b.koan", "../m.koan", "a\\b.koan", "..", "/", ".koan", "m.koan/", "a\0"] {
        assert!(matches!(Export::new(&model, name), Err(Error::FileName { .. })), "{name:?}");
    }
    assert!(Export::new(&model, "My pump, 2nd.v1.koan").is_ok());
}

#[test]
fn names_are_those_of_the_training_data() {
    let (blob, folder) = (nameless(), tempfile::tempdir().unwrap());
    let model = Model::parse(&blob).unwrap();
    let export = || Export::new(&model, "m.koan").unwrap();
    let written = export().write(Language::C, folder.path()).unwrap();
    assert_eq!(written.warnings[0], Warning::Nameless);
    let error = export().named_by(&names(&["a"])).unwrap_err();
    assert_eq!(error.to_string(), "1 columns, not 2 as the training data");
    assert!(matches!(export().named_by(&names(&["", ""])), Err(Error::NoNames)));
    let export = export().named_by(&names(&["speed", "state"])).unwrap();
    let written = export.write(Language::C, folder.path()).unwrap();
    assert!(!written.warnings.contains(&Warning::Nameless), "{written:?}");
    let header = fs::read_to_string(folder.path().join("m.h")).unwrap();
    assert!(header.contains("#define M_COLUMN_SPEED 0 "), "{header}");
}

/// Not even where they are like places of the templates, or go on with the next line.
#[test]
fn names_change_nothing_of_the_program() {
    let x: Vec<f32> = (0..100).map(|i| (i * 37 % 100) as f32).collect();
    let classes = ["@NAME@ @NAMES@??/", "left @CALL@\\"];
    let state: Vec<&str> = x.iter().map(|x| classes[usize::from(*x > 50.0)]).collect();
    let column = "temp @PREDICTED@ @UPPER@\\";
    let table = TableBuilder::new(100).column(column, &x[..]).classes("state", &state[..]).build();
    let options = TrainOptions { features: vec![8], ..TrainOptions::default() };
    let blob = train(&table.unwrap(), None, &options, &Progress::none()).unwrap().blob;
    let (model, folder) = (Model::parse(&blob).unwrap(), tempfile::tempdir().unwrap());
    let export = Export::new(&model, "m.koan").unwrap();
    export.write(Language::Arduino, &folder.path().join("sketch")).unwrap();
    let read = |file: &str| fs::read_to_string(folder.path().join("sketch").join(file)).unwrap();
    let (header, sketch) = (read("m.h"), read("sketch.ino"));
    for line in [
        "    row[M_COLUMN_TEMP_PREDICTED_UPPER] = 0; /* temp @PREDICTED@ @UPPER@\\ */\n",
        "        case M_CLASS_NAME_NAMES: /* @NAME@ @NAMES@??/ */\n            break;\n",
        "        case M_CLASS_LEFT_CALL: /* left @CALL@\\ */\n            break;\n",
    ] {
        assert!(sketch.contains(line), "{line}: {sketch}");
    }
    let names = "{\n        \"@NAME@ @NAMES@\\?\\?/\",\n        \"left @CALL@\\\\\",\n    };\n";
    assert!(header.contains(names), "{names}: {header}");
    let continued = |line: &str| line.ends_with('\\') || line.ends_with("??/");
    assert!(!sketch.lines().any(continued), "{sketch}");
}

/// `use koan::…` would mean them.
#[test]
fn modules_hide_no_crates() {
    let (blob, folder) = (tiny(), tempfile::tempdir().unwrap());
    let model = Model::parse(&blob).unwrap();
    for name in ["koan", "core", "std", "alloc"] {
        let export = Export::new(&model, &format!("{name}.koan")).unwrap();
        let written = export.write(Language::Rust, folder.path()).unwrap();
        assert!(written.files[1].ends_with(format!("{name}_model.rs")), "{written:?}");
    }
}

/// The command and the Python package add their own.
#[test]
fn messages_have_no_options() {
    let (blob, folder) = (nameless(), tempfile::tempdir().unwrap());
    let model = Model::parse(&blob).unwrap();
    let export = Export::new(&model, "log.koan").unwrap();
    let written = export.write(Language::C, folder.path()).unwrap();
    let mut said: Vec<String> = written.warnings.iter().map(Warning::to_string).collect();
    assert!(said[0].starts_with("the model is called log_model: log is"), "{said:?}");
    fs::write(folder.path().join("log.rs"), "mine").unwrap();
    for (language, folder) in [
        (Language::Rust, folder.path()),
        (Language::Arduino, Path::new("..")),
        (Language::Arduino, Path::new("a b")),
        (Language::C, &folder.path().join("koan.h")),
    ] {
        said.push(export.write(language, folder).unwrap_err().to_string());
    }
    assert!(said.iter().all(|line| !line.contains("--")), "{said:?}");
}
