//! Values of options, and how they are read.

use clap::ValueEnum;
use koan::Law;
use koan_trainer::GroupPlan;

use super::choices::LawArgument;

pub fn yes_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("yes or no".into()),
    }
}

/// A column of a list. One that begins with a minus is a number from the end; another option is
/// none, where a column is missing.
pub fn column(text: &str) -> Result<String, String> {
    match text.strip_prefix('-') {
        Some(rest) if !rest.starts_with(|first: char| first.is_ascii_digit()) => {
            Err("a column is missing here; one whose name begins with a minus by its number".into())
        }
        _ => Ok(text.to_owned()),
    }
}

/// A number of samples.
pub fn samples(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        "windows are counted in samples: a number of rows, 128 for 1.28 seconds of 100 samples each"
            .to_owned()
    })
}

pub fn bits(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(bits) if koan::Width::BITS.contains(&bits) => Ok(bits),
        _ => Err("2, 3, 4, 8 or 16".into()),
    }
}

/// A number of bytes; k is 1024.
pub fn bytes(text: &str) -> Result<usize, String> {
    with_suffix(text, 1024).map(|count| count as usize)
}

/// A number; k is 1000.
pub fn count(text: &str) -> Result<u64, String> {
    with_suffix(text, 1000)
}

fn with_suffix(text: &str, k: u64) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], k),
        Some(b'm') => (&lower[..lower.len() - 1], k * k),
        _ => (lower.as_str(), 1),
    };
    let number: f64 = digits.parse().map_err(|_| "a number such as 900, 2k or 1.5k")?;
    let value = number * unit as f64;
    if (1.0..=1e15).contains(&value) { Ok(value as u64) } else { Err("from 1 to 10^15".into()) }
}

/// Minutes, of which there are some.
pub fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= 10_000.0 => Ok(minutes),
        _ => Err("more than 0, at most 10000".into()),
    }
}

/// Minutes, of which there may be none.
pub fn minutes_or_none(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if (0.0..=10_000.0).contains(&minutes) => Ok(minutes),
        _ => Err("from 0 to 10000".into()),
    }
}

pub fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            b"\n" | b"\r" | b"\"" => Err("neither a line's end nor a quote".into()),
            &[byte] => Ok(byte),
            _ => Err("one byte, `tab` or `space`".into()),
        },
    }
}

pub fn group(text: &str) -> Result<GroupPlan, String> {
    let mut parts = text.split(':');
    let inputs = parts.next().unwrap_or_default();
    let inputs = inputs.parse().map_err(|_| format!("`{inputs}` is no number of inputs"))?;
    let law = match parts.next().unwrap_or_default() {
        "none" => Law::None,
        name => LawArgument::from_str(name, true).map_err(|_| no_law(name))?.into(),
    };
    let frequency = match parts.next() {
        None => 1.0,
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no frequency"))?,
    };
    match parts.next() {
        None => Ok(GroupPlan { inputs, law, frequency }),
        Some(_) => Err("INPUTS:LAW[:FREQUENCY]".into()),
    }
}

/// That a projection is none of those that there are.
fn no_law(name: &str) -> String {
    let laws = LawArgument::value_variants().iter().filter_map(LawArgument::to_possible_value);
    let names: Vec<String> = laws.map(|law| law.get_name().to_owned()).collect();
    format!("`{name}` is no projection: {}, none", names.join(", "))
}
