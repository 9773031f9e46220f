//! Every format of data, through training, evaluation and prediction.

use std::fmt::Write as _;

use predicates::str::contains;

use crate::common::{Folder, Random, quadrants, sensors, waves};

fn error(folder: &Folder, data: &str) -> f64 {
    folder.json(&format!("eval m.koan {data} --json"))["error"].as_f64().unwrap()
}

#[test]
fn csv_with_header_text_and_quotes() {
    let folder = Folder::new();
    folder.write("s.csv", sensors(240));
    folder.train("s.csv --features 64").success();
    assert!(error(&folder, "s.csv") < 0.1);
    let model = folder.json("inspect m.koan --json");
    // Two numbers and one input for each of the three jobs.
    assert_eq!(model["inputs"], 5);
    assert_eq!(model["classes"], serde_json::json!(["cold", "hot"]));
    let columns = &model["notes"]["columns"];
    assert_eq!(columns[0], "temp");
    assert_eq!(columns[1]["name"], "job, kind");
    assert_eq!(columns[1]["values"], serde_json::json!(["boss, \"big\"", "clerk", "cook"]));
    assert_eq!(columns[3]["target"], "state");
}

#[test]
fn gzip_and_delimiters_change_nothing() {
    let folder = Folder::new();
    let csv = quadrants(150);
    folder.write("q.csv", &csv);
    folder.write_gzip("q.csv.gz", &csv);
    folder.write("q.tsv", csv.replace(',', "\t"));
    folder.write("q.txt", csv.replace(',', ";"));
    folder.train("q.csv --features 16").success();
    let model = folder.read("m.koan");
    for data in ["q.csv.gz", "q.tsv", "q.txt", "q.txt --delimiter ;", "q.csv --header yes"] {
        folder.train(&format!("{data} --features 16")).success();
        assert_eq!(folder.read("m.koan"), model, "{data}");
    }
    assert_eq!(error(&folder, "q.csv.gz"), error(&folder, "q.csv"));
}

#[test]
fn columns_by_name_number_drop_and_text() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --target x --task regression --features 16").success();
    let by_name = folder.read("m.koan");
    folder.train("q.csv --target 1 --task regression --features 16").success();
    assert_eq!(folder.read("m.koan"), by_name);
    folder.train("q.csv --drop y --features 16").success();
    assert_eq!(folder.json("inspect m.koan --json")["inputs"], 1);
    folder.train("q.csv --target y --task regression --text above --features 16").success();
    assert_eq!(folder.json("inspect m.koan --json")["inputs"], 4);
}

#[test]
fn missing_values_can_be_imputed() {
    let folder = Folder::new();
    folder.write("q.csv", format!("{}?,NaN,1\n", quadrants(150)));
    folder.train("q.csv --features 32 --missing impute").success();
    assert!(error(&folder, "q.csv") < 0.2);
}

/// A test file may lack what no training row does.
#[test]
fn missing_values_of_test_rows_can_be_imputed() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.write("test.csv", "x,y,above\n?,1,0\n1,NA,1\n");
    let missing = "test.csv:2: column 1 (`x`): the value is missing, and was never missing in the \
                   training data";
    folder.train_fails("q.csv --test test.csv", &[missing, "--missing impute"]);
    folder.train("q.csv --test test.csv --missing impute").success();
    folder.run("eval m.koan test.csv").success();
}

#[test]
fn regression() {
    let folder = Folder::new();
    folder.write("w.csv", waves(200));
    folder.train("w.csv --features 64").success();
    let result = folder.json("eval m.koan w.csv --json");
    assert_eq!(result["task"], "regression");
    assert!(result["error"].as_f64().unwrap() < 0.1, "{result}");
    assert!(result["rmse"].as_f64().unwrap() < 0.1, "{result}");
    assert!(result.get("confusion").is_none());
}

#[test]
fn a_file_of_its_own_for_the_test() {
    let folder = Folder::new();
    let csv = quadrants(200);
    let lines: Vec<&str> = csv.lines().collect();
    folder.write("train.csv", lines[..151].join("\n"));
    folder.write("test.csv", [&lines[..1], &lines[151..]].concat().join("\n"));
    let train = "train train.csv --test test.csv -o m.koan -k 32 --frequency 1 --lambda 0.001";
    let report = folder.json(&format!("{train} --json"));
    assert_eq!((&report["train_rows"], &report["rows"]), (&150.into(), &50.into()));
    assert_eq!(report["error"].as_f64().unwrap(), error(&folder, "test.csv"));
    folder.write("all.csv", csv);
    let split = "train all.csv --train-rows 150 -o m.koan -k 32 --frequency 1 --lambda 0.001";
    let report = folder.json(&format!("{split} --json"));
    assert_eq!((&report["train_rows"], &report["rows"]), (&150.into(), &50.into()));
}

#[test]
fn svmlight() {
    let folder = Folder::new();
    let mut random = Random::new(4);
    let mut lines = String::from("# made by a test\n");
    for _ in 0..200 {
        let (a, b) = (random.number(), random.number());
        let label = if a > b { "+1" } else { "-1" };
        writeln!(lines, "{label} 1:{a} 4:{b} # {label}").unwrap();
    }
    folder.write("s.svm", &lines);
    folder.write_gzip("s.svm.gz", &lines);
    folder.train("s.svm --features 32").success();
    let model = folder.json("inspect m.koan --json");
    assert_eq!((&model["inputs"], &model["classes"]), (&4.into(), &serde_json::json!(["-1", "1"])));
    assert!(error(&folder, "s.svm") < 0.1);
    assert_eq!(error(&folder, "s.svm.gz"), error(&folder, "s.svm"));
    folder.write("rows.svm", "1:2 4:-2\n1:-2 4:2\n");
    assert_eq!(folder.output("predict m.koan rows.svm"), "class\n1\n-1\n");
}

/// An idx file of bytes.
fn idx(dimensions: &[u32], elements: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, dimensions.len() as u8];
    bytes.extend(dimensions.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(elements);
    bytes
}

#[test]
fn idx_images_with_their_labels() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..120 {
        let label = random.below(2) as u8;
        // Bright on the left or on the right.
        images.extend((0..6).map(|pixel| {
            let bright = u8::from(pixel % 2 == label) * 150;
            bright + random.below(100) as u8
        }));
        labels.push(label);
    }
    folder.write("train-images.idx3-ubyte", idx(&[120, 3, 2], &images));
    folder.write_gzip("train-labels.idx1-ubyte.gz", idx(&[120], &labels));
    folder.train("train-images.idx3-ubyte --features 32 --report images.html").success();
    let page = String::from_utf8(folder.read("images.html")).unwrap();
    assert!(page.contains("piece of the picture"));
    // The same files give the same bytes: those of labels are among them.
    let listed = |page: &str, name: &str| {
        let crc = format!("{:08x}", crc32fast::hash(&folder.read(name)));
        page.contains(&format!(">{name}<")) && page.contains(&crc)
    };
    let own = ["train-images.idx3-ubyte", "train-labels.idx1-ubyte.gz"];
    assert!(own.iter().all(|name| listed(&page, name)));
    assert_eq!(error(&folder, "train-images.idx3-ubyte"), 0.0);
    folder.write("other", idx(&[120], &labels));
    let labelled = "train-images.idx3-ubyte --labels other";
    assert_eq!(error(&folder, labelled), 0.0);
    folder.run(&format!("eval m.koan {labelled} --report e.html")).success();
    let page = String::from_utf8(folder.read("e.html")).unwrap();
    assert!(listed(&page, own[0]) && listed(&page, "other") && !listed(&page, own[1]));
    let lines = folder.output("predict m.koan train-images.idx3-ubyte");
    let expected: Vec<String> = labels.iter().map(u8::to_string).collect();
    assert_eq!(lines, format!("class\n{}\n", expected.join("\n")));
}

/// Options of other formats were passed over, also where they name a file that is not there.
#[test]
fn options_that_a_format_does_not_know() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(120));
    folder.write("t.csv", quadrants(40));
    folder.write("s.svm", "1 1:0.5\n-1 1:0.25\n1 1:0.75\n-1 1:0.5\n");
    folder.train("q.csv -k 8").success();
    let labels = ["q.csv: `labels` applies to idx images and npy arrays", "(--labels)"];
    let arrays = ["q.csv: `arrays` applies to npz archives", "a CSV file", "(--arrays)"];
    for (option, told) in [("--labels none", &labels[..]), ("--arrays a", &arrays)] {
        folder.train_fails(&format!("q.csv {option}"), told);
        folder.train_fails(&format!("q.csv {option} --stream yes"), told);
        for command in [
            "tune q.csv -o front --minutes 0.01",
            "eval m.koan q.csv",
            "shrink m.koan q.csv --flash 200 -o s.koan",
        ] {
            folder.fails(&format!("{command} {option}"), told);
        }
        folder.run(&format!("predict m.koan q.csv {option}")).code(1).stderr(contains(told[0]));
        let piped =
            folder.command(&format!("predict m.koan {option}")).write_stdin("1,2\n").assert();
        piped.code(1).stderr(contains("standard input: `"));
    }
    folder.train_fails("s.svm --labels q.csv", &["labels", "an svmlight file"]);
    for stream in ["", "--stream yes"] {
        let test = format!("q.csv --test t.csv {stream}");
        folder.train_fails(&format!("{test} --test-labels none"), &["t.csv", "(--test-labels)"]);
        folder.train_fails(&format!("{test} --test-arrays a"), &["t.csv", "(--test-arrays)"]);
    }
    for option in ["--test-labels q.csv", "--test-arrays a"] {
        let output = folder.train(&format!("q.csv {option}")).code(2);
        output.stderr(contains("--test <FILE>"));
    }
    folder
        .write("i.idx", [&[0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1][..], b"abcd"].concat());
    folder.train_fails("i.idx --labels none", &["none: cannot be read"]);
}

/// An npy array of `f32`.
fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// Test rows were judged by the labels of the training.
#[test]
fn test_arrays_have_labels_of_their_own() {
    let folder = Folder::new();
    let mut random = Random::new(6);
    for (name, rows) in [("train", 200), ("test", 80)] {
        let values: Vec<f32> = (0..2 * rows).map(|_| random.number() as f32).collect();
        let labels: Vec<f32> =
            values.chunks(2).map(|row| if row[0] > row[1] { 1.0 } else { 0.0 }).collect();
        folder.write(&format!("{name}.npy"), npy(&format!("{rows}, 2"), &values));
        folder.write(&format!("{name}-labels.npy"), npy(&format!("{rows},"), &labels));
    }
    let data = "train.npy --labels train-labels.npy --test test.npy";
    let trained = format!("train {data} -o m.koan -k 64 --json --frequency 1 --lambda 0.001");
    folder.fails(&trained, &["test.npy", "(`labels`)", "--test-labels FILE"]);
    let found = folder.json(&format!("{trained} --test-labels test-labels.npy"));
    assert!(found["error"].as_f64().unwrap() < 0.15, "{found}");
    let shrink = format!("shrink m.koan {data} --flash 300 --candidates 100 -o s.koan --json");
    folder.fails(&shrink, &["test.npy", "--test-labels FILE"]);
    let shrunk = folder.json(&format!("{shrink} --test-labels test-labels.npy"));
    assert_eq!((&shrunk["rows"], &shrunk["before"]["error"]), (&80.into(), &found["error"]));
    assert!(shrunk["error"].as_f64().unwrap() < 0.3, "{shrunk}");
}

/// A byte between fields that is not guessed leaves one column.
#[test]
fn a_delimiter_that_is_not_guessed() {
    let folder = Folder::new();
    folder.write("t.csv", "a~b~label\n1~2~x\n2~1~y\n3~4~x\n4~3~y\n");
    folder.train_fails("t.csv", &["no inputs", "--delimiter names the byte between fields"]);
}
