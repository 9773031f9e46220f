//! What a model will weigh before there is one: bytes, RAM of the buffers.

use koan::{Form, Model, Needs};

use super::sizes::columns_of;
use super::{code, cost};
use crate::blob::ModelSpec;
use crate::problem::Problem;
use crate::{Error, TrainOptions};
use koan_data::Task;

/// What does not depend on the number of features and their bits.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// Bytes of everything but the weights.
    fixed: usize,
    outputs: usize,
    /// Bytes of the core's buffers.
    pub ram: usize,
    spec: ModelSpec,
    /// What it needs of the runtime, whatever the bits of its weights.
    needs: Needs,
    /// The form of the code that counts as bytes.
    code: Option<Form>,
}

impl Footprint {
    /// Of models with the banks of `spec`, whatever their numbers of features; with the code
    /// that they need where it counts.
    ///
    /// # Errors
    /// A specification that the format does not allow.
    pub fn new(
        spec: &ModelSpec,
        problem: &Problem<'_>,
        options: &TrainOptions,
        code: Option<Form>,
    ) -> Result<Self, Error> {
        const SECTION: usize = 3;
        let blob = spec.encode()?;
        let (outputs, banks) = (problem.outputs, spec.banks.len());
        let schema = &problem.table.schema;
        let mut fixed =
            blob.len() + 5 + 4 * outputs + SECTION + options.blob().notes(schema)?.len();
        if banks * outputs > 1 {
            fixed += 2 * banks * outputs;
        }
        if problem.task() == Task::Classification {
            let names: usize = schema.classes.iter().map(|name| name.len() + 1).sum();
            fixed += SECTION + names - 1 + SECTION + 8;
        }
        let golden = options.golden_rows.min(problem.table.rows());
        if golden > 0 {
            fixed += SECTION + golden * 4 * (problem.table.inputs + outputs);
        }
        let model = Model::parse(&blob)?;
        let ram = model.buffer_sizes(Form::Fast).bytes() + 8 * outputs;
        Ok(Self { fixed, outputs, ram, spec: spec.clone(), needs: model.needs(), code })
    }

    /// Bytes of flash with banks of so many columns.
    #[must_use]
    pub fn bytes(&self, columns: &[usize], bits: u8) -> usize {
        self.with_code(columns, bits, false)
    }

    /// Bytes of the blob, and of the code where that counts.
    fn with_code(&self, columns: &[usize], bits: u8, kept: bool) -> usize {
        let row = |&columns: &usize| (columns * usize::from(bits)).div_ceil(8);
        let weights = self.outputs * columns.iter().map(row).sum::<usize>();
        self.fixed + weights + self.code(bits, kept)
    }

    /// Bytes of the code, where it counts; of models that keep features of a pool, or not.
    #[must_use]
    pub fn code(&self, bits: u8, kept: bool) -> usize {
        let lists = if kept { Needs::LISTS } else { Needs::NONE };
        let needs = self.needs.and(Needs::bits(bits)).and(lists);
        self.code.map_or(0, |form| code::code(needs, self.outputs, form))
    }

    /// Bytes and predicted instructions of a model whose first bank keeps `features` of a
    /// pool of so many, at random; other banks are whole.
    ///
    /// # Errors
    /// A list that the format does not allow.
    pub fn selected(
        &self,
        core: cost::Core,
        pool: u16,
        features: u16,
        bits: u8,
    ) -> Result<(usize, u64), Error> {
        let kept = crate::rice::kept_at_random(pool.into(), features.into());
        let list = crate::rice::list(&kept, 0)?.len();
        let mut spec = self.spec.clone();
        spec.banks[0].kept = Some(kept);
        let mut all: Vec<u16> = spec.banks.iter().map(|bank| bank.features).collect();
        all[0] = features;
        let shape = cost::Shape::of(&spec, &all, self.outputs, bits);
        let bytes = self.with_code(&columns_of(&spec, &all), bits, true);
        Ok((bytes + list, core.instructions(&shape)))
    }

    /// Predicted instructions of one prediction with banks of so many features.
    #[must_use]
    pub fn instructions(&self, core: cost::Core, features: &[u16], bits: u8) -> u64 {
        let shape = cost::Shape::of(&self.spec, features, self.outputs, bits);
        core.instructions(&shape)
    }
}
