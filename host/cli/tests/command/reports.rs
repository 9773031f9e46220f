//! What `--json` and the texts for people say.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::common::{Folder, QUICK, Random, quadrants, text, waves};

const OF_A_MODEL: [&str; 6] = ["task", "family", "projection", "features", "bits", "bytes"];
const OF_A_RUN: [&str; 3] = ["error", "rows", "seconds"];

fn assert_keys(object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object.get(key).is_some_and(|value| !value.is_null()), "{key}: {object}");
    }
}

#[test]
fn all_commands_say_the_same_of_a_model() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.write("w.csv", waves(150));
    for (data, families) in [("q.csv", "fourier"), ("w.csv", "stump,linear")] {
        let train = format!("train {data} --family {families} --features 16 -o m.koan");
        let trained = folder.json(&format!("{train} --frequency 1 --lambda 0.001 --json"));
        let evaluated = folder.json(&format!("eval m.koan {data} --json"));
        let inspected = folder.json("inspect m.koan --json");
        for object in [&trained, &evaluated] {
            assert_keys(object, &OF_A_MODEL);
            assert_keys(object, &OF_A_RUN);
        }
        for key in OF_A_MODEL {
            assert_eq!(trained[key], evaluated[key], "{key}");
            assert_eq!(trained[key], inspected[key], "{key}");
        }
        assert_eq!(trained["bytes"], folder.read("m.koan").len());
        assert_eq!((&trained["rows"], &evaluated["rows"]), (&30.into(), &150.into()));
    }
}

#[test]
fn texts_for_people() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder
        .train("q.csv --features 16")
        .success()
        .stdout(contains("m.koan: ").and(contains("% misclassified on 30 test rows")))
        .stdout(contains("task: classification, 3 classes").and(contains("--task regression")))
        .stderr("");
    folder
        .run("eval m.koan q.csv")
        .success()
        .stdout(contains("% misclassified on 150 rows").and(contains("actual \\ predicted")));
    folder
        .run("inspect m.koan")
        .success()
        .stdout(contains("self test passed").and(contains("classes: 0, 1, 2")));
    folder.run("--help").success().stdout(contains("train").and(contains("predict")));
}

/// What the texts say the objects say, too.
#[test]
fn objects_lack_nothing() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    let trained = folder.json(&format!("train q.csv -o m.koan -k 48 --json {QUICK}"));
    assert_eq!((&trained["output"], &trained["target"]), (&"m.koan".into(), &"above".into()));
    assert_eq!(trained["warnings"], serde_json::json!([]));
    let streamed = format!("train q.csv -o m.koan -k 48 --json {QUICK} --stream yes");
    assert_eq!(folder.json(&streamed)["target"], "above");
    let inspected = folder.json("inspect m.koan --json");
    for core in ["Cortex-M0", "Cortex-M4F"] {
        let told = format!("{} instructions on a {core}", inspected["instructions"][core]);
        folder.run("inspect m.koan").success().stdout(contains(told));
    }
    let evaluated = folder.json("eval m.koan q.csv --json");
    assert_eq!(evaluated["classes"], serde_json::json!(["0", "1", "2"]));
    let confusion = evaluated["confusion"].as_array().unwrap();
    let missed = confusion.iter().enumerate().map(|(class, row)| {
        let row: Vec<f64> = row.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
        1.0 - row[class] / row.iter().sum::<f64>()
    });
    let balanced = missed.sum::<f64>() / 3.0;
    assert!((evaluated["balanced_error"].as_f64().unwrap() - balanced).abs() < 1e-12);
    let text = folder.output("eval m.koan q.csv");
    let told = format!("balanced error, the mean over the classes: {:.2} %", 100.0 * balanced);
    assert!(text.contains(&told), "{text}");
    // Of classes of as many rows it is the error.
    let row = |class: &str| {
        let rows = quadrants(150);
        rows.lines().find(|line| line.ends_with(class)).unwrap().to_owned()
    };
    folder.write("even.csv", ["x,y,above", &row(",0"), &row(",1"), &row(",2")].join("\n"));
    assert!(!folder.output("eval m.koan even.csv").contains("balanced"));
    folder.write("one.csv", ["x,y,above", &row(",1")].join("\n"));
    assert!(folder.output("eval m.koan one.csv").contains(" on 1 row ("));
}

/// Columns without names have numbers.
#[test]
fn a_target_without_a_name() {
    let folder = Folder::new();
    let rows = quadrants(150);
    folder.write("q.csv", rows.split_once('\n').unwrap().1);
    let text = folder.train("q.csv -k 8").success();
    let told = "  target: column 3, the last column; `--target` names another";
    text.stdout(contains(told));
    assert_eq!(
        folder.json(&format!("train q.csv -o m.koan -k 8 --json {QUICK}"))["target"],
        "column 3"
    );
    folder.write("w.csv", waves(100));
    folder.train("w.csv -k 8").success().stdout(contains("  target: z, the last column"));
    folder.run("inspect m.koan").success().stdout(contains(" 2 inputs, 1 output, 8 features"));
}

/// Every byte of the model, in order.
#[test]
fn the_hex_dump_is_the_model() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --features 16 --golden-rows 1").success();
    let mut bytes = Vec::new();
    for line in folder.output("inspect m.koan --hex").lines() {
        let offset = usize::from_str_radix(&line[..6], 16).unwrap();
        assert_eq!(offset, bytes.len());
        let digits = line[8..].get(..35).unwrap_or(&line[8..]);
        bytes.extend(digits.split_whitespace().map(|hex| u8::from_str_radix(hex, 16).unwrap()));
    }
    assert_eq!(bytes, folder.read("m.koan"));
}

#[test]
fn arguments_that_make_no_sense() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(50));
    for (arguments, message) in [
        ("train -o m.koan", "<DATA>"),
        ("train q.csv -o m.koan --bits 5", "2, 3, 4, 8 or 16"),
        ("train q.csv -o m.koan --family tree", "fourier"),
        ("train q.csv -o m.koan --pool 0", "1..=255"),
        ("train q.csv -o m.koan --slot-bits 13", "1..=12"),
        ("train q.csv -o m.koan --input-groups 2", "--input-groups"),
        ("train q.csv -o m.koan --header perhaps", "yes or no"),
        ("inspect m.koan --json --hex", "cannot be used with"),
        ("guess", "guess"),
    ] {
        folder.run(arguments).code(2).stdout("").stderr(contains(message));
    }
    assert!(!folder.path("m.koan").exists());
}

/// What is said of a model of all rows is of the errors on rows that it was not trained on: on its
/// own rows a useless one that knows them by heart looks good.
#[test]
fn folds_doubt_by_the_rows_left_out() {
    let folder = Folder::new();
    let mut random = Random::new(21);
    let mut csv = "x,y,state\n".to_owned();
    for _ in 0..120 {
        let state = if random.below(4) == 0 { "on" } else { "off" };
        csv += &format!("{},{},{state}\n", random.number(), random.number());
    }
    folder.write("noise.csv", csv);
    let by_heart = "train noise.csv -o m.koan -k 200 -b 8 --frequency 6 --lambda 1e-6 \
                    --map per-input --relevance no";
    let found = folder.json(&format!("{by_heart} --folds 4 --json"));
    let own = folder.json("eval m.koan noise.csv --json")["error"].as_f64().unwrap();
    assert!(own < 0.05, "{own}");
    let percent = |error: &Value| format!("{:.2} %", 100.0 * error.as_f64().unwrap());
    let (error, constant) = (percent(&found["error"]), percent(&found["baselines"]["constant"]));
    let told = found["warnings"][0].as_str().unwrap();
    assert!(told.contains("no better than"), "{found}");
    assert!(told.contains(&format!("an error of {error}, not below {constant}")), "{found}");
    // Where classes count the same, so does the mean over them.
    let balanced = folder.json(&format!("{by_heart} --folds 4 --json --class-weights balanced"));
    let told = balanced["warnings"][0].as_str().unwrap();
    assert!(told.contains("a mean error over the classes of"), "{balanced}");
    // A good one is not doubted.
    folder.write("q.csv", quadrants(200));
    let good = folder.json("train q.csv -o m.koan -k 48 -b 8 --frequency 1 --folds 4 --json");
    assert!(!good["warnings"].to_string().contains("no better"), "{good}");
}

/// Always predicting the frequent class is right more often, which is not what such a model is for.
#[test]
fn balanced_models_are_of_use() {
    let folder = Folder::new();
    let row =
        |row: usize| format!("{},{}", row * 37 % 400, u8::from(row * 37 % 400 < 12 + row % 40));
    let rows: String = (0..400).map(|number| row(number) + "\n").collect();
    folder.write("rare.csv", format!("x,y\n{rows}"));
    let train = format!("train rare.csv -o m.koan -k 8 {QUICK} --class-weights balanced");
    for more in ["--report r.html", "--stream yes"] {
        let told = folder.json(&format!("{train} {more} --json"));
        assert!(!told["warnings"].to_string().contains("most frequent class"), "{more}: {told}");
    }
    let page = text(&folder.read("r.html"));
    assert!(page.contains("where all classes count the same") && !page.contains("Of no use"));
}

/// Leaves of ferns are not columns of a matrix, on the page neither.
#[test]
fn a_page_of_many_leaves() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    let ferns = "--family fern -k 560 --depth 4 --candidates 600 --loss logistic";
    folder.run(&format!("train q.csv -o m.koan {ferns} {QUICK} --report r.html")).success();
    assert!(text(&folder.read("r.html")).contains("fern"));
}
