//! Figures and names in words, as pages and the command say them.

use koan_data::Task;
pub use koan_trainer::internal::percent::{counted, error_decimals, error_percent, percent};

/// The task's name, as reports have it.
#[must_use]
pub fn task_name(task: Task) -> &'static str {
    match task {
        Task::Classification => "classification",
        Task::Regression => "regression",
    }
}

/// An error with the name of its measure.
#[must_use]
pub fn named_error(task: &str, error: f64) -> String {
    match task {
        "classification" | "anomaly" => format!("{} misclassified", percent(error)),
        "embedding" => format!("{} of the features' variance lost", percent(error)),
        _ => format!("{} relative RMS error", error_percent("regression", error)),
    }
}

/// A number of any size with the digits that tell it: as a power of ten where six decimals would
/// show nothing of it, or more digits than it has.
#[must_use]
pub fn number(x: f64) -> String {
    match x.abs() {
        0.0 | 1e-3..1e9 => format!("{x:.6}"),
        _ => format!("{x:.6e}"),
    }
}

/// Whether a character steers a terminal, or turns the order of letters round.
#[must_use]
pub fn steers(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

/// A name from a file, such as that of a class or a column, on one line: what would steer
/// a terminal is there as `\n` or `\u{1b}`.
#[must_use]
pub fn name(text: &str) -> String {
    escaped(text, steers)
}

/// A text of several lines, as [`name`].
#[must_use]
pub fn visible(text: &str) -> String {
    escaped(text, |c| c != '\n' && steers(c))
}

fn escaped(text: &str, steers: impl Fn(char) -> bool) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            visible.extend(c.escape_default());
        } else {
            visible.push(c);
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_show_their_digits() {
        for (x, text) in [
            (0.0, "0.000000"),
            (-1.5, "-1.500000"),
            (123_456.7, "123456.700000"),
            (3.4e-5, "3.400000e-5"),
            (-1.772_088_847e15, "-1.772089e15"),
        ] {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn what_steers_a_terminal_is_visible() {
        let bad = "\u{1b}[2J\u{9b}31m\u{7}a\tb\nc\u{202e}d\u{7f}é日";
        let shown = r"\u{1b}[2J\u{9b}31m\u{7}a\tb\nc\u{202e}d\u{7f}é日";
        assert_eq!(name(bad), shown);
        assert_eq!(visible(bad), shown.replace("\\n", "\n"));
    }
}
