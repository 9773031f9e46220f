//! `koan predict`: what comes out, row by row.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::common::{Folder, quadrants, sensors, text, waves};

/// Counts of (actual, predicted), as `koan eval` counts them.
fn confusion(actual: &[&str], predicted: &[&str], classes: &[&str]) -> Value {
    let count = |a: &str, p: &str| {
        actual.iter().zip(predicted).filter(|&(&x, &y)| (x, y) == (a, p)).count()
    };
    classes.iter().map(|a| classes.iter().map(|p| count(a, p)).collect::<Value>()).collect()
}

#[test]
fn predictions_are_what_was_evaluated() {
    let folder = Folder::new();
    for (csv, classes) in [(sensors(240), &["cold", "hot"][..]), (quadrants(240), &["0", "1", "2"])]
    {
        folder.write("d.csv", &csv);
        folder.write_gzip("d.csv.gz", &csv);
        // Few features: some predictions must be wrong.
        folder.train("d.csv --features 6").success();
        let lines = folder.output("predict m.koan d.csv");
        let predicted: Vec<&str> = lines.lines().skip(1).collect();
        let actual: Vec<&str> =
            csv.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
        assert_eq!(predicted.len(), 240);
        assert_ne!(predicted, actual);
        let result = folder.json("eval m.koan d.csv --json");
        assert_eq!(result["confusion"], confusion(&actual, &predicted, classes));
        assert_eq!(folder.output("predict m.koan d.csv.gz"), lines);
    }
}

#[test]
fn values_have_the_error_that_was_evaluated() {
    let folder = Folder::new();
    let csv = waves(150);
    folder.write("w.csv", &csv);
    folder.train("w.csv --features 16").success();
    let lines = folder.output("predict m.koan w.csv");
    let number = |text: &str| text.parse::<f64>().unwrap();
    let values = lines.lines().skip(1).map(number);
    let targets = csv.lines().skip(1).map(|line| number(line.rsplit(',').next().unwrap()));
    let squares: f64 = values.zip(targets).map(|(value, target)| (value - target).powi(2)).sum();
    let rmse = folder.json("eval m.koan w.csv --json")["rmse"].as_f64().unwrap();
    assert!(((squares / 150.0).sqrt() - rmse).abs() < 1e-5);
}

/// No more digits than numbers of 32 bits have, in any form.
#[test]
fn values_have_the_digits_of_their_type() {
    let folder = Folder::new();
    folder.write("w.csv", waves(150));
    folder.train("w.csv --features 16").success();
    let check = |text: &str| {
        let short = text.parse::<f32>().unwrap().to_string();
        assert_eq!(text.parse::<f64>().unwrap(), short.parse::<f64>().unwrap());
        assert!(text.len() <= short.len() + 2, "{text} {short}");
    };
    folder.output("predict m.koan w.csv").lines().skip(1).for_each(check);
    for line in folder.output("predict m.koan w.csv --format json").lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        check(&object["value"].to_string());
    }
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --features 16").success();
    for line in folder.output("predict m.koan q.csv --probabilities").lines().skip(1) {
        line.split(',').skip(1).for_each(check);
    }
    folder.fails("predict m.koan - q.csv", &["`-`, which is standard input, goes alone"]);
}

#[test]
fn from_standard_input_and_in_any_order_of_columns() {
    let folder = Folder::new();
    folder.write("s.csv", sensors(240));
    folder.train("s.csv --features 64").success();
    let rows = "level,temp,\"job, kind\"\n0,1.5,clerk\n0,-1.5,clerk\n0,1.5,\"boss, \"\"big\"\"\"\n";
    for arguments in ["predict m.koan", "predict m.koan -"] {
        let assert = folder.command(arguments).write_stdin(rows).assert().success();
        assert.stdout("class\nhot\ncold\ncold\n");
    }
    let arguments = "predict m.koan --format json";
    let assert = folder.command(arguments).write_stdin(rows).assert().success();
    assert.stdout("{\"class\":\"hot\"}\n{\"class\":\"cold\"}\n{\"class\":\"cold\"}\n");
}

#[test]
fn columns_are_kept_as_they_are() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --features 32").success();
    // Neither known to the model nor in its order, and like a formula; one by the answer's name.
    folder.write("n.csv", "id,y,class,x\n=1+1,1.9,a,1.9\n007,-1.5,b,-1.5\n");
    let lines = folder.output("predict m.koan n.csv --keep id,class,-1");
    assert_eq!(lines, "id,data class,x,class\n'=1+1,a,1.9,2\n007,b,-1.5,0\n");
    folder.fails("predict m.koan n.csv --keep time", &["n.csv", "no column `time`"]);
    // Without a header by number.
    folder.write("bare.csv", "1.9,1.9\n-1.5,-1.5\n");
    let lines = folder.output("predict m.koan bare.csv --keep 2");
    assert_eq!(lines, "column 2,class\n1.9,2\n-1.5,0\n");
    folder.write("s.svm", "1 1:1\n-1 1:2\n1 1:3\n-1 1:2\n");
    folder.train("s.svm --features 8").success();
    folder.fails("predict m.koan s.svm --keep 1", &["s.svm", "(--keep)"]);
}

#[test]
fn probabilities_sum_to_one_and_agree_with_the_class() {
    let folder = Folder::new();
    for csv in [sensors(200), quadrants(200)] {
        folder.write("d.csv", &csv);
        folder.train("d.csv --features 24").success();
        let lines = folder.output("predict m.koan d.csv --probabilities --scores --format json");
        for line in lines.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let class = row["class"].as_str().unwrap();
            let probabilities: Vec<(&str, f64)> = row
                .as_object()
                .unwrap()
                .iter()
                .filter_map(|(name, p)| Some((name.strip_prefix("probability ")?, p.as_f64()?)))
                .collect();
            let sum: f64 = probabilities.iter().map(|(_, p)| p).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{line}");
            if probabilities.len() > 2 {
                let best = probabilities.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
                assert_eq!(best.0, class, "{line}");
            }
            assert!(row["score 0"].is_i64());
        }
        let header = folder.output("predict m.koan d.csv --probabilities --scores");
        let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        let columns = header.lines().next().unwrap().split(',').count();
        assert_eq!(columns, first.as_object().unwrap().len());
    }
}

#[test]
fn wrong_columns_are_named() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --features 12").success();
    folder.write("one.csv", "1\n2\n");
    folder.fails("predict m.koan one.csv", &["one.csv", "1 column, ", "trained on 3"]);
    folder.write("names.csv", "x,z\n1,2\n");
    folder.fails("predict m.koan names.csv", &["names.csv", "no column `y`"]);
    folder.fails("eval m.koan names.csv", &["names.csv", "no column `y`"]);
    folder.write("unlabelled.csv", "x,y\n1,2\n");
    folder.fails("eval m.koan unlabelled.csv", &["unlabelled.csv", "`above`"]);
    folder.write("class.csv", "x,y,above\n1,2,2\n1,2,9\n");
    folder.fails("eval m.koan class.csv", &["class.csv:3", "column 3 (`above`)", "\"9\""]);
}

/// The rows in front of a bad one are answered; the bad one is named.
#[test]
fn texts_that_are_missing_are_told() {
    let folder = Folder::new();
    let row =
        |i: usize| format!("{},{},{}\n", i % 7, ["run", "stop"][i % 2], ["a", "b"][i / 2 % 2]);
    let rows: String = (0..40).map(row).collect();
    folder.write("t.csv", format!("x,mode,y\n{rows}"));
    folder.train("t.csv").success();
    folder.write("u.csv", "x,mode,y\n1,run,a\n2,,b\n3,NA,b\n4,walk,b\n");
    for command in ["eval m.koan u.csv", "predict m.koan u.csv"] {
        folder.run(command).success().stderr(
            contains("u.csv: column 2 (`mode`): 2 of 4 rows have no value, which is taken as none")
                .and(contains("1 of 4 rows have a value that training did not, such as \"walk\"")),
        );
    }
    // Where training had such rows, nothing is to be told.
    folder.write("v.csv", format!("x,mode,y\n,run,a\n1,,b\n{rows}"));
    folder.train("v.csv --missing impute").success();
    let told = folder.run("eval m.koan v.csv").success();
    assert!(!text(&told.get_output().stderr).contains("no value"));
}

/// A model takes them for the end of what it knows, which nobody sees in a prediction.
#[test]
fn numbers_far_beyond_those_of_training_are_told() {
    let folder = Folder::new();
    let rows: String = (0..80).map(|i| format!("{},{},{}\n", i * 13 % 80, i % 7, i % 3)).collect();
    folder.write("t.csv", format!("x,z,y\n{rows}"));
    folder.train("t.csv --family stump --features 16").success();
    folder.write("u.csv", "x,z,y\n40,3,1\n4000,3,2\n-4000,2,0\n");
    folder.write("inside.csv", "x,z,y\n0,3,1\n79,3,2\n");
    for command in ["eval m.koan", "predict m.koan"] {
        let told = folder.run(&format!("{command} u.csv")).success();
        let told = text(&told.get_output().stderr);
        let said = "warning: column 1 (`x`): 2 of 3 rows have a number below ";
        assert!(told.contains(said) && told.contains("the model takes for that end"), "{told}");
        let told = folder.run(&format!("{command} inside.csv")).success();
        assert!(!text(&told.get_output().stderr).contains("a number below"));
    }
}

/// A file holds what standard output does, once all rows are predicted.
#[test]
fn predictions_are_written_to_a_file() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --features 32").success();
    let told = folder.run("predict m.koan q.csv --output p.csv").success();
    assert_eq!(text(&told.get_output().stdout), "p.csv: 150 predictions\n");
    let printed = folder.run("predict m.koan q.csv").success();
    let before = std::fs::read(folder.path("p.csv")).unwrap();
    assert_eq!(before, printed.get_output().stdout);

    folder.write("bad.csv", "x,y\n1.9,1.9\n1,oops\n");
    folder.fails("predict m.koan bad.csv -o p.csv", &["bad.csv:3: column 2 (`y`)"]);
    assert_eq!(std::fs::read(folder.path("p.csv")).unwrap(), before, "what was there stays");
    for input in ["q.csv", "m.koan"] {
        let message = format!("cannot write {input}: it is an input");
        folder.fails(&format!("predict m.koan q.csv -o {input}"), &[&message]);
    }
    let rows = folder.command("predict m.koan -o two.jsonl --format json");
    let mut rows = rows;
    rows.write_stdin("x,y\n1.9,1.9\n-1,1\n").assert().success();
    let two = std::fs::read_to_string(folder.path("two.jsonl")).unwrap();
    assert_eq!(two.lines().count(), 2, "{two}");
}

#[test]
fn a_bad_row_ends_the_stream() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --features 32").success();
    for (bad, message) in [
        (
            "1,oops",
            "standard input:3: column 2 (`y`): \"oops\" is not a number (mend the value, or delete \
             line 3 ",
        ),
        ("1", "standard input:3: 1 field, "),
        (
            "1,",
            "standard input:3: column 2 (`y`): the value is missing, and was never missing in the \
             training data (fill it in, or leave the row out; ",
        ),
    ] {
        let rows = format!("x,y\n1.9,1.9\n{bad}\n-1,1\n");
        let assert = folder.command("predict m.koan").write_stdin(rows).assert().code(1);
        let assert = assert.stdout("class\n2\n");
        let found = text(&assert.get_output().stderr);
        assert!(found.contains(message), "{found}");
    }
}
