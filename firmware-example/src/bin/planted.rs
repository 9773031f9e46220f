//! What must not be in a firmware, in one: an `unwrap` that can fail, a float and a heap.
//! `cargo xtask emulate` must find them in the linked program, or its finding none in
//! `predict` means nothing.

#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use core::alloc::{GlobalAlloc, Layout};
use core::hint::black_box;

use koan_firmware::{entry, exit, exit_on_panic};

koan::include_model!(mod digits = "../../digits.koan");

exit_on_panic!();

#[entry]
fn main() -> ! {
    let class = digits::predictor().classify(black_box(&[0i16; 64])).unwrap();
    let class = black_box((black_box(class) as f32 * 1.5) as i32);
    exit(*black_box(Box::new(class)))
}

struct Empty;

// SAFETY: an allocator may always fail.
unsafe impl GlobalAlloc for Empty {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static HEAP: Empty = Empty;
