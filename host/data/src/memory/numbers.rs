//! The numbers of a table: looked at column by column, written row by row, by several threads.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::seen::Seen;
use super::{Role, TableBuilder, Values};
use crate::error::{DataError, IN_MEMORY};
use crate::{Column, ColumnKind};

/// Rows of a matrix that are looked at together.
const ROWS: usize = 64;
/// Numbers between columns, which would share few places of a cache if they lay a power of two apart.
const APART: usize = 8;
/// Numbers of a matrix for each thread that looks at it, at least: a thread costs as much as some
/// ten thousand of them.
const NUMBERS_EACH: usize = 1 << 18;

impl TableBuilder<'_> {
    /// What is seen of each column of a matrix, or of one of numbers.
    pub(super) fn seen(&self, values: Values<'_>, width: usize) -> Vec<Seen> {
        let mut seen = vec![Seen::default(); width];
        let share = width.div_ceil(self.threads_for(width)).max(1);
        let parts = seen.chunks_mut(share).enumerate().map(|(part, seen)| {
            let first = part * share;
            move || self.see(values, width, first, seen)
        });
        side_by_side(parts);
        seen
    }

    /// Adds what is seen of as many columns as there are `seen`, from this one on.
    fn see(&self, values: Values<'_>, width: usize, first: usize, seen: &mut [Seen]) {
        // Column by column: rows are read from end to end, whatever their width.
        let mut numbers = vec![[0.0; ROWS + APART]; seen.len()];
        for start in (0..self.rows).step_by(ROWS) {
            let rows = start..self.rows.min(start + ROWS);
            for (place, row) in rows.clone().enumerate() {
                let mut columns = numbers.iter_mut();
                let from = row * width + first;
                values.each(from..from + seen.len(), |number| {
                    columns.next().into_iter().for_each(|column| column[place] = number);
                });
            }
            for (seen, numbers) in seen.iter_mut().zip(&numbers) {
                seen.add(start, &numbers[..rows.len()]);
            }
        }
    }

    /// How many threads are worth their while for rows of so many numbers.
    fn threads_for(&self, width: usize) -> usize {
        let numbers = self.rows.saturating_mul(width);
        (numbers / NUMBERS_EACH).min(width).clamp(1, self.threads.max(1))
    }

    /// The inputs, row by row.
    pub(super) fn values_of(
        &self,
        columns: &[Column],
        inputs: usize,
    ) -> Result<Vec<f32>, DataError> {
        let room = self.rows.checked_mul(inputs);
        // Whether there is as much memory; it is then had as zeros, which nobody needs to write.
        let room = room.filter(|&room| {
            let mut found = Vec::<f32>::new();
            black_box(&mut found).try_reserve_exact(room).is_ok()
        });
        let room = room.ok_or_else(|| DataError::TooLarge {
            file: IN_MEMORY.into(),
            rows: self.rows,
            inputs,
        })?;
        let mut values = vec![0.0; room];
        let share = self.rows.div_ceil(self.threads_for(inputs));
        let parts = values.chunks_mut(share * inputs).enumerate().map(|(part, values)| {
            let first = part * share;
            move || self.write_rows(columns, inputs, first, values)
        });
        side_by_side(parts);
        Ok(values)
    }

    /// Writes the inputs of rows, the first of which is `first`, into `values` of zeros.
    fn write_rows(&self, columns: &[Column], inputs: usize, first: usize, values: &mut [f32]) {
        for (row, mut rest) in (first..).zip(values.chunks_exact_mut(inputs)) {
            let mut columns = columns.iter();
            for part in &self.columns {
                let width = part.names.len();
                let mut own = columns.by_ref().take(width);
                let kind = own.next().map(|column| &column.kind);
                own.for_each(drop);
                match (kind, part.role) {
                    (
                        Some(ColumnKind::Text { values: listed }),
                        Role::Input(Values::Text(texts)),
                    ) => {
                        let place = listed.binary_search_by(|text| text.as_str().cmp(texts[row]));
                        let own = rest.split_off_mut(..listed.len()).unwrap_or_default();
                        place.into_iter().for_each(|place| own[place] = 1.0);
                    }
                    (_, Role::Input(given)) => {
                        let own = rest.split_off_mut(..width).unwrap_or_default();
                        given.floats(row * width..(row + 1) * width, own);
                    }
                    (_, Role::Target(..) | Role::Unused) => {}
                }
            }
        }
    }
}

/// Runs each of the tasks, on this thread and as many others as there are more tasks; where the
/// system starts no more threads, on fewer.
fn side_by_side<T: FnOnce() + Send>(tasks: impl Iterator<Item = T>) {
    let tasks: Vec<T> = tasks.collect();
    let others = tasks.len().saturating_sub(1);
    let left = Mutex::new(tasks.into_iter());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || std::iter::from_fn(next).for_each(|task| task());
    thread::scope(|scope| {
        for _ in 0..others {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}
