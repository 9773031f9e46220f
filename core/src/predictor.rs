//! Running a model: rows in, integers out.

use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::buffers::{Buffers, Workspace};
use crate::crc::Crc32;
use crate::error::Error;
use crate::families::generate;
#[cfg(not(any(feature = "small", target_family = "wasm")))]
use crate::families::together;
use crate::format::checksum_holds;
use crate::generator::check_word;
use crate::input::Input;
use crate::model::{Model, Task};
use crate::probability;
use crate::sink::Codes;
use crate::steps::{self, draw_golden, quantise, score};

/// How many rows the golden digest is taken over.
pub const GOLDEN_DIGEST_ROWS: usize = 4;

/// Rows of [`Predictor::features_many`] that share what is drawn.
#[cfg(not(any(feature = "small", target_family = "wasm")))]
pub const ROWS_TOGETHER: usize = together::ROWS;

/// A model together with the memory that it runs in.
///
/// Rows are slices of `f32`, `i16` or `u8` with one number for each input; the
/// same numbers give the same bits in every type. A row of another length is
/// an [`Error::Length`] that says what is needed. In an `f32` row NaN counts
/// as the input's offset and infinities saturate.
///
/// It owns its model, a few numbers about where things are in the blob, or refers to
/// it: `M` is a [`Model`] or a reference to one, which may lie in flash.
#[derive(Clone, Debug)]
pub struct Predictor<'m, B, M = Model<'m>> {
    model: M,
    buffers: B,
    blob: PhantomData<&'m [u8]>,
}

impl<'m, B: Buffers, M: Borrow<Model<'m>>> Predictor<'m, B, M> {
    /// Joins a model and its working memory.
    ///
    /// # Errors
    /// [`Error::Buffer`] when a buffer is too small; [`Error::Generator`] when
    /// this build's generator is not the one that the model was trained with.
    pub fn new(model: M, mut buffers: B) -> Result<Self, Error> {
        check(model.borrow(), &mut buffers)?;
        Ok(Self { model, buffers, blob: PhantomData })
    }

    /// The model.
    pub fn model(&self) -> &Model<'m> {
        self.model.borrow()
    }

    fn workspace(&mut self) -> Result<Workspace<'_>, Error> {
        let mut workspace = self.buffers.workspace();
        match workspace.fit(self.model.borrow()) {
            None => Ok(workspace),
            Some(short) => Err(short.error()),
        }
    }

    /// The exact integer scores of a row, one for each output.
    ///
    /// # Errors
    /// [`Error::Length`] for a row of the wrong length; [`Error::Unsuited`] for
    /// a model without outputs.
    pub fn scores<I: Input>(&mut self, row: &[I]) -> Result<&[i32], Error> {
        let Self { model, buffers, .. } = self;
        let model = (*model).borrow();
        if model.outputs() == 0 {
            return Err(Error::Unsuited { needs: "a model with outputs" });
        }
        quantised(model, row, buffers)?;
        Ok(score(model, buffers))
    }

    /// The class of a row: the highest score (the lowest index wins a tie), or,
    /// for a single output, 1 when the score is above zero.
    ///
    /// # Errors
    /// As [`Predictor::scores`]; [`Error::Unsuited`] for a model that is no
    /// classification.
    pub fn classify<I: Input>(&mut self, row: &[I]) -> Result<usize, Error> {
        if self.model().task() != Task::Classification {
            return Err(Error::Unsuited { needs: "a classification model" });
        }
        Ok(class_of(self.scores(row)?))
    }

    /// The value of a regression model's first output, in the target's units.
    ///
    /// # Errors
    /// As [`Predictor::scores`]; [`Error::Unsuited`] for a classification.
    pub fn predict<I: Input>(&mut self, row: &[I]) -> Result<f32, Error> {
        if self.model().task() != Task::Regression {
            return Err(Error::Unsuited { needs: "a regression model" });
        }
        let scale = self.model().score_scale();
        let scores = self.scores(row)?;
        Ok(scores.first().map_or(0.0, |&score| score as f32 * scale))
    }

    /// Scores in real units (score × [`Model::score_scale`]), one for each
    /// output, into `values`.
    ///
    /// # Errors
    /// As [`Predictor::scores`]; [`Error::Length`] for `values`.
    pub fn values<I: Input>(&mut self, row: &[I], values: &mut [f32]) -> Result<(), Error> {
        length("values", self.model().outputs(), values.len())?;
        let scale = self.model().score_scale();
        for (value, &score) in values.iter_mut().zip(self.scores(row)?) {
            *value = score as f32 * scale;
        }
        Ok(())
    }

    /// The probability of every class, into `probabilities` (one for each
    /// class): softmax of the calibrated scores, or the logistic function of a
    /// single one. The only calculation here that uses floats.
    ///
    /// # Errors
    /// As [`Predictor::classify`]; [`Error::Length`] for `probabilities`.
    pub fn probabilities<I: Input>(
        &mut self,
        row: &[I],
        probabilities: &mut [f32],
    ) -> Result<(), Error> {
        if self.model().task() != Task::Classification {
            return Err(Error::Unsuited { needs: "a classification model" });
        }
        length("probabilities", self.model().classes(), probabilities.len())?;
        let model = self.model().copy();
        probability::of_scores(&model, self.scores(row)?, probabilities);
        Ok(())
    }

    /// The feature vector of a row, Q15, one entry for each feature.
    ///
    /// # Errors
    /// [`Error::Length`] for the row or `features`.
    pub fn features<I: Input>(&mut self, row: &[I], features: &mut [i16]) -> Result<(), Error> {
        length("features", self.model().features(), features.len())?;
        let Self { model, buffers, .. } = self;
        let model = (*model).borrow();
        let mut workspace = buffers.workspace();
        if let Some(short) = workspace.fit(model) {
            return Err(short.error());
        }
        if row.len() != model.inputs() {
            return Err(Error::Length { what: "row", needed: model.inputs(), given: row.len() });
        }
        quantise(model, row, workspace.inputs);
        steps::features(model, &mut workspace, features);
        Ok(())
    }

    /// The feature vectors of many rows: `rows` is n × inputs, `features` n × features,
    /// both row by row. `lent`, ⌈inputs/32⌉ for each of [`ROWS_TOGETHER`] rows, is memory
    /// to work in. For hosts: where the weights of projections are drawn one by one they
    /// are drawn once for so many rows.
    ///
    /// # Errors
    /// [`Error::Length`] when `rows` is no whole number of rows or another slice does
    /// not fit it.
    #[cfg(not(any(feature = "small", target_family = "wasm")))]
    pub fn features_many<I: Input>(
        &mut self,
        rows: &[I],
        lent: &mut [[i16; together::PANEL]],
        features: &mut [i16],
    ) -> Result<(), Error> {
        let (inputs, columns) = (self.model().inputs(), self.model().features());
        length("features", self.row_count(rows.len())? * columns, features.len())?;
        length("lent", ROWS_TOGETHER * inputs.div_ceil(together::PANEL), lent.len())?;
        if !self.model().banks().any(|bank| together::suits(&bank)) {
            let places = features.chunks_exact_mut(columns.max(1));
            let mut each = rows.chunks_exact(inputs).zip(places);
            return each.try_for_each(|(row, place)| self.features(row, place));
        }
        let Self { model, buffers, .. } = self;
        let model = (*model).borrow();
        let mut workspace = buffers.workspace();
        if let Some(short) = workspace.fit(model) {
            return Err(short.error());
        }
        together::rows(model, rows, lent, features, &mut workspace);
        Ok(())
    }

    /// The locality-sensitive code of a row: for each maxout unit the index of
    /// its maximum, for each grid of bins the slot of its cell.
    ///
    /// # Errors
    /// [`Error::Length`] for the row or `codes` ([`Model::codes`] entries).
    pub fn codes<I: Input>(&mut self, row: &[I], codes: &mut [u16]) -> Result<(), Error> {
        length("codes", self.model().codes(), codes.len())?;
        let Self { model, buffers, .. } = self;
        let model = (*model).borrow();
        let mut workspace = buffers.workspace();
        if let Some(short) = workspace.fit(model) {
            return Err(short.error());
        }
        if row.len() != model.inputs() {
            return Err(Error::Length { what: "row", needed: model.inputs(), given: row.len() });
        }
        quantise(model, row, workspace.inputs);
        let mut rest = codes;
        for bank in model.banks() {
            let Some((mine, others)) = rest.split_at_mut_checked(usize::from(bank.codes())) else {
                break;
            };
            rest = others;
            if bank.codes() == 0 {
                continue;
            }
            let Workspace { inputs, block, wide, .. } = &mut workspace;
            generate(&bank, inputs, block, wide, &mut Codes(mine));
        }
        Ok(())
    }

    /// Scores of many rows: `rows` is n × inputs, `scores` n × outputs, both
    /// row by row.
    ///
    /// # Errors
    /// [`Error::Length`] when `rows` is no whole number of rows or `scores`
    /// does not fit it.
    pub fn scores_many<I: Input>(&mut self, rows: &[I], scores: &mut [i32]) -> Result<(), Error> {
        let (inputs, outputs) = (self.model().inputs(), self.model().outputs());
        let count = self.row_count(rows.len())?;
        length("scores", count * outputs, scores.len())?;
        if outputs == 0 {
            return Err(Error::Unsuited { needs: "a model with outputs" });
        }
        for (row, out) in rows.chunks_exact(inputs).zip(scores.chunks_exact_mut(outputs)) {
            out.copy_from_slice(self.scores(row)?);
        }
        Ok(())
    }

    /// Classes of many rows: `rows` is n × inputs row by row, `classes` n.
    ///
    /// # Errors
    /// As [`Predictor::classify`] and [`Predictor::scores_many`].
    pub fn classify_many<I: Input>(
        &mut self,
        rows: &[I],
        classes: &mut [usize],
    ) -> Result<(), Error> {
        length("classes", self.row_count(rows.len())?, classes.len())?;
        for (row, class) in rows.chunks_exact(self.model().inputs()).zip(classes) {
            *class = self.classify(row)?;
        }
        Ok(())
    }

    /// How many rows `numbers` numbers are.
    fn row_count(&self, numbers: usize) -> Result<usize, Error> {
        let inputs = self.model().inputs();
        if numbers.is_multiple_of(inputs) {
            Ok(numbers / inputs)
        } else {
            let needed = numbers.div_ceil(inputs) * inputs;
            Err(Error::Length { what: "rows", needed, given: numbers })
        }
    }

    /// Proves on this very device that generator, features and head compute
    /// what they did where the model was made: the scores of
    /// [`GOLDEN_DIGEST_ROWS`] rows that the generator draws must have the
    /// blob's digest, and golden rows, if the blob carries any, their exact
    /// scores. Costs as much as that many predictions. The blob's checksum is
    /// taken again first: a model of [`include_model!`](crate::include_model)
    /// was checked when compiling, its flash may have changed since.
    ///
    /// # Errors
    /// [`Error::Checksum`]; [`Error::SelfTest`] names what differed.
    pub fn self_test(&mut self) -> Result<(), Error> {
        // The compiler knows the bytes of an included blob: they are to be read.
        if !checksum_holds(core::hint::black_box(self.model().blob())) {
            return Err(Error::Checksum);
        }
        if self.golden_digest()? != self.model().golden_digest() {
            return Err(Error::SelfTest { check: "golden digest", row: 0 });
        }
        let model = self.model().copy();
        for number in 0..model.golden_rows() {
            let workspace = self.workspace()?;
            for (index, q) in workspace.inputs.iter_mut().enumerate() {
                let value = model.golden_input(number, index);
                *q = value.quantise(&model.input_map(index), i32::from(model.limit));
            }
            let scores = score(&model, &mut self.buffers);
            let same = scores
                .iter()
                .enumerate()
                .all(|(output, &score)| score == model.golden_score(number, output));
            if !same {
                return Err(Error::SelfTest { check: "golden row", row: number });
            }
        }
        Ok(())
    }

    /// The golden digest that this build computes: CRC-32 of the scores (i32,
    /// little-endian) of rows that are drawn from the seed; of the features
    /// (i16) for a model without outputs.
    ///
    /// # Errors
    /// [`Error::Buffer`], as [`Predictor::new`].
    pub fn golden_digest(&mut self) -> Result<u32, Error> {
        let model = self.model().copy();
        let mut crc = Crc32::new();
        for number in 0..GOLDEN_DIGEST_ROWS {
            let mut workspace = self.workspace()?;
            draw_golden(&model, number, workspace.inputs);
            if model.outputs() == 0 {
                for bank in model.banks() {
                    let Workspace { inputs, block, wide, .. } = &mut workspace;
                    generate(&bank, inputs, block, wide, &mut crc);
                }
            } else {
                for &score in score(&model, &mut self.buffers) {
                    crc = crc.bytes(&score.to_le_bytes());
                }
            }
        }
        Ok(crc.finish())
    }
}

/// What [`Predictor::new`] checks. A function of its own for its memory.
#[inline(never)]
fn check(model: &Model<'_>, buffers: &mut impl Buffers) -> Result<(), Error> {
    if let Some(short) = buffers.workspace().fit(model) {
        return Err(short.error());
    }
    let (expected, actual) = (model.check_word(), check_word(model.seed()));
    if expected != actual {
        return Err(Error::Generator { expected, actual });
    }
    Ok(())
}

fn length(what: &'static str, needed: usize, given: usize) -> Result<(), Error> {
    if needed == given { Ok(()) } else { Err(Error::Length { what, needed, given }) }
}

/// Checks buffers and row; the row's integers into the workspace. A function of its own
/// for its memory.
#[inline(never)]
fn quantised<I: Input>(
    model: &Model<'_>,
    row: &[I],
    buffers: &mut impl Buffers,
) -> Result<(), Error> {
    let mut workspace = buffers.workspace();
    if let Some(short) = workspace.fit(model) {
        return Err(short.error());
    }
    length("row", model.inputs(), row.len())?;
    quantise(model, row, workspace.inputs);
    Ok(())
}

/// The class that scores stand for: see [`Predictor::classify`].
#[must_use]
pub fn class_of(scores: &[i32]) -> usize {
    if let &[score] = scores {
        return usize::from(score > 0);
    }
    let mut best = (0, i32::MIN);
    for (class, &score) in scores.iter().enumerate() {
        if score > best.1 {
            best = (class, score);
        }
    }
    best.0
}
