//! What goes to standard output and standard error: failures are errors, and nothing in a
//! name steers the terminal.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write, stdout};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use koan_data::DataWarning;
pub use koan_report::words::name;
use koan_report::words::{steers, visible};
use serde_json::Value;

use crate::grid::wrapped_error;

/// Writes a line to standard output, as `println!` does, and returns what goes wrong.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::out::line(&format!($($text)*))
    };
}
pub(crate) use say;

/// JSON on one line, in which characters that steer a terminal are escaped as JSON has it.
pub fn json(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        if steers(c) {
            // Those in question have four digits at most; a string cannot fail.
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// A field of CSV as [`name`], and such that a spreadsheet does not take it for a formula:
/// one that begins like one and is no number has an apostrophe before it.
pub fn field(text: &str) -> String {
    let formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let mark = if formula { "'" } else { "" };
    format!("{mark}{}", name(text))
}

/// Writes a line to standard output.
pub fn line(text: &str) -> Result<()> {
    raw(&format!("{}\n", visible(text)))
}

/// Writes the line that says most: bold where standard output is a terminal that has it.
pub fn headline(text: &str) -> Result<()> {
    let bold = Style::new().bold();
    let text = format!("{bold}{}{bold:#}\n", visible(text));
    failed(anstream::stdout().lock().write_all(text.as_bytes()))
}

/// Writes an object to standard output, on a line.
pub fn object(value: &Value) -> Result<()> {
    raw(&format!("{}\n", json(value)))
}

fn raw(text: &str) -> Result<()> {
    failed(stdout().lock().write_all(text.as_bytes()))
}

/// Writes what is still on the way to standard output.
pub fn flush() -> Result<()> {
    failed(stdout().lock().flush())
}

/// The result of writing to standard output. That a reader such as `head` has seen enough
/// is no error, where there is no signal for it: then the command ends here.
pub fn failed(result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes a line to standard error; if that fails, nobody can be told. What stands before its
/// first colon has a colour where that is a terminal: red for an error.
pub fn warn(text: &str) {
    let text = wrapped_error(&name(text), 2);
    let (kind, rest) = match text.split_once(": ") {
        Some((kind @ ("error" | "warning"), rest)) => (kind, format!(": {rest}")),
        _ => ("", text),
    };
    let colour = if kind == "error" { AnsiColor::Red } else { AnsiColor::Yellow };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let mut stderr = anstream::stderr().lock();
    let _ = match kind {
        "" => writeln!(stderr, "{rest}"),
        _ => writeln!(stderr, "{style}{kind}{style:#}{rest}"),
    };
}

/// Says what is wrong, in lines.
pub fn error(lines: &[String]) {
    let Some((first, others)) = lines.split_first() else { return };
    warn(&format!("error: {first}"));
    for line in others {
        warn(line);
    }
}

/// Says what is worth knowing of data that were read.
pub fn warnings(warnings: &[DataWarning]) {
    for warning in warnings {
        warn(&format!("warning: {warning}"));
    }
}

/// Says where more time went than was asked for, and where `rest` took it.
pub fn overrun(took: Duration, asked: Duration, rest: &str) {
    if took > asked.mul_f64(1.1) {
        let (took, asked) = (took.as_secs_f64(), asked.as_secs_f64());
        warn(&format!("warning: it took {took:.0} s, where {asked:.0} s were asked for: {rest}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_does_not_steer_a_terminal() {
        let bad = "\u{1b}[2J\u{9b}31m\u{7}a\tb\nc\u{202e}d\u{7f}é日";
        let value = Value::from(bad);
        let text = json(&value);
        assert!(!text.contains(steers), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn fields_are_no_formulas() {
        for (text, expected) in [
            ("=cmd|' /C calc'!A1", "'=cmd|' /C calc'!A1"),
            ("@sum(1)", "'@sum(1)"),
            ("+1+1", "'+1+1"),
            ("-a", "'-a"),
            ("\t=1", "'\\t=1"),
            ("\r=1", "'\\r=1"),
            ("-1", "-1"),
            ("+2.5e3", "+2.5e3"),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
