//! Flash that a file of the host stands in for, by semihosting: the emulated machines have none
//! that a program can write, and their RAM is gone when the emulator ends. The file is not, so that
//! ending the emulator and starting it again is what pulling the plug is to a board.
//!
//! The plug is also pulled in the middle of a write or an erase: a file beside it says of which.

use core::ffi::CStr;

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read,
    check_write,
};
use semihosting::fs::{File, OpenOptions};
use semihosting::io::{Read, Seek, SeekFrom, Write};

/// A word is written at once.
const WORD: usize = 4;
/// A sector is erased at once.
const SECTOR: usize = 1024;

/// A number (u32, little-endian): so many words and sectors are written and erased before the power
/// is cut in the next one. Without the file it stays.
const POWER: &CStr = c"power.bin";
/// The emulator's exit code when the power is cut.
const CUT: i32 = 103;

/// Flash of so many bytes in a file, which is made, erased, if it is not there.
#[derive(Debug)]
pub struct FileFlash<const BYTES: usize> {
    file: File,
    /// Words and sectors until the power is cut.
    left: Option<u32>,
}

/// Why the flash cannot be used.
#[derive(Clone, Copy, Debug)]
pub enum FlashError {
    /// The host does not give the file.
    File,
    /// What the traits refuse.
    Refused(NorFlashErrorKind),
}

impl NorFlashError for FlashError {
    fn kind(&self) -> NorFlashErrorKind {
        match *self {
            Self::File => NorFlashErrorKind::Other,
            Self::Refused(kind) => kind,
        }
    }
}

impl<const BYTES: usize> FileFlash<BYTES> {
    /// Opens the file in the folder that the emulator was started in.
    ///
    /// # Errors
    /// [`FlashError::File`].
    pub fn open(path: &CStr) -> Result<Self, FlashError> {
        let open = || OpenOptions::new().read(true).write(true).open(path);
        if let Ok(file) = open() {
            return Ok(Self { file, left: power() });
        }
        File::create(path).map_err(|_| FlashError::File)?;
        let mut flash = Self { file: open().map_err(|_| FlashError::File)?, left: None };
        flash.erase(0, BYTES as u32)?;
        Ok(flash)
    }

    fn at(&mut self, offset: u32) -> Result<&mut File, FlashError> {
        self.file.seek(SeekFrom::Start(offset.into())).map_err(|_| FlashError::File)?;
        Ok(&mut self.file)
    }

    /// Writes a word or a sector: the first half of it, if the power is cut meanwhile.
    fn put(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashError> {
        let half = bytes.split_at(bytes.len() / 2).0;
        let cut = self.left == Some(0);
        self.left = self.left.map(|left| left.saturating_sub(1));
        let file = self.at(offset)?;
        file.write_all(if cut { half } else { bytes }).map_err(|_| FlashError::File)?;
        if cut {
            crate::exit(CUT)
        }
        Ok(())
    }
}

impl<const BYTES: usize> ErrorType for FileFlash<BYTES> {
    type Error = FlashError;
}

impl<const BYTES: usize> ReadNorFlash for FileFlash<BYTES> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FlashError> {
        check_read(self, offset, bytes.len()).map_err(FlashError::Refused)?;
        self.at(offset)?.read_exact(bytes).map_err(|_| FlashError::File)
    }

    fn capacity(&self) -> usize {
        BYTES
    }
}

impl<const BYTES: usize> NorFlash for FileFlash<BYTES> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), FlashError> {
        check_erase(self, from, to).map_err(FlashError::Refused)?;
        for sector in (from..to).step_by(SECTOR) {
            self.put(sector, &[0xff; SECTOR])?;
        }
        Ok(())
    }

    /// Clears bits only, as flash does.
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashError> {
        check_write(self, offset, bytes.len()).map_err(FlashError::Refused)?;
        for (place, word) in (offset..).step_by(WORD).zip(bytes.chunks_exact(WORD)) {
            let mut there = [0; WORD];
            self.read(place, &mut there)?;
            there.iter_mut().zip(word).for_each(|(there, byte)| *there &= byte);
            self.put(place, &there)?;
        }
        Ok(())
    }
}

/// What the host has said about the power.
fn power() -> Option<u32> {
    let mut number = [0; 4];
    File::open(POWER).ok()?.read_exact(&mut number).ok()?;
    Some(u32::from_le_bytes(number))
}
