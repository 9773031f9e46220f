//! Markers for the emulator's plugin, which counts the instructions between them:
//! instructions that do nothing and that no compiler makes.

use core::arch::asm;

/// Where counting starts.
#[inline(always)]
pub fn start() {
    #[cfg(target_arch = "arm")]
    // SAFETY: moves a register to itself. May not be moved across memory accesses.
    unsafe {
        asm!("mov r11, r11")
    }
    #[cfg(target_arch = "riscv32")]
    // SAFETY: writes to the register that is always 0.
    unsafe {
        asm!(".option push", ".option norvc", "slti x0, x0, 1", ".option pop")
    }
}

/// Where counting stops.
#[inline(always)]
pub fn stop() {
    #[cfg(target_arch = "arm")]
    // SAFETY: as in `start`.
    unsafe {
        asm!("mov r12, r12")
    }
    #[cfg(target_arch = "riscv32")]
    // SAFETY: as in `start`.
    unsafe {
        asm!(".option push", ".option norvc", "slti x0, x0, 2", ".option pop")
    }
}
