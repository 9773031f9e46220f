//! How deep the stack went: unused memory is painted, and later looked at.

use core::ptr::{read_volatile, write_volatile};

use crate::linker;

/// What unused stack is painted with.
const PAINT: u32 = 0x5ac5_5ac5;

/// Kept free below the address of a local variable for the painting itself.
const MARGIN: usize = 64;

/// Paints the unused stack; to be called at the start of `main`.
// Inlined, the local variable could lie above others of the caller.
#[inline(never)]
pub fn paint() {
    let local = 0u32;
    let here = core::hint::black_box(&raw const local) as usize;
    let mut at = linker::stack_bottom();
    while at < here - MARGIN {
        // SAFETY: between the statics and the stack pointer nothing lives.
        unsafe { write_volatile(at as *mut u32, PAINT) };
        at += 4;
    }
}

/// Bytes that the stack has taken at most since [`paint`]; `None` when it has
/// used all there is and may have run over.
#[must_use]
pub fn used() -> Option<usize> {
    let (bottom, top) = (linker::stack_bottom(), linker::stack_top());
    let mut at = bottom;
    // SAFETY: the stack's own memory, which is aligned to words.
    while at < top && unsafe { read_volatile(at as *const u32) } == PAINT {
        at += 4;
    }
    (at > bottom).then_some(top - at)
}

/// Bytes that the stack may take.
#[must_use]
pub fn size() -> usize {
    linker::stack_top() - linker::stack_bottom()
}
