//! What a prediction costs with the runtime in C: on a Cortex-M0 beside the Rust core, and on an
//! ATmega328P.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{FOLDER, PICOLIBC, folder};
use crate::elf;
use crate::flash;
use crate::plugin::{Plugin, number};
use crate::steps::{program, root, step};

/// The Cortex-M0 of the cost table: 256 KB of flash, 16 KB of RAM.
const CORTEX_M0: &str = "arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -std=gnu99";
const MEMORY: &str = "-Wl,--defsym=__flash=0,--defsym=__flash_size=0x40000,\
     --defsym=__ram=0x20000000,--defsym=__ram_size=0x4000,--defsym=__stack_size=0x600";

const AVR: &str = "avr-gcc -mmcu=atmega328p -std=gnu99 -Os -mcall-prologues -ffunction-sections \
     -fdata-sections -Wl,--gc-sections";
/// Bytes of its RAM, and what calls of the runtime need of it as stack.
const AVR_RAM: u64 = 2048;
const AVR_STACK: u64 = 500;

/// How the runtime is compiled for the Cortex-M0.
const LEVELS: [&str; 2] = ["-Os", "-O2"];

/// Picolibc without semihosting, which would bring `printf` and helpers of the compiler that the
/// runtime needs as well: they would be missing in its size.
const WITHOUT_FILES: &str =
    "--specs=picolibc.specs -ffunction-sections -fdata-sections -Wl,--gc-sections";

/// What a program of [`sources`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Nothing,
    Predict,
    /// That and the self test.
    Test,
}

/// What a program takes on a Cortex-M0, and the instructions of its prediction.
#[derive(Clone, Copy, Debug)]
struct Taken {
    flash: u64,
    stack: u64,
    instructions: u64,
}

/// What the runtime may take of flash and of instructions with the first of [`LEVELS`], in
/// hundredths of what the core takes.
const MOST: u64 = 110;

/// The costs of all models of `tests/models` as a table, and what the core takes.
pub fn table() -> Result<String> {
    let plugin = Plugin::build()?;
    let core = flash::included()?;
    let mut beside = format!(
        "The core with {} in it: {} bytes, {} instructions.",
        flash::MODEL,
        core.flash,
        core.instructions
    );
    let mut table =
        "| model | blob | Cortex-M0 -Os: flash | stack | instructions | self test: flash | \
         stack | -O2: flash | instructions | ATmega328P: flash | RAM | cycles |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    let models = koan_golden::paths(&root()?.join("tests/models")).map_err(anyhow::Error::msg)?;
    for path in models {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::metadata(&path)?.len();
        // All of them as a model m, which the program knows.
        fs::copy(&path, folder()?.join("m.koan"))?;
        let koan = program("koan")?;
        step(&format!("{} export {FOLDER}/m.koan --c {FOLDER}/cost", koan.display()))?;
        table += &format!("| {name} | {bytes} |");
        for level in LEVELS {
            let measure = |does| cortex_m0(level, does, &plugin).with_context(|| name.clone());
            let (empty, whole) = (measure(Does::Nothing)?, measure(Does::Predict)?);
            let (flash, instructions) = (whole.flash - empty.flash, whole.instructions);
            if level == LEVELS[0] {
                let tested = measure(Does::Test)?;
                let [stack, of_test] = [whole, tested].map(|taken| taken.stack - empty.stack);
                let more = tested.flash - whole.flash;
                table += &format!(" {flash} | {stack} | {instructions} | {more} | {of_test} |");
            } else {
                table += &format!(" {flash} | {instructions} |");
            }
            if name == flash::MODEL {
                let shares = [share(flash, core.flash), share(instructions, core.instructions)];
                let [of_flash, of_instructions] = shares.map(|share| share as f64 / 100.0);
                beside += &format!(
                    " The runtime in C with {level}: {of_flash:.2}, {of_instructions:.2}."
                );
                ensure!(
                    level != LEVELS[0] || shares.iter().all(|&share| share <= MOST),
                    "more than {MOST} % of the core's costs: {beside}"
                );
            }
        }
        table += &match avr()? {
            Some((flash, ram, cycles)) => format!(" {flash} | {ram} | {cycles} |\n"),
            None => " does not fit | | |\n".to_owned(),
        };
    }
    Ok(format!("{table}\n{beside}\n"))
}

/// So many hundredths, rounded up.
fn share(cost: u64, of_core: u64) -> u64 {
    (100 * cost).div_ceil(of_core)
}

/// The files of a program with the model, for a compiler's command line.
fn sources() -> String {
    format!("{FOLDER}/cost/m.c {FOLDER}/cost/koan.c -I{FOLDER}/cost c/test/cost.c -lm")
}

/// Builds a program and runs it. What it takes more than one that does nothing is the runtime's.
fn cortex_m0(level: &str, does: Does, plugin: &Plugin) -> Result<Taken> {
    let define = match does {
        Does::Nothing => "-DEMPTY",
        Does::Predict => "",
        Does::Test => "-DSELF_TEST",
    };
    let build = |name: &str, library: &str| {
        let output = format!("{FOLDER}/{name}");
        let sources = sources();
        step(&format!("{CORTEX_M0} {level} {library} {MEMORY} {define} {sources} -o {output}"))?;
        Ok::<_, anyhow::Error>(root()?.join(output))
    };
    let flash = elf::size(&build("size.elf", WITHOUT_FILES)?)?.flash;
    let program = build("cost.elf", PICOLIBC)?;
    let plugin = format!(
        "{},start=46db,stop=46e4,size=2,bottom={:x},top={:x}",
        plugin.path().display(),
        elf::symbol(&program, "__bss_end")?,
        elf::symbol(&program, "__stack")?
    );
    let output = Command::new("qemu-system-arm")
        .args(["-machine", "microbit", "-nographic", "-monitor", "none", "-serial", "none"])
        .args(["-semihosting-config", "enable=on,target=native", "-plugin", &plugin, "-kernel"])
        .arg(program)
        .output()
        .context(crate::machines::NO_EMULATOR)?;
    let text = [&*output.stdout, &*output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    // The program that does nothing says of a blob whatever its first bytes do.
    ensure!(does == Does::Nothing || output.status.success(), "{}\n{text}", output.status);
    let [stack, instructions] = ["stack ", "instructions "].map(|start| number(&text, start));
    Ok(Taken { flash, stack: stack?, instructions: instructions? })
}

/// Flash with the model, statics, and cycles of a prediction; none where it does not fit.
fn avr() -> Result<Option<(u64, u64, u64)>> {
    let elf = folder()?.join("cost-avr.elf");
    let line = format!("{AVR} {} -o {}", sources(), elf.display());
    let mut words = line.split_whitespace();
    let built = Command::new(words.next().unwrap_or_default())
        .args(words)
        .current_dir(root()?)
        .output()
        .context("cannot run avr-gcc")?;
    let told = String::from_utf8_lossy(&built.stderr);
    if !built.status.success() {
        ensure!(told.contains("overflowed") || told.contains("address"), "{line}: {told}");
        return Ok(None);
    }
    let size = elf::size(&elf)?;
    if size.ram > AVR_RAM - AVR_STACK {
        return Ok(None);
    }
    let text = super::simulated("atmega328p", &elf)?;
    let cycles = text.split(" cycles").next().unwrap_or_default();
    let digits = cycles.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let cycles = digits.parse().with_context(|| format!("no cycles in {text}"))?;
    Ok(Some((size.flash, size.ram, cycles)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_not_rounded_down() {
        assert_eq!(share(110, 100), MOST);
        assert_eq!(share(1101, 1000), MOST + 1);
        assert_eq!(share(95, 100), 95);
    }
}
