//! The steps of a prediction, without the checks of [`Predictor`](crate::Predictor): for
//! bindings that check once what it checks in every call, that buffers and rows have the
//! lengths of [`Model::buffer_sizes`] and that the model's check word is the generator's.
//!
//! With other lengths the numbers mean nothing; nothing panics.

use crate::SMALL;
use crate::bank::Bank;
use crate::buffers::{Buffers, Workspace};
use crate::families::generate;
use crate::generator::golden_stream;
use crate::head::Head;
use crate::input::{Input, Line};
use crate::model::Model;
use crate::sink::Features;

/// Row `number` of those of the golden digest, as integers.
#[inline]
pub fn draw_golden(model: &Model<'_>, number: usize, q: &mut [i16]) {
    let stream = golden_stream(model.seed());
    let first = number * q.len();
    for (index, q) in q.iter_mut().enumerate() {
        // Rows of falling magnitude: saturated, typical and small inputs.
        let index = first + index;
        let word = stream.draw(index as u64 / 4) >> (16 * (index % 4));
        // `clamp` would bring a panic along for limits below 0.
        *q = (word as i16 >> (2 * number)).min(model.limit).max(-model.limit);
    }
}

/// The input map: a row's integers.
#[inline(never)]
pub fn quantise<I: Input>(model: &Model<'_>, row: &[I], q: &mut [i16]) {
    let limit = i32::from(model.limit);
    // Small builds have no code for the line; in the browser rows are f32 anyway.
    if SMALL {
        let mut map = model.input_map(0);
        for (index, (place, &value)) in q.iter_mut().zip(row).enumerate() {
            if !model.map_is_shared() {
                map = model.input_map(index);
            }
            *place = value.quantise(&map, limit);
        }
        return;
    }
    let line = model.line();
    let mut index = 0;
    while let (Some(row), Some(q)) = (row.get(index..), q.get_mut(index..)) {
        let done = on_line(&line, row, q);
        index += done;
        let (Some(&value), Some(place)) = (row.get(done), q.get_mut(done)) else { return };
        *place = value.quantise(&model.input_map(index), limit);
        index += 1;
    }
}

/// Maps numbers up to the first that is not on the line; how many.
#[inline(never)]
fn on_line<I: Input>(line: &Line, row: &[I], q: &mut [i16]) -> usize {
    let mut done = 0;
    for (place, &value) in q.iter_mut().zip(row) {
        let Some(value) = value.on_line(line) else { break };
        *place = value;
        done += 1;
    }
    done
}

/// Features and head on the quantised row in the buffers: the scores.
#[inline(never)]
pub fn score<'w>(model: &Model<'_>, buffers: &'w mut impl Buffers) -> &'w [i32] {
    let Workspace { inputs, block, wide, sums } = buffers.workspace();
    let sums = sums.get_mut(..model.outputs()).unwrap_or_default();
    let inputs = inputs.get(..model.inputs()).unwrap_or_default();
    let mut head = Head::new(model, sums);
    let mut at = model.banks_at() as u32;
    for index in 0..usize::from(model.banks) {
        let bank = Bank::at(model.blob, &mut at, index);
        head.start(&bank);
        generate(&bank, inputs, block, wide, &mut head);
        head.finish();
    }
    head.scores()
}

/// The features of the quantised row in the workspace.
#[inline]
pub fn features(model: &Model<'_>, workspace: &mut Workspace<'_>, features: &mut [i16]) {
    let mut rest = features;
    for bank in model.banks() {
        let Some((mine, others)) = rest.split_at_mut_checked(bank.columns() as usize) else {
            break;
        };
        rest = others;
        let Workspace { inputs, block, wide, .. } = workspace;
        generate(&bank, inputs, block, wide, &mut Features(mine));
    }
}
