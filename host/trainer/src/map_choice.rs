//! Which input maps may suit a table.

use crate::normalise::{Kind, MAPPED_INPUTS, Normaliser, one_line_hides_most};
use koan_data::Table;

/// Inputs up to which maps of their own are tried where one line for all would hide most of them;
/// of fewer they always are.
const MOST_MAPPED: usize = 2048;

/// Inputs up to which a gain for each, where they want one, takes no bytes worth saving.
const MANY_GAINS: usize = 40;

/// The kinds of map to compare, cheapest in bytes first.
pub(crate) fn kinds(table: &Table, rows: &[usize]) -> Vec<Kind> {
    let mut kinds = vec![Kind::of_many(table)];
    // So many gains may be too many for a small model.
    if kinds == [Kind::GainPerInput] && table.inputs > MANY_GAINS {
        kinds.insert(0, Kind::Shared);
    }
    if !may_map_each(table) {
        return kinds;
    }
    if table.inputs > 1 {
        kinds.push(Kind::PerInput);
    }
    if Normaliser::fit(table, rows, Kind::PerInputLog).logged_inputs() > 0 {
        kinds.push(Kind::PerInputLog);
    }
    kinds
}

/// Those for features of a given number. The bytes that gains save are not asked for there, and are
/// no room for more features: lines of their own take their place where these are few enough to be
/// always tried.
pub(crate) fn of_given(table: &Table, rows: &[usize]) -> Vec<Kind> {
    let mut kinds = kinds(table, rows);
    if table.inputs <= MAPPED_INPUTS && kinds.contains(&Kind::PerInput) {
        kinds.retain(|&kind| kind != Kind::GainPerInput);
        if kinds[0] == Kind::PerInput {
            kinds.insert(0, Kind::Shared);
        }
    }
    kinds
}

/// Whether inputs may have maps of their own. Those of windows may not: a device that runs a model
/// over a stream maps each sample once, as it comes.
pub(crate) fn may_map_each(table: &Table) -> bool {
    table.schema.recordings.window.is_none() && different(table)
}

/// What suits the linear baseline, whose map is stored nowhere.
pub(crate) fn of_linear(table: &Table) -> Kind {
    if different(table) { Kind::PerInput } else { Kind::of_many(table) }
}

/// Whether maps of their own may pay for inputs.
fn different(table: &Table) -> bool {
    let inputs = table.inputs;
    inputs <= MAPPED_INPUTS || (inputs <= MOST_MAPPED && one_line_hides_most(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::MapSpec;
    use crate::{FamilyName, Progress, TrainOptions, train};
    use koan_data::TableBuilder;

    /// Rows of one of 200 texts, which tells the class, and numbers that spread much farther.
    fn texts_beside_numbers() -> Table {
        let names: Vec<String> = (0..200).map(|number| format!("station {number}")).collect();
        let of = |row: usize| row * 7 % 200;
        let texts: Vec<&str> = (0..2000).map(|row| names[of(row)].as_str()).collect();
        let class: Vec<i64> = (0..2000).map(|row| (of(row) * 13 % 5) as i64).collect();
        let far: Vec<f64> = (0..2000).map(|row| f64::from(row * 7919 % 1013) * 1e5).collect();
        let near: Vec<f64> = (0..2000).map(|row| f64::from(row * 31 % 97)).collect();
        let table = TableBuilder::new(2000).column("station", &texts[..]);
        let table = table.column("far", &far[..]).column("near", &near[..]);
        table.classes("class", &class[..]).build().unwrap()
    }

    #[test]
    fn many_categories_beside_numbers_get_maps_of_their_own() {
        let table = texts_beside_numbers();
        let rows: Vec<usize> = (0..table.rows()).collect();
        let found = kinds(&table, &rows);
        assert_eq!(found, [Kind::Shared, Kind::GainPerInput, Kind::PerInput]);
        assert_eq!(of_given(&table, &rows), found);
        let options = TrainOptions { families: vec![FamilyName::Linear], ..Default::default() };
        let error = |map: Option<Kind>| {
            let options = TrainOptions { map, ..options.clone() };
            train(&table, Some(&table), &options, &Progress::none()).unwrap().report.error
        };
        assert!(error(None) < 0.01);
        assert!(error(Some(Kind::GainPerInput)) < 0.01);
        assert!(error(Some(Kind::Shared)) > 0.3);
        let line = Normaliser::fit(&table, &rows, Kind::GainPerInput);
        assert!(matches!(line.maps(100.0), MapSpec::GainPerInput(..)));
    }

    #[test]
    fn gains_take_the_place_of_one_line_that_hides_most() {
        let currents: Vec<f64> = (0..50).map(|row| f64::from(row * 7919 % 101)).collect();
        let [milli, whole, micro] =
            [1.0, 1e-3, 1e3].map(|unit| currents.iter().map(|it| unit * it).collect::<Vec<f64>>());
        let class: Vec<i64> = (0..50).map(|row| row % 2).collect();
        let table = TableBuilder::new(50).column("mA", &milli[..]).column("A", &whole[..]);
        let table = table.column("uA", &micro[..]).classes("y", &class[..]).build().unwrap();
        let rows: Vec<usize> = (0..50).collect();
        assert_eq!(kinds(&table, &rows), [Kind::GainPerInput, Kind::PerInput]);
        assert_eq!(of_given(&table, &rows), [Kind::Shared, Kind::PerInput]);
    }

    #[test]
    fn wide_rows_of_one_kind_share_a_line() {
        let mut table = koan_data::digits::table();
        table.inputs = 256;
        table.values = table.values.iter().flat_map(|&value| [value; 4]).collect();
        table.schema.image = None;
        let rows: Vec<usize> = (0..table.rows()).collect();
        assert_eq!(kinds(&table, &rows), [Kind::Shared]);
        assert!(!may_map_each(&table) && of_linear(&table) == Kind::Shared);
    }
}
