//! Losses, the box, coordinates, anomalies and codes.

use std::fmt::Write as _;

use crate::common::{Folder, QUICK_EMBEDDING, Random, quadrants, text, waves};

/// The report of a quick training.
fn trained(folder: &Folder, arguments: &str) -> serde_json::Value {
    let output = folder.train(&format!("{arguments} --json")).success();
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}

#[test]
fn every_loss_and_box() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    for arguments in [
        "--loss squared",
        "--loss logistic",
        "--loss hinge",
        "--box 30",
        "--loss hinge --box 30",
        "--loss logistic --class-weights balanced",
        "--loss hinge --class-weights balanced --positive 1",
        "--loss logistic --family stump,bin -k 20,4 --slot-bits 3",
        "--loss hinge --family bin -k 24 --slot-bits 4",
    ] {
        let features = if arguments.contains("-k ") { "" } else { "--features 48" };
        let report = trained(&folder, &format!("q.csv {features} {arguments}"));
        assert!(report["error"].as_f64().unwrap() < 0.2, "{arguments}: {report}");
        assert_eq!(report["warnings"], serde_json::json!([]), "{arguments}: {report}");
        let loss = arguments
            .split("--loss ")
            .nth(1)
            .map_or("squared", |rest| rest.split_whitespace().next().unwrap());
        assert_eq!(report["loss"], loss);
        assert_eq!(report["box"].is_null(), !arguments.contains("--box"));
    }
    folder.write("w.csv", waves(200));
    let report = trained(&folder, "w.csv --features 48 --box 100");
    assert!(report["error"].as_f64().unwrap() < 0.2, "{report}");
    let tight = trained(&folder, "w.csv --features 48 --box 0.5");
    assert!(tight["error"].as_f64().unwrap() > report["error"].as_f64().unwrap());
}

/// No weight of the model itself is beyond C/K.
#[test]
fn the_box_holds_in_the_blob() {
    let folder = Folder::new();
    folder.write("w.csv", waves(200));
    for bits in [2, 4, 8] {
        for c in [0.5, 4.0] {
            trained(&folder, &format!("w.csv --features 40 --box {c} --bits {bits}"));
            let blob = folder.read("m.koan");
            let model = koan::Model::parse(&blob).unwrap();
            let parts = koan_trainer::internal::listing::parts(&model);
            let head = parts.iter().find(|part| part.name == "score scale and shift").unwrap();
            let shift = i32::from(blob[head.offset + 4]);
            let step =
                f64::from(model.score_scale()) * f64::from(koan::FEATURE_ONE) / 2f64.powi(shift);
            let width = model.banks().next().unwrap().width();
            let mut largest = 0;
            for k in 0..40 {
                let bit = k * usize::from(width.bits());
                let bytes = &model.weight_bytes()[bit / 8..];
                let code = u32::from(bytes[0]) >> (bit % 8);
                let code = code & ((1 << width.bits()) - 1);
                largest = largest.max(width.value(code).unsigned_abs());
            }
            let weight = f64::from(largest) * step;
            assert!(weight <= c / 40.0 * 1.001, "{bits} bits, {c}: {weight}");
            assert!(weight > 0.1 * c / 40.0);
        }
    }
}

#[test]
fn losses_that_make_no_sense() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.write("w.csv", waves(100));
    let logistic = "the loss logistic is for classes";
    folder.train_fails("w.csv --loss logistic", &["w.csv", logistic]);
    folder.train_fails("w.csv --loss hinge --box 1", &["the loss hinge is for classes"]);
    folder.train_fails("q.csv --loss logistic --box 1", &["not with logistic"]);
    folder.train_fails("q.csv --box 0", &["a box of 0 is not in"]);
    folder.train_fails("q.csv --task embedding --loss hinge", &["--loss and --box"]);
    folder.train_fails("q.csv --normal 1", &["--normal goes with --task anomaly"]);
    let many = "q.csv --loss hinge --family bin -k 40 --slot-bits 8";
    folder.train_fails(many, &["10240 features for this loss are too many: at most 8192"]);
}

#[test]
fn threads_do_not_change_other_losses() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(700));
    // λ is searched with weights of classes; more searches would say no more.
    for train in [
        "--loss logistic --lambda 0.001",
        "--loss logistic --class-weights balanced --positive 0",
        "--loss hinge --lambda 0.01",
        "--loss hinge --box 20 --lambda 0.1",
        "--box 20",
        "--task embedding --family maxout",
        "--task anomaly --normal 1 --false-alarm 0.1",
    ] {
        let blobs = ["1", "3"].map(|threads| {
            let options = "--features 140 --frequency 1 --map per-input --relevance no";
            let command = format!("train q.csv -o m.koan {options} {train}");
            let mut command = folder.command(&command);
            command.env("RAYON_NUM_THREADS", threads).assert().success();
            folder.read("m.koan")
        });
        assert!(blobs[0] == blobs[1], "{train}");
    }
}

#[test]
fn baselines_stand_beside_the_error() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    folder.write("w.csv", waves(200));
    for data in ["q.csv", "w.csv"] {
        let report = trained(&folder, &format!("{data} --features 48"));
        let error = |value: &serde_json::Value| value.as_f64().unwrap();
        let baselines = &report["baselines"];
        assert!(error(&report["error"]) < error(&baselines["linear"]), "{report}");
        assert!(error(&baselines["linear"]) < error(&baselines["constant"]), "{report}");
        let judged = folder.json(&format!("eval m.koan {data} --json"));
        let baselines = &judged["baselines"];
        assert!(error(&baselines["linear"]) < error(&baselines["constant"]), "{judged}");
        let text = folder.output(&format!("eval m.koan {data}"));
        assert!(text.contains("baselines, cross-validated on these rows: constant "), "{text}");
    }
    // The most frequent class is wrong for all others.
    let csv = "x,y\n".to_owned() + &"1,a\n2,b\n3,a\n4,a\n".repeat(20);
    folder.write("s.csv", csv);
    let report = trained(&folder, "s.csv --features 4");
    assert_eq!(report["baselines"]["constant"], 0.25);
    let judged = folder.json("eval m.koan s.csv --json");
    assert_eq!(judged["baselines"]["constant"], 0.25);
    assert!(judged["auc"].as_f64().unwrap() >= 0.5);
}

/// Rows on a line in eight dimensions: one coordinate says where.
#[test]
fn coordinates() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let mut csv = "a,b,c,d,e,f,name\n".to_owned();
    for row in 0..300 {
        let at = random.number();
        let mut line = String::new();
        for k in 1..=6 {
            write!(line, "{:.3},", at * f64::from(k) + 0.01 * random.number()).unwrap();
        }
        writeln!(csv, "{line}row{}", row % 7).unwrap();
    }
    folder.write("line.csv", csv);
    let train = "line.csv --task embedding --family linear --outputs 3";
    let report = folder.json(&format!("train {train} -o m.koan --json {QUICK_EMBEDDING}"));
    assert_eq!((&report["task"], &report["outputs"]), (&"embedding".into(), &3.into()));
    assert!(report["error"].as_f64().unwrap() < 0.01, "{report}");
    let lines = folder.output("predict m.koan line.csv");
    let mut lines = lines.lines();
    assert_eq!(lines.next(), Some("value 0,value 1,value 2"));
    let first: Vec<f64> =
        lines.map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(first.len(), 300);
    let mean = first.iter().sum::<f64>() / 300.0;
    let spread = (first.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 300.0).sqrt();
    assert!(mean.abs() < 0.2 * spread, "{mean} {spread}");
    folder.fails("eval m.koan line.csv", &["m.koan: an embedding has no target"]);
    let few = "line.csv --task embedding --family fourier -k 2 --outputs 3";
    let few = format!("train {few} -o n.koan {QUICK_EMBEDDING}");
    folder.fails(&few, &["3 coordinates of 2 features"]);
}

/// A cloud of normal rows, and rows far from it.
fn cloud(normal: usize, far: usize) -> String {
    let mut random = Random::new(6);
    let mut csv = "x,y,kind\n".to_owned();
    for _ in 0..normal {
        let (x, y) = (random.number() + random.number(), random.number());
        writeln!(csv, "{x},{y},usual").unwrap();
    }
    for row in 0..far {
        let side = if row % 2 == 0 { 9.0 } else { -9.0 };
        writeln!(csv, "{},{},odd", side + random.number(), random.number()).unwrap();
    }
    csv
}

#[test]
fn anomalies() {
    let folder = Folder::new();
    folder.write("c.csv", cloud(2000, 100));
    let train = "c.csv --task anomaly --normal usual --false-alarm 0.05 --features 200";
    let report = trained(&folder, train);
    let detection = &report["detection"];
    assert!(detection["auc"].as_f64().unwrap() > 0.99, "{report}");
    assert!((0.01..0.1).contains(&detection["false_alarms"].as_f64().unwrap()), "{report}");
    assert!(detection["detected"].as_f64().unwrap() > 0.95, "{report}");
    let judged = folder.json("eval m.koan c.csv --json");
    assert!(judged["auc"].as_f64().unwrap() > 0.99, "{judged}");
    // The page speaks of scores: a detector has no probabilities.
    folder.output("eval m.koan c.csv --report e.html");
    let page = text(&folder.read("e.html"));
    assert!(page.contains("The worst rows") && !page.contains("probability of that"));
    // Nor is it judged by what was told the classes.
    assert!(page.contains("A detector of anomalies.") && page.contains("Alarms on"), "{page}");
    assert!(!page.contains("linear model") && judged.get("baselines").is_none(), "{judged}");
    folder.write("new.csv", "x,y,kind\n0,0,usual\n40,40,odd\n");
    assert_eq!(folder.output("predict m.koan new.csv"), "class\nusual\nnot usual\n");

    folder.fails("shrink m.koan c.csv --flash 300 -o s.koan", &["m.koan", "detector of anomalies"]);

    // Normal rows are enough, and make the same model.
    folder.write("normal.csv", cloud(2000, 0));
    let alone = "normal.csv --test c.csv --task anomaly --normal usual --false-alarm 0.05";
    let report = trained(&folder, alone);
    assert!(report["detection"]["auc"].as_f64().unwrap() > 0.99, "{report}");
    folder.train_fails("normal.csv", &["every row has the same class, \"usual\""]);

    folder.fails("tune c.csv --normal usual -o front", &["--normal goes with --task anomaly"]);
    let by_default = folder.output("train c.csv -o d.koan --family linear");
    assert!(by_default.contains("target: kind, the last column"), "{by_default}");

    // Without a normal class every row is, and a target that is named is not looked at.
    let all = "c.csv --task anomaly --target kind --false-alarm 0.1 --features 200";
    let report = trained(&folder, all);
    assert_eq!(report["inputs"], 2);
    assert!(report["detection"]["auc"].is_null());
    assert!((0.04..0.18).contains(&report["error"].as_f64().unwrap()), "{report}");
    assert_eq!(folder.output("predict m.koan new.csv"), "class\nnormal\nanomaly\n");
    // Nor need there be more than one of it.
    let report = trained(&folder, &all.replace("c.csv", "normal.csv"));
    assert_eq!(report["inputs"], 2);

    folder.train_fails(&train.replace("0.05", "0.0001"), &["too few", "at least 9999"]);
    folder.train_fails(&train.replace("0.05", "1"), &["a false-alarm rate of 1 is not"]);
    folder.train_fails(&train.replace("usual ", "unusual "), &["no class \"unusual\""]);
}

#[test]
fn rows_without_labels_are_inputs_whole() {
    let folder = Folder::new();
    let rows: String = cloud(400, 0).lines().fold(String::new(), |text, line| {
        text + line.rsplit_once(',').map_or(line, |(inputs, _)| inputs) + "\n"
    });
    folder.write("rows.csv", &rows);
    let line = "train rows.csv -o m.koan --task anomaly --false-alarm 0.1 --features 100";
    let printed = folder.output(line);
    assert!(printed.contains("all columns are inputs"), "{printed}");
    // As in the model.
    assert_eq!(folder.json("inspect m.koan --json")["bits"], 4);
    assert!(printed.contains("4 bits a weight"), "{printed}");
    folder.write("new.csv", "x,y\n0,0\n0,40\n");
    assert_eq!(folder.output("predict m.koan new.csv"), "class\nnormal\nanomaly\n");
    for command in ["eval m.koan rows.csv", "shrink m.koan rows.csv --flash 100 -o s.koan"] {
        folder.fails(command, &["no column that says what rows are", "koan predict"]);
    }
    for task in ["anomaly", "embedding"] {
        let tune = format!("tune rows.csv --task {task} -o front");
        folder.fails(&tune, &["a search needs a target", "koan train"]);
        let flash = format!("train rows.csv --task {task} --flash 1k -o n.koan");
        folder.fails(&flash, &["--flash", "needs a target", "leave it out"]);
    }
    let windows = "rows.csv --window 4 --task anomaly --false-alarm 0.1 --features 100";
    assert_eq!(trained(&folder, windows)["inputs"], 8);
}

#[test]
fn codes_and_their_neighbours() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(50));
    folder.train("q.csv --family maxout -k 12 --pool 3").success();
    let codes = folder.output("codes m.koan q.csv");
    let lines: Vec<&str> = codes.lines().collect();
    assert_eq!(lines.len(), 51);
    assert_eq!(lines[0].split(',').count(), 12);
    let code = |row: usize| -> Vec<u16> {
        lines[row].split(',').map(|entry| entry.parse().unwrap()).collect()
    };
    assert!((1..=50).all(|row| code(row).iter().all(|&entry| entry < 3)));
    let nearest = folder.output("codes m.koan q.csv --nearest 4");
    for (row, line) in nearest.lines().enumerate().skip(1) {
        let distance =
            |other: usize| koan_trainer::internal::embed::hamming(&code(row), &code(other));
        let mut all: Vec<(usize, usize)> =
            (1..=50).filter(|&other| other != row).map(|other| (distance(other), other)).collect();
        all.sort_unstable();
        let expected: Vec<String> =
            all[..4].iter().map(|(distance, other)| format!("{other}:{distance}")).collect();
        assert_eq!(line, expected.join(","));
    }
    // More than there are.
    let all = folder.output("codes m.koan q.csv --nearest 4000000000");
    assert!(all.lines().all(|line| line.split(',').count() == 49));
    let among = folder.output("codes m.koan q.csv --nearest 1 --among q.csv");
    assert!(among.lines().skip(1).all(|line| line.ends_with(":0")), "{among}");
    folder.train("q.csv --family fourier -k 12").success();
    let message = "only models with maxout units or bins have codes, this one is of fourier";
    folder.fails("codes m.koan q.csv", &["m.koan", message]);
}

/// A solver that does not converge is not silent.
#[test]
fn an_early_stop_is_a_warning() {
    let folder = Folder::new();
    // Nearly separable, nearly the same features, and hardly any penalty.
    let mut csv = "x,y,above\n".to_owned();
    for row in 0..60 {
        let (x, y) = (f64::from(row * 37 % 60) / 15.0 - 2.0, f64::from(row * 53 % 59) / 15.0 - 2.0);
        writeln!(csv, "{x:.3},{y:.3},{}", u8::from(x > 0.0) + u8::from(y > 0.0)).unwrap();
    }
    folder.write("q.csv", csv);
    let train = "train q.csv -o m.koan --features 20 --frequency 0.05 --map per-input \
                 --relevance no --loss hinge --positive 1 --lambda 0 --json";
    let assert = folder.run(train).success();
    let report: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    let warning = report["warnings"][0].as_str().unwrap();
    assert!(warning.contains("the support vector machine stopped"), "{report}");
    let stderr = text(&assert.get_output().stderr);
    assert!(stderr.contains(&format!("warning: {warning}")), "{stderr}");
}

/// Linear models have no frequency, nor have units of maxout.
#[test]
fn what_was_chosen_is_what_the_model_has() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    let told = |options: &str| {
        text(&folder.train(&format!("q.csv {options}")).success().get_output().stdout)
    };
    assert!(!told("--family linear").contains("frequency"));
    assert!(!told("-k 8 --family maxout").contains("frequency"));
    assert!(told("-k 8 --linear").contains(", frequency 1.000, "));
}

/// Where one map serves all inputs, relevance is learned on top of it.
#[test]
fn relevance_that_is_asked_for_is_learned() {
    let folder = Folder::new();
    let number = |row: usize, column: usize| (row * (column + 3) * 37 % 101) as f64 / 10.0;
    let row = |row: usize| {
        let inputs: Vec<String> = (0..170).map(|column| number(row, column).to_string()).collect();
        format!("{},{}\n", inputs.join(","), u8::from(number(row, 0) > 5.0))
    };
    let names: Vec<String> = (0..170).map(|column| format!("c{column}")).collect();
    let rows: String = (0..60).map(row).collect();
    folder.write("wide.csv", format!("{},y\n{rows}", names.join(",")));
    let train = "train wide.csv -o m.koan --family fourier -k 16 --frequency 1 --lambda 0.1 --json";
    let told = folder.json(&format!("{train} --relevance yes"));
    assert_eq!((&told["map"], &told["relevance"]), (&"shared".into(), &true.into()), "{told}");
    assert_eq!(folder.json(train)["relevance"], false);
}

/// Cells of a grid, times the usual number of filters, are more than features may be.
#[test]
fn as_many_whole_filters_as_there_may_be() {
    let folder = Folder::new();
    let row =
        |row: usize| (0..1600).map(|i| format!("{},", (row * 7 + i * i) % 11)).collect::<String>();
    let rows: String = (0..12).map(|number| format!("{}{}\n", row(number), number % 2)).collect();
    folder.write("img.csv", rows);
    let conv =
        "--family conv --shape 40x40x1 --kernel 3 --grid 32 --header no --frequency 1 --lambda 0.1";
    folder.run(&format!("train img.csv -o m.koan {conv} --features 1024")).success();
}
