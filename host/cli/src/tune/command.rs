//! The `koan train` command that a result of `koan tune` stands for.

use std::ffi::OsString;
use std::path::Path;

use koan_trainer::{Loss, MapKind, TrainOptions};

use crate::output::quoted;
use crate::train::numbers;

/// Options of `koan tune` that `koan train` does not know, or that the model's
/// own options replace; all of them take a value.
const OWN: [&str; 16] = [
    "--output",
    "--report",
    "--bits",
    "--flash",
    "--ram",
    "--instructions",
    "--core",
    "--metric",
    "--minutes",
    "--family",
    "--projection",
    "--map",
    "--relevance",
    "--shape",
    "--loss",
    "--class-weights",
];
/// The same, of one letter or without a value.
const OWN_LETTERS: [&str; 2] = ["-o", "-b"];
const OWN_FLAGS: [&str; 4] = ["--json", "--no-column-names", "--no-clock", "--with-code"];

/// The `koan train` command that makes the model of `options`: how `koan tune`
/// was told to read data, and the options that the search found.
pub fn train_command(given: &[OsString], options: &TrainOptions, output: &Path) -> String {
    let mut words: Vec<String> = vec!["koan".into(), "train".into()];
    let mut rest = given.iter().skip(2).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = rest.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, _)) if name.starts_with('-') => (name.to_owned(), true),
            _ => (word.clone(), false),
        };
        // The value of an option of one letter may stand right behind it.
        let attached = OWN_LETTERS.iter().any(|own| word.len() > 2 && word.starts_with(own));
        if OWN_FLAGS.contains(&name.as_str()) || attached {
            continue;
        }
        if OWN.contains(&name.as_str()) || OWN_LETTERS.contains(&name.as_str()) {
            if !inline {
                rest.next();
            }
            continue;
        }
        words.push(quoted(&word));
    }
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let list = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let families: Vec<&str> = options.families.iter().map(|family| family.name()).collect();
    add("--family", families.join(","));
    let linear_alone = families == ["linear"];
    if let Some(law) = options.projection.filter(|_| !linear_alone) {
        add("--projection", law.name().into());
    }
    if !options.features.is_empty() && !linear_alone {
        let features: Vec<usize> = options.features.iter().map(|&count| count.into()).collect();
        add("--features", numbers(&features));
    }
    if let Some(candidates) = options.candidates {
        add("--candidates", candidates.to_string());
    }
    if !options.categories.is_empty() {
        let columns: Vec<usize> = options.categories.iter().map(|column| column + 1).collect();
        add("--text", numbers(&columns));
    }
    // Maps for each channel need it, whatever the family.
    if let Some(shape) = options.conv.shape {
        add("--shape", shape.to_string());
    }
    if families.iter().any(|family| ["conv", "series"].contains(family))
        && let Some(kernel) = options.conv.kernel
    {
        add("--kernel", kernel.to_string());
    }
    if let Some(bits) = options.bits {
        add("--bits", bits.to_string());
    }
    if let Some(kind) = options.map {
        add("--map", MapKind::name(kind).into());
    }
    if let Some(frequency) = &options.frequency {
        add("--frequency", list(frequency));
    }
    if let Some(lambda) = options.lambda {
        add("--lambda", format!("{lambda:e}"));
    }
    if let Some(relevance) = options.relevance {
        add("--relevance", if relevance { "yes" } else { "no" }.into());
    }
    if families.contains(&"maxout") {
        add("--pool", options.pool.to_string());
    }
    if families.contains(&"bin") {
        add("--slot-bits", options.slot_bits.to_string());
    }
    if families.contains(&"fern") {
        add("--depth", options.depth.to_string());
    }
    if options.balanced {
        add("--class-weights", "balanced".into());
    }
    if let Some(loss) = options.loss.filter(|&loss| loss != Loss::Squared) {
        add("--loss", loss.name().into());
    }
    add("--output", quoted(&output.display().to_string()));
    for (flag, given) in
        [("--linear", options.linear), ("--no-column-names", !options.column_names)]
    {
        if given {
            words.push(flag.into());
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_search_was_told_of_models_is_left_out() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let given =
            words("koan tune my.csv -oout -b4 --bits=4 -o out --flash 2k --json -s7 --drop a");
        let options = TrainOptions { bits: Some(3), ..TrainOptions::default() };
        let command = train_command(&given, &options, Path::new("out/m.koan"));
        assert!(command.starts_with("koan train my.csv -s7 --drop a --family"), "{command}");
        assert!(command.contains(" --bits 3 ") && !command.contains("-b4"), "{command}");
        assert!(command.ends_with("--output out/m.koan"), "{command}");
    }

    /// Maps for each channel need the shape, whatever the family.
    #[test]
    fn a_shape_is_kept_for_every_family() {
        let given = ["koan", "tune", "my.csv", "--shape", "8x3"].map(OsString::from);
        let mut options = TrainOptions { map: Some(MapKind::PerChannel), ..Default::default() };
        options.conv.shape = "8x3".parse().ok();
        let command = train_command(&given, &options, Path::new("m.koan"));
        assert_eq!(command.matches("--shape 8x3").count(), 1, "{command}");
        assert!(!command.contains("--kernel"), "{command}");
    }
}
