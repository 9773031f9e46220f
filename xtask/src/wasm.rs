//! The browser's build: compiled, bound, optimised and packed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use walrus::ir::Instr;
use walrus::{FunctionBuilder, FunctionKind, Module};
use wasm_bindgen_cli_support::Bindgen;

use crate::steps::{root, step};

/// What wasm-bindgen is the glue for.
pub const WASM: &str = "wasm32-unknown-unknown";

/// The two builds of the runtime: file name and compiler flags.
const BUILDS: [(&str, &str); 2] =
    [("koan", "-Ctarget-feature=-simd128"), ("koan-simd", "-Ctarget-feature=+simd128")];

/// What every browser with WebAssembly's second set of features has.
const FEATURES: &str = "--enable-bulk-memory --enable-bulk-memory-opt --enable-sign-ext \
     --enable-nontrapping-float-to-int --enable-mutable-globals --enable-multivalue \
     --enable-reference-types --enable-call-indirect-overlong";

/// Builds both runtimes and their glue into `wasm/build`.
pub fn runtime() -> Result<()> {
    let folder = root()?.join("wasm/build");
    fs::create_dir_all(&folder)?;
    let mut glue = None;
    for (name, flags) in BUILDS {
        // A folder for each: neither evicts the other.
        let target = format!("target/wasm-{name}");
        step(&format!(
            "RUSTFLAGS={flags} cargo build --package koan-wasm --target {WASM} --profile wasm \
             --locked --target-dir {target}"
        ))?;
        let scratch = tempfile::tempdir()?;
        let compiled = root()?.join(&target).join(WASM).join("wasm/koan_wasm.wasm");
        let bound = bind(&compiled, scratch.path())?;
        silence_panics(&bound.wasm)?;
        ensure!(
            glue.is_none() || glue.as_ref() == Some(&bound.glue),
            "the glue of the two builds differs: one of them has another interface"
        );
        let simd = if flags.contains("+simd128") { "--enable-simd" } else { "--disable-simd" };
        let out = folder.join(name).with_extension("wasm");
        step(&format!(
            "node wasm/node_modules/.bin/wasm-opt -O4 {FEATURES} {simd} --strip-debug \
             --strip-producers --strip-target-features {} -o {}",
            bound.wasm.display(),
            out.display()
        ))?;
        glue = Some(bound.glue);
    }
    let (script, types) = glue.context("there are builds")?;
    fs::write(folder.join("glue.js"), script)?;
    fs::write(folder.join("glue.d.ts"), types)?;
    Ok(())
}

/// Functions that end in the panic handler, which traps without a message: the
/// messages, and the formatting that they need, are dead weight.
const PANICS: [&str; 8] = [
    "core::panicking::",
    "core::slice::index::slice_",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
    "alloc::raw_vec::capacity_overflow",
    "alloc::raw_vec::handle_error",
    "alloc::alloc::handle_alloc_error",
];

/// Replaces what formats a panic's message by the trap that follows it.
fn silence_panics(wasm: &Path) -> Result<()> {
    let mut module = Module::from_file(wasm)?;
    let mut silenced = 0;
    for id in module.funcs.iter_local().map(|(id, _)| id).collect::<Vec<_>>() {
        let function = module.funcs.get(id);
        let name = function.name.as_deref().unwrap_or_default();
        let name = format!("{:#}", rustc_demangle::demangle(name));
        if !PANICS.iter().any(|panic| name.starts_with(panic)) {
            continue;
        }
        let body = function.kind.unwrap_local().block(function.kind.unwrap_local().entry_block());
        let last = body.instrs.last().map(|(instruction, _)| instruction);
        ensure!(matches!(last, Some(Instr::Unreachable(_))), "{name} does not end in a trap");
        let signature = module.types.get(function.ty());
        let (parameters, results) = (signature.params().to_vec(), signature.results().to_vec());
        let mut trap = FunctionBuilder::new(&mut module.types, &parameters, &results);
        trap.func_body().unreachable();
        let locals = parameters.iter().map(|&kind| module.locals.add(kind)).collect();
        module.funcs.get_mut(id).kind = FunctionKind::Local(trap.local_func(locals));
        silenced += 1;
    }
    ensure!(silenced > 0, "no panic was found: have the names changed?");
    module.emit_wasm_file(wasm)
}

struct Bound {
    wasm: PathBuf,
    /// The script and its types.
    glue: (String, String),
}

fn bind(compiled: &Path, folder: &Path) -> Result<Bound> {
    Bindgen::new()
        .input_path(compiled)
        .out_name("glue")
        .demangle(false)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .remove_producers_section(true)
        .generate(folder)?;
    let read = |name: &str| fs::read_to_string(folder.join(name)).context(name.to_owned());
    Ok(Bound { wasm: folder.join("glue_bg.wasm"), glue: (read("glue.js")?, read("glue.d.ts")?) })
}
