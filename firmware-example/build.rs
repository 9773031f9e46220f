//! Picks the emulated machine that belongs to the target: its memory and, as
//! `cfg(machine = "…")`, its peripherals. And the files that variables name.

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
    cost_model();
    variable("KOAN_EXERCISES", "../tests/models/exercises-conv-160.koan");
    variable("KOAN_KEY", "src/tests_key.rs");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={memory}");
}

/// A file that programs include: the one of this folder unless a variable names another.
fn variable(name: &str, file: &str) {
    println!("cargo::rerun-if-env-changed={name}");
    if env::var_os(name).is_none() {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
        println!("cargo::rustc-env={name}={folder}/{file}");
    }
}

/// The model of `cost`, the one of `predict` unless said otherwise, and its form.
fn cost_model() {
    variable("KOAN_COST_MODEL", "digits.koan");
    println!("cargo::rerun-if-env-changed=KOAN_COST_FORM");
    println!("cargo::rustc-check-cfg=cfg(cost_form, values(\"small\"))");
    if env::var("KOAN_COST_FORM").is_ok_and(|form| form == "small") {
        println!("cargo::rustc-cfg=cost_form=\"small\"");
    }
}
