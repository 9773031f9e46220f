//! The runtime in C among what is not its own: flash that was damaged, macros of vendors, and what
//! people write for the value of a macro.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{FOLDER, SANITIZERS, WARNINGS, folder};
use crate::steps::{root, step};

/// What the runtime takes from headers of C and of the AVR; other names in capitals are its own.
const OF_C: [&str; 3] = ["FLASHEND", "NULL", "PROGMEM"];

/// AVRs whose headers have macros such as `BIN`, `SIGN` and `RUN`.
const AVRS: [&str; 2] = ["attiny85", "at90scr100"];

/// Whether a part is built where `KOAN_NO_…` is defined so, or that the compiler refuses it.
const VALUES: [(&str, Option<bool>); 7] = [
    ("", Some(false)),
    ("=", Some(false)),
    ("=1", Some(false)),
    ("=0", Some(true)),
    ("=2", None),
    ("=yes", None),
    ("=no", None),
];

/// Flips bits of models behind the program's back: the self test must find it before it runs them.
pub fn damaged() -> Result<()> {
    step(&format!(
        "gcc -std=c99 {SANITIZERS} {WARNINGS} c/koan.c c/test/damaged.c -lm -o {FOLDER}/damaged"
    ))?;
    let mut models = Vec::new();
    for from in ["tests/models", "tests/golden", "tests/golden/features"] {
        models.extend(koan_golden::paths(&root()?.join(from)).map_err(anyhow::Error::msg)?);
    }
    eprintln!("+ {FOLDER}/damaged MODELS");
    let status = Command::new(folder()?.join("damaged")).args(models).status();
    ensure!(status.context("cannot run it")?.success(), "damaged models are not all found");
    Ok(())
}

/// Compiles the runtime where every name in capitals that could be a vendor's macro is one.
pub fn vendors() -> Result<()> {
    let mut names = BTreeSet::new();
    for file in ["c/koan.h", "c/koan.c"] {
        names.extend(capitals(&fs::read_to_string(root()?.join(file))?));
    }
    let defined: Vec<String> = names.iter().map(|name| format!("-D{name}=7")).collect();
    step(&format!(
        "gcc -std=c99 -O2 {WARNINGS} {} -c c/koan.c -o {FOLDER}/vendors.o",
        defined.join(" ")
    ))
}

/// The same with headers that have such macros.
pub fn avrs() -> Result<()> {
    AVRS.iter().try_for_each(|device| {
        step(&format!(
            "avr-gcc -mmcu={device} -std=c99 -Os {WARNINGS} -include avr/io.h -c c/koan.c \
             -o {FOLDER}/vendors.o"
        ))
    })?;
    blob_in_ram()
}

/// The macro for blobs in RAM is taken as those that leave parts out.
fn blob_in_ram() -> Result<()> {
    let code = |value: &str| -> Result<Option<Vec<u8>>> {
        let output = Command::new("avr-gcc")
            .args(["-mmcu=atmega328p", "-std=c99", "-Os", "-S", "c/koan.c", "-o", "-"])
            .args((value != "none").then(|| format!("-DKOAN_BLOB_IN_RAM{value}")))
            .current_dir(root()?)
            .output()
            .context("cannot run avr-gcc")?;
        Ok(output.status.success().then_some(output.stdout))
    };
    let in_flash = code("none")?;
    ensure!(in_flash.is_some(), "avr-gcc refuses koan.c");
    for (value, expected) in VALUES {
        let code = code(value)?;
        // Refused, or with the blob in flash or not.
        let found = code.is_some().then(|| code == in_flash);
        ensure!(found == expected, "KOAN_BLOB_IN_RAM{value} is not taken as it should be");
    }
    Ok(())
}

/// One rule for the macros that leave parts out, in the header and in the source.
pub fn values() -> Result<()> {
    for (value, expected) in VALUES {
        for compiler in [["gcc", "-std=c99"], ["clang++", "-xc++"]] {
            let output = Command::new(compiler[0])
                .args([compiler[1], "-O1", "-Wall", "-Werror", "-S", "c/koan.c", "-o", "-"])
                .args(["F32", "TEXT", "BIN"].map(|part| format!("-DKOAN_NO_{part}{value}")))
                .current_dir(root()?)
                .output()
                .with_context(|| format!("cannot run {}", compiler[0]))?;
            // The table of bins, and functions that the header declares.
            let text = String::from_utf8_lossy(&output.stdout);
            let names = ["K_RECIPROCAL_GAMMA2", "koan_status_text", "koan_scores_f32"];
            let built = names.map(|name| text.contains(name));
            let told = String::from_utf8_lossy(&output.stderr);
            let fine = match expected {
                Some(expected) => output.status.success() && built == [expected; 3],
                None => !output.status.success() && told.contains("KOAN_NO_BIN_is_empty_0_or_1"),
            };
            ensure!(
                fine,
                "{}: -DKOAN_NO_…{value} is not taken as it should be: {told}",
                compiler[0]
            );
        }
    }
    Ok(())
}

/// The names in capitals of a source that are neither the runtime's by their beginning nor C's.
fn capitals(source: &str) -> BTreeSet<String> {
    let mut code = String::new();
    // Neither comments nor strings have the other's marks in them there.
    for (number, part) in source.split("/*").enumerate() {
        code += if number == 0 { part } else { part.split_once("*/").unwrap_or_default().1 };
    }
    let code: String = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_capital = |word: &&str| {
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && !word.contains(|c: char| c.is_ascii_lowercase())
    };
    let is_own = |word: &&str| word.starts_with("K_") || word.starts_with("KOAN_");
    let words = words.filter(is_capital).filter(|word| !is_own(word) && !OF_C.contains(word));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_capitals_are_found_in_code_only() {
        let source = "/* A CRC */ enum { BIN, K_BIN }; X(OK, \"NO\") KOAN_OK + run(0x7FULL) NULL";
        let expected = ["BIN", "OK"].map(str::to_owned);
        assert_eq!(capitals(source).into_iter().collect::<Vec<_>>(), expected);
    }
}
