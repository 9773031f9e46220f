//! Readers that have seen enough, as in `koan ... | head -1`.

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{Folder, QUICK, quadrants};

/// The signal of a pipe that nobody reads.
const SIGPIPE: i32 = 13;

fn command(folder: &Folder, arguments: &str) -> Command {
    let mut command = Command::new(folder.command("").get_program());
    command.current_dir(folder.path(".")).args(arguments.split_whitespace());
    command.stdin(Stdio::null());
    command
}

/// Every subcommand ends by the signal, as other tools do, and says nothing.
#[test]
fn a_closed_pipe_ends_every_subcommand_quietly() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.train("q.csv --family maxout -k 40").success();
    let model = folder.read("m.koan");
    let train = format!("train q.csv -o piped.koan {QUICK} --family maxout -k 40");
    for arguments in [
        "demo",
        &train,
        &format!("{train} --json"),
        &format!("{train} --stream yes"),
        "eval m.koan q.csv",
        "eval m.koan q.csv --json",
        "predict m.koan q.csv",
        "predict m.koan q.csv --format json",
        "codes m.koan q.csv",
        "codes m.koan q.csv --nearest 2",
        "inspect m.koan",
        "inspect m.koan --json",
        "inspect m.koan --hex",
        "train --help",
    ] {
        let _ = std::fs::remove_file(folder.path("piped.koan"));
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = command(&folder, arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        // A model of so few features may be told to be of little use.
        let told = String::from_utf8_lossy(&output.stderr);
        let others =
            told.lines().filter(|line| !line.starts_with("warning: the model is no better"));
        assert_eq!(others.count(), 0, "{arguments}: {told}");
        assert_eq!(output.status.signal(), Some(SIGPIPE), "{arguments}: {}", output.status);
        // The model was safe before anything was printed.
        if arguments == train {
            assert!(folder.read("piped.koan") == model);
        }
        assert_eq!(arguments.starts_with("train q.csv"), folder.path("piped.koan").exists());
    }
    // Neither halves of files nor checkpoints are left.
    let names = std::fs::read_dir(folder.path(".")).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["m.koan", "q.csv"]);
}

/// More lines than a pipe holds, of which one is read.
#[test]
fn the_first_line_is_enough() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.train("q.csv -k 12").success();
    folder.write("long.csv", format!("x,y\n{}", "0.25,-0.5\n".repeat(50_000)));
    let mut child = command(&folder, "predict m.koan long.csv --scores")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("class,score"));
    drop(lines);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    assert_eq!(child.wait().unwrap().signal(), Some(SIGPIPE));
}

/// Rows that come one by one are answered one by one.
#[test]
fn a_row_on_a_pipe_is_answered_before_the_next_one_comes() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.train("q.csv -k 12").success();
    for (arguments, first) in
        [("predict m.koan", Some("class")), ("predict m.koan --format json", None)]
    {
        let mut child = command(&folder, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut rows = child.stdin.take().unwrap();
        let output = child.stdout.take().unwrap();
        let (send, answers) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            BufReader::new(output).lines().for_each(|line| send.send(line.unwrap()).unwrap());
        });
        // Whoever never answers does not keep the test waiting.
        let answer = || answers.recv_timeout(Duration::from_secs(60));
        rows.write_all(b"x,y\n0.5,0.25\n").unwrap();
        if let Some(first) = first {
            assert_eq!(answer().as_deref(), Ok(first));
        }
        assert!(answer().is_ok(), "{arguments}: no answer to the first row");
        rows.write_all(b"-0.5,0.25\n").unwrap();
        assert!(answer().is_ok(), "{arguments}: no answer to the second row");
        drop(rows);
        assert!(child.wait().unwrap().success());
        reader.join().unwrap();
    }
}

/// A family's row is there when the family has been trained, not when all have.
#[test]
fn the_demo_prints_row_by_row() {
    let folder = Folder::new();
    let mut child = command(&folder, "demo").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.take(5).map(Result::unwrap).collect();
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lines[2].trim_start().starts_with("family "), "{lines:?}");
    let (heading, row) = (lines[2].chars().count(), lines[4].chars().count());
    assert!(lines[4].starts_with("1 of 7  fourier ") && row == heading, "{lines:?}");
    assert!(!folder.path("digits.koan").exists());
}
