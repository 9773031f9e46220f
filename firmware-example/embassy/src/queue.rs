//! Where samples wait while a window is scored.

use core::sync::atomic::{AtomicU32, Ordering};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;

use crate::Sample;

/// Samples that may wait: those of a hop. A device that needs longer for a window never catches up.
pub const ROOM: usize = crate::HOP.get() as usize;

/// Samples on their way from the sensor to the model.
pub struct Queue {
    samples: Channel<CriticalSectionRawMutex, Numbered, ROOM>,
    /// Gaps so far: a sample found no room.
    gaps: AtomicU32,
}

/// A sample, and the number of gaps before it. With the number beside it a sample stays on its side
/// of a gap, whenever that comes.
pub(crate) type Numbered = (u32, Sample);

impl Queue {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self { samples: Channel::new(), gaps: AtomicU32::new(0) }
    }

    /// Samples that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.samples.len()
    }

    /// What finds no room is lost, with all that waits: the sensor does not wait, and nothing that
    /// follows belongs to what was before.
    pub(crate) fn put(&self, sample: Sample) {
        let gaps = self.gaps.load(Ordering::Relaxed);
        if self.samples.try_send((gaps, sample)).is_err() {
            self.samples.clear();
            // Not added, which a Cortex-M0 cannot: one task puts.
            self.gaps.store(gaps.wrapping_add(1), Ordering::Relaxed);
        }
    }

    pub(crate) async fn take(&self) -> Numbered {
        self.samples.receive().await
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}
