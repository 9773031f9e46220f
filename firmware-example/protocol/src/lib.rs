//! The serial protocol of a koan device: JSON lines in, JSON lines out.
//!
//! `docs/protocol.md` specifies the lines. A [`Device`] owns all memory, with
//! sizes that are fixed when compiling; [`Device::serve`] reads bytes from a
//! [`Port`] and answers every line that is not blank with exactly one line.
//! Whatever comes in, it goes on answering.
//!
//! A model can be replaced while the device runs: its chunks gather in the
//! spare one of two areas of RAM, and only a model that has passed every check
//! there comes into force. One that would take longer than the firmware allows is refused
//! before any of it is run. So that no unsafe code is needed, a session borrows
//! the area in force, ends when a new model is good, and the next session
//! starts on the other area.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod answer;
mod line;
mod refusal;
mod request;
mod session;
#[cfg(test)]
mod tests;
mod upload;

use core::ops::Range;

use heapless::Vec;
use koan::{Buffers, Error, Model};
use koan_sign::{PublicKey, Verify};

use line::{Line, Pushed};
use session::{Room, Session, Signed, accept, check};
use upload::Upload;

/// The version of the protocol, in the ready line and the answer to `info`.
pub const PROTOCOL: u8 = 1;

/// Bytes of a line, at least: the longest answer that does not depend on the
/// model must fit.
pub const MIN_LINE: usize = 512;

/// Where bytes come from and answers go.
pub trait Port {
    /// The next byte, waiting for it; `None` when there are no more, which a
    /// UART never says.
    fn read(&mut self) -> Option<u8>;

    /// Writes all the bytes.
    fn write(&mut self, bytes: &[u8]);

    /// Takes a sample of a stream for the firmware's own model; `None` from a device without a
    /// stream. Takes no more work than the device's bound: a window's is that of a row, and as
    /// much again where what was learned needs the features.
    fn sample(&mut self, sample: &[f32]) -> Option<Result<Sampled<'_>, Error>> {
        let _ = sample;
        None
    }

    /// Forgets the samples and the steady class, but not what was learned: what comes next does not
    /// follow them. Whether there is a stream.
    fn restart(&mut self) -> bool {
        false
    }

    /// Learns that the latest samples of the stream, as many as a window has, are of this class,
    /// also where they end between two windows; whether anything changed. `None` from a device
    /// that does not learn.
    fn learn(&mut self, class: u8) -> Option<Result<bool, Error>> {
        let _ = class;
        None
    }

    /// Stores a model that has come and passed every check, in its envelope if it is signed, before
    /// it comes into force and is answered; whether it is stored. A device that does not store
    /// models has the firmware's own again after a reset: that is what this does by itself.
    fn keep(&mut self, model: &[u8]) -> bool {
        let _ = model;
        true
    }
}

/// What a sample of a stream has brought.
#[derive(Clone, Copy, Debug)]
pub struct Sampled<'s> {
    /// The steady class; `None` is unknown.
    pub steady: Option<u8>,
    /// The model's scores, if a window was whole with the sample.
    pub scores: Option<&'s [i32]>,
}

/// A device that answers rows: a model in flash, two areas of `MODEL` bytes of
/// RAM for models that are uploaded, working memory `B`, lines of at most
/// `LINE` bytes and rows of at most `ROW` numbers.
#[derive(Debug)]
pub struct Device<B, const LINE: usize, const ROW: usize, const MODEL: usize> {
    built_in: Model<'static>,
    buffers: B,
    work: u32,
    line: Line<LINE>,
    row: Vec<f32, ROW>,
    areas: [[u8; MODEL]; 2],
    /// The area of the model in force, if one was uploaded.
    current: usize,
    /// Where in it the uploaded model in force is; nowhere: the built-in one is.
    place: Range<usize>,
    signed: Option<Signed>,
    upload: Upload,
}

impl<B: Buffers, const LINE: usize, const ROW: usize, const MODEL: usize>
    Device<B, LINE, ROW, MODEL>
{
    /// A device with the model that it starts with. [`Device::check`] says
    /// whether the model fits. No answer takes more than `work`, as [`Model::work`] counts
    /// it: models whose self test would are refused.
    #[inline]
    #[must_use]
    pub fn new(built_in: Model<'static>, buffers: B, work: u32) -> Self {
        const { assert!(LINE >= MIN_LINE, "lines are too short for the answers") };
        Self {
            built_in,
            buffers,
            work,
            line: Line::new(),
            row: Vec::new(),
            areas: [[0; MODEL]; 2],
            current: 0,
            place: 0..0,
            signed: None,
            upload: Upload::new(),
        }
    }

    /// The same device, which takes models in an envelope under one of these keys only
    /// (crate `koan-sign`); `least` is the lowest counter of the first one. Verifying comes
    /// before anything else is looked at, and on top of `work`.
    #[must_use]
    pub fn signed(self, keys: &'static [PublicKey], verify: Verify, least: u32) -> Self {
        Self { signed: Some(Signed { keys, verify, least }), ..self }
    }

    /// Brings a stored model into force, as [`Port::keep`] was given it; whether it is. To be
    /// called before the first line. `read` fills the memory and says how many bytes it has
    /// taken; `None` if nothing is stored. The model is checked as if it came over the port.
    pub fn restore(&mut self, read: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        let area = &mut self.areas[0];
        let Some(model) = read(area).and_then(|length| area.get(..length)) else { return false };
        let room = Room { row: ROW, line: LINE, work: self.work };
        match accept(model, self.signed.as_ref(), &mut self.buffers, room) {
            Ok((place, least)) => {
                (self.current, self.place) = (0, place);
                if let Some(signed) = &mut self.signed {
                    signed.least = least;
                }
                true
            }
            Err(_) => false,
        }
    }

    /// Whether the built-in model fits this device and its self test passes.
    ///
    /// # Errors
    /// [`Error::Buffer`] names what is too small (`row` and `line` are the
    /// device's own), [`Error::Limit`], [`Error::Generator`] and [`Error::SelfTest`] as the
    /// core.
    pub fn check(&mut self) -> Result<(), Error> {
        check(self.built_in, &mut self.buffers, Room { row: ROW, line: LINE, work: self.work })
    }

    /// Writes the line that says that the device listens: `ready`, or what
    /// [`Device::check`] finds wrong.
    pub fn greet(&mut self, port: &mut impl Port) {
        let checked = self.check();
        port.write(answer::ready(checked, self.line.memory()));
    }

    /// Answers lines until the port has no more bytes. What has come of a line
    /// or a model by then is kept.
    pub fn serve(&mut self, port: &mut impl Port) {
        while self.session(port) {}
    }

    /// Answers lines under one model; whether it ended because a new model
    /// came into force.
    fn session(&mut self, port: &mut impl Port) -> bool {
        let [first, second] = &mut self.areas;
        let (area, spare) = if self.current == 0 { (first, second) } else { (second, first) };
        let uploaded = area.get(self.place.clone()).filter(|blob| !blob.is_empty());
        // It was checked when it came in.
        let uploaded = uploaded.and_then(|blob| Model::parse(blob).ok());
        let mut session = Session {
            model: uploaded.unwrap_or(self.built_in),
            built_in: uploaded.is_none(),
            spare,
            upload: &mut self.upload,
            buffers: &mut self.buffers,
            room: Room { row: ROW, line: LINE, work: self.work },
            signed: self.signed.as_mut(),
        };
        while let Some(byte) = port.read() {
            let (answer, replaced) = match self.line.push(byte) {
                Pushed::More => continue,
                Pushed::TooLong => (answer::too_long(self.line.memory()), None),
                Pushed::Whole => session.answer(&mut self.line, &mut self.row, port),
            };
            port.write(answer);
            if let Some(place) = replaced {
                self.current = 1 - self.current;
                self.place = place;
                return true;
            }
        }
        false
    }
}
