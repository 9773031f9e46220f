//! Updates, and power that is cut in the middle of them.

mod flash;
mod refused;

use std::vec;
use std::vec::Vec;

use crate::{Error, Standing, Store};
use flash::{Failure, Flash};

/// Models of the tests: any bytes, accepted unless the first one is odd.
fn check(model: &[u8]) -> Result<(), &'static str> {
    if model.first().is_some_and(|byte| byte % 2 == 1) { Err("odd") } else { Ok(()) }
}

/// Sectors of a slot.
const SLOT: u32 = 4;
/// Bytes of a model, at most.
const MODEL: usize = 3 * 128;

type Sim<const UNIT: usize> = Flash<UNIT, 128>;

fn store<const UNIT: usize>(flash: Sim<UNIT>) -> Store<Sim<UNIT>> {
    // Not at the start of the flash.
    Store::new(flash, 128, SLOT * 128).unwrap()
}

/// What a start finds.
fn start<const UNIT: usize>(
    store: &mut Store<Sim<UNIT>>,
) -> Result<Option<(Vec<u8>, Standing)>, Error<Failure>> {
    let mut memory = [0; MODEL];
    let found = store.start(&mut memory, check)?;
    Ok(found.map(|found| (memory[..found.length].to_vec(), found.standing)))
}

/// How far an update has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Done {
    Nothing,
    /// The update was ended.
    Finished,
    Confirmed,
}

/// The life of an update, until power is cut. `pieces`: their length.
fn update<const UNIT: usize>(mut flash: Sim<UNIT>, new: &[u8], pieces: usize) -> (Sim<UNIT>, Done) {
    let mut done = Done::Nothing;
    let mut life = |flash: &mut Sim<UNIT>| -> Result<(), Error<Failure>> {
        let mut store = store(flash.clone());
        let mut steps = |store: &mut Store<Sim<UNIT>>| {
            start(store)?;
            store.begin(new.len())?;
            new.chunks(pieces).try_for_each(|piece| store.write(piece))?;
            store.finish(&mut [0; MODEL], check).map_err(|error| match error {
                Error::Flash(error) => Error::Flash(error),
                other => panic!("{other}"),
            })?;
            done = Done::Finished;
            let found = start(store)?;
            assert_eq!(found, Some((new.to_vec(), Standing::OnTrial)));
            store.confirm()?;
            done = Done::Confirmed;
            start(store).map(drop)
        };
        let result = steps(&mut store);
        *flash = store.into_flash();
        result
    };
    match life(&mut flash) {
        Ok(()) | Err(Error::Flash(Failure::Cut)) => {}
        Err(other) => panic!("{other}"),
    }
    (flash, done)
}

/// With power again, whatever was cut: the old or the new model is found, and the next update
/// goes well.
fn recovers<const UNIT: usize>(mut flash: Sim<UNIT>, old: &[u8], new: &[u8], done: Done) -> u64 {
    flash.cut = None;
    let before = flash.steps;
    // A firmware whose memory does not hold the new model has the old one.
    let mut memory = [0; 256];
    let found = store(flash.clone()).start(&mut memory, check).unwrap().expect("the old model");
    assert_eq!((&memory[..found.length], found.standing), (old, Standing::Confirmed));
    let mut store = store(flash);
    let (model, standing) = start(&mut store).unwrap().expect("a model");
    let steps = store_steps(&store) - before;
    match done {
        Done::Confirmed => assert_eq!((&model[..], standing), (new, Standing::Confirmed)),
        _ if standing == Standing::OnTrial => assert_eq!(model, new),
        // All that was left is a mark of which nobody knows.
        Done::Finished => assert!(model == old || model == new),
        Done::Nothing => assert_eq!(model, old),
    }
    if standing == Standing::OnTrial {
        // Nobody confirms it.
        assert_eq!(start(&mut store).unwrap(), Some((old.to_vec(), Standing::Confirmed)));
    }
    let third = vec![100; 77];
    let (flash, done) = update(store.into_flash(), &third, 50);
    assert_eq!(done, Done::Confirmed);
    let mut store = self::store(flash);
    assert_eq!(start(&mut store).unwrap(), Some((third, Standing::Confirmed)));
    steps
}

fn store_steps<const UNIT: usize>(store: &Store<Sim<UNIT>>) -> u64 {
    store.flash().steps
}

/// Cuts power in every step of an update, and in every step of the start that follows.
/// `checks`: whether units that were cut fail to be read. `refuses`: whether those that read as if
/// they were erased refuse to be written.
fn every_cut<const UNIT: usize>(checks: bool, refuses: bool) {
    let old: Vec<u8> = (0..=250).map(|byte| byte & !1).collect();
    let new: Vec<u8> = (0..300).map(|byte| (byte * 7) as u8 & !1).collect();
    let mut flash = Sim::<UNIT>::new(1 + 2 * SLOT as usize, 1);
    (flash.checks, flash.refuses) = (checks, refuses);
    // From either slot.
    for number in 0..2 {
        flash = update(flash, &old, 64).0;
        let whole = update(flash.clone(), &new, 33);
        assert_eq!(whole.1, Done::Confirmed);
        let steps = whole.0.steps - flash.steps;
        assert!(steps > 300 / UNIT as u64);
        for step in 1..=steps {
            for seed in 0..12 {
                let mut cut = flash.clone();
                cut.random_from(seed + 100 * number);
                cut.cut = Some(cut.steps + step);
                let (cut, done) = update(cut, &new, 33);
                let further = recovers(cut.clone(), &old, &new, done);
                for next in 1..=further {
                    let mut again = cut.clone();
                    again.cut = Some(again.steps + next);
                    let mut store = store(again);
                    assert_eq!(start(&mut store), Err(Error::Flash(Failure::Cut)));
                    recovers(store.into_flash(), &old, &new, done);
                }
            }
        }
    }
}

#[test]
fn a_cut_in_any_step_leaves_the_old_or_the_new_model() {
    every_cut::<1>(false, false);
    every_cut::<4>(false, false);
    every_cut::<8>(false, false);
    every_cut::<32>(false, false);
}

#[test]
fn a_cut_in_flash_that_then_fails_to_read_leaves_the_old_or_the_new_model() {
    every_cut::<1>(true, false);
    every_cut::<8>(true, false);
    every_cut::<32>(true, false);
}

#[test]
fn a_cut_in_flash_that_then_refuses_to_be_written_leaves_the_old_or_the_new_model() {
    every_cut::<8>(false, true);
    every_cut::<32>(true, true);
}

/// Updates one after the other in the same flash, of which some are cut, some refused, some not
/// confirmed; power may be cut again and again.
fn many_updates<const UNIT: usize>(updates: u32, checks: bool, refuses: bool) {
    let mut random = fastrand::Rng::with_seed(UNIT as u64);
    let mut flash = Sim::<UNIT>::new(1 + 2 * SLOT as usize, 7);
    (flash.checks, flash.refuses) = (checks, refuses);
    let mut old: Option<Vec<u8>> = None;
    let mut kept = 0;
    for _ in 0..updates {
        let mut new: Vec<u8> = (0..random.usize(1..100)).map(|_| random.u8(..)).collect();
        if random.u8(..4) > 0 {
            new[0] &= !1;
        }
        // Some cuts come after the update.
        let most = 40 + 2 * (new.len() / UNIT) as u64;
        flash.cut = random.bool().then(|| flash.steps + random.u64(1..most));
        let mut store = store(flash);
        let mut life = || -> Result<bool, Error<Failure, &'static str>> {
            let off = |error: Error<Failure>| match error {
                Error::Flash(error) => Error::Flash(error),
                other => panic!("{other}"),
            };
            let found = match start(&mut store) {
                // That of the only model; an update can begin.
                Err(Error::Flash(Failure::Refused)) => None,
                found => found.map_err(off)?,
            };
            assert_eq!(found, old.clone().map(|old| (old, Standing::Confirmed)));
            store.begin(new.len()).map_err(off)?;
            store.write(&new).map_err(off)?;
            store.finish(&mut [0; MODEL], check)?;
            Ok(true)
        };
        match life() {
            Ok(_) => assert_eq!(check(&new), Ok(())),
            Err(Error::Refused("odd")) => assert_eq!(new[0] % 2, 1),
            Err(Error::Flash(Failure::Cut)) => {}
            Err(other) => panic!("{other}"),
        }
        // Until a start finds a model that stays.
        loop {
            flash = store.into_flash();
            flash.cut = (random.u8(..4) == 0).then(|| flash.steps + random.u64(1..4));
            store = self::store(flash);
            let found = match start(&mut store) {
                Ok(found) => found,
                Err(Error::Flash(Failure::Cut)) => continue,
                Err(Error::Flash(Failure::Refused)) => None,
                Err(other) => panic!("{other}"),
            };
            match found {
                Some((model, Standing::OnTrial)) => {
                    assert_eq!(model, new);
                    assert_eq!(check(&new), Ok(()));
                    if random.u8(..4) > 0 && store.confirm().is_ok() {
                        old = Some(new.clone());
                        kept += 1;
                    }
                }
                // The mark may be whole although power was cut in it.
                Some((model, Standing::Confirmed)) if model == new => {
                    old = Some(model);
                    break;
                }
                found => {
                    assert_eq!(found, old.clone().map(|old| (old, Standing::Confirmed)));
                    break;
                }
            }
        }
        flash = store.into_flash();
    }
    // A third is refused, not confirmed, or cut.
    assert!(kept > updates / 3, "{kept} of {updates}");
    // Both slots do the work.
    let (first, second) = (flash.erases[1], flash.erases[5]);
    assert!(first.abs_diff(second) < first / 2, "{first} and {second} erases");
}

#[test]
fn random_updates_leave_the_old_or_the_new_model() {
    // A hundred thousand, where they take a third of a second.
    let updates = if cfg!(debug_assertions) { 1_000 } else { 25_000 };
    many_updates::<1>(updates, false, false);
    many_updates::<4>(updates, false, false);
    many_updates::<8>(updates, false, false);
    many_updates::<32>(updates, false, false);
    many_updates::<8>(updates, true, false);
    many_updates::<32>(updates, true, false);
    many_updates::<8>(updates, false, true);
}

/// A model that is to run on trial with the next start.
fn put<const UNIT: usize>(store: &mut Store<Sim<UNIT>>, model: &[u8]) {
    store.begin(model.len()).unwrap();
    store.write(model).unwrap();
    store.finish(&mut [0; MODEL], check).unwrap();
}

/// Where the mark lies that a model in this slot has been tried, in flash of units of 8 bytes.
fn tried(slot: usize) -> usize {
    128 + slot * SLOT as usize * 128 + 24
}

#[test]
fn a_model_that_the_flash_does_not_mark_is_passed_over() {
    // The only one.
    let mut store = store(Sim::<8>::new(9, 1));
    assert_eq!(start(&mut store), Ok(None));
    put(&mut store, &[2; 50]);
    let mut flash = store.into_flash();
    flash.refuse(tried(0));
    let mut store = self::store(flash);
    assert_eq!(start(&mut store), Err(Error::Flash(Failure::Refused)));
    assert_eq!(store.confirm(), Err(Error::NotOnTrial));
    put(&mut store, &[4; 60]);
    assert_eq!(start(&mut store), Ok(Some((vec![4; 60], Standing::OnTrial))));
    store.confirm().unwrap();
    // One after a confirmed one.
    put(&mut store, &[6; 70]);
    let mut flash = store.into_flash();
    flash.refuse(tried(1));
    let mut store = self::store(flash);
    let confirmed = Ok(Some((vec![4; 60], Standing::Confirmed)));
    assert_eq!(start(&mut store), confirmed);
    // An update gives it up as it begins.
    store.begin(0).unwrap();
    assert_eq!(start(&mut store), confirmed);
    put(&mut store, &[8; 80]);
    assert_eq!(start(&mut store), Ok(Some((vec![8; 80], Standing::OnTrial))));
}

/// Also where no model is in force.
#[test]
fn a_model_that_waits_for_its_trial_is_given_up_as_an_update_begins() {
    for (reset, memory) in [(false, MODEL), (true, 8)] {
        let mut store = store(Sim::<8>::new(9, 1));
        assert_eq!(start(&mut store), Ok(None));
        put(&mut store, &[2; 50]);
        if reset {
            // With less memory, so that the model waits still.
            store = self::store(store.into_flash());
            assert_eq!(store.start(&mut [0; MODEL][..memory], check), Ok(None));
        }
        store.begin(60).unwrap();
        store.write(&[4; 30]).unwrap();
        // Power is cut.
        let mut store = self::store(store.into_flash());
        assert_eq!(start(&mut store), Ok(None), "reset: {reset}");
        put(&mut store, &[6; 70]);
        assert_eq!(start(&mut store), Ok(Some((vec![6; 70], Standing::OnTrial))));
    }
}
