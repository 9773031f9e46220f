//! The `koan train` command that a result of `koan tune` stands for.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory as _};
use koan_trainer::{Loss, MapKind, TrainOptions};

use crate::arguments::Arguments;
use crate::output::quoted;
use crate::train::numbers;

/// Options of `koan tune` that `koan train` does not know, or that the model's
/// own options replace.
const OWN: [&str; 20] = [
    "output",
    "report",
    "bits",
    "flash",
    "ram",
    "instructions",
    "core",
    "metric",
    "minutes",
    "family",
    "projection",
    "map",
    "relevance",
    "shape",
    "loss",
    "class-weights",
    "json",
    "no-column-names",
    "no-clock",
    "with-code",
];

/// The options that were given to `koan tune` and are kept, in their order, and its data files.
fn kept(given: &[OsString]) -> (Vec<String>, Vec<String>) {
    let mut command = Arguments::command();
    command.build();
    let matches = command.clone().try_get_matches_from(given).ok();
    let matches = matches.as_ref().and_then(ArgMatches::subcommand);
    let Some((tune, (_, matches))) =
        matches.and_then(|found| Some((command.find_subcommand(found.0)?, found)))
    else {
        return Default::default();
    };
    let given = |option: &&Arg| {
        matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let mut all: Vec<&Arg> = tune.get_arguments().filter(given).collect();
    all.sort_by_key(|option| matches.index_of(option.get_id().as_str()));
    let (mut options, mut data) = (Vec::new(), Vec::new());
    for option in all {
        let occurrences = matches.get_raw_occurrences(option.get_id().as_str());
        for values in occurrences.into_iter().flatten() {
            let values: Vec<String> =
                values.map(|value| value.to_string_lossy().into_owned()).collect();
            match (option.get_long(), option.get_value_delimiter()) {
                (None, _) => data.extend(values),
                (Some(name), _) if OWN.contains(&name) => {}
                (Some(name), Some(delimiter)) => {
                    options.extend(words(name, &[values.join(&delimiter.to_string())]));
                }
                (Some(name), None) => options.extend(words(name, &values)),
            }
        }
    }
    (options, data)
}

/// An option with its values, none of which is taken for another option.
fn words(name: &str, values: &[String]) -> Vec<String> {
    if values.iter().any(|value| value.starts_with('-')) {
        return values.iter().map(|value| format!("--{name}={value}")).collect();
    }
    std::iter::once(format!("--{name}")).chain(values.iter().cloned()).collect()
}

/// The `koan train` command that makes the model of `options`: how `koan tune`
/// was told to read data, without the columns that the search left out, from 0, and the options
/// that it found.
pub fn train_command(
    given: &[OsString],
    options: &TrainOptions,
    left_out: &[usize],
    output: &Path,
) -> String {
    let (kept, data) = kept(given);
    let quoted_all = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>();
    let mut words: Vec<String> = vec!["koan".into(), "train".into()];
    // Data come first: behind an option that takes many files they would be taken for its.
    let dashed = data.iter().any(|file| file.starts_with('-'));
    let (first, last) = if dashed { (&[][..], &data[..]) } else { (&data[..], &[][..]) };
    words.extend(quoted_all(first));
    words.extend(quoted_all(&kept));
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
    let from_one =
        |columns: &[usize]| numbers(&columns.iter().map(|column| column + 1).collect::<Vec<_>>());
    if !left_out.is_empty() {
        add("--drop", from_one(left_out));
    }
    if !options.categories.is_empty() {
        add("--text", from_one(&options.categories));
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
    // Linear models and maxout units have none.
    let drawn = families.iter().any(|family| !["linear", "maxout"].contains(family));
    if let Some(frequency) = options.frequency.as_ref().filter(|_| drawn) {
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
    // Linear models of classes have another loss where none is given.
    let usual = |loss: &Loss| *loss == Loss::Squared && !linear_alone;
    if let Some(loss) = options.loss.filter(|loss| !usual(loss)) {
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
    if !last.is_empty() {
        words.push("--".into());
        words.extend(quoted_all(last));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use koan_trainer::FamilyName;

    use super::*;
    use crate::arguments::Command;

    fn of(given: &str, options: &TrainOptions) -> String {
        let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
        train_command(&given, options, &[], Path::new("m.koan"))
    }

    #[test]
    fn what_the_search_was_told_of_models_is_left_out() {
        let given =
            "koan tune my.csv -oout -b4 --flash 2k --json -s7 --drop a,-2 --test t.csv u.csv";
        let options = TrainOptions { bits: Some(3), ..TrainOptions::default() };
        let command = of(given, &options);
        let kept = "koan train my.csv --seed 7 --drop a,-2 --test t.csv u.csv --family";
        assert!(command.starts_with(kept), "{command}");
        assert!(command.contains(" --bits 3 ") && !command.contains("-b4"), "{command}");
        assert!(command.ends_with("--output m.koan"), "{command}");
    }

    /// The command is one that `koan train` takes, wherever the data stood.
    #[test]
    fn data_are_no_test_files() {
        for (given, files) in [
            ("--test t.csv --flash 1k a.csv", &["a.csv", "t.csv"][..]),
            ("--test t.csv --flash 1k -- a.csv b.csv", &["a.csv", "b.csv", "t.csv"]),
            ("--flash 1k --test=-t.csv --target=-1 -- -a.csv", &["-a.csv", "-t.csv"]),
            ("a.csv --test t.csv --drop=-1 --json", &["a.csv", "t.csv"]),
        ] {
            let command = of(&format!("koan tune {given}"), &TrainOptions::default());
            let parsed = Arguments::try_parse_from(command.split(' ')).expect(&command);
            let Command::Train(train) = parsed.command else { panic!("{command}") };
            let all = train.source.data.iter().chain(&train.source.test);
            let all: Vec<&str> = all.filter_map(|file| file.to_str()).collect();
            assert_eq!(all, files, "{command}");
        }
    }

    /// Units of maxout have no frequency.
    #[test]
    fn what_does_nothing_is_left_out() {
        let of = |families| {
            let frequency = Some(vec![1.0]);
            of("koan tune my.csv", &TrainOptions { families, frequency, ..Default::default() })
        };
        let told = |families| of(families).contains("--frequency 1 ");
        assert!(!told(vec![FamilyName::Maxout]) && !told(vec![FamilyName::Linear]));
        assert!(told(vec![FamilyName::Maxout, FamilyName::Stump]));
    }

    /// Maps for each channel need the shape, whatever the family.
    #[test]
    fn a_shape_is_kept_for_every_family() {
        let mut options = TrainOptions { map: Some(MapKind::PerChannel), ..Default::default() };
        options.conv.shape = "8x3".parse().ok();
        let command = of("koan tune my.csv --shape 8x3", &options);
        assert_eq!(command.matches("--shape 8x3").count(), 1, "{command}");
        assert!(!command.contains("--kernel"), "{command}");
    }
}
