//! The golden models through the core, and whether they are all there.

use std::collections::BTreeSet;
use std::fs;

use koan::{Family, Input, Law, Model, Width};
use koan_tests::arbitrary::kinds;
use koan_tests::golden::{Typed, all, load};
use koan_tests::reference::Reference;
use koan_trainer::blob::predictor;

#[test]
fn the_core_gives_the_golden_scores_in_every_type() {
    for golden in all() {
        let mut core = predictor(&golden.blob).unwrap();
        core.self_test().unwrap();
        fn scores<I: Input, B: koan::Buffers>(
            core: &mut koan::Predictor<'_, B>,
            row: &[I],
        ) -> Result<Vec<i32>, String> {
            core.scores(row).map(<[i32]>::to_vec).map_err(|error| error.to_string())
        }
        let replayed = golden.replay(|row| match row {
            Typed::Floats(row) => scores(&mut core, row),
            Typed::Words(row) => scores(&mut core, row),
            Typed::Bytes(row) => scores(&mut core, row),
        });
        replayed.unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// The files are the reference's, not merely what the core once computed.
#[test]
fn the_golden_scores_are_the_references() {
    for golden in all() {
        let reference = Reference::parse(&golden.blob).unwrap();
        for row in &golden.rows {
            assert_eq!(reference.scores(&row.row), row.scores, "{}", golden.name);
        }
        assert_eq!(reference.digest(), reference.stated_digest, "{}", golden.name);
    }
}

/// Rows of bytes, of words, and of numbers at the limits; scores that differ.
#[test]
fn every_golden_model_has_rows_of_every_type() {
    for golden in all() {
        let types: BTreeSet<_> =
            golden.rows.iter().flat_map(|row| row.typed()).map(|row| row.name()).collect();
        assert_eq!(types.len(), 3, "{}", golden.name);
        let scores: BTreeSet<_> = golden.rows.iter().flat_map(|row| &row.scores).collect();
        assert!(scores.len() > 1, "{}: the scores are all the same", golden.name);
        let saturated = |score: &i32| *score == i32::MAX || *score == i32::MIN;
        assert!(!golden.rows.iter().flat_map(|row| &row.scores).any(saturated));
        assert!(golden.blob.len() < 1024 || golden.name == "digits", "{}", golden.name);
    }
}

/// What distinguishes a bank, without its sizes.
type Kind = (&'static str, &'static str, bool, bool);

fn kind(family: Family, law: Law, grouped: bool) -> Kind {
    let shared = matches!(family, Family::Maxout { shared: 1.., .. });
    (family.name(), law.name(), shared, grouped)
}

#[test]
fn every_family_law_width_and_number_of_outputs_is_covered() {
    let mut found = BTreeSet::new();
    let mut several_banks = BTreeSet::new();
    let mut kept = BTreeSet::new();
    for golden in all() {
        let model = Model::parse(&golden.blob).unwrap();
        let single = model.banks().count() == 1;
        for bank in model.banks() {
            if bank.is_kept() {
                kept.insert(kind(bank.family, bank.law, bank.is_grouped()));
                continue;
            }
            let place = (bank.width.bits, model.outputs() > 1);
            if single {
                let kind = kind(bank.family, bank.law, bank.is_grouped());
                found.insert((kind, place, bank.width.odd));
            } else {
                several_banks.insert((place, bank.width.odd));
            }
        }
    }
    for (family, law, grouped) in kinds() {
        let kind = kind(family, law, grouped);
        assert!(kept.contains(&kind), "{kind:?} with a list");
        for bits in Width::BITS {
            for several in [false, true] {
                let parities =
                    [false, true].map(|odd| found.contains(&(kind, (bits, several), odd)));
                assert!(parities.contains(&true), "{kind:?}, {bits} bits, several: {several}");
            }
            for odd in [false, true] {
                let counts = [false, true].map(|s| found.contains(&(kind, (bits, s), odd)));
                assert!(counts.contains(&true), "{kind:?}, {bits} bits, odd: {odd}");
            }
        }
    }
    for bits in Width::BITS {
        for several in [false, true] {
            let covered = [false, true].map(|o| several_banks.contains(&((bits, several), o)));
            assert!(covered.contains(&true), "several banks, {bits} bits");
        }
    }
}

#[test]
fn an_empty_folder_and_a_missing_json_are_failures() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    // May be left over from the run before.
    let _ = fs::remove_dir_all(&folder);
    assert!(load(&folder).is_err());
    fs::create_dir_all(&folder).unwrap();
    assert!(load(&folder).unwrap_err().contains("no golden models"));
    fs::write(folder.join("lonely.koan"), b"KOAN").unwrap();
    assert!(load(&folder).unwrap_err().contains("lonely.json"));
    fs::write(folder.join("lonely.json"), b"{\"rows\": []}").unwrap();
    assert!(load(&folder).unwrap_err().contains("no rows"));
    let golden = "{\"rows\": [{\"row\": [1, \"NaN\", -0.0], \"scores\": [-7]}]}";
    fs::write(folder.join("lonely.json"), golden).unwrap();
    let loaded = load(&folder).unwrap();
    let difference = loaded[0].replay(|_| Ok(vec![3])).unwrap_err();
    assert_eq!(difference, "model lonely, row 0 as f32, output 0: expected -7, actual 3");
}
