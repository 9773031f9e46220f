// A flash whose power can be cut. Also of the crate's example, which includes this file: so no
// comment of the module.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read,
    check_write,
};
use std::vec;
use std::vec::Vec;

/// A flash of units of `UNIT` bytes in sectors of `SECTOR`. A unit is written once after an
/// erase; whatever does otherwise panics.
#[derive(Clone, Debug)]
pub struct Flash<const UNIT: usize, const SECTOR: usize> {
    bytes: Vec<u8>,
    /// Units written and sectors erased so far.
    pub steps: u64,
    /// The step in which power is cut.
    pub cut: Option<u64>,
    /// Erases of each sector.
    pub erases: Vec<u64>,
    /// Units in which power was cut.
    torn: Vec<bool>,
    /// Whether these fail to be read until they are erased, as in flash with checksums.
    pub checks: bool,
    /// Units in which power was cut and that read as if they were erased.
    blank: Vec<bool>,
    /// Whether these refuse to be written until they are erased.
    pub refuses: bool,
    random: fastrand::Rng,
}

/// Why the flash does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no power.
    Cut,
    /// A checksum of the flash does not hold.
    Torn,
    /// The unit is not written.
    Refused,
    /// A wrong call.
    Kind(NorFlashErrorKind),
}

impl NorFlashError for Failure {
    fn kind(&self) -> NorFlashErrorKind {
        match *self {
            Self::Cut | Self::Torn | Self::Refused => NorFlashErrorKind::Other,
            Self::Kind(kind) => kind,
        }
    }
}

impl<const UNIT: usize, const SECTOR: usize> Flash<UNIT, SECTOR> {
    /// Erased sectors; what a cut leaves is drawn from the seed.
    pub fn new(sectors: usize, seed: u64) -> Self {
        let (bytes, erases) = (vec![0xff; sectors * SECTOR], vec![0; sectors]);
        let random = fastrand::Rng::with_seed(seed);
        let torn = vec![false; sectors * SECTOR / UNIT];
        let (blank, refuses) = (torn.clone(), false);
        Self { bytes, steps: 0, cut: None, erases, torn, checks: false, blank, refuses, random }
    }

    /// What a cut leaves is drawn from this seed.
    #[cfg(test)]
    pub fn random_from(&mut self, seed: u64) {
        self.random = fastrand::Rng::with_seed(seed);
    }

    /// The unit at this byte, which is erased, refuses to be written until it is erased again.
    #[cfg(test)]
    pub fn refuse(&mut self, at: usize) {
        (self.blank[at / UNIT], self.refuses) = (true, true);
    }

    /// Changes a byte.
    #[cfg(test)]
    pub fn decay(&mut self, at: usize) {
        self.bytes[at] ^= 1 << self.random.u8(..8);
    }

    /// Whether power is cut in this step.
    fn step(&mut self) -> bool {
        self.steps += 1;
        self.cut == Some(self.steps)
    }

    fn is_off(&self) -> bool {
        self.cut.is_some_and(|cut| self.steps >= cut)
    }

    /// Leaves a part of the bytes as they are, each bit by itself, word by word, or up to a
    /// place; the others become the new ones, or anything.
    fn tear(&mut self, at: usize, new: &[u8]) {
        let random = &mut self.random;
        let (kind, border) = (random.u8(..6), random.usize(..=new.len()));
        self.torn[at / UNIT..(at + new.len()) / UNIT].fill(kind > 1);
        for (place, (old, &new)) in self.bytes[at..].iter_mut().zip(new).enumerate() {
            *old = match kind {
                0 => *old,
                1 => new,
                2 if place < border => new,
                3 if place >= border => new,
                4 => {
                    let keep = random.u8(..);
                    *old & keep | new & !keep
                }
                // Bits that an erase has not made ones yet, in words that it has begun.
                5 if place / 4 % 3 == border % 3 => random.u8(..) | *old & new,
                _ => *old,
            };
        }
        for unit in at / UNIT..(at + new.len()) / UNIT {
            self.blank[unit] = self.bytes[unit * UNIT..][..UNIT].iter().all(|&byte| byte == 0xff);
        }
    }
}

impl<const UNIT: usize, const SECTOR: usize> ErrorType for Flash<UNIT, SECTOR> {
    type Error = Failure;
}

impl<const UNIT: usize, const SECTOR: usize> ReadNorFlash for Flash<UNIT, SECTOR> {
    const READ_SIZE: usize = UNIT;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failure> {
        check_read(self, offset, bytes.len()).map_err(Failure::Kind)?;
        if self.is_off() {
            return Err(Failure::Cut);
        }
        let (first, units) = (offset as usize / UNIT, bytes.len() / UNIT);
        if self.checks && self.torn[first..][..units].contains(&true) {
            return Err(Failure::Torn);
        }
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const UNIT: usize, const SECTOR: usize> NorFlash for Flash<UNIT, SECTOR> {
    const WRITE_SIZE: usize = UNIT;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        check_erase(self, from, to).map_err(Failure::Kind)?;
        for at in (from as usize..to as usize).step_by(SECTOR) {
            if self.is_off() {
                return Err(Failure::Cut);
            }
            self.erases[at / SECTOR] += 1;
            if self.step() {
                self.tear(at, &[0xff; SECTOR]);
                return Err(Failure::Cut);
            }
            self.bytes[at..at + SECTOR].fill(0xff);
            self.torn[at / UNIT..(at + SECTOR) / UNIT].fill(false);
            self.blank[at / UNIT..(at + SECTOR) / UNIT].fill(false);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failure> {
        check_write(self, offset, bytes.len()).map_err(Failure::Kind)?;
        for (unit, at) in bytes.chunks(UNIT).zip((offset as usize..).step_by(UNIT)) {
            if self.is_off() {
                return Err(Failure::Cut);
            }
            if self.refuses && self.blank[at / UNIT] {
                return Err(Failure::Refused);
            }
            let erased = self.bytes[at..at + UNIT].iter().all(|&byte| byte == 0xff);
            assert!(erased, "the unit at {at} is written twice");
            if self.step() {
                self.tear(at, unit);
                return Err(Failure::Cut);
            }
            self.bytes[at..at + UNIT].copy_from_slice(unit);
        }
        Ok(())
    }
}
