//! Writing blobs: the counterpart of `koan::Model::parse`.

use koan::format::{MAGIC, VERSION, field, flag, section};
use koan::{
    Calibration, Conv, Error, Family, Form, Group, InputMap, Law, Model, Predictor, Task, Width,
    generator, numerics::Scale, option,
};

use koan_data::{DataError, Schema};

use crate::heap::HeapBuffers;
use crate::rice;

/// A bank to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct BankSpec {
    /// Family, with its parameters.
    pub family: Family,
    /// Law of all inputs; [`Law::None`] with `groups`.
    pub law: Law,
    /// Features; grids of the family `bin`, ferns of `fern`.
    pub features: u16,
    /// Scale of the bank; 1 with `groups`.
    pub scale: Scale,
    /// Groups of inputs with laws and scales of their own; empty for one law.
    pub groups: Vec<Group>,
    /// Indices of the kept features, rising, as many as `features`; `None` for a bank
    /// that has all. Any below [`koan::MAX_INDEX`].
    pub kept: Option<Vec<u32>>,
}

impl BankSpec {
    /// Features that the head needs weights for.
    #[must_use]
    pub fn columns(&self) -> usize {
        columns(self.family, self.features)
    }

    /// The index that feature `column` of the bank has in a list.
    #[must_use]
    pub fn index_of(&self, column: usize) -> u32 {
        match (&self.kept, self.family) {
            (Some(kept), _) => kept[column],
            (None, Family::Conv(conv)) => Blocks::of(conv, self.features).index_of(column) as u32,
            _ => column as u32,
        }
    }

    /// The columns of the features that the bank has with `features` of them as well.
    #[must_use]
    pub fn first(&self, features: u16) -> Vec<usize> {
        let all = 0..columns(self.family, features);
        let (Family::Conv(conv), None) = (self.family, &self.kept) else { return all.collect() };
        let (fewer, mine) = (Blocks::of(conv, features), Blocks::of(conv, self.features));
        all.map(|column| mine.column_of(fewer.index_of(column))).collect()
    }
}

/// The order of a convolution's features: by block of filters, then by cell, then by
/// filter. A list of kept features counts all filters of a block; without one the last
/// block may have fewer.
struct Blocks {
    rows: usize,
    cells: usize,
    filters: usize,
}

impl Blocks {
    fn of(conv: Conv, features: u16) -> Self {
        let cells = usize::from(conv.cells());
        Self { rows: conv.transform.into(), cells, filters: usize::from(features) / cells }
    }

    /// Filters of a block.
    fn filters(&self, block: usize) -> usize {
        (self.filters - block * self.rows).min(self.rows)
    }

    /// The index of a feature in a list.
    fn index_of(&self, column: usize) -> usize {
        let block = column / (self.rows * self.cells);
        let (within, filters) = (column % (self.rows * self.cells), self.filters(block));
        (block * self.cells + within / filters) * self.rows + within % filters
    }

    /// The column of a feature by its index in a list.
    fn column_of(&self, index: usize) -> usize {
        let block = index / (self.rows * self.cells);
        let cell = index / self.rows % self.cells;
        block * self.rows * self.cells + cell * self.filters(block) + index % self.rows
    }
}

/// Columns of a bank with so many features: a grid of bins has one for each slot, a fern one
/// for each leaf.
#[must_use]
pub fn columns(family: Family, features: u16) -> usize {
    usize::from(features) << family.slot_bits().unwrap_or(0)
}

/// The most features up to `count` that a bank without a list can have, at least one:
/// whole filters of convolutions.
#[must_use]
pub fn whole(family: Family, count: u16) -> u16 {
    let each = if let Family::Conv(conv) = family { conv.cells() } else { 1 };
    (count / each).max(1) * each
}

/// The weights of one bank: codes, output by output, in 0..2^bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankWeights {
    /// How they are stored.
    pub width: Width,
    /// `codes[output][column]`.
    pub codes: Vec<Vec<u32>>,
    /// The step of each output's weights.
    pub multipliers: Vec<u16>,
}

/// The trained part of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadSpec {
    /// Real value of a score of 1.
    pub scale: f32,
    /// Binary places that accumulators are divided by, at most 40.
    pub shift: u8,
    /// Bias of each output, in units of the score.
    pub bias: Vec<i32>,
    /// Weights, bank by bank.
    pub weights: Vec<BankWeights>,
}

/// Input maps: one for all inputs, one for each channel, or one for each input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapSpec {
    /// One map for all inputs.
    Shared(InputMap),
    /// One map, but with a gain for each input instead of its own.
    GainPerInput(InputMap, Vec<u8>),
    /// A map for each channel, 2 to 255: the inputs go through them in turn.
    PerChannel(Vec<InputMap>),
    /// A map for each input.
    PerInput(Vec<InputMap>),
}

/// Everything that a blob holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// Seed of all random draws.
    pub seed: u64,
    /// What the outputs are; [`Task::Features`] when there is no head.
    pub task: Task,
    /// Numbers in a row.
    pub inputs: u16,
    /// From numbers to integers.
    pub maps: MapSpec,
    /// The banks, at least one.
    pub banks: Vec<BankSpec>,
    /// The head; `None` for a model that is features only.
    pub head: Option<HeadSpec>,
    /// Class names; none if empty. Line feeds in a name become spaces.
    pub class_names: Vec<String>,
    /// Calibration of the probabilities.
    pub calibration: Option<Calibration>,
    /// JSON notes; none if empty.
    pub notes: String,
    /// Rows of real inputs whose exact scores the blob carries.
    pub golden_rows: Vec<Vec<f32>>,
}

impl ModelSpec {
    /// A model without a head or any optional part.
    #[must_use]
    pub fn features(seed: u64, inputs: u16, maps: MapSpec, banks: Vec<BankSpec>) -> Self {
        Self {
            seed,
            task: Task::Features,
            inputs,
            maps,
            banks,
            head: None,
            class_names: Vec::new(),
            calibration: None,
            notes: String::new(),
            golden_rows: Vec::new(),
        }
    }

    /// The feature part of a blob's model, with its lists of kept features.
    #[must_use]
    pub fn features_of(model: &Model<'_>) -> Self {
        let all = || (0..model.map_period()).map(|i| model.input_map(i)).collect();
        let maps = if model.map_per_input() {
            MapSpec::PerInput(all())
        } else if model.map_per_channel() {
            MapSpec::PerChannel(all())
        } else if model.gain_per_input() {
            let gains = (0..model.inputs()).map(|i| model.input_map(i).mult()).collect();
            MapSpec::GainPerInput(model.input_map(0), gains)
        } else {
            MapSpec::Shared(model.input_map(0))
        };
        let banks = model
            .banks()
            .map(|bank| BankSpec {
                family: bank.family(),
                law: bank.law(),
                features: bank.features(),
                scale: bank.scale(),
                // Of a bank without groups they would be one that holds all inputs.
                groups: if bank.is_grouped() { bank.groups().collect() } else { Vec::new() },
                kept: bank.is_kept().then(|| bank.indices().map(|index| index as u32).collect()),
            })
            .collect();
        Self::features(model.seed(), model.inputs() as u16, maps, banks)
    }

    /// Writes the blob, checks it, and fills in digest and golden scores by
    /// running it.
    ///
    /// # Errors
    /// What `Model::parse` finds wrong with the specification.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut blob = self.body()?;
        for (tag, bytes) in self.sections() {
            push_section(&mut blob, tag, &bytes)?;
        }
        if !self.golden_rows.is_empty() {
            let scored = self.golden_section(&blob)?;
            push_section(&mut blob, section::GOLDEN_ROWS, &scored)?;
        }
        let digest = predictor(&sealed(&blob, 0))?.golden_digest()?;
        let blob = sealed(&blob, digest);
        Model::parse(&blob)?;
        Ok(blob)
    }

    /// Everything in front of the sections.
    fn body(&self) -> Result<Vec<u8>, Error> {
        let outputs = self.head.as_ref().map_or(0, |head| head.bias.len());
        let mut flags = 0;
        if self.task == Task::Classification {
            flags |= flag::CLASSIFICATION;
        }
        let maps: &[InputMap] = match &self.maps {
            MapSpec::Shared(map) => std::slice::from_ref(map),
            MapSpec::GainPerInput(map, _) => {
                flags |= flag::GAIN_PER_INPUT;
                std::slice::from_ref(map)
            }
            MapSpec::PerChannel(maps) => {
                flags |= flag::MAP_PER_CHANNEL;
                maps
            }
            MapSpec::PerInput(maps) => {
                flags |= flag::MAP_PER_INPUT;
                maps
            }
        };
        let mut blob = Vec::new();
        blob.extend(MAGIC);
        blob.push(VERSION);
        blob.push(flags);
        blob.extend(self.inputs.to_le_bytes());
        blob.push(outputs as u8);
        debug_assert_eq!(blob.len(), field::SEED);
        blob.extend(self.seed.to_le_bytes());
        blob.extend(generator::check_word(self.seed).to_le_bytes());
        if let MapSpec::PerChannel(maps) = &self.maps {
            blob.push(maps.len() as u8);
        }
        for map in maps {
            blob.extend(map.to_bytes());
        }
        if let MapSpec::GainPerInput(_, gains) = &self.maps {
            // The first takes the place of the map's own.
            blob.pop();
            blob.extend(gains);
        }
        for (index, bank) in self.banks.iter().enumerate() {
            let width = self.head.as_ref().map_or(0, |head| head.weights[index].width.code());
            push_bank(&mut blob, bank, width, index + 1 < self.banks.len())?;
        }
        if let Some(head) = &self.head {
            push_head(&mut blob, head);
        }
        Ok(blob)
    }

    fn sections(&self) -> Vec<(u8, Vec<u8>)> {
        let mut sections = Vec::new();
        if !self.class_names.is_empty() {
            let names: Vec<_> =
                self.class_names.iter().map(|name| name.replace('\n', " ")).collect();
            sections.push((section::CLASS_NAMES, names.join("\n").into_bytes()));
        }
        if let Some(calibration) = self.calibration {
            let mut bytes = calibration.slope.to_le_bytes().to_vec();
            bytes.extend(calibration.intercept.to_le_bytes());
            sections.push((section::CALIBRATION, bytes));
        }
        if !self.notes.is_empty() {
            sections.push((section::NOTES, self.notes.clone().into_bytes()));
        }
        sections
    }

    /// Golden rows with the scores that the model in `body` gives them.
    fn golden_section(&self, body: &[u8]) -> Result<Vec<u8>, Error> {
        let blob = sealed(body, 0);
        let mut predictor = predictor(&blob)?;
        let mut bytes = Vec::new();
        for row in &self.golden_rows {
            bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
            bytes.extend(predictor.scores(row)?.iter().flat_map(|score| score.to_le_bytes()));
        }
        Ok(bytes)
    }
}

/// The names of the classes; of a class without one its number.
#[must_use]
pub fn classes(model: &Model<'_>) -> Vec<String> {
    let name = |class| model.class_name(class).map_or_else(|| class.to_string(), str::to_owned);
    (0..model.classes()).map(name).collect()
}

/// How raw columns become the model's inputs, from its notes.
///
/// # Errors
/// Notes that do not say it.
pub fn schema(model: &Model<'_>) -> Result<Schema, DataError> {
    Schema::of_notes(model.notes(), model.inputs(), classes(model))
}

/// A predictor over `blob` with buffers on the heap.
///
/// # Errors
/// What parsing or the generator check finds wrong.
pub fn predictor(blob: &[u8]) -> Result<Predictor<'_, HeapBuffers>, Error> {
    let model = Model::parse(blob)?;
    Predictor::new(model, HeapBuffers::new(model.buffer_sizes(Form::Fast)))
}

/// Body, digest and checksum.
fn sealed(body: &[u8], digest: u32) -> Vec<u8> {
    let mut blob = body.to_vec();
    blob.extend(digest.to_le_bytes());
    let crc = crc32fast::hash(&blob);
    blob.extend(crc.to_le_bytes());
    blob
}

fn push_section(blob: &mut Vec<u8>, tag: u8, bytes: &[u8]) -> Result<(), Error> {
    let length = u16::try_from(bytes.len()).map_err(|_| Error::Length {
        what: "section",
        needed: usize::from(u16::MAX),
        given: bytes.len(),
    })?;
    blob.push(tag);
    blob.extend(length.to_le_bytes());
    blob.extend(bytes);
    Ok(())
}

fn push_bank(blob: &mut Vec<u8>, bank: &BankSpec, width: u8, more: bool) -> Result<(), Error> {
    let mut options = width;
    if !bank.groups.is_empty() {
        options |= option::GROUPS;
    }
    if more {
        options |= option::MORE;
    }
    if bank.kept.is_some() {
        options |= option::KEPT;
    }
    blob.push(bank.family.code() | bank.law.code() << 4);
    blob.push(options);
    blob.extend(bank.features.to_le_bytes());
    blob.extend([bank.scale.mult(), bank.scale.shift()]);
    match bank.family {
        Family::Bin { slot_bits: bits } | Family::Fern { depth: bits } => blob.push(bits),
        Family::Maxout { pool, shared } => {
            blob.push(pool);
            blob.extend(shared.to_le_bytes());
        }
        Family::Conv(conv) => blob.extend(conv.to_bytes()),
        Family::Series(series) => blob.extend(series.to_bytes()),
        _ => {}
    }
    if !bank.groups.is_empty() {
        blob.push(bank.groups.len() as u8);
        for group in &bank.groups {
            blob.extend(group.inputs.to_le_bytes());
            blob.extend([group.law.code(), group.scale.mult(), group.scale.shift()]);
        }
    }
    if let Some(kept) = &bank.kept {
        blob.extend(rice::list(kept, blob.len())?);
    }
    Ok(())
}

fn push_head(blob: &mut Vec<u8>, head: &HeadSpec) {
    blob.extend(head.scale.to_le_bytes());
    blob.push(head.shift);
    blob.extend(head.bias.iter().flat_map(|bias| bias.to_le_bytes()));
    if head.weights.len() * head.bias.len() > 1 {
        for weights in &head.weights {
            blob.extend(weights.multipliers.iter().flat_map(|m| m.to_le_bytes()));
        }
    }
    for weights in &head.weights {
        for codes in &weights.codes {
            pack(blob, weights.width, codes);
        }
    }
}

/// Packs codes, the lowest bits first, and pads to whole bytes.
fn pack(blob: &mut Vec<u8>, width: Width, codes: &[u32]) {
    let mut word = 0u64;
    let mut bits = 0;
    for &code in codes {
        word |= u64::from(code) << bits;
        bits += width.bits();
        while bits >= 8 {
            blob.push(word as u8);
            word >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        blob.push(word as u8);
    }
}
