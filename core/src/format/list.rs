//! Lists of kept features: rising indices as gaps in Rice codes.

use core::marker::PhantomData;

use crate::bytes::{Cursor, byte_at, slice_at, u16_at};
use crate::error::Field;
use crate::needs::{Any, Needs, Profile, serves};

/// Indices of kept features lie below this.
pub const MAX_INDEX: u32 = 1 << 20;

/// Bytes of a list in front of its codes: r u8, length u16.
const HEADER: usize = 3;

/// The list of a bank, as it lies in the blob; empty for a bank with all its
/// features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'a> {
    bytes: &'a [u8],
}

impl<'a> List<'a> {
    pub(crate) const NONE: Self = Self { bytes: &[] };

    /// Reads a list, without a look at its codes.
    pub(crate) const fn read(cursor: &mut Cursor<'a>) -> Self {
        let at = cursor.skip(HEADER, Field::KeptFeatures);
        let length = u16_at(cursor.blob, at + 1) as usize;
        cursor.skip(length, Field::KeptFeatures);
        Self { bytes: slice_at(cursor.blob, at, cursor.at.saturating_sub(at)) }
    }

    /// Bytes of the list; 0 where there is none.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The codes of the list, if there is one.
    const fn codes(&self) -> Option<Codes<'a>> {
        match self.bytes.split_at_checked(HEADER) {
            Some((_, codes)) => Some(Codes::new(codes, byte_at(self.bytes, 0))),
            None => None,
        }
    }

    /// The last of the indices, where the list has `features` of them below `limit` and
    /// nothing else.
    pub(crate) const fn check(&self, features: u16, limit: u32) -> Option<u32> {
        let Some(mut codes) = self.codes() else { return None };
        if byte_at(self.bytes, 0) > 15 {
            return None;
        }
        let (mut left, mut last) = (features, 0);
        while left > 0 {
            match codes.next() {
                Some(index) if index < limit => last = index,
                _ => return None,
            }
            left -= 1;
        }
        if codes.bytes.is_empty() && codes.word == 0 { Some(last) } else { None }
    }
}

/// The indices of a bank's features, rising: those of its list, which was checked, or all.
#[derive(Clone, Debug)]
pub(crate) struct Indices<'a, P> {
    /// None for a bank that has all its features.
    list: Option<Codes<'a>>,
    next: usize,
    left: u16,
    profile: PhantomData<P>,
}

impl<'a, P: Profile> Indices<'a, P> {
    #[inline]
    pub(crate) const fn new(list: List<'a>, features: u16) -> Self {
        let list = if serves::<P>(Needs::LISTS) { list.codes() } else { None };
        Self { list, next: 0, left: features, profile: PhantomData }
    }
}

impl Indices<'_, Any> {
    /// The next index; for constants, which have no iterators.
    pub(crate) const fn step(&mut self) -> Option<usize> {
        let Some(left) = self.left.checked_sub(1) else { return None };
        self.left = left;
        let index = match &mut self.list {
            Some(codes) => match codes.next() {
                Some(index) => index as usize,
                None => 0,
            },
            None => self.next,
        };
        self.next = index.wrapping_add(1);
        Some(index)
    }
}

impl<P: Profile> Iterator for Indices<'_, P> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let index = match &mut self.list {
            Some(codes) if serves::<P>(Needs::LISTS) => codes.next_of_checked(),
            _ => self.next,
        };
        self.next = index.wrapping_add(1);
        Some(index)
    }
}

/// Rice codes being read, the lowest bit of a byte first.
#[derive(Clone, Copy, Debug)]
struct Codes<'a> {
    bytes: &'a [u8],
    /// Bits that were taken from the bytes and not read, and how many.
    word: u32,
    bits: u8,
    /// r.
    low_bits: u8,
    /// The least index that can follow.
    least: u32,
}

impl<'a> Codes<'a> {
    const fn new(bytes: &'a [u8], low_bits: u8) -> Self {
        // In a list that was not checked they may be more.
        Self { bytes, word: 0, bits: 0, low_bits: low_bits & 15, least: 0 }
    }

    /// The next index of a list that was checked.
    #[inline(never)]
    fn next_of_checked(&mut self) -> usize {
        self.next().unwrap_or(0) as usize
    }

    /// Takes a byte. None when there is none left.
    const fn fill(&mut self) -> Option<()> {
        let Some((&byte, rest)) = self.bytes.split_first() else { return None };
        self.bytes = rest;
        self.word |= (byte as u32) << (self.bits & 31);
        self.bits += 8;
        Some(())
    }

    /// The next index. None at the end, or if it is not below [`MAX_INDEX`].
    const fn next(&mut self) -> Option<u32> {
        let mut quotient = 0u32;
        loop {
            if self.bits == 0 && self.fill().is_none() {
                return None;
            }
            let bit = self.word & 1;
            self.word >>= 1;
            self.bits -= 1;
            if bit == 1 {
                break;
            }
            // At most 8 to a byte of the list.
            quotient += 1;
        }
        while self.bits < self.low_bits {
            if self.fill().is_none() {
                return None;
            }
        }
        let low_bits = (self.low_bits & 15) as u32;
        let low = self.word & ((1 << low_bits) - 1);
        self.word >>= low_bits;
        self.bits -= self.low_bits;
        if quotient > MAX_INDEX >> low_bits {
            return None;
        }
        // At most 2^20 + 2^15 more than an index.
        let index = self.least + (quotient << low_bits | low);
        if index >= MAX_INDEX {
            return None;
        }
        self.least = index + 1;
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// The list of codes in `bytes`.
    fn list(low_bits: u8, bytes: &[u8]) -> Vec<u8> {
        let mut list = std::vec![low_bits];
        list.extend((bytes.len() as u16).to_le_bytes());
        list.extend(bytes);
        list
    }

    fn read(low_bits: u8, bytes: &[u8], features: u16) -> Vec<usize> {
        let list = list(low_bits, bytes);
        let mut cursor = Cursor::new(&list, 0, list.len());
        let kept = List::read(&mut cursor);
        assert_eq!((kept.bytes(), cursor.at), (list.len(), list.len()));
        Indices::<Any>::new(kept, features).collect()
    }

    fn check(low_bits: u8, bytes: &[u8], features: u16, limit: u32) -> bool {
        let list = list(low_bits, bytes);
        List::read(&mut Cursor::new(&list, 0, list.len())).check(features, limit).is_some()
    }

    #[test]
    fn codes_are_read_as_specified() {
        // r = 2, in the order of the bits: none skipped, 1 00; 6, 01 01; 3, 1 11.
        let bytes = [0b1101_0001, 0b0000_0011];
        assert_eq!(bytes.to_vec(), pack(&[(0, 0), (1, 2), (0, 3)], 2));
        assert_eq!(read(2, &bytes, 3), [0, 7, 11]);
        assert!(check(2, &bytes, 3, 12) && !check(2, &bytes, 3, 11));
        assert!(!check(2, &bytes, 2, 12) && !check(2, &bytes, 4, 12));
        // r = 0 is a bitmap.
        assert_eq!(read(0, &[0b0010_1001], 3), [0, 3, 5]);
    }

    #[test]
    fn a_list_that_was_not_checked_gives_some_indices() {
        for low_bits in [16, 100, 255] {
            assert_eq!(read(low_bits, &[0xff; 40], 50).len(), 50);
        }
        assert_eq!(read(0, &[], 3), [0; 3]);
    }

    /// Quotients and low bits, bit by bit.
    fn pack(codes: &[(usize, u32)], low_bits: usize) -> Vec<u8> {
        let mut bits = Vec::new();
        for &(quotient, low) in codes {
            bits.extend(std::iter::repeat_n(0, quotient));
            bits.push(1);
            bits.extend((0..low_bits).map(|bit| (low >> bit & 1) as u8));
        }
        bits.chunks(8)
            .map(|eight| eight.iter().rev().fold(0, |byte, bit| byte << 1 | bit))
            .collect()
    }

    #[test]
    fn what_is_wrong_is_refused() {
        // Ends within a quotient, within low bits; a byte too many; padding.
        assert!(!check(0, &[0b1000_0000, 0], 2, MAX_INDEX));
        assert!(!check(9, &[1], 1, MAX_INDEX));
        assert!(check(0, &[1], 1, MAX_INDEX) && !check(0, &[1, 0], 1, MAX_INDEX));
        assert!(!check(0, &[3], 1, MAX_INDEX));
        // More low bits than any index has.
        assert!(!check(16, &[1, 0, 0], 1, MAX_INDEX) && !check(255, &[1; 40], 1, MAX_INDEX));
        // 2^20 − 1 is the last index.
        assert!(check(15, &pack(&[(31, 32_767)], 15), 1, MAX_INDEX));
        assert!(!check(15, &pack(&[(32, 0)], 15), 1, MAX_INDEX));
        assert!(!check(15, &pack(&[(31, 32_767), (0, 0)], 15), 2, MAX_INDEX));
        let mut long = std::vec![0; 65_535];
        long[65_534] = 128;
        for low_bits in (0..=15).step_by(if cfg!(miri) { 15 } else { 1 }) {
            // A quotient of 2^19 − 1; then no low bits are left to read.
            assert_eq!(check(low_bits, &long, 1, MAX_INDEX), low_bits == 0, "{low_bits}");
        }
    }
}
