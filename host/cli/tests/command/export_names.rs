//! What the constants of exported files are called, and what is told of inputs.

use std::process::{Command, Stdio};

use crate::common::{Folder, quadrants, sensors, text};
use crate::export::{exported, run, whole};

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
}

#[test]
fn inputs_that_int16_does_not_carry_are_named() {
    let folder = Folder::new();
    let rows = (0..300_u32).map(|row| (row * 7919 % 65536, row * 31 % 100));
    let lines: String =
        rows.map(|(adc, temp)| format!("{adc},{temp},{}\n", u8::from(adc > 30000))).collect();
    folder.write("adc.csv", format!("adc,temp,state\n{lines}"));
    folder.train("adc.csv").success();
    for (option, file) in [("--c", "main.c"), ("--arduino", "out.ino")] {
        let told = folder.run(&format!("export m.koan {option} out")).success();
        let told = text(&told.get_output().stderr);
        assert!(told.starts_with("warning: usual values of adc (around 3"), "{told}");
        assert_eq!((told.lines().count(), told.contains("temp")), (1, false), "{told}");
        assert!(told.contains("m_classify_f32"), "{told}");
        for file in ["m.h", file] {
            let file = text(&folder.read(&format!("out/{file}")));
            assert!(file.contains("int16_t") && file.contains("m_classify_f32"), "{file}");
        }
    }
    let sketch = text(&folder.read("out/out.ino"));
    assert!(sketch.contains("static float row[M_INPUTS]"), "{sketch}");
    // Values that fit are nothing to speak of.
    folder.write("q.csv", whole(300));
    folder.train("q.csv").success();
    folder.run("export m.koan --arduino small").success().stderr("");
    let sketch = text(&folder.read("small/small.ino"));
    assert!(
        sketch.contains("-32768 to 32767") && sketch.contains("static int16_t row"),
        "{sketch}"
    );
}

#[test]
fn fractions_that_int16_loses_are_named() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(300));
    folder.train("q.csv").success();
    let told = folder.run("export m.koan --arduino out").success();
    let told = text(&told.get_output().stderr);
    assert!(told.starts_with("warning: usual values of x, y differ by little"), "{told}");
    assert!(told.contains("m_classify_f32") && told.lines().count() == 1, "{told}");
    let sketch = text(&folder.read("out/out.ino"));
    assert!(sketch.contains("static float row[M_INPUTS]"), "{sketch}");
}

#[test]
fn missing_numbers_have_what_stands_in_for_them() {
    let folder = Folder::new();
    let line = |row: u32| match row % 5 {
        0 => format!(",{},lo\n", row % 50),
        _ => format!(
            "{},{},{}\n",
            row * 37 % 1000,
            row % 50,
            ["lo", "hi"][usize::from(row * 37 % 1000 > 500)]
        ),
    };
    folder.write("s.csv", format!("pressure,flow,y\n{}", (0..300).map(line).collect::<String>()));
    folder.train("s.csv --missing impute").success();
    exported(&folder);
    let header = text(&folder.read("out/m.h"));
    let value = header.lines().find_map(|line| line.strip_prefix("#define M_MISSING_PRESSURE "));
    let value = value.unwrap_or_else(|| panic!("{header}")).trim_end_matches('f').to_owned();
    assert!(!header.contains("M_MISSING_FLOW"), "{header}");
    let both: String = (0..50).map(|flow| format!("nan,{flow}\n{value},{flow}\n")).collect();
    let classes = run(&folder, &both);
    let classes: Vec<&str> = classes.lines().collect();
    assert!(classes.len() == 100 && classes.chunks(2).all(|pair| pair[0] == pair[1]));
    // Where nothing stands in NaN is no number, as for `koan predict`.
    folder.write("rows.txt", "1,1\n1,nan\n");
    let output = Command::new(folder.path("out/program"))
        .stdin(Stdio::from(std::fs::File::open(folder.path("rows.txt")).unwrap()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("line 2: number 2 is NaN"), "{output:?}");
    folder.output("export m.koan --rust row.rs");
    let rust = text(&folder.read("row.rs"));
    assert!(rust.contains(&format!("pub const MISSING_PRESSURE: f32 = {value};")), "{rust}");
    folder.run("export m.koan --arduino sketch").success();
    assert!(text(&folder.read("sketch/sketch.ino")).contains("m.h has them"));
}

#[test]
fn signs_of_classes_and_values_are_in_their_constants() {
    let folder = Folder::new();
    let lines: String = (0..300)
        .map(|row| {
            format!("{},{}\n", row * 37 % 1000, ["<5", ">5"][usize::from(row * 37 % 1000 > 500)])
        })
        .collect();
    for (from, classes) in [("5", ["LESS_THAN_5", "MORE_THAN_5"]), ("", ["MINUS_1", "1"])] {
        let lines = match from {
            "" => lines.replace("<5", "-1").replace(">5", "1"),
            _ => lines.clone(),
        };
        folder.write("s.csv", format!("x,y\n{lines}"));
        folder.train("s.csv --task classification").success();
        folder.output("export m.koan --c out");
        folder.output("export m.koan --rust row.rs");
        let (header, rust) = (text(&folder.read("out/m.h")), text(&folder.read("row.rs")));
        for (number, class) in classes.iter().enumerate() {
            assert!(header.contains(&format!("#define M_CLASS_{class} {number} ")), "{header}");
            assert!(rust.contains(&format!("const CLASS_{class}: usize = {number};")), "{rust}");
        }
    }
}

#[test]
fn names_without_letters_of_ascii_have_numbers() {
    let folder = Folder::new();
    let line = |x: usize| format!("{},{},{}\n", x, x * 7 % 9, ["ÄÖ", "ok"][usize::from(x > 150)]);
    folder.write("s.csv", format!("Ä,Größe,y\n{}", (0..300).map(line).collect::<String>()));
    folder.train("s.csv").success();
    folder.output("export m.koan --c out");
    folder.output("export m.koan --rust row.rs");
    let (header, rust) = (text(&folder.read("out/m.h")), text(&folder.read("row.rs")));
    for (name, number) in [("CLASS_1", 1), ("CLASS_OK", 0), ("COLUMN_1", 0), ("COLUMN_GR_E", 1)] {
        assert!(header.contains(&format!("#define M_{name} {number} ")), "{name}: {header}");
        let name = name.replace("COLUMN_GR", "GR");
        assert!(rust.contains(&format!("const {name}: usize = {number};")), "{name}: {rust}");
    }
}

#[test]
fn what_a_model_is_stands_in_its_header() {
    let folder = Folder::new();
    let csv = whole(300);
    folder.write("q.csv", &csv);
    let of_task = [
        ("", "a classification of 2 inputs"),
        ("--task regression", "a regression of 2 inputs"),
        ("--task embedding --outputs 2", "an embedding of 2 inputs"),
        ("--task anomaly --false-alarm 0.1", "a detector of anomalies of 3 inputs"),
    ];
    for (task, told) in of_task {
        folder.run(&format!("train q.csv --features 32 -o m.koan {task}")).success();
        folder.run("export m.koan --c out").success();
        let header = text(&folder.read("out/m.h"));
        assert!(header.starts_with(&format!("/* The model m.koan: {told} in ")), "{header}");
        assert!(header.contains("\n * On a Cortex-M0 (gcc -Os) it takes about "), "{header}");
        assert!(header.contains("static, and one for each task or\n * thread"), "{header}");
    }
}

#[test]
fn values_that_are_codes_get_their_names_from_data() {
    let folder = Folder::new();
    let lines: String = (0..400)
        .map(|row| {
            let version = row * 7 % 40;
            format!(
                "version number {version}.rc-{version},{},{}\n",
                row % 90,
                ["a", "b"][version / 20]
            )
        })
        .collect();
    folder.write("v.csv", format!("firmware,temp,y\n{lines}"));
    folder.train("v.csv").success();
    let told = folder.run("export m.koan --c out").success();
    let told = text(&told.get_output().stderr);
    assert!(
        told.contains("values of text columns are codes") && told.contains("--names"),
        "{told}"
    );
    assert!(!text(&folder.read("out/m.h")).contains("VERSION_NUMBER"));
    folder.run("export m.koan --c out --names v.csv").success().stderr("");
    let header = text(&folder.read("out/m.h"));
    // In the order of the texts.
    for (version, place) in [("0_RC_0", 0), ("10_RC_10", 2), ("9_RC_9", 39)] {
        let constant = format!("M_COLUMN_FIRMWARE_VERSION_NUMBER_{version} {place} ");
        assert!(header.contains(&constant), "{constant}: {header}");
    }
    folder.write("other.csv", "a,b\n1,2\n3,4\n");
    folder.fails("export m.koan --c out --names other.csv", &["other.csv", "2 columns, not 3"]);
    folder.write("renamed.csv", format!("firmware,heat,y\n{lines}"));
    let parts = ["renamed.csv", "column 2 is `heat`, which is `temp` in the training data"];
    folder.fails("export m.koan --c out --names renamed.csv", &parts);
    // What the model does not use may be anything.
    let with_id = |(row, line)| format!("{}.{:03},46,{line}\n", row / 300, 300 + row % 300);
    let rows: String = lines.lines().enumerate().map(with_id).collect();
    folder.write("w.csv", format!("id,more,firmware,temp,y\n{rows}"));
    folder.run("train w.csv --drop id,more --features 32 -o w.koan").success();
    folder.run("export w.koan --c w --names w.csv").success().stderr("");
    assert!(text(&folder.read("w/w.h")).contains("FIRMWARE_VERSION_NUMBER_0_RC_0"));
}

#[test]
fn columns_without_names_get_those_of_data() {
    let folder = Folder::new();
    let csv = whole(300);
    folder.write("q.csv", &csv);
    folder.train("q.csv --no-column-names").success();
    let told = folder.run("export m.koan --c out").success();
    let told = text(&told.get_output().stderr);
    assert!(told.contains("no names of columns") && told.contains("--names DATA"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    let header = text(&folder.read("out/m.h"));
    assert!(header.contains("#define M_COLUMN_2 1 /* column 2 */"), "{header}");
    assert!(header.contains("have their number in the data, from 1"), "{header}");
    folder.run("export m.koan --c out --names q.csv").success().stderr("");
    let header = text(&folder.read("out/m.h"));
    assert!(header.contains("#define M_COLUMN_Y 1 /* y */"), "{header}");
    folder.run("export m.koan --rust row.rs --names q.csv").success().stderr("");
    assert!(text(&folder.read("row.rs")).contains("pub const Y: usize = 1;"));

    folder.write("other.csv", "a,b\n1,2\n3,4\n");
    folder.fails("export m.koan --c out --names other.csv", &["other.csv", "2 columns, not 3"]);
    folder.write("bare.csv", csv.split_once('\n').unwrap().1);
    folder.fails("export m.koan --c out --names bare.csv", &["bare.csv", "no names of columns"]);
    // Columns in another order would give the numbers of one the name of another.
    folder.write("order.csv", "y,state,x\n1,on,2\n3,off,4\n");
    let parts = ["order.csv", "column 2 (state) has text, where the training data had numbers"];
    folder.fails("export m.koan --c out --names order.csv", &parts);
}

#[test]
fn rows_that_are_windows_have_constants_of_them() {
    let folder = Folder::new();
    let lines: String = (0..900)
        .map(|t| format!("{},{},{}\n", t * 37 % 1000, t * 91 % 700, ["a", "b"][t / 450]))
        .collect();
    folder.write("w.csv", format!("x,y,state\n{lines}"));
    folder.train("w.csv --window 16 --stride 16").success();
    exported(&folder);
    let header = text(&folder.read("out/m.h"));
    for constant in ["M_INPUTS 32", "M_SAMPLES 16", "M_CHANNELS 2", "M_HOP 16"] {
        assert!(header.contains(&format!("#define {constant}\n")), "{constant}: {header}");
    }
}
