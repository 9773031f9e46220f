//! `cargo xtask fuzz`: every fuzz target, of the core, the serial session and the runtime in C, from
//! the corpus that is kept. What is new goes elsewhere.

use anyhow::Result;

use crate::steps::{NIGHTLY, step};

/// Seconds of each target among the thorough tests.
pub const BRIEFLY: u32 = 30;

/// Targets written in Rust, and their options.
const TARGETS: [(&str, &str); 3] =
    [("parse", ""), ("predict", ""), ("serial", " -dict=fuzz/serial.dict")];

/// All targets, each for so many minutes.
pub fn all(minutes: u32) -> Result<()> {
    crate::setup::fuzzer()?;
    crate::c::setup()?;
    rust(minutes * 60)?;
    crate::c::fuzz(minutes * 60)
}

/// The targets in Rust, each for so many seconds.
pub fn rust(seconds: u32) -> Result<()> {
    step("cargo test --manifest-path fuzz/Cargo.toml --lib --locked")?;
    TARGETS.iter().try_for_each(|(target, options)| {
        step(&format!(
            "cargo +{NIGHTLY} fuzz run -s none {target} fuzz/target/{target} fuzz/corpus/{target} \
             -- -create_missing_dirs=1 -max_total_time={seconds} -timeout=20{options}"
        ))
    })
}
