//! Progress on standard error: nothing for the first two seconds, nothing when
//! it is no terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work must take before progress shows.
const PATIENCE: Duration = Duration::from_secs(2);

/// A progress line, or nothing at all.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    since: Instant,
}

impl Progress {
    /// Progress on standard error if that is a terminal.
    #[must_use]
    pub fn stderr() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {msg}") {
            bar.set_style(style);
        }
        Self { bar: Some(bar), since: Instant::now() }
    }

    /// No progress.
    #[must_use]
    pub fn none() -> Self {
        Self { bar: None, since: Instant::now() }
    }

    /// What is being done now.
    pub fn phase(&self, what: &str) {
        if let Some(bar) = &self.bar {
            if bar.is_hidden() && self.since.elapsed() > PATIENCE {
                // Hides itself when standard error is no terminal.
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.set_message(what.to_owned());
            bar.tick();
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
