//! Koan models in the browser and in node: what the npm package's TypeScript
//! calls. See `wasm/README.md` for the package.
//!
//! JavaScript writes rows into this memory and reads results from it; a call
//! passes numbers only. Calls that can fail return a negative number, and the
//! words that a session shares then say why: nothing here throws or traps.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod heap;
#[cfg(feature = "json")]
mod json;
mod session;

pub use session::{call, close, open};

/// A free list: loading a model allocates a dozen times, predicting never.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: lol_alloc::LockedAllocator<lol_alloc::FreeListAllocator> =
    lol_alloc::LockedAllocator::new(lol_alloc::FreeListAllocator::new());

/// Not reached: without a message, formatting it costs nothing.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
