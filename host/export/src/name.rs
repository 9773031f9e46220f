//! Names of columns, classes and models as names in C.

use std::collections::HashSet;

pub use koan_trainer::internal::row::constant;
use koan_trainer::internal::row::line;

/// Names that a model's variable, or a file named like it, would hide, or that would hide it:
/// keywords of C and C++; functions, types, macros, streams and headers of the C library, of
/// POSIX and of Arduino; and what the files made here call their own. Variables are in small
/// letters, so only such names are listed; in the order of bytes, separated by white space.
const TAKEN: &str = include_str!("taken.txt");

/// A file's name as that of a variable.
pub fn variable(stem: &str) -> String {
    let name = constant(stem).to_ascii_lowercase();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("model_{name}") }
}

/// The name of a model's variable and of its files: [`variable`], or `<name>_model` where that
/// name is taken.
pub fn model(stem: &str) -> String {
    let name = variable(stem);
    if is_taken(&name) { format!("{name}_model") } else { name }
}

fn is_taken(name: &str) -> bool {
    // Of the runtime only what begins so: in its comments there are words of all kinds.
    let of_runtime = || {
        let mut words = koan_c::HEADER.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        name.starts_with("koan_") && words.any(|word| word == name)
    };
    TAKEN.split_ascii_whitespace().any(|taken| taken == name) || of_runtime()
}

/// Names that were given, so that none is given twice.
#[derive(Debug, Default)]
pub struct Unique(HashSet<String>);

impl Unique {
    /// The name, with a number behind it if it was given before.
    pub fn of(&mut self, name: String) -> String {
        let mut unique = name.clone();
        let mut count = 1;
        while !self.0.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}_{count}");
        }
        unique
    }
}

/// A text within a comment of C.
pub fn comment(text: &str) -> String {
    line(text).replace("*/", "* /").replace("/*", "/ *")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_as_c_takes() {
        assert_eq!(constant("job, kind höher"), "JOB_KIND_H_HER");
        assert_eq!(variable("Iris 4-bit"), "iris_4_bit");
        assert_eq!(variable("4"), "model_4");
        assert_eq!(variable("é"), "model_");
    }

    #[test]
    fn taken_names_are_not_those_of_models() {
        let names = ["log", "Default", "main", "koan parse", "koan-config", "iris", "koan iris"];
        let expected = [
            "log_model",
            "default_model",
            "main_model",
            "koan_parse_model",
            "koan_config_model",
            "iris",
            "koan_iris",
        ];
        assert_eq!(names.map(model), expected);
    }

    #[test]
    fn taken_names_are_sorted() {
        let names: Vec<&str> = TAKEN.split_ascii_whitespace().collect();
        assert!(names.is_sorted_by(|a, b| a < b));
        // Others would never be met.
        assert!(names.iter().all(|name| variable(name) == *name));
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut unique = Unique::default();
        let names = ["A", "B", "A", "A"].map(|name| unique.of(name.to_owned()));
        assert_eq!(names, ["A", "B", "A_2", "A_3"]);
    }

    #[test]
    fn comments_do_not_end_early() {
        assert_eq!(comment("a */ b\n/* c"), "a * / b / * c");
        assert_eq!(comment("a\u{202e}b\u{2028}c"), "a b c", "nor read backwards");
    }
}
