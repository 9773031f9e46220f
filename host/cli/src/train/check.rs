//! Options that would be passed over are errors: who gives one thinks that it does something.

use anyhow::{Result, bail, ensure};
use koan_trainer::FamilyName::{self, Bin, Conv, Fern, Fourier, Maxout, Series, Stump};

use crate::arguments::{ClassWeights, TaskName, Train};

/// Options that mean something to some tasks or families only.
pub fn options(arguments: &Train) -> Result<()> {
    ensure!(
        arguments.report.is_none() || arguments.folds.is_none(),
        "--report needs rows that the model has not seen: leave --folds out"
    );
    of_tasks(arguments)?;
    of_families(arguments)
}

fn of_tasks(arguments: &Train) -> Result<()> {
    let source = &arguments.source;
    let anomaly = matches!(source.task, Some(TaskName::Anomaly));
    let embedding = matches!(source.task, Some(TaskName::Embedding));
    ensure!(source.normal.is_none() || anomaly, "--normal goes with --task anomaly");
    ensure!(arguments.false_alarm.is_none() || anomaly, "--false-alarm goes with --task anomaly");
    ensure!(arguments.outputs.is_none() || embedding, "--outputs goes with --task embedding");
    let target = source.has_target();
    ensure!(
        source.positive.is_none() || !anomaly,
        "--positive tells a class from all others: --normal names the class of normal rows"
    );
    let classes = target && !matches!(source.task, Some(TaskName::Regression));
    ensure!(source.positive.is_none() || classes, "--positive goes with --task classification");
    let limits = [
        ("--flash", arguments.flash.is_some()),
        ("--ram", arguments.ram.is_some()),
        ("--instructions", arguments.instructions.is_some()),
    ];
    if let Some((limit, _)) = limits.iter().find(|(_, given)| *given && !target) {
        bail!(
            "{limit} searches for models that fit, which needs a target to judge them by: leave it \
             out; fewer --features or --bits make a smaller model"
        );
    }
    ensure!(
        target || (arguments.loss.is_none() && arguments.box_c.is_none()),
        "--loss and --box are for tasks with a target"
    );
    ensure!(target || arguments.candidates.is_none(), "--candidates are for tasks with a target");
    ensure!(
        target || source.class_weights == ClassWeights::EqualRows,
        "--class-weights are for tasks with a target"
    );
    ensure!(
        target || arguments.relevance != Some(true),
        "--relevance yes is for tasks with a target, which says what inputs are worth"
    );
    ensure!(
        !embedding || arguments.lambda.is_none(),
        "--lambda does nothing: an embedding has components of the features, and no penalty"
    );
    Ok(())
}

fn of_families(arguments: &Train) -> Result<()> {
    let families = arguments.possible_families();
    // A search does not look at them.
    let named = arguments.train_options().families;
    let of_named: [(&str, bool, &[FamilyName]); 4] = [
        ("--pool", arguments.pool.is_some(), &[Maxout]),
        ("--shared-pool", arguments.shared_pool.is_some(), &[Maxout]),
        ("--slot-bits", arguments.slot_bits.is_some(), &[Bin]),
        ("--depth", arguments.depth.is_some(), &[Fern]),
    ];
    let of_possible: [(&str, bool, &[FamilyName]); 6] = [
        ("--kernel", arguments.kernel.is_some(), &[Conv, Series]),
        ("--filter-stride", arguments.filter_stride.is_some(), &[Conv]),
        ("--grid", arguments.grid.is_some(), &[Conv]),
        ("--pooling", arguments.pooling.is_some(), &[Conv]),
        ("--dilated", arguments.dilated, &[Conv]),
        ("--input-groups", !arguments.groups.is_empty(), &[Fourier, Stump, Bin]),
    ];
    let of_named = of_named.map(|option| (option, &named));
    let of_possible = of_possible.map(|option| (option, &families));
    for ((option, given, of), families) in of_named.into_iter().chain(of_possible) {
        ensure!(
            !given || families.iter().any(|family| of.contains(family)),
            "{option} goes with --family {}",
            of.iter().map(|family| family.name()).collect::<Vec<_>>().join(" or ")
        );
    }
    arguments.train_options().check_effect(&families)?;
    let lists =
        [("--features", arguments.features.len()), ("--frequency", arguments.frequency.len())];
    for (option, values) in lists {
        ensure!(
            values < 2 || arguments.searched().is_none(),
            "{option} has {values} values, but a search compares families one by one: one value for \
             all"
        );
        ensure!(
            values <= families.len().max(1),
            "{option} has {values} values for {} famil{}: one for each, or one for all",
            families.len(),
            if families.len() == 1 { "y" } else { "ies" }
        );
    }
    Ok(())
}

/// Options of streaming, where the rows are read into memory.
pub fn in_memory(arguments: &Train) -> Result<()> {
    let given = [
        ("--sample-rows", arguments.sample_rows.is_some()),
        ("--checkpoint", arguments.checkpoint.is_some()),
        ("--checkpoint-every", arguments.checkpoint_every.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        anyhow::bail!("{option} goes with --stream yes: these rows are read into memory");
    }
    Ok(())
}
