//! Signatures by the crates `curve25519-dalek` and `hmac-sha512`.
//!
//! Ed25519 of the first is far larger than a small device has room for. Its points, and one
//! function that adds two of them, are enough to verify: a signature is public, so nothing here
//! needs constant time, tables or arithmetic of scalars.

use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::traits::Identity;
use hmac_sha512::Hash;

use crate::envelope::{PublicKey, SIGNATURE, Verify};

/// Verifies Ed25519 signatures (RFC 8032, section 5.1.7, without the factor 8). Keys and
/// signatures that hold for more than one message, points of small order and numbers that are not
/// reduced, are refused.
pub const ED25519: Verify = verify;

/// 256 bits, the lowest first.
type Number = [u32; 8];

/// L, the order of the base point (RFC 8032, section 5.1).
const ORDER: Number = [0x5cf5_d3ed, 0x5812_631a, 0xa2f7_9cd6, 0x14de_f9de, 0, 0, 0, 0x1000_0000];

fn verify(key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE]) -> bool {
    holds(key, message, signature) == Some(true)
}

/// Whether SB = R + kA; nothing where S, R or A is refused.
fn holds(key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE]) -> Option<bool> {
    let (r_bytes, s) = signature.split_first_chunk::<32>()?;
    let s = number(s);
    if !is_reduced(&s) {
        return None;
    }
    let k = digest(r_bytes, key, message);
    let sum = sum_of_products(&s, &-point(&key.0)?, &k);
    Some(sum == point(r_bytes)?)
}

/// A point in its only encoding, not of small order.
fn point(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    // y is below 2^255 - 19. The other spelling that decompression takes, a negative zero for x,
    // is of points of small order.
    let reduced = bytes[0] < 0xed || bytes[31] | 0x80 != 0xff || bytes[1..31] != [0xff; 30];
    let point = decompress(bytes).filter(|_| reduced)?;
    (!has_small_order(point)).then_some(point)
}

#[inline(never)] // what it needs of the stack is gone when points are added
fn decompress(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    CompressedEdwardsY(*bytes).decompress()
}

/// Whether eight times the point is nothing.
fn has_small_order(mut point: EdwardsPoint) -> bool {
    for _ in 0..3 {
        double(&mut point);
    }
    point == EdwardsPoint::identity()
}

fn number(bytes: &[u8]) -> Number {
    let mut number = [0; 8];
    for (word, bytes) in number.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    number
}

fn is_reduced(number: &Number) -> bool {
    number.iter().rev().lt(ORDER.iter().rev())
}

/// k, the hash of R, A and the message modulo L, a bit after the other: the time is nothing beside
/// that of adding points.
#[inline(never)] // as above
fn digest(r: &[u8; 32], key: &PublicKey, message: &[u8]) -> Number {
    let mut hash = Hash::new();
    for part in [r, &key.0, message] {
        hash.update(part);
    }
    let mut number = [0; 8];
    for byte in hash.finalize().iter().rev() {
        for bit in (0..8).rev() {
            let mut carry = u32::from(byte >> bit & 1);
            for word in &mut number {
                (*word, carry) = (*word << 1 | carry, *word >> 31);
            }
            if !is_reduced(&number) {
                reduce(&mut number);
            }
        }
    }
    number
}

/// Subtracts the order once.
fn reduce(number: &mut Number) {
    let mut borrow = false;
    for (word, &order) in number.iter_mut().zip(&ORDER) {
        let (rest, first) = word.overflowing_sub(order);
        let (rest, second) = rest.overflowing_sub(borrow.into());
        (*word, borrow) = (rest, first | second);
    }
}

/// `s` times the base point and `k` times another, bit by bit of both at once (Straus, 1964).
#[inline(never)] // as above
fn sum_of_products(s: &Number, other: &EdwardsPoint, k: &Number) -> EdwardsPoint {
    let base = &ED25519_BASEPOINT_POINT;
    let both = base + other;
    let mut sum = EdwardsPoint::identity();
    for (s, k) in s.iter().zip(k).rev() {
        for bit in (0..32).rev() {
            double(&mut sum);
            let term = match (s >> bit & 1, k >> bit & 1) {
                (0, 0) => continue,
                (1, 0) => base,
                (0, _) => other,
                _ => &both,
            };
            add(&mut sum, term);
        }
    }
    sum
}

/// By the addition of any two points: a formula of its own would be more code.
fn double(point: &mut EdwardsPoint) {
    let same = *point;
    add(point, &same);
}

#[inline(never)] // once in the program, and what it needs of the stack only while it runs
fn add(sum: &mut EdwardsPoint, term: &EdwardsPoint) {
    *sum += term;
}

#[cfg(test)]
mod tests {
    use super::point;

    #[test]
    fn only_one_spelling_of_a_point_is_read() {
        let (mut points, mut others) = (0, 0);
        // y, and y + 2^255 - 19, with both signs of x: y = 0 and y = 1 are of small order.
        for y in 2..19 {
            for sign in [0, 0x80] {
                let (mut own, mut other) = ([0; 32], [0xff; 32]);
                (own[0], own[31]) = (y, sign);
                (other[0], other[31]) = (y + 0xed, 0x7f | sign);
                points += u32::from(point(&own).is_some());
                others += u32::from(point(&other).is_some());
            }
        }
        assert!(points > 10 && others == 0, "{points} and {others}");
    }
}
