//! Running a model: rows in, integers out.

use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::buffers::{Buffers, Workspace};
use crate::crc::{Crc32, checksum_holds};
use crate::error::{Error, GOLDEN_ROW};
use crate::families::{Anew, generate};
use crate::format::model::{Model, Task};
use crate::generator::check_word;
use crate::input::Input;
use crate::needs::{Any, Needs, Profile, serves};
use crate::probability;
use crate::sink::Codes;
use crate::steps::{self, draw_golden, for_each_bank, quantise, score};

/// How many rows the golden digest is taken over.
pub const GOLDEN_DIGEST_ROWS: usize = 4;

/// A model together with the memory that it runs in.
///
/// Rows are slices of `f32`, `i16` or `u8` with one number for each input; the
/// same numbers give the same bits in every type. A row of another length is
/// an [`Error::Length`] that says what is needed. What NaN and infinities in an `f32` row
/// are says [`Input`].
///
/// It owns its model, a few numbers about where things are in the blob, or refers to
/// it: `M` is a [`Model`] or a reference to one, which may lie in flash. Its [`Profile`]
/// `P` says which models it serves, and whether it is made for speed or for few bytes.
///
/// ```
/// use koan::{Any, Form, Model, OwnedBuffers, Predictor, Small};
///
/// # let blob = include_bytes!("../tests/tiny.koan");
/// let model = Model::parse(blob)?;
/// let fast = Predictor::new(model, OwnedBuffers::<2, 0, 0, 1>::new())?.scores(&[1i16, 0])?[0];
/// let mut small = Predictor::<_, Small>::serving(model, OwnedBuffers::<2, 0, 0, 1>::new())?;
/// assert_eq!(small.scores(&[1i16, 0])?, [fast]);
/// # Ok::<(), koan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictor<'m, B, P = Any, M = Model<'m>> {
    model: M,
    buffers: B,
    /// Whether the generator is known to be the one that the model was trained with.
    checked: bool,
    profile: PhantomData<(&'m [u8], P)>,
}

impl<'m, B: Buffers, M: Borrow<Model<'m>>> Predictor<'m, B, Any, M> {
    /// Joins a model of any kind and its working memory.
    ///
    /// # Errors
    /// [`Error::Buffer`] when a buffer is too small; [`Error::Generator`] when
    /// this build's generator is not the one that the model was trained with.
    pub fn new(model: M, buffers: B) -> Result<Self, Error> {
        Self::serving(model, buffers)
    }
}

impl<B, P: Profile, M: Borrow<Model<'static>>> Predictor<'static, B, P, M> {
    /// For [`include_model!`](crate::include_model), which knows that model, buffers and
    /// profile suit each other.
    #[doc(hidden)]
    #[must_use]
    pub const fn built_in(model: M, buffers: B) -> Self {
        Self { model, buffers, checked: false, profile: PhantomData }
    }
}

impl<'m, B: Buffers, P: Profile, M: Borrow<Model<'m>>> Predictor<'m, B, P, M> {
    /// Joins a model that the profile serves and its working memory.
    ///
    /// # Errors
    /// As [`Predictor::new`]; [`Error::NotServed`] for a model that needs more than the
    /// profile serves.
    pub fn serving(model: M, buffers: B) -> Result<Self, Error> {
        let mut predictor = Self { model, buffers, checked: false, profile: PhantomData };
        if let Some(only) = P::ONLY
            && predictor.model().blob() != only.blob
        {
            return Err(Error::Unsuited { needs: "the model that its profile is of" });
        }
        if P::NEEDS != Needs::ALL {
            let missing = predictor.model().needs().without(P::NEEDS);
            if missing != Needs::NONE {
                return Err(Error::NotServed { missing });
            }
        }
        predictor.ready()?;
        match predictor.buffers.workspace().fit(predictor.model.borrow(), P::FORM) {
            None => Ok(predictor),
            Some(short) => Err(short.error()),
        }
    }

    /// The model.
    pub fn model(&self) -> &Model<'m> {
        self.model.borrow()
    }

    /// The model and the working memory, which is large enough. The first time the generator
    /// is checked.
    #[inline]
    fn ready(&mut self) -> Result<(&Model<'m>, Workspace<'_>), Error> {
        let model = self.model.borrow();
        // The crate `wyhash` draws where a product of 64 bits is one instruction, and
        // draws other numbers with its feature `mum32bit`. Elsewhere this crate does.
        let known = P::ONLY.is_some() && !cfg!(target_pointer_width = "64");
        if !known && !self.checked {
            check_generator(model)?;
            self.checked = true;
        }
        let mut workspace = self.buffers.workspace();
        // The type of a built-in model's buffers says how large they are.
        if P::ONLY.is_some() {
            return Ok((model, workspace));
        }
        match workspace.fit(model, P::FORM) {
            None => Ok((model, workspace)),
            Some(short) => Err(short.error()),
        }
    }

    /// The workspace with a row's integers. A function of its own for its memory.
    #[inline(never)]
    fn quantised<I: Input>(&mut self, row: &[I]) -> Result<(), Error> {
        length("row", self.model().inputs(), row.len())?;
        let (model, workspace) = self.ready()?;
        quantise::<P, I>(model, row, workspace.inputs);
        Ok(())
    }

    /// The exact integer scores of a row, one for each output.
    ///
    /// # Errors
    /// [`Error::Length`] for a row of the wrong length; [`Error::Unsuited`] for
    /// a model without outputs.
    pub fn scores<I: Input>(&mut self, row: &[I]) -> Result<&[i32], Error> {
        if self.model().outputs() == 0 {
            return Err(Error::Unsuited { needs: "a model with outputs" });
        }
        self.quantised(row)?;
        Ok(score::<P>(self.model.borrow(), &mut self.buffers))
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
    /// single one. By floats, with `libm`'s exponential.
    ///
    /// # Errors
    /// As [`Predictor::classify`]; [`Error::Unsuited`] for a model that has none, see
    /// [`Model::has_probabilities`]; [`Error::Length`] for `probabilities`.
    pub fn probabilities<I: Input>(
        &mut self,
        row: &[I],
        probabilities: &mut [f32],
    ) -> Result<(), Error> {
        self.probabilities_by(libm::expf, row, probabilities)
    }

    /// [`Predictor::probabilities`] with `micromath`'s exponential, which is faster and
    /// coarser: within 0.005 of the other's.
    ///
    /// # Errors
    /// As [`Predictor::probabilities`].
    #[cfg(feature = "micromath")]
    pub fn coarse_probabilities<I: Input>(
        &mut self,
        row: &[I],
        probabilities: &mut [f32],
    ) -> Result<(), Error> {
        self.probabilities_by(probability::coarse_exp, row, probabilities)
    }

    #[inline]
    fn probabilities_by<I: Input>(
        &mut self,
        exp: impl Fn(f32) -> f32,
        row: &[I],
        probabilities: &mut [f32],
    ) -> Result<(), Error> {
        if self.model().task() != Task::Classification {
            return Err(Error::Unsuited { needs: "a classification model" });
        }
        if !self.model().has_probabilities() {
            return Err(Error::Unsuited { needs: "a model with probabilities" });
        }
        length("probabilities", self.model().classes(), probabilities.len())?;
        self.quantised(row)?;
        let model = self.model.borrow();
        probability::of_scores(model, exp, score::<P>(model, &mut self.buffers), probabilities);
        Ok(())
    }

    /// The feature vector of a row, one entry for each feature: 127 stands for 1, those of
    /// the family linear are quantised inputs.
    ///
    /// # Errors
    /// [`Error::Length`] for the row or `features`.
    pub fn features<I: Input>(&mut self, row: &[I], features: &mut [i16]) -> Result<(), Error> {
        length("features", self.model().features(), features.len())?;
        self.quantised(row)?;
        let mut workspace = self.buffers.workspace();
        steps::features::<P>(self.model.borrow(), &mut workspace, features);
        Ok(())
    }

    /// The locality-sensitive code of a row: for each maxout unit the index of
    /// its maximum, for each grid of bins the slot of its cell, for each fern its leaf.
    ///
    /// # Errors
    /// [`Error::Length`] for the row or `codes` ([`Model::codes`] entries).
    pub fn codes<I: Input>(&mut self, row: &[I], codes: &mut [u16]) -> Result<(), Error> {
        length("codes", self.model().codes(), codes.len())?;
        self.quantised(row)?;
        let mut rest = codes;
        let (model, mut workspace) = self.ready()?;
        for_each_bank::<P>(model, |bank| {
            let all = core::mem::take(&mut rest);
            let Some((mine, others)) = all.split_at_mut_checked(usize::from(bank.codes())) else {
                return;
            };
            rest = others;
            if bank.codes() > 0 {
                let Workspace { inputs, block, wide, .. } = &mut workspace;
                let inputs = inputs.get(..model.inputs()).unwrap_or_default();
                generate::<P>(bank, inputs, block, wide, &mut Codes(mine), &mut Anew);
            }
        });
        Ok(())
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
        if serves::<P>(Needs::GOLDEN_ROWS) {
            self.check_golden_rows()?;
        }
        Ok(())
    }

    /// A function of its own for its memory.
    #[inline(never)]
    fn check_golden_rows(&mut self) -> Result<(), Error> {
        let rows = self.model().golden();
        for number in 0..rows.count() {
            let (model, workspace) = self.ready()?;
            let (period, mut place) = (model.map_period(), 0);
            for (index, q) in workspace.inputs.iter_mut().take(model.inputs()).enumerate() {
                let map = model.map_at(place);
                let logs = serves::<P>(Needs::LOGARITHM);
                *q = rows.input(number, index).quantise(&map, i32::from(model.limit), logs);
                place = place.wrapping_add(1);
                if place >= period {
                    place = 0;
                }
            }
            let scores = score::<P>(self.model.borrow(), &mut self.buffers);
            let same = scores
                .iter()
                .enumerate()
                .all(|(output, &score)| score == rows.score(number, output));
            if !same {
                return Err(Error::SelfTest { check: GOLDEN_ROW, row: number });
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
        let mut crc = Crc32::new();
        for number in 0..GOLDEN_DIGEST_ROWS {
            let (model, mut workspace) = self.ready()?;
            let inputs = workspace.inputs.get_mut(..model.inputs()).unwrap_or_default();
            draw_golden(model, number, inputs);
            if serves::<P>(Needs::FEATURES) && model.outputs() == 0 {
                for_each_bank::<P>(model, |bank| {
                    let Workspace { inputs, block, wide, .. } = &mut workspace;
                    let inputs = inputs.get(..model.inputs()).unwrap_or_default();
                    generate::<P>(bank, inputs, block, wide, &mut crc, &mut Anew);
                });
            } else {
                for &score in score::<P>(self.model.borrow(), &mut self.buffers) {
                    crc = crc.bytes(&score.to_le_bytes());
                }
            }
        }
        Ok(crc.finish())
    }
}

/// Whether this build draws what the model was trained with. A function of its own for its
/// memory.
#[inline(never)]
fn check_generator(model: &Model<'_>) -> Result<(), Error> {
    let (expected, actual) = (model.check_word(), check_word(model.seed()));
    if expected == actual { Ok(()) } else { Err(Error::Generator { expected, actual }) }
}

fn length(what: &'static str, needed: usize, given: usize) -> Result<(), Error> {
    if needed == given { Ok(()) } else { Err(Error::Length { what, needed, given }) }
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
