//! `koan export`: from data to a program in C that predicts what the command predicts. The C
//! compiler is the one that links Rust programs.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Folder, quadrants, sensors};

const WARNINGS: [&str; 6] =
    ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"];

/// Compares the constant model with what the runtime finds in its blob.
const CHECK: &str = r#"#include "m.h"
#include <string.h>
int main(void) {
    koan_model found;
    memset(&found, 0, sizeof found);
    if (koan_parse(&found, m.blob, m.size) != KOAN_OK) return 1;
    return !(found.head == m.head && found.weights == m.weights && found.sections == m.sections &&
             found.halves == m.halves && found.words == m.words && found.work == m.work &&
             found.inputs == m.inputs && found.limit == m.limit && found.outputs == m.outputs &&
             found.flags == m.flags && found.banks == m.banks);
}
"#;

/// Compiles the exported files with this one as the main program.
fn compile(folder: &Folder, main: &str, program: &str) {
    let output = Command::new("cc")
        .current_dir(folder.path("out"))
        .args(WARNINGS)
        .args([main, "m.c", "koan.c", "-lm", "-o", program])
        .output()
        .expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What the exported program says of these rows.
fn run(folder: &Folder, rows: &str) -> String {
    folder.write("rows.txt", rows);
    let rows = std::fs::File::open(folder.path("rows.txt")).unwrap();
    let output = Command::new(folder.path("out").join("program"))
        .stdin(Stdio::from(rows))
        .output()
        .expect("the exported program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Exports `m.koan` and compiles it; the constant must be what parsing gives.
fn exported(folder: &Folder) {
    let told = folder.output("export m.koan --c out");
    let files = ["koan.h", "koan.c", "koan_config.h", "m.h", "m.c", "main.c"];
    let paths: Vec<_> = files.map(|file| Path::new("out").join(file)).to_vec();
    assert_eq!(told.lines().map(Path::new).collect::<Vec<_>>(), paths);
    compile(folder, "main.c", "program");
    std::fs::write(folder.path("out/check.c"), CHECK).unwrap();
    compile(folder, "check.c", "check");
    let status = Command::new(folder.path("out/check")).status().unwrap();
    assert!(status.success(), "koan_parse and the constant differ");
}

/// The rows of a CSV file without its first line and its last column.
fn rows(csv: &str) -> String {
    csv.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n").collect()
}

/// The first column of what `koan predict` prints, without its title.
fn predicted(folder: &Folder, file: &str) -> Vec<String> {
    let text = folder.output(&format!("predict m.koan {file}"));
    text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
}

#[test]
fn a_csv_file_becomes_a_program_that_predicts_the_same_classes() {
    let folder = Folder::new();
    let csv = quadrants(300);
    folder.write("q.csv", &csv);
    let families = [
        "linear",
        "fourier --projection gaussian",
        "fourier --projection hadamard --bits 2",
        "stump",
        "bin",
        "maxout",
        "sigmoid",
        "fern",
        "conv --shape 2x1",
        "series --shape 2x1 --kernel 2",
    ];
    for family in families {
        folder.train(&format!("q.csv --family {family}")).success();
        exported(&folder);
        let text = run(&folder, &rows(&csv));
        assert_eq!(text.lines().collect::<Vec<_>>(), predicted(&folder, "q.csv"), "{family}");
    }
    let header = String::from_utf8(folder.read("out/m.h")).unwrap();
    for constant in ["M_INPUTS 2", "M_CLASS_0 0", "M_COLUMN_"] {
        assert!(header.contains(&format!("#define {constant}")), "`{constant}`: {header}");
    }
}

#[test]
fn names_of_columns_and_values_are_constants() {
    let folder = Folder::new();
    folder.write("s.csv", sensors(150));
    folder.train("s.csv --features 16").success();
    exported(&folder);
    let header = String::from_utf8(folder.read("out/m.h")).unwrap();
    for constant in ["M_COLUMN_TEMP 0 ", "M_COLUMN_JOB_KIND_COOK 3 ", "M_COLUMN_LEVEL 4 "] {
        assert!(header.contains(&format!("#define {constant}")), "`{constant}`: {header}");
    }
    let text = folder.output("export m.koan --rust row.rs");
    assert_eq!(text, "");
    folder.output("inspect m.koan --rust same.rs");
    assert_eq!(folder.read("row.rs"), folder.read("same.rs"));
}

#[test]
fn a_sketch_has_the_name_of_its_folder() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    let told = folder.output("export m.koan --arduino blink");
    assert!(told.ends_with("blink.ino\n"), "{told}");
    let sketch = String::from_utf8(folder.read("blink/blink.ino")).unwrap();
    assert!(sketch.contains("#include \"m.h\"") && sketch.contains("void loop()"), "{sketch}");
}

#[test]
fn what_cannot_be_exported_is_said() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    std::fs::copy(folder.path("m.koan"), folder.path("koan.koan")).unwrap();
    folder.fails("export koan.koan --c out", &["koan.koan", "rename"]);
    folder.write("broken.koan", "KOAN");
    folder.fails("export broken.koan --c out", &["broken.koan"]);
    folder.write("file", "");
    folder.fails("export m.koan --c file", &["file"]);
    folder.run("export m.koan").code(2);
    folder.run("export m.koan --c a --arduino b").code(2);
}
