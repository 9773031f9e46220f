//! Plain loops.

use super::{Step, Tile};
use crate::LANES;

/// Features of the left panel that are taken at a time.
const COLUMNS: usize = 4;

/// See [`Kernel::tile`](super::Kernel::tile).
pub fn tile(left: &[Step], right: &[Step]) -> Tile {
    bytemuck::must_cast([
        products::<0>(left, right),
        products::<4>(left, right),
        products::<8>(left, right),
        products::<12>(left, right),
    ])
}

/// The products of the left features from `FIRST` on.
fn products<const FIRST: usize>(left: &[Step], right: &[Step]) -> [[i32; LANES]; COLUMNS] {
    let mut sums = [[0i32; LANES]; COLUMNS];
    for (left, right) in left.iter().zip(right) {
        let left: &[[i16; LANES]; 2] = bytemuck::must_cast_ref(&left.0);
        let right: &[[i16; LANES]; 2] = bytemuck::must_cast_ref(&right.0);
        for column in 0..COLUMNS {
            let (a, b) = (left[0][FIRST + column], left[1][FIRST + column]);
            for lane in 0..LANES {
                let first = i32::from(a) * i32::from(right[0][lane]);
                let second = i32::from(b) * i32::from(right[1][lane]);
                // It cannot wrap; but checks of it would not be vectors.
                sums[column][lane] = sums[column][lane].wrapping_add(first.wrapping_add(second));
            }
        }
    }
    sums
}
