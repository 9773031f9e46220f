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
}

impl Progress {
    /// Progress on standard error if that is a terminal.
    #[must_use]
    pub fn stderr() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {msg}") {
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
        Self { bar: Some(bar) }
    }

    /// No progress.
    #[must_use]
    pub fn none() -> Self {
        Self { bar: None }
    }

    /// What is being done now.
    pub fn phase(&self, what: &str) {
        if let Some(bar) = &self.bar {
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

    /// Takes the line away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
