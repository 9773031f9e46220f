//! The golden models through the core, and whether they are all there.

use std::collections::BTreeSet;
use std::fs;

use koan::{Any, Buffers, Family, Input, Law, Model, Predictor, Profile, Small, Width};
use koan_tests::arbitrary::kinds;
use koan_tests::feature_map::FeatureMap;
use koan_tests::golden::{Golden, Typed, all, load};
use koan_tests::reference::Reference;
use koan_trainer::internal::heap::HeapBuffers;

/// A predictor of a profile with buffers on the heap.
fn serving<P: Profile>(blob: &[u8]) -> Predictor<'_, HeapBuffers, P> {
    let model = Model::parse(blob).unwrap();
    Predictor::serving(model, HeapBuffers::new(model.buffer_sizes(P::FORM))).unwrap()
}

fn replay<P: Profile>(golden: &Golden) {
    fn scores<I: Input, B: Buffers, P: Profile>(
        core: &mut Predictor<'_, B, P>,
        row: &[I],
    ) -> Result<Vec<i32>, String> {
        core.scores(row).map(<[i32]>::to_vec).map_err(|error| error.to_string())
    }
    let mut core = serving::<P>(&golden.blob);
    core.self_test().unwrap_or_else(|error| panic!("{}: {error}", golden.name));
    let replayed = golden.replay(|row| match row {
        Typed::Floats(row) => scores(&mut core, row),
        Typed::Words(row) => scores(&mut core, row),
        Typed::Bytes(row) => scores(&mut core, row),
    });
    replayed.unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn the_core_gives_the_golden_scores_in_every_type() {
    for golden in all() {
        replay::<Any>(&golden);
        replay::<Small>(&golden);
    }
}

fn replay_features<P: Profile>(map: &FeatureMap) {
    let mut core = serving::<P>(&map.blob);
    core.self_test().unwrap_or_else(|error| panic!("{}: {error}", map.name));
    for row in &map.rows {
        let mut features = vec![77; core.model().features()];
        let mut codes = vec![77; core.model().codes()];
        core.features(&row.row, &mut features).unwrap();
        core.codes(&row.row, &mut codes).unwrap();
        assert_eq!((&features, &codes), (&row.features, &row.codes), "{}", map.name);
    }
}

#[test]
fn the_core_gives_the_features_and_codes_of_models_without_outputs() {
    let maps = FeatureMap::all().unwrap();
    let mut families = BTreeSet::new();
    for map in &maps {
        replay_features::<Any>(map);
        replay_features::<Small>(map);
        let reference = Reference::parse(&map.blob).unwrap();
        assert_eq!(reference.digest(), reference.stated_digest, "{}", map.name);
        let rows = map.rows.iter().map(|row| row.row.clone()).collect();
        let again = FeatureMap::new(map.name.clone(), map.blob.clone(), rows).unwrap();
        assert_eq!(again.rows, map.rows, "{}", map.name);
        let model = Model::parse(&map.blob).unwrap();
        assert_eq!(model.outputs(), 0);
        families.extend(model.banks().map(|bank| bank.family().name()));
    }
    assert_eq!(families.len(), 9);
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
        let any = golden.rows.iter().flat_map(|row| &row.scores).any(saturated);
        assert_eq!(any, golden.name == "edge-scores", "{}", golden.name);
        assert!(golden.blob.len() < 1400 || golden.name == "digits", "{}", golden.name);
    }
}

/// What distinguishes a bank, without its sizes but the length of a transform.
type Kind = (&'static str, &'static str, u8, bool);

fn kind(family: Family, law: Law, grouped: bool) -> Kind {
    let more = match family {
        Family::Maxout { shared, .. } => u8::from(shared > 0),
        Family::Conv(conv) => conv.transform,
        _ => 0,
    };
    (family.name(), law.name(), more, grouped)
}

/// Kinds whose features meet the weights in a way of their own, of which every width is
/// there.
fn in_every_width((family, law, _, grouped): Kind) -> bool {
    let one_feature = matches!((family, law), ("bin" | "fern", "gamma2" | "gaussian")) && !grouped;
    family == "linear" || one_feature || (family, law) == ("fourier", "hadamard")
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
                kept.insert(kind(bank.family(), bank.law(), bank.is_grouped()));
                continue;
            }
            let place = (bank.width().bits(), model.outputs() > 1);
            if single {
                let kind = kind(bank.family(), bank.law(), bank.is_grouped());
                found.insert((kind, place, bank.width().odd()));
            } else {
                several_banks.insert((place, bank.width().odd()));
            }
        }
    }
    let mut ways = BTreeSet::new();
    for (family, law, grouped) in kinds() {
        let kind = kind(family, law, grouped);
        assert!(kept.contains(&kind), "{kind:?} with a list");
        let its: Vec<_> = found.iter().filter(|(its, ..)| *its == kind).collect();
        for one in [false, true] {
            assert!(its.iter().any(|(_, place, _)| place.1 == one), "{kind:?}, several: {one}");
            assert!(its.iter().any(|(.., odd)| *odd == one), "{kind:?}, odd: {one}");
        }
        let widths: BTreeSet<_> = its.iter().map(|(_, place, _)| place).collect();
        assert!(widths.len() >= if in_every_width(kind) { 10 } else { 2 }, "{kind:?}: {widths:?}");
        ways.extend(its.iter().map(|(_, place, odd)| (place, odd)));
    }
    assert_eq!(ways.len(), 20);
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
