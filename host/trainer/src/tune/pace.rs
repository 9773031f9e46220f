//! How fast the machine is at the moment, and what a search can still do before
//! the clock ends it.

use web_time::{Duration, Instant};

use super::budget::{SHARES, SPEED};

/// The plan stays as it is on a machine with this share of the speed that it
/// counts on; below that the rest is planned anew, with this share of the time.
pub(super) const SLACK: f64 = 0.8;

/// Shorter work is no measure of speed.
const LEAST: Duration = Duration::from_millis(100);

/// When the clock ends a search, and how much is done until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// None if the clock has no part in the search.
    pub deadline: Option<Instant>,
    /// Multiply-adds per second, as last measured.
    pub speed: f64,
}

impl Clock {
    pub fn new(deadline: Option<Instant>) -> Self {
        Self { deadline, speed: SPEED }
    }

    /// Seconds until the deadline.
    fn left(&self) -> Option<f64> {
        let now = Instant::now();
        self.deadline.map(|deadline| deadline.saturating_duration_since(now).as_secs_f64())
    }

    /// Multiply-adds that can be done until the deadline.
    pub fn possible(&self) -> f64 {
        self.left().map_or(f64::INFINITY, |left| left * self.speed)
    }

    /// The share of the speed that plans count on, 1 at most; without a deadline it does not
    /// matter.
    pub fn speed_share(&self) -> f64 {
        if self.deadline.is_some() { (self.speed / SPEED).min(1.0) } else { 1.0 }
    }

    /// Takes note of how long so many multiply-adds took. What is over at once says more of
    /// its beginning than of the machine.
    pub fn measured(&mut self, work: f64, took: Duration) {
        if self.deadline.is_some() && work > 0.0 && took >= LEAST {
            self.speed = work / took.as_secs_f64();
        }
    }
}

/// What is left of the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Seconds that the plan counts on.
    seconds: f64,
    pub clock: Clock,
    /// Whether less is done than was planned.
    pub hurried: bool,
}

/// Multiply-adds of a rung.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// What its rows and columns are chosen for.
    pub aim: f64,
    /// What can be done in its share of the time.
    pub limit: f64,
}

impl Pace {
    pub fn new(seconds: f64, deadline: Option<Instant>) -> Self {
        Self { seconds, clock: Clock::new(deadline), hurried: false }
    }

    /// What a rung may take: as planned, or if the machine is too slow for that its
    /// share of what can be done in the time that is left.
    pub fn budget(&mut self, rung: usize, rungs: usize) -> Budget {
        let planned = SHARES[rung] * self.seconds * SPEED;
        if self.clock.deadline.is_none() {
            return Budget { aim: planned, limit: f64::INFINITY };
        }
        let rest: f64 = SHARES[rung..rungs].iter().sum();
        let possible = SHARES[rung] / rest * self.clock.possible();
        let limit = SLACK * possible;
        if possible >= SLACK * planned {
            return Budget { aim: planned, limit: limit.max(planned) };
        }
        self.hurried = true;
        Budget { aim: limit, limit }
    }

    /// Whether so many multiply-adds beside the plan take at most `share` of the
    /// time that it counts on, and of the time that is left.
    pub fn affords(&mut self, work: f64, share: f64) -> bool {
        if work > share * self.seconds * SPEED {
            return false;
        }
        let affordable = work <= share * self.clock.possible();
        self.hurried |= !affordable;
        affordable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_clock_the_plan_stands() {
        let mut pace = Pace::new(100.0, None);
        pace.clock.measured(1.0, Duration::from_secs(1000));
        let budget = pace.budget(1, 3);
        assert_eq!((budget.aim, budget.limit), (SHARES[1] * 100.0 * SPEED, f64::INFINITY));
        // The plan counts on so much.
        assert!(pace.affords(0.9 * SPEED, 0.01) && !pace.hurried);
        assert!(!pace.affords(1.1 * SPEED, 0.01) && !pace.hurried);
    }

    #[test]
    fn a_slow_machine_gets_a_smaller_plan() {
        let deadline = Instant::now().checked_add(Duration::from_secs(1000));
        let mut pace = Pace::new(1000.0, deadline);
        let planned = SHARES[0] * 1000.0 * SPEED;
        assert_eq!(pace.budget(0, 3).aim, planned);
        assert!(pace.affords(100.0 * SPEED, 0.2) && !pace.hurried);
        pace.clock.measured(SPEED, Duration::from_secs(10));
        assert!(!pace.affords(100.0 * SPEED, 0.2));
        let Budget { aim: budget, limit } = pace.budget(0, 3);
        assert_eq!(budget, limit);
        assert!(budget < 0.2 * planned && budget > 0.05 * planned && pace.hurried);
        // What one rung leaves is the next one's.
        assert!(pace.budget(2, 3).aim > SHARES[2] / SHARES[0] * budget);
    }

    #[test]
    fn what_is_over_at_once_is_no_measure() {
        let mut pace = Pace::new(1000.0, Instant::now().checked_add(Duration::from_secs(1000)));
        pace.clock.measured(1.0, Duration::from_millis(10));
        assert_eq!(pace.clock.speed, SPEED);
    }

    #[test]
    fn nothing_is_left_after_the_deadline() {
        let mut pace = Pace::new(1.0, Some(Instant::now()));
        assert_eq!(pace.budget(2, 3).aim, 0.0);
        assert!(!pace.affords(1.0, 1.0));
    }
}
