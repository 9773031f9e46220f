//! The last samples of a stream.

use core::num::NonZeroU16;

/// The last `SAMPLES` samples of `CHANNELS` numbers each, and when the next window is whole.
///
/// Every sample is written twice, so that a window always lies in one piece: nothing is moved
/// or copied together when a window is whole, and a sample costs the same whenever it comes.
///
/// ```
/// use core::num::NonZeroU16;
/// use koan_stream::Window;
///
/// let mut window = Window::<i16, 2, 3>::new(NonZeroU16::new(2).unwrap());
/// let whole: Vec<i16> = (0..5).filter(|&i| window.push([i, -i])).collect();
/// assert_eq!(whole, [2, 4]); // after 3 samples, then after every 2
/// assert_eq!(window.numbers(), [2, -2, 3, -3, 4, -4]); // the oldest sample first
/// ```
#[derive(Clone, Debug)]
pub struct Window<T, const CHANNELS: usize, const SAMPLES: usize> {
    twice: [[[T; CHANNELS]; SAMPLES]; 2],
    /// Where the next sample goes; the oldest one is there.
    next: usize,
    /// Samples until the next window is whole.
    missing: usize,
    hop: NonZeroU16,
}

impl<T: Copy + Default, const CHANNELS: usize, const SAMPLES: usize> Window<T, CHANNELS, SAMPLES> {
    /// No samples yet; a window follows the one before after `hop` samples.
    #[must_use]
    pub fn new(hop: NonZeroU16) -> Self {
        Self::of(T::default(), hop)
    }
}

impl<T: Copy, const CHANNELS: usize, const SAMPLES: usize> Window<T, CHANNELS, SAMPLES> {
    /// [`Window::new`] with this number until samples have come, for a static.
    #[must_use]
    pub const fn of(number: T, hop: NonZeroU16) -> Self {
        const { assert!(CHANNELS > 0 && SAMPLES > 0, "a window without numbers") };
        Self { twice: [[[number; CHANNELS]; SAMPLES]; 2], next: 0, missing: SAMPLES, hop }
    }

    /// Samples from a window to the next.
    #[must_use]
    pub fn hop(&self) -> NonZeroU16 {
        self.hop
    }

    /// Takes a sample; whether a window is whole with it.
    pub fn push(&mut self, sample: [T; CHANNELS]) -> bool {
        for copy in &mut self.twice {
            if let Some(place) = copy.get_mut(self.next) {
                *place = sample;
            }
        }
        self.next += 1;
        if self.next >= SAMPLES {
            self.next = 0;
        }
        self.missing = self.missing.saturating_sub(1);
        let whole = self.missing == 0;
        if whole {
            self.missing = self.hop.get().into();
        }
        whole
    }

    /// The numbers of the last samples, the oldest sample first: a row of the model, once
    /// there are as many.
    #[must_use]
    pub fn numbers(&self) -> &[T] {
        let samples = self.twice.as_flattened();
        samples.get(self.next..self.next + SAMPLES).unwrap_or_default().as_flattened()
    }

    /// The same, as memory that may be lent.
    pub(crate) fn numbers_mut(&mut self) -> &mut [T] {
        let samples = self.twice.as_flattened_mut();
        samples.get_mut(self.next..self.next + SAMPLES).unwrap_or_default().as_flattened_mut()
    }

    /// Forgets all samples: after a gap, as between two recordings.
    pub fn restart(&mut self) {
        self.missing = SAMPLES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: proptest::test_runner::RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn windows_are_slices_of_the_series(
            series in proptest::collection::vec(any::<[i16; 3]>(), 0..60),
            hop in 1u16..20,
            gap in 0usize..60,
        ) {
            let mut window = Window::<i16, 3, 7>::new(NonZeroU16::new(hop).unwrap());
            let (before, after) = series.split_at(gap.min(series.len()));
            for part in [before, after] {
                let mut found = Vec::new();
                for &sample in part {
                    if window.push(sample) {
                        found.push(window.numbers().to_vec());
                    }
                }
                let expected: Vec<Vec<i16>> =
                    part.windows(7).step_by(hop.into()).map(|w| w.concat()).collect();
                prop_assert_eq!(found, expected);
                window.restart();
            }
        }
    }
}
