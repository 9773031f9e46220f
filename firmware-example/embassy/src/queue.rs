//! Where samples wait while a window is scored.

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;

use crate::Sample;

/// Samples that may wait: those of a hop. A device that needs longer for a window never catches up.
pub const ROOM: usize = crate::HOP.get() as usize;

/// Samples on their way from the sensor to the model.
pub struct Queue {
    samples: Channel<CriticalSectionRawMutex, Sample, ROOM>,
    /// Whether a sample found no room.
    gap: AtomicBool,
}

impl Queue {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self { samples: Channel::new(), gap: AtomicBool::new(false) }
    }

    /// Samples that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.samples.len()
    }

    /// What finds no room is lost, with all that waits: the sensor does not wait, and nothing that
    /// follows belongs to what was before.
    pub(crate) fn put(&self, sample: Sample) {
        if self.samples.try_send(sample).is_err() {
            self.samples.clear();
            self.gap.store(true, Ordering::Release);
        }
    }

    pub(crate) async fn take(&self) -> Sample {
        self.samples.receive().await
    }

    /// Whether samples were lost since this was last asked.
    pub(crate) fn had_gap(&self) -> bool {
        let gap = self.gap.load(Ordering::Acquire);
        if gap {
            // Not swapped, which a Cortex-M0 cannot.
            self.gap.store(false, Ordering::Release);
        }
        gap
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}
