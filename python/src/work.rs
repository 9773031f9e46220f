//! Work of seconds and minutes: beside the interpreter, so that Ctrl-C ends it at once.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use koan_trainer::{Error, Progress, with_threads};
use pyo3::prelude::*;

use crate::error::{fault, parameter, training};

/// How often signals are looked at.
const TURN: Duration = Duration::from_millis(50);
/// How often somebody is told what is being done.
const TOLD: Duration = Duration::from_millis(200);

/// As many threads as are asked for; where none are, as many as there are cores.
pub fn wanted(threads: Option<usize>) -> usize {
    threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Does `work` with so many threads (none: as many as there are cores) without holding the
/// interpreter. `listener` is called with a text for what is being done. A signal ends the
/// wait at once; the work itself ends at its next step.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Progress) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let text = Arc::new(Mutex::new(String::new()));
    let (asked, told) = (stop.clone(), text.clone());
    let progress = Progress::new(move |event| {
        let counted = event.rows.map(|(done, all)| format!(", {done} of {all} rows"));
        let parts = event.parts.iter().map(String::as_str).chain([event.phase]);
        let parts: Vec<&str> = parts.collect();
        let now = parts.join(": ") + &counted.unwrap_or_default();
        *told.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = now;
        match asked.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    // A pool of its own: the global one does not survive a fork.
    let threads = wanted(threads);
    let (sender, mut receiver) = mpsc::channel();
    let started = thread::Builder::new().name("koan".into()).spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| {
            with_threads(Some(threads), || work(&progress)).and_then(|result| result)
        }));
        // Nobody waits any more after a signal.
        drop(sender.send(result));
    });
    started.map_err(|error| parameter("n_jobs", format!("cannot start a thread: {error}")))?;
    let mut last = (Instant::now(), String::new());
    loop {
        let got;
        (got, receiver) = py.detach(move || (receiver.recv_timeout(TURN), receiver));
        match got {
            Ok(Ok(result)) => return result.map_err(training),
            Ok(Err(panic)) => return Err(fault(&*panic)),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(fault(&"no result")),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        let heard = py.check_signals().and_then(|()| {
            let now = text.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
            match listener {
                Some(listener) if last.0.elapsed() >= TOLD && now != last.1 => {
                    last = (Instant::now(), now);
                    listener.call1((&last.1,)).map(drop)
                }
                _ => Ok(()),
            }
        });
        if let Err(error) = heard {
            stop.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}
