//! Names of columns and classes as names in C.

use std::collections::HashSet;

/// A name in capitals that C takes behind a prefix: letters, digits and single underscores.
pub fn constant(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_").to_ascii_uppercase()
}

/// A file's name as that of a variable.
pub fn variable(stem: &str) -> String {
    let name = constant(stem).to_ascii_lowercase();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("model_{name}") }
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
    text.replace(char::is_control, " ").replace("*/", "* /").replace("/*", "/ *")
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
    fn no_name_is_given_twice() {
        let mut unique = Unique::default();
        let names = ["A", "B", "A", "A"].map(|name| unique.of(name.to_owned()));
        assert_eq!(names, ["A", "B", "A_2", "A_3"]);
    }

    #[test]
    fn comments_do_not_end_early() {
        assert_eq!(comment("a */ b\n/* c"), "a * / b / * c");
    }
}
