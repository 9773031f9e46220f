//! Panels: 16 features of all rows, as steps of a kernel.

use crate::LANES;
use crate::kernel::{Kernel, Step};

/// What is added to 256·h + l.
pub const CENTRE: f64 = 128.0;

/// A byte of each feature of a panel.
#[derive(Clone, Debug)]
pub struct Bytes {
    /// All rows, and zeros up to a whole step.
    pub steps: Vec<Step>,
    /// Σ of each feature's bytes.
    pub sums: [i32; LANES],
}

/// The features from a multiple of [`LANES`] on; those that there are not are zeros.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The features, or l where there is an h.
    pub low: Bytes,
    /// h, where not all values fit a byte.
    pub high: Option<Bytes>,
}

impl Panel {
    /// Of `values`, rows of `features` numbers.
    pub fn new(kernel: Kernel, values: &[i16], features: usize, start: usize) -> Self {
        let lanes = LANES.min(features - start);
        let rows: Vec<[i16; LANES]> = values
            .chunks_exact(features)
            .map(|row| {
                let row = &row[start..][..lanes];
                row.try_into().unwrap_or_else(|_| {
                    let mut padded = [0; LANES];
                    padded[..lanes].copy_from_slice(row);
                    padded
                })
            })
            .collect();
        // No bit is left where all values are those of their low bytes.
        let mut lost = [0; LANES];
        for row in &rows {
            for (lost, &value) in lost.iter_mut().zip(row) {
                *lost |= low_byte(value) ^ value;
            }
        }
        if lost == [0; LANES] {
            return Self { low: Bytes::new(kernel, &rows), high: None };
        }
        let bytes = |byte: fn(i16) -> i16| -> Bytes {
            let rows: Vec<[i16; LANES]> = rows.iter().map(|row| row.map(byte)).collect();
            Bytes::new(kernel, &rows)
        };
        Self { low: bytes(|value| low_byte(value ^ 128)), high: Some(bytes(|value| value >> 8)) }
    }

    /// Σ (φ − [`CENTRE`]) of each feature where there is an h, otherwise Σ φ.
    pub fn sums(&self) -> [f64; LANES] {
        std::array::from_fn(|lane| {
            let high = self.high.as_ref().map_or(0, |high| high.sums[lane]);
            256.0 * f64::from(high) + f64::from(self.low.sums[lane])
        })
    }
}

impl Bytes {
    fn new(kernel: Kernel, rows: &[[i16; LANES]]) -> Self {
        let mut sums = [0i32; LANES];
        for row in rows {
            for (sum, &value) in sums.iter_mut().zip(row) {
                // It cannot wrap; but a check of each sum takes time.
                *sum = sum.wrapping_add(value.into());
            }
        }
        Self { steps: kernel.steps(rows), sums }
    }
}

/// The low byte, as a signed one.
fn low_byte(value: i16) -> i16 {
    value << 8 >> 8
}
