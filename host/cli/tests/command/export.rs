//! `koan export`: from data to a program in C that predicts what the command predicts. The C
//! compiler is the one that links Rust programs.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Folder, quadrants, sensors, text, waves};

pub const WARNINGS: [&str; 7] =
    ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"];

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

/// Compiles the exported files with this one as the main program, and the runtime as
/// [`compile_runtime`] left it.
pub fn compile(folder: &Folder, main: &str, program: &str) {
    cc(folder, "out", &[main, "m.c", "koan.o", "-lm", "-o", program]);
}

/// Compiles the runtime of an export, for all of its programs.
fn compile_runtime(folder: &Folder, out: &str) {
    cc(folder, out, &["-c", "koan.c", "-o", "koan.o"]);
}

fn cc(folder: &Folder, out: &str, arguments: &[&str]) {
    let mut command = Command::new("cc");
    command.current_dir(folder.path(out)).args(WARNINGS).args(arguments);
    let output = command.output().expect("there is a C compiler");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
}

/// What the exported program says of these rows.
pub fn run(folder: &Folder, rows: &str) -> String {
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
pub fn exported(folder: &Folder) {
    let told = folder.output("export m.koan --c out");
    let files = ["koan.h", "koan.c", "koan_config.h", "m.h", "m.c", "main.c"];
    let paths: Vec<_> = files.map(|file| Path::new("out").join(file)).to_vec();
    assert_eq!(told.lines().map(Path::new).collect::<Vec<_>>(), paths);
    compile_runtime(folder, "out");
    compile(folder, "main.c", "program");
    std::fs::write(folder.path("out/check.c"), CHECK).unwrap();
    compile(folder, "check.c", "check");
    let status = Command::new(folder.path("out/check")).status().unwrap();
    assert!(status.success(), "koan_parse and the constant differ");
}

/// As `quadrants`, in whole numbers.
pub fn whole(rows: usize) -> String {
    let csv = quadrants(rows);
    let lines = csv.lines().skip(1).map(|line| {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        format!("{:.0},{:.0},{}\n", 1000.0 * numbers[0], 1000.0 * numbers[1], numbers[2])
    });
    format!("x,y,above\n{}", lines.collect::<String>())
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
fn a_regression_becomes_a_program_that_predicts_the_same_values() {
    let folder = Folder::new();
    let csv = waves(300);
    folder.write("w.csv", &csv);
    folder.train("w.csv --task regression").success();
    exported(&folder);
    let text = run(&folder, &rows(&csv));
    let expected = predicted(&folder, "w.csv");
    assert_eq!(text.lines().count(), expected.len());
    for (ours, expected) in text.lines().zip(expected) {
        let [ours, expected]: [f32; 2] = [ours, &expected].map(|number| number.parse().unwrap());
        assert_eq!(ours, expected);
    }
}

#[test]
fn a_file_of_rust_includes_the_model() {
    let folder = Folder::new();
    folder.write("s.csv", sensors(150));
    folder.train("s.csv --features 16").success();
    // The model lies beside the file already.
    assert_eq!(folder.output("export m.koan --rust row.rs"), "row.rs\n");
    folder.output("inspect m.koan --rust columns.rs");
    let read = |name: &str| text(&folder.read(name));
    let (source, columns) = (read("row.rs"), read("columns.rs"));
    let constants = columns.lines().filter(|line| line.starts_with("pub const"));
    for line in constants.chain(["koan::include_model! {", "pub mod model = \"m.koan\""]) {
        assert!(source.contains(line), "{line} is not in: {source}");
    }
    assert!(source.contains("row::model::predictor()"), "{source}");

    let told = folder.output("export m.koan --rust src");
    let paths = ["m.koan", "m.rs"].map(|file| Path::new("src").join(file));
    assert_eq!(told.lines().map(Path::new).collect::<Vec<_>>(), paths);
    assert_eq!(folder.read("src/m.koan"), folder.read("m.koan"));
    folder.output("export m.koan --rust src");
    // What somebody wrote stays, and words of Rust are no modules.
    folder.write("src/m.rs", "fn mine() {}");
    folder.fails("export m.koan --rust src", &["m.rs", "--rust FILE.rs"]);
    assert_eq!(read("src/m.rs"), "fn mine() {}");
    folder.write("src/main.rs", "fn main() {}");
    folder.fails("export m.koan --rust src/main.rs", &["main.rs is there", "--rust FILE.rs"]);
    std::fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/m.koan", "a poem");
    folder.fails("export m.koan --rust other/row.rs", &["m.koan is there and no model"]);
    assert_eq!(
        (read("src/main.rs"), read("other/m.koan")),
        ("fn main() {}".into(), "a poem".into())
    );
    // Nor is another model written over, but by the file that includes it.
    std::fs::create_dir(folder.path("new")).unwrap();
    folder.output("export m.koan --rust new/a.rs");
    folder.train("s.csv --features 8").success();
    folder.fails("export m.koan --rust new/b.rs", &["m.koan is there and another model"]);
    assert_ne!(folder.read("new/m.koan"), folder.read("m.koan"));
    folder.output("export m.koan --rust new/a.rs");
    assert_eq!(folder.read("new/m.koan"), folder.read("m.koan"));
    std::fs::copy(folder.path("m.koan"), folder.path("loop.koan")).unwrap();
    let told = folder.output("export loop.koan --rust src");
    assert!(told.contains("loop_model.rs"), "{told}");
}

#[test]
fn an_example_that_was_changed_stays() {
    let folder = Folder::new();
    folder.write("q.csv", whole(300));
    folder.train("q.csv").success();
    for (option, example) in [("--c", "main.c"), ("--arduino", "out.ino")] {
        let export = format!("export m.koan {option} out");
        folder.output(&export);
        let example = Path::new("out").join(example).display().to_string();
        let again = folder.run(&export).success().stderr("");
        assert!(text(&again.get_output().stdout).contains(&example));
        folder.write(&example, "mine");
        // Of a model with other columns it may not compile, or read the wrong ones.
        let header = text(&folder.read("out/m.h"));
        folder.write("out/m.h", header.replace("M_COLUMN_Y 1", "M_COLUMN_SPEED 1"));
        let other = folder.run(&export).success();
        let told = text(&other.get_output().stderr);
        assert!(told.contains("it may not fit this model"), "{told}");
        folder.write("out/m.h", header.replace("M_HALVES 2", "M_HALVES 4"));
        folder.write("out/m.c", "/* `koan export` made this file. */ replaced");
        let kept = folder.run(&export).success();
        let told = text(&kept.get_output().stderr);
        assert_eq!(told, format!("{example} is there already and stays as it is\n"));
        assert!(!text(&kept.get_output().stdout).contains(&example));
        assert_eq!(folder.read(&example), b"mine");
        assert!(!text(&folder.read("out/m.c")).contains("replaced"));
        // What somebody else wrote stays: all of it, even if only one file is theirs.
        for file in ["out/m.c", "out/m.h", "out/koan.c"] {
            let before = folder.read(file);
            folder.write(file, "/* The driver of a sensor. */");
            folder.fails(&export, &[file.trim_start_matches("out/"), "not of `koan export`"]);
            assert_eq!(folder.read(file), b"/* The driver of a sensor. */");
            folder.write(file, before);
        }
        folder.write("mine.rs", "fn mine() {}");
        folder.fails("inspect m.koan --rust mine.rs", &["mine.rs is there", "`koan inspect`"]);
        assert_eq!(folder.read("mine.rs"), b"fn mine() {}");
    }
}

/// Two models with other inputs and families, `m.koan` in `first` and `other.koan` in `second`.
fn two_models(folder: &Folder) {
    folder.write("s.csv", sensors(150));
    folder.train("s.csv --family stump").success();
    std::fs::copy(folder.path("m.koan"), folder.path("other.koan")).unwrap();
    folder.write("q.csv", quadrants(300));
    folder.run("train q.csv -o m.koan --family linear --lambda 0.001 --map per-input").success();
    folder.output("export m.koan --c first");
    folder.output("export other.koan --c second");
}

#[test]
fn a_folder_is_that_of_one_model() {
    let folder = Folder::new();
    two_models(&folder);
    let before = folder.read("first/koan_config.h");
    let parts = ["koan_config.h", "another model, m.koan", "another folder", "docs/c.md"];
    folder.fails("export other.koan --c first", &parts);
    folder.fails("export other.koan --arduino first", &parts);
    assert_eq!(folder.read("first/koan_config.h"), before);
    assert!(!folder.path("first/other.c").exists());
    folder.write("first/koan_config.h", "/* of both */\n");
    folder.fails("export m.koan --c first", &["not of `koan export`", "another folder"]);
}

#[test]
fn a_model_does_not_compile_for_another_one() {
    let folder = Folder::new();
    two_models(&folder);
    let compiled = |files: &[&str]| {
        let output = Command::new("cc")
            .current_dir(folder.path("second"))
            .args(WARNINGS)
            .args(files)
            .args(["-lm", "-o", "program"])
            .output()
            .unwrap();
        (output.status.success(), text(&output.stderr))
    };
    let [first, second] =
        ["first", "second"].map(|name| text(&folder.read(&format!("{name}/koan_config.h"))));
    // A macro without a value leaves out what one that is 1 does.
    for first in [first.clone(), first.replace("KOAN_NO_STUMP 1", "KOAN_NO_STUMP")] {
        folder.write("second/koan_config.h", &first);
        let (success, told) = compiled(&["main.c", "other.c", "koan.c"]);
        assert!(!success);
        let inputs = "this one has 5 inputs, not KOAN_INPUTS";
        for part in [inputs, "needs what KOAN_NO_STUMP leaves out"] {
            assert!(told.contains(part), "`{part}` is not in: {told}");
        }
    }
    // As docs/c.md says: the lines that both files have.
    let both: Vec<&str> = second.lines().filter(|line| first.lines().any(|l| l == *line)).collect();
    folder.write("second/koan_config.h", both.join("\n") + "\n");
    for file in ["m.h", "m.c"] {
        std::fs::copy(folder.path("first").join(file), folder.path("second").join(file)).unwrap();
    }
    folder.write(
        "second/both.c",
        "#include \"m.h\"\n#include \"other.h\"\n\
         M_MEMORY(memory);\nOTHER_MEMORY(of_other);\n\
         int main(void) {\n    return koan_self_test(&m, &memory) != KOAN_OK ||\n           \
         koan_self_test(&other, &of_other) != KOAN_OK;\n}\n",
    );
    let (success, told) = compiled(&["both.c", "m.c", "other.c", "koan.c"]);
    assert!(success, "{told}");
    assert!(Command::new(folder.path("second/program")).status().unwrap().success());
}

#[test]
fn the_program_says_which_line_is_no_row() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    exported(&folder);
    let good = run(&folder, "1,-1\n\n \t\r\n0.5 , -2e-1\r\n-1\t1\n1  1");
    assert_eq!(good.lines().count(), 4, "{good}");
    let long = format!("1,1\n1,{}1\n", " ".repeat(500));
    let cases = [
        ("x,y\n1,2\n", 1),
        ("1;2\n", 1),
        ("1,2\n1\n", 2),
        ("1,2\n\n1,\n", 3),
        ("1,2\n,2\n", 2),
        ("1,,2\n", 1),
        ("1,2,3\n", 1),
        ("1,2,\n", 1),
        ("1-2\n", 1),
        ("1,2x\n", 1),
        (&long, 2),
    ];
    for (rows, line) in cases {
        folder.write("rows.txt", rows);
        let output = Command::new(folder.path("out/program"))
            .stdin(Stdio::from(std::fs::File::open(folder.path("rows.txt")).unwrap()))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{rows}");
        let expected = format!("line {line}: not 2 numbers, separated by commas or blanks\n");
        assert_eq!(text(&output.stderr), expected, "{rows}");
        assert_eq!(text(&output.stdout).lines().count(), line - 1 - rows.matches("\n\n").count());
    }
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
fn a_sketch_has_a_name_that_arduino_opens() {
    let folder = Folder::new();
    folder.write("q.csv", whole(300));
    folder.train("q.csv").success();
    let long = "a".repeat(64);
    for name in ["sk-é", "./-sketch", "sketch.", "a+b", &long] {
        let parts = [name, "letters", "digits", "'_', '.' and '-'", "63"];
        folder.fails(&format!("export m.koan --arduino {name}"), &parts);
        assert!(!folder.path(name).exists());
    }
    folder.output("export m.koan --arduino My_sketch-1.0");
}

#[test]
fn a_name_that_c_has_is_not_taken_from_it() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    // A function of libm, one of the runtime, keywords, a header, and names of the files made here.
    for name in [
        "log",
        "koan_parse",
        "int",
        "switch",
        "math",
        "memory",
        "bytes",
        "row",
        "line",
        "problem",
        "main",
    ] {
        std::fs::copy(folder.path("m.koan"), folder.path(&format!("{name}.koan"))).unwrap();
        let out = format!("out_{name}");
        let export = folder.run(&format!("export {name}.koan --c {out}")).success();
        let told = text(&export.get_output().stderr);
        assert!(told.contains(&format!("{name}_model: {name} is")), "{told}");
        let files = text(&export.get_output().stdout);
        assert!(files.contains(&format!("{name}_model.h")), "{files}");
        // One model and one runtime: what differs are the names.
        if name == "log" {
            compile_runtime(&folder, &out);
        }
        let model = format!("{name}_model.c");
        let program = ["-I.", "main.c", &model, "../out_log/koan.o", "-lm", "-o", "program"];
        cc(&folder, &out, &program);
    }
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
