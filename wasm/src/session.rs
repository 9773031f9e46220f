//! What JavaScript calls.
//!
//! All memory is JavaScript's (`js/heap.ts`): it writes blob and row, passes where they
//! lie and where there is room, and keeps in between what [`load`] has found. It knows
//! CRC-32, checks lengths and makes the words of errors. So nothing here is kept from one
//! call to the next, nothing allocates, and nothing fails.

use alloc::boxed::Box;

use bytemuck::cast_slice_mut;
use koan::generator::check_word;
use koan::{Model, Profile as _, Workspace, steps};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::parts::Profile;

/// Words that [`load`] fills in; `js/session.ts` has the same order:
///
/// - the number of the [fault](koan::format::Fault), 0 for none;
/// - then [`Model::to_words`], the number of features, and the generator's check word, or
///   field and offset of the fault.
const WORDS: usize = 11;
/// The place of the number of features among them.
const FEATURES: usize = WORDS - 2;

/// Places among [`Model::to_words`]: blocks of both forms, and the fast form's wide numbers.
const BLOCK: usize = 2;
const SMALL_BLOCK: usize = 3;
const WIDE: usize = 4;

/// Checks a blob.
///
/// - `intact`: whether its checksum holds
#[wasm_bindgen]
#[expect(clippy::boxed_local, reason = "a box is how memory is lent to be written")]
pub fn load(blob: &[u8], mut words: Box<[u32]>, intact: bool) {
    let Some(words) = words.first_chunk_mut::<WORDS>() else { return };
    match Model::examine(blob, intact) {
        Ok(model) => {
            let [fault, found @ .., features, check] = words;
            *fault = 0;
            *found = words_of(&model);
            *features = model.features() as u32;
            *check = check_word(model.seed()).into();
        }
        Err(refusal) => {
            let [fault, field, offset, ..] = words;
            *fault = refusal.fault as u32;
            *field = refusal.field as u32;
            *offset = refusal.offset as u32;
        }
    }
}

/// A model's words. Memory is not dear here: blocks have room for whole transforms, of as many
/// halves as two for each wide number of the fast form.
fn words_of(model: &Model<'_>) -> [u32; FEATURES - 1] {
    let mut words = model.to_words();
    words[SMALL_BLOCK] = words[BLOCK].max(2 * words[WIDE]);
    words
}

/// Scores, or features, of the row, or of a row of the golden digest.
///
/// - `words`: what [`load`] has found
/// - `golden`: the row of the golden digest; any other number stands for the row
/// - `features`: whether features are wanted
#[wasm_bindgen]
pub fn run(blob: &[u8], words: &[u32], mut buffers: Box<[u32]>, golden: usize, features: bool) {
    let Some(model) = found(blob, words) else { return };
    let Parts { row, vector, mut workspace } = Parts::new(&model, words, &mut buffers);
    if golden < koan::GOLDEN_DIGEST_ROWS {
        steps::draw_golden(&model, golden, workspace.inputs);
    } else {
        steps::quantise::<Profile, f32>(&model, row, workspace.inputs);
    }
    if features {
        steps::features::<Profile>(&model, &mut workspace, vector);
    } else {
        steps::score::<Profile>(&model, &mut workspace);
    }
}

/// The model that [`load`] has found in a blob.
pub(crate) fn found<'b>(blob: &'b [u8], words: &[u32]) -> Option<Model<'b>> {
    Some(Model::from_words(blob, *words.get(1..)?.first_chunk()?))
}

/// What a model works in, each part in whole words, in the order of `js/session.ts`.
pub(crate) struct Parts<'b> {
    /// Where JavaScript writes a row.
    pub(crate) row: &'b mut [f32],
    /// Where it reads features.
    pub(crate) vector: &'b mut [i16],
    /// Scores take the place of the sums, which come first of all.
    pub(crate) workspace: Workspace<'b>,
}

impl<'b> Parts<'b> {
    pub(crate) fn new(model: &Model<'_>, words: &[u32], mut buffers: &'b mut [u32]) -> Self {
        let sizes = model.buffer_sizes(Profile::FORM);
        let features = words.get(FEATURES).map_or(0, |&features| features as usize);
        let rest = &mut buffers;
        let sums = cast_slice_mut::<_, i32>(cut(rest, 2 * sizes.outputs)).as_chunks_mut().0;
        let row = cast_slice_mut(cut(rest, sizes.inputs));
        let vector = cast_slice_mut(cut(rest, features.div_ceil(2)));
        let wide = cast_slice_mut(cut(rest, sizes.wide));
        let inputs = cast_slice_mut(cut(rest, sizes.inputs.div_ceil(2)));
        let inputs = inputs.get_mut(..sizes.inputs).unwrap_or_default();
        let block = cast_slice_mut(cut(rest, sizes.block.div_ceil(2)));
        Self { row, vector, workspace: Workspace { inputs, block, wide, sums } }
    }
}

/// Cuts the first `words` words off.
#[inline(never)]
fn cut<'b>(rest: &mut &'b mut [u32], words: usize) -> &'b mut [u32] {
    rest.split_off_mut(..words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use koan::{OwnedBuffers, Predictor};

    use super::*;

    #[test]
    fn blocks_have_room_for_whole_transforms() {
        let few: &[u8] = include_bytes!("../../tests/golden/edge-few-inputs-fourier-hadamard.koan");
        let below_256 = include_bytes!("../../tests/models/digits-fourier-336.koan");
        let many = include_bytes!("../../tests/models/mnist-fourier-2048.koan");
        for blob in [few, below_256, many] {
            let model = Model::parse(blob).unwrap();
            let transform = model.inputs().next_power_of_two().max(8);
            assert!(words_of(&model)[SMALL_BLOCK] as usize >= transform, "{}", model.inputs());
        }
    }

    #[test]
    fn a_model_runs_in_the_memory_that_it_is_given() {
        let blob: &[u8] = include_bytes!("../../core/tests/tiny.koan");
        let mut words = [0; WORDS];
        // A Box takes what it is given with it: here it is a copy.
        let model = Model::parse(blob).unwrap();
        words[1..FEATURES].copy_from_slice(&model.to_words());
        words[FEATURES] = model.features() as u32;
        let sizes = model.buffer_sizes(Profile::FORM);
        let words_of = [2 * sizes.outputs, sizes.inputs, model.features() / 2, sizes.wide]
            .into_iter()
            .chain([sizes.inputs, sizes.block].map(|length: usize| length.div_ceil(2)))
            .sum();
        let mut buffers = std::vec![0; words_of];
        let found = found(blob, &words).unwrap();
        let Parts { row, vector, mut workspace } = Parts::new(&found, &words, &mut buffers);
        assert_eq!((row.len(), vector.len()), (2, model.features()));
        assert_eq!((workspace.inputs.len(), workspace.sums.len()), (2, 1));
        assert!(workspace.block.len() >= sizes.block && workspace.wide.len() == sizes.wide);
        row.copy_from_slice(&[0.5, -1.25]);
        steps::quantise::<Profile, f32>(&found, row, workspace.inputs);
        let [score] = *steps::score::<Profile>(&found, &mut workspace) else { panic!("one score") };
        let mut predictor = Predictor::new(model, OwnedBuffers::<2, 0, 0, 1>::new()).unwrap();
        assert_eq!(predictor.scores(&[0.5f32, -1.25]).unwrap(), [score]);
        assert_eq!(buffers[0], score as u32);
    }
}
