//! Signed updates over the serial line, and resets: an emulated device with a key takes what is
//! rightly signed and newer, and nothing else, and has it again when the emulator is started anew.

use anyhow::{Context, Result, ensure};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use crate::machines::{self, Machine};
use crate::serial::{Emulator, Host};
use crate::verify::{SEED, sealed};

/// With more flash and RAM than a Cortex-M0 of 16 KB: one core of each kind.
const TARGETS: [&str; 2] = ["thumbv7em-none-eabihf", "riscv32imc-unknown-none-elf"];
/// Bytes of a model in a line.
const PIECE: usize = 600;
/// Counters of the updates.
const FIRST: u32 = 7;
const SECOND: u32 = 8;

/// Builds and runs the program `updates`.
pub fn test(host: &Host) -> Result<()> {
    let machines = machines::of(&TARGETS)?;
    machines::build(&machines, &["updates"], "")?;
    let key = format!("koan secret key\n{}\n", Base64::encode_string(&[SEED; 32]));
    std::fs::write(host.path("test.key"), key)?;
    for (model, counter) in [("linear", FIRST), ("digits", SECOND)] {
        let sign = format!("sign {model}.koan --key test.key --counter {counter}");
        host.run(&format!("{sign} --output {model}.signed"))?;
    }
    for machine in &machines {
        check(host, machine).with_context(|| machine.to_string())?;
    }
    // The same code on all: one core is enough.
    crate::power::test(host, &machines[0])
}

fn check(host: &Host, machine: &Machine) -> Result<()> {
    // As from the factory.
    let _ = std::fs::remove_file(host.path("flash.bin"));
    let start = || Emulator::start(machine, &machine.program("updates")?, host.folder.path());
    let linear = std::fs::read(host.path("linear.koan"))?;
    let digits = std::fs::read(host.path("digits.koan"))?;

    let device = start()?;
    let report = host.stream(&device, "digits.koan few.csv", 3)?;
    ensure!(report["built_in"] == json!(true), "{report}");
    refused(host, &device, "digits", &linear, FIRST)?;
    let report = host.stream(&device, "linear.signed few.csv --upload", 3)?;
    ensure!(report["uploaded"] == json!(true), "{report}");
    eprintln!("  {machine}: a signed model came into force");
    refused(host, &device, "linear", &digits, SECOND)?;
    drop(device);

    // The emulator was killed: what is left is in the flash.
    let device = start()?;
    let report = host.stream(&device, "linear.koan few.csv", 3)?;
    ensure!(report["built_in"] == json!(false), "{report}");
    eprintln!("  {machine}: it is in force after a reset");
    refused(host, &device, "linear", &digits, SECOND)?;
    // An update that a reset cuts off.
    let envelope = std::fs::read(host.path("digits.signed"))?;
    let answer = send(&device, &envelope, envelope.len() / 2)?;
    ensure!(answer["model"]["in_force"] == json!(false), "{answer}");
    drop(device);
    let device = start()?;
    host.stream(&device, "linear.koan few.csv", 3)?;
    host.stream(&device, "digits.signed few.csv --upload", 3)?;
    drop(device);
    let device = start()?;
    host.stream(&device, "digits.koan few.csv", 3)?;
    // The first one, rightly signed, does not come back.
    let old = std::fs::read(host.path("linear.signed"))?;
    let answer = send(&device, &old, old.len())?;
    let why = format!("the envelope's counter is {FIRST}, it must be {} at least", SECOND + 1);
    ensure!(answer["error"] == json!(format!("model refused: {why}")), "{answer}");
    eprintln!("  {machine}: an update that was cut off and an older model changed nothing");
    Ok(())
}

/// All that must be refused by a device whose next counter is `least`; it goes on under the
/// model `name`.
fn refused(host: &Host, device: &Emulator, name: &str, blob: &[u8], least: u32) -> Result<()> {
    let whole = sealed(blob, SEED, least);
    let flipped = |at: usize| {
        let mut forged = whole.clone();
        forged[at] ^= 0x20;
        forged
    };
    let mut other = sealed(blob, SEED + 1, least);
    other[8..12].copy_from_slice(&whole[8..12]);
    let cut = whole[..whole.len() - 1].to_vec();
    let signature = "the signature does not hold".to_owned();
    let length = format!("the envelope has {} bytes, it says {}", cut.len(), whole.len());
    let counter = |found| format!("the envelope's counter is {found}, it must be {least} at least");
    let mut cases = vec![
        ("a forged header", flipped(15), signature.clone()),
        ("a forged blob", flipped(whole.len() / 2), signature.clone()),
        ("a forged signature", flipped(whole.len() - 1), signature.clone()),
        ("another's envelope", other, signature),
        ("a truncated envelope", cut, length),
        ("a blob without an envelope", blob.to_vec(), NOT_SIGNED.into()),
    ];
    if least == SECOND {
        let replayed = std::fs::read(host.path("linear.signed"))?;
        cases.push(("a replayed envelope", replayed, counter(FIRST)));
        let older = sealed(blob, SEED, FIRST - 1);
        cases.push(("an older envelope", older, counter(FIRST - 1)));
    }
    for (what, envelope, why) in cases {
        let answer = send(device, &envelope, envelope.len())?;
        let expected = json!({ "error": format!("model refused: {why}") });
        ensure!(answer == expected, "{what}: {answer}, expected {expected}");
        host.stream(device, &format!("{name}.koan few.csv"), 3)
            .with_context(|| format!("after {what}"))?;
    }
    Ok(())
}

const NOT_SIGNED: &str = "no signed model: it does not start with KSGN";

/// Sends so many bytes of a model in pieces; the last answer.
pub fn send(device: &Emulator, model: &[u8], bytes: usize) -> Result<Value> {
    let mut wire = device.connect()?;
    wire.synchronise()?;
    let mut answer = Value::Null;
    for (number, piece) in model[..bytes].chunks(PIECE).enumerate() {
        let (offset, data) = (number * PIECE, Base64::encode_string(piece));
        let piece = json!({ "model": { "offset": offset, "size": model.len(), "data": data } });
        wire.send(format!("{piece}\n").as_bytes())?;
        answer = wire.line()?;
    }
    Ok(answer)
}
