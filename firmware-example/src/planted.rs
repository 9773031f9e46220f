//! What must not be in a firmware: so that the check of the linked program is
//! seen to fail.

/// The class, by way of a fault.
#[must_use]
pub fn class(class: usize) -> usize {
    #[cfg(feature = "planted-unwrap")]
    let class = u8::try_from(class).map(usize::from).unwrap();
    #[cfg(feature = "planted-float")]
    let class = (core::hint::black_box(class) as f32 * 1.5) as usize;
    #[cfg(feature = "planted-heap")]
    let class = *core::hint::black_box(heap::boxed(class));
    class
}

#[cfg(feature = "planted-heap")]
mod heap {
    extern crate alloc;

    use alloc::boxed::Box;
    use core::alloc::{GlobalAlloc, Layout};

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

    pub(super) fn boxed(class: usize) -> Box<usize> {
        Box::new(class)
    }
}
