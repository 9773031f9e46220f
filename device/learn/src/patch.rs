//! What was learned, as bytes: to be stored, taken to another device, or looked at.
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 | `KLR2`; `KLRN` before there was a margin |
//! | 4 | the checksum of the model that it belongs to |
//! | 4 | the margin of the pace, which weights are in units of |
//! | 2 | numbers that describe a row |
//! | 1 | outputs |
//! | 1 | rows that follow |
//! | each row that is not 0: 1 + 2·numbers | its output, its weights; the centre comes last |
//! | 4 | CRC-32 of all before |

use core::fmt;

use koan::Crc32;

use crate::learner::Learner;

const MAGIC: [u8; 4] = *b"KLR2";
/// Of a patch without its margin.
const EARLIER: [u8; 4] = *b"KLRN";
const HEADER: usize = 16;

/// Bytes of a patch for so many outputs, at most: all have learned, and there is a centre.
#[must_use]
pub const fn patch_bytes(numbers: usize, outputs: usize) -> usize {
    HEADER + (outputs + 1) * (1 + 2 * numbers) + 4
}

/// Why a patch is not written or read.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatchError {
    /// The memory is too small.
    Memory {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that were given.
        given: usize,
    },
    /// It is no patch, or damaged.
    Damaged,
    /// It is of an earlier version, which does not say what its weights are in units of.
    Earlier,
    /// It was learned with another margin, which its weights are in units of.
    Margin {
        /// That one.
        patch: i32,
        /// The learner's.
        learner: i32,
    },
    /// It belongs to another model.
    OtherModel {
        /// The checksum of that one.
        base: u32,
    },
    /// It has other numbers or outputs than the learner.
    Shape {
        /// Numbers that describe a row.
        numbers: u16,
        /// Outputs.
        outputs: u8,
    },
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Memory { needed, given } => {
                write!(f, "the patch has {needed} bytes, the memory {given}")
            }
            Self::Damaged => f.write_str("no patch, or a damaged one"),
            Self::Earlier => f.write_str(
                "a patch of an earlier version, which does not say with which margin it was learned",
            ),
            Self::Margin { patch, learner } => {
                write!(
                    f,
                    "the patch was learned with a margin of {patch}, the learner's pace has {learner}"
                )
            }
            Self::OtherModel { base } => {
                write!(f, "the patch belongs to the model with the checksum {base:08x}")
            }
            Self::Shape { numbers, outputs } => {
                write!(
                    f,
                    "the patch has {numbers} numbers and {outputs} outputs, not the learner's"
                )
            }
        }
    }
}

impl core::error::Error for PatchError {}

impl<const NUMBERS: usize, const OUTPUTS: usize> Learner<NUMBERS, OUTPUTS> {
    /// What 16 and 8 bits hold.
    const FITS: () = assert!(NUMBERS <= 0xffff && OUTPUTS < 0xff, "too large for a patch");

    /// Writes what was learned; how many bytes it is.
    ///
    /// # Errors
    /// [`PatchError::Memory`].
    pub fn write(&self, patch: &mut [u8]) -> Result<usize, PatchError> {
        const { Self::FITS };
        let all = || self.weights.iter().chain([&self.centre]).enumerate();
        let rows = || all().filter(|(_, row)| row.iter().any(|&weight| weight != 0));
        let count = rows().count();
        let (needed, given) = (HEADER + count * (1 + 2 * NUMBERS) + 4, patch.len());
        let patch = patch.get_mut(..needed).ok_or(PatchError::Memory { needed, given })?;
        let header = MAGIC.into_iter().chain(self.base.to_le_bytes());
        let header = header.chain(self.pace.margin.to_le_bytes());
        let header =
            header.chain((NUMBERS as u16).to_le_bytes()).chain([OUTPUTS as u8, count as u8]);
        let row = |(output, row)| core::iter::once(output as u8).chain(bytes_of(row));
        let bytes = header.chain(rows().flat_map(row));
        patch.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        if let Some((written, end)) = patch.split_last_chunk_mut::<4>() {
            *end = Crc32::new().bytes(written).finish().to_le_bytes();
        }
        Ok(needed)
    }

    /// Takes over what a patch has learned, in place of what is there, which stays if the patch
    /// is refused. The [`Pace`](crate::Pace) must have the margin that it was learned with; its
    /// slowness may be another.
    ///
    /// # Errors
    /// All but [`PatchError::Memory`].
    pub fn read(&mut self, patch: &[u8]) -> Result<(), PatchError> {
        let (written, crc) = patch.split_last_chunk::<4>().ok_or(PatchError::Damaged)?;
        if Crc32::new().bytes(written).finish() != u32::from_le_bytes(*crc) {
            return Err(PatchError::Damaged);
        }
        if written.starts_with(&EARLIER) {
            return Err(PatchError::Earlier);
        }
        let (header, rows) = written.split_first_chunk::<HEADER>().ok_or(PatchError::Damaged)?;
        let &[a, b, c, d, e, f, g, h, i, j, k, l, low, high, outputs, count] = header;
        if [a, b, c, d] != MAGIC {
            return Err(PatchError::Damaged);
        }
        let base = u32::from_le_bytes([e, f, g, h]);
        if base != self.base {
            return Err(PatchError::OtherModel { base });
        }
        let (patch, learner) = (i32::from_le_bytes([i, j, k, l]), self.pace.margin);
        if patch != learner {
            return Err(PatchError::Margin { patch, learner });
        }
        let numbers = u16::from_le_bytes([low, high]);
        if usize::from(numbers) != NUMBERS || usize::from(outputs) != OUTPUTS {
            return Err(PatchError::Shape { numbers, outputs });
        }
        let each = 1 + 2 * NUMBERS;
        let row_of = |row: &[u8]| row.first().map_or(usize::MAX, |&output| output.into());
        let sound = rows.len() == usize::from(count) * each
            && rows.chunks_exact(each).all(|row| row_of(row) <= OUTPUTS);
        if !sound {
            return Err(PatchError::Damaged);
        }
        self.centre_on(&[0; NUMBERS]);
        for row in rows.chunks_exact(each) {
            let words = row.get(1..).unwrap_or_default().as_chunks::<2>().0;
            let place = self.weights.get_mut(row_of(row)).unwrap_or(&mut self.centre);
            place
                .iter_mut()
                .zip(words)
                .for_each(|(weight, &word)| *weight = i16::from_le_bytes(word));
        }
        Ok(())
    }
}

fn bytes_of<const NUMBERS: usize>(row: &[i16; NUMBERS]) -> impl Iterator<Item = u8> {
    row.iter().flat_map(|weight| weight.to_le_bytes())
}
