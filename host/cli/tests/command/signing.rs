//! `koan keygen` and `koan sign`: what a device opens, and who may read the key.

use koan_sign::{ED25519, Envelope, Error, PublicKey};

use crate::common::Folder;
use crate::fake_device::{honest, start_as};

const DIGITS: &[u8] = include_bytes!("../../../../firmware-example/digits.koan");
const OTHER: &[u8] = include_bytes!("../../../../tests/golden/linear-w2even-t3.koan");

/// A folder with the firmware's model and a pair of keys.
fn folder() -> (Folder, PublicKey) {
    let folder = Folder::new();
    folder.write("digits.koan", DIGITS);
    let text = folder.output("keygen -o a.key");
    let (_, bytes) = text.split_once("PublicKey([").unwrap();
    let (bytes, _) = bytes.split_once("]);").unwrap();
    let bytes: Vec<u8> = bytes.split(", ").map(|byte| byte.parse().unwrap()).collect();
    (folder, PublicKey(bytes.try_into().unwrap()))
}

#[test]
fn a_device_opens_what_was_signed() {
    let (folder, key) = folder();
    folder.run("sign digits.koan --key a.key --counter 7 -o digits.signed").success();
    let mut envelope = folder.read("digits.signed");
    let opened = Envelope::open(&envelope, &[key], 7, ED25519);
    assert_eq!(opened, Ok(Envelope { blob: DIGITS, counter: 7, key: 0 }));
    envelope[100] ^= 1;
    assert_eq!(Envelope::open(&envelope, &[key], 7, ED25519), Err(Error::Signature));
    // The same key signs the same bytes; another one is another's.
    folder.run("sign digits.koan --key a.key --counter 7 -o again").success();
    assert_eq!(folder.read("again"), folder.read("digits.signed"));
    folder.run("keygen -o b.key").success();
    folder.run("sign digits.koan --key b.key --counter 7 -o other").success();
    let other = folder.read("other");
    let refused = Envelope::open(&other, &[key], 7, ED25519);
    assert!(matches!(refused, Err(Error::Key { .. })));
}

/// The public key of 32 times the byte 7.
static KEYS: [PublicKey; 1] = [PublicKey([
    234, 74, 108, 99, 226, 156, 82, 10, 190, 245, 80, 123, 19, 46, 197, 249, 149, 71, 118, 174,
    190, 190, 123, 146, 66, 30, 234, 105, 20, 70, 210, 44,
])];

#[test]
fn a_device_with_a_key_takes_signed_models_only() {
    let (folder, _) = folder();
    let seven = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
    folder.write("seven.key", format!("koan secret key\n{seven}\n"));
    folder.write("other.koan", OTHER);
    for counter in [3, 4] {
        let sign =
            format!("sign other.koan --key seven.key --counter {counter} -o {counter}.signed");
        folder.run(&sign).success();
    }
    folder.run("sign other.koan --key a.key --counter 9 -o strange.signed").success();
    let address = start_as(DIGITS, honest, |device| device.signed(&KEYS, ED25519, 4));
    let refused = |file: &str, why: &str| {
        let arguments = format!("device {file} --connect {address} --upload");
        folder.fails(&arguments, &["the device answered: model refused: ", why]);
    };
    refused("other.koan", "no signed model: it does not start with KSGN");
    refused("strange.signed", "signed with the unknown key");
    refused("3.signed", "the envelope's counter is 3, it must be 4 at least");
    let text = folder.output(&format!("device 4.signed --connect {address} --upload"));
    assert!(text.contains("runs 4.signed (") && text.contains("now uploaded"), "{text}");
    // What it runs is the model in the envelope.
    folder.run(&format!("device other.koan --connect {address}")).success();
    folder.write("half.signed", &folder.read("4.signed")[..100]);
    folder.fails(&format!("device half.signed --connect {address}"), &["half.signed", "it says"]);
}

/// A device says whether the model is the same, not who has signed it or with which counter:
/// what is signed is sent, and nothing is claimed of what was not.
#[test]
fn a_signed_model_is_sent_though_the_device_runs_it() {
    let (folder, _) = folder();
    let seven = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
    folder.write("seven.key", format!("koan secret key\n{seven}\n"));
    folder.write("other.koan", OTHER);
    for (model, key, counter) in [
        ("digits", "seven", 5),
        ("digits", "seven", 7),
        ("digits", "a", 9),
        ("other", "seven", 6),
        ("other", "seven", 8),
    ] {
        let output = format!("{model}-{key}-{counter}");
        let sign = format!("sign {model}.koan --key {key}.key --counter {counter} -o {output}");
        folder.run(&sign).success();
    }
    // The counter is a part of what is signed.
    let mut forged = folder.read("digits-seven-7");
    let counter = forged.windows(4).position(|bytes| bytes == 7u32.to_le_bytes()).unwrap();
    forged[counter] = 200;
    folder.write("forged", forged);
    let address = start_as(DIGITS, honest, |device| device.signed(&KEYS, ED25519, 1));
    let upload = |file: &str| format!("device {file} --connect {address} --upload");
    let refused = |file: &str, why: &str| {
        folder.fails(&upload(file), &["the device answered: model refused: ", why]);
    };
    // It runs the model in all of them, and says so of none.
    for (file, why) in
        [("digits-a-9", "signed with the unknown key"), ("forged", "the signature does not hold")]
    {
        refused(file, why);
        let text = folder.output(&format!("device {file} --connect {address}"));
        assert!(text.contains(&format!("runs the model in {file} (")), "{text}");
        assert!(text.contains("its signature and counter were not verified"), "{text}");
        let report = folder.json(&format!("device {file} --connect {address} --json"));
        assert_eq!(report["signature"], "not verified");
    }
    // A higher counter is kept, and nothing below it is taken then.
    let report = folder.json(&format!("{} --json", upload("digits-seven-7")));
    assert_eq!((&report["uploaded"], &report["signature"]), (&true.into(), &"verified".into()));
    for file in ["digits-seven-5", "digits-seven-7", "other-seven-6"] {
        refused(file, "it must be 8 at least");
    }
    let same = "the device runs the model in it, but did not take the signed file";
    folder.fails(&upload("digits-seven-7"), &[same]);
    let text = folder.output(&upload("other-seven-8"));
    assert!(text.contains("runs other-seven-8 (") && text.contains("now uploaded"), "{text}");
    // A device without a key verifies nothing, and takes none.
    let address = start_as(DIGITS, honest, |device| device);
    let arguments = format!("device digits-seven-7 --connect {address} --upload");
    folder.fails(&arguments, &["did not take the signed file", "the device answered: "]);
}

#[test]
fn keys_are_kept() {
    let (folder, _) = folder();
    let files = || ["a.key", "a.key.pub"].map(|name| folder.read(name));
    let before = files();
    folder.fails("keygen -o a.key", &["cannot write a.key: it is there already"]);
    std::fs::remove_file(folder.path("a.key")).unwrap();
    folder.fails("keygen -o a.key", &["cannot write a.key.pub: it is there already"]);
    folder.write("a.key", &before[0]);
    assert_eq!(files(), before);
    folder.fails("keygen -o nowhere/a.key", &["cannot write nowhere/a.key", "no such folder"]);
}

/// The line of Rust is there again, from either file, though keys are made only once.
#[test]
fn a_public_key_is_shown_again() {
    let (folder, key) = folder();
    let line = format!("const KEY: PublicKey = PublicKey({:?});\n", key.0);
    let before = ["a.key", "a.key.pub"].map(|name| folder.read(name));
    for name in ["a.key", "a.key.pub"] {
        assert_eq!(folder.output(&format!("keygen --show {name}")), line);
    }
    assert_eq!(["a.key", "a.key.pub"].map(|name| folder.read(name)), before);
    folder.fails("keygen --show digits.koan", &["digits.koan: no koan public key"]);
    folder.fails("keygen --show nowhere", &["cannot read nowhere"]);
    folder.run("keygen --show a.key -o b.key").code(2);
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_a_secret_key() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, _) = folder();
    let mode = |name| std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("a.key") & 0o777, 0o600);
    assert_ne!(mode("a.key.pub") & 0o777, 0o600);
}

#[test]
fn what_cannot_be_signed_is_named() {
    let (folder, _) = folder();
    let mut damaged = DIGITS.to_vec();
    damaged[50] ^= 1;
    folder.write("damaged.koan", &damaged);
    folder.write("short", "koan secret key\nAAAA\n");
    let more = String::from_utf8(folder.read("a.key")).unwrap() + "more\n";
    folder.write("more", more);
    for (arguments, parts) in [
        ("damaged.koan --key a.key", ["damaged.koan", "checksum mismatch"]),
        ("digits.koan --key a.key.pub", ["a.key.pub", "no koan secret key"]),
        ("digits.koan --key short", ["short", "the second line is no key"]),
        ("digits.koan --key more", ["more", "the second line is no key"]),
        ("digits.koan --key digits.koan", ["digits.koan", "no koan secret key"]),
        ("digits.koan --key missing", ["cannot read missing", "No such file"]),
    ] {
        folder.fails(&format!("sign {arguments} --counter 1 -o out"), &parts);
        assert!(!folder.path("out").exists());
    }
    folder.fails("sign digits.koan --key a.key --counter 1 -o a.key", &["it is an input"]);
    folder.run("sign digits.koan --key a.key --counter 1 -o signed").success();
    folder.fails("sign signed --key a.key --counter 2 -o out", &["signed: a signed model"]);
    folder.write("rows.csv", "1,2\n");
    folder.fails("predict signed rows.csv", &["signed: a signed model"]);
    folder.run("sign digits.koan --key a.key --counter 0 -o out").code(2);
    // Devices that have it could never take another.
    folder.run("sign digits.koan --key a.key --counter 4294967295 -o out").code(2);
    folder.run("sign digits.koan --key a.key --counter 4294967294 -o out").success();
}
