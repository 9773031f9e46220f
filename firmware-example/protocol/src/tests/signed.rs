//! A device with a key takes signed models only.

use std::vec::Vec;

use ed25519_compact::{KeyPair, Seed};
use koan_sign::{ED25519, PublicKey, header};
use serde_json::Value;

use super::uploads::{GOLDEN, assert_golden, in_force, upload};
use super::{TestDevice, assert_alive, device};

/// The public key of 32 times the byte 7.
static KEYS: [PublicKey; 1] = [PublicKey([
    234, 74, 108, 99, 226, 156, 82, 10, 190, 245, 80, 123, 19, 46, 197, 249, 149, 71, 118, 174,
    190, 190, 123, 146, 66, 30, 234, 105, 20, 70, 210, 44,
])];

fn sealed(seed: u8, counter: u32, blob: &[u8]) -> Vec<u8> {
    let pair = KeyPair::from_seed(Seed::new([seed; 32]));
    let mut envelope = header(&KEYS[0], counter, blob.len() as u32).to_vec();
    envelope.extend(blob);
    let signature = pair.sk.sign(&envelope, None);
    envelope.extend(*signature);
    envelope
}

fn refused(device: &mut TestDevice, envelope: &[u8], why: &str) {
    let answer: Value = upload(device, envelope, 100);
    assert_eq!(answer["error"], ["model refused: ", why].concat(), "{answer}");
}

#[test]
fn signed_models_come_into_force() {
    let mut device = device().signed(&KEYS, ED25519, 5);
    for (counter, (blob, golden)) in [5, 6, 900].into_iter().zip(GOLDEN) {
        let envelope = sealed(7, counter, blob);
        assert_eq!(upload(&mut device, &envelope, 100), in_force(&envelope));
        assert_golden(&mut device, blob, golden);
        // Nor again.
        let least = counter + 1;
        let why = std::format!("the envelope's counter is {counter}, it must be {least} at least");
        refused(&mut device, &envelope, &why);
        assert_golden(&mut device, blob, golden);
    }
}

/// The counter of a stored model is that of the device.
#[test]
fn a_stored_model_cannot_be_followed_by_an_older_one() {
    let mut device = device().signed(&KEYS, ED25519, 0);
    let (blob, golden) = GOLDEN[0];
    let stored = sealed(7, 12, blob);
    assert!(device.restore(|area| {
        area[..stored.len()].copy_from_slice(&stored);
        Some(stored.len())
    }));
    assert_golden(&mut device, blob, golden);
    let why = "the envelope's counter is 12, it must be 13 at least";
    refused(&mut device, &stored, why);
    let envelope = sealed(7, 13, blob);
    assert_eq!(upload(&mut device, &envelope, 64), in_force(&envelope));
    // An envelope that somebody else has put into the flash.
    let forged = sealed(8, 99, blob);
    let mut device = super::device().signed(&KEYS, ED25519, 0);
    assert!(!device.restore(|area| {
        area[..forged.len()].copy_from_slice(&forged);
        Some(forged.len())
    }));
    assert_alive(&mut device);
}

#[test]
fn all_others_leave_the_model_in_force() {
    let mut device = device().signed(&KEYS, ED25519, 5);
    let (blob, golden) = GOLDEN[0];
    let forgery = "the signature does not hold";
    let old = "the envelope's counter is 4, it must be 5 at least";
    let check = |device: &mut TestDevice| {
        refused(device, blob, "no signed model: it does not start with KSGN");
        refused(device, &sealed(8, 5, blob), forgery);
        refused(device, &sealed(7, 4, blob), old);
        let whole = sealed(7, 5, blob);
        for at in [12, 30, whole.len() - 1] {
            let mut forged = whole.clone();
            forged[at] ^= 0x40;
            refused(device, &forged, forgery);
        }
        let cut = &whole[..whole.len() - 1];
        let (given, says) = (cut.len(), whole.len());
        let why = std::format!("the envelope has {given} bytes, it says {says}");
        refused(device, cut, &why);
        // Rightly signed, and no model.
        refused(
            device,
            &sealed(7, 5, b"hello"),
            "not a koan blob: it does not start with the bytes KOAN",
        );
    };
    check(&mut device);
    assert_alive(&mut device);
    let envelope = sealed(7, 5, blob);
    assert_eq!(upload(&mut device, &envelope, 64), in_force(&envelope));
    let why = "the envelope's counter is 5, it must be 6 at least";
    refused(&mut device, &envelope, why);
    assert_golden(&mut device, blob, golden);
}
