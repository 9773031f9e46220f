//! Which inputs have usual values that an `int16_t` cannot hold, as the input maps tell: values
//! beyond it, and values that differ by little more than one.

use std::collections::BTreeSet;

use koan::{InputMap, Model};
use koan_data::Schema;
use koan_trainer::internal::beyond::around;
use koan_trainer::internal::row;

use crate::warning::Warning;

/// Inputs that are named.
const NAMED: usize = 4;

/// About an eighth of a standard deviation, in q, of fourier features of frequency 1 for one
/// input, and less of other families; it falls with the root of the columns: the inputs of a text
/// column, of which one is 1, spread no farther together than another column does. Maps do not
/// tell how far values spread, only where they are fine enough.
const NEAR: f64 = 1024.0;

/// [`NEAR`] for a model of so many columns.
fn near(model: &Model<'_>, schema: Option<&Schema>) -> f64 {
    let places = schema.map(row::places).unwrap_or_default();
    let values = places.iter().filter(|place| place.value.is_some());
    let texts: BTreeSet<usize> = values.clone().map(|place| place.number).collect();
    // Rows may be windows of samples, of which each has all places.
    let samples = model.inputs() / places.len().max(1);
    let columns = model.inputs() - samples * (values.count() - texts.len());
    NEAR / (columns as f64).sqrt()
}

/// The inputs, rising, whose usual values are not all in an `int16_t`, with the centre of those
/// that training met.
pub fn beyond<'m>(
    model: &'m Model<'m>,
    schema: Option<&Schema>,
) -> impl Iterator<Item = (usize, f64)> + use<'m> {
    let near = near(model, schema);
    (0..model.inputs()).filter_map(move |input| {
        let [low, centre, high] = around(model.input_map(input), near)?;
        let fits = low >= f64::from(i16::MIN) && high <= f64::from(i16::MAX);
        (!fits).then_some((input, centre))
    })
}

/// Times [`NEAR`] that a step of one may be; about half of a standard deviation, as that.
const COARSE: f64 = 4.0;

/// The inputs, rising, whose usual values differ by so little that they are fractions, or few whole
/// numbers, which maps do not tell. Not those that are 1 for one value of a column, else 0.
pub fn coarse<'m>(
    model: &'m Model<'m>,
    schema: Option<&'m Schema>,
) -> impl Iterator<Item = usize> + 'm {
    let most = COARSE * near(model, schema);
    let places = schema.map(row::places).unwrap_or_default();
    (0..model.inputs()).filter(move |&input| {
        let place = places.get(input % places.len().max(1));
        place.is_none_or(|place| place.value.is_none())
            && step_of_one(model.input_map(input)).is_some_and(|step| step > most)
    })
}

/// How far q goes for a step of one at the centre; none for an input that is off.
fn step_of_one(map: InputMap) -> Option<f64> {
    let [_, centre, _] = around(map, 0.0)?;
    let slope = if map.log() { 1.0 / (1.0 + centre.abs()) } else { 1.0 };
    Some(f64::from(map.mult()) * 2f64.powi(i32::from(map.shift())) * slope / 32768.0)
}

/// Whether rows of float are the better example.
pub fn wants_floats(model: &Model<'_>, schema: Option<&Schema>) -> bool {
    beyond(model, schema).next().is_some() || coarse(model, schema).next().is_some()
}

/// What is to be said of the inputs of [`beyond`] and [`coarse`], if there are any: `call` is the
/// function that takes rows of float.
pub fn told(model: &Model<'_>, schema: Option<&Schema>, call: &str) -> Vec<Warning> {
    let beyond =
        beyond(model, schema).map(|(input, centre)| (input, format!(" (around {centre:.0})")));
    let beyond = named(schema, beyond);
    let coarse = named(schema, coarse(model, schema).map(|input| (input, String::new())));
    let call = || call.to_owned();
    let beyond = beyond.map(|inputs| Warning::Beyond { inputs, call: call() });
    let coarse = coarse.map(|inputs| Warning::Coarse { inputs, call: call() });
    beyond.into_iter().chain(coarse).collect()
}

/// The names of inputs, each with what is said of it; none without inputs.
fn named(schema: Option<&Schema>, inputs: impl Iterator<Item = (usize, String)>) -> Option<String> {
    let places = schema.map(row::places).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for (input, more) in inputs {
        // Rows may be windows of samples, of which each has all places.
        let name = match places.get(input % places.len().max(1)) {
            Some(place) => place.column.clone(),
            None => format!("input {}", input + 1),
        };
        if !names.contains(&name) {
            told.push(format!("{name}{more}"));
            names.push(name);
        }
    }
    let more = told.len().saturating_sub(NAMED);
    told.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!told.is_empty()).then(|| format!("{}{more}", told.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::TableBuilder;
    use koan_trainer::{FamilyName, MapKind, Progress, TrainOptions, train};

    #[test]
    fn maps_tell_where_values_are() {
        // (u · 2 − 200) · 64 / 2^15, and the same of a logarithm.
        let near = |log| around(InputMap::new(200, 1, log, 64).unwrap(), 1.0).unwrap();
        assert_eq!(near(false), [-156.0, 100.0, 356.0]);
        let [low, _, high] = near(true);
        assert!(low < -1e60 && high > 1e60);
        assert_eq!(around(InputMap::OFF, 1.0), None);
    }

    #[test]
    fn maps_tell_how_far_a_step_of_one_goes() {
        let step = |offset, log| step_of_one(InputMap::new(offset, 1, log, 64).unwrap());
        assert_eq!(step(200, false), Some(64.0 * 2.0 / 32768.0));
        // The logarithm of 1 + x rises by the half where x is 1.
        let at_one = 32768.0 * step(1, true).unwrap() / (64.0 * 2.0);
        assert!((at_one - (-0.5f64).exp()).abs() < 1e-9, "{at_one}");
        assert_eq!(step_of_one(InputMap::OFF), None);
    }

    /// The many inputs of a text column leave the numbers of another one as far apart as they are.
    #[test]
    fn inputs_of_texts_make_whole_numbers_no_fractions() {
        let towns: Vec<String> = (0..600).map(|row| format!("town {}", row * 7 % 90)).collect();
        let towns: Vec<&str> = towns.iter().map(String::as_str).collect();
        let hours: Vec<i64> = (0..600).map(|row| 1 + row * 31 % 97).collect();
        let late: Vec<i64> = hours.iter().map(|&hours| i64::from(hours > 50)).collect();
        let table = TableBuilder::new(600).column("town", &towns[..]).column("hours", &hours[..]);
        let table = table.classes("late", &late[..]).build().unwrap();
        let options = TrainOptions {
            map: Some(MapKind::PerInput),
            families: vec![FamilyName::Stump],
            ..TrainOptions::default()
        };
        let trained = train(&table, None, &options, &Progress::none()).unwrap();
        let model = Model::parse(&trained.blob).unwrap();
        assert!(model.inputs() > 90);
        let told = told(&model, Some(&table.schema), "predict_f32");
        assert!(told.is_empty(), "{told:?}");
        assert!(!wants_floats(&model, Some(&table.schema)));
        // As if each input were a column.
        assert!(coarse(&model, None).count() > 0);
    }
}
