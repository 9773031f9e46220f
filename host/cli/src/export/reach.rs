//! Which inputs have usual values that an `int16_t` cannot hold, as the input maps tell.

use koan::{InputMap, Model};
use koan_data::Schema;
use koan_trainer::internal::row;

/// Inputs that are named.
const NAMED: usize = 4;

/// About an eighth of a standard deviation, in q, of fourier features of frequency 1 for one
/// input, and less of other families; it falls with the root of the inputs. Maps do not tell how
/// far values spread, only where they are fine enough.
const NEAR: f64 = 1024.0;

/// The inputs, rising, whose usual values are not all in an `int16_t`, with the centre of those
/// that training met.
pub fn beyond<'m>(model: &'m Model<'m>) -> impl Iterator<Item = (usize, f64)> + 'm {
    let near = NEAR / (model.inputs() as f64).sqrt();
    (0..model.inputs()).filter_map(move |input| {
        let [low, centre, high] = around(model.input_map(input), near)?;
        let fits = low >= f64::from(i16::MIN) && high <= f64::from(i16::MAX);
        (!fits).then_some((input, centre))
    })
}

/// What the map takes to q = −near, 0 and near; none for an input that is off.
fn around(map: InputMap, near: f64) -> Option<[f64; 3]> {
    if map.mult() == 0 {
        return None;
    }
    let unit = 2f64.powi(i32::from(map.shift()));
    let value = |u: f64| if map.log() { u.signum() * u.abs().exp_m1() } else { u };
    let centre = f64::from(map.offset()) / unit;
    let step = near * 32768.0 / (f64::from(map.mult()) * unit);
    Some([centre - step, centre, centre + step].map(value))
}

/// A line on the inputs of [`beyond`], if there are any: what to call instead of the function for
/// `int16_t`.
pub fn told(model: &Model<'_>, schema: Option<&Schema>, call: &str) -> Option<String> {
    let places = schema.map(row::places).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for (input, centre) in beyond(model) {
        // Rows may be windows of samples, of which each has all places.
        let name = match places.get(input % places.len().max(1)) {
            Some(place) => place.column.clone(),
            None => format!("input {}", input + 1),
        };
        if !names.contains(&name) {
            told.push(format!("{name} (around {centre:.0})"));
            names.push(name);
        }
    }
    let more = told.len().saturating_sub(NAMED);
    told.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!told.is_empty()).then(|| {
        format!(
            "warning: usual values of {}{more} are beyond -32768 to 32767, what rows of int16_t \
             carry: call koan_{call}_f32 with rows of float",
            told.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_tell_where_values_are() {
        // (u · 2 − 200) · 64 / 2^15, and the same of a logarithm.
        let near = |log| around(InputMap::new(200, 1, log, 64).unwrap(), 1.0).unwrap();
        assert_eq!(near(false), [-156.0, 100.0, 356.0]);
        let [low, _, high] = near(true);
        assert!(low < -1e60 && high > 1e60);
        assert_eq!(around(InputMap::OFF, 1.0), None);
    }
}
