//! The parts of `docs/format.md` that are computed: the listing of the tiny model, the
//! tables' checksums, and an example of every formula.
//!
//! Each stands between `<!-- NAME -->` and `<!-- end -->`. All numbers are the
//! reference's.

mod basics;
mod families;

use std::path::PathBuf;

use koan::Model;
use koan_trainer::internal::listing;

use crate::reference::{Reference, crc32};
use crate::tiny::root;

const END: &str = "<!-- end -->\n";

/// The seed of all examples.
const SEED: u64 = 1;

/// Where the page is.
#[must_use]
pub fn path() -> PathBuf {
    root().join("docs/format.md")
}

/// The page with all parts as they are computed; `tiny`: the blob of the tiny model.
///
/// # Errors
/// A bad blob, or a page without a part's marks.
pub fn with_parts(page: &str, tiny: &[u8]) -> Result<String, String> {
    let model = Model::parse(tiny).map_err(|error| error.to_string())?;
    let mut parts = vec![("tiny.koan", listing::hex(&model))];
    parts.extend(basics::parts(tiny)?);
    parts.extend(families::parts()?);
    parts.iter().try_fold(page.to_owned(), |page, (name, text)| with_part(&page, name, text))
}

/// The page with one part.
fn with_part(page: &str, name: &str, text: &str) -> Result<String, String> {
    let start = format!("<!-- {name} -->\n");
    let missing = || format!("{}: no part {name}", path().display());
    let (before, rest) = page.split_once(&start).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{start}```text\n{}\n```\n{END}{after}", text.trim_end()))
}

/// A model without outputs, of one bank, by the bank's bytes.
fn model_of(inputs: u16, bank: &[u8]) -> Result<Reference, String> {
    let mut blob = b"KOAN\x01\x00".to_vec();
    blob.extend(inputs.to_le_bytes());
    blob.push(0);
    blob.extend(SEED.to_le_bytes());
    // Check word and input map: only q is looked at.
    blob.extend([0; 2 + 6]);
    blob.extend(bank);
    blob.extend([0; 4]);
    blob.extend(crc32(&blob).to_le_bytes());
    Reference::parse(&blob)
}

/// Bytes as the page writes them.
fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

/// Numbers as the page lists them.
fn list<T: ToString>(numbers: impl IntoIterator<Item = T>) -> String {
    let numbers: Vec<_> = numbers.into_iter().map(|number| number.to_string()).collect();
    numbers.join(" ")
}
