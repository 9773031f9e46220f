//! Data that cannot be trained on: the message says where.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

use crate::common::{Folder, QUICK, quadrants, text, waves};

/// A folder with a file `bad.csv`.
fn with(content: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::new();
    folder.write("bad.csv", content);
    folder
}

#[test]
fn a_broken_line() {
    let folder = with("a,b,y\n1,2,u\n1,2\n3,4,v\n");
    folder.train_fails("bad.csv", &["bad.csv:3", "2 fields", "3"]);
}

/// A slip in the last field but two of many good ones.
#[test]
fn a_value_that_is_no_number() {
    let good = quadrants(100);
    for (bad, message) in [
        ("0.5,oops,1", "\"oops\" is not a number"),
        ("0.5,NaN,1", "the value is missing"),
        ("0.5,,1", "the value is missing"),
        ("0.5,1e99,1", "1e99 is beyond the range"),
        ("0.5,-inf,1", "-inf is beyond the range"),
    ] {
        let folder = with(format!("{good}{bad}\n"));
        folder.train_fails("bad.csv", &["bad.csv:102: column 2 (`y`)", message]);
    }
}

#[test]
fn a_text_that_is_missing() {
    let folder = with("a,colour,y\n1,red,u\n2,blue,v\n3,,u\n4,red,v\n");
    folder.train_fails("bad.csv", &["bad.csv:4: column 2", "a missing text is none of the values"]);
}

#[test]
fn a_target_that_is_no_class() {
    let folder = with(format!("{}0.5,0.5,\n", quadrants(100)));
    folder.train_fails("bad.csv", &["bad.csv:102: column 3 (`above`)", "target is missing"]);
    let folder = with(waves(100).replacen("\n", "\n1,1,high\n", 1));
    let place = "bad.csv:2: column 3 (`z`)";
    folder.train_fails("bad.csv --task regression", &[place, "\"high\" is not a number"]);
}

#[test]
fn columns_that_are_not_there() {
    let folder = with(quadrants(50));
    folder.train_fails("bad.csv --target price", &["bad.csv", "no column `price`", "`above`"]);
    folder.train_fails("bad.csv --target 4", &["bad.csv", "no column `4`"]);
    folder.train_fails("bad.csv --drop z", &["bad.csv", "no column `z`"]);
    folder.train_fails("bad.csv --drop x,y", &["bad.csv", "no inputs"]);
}

#[test]
fn nothing_to_learn_from() {
    with("").train_fails("bad.csv", &["bad.csv", "empty"]);
    with("\n\n").train_fails("bad.csv", &["bad.csv", "empty"]);
    with("a,b,y\n").train_fails("bad.csv", &["bad.csv", "no rows"]);
    with("a,y\n1,u\n2,u\n3,u\n").train_fails("bad.csv", &["bad.csv", "\"u\"", "needs two"]);
    let folder = with(quadrants(50));
    folder.train_fails("bad.csv --train-rows 51", &["bad.csv", "50 rows", "51"]);
    folder.train_fails("bad.csv --train-rows 50", &["bad.csv", "no rows are left for the test"]);
    folder.train_fails("bad.csv --test-fraction 0", &["no rows are left", "--folds 5` cross"]);
    folder.train_fails("bad.csv --test-fraction 1", &["bad.csv", "50 rows"]);
}

#[test]
fn bytes_that_are_no_text() {
    let folder = with([b"a,b,y\n1,2,u\n1,\xff\xfe,v\n".as_slice(), b"2,2,u\n"].concat());
    folder.train_fails("bad.csv", &["bad.csv:3: column 2 (`b`)", "not UTF-8"]);
}

#[test]
fn broken_svmlight_gzip_and_idx() {
    let folder = Folder::new();
    folder.write("bad.svm", "1 1:0.5 2:1\n-1 1:0.5 1:1\n");
    folder.train_fails("bad.svm", &["bad.svm:2", "`1:1`"]);
    folder.write_gzip("bad.gz", quadrants(500));
    let mut bytes = folder.read("bad.gz");
    bytes.truncate(bytes.len() / 2);
    folder.write("bad.gz", bytes);
    folder.train_fails("bad.gz", &["bad.gz", "gzip"]);
    folder.write("bad-images.idx3", [0, 0, 8, 3, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2]);
    folder.train_fails("bad-images.idx3", &["bad-images.idx3", "labels"]);
    folder.write("bad-labels.idx1", [0, 0, 8, 1, 0, 0, 0, 9, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    folder.train_fails("bad-images.idx3", &["bad-images.idx3", "byte 18"]);
}

#[test]
fn options_that_make_no_sense() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(60));
    for frequency in ["-1", "0", "nan", "inf", "1e300"] {
        folder
            .fails(&format!("train q.csv -o m.koan --frequency {frequency}"), &["a frequency of"]);
    }
    for lambda in ["-1", "nan", "1e300"] {
        folder.fails(&format!("train q.csv -o m.koan --lambda {lambda}"), &["a lambda of"]);
    }
    folder.fails("train q.csv -o m.koan --features 0", &["q.csv", "at least one feature"]);
    folder.fails("train q.csv -o m.koan --input-groups 2:none", &["q.csv", "leave all inputs out"]);
    folder.fails("train q.csv -o m.koan --train-rows 1", &["q.csv", "at least two rows"]);
    for rate in ["0", "1", "nan"] {
        let train = format!("train q.csv -o m.koan --task anomaly --false-alarm {rate}");
        folder.fails(&train, &["q.csv", "a false-alarm rate of", "is not above 0 and below 1"]);
    }
    folder.fails(
        "train q.csv -o m.koan --folds 1",
        &["60 rows for 1 part; there must be 2 to 60 (--folds)"],
    );
    let fraction = "train q.csv -o m.koan --test-fraction 1.5";
    folder.fails(fraction, &["a test fraction of 1.5 is not within 0 to 1 (--test-fraction"]);
    folder.fails(
        "train q.csv -o m.koan --lambda -1",
        &["a lambda of -1 is not in [0, 1e6] (--lambda)"],
    );
    folder.fails("train q.csv -o m.koan --loss hinge --box 0", &["a box of 0 is not", "(--box)"]);
    folder.write("two.csv", "a,b,y\n1,2,x\n2,3,y\n");
    folder.train_fails(
        "two.csv",
        &["two.csv: 2 rows are too few to train a model on and to test it"],
    );
    let row = |i: usize| format!("0.{},{}.5,{},{}\n", i * 37 % 89, i * 7 % 60, 99 - i, i % 2);
    folder.write("once.csv", (0..40).map(row).collect::<String>());
    folder.write("more.csv", (20..60).map(row).collect::<String>());
    let copies = folder.train("once.csv --test more.csv").success();
    copies.stderr(contains("more.csv: 20 of 40 test rows have the inputs of a training row"));
    folder.train_fails("q.csv --golden-rows 65536", &["--golden-rows 65536: from 0 to 48,"]);
    folder.train_fails("q.csv --golden-rows 61 --folds 3", &["--golden-rows 61: from 0 to 60,"]);
    let tune = "tune q.csv -o front --minutes 0.01 --golden-rows 49";
    folder.fails(tune, &["--golden-rows 49: from 0 to 48,"]);
    let stream = "q.csv --stream yes --sample-rows 20 --golden-rows 21";
    folder.train_fails(stream, &["--golden-rows 21: from 0 to 20,"]);
    folder.train("q.csv --golden-rows 48").success();
    folder.fails("train q.csv -o m.koan --positive warm", &["q.csv", "no class \"warm\""]);
    folder.write("w.csv", waves(60));
    let numbers = ["w.csv", "no class \"1\": the target is numbers"];
    folder.fails("train w.csv -o m.koan --positive 1", &numbers);
    folder.fails("tune w.csv -o front --positive 1", &numbers);
    let few = "train q.csv -o m.koan --task anomaly";
    folder.fails(few, &["too few for a false-alarm rate", "a rate of 0.", "(--false-alarm)"]);
    let group = "train q.csv -o m.koan --family fourier --input-groups 2:gauss";
    let laws = contains("gaussian, cauchy, sign, hadamard, uniform, gamma2, none");
    folder.run(group).failure().code(2).stderr(laws);
    for command in ["train q.csv -o m.koan --flash -5", "tune q.csv -o front --ram -5"] {
        folder.run(command).failure().code(2).stderr(contains("-5"));
    }
    for command in ["train q.csv -o m.koan", "tune q.csv -o front --minutes 0.01"] {
        let shape = format!("{command} --shape 8x8x1");
        folder.fails(&shape, &["--shape 8x8x1: such rows have 64 inputs, the data have 2"]);
        let map = format!("{command} --map per-channel");
        folder.fails(&map, &["--map per-channel is for rows that have channels"]);
        let golden = format!("{command} --flash 150 --golden-rows 40");
        folder.fails(&golden, &["no model is so small", "--golden-rows 40 are in every model"]);
    }
    folder.fails("train q.csv -o m.koan --folds 3 --shape 3x1", &["--shape 3x1: such rows have 3"]);
    folder.run("train q.csv -o m.koan -k 8 --shape 1x2 --map per-channel").success();
}

/// Names and numbers that begin with a minus.
#[test]
fn values_may_begin_with_a_minus() {
    let folder = Folder::new();
    let rows = quadrants(150).replace(",0\n", ",-1\n");
    folder.write("q.csv", rows);
    let json = |options: &str| {
        folder.json(&format!("train q.csv -o m.koan -k 8 --json {QUICK} {options}"))
    };
    assert_eq!(json("--target -1")["target"], "above");
    assert_eq!(json("--target -3 --task regression --drop -1")["inputs"], 1);
    assert_eq!(json("--target -1 --text -2,-3")["task"], "classification");
    json("--positive -1");
    assert_eq!(
        folder.json("inspect m.koan --json")["classes"],
        serde_json::json!(["not -1", "-1"])
    );
    json("--task anomaly --normal -1 --false-alarm 0.2");
    folder.fails("train q.csv -o m.koan --weights -2", &["weight"]);
    let kept = folder.output("predict m.koan q.csv --keep -3,-1");
    assert!(kept.starts_with("x,above,class\n"), "{kept}");
    // Where a column is missing, the next option is none.
    let refused = folder.run("train q.csv --drop -o m.koan").code(2);
    let message = text(&refused.get_output().stderr);
    assert!(
        message.contains("--drop") && message.contains("a column is missing here"),
        "{message}"
    );
}

/// Options that do nothing were passed over without a word.
#[test]
fn options_that_would_do_nothing() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(60));
    folder.write("w.csv", waves(120));
    for (options, told) in [
        ("--false-alarm 0.1", "--false-alarm goes with --task anomaly"),
        ("--task embedding --false-alarm 0.1", "--false-alarm goes with --task anomaly"),
        ("--outputs 3", "--outputs goes with --task embedding"),
        ("-k 8 --pool 4", "--pool goes with --family maxout"),
        ("--family fourier,bin --shared-pool 8", "--shared-pool goes with --family maxout"),
        ("--family maxout --slot-bits 8", "--slot-bits goes with --family bin"),
        ("--family bin --depth 3", "--depth goes with --family fern"),
        ("--family stump --kernel 3", "--kernel goes with --family conv or series"),
        ("--family series --shape 2x1 --grid 1", "--grid goes with --family conv"),
        ("--flash 300 --family stump --pooling average", "--pooling goes with --family conv"),
        ("-k 8 --dilated", "--dilated goes with --family conv"),
        ("-k 8 --filter-stride 1", "--filter-stride goes with --family conv"),
        (
            "--family maxout --input-groups 2:sign",
            "--input-groups goes with --family fourier or stump or bin",
        ),
        ("-k 8,9", "--features has 2 values for 1 family"),
        ("--family stump,bin --frequency 1,2,3", "--frequency has 3 values for 2 families"),
        ("--flash 300 --frequency 1,2", "--frequency has 2 values, but a search compares families"),
        ("--sample-rows 50", "--sample-rows goes with --stream yes"),
        ("--checkpoint c", "--checkpoint goes with --stream yes"),
        ("--stream no --checkpoint-every 5", "--checkpoint-every goes with --stream yes"),
        ("--family linear -k 8", "a number of features does nothing: the family linear"),
        ("--family linear --projection sign", "a projection does nothing"),
        ("--flash 300 --family linear --projection sign", "a projection does nothing"),
        ("--family linear --candidates 20", "candidates do nothing"),
        ("--task regression --positive 1", "--positive goes with --task classification"),
        ("--task embedding --positive 1", "--positive goes with --task classification"),
        ("--task anomaly --positive 1", "--normal names the class of normal rows"),
        ("--task anomaly --relevance yes", "--relevance yes is for tasks with a target"),
        ("--task embedding --relevance yes", "--relevance yes is for tasks with a target"),
        ("--task embedding --lambda 0.1", "--lambda does nothing"),
        ("--drop above", "the target, which is the last column if none is named"),
        ("--target x --drop 1", "(--target, --drop)"),
    ] {
        // Before a search, that is at once.
        folder.fails(&format!("train q.csv -o m.koan {options}"), &[told]);
    }
    // A search knows all families, and chooses pools and slots itself.
    let search = "train q.csv -o m.koan --flash 200 --loss squared --bits 4";
    folder.run(&format!("{search} --kernel 2")).success();
    folder.run(&format!("{search} --family linear,stump --frequency 1")).success();
    folder.fails("train q.csv -o m.koan --slot-bits 6", &["--slot-bits goes with --family bin"]);
    folder.train("w.csv").success();
    let told = ["m.koan: the model has no probabilities", "--probabilities"];
    folder.fails("predict m.koan w.csv --probabilities", &told);
    folder.train("q.csv --drop above --target y").success();
}

/// Constants are no error, but hardly what was meant.
#[test]
fn constant_inputs_give_a_warning() {
    let rows = |last: &dyn Fn(usize) -> String| -> String {
        (0..60).map(|row| format!("3,7,{}\n", last(row))).collect()
    };
    let classes = rows(&|row| if row % 3 == 0 { "u".into() } else { "v".into() });
    let values = rows(&|row| format!("{}.5", row % 7));
    for content in [classes, values] {
        let folder = with(content);
        for family in ["fourier", "stump", "bin", "maxout", "sigmoid", "fern", "linear"] {
            let size = if family == "linear" { "" } else { "--features 8" };
            folder
                .train(&format!("bad.csv {size} --family {family}"))
                .success()
                .stderr(contains("warning: ").and(contains("every input is constant")));
            folder.run("inspect m.koan").success().stdout(contains("self test passed"));
        }
        // What it predicts is the most frequent class, or the mean.
        let lines = folder.output("predict m.koan bad.csv");
        assert!(lines.lines().nth(1).is_some_and(|line| line == "v" || line.starts_with('3')));
    }
}

/// What programs for sheets write for no value is no comment, wherever it stands.
#[test]
fn errors_of_sheets_are_unknown_values() {
    let rows = |column: usize, text: &str| {
        let row = |row: usize| {
            let mut fields = [row.to_string(), (row * 7 % 50).to_string()];
            if row == 30 {
                fields[column] = text.to_owned();
            }
            format!("{},{}\n", fields.join(","), ["on", "off"][row % 2])
        };
        format!("a,b,y\n{}", (0..120).map(row).collect::<String>())
    };
    for (column, text) in [(0, "#N/A"), (1, "#DIV/0!"), (1, "# note")] {
        let folder = with(rows(column, text));
        folder.train_fails("bad.csv", &["bad.csv:32", "unknown values are empty"]);
        let told = folder.run("train bad.csv -o m.koan").failure();
        assert!(!text_of(&told).contains("--comment"), "{text}");
    }
    with(rows(0, "# note")).train_fails("bad.csv", &["--comment '#'"]);
}

fn text_of(told: &assert_cmd::assert::Assert) -> String {
    text(&told.get_output().stderr)
}

/// A part of a few rows says little.
#[test]
fn few_test_rows_are_told() {
    let rows: String = (0..40).map(|row| format!("{row},{}\n", ["on", "off"][row / 20])).collect();
    let folder = with(format!("x,y\n{rows}"));
    let told = "8 test rows say little of others: `--folds 5` tests on every row in turn";
    folder.train("bad.csv").success().stderr(contains(told));
    folder.train("bad.csv --folds 5").success().stderr(contains("say little").not());
    folder.train("bad.csv --test-fraction 0.5").success().stderr(contains("say little").not());
}

/// What helps with a target or with names that cannot be.
#[test]
fn hints_can_be_followed() {
    let rows: String = (0..40).map(|row| format!("{row},1,{}\n", ["on", "off"][row % 2])).collect();
    let folder = with(format!("x,z,y\n{rows}"));
    let way = ["the target \"on\" is not a number", "leave --task regression out"];
    folder.train_fails("bad.csv --task regression", &way);
    with(format!("x,x,y\n{rows}")).train_fails("bad.csv", &["rename one of them in the header"]);
}

/// Whatever is wrong with columns is told at once, with what helps for each.
#[test]
fn several_columns_are_told_at_once() {
    let row = |row: usize| {
        let gap = |every: usize| if row % every == 3 { String::new() } else { format!("{row}") };
        format!("id{row}x,{},{},$ {row}.50,{}\n", gap(9), gap(7), ["on", "off"][row % 2])
    };
    let rows: String = (0..60).map(row).collect();
    let folder = with(format!("id,a,b,price,y\n{rows}"));
    let told = folder.run("train bad.csv -o m.koan").failure();
    let told = text(&told.get_output().stderr);
    let lines: Vec<&str> = told.lines().collect();
    for (line, start, end) in [
        (0, "error: bad.csv: column 1 (`id`)", "takes each text as a category all the same)"),
        (1, "  also bad.csv:5: column 2 (`a`)", "--drop leaves the column out)"),
        // What helps is the same.
        (2, "  also bad.csv:5: column 3 (`b`)", "the value is missing"),
        (3, "  also bad.csv: column 4 (`price`)", "as numbers"),
    ] {
        assert!(lines[line].starts_with(start) && lines[line].ends_with(end), "{told}");
    }
    assert_eq!(lines.len(), 4);
    folder.train("bad.csv --drop id,price --missing impute").success();
}

/// The model is that of a table without the rows that have no target.
#[test]
fn rows_without_a_target_are_left_out_where_that_is_asked_for() {
    let row = |row: usize| format!("{}.5,{}\n", row * 7 % 40, ["on", "off", ""][row % 3]);
    let rows = |kept: &dyn Fn(usize) -> bool| -> String {
        (0..240).filter(|&r| kept(r)).map(row).collect()
    };
    let folder = with(format!("x,y\n{}", rows(&|_| true)));
    folder.write("whole.csv", format!("x,y\n{}", rows(&|row| row % 3 != 2)));
    let way = ["bad.csv:4: column 2 (`y`): the target is missing", "--missing impute"];
    folder.train_fails("bad.csv", &way);
    folder.train_fails("bad.csv --missing impute", &["the last column was taken", "--target"]);
    folder.train("whole.csv --target y --missing impute").success();
    let whole = folder.read("m.koan");
    folder.train("bad.csv --target y --missing impute").success().stderr(contains(
        "bad.csv:4: column 2 (`y`): the target is missing: the row and 79 others",
    ));
    assert_eq!(folder.read("m.koan"), whole);
    folder.fails("eval m.koan bad.csv", &["bad.csv:4", "leave the row out of the data"]);
}

/// What is wrong with a target is told with its column, and with what helps there.
#[test]
fn targets_that_cannot_be() {
    let numbers: String = (0..200).map(|row| format!("{row},{}.5\n", row % 50)).collect();
    with(format!("x,y\n{numbers}1,err\n")).train_fails(
        "bad.csv",
        &["bad.csv:202: column 2 (`y`): the target \"err\" is not a number", "(no option passes"],
    );
    let named: String = (0..800).map(|row| format!("{row},c{}\n", row % 400)).collect();
    let folder = with(format!("x,y\n{named}"));
    let many =
        ["column 2 (`y`) has more than 255 distinct values", "--target", "--task regression"];
    folder.train_fails("bad.csv", &many);
    folder.fails("tune bad.csv --minutes 0.001 -o front", &many);
    folder.train("bad.csv --positive c3").success();
    with("x,y\n1,on\n2,on\n3,on\n").train_fails(
        "bad.csv",
        &[
            "column 2 (`y`) is the target, and every row has the same class, \"on\"",
            "--target",
            "--task anomaly",
        ],
    );
}

/// What people who export tables stumble over.
#[test]
fn slips_of_exports() {
    let good = quadrants(100);
    let marked = |marker: &str| -> String {
        let row = |row: usize| match row % 10 {
            3 => format!("{marker},{row}.5,{}\n", row % 2),
            _ => format!("{row}.25,{row}.5,{}\n", row % 2),
        };
        format!("a,b,y\n{}", (0..200).map(row).collect::<String>())
    };
    let names: String = (0..60).map(|row| format!("{row}.5,n{row}\n")).collect();
    let header = good.split_once('\n').unwrap().0;
    for (content, told) in [
        (
            marked("N/A"),
            &["\"N/A\" is not a number, but 180 of the 200", "empty, ?, NA, NaN or null"][..],
        ),
        (
            format!("a,name\n{names}"),
            &["is the target, and has 60 different texts", "--target names another column"],
        ),
        (format!("{good},,\n"), &["bad.csv:102: the line has only empty fields"]),
        (format!("{good}1,2,\n"), &["the last column was taken", "--target names another"]),
        (format!("{good}Total,5,1\n"), &["bad.csv:102", "delete line 102 if it is no row"]),
        (format!("Sensor export 2024\n\n{good}"), &["may be a title", "delete a title"]),
        (
            good.replace("\n", ",\n").replacen(",\n", "\n", 1),
            &["bad.csv:2", "ends in a delimiter", "the column is then left out"],
        ),
        (format!("{good}# end\n"), &["bad.csv:102", "--comment '#'"]),
        (format!("{good}# 1,2,0\n"), &["bad.csv:102", "--comment '#'"]),
    ] {
        with(content).train_fails("bad.csv", told);
    }
    let latin = [b"gr\xf6\xdfe,y,above\n", &good.as_bytes()[header.len() + 1..]].concat();
    with(latin).train_fails("bad.csv", &["not UTF-8 text", "CSV UTF-8", "WINDOWS-1252"]);
    let folder = with(good.replacen("x,y", "\"x, volts\",y", 1));
    let drop = ["train", "bad.csv", "-o", "m.koan", "--drop", "x, volts"];
    let refused = folder.command("").args(drop).assert().code(1);
    let message = text(&refused.get_output().stderr);
    assert!(message.contains("give the number of a column with a comma"), "{message}");
}

/// The library knows no options; the command names the one that helps.
#[test]
fn the_option_that_helps_is_named() {
    let good = quadrants(100);
    let bad = |line: &str| with(format!("{good}{line}\n"));
    bad("0.5,,1").train_fails("bad.csv", &["bad.csv:102", "is missing", "--missing impute"]);
    bad("0.5,oops,1").train_fails("bad.csv", &["bad.csv:102", "--text", "--drop"]);
    let numbered = with(format!("0,1,2\n{}", good.split_once('\n').unwrap().1));
    numbered.train_fails("bad.csv", &["bad.csv:1: ", "header", "--header yes|no"]);
    numbered.train("bad.csv --header yes").success();
    let many: String = (0..1100).map(|row| format!("name{row},{row}.5\n")).collect();
    with(format!("a,y\n{many}")).train_fails("bad.csv", &["more than 1000", "--drop"]);
    let times: String = (0..60).map(|row| format!("12:{row},{row}.5,{}\n", row % 3)).collect();
    let folder = with(format!("when,a,y\n{times}"));
    folder.train_fails("bad.csv", &["60 different dates or times", "--drop", "--text"]);
    folder.train("bad.csv --drop when").success();
    let names = times.replace("12:", "no. ");
    with(format!("name,a,y\n{names}"))
        .train_fails("bad.csv", &["60 different texts in 60 rows", "--drop", "--text"]);
    with(format!("# noon\n{good}")).train_fails("bad.csv", &["begins with `#`", "--comment '#'"]);
    with("a\tb\ty\n1,5\t1\tu\n2,5\t2\tv\n")
        .train_fails("bad.csv", &["decimal comma", "semicolons between fields"]);
    with(format!("{good}1,2,\n"))
        .train_fails("bad.csv", &["target is missing", "leaves such rows out"]);
    let folder = with(&good);
    folder.train_fails("bad.csv --label-from file --target x", &["--target, --label-from"]);
    folder.train_fails("bad.csv --weights x --window 4", &["--weights, --window"]);
    folder.train_fails(
        "bad.csv --window 8 --stride 4",
        &["overlap", "(--group file where each file", "of a single recording leave --stride out"],
    );
    folder.write("s.svm", "1 1:1\n-1 1:2\n1 1:3\n-1 1:2\n");
    folder.train_fails("s.svm --label-from file", &["svmlight", "(--label-from)"]);
    folder.write("t10k-images", [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7]);
    folder.train_fails("t10k-images", &["no labels found", "(--labels FILE)"]);
    // Under a schema the options of training are of no help.
    folder.train("bad.csv").success();
    let from_paths = "eval m.koan bad.csv --label-from file";
    folder.fails(from_paths, &["the labels that the model learned are in", "(--label-from)"]);
    folder.write("hole.csv", "x,y,above\n0.5,,1\n");
    let output = folder.run("eval m.koan hole.csv").code(1).get_output().clone();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("`koan train --missing impute`") && !told.contains("(--missing"),
        "{told}"
    );
}

/// Columns that are read otherwise than they look are told, in words, in JSON and on the page.
#[test]
fn warnings_about_columns() {
    let mut csv = "time,b,y\n".to_owned();
    for row in 0..60u64 {
        let b = if row % 4 == 0 { "off".to_owned() } else { (row % 7).to_string() };
        let time = 1_600_000_000_000_000 + row * 1_000_000;
        csv += &format!("{time},{b},{}\n", if row % 3 == 0 { "u" } else { "v" });
    }
    let folder = with(csv);
    let told = [
        "`b`): \"off\" is not a number",
        "`time`): 16000",
        "of the column's spread",
        "`time`) never falls from one row to the next",
    ];
    let output = folder.train("bad.csv --report r.html --json -k 8").success();
    let [warned, printed] = [&output.get_output().stderr, &output.get_output().stdout]
        .map(|b| String::from_utf8_lossy(b));
    assert_eq!(
        warned.lines().filter(|line| line.starts_with("warning: bad.csv:")).count(),
        3,
        "{warned}"
    );
    let page = String::from_utf8(folder.read("r.html")).unwrap();
    for part in told {
        let quoted = part.replace('"', "\\\"");
        let escaped = part.replace('"', "&quot;");
        assert!(warned.contains(part) && printed.contains(&quoted), "{part}: {warned} {printed}");
        assert!(page.contains(&escaped), "{part}");
    }
    let streamed = folder.train("bad.csv --stream yes -k 8").success();
    let warned = String::from_utf8(streamed.get_output().stderr.clone()).unwrap();
    assert!(told.iter().all(|part| warned.contains(part)), "{warned}");
    let tuned = folder.run("tune bad.csv -o front --minutes 0.01 --flash 400 --family fourier");
    let warned = String::from_utf8(tuned.success().get_output().stderr.clone()).unwrap();
    assert!(told.iter().all(|part| warned.contains(part)), "{warned}");
}
