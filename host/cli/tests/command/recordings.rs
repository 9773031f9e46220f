//! Folders, recordings, windows and cross-validation from the outside.

use std::fmt::Write as _;

use crate::common::{Folder, QUICK, QUICK_EMBEDDING, Random, quadrants, text};

/// Waves of two frequencies, one recording in each file, a folder for each.
fn waves() -> Folder {
    let folder = Folder::new();
    let mut random = Random::new(9);
    for (label, speed) in [("slow", 0.2), ("fast", 0.7)] {
        std::fs::create_dir_all(folder.path(&format!("data/{label}"))).unwrap();
        for recording in 0..10 {
            let mut csv = "time,a,b\n".to_owned();
            for sample in 0..80 {
                let phase = f64::from(sample) * speed + f64::from(recording);
                let noise = random.number() / 10.0;
                writeln!(csv, "{sample},{:.3},{:.3}", phase.sin() + noise, phase.cos()).unwrap();
            }
            folder.write(&format!("data/{label}/r{recording}.csv"), csv);
        }
    }
    folder
}

const WINDOWS: &str = "--label-from folder --group file --drop time --window 16 --stride 8";

#[test]
fn a_folder_of_recordings() {
    let folder = waves();
    let report =
        folder.json(&format!("train data -o m.koan --json {QUICK} {WINDOWS} --report r.html"));
    assert!(text(&folder.read("r.html")).contains("What the inputs are worth"));
    assert_eq!(report["inputs"], 32);
    // 9 windows of each of the 20 recordings, whole recordings in the test.
    assert_eq!(report["rows"].as_u64().unwrap() % 9, 0);
    assert_eq!(report["rows"].as_u64().unwrap() + report["train_rows"].as_u64().unwrap(), 180);
    assert!(report["error"].as_f64().unwrap() < 0.05, "{}", report["error"]);
    let eval = folder.json("eval m.koan data/slow --json");
    assert_eq!(eval["rows"], 90);
    assert!(eval["error"].as_f64().unwrap() < 0.05);
    // No other recording is there to fit simpler models to.
    folder.run("eval m.koan data/slow/r3.csv --report e.html").success();
    let page = text(&folder.read("e.html"));
    assert!(page.contains("All rows are of one recording") && !page.contains("baselines"));
    let lines = folder.output("predict m.koan data/fast/r3.csv");
    assert_eq!(lines.lines().filter(|line| line.ends_with(",fast")).count(), 9);
    // Samples that come through a pipe, without the time.
    let samples: String = text(&folder.read("data/slow/r0.csv"))
        .lines()
        .take(25)
        .map(|line| line.split_once(',').map_or(String::new(), |(_, rest)| format!("{rest}\n")))
        .collect();
    let run = folder.command("predict m.koan").write_stdin(samples).assert().success();
    assert_eq!(text(&run.get_output().stdout), "row,class\n1,slow\n9,slow\n");
}

/// A device maps each sample of a stream as it comes, wherever it will be in a window.
#[test]
fn no_sample_of_a_window_has_a_map_of_its_own() {
    let folder = Folder::new();
    let mut random = Random::new(4);
    let mut csv = "x,recording,kind\n".to_owned();
    for recording in 0..600 {
        for level in [5.0, -900.0, 40.0, 3.0, 700.0, -20.0, 0.0, 60.0] {
            let kind = recording % 2;
            let x = level + random.number() + f64::from(kind);
            writeln!(csv, "{x:.3},{recording},{}", ["odd", "even"][kind as usize]).unwrap();
        }
    }
    folder.write("levels.csv", csv);
    let windows = "--target kind --window 8 --stride 8 --group recording --json -o m.koan";
    for how in ["--family fourier -k 64", "--task anomaly --normal odd -k 64 --false-alarm 0.05"] {
        let report = folder.json(&format!("train levels.csv {windows} {how}"));
        assert_eq!(report["map"], "shared", "{how}");
    }
    let given = folder.json(&format!("train levels.csv {windows} -k 64 --map per-input"));
    assert_eq!(given["map"], "per-input");
}

#[test]
fn what_few_or_short_recordings_mean_is_told() {
    let folder = waves();
    let train = format!("train data -o m.koan {QUICK} {WINDOWS}");
    let told = folder.output(&train);
    assert!(told.contains("on 36 test rows of 4 recordings, in"), "{told}");
    assert!(told.contains("4 recordings say little"), "{told}");
    assert!(!folder.output(&format!("{train} --folds 4")).contains("say little"));
    let two = format!("train data/slow/r0.csv data/fast/r0.csv -o m.koan {QUICK} {WINDOWS}");
    let told = folder.output(&two);
    assert!(told.contains("on 9 test rows of 1 recording, in"), "{told}");
    assert!(told.contains("1 recording says little"), "{told}");

    std::fs::create_dir_all(folder.path("data/short")).unwrap();
    let samples: String = (0..10).map(|i| format!("{i},{},0.5\n", i % 3)).collect();
    folder.write("data/short/r0.csv", format!("time,a,b\n{samples}"));
    let run = folder.command(&train).assert().success();
    let told = text(&run.get_output().stderr);
    let short = "1 of 21 recordings are shorter than a window of 16 samples and give no row:";
    assert!(told.contains(short) && told.contains("data/short/r0.csv"), "{told}");
    assert!(told.contains("no training row is of the class short: it is never predicted; recordings that are shorter"), "{told}");
}

/// What `koan train` refuses, or warns of, `koan predict` does too.
#[test]
fn predicting_tells_of_samples_in_no_window() {
    let folder = Folder::new();
    let mut csv = "who,a,state\n".to_owned();
    let sample = |who: usize, at: usize, csv: &mut String| {
        let state = ["on", "off"][who % 2];
        writeln!(csv, "r{who},{},{state}", (at * at + 3 * who) % 7).unwrap();
    };
    (0..6).for_each(|who| (0..10).for_each(|at| sample(who, at, &mut csv)));
    folder.write("d.csv", &csv);
    folder.train("d.csv --group who --window 4").success();
    let unused = "warning: d.csv: 12 of 60 samples are in no window, at the ends of recordings or between windows";
    for command in ["predict m.koan", "eval m.koan"] {
        let run = folder.run(&format!("{command} d.csv")).success();
        assert!(text(&run.get_output().stderr).contains(unused));
    }
    // The samples of recordings in turn, and too few of them.
    csv.truncate(csv.find('\n').unwrap() + 1);
    (0..10).for_each(|at| (0..6).for_each(|who| sample(who, at, &mut csv)));
    folder.write("turns.csv", &csv);
    folder.write("few.csv", "who,a\nr0,1\nr0,2\nr0,3\n");
    let none = |data: &str, longest: &str| {
        let run = folder.run(&format!("predict m.koan {data}")).code(1);
        let told = text(&run.get_output().stderr);
        assert!(told.contains("no recording has the 4 samples of a window"), "{told}");
        assert!(told.contains(longest), "{told}");
    };
    none("turns.csv", "the longest of 60 has 1; the rows of a recording must stand one after");
    none("few.csv", "the longest of 1 has 3");
    none("few.csv turns.csv", "few.csv and 1 more: no recording");
}

/// Answers can be joined with the data: by file and row, and by columns that are kept.
#[test]
fn windows_say_where_they_begin() {
    let folder = waves();
    folder.train(&format!("data {WINDOWS} -k 40")).success();
    let files = "data/slow/r0.csv data/fast/r1.csv";
    let lines = folder.output(&format!("predict m.koan {files} --keep time,1"));
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[0], "file,row,time,data time,class");
    let place = |file: &str, window: usize| {
        let start = 8 * window;
        format!("data/{file}.csv,{},{start},{start},", start + 1)
    };
    let of = |file: &'static str| (0..9).map(move |window| place(file, window));
    let expected: Vec<String> = of("slow/r0").chain(of("fast/r1")).collect();
    assert_eq!(lines.len(), 1 + expected.len());
    for (line, expected) in lines[1..].iter().zip(&expected) {
        assert!(line.starts_with(expected), "{line} {expected}");
    }
    let line = folder.output("predict m.koan data/slow/r0.csv --format json --keep b");
    let first: serde_json::Value = serde_json::from_str(line.lines().nth(1).unwrap()).unwrap();
    let ninth = text(&folder.read("data/slow/r0.csv")).lines().nth(9).unwrap().to_owned();
    assert_eq!(first["b"], ninth.rsplit(',').next().unwrap());
    assert_eq!((&first["row"], first.as_object().unwrap().len()), (&9.into(), 3));
}

#[test]
fn cross_validation_keeps_recordings_whole() {
    let folder = waves();
    let train = format!("train data -o m.koan {QUICK} {WINDOWS}");
    let report = folder.json(&format!("{train} --json --folds 5"));
    let errors = report["fold_errors"].as_array().unwrap();
    assert_eq!(errors.len(), 5);
    let mean = errors.iter().map(|e| e.as_f64().unwrap()).sum::<f64>() / 5.0;
    assert!((mean - report["error"].as_f64().unwrap()).abs() < 1e-12);
    // The model is of all rows.
    assert_eq!(report["train_rows"], 180);
    folder.fails(&format!("{train} --folds 21"), &["20 groups for 21 parts"]);
}

/// Methods without a target, and other losses, on recordings.
#[test]
fn every_method_keeps_recordings_whole() {
    let folder = waves();
    let train = format!("train data -o m.koan {QUICK} {WINDOWS} --features 48 --json --folds 4");
    for option in ["--loss logistic", "--loss hinge", "--box 30"] {
        let report = folder.json(&format!("{train} {option}"));
        assert_eq!(report["fold_errors"].as_array().unwrap().len(), 4);
        assert!(report["error"].as_f64().unwrap() < 0.1, "{option}: {report}");
        assert!(report["baselines"]["constant"].as_f64().unwrap() > 0.4, "{option}: {report}");
    }
    let embedding = train.replace(QUICK, QUICK_EMBEDDING);
    let report = folder.json(&format!("{embedding} --task embedding"));
    assert_eq!(report["fold_errors"].as_array().unwrap().len(), 4);
    assert!(report["error"].as_f64().unwrap() < 1.0, "{report}");
    assert!(report.get("error_float").is_none() && report.get("baselines").is_none(), "{report}");
    let lines = folder.output("predict m.koan data/fast/r3.csv");
    assert_eq!(lines.lines().next(), Some("row,value 0,value 1"));
    assert_eq!(lines.lines().count(), 1 + 9);

    let detect = "--features 400 --task anomaly --normal slow --false-alarm 0.1";
    let detect = format!("train data -o m.koan {QUICK} {WINDOWS} {detect}");
    let report = folder.json(&format!("{detect} --json --folds 4"));
    let errors = report["fold_errors"].as_array().unwrap();
    let mean = errors.iter().map(|e| e.as_f64().unwrap()).sum::<f64>() / 4.0;
    assert!((mean - report["detection"]["error"].as_f64().unwrap()).abs() < 1e-12, "{report}");
    assert!(report["detection"]["auc"].as_f64().unwrap() > 0.9, "{report}");
    let eval = folder.json("eval m.koan data/slow data/fast --json");
    assert!(eval["auc"].as_f64().unwrap() > 0.9, "{eval}");
}

/// Baselines must not see other windows of the recordings they are judged on:
/// where each has a place of its own, a linear function of the place knows all
/// about recordings it has seen and nothing about others.
#[test]
fn baselines_keep_recordings_whole() {
    let folder = Folder::new();
    let mut random = Random::new(7);
    let mut csv = "who,place,x,level\n".to_owned();
    for person in 0..12 {
        for _ in 0..30 {
            let (x, level) = (random.number(), [1, -2, 3, -1][person % 4]);
            writeln!(csv, "p{person},at{person},{x:.3},{level}").unwrap();
        }
    }
    folder.write("g.csv", &csv);
    let settings = format!("--group who --task regression {QUICK}");
    folder.json(&format!("train g.csv -o m.koan --json {settings}"));
    let eval = folder.json("eval m.koan g.csv --json");
    assert!(eval["baselines"]["linear"].as_f64().unwrap() > 0.8, "{eval}");
    // A single recording cannot be divided.
    let one: String = csv.lines().take(31).map(|line| format!("{line}\n")).collect();
    folder.write("one.csv", one);
    let eval = folder.json("eval m.koan one.csv --json");
    assert!(eval.get("baselines").is_none(), "{eval}");
}

/// Windows of a file are alike: what tells files apart tells nothing of others.
#[test]
fn files_of_windows_are_recordings_if_nothing_is_said() {
    let folder = Folder::new();
    let mut random = Random::new(11);
    for file in 0..8 {
        // Its offset is all that a file has, and says nothing of its label.
        let (offset, label) = (20 * file, ["on", "off"][(file + file / 2) % 2]);
        let rows: String = (0..80)
            .map(|_| format!("{:.3},{label}\n", f64::from(offset as u32) + random.number()))
            .collect();
        folder.write(&format!("r{file}.csv"), format!("a,label\n{rows}"));
    }
    let all = "r0.csv r1.csv r2.csv r3.csv r4.csv r5.csv r6.csv r7.csv";
    let train = |data: &str| format!("train {data} -o m.koan -k 40 {QUICK} --window 4");
    let told = folder.output(&train(all));
    assert!(told.contains("Each file is a recording, as with `--group file`"), "{told}");
    let report = folder.json(&format!("{} --json", train(all)));
    assert!(report["error"].as_f64().unwrap() > 0.3, "{report}");
    let stated = folder.json(&format!("{} --group file --json", train(all)));
    assert_eq!(stated["error"], report["error"]);
    assert!(!folder.output(&format!("{} --group file", train(all))).contains("Each file is"));
    assert!(folder.output(&format!("{} --stride 2", train(all))).contains("Each file is"));
    // A class that is in too few files would not be in all parts.
    let few = "r0.csv r1.csv r3.csv";
    let report = folder.json(&format!("{} --json", train(few)));
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("r0.csv and 2 more: windows of one file are on both"), "{report}");
    assert!(warnings.contains("`--group file`, or `--group COLUMN`"), "{report}");
    folder.train_fails(&format!("{few} --window 4 --stride 2"), &["overlap", "--group COLUMN"]);
    let shrunk =
        folder.run(&format!("shrink m.koan {few} --flash 300 --candidates 50 -o s.koan")).success();
    assert!(text(&shrunk.get_output().stderr).contains("on both sides of splits"));
    let report = folder.json(&format!("{} --json --test r2.csv r6.csv", train(few)));
    assert!(!report.to_string().contains("both sides"), "{report}");
    // So are those of a single file.
    let one: String = (0..8)
        .map(|file| text(&folder.read(&format!("r{file}.csv"))).replace("a,label\n", ""))
        .collect();
    folder.write("one.csv", format!("a,label\n{one}"));
    for (how, told) in [
        ("", true),
        ("--folds 3", true),
        ("--stream yes", true),
        ("--test r2.csv r6.csv", false),
        ("--group file --test r2.csv r6.csv", false),
    ] {
        let report = folder.json(&format!("{} --json {how}", train("one.csv")));
        let warnings = report["warnings"].to_string();
        assert_eq!(warnings.contains("one.csv: windows of one file are on both"), told, "{report}");
    }
    let streamed = folder.json(&format!("{} --json --stream yes", train(all)));
    assert!(streamed["warnings"].to_string().contains("both sides"), "{streamed}");
}

#[test]
fn codes_of_several_recordings() {
    let folder = waves();
    let train = format!("train data -o m.koan {QUICK} {WINDOWS} --family maxout -k 20");
    folder.run(&train).success();
    let of = |data: &str| folder.output(&format!("codes m.koan {data}")).lines().count() - 1;
    assert_eq!(of("data/slow/r0.csv"), 9);
    assert_eq!(of("data/slow data/fast/r1.csv"), 99);
    let among = "codes m.koan data/slow --nearest 1 --among data/fast data/slow/r0.csv";
    assert_eq!(folder.output(among).lines().count() - 1, 90);
}

#[test]
fn options_that_do_not_go_together() {
    let folder = waves();
    folder.write("q.csv", quadrants(50));
    folder.train_fails("q.csv --window 4 --stride 2", &["overlap", "group"]);
    folder.train_fails("q.csv --window 0", &["at least one sample"]);
    folder.train_fails("q.csv --group file", &["of one group", "at least two are needed"]);
    folder.train_fails("q.csv --group z", &["no column `z`"]);
    for how in ["--group above", "--group x --target x"] {
        let told = ["the target cannot be what tells recordings apart", "--target, --group"];
        folder.train_fails(&format!("q.csv {how}"), &told);
        folder.train_fails(&format!("q.csv {how} --stream yes"), &told);
    }
}

/// Files with the division that PROBEN1's rules demand.
#[test]
fn proben1_splits_are_its_own() {
    let folder = Folder::new();
    let mut random = Random::new(4);
    let mut file = "bool_in=0\nreal_in=2\nbool_out=2\nreal_out=0\ntraining_examples=60\n\
                    validation_examples=30\ntest_examples=17\n"
        .to_owned();
    for _ in 0..107 {
        let (x, y) = (random.number(), random.number());
        let on = u8::from(x + y > 0.0);
        writeln!(file, "{x} {y} {on} {}", 1 - on).unwrap();
    }
    folder.write("p.dt", file);
    let report = folder.json(&format!("train p.dt -o m.koan --json {QUICK}"));
    assert_eq!((&report["rows"], &report["train_rows"]), (&17.into(), &90.into()));
    let shrink = "shrink m.koan p.dt --flash 200 --candidates 60 -o s.koan";
    let shrunk = folder.json(&format!("{shrink} --json"));
    assert_eq!((&shrunk["rows"], &shrunk["before"]["error"]), (&17.into(), &report["error"]));
    assert!(folder.output(shrink).contains("those that the file has for it"));
    let report = folder.json(&format!("train p.dt -o m.koan --json --train-rows 50 {QUICK}"));
    assert_eq!((&report["rows"], &report["train_rows"]), (&57.into(), &50.into()));
    let shrunk = folder.json(&format!("{shrink} --json --train-rows 50"));
    assert_eq!((&shrunk["rows"], &shrunk["before"]["error"]), (&57.into(), &report["error"]));
}
