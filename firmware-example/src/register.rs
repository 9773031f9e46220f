//! Registers of peripherals.

use core::ptr::{read_volatile, write_volatile};

/// A register of type `T` at a fixed address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Register<T>(*mut T);

impl<T: Copy> Register<T> {
    /// # Safety
    /// `address` is a register of width `T` of this machine, which may be read
    /// and written at any time.
    pub(crate) const unsafe fn at(address: usize) -> Self {
        Self(address as *mut T)
    }

    pub(crate) fn read(self) -> T {
        // SAFETY: promised to `at`.
        unsafe { read_volatile(self.0) }
    }

    pub(crate) fn write(self, value: T) {
        // SAFETY: promised to `at`.
        unsafe { write_volatile(self.0, value) }
    }
}
