//! Errors as percentages, and counts, as messages and pages say them.

/// So many of something, whose plural has an s.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A fraction as a percentage.
#[must_use]
pub fn percent(fraction: f64) -> String {
    format!("{:.2} %", 100.0 * fraction)
}

/// The error of a task as a percentage.
#[must_use]
pub fn error_percent(task: &str, error: f64) -> String {
    let decimals = error_decimals(task, error);
    format!("{:.decimals$} %", 100.0 * error)
}

/// Decimals of an error of a task as a percentage. Relative errors below 1 % have three digits:
/// far from 0 all targets are predicted to within a small part of themselves, and the digits that
/// tell a good model from a constant come late.
#[must_use]
pub fn error_decimals(task: &str, error: f64) -> usize {
    match 100.0 * error {
        percent @ 1e-6..1.0 if task == "regression" => (2.0 - percent.log10().floor()) as usize,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_relative_errors_have_three_digits() {
        for (error, of_numbers, of_classes) in [
            (0.0278, "2.78 %", "2.78 %"),
            (0.01, "1.00 %", "1.00 %"),
            (0.008_312, "0.831 %", "0.83 %"),
            (0.000_104, "0.0104 %", "0.01 %"),
            (1.5e-7, "0.0000150 %", "0.00 %"),
            (0.0, "0.00 %", "0.00 %"),
            (f64::NAN, "NaN %", "NaN %"),
        ] {
            assert_eq!(error_percent("regression", error), of_numbers);
            assert_eq!(error_percent("classification", error), of_classes);
        }
    }
}
