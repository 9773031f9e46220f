//! Training.
use koan_data::{ReadOptions, SplitSize, read_bytes, split_table, Missing};
use koan_trainer::{Progress, TrainOptions, train as train_model, FamilyName, train_usual, tune};
use wasm_bindgen::prelude::*;

/// Trains.
#[wasm_bindgen]
pub fn train(name: &str, bytes: Vec<u8>, k: u16) -> Result<Vec<u8>, JsError> {
    let table = read_bytes(name, bytes, &ReadOptions { missing: Missing::Impute, ..Default::default() })?;
    let (a, b) = split_table(&table, SplitSize::TestFraction(0.2), 1)?;
    let (a, b) = (table.select(&a), table.select(&b));
    let mut options = TrainOptions { seed: 1, ..Default::default() };
    if k == 0 {
        return Ok(train_usual(&a, Some(&b), &options, &tune::FAMILIES, 2048, &Progress::none())?.0.blob);
    }
    options.families = vec![FamilyName::Fourier];
    options.features = vec![k];
    Ok(train_model(&a, Some(&b), &options, &Progress::none())?.blob)
}
