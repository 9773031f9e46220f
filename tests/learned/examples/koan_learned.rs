//! What JavaScript calls: learning in a module of WebAssembly. An example, and not the library, as
//! cargo has one place only for a library of this kind, whatever features it is compiled with.

#[cfg(target_arch = "wasm32")]
mod exports {
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

    use koan_learned::ROOM;

    static PATCH: [AtomicU8; ROOM] = [const { AtomicU8::new(0) }; ROOM];

    /// Makes the patch; its length, 0 if it cannot be made.
    #[unsafe(no_mangle)]
    extern "C" fn learn() -> usize {
        let patch = koan_learned::patch().unwrap_or_default();
        PATCH.iter().zip(&patch).for_each(|(place, &byte)| place.store(byte, Relaxed));
        patch.len()
    }

    /// Where it is.
    #[unsafe(no_mangle)]
    extern "C" fn patch() -> *const AtomicU8 {
        PATCH.as_ptr()
    }
}
