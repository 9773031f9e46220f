//! Checkpoints: what a killed training needs to go on.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::StreamOptions;
use super::sample::Sampled;
use crate::distributed::to_bytes;
use crate::{Error, TrainOptions, atomic_write};

/// First bytes of a checkpoint; the last one is the version of its form.
const MAGIC: &[u8; 8] = b"KOANCKP\x03";

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
        let before = checkpoint.identity.iter();
        let changed = identity.iter().find(|pair| !checkpoint.identity.contains(pair));
        let gone = before.clone().find(|(name, _)| !identity.iter().any(|(now, _)| now == name));
        if let Some((name, now)) = changed {
            let was = before.clone().find(|(before, _)| before == name);
            let was = was.map_or("not there", |(_, value)| value.as_str());
            return Err(failed(format!(
                "of another training: {name} was {was}, now {now}; delete it to train from the \
                 start, or name another"
            )));
        }
        if let Some((name, was)) = gone {
            return Err(failed(format!("of another training: {name} was {was}, and is no more")));
        }
        Ok(Some(checkpoint))
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
        ("options of training".to_owned(), format!("{options:?}")),
        ("options of reading".to_owned(), format!("{:?}", stream.read)),
        ("the part for the test".to_owned(), stream.test_fraction.to_string()),
        ("the rows of the sample".to_owned(), stream.sample_rows.to_string()),
    ];
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
