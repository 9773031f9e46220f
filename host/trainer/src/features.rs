//! Feature matrices, computed by the core itself: what is trained is what runs.

use faer::Mat;
use koan::{Error, Family, Model, Predictor};

use crate::batch::{Batch, ROWS};
use crate::blob::{BankSpec, ModelSpec};
use crate::heap::HeapBuffers;
use crate::panels;
use crate::parallel;
use koan_data::Table;

/// Rows of a block: features are made and consumed block by block, so memory
/// does not grow with the number of rows.
pub const BLOCK_ROWS: usize = 1024;

/// What an integer feature of a family is multiplied by before anything is fitted. Those
/// of the family linear have 16 bits, the others 8: in one scale all are shrunk alike. A
/// power of two, so that no sum of integers is rounded.
#[must_use]
pub fn unit(family: Family) -> f64 {
    if family == Family::Linear { 1.0 / 256.0 } else { 1.0 }
}

/// The features of a model without a head.
#[derive(Clone, Debug)]
pub struct FeatureMap {
    blob: Vec<u8>,
    units: Vec<f64>,
    codes: usize,
}

/// Features of a block of rows.
#[derive(Clone, Debug, Default)]
pub struct FeatureBlock {
    values: Vec<i16>,
    units: Vec<f64>,
}

impl FeatureBlock {
    /// The core's integers, K for each row, row after row.
    #[must_use]
    pub fn values(&self) -> &[i16] {
        &self.values
    }

    /// The block as a K × rows matrix, each feature in its [`unit()`].
    #[must_use]
    pub fn matrix(&self) -> Mat<f64> {
        let features = self.units.len();
        let rows = self.values.len() / features.max(1);
        let mut matrix = Mat::zeros(features, rows);
        parallel::each(panels::columns(matrix.as_mut(), panels::WIDTH), |number, panel| {
            let values = self.values.chunks_exact(features.max(1)).skip(number * panels::WIDTH);
            for (column, values) in panel.col_iter_mut().zip(values) {
                let places = column.iter_mut().zip(values).zip(&self.units);
                places.for_each(|((place, &value), unit)| *place = f64::from(value) * unit);
            }
        });
        matrix
    }
}

impl FeatureMap {
    /// The feature map of `spec`; its head and optional parts are left out.
    ///
    /// # Errors
    /// What is wrong with the specification.
    pub fn new(spec: &ModelSpec) -> Result<Self, Error> {
        let bare =
            ModelSpec::features(spec.seed, spec.inputs, spec.maps.clone(), spec.banks.clone());
        let blob = bare.encode()?;
        let model = Model::parse(&blob)?;
        let codes = model.codes();
        let units = |bank: &BankSpec| vec![unit(bank.family); bank.columns()];
        let units = spec.banks.iter().flat_map(units).collect();
        Ok(Self { blob, units, codes })
    }

    /// Number of features, K.
    #[must_use]
    pub fn features(&self) -> usize {
        self.units.len()
    }

    /// The [`unit()`] of each feature.
    #[must_use]
    pub fn units(&self) -> &[f64] {
        &self.units
    }

    /// Entries of a row's code: maxout units and grids of bins.
    #[must_use]
    pub fn codes(&self) -> usize {
        self.codes
    }

    fn predictor(&self) -> Result<Predictor<'_, HeapBuffers>, Error> {
        crate::blob::predictor(&self.blob)
    }

    /// Features of the given rows of `table`, into `block`, on all threads.
    ///
    /// # Errors
    /// A table with another number of inputs.
    pub fn block(
        &self,
        table: &Table,
        rows: &[usize],
        block: &mut FeatureBlock,
    ) -> Result<(), Error> {
        block.units.clone_from(&self.units);
        block.values.resize(self.features() * rows.len(), 0);
        self.make(table, rows, &mut block.values)
    }

    /// Features of all given rows: rows × [`FeatureMap::features`], row-major.
    ///
    /// # Errors
    /// A table with another number of inputs.
    pub fn features_of(&self, table: &Table, rows: &[usize]) -> Result<Vec<i16>, Error> {
        let mut features = vec![0i16; self.features() * rows.len()];
        self.make(table, rows, &mut features)?;
        Ok(features)
    }

    /// Features of the given rows, row after row, into `features`, on all threads.
    fn make(&self, table: &Table, rows: &[usize], features: &mut [i16]) -> Result<(), Error> {
        let model = *self.predictor()?.model();
        let (needed, given) = (model.inputs(), table.inputs);
        if needed != given {
            return Err(Error::Length { what: "row", needed, given });
        }
        let places = features.chunks_mut(ROWS * self.features()).zip(rows.chunks(ROWS));
        let start = || Batch::new(model);
        parallel::each_with(places, start, |batch, _, (places, rows)| {
            batch.features(rows.iter().map(|&row| table.row(row)), places);
        });
        Ok(())
    }

    /// Codes of all given rows: rows × [`FeatureMap::codes`], row-major.
    ///
    /// # Errors
    /// A table with another number of inputs.
    pub fn codes_of(&self, table: &Table, rows: &[usize]) -> Result<Vec<u16>, Error> {
        let mut codes = vec![0u16; self.codes * rows.len()];
        let places = codes.chunks_mut(ROWS * self.codes).zip(rows.chunks(ROWS));
        let start = || self.predictor();
        let done = parallel::each_with(places, start, |predictor, _, (places, rows)| {
            let predictor = predictor.as_mut().map_err(|error| *error)?;
            let mut each = places.chunks_exact_mut(self.codes).zip(rows);
            each.try_for_each(|(place, &row)| predictor.codes(table.row(row), place))
        });
        done.into_iter().collect::<Result<(), _>>()?;
        Ok(codes)
    }
}
