//! Envelopes that are not opened.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use ed25519_compact::{KeyPair, Seed};

use crate::{ED25519, Envelope, Error, HEADER, OVERHEAD, PublicKey, header};

const BLOB: &[u8] = include_bytes!("../../../core/tests/tiny.koan");

fn pair(seed: u8) -> (KeyPair, PublicKey) {
    let pair = KeyPair::from_seed(Seed::new([seed; 32]));
    let key = PublicKey(*pair.pk);
    (pair, key)
}

fn sealed(pair: &(KeyPair, PublicKey), counter: u32, blob: &[u8]) -> Vec<u8> {
    let mut envelope = header(&pair.1, counter, blob.len() as u32).to_vec();
    envelope.extend(blob);
    let signature = pair.0.sk.sign(&envelope, None);
    envelope.extend(*signature);
    envelope
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
    digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect()
}

#[test]
fn the_vectors_of_the_standard_hold() {
    // RFC 8032, section 7.1, tests 2 and 3.
    for [key, message, signature] in [
        [
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ],
        [
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ],
    ] {
        let key = PublicKey(bytes(key).try_into().unwrap());
        let signature: [u8; 64] = bytes(signature).try_into().unwrap();
        let message = bytes(message);
        assert!(ED25519(&key, &message, &signature));
        assert!(!ED25519(&key, &[message[0] ^ 1], &signature));
    }
}

/// Every encoding of a point of small order: the eight points, and the six spellings that are
/// not theirs: a negative zero, and numbers that are not below 2^255 - 19.
const SMALL: [&str; 14] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

#[test]
fn keys_of_small_order_are_refused() {
    // With S = 0 the equation is R = -hA, whatever was signed: under such a key one of eight Rs
    // fits every message, and nobody needs a secret to find it.
    for key in SMALL {
        let key = PublicKey(bytes(key).try_into().unwrap());
        for point in SMALL {
            let mut signature = [0; 64];
            signature[..32].copy_from_slice(&bytes(point));
            for message in 0..16 {
                assert!(!ED25519(&key, &[message], &signature), "{key:?} {point}");
            }
        }
    }
}

#[test]
fn a_signature_with_a_point_of_small_order_is_refused() {
    // Made with the secret key: S = ha mod L, h the hash of R, key and message. For the first one
    // the equation holds as it stands, for the other when both sides are multiplied by eight.
    let (_, key) = pair(7);
    for (point, number) in [
        (SMALL[0], "2ace788c8c596de47bf79d3059b20d1294e382bcc98f10fd56d73582ddabe408"),
        (SMALL[1], "a9a535c4ca3bb92b21b19f0a0144e8b782267e9b362ca0fcf8c78837fd4ce604"),
    ] {
        let signature = [bytes(point), bytes(number)].concat().try_into().unwrap();
        assert!(!ED25519(&key, b"a small R", &signature), "{point}");
    }
}

#[test]
fn numbers_that_are_not_reduced_are_refused() {
    // S and S + L are the same to the curve: whoever has a signature could make others of it.
    let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let (pair, key) = pair(8);
    let mut signature = *pair.sk.sign(b"once", None);
    assert!(ED25519(&key, b"once", &signature));
    for _ in 0..14 {
        let mut carry = 0;
        for (place, &byte) in signature[32..].iter_mut().zip(&order) {
            carry += u16::from(*place) + u16::from(byte);
            *place = carry as u8;
            carry >>= 8;
        }
        assert_eq!(carry, 0);
        assert!(!ED25519(&key, b"once", &signature));
    }
}

#[test]
fn another_implementation_finds_the_same() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut block = |length| Vec::from_iter(core::iter::repeat_with(|| random.u8(..)).take(length));
    let mut refused = 0;
    for round in 0..400 {
        let seed = Seed::new(block(32).try_into().unwrap());
        let pair = KeyPair::from_seed(seed);
        let message = block(round);
        let mut signature = *pair.sk.sign(&message, None);
        let mut key = PublicKey(*pair.pk);
        assert!(ED25519(&key, &message, &signature));
        // One bit of the signature or of the key, anywhere: most are no point, or another's.
        let at = usize::from(u16::from_le_bytes(block(2).try_into().unwrap())) % (8 * 96);
        let place = signature.iter_mut().chain(&mut key.0).nth(at / 8).unwrap();
        *place ^= 1 << (at % 8);
        let theirs = ed25519_compact::PublicKey::new(key.0)
            .verify(&message, &ed25519_compact::Signature::new(signature));
        assert_eq!(ED25519(&key, &message, &signature), theirs.is_ok(), "round {round}, bit {at}");
        refused += u32::from(theirs.is_err());
    }
    assert_eq!(refused, 400);
}

#[test]
fn the_key_is_found_among_several() {
    let (first, second) = (pair(1), pair(2));
    let envelope = sealed(&second, 9, BLOB);
    let found = Envelope::open(&envelope, &[first.1, second.1], 9, ED25519);
    assert_eq!(found, Ok(Envelope { blob: BLOB, counter: 9, key: 1 }));
    let id = second.1.id();
    assert_eq!(Envelope::open(&envelope, &[first.1], 9, ED25519), Err(Error::Key { id }));
    // Nobody else's signature under the id of a key.
    let mut forged = sealed(&first, 9, BLOB);
    forged[8..12].copy_from_slice(&id);
    let signature = first.0.sk.sign(&forged[..forged.len() - 64], None);
    let end = forged.len() - 64;
    forged[end..].copy_from_slice(&*signature);
    assert_eq!(Envelope::open(&forged, &[second.1], 9, ED25519), Err(Error::Signature));
}

#[test]
fn not_a_bit_may_differ() {
    let pair = pair(3);
    let envelope = sealed(&pair, 5, BLOB);
    for bit in 0..8 * envelope.len() {
        let mut forged = envelope.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let refused = Envelope::open(&forged, &[pair.1], 5, ED25519).unwrap_err();
        let expected = match bit / 8 {
            0..4 => matches!(refused, Error::NotSigned),
            4..8 => matches!(refused, Error::Format { .. }),
            8..12 => matches!(refused, Error::Key { .. }),
            // A higher counter is signed as little as a lower one.
            12..16 => matches!(refused, Error::Counter { .. } | Error::Signature),
            16..20 => matches!(refused, Error::Length { .. }),
            _ => refused == Error::Signature,
        };
        assert!(expected, "bit {bit}: {refused}");
    }
}

#[test]
fn truncated_and_longer_ones() {
    let pair = pair(4);
    let envelope = sealed(&pair, 1, BLOB);
    let mut longer = envelope.clone();
    longer.push(0);
    for given in 0..envelope.len() {
        let refused = Envelope::open(&envelope[..given], &[pair.1], 1, ED25519).unwrap_err();
        match given {
            0..4 => assert_eq!(refused, Error::NotSigned),
            4..HEADER => assert_eq!(refused, Error::Length { needed: OVERHEAD as u64, given }),
            _ => assert_eq!(refused, Error::Length { needed: envelope.len() as u64, given }),
        }
    }
    assert!(matches!(Envelope::open(&longer, &[pair.1], 1, ED25519), Err(Error::Length { .. })));
    // A length that would overflow.
    longer[16..20].fill(0xff);
    assert!(matches!(Envelope::open(&longer, &[pair.1], 1, ED25519), Err(Error::Length { .. })));
}

#[test]
fn replayed_and_rolled_back_ones() {
    let pair = pair(5);
    for (counter, least, accepted) in [
        (7, 6, true),
        (7, 7, true),
        (7, 8, false),
        (0, 0, true),
        (0, 1, false),
        (9, u32::MAX, false),
    ] {
        let envelope = sealed(&pair, counter, BLOB);
        let opened = Envelope::open(&envelope, &[pair.1], least, ED25519);
        let refused = Error::Counter { found: counter, least };
        assert_eq!(opened.map(|found| found.counter), accepted.then_some(counter).ok_or(refused));
    }
}

#[test]
fn random_bytes_are_refused() {
    let pair = pair(6);
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
        let start = header(&pair.1, 1, bytes.len().saturating_sub(OVERHEAD) as u32);
        // Some get as far as the signature.
        let whole = if random.u8(..100) == 0 { HEADER } else { random.usize(..=HEADER) };
        bytes.iter_mut().zip(start).take(whole).for_each(|(place, byte)| *place = byte);
        assert!(Envelope::open(&bytes, &[pair.1], 0, ED25519).is_err());
    }
}

#[test]
fn signed_is_not_sound() {
    let pair = pair(7);
    let mut blob = BLOB.to_vec();
    blob[30] ^= 1;
    let envelope = sealed(&pair, 1, &blob);
    let found = Envelope::open(&envelope, &[pair.1], 1, ED25519).unwrap();
    assert!(koan::Model::parse(found.blob).is_err());
}

#[test]
fn refusals_say_what_is_wrong() {
    for (error, text) in [
        (Error::Key { id: [0xab, 1, 2, 0xff] }, "signed with the unknown key ab0102ff"),
        (
            Error::Counter { found: 3, least: 4 },
            "the envelope's counter is 3, it must be 4 at least",
        ),
        (Error::Length { needed: 84, given: 3 }, "the envelope has 3 bytes, it says 84"),
    ] {
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(format!("{}", Error::Signature), "the signature does not hold");
}
