//! The passes before the sums: what the columns are, and a random sample of the
//! training rows that everything is chosen on.

use koan_data::stream::{Groups, NumberedRows, Targets, impute, infer_all};
use koan_data::{DataError, DataWarning, Division, Schema, Shape, Table, Target};
use serde::{Deserialize, Serialize};
use wyhash::final3::wyrng;

use super::{Roles, StreamOptions};
use crate::Error;
use crate::progress::Progress;

/// What the first passes find; all that later ones need.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Sampled {
    /// The schema as JSON, and what is not in it.
    schema: String,
    inputs: u64,
    classes: Vec<String>,
    image: Option<Shape>,
    warnings: Vec<DataWarning>,
    /// Whether the first line is a header, and the delimiter of a single file.
    pub header: Option<bool>,
    pub delimiter: Option<u8>,
    /// Rows of the files, to train on or not.
    pub rows: u64,
    /// Rows to train on.
    pub train_rows: u64,
    /// Rows to train on of each class; empty if they were not counted.
    pub class_rows: Vec<u64>,
    /// Numbers of the sample's rows, ascending.
    pub numbers: Vec<u64>,
    values: Vec<f32>,
    labels: Vec<u32>,
    targets: Vec<f32>,
    groups: Option<Vec<u32>>,
}

impl Sampled {
    /// The sample as a table.
    pub fn table(&self) -> Result<Table, Error> {
        let schema: Schema = serde_json::from_str(&self.schema)
            .map_err(|error| Error::Impossible(format!("the checkpoint's schema: {error}")))?;
        let schema = schema.restored(self.inputs as usize, self.classes.clone())?;
        let warnings = self.warnings.clone();
        let schema = Schema { image: self.image, warnings, ..schema };
        let target = match schema.classes.is_empty() {
            true => Target::Values(self.targets.clone()),
            false => Target::Classes { labels: self.labels.clone() },
        };
        let division = self.groups.clone().map_or(Division::Free, Division::Groups);
        let inputs = schema.inputs;
        let values = self.values.clone();
        Ok(Table { inputs, values, target, schema, division, weights: None })
    }
}

/// Reads the files twice: infers the schema, then draws the sample.
pub(crate) fn sample(
    stream: &StreamOptions,
    roles: &Roles,
    count_classes: bool,
    progress: &Progress,
) -> Result<Sampled, Error> {
    progress.phase("reading: what the columns are")?;
    let (schema, options, expected) = infer_all(&stream.files, &stream.read)?;
    progress.phase("reading: a sample")?;
    let inputs = schema.inputs;
    // Wide rows make a smaller sample: at most 128 MB.
    let most = stream.sample_rows.min((32 << 20) / inputs).max(2000.min(stream.sample_rows)).max(2);
    let mut rows = NumberedRows::open(&stream.files, &schema, &options)?;
    let mut state = roles.seed ^ 0x5a_3b1e;
    let mut train_rows = 0u64;
    let mut class_rows = vec![0u64; if count_classes { schema.classes.len() } else { 0 }];
    let (mut numbers, mut kept) = (Vec::new(), Vec::<f32>::new());
    let mut targets = Targets::new(&schema);
    let (mut groups, mut by_group) = (Vec::<Vec<u8>>::new(), Groups::default());
    let mut values = Vec::new();
    loop {
        // Vitter's algorithm R: row t replaces a random one of the sample with
        // probability most / t.
        let (mut slot, mut trains) = (None, false);
        let mut wanted = |number: u64, group: &[u8]| {
            if !roles.trains(number, group) {
                return false;
            }
            slot = if train_rows < most as u64 {
                Some(train_rows as usize)
            } else {
                let drawn = (u128::from(wyrng(&mut state)) * (u128::from(train_rows) + 1)) >> 64;
                Some(drawn as usize).filter(|&slot| slot < most)
            };
            trains = true;
            slot.is_some() || count_classes
        };
        values.clear();
        let number = rows.next;
        let Some(taken) = rows.step(&mut wanted, &mut values, &mut targets)? else {
            break;
        };
        train_rows += u64::from(trains);
        if number % 65_536 == 0 {
            progress.rows(number as usize, expected)?;
        }
        if !taken {
            continue;
        }
        if let (true, Target::Classes { labels }) = (count_classes, &targets.target) {
            let label = labels.last().copied().unwrap_or(0);
            class_rows[label as usize] += 1;
        }
        match slot {
            Some(slot) if slot == numbers.len() => {
                numbers.push(number);
                kept.extend_from_slice(&values);
                groups.push(rows.group().to_vec());
            }
            Some(slot) => {
                numbers[slot] = number;
                kept[slot * inputs..(slot + 1) * inputs].copy_from_slice(&values);
                groups[slot] = rows.group().to_vec();
                targets.target.replace_by_last(slot);
            }
            None => targets.target.pop(),
        }
    }
    if numbers.len() < 2 {
        return Err(Error::Impossible("training needs at least two rows".into()));
    }
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|&slot| numbers[slot]);
    let division = schema.recordings.group.map(|_| {
        order.iter().for_each(|&slot| by_group.push(&groups[slot]));
        Division::Groups(by_group.numbers)
    });
    let table = Table {
        inputs,
        values: kept,
        target: targets.target,
        schema: schema.clone(),
        division: Division::Free,
        weights: None,
    };
    let mut table = table.select(&order);
    impute(&mut table);
    let schema = serde_json::to_string(&table.schema)
        .map_err(|error| DataError::Schema(error.to_string()))?;
    let (labels, targets) = match table.target {
        Target::Classes { labels } => (labels, Vec::new()),
        Target::Values(values) => (Vec::new(), values),
    };
    Ok(Sampled {
        schema,
        inputs: inputs as u64,
        classes: table.schema.classes,
        image: table.schema.image,
        warnings: table.schema.warnings,
        header: options.header,
        delimiter: options.delimiter,
        rows: rows.next,
        train_rows,
        class_rows,
        numbers: order.iter().map(|&slot| numbers[slot]).collect(),
        values: table.values,
        labels,
        targets,
        groups: division.and_then(|division| match division {
            Division::Groups(groups) => Some(groups),
            _ => None,
        }),
    })
}
