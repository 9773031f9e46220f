//! `koan tune`, and what `koan train` chooses by itself.

use std::fmt::Write as _;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::common::{Folder, Random, quadrants, text, waves};

/// A search within 330 bytes that is planned for less than a second; the plan, not the clock, ends
/// it.
const SMALL: &str =
    "--flash 330 --minutes 0.005 --no-clock --family fourier,stump,linear --relevance no";

/// The words of a command line that has no quotes.
fn without_koan(command: &Value) -> String {
    command.as_str().unwrap().strip_prefix("koan ").unwrap().to_owned()
}

#[test]
fn train_keeps_limits_of_instructions_and_buffers() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    let train = "train q.csv -o m.koan --family stump --bits 4 --map shared --relevance no";
    let found = |limits: &str| {
        folder.output(&format!("{train} {limits}"));
        folder.json("inspect m.koan --json")
    };
    let free = found("--flash 2k");
    let count = |found: &Value, core: &str| found["instructions"][core].as_u64().unwrap();
    assert!(count(&free, "Cortex-M4F") > 6000);
    let limits = "--instructions 6k --core cortex-m4f";
    let bound = found(limits);
    let instructions = count(&bound, "Cortex-M4F");
    assert!(instructions <= 6000 && count(&bound, "Cortex-M0") > 6000);
    // Those of the core that was asked for are told.
    let told = folder.output(&format!("{train} {limits}"));
    let said = format!("{instructions} instructions a prediction on a Cortex-M4F");
    assert!(told.split_whitespace().collect::<Vec<_>>().join(" ").contains(&said), "{told}");
    let report = folder.json(&format!("{train} {limits} --json"));
    assert_eq!(count(&report, "Cortex-M4F"), instructions);
    assert!(found("--ram 64")["ram_bytes"].as_u64().unwrap() <= 64);
    let fails = |limits: &str, parts: &[&str]| folder.fails(&format!("{train} {limits}"), parts);
    fails("--ram 5", &["no model is so small: ram 5", "(--ram)"]);
    fails("--instructions 50", &["at least about", "on a Cortex-M0 (--instructions)"]);
    fails("--instructions 6k --stream yes", &["--instructions needs the rows in memory"]);
    let tasks = "train q.csv -o m.koan --task embedding --instructions 6k";
    folder.fails(tasks, &["--instructions searches", "needs a target"]);
}

#[test]
fn the_front_keeps_its_limits_and_its_models_are_those_of_train() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    folder.write("w.csv", waves(150));
    folder.write("t.csv", waves(40));
    for tune in [
        format!("tune q.csv {SMALL} --ram 100 -o front --json"),
        // `--test` takes many files, of which the data are none.
        format!("tune --test t.csv {SMALL} --ram 100 --json -o front w.csv"),
    ] {
        let found = folder.json(&tune);
        let front = found["front"].as_array().unwrap();
        assert!(!front.is_empty(), "{found}");
        // What is recommended is beaten by no other in bytes, instructions and held-out error.
        let best = &front[found["recommended"].as_u64().unwrap() as usize];
        for point in front {
            let figure = |what: &str| (point[what].as_f64(), best[what].as_f64());
            let all = ["bytes", "instructions", "held_out"].map(figure);
            assert!(all == all.map(|(_, b)| (b, b)) || all.iter().any(|(a, b)| a > b), "{found}");
        }
        // A model is smaller or faster than every one that comes after it.
        for (index, point) in front.iter().enumerate() {
            for better in &front[index + 1..] {
                let less = |what: &str| point[what].as_u64() < better[what].as_u64();
                assert!(less("bytes") || less("instructions"), "{found}");
            }
        }
        for point in front {
            let file = point["file"].as_str().unwrap();
            let blob = folder.read(file);
            assert_eq!(point["bytes"], blob.len());
            assert!(blob.len() <= 330);
            let inspected = folder.json(&format!("inspect {file} --json"));
            assert_eq!(point["ram"], inspected["ram_bytes"]);
            assert!(point["ram"].as_u64().unwrap() <= 100);
            // The command that it prints makes the same model, with that error.
            let trained = folder.json(&format!("{} --json", without_koan(&point["command"])));
            assert!(blob == folder.read(file), "{point}");
            assert_eq!(trained["error"], point["test"]);
        }
        // Nothing but whole models is in the folder.
        let files = std::fs::read_dir(folder.path("front")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| name.ends_with(".koan")));
        std::fs::remove_dir_all(folder.path("front")).unwrap();
    }
}

/// Names that tell nothing of the rows are no inputs: it is said so, and in the command that makes
/// the model.
#[test]
fn columns_of_many_texts_are_left_out_where_they_tell_nothing() {
    let folder = Folder::new();
    let (mut random, mut csv) = (Random::new(5), "name,x,y\n".to_owned());
    for row in 0..400 {
        let x = 2.0 * random.number();
        // No model is without fault.
        let class = if ((7.0 * x).sin() > 0.0) != (row % 11 == 0) { "far" } else { "near" };
        writeln!(csv, "ship {},{x},{class}", row * 57 % 101 % 40).unwrap();
    }
    folder.write("n.csv", csv);
    let left_out = contains("warning: column 1 (`name`) is left out: its 40 different texts");
    let tune = "tune n.csv --family fourier,linear --flash 300 --minutes 0.005 --no-clock -o front";
    let found = folder.run(&format!("{tune} --report r.html --json")).success().stderr(left_out);
    assert!(text(&folder.read("r.html")).contains("its 40 different texts"));
    let found: Value = serde_json::from_slice(&found.get_output().stdout).unwrap();
    for point in found["front"].as_array().unwrap() {
        let file = point["file"].as_str().unwrap();
        assert_eq!(folder.json(&format!("inspect {file} --json"))["inputs"], 1);
        // The column may be there, or not.
        folder.write("rows.csv", "x\n0.5\n-1\n");
        let both = folder.output(&format!("predict {file} rows.csv"));
        folder.write("rows.csv", "name,x\nnobody,0.5\n,-1\n");
        assert_eq!(folder.output(&format!("predict {file} rows.csv")), both);

        let blob = folder.read(file);
        assert!(point["command"].as_str().unwrap().contains(" --drop 1 "), "{point}");
        folder.json(&format!("{} --json", without_koan(&point["command"])));
        assert!(blob == folder.read(file), "{point}");
    }
}

#[test]
fn the_test_rows_and_the_number_of_threads_change_nothing() {
    let folder = Folder::new();
    let rows = quadrants(120);
    folder.write("q.csv", &rows);
    folder.write("same.csv", &rows);
    // Other targets on the test rows.
    folder.write(
        "other.csv",
        rows.replace(",0\n", ",3\n").replace(",2\n", ",0\n").replace(",3\n", ",2\n"),
    );
    let mut fronts = Vec::new();
    for (test, threads) in [("same.csv", "1"), ("other.csv", "3")] {
        let command = format!("tune q.csv --test {test} {SMALL} -o front --json");
        let mut command = folder.command(&command);
        let output = command.env("RAYON_NUM_THREADS", threads).assert().success();
        let found: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
        assert_eq!(found["cut"], false);
        let point = |point: &Value| {
            let blob = folder.read(point["file"].as_str().unwrap());
            (blob, point["held_out"].to_string())
        };
        let front: Vec<_> = found["front"].as_array().unwrap().iter().map(point).collect();
        fronts.push((front, found["front"][0]["test"].clone()));
    }
    assert!(fronts[0].0 == fronts[1].0);
    assert_ne!(fronts[0].1, fronts[1].1);
}

#[test]
fn limits_that_no_model_keeps_name_the_smallest() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    let fails = |options: &str, parts: &[&str]| {
        folder.fails(&format!("tune q.csv --minutes 0.005 --no-clock {options}"), parts);
    };
    fails("--flash 20", &["q.csv", "(--flash)", "at least", "bytes"]);
    fails("--ram 8", &["(--ram)", "at least 28 bytes of buffers"]);
    fails("--instructions 10", &["(--instructions)", "instructions on a Cortex-M0"]);
    fails("--metric rmse", &["the metric rmse does not suit 3 classes"]);
    fails("--metric auc", &["the metric auc does not suit 3 classes"]);
    // What is said to be the smallest can be had.
    let output = folder
        .run("tune q.csv --minutes 0.005 --no-clock --flash 20")
        .failure()
        .get_output()
        .clone();
    let message = String::from_utf8(output.stderr).unwrap();
    let least = message.split("at least ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let found =
        folder.json(&format!("tune q.csv --minutes 0.005 --no-clock --flash {least} --json"));
    assert_eq!(found["front"][0]["bytes"].to_string(), least);
}

/// AUC needs rows of both classes: test rows of one give no figure, and no worst one.
#[test]
fn what_test_rows_do_not_tell_is_not_shown() {
    let folder = Folder::new();
    let rows = quadrants(150).replace(",2\n", ",1\n");
    folder.write("q.csv", &rows);
    let of_one: Vec<&str> = rows.lines().filter(|line| !line.ends_with(",0")).collect();
    folder.write("one.csv", of_one.join("\n"));
    let tune = format!("tune q.csv --test one.csv --metric auc {SMALL} -o f --report r.html");
    let found = folder.json(&format!("{tune} --json"));
    for point in found["front"].as_array().unwrap() {
        assert!(point["test"].is_null() && point["held_out"].is_number(), "{point}");
    }
    let printed = folder.output(&tune);
    assert!(printed.contains("the test rows give no auc"), "{printed}");
    assert!(printed.contains("–") && !printed.contains(" 0.0000"), "{printed}");
    let page = text(&folder.read("r.html"));
    assert!(page.contains("front, held-out") && !page.contains("front, test rows"), "{page}");
    assert!(!page.contains(">0.0000<"), "{page}");
}

#[test]
fn instructions_bound_the_prediction() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    for core in ["cortex-m0", "cortex-m4f", "rv32imc"] {
        let limit = "--instructions 6k --core";
        let found = folder.json(&format!("tune q.csv {SMALL} {limit} {core} --json"));
        for point in found["front"].as_array().unwrap() {
            let instructions = point["instructions"].as_u64().unwrap();
            assert!(instructions <= 6000, "{point}");
            let file = point["file"].as_str().unwrap();
            let inspected = folder.json(&format!("inspect {file} --json"));
            let told = &inspected["instructions"];
            let mut cores = told.as_object().unwrap().iter();
            // Of two of the cores it tells.
            if let Some((_, told)) = cores.find(|(name, _)| name.to_lowercase() == core) {
                assert_eq!(told, instructions, "{point}");
            }
        }
    }
}

#[test]
fn code_counts_where_it_is_to() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(60));
    let train = "train q.csv --family stump,fourier --loss squared --bits 4 --flash 3500 -o m.koan";
    for (option, code, told) in [
        ("=fast", "code_bytes", "bytes of code, "),
        ("=small", "code_bytes_small", "bytes of code in the small form, "),
    ] {
        folder.run(&format!("{train} --with-code{option}")).success().stdout(contains(told));
        let found = folder.json("inspect m.koan --json");
        let of = |what: &str| found[what].as_u64().unwrap();
        assert!(of("bytes") + of(code) <= 3500, "{found}");
    }
    // The form that counts is the one that is told, in the table, the object and the page.
    let tune = format!(
        "tune q.csv {} -o front --report r.html",
        SMALL.replace("330", "3k --with-code=small")
    );
    let told = folder.json(&format!("{tune} --json"));
    let printed = folder.output(&tune);
    let page = text(&folder.read("r.html"));
    assert!(
        printed
            .replace('\n', " ")
            .contains("code: about, in the small form in Rust on a Cortex-M0")
    );
    for point in told["front"].as_array().unwrap() {
        let inspected = folder.json(&format!("inspect {} --json", point["file"].as_str().unwrap()));
        assert_eq!(point["code_bytes"], inspected["code_bytes_small"]);
        assert_eq!(point["code_form"], "small");
        let of = |what: &str| point[what].as_u64().unwrap();
        assert!(of("bytes") + of("code_bytes") <= 3072, "{point}");
        folder.json(&format!("{} --json", without_koan(&point["command"])));
        let code = inspected["code_bytes_small"].to_string();
        let row = |line: &str| line.split_whitespace().nth(1) == Some(&code);
        assert!(printed.lines().any(row) && page.contains(&format!(">{code}<")), "{printed}");
    }
    let alone = folder.run("train q.csv --with-code -o n.koan").failure();
    alone.stderr(contains("--flash <BYTES>"));
    folder.fails("train q.csv --flash 1k --with-code -o n.koan", &["1024", "bytes with the code"]);
}

#[test]
fn a_search_for_people() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    folder
        .run(&format!("tune q.csv {SMALL} --metric macro-f1 -o found --report r.html"))
        .success()
        .stdout(
            contains("macro-f1 on training rows held out")
                .and(contains("Take found/"))
                .and(contains("koan train q.csv --family"))
                .and(contains("Searched: ")),
        );
    let page = String::from_utf8(folder.read("r.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("koan train q.csv --family"));
}

#[test]
fn train_chooses_family_features_and_bits() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(60));
    let chosen = folder.json("train q.csv -o m.koan --json");
    assert!(chosen["bytes"].as_u64().unwrap() <= 2048, "{chosen}");
    let small = "train q.csv -o s.koan --json --flash 200 --family stump,fourier --loss squared";
    let small = folder.json(small);
    assert!(small["bytes"].as_u64().unwrap() <= 200, "{small}");
    // What is given is kept.
    let given = folder
        .json("train q.csv -o g.koan --json --flash 300 --bits 3 --family sigmoid --loss squared");
    assert_eq!((&given["bits"], &given["family"]), (&3.into(), &"sigmoid".into()));
    folder.fails("train q.csv -o m.koan --flash 10", &["flash 10", "at least"]);
    for loss in ["squared", "logistic", "hinge"] {
        let given =
            format!("train q.csv -o l.koan --json --flash 300 --family linear --loss {loss}");
        assert_eq!(folder.json(&given)["loss"], *loss);
    }
    let given = folder
        .json("train q.csv -o l.koan --json --flash 300 --family sigmoid --linear --loss squared");
    assert!(given["family"].as_str().unwrap().contains("linear"), "{given}");
    folder.fails(
        "train q.csv -o m.koan --task regression --loss hinge --flash 1k",
        &["loss hinge", "for classes"],
    );
    // Families that do not go with the rows or the other options.
    for (options, parts) in [
        ("--family conv", ["conv", "--shape"]),
        ("--family stump,fern --projection hadamard", ["stump", "hadamard"]),
        ("--family fern --linear", ["ferns", "linear"]),
    ] {
        folder.fails(&format!("train q.csv -o m.koan --flash 1k {options}"), &parts);
    }
    // Options of the model, as before: nothing is searched.
    let usual = folder.json("train q.csv -o m.koan --json --features 16");
    assert_eq!((&usual["family"], &usual["features"]), (&"fourier".into(), &16.into()));
}

#[test]
fn names_that_are_left_out_are_told() {
    let folder = Folder::new();
    let names = "a".repeat(60);
    let rows = quadrants(100).replace("x,y,above", &format!("{names}_left,{names}_right,above"));
    folder.write("q.csv", rows);
    for (flash, told) in [(150, true), (4000, false)] {
        let line = format!("train q.csv -o m.koan --family linear --flash {flash}");
        let told_of = text(&folder.run(&line).success().get_output().stderr);
        assert_eq!(told_of.contains("names of the columns"), told, "{told_of}");
    }
}

/// Three in a hundred rows are of the class that counts.
#[test]
fn rare_classes_count_where_the_mean_over_the_classes_does() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let mut csv = "x,y,kind\n".to_owned();
    for row in 0..600 {
        let rare = row % 33 == 0;
        let x = random.number() + if rare { 1.2 } else { 0.0 };
        writeln!(csv, "{x},{},{}", random.number(), if rare { "stall" } else { "ok" }).unwrap();
    }
    folder.write("r.csv", csv);
    let tune = "tune r.csv -o f --flash 150 --family linear --metric balanced-error --minutes 0.05";
    let found = folder.json(&format!("{tune} --json"));
    let best = &found["front"][found["recommended"].as_u64().unwrap() as usize];
    assert!(best["held_out"].as_f64().unwrap() < 0.35, "{found}");
    assert!(best["command"].as_str().unwrap().contains("--class-weights balanced"), "{found}");
    // Of one model too, which is not compared with a constant by another measure.
    folder.write("one.csv", folder.read("r.csv"));
    let train = "train one.csv -o m.koan --flash 150 --family linear --class-weights balanced";
    let told = folder.run(train).success();
    let warnings = text(&told.get_output().stderr);
    assert!(!warnings.contains("no better than"), "{warnings}");
}

/// More time than was asked for is told, with what took it.
#[test]
fn minutes_that_do_not_do_are_told() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv -k 32").success();
    for (arguments, reason) in [
        ("tune q.csv -o front --minutes 0.0001 --flash 300 --family fourier", "the best model"),
        ("shrink m.koan q.csv --flash 200 --minutes 0.00001 -o s.koan", "the first candidates"),
    ] {
        let output = folder.run(arguments).success();
        let told = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        let line = told.lines().find(|line| line.contains(" s were asked for: ")).unwrap();
        assert!(line.starts_with("warning: it took ") && line.contains(reason), "{told}");
    }
    // Nobody asked for a time here.
    let shrink = "shrink m.koan q.csv --flash 200 --candidates 64 --loss squared -o s.koan";
    let quiet = folder.run(shrink).success();
    assert!(!String::from_utf8_lossy(&quiet.get_output().stderr).contains("asked for"));
    let plan = "tune q.csv -o front --minutes 0.0001 --no-clock --flash 300 --family fourier";
    let quiet = folder.run(plan).success();
    assert!(!String::from_utf8_lossy(&quiet.get_output().stderr).contains("asked for"));
}

/// The command that is printed for a model of series says what a row is, as the search was told.
#[test]
fn the_command_of_a_series_has_its_shape() {
    let folder = Folder::new();
    let mut random = Random::new(4);
    let mut csv = String::new();
    for _ in 0..200 {
        let (start, step) = (random.below(6), 1 + random.below(2));
        (0..8).for_each(|sample| write!(csv, "{},", (start + sample * step) % 6).unwrap());
        writeln!(csv, "{}", ["a", "b"][step as usize - 1]).unwrap();
    }
    folder.write("s.csv", csv);
    let found = folder.json(
        "tune s.csv -o f --shape 8x1 --family series --flash 300 --minutes 0.01 --no-clock --json",
    );
    let best = &found["front"][found["recommended"].as_u64().unwrap() as usize];
    let file = best["file"].as_str().unwrap();
    let searched = folder.read(file);
    let command = best["command"].as_str().unwrap();
    assert!(command.contains("--shape 8x1"), "{command}");
    folder.run(command.strip_prefix("koan ").unwrap()).success();
    assert!(folder.read(file) == searched);
}

/// A model that is worse than a constant is told to be, and what it is compared with.
#[test]
fn a_useless_model_is_not_recommended_without_a_word() {
    let folder = Folder::new();
    let mut random = Random::new(9);
    let mut csv = "x,y,state\n".to_owned();
    for _ in 0..200 {
        let state = if random.below(4) == 0 { "on" } else { "off" };
        writeln!(csv, "{},{},{state}", random.number(), random.number()).unwrap();
    }
    folder.write("noise.csv", csv);
    let tune = "tune noise.csv -o f --flash 300 --family stump --minutes 0.005 --no-clock";
    let output = folder.run(tune).success().get_output().clone();
    let (told, printed) = (text(&output.stderr), text(&output.stdout));
    assert!(told.contains("warning: the model is no better than"), "{told}");
    assert!(printed.contains("\nBaselines on the test rows: constant "), "{printed}");
    assert!(printed.contains("linear "), "{printed}");
    assert!(!printed.contains("earlier run"), "{printed}");
    // The same again writes the same files; others stay.
    folder.write("f/1-old.koan", "");
    assert!(folder.output(tune).contains("other .koan file there is of an earlier run"));
    folder.write("f/2-old.koan", "");
    assert!(folder.output(tune).contains("The 2 other .koan files there are of earlier runs"));
    assert_eq!(folder.json(&format!("{tune} --json"))["other_files"], 2);
    // By its own measure, or else by the error.
    let balanced = folder.output(&format!("{tune} --metric balanced-error"));
    assert!(
        balanced.contains("Baselines on the test rows, by their error: constant"),
        "{balanced}"
    );
    folder.write("w.csv", waves(100));
    let rmse = "tune w.csv -o g --flash 300 --family stump --minutes 0.01 --no-clock --metric rmse";
    assert!(folder.output(rmse).contains("Baselines on the test rows: constant 0."));
}
