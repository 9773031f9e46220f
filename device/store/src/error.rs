//! What can go wrong.

use core::convert::Infallible;
use core::fmt;

/// Why a call could not be carried out. `E` is the flash's error, `C` that of the check of a
/// model. Whatever is wrong, what is stored stays as it was, but for an update that has begun.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error<E, C = Infallible> {
    /// The flash did not read, write or erase.
    Flash(E),
    /// Where the slots are to lie, or their size, does not suit the flash.
    Layout {
        /// What is wrong.
        problem: &'static str,
    },
    /// The model is larger than a slot.
    Slot {
        /// Bytes of the model.
        needed: usize,
        /// Bytes that a slot has for it.
        room: usize,
    },
    /// The memory that a model is to be read into is too small.
    Memory {
        /// Bytes that are needed; up to 63 more than the model has.
        needed: usize,
        /// Bytes that were given.
        given: usize,
    },
    /// The pieces of a model are more or fewer bytes than were announced.
    Length {
        /// Bytes that were announced.
        announced: usize,
        /// Bytes that have come.
        given: usize,
    },
    /// [`Store::start`](crate::Store::start) comes first.
    NotStarted,
    /// No update has begun.
    NotBegun,
    /// The model in force is on trial: it is confirmed before another one comes, which would
    /// take the place of the one to go back to.
    OnTrial,
    /// No model is on trial.
    NotOnTrial,
    /// The flash gives other bytes than were written.
    Damaged,
    /// The check refused the model.
    Refused(C),
}

impl<E> Error<E> {
    /// The same where a check could have refused, for a function that also calls
    /// [`Store::finish`](crate::Store::finish).
    pub fn unchecked<C>(self) -> Error<E, C> {
        match self {
            Self::Flash(error) => Error::Flash(error),
            Self::Layout { problem } => Error::Layout { problem },
            Self::Slot { needed, room } => Error::Slot { needed, room },
            Self::Memory { needed, given } => Error::Memory { needed, given },
            Self::Length { announced, given } => Error::Length { announced, given },
            Self::NotStarted => Error::NotStarted,
            Self::NotBegun => Error::NotBegun,
            Self::OnTrial => Error::OnTrial,
            Self::NotOnTrial => Error::NotOnTrial,
            Self::Damaged => Error::Damaged,
            Self::Refused(never) => match never {},
        }
    }
}

impl<E: fmt::Debug, C: fmt::Display> fmt::Display for Error<E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flash(error) => write!(f, "the flash failed: {error:?}"),
            Self::Layout { problem } => write!(f, "the slots do not suit the flash: {problem}"),
            Self::Slot { needed, room } => {
                write!(f, "the model has {needed} bytes, a slot has room for {room}")
            }
            Self::Memory { needed, given } => {
                write!(f, "the memory has {given} bytes, the model needs {needed}")
            }
            Self::Length { announced, given } => {
                write!(f, "{given} bytes of the model have come, {announced} were announced")
            }
            Self::NotStarted => f.write_str("the store has not been started"),
            Self::NotBegun => f.write_str("no update has begun"),
            Self::OnTrial => f.write_str("the model in force is on trial: confirm it first"),
            Self::NotOnTrial => f.write_str("no model is on trial"),
            Self::Damaged => f.write_str("the flash gives other bytes than were written"),
            Self::Refused(why) => write!(f, "model refused: {why}"),
        }
    }
}

impl<E: fmt::Debug, C: fmt::Debug + fmt::Display> core::error::Error for Error<E, C> {}
