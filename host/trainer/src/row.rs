//! What a program hands to a model: which number of a row is what.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write};

use koan_data::{ColumnKind, Format, Schema};

/// A number of a row, or of a sample where a row is a window of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Place<'s> {
    /// The column's number in the data, from 1.
    pub number: usize,
    /// The column's name, or its number.
    pub column: String,
    /// The value of a text column for which the number is 1, otherwise 0.
    pub value: Option<Cow<'s, str>>,
    /// What stands in for a number that is not known.
    pub missing: Option<f32>,
}

impl Place<'_> {
    /// The column's name where some of it can be spelled in a constant, or its number.
    #[must_use]
    pub fn spelled(&self) -> Cow<'_, str> {
        match constant(&self.column).is_empty() {
            true => format!("column {}", self.number).into(),
            false => self.column.as_str().into(),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.column)?;
        if let Some(value) = &self.value {
            write!(f, " = {value}: 1, else 0")?;
        }
        if let Some(missing) = self.missing {
            write!(f, ", {missing} where it is not known")?;
        }
        Ok(())
    }
}

/// The numbers of a row, or of a sample, in order; none where the data have no columns.
#[must_use]
pub fn places(schema: &Schema) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    for (index, column) in schema.columns.iter().enumerate() {
        let name = match column.name.as_str() {
            "" => format!("column {}", index + 1),
            name => name.to_owned(),
        };
        let number = index + 1;
        let place = |value, missing| Place { number, column: name.clone(), value, missing };
        match &column.kind {
            ColumnKind::Numeric { missing } => places.push(place(None, *missing)),
            ColumnKind::Text { values } => {
                places.extend(values.iter().map(|v| place(Some(Cow::from(v)), None)));
            }
            ColumnKind::Coded(values) => {
                places.extend(values.shown().map(|code| place(Some(Cow::from(code)), None)));
            }
            ColumnKind::Target | ColumnKind::Dropped => {}
        }
    }
    places
}

/// What a row is, in a sentence.
#[must_use]
pub fn described(schema: &Schema) -> String {
    let inputs = schema.inputs;
    match (schema.format, schema.recordings.window) {
        (Format::Svmlight, _) => {
            let first = u8::from(!schema.zero_based);
            format!("{inputs} numbers: of the indices from {first} on, 0 where a line has none")
        }
        (Format::Idx, _) => format!("{inputs} pixels from 0 to 255, row by row of the image"),
        (Format::Csv, Some(window)) => format!(
            "{inputs} numbers: {} samples, the oldest first, of {} each, in the units of the data",
            window.samples,
            inputs / window.samples.max(1)
        ),
        (Format::Csv, None) => format!("{inputs} numbers, in the units of the data"),
    }
}

/// What a file of [`rust`] begins with.
pub const FIRST: &str = "//! The rows of ";

/// A Rust file with a constant for each class and each place of a row; `model` is what the file's
/// comment calls the model. `cache`: words that a stream of the model keeps, if it can have one.
#[must_use]
pub fn rust(schema: &Schema, model: &str, cache: Option<usize>) -> String {
    let mut names: HashSet<String> = HashSet::new();
    let mut text = format!("{FIRST}{}: {}.\n", line(model), described(schema));
    let mut typed = |comment: &str, name: &str, kind: &str, value: &str| {
        let mut unique = identifier(name);
        let mut count = 1;
        while !names.insert(unique.clone()) {
            count += 1;
            unique = format!("{}_{count}", identifier(name));
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "\n/// {}.\npub const {unique}: {kind} = {value};\n", line(comment));
    };
    if let (Some(window), Some(words)) = (schema.recordings.window, cache) {
        // As `Stream` takes it.
        let hop = format!("core::num::NonZeroU16::new({}).unwrap()", window.stride);
        typed("Samples from a window to the next", "HOP", "core::num::NonZeroU16", &hop);
        typed(
            "Words that a stream keeps of the windows before",
            "CACHE",
            "usize",
            &words.to_string(),
        );
    }
    let mut constant =
        |comment: &str, name: &str, value: usize| typed(comment, name, "usize", &value.to_string());
    constant("Numbers of a row", "INPUTS", schema.inputs);
    if let Some(window) = schema.recordings.window {
        let channels = schema.inputs / window.samples.max(1);
        constant("Samples of a row, the oldest first", "SAMPLES", window.samples);
        constant("Numbers of a sample", "CHANNELS", channels);
    }
    for (number, class) in schema.classes.iter().enumerate() {
        let name = match self::constant(class).is_empty() {
            true => number.to_string(),
            false => class.clone(),
        };
        constant(&format!("The class {class}"), &format!("CLASS {name}"), number);
    }
    for (number, place) in places(schema).iter().enumerate() {
        let value = place.value.as_ref().map(|value| format!(" {value}")).unwrap_or_default();
        constant(&place.to_string(), &format!("{}{value}", place.spelled()), number);
    }
    for place in places(schema) {
        let Some(missing) = place.missing else { continue };
        let comment = format!("What stands in for {} where it is not known", place.column);
        typed(&comment, &format!("MISSING {}", place.spelled()), "f32", &format!("{missing:?}"));
    }
    text
}

/// A name in capitals that programs take behind a letter: letters, digits and single underscores.
/// Signs that tell names apart, such as those of `-1` and `<5`, are words.
#[must_use]
pub fn constant(name: &str) -> String {
    let mut spelled = String::new();
    let mut before = None;
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        let behind = rest.as_str();
        match c {
            '<' if behind.starts_with('=') => spelled += " at most ",
            '<' => spelled += " less than ",
            '≤' => spelled += " at most ",
            // Not of an arrow.
            '>' if matches!(before, Some('-' | '=')) => spelled.push(' '),
            '>' if behind.starts_with('=') => spelled += " at least ",
            '>' => spelled += " more than ",
            '≥' => spelled += " at least ",
            '+' => spelled += " plus ",
            '-' | '−' if is_minus(before, behind) => spelled += " minus ",
            c => spelled.push(c),
        }
        before = Some(c);
    }
    let words = spelled.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_").to_ascii_uppercase()
}

/// Whether what stands between these is a sign, that of a number or one that ends a name, and no
/// hyphen.
fn is_minus(before: Option<char>, behind: &str) -> bool {
    let joined = before.is_some_and(char::is_alphanumeric);
    let number = behind.strip_prefix('.').unwrap_or(behind);
    (!joined && number.starts_with(|c: char| c.is_ascii_digit()))
        || (joined && behind.trim().is_empty())
}

/// A name as that of a constant.
fn identifier(name: &str) -> String {
    let joined = constant(name);
    if joined.starts_with(|c: char| c.is_ascii_alphabetic()) {
        joined
    } else {
        format!("COLUMN_{joined}").trim_end_matches('_').to_owned()
    }
}

/// A text on one line, in which nothing turns the direction of writing: Rust takes no comments with
/// what does.
pub fn line(text: &str) -> String {
    let turns = |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.replace(|c: char| c.is_control() || turns(c), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::{Column, Recordings, Window};

    fn column(name: &str, kind: ColumnKind) -> Column {
        Column { name: name.into(), kind }
    }

    fn schema() -> Schema {
        let values = ["boss", "cook", "höher"].map(str::to_owned).to_vec();
        Schema {
            columns: vec![
                column("temp (°C)", ColumnKind::Numeric { missing: None }),
                column("", ColumnKind::Dropped),
                column("job,\nkind", ColumnKind::Text { values }),
                column("state", ColumnKind::Target),
                column("3", ColumnKind::Numeric { missing: Some(0.5) }),
                column("", ColumnKind::Numeric { missing: None }),
                column("inputs", ColumnKind::Numeric { missing: None }),
            ],
            inputs: 7,
            ..Schema::new(Format::Csv)
        }
    }

    #[test]
    fn places_follow_the_columns() {
        let schema = schema();
        let places = places(&schema);
        assert_eq!(places.len(), schema.inputs);
        assert_eq!(places[2].to_string(), "job,\nkind = cook: 1, else 0");
        assert_eq!(places[4].to_string(), "3, 0.5 where it is not known");
        assert_eq!(places[5].to_string(), "column 6");
    }

    #[test]
    fn constants_have_names_that_rust_takes() {
        let text = rust(&schema(), "m.koan", None);
        let constants: Vec<&str> = text.lines().filter(|line| line.starts_with("pub")).collect();
        let names = ["INPUTS", "TEMP_C", "JOB_KIND_BOSS", "JOB_KIND_COOK", "JOB_KIND_H_HER"];
        let names = names.into_iter().chain(["COLUMN_3", "COLUMN_6", "INPUTS_2"]);
        let mut expected: Vec<String> = names
            .zip([7, 0, 1, 2, 3, 4, 5, 6])
            .map(|(name, value)| format!("pub const {name}: usize = {value};"))
            .collect();
        expected.push("pub const MISSING_3: f32 = 0.5;".to_owned());
        assert_eq!(constants, expected);
        let others = text.lines().filter(|line| !line.starts_with("pub") && !line.is_empty());
        assert!(others.into_iter().all(|line| line.starts_with("//")), "{text}");
    }

    #[test]
    fn signs_that_tell_names_apart_are_words() {
        let names = [
            ("-1", "MINUS_1"),
            ("1", "1"),
            ("−1", "MINUS_1"),
            ("y -0.5", "Y_MINUS_0_5"),
            ("-.5", "MINUS_5"),
            ("<5", "LESS_THAN_5"),
            ("> 5", "MORE_THAN_5"),
            ("<=50K", "AT_MOST_50K"),
            ("≥3", "AT_LEAST_3"),
            ("A+", "A_PLUS"),
            ("A-", "A_MINUS"),
            ("+1", "PLUS_1"),
            // No signs.
            ("4-bit", "4_BIT"),
            ("2024-01-31", "2024_01_31"),
            ("self-test", "SELF_TEST"),
            ("a - b", "A_B"),
            ("a->b", "A_B"),
            ("job, kind höher", "JOB_KIND_H_HER"),
        ];
        for (name, expected) in names {
            assert_eq!(constant(name), expected, "{name}");
        }
    }

    #[test]
    fn windows_are_samples_of_channels() {
        let columns = ["x", "y"].map(|name| column(name, ColumnKind::Numeric { missing: None }));
        let window = Some(Window { samples: 8, stride: 4 });
        let recordings = Recordings { window, ..Recordings::default() };
        let schema = Schema { columns: columns.to_vec(), recordings, inputs: 16, ..schema() };
        let classes = ["squat", "jump,\u{202e} high"].map(str::to_owned).to_vec();
        let schema = Schema { classes, ..schema };
        let text = rust(&schema, "m.koan", Some(898));
        for constant in [
            "INPUTS: usize = 16",
            "SAMPLES: usize = 8",
            "CHANNELS: usize = 2",
            "HOP: core::num::NonZeroU16 = core::num::NonZeroU16::new(4).unwrap()",
            "CACHE: usize = 898",
            "CLASS_SQUAT: usize = 0",
            "CLASS_JUMP_HIGH: usize = 1",
        ] {
            assert!(text.contains(&format!("pub const {constant};\n")), "{text}");
        }
        assert!(!text.contains('\u{202e}'), "{text}");
        // No stream takes it.
        let text = rust(&schema, "m.koan", None);
        assert!(!text.contains("HOP") && text.contains("CHANNELS"), "{text}");
        assert!(described(&schema).contains("8 samples, the oldest first, of 2 each"));
    }
}
