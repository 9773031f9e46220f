//! Checkpoints: what a killed training needs to go on.

use std::fmt::Debug;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::StreamOptions;
use super::sample::Sampled;
use crate::distributed::to_bytes;
use crate::{Error, TrainOptions, atomic_write};

/// First bytes of a checkpoint; the last one is the version of its form.
const MAGIC: &[u8; 8] = b"KOANCKP\x04";

/// How far a training has come.
#[derive(Serialize, Deserialize)]
pub struct Checkpoint {
    /// What it is the training of: names and values.
    identity: Vec<(String, String)>,
    pub(crate) sampled: Sampled,
    /// Number of the first row that this pass has not added yet.
    pub(crate) next: u64,
    /// The sums of the rows before, or where a descent has begun of all, as bytes.
    pub(crate) sums: Option<Vec<u8>>,
    /// How far the steps of the logistic loss have come, as bytes.
    pub(crate) descent: Option<Vec<u8>>,
    /// The gradients of the rows before, as bytes.
    pub(crate) gradients: Option<Vec<u8>>,
}

impl Checkpoint {
    pub(crate) fn new(identity: Vec<(String, String)>, sampled: Sampled) -> Self {
        Self { identity, sampled, next: 0, sums: None, descent: None, gradients: None }
    }

    /// Rows that were done in this pass, and rows that there are.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.next, self.sampled.rows())
    }

    /// Reads a checkpoint; `None` if there is none.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, or belongs to another training.
    pub fn load(stream: &StreamOptions, options: &TrainOptions) -> Result<Option<Self>, Error> {
        let path = &stream.checkpoint;
        let failed =
            |problem: String| Error::Checkpoint { file: path.display().to_string(), problem };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(format!("cannot be read: {error}"))),
        };
        let damaged = || failed("damaged; delete it to train from the start".into());
        let body = bytes.strip_prefix(MAGIC).ok_or_else(|| {
            failed("not a checkpoint of this version of koan; delete it or name another".into())
        })?;
        let (body, sum) = body.split_last_chunk::<4>().ok_or_else(damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let checkpoint: Self = postcard::from_bytes(body).map_err(|_| damaged())?;
        let identity = identity(stream, options)?;
        let changes = changes(&checkpoint.identity, &identity);
        if changes.is_empty() {
            return Ok(Some(checkpoint));
        }
        Err(failed(format!(
            "of another training: {}; delete it to train from the start, or name another",
            changes.join(", ")
        )))
    }

    /// Writes it whole: a kill leaves this checkpoint or the one before.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        let bytes = to_bytes(MAGIC, self)?;
        atomic_write(path, &bytes).map_err(|error| Error::Checkpoint {
            file: path.display().to_string(),
            problem: format!("cannot be written: {error}"),
        })
    }
}

/// What is no longer as it was.
fn changes(before: &[(String, String)], now: &[(String, String)]) -> Vec<String> {
    let find = |pairs: &[(String, String)], name: &str| {
        pairs.iter().find(|(of, _)| of == name).map(|(_, value)| value.clone())
    };
    let gone = before.iter().filter(|(name, _)| find(now, name).is_none());
    let changed = now.iter().filter_map(|(name, now)| match find(before, name) {
        Some(was) if was == *now => None,
        Some(was) => Some(format!("{name} was {was}, now {now}")),
        None => Some(format!("{name} was not there, now {now}")),
    });
    changed.chain(gone.map(|(name, was)| format!("{name} was {was}, and is no more"))).collect()
}

/// The fields of a structure with their values, those of structures within it one by one.
fn fields(of: &str, options: &impl Debug) -> Vec<(String, String)> {
    let text = format!("{options:#?}");
    let mut found: Vec<(String, String)> = Vec::new();
    // The names of the structures that a line is within.
    let mut path: Vec<String> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    // Without the lines that begin and end the structure itself.
    for line in lines.iter().skip(1).take(lines.len().saturating_sub(2)) {
        let depth = (line.len() - line.trim_start().len()) / 4;
        let line = line.trim_start();
        let own = depth == path.len() + 1;
        match line.strip_suffix(" {").and_then(|start| start.split_once(": ")) {
            Some((name, _)) if own => {
                path.push(name.to_owned());
                continue;
            }
            _ => {}
        }
        if depth == path.len() && line.starts_with('}') {
            path.pop();
        } else if let (true, Some((name, value))) = (own, line.split_once(": ")) {
            let name = path.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(".");
            found.push((format!("`{name}` of {of}"), value.to_owned()));
        } else if let Some((_, value)) = found.last_mut() {
            // A value that goes on.
            value.push_str(line);
        }
    }
    found.iter_mut().for_each(|(_, value)| *value = plain(value));
    found
}

/// A value as it would be given.
fn plain(value: &str) -> String {
    let value = value.trim_end_matches(',').replace(",)", ")").replace(",]", "]");
    let inner = value.strip_prefix("Some(").and_then(|value| value.strip_suffix(')'));
    match inner.unwrap_or(&value) {
        "None" | "[]" => "not given".to_owned(),
        value => value.to_owned(),
    }
}

/// Deletes a checkpoint that is done with.
pub fn remove(path: &Path) {
    // What is left behind would only be read again, and give the same model.
    let _ = std::fs::remove_file(path);
}

/// What makes a training the same: program, files and options.
pub(crate) fn identity(
    stream: &StreamOptions,
    options: &TrainOptions,
) -> Result<Vec<(String, String)>, Error> {
    let mut all = vec![
        ("the version of koan".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("the part for the test".to_owned(), stream.test_fraction.to_string()),
        ("the rows of the sample".to_owned(), stream.sample_rows.to_string()),
    ];
    all.extend(fields("training", options));
    all.extend(fields("reading", &stream.read));
    let names: Vec<String> = stream.test.iter().map(|path| path.display().to_string()).collect();
    all.push(("the test files".to_owned(), names.join(", ")));
    for path in &stream.files {
        let metadata = path.metadata().map_err(|source| {
            let file = path.display().to_string();
            Error::Data(koan_data::DataError::Unreadable { file, source })
        })?;
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let seconds = since.unwrap_or_default().as_nanos() as f64 / 1e9;
        let state = format!("{} bytes, modified at {seconds:.6}", metadata.len());
        all.push((path.display().to_string(), state));
    }
    Ok(all)
}
