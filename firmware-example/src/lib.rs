//! The machine layer: what the example firmware needs of a chip, the same on
//! every emulated machine. The target picks the machine (`build.rs`).
//!
//! - [`entry`] marks `main`, [`exit_on_panic!`] says what a panic does.
//! - [`println!`] and [`print`] write to the host's console (semihosting).
//! - [`exit`] ends the emulation with an exit code.
//! - [`Uart`] is the serial port.
//! - [`stack`] measures how deep the stack went.
//! - [`mark`] surrounds what the emulator's plugin counts.
//! - [`packed`] is what the host has put into flash beside the firmware, [`pack`]
//!   reads it.

#![no_std]

mod linker;
mod register;

pub mod mark;
pub mod pack;
#[cfg(any(feature = "planted-unwrap", feature = "planted-float", feature = "planted-heap"))]
pub mod planted;
pub mod stack;
pub mod uart;

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
pub use semihosting::{print as print_format, println};
pub use uart::Uart;

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

/// Writes a number to the host's console, without the formatting machinery.
pub fn print_number(number: usize) {
    if number >= 10 {
        print_number(number / 10);
    }
    let digit = [b'0' + (number % 10) as u8];
    print(core::str::from_utf8(&digit).unwrap_or("?"));
}

/// Ends the emulation; the emulator's own exit code is `code`.
pub fn exit(code: i32) -> ! {
    semihosting::process::exit(code)
}

/// Makes a panic print where it happened and exit with code 101.
#[macro_export]
macro_rules! exit_on_panic {
    () => {
        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::println!("{info}");
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
