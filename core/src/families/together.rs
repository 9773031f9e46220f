//! Features of several rows at once: what is drawn is drawn once for all of them. For
//! hosts that compute the features of whole tables.

use super::projection::Dense;
use super::{generate, offset_of};
use crate::bank::{Bank, Family, Law};
use crate::buffers::Workspace;
use crate::generator::{Purpose, bank_draw};
use crate::input::Input;
use crate::model::Model;
use crate::numerics::cos;
use crate::sink::Features;
use crate::steps::quantise;

/// Rows that share what is drawn.
pub(crate) const ROWS: usize = 16;
/// Inputs that are multiplied at a time: a number that the compiler knows, so that vector
/// units multiply and add in one instruction.
pub(crate) const PANEL: usize = 32;

/// Projections of the rows.
type Projected = [i32; ROWS];

/// Whether [`together`] makes the features of `bank`: fourier and maxout features of
/// dense projections that each has for itself, where drawing costs most.
pub(crate) fn suits(bank: &Bank<'_>) -> bool {
    let family = match bank.family {
        Family::Fourier => cfg!(feature = "fourier"),
        Family::Maxout { shared, .. } => cfg!(feature = "maxout") && shared == 0,
        _ => false,
    };
    let dense = cfg!(feature = "dense") && !matches!(bank.law, Law::Hadamard);
    family && dense && !bank.is_grouped() && !bank.is_kept()
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
    let projections =
        Projections { dense: Dense::new(bank, inputs), q, panels: inputs.div_ceil(PANEL) };
    for k in 0..usize::from(bank.features) {
        let made = match bank.family {
            Family::Maxout { pool, .. } => {
                let pool = usize::from(pool);
                maxout(bank, &projections, k * pool..(k + 1) * pool)
            }
            _ => fourier(bank, &projections, k),
        };
        let places = features.chunks_mut(columns).filter_map(|row| row.get_mut(first + k));
        places.zip(made).for_each(|(place, feature)| *place = feature);
    }
}

fn fourier(bank: &Bank<'_>, projections: &Projections<'_>, k: usize) -> [i16; ROWS] {
    let offset = offset_of(bank_draw(bank, Purpose::Offsets, 0), k);
    let phase = |z| bank.scale.apply_wrapping(z) as i16;
    projections.of(k).map(|z| cos(phase(z).wrapping_add(offset)))
}

fn maxout(
    bank: &Bank<'_>,
    projections: &Projections<'_>,
    pool: core::ops::Range<usize>,
) -> [i16; ROWS] {
    let mut most = [i32::MIN; ROWS];
    for k in pool {
        for (most, z) in most.iter_mut().zip(projections.of(k)) {
            *most = z.max(*most);
        }
    }
    most.map(|z| bank.scale.apply_saturating(z))
}

/// The dense projections of rows.
struct Projections<'p> {
    dense: Dense<'p>,
    q: &'p [[i16; PANEL]],
    /// Of a row.
    panels: usize,
}

impl Projections<'_> {
    /// Projection `k` of every row, modulo 2^32, before the bank's scale.
    fn of(&self, k: usize) -> Projected {
        let mut z: Projected = [0; ROWS];
        for panel in 0..self.panels {
            let weights = self.dense.weights(k, PANEL * panel);
            for (z, row) in z.iter_mut().zip(self.q.chunks_exact(self.panels)) {
                if let Some(q) = row.get(panel) {
                    *z = z.wrapping_add(dot(&weights, q));
                }
            }
        }
        z
    }
}

/// Σ w·q, modulo 2^32. A function of its own: inlined, compilers take the vectors apart.
#[inline(never)]
fn dot(weights: &[i16; PANEL], q: &[i16; PANEL]) -> i32 {
    let products = weights.iter().zip(q).map(|(&w, &q)| i32::from(w) * i32::from(q));
    products.fold(0, i32::wrapping_add)
}
