//! Embassy's clock: a SysTick interrupt every millisecond. It wakes the core a thousand times a
//! second; the driver of a chip's HAL, which sets an alarm for the next deadline, does not.

use core::cell::{Cell, RefCell};
use core::task::Waker;

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;
use critical_section::{CriticalSection, Mutex, with};
use embassy_time_driver::{Driver, TICK_HZ, time_driver_impl};
use embassy_time_queue_utils::Queue;

struct SysTickDriver {
    ticks: Mutex<Cell<u64>>,
    sleeping: Mutex<RefCell<Queue>>,
}

time_driver_impl!(static DRIVER: SysTickDriver = SysTickDriver {
    ticks: Mutex::new(Cell::new(0)),
    sleeping: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for SysTickDriver {
    fn now(&self) -> u64 {
        with(|section| self.ticks.borrow(section).get())
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        with(|section| self.sleeping.borrow_ref_mut(section).schedule_wake(at, waker));
    }
}

impl SysTickDriver {
    fn tick(&self, section: CriticalSection<'_>) {
        let now = self.ticks.borrow(section).get() + 1;
        self.ticks.borrow(section).set(now);
        // Wakes who has slept enough. When the next one is due does not matter to this clock.
        self.sleeping.borrow_ref_mut(section).next_expiration(now);
    }
}

#[exception]
fn SysTick() {
    with(|section| DRIVER.tick(section));
}

/// Starts the clock, on a core of so many cycles a second.
pub fn start(mut timer: SYST, cycles: u32) {
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(cycles / TICK_HZ as u32 - 1);
    timer.clear_current();
    timer.enable_interrupt();
    timer.enable_counter();
}
