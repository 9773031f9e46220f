//! `koan keygen` and `koan sign`: models that a device can tell from a stranger's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use base64ct::{Base64, Encoding};
use clap::Args;
use ed25519_compact::{KeyPair, Seed};
use koan_sign::{ED25519, Envelope, OVERHEAD, PublicKey, header};
use koan_trainer::private_write;

use crate::files;
use crate::out::say;
use crate::output::{quoted, read_blob, read_within, tested, write_whole};

/// The first lines of key files.
const SECRET: &str = "koan secret key";
const PUBLIC: &str = "koan public key";

#[derive(Debug, Args)]
pub struct Keygen {
    /// Where to write the secret key; the public key goes to the same name with .pub behind it
    #[arg(short, long, value_name = "FILE", default_value = "koan.key")]
    pub output: PathBuf,
    /// Make no keys: print the public key of this file, secret or public, as a line of Rust
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub show: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Sign {
    /// The model
    pub model: PathBuf,
    /// The secret key, of `koan keygen`
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// Higher than that of every model that devices have got before, and below 4294967295,
    /// which nothing could follow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..4_294_967_295))]
    pub counter: u32,
    /// Where to write the signed model
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Makes a new pair of keys. One that is there is never replaced: what it has signed could not
/// be followed up.
pub fn keygen(arguments: &Keygen) -> Result<()> {
    if let Some(path) = &arguments.show {
        return say!("{}", in_rust(&public_key(path)?));
    }
    let secret = &arguments.output;
    let mut public = OsString::from(secret);
    public.push(".pub");
    let public = PathBuf::from(public);
    for path in [secret, &public] {
        ensure!(!path.exists(), "cannot write {}: it is there already", path.display());
    }
    files::check([], [secret.as_path(), &public])?;
    let seed = Seed::generate();
    let key = PublicKey(*KeyPair::from_seed(seed).pk);
    let text = format!("{SECRET}\n{}\n", Base64::encode_string(&*seed));
    private_write(secret, text.as_bytes())
        .with_context(|| format!("cannot write {}", secret.display()))?;
    let text = format!("{PUBLIC}\n{}\n", Base64::encode_string(&key.0));
    write_whole(&public, text.as_bytes())?;
    say!("{}: the secret key {}, which nobody else may see", secret.display(), id(&key))?;
    say!("{}: its public key, for firmwares:", public.display())?;
    say!("  {}", in_rust(&key))?;
    say!("`koan keygen --show {}` prints it again.", quoted(&public.display().to_string()))
}

/// A public key as a line of Rust.
fn in_rust(key: &PublicKey) -> String {
    format!("const KEY: PublicKey = PublicKey({:?});", key.0)
}

/// The public key in a file, or that of the secret key in it.
fn public_key(path: &Path) -> Result<PublicKey> {
    match read_key(path, PUBLIC) {
        Ok(key) => Ok(PublicKey(key)),
        Err(no_public) => match read_key(path, SECRET) {
            Ok(seed) => Ok(PublicKey(*KeyPair::from_seed(Seed::new(seed)).pk)),
            Err(_) => Err(no_public),
        },
    }
}

/// Puts a model into an envelope.
pub fn sign(arguments: &Sign) -> Result<()> {
    let Sign { model, key, counter, output } = arguments;
    files::check([model, key], [output.as_path()])?;
    let blob = read_blob(model)?;
    tested(model, &blob)?;
    let pair = KeyPair::from_seed(Seed::new(read_key(key, SECRET)?));
    let public = PublicKey(*pair.pk);
    let length = u32::try_from(blob.len()).context("the model is longer than an envelope")?;
    let mut envelope = header(&public, *counter, length).to_vec();
    envelope.extend(&blob);
    let signature = pair.sk.sign(&envelope, None);
    envelope.extend(*signature);
    // What a device will say.
    Envelope::open(&envelope, &[public], *counter, ED25519)?;
    write_whole(output, &envelope)?;
    say!(
        "{}: {} bytes, {} of them the model's; counter {counter}, key {}",
        output.display(),
        envelope.len(),
        envelope.len() - OVERHEAD,
        id(&public)
    )
}

/// The blob in a file that may be an envelope, whoever has signed it.
pub fn unsealed(file: &[u8]) -> Result<&[u8]> {
    match Envelope::unverified(file) {
        Err(koan_sign::Error::NotSigned) => Ok(file),
        found => Ok(found?.blob),
    }
}

/// The id of a key, as errors have it.
fn id(key: &PublicKey) -> String {
    key.id().map(|byte| format!("{byte:02x}")).concat()
}

/// Bytes of a key file, at most.
const LARGEST_KEY: u64 = 1 << 12;

/// The 32 bytes in a file of a key of this kind.
fn read_key(path: &Path, kind: &str) -> Result<[u8; 32]> {
    let at = || path.display().to_string();
    let bytes = read_within(path, LARGEST_KEY)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    if lines.next() != Some(kind) {
        bail!("{}: no {kind}: the first line says otherwise", at());
    }
    let mut bytes = [0; 32];
    let decoded = Base64::decode(lines.next().unwrap_or_default(), &mut bytes);
    let whole = decoded.is_ok_and(|decoded| decoded.len() == 32);
    ensure!(whole && lines.next().is_none(), "{}: the second line is no key", at());
    Ok(bytes)
}
