//! What a linked firmware contains: panics, heap, floats; and how large it is.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::elf::{SHF_ALLOC, SHF_WRITE};
use object::{Architecture, File, Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind};

/// What must not be in a firmware, as names of symbols and instructions.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// What a panic needs, and formatting, which only panics bring.
    pub panics: BTreeSet<String>,
    /// Allocators.
    pub heap: BTreeSet<String>,
    /// Soft-float routines and instructions of a float unit.
    pub floats: BTreeSet<String>,
}

impl Findings {
    /// All of them.
    pub fn all(&self) -> Vec<&str> {
        [&self.panics, &self.heap, &self.floats].into_iter().flatten().map(String::as_str).collect()
    }
}

/// Bytes that a firmware takes.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Code, constants and initial values.
    pub flash: u64,
    /// Statics.
    pub ram: u64,
}

/// Looks through all symbols and, for a Cortex-M, through all instructions.
pub fn findings(path: &Path) -> Result<Findings> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let file = File::parse(&*bytes)?;
    let symbols = file.symbols().filter_map(|symbol| symbol.name().ok());
    let names = names(symbols).with_context(|| path.display().to_string())?;
    let select = |wanted: fn(&str) -> bool| -> BTreeSet<String> {
        names.iter().filter(|name| wanted(name)).cloned().collect()
    };
    let mut found =
        Findings { panics: select(is_panic), heap: select(is_heap), floats: select(is_soft_float) };
    if file.architecture() == Architecture::Arm {
        found.floats.extend(float_instructions(&file)?);
    }
    Ok(found)
}

/// What a panic needs, among names of functions.
pub fn panics<'n>(symbols: impl Iterator<Item = &'n str>) -> Result<BTreeSet<String>> {
    Ok(names(symbols)?.into_iter().filter(|name| is_panic(name)).collect())
}

/// The names of symbols as Rust has them.
fn names<'n>(symbols: impl Iterator<Item = &'n str>) -> Result<BTreeSet<String>> {
    let names: BTreeSet<String> =
        symbols.map(|name| format!("{:#}", rustc_demangle::demangle(name))).collect();
    // A stripped file would show nothing.
    let whole = names.iter().any(|name| name.contains("koan::"));
    ensure!(whole, "no symbol of koan: is the file stripped?");
    Ok(names)
}

fn is_panic(name: &str) -> bool {
    const PARTS: [&str; 6] =
        ["panic", "rust_begin_unwind", "unwrap_failed", "expect_failed", "_fail", "core::fmt"];
    PARTS.iter().any(|part| name.contains(part))
}

fn is_heap(name: &str) -> bool {
    const PARTS: [&str; 7] =
        ["__rust_", "__rg_", "__rdl_", "alloc::", "alloc_error", "malloc", "GlobalAlloc"];
    PARTS.iter().any(|part| name.contains(part))
}

/// The run-time ABI for ARM (section 4.1.2), the names of libgcc, libm.
fn is_soft_float(name: &str) -> bool {
    if let Some(name) = name.strip_prefix("__aeabi_") {
        let converts = ["2f", "2d", "2h", "h2"].iter().any(|part| name.contains(part));
        return converts || name.starts_with(['f', 'd']) || name.starts_with("cf");
    }
    if let Some(name) = name.strip_prefix("__") {
        const OPERATIONS: [&str; 18] = [
            "add", "sub", "mul", "div", "neg", "cmp", "eq", "ne", "lt", "le", "gt", "ge", "unord",
            "pow", "fix", "float", "extend", "trunc",
        ];
        const TYPES: [&str; 4] = ["hf", "sf", "df", "tf"];
        return OPERATIONS.iter().any(|operation| {
            let rest = name.strip_prefix(operation);
            rest.is_some_and(|rest| TYPES.iter().any(|kind| rest.contains(kind)))
        });
    }
    ["compiler_builtins::float", "libm::", "micromath"].iter().any(|part| name.contains(part))
}

/// Instructions of the float unit: in Thumb-2, those of coprocessors 10 and 11
/// (ARMv7-M architecture reference manual, A5.3.18 and A6.4).
fn float_instructions(file: &File<'_>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        // $t starts code, $d data among it (ELF for the ARM architecture, 5.5.5).
        let mut marks: Vec<(u64, bool)> = file
            .symbols()
            .filter(|symbol| symbol.section_index() == Some(section.index()))
            .filter_map(|symbol| {
                let name = symbol.name().ok()?;
                let code = name.starts_with("$t");
                (code || name.starts_with("$d")).then_some((symbol.address(), code))
            })
            .collect();
        marks.sort_unstable();
        let (start, data) = (section.address(), section.data()?);
        let ends = marks.iter().skip(1).map(|&(address, _)| address);
        let end = start + data.len() as u64;
        let ranges = marks.iter().zip(ends.chain([end]));
        for (&(from, _), to) in ranges.filter(|((_, code), _)| *code) {
            let code = data.get((from - start) as usize..(to - start) as usize);
            let code = code.context("a mapping symbol outside of its section")?;
            found.extend(coprocessor_10_11(code).into_iter().map(|(at, word)| {
                format!("float instruction {word:08x} at {:#x}", from + at as u64)
            }));
        }
    }
    Ok(found)
}

/// Offsets and words of the float unit's instructions in Thumb code.
fn coprocessor_10_11(code: &[u8]) -> Vec<(usize, u32)> {
    let half = |at: usize| Some(u16::from_le_bytes([*code.get(at)?, *code.get(at + 1)?]));
    let (mut at, mut found) = (0, Vec::new());
    while let Some(first) = half(at) {
        if first >> 11 < 0b11101 {
            at += 2;
            continue;
        }
        let Some(second) = half(at + 2) else { break };
        if first & 0xec00 == 0xec00 && matches!(second >> 8 & 15, 10 | 11) {
            found.push((at, u32::from(first) << 16 | u32::from(second)));
        }
        at += 4;
    }
    found
}

/// What the firmware takes of flash and RAM.
pub fn size(path: &Path) -> Result<Size> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let file = File::parse(&*bytes)?;
    let mut size = Size { flash: 0, ram: 0 };
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let loaded = section.kind() != SectionKind::UninitializedData;
        // riscv-rt calls what remains of the RAM a section.
        if !sh_flags.contains(SHF_ALLOC) || section.name() == Ok(".stack") {
            continue;
        }
        // Initial values lie in flash.
        if loaded {
            size.flash += section.size();
        }
        if sh_flags.contains(SHF_WRITE) {
            size.ram += section.size();
        }
    }
    Ok(size)
}

/// How often `part`, such as a model, is in a firmware.
pub fn copies(path: &Path, part: &[u8]) -> Result<usize> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(bytes.windows(part.len()).filter(|&window| window == part).count())
}

/// The address of a symbol.
pub fn symbol(path: &Path, name: &str) -> Result<u64> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let file = File::parse(&*bytes)?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    let symbol = symbol.with_context(|| format!("{}: no symbol {name}", path.display()))?;
    Ok(symbol.address())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_float_routines_are_told_from_integer_ones() {
        let floats = [
            "__aeabi_fadd",
            "__aeabi_dcmplt",
            "__aeabi_i2f",
            "__aeabi_ul2d",
            "__aeabi_f2iz",
            "__aeabi_cfcmple",
            "__addsf3",
            "__floatunsisf",
            "__fixunsdfdi",
            "__gtsf2",
            "__extendsfdf2",
            "compiler_builtins::float::mul::__mulsf3",
        ];
        for name in floats {
            assert!(is_soft_float(name), "{name}");
        }
        let integers = [
            "__aeabi_lmul",
            "__aeabi_uidivmod",
            "__aeabi_ldivmod",
            "__aeabi_memcpy4",
            "__aeabi_llsl",
            "__divdi3",
            "__muldi3",
            "__clzsi2",
            "__udivmodsi4",
            "koan::numerics::fixed_point",
        ];
        for name in integers {
            assert!(!is_soft_float(name), "{name}");
        }
    }

    #[test]
    fn instructions_of_the_float_unit_are_found() {
        // push {r4, lr}; vadd.f32 s0, s0, s1; movw r0, #0x0a00 (which is none);
        // vldr s0, [r0]; vmov r0, s0; pop {r4, pc}
        let halves: [u16; 10] =
            [0xb510, 0xee30, 0x0a20, 0xf640, 0x2000, 0xed90, 0x0a00, 0xee10, 0x0a10, 0xbd10];
        let code: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        let found = coprocessor_10_11(&code);
        assert_eq!(found, [(2, 0xee30_0a20), (10, 0xed90_0a00), (14, 0xee10_0a10)]);
    }
}
