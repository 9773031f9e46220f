//! Picks the emulated machine that belongs to the target: its memory and, as
//! `cfg(machine = "…")`, its peripherals. And writes what `cost` measures.

use std::path::Path;
use std::{env, fs};

/// One machine for each target.
const MACHINES: [(&str, &str); 6] = [
    ("thumbv6m-none-eabi", "microbit"),
    ("thumbv7m-none-eabi", "lm3s6965evb"),
    ("thumbv7em-none-eabihf", "mps2-an386"),
    ("thumbv8m.main-none-eabihf", "mps2-an505"),
    ("riscv32imc-unknown-none-elf", "virt"),
    ("riscv32imac-unknown-none-elf", "sifive_e"),
];

fn main() {
    let target = env::var("TARGET").expect("set by cargo");
    let Some((_, machine)) = MACHINES.iter().find(|(name, _)| *name == target) else {
        let known = MACHINES.map(|(name, _)| name).join("\n  ");
        panic!("no machine for the target {target}; build with --target and one of\n  {known}");
    };
    let output = env::var("OUT_DIR").expect("set by cargo");
    let memory = format!("machines/{machine}.x");
    fs::copy(&memory, Path::new(&output).join("memory.x"))
        .unwrap_or_else(|error| panic!("{memory}: {error}"));

    let names = MACHINES.map(|(_, machine)| format!("{machine:?}")).join(", ");
    println!("cargo::rustc-check-cfg=cfg(machine, values({names}))");
    println!("cargo::rustc-cfg=machine={machine:?}");
    println!("cargo::rustc-link-search={output}");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    if target.starts_with("thumb") {
        println!("cargo::rustc-link-arg-bins=--nmagic");
    }
    let models = Path::new(&output).join("models.rs");
    fs::write(models, cost_models()).expect("a file in the target folder");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={memory}");
}

/// The models of `cost` with a function for each: `KOAN_COST_MODELS`, paths with a
/// semicolon between them, `small:` in front of one in the small form.
fn cost_models() -> String {
    const VARIABLE: &str = "KOAN_COST_MODELS";
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let folder = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let paths = env::var(VARIABLE).unwrap_or(format!("{folder}/digits.koan"));
    let (mut models, mut names) = (String::new(), Vec::new());
    for (number, path) in paths.split(';').enumerate() {
        let (form, path) = path.strip_prefix("small:").map_or(("", path), |path| ("small ", path));
        models += &format!(
            "koan::include_model!({form}mod model_{number} = {path:?});\n\
             measured!(model_{number});\n"
        );
        names.push(format!("model_{number}"));
    }
    models + &format!("const MEASURED: &[Measured] = &[{}];\n", names.join(", "))
}
