//! What is written to: never what is read, and nothing that would only fail in the end.

use std::os::unix::fs::symlink;

use crate::common::{Folder, QUICK, quadrants, text};

/// A folder with data and a model.
fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    folder.write("t.csv", quadrants(40));
    folder.train("q.csv --family maxout -k 12").success();
    folder
}

/// Every output of every command, given an input of it, by its name, by other paths and by
/// links: refused before anything is read, and nothing is lost.
#[test]
fn an_output_that_is_an_input() {
    let folder = trained();
    symlink("q.csv", folder.path("link")).unwrap();
    std::fs::hard_link(folder.path("q.csv"), folder.path("hard.csv")).unwrap();
    std::fs::create_dir(folder.path("sub")).unwrap();
    symlink("sub", folder.path("sub-link")).unwrap();
    folder.write("sub/part.csv", quadrants(50));
    let (data, model) = (folder.read("q.csv"), folder.read("m.koan"));
    for arguments in [
        "train q.csv -o q.csv",
        "train q.csv -o ./sub/../q.csv",
        "train q.csv -o link",
        "train link -o q.csv",
        "train q.csv -o hard.csv",
        "train sub -o sub/part.csv",
        "train sub -o sub-link/part.csv",
        "train q.csv --test t.csv -o t.csv",
        "train q.csv -o n.koan --report q.csv",
        "train q.csv --test t.csv -o n.koan --report t.csv",
        "train q.csv -o n.koan --stream yes --checkpoint q.csv",
        "train q.csv -o n.koan --labels t.csv --report t.csv",
        "tune q.csv -o front --report q.csv --minutes 0.01",
        "eval m.koan q.csv --report q.csv",
        "eval m.koan q.csv --report m.koan",
        "shrink m.koan q.csv --flash 200 -o m.koan",
        "shrink m.koan q.csv --flash 200 -o q.csv",
        "shrink m.koan q.csv --test t.csv --flash 200 -o t.csv",
        "shrink m.koan q.csv --flash 200 -o n.koan --report m.koan",
        "inspect m.koan --rust m.koan",
    ] {
        folder.fails(arguments, &["cannot write", "it is an input"]);
    }
    for arguments in [
        "demo -o d.koan --rows d.koan",
        "demo -o d.koan --rows d.csv --train-rows ./d.csv",
        "train q.csv -o n.koan --report ./n.koan",
        "shrink m.koan q.csv --flash 200,200 -o n.koan",
    ] {
        folder.fails(arguments, &["cannot write", "something else is written there"]);
    }
    // A model that is data would be replaced by chance only.
    std::fs::copy(folder.path("q.csv"), folder.path("sub/q.koan")).unwrap();
    folder.fails("tune sub/q.koan -o sub --minutes 0.01", &["sub", "might be replaced"]);
    assert!(folder.read("q.csv") == data && folder.read("hard.csv") == data);
    assert!(folder.read("m.koan") == model && folder.path("link").is_symlink());
    assert!(!folder.path("n.koan").exists() && !folder.path("d.koan").exists());
}

/// Without a name the model gets that of the data, and replaces nothing but a model.
#[test]
fn a_model_without_a_name() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("rows")).unwrap();
    folder.write("rows/q.csv", quadrants(100));
    folder.write_gzip("rows/z.v2.csv.gz", quadrants(100));
    let said = folder.output(&format!("train rows/q.csv -k 8 {QUICK}"));
    assert!(said.starts_with("q.koan: ") && said.contains("`koan inspect q.koan`"), "{said}");
    let first = folder.read("q.koan");
    folder.run(&format!("train rows/q.csv -k 9 {QUICK}")).success();
    assert!(folder.read("q.koan") != first);
    folder.run(&format!("train rows/z.v2.csv.gz -k 8 {QUICK}")).success();
    folder.run(&format!("train rows -k 8 {QUICK}")).success();
    assert!(folder.path("z.v2.koan").exists() && folder.path("rows.koan").exists());
    folder.write("q.koan", "notes");
    let refused = ["q.koan is there and is no model", "--output"];
    folder.fails(&format!("train rows/q.csv {QUICK}"), &refused);
    assert_eq!(folder.read("q.koan"), b"notes");
    folder.fails(&format!("train rows/.. {QUICK}"), &["no name", "--output"]);
}

#[test]
fn what_is_read_more_than_once_is_no_standard_input() {
    let folder = Folder::new();
    for command in ["train - -o m.koan", "tune - --flash 1k -o m", "eval m.koan -"] {
        folder.fails(command, &["only `predict` reads standard input"]);
    }
}

/// `koan predict model q.csv >> q.csv` would read what it writes.
#[test]
fn standard_output_that_is_an_input() {
    let folder = trained();
    for arguments in ["predict m.koan t.csv q.csv", "codes m.koan q.csv"] {
        let before = folder.read("q.csv");
        let out = std::fs::File::options().append(true).open(folder.path("q.csv")).unwrap();
        let program = folder.command("").get_program().to_owned();
        let mut command = std::process::Command::new(program);
        command.current_dir(folder.path(".")).args(arguments.split_whitespace());
        let output = command.stdout(out).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert!(text(&output.stderr).contains("q.csv: it is an input"), "{arguments}");
        assert!(folder.read("q.csv") == before, "{arguments}");
    }
}

/// An output that cannot be written is told before the data are read, let alone searched:
/// the data are not even there.
#[test]
fn outputs_are_checked_first() {
    let folder = trained();
    std::fs::create_dir(folder.path("taken")).unwrap();
    let mut fixed = std::fs::metadata(folder.path("m.koan")).unwrap().permissions();
    fixed.set_readonly(true);
    std::fs::set_permissions(folder.path("m.koan"), fixed).unwrap();
    folder.write("broken.csv", "a,b\n1\n");
    for (output, problem) in [
        ("no/m.koan", "there is no such folder"),
        ("taken", "a folder is there"),
        ("q.csv/m.koan", "q.csv/m.koan"),
        ("m.koan", "read-only"),
        ("/dev/null", "a device or a pipe is not replaced"),
    ] {
        for command in [
            format!("train broken.csv -o {output}"),
            format!("train broken.csv -o n.koan --report {output}"),
            format!("train broken.csv -o n.koan --stream yes --checkpoint {output}"),
            format!("tune broken.csv -o front --report {output}"),
            format!("eval broken.csv broken.csv --report {output}"),
            format!("shrink broken.csv broken.csv --flash 300 -o {output}"),
            format!("shrink broken.csv broken.csv --flash 300 -o n.koan --report {output}"),
            format!("demo -o {output}"),
            format!("demo -o n.koan --rows {output}"),
            format!("inspect broken.csv --rust {output}"),
        ] {
            folder.fails(&command, &["cannot write", output, problem]);
        }
    }
    folder.fails("tune broken.csv -o q.csv", &["cannot write to the folder q.csv"]);
    folder.fails("tune broken.csv -o q.csv/front", &["cannot write to the folder q.csv/front"]);
}

/// It stood for a file of that name, which many shells and tools cannot remove.
#[test]
fn files_that_are_no_models_are_not_read_to_their_end() {
    let folder = trained();
    let file = std::fs::File::create(folder.path("huge.koan")).unwrap();
    file.set_len(1 << 33).unwrap();
    for command in ["inspect huge.koan", "predict huge.koan q.csv"] {
        folder.fails(command, &["huge.koan: ", "KOAN"]);
    }
    let sign = "sign m.koan --key huge.koan --counter 1 -o s.koan";
    folder.fails(sign, &["huge.koan: more than 4096 bytes"]);
    folder.fails(
        "tune q.csv -o found --report found/60-linear.koan",
        &["60-linear.koan: a model may have this name"],
    );
}

#[test]
fn standard_output_takes_no_models() {
    let folder = trained();
    for command in [
        "train q.csv -o -",
        "train q.csv -o n.koan --report -",
        "tune q.csv -o - --minutes 0.01",
        "shrink m.koan q.csv --flash 200 -o -",
        "demo -o -",
        "inspect m.koan --rust -",
    ] {
        folder.fails(command, &["cannot write to `-`", "--output"]);
    }
    folder.run(&format!("train q.csv -k 8 -o ./- {QUICK}")).success();
    assert!(folder.path("-").is_file());
}

#[test]
fn a_link_stays_and_leads_to_the_new_model() {
    let folder = trained();
    symlink("m.koan", folder.path("current")).unwrap();
    let before = folder.read("m.koan");
    folder.run(&format!("train q.csv -k 13 -o current {QUICK}")).success();
    assert!(folder.path("current").is_symlink());
    assert!(!folder.path("m.koan").is_symlink() && folder.read("m.koan") != before);
}

/// What a run that was killed has left is deleted by the next one, and nothing else.
#[test]
fn temporary_files_of_killed_runs() {
    let folder = trained();
    let dead = ".koan-4294967295-AbCd12";
    let live = format!(".koan-{}-AbCd12", std::process::id());
    for name in [dead, &live, ".koan-mine"] {
        folder.write(name, "half a model");
    }
    folder.train("q.csv -k 12").success();
    assert!(!folder.path(dead).exists());
    assert!(folder.path(&live).exists() && folder.path(".koan-mine").exists());
    // In the folder of a search, too.
    std::fs::create_dir(folder.path("front")).unwrap();
    folder.write(&format!("front/{dead}"), "half a model");
    folder.write("broken.csv", "a,b\n1\n");
    folder.fails("tune broken.csv -o front", &["broken.csv:2"]);
    assert!(!folder.path("front").join(dead).exists());
}
