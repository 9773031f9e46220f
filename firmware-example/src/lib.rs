//! The machine layer: what the example firmware needs of a chip, the same on
//! every emulated machine. The target picks the machine (`build.rs`).
//!
//! - [`entry`] marks `main`, [`exit_on_panic!`] says what a panic does.
//! - [`println!`] and [`print`] write to the host's console (semihosting).
//! - [`exit`] ends the emulation with an exit code.
//! - [`Uart`] is the serial port.
//! - [`file_flash`] is flash that outlives the emulator.
//! - [`stack`] says whether the stack ran over.
//! - [`mark`] surrounds what the emulator's plugin counts, [`flash`] makes the programs
//!   whose size is compared.
//! - [`packed`] is what the host has put into flash beside the firmware, [`pack`]
//!   reads it.

#![no_std]

mod linker;
mod register;

pub mod file_flash;
pub mod flash;
pub mod mark;
pub mod pack;
pub mod stack;
pub mod uart;

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
pub use semihosting::println;
pub use uart::Uart;

/// Cycles of the core in a second, on the machines whose programs need the time.
#[cfg(machine = "microbit")]
pub const CLOCK: u32 = 16_000_000;
/// Cycles of the core in a second, on the machines whose programs need the time.
#[cfg(machine = "mps2-an386")]
pub const CLOCK: u32 = 25_000_000;

/// What the host has put into the memory region `PACK`.
#[must_use]
pub fn packed() -> &'static [u8] {
    linker::pack()
}

/// Writes text to the host's console, without the formatting machinery.
pub fn print(text: &str) {
    use semihosting::io::Write;
    if let Ok(mut stdout) = semihosting::io::stdout() {
        // There is nowhere to report to.
        let _ = stdout.write_all(text.as_bytes());
    }
}

/// Ends the emulation; the emulator's own exit code is `code`.
pub fn exit(code: i32) -> ! {
    semihosting::process::exit(code)
}

/// Makes a panic print where it happened and exit with code 101; `silently`, without the text,
/// which costs flash.
#[macro_export]
macro_rules! exit_on_panic {
    () => {
        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::println!("{info}");
            $crate::exit(101)
        }
    };
    (silently) => {
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            $crate::exit(101)
        }
    };
}

/// A fault of the hardware ends the emulation instead of hanging: exit code 102.
mod fault {
    fn report() -> ! {
        crate::print("a hardware fault: a wrong address, or the stack ran over\n");
        crate::exit(102)
    }

    #[cfg(target_arch = "arm")]
    #[cortex_m_rt::exception]
    unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
        report()
    }

    #[cfg(target_arch = "riscv32")]
    #[unsafe(export_name = "ExceptionHandler")]
    extern "C" fn exception(_: &riscv_rt::TrapFrame) -> ! {
        report()
    }
}
