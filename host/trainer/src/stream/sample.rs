//! The passes before the sums: what the columns are, and the sample that everything is chosen
//! on.

use koan_data::stream::{Block, for_each_block, infer_all};
use koan_data::{ReadOptions, Schema};
use serde::{Deserialize, Serialize};

use super::StreamOptions;
use crate::Error;
use crate::distributed::{Roles, Sample};
use crate::progress::Progress;

/// What the first passes find; all that later ones need.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Sampled {
    /// The sample as bytes.
    sample: Vec<u8>,
    /// Whether the first line is a header, and the delimiter of a single file.
    header: Option<bool>,
    delimiter: Option<u8>,
    rows: u64,
}

impl Sampled {
    /// The sample.
    pub fn sample(&self) -> Result<Sample, Error> {
        Sample::from_bytes(&self.sample)
    }

    /// How the files are read again.
    pub fn read_options(&self, given: &ReadOptions) -> ReadOptions {
        ReadOptions { header: self.header, delimiter: self.delimiter, ..given.clone() }
    }

    /// Rows of the files, to train on or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// Reads the files twice: infers the schema, then draws the sample.
pub(crate) fn sample(
    stream: &StreamOptions,
    roles: Roles,
    progress: &Progress,
) -> Result<Sampled, Error> {
    progress.phase("reading: what the columns are")?;
    let (schema, options, expected): (Schema, _, _) = infer_all(&stream.files, &stream.read)?;
    progress.phase("reading: a sample")?;
    let weighted = stream.read.weights.is_some();
    let mut sample = Sample::new(&schema, weighted, roles, stream.sample_rows)?;
    let take = |block: Block| -> Result<(), Error> {
        sample.add((&block).into())?;
        progress.rows(block.next as usize, expected)
    };
    let left_out = for_each_block(&stream.files, &schema, &options, 0, take)?;
    sample.warn(left_out);
    Ok(Sampled {
        sample: sample.to_bytes()?,
        header: options.header,
        delimiter: options.delimiter,
        rows: sample.rows().0,
    })
}
