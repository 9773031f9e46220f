//! What is tried within the time that was asked for.
//!
//! How long a step takes follows from those before it: the sums of a pool grow with the
//! square of its features, and so does a fit of a head at most. Without a limit of time all
//! pools are looked at, with the model's own seed. With one, a small pool comes first, so
//! that no larger one is begun without a look at the clock.

use std::collections::BTreeMap;

use crate::Error;
use crate::progress::Progress;

/// The part of the smallest pool that the clock is read by.
const PILOT: u16 = 8;

/// What a schedule puts in order.
pub(super) trait Work {
    /// Seconds since the start.
    fn elapsed(&self) -> f64;
    /// Looks at what a pool with so many features of each bank gives, its seed so far from
    /// the model's own.
    fn look(&mut self, seed: u64, candidates: u16, progress: &Progress) -> Result<(), Error>;
    /// Fits the heads of the best models so far, as the end will.
    fn fit(&mut self, progress: &Progress) -> Result<(), Error>;
    /// The features of each of these models; none where heads are fitted in passing.
    fn unfitted(&self) -> Vec<usize>;
    /// The pools that the best models came from.
    fn pools(&self) -> Vec<u16>;
    /// What was looked at so far was with the model's own seed.
    fn keep_own(&mut self);
}

/// How long steps have taken.
#[derive(Clone, Debug, Default)]
struct Pace {
    /// Seconds of pools of so many features, at most.
    pools: BTreeMap<u16, f64>,
    /// Seconds for the square of the features of a head.
    head: f64,
}

fn square(features: f64) -> f64 {
    features * features
}

impl Pace {
    /// Seconds that a pool will take, from the next smaller one, by the square; none if nothing
    /// has been measured.
    fn pool(&self, candidates: u16) -> Option<f64> {
        let smaller = self.pools.range(..=candidates).next_back();
        let by_square =
            |(&from, &took): (&u16, &f64)| took * square(f64::from(candidates) / f64::from(from));
        smaller.map(by_square).or_else(|| self.pools.values().next().copied())
    }

    /// Seconds that several pools will take.
    fn pools(&self, pools: &[u16]) -> Option<f64> {
        pools.iter().map(|&pool| self.pool(pool)).sum()
    }

    /// Seconds that heads of so many features will take.
    fn heads(&self, heads: impl IntoIterator<Item = usize>) -> f64 {
        self.head * heads.into_iter().map(|features| square(features as f64)).sum::<f64>()
    }
}

/// Pools to look at, and for how long.
#[derive(Clone, Debug)]
pub(super) struct Schedule<'s> {
    /// Pools with the model's own seed, ascending.
    pub pools: &'s [u16],
    /// Whether smaller ones do as well.
    pub open: bool,
    /// Banks, each of which has so many features in a pool.
    pub banks: usize,
    /// Seconds for everything; none for the model's own seed alone, however long it takes.
    pub limit: Option<f64>,
}

impl Schedule<'_> {
    /// Does the work; how many seeds were looked at.
    ///
    /// # Errors
    /// What the work comes upon.
    pub fn run(&self, work: &mut impl Work, progress: &Progress) -> Result<usize, Error> {
        let mut pace = Pace::default();
        let least = self.pools.first().copied().unwrap_or(0);
        if self.limit.is_some() && self.open {
            self.pilot(least, &mut pace, work, progress)?;
        }
        for (index, &candidates) in self.pools.iter().enumerate() {
            if !self.leaves_time(work, &pace, &[candidates], candidates.min(least)) {
                break;
            }
            let mut part = format!("candidates {} of {}", index + 1, self.pools.len());
            if let Some(left) = pace.pools(&self.pools[index..]) {
                part += &format!(", about {left:.0} s for these and all larger ones");
            }
            let progress = &progress.within(&part);
            look(work, 0, candidates, &mut pace, progress)?;
            if self.limit.is_some() && index == 0 {
                self.measure_heads(&mut pace, work, progress)?;
            }
        }
        work.keep_own();
        let mut seeds = 1;
        while self.limit.is_some() {
            let pools = work.pools();
            if pools.is_empty() || !self.leaves_time(work, &pace, &pools, 0) {
                break;
            }
            let progress = &progress.within(&format!("seed {}", seeds + 1));
            for candidates in pools {
                look(work, seeds as u64, candidates, &mut pace, progress)?;
            }
            seeds += 1;
        }
        Ok(seeds)
    }

    /// Ever larger pools below the smallest one, until that one is known to leave time or
    /// nothing larger does.
    fn pilot(
        &self,
        least: u16,
        pace: &mut Pace,
        work: &mut impl Work,
        progress: &Progress,
    ) -> Result<(), Error> {
        let mut candidates = (least / PILOT).max(1);
        while candidates < least {
            let progress = &progress.within(&format!("{candidates} candidates"));
            look(work, 0, candidates, pace, progress)?;
            self.measure_heads(pace, work, progress)?;
            let fits = |pool: u16| self.leaves_time(work, pace, &[pool], pool);
            if fits(least) {
                break;
            }
            let larger = [4, 2].map(|part| least / part);
            let next = larger.into_iter().filter(|&pool| pool > candidates && fits(pool)).max();
            let Some(next) = next else { break };
            candidates = next;
        }
        Ok(())
    }

    /// Measures how long the end will take, where there is time to fit its heads twice.
    fn measure_heads(
        &self,
        pace: &mut Pace,
        work: &mut impl Work,
        progress: &Progress,
    ) -> Result<(), Error> {
        let heads = work.unfitted();
        if heads.is_empty() || !self.leaves_time(work, pace, &[], 0) {
            return Ok(());
        }
        let begun = work.elapsed();
        work.fit(progress)?;
        let all: f64 = heads.iter().map(|&features| square(features as f64)).sum();
        pace.head = (work.elapsed() - begun) / all;
        Ok(())
    }

    /// Whether these pools, and the heads after them, of up to `features` features or as many
    /// as now, will end in time. Before anything has been measured, it is taken for granted.
    fn leaves_time(&self, work: &impl Work, pace: &Pace, pools: &[u16], features: u16) -> bool {
        let (Some(limit), Some(pools)) = (self.limit, pace.pools(pools)) else { return true };
        // Another seed may be best, besides the model's own.
        let most = self.banks * usize::from(features);
        let heads = work.unfitted().into_iter().map(|head| head.max(most));
        work.elapsed() + pools + 2.0 * pace.heads(heads) <= limit
    }
}

/// Looks at a pool, and measures how long it takes: the slowest one of a size counts.
fn look(
    work: &mut impl Work,
    seed: u64,
    candidates: u16,
    pace: &mut Pace,
    progress: &Progress,
) -> Result<(), Error> {
    let begun = work.elapsed();
    work.look(seed, candidates, progress)?;
    let took = work.elapsed() - begun;
    pace.pools.entry(candidates).and_modify(|most| *most = most.max(took)).or_insert(took);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work whose clock goes by what it costs.
    struct Fake {
        now: f64,
        /// Seconds of a pool, and of a head.
        pool: fn(f64) -> f64,
        head: fn(f64) -> f64,
        /// Features that fit in the model.
        room: u16,
        /// The pool that gives the best model, or the largest below it.
        suits: u16,
        best: u16,
        fitted: bool,
        own: u16,
        own_fitted: bool,
        looked: Vec<(u64, u16)>,
    }

    impl Fake {
        fn new((pool, head): Costs, suits: u16) -> Self {
            let (now, best, own) = (0.0, 0, 0);
            let (fitted, own_fitted, looked) = (false, false, Vec::new());
            Self { now, pool, head, room: 160, suits, best, fitted, own, own_fitted, looked }
        }

        /// The heads that are left in the end.
        fn end(&mut self) {
            if !self.fitted {
                self.now += (self.head)(self.best.into());
            }
            let other_seeds = self.looked.last().is_some_and(|looked| looked.0 > 0);
            if other_seeds && !self.own_fitted {
                self.now += (self.head)(self.own.into());
            }
        }
    }

    impl Work for Fake {
        fn elapsed(&self) -> f64 {
            self.now
        }

        fn look(&mut self, seed: u64, candidates: u16, _: &Progress) -> Result<(), Error> {
            // Every other step takes a little longer.
            let factor = if self.looked.len().is_multiple_of(2) { 1.0 } else { 1.05 };
            self.now += factor * (self.pool)(candidates.into());
            self.looked.push((seed, candidates));
            // The worst case: ever better models, until the pools get too large.
            if candidates <= self.suits {
                (self.best, self.fitted) = (candidates.min(self.room), false);
            }
            Ok(())
        }

        fn fit(&mut self, _: &Progress) -> Result<(), Error> {
            self.now += (self.head)(self.best.into());
            self.fitted = true;
            Ok(())
        }

        fn unfitted(&self) -> Vec<usize> {
            vec![self.best.into()]
        }

        fn pools(&self) -> Vec<u16> {
            let pools = self.looked.iter().map(|looked| looked.1);
            pools.filter(|&pool| pool <= self.suits).max().into_iter().collect()
        }

        fn keep_own(&mut self) {
            (self.own, self.own_fitted) = (self.best, self.fitted);
        }
    }

    const POOLS: [u16; 5] = [160, 320, 640, 1280, 2560];

    fn schedule(limit: Option<f64>) -> Schedule<'static> {
        Schedule { pools: &POOLS, open: true, banks: 1, limit }
    }

    /// Seconds of pools, and of heads.
    type Costs = (fn(f64) -> f64, fn(f64) -> f64);

    /// By the square, nearly by the features alone, and heads
    /// that take most of the time.
    const COSTS: [Costs; 3] = [
        (|k| 1e-4 * k * k, |k| 1e-5 * k * k),
        (|k| 1e-2 * k + 1e-5 * k * k, |k| 1e-3 * k + 1e-5 * k * k),
        (|k| 1e-3 * k + 1e-5 * k * k, |k| 1e-2 * k + 2e-4 * k * k),
    ];

    #[test]
    fn without_a_limit_all_pools_are_looked_at_once() {
        for costs in COSTS {
            let mut work = Fake::new(costs, 2560);
            assert_eq!(schedule(None).run(&mut work, &Progress::none()).unwrap(), 1);
            assert_eq!(work.looked, POOLS.map(|pool| (0, pool)));
        }
    }

    #[test]
    fn the_time_is_kept_within_a_tenth_from_the_smallest_pool_on() {
        for (pool, head) in COSTS {
            // The least that can be done: a pool to read the clock by, and its heads.
            let least = pool(20.0) + 2.0 * head(20.0);
            for (tenths, suits) in (10..4000).flat_map(|tenths| POOLS.map(|suits| (tenths, suits)))
            {
                let limit = least * f64::from(tenths) / 10.0;
                let mut work = Fake::new((pool, head), suits);
                schedule(Some(limit)).run(&mut work, &Progress::none()).unwrap();
                work.end();
                assert!(work.now <= 1.1 * limit, "{} s instead of {limit}, {suits}", work.now);
            }
        }
    }

    #[test]
    fn time_is_used_and_the_largest_pools_come_before_other_seeds() {
        for (pool, head) in COSTS {
            let all: f64 = POOLS.iter().map(|&k| pool(k.into())).sum();
            let limit = 4.0 * (all + 2.0 * head(160.0));
            let mut work = Fake::new((pool, head), 2560);
            let seeds = schedule(Some(limit)).run(&mut work, &Progress::none()).unwrap();
            work.end();
            assert!(seeds > 1 && work.now > 0.6 * limit, "{seeds} seeds, {} of {limit}", work.now);
            assert!(work.looked.contains(&(0, 2560)));
        }
    }

    #[test]
    fn pools_that_were_asked_for_are_not_made_smaller() {
        let mut work = Fake::new(COSTS[0], 2560);
        let asked = Schedule { open: false, ..schedule(Some(1e-3)) };
        assert_eq!(asked.run(&mut work, &Progress::none()).unwrap(), 1);
        assert_eq!(work.looked, [(0, 160)]);
    }
}
