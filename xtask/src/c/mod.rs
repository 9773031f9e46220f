//! `cargo xtask c`: the runtime in C, compiled by every compiler and run on every machine, with
//! the golden models and the core's verdicts over damaged blobs.

mod arduino;
mod cost;
mod hostile;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::setup::{install, packages};
use crate::steps::{program, root, step};

/// Where vectors and programs go, from the root of the repository.
const FOLDER: &str = "target/c";

const SOURCES: &str = "c/koan.c c/test/replay.c";

const WARNINGS: &str = "-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror";

/// What finds undefined behaviour and reads beyond the blob.
const SANITIZERS: &str =
    "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer";

/// Damaged blobs of the thorough part.
const MUTANTS: u32 = 100_000;

/// What macros leave out: each of them must compile without the others noticing.
const PARTS: [&str; 24] = [
    "LINEAR",
    "FOURIER",
    "STUMP",
    "BIN",
    "MAXOUT",
    "SIGMOID",
    "CONV",
    "FERN",
    "SERIES",
    "HADAMARD",
    "DENSE",
    "GROUPS",
    "LISTS",
    "MAPS",
    "LOGARITHM",
    "FEATURES",
    "F32",
    "BITS_2",
    "BITS_3",
    "BITS_4",
    "BITS_8",
    "BITS_16",
    "PROBABILITIES",
    "TEXT",
];

/// Dialects that Arduino's, older and newer compilers take the runtime for. By the letter C++98 has
/// neither numbers of 64 bits nor macros of any number of arguments, but compilers do.
const DIALECTS: [&str; 5] = [
    "avr-gcc -mmcu=atmega2560 -std=gnu11 -pedantic",
    "avr-g++ -mmcu=atmega2560 -x c++ -std=gnu++11 -pedantic",
    "avr-g++ -mmcu=atmega2560 -x c++ -std=gnu++98",
    "g++ -x c++ -std=c++98",
    "g++ -x c++ -std=c++20",
];

/// Lines of C that are neither blank nor comments: what a reader of the runtime must read.
const MOST_LINES: usize = 1_850;

/// Room of [`SOURCES`] on a machine with 16 KB of RAM; larger models are passed over.
const SMALL: &str =
    "-DMOST_BYTES=3000 -DMOST_INPUTS=260 -DMOST_FEATURES=600 -DMOST_WORDS=520 -DMOST_OUTPUTS=12";

/// Picolibc's own start and linker script, and semihosting, by which programs read files.
const PICOLIBC: &str = "--specs=picolibc.specs --oslib=semihost --crt0=semihost \
     -ffunction-sections -fdata-sections -Wl,--gc-sections";

/// An emulated machine, its compiler and options, and how it is started.
const BARE: [(&str, &str, &str, &str); 4] = [
    (
        "cortex-m0",
        "arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -Os",
        "-Wl,--defsym=__flash=0,--defsym=__flash_size=0x40000,--defsym=__ram=0x20000000,\
         --defsym=__ram_size=0x4000,--defsym=__stack_size=0x600",
        "qemu-system-arm -machine microbit",
    ),
    // The code of a Cortex-M0 where there is room for all models.
    (
        "cortex-m0-large",
        "arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -Os",
        "-Wl,--defsym=__flash=0,--defsym=__flash_size=0x400000,--defsym=__ram=0x20000000,\
         --defsym=__ram_size=0x400000,--defsym=__stack_size=0x1000",
        "qemu-system-arm -machine mps2-an386",
    ),
    (
        "cortex-m4",
        "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -O2",
        "-Wl,--defsym=__flash=0,--defsym=__flash_size=0x400000,--defsym=__ram=0x20000000,\
         --defsym=__ram_size=0x400000,--defsym=__stack_size=0x1000",
        "qemu-system-arm -machine mps2-an386",
    ),
    (
        "rv32imac",
        "riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -Os",
        "-Wl,--defsym=__flash=0x80000000,--defsym=__flash_size=0x200000,\
         --defsym=__ram=0x80200000,--defsym=__ram_size=0x800000",
        "qemu-system-riscv32 -machine virt -m 32M -bios none",
    ),
];

/// The simulated AVR: 16 KB of RAM, and more flash than its near pointers reach.
const AVR: &str = "atmega1284p";

/// The host's part, after [`crate::steps::build`]: compilers, sanitizers, damaged blobs.
pub fn host() -> Result<()> {
    packages(&["clang"], "clang")?;
    let vectors = vectors(None)?;
    count_lines()?;
    for (name, compiler) in [("gcc", "gcc -std=c99 -O2"), ("clang++", "clang++ -x c++ -O2")] {
        replay(name, compiler, &[&vectors.golden, &vectors.trained, &vectors.features])?;
    }
    // As if no float were infinite or none, which rows may have.
    replay("fast-math", "gcc -std=c99 -Ofast", &[&vectors.golden, &vectors.trained])?;
    replay("sanitized", &format!("gcc -std=c99 {SANITIZERS}"), &vectors.all())?;
    hostile::damaged()?;
    hostile::vendors()?;
    hostile::values()
}

/// The host's part, and what it leaves out.
pub fn run() -> Result<()> {
    crate::steps::build()?;
    host()?;
    setup()?;
    others()
}

/// What the host's part does not need.
pub fn setup() -> Result<()> {
    packages(&["clang"], "clang")?;
    machines()?;
    clang_runtime()?;
    thirty_two_bits()
}

/// All machines, all macros, and more damaged blobs; after [`setup`] and [`crate::steps::build`].
pub fn others() -> Result<()> {
    let vectors = vectors(Some(MUTANTS))?;
    let everything = vectors.all();
    replay("clang-sanitized", &format!("clang -std=c99 {SANITIZERS}"), &everything)?;
    replay("clang", "clang -std=c99 -O2", &everything)?;
    replay("clang-fast-math", "clang -std=c99 -O3 -ffast-math", &everything)?;
    replay("g++", "g++ -x c++ -O2", &everything)?;
    replay("gcc-32", "gcc -m32 -std=c99 -O2", &everything)?;
    for part in PARTS {
        // What clang warns of here it knows before it optimises.
        for compiler in ["gcc", "clang -fsyntax-only"] {
            step(&format!(
                "{compiler} -std=c99 -Os {WARNINGS} -DKOAN_NO_{part}=1 -c c/koan.c \
                 -o {FOLDER}/without.o"
            ))?;
        }
    }
    // Without probabilities it needs no mathematics of the C library, not even their header.
    let headers = folder()?.join("headers");
    fs::create_dir_all(&headers)?;
    fs::write(headers.join("math.h"), "#error \"math.h is not needed\"\n")?;
    step(&format!(
        "gcc -std=c99 -Os -I{FOLDER}/headers -DKOAN_NO_PROBABILITIES=1 -c c/koan.c \
         -o {FOLDER}/without.o"
    ))?;
    for dialect in DIALECTS {
        step(&format!(
            "{dialect} -Os -Wall -Wextra -Wconversion -Wshadow -Werror -c c/koan.c \
             -o {FOLDER}/dialect.o"
        ))?;
    }
    hostile::avrs()?;
    compile("s390x", "s390x-linux-gnu-gcc -static -std=c99 -O2", "")?;
    step(&format!("qemu-s390x-static {FOLDER}/s390x {}", everything.join(" ")))?;
    for (name, compiler, memory, machine) in BARE {
        let room = if name == "cortex-m0" { SMALL } else { "" };
        compile(name, &format!("{compiler} -std=c99 {PICOLIBC} {room} {memory}"), "")?;
        step(&format!(
            "{machine} -nographic -monitor none -serial none -semihosting-config \
             enable=on,target=native,arg={},arg={} -kernel {FOLDER}/{name}",
            vectors.golden, vectors.features
        ))?;
    }
    vectors.small.iter().try_for_each(|file| avr(file))?;
    fuzz(crate::fuzz::BRIEFLY)?;
    arduino::run()?;
    page::run()?;
    print!("{}", cost::table()?);
    Ok(())
}

/// Compilers and emulators of all machines.
fn machines() -> Result<()> {
    packages(
        &[
            "arduino-builder",
            "arm-none-eabi-gcc",
            "riscv64-unknown-elf-gcc",
            "avr-gcc",
            "simavr",
            "qemu-s390x-static",
            "s390x-linux-gnu-gcc",
        ],
        "gcc-arm-none-eabi picolibc-arm-none-eabi gcc-riscv64-unknown-elf \
         picolibc-riscv64-unknown-elf gcc-avr avr-libc simavr qemu-user-static \
         gcc-s390x-linux-gnu libc6-dev-s390x-cross arduino-builder arduino-core-avr",
    )
}

/// What predictions cost, as a table.
pub fn costs() -> Result<String> {
    machines()?;
    crate::steps::build()?;
    fs::create_dir_all(folder()?)?;
    cost::table()
}

/// The files that `vectors` wrote, from the root of the repository.
struct Vectors {
    golden: String,
    trained: String,
    features: String,
    mutants: String,
    small: Vec<String>,
}

impl Vectors {
    fn all(&self) -> Vec<&str> {
        vec![&self.golden, &self.trained, &self.features, &self.mutants]
    }
}

fn vectors(mutants: Option<u32>) -> Result<Vectors> {
    let mutants = mutants.map(|count| count.to_string()).unwrap_or_default();
    step(&format!("{} {FOLDER} {mutants}", program("vectors")?.display()))?;
    let mut small = Vec::new();
    for entry in fs::read_dir(folder()?)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("small-") && name.ends_with(".vectors") {
            small.push(format!("{FOLDER}/{name}"));
        }
    }
    small.sort();
    ensure!(!small.is_empty(), "no vectors for small devices");
    let file = |name: &str| format!("{FOLDER}/{name}.vectors");
    Ok(Vectors {
        golden: file("golden"),
        trained: file("trained"),
        features: file("features"),
        mutants: file("mutants"),
        small,
    })
}

fn folder() -> Result<PathBuf> {
    Ok(root()?.join(FOLDER))
}

/// Compiles the runtime and what replays vectors; every warning is an error.
fn compile(name: &str, compiler: &str, more: &str) -> Result<()> {
    step(&format!("{compiler} {WARNINGS} {SOURCES} {more} -lm -o {FOLDER}/{name}"))
}

fn replay(name: &str, compiler: &str, vectors: &[&str]) -> Result<()> {
    compile(name, compiler, "")?;
    step(&format!("{FOLDER}/{name} {}", vectors.join(" ")))
}

/// The libraries of 32 bits for this compiler: the package that depends on them excludes compilers
/// for other machines.
fn thirty_two_bits() -> Result<()> {
    if links("gcc", "-m32")? {
        return Ok(());
    }
    install(&format!("gcc-{}-multilib", major_version("gcc")?))
}

/// The sanitizers of clang are a package of their own.
fn clang_runtime() -> Result<()> {
    if links("clang", "-fsanitize=address")? {
        return Ok(());
    }
    install(&format!("libclang-rt-{}-dev", major_version("clang")?))
}

/// Whether an empty program links with an option.
fn links(compiler: &str, option: &str) -> Result<bool> {
    let source = tempfile::Builder::new().suffix(".c").tempfile()?;
    fs::write(source.path(), "int main(void) { return 0; }")?;
    let status = Command::new(compiler)
        .arg(option)
        .arg(source.path())
        .args(["-o", "/dev/null"])
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {compiler}"))?;
    Ok(status.success())
}

fn major_version(compiler: &str) -> Result<String> {
    let version = Command::new(compiler).arg("-dumpversion").output()?.stdout;
    let version = String::from_utf8(version)?;
    Ok(version.trim().split('.').next().unwrap_or_default().to_owned())
}

/// The models of a file of vectors on a simulated AVR, which says nothing by its exit code.
fn avr(vectors: &str) -> Result<()> {
    let elf = format!("{FOLDER}/avr");
    step(&format!(
        "avr-gcc -mmcu={AVR} -std=c99 -Os -mcall-prologues {WARNINGS} {SMALL} \
         -DVECTORS=\"{vectors}\" {SOURCES} c/test/vectors.S -lm -o {elf}"
    ))?;
    let text = simulated(AVR, &root()?.join(elf))?;
    println!("{}", text.trim());
    ensure!(
        text.contains(" 0 differences") && !text.contains(" 0 values equal"),
        "{AVR}: the models of {vectors} differ"
    );
    Ok(())
}

/// What a program prints on a simulated AVR, until it sleeps.
fn simulated(machine: &str, elf: &Path) -> Result<String> {
    eprintln!("+ timeout 300 simavr -m {machine} -f 16000000 {}", elf.display());
    let output = Command::new("timeout")
        .args(["300", "simavr", "-m", machine, "-f", "16000000"])
        .arg(elf)
        .output()
        .context("cannot run simavr")?;
    ensure!(output.status.code() != Some(124), "{}: no end after 300 s", elf.display());
    Ok(String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout))
}

/// Any bytes as blobs, from the golden models on, for so many seconds.
pub fn fuzz(seconds: u32) -> Result<()> {
    let (fuzzer, corpus) = (format!("{FOLDER}/fuzz"), format!("{FOLDER}/corpus"));
    fs::create_dir_all(root()?.join(&corpus))?;
    step(&format!(
        "clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined \
         -fno-sanitize-recover=undefined {WARNINGS} c/koan.c c/test/fuzz.c -lm -o {fuzzer}"
    ))?;
    step(&format!(
        "{fuzzer} -max_total_time={seconds} -max_len=4000 -timeout=20 -verbosity=0 \
         -print_final_stats=1 {corpus} tests/golden tests/golden/features"
    ))
}

/// The runtime stays short enough to be read.
fn count_lines() -> Result<()> {
    let mut lines = 0;
    for file in ["c/koan.c", "c/koan.h"] {
        let mut comment = false;
        for line in fs::read_to_string(root()?.join(file))?.lines() {
            let line = line.trim();
            comment |= line.starts_with("/*");
            lines += usize::from(!comment && !line.is_empty());
            comment &= !line.ends_with("*/");
        }
    }
    println!("{lines} lines of C");
    ensure!(lines <= MOST_LINES, "the runtime in C has {lines} lines, more than {MOST_LINES}");
    Ok(())
}
