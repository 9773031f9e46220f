//! Features of several rows at once: what is drawn is drawn once for all of them.

use koan::steps::{Drawn, features_of_bank, quantise};
use koan::{Any, Buffers, Form, Input, InputMap, Model, Workspace};

use crate::heap::HeapBuffers;

/// Rows that share what is drawn.
pub const ROWS: usize = 64;

/// Inputs that are multiplied at a time: a number that the compiler knows, so that vector
/// units multiply and add in one instruction.
const PANEL: usize = 32;

/// Projections that are computed side by side.
const SIDE_BY_SIDE: usize = 8;

/// Projections of the rows.
type Projected = [i32; ROWS];

/// Makes features of a few rows at once.
pub struct Batch<'m> {
    model: Model<'m>,
    memory: HeapBuffers,
    mapped: Mapped,
    /// The rows as integers, each filled up with zeros to whole panels.
    quantised: Vec<[i16; PANEL]>,
}

impl<'m> Batch<'m> {
    /// Of a model whose generator is this build's.
    #[must_use]
    pub fn new(model: Model<'m>) -> Self {
        let quantised = vec![[0; PANEL]; ROWS * model.inputs().div_ceil(PANEL)];
        let memory = HeapBuffers::new(model.buffer_sizes(Form::Fast));
        Self { model, memory, mapped: Mapped::new(&model), quantised }
    }

    /// Features of at most [`ROWS`] rows of as many numbers as the model has inputs, row after
    /// row.
    pub fn features<'r, I: Number + 'r>(
        &mut self,
        rows: impl Iterator<Item = &'r [I]>,
        features: &mut [i16],
    ) {
        let Self { model, memory, mapped, quantised } = self;
        let (inputs, columns) = (model.inputs(), model.features());
        let panels = inputs.div_ceil(PANEL);
        let mut filled = 0;
        for (row, q) in rows.zip(quantised.chunks_exact_mut(panels)) {
            mapped.quantise(model, row, &mut q.as_flattened_mut()[..inputs]);
            filled += panels;
        }
        let quantised = &quantised[..filled];
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

/// A type that rows may have on hosts.
pub trait Number: Input + Sync + Into<f64> {
    /// Whether all numbers of a row are whole and within an i16, and then these.
    fn whole(_row: &[Self], _whole: &mut [i16]) -> bool {
        false
    }
}

impl Number for f32 {
    fn whole(row: &[Self], whole: &mut [i16]) -> bool {
        let mut all = true;
        for (whole, &value) in whole.iter_mut().zip(row) {
            *whole = value as i16;
            all &= f32::from(*whole) == value;
        }
        all
    }
}

impl Number for i16 {}
impl Number for u8 {}

/// A model's input maps, read once for many rows.
struct Mapped {
    /// That of each input; none where all have one.
    maps: Vec<InputMap>,
    /// A row of whole numbers.
    whole: Vec<i16>,
}

impl Mapped {
    fn new(model: &Model<'_>) -> Self {
        let inputs = model.inputs();
        let each = if model.map_period() == 1 { 0 } else { inputs };
        Self {
            maps: (0..each).map(|input| model.input_map(input)).collect(),
            whole: vec![0; inputs],
        }
    }

    /// As the core's: a number has the same bits in every type, and whole ones take few steps.
    fn quantise<I: Number>(&mut self, model: &Model<'_>, row: &[I], q: &mut [i16]) {
        let Self { maps, whole } = self;
        if maps.is_empty() {
            return match I::whole(row, whole) {
                true => quantise::<Any, i16>(model, whole, q),
                false => quantise::<Any, I>(model, row, q),
            };
        }
        let limit = i32::from(model.input_limit());
        for ((q, value), map) in q.iter_mut().zip(row).zip(maps) {
            *q = value.quantise(map, limit, true);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::{BankSpec, MapSpec, ModelSpec};
    use koan::numerics::Scale;
    use koan::{Family, Law};

    /// Rows of whole numbers, and of others, through maps of every kind.
    #[test]
    fn rows_become_the_integers_that_the_core_makes_of_them() {
        let map = |mult| InputMap::new(3 << 9, 8, mult % 2 == 1, mult).unwrap();
        let kinds = [
            MapSpec::Shared(map(40)),
            MapSpec::Shared(map(41)),
            MapSpec::GainPerInput(map(200), vec![0, 7, 200, 100, 1]),
            MapSpec::PerInput([2, 3, 0, 77, 255].map(map).to_vec()),
            MapSpec::PerChannel(vec![map(9); 5]),
        ];
        let rows: [[f32; 5]; 5] = [
            [1.0, -7.0, 0.0, -0.0, 300.0],
            [1.5, -7.0, 1e-40, -0.0, 4e9],
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -32768.0, 32767.0],
            [-32768.0, 32767.0, 32768.0, 2.0, 3.0],
            [-32768.0, 32767.0, 255.0, 2.0, 3.0],
        ];
        for maps in kinds {
            let bank = BankSpec {
                family: Family::Linear,
                law: Law::None,
                features: 5,
                scale: Scale::ONE,
                groups: Vec::new(),
                kept: None,
            };
            let blob = ModelSpec::features(1, 5, maps, vec![bank]).encode().unwrap();
            let model = Model::parse(&blob).unwrap();
            let mut mapped = Mapped::new(&model);
            for row in rows {
                let (mut found, mut expected) = ([1; 5], [2; 5]);
                mapped.quantise(&model, &row, &mut found);
                quantise::<Any, f32>(&model, &row, &mut expected);
                assert_eq!(found, expected, "{row:?}");
            }
        }
    }
}
