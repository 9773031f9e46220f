//! Names of columns in small models.

use crate::options::BlobOptions;
use crate::{Error, Point, TrainOptions};
use koan_data::Table;

/// Column names that take more than this share of the flash are left out.
const SHARE: f64 = 0.1;
/// Part of the flash that stays free where they come back: lists of kept features may be longer
/// than expected.
const SPARE: usize = 32;

/// Leaves names of columns out where they take too much of the flash: whether it did so.
pub(super) fn leave_out(
    base: &mut TrainOptions,
    table: &Table,
    flash: usize,
) -> Result<bool, Error> {
    let names = if base.column_names { bytes(base, table)? } else { 0 };
    let too_much = names as f64 > SHARE * flash as f64;
    base.column_names &= !too_much;
    Ok(too_much)
}

/// Gives models their names again where all of them have room for them after all: whether it did so.
pub(super) fn fit(points: &mut [Point], table: &Table, flash: usize) -> Result<bool, Error> {
    for point in &*points {
        if point.bytes + bytes(&point.options, table)? + flash / SPARE > flash {
            return Ok(false);
        }
    }
    points.iter_mut().for_each(|point| point.options.column_names = true);
    Ok(true)
}

/// Bytes that names of columns take. Codes may make the notes with names the shorter ones.
fn bytes(options: &TrainOptions, table: &Table) -> Result<usize, Error> {
    let notes = |column_names: bool| -> Result<usize, Error> {
        let options = BlobOptions { column_names, ..options.blob() };
        Ok(options.notes(&table.schema)?.len())
    };
    Ok(notes(true)?.saturating_sub(notes(false)?))
}
