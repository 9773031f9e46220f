//! What can go wrong, and where.

use core::fmt;

use crate::needs::Needs;

/// Enumerations of names that only programs which print them contain.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $(#[$each])* $variant,)*
        }

        impl $name {
            /// The name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// What is wrong with it.
            const fn wrong(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!(
                        "the blob's field `",
                        $text,
                        "` is cut off, or has a value that the format does not allow"
                    ),)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named! {
    /// A part of a blob, as `docs/format.md` has it.
    Field {
        Magic = "magic",
        Version = "version",
        Header = "header",
        Trailer = "trailer",
        Flags = "flags",
        Inputs = "inputs",
        InputMap = "input map",
        Bank = "bank",
        BankFamily = "bank family",
        BankLaw = "bank law",
        BankOptions = "bank options",
        BankFeatures = "bank features",
        BankScale = "bank scale",
        BinSlotBits = "bin slot bits",
        MaxoutPool = "maxout pool",
        ConvShape = "conv shape",
        FernDepth = "fern depth",
        SeriesShape = "series shape",
        Groups = "groups",
        GroupInputs = "group inputs",
        GroupLaw = "group law",
        GroupScale = "group scale",
        KeptFeatures = "kept features",
        Banks = "banks",
        Head = "head",
        ScoreScale = "score scale",
        ScoreShift = "score shift",
        Weights = "weights",
        Section = "section",
        SectionTwice = "section (twice)",
        ClassNames = "class names",
        GoldenRows = "golden rows",
        Calibration = "calibration",
        Work = "work",
    }
}

/// [`Error::SelfTest`]'s name of a golden row.
pub(crate) const GOLDEN_ROW: &str = "golden row";

/// Why a blob was refused, or a call could not be carried out.
///
/// Offsets count bytes from the start of the blob.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Error {
    /// The blob ends before the field that starts at `offset`.
    Truncated {
        /// The field that could not be read.
        field: Field,
        /// Where it would start.
        offset: usize,
    },
    /// The blob does not start with the four bytes `KOAN`.
    NotKoan,
    /// The blob is of a format version that this build does not know.
    Version {
        /// The version found.
        found: u8,
    },
    /// The CRC-32 at the end of the blob does not match its bytes.
    Checksum,
    /// A field holds a value that the format does not allow.
    Field {
        /// The field.
        field: Field,
        /// Where it starts.
        offset: usize,
    },
    /// A section that must be understood is unknown to this build.
    RequiredSection {
        /// Its tag.
        tag: u8,
        /// Where it starts.
        offset: usize,
    },
    /// The model needs parts of the runtime that the predictor's type does not serve.
    NotServed {
        /// Those parts.
        missing: Needs,
    },
    /// The model needs more than the limits that it was parsed within.
    Limit {
        /// Of what: work or memory.
        what: &'static str,
        /// What the model needs.
        needed: u32,
        /// What is allowed.
        limit: u32,
    },
    /// The model was trained with another generator (for example one built
    /// with the `wyhash` feature `mum32bit`): it would mispredict.
    Generator {
        /// The check word of the blob.
        expected: u16,
        /// The check word of this build's generator for the blob's seed.
        actual: u16,
    },
    /// A row, or an output slice, has the wrong length.
    Length {
        /// What was measured.
        what: &'static str,
        /// The length that is needed.
        needed: usize,
        /// The length that was given.
        given: usize,
    },
    /// A lent buffer is too small.
    Buffer {
        /// Which one.
        buffer: &'static str,
        /// The length that is needed.
        needed: usize,
        /// The length that was given.
        given: usize,
    },
    /// The call does not suit the model, such as `classify` on a regression.
    Unsuited {
        /// What the call needs.
        needs: &'static str,
    },
    /// This build computes other numbers than the ones the model was made with.
    SelfTest {
        /// What differed: the golden digest or a golden row.
        check: &'static str,
        /// Which golden row differed (0 for the digest).
        row: usize,
    },
}

impl Error {
    /// The error without its numbers, for places that cannot format (a failed
    /// `const` evaluation, a log without formatting machinery).
    #[must_use]
    pub const fn message(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "the blob ends too early",
            Self::Field { .. } => "a field of the blob has a value that the format does not allow",
            Self::NotKoan => "not a koan blob: it does not start with the bytes KOAN",
            Self::Version { .. } => "unknown format version",
            Self::Checksum => "checksum mismatch: the blob is damaged",
            Self::RequiredSection { .. } => "unknown required section",
            Self::NotServed { .. } => "the model needs parts that the predictor does not serve",
            Self::Limit { .. } => "the model needs more work or memory than is allowed",
            Self::Generator { .. } => "the model was trained with another generator",
            Self::Length { .. } => "a row, or a slice for results, has the wrong length",
            Self::Buffer { .. } => "a buffer is too small for the model",
            Self::Unsuited { .. } => "the call does not suit the model",
            Self::SelfTest { .. } => "self test failed: this build computes other numbers",
        }
    }

    /// [`Error::message`] with the name of a field: where it is told by the compiler, its text takes
    /// no flash.
    #[doc(hidden)]
    #[must_use]
    pub const fn message_when_compiling(&self) -> &'static str {
        match self {
            Self::Truncated { field, .. } | Self::Field { field, .. } => field.wrong(),
            _ => self.message(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { field, offset } => {
                write!(f, "the blob ends before field `{field}` at offset {offset}")
            }
            Self::Version { found } => write!(f, "unknown format version {found}"),
            Self::Field { field, offset } => {
                write!(f, "field `{field}` at offset {offset} has a value that is not allowed")
            }
            Self::RequiredSection { tag, offset } => {
                write!(f, "unknown required section {tag} at offset {offset}")
            }
            Self::NotServed { missing } => {
                write!(f, "the model needs what this predictor does not serve: {missing}")
            }
            Self::Limit { what, needed, limit } => {
                write!(f, "the model's {what} is {needed}, more than the limit of {limit}")
            }
            Self::Generator { expected, actual } => write!(
                f,
                "the model was trained with another generator (check word {expected:#06x}, \
                 this build's {actual:#06x}): is the wyhash feature `mum32bit` on?"
            ),
            Self::Length { what, needed, given } => {
                write!(f, "{what} has length {given}, the model needs {needed}")
            }
            Self::Buffer { buffer, needed, given } => {
                write!(f, "buffer `{buffer}` has length {given}, the model needs {needed}")
            }
            Self::Unsuited { needs } => write!(f, "this call needs {needs}"),
            Self::SelfTest { check, row } => {
                write!(f, "self test failed: {check}")?;
                // There is one digest.
                if check == GOLDEN_ROW {
                    write!(f, " {row}")?;
                }
                f.write_str(" differs on this build")
            }
            Self::NotKoan | Self::Checksum => f.write_str(self.message()),
        }
    }
}

/// On a host the sentence of `{error}`, which `main` prints of an error that it returns.
/// Elsewhere only the message, without its numbers: `unwrap` in a firmware contains this, and the
/// machinery that formats numbers is larger than a predictor.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if cfg!(any(unix, windows)) {
            fmt::Display::fmt(self, f)
        } else {
            f.write_str(self.message())
        }
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    /// `fn main() -> Result<(), koan::Error>` prints it so; it was `row`.
    #[test]
    fn what_a_host_prints_of_an_error_is_its_sentence() {
        let error = Error::Length { what: "row", needed: 2, given: 1 };
        let result: Result<(), Error> = Err(error);
        assert_eq!(format!("{error:?}"), "row has length 1, the model needs 2");
        assert_eq!(format!("{result:?}"), "Err(row has length 1, the model needs 2)");
        // Firmware has this of it.
        assert_eq!(error.message(), "a row, or a slice for results, has the wrong length");
    }

    #[test]
    fn the_compiler_names_the_field() {
        let error = Error::Field { field: Field::Magic, offset: 0 };
        assert_eq!(
            error.message_when_compiling(),
            "the blob's field `magic` is cut off, or has a value that the format does not allow"
        );
        assert!(!error.message().contains("magic"));
        assert_eq!(Error::Checksum.message_when_compiling(), Error::Checksum.message());
    }

    #[test]
    fn a_failed_self_test_counts_golden_rows_only() {
        let text = |check| format!("{}", Error::SelfTest { check, row: 3 });
        assert_eq!(text(GOLDEN_ROW), "self test failed: golden row 3 differs on this build");
        let digest = "self test failed: golden digest differs on this build";
        assert_eq!(text("golden digest"), digest);
    }
}
