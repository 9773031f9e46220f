//! The steps of a prediction, without the checks of [`Predictor`](crate::Predictor): for
//! bindings that check once what it checks in every call, that buffers and rows have the
//! lengths of [`Model::buffer_sizes`] and that the model's check word is the generator's.
//!
//! With other lengths the numbers mean nothing; nothing panics.

use crate::buffers::{Buffers, Workspace};
use crate::families::{Anew, generate};
pub use crate::families::{Cell, Cells, Comparison, Drawn, comparisons};
use crate::format::bank::Bank;
use crate::format::map::Line;
use crate::format::model::Model;
use crate::generator::golden_stream;
use crate::head::Head;
pub use crate::head::finish;
use crate::input::Input;
use crate::needs::{Needs, Profile, serves};
use crate::probability::of_scores;
use crate::sink::Features;
pub use crate::weigh::code_at;

/// Row `number` of those of the golden digest, as integers.
#[inline]
pub fn draw_golden(model: &Model<'_>, number: usize, q: &mut [i16]) {
    let stream = golden_stream(model.seed());
    let first = number.wrapping_mul(q.len());
    for (index, q) in q.iter_mut().enumerate() {
        // Rows of falling magnitude: saturated, typical and small inputs.
        let index = first.wrapping_add(index);
        let word = stream.draw(index as u64 / 4) >> (16 * (index % 4));
        // `clamp` would bring a panic along for limits below 0.
        let limit = i32::from(model.limit);
        let value = i32::from(word as i16 >> (number.wrapping_mul(2) & 15));
        *q = value.min(limit).max(-limit) as i16;
    }
}

/// The input map: a row's integers.
#[inline(never)]
pub fn quantise<P: Profile, I: Input>(model: &Model<'_>, row: &[I], q: &mut [i16]) {
    let (limit, logs) = (i32::from(model.limit), serves::<P>(Needs::LOGARITHM));
    let map_at = |place| match const { P::ONLY } {
        Some(only) if !serves::<P>(Needs::MAPS) => only.map,
        _ => model.map_at(place),
    };
    let period = if serves::<P>(Needs::MAPS) { model.map_period() } else { 1 };
    let after = |place: usize| match place.wrapping_add(1) {
        next if next < period => next,
        _ => 0,
    };
    let mut place = 0;
    // The small form has no code for the line.
    if P::SMALL {
        let mut map = map_at(0);
        #[cfg(target_feature = "simd128")]
        let (row, q) = if model.map_is_shared() {
            let done = crate::simd::quantise(&map, limit, I::floats(row), q);
            (row.get(done..).unwrap_or_default(), q.get_mut(done..).unwrap_or_default())
        } else {
            (row, q)
        };
        for (q, &value) in q.iter_mut().zip(row) {
            if period > 1 {
                map = map_at(place);
                place = after(place);
            }
            *q = value.quantise(&map, limit, logs);
        }
        return;
    }
    let line = match const { P::ONLY } {
        Some(only) => only.line,
        None => model.line(),
    };
    let mut index = 0;
    while let (Some(row), Some(q)) = (row.get(index..), q.get_mut(index..)) {
        // None where inputs have maps of their own.
        let done = on_line(&line, row, q);
        index += done;
        let (Some(&value), Some(first)) = (row.get(done), q.get_mut(done)) else { return };
        *first = value.quantise(&map_at(place), limit, logs);
        index += 1;
        place = after(place);
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

/// Calls with every bank of the model, in order. Those of a model that is built in were read
/// when compiling.
#[inline(always)]
pub(crate) fn for_each_bank<P: Profile>(model: &Model<'_>, mut each: impl FnMut(&Bank<'_>)) {
    if let Some(only) = const { P::ONLY } {
        only.banks.iter().for_each(each);
        return;
    }
    let mut at = model.banks_at() as u32;
    for index in 0..model.banks {
        each(&Bank::at(model.blob, &mut at, index));
    }
}

/// Features and head on the quantised row in the buffers: the scores.
#[inline(always)]
pub fn score<'w, P: Profile>(model: &Model<'_>, buffers: &'w mut impl Buffers) -> &'w [i32] {
    score_among::<P>(model, buffers, &mut Anew)
}

/// The same, with cells of convolutions filled by `cells`.
#[inline(never)]
pub fn score_among<'w, P: Profile>(
    model: &Model<'_>,
    buffers: &'w mut impl Buffers,
    cells: &mut impl Cells,
) -> &'w [i32] {
    let Workspace { inputs, block, wide, sums } = buffers.workspace();
    let sums = sums.get_mut(..model.outputs()).unwrap_or_default();
    let inputs = inputs.get(..model.inputs()).unwrap_or_default();
    let mut head = Head::<P>::new(model, &mut *sums);
    for_each_bank::<P>(model, |bank| {
        head.start(bank);
        generate::<P>(bank, inputs, block, wide, &mut head, cells);
        head.finish();
    });
    finish(model, sums)
}

/// Calibrated probabilities, one for each class, from the scores of a row, of a model that
/// [has some](Model::has_probabilities): see
/// [`Predictor::probabilities`](crate::Predictor::probabilities).
pub fn probabilities(model: &Model<'_>, scores: &[i32], probabilities: &mut [f32]) {
    of_scores(model, libm::expf, scores, probabilities);
}

/// The features of the quantised row in the workspace.
#[inline]
pub fn features<P: Profile>(
    model: &Model<'_>,
    workspace: &mut Workspace<'_>,
    features: &mut [i16],
) {
    let mut rest = features;
    for_each_bank::<P>(model, |bank| {
        let all = core::mem::take(&mut rest);
        if let Some((mine, others)) = all.split_at_mut_checked(bank.columns() as usize) {
            rest = others;
            let Workspace { inputs, block, wide, .. } = &mut *workspace;
            let inputs = inputs.get(..model.inputs()).unwrap_or_default();
            features_of_bank::<P>(bank, inputs, block, wide, mine);
        }
    });
}

/// The features of a bank from the quantised row `q`.
#[inline]
pub fn features_of_bank<P: Profile>(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    features: &mut [i16],
) {
    generate::<P>(bank, q, block, wide, &mut Features(features), &mut Anew);
}
