//! Which rows of KDDCUP99 are wrong, and what the draw has to do with it.

use koan::Family;

use super::Settings;
use super::section::percent;
use super::sinks::{DRAWS, squared};
use koan_data::{Table, Target};
use koan_trainer::Error;

/// Stumps of the draws that are looked at.
const STUMPS: [u16; 2] = [100, 400];

/// Errors of draws, with and without the kind of row whose errors differ most between
/// them.
///
/// # Errors
/// What fitting refuses.
pub fn finding(
    settings: &Settings,
    train: &Table,
    test: &Table,
    kinds: &Table,
) -> Result<Option<String>, Error> {
    let (Target::Classes { labels }, Target::Classes { labels: kind_of }) =
        (&test.target, &kinds.target)
    else {
        return Ok(None);
    };
    let names = &kinds.schema.classes;
    // Wrong rows of each kind, for each draw.
    let mut draws: Vec<Vec<usize>> = Vec::new();
    for count in STUMPS {
        for draw in 0..DRAWS {
            let scores = squared(Family::Stump, count, settings.seed + draw, train, test)?;
            let mut wrong = vec![0; names.len()];
            for ((score, &label), &kind) in scores.iter().zip(labels).zip(kind_of) {
                wrong[kind as usize] += usize::from((*score > 0.0) != (label == 1));
            }
            draws.push(wrong);
        }
    }
    let range = |kind: usize| {
        let of = || draws.iter().map(|wrong| wrong[kind]);
        of().max().unwrap_or(0) - of().min().unwrap_or(0)
    };
    let Some(most) = (0..names.len()).max_by_key(|&kind| range(kind)) else { return Ok(None) };
    let rows = kind_of.iter().filter(|&&kind| kind as usize == most).count();
    let share = |count: usize| percent(count as f64 / test.rows() as f64);
    let listed = |of: &dyn Fn(&Vec<usize>) -> usize| -> String {
        let texts: Vec<String> = draws.iter().map(|wrong| share(of(wrong))).collect();
        texts.join(", ")
    };
    Ok(Some(format!(
        "KDDCUP99: what differs between draws of stumps (squared loss; {} with K = {}, then as many \
         with K = {}) is one kind of row, {}, {} % of the test rows and nearly all alike. The draws \
         have {} % wrong; rows of that kind are {} % of all in these, so that without them {} % are \
         left. Whether a block of them falls on the wrong side of 0 is chance.",
        DRAWS,
        STUMPS[0],
        STUMPS[1],
        names[most].trim_end_matches('.'),
        share(rows),
        listed(&|wrong| wrong.iter().sum()),
        listed(&|wrong| wrong[most]),
        listed(&|wrong| wrong.iter().sum::<usize>() - wrong[most]),
    )))
}
