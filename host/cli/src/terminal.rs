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
        Self::within(None)
    }

    /// Progress of work that is to end after so long.
    #[must_use]
    pub fn within(planned: Option<Duration>) -> Self {
        if stderr().is_terminal() {
            Self::line(PATIENCE, planned)
        } else {
            Self::log(LINE, planned, warn)
        }
    }

    /// Progress that shows at once where there is a terminal.
    #[must_use]
    pub fn at_once() -> Self {
        if stderr().is_terminal() {
            Self::line(Duration::ZERO, None)
        } else {
            Self::log(LINE, None, warn)
        }
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
    fn line(patience: Duration, planned: Option<Duration>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}") {
            bar.set_style(style);
        }
        // A thread of its own: one phase may well take longer than the patience.
        let shown = bar.clone();
        thread::spawn(move || {
            thread::sleep(patience);
            if !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        let told = bar.clone();
        let left = Left::new(planned);
        let progress = Progress::new(move |event| {
            told.set_message(left.described(event));
            ControlFlow::Continue(())
        });
        Self { bar, progress }
    }

    /// A line every so often, for files and other programs.
    fn log(
        every: Duration,
        planned: Option<Duration>,
        write: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let left = Left::new(planned);
        let start = Instant::now();
        let next = Arc::new(Mutex::new(start + every));
        let progress = Progress::new(move |event| {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let text = left.described(event);
            if now >= *next {
                *next = now + every;
                write(&format!("after {} s: {text}", (now - start).as_secs()));
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

/// How much time is left: of a step that counts its rows by how fast they go, else of the
/// whole work if its end is planned.
struct Left {
    /// When the work is to end.
    end: Option<Instant>,
    /// The step that counts rows, when it began, and how many rows there were then.
    step: Mutex<Option<(String, Instant, usize)>>,
}

impl Left {
    fn new(planned: Option<Duration>) -> Self {
        let end = planned.and_then(|planned| Instant::now().checked_add(planned));
        Self { end, step: Mutex::default() }
    }

    /// The parts, the step, the rows and the time left in one line.
    fn described(&self, event: &Event<'_>) -> String {
        let mut text: String = event.parts.iter().map(|part| format!("{part}: ")).collect();
        text += event.phase;
        let left = match event.rows {
            Some((done, all)) => {
                text += &format!(" ({done} of {all} rows)");
                self.of_rows(event.phase, done, all)
            }
            None => None,
        };
        if let Some(seconds) = left {
            text += &format!(", {} left for this step", lasting(seconds));
        } else if let Some(end) = self.end {
            let seconds = end.saturating_duration_since(Instant::now()).as_secs_f64();
            text += &format!(", at most {} left", lasting(seconds));
        }
        name(&text)
    }

    fn of_rows(&self, phase: &str, done: usize, all: usize) -> Option<f64> {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        match &*step {
            Some((name, start, first)) if name == phase && *first < done => {
                let each = start.elapsed().as_secs_f64() / (done - first) as f64;
                Some(each * all.saturating_sub(done) as f64)
            }
            Some((name, _, first)) if name == phase && *first == done => None,
            _ => {
                *step = Some((phase.to_owned(), Instant::now(), done));
                None
            }
        }
    }
}

/// So many seconds in words.
fn lasting(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{}:{:02} min", seconds / 60, seconds % 60)
    }
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
        let terminal = Terminal::log(every, None, write);
        let part = terminal.progress().within("1 of 2\u{1b}[2J");
        // Nothing before it is time, and then a line, however many events there are.
        for _ in 0..100 {
            part.phase("solving").unwrap();
        }
        assert!(lines.lock().unwrap().is_empty());
        thread::sleep(every);
        part.rows(20_000, 30_000).unwrap();
        part.rows(20_001, 30_000).unwrap();
        let lines = lines.lock().unwrap();
        assert_eq!(*lines, [r"after 0 s: 1 of 2\u{1b}[2J: solving (20000 of 30000 rows)"]);
    }

    #[test]
    fn the_time_that_is_left_is_told() {
        let told = |left: &Left, done| left.of_rows("computing features", done, 40_000);
        let left = Left::new(None);
        assert_eq!(told(&left, 10_000), None);
        let seconds = told(&left, 20_000).unwrap();
        assert!(seconds >= 0.0 && seconds.is_finite());
        // A step that begins anew is measured anew.
        assert_eq!(told(&left, 5000), None);
        assert_eq!([lasting(0.2), lasting(59.0), lasting(61.5)], ["1 s", "59 s", "1:02 min"]);
    }
}
