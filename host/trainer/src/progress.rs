//! What training says of itself while it works, and how it is told to stop.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crate::Error;

/// Fewer rows than these are not counted aloud.
const MANY_ROWS: usize = 20_000;

/// What is being done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// What the work is a part of, from the outermost to the innermost.
    pub parts: &'a [String],
    /// The step, such as "computing features".
    pub phase: &'a str,
    /// How many of all rows this step has done, where it counts them.
    pub rows: Option<(usize, usize)>,
}

/// Called at every [`Event`], by any thread; [`ControlFlow::Break`] ends the work with
/// [`Error::Cancelled`].
type Callback = dyn Fn(&Event<'_>) -> ControlFlow<()> + Send + Sync;

/// A listener, or none. Clones share it.
#[derive(Clone, Default)]
pub struct Progress {
    callback: Option<Arc<Callback>>,
    parts: Vec<String>,
    /// The step that rows are counted of.
    phase: Arc<Mutex<String>>,
}

impl Progress {
    /// Calls `callback` at every event; its [`ControlFlow::Break`] ends the work soon
    /// after, with [`Error::Cancelled`] and nothing written.
    pub fn new(callback: impl Fn(&Event<'_>) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Self { callback: Some(Arc::new(callback)), ..Self::default() }
    }

    /// Nobody listens.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The same listener for a part of the work.
    #[must_use]
    pub fn within(&self, part: &str) -> Self {
        let parts = self.parts.iter().cloned().chain([part.to_owned()]).collect();
        Self { callback: self.callback.clone(), parts, phase: Arc::default() }
    }

    /// Says what is being done now.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the listener wants the work to end.
    pub fn phase(&self, what: &str) -> Result<(), Error> {
        if self.callback.is_some() {
            what.clone_into(&mut self.current());
        }
        self.tell(what, None)
    }

    /// Says how many of all rows have been done, if they are many.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the listener wants the work to end.
    pub fn rows(&self, done: usize, all: usize) -> Result<(), Error> {
        if self.callback.is_none() {
            return Ok(());
        }
        let phase = self.current().clone();
        self.tell(&phase, (all > MANY_ROWS).then_some((done, all)))
    }

    fn current(&self) -> std::sync::MutexGuard<'_, String> {
        self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn tell(&self, phase: &str, rows: Option<(usize, usize)>) -> Result<(), Error> {
        let event = Event { parts: &self.parts, phase, rows };
        match self.callback.as_ref().map(|callback| callback(&event)) {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("parts", &self.parts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_name_their_part_and_count_many_rows() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = heard.clone();
        let all = Progress::new(move |event| {
            let text = format!("{}|{}|{:?}", event.parts.join(": "), event.phase, event.rows);
            listener.lock().unwrap().push(text);
            ControlFlow::Continue(())
        });
        let part = all.within("1 of 2").within("adult");
        part.phase("fitting").unwrap();
        part.rows(30_000, 40_000).unwrap();
        part.rows(300, 400).unwrap();
        all.phase("writing").unwrap();
        let heard = heard.lock().unwrap();
        let expected = [
            "1 of 2: adult|fitting|None",
            "1 of 2: adult|fitting|Some((30000, 40000))",
            "1 of 2: adult|fitting|None",
            "|writing|None",
        ];
        assert_eq!(*heard, expected);
    }

    #[test]
    fn a_listener_can_end_the_work() {
        let progress = Progress::new(|event| match event.phase {
            "solving" => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert!(progress.phase("reading").is_ok());
        assert!(matches!(progress.phase("solving"), Err(Error::Cancelled)));
    }
}
