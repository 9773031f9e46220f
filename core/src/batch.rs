//! Features of several rows at once: what is drawn is drawn once for all of them. For
//! hosts that compute the features of whole tables.

use core::num::NonZeroUsize;

use crate::buffers::Workspace;
use crate::families::dense::Dense;
use crate::families::units::{bias_of, scaled};
use crate::families::{Anew, Offsets, generate};
use crate::format::bank::Bank;
use crate::format::family::{Family, Law};
use crate::format::model::Model;
use crate::generator::{Purpose, bank_draw};
use crate::input::Input;
use crate::needs::{Any, Profile};
use crate::numerics::{cosine, sigmoid};
use crate::sink::Features;
use crate::steps::quantise;

/// Rows that share what is drawn.
pub const ROWS: usize = 64;
const ALL: NonZeroUsize = NonZeroUsize::new(ROWS).unwrap();
/// Inputs that are multiplied at a time: a number that the compiler knows, so that vector
/// units multiply and add in one instruction.
pub const PANEL: usize = 32;

/// Projections that are computed side by side.
const SIDE_BY_SIDE: usize = 8;

/// Projections of the rows.
type Projected = [i32; ROWS];

/// Whether the features of `bank` are made for many rows at once: fourier, maxout and
/// sigmoid features of dense projections that each has for itself, where drawing costs most.
pub(crate) fn suits(bank: &Bank<'_>) -> bool {
    let family = match bank.family {
        Family::Fourier | Family::Sigmoid => true,
        Family::Maxout { shared, .. } => shared == 0,
        _ => false,
    };
    family && !matches!(bank.law, Law::Hadamard) && !bank.is_grouped()
}

/// The features of whole rows: `rows` is n × inputs, `features` n × features. `scratch`,
/// ⌈inputs/32⌉ for each of [`ROWS`] rows, holds them quantised, filled up with zeros.
pub(crate) fn rows<P: Profile, I: Input>(
    model: &Model<'_>,
    rows: &[I],
    scratch: &mut [[i16; PANEL]],
    features: &mut [i16],
    workspace: &mut Workspace<'_>,
) {
    let (inputs, columns) = (model.inputs(), model.features());
    // Not zero, and the compiler is to know it: chunks of nothing would be a panic.
    let (Some(inputs), Some(columns), Some(panels)) = (
        NonZeroUsize::new(inputs),
        NonZeroUsize::new(columns),
        NonZeroUsize::new(inputs.div_ceil(PANEL)),
    ) else {
        return;
    };
    let (of_inputs, of_features) = (inputs.saturating_mul(ALL), columns.saturating_mul(ALL));
    let (of_inputs, of_features) = (of_inputs.get(), of_features.get());
    let (inputs, columns, panels) = (inputs.get(), columns.get(), panels.get());
    for (rows, features) in rows.chunks(of_inputs).zip(features.chunks_mut(of_features)) {
        for (row, q) in rows.chunks_exact(inputs).zip(scratch.chunks_exact_mut(panels)) {
            let Some((q, padding)) = q.as_flattened_mut().split_at_mut_checked(inputs) else {
                return;
            };
            quantise::<P, I>(model, row, q);
            padding.fill(0);
        }
        let mut first = 0;
        for bank in model.banks() {
            let end = first + bank.columns() as usize;
            if suits(&bank) {
                of_bank(&bank, scratch, inputs, (features, columns, first));
            } else {
                let rows = features.chunks_exact_mut(columns);
                for (row, q) in rows.zip(scratch.chunks_exact(panels)) {
                    if let (Some(mine), Some(q)) =
                        (row.get_mut(first..end), q.as_flattened().get(..inputs))
                    {
                        let Workspace { block, wide, .. } = &mut *workspace;
                        generate::<P>(&bank, q, block, wide, &mut Features(mine), &mut Anew);
                    }
                }
            }
            first = end;
        }
    }
}

/// Makes the features of a bank for at most [`ROWS`] rows in `q`; feature `k` of row `r`
/// goes to place `r·columns + first + k` of `features`.
fn of_bank(
    bank: &Bank<'_>,
    q: &[[i16; PANEL]],
    inputs: usize,
    (features, columns, first): (&mut [i16], usize, usize),
) {
    let projections = Projections { dense: Dense::new(bank, inputs), q, inputs };
    let mut made = Made { features, columns, first, made: [[0; ROWS]; SIDE_BY_SIDE], length: 0 };
    match bank.family {
        Family::Maxout { pool, .. } => {
            let pool = usize::from(pool).max(1);
            let mut most = [i32::MIN; ROWS];
            let members = |unit: usize| unit * pool..(unit + 1) * pool;
            projections.each(bank.indices().flat_map(members), |k, z| {
                most.iter_mut().zip(z).for_each(|(most, &z)| *most = z.max(*most));
                if (k + 1).is_multiple_of(pool) {
                    made.push(most.map(|z| scaled(bank, z)));
                    most = [i32::MIN; ROWS];
                }
            });
        }
        Family::Sigmoid => projections.each(bank.indices(), |k, z| {
            let bias = bias_of::<Any>(bank, k);
            // Behind the last row lies anything: it may overflow, and is not handed on.
            made.push(z.map(|z| sigmoid(scaled(bank, z.wrapping_add(bias)))));
        }),
        _ => {
            let draw = bank_draw(bank.seed, bank.index, Purpose::Offsets, 0);
            projections.each(bank.indices(), |k, z| {
                let offset = Offsets::from(draw, k).add_next(0);
                let angle = |z| ((bank.scale.apply_wrapping(z) as u32) << 16).wrapping_add(offset);
                made.push(z.map(|z| cosine(angle(z), false)));
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
    made: [[i8; ROWS]; SIDE_BY_SIDE],
    length: usize,
}

impl Made<'_> {
    /// The next feature of every row.
    fn push(&mut self, feature: [i8; ROWS]) {
        if let Some(place) = self.made.get_mut(self.length) {
            *place = feature;
            self.length += 1;
        }
        if self.length == SIDE_BY_SIDE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let end = self.first + self.length;
        for (r, row) in self.features.chunks_exact_mut(self.columns.max(1)).enumerate() {
            let places = row.get_mut(self.first..end).unwrap_or_default();
            for (place, made) in places.iter_mut().zip(&self.made) {
                *place = made.get(r).copied().unwrap_or(0).into();
            }
        }
        self.first = end;
        self.length = 0;
    }
}

/// The dense projections of rows.
struct Projections<'p> {
    dense: Dense<'p, Any>,
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
            let mut some = [0; SIDE_BY_SIDE];
            let mut count = 0;
            for (place, index) in some.iter_mut().zip(&mut indices) {
                *place = index;
                count += 1;
            }
            let Some(some @ [_, ..]) = some.get(..count) else { return };
            let mut z: [Projected; SIDE_BY_SIDE] = [[0; ROWS]; SIDE_BY_SIDE];
            let mut weights = [[0; PANEL]; SIDE_BY_SIDE];
            let panels = self.inputs.div_ceil(PANEL);
            for panel in 0..panels {
                // All of them before the first is used: memory that was just written in
                // pieces is slow to read as a vector.
                for (&k, weights) in some.iter().zip(&mut weights) {
                    self.dense.weights(k, PANEL * panel, weights);
                }
                for ((weights, z), _) in weights.iter().zip(&mut z).zip(some) {
                    for (z, row) in z.iter_mut().zip(self.q.chunks_exact(panels.max(1))) {
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
