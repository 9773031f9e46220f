//! What training refuses of a table, before anything is computed.

use std::collections::BTreeSet;

use crate::normalise::Kind;
use crate::parallel;
use crate::problem::Problem;
use crate::{Error, TrainOptions};
use koan_data::{Table, Target, Task};

/// Numbers that a thread looks at together for what is none.
const FINITE_TOGETHER: usize = 1 << 16;

/// Weights of classes are for classes.
pub(crate) fn check_balanced(table: &Table, balanced: bool) -> Result<(), Error> {
    if balanced && table.schema.task() == Task::Regression {
        return Err(Error::parameter("class_weights", "numbers have no classes to balance"));
    }
    Ok(())
}

/// A map for each channel needs rows that have some.
pub(crate) fn check_channels(table: &Table, options: &TrainOptions) -> Result<(), Error> {
    let shaped = table.schema.shape().or(options.conv.shape).is_some();
    if options.map == Some(Kind::PerChannel) && !shaped {
        let problem = "a map for each channel is for rows that have channels: windows, images, or \
                       those whose shape is given";
        return Err(Error::parameter("map", problem));
    }
    Ok(())
}

/// Refuses what no model can hold, and rows that no fit can be made to.
pub(crate) fn check(problem: &Problem<'_>) -> Result<(), Error> {
    let table = problem.table;
    if table.inputs > usize::from(u16::MAX) {
        return Err(Error::TooMany { what: "inputs", found: table.inputs, most: 65_535 });
    }
    if problem.outputs > 255 {
        return Err(Error::TooMany { what: "classes", found: problem.outputs, most: 255 });
    }
    // Blobs have a line for each name.
    let mut names = BTreeSet::new();
    let same = table.schema.classes.iter().find(|name| !names.insert(name.replace('\n', " ")));
    if let Some(name) = same {
        let message = format!("line breaks aside, two classes are called {name:?}");
        return Err(Error::parameter("classes", message));
    }
    check_finite(table)?;
    if let Some(weights) = &problem.weights
        && weights.iter().filter(|&&weight| weight > 0.0).count() < 2
    {
        return Err(Error::parameter("weights", "training needs two rows of weight above 0"));
    }
    if table.rows() < 2 {
        return Err(Error::Impossible("training needs at least two rows".into()));
    }
    // A logistic fit to one class has no end.
    if let (Some(weights), Target::Classes { labels }) = (&table.weights, &table.target) {
        let mut weighty = labels.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let first = weighty.next().map(|(label, _)| label);
        if weighty.all(|(label, _)| Some(label) == first) {
            let message = "all rows of weight above 0 are of one class; classification needs two";
            return Err(Error::parameter("weights", message));
        }
    }
    Ok(())
}

/// Refuses numbers that no sum can have; readers and builders of tables leave none.
fn check_finite(table: &Table) -> Result<(), Error> {
    let refused = |name, what: &str, row: usize| {
        Err(Error::parameter(name, format!("{what} of row {} is not a finite number", row + 1)))
    };
    // Several at a time: a part without such a number is left behind at once.
    let wrong = |part: &[f32]| part.iter().fold(false, |wrong, value| wrong | !value.is_finite());
    let parts: Vec<&[f32]> = table.values.chunks(FINITE_TOGETHER).collect();
    let place = parallel::map(parts.len(), |part| wrong(parts[part])).iter().position(|&bad| bad);
    let first = place.map_or(table.values.len(), |part| part * FINITE_TOGETHER);
    let rest = &table.values[first..];
    if let Some(place) = rest.iter().position(|value| !value.is_finite()).map(|i| first + i) {
        let input = place % table.inputs.max(1) + 1;
        return refused("values", &format!("input {input}"), place / table.inputs.max(1));
    }
    if let Target::Values(targets) = &table.target
        && let Some(row) = targets.iter().position(|target| !target.is_finite())
    {
        return refused("target", "the target", row);
    }
    let weights = table.weights.iter().flatten();
    match weights.clone().position(|weight| !weight.is_finite() || *weight < 0.0) {
        Some(row) => refused("weights", "the weight", row),
        None => Ok(()),
    }
}
