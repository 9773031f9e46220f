//! What models can be asked for, and that they are reproducible.

use koan_trainer::FamilyName;

use crate::common::{Folder, quadrants, sensors, text, waves};

/// The model's description; its self test has passed.
fn inspected(folder: &Folder) -> serde_json::Value {
    let model = folder.json("inspect m.koan --json");
    assert_eq!(model["self_test"], "passed");
    model
}

#[test]
fn every_family_and_width() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(120));
    folder.write("w.csv", waves(120));
    for family in FamilyName::ALL.map(FamilyName::name) {
        for bits in koan::Width::BITS {
            for (data, outputs) in [("q.csv", 3), ("w.csv", 1)] {
                // The two inputs are a series to a convolution.
                let own = if family == "bin" { "--slot-bits 4" } else { "" };
                // Linear ones have the inputs.
                let size = if family == "linear" { "" } else { "-k 12 --frequency 1" };
                let train = format!(
                    "train {data} -o m.koan --family {family} --bits {bits} {size} {own} \
                     --shape 2x1 --lambda 0.001 --map per-input --relevance no"
                );
                folder.run(&train).success();
                let model = inspected(&folder);
                assert_eq!((&model["family"], &model["bits"]), (&family.into(), &bits.into()));
                assert_eq!(model["outputs"], outputs);
            }
        }
    }
}

#[test]
fn every_projection() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(120));
    for (family, laws) in [
        ("fourier", &["gaussian", "cauchy", "sign", "hadamard"][..]),
        ("stump", &["gaussian", "uniform"]),
        ("bin", &["gamma2"]),
        ("fern", &["gaussian", "uniform"]),
        ("maxout", &["gaussian", "sign", "hadamard"]),
        ("sigmoid", &["gaussian", "sign", "hadamard"]),
    ] {
        for law in laws {
            folder.train(&format!("q.csv --family {family} --projection {law} -k 12")).success();
            assert_eq!(inspected(&folder)["projection"], *law);
        }
    }
    let message = "the family bin has no projection sign";
    folder.train_fails("q.csv --family bin --projection sign", &[message]);
}

#[test]
fn the_search_finds_a_good_model() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    let report = folder.json("train q.csv -o m.koan --features 32 --json");
    assert!(report["error"].as_f64().unwrap() < 0.2, "{report}");
}

/// Sums run over blocks of a fixed size, so threads cannot change their order.
#[test]
fn threads_do_not_change_the_model() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    folder.write("w.csv", waves(200));
    for train in [
        "q.csv --features 24",
        "w.csv --features 24 --linear",
        "q.csv --family bin -k 8 --slot-bits 5",
        "q.csv --family bin -k 3 --slot-bits 12",
    ] {
        let blobs = ["1", "2"].map(|threads| {
            let mut command = folder.command(&format!("train {train} -o m.koan --seed 5"));
            command.env("RAYON_NUM_THREADS", threads).assert().success();
            folder.read("m.koan")
        });
        assert!(blobs[0] == blobs[1], "{train}");
    }
}

#[test]
fn another_seed_is_another_model() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    let models = ["1", "1", "2"].map(|seed| {
        folder.train(&format!("q.csv --features 12 --seed {seed}")).success();
        folder.read("m.koan")
    });
    assert_eq!(models[0], models[1]);
    assert_ne!(models[0], models[2]);
    assert_eq!(inspected(&folder)["seed"], 2);
}

#[test]
fn several_families_and_a_linear_term() {
    let folder = Folder::new();
    folder.write("w.csv", waves(150));
    folder.train("w.csv --family fourier,stump,bin -k 16,8,3 --slot-bits 4 --linear").success();
    let model = inspected(&folder);
    assert_eq!(model["family"], "fourier,stump,bin,linear");
    assert_eq!(model["projection"], "gaussian,gaussian,gamma2,none");
    assert_eq!(model["features"], 16 + 8 + 3 * 16 + 2);
}

#[test]
fn groups_of_inputs() {
    let folder = Folder::new();
    folder.write("w.csv", waves(150));
    folder.train("w.csv --features 16 --input-groups 1:gaussian:0.5,1:cauchy").success();
    let model = inspected(&folder);
    assert_eq!(model["projection"], "groups");
    assert_eq!(model["banks"][0]["groups"][1]["law"], "cauchy");
    folder.train_fails("w.csv --input-groups 3:gaussian", &["cover 3 inputs, the data have 2"]);
    // By the old name, which still works.
    folder.train_fails("w.csv --groups 2:gamma2", &["fourier", "gamma2"]);
}

#[test]
fn balanced_class_weights_find_the_rare_class() {
    let folder = Folder::new();
    // One row in ten is rare, and none of the inputs is sure.
    let mut csv = String::new();
    for row in 0..400 {
        let rare = row % 10 == 0;
        let x = (row * 37 % 100) as f64 / 100.0 + if rare { 0.6 } else { 0.0 };
        csv += &format!("{x},{}\n", if rare { "rare" } else { "usual" });
    }
    folder.write("r.csv", csv);
    let found = ["equal-rows", "balanced"].map(|weights| {
        folder.train(&format!("r.csv --features 8 --class-weights {weights}")).success();
        folder.json("eval m.koan r.csv --json")["confusion"][0][0].as_u64().unwrap()
    });
    assert!(found[1] > found[0], "{found:?}");
    // That the rare class is hardly found is said when training: as `koan eval` counts it.
    let command = "train r.csv --test r.csv -o m.koan --features 8 --map shared --frequency 1";
    let told = folder.output(command);
    let trained = folder.json(&format!("{command} --json"));
    let judged = folder.json("eval m.koan r.csv --json");
    assert_eq!(trained["balanced_error"], judged["balanced_error"]);
    let balanced = 100.0 * judged["balanced_error"].as_f64().unwrap();
    let (right, wrong) = (&judged["confusion"][0][0], &judged["confusion"][0][1]);
    assert_eq!(right.as_u64().unwrap() + wrong.as_u64().unwrap(), 40);
    let said = format!(
        "balanced error, the mean over the classes: {balanced:.2} %; {wrong} of 40 wrong of the class \
         rare"
    );
    assert!(told.contains(&said), "{told}");
    // Of classes of about as many rows nothing more is.
    folder.write("w.csv", waves(150));
    let command = "train w.csv -o m.koan --features 8 --map shared --frequency 1";
    assert!(!folder.output(command).contains("balanced error"));
}

#[test]
fn golden_rows_are_in_the_model() {
    let folder = Folder::new();
    folder.write("w.csv", waves(150));
    folder.train("w.csv --features 16").success();
    let bytes = folder.read("m.koan").len();
    folder.train("w.csv --features 16 --golden-rows 3").success();
    assert_eq!(inspected(&folder)["golden_rows"], 3);
    // Tag and length, then two inputs and a score for each row.
    assert_eq!(folder.read("m.koan").len(), bytes + 3 + 3 * (2 * 4 + 4));
}

#[test]
fn the_logarithm_of_input_maps_is_defined() {
    let folder = Folder::new();
    let row = |row: i32| {
        let exponent = row * 37 % 61;
        format!("{},{}\n", 2f64.powi(exponent - 30), ["a", "b"][usize::from(exponent > 30)])
    };
    folder.write("far.csv", format!("x,y\n{}", (0..120).map(row).collect::<String>()));
    let train = "train far.csv -o m.koan --frequency 1 --lambda 0.001 --relevance no --features 16";
    folder.run(&format!("{train} --map per-input-log")).success();
    let told = folder.output("inspect m.koan");
    assert!(told.contains("q = (slog(x) "), "{told}");
    assert!(told.contains("slog(x) is sign(x) * ln(1 + |x|)"), "{told}");
    folder.run(&format!("{train} --map per-input")).success();
    assert!(!folder.output("inspect m.koan").contains("slog"));
}

#[test]
fn names_can_be_left_out() {
    let folder = Folder::new();
    folder.write("w.csv", waves(150));
    folder.train("w.csv --features 16").success();
    let (bytes, named) = (folder.read("m.koan").len(), folder.output("predict m.koan w.csv"));
    folder.train("w.csv --features 16 --no-column-names").success();
    assert!(folder.read("m.koan").len() < bytes);
    assert_eq!(folder.output("predict m.koan w.csv"), named);
}

#[test]
fn names_that_are_much_of_a_model_are_said() {
    let folder = Folder::new();
    let names: Vec<String> = (0..100).map(|column| format!("column_{column:03}")).collect();
    let row = |row: usize| {
        let cells = (0..100).map(|column| ((row * 31 + column * column) % 97).to_string());
        format!("{},{}\n", cells.collect::<Vec<_>>().join(","), ["a", "b"][row % 2])
    };
    let rows: String = (0..60).map(row).collect();
    folder.write("many.csv", format!("{},y\n{rows}", names.join(",")));
    folder.write("w.csv", waves(150));
    let told = |train: &str| text(&folder.train(train).success().get_output().stdout);
    let part = " of the bytes are names of columns: `--no-column-names` leaves them out";
    assert!(told("many.csv --features 16").contains(part));
    assert!(!told("many.csv --features 16 --no-column-names").contains(part));
    assert!(!told("w.csv --features 512").contains(part));
}

#[test]
fn one_class_against_the_rest() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(150));
    folder.train("q.csv --features 32 --positive 2").success();
    let model = inspected(&folder);
    assert_eq!(model["outputs"], 1);
    assert_eq!(model["classes"][1], "2");
    let result = folder.json("eval m.koan q.csv --json");
    assert!(result["error"].as_f64().unwrap() < 0.15, "{result}");
    folder.train_fails("q.csv --positive 7", &["no class \"7\"", "0, 1, 2"]);
}

#[test]
fn a_program_is_told_what_it_needs() {
    let folder = Folder::new();
    folder.write("s.csv", sensors(150));
    folder.train("s.csv --features 16").success();
    let model = inspected(&folder);
    assert!(model["work"].as_u64().unwrap() > 16, "{model}");
    assert!(model["needs"].as_array().unwrap().contains(&"fourier".into()), "{model}");
    let text = folder.output("inspect m.koan --rust row.rs");
    for part in [
        "koan = { path = \"CLONE/core\" }",
        "[profile.release]",
        "a row: 5 numbers, in the units of the data",
        "0: temp\n",
        "2: job, kind = clerk: 1, else 0\n",
    ] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    let file = String::from_utf8(folder.read("row.rs")).unwrap();
    for part in ["INPUTS: usize = 5;", "JOB_KIND_COOK: usize = 3;", "LEVEL: usize = 4;"] {
        assert!(file.contains(&format!("pub const {part}")), "`{part}` is not in: {file}");
    }
}

#[test]
fn a_stream_is_told_what_it_keeps() {
    let folder = Folder::new();
    folder.write("m.koan", include_bytes!("../../../../tests/models/exercises-conv-160.koan"));
    let text = folder.output("inspect m.koan");
    let stream = "a stream: 3 channels, 128 samples, a hop of 32, 898 words of cache";
    assert!(text.contains(stream), "{text}");
    // The window twice, 898 words of cache, buffers of 1,440 bytes, and where it stands.
    let bytes = 4 * 384 + 2 * 898 + 1440 + 16;
    assert!(
        text.contains(&format!(
            "RAM of it in Rust (koan-stream): {bytes} bytes on a core of 32 bits"
        )),
        "{text}"
    );
    folder.output("inspect m.koan --rust row.rs");
    let file = String::from_utf8(folder.read("row.rs")).unwrap();
    for part in [
        "HOP: core::num::NonZeroU16 = core::num::NonZeroU16::new(32).unwrap();",
        "CACHE: usize = 898;",
        "SAMPLES: usize = 128;",
        "CHANNELS: usize = 3;",
        "CLASS_SQUAT: usize = ",
    ] {
        assert!(file.contains(&format!("pub const {part}")), "`{part}` is not in: {file}");
    }
    folder.output("export m.koan --rust exported.rs");
    let file = String::from_utf8(folder.read("exported.rs")).unwrap();
    assert!(file.contains("pub const CACHE: usize = 898;"), "{file}");
}

/// What `koan_stream::Stream` refuses is no stream.
#[test]
fn windows_that_no_stream_takes_are_none() {
    let folder = Folder::new();
    folder.write("samples.csv", sensors(400));
    // With a map for each input.
    folder.train("samples.csv --window 8 --stride 8 --features 16").success();
    let text = folder.output("inspect m.koan");
    assert!(!text.contains("a stream: ") && !text.contains("RAM of it"), "{text}");
    assert!(
        text.contains("no stream: it takes a model with one input map, or one for each channel"),
        "{text}"
    );
    folder.output("inspect m.koan --rust row.rs");
    let file = String::from_utf8(folder.read("row.rs")).unwrap();
    assert!(file.contains("pub const SAMPLES: usize = 8;"), "{file}");
    assert!(!file.contains("const HOP") && !file.contains("const CACHE"), "{file}");
}

/// Of few rows a pool of thousands says no more than one of hundreds, and takes minutes.
#[test]
fn shrinking_to_more_bytes_is_told() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.train("q.csv -k 40 --bits 2").success();
    let shrink = "shrink m.koan q.csv --flash 4k --bits 4 --loss squared -o s.koan";
    let report = folder.json(&format!("{shrink} --json"));
    let pools = report["attempts"].as_array().unwrap().iter().map(|all| &all["candidates"]);
    let most = pools.filter_map(serde_json::Value::as_u64).max().unwrap();
    assert!((1..=320).contains(&most), "four for each of 80 rows: {most}");
    let told = folder.output(shrink);
    assert!(
        told.contains("not smaller than the model it was made from: a `--flash` below "),
        "{told}"
    );
}

/// The number of threads is for the machine, not for the model.
#[test]
fn threads_change_nothing() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    let (mut models, mut told) = (Vec::new(), Vec::new());
    for threads in ["", "--threads 1", "--threads 3"] {
        folder.train(&format!("q.csv -k 40 {threads}")).success();
        let shrink = "shrink m.koan q.csv --flash 200 --candidates 64 --bits 4 --loss squared";
        folder.run(&format!("{shrink} -o s.koan {threads}")).success();
        models.push([folder.read("m.koan"), folder.read("s.koan")]);
        // The first line ends with the seconds that it took.
        let lines = folder.output(&format!("eval m.koan q.csv {threads}"));
        told.push(lines.split_once('\n').unwrap().1.to_owned());
    }
    assert!(models.iter().all(|model| *model == models[0]));
    assert!(told.iter().all(|lines| *lines == told[0]));
    for command in ["train q.csv -o m.koan", "eval m.koan q.csv"] {
        folder.run(&format!("{command} --threads 0")).code(2);
    }
}
