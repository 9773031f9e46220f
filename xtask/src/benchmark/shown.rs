//! The figures in the README.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::Measured;

/// Data set, bytes asked for, and what is to be read of it.
const SHOWN: [(&str, u32, &str); 5] = [
    ("digits", 1000, "handwritten digits"),
    ("adult", 350, "census income (adult)"),
    ("cpu_act", 300, "CPU activity, relative error,"),
    ("exercises", 400, "exercises from raw accelerations"),
    ("mnist", 3200, "MNIST"),
];

/// The sentence with the errors of the obvious command, of what was measured of each data set.
pub fn sentence<'s>(find: impl Fn(&str) -> Option<&'s [Measured]>) -> Result<String> {
    let mut sentence = String::new();
    for (name, asked, words) in SHOWN {
        let found = || {
            let measured = find(name)?.first()?;
            let place = measured.sizes.iter().position(|&size| size == asked)?;
            let (_, error, seeds, _) = measured.models().into_iter().nth(place)?;
            Some((error, seeds.len()))
        };
        let (error, seeds) = found().with_context(|| format!("no {name} of {asked} bytes"))?;
        let one = if seeds == 1 { " (one seed)" } else { "" };
        let mark = if sentence.is_empty() { "" } else { ",\n" };
        write!(sentence, "{mark}  {words} {:.1} % in {asked} bytes{one}", 100.0 * error)?;
    }
    Ok(sentence + ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{STORED, Stored};
    use crate::steps::root;

    #[test]
    fn the_readme_says_what_was_measured() {
        let root = root().unwrap();
        let stored = std::fs::read_to_string(root.join(STORED)).unwrap();
        let stored: Stored = serde_json::from_str(&stored).unwrap();
        let wanted = sentence(|name| stored.get(name).map(Vec::as_slice)).unwrap();
        let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
        assert!(readme.contains(&format!("<!-- small -->\n{wanted}\n<!-- end -->")), "{wanted}");
    }
}
