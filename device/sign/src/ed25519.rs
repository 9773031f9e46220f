//! Signatures by the crate `ed25519-compact`.

use ed25519_compact as compact;

use crate::envelope::{PublicKey, SIGNATURE, Verify};

/// Verifies Ed25519 signatures (RFC 8032). Keys and signatures that hold for more than one
/// message, points of small order and numbers that are not reduced, are refused.
pub const ED25519: Verify = verify;

fn verify(key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE]) -> bool {
    let key = compact::PublicKey::new(key.0);
    key.verify(message, &compact::Signature::new(*signature)).is_ok()
}
