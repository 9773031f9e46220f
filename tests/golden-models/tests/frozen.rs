//! Version 1 of the format is frozen: golden models are added, never changed, so that every blob
//! that was ever written keeps its scores.

#![cfg(not(miri))]

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use koan_golden::folder;

/// CRC-32 and name of each file, as they were when it was added; of blobs without the four bytes at
/// their end, with which every sound blob has the same one.
const LISTED: &str = include_str!("../frozen.txt");

#[test]
fn golden_models_stay_as_they_are() {
    let lines = LISTED.lines().filter_map(|line| line.split_once(' '));
    let listed: BTreeMap<&str, &str> = lines.map(|(crc, name)| (name, crc)).collect();
    let mut found = BTreeMap::new();
    let root = folder();
    add(&root, &root, &mut found).unwrap();
    let is_other = |(name, crc): &(&&str, &&str)| found.get(**name).is_none_or(|now| now != **crc);
    let changed: Vec<&str> = listed.iter().filter(is_other).map(|(name, _)| *name).collect();
    assert!(changed.is_empty(), "version 1 is frozen; changed or gone: {changed:?}");
    let is_new = |(name, _): &(&String, &String)| !listed.contains_key(name.as_str());
    let line = |(name, crc): (&String, &String)| format!("{crc} {name}");
    let new: Vec<String> = found.iter().filter(is_new).map(line).collect();
    assert!(new.is_empty(), "add to tests/golden-models/frozen.txt:\n{}", new.join("\n"));
    assert!(listed.len() > 400, "{}", listed.len());
}

/// Adds the names from `root` on and the checksums of all files in `folder`.
fn add(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add(root, &path, found)?;
            continue;
        }
        let parts = path.strip_prefix(root).expect("it is inside").iter();
        let parts: Vec<String> = parts.map(|part| part.to_string_lossy().into_owned()).collect();
        let bytes = fs::read(&path)?;
        let blob = path.extension().is_some_and(|extension| extension == "koan");
        let end = bytes.len().saturating_sub(if blob { 4 } else { 0 });
        let crc = crc32fast::hash(&bytes[..end]);
        found.insert(parts.join("/"), format!("{crc:08x}"));
    }
    Ok(())
}
