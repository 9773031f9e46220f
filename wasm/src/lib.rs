//! Koan models in the browser and in node: what the npm package's TypeScript
//! calls. See `wasm/README.md` for the package.
//!
//! Calls pass numbers only: addresses in this memory, which JavaScript owns, and
//! lengths. Nothing here throws or traps.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(feature = "json")]
mod json;
mod parts;
mod session;

#[cfg(feature = "json")]
pub use json::json;
pub use parts::families;
pub use session::{load, run};

/// Memory is JavaScript's, and only lent to a call as boxes: nothing is allocated, and
/// when a box is dropped nothing happens.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: lol_alloc::FailAllocator = lol_alloc::FailAllocator;

/// Not reached: without a message, formatting it costs nothing.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
