//! Lists of kept features, written: how many are left out in front of each, in the
//! Rice code that takes the fewest bytes. `docs/format.md` specifies it, the core
//! reads it.

use koan::generator::Stream;
use koan::{Error, Field};

/// Most low bits of a code.
const MOST_LOW_BITS: u8 = 15;

/// The bytes of a list of rising indices: low bits, length, codes. `offset`: where it
/// will lie, for errors.
///
/// # Errors
/// Indices that do not rise, or codes longer than a list may be.
pub fn list(kept: &[u32], offset: usize) -> Result<Vec<u8>, Error> {
    let gaps = gaps(kept).ok_or(Error::Field { field: Field::KeptFeatures, offset })?;
    let cost = |low_bits: u8| -> u64 {
        gaps.iter().map(|gap| u64::from(gap >> low_bits) + 1 + u64::from(low_bits)).sum()
    };
    let low_bits = (0..=MOST_LOW_BITS).min_by_key(|&low_bits| cost(low_bits)).unwrap_or(0);
    let length = cost(low_bits).div_ceil(8);
    let length = u16::try_from(length).map_err(|_| Error::Length {
        what: "list of kept features",
        needed: usize::from(u16::MAX),
        given: length as usize,
    })?;
    let mut bytes = vec![low_bits];
    bytes.extend(length.to_le_bytes());
    let (mut byte, mut bits) = (0u8, 0);
    let mut push = |bit: bool| {
        byte |= u8::from(bit) << bits;
        bits += 1;
        if bits == 8 {
            bytes.push(byte);
            (byte, bits) = (0, 0);
        }
    };
    for gap in gaps {
        (0..gap >> low_bits).for_each(|_| push(false));
        push(true);
        (0..low_bits).for_each(|bit| push(gap >> bit & 1 == 1));
    }
    if bits > 0 {
        bytes.push(byte);
    }
    Ok(bytes)
}

/// `count` of the first `candidates` indices at random, rising, always the same: each is
/// taken with the chance that leaves the others equally likely (selection sampling, Knuth,
/// *The Art of Computer Programming* 3.4.2, Algorithm S). Lists of features that are kept
/// for their use are about as long.
#[must_use]
pub fn kept_at_random(candidates: u32, count: u32) -> Vec<u32> {
    let stream = Stream::new(1, count);
    let mut kept = Vec::new();
    for index in 0..candidates {
        let left = u64::from(count) - kept.len() as u64;
        let chance = stream.draw(u64::from(index)) >> 32;
        if (chance * u64::from(candidates - index)) >> 32 < left {
            kept.push(index);
        }
    }
    kept
}

/// How many indices are left out in front of each. None if they do not rise.
fn gaps(kept: &[u32]) -> Option<Vec<u32>> {
    let mut least = 0;
    kept.iter()
        .map(|&index| {
            let gap = index.checked_sub(least)?;
            least = index.checked_add(1)?;
            Some(gap)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_as_specified() {
        // In the order of the bits: none left out, 1 0; 6, 0001 0; 3, 01 1.
        assert_eq!(list(&[0, 7, 11], 0), Ok(vec![1, 2, 0, 0b0010_0001, 0b11]));
    }

    #[test]
    fn what_does_not_rise_is_refused() {
        let error = Err(Error::Field { field: Field::KeptFeatures, offset: 40 });
        for kept in [&[3, 3][..], &[5, 2], &[u32::MAX, 7]] {
            assert_eq!(list(kept, 40), error);
        }
        let wide: Vec<u32> = (0..60_000).map(|i| 17 * i).collect();
        assert!(list(&wide, 0).is_ok());
        let wider: Vec<u32> = (0..120_000).map(|i| 16_000 * i).collect();
        assert!(matches!(list(&wider, 0), Err(Error::Length { .. })));
    }

    /// Of indices kept at random, the codes are within 3 % and two bytes of what
    /// information theory allows: log2 of the number of ways to choose them.
    #[test]
    fn lists_are_nearly_as_short_as_can_be() {
        for (candidates, count) in [(4096, 640), (20_000, 200), (1000, 500), (65_536, 30)] {
            let kept = kept_at_random(candidates, count);
            assert_eq!(kept.len(), count as usize);
            let bytes = list(&kept, 0).unwrap().len();
            let ways = |i: u32| f64::from(candidates - i) / f64::from(i + 1);
            let least: f64 = (0..count).map(|i| ways(i).log2()).sum();
            println!(
                "{count} of {candidates}: {bytes} bytes, {:.2} bits an index, at least {:.2}",
                8.0 * bytes as f64 / f64::from(count),
                least / f64::from(count)
            );
            assert!((bytes as f64) < 3.0 + least / 8.0 * 1.03 + 2.0);
        }
    }
}
