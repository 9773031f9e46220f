//! The example of `device/README.md`, a firmware that takes signed updates, does what is said there.

mod firmware {
    include!("firmware.rs");

    use ed25519_compact::{KeyPair, Seed};
    use koan_sign::header;
    use koan_store::Standing;

    use crate::flash::Flash;

    const BLOB: &[u8] = include_bytes!("../../models/exercises-conv-160.koan");

    fn sealed(counter: u32) -> Vec<u8> {
        let pair = KeyPair::from_seed(Seed::new([7; 32]));
        let mut envelope = header(&KEY, counter, BLOB.len() as u32).to_vec();
        envelope.extend(BLOB);
        let signature = pair.sk.sign(&envelope, None);
        envelope.extend(*signature);
        envelope
    }

    #[test]
    fn a_signed_model_comes_into_force_and_older_ones_do_not_come_back() {
        let mut memory = [0; 1024];
        let mut store = Store::new(Flash::<4, 4096>::new(4, 1), 0, 8192).unwrap();
        assert!(start(&mut store, &mut memory).unwrap().is_none());
        let new = sealed(7);
        update(&mut store, &mut memory, 0, new.len(), new.chunks(256)).unwrap();
        // After a reset.
        let mut store = Store::new(store.into_flash(), 0, 8192).unwrap();
        let (found, counter) = start(&mut store, &mut memory).unwrap().unwrap();
        assert_eq!((found.standing, counter), (Standing::OnTrial, 7));
        assert_eq!(memory[..found.length], new);
        store.confirm().unwrap();
        // Rightly signed.
        for (old, why) in [
            (6, "model refused: the envelope's counter is 6, it must be 8 at least"),
            (7, "model refused: the envelope's counter is 7, it must be 8 at least"),
        ] {
            let old = sealed(old);
            let refused = update(&mut store, &mut memory, counter, old.len(), old.chunks(99));
            assert_eq!(refused.unwrap_err().to_string(), why);
        }
        // Nothing follows the last counter, and nothing panics.
        let last = sealed(u32::MAX);
        update(&mut store, &mut memory, counter, last.len(), last.chunks(99)).unwrap();
        let (_, counter) = start(&mut store, &mut memory).unwrap().unwrap();
        assert_eq!(counter, u32::MAX);
        store.confirm().unwrap();
        let refused = update(&mut store, &mut memory, counter, new.len(), new.chunks(99));
        assert!(refused.unwrap_err().to_string().contains("it must be 4294967295 at least"));
    }
}

#[allow(dead_code)]
mod flash {
    include!("../../../device/store/src/tests/flash.rs");
}

/// The page has the same code.
#[test]
fn the_page_has_the_code_that_is_tested() {
    let (page, code) = (include_str!("../../../device/README.md"), include_str!("firmware.rs"));
    assert!(page.contains(&format!("```rust\n{code}```\n")), "device/README.md is behind");
}
