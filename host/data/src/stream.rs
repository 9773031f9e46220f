//! Rows of files larger than memory: numbered, some of them taken, one at a time or in
//! blocks that a thread of its own reads while others compute.

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};

use crate::files::check_distinct;
pub use crate::fill::{Groups, Targets, impute};
pub use crate::infer_all;
use crate::open::DataFile;
use crate::{DataError, Division, ReadOptions, RowReader, Schema, Table};

/// Rows of a block.
const ROWS: usize = 4096;
/// Blocks that may wait to be computed with.
const WAITING: usize = 3;

/// The rows of files, numbered from 0, of which some are taken.
pub struct NumberedRows<'s> {
    reader: RowReader<'static>,
    schema: &'s Schema,
    by_group: bool,
    /// Number of the next row.
    pub next: u64,
}

impl<'s> NumberedRows<'s> {
    /// Opens the files.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is not of the schema.
    pub fn open(
        files: &[PathBuf],
        schema: &'s Schema,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        check_distinct(files)?;
        Ok(Self {
            reader: RowReader::of_files(DataFile::on_disk(files), schema, options, true)?,
            schema,
            by_group: schema.recordings.group.is_some(),
            next: 0,
        })
    }

    /// Moves on by one row; if `wanted` says so, of the row's number and its
    /// recording, appends its inputs and its target. Whether it was taken, or
    /// `None` at the end.
    ///
    /// # Errors
    ///
    /// A row that is wrong, or a file that cannot be read.
    pub fn step(
        &mut self,
        wanted: &mut dyn FnMut(u64, &[u8]) -> bool,
        values: &mut Vec<f32>,
        targets: &mut Targets<'_>,
    ) -> Result<Option<bool>, DataError> {
        // Without recordings the number alone decides, and rows that are not
        // wanted need not be parsed.
        if !self.by_group && !wanted(self.next, b"") {
            let more = self.reader.pass_over()?.is_some();
            self.next += u64::from(more);
            return Ok(more.then_some(false));
        }
        let start = values.len();
        let Some(line) = self.reader.append(values)? else {
            return Ok(None);
        };
        let number = self.next;
        self.next += 1;
        if self.by_group && !wanted(number, self.reader.group()) {
            values.truncate(start);
            return Ok(Some(false));
        }
        targets.push(&self.reader, line)?;
        Ok(Some(true))
    }

    /// The recording of the last row.
    pub fn group(&self) -> &[u8] {
        self.reader.group()
    }

    /// The next rows that are wanted, up to a block of them.
    fn block(
        &mut self,
        wanted: &mut dyn FnMut(u64, &[u8]) -> bool,
    ) -> Result<Option<Block>, DataError> {
        let mut values = Vec::with_capacity(ROWS * self.schema.inputs);
        let mut targets = Targets::new(self.schema);
        while targets.target.len() < ROWS {
            if self.step(wanted, &mut values, &mut targets)?.is_none() {
                break;
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
            weights: None,
        };
        Ok(Some(Block { table, next: self.next }))
    }
}

/// Some rows.
pub struct Block {
    /// The rows.
    pub table: Table,
    /// Number of the row after the last.
    pub next: u64,
}

/// Hands the rows that are wanted, from row `from` on, to `take` in blocks: the
/// same blocks in the same order, whatever `from` is, if it is where one ended.
///
/// # Errors
///
/// A row that is wrong, a file that cannot be read, or what `take` ends with.
pub fn for_each_block<E: From<DataError>>(
    files: &[PathBuf],
    schema: &Schema,
    options: &ReadOptions,
    from: u64,
    wanted: impl Fn(u64, &[u8]) -> bool + Sync,
    mut take: impl FnMut(Block) -> Result<(), E>,
) -> Result<(), E> {
    let read = |to: &SyncSender<Result<Block, DataError>>| -> Result<(), DataError> {
        let mut rows = NumberedRows::open(files, schema, options)?;
        let mut nowhere = (Vec::new(), Targets::new(schema));
        while rows.next < from {
            if rows.step(&mut |_, _| false, &mut nowhere.0, &mut nowhere.1)?.is_none() {
                break;
            }
        }
        while let Some(block) = rows.block(&mut |row, group| wanted(row, group))? {
            // Nobody listens any more after an error on the other side.
            if to.send(Ok(block)).is_err() {
                break;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        scope.spawn(move || {
            if let Err(error) = read(&sender) {
                let _ = sender.send(Err(error));
            }
        });
        for block in receiver {
            take(block?)?;
        }
        Ok(())
    })
}
