//! The store.

use embedded_storage::nor_flash::NorFlash;
use koan::Crc32;

use crate::error::Error;
use crate::slot::{ERASED, HEADER, Header, MARK, MOST_UNIT, Mark, Slot};

/// How far a model has come.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It runs for the first time. Unless it is confirmed, the next start has the one before.
    OnTrial,
    /// The application has confirmed it.
    Confirmed,
}

/// The model that a start has found.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its bytes: so many of the memory that it was read into.
    pub length: usize,
    /// Where it lies in the flash, for devices that read it in place.
    pub offset: u32,
    /// The how many-th model it is.
    pub number: u32,
    /// How far it has come.
    pub standing: Standing,
}

/// Two slots in a flash, for a model and the one that is to follow it.
///
/// An update erases one slot and writes it once; the slots take turns. Marks lie in units of
/// their own, so that nothing is written twice: flash with checksums of its own allows no more.
#[derive(Debug)]
pub struct Store<F> {
    flash: F,
    /// Where the first slot is; the second one follows.
    offset: u32,
    /// Bytes of a slot.
    size: u32,
    /// The slot in force, and how far its model has come; `None` before the start.
    force: Option<Option<(usize, Standing)>>,
    /// The slot of the next update where none is in force.
    spare: usize,
    /// The highest number that there is.
    number: u32,
    update: Option<Update>,
}

/// A model that is coming in.
#[derive(Debug)]
struct Update {
    slot: usize,
    length: usize,
    given: usize,
    crc: Crc32,
    /// A unit that is not whole yet.
    rest: [u8; MOST_UNIT],
}

impl<F: NorFlash> Store<F> {
    /// What is read and written at once.
    const UNIT: usize = {
        let unit = if F::READ_SIZE > F::WRITE_SIZE { F::READ_SIZE } else { F::WRITE_SIZE };
        assert!(unit <= MOST_UNIT, "a unit of flash has at most 64 bytes");
        assert!(unit.is_power_of_two() && F::READ_SIZE.is_power_of_two(), "odd units of flash");
        assert!(F::ERASE_SIZE.is_multiple_of(unit), "sectors are no whole units");
        assert!(F::ERASE_SIZE >= HEADER.next_multiple_of(unit) + 2 * unit, "sectors are too small");
        unit
    };
    /// Where the marks are.
    const TRIED: usize = HEADER.next_multiple_of(Self::UNIT);
    const CONFIRMED: usize = Self::TRIED + Self::UNIT;

    /// Two slots of `size` bytes each, from `offset` on. Both are whole sectors; a slot needs
    /// one for its header and as many as the model takes.
    ///
    /// # Errors
    /// [`Error::Layout`].
    pub fn new(flash: F, offset: u32, size: u32) -> Result<Self, Error<F::Error>> {
        let sector = F::ERASE_SIZE as u32;
        let end = u64::from(offset) + 2 * u64::from(size);
        let problem = if !offset.is_multiple_of(sector) || !size.is_multiple_of(sector) {
            Some("they are no whole sectors")
        } else if size / sector < 2 {
            Some("a slot has fewer than two sectors")
        } else if end > flash.capacity() as u64 {
            Some("they end behind it")
        } else {
            None
        };
        match problem {
            Some(problem) => Err(Error::Layout { problem }),
            None => {
                Ok(Self { flash, offset, size, force: None, spare: 0, number: 0, update: None })
            }
        }
    }

    /// Bytes that a model may have.
    #[must_use]
    pub fn room(&self) -> usize {
        self.size as usize - F::ERASE_SIZE
    }

    /// The flash.
    #[must_use]
    pub fn flash(&self) -> &F {
        &self.flash
    }

    /// The flash, without the store.
    #[must_use]
    pub fn into_flash(self) -> F {
        self.flash
    }

    /// Finds the model to run and reads it into `memory`: the newest that is confirmed or was
    /// never tried, whole, and accepted by `check`. `None` if there is none; a firmware then
    /// runs the one that it came with. One that the memory is too small for is passed over, as
    /// one that `check` refuses, so that a firmware with less memory can still be updated. So is
    /// one that the flash does not read: flash with checksums fails in a unit in which power was
    /// cut, until it is erased. To be called once, at every start: a model that is on trial is
    /// marked as tried, and one that the flash does not mark is passed over, too.
    ///
    /// # Errors
    /// [`Error::Flash`], where neither slot is read, or where the only model is not marked. In the
    /// second case no model is in force, and an update can begin.
    pub fn start<C>(
        &mut self,
        memory: &mut [u8],
        mut check: impl FnMut(&[u8]) -> Result<(), C>,
    ) -> Result<Option<Found>, Error<F::Error>> {
        self.force = None;
        self.update = None;
        let (mut failed, mut unmarked) = (0, None);
        let mut slots = [Slot::EMPTY; 2];
        for at in [0, 1] {
            match self.slot(at) {
                Ok(slot) => slots[at] = slot,
                Err(error) if failed > 0 => return Err(Error::Flash(error)),
                Err(_) => failed += 1,
            }
        }
        let number = |slot: usize| slots[slot].header.map_or(0, |header| header.number);
        self.number = number(0).max(number(1));
        let order = if number(1) > number(0) { [1, 0] } else { [0, 1] };
        // The flash wears evenly.
        self.spare = self.number as usize % 2;
        for at in order {
            let Slot { header: Some(header), tried, confirmed } = slots[at] else { continue };
            let standing = match (confirmed, tried) {
                (Mark::Whole, _) => Standing::Confirmed,
                (Mark::None, Mark::None) if at == order[0] => Standing::OnTrial,
                // Nobody has confirmed it.
                _ => continue,
            };
            if standing == Standing::OnTrial {
                // If it is passed over, an update takes its place.
                self.spare = at;
            }
            let length = header.length as usize;
            if length > self.room() {
                continue;
            }
            let offset = self.offset_of(at) + F::ERASE_SIZE as u32;
            let bytes = match self.read(offset, length, memory) {
                Ok(bytes) => bytes,
                Err(Error::Flash(_)) if failed == 0 => {
                    failed += 1;
                    continue;
                }
                Err(Error::Memory { .. }) => continue,
                Err(error) => return Err(error),
            };
            if Crc32::new().bytes(bytes).finish() != header.crc || check(bytes).is_err() {
                continue;
            }
            if standing == Standing::OnTrial
                && let Err(error) = self.mark(at, Self::TRIED)
            {
                unmarked = Some(error);
                continue;
            }
            self.force = Some(Some((at, standing)));
            return Ok(Some(Found { length, offset, number: header.number, standing }));
        }
        self.force = Some(None);
        unmarked.map_or(Ok(None), |error| Err(Error::Flash(error)))
    }

    /// Keeps the model that is on trial.
    ///
    /// # Errors
    /// [`Error::NotOnTrial`]; [`Error::NotStarted`]; [`Error::Flash`].
    pub fn confirm(&mut self) -> Result<(), Error<F::Error>> {
        match self.force.ok_or(Error::NotStarted)? {
            Some((slot, Standing::OnTrial)) => {
                self.mark(slot, Self::CONFIRMED).map_err(Error::Flash)?;
                self.force = Some(Some((slot, Standing::Confirmed)));
                Ok(())
            }
            _ => Err(Error::NotOnTrial),
        }
    }

    /// Begins an update with a model of `length` bytes, in the slot that is not in force. One
    /// that has begun, or waits for its trial, is given up.
    ///
    /// # Errors
    /// [`Error::OnTrial`]; [`Error::Slot`]; [`Error::NotStarted`]; [`Error::Flash`].
    pub fn begin(&mut self, length: usize) -> Result<(), Error<F::Error>> {
        let slot = match self.force.ok_or(Error::NotStarted)? {
            Some((_, Standing::OnTrial)) => return Err(Error::OnTrial),
            Some((slot, Standing::Confirmed)) => 1 - slot,
            None => self.spare,
        };
        self.update = None;
        if length > self.room() {
            return Err(Error::Slot { needed: length, room: self.room() });
        }
        let start = self.offset_of(slot);
        let model = start + F::ERASE_SIZE as u32;
        // All of it: what is left of the one before must not lie behind a shorter one. The
        // model first, see `slot`.
        self.flash.erase(model, start + self.size).map_err(Error::Flash)?;
        self.flash.erase(start, model).map_err(Error::Flash)?;
        let rest = [ERASED; MOST_UNIT];
        self.update = Some(Update { slot, length, given: 0, crc: Crc32::new(), rest });
        Ok(())
    }

    /// Takes the next piece of the model, of any length.
    ///
    /// # Errors
    /// [`Error::Length`] for more than was announced; [`Error::NotBegun`]; [`Error::Flash`].
    /// All of them end the update.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Error<F::Error>> {
        let mut update = self.update.take().ok_or(Error::NotBegun)?;
        let (announced, given) = (update.length, update.given.saturating_add(piece.len()));
        if given > announced {
            return Err(Error::Length { announced, given });
        }
        let model = self.offset_of(update.slot) + F::ERASE_SIZE as u32;
        for &byte in piece {
            let place = update.given % Self::UNIT;
            update.rest[place] = byte;
            update.given += 1;
            if place + 1 == Self::UNIT || update.given == announced {
                let first = update.given - 1 - place;
                let unit = &update.rest[..Self::UNIT];
                self.flash.write(model + first as u32, unit).map_err(Error::Flash)?;
                update.rest = [ERASED; MOST_UNIT];
            }
        }
        update.crc = update.crc.bytes(piece);
        self.update = Some(update);
        Ok(())
    }

    /// Ends the update: reads the model back into `memory`, and if it is what was written and
    /// `check` accepts it, it is the one that the next start runs on trial.
    ///
    /// # Errors
    /// [`Error::Refused`] by the check; [`Error::Length`] for less than was announced;
    /// [`Error::Damaged`]; [`Error::Memory`]; [`Error::NotBegun`]; [`Error::Flash`]. All of
    /// them end the update.
    pub fn finish<C>(
        &mut self,
        memory: &mut [u8],
        check: impl FnOnce(&[u8]) -> Result<(), C>,
    ) -> Result<(), Error<F::Error, C>> {
        let Update { slot, length, given, crc, .. } = self.update.take().ok_or(Error::NotBegun)?;
        if given < length {
            return Err(Error::Length { announced: length, given });
        }
        let start = self.offset_of(slot);
        let offset = start + F::ERASE_SIZE as u32;
        let bytes = self.read(offset, length, memory).map_err(Error::unchecked)?;
        let crc = crc.finish();
        if Crc32::new().bytes(bytes).finish() != crc {
            return Err(Error::Damaged);
        }
        check(bytes).map_err(Error::Refused)?;
        let number = self.number.saturating_add(1);
        let mut header = [ERASED; HEADER.next_multiple_of(MOST_UNIT)];
        let bytes = Header { number, length: length as u32, crc }.to_bytes();
        header.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        let header = header.get(..Self::TRIED).unwrap_or_default();
        // It waits for its trial, or may do so although the flash says that it failed.
        self.spare = slot;
        self.flash.write(start, header).map_err(Error::Flash)?;
        self.number = number;
        Ok(())
    }

    fn offset_of(&self, slot: usize) -> u32 {
        self.offset + if slot == 0 { 0 } else { self.size }
    }

    /// Reads a slot's first sector, as far as something is in it. A mark that cannot be read was
    /// not written to its end.
    fn slot(&mut self, slot: usize) -> Result<Slot, F::Error> {
        let start = self.offset_of(slot);
        let mut header = [0; HEADER.next_multiple_of(MOST_UNIT)];
        let bytes = header.get_mut(..Self::TRIED).unwrap_or_default();
        self.flash.read(start, bytes)?;
        let header = Header::read(bytes);
        let mut mark = |at: usize| {
            let mut unit = [0; MOST_UNIT];
            let unit = unit.get_mut(..Self::UNIT).unwrap_or_default();
            match self.flash.read(start + at as u32, unit) {
                Ok(()) => Mark::read(unit),
                Err(_) => Mark::Begun,
            }
        };
        Ok(Slot { header, tried: mark(Self::TRIED), confirmed: mark(Self::CONFIRMED) })
    }

    /// Reads a model into memory, in whole units.
    fn read<'m>(
        &mut self,
        offset: u32,
        length: usize,
        memory: &'m mut [u8],
    ) -> Result<&'m [u8], Error<F::Error>> {
        let (needed, given) = (length.next_multiple_of(F::READ_SIZE), memory.len());
        let bytes = memory.get_mut(..needed).ok_or(Error::Memory { needed, given })?;
        self.flash.read(offset, bytes).map_err(Error::Flash)?;
        Ok(bytes.get(..length).unwrap_or_default())
    }

    fn mark(&mut self, slot: usize, at: usize) -> Result<(), F::Error> {
        let unit = &[MARK; MOST_UNIT][..Self::UNIT];
        self.flash.write(self.offset_of(slot) + at as u32, unit)
    }
}
