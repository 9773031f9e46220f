//! Any bytes as a blob, and any words as what parsing found: no call may panic.

#![no_main]

use koan::{Error, Form, Limits, Model, format};
use koan_fuzz::repair::{repaired, set_checksum};
use koan_fuzz::unchecked::{describe, exercise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    parse(data);
    let mut blob = data.to_vec();
    set_checksum(&mut blob);
    parse(&blob);
    let blob = repaired(data);
    parse(&blob);

    // The last bytes as words, with blobs that they do not come from.
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(data.rchunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for blob in [data, &blob, &[]] {
        exercise(&Model::from_words(blob, words));
    }
    // One wrong word of those that parsing found.
    if let Ok(model) = Model::parse(&blob) {
        let mut words = model.to_words();
        let place = data.len() % words.len();
        words[place] ^= data.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        exercise(&Model::from_words(&blob, words));
    }
});

/// All ways to parse a blob, which must agree.
fn parse(blob: &[u8]) {
    let parsed = Model::parse(blob);
    for intact in [false, true] {
        match (Model::examine(blob, intact), &parsed) {
            (Ok(examined), Ok(parsed)) => assert_eq!(examined.to_words(), parsed.to_words()),
            // The checksum, which `intact` says is right, is the only difference.
            (Ok(_), Err(error)) => assert_eq!(*error, Error::Checksum),
            (Err(_), Ok(_)) => assert!(!intact),
            (Err(refusal), Err(_)) => assert!(refusal.offset <= blob.len()),
        }
    }
    match parsed {
        Err(error) => assert!(!error.to_string().is_empty() && !error.message().is_empty()),
        Ok(model) => {
            assert!(model.work() <= format::MAX_WORK);
            let memory = model.buffer_sizes(Form::Fast).bytes() as u32;
            for (work, memory, fits) in [
                (model.work(), memory, true),
                (model.work() - 1, memory, false),
                (model.work(), memory - 1, false),
            ] {
                assert_eq!(Model::parse_within(blob, Limits { work, memory }).is_ok(), fits);
            }
            let again = Model::from_words(blob, model.to_words());
            assert_eq!(again.to_words(), model.to_words());
            describe(&model);
        }
    }
}
