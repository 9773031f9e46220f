//! Training block by block, killed and resumed.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, QUICK, QUICK_EMBEDDING, quadrants, text, waves};

/// Streams with a checkpoint after every block.
const STREAM: &str = "--stream yes --checkpoint-every 0 --sample-rows 2000 --features 24";

#[test]
fn streaming_learns_what_training_in_memory_does() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(12_000));
    folder.write("w.csv", waves(12_000));
    for (file, worst) in [("q.csv", 0.12), ("w.csv", 0.15)] {
        let streamed = folder.json(&format!("train {file} -o s.koan --json {QUICK} {STREAM}"));
        let whole = folder.json(&format!("train {file} -o m.koan --json {QUICK} --features 24"));
        let error = |report: &serde_json::Value| report["error"].as_f64().unwrap();
        assert!(error(&streamed) < worst, "{file}: {} {}", error(&streamed), error(&whole));
        let rows = |name: &str| streamed[name].as_u64().unwrap();
        assert_eq!(rows("rows") + rows("train_rows"), 12_000);
        assert!((2200..2600).contains(&rows("rows")), "{}", rows("rows"));
        folder.run("inspect s.koan").success();
        assert!(!folder.path("s.koan.checkpoint").exists(), "the checkpoint is left");
    }
}

/// Killed at many moments; every resumed run ends with the bytes of an unbroken
/// one.
#[test]
fn a_kill_at_any_moment_changes_nothing() {
    kills_change_nothing("--class-weights balanced");
}

/// The same inside the passes of the logistic loss.
#[test]
fn a_kill_in_any_pass_changes_nothing() {
    kills_change_nothing("--loss logistic");
}

fn kills_change_nothing(more: &str) {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(60_000));
    let arguments = format!("train q.csv {QUICK} {STREAM} {more}");
    folder.run(&format!("{arguments} -o whole.koan")).success();
    let whole = folder.read("whole.koan");
    let program = folder.command("").get_program().to_owned();
    let mut resumed = 0;
    // The time is only where to aim: whatever it hits, the bytes must agree.
    for attempt in 0..8u32 {
        let _ = std::fs::remove_file(folder.path("k.koan"));
        let begun = Instant::now();
        let mut child = Command::new(&program)
            .current_dir(folder.path("."))
            .args(format!("{arguments} -o k.koan").split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let checkpoint = folder.path("k.koan.checkpoint");
        // The first kills before there is a checkpoint, the others after it.
        while attempt > 0 && !checkpoint.exists() && begun.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(5 * u64::from(attempt * attempt)));
        child.kill().unwrap();
        child.wait().unwrap();
        resumed += u32::from(checkpoint.exists());
        folder.run(&format!("{arguments} -o k.koan")).success();
        assert_eq!(folder.read("k.koan"), whole, "attempt {attempt}");
        assert!(!checkpoint.exists());
    }
    assert!(resumed > 0, "no run was resumed from a checkpoint");
}

#[test]
fn checkpoints_of_something_else_are_refused() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(30_000));
    let train = |more: &str| format!("train q.csv -o m.koan {QUICK} {STREAM} {more}");
    // Killed: the checkpoint stays.
    let program = folder.command("").get_program().to_owned();
    let checkpoint = loop {
        let mut child = Command::new(&program)
            .current_dir(folder.path("."))
            .args(train("").split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() && !folder.path("m.koan.checkpoint").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Unless it was done before it was killed.
        if let Ok(bytes) = std::fs::read(folder.path("m.koan.checkpoint")) {
            break bytes;
        }
    };
    for (more, part) in [
        ("--seed 2", "`seed` of training was 1, now 2; delete it"),
        ("--bits 3", "`bits` of training was not given, now 3; delete it"),
        ("--shape 2x1", "`conv.shape` of training was not given, now"),
        ("--drop 1", "`drop` of reading was not given, now [\"1\"]; delete it"),
        ("--seed 2 --bits 3", "`bits` of training was not given, now 3, `seed` of training was"),
        ("--test-fraction 0.3", "the part for the test"),
        ("--test q.csv", "the test files"),
    ] {
        folder.fails(&train(more), &["m.koan.checkpoint", "of another training", part]);
    }
    for damage in [0, 8, 20, checkpoint.len() / 2, checkpoint.len() - 1] {
        let mut bytes = checkpoint.clone();
        bytes[damage] ^= 1;
        folder.write("m.koan.checkpoint", bytes);
        folder.fails(&train(""), &["m.koan.checkpoint", "delete it"]);
    }
    folder.write("m.koan.checkpoint", &checkpoint[..checkpoint.len() / 2]);
    folder.fails(&train(""), &["m.koan.checkpoint", "damaged"]);
    folder.write("m.koan.checkpoint", "");
    folder.fails(&train(""), &["m.koan.checkpoint", "not a checkpoint"]);
    // The whole one goes on.
    folder.write("m.koan.checkpoint", &checkpoint);
    let run = folder.run(&train("")).success();
    let message = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    assert!(message.contains("resuming from m.koan.checkpoint: "), "{message}");
    // Another file under the same name is noticed.
    folder.write("m.koan.checkpoint", &checkpoint);
    folder.write("q.csv", quadrants(30_001));
    folder.fails(&train(""), &["of another training: q.csv was"]);
}

#[test]
fn bad_rows_are_named() {
    let folder = Folder::new();
    folder.write("q.csv", format!("{}0.5,oops,1\n", quadrants(20_000)));
    let train = format!("train q.csv -o m.koan {QUICK} {STREAM}");
    folder.fails(&train, &["q.csv:20002: column 2 (`y`)", "\"oops\" is not a number"]);
    folder.write("q.csv", format!("{}0.5,1\n", quadrants(20_000)));
    folder.fails(&train, &["q.csv:20002", "2 fields"]);
    folder.write("q.csv", quadrants(100));
    folder.fails(&format!("{train} --train-rows 50"), &["--train-rows", "in memory"]);
    folder.fails(&format!("{train} --folds 3"), &["--folds", "in memory"]);
}

/// What sums over the rows are not enough for is refused before a row is read.
#[test]
fn heads_that_need_the_rows_are_refused() {
    let folder = Folder::new();
    folder.write("q.csv", "x,y,above\n0.5,oops,1\n");
    for option in ["--loss hinge", "--box 30", "--task embedding", "--task anomaly"] {
        let train = format!("train q.csv -o m.koan {QUICK_EMBEDDING} {STREAM} {option}");
        let named = option.trim_end_matches(" 30");
        folder.fails(&train, &[named, "needs the rows in memory", "`--stream no`"]);
        assert!(!folder.path("m.koan.checkpoint").exists());
    }
}

/// The library refuses them too.
#[test]
fn options_that_are_refused_leave_no_checkpoint() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(60));
    folder.run("train q.csv --stream yes --family fern -o m.koan").failure();
    assert!(!folder.path("m.koan.checkpoint").exists());
    for (options, told) in [
        ("-k 60000", "too many"),
        ("--test-fraction 0", "a part of the rows must be for the test (--test-fraction"),
        ("--test-fraction 1e-9", "no rows are left for the test"),
        ("--shape 8x8x1", "a shape of 8x8x1 has 64 inputs, the data have 2"),
        ("--map per-channel", "a map for each channel is for rows that have channels"),
    ] {
        folder.fails(&format!("train q.csv --stream yes -o m.koan {options}"), &[told]);
        assert!(!folder.path("m.koan.checkpoint").exists(), "{options}");
    }
    folder.run("train q.csv --stream yes -k 8 -o m.koan").success();
    let row =
        |i: u32| format!("{},{},{},{},{}\n", i % 7, 1000 * (i % 11), i % 5, 1000 * (i % 13), i % 2);
    folder.write("c.csv", format!("a,b,c,d,y\n{}", (0..120).map(row).collect::<String>()));
    let channels = "train c.csv --stream yes -k 8 -o c.koan --shape 2x2 --map per-channel";
    folder.run(channels).success();
    assert!(folder.output("inspect c.koan").contains("input maps of 2 channels"));
}

#[test]
fn the_library_refuses_heads_that_need_the_rows() {
    use koan_data::ReadOptions;
    use koan_trainer::{Goal, Loss, Progress, StreamOptions, TrainOptions, train_stream};

    let stream = StreamOptions {
        files: vec!["no such file".into()],
        read: ReadOptions::default(),
        test: Vec::new(),
        read_test: ReadOptions::default(),
        test_fraction: 0.2,
        sample_rows: 100,
        checkpoint: "no such checkpoint".into(),
        interval: Duration::from_secs(30),
    };
    let usual = TrainOptions::default;
    for (options, named) in [
        (TrainOptions { loss: Some(Loss::Hinge), ..usual() }, "the loss hinge"),
        (TrainOptions { box_c: Some(3.0), ..usual() }, "a box"),
        (TrainOptions { goal: Goal::Embed { outputs: 2 }, ..usual() }, "an embedding"),
        (
            TrainOptions { goal: Goal::Detect { normal: None, false_alarm: 0.1 }, ..usual() },
            "anomaly detection",
        ),
        (TrainOptions { candidates: Some(9), ..usual() }, "choosing the best of more features"),
    ] {
        let error = train_stream(&stream, &options, None, &Progress::none()).unwrap_err();
        let expected = format!("{named} needs the rows in memory: streaming cannot fit it");
        assert_eq!(error.to_string(), expected);
    }
    let options = TrainOptions { categories: vec![0], ..usual() };
    let error = train_stream(&stream, &options, None, &Progress::none()).unwrap_err();
    assert!(error.to_string().contains("make the columns of categories text"), "{error}");
}

/// Neither the order of the rows nor how they are divided into files changes a byte; with
/// classes, numbers, weights, and rows that occur more than once.
#[test]
fn rows_in_any_order_and_any_files_give_the_same_bytes() {
    let folder = Folder::new();
    for (data, more) in [
        (quadrants(3000), ""),
        (quadrants(3000), "--class-weights balanced"),
        (quadrants(3000), "--loss logistic"),
        (quadrants(3000), "--loss logistic --weights count"),
        (waves(3000), ""),
        (waves(3000), "--weights count"),
    ] {
        let mut lines = data.lines();
        let header = format!("count,{}", lines.next().unwrap());
        let weighted = |(row, line): (usize, &str)| format!("{},{line}", 0.3 * (row % 5) as f64);
        let mut rows: Vec<String> = lines.enumerate().map(weighted).collect();
        rows.extend_from_within(..50);
        let file = |rows: &[String]| format!("{header}\n{}\n", rows.join("\n"));
        folder.write("a.csv", file(&rows));
        rows.rotate_left(700);
        rows.reverse();
        folder.write("b1.csv", file(&rows[..900]));
        folder.write("b2.csv", file(&rows[900..]));
        let drop = if more.contains("count") { "" } else { "--drop count" };
        let options = format!("{QUICK} {STREAM} {more} {drop} --json");
        let one = folder.json(&format!("train a.csv -o a.koan {options}"));
        let two = folder.json(&format!("train b1.csv b2.csv -o b.koan {options} --threads 1"));
        assert!(folder.read("a.koan") == folder.read("b.koan"), "{options}");
        assert_eq!(one["rows"], two["rows"]);
        assert_eq!(one["train_rows"], two["train_rows"]);
        if more.contains("count") {
            assert!(one["weighted_error"].as_f64().is_some(), "{one}");
        }
    }
}

/// Baselines, fitted to the sample, are judged on the same test rows as the model.
#[test]
fn baselines_stand_beside_the_error() {
    let folder = Folder::new();
    for (file, data) in [("q.csv", quadrants(1500)), ("w.csv", waves(1500))] {
        folder.write(file, data);
        let report = folder.json(&format!("train {file} -o s.koan --json {QUICK} {STREAM}"));
        let error = |value: &serde_json::Value| value.as_f64().unwrap();
        let baselines = &report["baselines"];
        assert!(error(&report["error"]) < error(&baselines["linear"]), "{report}");
        assert!(error(&baselines["linear"]) < error(&baselines["constant"]), "{report}");
        assert_eq!(report["loss"], "squared");
        assert_eq!(report["error_compensated"], report["error"]);
    }
}

#[test]
fn numbers_taken_for_classes_are_told() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(1500));
    let told = |task: &str| {
        let run = folder.run(&format!("train q.csv -o s.koan {QUICK} {STREAM}{task}")).success();
        text(&run.get_output().stdout).contains("since the target has few different whole numbers")
    };
    assert!(told("") && !told(" --task classification"));
}

/// Recordings are on one side each, also in streaming.
#[test]
fn groups_and_windows_stream_too() {
    let folder = Folder::new();
    let mut csv = "who,x,y,above\n".to_owned();
    for (row, line) in quadrants(9000).lines().skip(1).enumerate() {
        csv.push_str(&format!("p{},{line}\n", row / 30));
    }
    folder.write("g.csv", csv);
    let windows = "--group who --window 4 --stride 2";
    let train = format!("train g.csv -o m.koan --json {QUICK} {STREAM} {windows}");
    let report = folder.json(&train);
    // 300 recordings of 30 samples have 14 windows each.
    let rows = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(rows("rows") + rows("train_rows"), 300 * 14);
    assert_eq!(rows("rows") % 14, 0);
    assert_eq!(rows("inputs"), 8);
    // What is in no window is told as of rows in memory, once.
    let cut = train.replace("--window 4", "--window 5");
    let [streamed, whole] = [cut.clone(), cut.replace(STREAM, "--stream no")].map(|train| {
        let mut warnings = folder.json(&train)["warnings"].clone();
        let all = warnings.as_array_mut().unwrap();
        all.retain(|warning| warning.as_str().unwrap().contains("samples"));
        warnings
    });
    assert_eq!(streamed.as_array().unwrap().len(), 1, "{streamed}");
    assert_eq!(streamed, whole);
    let far = train.replace("--window 4", "--window 99").replace(" -o m.koan --json", " -o n.koan");
    let [streamed, whole] = [far.clone(), far.replace(STREAM, "--stream no")]
        .map(|train| text(&folder.run(&train).code(1).get_output().stderr));
    assert!(streamed.contains("window") && streamed == whole, "{streamed}");
}
