//! The browser: runtime, npm package, demo page, and their tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use walrus::ir::Instr;
use walrus::{Data, Function, FunctionBuilder, FunctionKind, Module, RawCustomSection};
use wasm_bindgen_cli_support::Bindgen;

use crate::setup::apt_get;
use crate::steps::{build, program, root, step};

/// What wasm-bindgen is the glue for.
pub const WASM: &str = "wasm32-unknown-unknown";

/// A build of the runtime.
struct Build {
    /// The file's name.
    name: &'static str,
    /// The compiler's flags.
    flags: &'static str,
    /// The crate's features.
    features: &'static str,
}

impl Build {
    /// Whether it runs every model.
    fn is_whole(&self) -> bool {
        !self.flags.contains("--cfg")
    }
}

/// See `wasm/src/parts.rs` for those with some of the families.
const BUILDS: [Build; 5] = [
    Build { name: "koan", flags: "-Ctarget-feature=-simd128", features: "" },
    Build { name: "koan-simd", flags: "-Ctarget-feature=+simd128", features: "" },
    Build {
        name: "koan-tables",
        flags: "-Ctarget-feature=+simd128\x1f--cfg=koan_tables",
        features: "",
    },
    Build {
        name: "koan-images",
        flags: "-Ctarget-feature=+simd128\x1f--cfg=koan_images",
        features: "",
    },
    Build { name: "koan-json", flags: "-Ctarget-feature=-simd128", features: "--features=json" },
];

/// Sentences of errors, kept in the builds for all: a page that a smaller one serves loads them
/// when there is an error to tell (`wasm/js/message.ts`).
const WORDS: &str = include_str!("../../wasm/src/words.txt");

/// Bytes of stack, below everything else, so that addresses of constants are short and an
/// overflow would trap. A test asserts that the golden models take less than half.
const STACK: &str = "-Clink-arg=-zstack-size=4096";

/// What every browser with WebAssembly's second set of features has.
const FEATURES: &str = "--enable-bulk-memory --enable-bulk-memory-opt --enable-sign-ext \
     --enable-nontrapping-float-to-int --enable-mutable-globals --enable-multivalue \
     --enable-reference-types --enable-call-indirect-overlong";

/// Branches are put together anew before what is there is made small, twice; then what is
/// computed twice is computed once, and what is known of values is used. Functions that are
/// called often come first, whose numbers then are a byte, and repeat.
const PASSES: &str =
    "--flatten --rereloop -Oz -Oz --flatten --local-cse -Oz -Oz --gufa -Oz --reorder-functions";

/// The stack lies first and grows down: nothing else is in the lowest kilobyte.
const LAYOUT: &str = "--low-memory-unused";

/// Where a Chromium may be; `CHROMIUM` names another.
const CHROMIUM: [&str; 4] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
];

/// Installs what the build needs, and Chromium where there is none.
pub fn setup() -> Result<()> {
    tools()?;
    let named = std::env::var("CHROMIUM").ok();
    if CHROMIUM.iter().copied().chain(named.as_deref()).any(|path| Path::new(path).exists()) {
        return Ok(());
    }
    step(&format!("{} install -y --no-install-recommends chromium", apt_get())).context(
        "the tests need Chromium and apt cannot install it (after `apt-get update`?): install it, \
         or set CHROMIUM to the path of one",
    )
}

/// Installs the target, and the node packages that the lock file names.
fn tools() -> Result<()> {
    crate::setup::target(WASM)?;
    let node = Command::new("node").arg("--version").output();
    ensure!(
        node.is_ok_and(|output| output.status.success()),
        "there is no node: install version 20 or later from https://nodejs.org"
    );
    install("wasm", "ci")
}

/// Installs the node packages that the lock file in a folder names, by a command of npm.
fn install(folder: &str, command: &str) -> Result<()> {
    // npm writes this file last: while it is as new as the lock file, all is there.
    let [lock, done] = ["package-lock.json", "node_modules/.package-lock.json"].map(|file| {
        root().and_then(|root| Ok(root.join(folder).join(file).metadata()?.modified()?))
    });
    if !matches!((lock, done), (Ok(lock), Ok(done)) if done >= lock) {
        step(&format!("npm --prefix {folder} {command} --no-audit --no-fund"))?;
    }
    Ok(())
}

/// Builds the runtime and the package around it into `wasm/dist`.
pub fn package() -> Result<()> {
    runtime()?;
    step(PACKAGE)
}

/// Makes the package of what is built.
const PACKAGE: &str = "node wasm/scripts/build.mjs";

/// Builds the demo page into `target/page`.
pub fn page() -> Result<()> {
    runtime()?;
    training()?;
    step("node wasm/scripts/page.mjs target/page")
}

/// The option of scripts that build or weigh the page without the module that trains, which takes
/// as long to compile as all else for browsers.
const WITHOUT_TRAINING: &str = "--without-training";

/// Prints the time of predictions in node, and in Chromium where there is one.
pub fn bench() -> Result<()> {
    package()?;
    build()?;
    step(&format!("{} target/wasm-shapes", program("shapes")?.display()))?;
    step("node wasm/scripts/bench.mjs target/wasm-shapes")
}

/// Lints what only this target compiles.
pub fn lint() -> Result<()> {
    step(&format!(
        "RUSTFLAGS=-Ctarget-feature=+simd128 cargo clippy --package koan --package koan-wasm \
         --features koan-wasm/json --target {WASM} --profile wasm --target-dir {RUNTIMES} --locked \
         -- -D warnings"
    ))?;
    // What else runs as WebAssembly has no code of its own for it: the host's lints see all of it.
    step(&format!(
        "RUSTFLAGS=-Ctarget-feature=+simd128 cargo clippy --package koan-gram --package \
         koan-learned --lib --example koan_learned --target {WASM} --profile wasm-train --target-dir \
         {TRAINING} --locked -- -D warnings"
    ))
}

/// Builds everything but what trains, checks its size, and tests it in node and in Chromium.
pub fn test() -> Result<()> {
    build()?;
    package()?;
    learning()?;
    test_built()
}

/// The same, of what is built.
pub fn test_built() -> Result<()> {
    step(&format!("node wasm/scripts/page.mjs target/page-without-training {WITHOUT_TRAINING}"))?;
    crate::wasm_size::check(WITHOUT_TRAINING)?;
    step(&format!("{} target/wasm-host.json", program("host")?.display()))?;
    step("node wasm/tests/consumer.mjs")?;
    // The trainer's pages need the same browser; the command trains models for the demo page too.
    let files = [
        "page",
        "report",
        "node",
        "parts",
        "rows",
        "columns",
        "package",
        "readme",
        "models",
        "scribbles",
        "browser",
    ];
    node_tests(&files, "")
}

/// Builds the page with what trains, checks its size, and tests what it trains, compared with the
/// command, and reports in every look; then the package in other runtimes.
pub fn thorough() -> Result<()> {
    page()?;
    crate::wasm_size::check("")?;
    node_tests(&["train", "report"], "THOROUGH=1")?;
    step(PACKAGE)?;
    runtimes_built()
}

/// Runs test files, two at a time: a browser waits more than it computes. `variables` stand in
/// front of the command.
fn node_tests(files: &[&str], variables: &str) -> Result<()> {
    let files: Vec<_> = files.iter().map(|file| format!("wasm/tests/{file}.test.mjs")).collect();
    step(&format!(
        "{variables} KOAN={} node --test --test-reporter=spec --test-concurrency=2 {}",
        program("koan")?.display(),
        files.join(" ")
    ))
}

/// The compiler's flag that keeps a user's folders out: panics name their files.
fn remap() -> String {
    let home = std::env::home_dir().unwrap_or_default().join(".cargo");
    let home = std::env::var_os("CARGO_HOME").map_or(home, PathBuf::from);
    format!("--remap-path-prefix={}=cargo", home.display())
}

/// Runs the package in every runtime and bundler that its README names, and checks its
/// declarations with the oldest TypeScript.
pub fn runtimes() -> Result<()> {
    package()?;
    runtimes_built()
}

/// The same, of the package that is built.
fn runtimes_built() -> Result<()> {
    // Not `ci`: it wants what other systems than this one would install in the lock file.
    install("wasm/tests/runtimes", "install --no-save")?;
    step("node wasm/tests/consumer.mjs")?;
    step("node --test --test-reporter=spec wasm/tests/runtimes/runtimes.test.mjs")
}

/// Builds the runtimes and their glue into `wasm/build`, in a fresh clone too.
fn runtime() -> Result<()> {
    tools()?;
    let folder = root()?.join("wasm/build");
    fs::create_dir_all(&folder)?;
    let remap = remap();
    let types = folder.join("glue.d.ts");
    let mut glue: Option<String> = None;
    for build in BUILDS {
        let Build { name, flags, features } = build;
        step(&format!(
            "CARGO_ENCODED_RUSTFLAGS={flags}\x1f{STACK}\x1f{remap} cargo build --package koan-wasm {features} --target {WASM} \
             --profile wasm --locked --target-dir {RUNTIMES}"
        ))?;
        let scratch = tempfile::tempdir()?;
        let compiled = compiled_as(name)?;
        let out = folder.join(name).with_extension("wasm");
        if is_current(&[&types, &out], &compiled)? {
            continue;
        }
        let bound = bind(&compiled, scratch.path())?;
        let mut module = Module::from_file(&bound.wasm)?;
        silence_panics(&mut module, !features.is_empty())?;
        remove_glue(&mut module)?;
        if features.is_empty() {
            clear_messages(&mut module);
        }
        if build.is_whole() {
            let data = WORDS.trim_end().into();
            module.customs.add(RawCustomSection { name: "words".into(), data });
        }
        module.emit_wasm_file(&bound.wasm)?;
        let simd = if flags.contains("+simd128") { "--enable-simd" } else { "--disable-simd" };
        optimize(&bound.wasm, &out, &format!("{PASSES} {LAYOUT} {simd}"))?;
        if features.is_empty() {
            let first = glue.get_or_insert_with(|| bound.glue.clone());
            ensure!(*first == bound.glue, "{name} has another interface than the build before it");
        }
    }
    match glue {
        Some(glue) => fs::write(&types, glue).context("glue.d.ts"),
        None => Ok(()),
    }
}

/// Where the runtimes are compiled, one after the other: macros are compiled once for all.
const RUNTIMES: &str = "target/wasm";

/// A copy of the runtime that was compiled last, which the next one replaces. One that is there and
/// is the same stays as old as it is.
fn compiled_as(name: &str) -> Result<PathBuf> {
    let folder = root()?.join(RUNTIMES).join(WASM).join("wasm");
    let compiled = fs::read(folder.join("koan_wasm.wasm"))?;
    let copy = folder.join(name).with_extension("wasm");
    if fs::read(&copy).ok().as_ref() != Some(&compiled) {
        fs::write(&copy, compiled)?;
    }
    Ok(copy)
}

/// Writes a module as wasm-opt makes it. Half a module, of a run that was stopped, would be newer
/// than what it is made of: the file has its name when it is whole.
fn optimize(module: &Path, out: &Path, options: &str) -> Result<()> {
    let part = out.with_extension("part");
    step(&format!(
        "node wasm/node_modules/.bin/wasm-opt {options} {FEATURES} --strip-debug \
         --strip-producers --strip-target-features {} -o {}",
        module.display(),
        part.display()
    ))?;
    Ok(fs::rename(part, out)?)
}

/// Whether files are newer than what they were made of: a compiled module, this program, and
/// the packages of node.
fn is_current(files: &[&Path], compiled: &Path) -> Result<bool> {
    let time = |path: &Path| Ok(path.metadata()?.modified()?);
    let packages = root()?.join("wasm/node_modules/.package-lock.json");
    let made_of = [compiled, &std::env::current_exe()?, &packages].map(time);
    let made_of = made_of.into_iter().collect::<Result<Vec<_>>>()?;
    let newer = |file: &&Path| time(file).is_ok_and(|file| made_of.iter().all(|of| file > *of));
    Ok(files.iter().all(newer))
}

/// Where modules that train and learn are compiled.
const TRAINING: &str = "target/wasm-train";

/// Compiles packages as fast as they can be, for vectors.
fn fast(packages: &str) -> Result<()> {
    step(&format!(
        "CARGO_ENCODED_RUSTFLAGS=-Ctarget-feature=+simd128\x1f{} cargo build {packages} --target \
         {WASM} --profile wasm-train --locked --target-dir {TRAINING}",
        remap()
    ))
}

/// Builds a module that learns as a device does, for the tests.
pub fn learning() -> Result<()> {
    fast("--package koan-learned --example koan_learned")
}

/// Builds the module that trains, with its glue, into `wasm/build`. Optimized more than once over
/// after the compiler it is neither smaller nor faster.
pub fn training() -> Result<()> {
    let folder = root()?.join("wasm/build");
    fs::create_dir_all(&folder)?;
    fast("--package koan-wasm-train --lib")?;
    let compiled = root()?.join(TRAINING).join(WASM).join("wasm-train/koan_wasm_train.wasm");
    let files = ["train.js", "train.d.ts", "train.wasm"].map(|file| folder.join(file));
    if is_current(&files.each_ref().map(PathBuf::as_path), &compiled)? {
        return Ok(());
    }
    let scratch = tempfile::tempdir()?;
    Bindgen::new()
        .input_path(&compiled)
        .out_name("train")
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(scratch.path())?;
    for file in ["train.js", "train.d.ts"] {
        fs::copy(scratch.path().join(file), folder.join(file))?;
    }
    let out = folder.join("train.wasm");
    optimize(&scratch.path().join("train_bg.wasm"), &out, "-O1 --enable-simd")
}

/// Functions that end in the panic handler, which traps without a message, and the one
/// that would throw for addresses that JavaScript never passes: the messages, and the
/// formatting that they need, are dead weight.
const PANICS: [&str; 9] = [
    "core::panicking::",
    "core::slice::index::slice_",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
    "alloc::raw_vec::capacity_overflow",
    "alloc::raw_vec::handle_error",
    "alloc::alloc::handle_alloc_error",
    "wasm_bindgen::throw_str",
];

/// Never called: memory that is lent as a box is as long as the box.
const SHRINKS: &str = "alloc::raw_vec::RawVecInner<A>::shrink_unchecked";

fn name_of(function: &Function) -> String {
    format!("{:#}", rustc_demangle::demangle(function.name.as_deref().unwrap_or_default()))
}

/// Replaces what formats a panic's message by the trap that follows it.
/// `formats`: whether anything else is formatted.
fn silence_panics(module: &mut Module, formats: bool) -> Result<()> {
    let mut silenced = 0;
    for id in module.funcs.iter_local().map(|(id, _)| id).collect::<Vec<_>>() {
        let function = module.funcs.get(id);
        let name = name_of(function);
        let panics = PANICS.iter().any(|panic| name.starts_with(panic));
        let unused = name == SHRINKS || !formats && name.contains("core::fmt::");
        if !panics && !unused {
            continue;
        }
        let body = function.kind.unwrap_local().block(function.kind.unwrap_local().entry_block());
        let last = body.instrs.last().map(|(instruction, _)| instruction);
        let traps = matches!(last, Some(Instr::Unreachable(_)));
        ensure!(traps || unused, "{name} does not end in a trap");
        let signature = module.types.get(function.ty());
        let (parameters, results) = (signature.params().to_vec(), signature.results().to_vec());
        let mut trap = FunctionBuilder::new(&mut module.types, &parameters, &results);
        trap.func_body().unreachable();
        let locals = parameters.iter().map(|&kind| module.locals.add(kind)).collect();
        module.funcs.get_mut(id).kind = FunctionKind::Local(trap.local_func(locals));
        silenced += 1;
    }
    ensure!(silenced > 0, "no panic was found: have the names changed?");
    Ok(())
}

/// Texts of messages and of the places that they name; see [`clear_messages`].
const MESSAGES: [&str; 4] = [
    "capacity overflow",
    "Tried to shrink to a larger capacity",
    "memory allocation of ",
    " bytes failed",
];

/// Clears what messages are made of, where nothing is formatted: their texts, the files of the
/// standard library that panic, and the digits that numbers are printed with.
fn clear_messages(module: &mut Module) {
    let digits: String = (0..100).map(|number| format!("{number:02}")).collect();
    let all: Vec<_> = module.data.iter().map(Data::id).collect();
    for id in all {
        let data = &mut module.data.get_mut(id).value;
        for text in MESSAGES.into_iter().chain([digits.as_str()]) {
            clear(data, text, "");
        }
        clear(data, "/rustc/", ".rs");
    }
}

/// Clears texts wherever they are, from `start` to the first `end` behind it.
fn clear(data: &mut [u8], start: &str, end: &str) {
    let place = |data: &[u8], text: &str| {
        (0..=data.len()).find(|&at| data[at..].starts_with(text.as_bytes()))
    };
    while let Some(at) = place(data, start) {
        let rest = &mut data[at..];
        let length = place(&rest[start.len()..], end).map_or(0, |behind| behind + end.len());
        rest[..start.len() + length].fill(0);
    }
}

/// Removes what wasm-bindgen needs for values of JavaScript: here only numbers cross, and
/// memory is JavaScript's, so that the exports are called as they are.
fn remove_glue(module: &mut Module) -> Result<()> {
    for name in [
        "__wbindgen_start",
        "__wbindgen_externrefs",
        "__wbindgen_malloc",
        "__wbindgen_free",
        "__abort_handler",
        "__instance_terminated",
    ] {
        module.exports.remove(name)?;
    }
    walrus::passes::gc::run(module);
    if let Some(import) = module.imports.iter().next() {
        bail!("the runtime needs {} of JavaScript", import.name);
    }
    Ok(())
}

struct Bound {
    wasm: PathBuf,
    /// The types of its exports.
    glue: String,
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
    let glue = fs::read_to_string(folder.join("glue.d.ts")).context("glue.d.ts")?;
    Ok(Bound { wasm: folder.join("glue_bg.wasm"), glue })
}
