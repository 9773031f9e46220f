//! Progress on standard error: nothing for the first two seconds, nothing when
//! it is no terminal.

use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work must take before progress shows.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the line moves.
const TICK: Duration = Duration::from_millis(200);

/// A progress line, or nothing at all.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    /// What the work is a part of, in front of each phase.
    inside: String,
}

impl Progress {
    /// Progress on standard error if that is a terminal.
    #[must_use]
    pub fn stderr() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {prefix}{msg}") {
            bar.set_style(style);
        }
        // A thread of its own: one phase may well take longer than the patience.
        let shown = bar.clone();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            if !shown.is_finished() {
                // Stays hidden when standard error is no terminal.
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar: Some(bar), inside: String::new() }
    }

    /// No progress.
    #[must_use]
    pub fn none() -> Self {
        Self { bar: None, inside: String::new() }
    }

    /// The same line for a part of the work: its name stands in front of its
    /// phases, and its end does not take the line away.
    #[must_use]
    pub fn within(&self, part: &str) -> Self {
        let part = Self { bar: self.bar.clone(), inside: format!("{}{part}: ", self.inside) };
        part.phase("");
        part
    }

    /// Does what writes to the terminal too, the line being away meanwhile.
    pub fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// What is being done now.
    pub fn phase(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(self.inside.clone());
            bar.set_message(what.to_owned());
        }
    }

    /// How many of all rows have been done.
    pub fn rows(&self, done: usize, all: usize) {
        if let Some(bar) = &self.bar
            && all > 20_000
        {
            let message = bar.message();
            let what = message.split(" (").next().unwrap_or_default().to_owned();
            self.phase(&format!("{what} ({done} of {all} rows)"));
        }
    }

    /// Takes the line away, if this is not a part of other work.
    pub fn finish(&self) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.inside.is_empty()) {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_name_in_front_and_leaves_the_line() {
        let bar = ProgressBar::hidden();
        let all = Progress { bar: Some(bar.clone()), inside: String::new() };
        let part = all.within("1 of 2").within("adult");
        part.phase("fitting");
        part.rows(30_000, 40_000);
        assert_eq!(bar.prefix(), "1 of 2: adult: ");
        assert_eq!(bar.message(), "fitting (30000 of 40000 rows)");
        part.finish();
        assert!(!bar.is_finished());
        all.phase("writing");
        assert_eq!((bar.prefix(), bar.message()), (String::new(), "writing".into()));
        all.finish();
        assert!(bar.is_finished());
    }
}
