//! What `conv.rs` does, where bytes count more than time: every position of every
//! filter by itself, tap by tap, in the inputs as they lie in the row.

use super::{Runs, offset_of};
use crate::bank::Bank;
use crate::conv::{Axis, Conv, divided};
use crate::generator::{Purpose, bank_stream};
use crate::numerics::cos;
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(
    bank: &Bank<'_>,
    conv: Conv,
    q: &[i16],
    block: &mut [i16],
    _: &mut [i32],
    sink: &mut dyn Sink,
) {
    let inputs = q.len() as u16;
    let mut dilations = 1;
    while conv.dilated && conv.positions_fit(inputs, 1 << dilations) {
        dilations += 1;
    }
    for (place, &value) in block.iter_mut().zip(q) {
        *place = bank.scale.apply_wrapping(value.into()) as i16;
    }
    let [y, x] = conv.axes(inputs);
    let [channels, stride] = [conv.channels, conv.stride].map(usize::from);
    let signs = bank_stream(bank, Purpose::Weights);
    let offsets = bank_stream(bank, Purpose::Offsets).draw(0);
    let mut runs = Runs::new(sink);
    for index in bank.indices() {
        let filter = divided(index, conv.cells().into());
        let eight = filter / 8;
        let dilation = 1 << (eight - divided(eight, dilations) * dilations);
        let draws = signs.draws((filter * conv.taps().div_ceil(64)) as u64);
        let offset = offset_of(offsets, filter);
        // Taps of a line that are not dilated lie one behind the other.
        let (taps, run) =
            if dilation == 1 { (1, x.kernel * channels) } else { (x.kernel, channels) };
        // Positions of the cell in both directions, and how many the largest has.
        let cell = |axis: Axis, number: usize| {
            let positions = axis.positions(stride, dilation);
            let cells = axis.cells;
            let start = |cell: usize| divided(cell * positions + cells - 1, cells);
            let number = number - divided(number, cells) * cells;
            (start(number)..start(number + 1), start(1))
        };
        let (rows, most_rows) = cell(y, divided(index, x.cells));
        let (columns, most_columns) = cell(x, index);
        let mut sum = 0i32;
        for row in rows {
            for column in columns.clone() {
                let mut draws = draws.clone();
                let (mut phase, mut word, mut left) = (offset, 0u64, 0u8);
                for line in 0..y.kernel {
                    let line = (row * stride + line * dilation) * x.length;
                    for tap in 0..taps {
                        let at = (line + column * stride + tap * dilation) * channels;
                        for value in block.get(at..at + run).unwrap_or(&[]) {
                            if left == 0 {
                                (word, left) = (draws.next(), 64);
                            }
                            // −1 for a negative tap, else 0.
                            let sign = (word as i64 >> 63) as i16;
                            phase = phase.wrapping_add((value ^ sign).wrapping_sub(sign));
                            word <<= 1;
                            left -= 1;
                        }
                    }
                }
                sum += i32::from(match conv.proportion {
                    true => !(phase >> 15) & i16::MAX,
                    false => cos(phase),
                });
            }
        }
        let reciprocal = divided(65_536, most_rows * most_columns);
        let rounded = sum.wrapping_mul(reciprocal as i32).wrapping_add(1 << 15);
        runs.put((rounded >> 16) as i16);
    }
    runs.flush();
}
