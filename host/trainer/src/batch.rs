//! Features of several rows at once: what is drawn is drawn once for all of them.

use koan::steps::{Drawn, features_of_bank, quantise};
use koan::{Any, Buffers, Form, Model, Workspace};

use crate::heap::HeapBuffers;

/// Rows that share what is drawn.
pub(crate) const ROWS: usize = 64;

/// Inputs that are multiplied at a time: a number that the compiler knows, so that vector
/// units multiply and add in one instruction.
const PANEL: usize = 32;

/// Projections that are computed side by side.
const SIDE_BY_SIDE: usize = 8;

/// Projections of the rows.
type Projected = [i32; ROWS];

/// Makes features of a few rows at once.
pub(crate) struct Batch<'m> {
    model: Model<'m>,
    memory: HeapBuffers,
    /// The rows as integers, each filled up with zeros to whole panels.
    quantised: Vec<[i16; PANEL]>,
}

impl<'m> Batch<'m> {
    pub(crate) fn new(model: Model<'m>) -> Self {
        let quantised = vec![[0; PANEL]; ROWS * model.inputs().div_ceil(PANEL)];
        Self { model, memory: HeapBuffers::new(model.buffer_sizes(Form::Fast)), quantised }
    }

    /// Features of at most [`ROWS`] rows of as many numbers as the model has inputs, row after
    /// row.
    pub(crate) fn features<'r>(
        &mut self,
        rows: impl Iterator<Item = &'r [f32]>,
        features: &mut [i16],
    ) {
        let Self { model, memory, quantised } = self;
        let (inputs, columns) = (model.inputs(), model.features());
        let panels = inputs.div_ceil(PANEL);
        for (row, q) in rows.zip(quantised.chunks_exact_mut(panels)) {
            quantise::<Any, f32>(model, row, &mut q.as_flattened_mut()[..inputs]);
        }
        let mut first = 0;
        for bank in model.banks() {
            let end = first + bank.columns() as usize;
            if let Some(drawn) = Drawn::of(&bank, inputs) {
                let made = Made { features, columns, first, made: Vec::new() };
                of_bank(&drawn, bank.indices(), quantised, inputs, made);
            } else {
                let Workspace { block, wide, .. } = memory.workspace();
                let rows = features.chunks_exact_mut(columns);
                for (row, q) in rows.zip(quantised.chunks_exact(panels)) {
                    let q = &q.as_flattened()[..inputs];
                    features_of_bank::<Any>(&bank, q, block, wide, &mut row[first..end]);
                }
            }
            first = end;
        }
    }
}

/// Makes the features of a bank, of each the largest of its projections.
fn of_bank(
    drawn: &Drawn<'_>,
    indices: impl Iterator<Item = usize>,
    q: &[[i16; PANEL]],
    inputs: usize,
    mut made: Made<'_>,
) {
    let pool = drawn.pool();
    let mut most = [i32::MIN; ROWS];
    let members = indices.flat_map(|index| index * pool..(index + 1) * pool);
    each(drawn, members, q, inputs, |number, z| {
        most.iter_mut().zip(z).for_each(|(most, &z)| *most = z.max(*most));
        if (number + 1).is_multiple_of(pool) {
            made.push(drawn.features(number / pool, &most));
            most = [i32::MIN; ROWS];
        }
    });
    made.flush();
}

/// Features on their way to their rows: some at a time, as each row lies elsewhere.
struct Made<'f> {
    features: &'f mut [i16],
    columns: usize,
    /// Place of the next feature in a row.
    first: usize,
    made: Vec<[i8; ROWS]>,
}

impl Made<'_> {
    /// The next feature of every row.
    fn push(&mut self, feature: [i8; ROWS]) {
        self.made.push(feature);
        if self.made.len() == SIDE_BY_SIDE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for (r, row) in self.features.chunks_exact_mut(self.columns).enumerate() {
            let places = row[self.first..].iter_mut();
            places.zip(&self.made).for_each(|(place, made)| *place = made[r].into());
        }
        self.first += self.made.len();
        self.made.clear();
    }
}

/// Hands over the projections with these numbers of every row, modulo 2^32, before the bank's
/// scale. Some at a time: a panel of all rows stays in the first cache for them.
fn each(
    drawn: &Drawn<'_>,
    mut numbers: impl Iterator<Item = usize>,
    q: &[[i16; PANEL]],
    inputs: usize,
    mut projection: impl FnMut(usize, &Projected),
) {
    let panels = inputs.div_ceil(PANEL);
    loop {
        let mut some = [0; SIDE_BY_SIDE];
        let mut count = 0;
        for (place, number) in some.iter_mut().zip(&mut numbers) {
            *place = number;
            count += 1;
        }
        let some = &some[..count];
        if some.is_empty() {
            return;
        }
        let mut z: [Projected; SIDE_BY_SIDE] = [[0; ROWS]; SIDE_BY_SIDE];
        let mut weights = [[0; PANEL]; SIDE_BY_SIDE];
        for panel in 0..panels {
            // All of them before the first is used: memory that was just written in pieces is
            // slow to read as a vector.
            for (&number, weights) in some.iter().zip(&mut weights) {
                drawn.weights(number, PANEL * panel, weights);
            }
            for ((weights, z), _) in weights.iter().zip(&mut z).zip(some) {
                for (z, row) in z.iter_mut().zip(q.chunks_exact(panels)) {
                    *z = z.wrapping_add(dot(weights, &row[panel]));
                }
            }
        }
        some.iter().zip(&z).for_each(|(&number, z)| projection(number, z));
    }
}

/// Σ w·q, modulo 2^32. A function of its own: inlined, compilers take the vectors apart.
#[inline(never)]
fn dot(weights: &[i16; PANEL], q: &[i16; PANEL]) -> i32 {
    let products = weights.iter().zip(q).map(|(&w, &q)| i32::from(w) * i32::from(q));
    products.fold(0, i32::wrapping_add)
}
