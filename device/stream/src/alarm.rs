//! Anomalies over time.

/// Adds up what a detector of anomalies says of window after window: E. S. Page's cumulative sum
/// (*Continuous inspection schemes*, Biometrika 41, 1954), in integers.
///
/// The score of a model of `koan train --task anomaly` is above 0 for what is normal. With
/// every window the sum becomes max(0, sum − score − `slack`): a weak anomaly that stays raises
/// the alarm as a strong one does that is short, and one odd window does not.
///
/// ```
/// let mut alarm = koan_stream::Alarm::new(10, 100);
/// let scores = [30, -20, 30, -50, -50, -50, 30, 45, 45];
/// let raised = scores.map(|score| alarm.push(score));
/// // 0, 10, 0, 40, 80, 100 (not 120): raised; 60, 5, 0: over.
/// assert_eq!(raised, [false, false, false, false, false, true, true, true, false]);
/// ```
#[derive(Clone, Debug)]
pub struct Alarm {
    slack: i32,
    limit: i32,
    sum: i32,
    raised: bool,
}

impl Alarm {
    /// An alarm that is raised when the sum reaches `limit` (at least 1, in units of the score)
    /// and over when it is 0 again. `slack` is taken off with every window; below 0 it makes
    /// windows count that are hardly normal.
    #[must_use]
    pub const fn new(slack: i32, limit: i32) -> Self {
        Self { slack, limit: if limit < 1 { 1 } else { limit }, sum: 0, raised: false }
    }

    /// Takes the score of a window; whether the alarm is raised.
    pub fn push(&mut self, score: i32) -> bool {
        let sum = i64::from(self.sum) - i64::from(score) - i64::from(self.slack);
        // Not above the limit: an alarm is over soon after what raised it, however long that was.
        self.sum = sum.max(0).min(self.limit.into()) as i32;
        self.raised = self.sum == self.limit || self.raised && self.sum > 0;
        self.raised
    }

    /// The sum, from 0 to the limit.
    #[must_use]
    pub const fn sum(&self) -> i32 {
        self.sum
    }

    /// Forgets all windows: after a gap.
    pub fn restart(&mut self) {
        *self = Self::new(self.slack, self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_stay_within_the_limits() {
        let mut alarm = Alarm::new(i32::MAX, i32::MAX);
        assert!(!alarm.push(i32::MAX) && alarm.sum() == 0);
        let mut alarm = Alarm::new(i32::MIN, i32::MAX);
        assert!(alarm.push(i32::MIN) && alarm.sum() == i32::MAX);
        assert!(Alarm::new(0, i32::MIN).push(-1));
    }
}
