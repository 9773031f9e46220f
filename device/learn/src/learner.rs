//! Weights that are learned beside a model.

use koan::{Error, Model, Task};

/// Bits that a margin has in units of the weights: enough that a step is exact to some eight
/// bits, and that dozens of steps fit 16.
const MARGIN_BITS: u32 = 22;

/// How a [`Learner`] learns.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How far the right score is to be above all others, above 0, in units of the score. Scores
    /// are trained towards 1 in real units: 1 / [`Model::score_scale`].
    pub margin: i32,
    /// A step takes off 2^-`slowness` of what is missing, at most 15.
    pub slowness: u8,
}

/// Changes to the scores of a classification, by passive-aggressive steps: K. Crammer, O.
/// Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, *Online Passive-Aggressive Algorithms*,
/// Journal of Machine Learning Research 7 (2006), section 7, with the two classes of the largest
/// loss. Steps are normalised by the row's own length: nothing depends on how rows are scaled.
///
/// `NUMBERS` describe a row; `OUTPUTS` are the model's and further ones, for classes that it does
/// not know. A score of such a class is −margin until it has learned something.
///
/// Features have much in common over all rows, which says nothing about classes: a learner that
/// is centred on their mean learns a new class from far fewer rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learner<const NUMBERS: usize, const OUTPUTS: usize> {
    pub(crate) weights: [[i16; NUMBERS]; OUTPUTS],
    /// Taken off the numbers of every row.
    pub(crate) centre: [i16; NUMBERS],
    /// Outputs of the model.
    known: usize,
    pub(crate) pace: Pace,
    /// The checksum of the model.
    pub(crate) base: u32,
    scores: [i32; OUTPUTS],
}

impl<const NUMBERS: usize, const OUTPUTS: usize> Learner<NUMBERS, OUTPUTS> {
    /// Nothing learned yet.
    ///
    /// # Errors
    /// [`Error::Unsuited`] for a model that is no classification, for one of two classes, which has
    /// a single score, and for a pace that none is; [`Error::Buffer`] when `OUTPUTS` are fewer than
    /// the model's.
    pub fn new(model: &Model<'_>, pace: Pace) -> Result<Self, Error> {
        let known = model.outputs();
        if model.task() != Task::Classification {
            return Err(Error::Unsuited { needs: "a classification" });
        }
        if known < 2 {
            let needs = "a score for each class: a model of two classes has a single one, and cannot \
                         learn";
            return Err(Error::Unsuited { needs });
        }
        if known > OUTPUTS {
            return Err(Error::Buffer { buffer: "OUTPUTS", needed: known, given: OUTPUTS });
        }
        if pace.margin <= 0 || pace.slowness > 15 {
            return Err(Error::Unsuited {
                needs: "a margin above 0, and a slowness of at most 15",
            });
        }
        let base = model.blob().last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let (weights, centre, scores) = ([[0; NUMBERS]; OUTPUTS], [0; NUMBERS], [0; OUTPUTS]);
        Ok(Self { weights, centre, known, pace, base, scores })
    }

    /// Forgets all that was learned, and from now on takes this off the numbers of every row:
    /// the [`Mean`] of rows that the device has seen.
    pub fn centre_on(&mut self, mean: &[i16; NUMBERS]) {
        self.undo();
        self.centre = *mean;
    }

    /// Places that a margin is shifted by to have [`MARGIN_BITS`]; to the left below 0.
    fn shift(&self) -> i32 {
        32 - self.pace.margin.leading_zeros() as i32 - MARGIN_BITS as i32
    }

    /// The scores of a row with what was learned. `base`: the model's scores.
    ///
    /// # Errors
    /// [`Error::Length`] for either slice.
    pub fn scores(&mut self, base: &[i32], numbers: &[i16]) -> Result<&[i32], Error> {
        length("scores", self.known, base.len())?;
        length("numbers", NUMBERS, numbers.len())?;
        let shift = self.shift();
        let unknown = core::iter::repeat(-self.pace.margin);
        let base = base.iter().copied().chain(unknown);
        for ((score, weights), base) in self.scores.iter_mut().zip(&self.weights).zip(base) {
            // 2^16 products of 33 bits.
            let products =
                weights.iter().zip(around(numbers, &self.centre)).map(|(&w, x)| i64::from(w) * x);
            let sum = scaled(products.sum(), shift) + i64::from(base);
            *score = sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        }
        Ok(&self.scores)
    }

    /// Learns that a row is of `class`; whether something was missing. `base` and `numbers`
    /// as for [`Learner::scores`].
    ///
    /// # Errors
    /// [`Error::Length`] for a slice; [`Error::Unsuited`] for a class that there is not.
    pub fn learn(&mut self, base: &[i32], numbers: &[i16], class: usize) -> Result<bool, Error> {
        if class >= OUTPUTS {
            return Err(Error::Unsuited { needs: "a class below the learner's outputs" });
        }
        self.scores(base, numbers)?;
        let others = self.scores.iter().enumerate().filter(|&(other, _)| other != class);
        let best = others.max_by_key(|&(other, &score)| (score, core::cmp::Reverse(other)));
        let right = self.scores.get(class);
        let (Some((rival, &best)), Some(&right)) = (best, right) else { return Ok(false) };
        let missing = i64::from(self.pace.margin) - (i64::from(right) - i64::from(best));
        // Below 2^51 for 2^16 numbers.
        let squares = around(numbers, &self.centre).map(|x| x * x).sum::<i64>();
        if missing <= 0 || squares == 0 {
            return Ok(false);
        }
        // A step of t·x and -t·x changes the difference by 2·t·|x|²; 16 places for t. What is
        // missing has 34 bits at most, and 22 in units of the weights if it is one margin.
        let missing = scaled(missing, -self.shift()).min(1 << 40);
        let step = (missing << 16 >> 1 >> self.pace.slowness) / squares;
        for (row, sign) in [(class, 1), (rival, -1)] {
            let weights = self.weights.get_mut(row).into_iter().flatten();
            for (weight, x) in weights.zip(around(numbers, &self.centre)) {
                let change = step.saturating_mul(sign * x).saturating_add(1 << 15) >> 16;
                let changed = i64::from(*weight).saturating_add(change);
                *weight = changed.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            }
        }
        Ok(true)
    }

    /// Forgets all that was learned, but not the centre.
    pub fn undo(&mut self) {
        self.weights = [[0; NUMBERS]; OUTPUTS];
    }
}

/// The mean of what describes rows, labelled or not: what a [`Learner`] centres on.
#[derive(Clone, Debug)]
pub struct Mean<const NUMBERS: usize> {
    sums: [i32; NUMBERS],
    rows: u16,
}

impl<const NUMBERS: usize> Mean<NUMBERS> {
    /// No rows yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { sums: [0; NUMBERS], rows: 0 }
    }

    /// Takes a row into the mean; those after the 65,535th are passed over.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn see(&mut self, numbers: &[i16]) -> Result<(), Error> {
        length("numbers", NUMBERS, numbers.len())?;
        if self.rows < u16::MAX {
            self.rows += 1;
            self.sums.iter_mut().zip(numbers).for_each(|(sum, &x)| *sum += i32::from(x));
        }
        Ok(())
    }

    /// The mean, rounded towards 0; zeros if there were no rows.
    #[must_use]
    pub fn mean(&self) -> [i16; NUMBERS] {
        self.sums.map(|sum| (sum / i32::from(self.rows.max(1))) as i16)
    }
}

impl<const NUMBERS: usize> Default for Mean<NUMBERS> {
    fn default() -> Self {
        Self::new()
    }
}

/// Numbers less those of the centre.
fn around(numbers: &[i16], centre: &[i16]) -> impl Iterator<Item = i64> {
    numbers.iter().zip(centre).map(|(&x, &c)| i64::from(x) - i64::from(c))
}

/// Times 2^shift, rounded down; within i64 for what there is here.
fn scaled(number: i64, shift: i32) -> i64 {
    if shift >= 0 { number << shift.min(24) } else { number >> (-shift).min(63) }
}

fn length(what: &'static str, needed: usize, given: usize) -> Result<(), Error> {
    if needed == given { Ok(()) } else { Err(Error::Length { what, needed, given }) }
}
