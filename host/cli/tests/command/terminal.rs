//! What the terminal gets: errors where writing fails, and nothing that steers it.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use crate::common::{Folder, QUICK, quadrants, text};

/// Class names that clear the screen, ring, turn letters round, and are formulas.
const NASTY: [&str; 3] = ["\u{1b}[2J\u{9b}31mred\u{7}", "=cmd|'/c calc'!A1", "a\u{202e}b"];

fn command(folder: &Folder, arguments: &str) -> Command {
    let mut command = Command::new(folder.command("").get_program());
    command.current_dir(folder.path(".")).args(arguments.split_whitespace());
    command.stdin(Stdio::null());
    command
}

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

/// Every subcommand fails with a message where standard output does, and none panics.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_fails() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.train("q.csv --family maxout -k 12").success();
    let train = format!("train q.csv -o piped.koan {QUICK} --family maxout -k 12");
    for arguments in [
        "demo",
        &train,
        &format!("{train} --json"),
        "tune q.csv -o front --minutes 0.01 --flash 300 --family fourier",
        "shrink m.koan q.csv --flash 200 --candidates 16 --bits 4 --loss squared -o s.koan",
        "eval m.koan q.csv",
        "eval m.koan q.csv --json",
        "predict m.koan q.csv",
        "predict m.koan q.csv --format json",
        "codes m.koan q.csv",
        "codes m.koan q.csv --nearest 2",
        "inspect m.koan",
        "inspect m.koan --json",
        "inspect m.koan --hex",
        "--help",
        "--version",
    ] {
        let output = command(&folder, arguments).stdout(full()).output().unwrap();
        let said = text(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("error: cannot write to standard output: "),
            "{arguments}: {said}"
        );
        assert_eq!(output.status.code(), Some(1), "{arguments}");
    }
    // A message that nobody gets changes nothing else.
    for (arguments, code) in [("eval no.koan q.csv", 1), ("eval", 2), ("eval m.koan q.csv", 0)] {
        let output = command(&folder, arguments).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}");
    }
}

/// Two classes of a table, with names that no terminal should see.
fn nasty(rows: usize) -> String {
    let mut csv = "x\u{1b}[31m,y\u{7},\u{9b}2Jclass\n".to_owned();
    for (row, line) in quadrants(rows).lines().skip(1).enumerate() {
        let (numbers, above) = line.rsplit_once(',').unwrap();
        let class = NASTY[above.parse::<usize>().unwrap()];
        csv += &match row % 2 {
            0 => format!("{numbers},\"{class}\"\n"),
            _ => format!("{numbers},{class}\n"),
        };
    }
    csv
}

fn harmless(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
}

#[test]
fn names_do_not_steer_the_terminal() {
    let folder = Folder::new();
    folder.write("n.csv", nasty(100));
    folder.train("n.csv -k 12 --report train.html").success();
    folder.write("bad.csv", format!("{}0.5,0.5,\u{1b}[2Jgreen\n", nasty(100)));
    folder.write("slip.csv", format!("{}oo\u{1b}ps,0.5,{}\n", nasty(100), NASTY[0]));
    let mut all = Vec::new();
    for arguments in [
        "train n.csv -o n.koan -k 12",
        "train n.csv -o n.koan -k 12 --json",
        "train slip.csv -o n.koan",
        "train n.csv -o n.koan --target none",
        "train n.csv -o n.koan --positive none",
        "tune n.csv -o front --minutes 0.01 --flash 300 --family fourier",
        "eval m.koan n.csv --report eval.html",
        "eval m.koan n.csv --json",
        "eval m.koan bad.csv",
        "predict m.koan n.csv --probabilities",
        "predict m.koan n.csv --probabilities --format json",
        "predict m.koan slip.csv",
        "shrink m.koan n.csv --flash 200 --bits 4 --loss squared -o s.koan --report shrink.html",
        "inspect m.koan --rust rows.rs",
        "inspect m.koan --json",
        "inspect m.koan --hex",
    ] {
        let Output { stdout, stderr, .. } = command(&folder, arguments).output().unwrap();
        for said in [text(&stdout), text(&stderr)] {
            assert!(harmless(&said), "{arguments}: {said:?}");
            all.push(said);
        }
    }
    for page in ["train.html", "eval.html", "shrink.html", "rows.rs"] {
        assert!(harmless(&text(&folder.read(page))), "{page}");
    }
    // They are told, and can be told apart.
    for (index, shown) in
        [(12, r"\u{1b}[2J\u{9b}31mred\u{7}"), (26, r"a\u{202e}b"), (8, r"\u{1b}[2Jgreen")]
    {
        let found = all.iter().skip(index).any(|said| said.contains(shown));
        assert!(found, "{shown}");
    }
    // JSON has its own escapes, and says what there is.
    let lines = folder.output("predict m.koan n.csv --format json");
    let mut classes: Vec<String> = lines
        .lines()
        .map(|line| {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            object["class"].as_str().unwrap().to_owned()
        })
        .collect();
    classes.sort();
    classes.dedup();
    assert!(classes.iter().all(|class| NASTY.contains(&class.as_str())) && classes.len() > 1);
}

/// The class is no formula in the CSV that a spreadsheet opens.
#[test]
fn predictions_are_no_formulas() {
    let folder = Folder::new();
    folder.write("n.csv", nasty(200));
    folder.train("n.csv -k 12").success();
    let lines = folder.output("predict m.koan n.csv");
    let formulas = lines.lines().filter(|line| line.starts_with(['=', '+', '-', '@'])).count();
    let marked = lines.lines().filter(|line| line.starts_with("'=cmd|'/c calc'!A1")).count();
    assert!(formulas == 0 && marked > 20, "{marked}");
    // Numbers stay numbers.
    folder.write("w.csv", crate::common::waves(200));
    folder.train("w.csv -k 12").success();
    let lines = folder.output("predict m.koan w.csv");
    assert!(lines.lines().any(|line| line.starts_with('-')));
    assert!(lines.lines().skip(1).all(|line| line.parse::<f64>().is_ok()));
}

/// A blob that names its classes so, made by hand.
#[test]
fn a_blob_with_nasty_names() {
    let hex = "4b4f414e010102000201000000000000002dd10000000040ff0000020001006f12833a08000000000500\
               0000010001000f000128001b5b324a1b5b33316d7265641b5d303b6f776e6564070a3d636d647c272f63\
               2063616c632721413100000000a1a9abbf";
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let folder = Folder::new();
    folder.write("esc.koan", bytes);
    for arguments in ["inspect esc.koan", "inspect esc.koan --json", "inspect esc.koan --hex"] {
        let Output { stdout, stderr, .. } = command(&folder, arguments).output().unwrap();
        assert!(harmless(&text(&stdout)) && harmless(&text(&stderr)), "{arguments}");
        assert!(arguments.ends_with("--hex") || text(&stdout).contains("owned"), "{arguments}");
    }
    let shown = r"\u{1b}[2J\u{1b}[31mred\u{1b}]0;owned\u{7}";
    let output = command(&folder, "inspect esc.koan").output().unwrap();
    assert!(text(&output.stdout).contains(shown), "{}", text(&output.stdout));
}

/// A model that answers its golden rows otherwise, with a checksum that is right.
#[test]
fn every_command_tests_the_model() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.train("q.csv --family maxout -k 12").success();
    let mut blob = folder.read("m.koan");
    let end = blob.len() - 4;
    // The golden digest is what stands before the checksum of all.
    blob[end - 1] ^= 1;
    let checksum = crc32fast::hash(&blob[..end]);
    blob[end..].copy_from_slice(&checksum.to_le_bytes());
    folder.write("other.koan", blob);
    for arguments in [
        "eval other.koan q.csv",
        "predict other.koan q.csv",
        "codes other.koan q.csv",
        "shrink other.koan q.csv --flash 200 -o s.koan",
    ] {
        folder.fails(arguments, &["other.koan: ", "golden"]);
    }
    folder.run("inspect other.koan").code(1);
}
