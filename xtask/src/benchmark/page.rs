//! docs/size.md.

use std::fmt::Write;

use anyhow::Result;

use super::Measured;
use super::experiments::Part;
use super::rivals::{Kind, Rival};
use crate::docs::replace;
use crate::steps::root;

/// Writes the tables into the page.
pub fn write<'s>(
    parts: &[Part],
    find: impl Fn(&Part) -> &'s [Measured],
    rivals: &[Rival],
) -> Result<()> {
    let mut block = String::new();
    for part in parts {
        let measured = find(part);
        if !measured.is_empty() {
            section(&mut block, part, measured, rivals)?;
        }
    }
    replace(&root()?.join("docs/size.md"), "sizes", &block)
}

fn section(block: &mut String, part: &Part, all: &[Measured], rivals: &[Rival]) -> Result<()> {
    writeln!(block, "\n## {}\n", part.title)?;
    if !part.note.is_empty() {
        writeln!(block, "{}\n", part.note)?;
    }
    let mut before = "";
    for measured in all {
        if measured.train != before {
            writeln!(block, "`cargo koan {}`:\n", measured.train)?;
            before = &measured.train;
        }
        if let Some(shrink) = &measured.shrink {
            writeln!(
                block,
                "then `cargo koan {shrink}` ({:.0} s together):\n",
                measured.seconds()
            )?;
        }
        let seeds = measured.runs.len();
        let errors = if seeds == 1 {
            "error, seed 1".into()
        } else {
            format!("error, mean of {seeds} seeds")
        };
        writeln!(block, "| bytes | {errors} | each seed | instructions | code |")?;
        writeln!(block, "| ---: | ---: | ---: | ---: | ---: |")?;
        for (bytes, mean, errors, first) in measured.models() {
            let each: Vec<String> = errors.iter().map(|&error| percent(error)).collect();
            writeln!(
                block,
                "| {bytes} | {} | {} | {} | {} |",
                percent(mean),
                each.join(", "),
                number(first.instructions),
                number(first.code)
            )?;
        }
        block.push('\n');
    }
    let mut others: Vec<&Rival> = rivals.iter().filter(|rival| rival.part == part.name).collect();
    others.sort_by_key(|rival| (rival.kind, rival.bytes));
    if !others.is_empty() {
        block.push_str("| others | bytes | error |\n| --- | ---: | ---: |\n");
        for rival in others {
            let what = match rival.kind {
                Kind::Published => "published, the model alone",
                Kind::Forest => "code and constants",
            };
            writeln!(
                block,
                "| {} ({what}) | {} | {} |",
                rival.name,
                rival.bytes,
                percent(rival.error)
            )?;
        }
    }
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
