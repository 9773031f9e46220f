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
    use std::collections::BTreeSet;
    use std::path::Path;

    use koan::Model;
    use koan_data::{Column, ColumnKind, Format, Recordings, Schema, Window};

    use super::*;
    use crate::c::Program;

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

    /// The code of a file in C without comments, texts and what is the preprocessor's.
    fn bare(file: &str) -> String {
        let (mut code, mut rest) = (String::new(), file);
        while let Some(c) = rest.chars().next() {
            let length = if rest.starts_with("/*") {
                rest.find("*/").expect("comments end") + 2
            } else if rest.starts_with("//") {
                rest.find('\n').expect("lines end")
            } else if matches!(c, '"' | '\'') {
                let is_escape =
                    |at: usize| rest[..at].ends_with('\\') && !rest[..at].ends_with("\\\\");
                let ends = rest.match_indices(c).map(|(at, _)| at);
                ends.skip(1).find(|at| !is_escape(*at)).expect("texts end") + 1
            } else {
                code.push(c);
                c.len_utf8()
            };
            rest = &rest[length..];
        }
        code.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    }

    /// Names in small letters, but for those behind a point or an arrow.
    fn names(code: &str) -> BTreeSet<String> {
        let code = code.replace("->", ".");
        let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)));
        let names = words.filter_map(|word| word.split('.').next());
        names
            .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn names_of_code_are_found() {
        let code = "#define no\n/* no */ static int a_1; // no\nb->no = \"no \\\" no\" + '\"' + .5f + 0xfu + c.no;";
        let expected = ["a_1", "b", "c", "int", "static"].map(str::to_owned);
        assert_eq!(names(&bare(code)).into_iter().collect::<Vec<_>>(), expected);
    }

    /// A model called as a variable of what is written would be hidden by it.
    #[test]
    fn what_is_written_has_no_names_that_models_can_have() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
        let windows = Window { samples: 2, stride: 1 };
        let schema = |window| Schema {
            columns: vec![Column {
                name: "x".to_owned(),
                kind: ColumnKind::Numeric { missing: Some(0.5) },
            }],
            recordings: Recordings { window, ..Recordings::default() },
            ..Schema::new(Format::Csv)
        };
        let mut found = BTreeSet::new();
        // A classification, a regression, and features.
        for file in [
            "../core/tests/tiny.koan",
            "models/cpu_act-fourier-300.koan",
            "golden/features/all.koan",
        ] {
            let blob = std::fs::read(root.join(file)).unwrap();
            let model = Model::parse(&blob).unwrap();
            for schema in [None, Some(schema(None)), Some(schema(Some(windows)))] {
                let program = Program::new(&model, schema.as_ref(), "its.koan", "its own");
                let files =
                    [program.header(), program.source(), program.example(), program.sketch()];
                found.extend(files.iter().flat_map(|file| names(&bare(file))));
            }
        }
        for name in ["problem", "stand_in", "late", "class_"] {
            assert!(found.contains(name), "{name}: {found:?}");
        }
        let is_free = |name: &&String| variable(name) == **name && !is_taken(name);
        let free: Vec<&String> = found.iter().filter(is_free).collect();
        assert!(free.iter().all(|name| name.starts_with("its_own")), "{free:?}");
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
