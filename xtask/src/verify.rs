//! Signed models on emulated cores: `verify` must open an envelope, and refuse what is forged,
//! replayed, truncated or another's.

use anyhow::{Context, Result, ensure};
use ed25519_compact::{KeyPair, Seed};
use koan_sign::{PublicKey, header};

use crate::elf;
use crate::machines;
use crate::plugin::Plugin;
use crate::steps::root;

/// What is signed.
const MODEL: &str = "tests/models/exercises-conv-160.koan";
/// The seed of the firmware's key, and the lowest counter that it accepts.
pub const SEED: u8 = 7;
const LEAST: u32 = 5;
/// What verifying may take on a Cortex-M0, in bytes of flash and of stack.
const MOST: (&str, u64, u64) = ("thumbv6m-none-eabi", 14_000, 3_200);
/// The firmware's exit code for a refusal.
const REFUSED: i32 = 2;

/// Builds and runs it on the cores of these targets; gives a table.
pub fn run(targets: &[&str]) -> Result<String> {
    let blob = std::fs::read(root()?.join(MODEL)).context(MODEL)?;
    let whole = sealed(&blob, SEED, LEAST);
    let mut forged = whole.clone();
    forged[100] ^= 1;
    let mut other = sealed(&blob, SEED + 1, LEAST);
    other[8..12].copy_from_slice(&whole[8..12]);
    let refused = [
        ("a forged envelope", forged),
        ("another's envelope", other),
        ("an old envelope", sealed(&blob, SEED, LEAST - 1)),
        ("a truncated envelope", whole[..whole.len() - 1].to_vec()),
        ("a blob without an envelope", blob.clone()),
    ];
    let plugin = Plugin::build()?;
    let machines = machines::of(targets)?;
    machines::build(&machines, &["verify", "flash_empty"], "")?;
    let mut table =
        "| core | instructions | flash | stack |\n| --- | ---: | ---: | ---: |\n".to_owned();
    for machine in machines {
        let elf = machine.program("verify")?;
        let watched = plugin.run(&machine, &elf, Some(&packed(&whole)))?;
        let code = watched.outcome.code;
        ensure!(code == 0, "{machine}: a signed model was refused: exit code {code}");
        for (what, envelope) in &refused {
            let code = plugin.run(&machine, &elf, Some(&packed(envelope)))?.outcome.code;
            ensure!(code == REFUSED, "{machine}: {what} was not refused: exit code {code}");
        }
        // Without what any program is.
        let flash = elf::size(&elf)?.flash - elf::size(&machine.program("flash_empty")?)?.flash;
        let stack = watched.stack;
        let (smallest, most_flash, most_stack) = MOST;
        ensure!(
            machine.target != smallest || (flash <= most_flash && stack <= most_stack),
            "{machine}: verifying takes {flash} bytes of flash and {stack} of stack"
        );
        let instructions = watched.instructions()?;
        table += &format!("| {} | {instructions} | {flash} | {stack} |\n", machine.core);
    }
    Ok(table)
}

fn packed(envelope: &[u8]) -> Vec<u8> {
    [&(envelope.len() as u32).to_le_bytes(), envelope].concat()
}

/// An envelope under the key that is made of a seed.
pub fn sealed(blob: &[u8], seed: u8, counter: u32) -> Vec<u8> {
    let pair = KeyPair::from_seed(Seed::new([seed; 32]));
    let mut envelope = header(&PublicKey(*pair.pk), counter, blob.len() as u32).to_vec();
    envelope.extend(blob);
    let signature = pair.sk.sign(&envelope, None);
    envelope.extend(*signature);
    envelope
}
