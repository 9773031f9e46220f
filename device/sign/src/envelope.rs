//! The envelope.

use crate::error::Error;

/// Version of the envelope's format.
pub const FORMAT: u32 = 1;
/// Bytes in front of the blob; a whole number of words, so that a blob in an envelope that lies
/// at a whole word does so too.
pub const HEADER: usize = 20;
/// Bytes of a signature.
pub const SIGNATURE: usize = 64;
/// Bytes of an envelope without its blob.
pub const OVERHEAD: usize = HEADER + SIGNATURE;

/// What envelopes begin with.
pub const MAGIC: [u8; 4] = *b"KSGN";

/// An Ed25519 public key.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// What envelopes call it: its first four bytes.
    #[must_use]
    pub const fn id(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.0;
        [a, b, c, d]
    }
}

/// What says whether a signature is that of a message under a key:
/// [`ED25519`](crate::ED25519), or the device's own hardware.
pub type Verify = fn(key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE]) -> bool;

/// The header of an envelope; blob and signature of both follow.
#[must_use]
pub fn header(key: &PublicKey, counter: u32, length: u32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let [counter, length] = [counter, length].map(u32::to_le_bytes);
    let words = [MAGIC, FORMAT.to_le_bytes(), key.id(), counter, length];
    header.as_chunks_mut::<4>().0.iter_mut().zip(words).for_each(|(place, word)| *place = word);
    header
}

/// What a verified envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'e> {
    /// The blob, for `Model::parse_within` of the crate `koan`: signed is not the same as sound.
    pub blob: &'e [u8],
    /// The counter, for the next envelope's `least`: one more, by `saturating_add`.
    pub counter: u32,
    /// The place of its key among the device's.
    pub key: usize,
}

impl<'e> Envelope<'e> {
    /// Verifies an envelope under one of the device's `keys`. `least` is the lowest counter that
    /// is accepted: one more than that of the model in force; for that model itself, its own.
    ///
    /// # Errors
    /// Whatever is wrong with it, the signature last: that takes time.
    pub fn open(
        envelope: &'e [u8],
        keys: &[PublicKey],
        least: u32,
        verify: Verify,
    ) -> Result<Self, Error> {
        let (found, id) = Self::read(envelope)?;
        let with_id = keys.iter().enumerate().find(|(_, key)| key.id() == id);
        let (place, key) = with_id.ok_or(Error::Key { id })?;
        if found.counter < least {
            return Err(Error::Counter { found: found.counter, least });
        }
        match envelope.split_last_chunk() {
            Some((signed, signature)) if verify(key, signed, signature) => {
                Ok(Self { key: place, ..found })
            }
            _ => Err(Error::Signature),
        }
    }

    /// What an envelope holds, whoever has signed it: for hosts that hand it on. Its key is not
    /// looked for.
    ///
    /// # Errors
    /// [`Error::NotSigned`], [`Error::Format`] and [`Error::Length`].
    pub fn unverified(envelope: &'e [u8]) -> Result<Self, Error> {
        Ok(Self::read(envelope)?.0)
    }

    /// The parts, and the key's id.
    fn read(envelope: &'e [u8]) -> Result<(Self, [u8; 4]), Error> {
        let given = envelope.len();
        if !envelope.starts_with(&MAGIC) {
            return Err(Error::NotSigned);
        }
        let word = |at: usize| envelope.get(at..)?.first_chunk().copied();
        let too_short = Error::Length { needed: OVERHEAD as u64, given };
        let found = u32::from_le_bytes(word(4).ok_or(too_short)?);
        if found != FORMAT {
            return Err(Error::Format { found });
        }
        let words = [word(8), word(12), word(16)];
        let [Some(id), Some(counter), Some(length)] = words else { return Err(too_short) };
        let [counter, length] = [counter, length].map(u32::from_le_bytes);
        let needed = u64::from(length) + OVERHEAD as u64;
        if needed != given as u64 {
            return Err(Error::Length { needed, given });
        }
        let blob = envelope.get(HEADER..given - SIGNATURE).unwrap_or_default();
        Ok((Self { blob, counter, key: 0 }, id))
    }
}
