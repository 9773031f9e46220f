//! Flash that a file of the host stands in for, by semihosting: the emulated machines have none
//! that a program can write, and their RAM is gone when the emulator ends. The file is not, so that
//! ending the emulator and starting it again is what pulling the plug is to a board.

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

/// Flash of so many bytes in a file, which is made, erased, if it is not there.
#[derive(Debug)]
pub struct FileFlash<const BYTES: usize>(File);

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
            return Ok(Self(file));
        }
        File::create(path).map_err(|_| FlashError::File)?;
        let mut flash = Self(open().map_err(|_| FlashError::File)?);
        flash.erase(0, BYTES as u32)?;
        Ok(flash)
    }

    fn at(&mut self, offset: u32) -> Result<&mut File, FlashError> {
        self.0.seek(SeekFrom::Start(offset.into())).map_err(|_| FlashError::File)?;
        Ok(&mut self.0)
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
        let file = self.at(from)?;
        for _ in (from..to).step_by(SECTOR) {
            file.write_all(&[0xff; SECTOR]).map_err(|_| FlashError::File)?;
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
            self.at(place)?.write_all(&there).map_err(|_| FlashError::File)?;
        }
        Ok(())
    }
}
