//! Scores of many rows, to the bits of the core's [`Predictor`]: what is drawn is drawn once for
//! some of them.

use koan::steps::{Drawn, code_at, finish};
use koan::{Error, Family, Model, Predictor};
use koan_data::Table;

use crate::batch::{Batch, Number, ROWS};
use crate::blob::predictor;
use crate::heap::HeapBuffers;
use crate::parallel;

/// Fewer rows are run one by one.
const FEW: usize = 8;

/// Runs a model over rows.
pub struct Scorer<'m> {
    one: Predictor<'m, HeapBuffers>,
    /// Where that is faster.
    many: Option<Many<'m>>,
}

impl<'m> Scorer<'m> {
    /// Of a blob, for so many rows.
    ///
    /// # Errors
    /// What parsing or the generator check finds wrong; a model without outputs.
    pub fn new(blob: &'m [u8], rows: usize) -> Result<Self, Error> {
        let one = predictor(blob)?;
        let model = *one.model();
        if model.outputs() == 0 {
            return Err(Error::Unsuited { needs: "a model with outputs" });
        }
        let many = (rows >= FEW && pays(&model)).then(|| Many::new(model));
        Ok(Self { one, many })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model<'m> {
        self.one.model()
    }

    /// Calls with the number and the exact integer scores of each of `rows`, which lie one after
    /// the other.
    ///
    /// # Errors
    /// Rows of another length than the model's; what `each` returns.
    pub fn run<I: Number>(
        &mut self,
        rows: &[I],
        mut each: impl FnMut(usize, &[i32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let inputs = self.model().inputs();
        let over = rows.len() % inputs;
        if over > 0 {
            return Err(Error::Length { what: "row", needed: inputs, given: over });
        }
        for (block, rows) in rows.chunks(ROWS * inputs).enumerate() {
            match &mut self.many {
                Some(many) if rows.len() >= FEW * inputs => {
                    many.run(rows, |row, scores| each(ROWS * block + row, scores))?;
                }
                _ => {
                    for (row, numbers) in rows.chunks_exact(inputs).enumerate() {
                        each(ROWS * block + row, self.one.scores(numbers)?)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What is made of the scores of each row of a table: `width` numbers for each, on all threads.
///
/// # Errors
/// A bad blob, one without outputs, or a table with another number of inputs.
pub fn per_row<T: Copy + Default + Send>(
    blob: &[u8],
    table: &Table,
    width: usize,
    each: impl Fn(&Model<'_>, &[i32], &mut [T]) + Sync,
) -> Result<Vec<T>, Error> {
    let model = Model::parse(blob)?;
    let (needed, given) = (model.inputs(), table.inputs);
    if needed != given {
        return Err(Error::Length { what: "row", needed, given });
    }
    let mut all = vec![T::default(); table.rows() * width];
    let places = all.chunks_mut(ROWS * width.max(1)).zip(table.values.chunks(ROWS * table.inputs));
    let start = || Scorer::new(blob, table.rows());
    let done = parallel::each_with(places, start, |scorer, _, (places, rows)| {
        let scorer = scorer.as_mut().map_err(|error| *error)?;
        scorer.run(rows, |row, scores| {
            each(&model, scores, &mut places[row * width..][..width]);
            Ok(())
        })
    });
    done.into_iter().collect::<Result<(), _>>()?;
    Ok(all)
}

/// Whether rows are faster together: where there are dense projections, whose weights are drawn
/// anew for every row, or several outputs that read all features.
fn pays(model: &Model<'_>) -> bool {
    let dense = model.banks().any(|bank| Drawn::of(&bank, model.inputs()).is_some());
    let reads_all = |bank: koan::Bank<'_>| {
        !matches!(bank.family(), Family::Conv(_) | Family::Series(_))
            && bank.family().slot_bits().is_none()
    };
    dense || model.outputs() > 1 && model.banks().all(reads_all)
}

/// Features of some rows at once, and a head that is unpacked.
struct Many<'m> {
    model: Model<'m>,
    batch: Batch<'m>,
    features: Vec<i16>,
    banks: Vec<BankHead>,
    sums: Vec<[i32; 2]>,
}

impl<'m> Many<'m> {
    fn new(model: Model<'m>) -> Self {
        Self {
            model,
            batch: Batch::new(model),
            features: vec![0; ROWS * model.features()],
            banks: unpacked(&model),
            sums: vec![[0; 2]; model.outputs()],
        }
    }

    /// Scores of at most [`ROWS`] rows.
    fn run<I: Number>(
        &mut self,
        rows: &[I],
        mut each: impl FnMut(usize, &[i32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { model, batch, features, banks, sums } = self;
        let (inputs, columns) = (model.inputs(), model.features());
        let made = &mut features[..rows.len() / inputs * columns];
        batch.features(rows.chunks_exact(inputs), made);
        for (row, features) in made.chunks_exact(columns).enumerate() {
            for (output, sum) in sums.iter_mut().enumerate() {
                let mut rest = features;
                let mut total = 0i64;
                for bank in &*banks {
                    let (mine, others) = rest.split_at(bank.columns);
                    rest = others;
                    total = total.wrapping_add(bank.weighed(output, mine));
                }
                *sum = [total as i32, (total >> 32) as i32];
            }
            each(row, finish(model, sums))?;
        }
        Ok(())
    }
}

/// The weights of a bank, as integers, and their units.
struct BankHead {
    columns: usize,
    weights: Weights,
    multipliers: Vec<u16>,
}

/// Of each output its weights, one after the other.
enum Weights {
    /// Of at most 8 bits, for features of a byte: 65,535 products of at most 255·127 fit an i32.
    Narrow(Vec<i16>),
    Wide(Vec<i32>),
}

impl BankHead {
    /// Multiplier · Σ weight·φ of an output, modulo 2^64.
    fn weighed(&self, output: usize, features: &[i16]) -> i64 {
        let own = output * self.columns..(output + 1) * self.columns;
        let sum = match &self.weights {
            Weights::Narrow(weights) => i64::from(dot(&weights[own], features)),
            Weights::Wide(weights) => {
                let products = weights[own].iter().zip(features);
                products.fold(0i64, |sum, (&w, &phi)| sum + i64::from(w) * i64::from(phi))
            }
        };
        sum.wrapping_mul(self.multipliers[output].into())
    }
}

#[inline(never)]
fn dot(weights: &[i16], features: &[i16]) -> i32 {
    let products = weights.iter().zip(features).map(|(&w, &phi)| i32::from(w) * i32::from(phi));
    products.fold(0, i32::wrapping_add)
}

/// The heads of all banks.
fn unpacked(model: &Model<'_>) -> Vec<BankHead> {
    // What a code is read from may go three bytes on.
    let packed = [model.weight_bytes(), &[0; 3]].concat();
    let mut at = 0;
    let bank = |bank: koan::Bank<'_>| {
        let (width, columns) = (bank.width(), bank.columns() as usize);
        let mut weights = Vec::with_capacity(columns * model.outputs());
        for _ in 0..model.outputs() {
            let row = &packed[at..];
            weights.extend((0..columns).map(|k| width.value(code_at(width.bits(), row, k))));
            at += bank.row_bytes();
        }
        let narrow = width.bits() <= 8 && bank.family() != Family::Linear;
        let weights = match narrow {
            true => Weights::Narrow(weights.into_iter().map(|weight| weight as i16).collect()),
            false => Weights::Wide(weights),
        };
        let multipliers = (0..model.outputs())
            .map(|output| model.multiplier(bank.index().into(), output))
            .collect();
        BankHead { columns, weights, multipliers }
    };
    model.banks().map(bank).collect()
}
