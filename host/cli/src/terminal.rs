//! Progress on standard error: a line that moves where that is a terminal, and a line now
//! and then where it is not. Nothing for the first two seconds.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use koan_trainer::{Event, Progress};

use crate::out::{name, warn};

/// How long work must take before progress shows.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the line of a terminal moves.
const TICK: Duration = Duration::from_millis(200);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(30);

/// A progress line, which ends when this is dropped.
pub struct Terminal {
    bar: ProgressBar,
    progress: Progress,
}

impl Terminal {
    /// Progress on standard error.
    #[must_use]
    pub fn stderr() -> Self {
        if stderr().is_terminal() { Self::line() } else { Self::log(LINE, warn) }
    }

    /// What work is given, to tell of itself.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Does what writes to the terminal too, the line being away meanwhile.
    pub fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// A line that moves.
    fn line() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {msg}") {
            bar.set_style(style);
        }
        // A thread of its own: one phase may well take longer than the patience.
        let shown = bar.clone();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            if !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        let told = bar.clone();
        let progress = Progress::new(move |event| {
            told.set_message(described(event));
            ControlFlow::Continue(())
        });
        Self { bar, progress }
    }

    /// A line every so often, for files and other programs.
    fn log(every: Duration, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let start = Instant::now();
        let next = Arc::new(Mutex::new(start + every));
        let progress = Progress::new(move |event| {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            if now >= *next {
                *next = now + every;
                write(&format!("after {} s: {}", (now - start).as_secs(), described(event)));
            }
            ControlFlow::Continue(())
        });
        Self { bar: ProgressBar::hidden(), progress }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The parts, the step and the rows in one line.
fn described(event: &Event<'_>) -> String {
    let mut text: String = event.parts.iter().map(|part| format!("{part}: ")).collect();
    text += event.phase;
    if let Some((done, all)) = event.rows {
        text += &format!(" ({done} of {all} rows)");
    }
    name(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_now_and_then() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let written = lines.clone();
        let write = move |line: &str| written.lock().unwrap().push(line.to_owned());
        let every = Duration::from_millis(200);
        let terminal = Terminal::log(every, write);
        let part = terminal.progress().within("1 of 2\u{1b}[2J");
        // Nothing before it is time, and then a line, however many events there are.
        for _ in 0..100 {
            part.phase("solving").unwrap();
        }
        assert!(lines.lock().unwrap().is_empty());
        thread::sleep(every);
        for done in 0..100 {
            part.rows(20_000 + done, 30_000).unwrap();
        }
        let lines = lines.lock().unwrap();
        assert_eq!(*lines, [r"after 0 s: 1 of 2\u{1b}[2J: solving (20000 of 30000 rows)"]);
    }
}
