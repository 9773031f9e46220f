//! Recordings: which rows belong together, what they are called, and windows of
//! consecutive samples as rows.

use std::collections::VecDeque;

use super::error::DataError;
use super::label_from::LabelFrom;
use super::scan::class_name;
use super::warning::DataWarning;

/// How samples belong to recordings and become rows; part of the schema, so that
/// raw recordings can be given to the model again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recordings {
    /// The windows that are rows; `None` where each sample is one.
    pub window: Option<Window>,
    /// What tells recordings apart, besides the files that they are in.
    pub group: Option<GroupBy>,
    /// Where the label is if no column has it.
    pub label: Option<LabelFrom>,
}

impl Recordings {
    /// Samples of a row.
    pub(crate) fn samples(&self) -> usize {
        self.window.map_or(1, |window| window.samples)
    }
}

/// Windows of consecutive samples of a recording.
///
/// A row is `samples × channels` inputs, one sample after the other (so that a
/// device appends samples as they come): input `s · channels + c` is channel `c`
/// of sample `s`, the oldest sample first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Samples of a window, at least 1.
    pub samples: usize,
    /// Samples from the start of a window to the start of the next, at least 1.
    pub stride: usize,
}

impl Window {
    /// Whether a window ends with sample number `given`, counted from 1 in its recording or
    /// stream: the one definition of windows for training and for streams.
    #[must_use]
    pub fn ends_with(&self, given: usize) -> bool {
        let further = given.checked_sub(self.samples);
        further.is_some_and(|further| further.is_multiple_of(self.stride.max(1)))
    }
}

/// What tells recordings apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Each file is one.
    File,
    /// The value of this column, from 0.
    Column(usize),
}

/// Recordings that a warning names, at most.
const NAMED: usize = 3;

/// Collects samples into windows.
pub(crate) struct Windower {
    window: Window,
    /// Values of the samples that the next window may hold, oldest first.
    values: VecDeque<f32>,
    targets: VecDeque<String>,
    /// Whether something stands in for missing values of each.
    filled: VecDeque<bool>,
    /// Samples of this recording.
    given: usize,
    /// Samples since the last window was complete.
    since: u64,
    /// All samples, and those between windows and at ends of recordings that are in none.
    seen: u64,
    unused: u64,
    /// All windows, and those of which most samples have missing values.
    windows: u64,
    mostly_filled: u64,
    lengths: Lengths,
}

/// How long recordings are, in samples.
#[derive(Default)]
struct Lengths {
    recordings: u64,
    /// Those that are shorter than a window, and the names of the first of them.
    short: u64,
    names: Vec<String>,
    /// The longest.
    longest: usize,
}

impl Windower {
    pub fn new(window: Window) -> Windower {
        Windower {
            window,
            values: VecDeque::new(),
            targets: VecDeque::new(),
            filled: VecDeque::new(),
            given: 0,
            since: 0,
            seen: 0,
            unused: 0,
            windows: 0,
            mostly_filled: 0,
            lengths: Lengths::default(),
        }
    }

    /// The recording of this name ends, another one begins.
    pub fn restart(&mut self, name: &[u8]) {
        let since = std::mem::take(&mut self.since);
        if self.given > 0 {
            self.lengths.recordings += 1;
            self.lengths.longest = self.lengths.longest.max(self.given);
            if self.given < self.window.samples {
                self.lengths.short += 1;
                if self.lengths.names.len() < NAMED {
                    self.lengths.names.push(String::from_utf8_lossy(name).into_owned());
                }
            } else {
                self.unused += since;
            }
        }
        self.values.clear();
        self.targets.clear();
        self.filled.clear();
        self.given = 0;
    }

    /// Adds a sample, in which something may stand in for missing values; whether a window is
    /// complete.
    pub fn push(&mut self, sample: &[f32], target: &str, filled: bool) -> bool {
        self.values.extend(sample);
        self.targets.push_back(target.to_owned());
        self.filled.push_back(filled);
        while self.targets.len() > self.window.samples {
            self.targets.pop_front();
            self.filled.pop_front();
            self.values.drain(..sample.len());
        }
        self.given += 1;
        self.seen += 1;
        self.since += 1;
        let whole = self.window.ends_with(self.given);
        if whole {
            // What is between this window and the one before it.
            self.unused += self.since.saturating_sub(self.window.samples as u64);
            self.since = 0;
            let filled = self.filled.iter().filter(|&&filled| filled).count();
            self.windows += 1;
            self.mostly_filled += u64::from(2 * filled > self.window.samples);
        }
        whole
    }

    /// What to say of samples that are in no window of `file`, and of missing values; fails if
    /// there were samples, and no window of them was complete. The last recording must have ended.
    pub fn left_out(&self, file: &str) -> Result<Vec<DataWarning>, DataError> {
        let (file, samples) = (file.to_owned(), self.window.samples);
        let Lengths { recordings, short, ref names, longest } = self.lengths;
        if recordings > 0 && short == recordings {
            return Err(DataError::NoWindows { file, samples, recordings, longest });
        }
        let mut warnings = Vec::new();
        if short > 0 {
            let (file, names) = (file.clone(), names.clone());
            warnings.push(DataWarning::Short { file, recordings, short, names, samples });
        }
        if self.unused > 0 {
            let (samples, unused) = (self.seen, self.unused);
            warnings.push(DataWarning::Unused { file: file.clone(), samples, unused });
        }
        if self.mostly_filled > 0 {
            let (windows, filled) = (self.windows, self.mostly_filled);
            warnings.push(DataWarning::Filled { file, windows, filled });
        }
        Ok(warnings)
    }

    pub fn append_to(&self, out: &mut Vec<f32>) {
        let (front, back) = self.values.as_slices();
        out.extend_from_slice(front);
        out.extend_from_slice(back);
    }

    /// The target of the window: the value that most samples have, the earliest
    /// of equals, as it is written first; or the mean of numbers.
    pub fn target(&self, mean: bool) -> String {
        if mean {
            let numbers: Option<Vec<f64>> = self.targets.iter().map(|t| t.parse().ok()).collect();
            return match numbers {
                Some(all) => ((all.iter().sum::<f64>() / all.len() as f64) as f32).to_string(),
                // A slip, which whoever takes the target refuses.
                None => {
                    let slip = self.targets.iter().find(|t| t.parse::<f64>().is_err());
                    slip.cloned().unwrap_or_default()
                }
            };
        }
        let mut counts: Vec<(String, &str, usize)> = Vec::new();
        for target in &self.targets {
            let name = class_name(target).unwrap_or_else(|| target.clone());
            match counts.iter_mut().find(|(known, ..)| *known == name) {
                Some((.., count)) => *count += 1,
                None => counts.push((name, target, 1)),
            }
        }
        let most = counts.iter().map(|(.., count)| *count).max();
        let first = counts.iter().find(|(.., count)| Some(*count) == most);
        first.map_or_else(String::new, |(_, text, _)| (*text).to_owned())
    }
}
