//! Why a line is answered with an error.

use core::fmt;

use serde_json_core::de::Error as JsonError;

/// What cannot be done; its text is the answer's `error`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    /// The line has more bytes than there is room for.
    TooLong { room: usize },
    /// The line is no request.
    Request { place: Place, error: Kind },
    /// The core refuses a row or a self test.
    Core(koan::Error),
    /// The firmware's own model does not run on this device.
    BuiltIn(koan::Error),
    /// A new model is whole, but bad or too large.
    Model(koan::Error),
    /// A new model is not signed as it must be.
    Envelope(koan_sign::Error),
    /// A sample has more numbers than there is room for.
    Sample { numbers: usize, room: usize },
    /// A new model is larger than the memory for it.
    Size { size: usize, room: usize },
    /// A piece tells another size than the first one.
    OtherSize { size: usize, begun: usize },
    /// A piece is not the next one.
    Offset { offset: usize, expected: usize },
    /// A piece is no valid base64.
    Base64 { offset: usize },
    /// A piece is longer than the rest of the model.
    Beyond { offset: usize, size: usize },
    /// A piece is empty.
    NoData { offset: usize },
    /// The firmware takes no samples, or learns nothing.
    NoStream,
    /// The stream is that of the firmware's own model.
    OtherModel,
    /// A new model is good, but the firmware could not store it.
    NotKept,
}

/// Where in a request the reader was.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Request,
    UnknownRequest,
    Flag(&'static str),
    Row { read: usize },
    Class,
    Chunk,
    End,
}

/// What the reader met.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Ended,
    Number,
    Utf8,
    More,
    Other,
}

impl From<JsonError> for Kind {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::EofWhileParsingList
            | JsonError::EofWhileParsingObject
            | JsonError::EofWhileParsingString
            | JsonError::EofWhileParsingNumber
            | JsonError::EofWhileParsingValue => Self::Ended,
            JsonError::InvalidNumber => Self::Number,
            JsonError::InvalidUnicodeCodePoint => Self::Utf8,
            JsonError::TrailingCharacters | JsonError::TrailingComma => Self::More,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "the line ends in the middle",
            Self::Number => "no valid number",
            Self::Utf8 => "no valid UTF-8",
            Self::More => "more than was expected",
            Self::Other => "no valid JSON of the kind expected",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooLong { room } => write!(f, "the line is longer than {room} bytes"),
            Self::Request { place, error } => match place {
                Place::Request => write!(f, "no request, a JSON object: {error}"),
                Place::UnknownRequest => f.write_str(
                    "unknown request: there are x, sample, restart_stream, learn, info, self_test, model \
                     and abort",
                ),
                Place::Flag(name) => write!(f, "request {name}: the value must be true"),
                Place::Row { read } => write!(f, "row, number {}: {error}", read + 1),
                Place::Class => write!(f, "learn: the number of a class is needed ({error})"),
                Place::Chunk => {
                    write!(f, "model: offset, size and data in base64 are needed ({error})")
                }
                Place::End => write!(f, "after the request: {error}"),
            },
            Self::Core(error) => error.fmt(f),
            Self::BuiltIn(error) => write!(f, "the built-in model: {error}"),
            Self::Model(error) => write!(f, "model refused: {error}"),
            Self::Envelope(error) => write!(f, "model refused: {error}"),
            Self::Sample { numbers, room } => {
                write!(f, "sample: {numbers} numbers are too many, there is room for {room}")
            }
            Self::Size { size, room } => {
                write!(f, "model: {size} bytes are too many, there is room for {room}")
            }
            Self::OtherSize { size, begun } => {
                write!(f, "model: size {size}, but it began with {begun}")
            }
            Self::Offset { offset, expected: 0 } => {
                write!(f, "model: offset {offset}, expected 0")
            }
            Self::Offset { offset, expected } => {
                write!(f, "model: offset {offset}, expected {expected} or 0")
            }
            Self::Base64 { offset } => {
                write!(f, "model: the data at {offset} are no valid base64")
            }
            Self::Beyond { offset, size } => {
                write!(f, "model: the data at {offset} end beyond the size {size}")
            }
            Self::NoData { offset } => write!(f, "model: no data at {offset}"),
            Self::NoStream => f.write_str("this device takes no stream of samples"),
            Self::OtherModel => {
                f.write_str("the stream is for the built-in model, and another one is in force")
            }
            Self::NotKept => f.write_str("model refused: the device could not store it"),
        }
    }
}
