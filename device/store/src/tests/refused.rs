//! What the store refuses, by name.

use std::string::ToString;

use koan::{Any, Limits, OwnedBuffers};

use super::{Flash, Sim, check, start, store, update};
use crate::{Error, Standing, Store, check_model};

const TINY: &[u8] = include_bytes!("../../../../core/tests/tiny.koan");

#[test]
fn layouts_that_do_not_suit() {
    let layout = |offset, size| {
        let problem = Store::new(Flash::<4, 128>::new(8, 1), offset, size);
        problem.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(layout(0, 512), Ok(()));
    for (offset, size, problem) in [
        (64, 256, "they are no whole sectors"),
        (0, 300, "they are no whole sectors"),
        (0, 128, "a slot has fewer than two sectors"),
        (128, 512, "they end behind it"),
        (u32::MAX - 127, 0xffff_ff80, "they end behind it"),
    ] {
        assert_eq!(
            layout(offset, size).unwrap_err(),
            std::format!("the slots do not suit the flash: {problem}")
        );
    }
}

#[test]
fn calls_in_a_wrong_order() {
    let mut store = store(Sim::<4>::new(9, 1));
    assert_eq!(store.begin(1), Err(Error::NotStarted));
    assert_eq!(store.confirm(), Err(Error::NotStarted));
    assert_eq!(start(&mut store), Ok(None));
    assert_eq!(store.confirm(), Err(Error::NotOnTrial));
    assert_eq!(store.write(&[1]), Err(Error::NotBegun));
    assert_eq!(store.finish(&mut [], check), Err(Error::NotBegun));
    assert_eq!(store.begin(385), Err(Error::Slot { needed: 385, room: 384 }));
    store.begin(3).unwrap();
    store.write(&[2, 2]).unwrap();
    let short = Error::Length { announced: 3, given: 2 };
    assert_eq!(store.finish(&mut [0; 4], check), Err(short));
    store.begin(3).unwrap();
    assert_eq!(store.write(&[2; 4]), Err(Error::Length { announced: 3, given: 4 }));
    assert_eq!(store.write(&[2]), Err(Error::NotBegun));
    store.begin(3).unwrap();
    store.write(&[2; 3]).unwrap();
    assert_eq!(store.finish(&mut [0; 3], check), Err(Error::Memory { needed: 4, given: 3 }));
    // On trial, the other slot is what there is to go back to.
    store.begin(3).unwrap();
    store.write(&[2; 3]).unwrap();
    store.finish(&mut [0; 4], check).unwrap();
    start(&mut store).unwrap().unwrap();
    assert_eq!(store.begin(3), Err(Error::OnTrial));
    store.confirm().unwrap();
    store.begin(3).unwrap();
}

#[test]
fn models_that_fail_their_check_leave_the_old_one() {
    let mut buffers = OwnedBuffers::<64, 64, 64, 8>::new();
    let limits = Limits { work: 1 << 20, memory: 1 << 10 };
    let mut check = |blob: &[u8]| check_model::<Any>(blob, limits, &mut buffers);
    let (flash, _) = update(Sim::<8>::new(9, 1), &[2; 50], 50);
    let mut store = store(flash);
    start(&mut store).unwrap();
    for bit in 0..8 * TINY.len() {
        let mut damaged = TINY.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        store.begin(damaged.len()).unwrap();
        store.write(&damaged).unwrap();
        let refused = store.finish(&mut [0; 128], &mut check);
        assert!(matches!(refused, Err(Error::Refused(_))), "bit {bit}: {refused:?}");
    }
    store.begin(TINY.len()).unwrap();
    store.write(TINY).unwrap();
    store.finish(&mut [0; 128], &mut check).unwrap();
}

/// A firmware with less memory than the one before: what does not fit is passed over, and the
/// next update goes as any other.
#[test]
fn models_that_the_memory_does_not_hold_are_passed_over() {
    let start_in = |store: &mut Store<Sim<4>>, bytes: usize| {
        let mut memory = [0; 384];
        let found = store.start(&mut memory[..bytes], check).unwrap();
        found.map(|found| (memory[..found.length].to_vec(), found.standing))
    };
    // The only one, confirmed or on trial.
    for confirmed in [true, false] {
        let mut store = store(Sim::<4>::new(9, 1));
        start(&mut store).unwrap();
        store.begin(300).unwrap();
        store.write(&[2; 300]).unwrap();
        store.finish(&mut [0; 384], check).unwrap();
        if confirmed {
            start(&mut store).unwrap();
            store.confirm().unwrap();
        }
        assert_eq!(start_in(&mut store, 256), None);
        assert_eq!(store.confirm(), Err(Error::NotOnTrial));
        store.begin(20).unwrap();
        store.write(&[4; 20]).unwrap();
        store.finish(&mut [0; 256], check).unwrap();
        assert_eq!(start_in(&mut store, 256), Some(([4; 20].to_vec(), Standing::OnTrial)));
        store.confirm().unwrap();
        assert_eq!(start_in(&mut store, 256), Some(([4; 20].to_vec(), Standing::Confirmed)));
    }
    // A large one after a small one: that is in force again, and the large one is not tried.
    let (flash, _) = update(Sim::<4>::new(9, 1), &[2; 50], 50);
    let mut store = store(flash);
    start(&mut store).unwrap();
    store.begin(300).unwrap();
    store.write(&[4; 300]).unwrap();
    store.finish(&mut [0; 384], check).unwrap();
    let mut small = self::store(store.flash().clone());
    assert_eq!(start_in(&mut small, 256), Some(([2; 50].to_vec(), Standing::Confirmed)));
    // With the memory again it has its trial.
    let mut again = self::store(small.flash().clone());
    assert_eq!(start_in(&mut again, 384), Some(([4; 300].to_vec(), Standing::OnTrial)));
    // Without, the next update takes its place.
    small.begin(30).unwrap();
    small.write(&[6; 30]).unwrap();
    small.finish(&mut [0; 256], check).unwrap();
    assert_eq!(start_in(&mut small, 256), Some(([6; 30].to_vec(), Standing::OnTrial)));
    // Nobody confirms it.
    assert_eq!(start_in(&mut small, 256), Some(([2; 50].to_vec(), Standing::Confirmed)));
}

#[test]
fn flash_that_decays_is_not_run() {
    let (flash, _) = update(Sim::<4>::new(9, 1), &[2; 50], 50);
    let (flash, _) = update(flash, &[4; 60], 50);
    for byte in 0..60 {
        let mut decayed = flash.clone();
        decayed.decay(128 * (1 + 4 + 1) + byte);
        let (model, _) = start(&mut store(decayed)).unwrap().unwrap();
        assert_eq!(model, [2; 50]);
    }
}
