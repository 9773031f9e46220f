//! What exported programs and sketches do: windows of samples, names of classes, lengths of rows.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::common::{Folder, Random, quadrants, sensors, text};
use crate::export::{WARNINGS, compile, exported, run};

/// What of Arduino a sketch uses; the clock goes on with every look at it.
const ARDUINO: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <string.h>
class __FlashStringHelper;
#define F(text) reinterpret_cast<const __FlashStringHelper *>(text)
static unsigned long now;
inline unsigned long millis() { return now += 3; }
inline void delay(unsigned long time) { now += time; }
struct Port {
    void begin(long) {}
    operator bool() const { return false; }
    void print(const __FlashStringHelper *text) { fputs(reinterpret_cast<const char *>(text), stdout); }
    void print(char c) { putchar(c); }
    void print(int number) { printf("%d", number); }
    void print(double number, int digits) { printf("%.*f", digits, number); }
    void println() { putchar('\n'); }
    void println(const __FlashStringHelper *text) { print(text); println(); }
    void println(int number) { print(number); println(); }
};
static Port Serial;
"#;

/// Columns and a class of [`motions`]: names that C must not take for code, nor the templates for
/// theirs.
const COLUMNS: &str = "x @PREDICTED@\\,y,run,state\n";
const WALK: &str = "walk\"ing?\" @CALL@\\";

/// Motions of two recordings, slow and fast; what `given` takes away is missing.
fn motions(samples: usize, given: impl Fn(usize) -> bool) -> String {
    let mut random = Random::new(4);
    let mut csv = COLUMNS.to_owned();
    for t in 0..2 * samples {
        let (run, state) = if t < samples { ("a", "still") } else { ("b", WALK) };
        let x = random.number() * if t < samples { 0.3 } else { 2.0 };
        let x = if given(t) { x.to_string() } else { String::new() };
        writeln!(csv, "{x},{},{run},\"{}\"", random.number(), state.replace('"', "\"\"")).unwrap();
    }
    csv
}

/// The lines of a recording of [`motions`].
fn lines<'c>(csv: &'c str, run: &'c str) -> impl Iterator<Item = Vec<&'c str>> {
    let fields = csv.lines().skip(1).map(|line| line.splitn(4, ',').collect::<Vec<_>>());
    fields.filter(move |fields| fields[2] == run)
}

#[test]
fn samples_become_the_windows_of_koan_predict() {
    let folder = Folder::new();
    let whole = motions(400, |_| true);
    let gaps = motions(400, |t| t % 7 != 3);
    for (csv, options) in [
        (&whole, "--window 16 --stride 5"),
        (&whole, "--window 16 --stride 37"),
        (&whole, "--window 8 --stride 1 --group run"),
        (&gaps, "--window 16 --stride 16 --missing impute"),
    ] {
        folder.write("w.csv", csv);
        let group = if options.contains("--group") { "" } else { "--group run" };
        folder.train(&format!("w.csv {options} {group}")).success();
        // An example that is there would stay.
        _ = std::fs::remove_dir_all(folder.path("out"));
        exported(&folder);
        for recording in ["a", "b"] {
            let mut samples = String::new();
            let mut rows = COLUMNS.to_owned();
            for fields in lines(csv, recording) {
                let x = if fields[0].is_empty() { "nan" } else { fields[0] };
                writeln!(samples, "{x},{}", fields[1]).unwrap();
                writeln!(rows, "{}", fields.join(",")).unwrap();
            }
            folder.write("one.csv", rows);
            let expected = folder.output("predict m.koan one.csv --format json");
            let expected = expected.lines().map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["class"].as_str().unwrap().to_owned()
            });
            let classes = run(&folder, &samples);
            let classes: Vec<&str> = classes.lines().collect();
            assert_eq!(classes, expected.collect::<Vec<_>>(), "{options} {recording}");
            assert!(classes.len() > 10, "{options}: {}", classes.len());
        }
    }
    // Too few samples are told, and so is a line that is none.
    for (samples, code, told) in [
        ("1,1\n2,2\n", 0, "no window: fewer than 16 samples\n"),
        ("1,1\n2\n", 1, "line 2: not 2 numbers, separated by commas or blanks\n"),
    ] {
        let output = fed(&folder, "program", samples);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(code), told));
    }
}

/// What an exported program says of these lines.
fn fed(folder: &Folder, program: &str, lines: &str) -> std::process::Output {
    folder.write("lines.txt", lines);
    Command::new(folder.path("out").join(program))
        .stdin(Stdio::from(std::fs::File::open(folder.path("lines.txt")).unwrap()))
        .output()
        .unwrap()
}

#[test]
fn nan_is_found_where_compilers_take_it_for_nothing() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    exported(&folder);
    let fast = Command::new("cc")
        .current_dir(folder.path("out"))
        .args(["-std=c99", "-O2", "-ffast-math", "main.c", "m.c", "koan.c", "-lm", "-o", "fast"])
        .status()
        .unwrap();
    assert!(fast.success());
    let output = fed(&folder, "fast", "1,1\nnan,1\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("line 2: number 1 is NaN"), "{output:?}");
}

#[test]
fn rows_of_another_length_do_not_compile() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    exported(&folder);
    let program = |length: &str| {
        format!(
            "#include \"m.h\"\nM_MEMORY(memory);\nint main(void) {{\n    \
             static const float row[{length}] = {{1, -1}};\n    \
             static int32_t scores[M_OUTPUTS];\n    static float probabilities[M_CLASSES];\n    \
             uint8_t class_ = 0;\n    \
             return m_classify_f32(row, &class_, &memory) != KOAN_OK ||\n           \
             m_scores_f32(row, scores, &memory) != KOAN_OK ||\n           \
             m_probabilities(scores, probabilities) != KOAN_OK || m_class_name(class_) == NULL;\n}}\n"
        )
    };
    let compiled = |compiler: &[&str], length: &str| {
        folder.write("out/length.c", program(length));
        let output = Command::new(compiler[0])
            .current_dir(folder.path("out"))
            .args(&compiler[1..])
            .args(["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"])
            .args(["-c", "length.c", "-o", "length.o"])
            .output()
            .unwrap();
        (output.status.success(), text(&output.stderr))
    };
    for compiler in [&["cc", "-std=c99", "-O2"][..], &["c++", "-x", "c++", "-std=c++11"]] {
        let (success, told) = compiled(compiler, "M_INPUTS");
        assert!(success, "{told}");
        assert!(!compiled(compiler, "M_INPUTS - 1").0, "{compiler:?}");
    }
    assert!(!compiled(&["c++", "-x", "c++", "-std=c++11"], "M_INPUTS + 1").0);
    folder.write("out/length.c", program("M_INPUTS"));
    compile(&folder, "length.c", "length");
    assert!(Command::new(folder.path("out/length")).status().unwrap().success());
}

/// What the sketch of `m.koan` prints in so many turns of its loop.
fn sketched(folder: &Folder, turns: usize) -> String {
    let sketch = folder.path("sketch");
    if sketch.exists() {
        std::fs::remove_dir_all(&sketch).unwrap();
    }
    folder.output("export m.koan --arduino sketch");
    folder.write("sketch/Arduino.h", ARDUINO);
    folder.write(
        "sketch/main.cpp",
        format!(
            "#include \"Arduino.h\"\n#include \"sketch.ino\"\nint main() {{\n    setup();\n    \
             for (int i = 0; i < {turns}; i++) loop();\n}}\n"
        ),
    );
    let compiled = |compiler: &str, arguments: &[&str]| {
        let output = Command::new(compiler).current_dir(&sketch).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let mut arguments = WARNINGS.to_vec();
    arguments.extend(["-c", "m.c", "koan.c"]);
    compiled("cc", &arguments);
    arguments = WARNINGS.to_vec();
    arguments[0] = "-std=c++11";
    arguments.extend(["main.cpp", "m.o", "koan.o", "-lm", "-o", "sketch"]);
    compiled("c++", &arguments);
    let output = Command::new(sketch.join("sketch")).output().unwrap();
    assert!(output.status.success());
    text(&output.stdout)
}

#[test]
fn sketches_print_names_and_all_values() {
    let folder = Folder::new();
    folder.write("s.csv", sensors(150));
    folder.train("s.csv --features 16").success();
    let printed = sketched(&folder, 2);
    let [passed, class, again] = printed.lines().collect::<Vec<_>>()[..] else {
        panic!("{printed}")
    };
    assert!(passed == "self test passed" && class == again, "{printed}");
    assert!(["hot", "cold"].contains(&class), "{printed}");
    let sketch = text(&folder.read("sketch/sketch.ino"));
    for part in ["case M_CLASS_HOT: /* hot */", "row[M_COLUMN_LEVEL] = 0; /* level */", "< 3000"] {
        assert!(sketch.contains(part), "{part}: {sketch}");
    }

    folder.run("train s.csv --task embedding --outputs 3 --features 32 -o m.koan").success();
    let printed = sketched(&folder, 1);
    let values = printed.lines().nth(1).unwrap_or_else(|| panic!("{printed}"));
    assert_eq!(values.split(',').filter(|value| value.parse::<f32>().is_ok()).count(), 3);

    folder.write("w.csv", motions(400, |_| true));
    folder.train("w.csv --window 16 --stride 16 --group run").success();
    // A sample every fourth turn at this clock.
    let printed = sketched(&folder, 200);
    assert!((2..=4).contains(&printed.lines().skip(1).count()), "{printed}");
    let classes = ["still", WALK];
    assert!(printed.lines().skip(1).all(|class| classes.contains(&class)), "{printed}");
}

#[test]
fn a_sketch_whose_self_test_fails_predicts_nothing() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    folder.output("export m.koan --arduino sketch");
    let sketch = text(&folder.read("sketch/sketch.ino"));
    let setup = sketch.split("void loop").next().unwrap();
    assert!(setup.contains("while (status != KOAN_OK) {"), "{sketch}");
    assert!(setup.contains("F(\"self test failed: status \")"), "{sketch}");
}
