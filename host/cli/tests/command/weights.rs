//! Weights of rows: `--weights`.

use std::fmt::Write as _;

use crate::common::{Folder, QUICK, Random, quadrants, waves};

/// Rows of two classes that overlap, each with a weight of 0 to 3.
fn weighted(rows: usize) -> String {
    let mut random = Random::new(5);
    let mut csv = "x,count,y,state\n".to_owned();
    for _ in 0..rows {
        let (x, y) = (random.number(), random.number());
        let state = if x + 0.5 * random.number() > 0.0 { "hot" } else { "cold" };
        writeln!(csv, "{x},{},{y},{state}", random.below(4)).unwrap();
    }
    csv
}

#[test]
fn weights_are_no_input_and_change_the_model() {
    let folder = Folder::new();
    folder.write("a.csv", weighted(300));
    let with = folder.json(&format!("train a.csv -o w.koan --weights count --json {QUICK}"));
    let without = folder.json(&format!("train a.csv -o n.koan --drop count --json {QUICK}"));
    assert_eq!((&with["inputs"], &without["inputs"]), (&2.into(), &2.into()));
    assert!(folder.read("w.koan") != folder.read("n.koan"));
    assert!(with["weighted_error"].is_number() && without.get("weighted_error").is_none());
    // The column may be told by its number, and takes no part in prediction.
    folder.json(&format!("train a.csv -o v.koan --weights 2 --json {QUICK}"));
    assert!(folder.read("w.koan") == folder.read("v.koan"));
    folder.write("bare.csv", "x,y\n1,1\n-1,0.5\n");
    folder.run("predict w.koan bare.csv").success();
    folder.run("eval w.koan a.csv").success();
}

/// All weights of 2 are as good as none, class weights on top or not.
#[test]
fn equal_weights_change_nothing() {
    let folder = Folder::new();
    let rows = quadrants(200);
    let doubled: String = rows
        .lines()
        .map(
            |line| {
                if line.starts_with('x') { format!("w,{line}\n") } else { format!("2,{line}\n") }
            },
        )
        .collect();
    folder.write("a.csv", rows);
    folder.write("b.csv", doubled);
    for more in ["", "--class-weights balanced"] {
        let options = format!("--features 24 {QUICK} {more} --json");
        let plain = folder.json(&format!("train a.csv -o m.koan {options}"));
        let equal = folder.json(&format!("train b.csv -o m.koan --weights w {options}"));
        assert_eq!(plain["error_float"], equal["error_float"]);
        assert_eq!(equal["weighted_error"], equal["error"]);
    }
}

/// Test rows of weight 0 do not count, also where the rows are not all in memory.
#[test]
fn weights_in_a_stream_count_in_the_test() {
    let folder = Folder::new();
    let csv = weighted(9000);
    folder.write("a.csv", &csv);
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let (mut all, mut counted) = ("x,count,y,state\n".to_owned(), "x,count,y,state\n".to_owned());
    for line in csv.lines().skip(1).map(fields) {
        let weight = if line[1] == "0" { 0 } else { 2 };
        let row = format!("{},{weight},{},{}\n", line[0], line[2], line[3]);
        all += &row;
        counted += if weight > 0 { &row } else { "" };
    }
    folder.write("all.csv", all);
    folder.write("counted.csv", counted);
    let stream = format!("--weights count --test all.csv --json {QUICK} --stream yes");
    let report = folder.json(&format!("train a.csv -o s.koan {stream}"));
    let judged = folder.json("eval s.koan counted.csv --json");
    let (weighted, error) = (&report["weighted_error"], &judged["error"]);
    let difference = weighted.as_f64().unwrap() - error.as_f64().unwrap();
    assert!(difference.abs() < 1e-12, "{weighted} {error}");
    assert!(report["error"] != judged["error"], "{report}");
}

/// One row in ten counts thirty times as much as another: always predicting its class is the best
/// constant by weight, and the worst by rows.
#[test]
fn a_model_is_compared_with_others_by_weight() {
    let folder = Folder::new();
    let mut csv = "x,count,state\n".to_owned();
    for row in 0..600 {
        let x = f64::from(row * 37 % 600) / 300.0 - 1.0;
        let (count, state) = if x.abs() < 0.1 { (30, "near") } else { (1, "far") };
        writeln!(csv, "{x},{count},{state}").unwrap();
    }
    folder.write("a.csv", csv);
    let train = format!("train a.csv -o m.koan --weights count --report p.html {QUICK}");
    let report = folder.json(&format!("{train} --json"));
    let constant = report["baselines"]["constant"].as_f64().unwrap();
    assert!((0.2..0.27).contains(&constant), "{report}");
    let weighted = report["weighted_error"].as_f64().unwrap();
    assert!(weighted < 0.2 && weighted != report["error"].as_f64().unwrap(), "{report}");
    let page = String::from_utf8(folder.read("p.html")).unwrap();
    let told = format!(
        "{:.2} % misclassified on 120 test rows, each counted by its weight",
        100.0 * weighted
    );
    assert!(page.contains(&told) && page.contains("the class of the most weight"), "{told}");
    let text = folder.output(&train);
    assert!(text.contains("counted by their weights, as for the baselines"), "{text}");
}

#[test]
fn weights_that_make_no_sense() {
    let folder = Folder::new();
    let good = weighted(60);
    for (bad, message) in [
        ("-1", "a weight of -1 is below 0"),
        ("", "the weight is missing"),
        ("much", "\"much\" is not a number"),
        ("inf", "inf is beyond the range"),
    ] {
        folder.write("bad.csv", format!("{good}0.5,{bad},0.5,hot\n"));
        folder.train_fails("bad.csv --weights count", &["bad.csv:62: column 2 (`count`)", message]);
    }
    folder.write("a.csv", &good);
    folder.train_fails("a.csv --weights none", &["a.csv", "no column `none`"]);
    folder.train_fails("a.csv --weights state", &["the target cannot be the rows' weights"]);
    folder.train_fails("a.csv --weights count --window 4", &["windows of samples have none"]);
    let embedding = "train a.csv -o m.koan --weights count --task embedding";
    folder.fails(embedding, &["weights of rows go with a target"]);
    folder.write("zero.csv", "x,w,y\n1,0,a\n2,0,b\n3,0,a\n");
    folder.train_fails("zero.csv --weights w", &["zero.csv", "weights of all rows are 0"]);
    folder.write("t.csv", "x,y,state\n0.1,0.2,hot\n");
    folder.train_fails("a.csv --weights count --test t.csv", &["t.csv", "no column `count`"]);
    folder.write("s.svm", "1 1:0.5\n-1 1:0.25\n1 1:0.75\n");
    folder.train_fails("s.svm --weights w", &["weights", "svmlight"]);
}

/// Numbers are no classes: nothing would be balanced, and nothing was said of it.
#[test]
fn class_weights_of_numbers() {
    let folder = Folder::new();
    folder.write("w.csv", waves(200));
    let balanced = "--class-weights balanced";
    let told = ["w.csv: numbers have no classes to balance", "(--class-weights)"];
    folder.train_fails(&format!("w.csv {balanced}"), &told);
    folder.train_fails(&format!("w.csv {balanced} --stream yes"), &told);
    folder.fails(&format!("train w.csv -o m.koan {balanced}"), &told);
    folder.fails(&format!("tune w.csv -o front --minutes 0.01 {balanced}"), &told);
    folder.train_fails(&format!("w.csv {balanced} --task embedding"), &["--class-weights"]);
    folder.train_fails(&format!("w.csv {balanced} --task anomaly"), &["--class-weights"]);
}
