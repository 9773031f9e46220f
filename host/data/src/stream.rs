//! Rows of files larger than memory: in blocks that a thread of its own reads while others
//! compute.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};

use crate::files::check_distinct;
use crate::fill::Targets;
pub use crate::fill::{Groups, impute, stand_in};
pub use crate::infer_all;
use crate::open::DataFile;
use crate::{DataError, DataWarning, Division, ReadOptions, RowReader, Schema, Table};

/// Rows of a block.
const ROWS: usize = 4096;
/// Blocks that may wait to be computed with.
const WAITING: usize = 3;

/// Some rows.
pub struct Block {
    /// The rows; a missing number is NaN where that is the schema's stand-in.
    pub table: Table,
    /// The recording of each row; none where rows are of no recordings.
    pub groups: Vec<Vec<u8>>,
    /// Number of the row after the last, from 0.
    pub next: u64,
}

/// The rows of files, in blocks.
struct Blocks<'s> {
    reader: RowReader<'static>,
    schema: &'s Schema,
    weighted: bool,
    next: u64,
}

impl Blocks<'_> {
    /// Passes over rows until `from` is the next.
    fn pass_over(&mut self, from: u64) -> Result<(), DataError> {
        while self.next < from && self.reader.pass_over()?.is_some() {
            self.next += 1;
        }
        Ok(())
    }

    fn block(&mut self) -> Result<Option<Block>, DataError> {
        let mut values = Vec::with_capacity(ROWS * self.schema.inputs);
        let mut targets = Targets::new(self.schema);
        let (mut groups, mut weights) = (Vec::new(), Vec::new());
        while targets.target.len() < ROWS {
            let Some(line) = self.reader.append(&mut values)? else { break };
            self.next += 1;
            targets.push(&self.reader, line)?;
            weights.extend(self.reader.weight());
            if self.schema.recordings.group.is_some() {
                groups.push(self.reader.group().to_vec());
            }
        }
        if targets.target.is_empty() {
            return Ok(None);
        }
        let table = Table {
            inputs: self.schema.inputs,
            values,
            target: targets.target,
            schema: self.schema.clone(),
            division: Division::Free,
            weights: self.weighted.then_some(weights),
        };
        Ok(Some(Block { table, groups, next: self.next }))
    }
}

/// Hands the rows, from row `from` on, to `take` in blocks: the same blocks in the same
/// order, whatever `from` is, if it is where one ended. Returns what
/// [`RowReader::left_out`] says in the end.
///
/// # Errors
///
/// A row that is wrong, a file that cannot be read, samples without a complete window, or what
/// `take` ends with.
pub fn for_each_block<E: From<DataError>>(
    files: &[PathBuf],
    schema: &Schema,
    options: &ReadOptions,
    from: u64,
    mut take: impl FnMut(Block) -> Result<(), E>,
) -> Result<Vec<DataWarning>, E> {
    let read = |to: &SyncSender<Block>| -> Result<_, DataError> {
        check_distinct(files)?;
        let reader = RowReader::of_files(DataFile::on_disk(files), schema, options, true)?;
        let weighted = options.weights.is_some();
        let mut blocks = Blocks { reader, schema, weighted, next: 0 };
        blocks.pass_over(from)?;
        while let Some(block) = blocks.block()? {
            // Nobody listens any more after an error on the other side.
            if to.send(block).is_err() {
                break;
            }
        }
        blocks.reader.left_out()
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let reader = scope.spawn(move || read(&sender));
        for block in receiver {
            take(block)?;
        }
        match reader.join() {
            Ok(left_out) => Ok(left_out?),
            Err(panic) => resume_unwind(panic),
        }
    })
}
