//! `koan train --candidates` and `koan shrink`.

use std::fmt::Write as _;

use predicates::str::contains;
use serde_json::Value;

use crate::common::{Folder, QUICK_EMBEDDING, Random, quadrants, waves};

#[test]
fn features_are_kept_from_a_larger_pool() {
    let folder = Folder::new();
    folder.write("w.csv", waves(300));
    folder.train("w.csv -k 8 -b 8").success();
    let plain = folder.json("eval m.koan w.csv --json");
    folder.train("w.csv -k 8 -b 8 --candidates 200").success();
    let kept = folder.json("eval m.koan w.csv --json");
    assert_eq!(kept["features"], 8);
    let error = |object: &serde_json::Value| object["error"].as_f64().unwrap();
    assert!(error(&kept) < 0.5 * error(&plain), "{plain} {kept}");
    folder.train_fails("w.csv -k 8 --candidates 5", &["5 candidates for 8 features"]);
    folder.train_fails("w.csv --family bin -k 8 --candidates 50", &["bins"]);
    folder.train_fails("w.csv --candidates 50 --stream yes", &["--candidates"]);
}

#[test]
fn a_model_shrinks_below_its_size() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(400));
    folder.train("q.csv -k 128").success();
    let before = folder.read("m.koan");
    let shrink = "shrink m.koan q.csv --flash 240 --candidates 128 --loss squared";
    let found = folder.json(&format!("{shrink} -o s.koan --json"));
    let bytes = folder.read("s.koan");
    assert_eq!(found["bytes"], bytes.len());
    assert!(bytes.len() <= 240 && bytes.len() < before.len());
    assert_eq!(found["seeds"], 1);
    for of in ["instructions", "code_bytes"] {
        assert!(found[of].as_u64() > Some(0) && found["before"][of].is_u64(), "{of}");
    }
    assert!(found["error"].as_f64().unwrap() < 0.2, "{found}");
    for attempt in found["attempts"].as_array().unwrap() {
        assert!(attempt["bytes"].as_u64().unwrap() <= 240, "{attempt}");
    }
    // What is said of the blob is so.
    let eval = folder.json("eval s.koan q.csv --json");
    assert_eq!(eval["features"], found["best"]["features"]);
    assert_eq!(eval["bits"], found["best"]["bits"]);
    let inspected = folder.json("inspect s.koan --json");
    assert_eq!(inspected["ram_bytes"], found["best"]["ram"]);
    assert_eq!(found["instructions"], found["best"]["instructions"]);
    // What is slower and larger is better.
    let figure = |of: &Value, name: &str| of[name].as_f64().unwrap();
    let front = found["front"].as_array().unwrap();
    for pair in front.windows(2) {
        let more = |name: &str| figure(&pair[1], name) > figure(&pair[0], name);
        assert!(more("instructions") && more("bytes") && !more("error"), "{front:?}");
    }
    assert!(front.len() > 1, "{front:?}");
    // The same command gives the same bytes.
    folder.run(&format!("{shrink} -o t.koan")).success();
    assert_eq!(folder.read("t.koan"), bytes);
}

/// Images of 6×6 with a bar, across or upright, at any place.
fn bars(rows: usize) -> String {
    let mut random = Random::new(7);
    let mut csv = String::new();
    for _ in 0..rows {
        let (upright, place) = (random.below(2) == 1, random.below(6));
        for pixel in 0..36 {
            let lit = place == if upright { pixel % 6 } else { pixel / 6 };
            write!(csv, "{},", if lit { 9 } else { random.below(4) }).unwrap();
        }
        csv += if upright { "upright\n" } else { "across\n" };
    }
    csv
}

#[test]
fn convolutions_keep_features_of_a_pool() {
    let folder = Folder::new();
    folder.write("bars.csv", bars(300));
    let conv = "bars.csv --family conv --shape 6x6x1 --kernel 3 --grid 2 -b 4";
    // Five are no whole number of filters, and need not be when they are chosen.
    folder.train_fails(&format!("{conv} -k 5"), &["whole number of filters"]);
    folder.train(&format!("{conv} -k 5 --candidates 130")).success();
    let kept = folder.json("eval m.koan bars.csv --json");
    assert_eq!(kept["features"], 5);
    folder.train(&format!("{conv} -k 4")).success();
    let plain = folder.json("eval m.koan bars.csv --json");
    let error = |object: &serde_json::Value| object["error"].as_f64().unwrap();
    assert!(error(&kept) < 0.5 * error(&plain), "{plain} {kept}");

    let sizes = folder.json(
        "shrink m.koan bars.csv --flash 352,360 --candidates 66 --bits 4 --loss squared -o s.koan \
         --json",
    );
    for (place, flash) in [(0, 352), (1, 360)] {
        let found = &sizes[place];
        let bytes = folder.read(&format!("s-{flash}.koan"));
        assert!(bytes.len() <= flash && found["bytes"] == bytes.len(), "{found}");
        // Whole filters, and as many as were asked for at most.
        assert_eq!(found["best"]["candidates"], 64);
        let eval = folder.json(&format!("eval s-{flash}.koan bars.csv --json"));
        assert_eq!(eval["features"], found["best"]["features"]);
        assert!(error(found) <= error(&plain), "{plain} {found}");
    }
    assert!(!folder.path("s.koan").exists());
    // A size alone gives the same model.
    folder
        .run(
            "shrink m.koan bars.csv --flash 360 --candidates 66 --bits 4 --loss squared -o t.koan \
             --report r.html",
        )
        .success();
    assert_eq!(folder.read("t.koan"), folder.read("s-360.koan"));
    let page = String::from_utf8(folder.read("r.html")).unwrap();
    assert!(page.contains("Bytes against error") && page.contains("<svg"), "{page}");
}

/// Rows of some classes only would make a model that never says the others.
#[test]
fn rows_that_lack_classes_are_refused() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv -k 32").success();
    let all = String::from_utf8(folder.read("q.csv")).unwrap();
    let of = |classes: &[&str]| -> String {
        let kept =
            |line: &&str| line.ends_with("above") || classes.iter().any(|c| line.ends_with(c));
        all.lines().filter(kept).map(|line| format!("{line}\n")).collect()
    };
    folder.write("one.csv", of(&[",1"]));
    folder.write("two.csv", of(&[",0", ",1"]));
    let shrink = |data: &str| format!("shrink m.koan {data} --flash 160 --loss squared -o s.koan");
    folder.fails(&shrink("one.csv"), &["one.csv: no rows to train on of the classes 0, 2 that"]);
    folder.fails(&shrink("two.csv"), &["two.csv: no rows to train on of the class 2 that"]);
    assert!(!folder.path("s.koan").exists());
    let text = folder.output(&shrink("q.csv"));
    for told in
        ["\n  on a Cortex-M0 in Rust: about ", "\n  before: about ", " instructions a prediction"]
    {
        assert!(text.contains(told), "{told:?} in {text}");
    }
}

#[test]
fn what_cannot_be_shrunk_is_refused() {
    let folder = Folder::new();
    folder.write("w.csv", waves(200));
    folder.write("q.csv", quadrants(200));
    folder.train("w.csv -k 32").success();
    folder.fails("shrink m.koan w.csv --flash 20 -o s.koan", &["m.koan", "one feature", "20"]);
    for minutes in ["-1", "nan", "1e300"] {
        let command = format!("shrink m.koan w.csv --flash 400 --minutes={minutes} -o s.koan");
        folder.run(&command).failure().code(2).stderr(contains("from 0 to 10000"));
    }
    folder.train("w.csv --family bin -k 4").success();
    folder.fails("shrink m.koan w.csv --flash 4000 -o s.koan", &["m.koan", "bins"]);
    assert!(!folder.path("s.koan").exists());
}

/// An embedding was told no target, whatever the column is that it left aside.
#[test]
fn embeddings_are_not_shrunk() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    let named = quadrants(100).replace(",0\n", ",none\n");
    folder.write("named.csv", named);
    for data in ["q.csv", "named.csv"] {
        let train = format!("train {data} -o m.koan -k 16 {QUICK_EMBEDDING}");
        folder.run(&format!("{train} --task embedding --outputs 2")).success();
        let shrink = format!("shrink m.koan {data} --flash 200 -o s.koan");
        folder.fails(&shrink, &["m.koan: an embedding has no target", "--task embedding"]);
    }
}

/// Rows of 32 numbers, of which the first four say the class, each a little.
fn sums(rows: usize) -> String {
    let mut random = Random::new(13);
    let mut csv = String::new();
    for _ in 0..rows {
        let row: Vec<f64> = (0..32).map(|_| random.number()).collect();
        row.iter().for_each(|number| write!(csv, "{number:.3},").unwrap());
        let sum: f64 = row[..4].iter().sum();
        csv += if sum > 0.0 { "more\n" } else { "less\n" };
    }
    csv
}

/// Of the inputs themselves some are kept, too, also where all do not fit, and once more.
#[test]
fn linear_terms_are_kept_one_by_one() {
    let folder = Folder::new();
    folder.write("s.csv", sums(300));
    for family in ["linear", "fourier,linear -k 8"] {
        folder.train(&format!("s.csv --family {family} -b 8")).success();
        let mut before = folder.read("m.koan").len();
        for more in [10, 5] {
            let flash = before - more;
            let shrink = "--bits 8 --loss squared -o s.koan --json";
            let found = folder.json(&format!("shrink m.koan s.csv --flash {flash} {shrink}"));
            let bytes = folder.read("s.koan").len();
            assert!(found["bytes"] == bytes && bytes <= flash && bytes + 4 > flash, "{found}");
            assert!(found["error"].as_f64().unwrap() < 0.2, "{found}");
            let eval = folder.json("eval s.koan s.csv --json");
            assert_eq!(eval["features"], found["best"]["features"]);
            std::fs::rename(folder.path("s.koan"), folder.path("m.koan")).unwrap();
            before = bytes;
        }
    }
    folder.fails("shrink m.koan s.csv --flash 40 -o s.koan", &["one feature has", "40 are"]);
}

/// Rows of which one in twelve is of the class `rare`: where it is, the other one has more rows
/// all the same.
fn unlike(rows: usize) -> String {
    let mut random = Random::new(11);
    let mut csv = "x,count,y,state\n".to_owned();
    for row in 0..rows {
        let (x, y) = (random.number(), random.number());
        if row % 12 == 0 {
            writeln!(csv, "{},11,{},rare", 1.0 + 0.4 * x, 1.0 + 0.4 * y).unwrap();
        } else {
            writeln!(csv, "{x},1,{y},usual").unwrap();
        }
    }
    csv
}

/// What counted in the training counts again, if it is said.
#[test]
fn weights_of_rows_and_classes_are_kept() {
    let folder = Folder::new();
    folder.write("a.csv", unlike(600));
    let found = |model: &str| {
        let confusion = folder.json(&format!("eval {model} a.csv --json"))["confusion"].clone();
        // Classes are in the order of their names.
        confusion[0][0].as_u64().unwrap()
    };
    let shrink = "shrink m.koan a.csv --flash 240 --candidates 32 -o s.koan";
    for (loss, option, drop) in [
        ("squared", "--class-weights balanced", "--drop count"),
        ("logistic", "--class-weights balanced", "--drop count"),
        ("squared", "--weights count", ""),
        ("logistic", "--weights count", ""),
    ] {
        folder.train(&format!("a.csv -k 32 {option} {drop} --loss {loss}")).success();
        assert!(found("m.koan") > 35, "{loss} {option}: {}", found("m.koan"));
        let text = folder.output(&format!("{shrink} --loss {loss} {option}"));
        assert!(found("s.koan") > 35, "{loss} {option}: {}", found("s.koan"));
        assert!(!text.contains("count alike"), "{text}");
        let text = folder.output(&format!("{shrink} --loss {loss}"));
        assert!(found("s.koan") < 25, "{loss} {option}: {}", found("s.koan"));
        assert!(text.contains("rows and classes count alike"), "{text}");
    }
    let told = folder.json(&format!("{shrink} --weights count --class-weights balanced --json"));
    for of in [&told, &told["before"]] {
        assert!(of["balanced_error"].is_number() && of["weighted_error"].is_number(), "{told}");
    }
    folder.fails(&format!("{shrink} --weights none"), &["no column `none`"]);
    folder.write("w.csv", waves(200));
    folder.train("w.csv -k 32").success();
    folder.fails(
        "shrink m.koan w.csv --flash 240 -o s.koan --class-weights balanced",
        &["no classes to balance", "--class-weights"],
    );
}

/// The rows of the test are those of the training only if both are told the same.
#[test]
fn what_is_tested_on_is_told() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.write("t.csv", quadrants(40));
    let report = folder.train("q.csv -k 64 --train-rows 200 --json").success();
    let report: serde_json::Value = serde_json::from_slice(&report.get_output().stdout).unwrap();
    let shrink = "shrink m.koan q.csv --flash 240 --candidates 64 --loss squared -o s.koan";
    let same = folder.json(&format!("{shrink} --train-rows 200 --json"));
    assert_eq!((&same["rows"], &same["before"]["error"]), (&100.into(), &report["error"]));
    for (option, told) in [
        ("", "those that `koan train --test-fraction 0.2` holds out"),
        ("--train-rows 200", "those that `koan train --train-rows 200` leaves"),
        ("--test t.csv", "test rows: all of --test"),
    ] {
        let text = folder.output(&format!("{shrink} {option}")).replace("\n    ", " ");
        assert!(text.contains(told), "{text}");
    }
}

/// Where no model is small enough, what takes the bytes is told, and what leaves it out.
#[test]
fn bytes_that_names_take_are_told() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    folder.train("q.csv -k 16").success();
    folder.fails(
        "shrink m.koan q.csv --flash 60 -o s.koan",
        &["a model with one feature has", "60 are allowed", "its notes", "--no-column-names"],
    );
}
