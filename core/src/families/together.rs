//! Features of several rows at once: what is drawn is drawn once for all of them. For
//! hosts that compute the features of whole tables.

use super::projection::Dense;
use super::{generate, offset_of, sigmoid};
use crate::bank::{Bank, Family, Law};
use crate::buffers::Workspace;
use crate::generator::{Purpose, bank_draw};
use crate::input::Input;
use crate::model::Model;
use crate::numerics::{cos, logistic};
use crate::sink::Features;
use crate::steps::quantise;

/// Rows that share what is drawn.
pub(crate) const ROWS: usize = 64;
/// Inputs that are multiplied at a time: a number that the compiler knows, so that vector
/// units multiply and add in one instruction.
pub(crate) const PANEL: usize = 32;

/// Projections that are computed side by side.
const TOGETHER: usize = 8;

/// Projections of the rows.
type Projected = [i32; ROWS];

/// Whether [`together`] makes the features of `bank`: fourier, maxout and sigmoid features
/// of dense projections that each has for itself, where drawing costs most.
pub(crate) fn suits(bank: &Bank<'_>) -> bool {
    let family = match bank.family {
        Family::Fourier => cfg!(feature = "fourier"),
        Family::Maxout { shared, .. } => cfg!(feature = "maxout") && shared == 0,
        Family::Sigmoid => cfg!(feature = "sigmoid"),
        _ => false,
    };
    let dense = cfg!(feature = "dense") && !matches!(bank.law, Law::Hadamard);
    family && dense && !bank.is_grouped()
}

/// The features of whole rows: `rows` is n × inputs, `features` n × features. `lent`,
/// ⌈inputs/32⌉ for each of [`ROWS`] rows, holds them quantised, filled up with zeros.
pub(crate) fn rows<I: Input>(
    model: &Model<'_>,
    rows: &[I],
    lent: &mut [[i16; PANEL]],
    features: &mut [i16],
    workspace: &mut Workspace<'_>,
) {
    let (inputs, columns) = (model.inputs(), model.features());
    let panels = inputs.div_ceil(PANEL);
    let groups = features.chunks_mut(ROWS * columns);
    for (rows, features) in rows.chunks(ROWS * inputs).zip(groups) {
        for (row, q) in rows.chunks_exact(inputs).zip(lent.chunks_exact_mut(panels)) {
            let Some((q, padding)) = q.as_flattened_mut().split_at_mut_checked(inputs) else {
                return;
            };
            quantise(model, row, q);
            padding.fill(0);
        }
        let mut first = 0;
        for bank in model.banks() {
            let end = first + bank.columns() as usize;
            if suits(&bank) {
                together(&bank, lent, inputs, (features, columns, first));
            } else {
                let rows = features.chunks_exact_mut(columns);
                for (row, q) in rows.zip(lent.chunks_exact(panels)) {
                    if let (Some(mine), Some(q)) =
                        (row.get_mut(first..end), q.as_flattened().get(..inputs))
                    {
                        let Workspace { block, wide, .. } = &mut *workspace;
                        generate(&bank, q, block, wide, &mut Features(mine));
                    }
                }
            }
            first = end;
        }
    }
}

/// Makes the features of a bank for at most [`ROWS`] rows in `q`; feature `k` of row `r`
/// goes to place `r·columns + first + k` of `features`.
fn together(
    bank: &Bank<'_>,
    q: &[[i16; PANEL]],
    inputs: usize,
    (features, columns, first): (&mut [i16], usize, usize),
) {
    let projections = Projections { dense: Dense::new(bank, inputs), q, inputs };
    let mut made = Made { features, columns, first, made: [[0; ROWS]; TOGETHER], length: 0 };
    match bank.family {
        Family::Maxout { pool, .. } => {
            let pool = usize::from(pool);
            let mut most = [i32::MIN; ROWS];
            let members = |unit| unit * pool..(unit + 1) * pool;
            projections.each(bank.indices().flat_map(members), |k, z| {
                most.iter_mut().zip(z).for_each(|(most, &z)| *most = z.max(*most));
                if (k + 1) % pool == 0 {
                    made.push(most.map(|z| bank.scale.apply_saturating(z)));
                    most = [i32::MIN; ROWS];
                }
            });
        }
        Family::Sigmoid => projections.each(bank.indices(), |k, z| {
            let bias = sigmoid::bias(bank, k);
            // Behind the last row lies anything: it may overflow, and is not handed on.
            let with_bias = |z: i32| bank.scale.apply_saturating(z.wrapping_add(bias));
            made.push(z.map(|z| logistic(with_bias(z))));
        }),
        _ => {
            let draw = bank_draw(bank, Purpose::Offsets, 0);
            projections.each(bank.indices(), |k, z| {
                let offset = offset_of(draw, k);
                let phase = |z| bank.scale.apply_wrapping(z) as i16;
                made.push(z.map(|z| cos(phase(z).wrapping_add(offset))));
            });
        }
    }
    made.flush();
}

/// Features on their way to their rows: some at a time, as each row lies elsewhere.
struct Made<'f> {
    features: &'f mut [i16],
    columns: usize,
    /// Place of the next feature in a row.
    first: usize,
    made: [[i16; ROWS]; TOGETHER],
    length: usize,
}

impl Made<'_> {
    /// The next feature of every row.
    fn push(&mut self, feature: [i16; ROWS]) {
        if let Some(place) = self.made.get_mut(self.length) {
            *place = feature;
            self.length += 1;
        }
        if self.length == TOGETHER {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let end = self.first + self.length;
        for (r, row) in self.features.chunks_exact_mut(self.columns).enumerate() {
            let places = row.get_mut(self.first..end).unwrap_or_default();
            for (place, made) in places.iter_mut().zip(&self.made) {
                *place = made.get(r).copied().unwrap_or(0);
            }
        }
        self.first = end;
        self.length = 0;
    }
}

/// The dense projections of rows.
struct Projections<'p> {
    dense: Dense<'p>,
    q: &'p [[i16; PANEL]],
    inputs: usize,
}

impl Projections<'_> {
    /// Hands over the projections with these indices of every row, modulo 2^32, before the
    /// bank's scale. Some at a time: a panel of all rows stays in the first cache for them.
    fn each(
        &self,
        mut indices: impl Iterator<Item = usize>,
        mut projection: impl FnMut(usize, &Projected),
    ) {
        loop {
            let mut some = [0; TOGETHER];
            let mut count = 0;
            for (place, index) in some.iter_mut().zip(&mut indices) {
                *place = index;
                count += 1;
            }
            let Some(some @ [_, ..]) = some.get(..count) else { return };
            let mut z: [Projected; TOGETHER] = [[0; ROWS]; TOGETHER];
            let mut weights = [[0; PANEL]; TOGETHER];
            let panels = self.inputs.div_ceil(PANEL);
            for panel in 0..panels {
                // All of them before the first is used: memory that was just written in
                // pieces is slow to read as a vector.
                for (&k, weights) in some.iter().zip(&mut weights) {
                    self.dense.weights(k, PANEL * panel, weights);
                }
                for ((weights, z), _) in weights.iter().zip(&mut z).zip(some) {
                    for (z, row) in z.iter_mut().zip(self.q.chunks_exact(panels)) {
                        if let Some(q) = row.get(panel) {
                            *z = z.wrapping_add(dot(weights, q));
                        }
                    }
                }
            }
            some.iter().zip(&z).for_each(|(&k, z)| projection(k, z));
        }
    }
}

/// Σ w·q, modulo 2^32. A function of its own: inlined, compilers take the vectors apart.
#[inline(never)]
fn dot(weights: &[i16; PANEL], q: &[i16; PANEL]) -> i32 {
    let products = weights.iter().zip(q).map(|(&w, &q)| i32::from(w) * i32::from(q));
    products.fold(0, i32::wrapping_add)
}
