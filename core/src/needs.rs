//! What a predictor serves, as types: which parts of the runtime a program contains.
//!
//! A model that is built in ([`include_model!`](crate::include_model)) has a [`Profile`]
//! with just its own [`Needs`]: the compiler leaves out all else. A model that comes when
//! the program runs is run by [`Any`], or by a profile of the program's own that serves
//! less.

use core::fmt;
use core::marker::PhantomData;

use crate::bytes::u16_at;
use crate::format::bank::Bank;
use crate::format::family::Width;
use crate::format::field;
use crate::format::map::{InputMap, Line};
use crate::format::model::Model;

/// A set of parts of the runtime.
///
/// ```
/// use koan::Needs;
///
/// let needs = Needs::FOURIER.and(Needs::BITS_4);
/// assert!(Needs::ALL.covers(needs) && !needs.covers(Needs::ALL));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Needs(u32);

macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident = $bit:literal, $name:literal;)*) => {
        impl Needs {
            $(
                #[doc = concat!("The part: ", $name, ".")] $(#[$doc])*
                pub const $part: Self = Self(1 << $bit);
            )*
            /// All there is.
            pub const ALL: Self = Self(0 $(| 1 << $bit)*);
            /// The parts with their names.
            const NAMED: &[(Self, &'static str)] = &[$((Self::$part, $name)),*];
        }
    };
}

// Those of the families first, in the order of their codes.
parts! {
    LINEAR = 0, "linear";
    FOURIER = 1, "fourier";
    STUMP = 2, "stump";
    BIN = 3, "bin";
    MAXOUT = 4, "maxout";
    SIGMOID = 5, "sigmoid";
    CONV = 6, "conv";
    FERN = 7, "fern";
    SERIES = 8, "series";
    HADAMARD = 9, "projections by a Hadamard transform";
    /// Gaussian, cauchy and sign.
    DENSE = 10, "dense projections";
    GROUPS = 11, "groups of inputs";
    LISTS = 12, "lists of kept features";
    LOGARITHM = 13, "logarithms of inputs";
    /// Or a gain for each, or a map for each channel.
    MAPS = 14, "an input map for each input";
    BITS_2 = 15, "weights of 2 bits";
    BITS_3 = 16, "weights of 3 bits";
    BITS_4 = 17, "weights of 4 bits";
    BITS_8 = 18, "weights of 8 bits";
    BITS_16 = 19, "weights of 16 bits";
    /// In self tests.
    GOLDEN_ROWS = 20, "golden rows";
    /// In self tests.
    FEATURES = 21, "models without outputs";
}

impl Needs {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is in it.
    #[must_use]
    #[inline]
    pub const fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// What is in it and not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The names of the parts.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().filter(move |(part, _)| self.covers(*part)).map(|(_, name)| *name)
    }

    /// The part that makes the features of the family with this code.
    pub(crate) const fn family(code: u8) -> Self {
        Self(1 << (code & 31))
    }

    /// The part for weights of so many bits: 2, 3, 4, 8, or else 16.
    #[must_use]
    pub const fn bits(bits: u8) -> Self {
        match bits {
            2 => Self::BITS_2,
            3 => Self::BITS_3,
            4 => Self::BITS_4,
            8 => Self::BITS_8,
            _ => Self::BITS_16,
        }
    }

    /// The bits of a weight where all weights have the same.
    pub(crate) const fn only_bits(self) -> Option<u8> {
        let mut only = None;
        let mut place = 0;
        while place < Width::BITS.len() {
            if self.covers(Self::bits(Width::BITS[place])) {
                if only.is_some() {
                    return None;
                }
                only = Some(Width::BITS[place]);
            }
            place += 1;
        }
        only
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, name) in self.names().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Needs {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}", defmt::Display2Format(self));
    }
}

impl fmt::Debug for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether time or bytes count more. The numbers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Form {
    /// Time before bytes.
    Fast,
    /// Bytes before time: smaller code, less stack, shorter buffers for fourier features
    /// under the Hadamard transform.
    Small,
}

/// What a [`Predictor`](crate::Predictor) contains. A type without values.
pub trait Profile {
    /// The parts of the runtime that it serves.
    const NEEDS: Needs;
    /// Whether time or bytes count more.
    const FORM: Form;

    /// Whether bytes count more.
    #[doc(hidden)]
    const SMALL: bool = matches!(Self::FORM, Form::Small);

    /// The model, where it is the only one that is served.
    #[doc(hidden)]
    const ONLY: Option<Only> = None;
}

/// A model that is built in: its banks, read when compiling.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Only {
    /// Its blob.
    pub blob: &'static [u8],
    /// Its banks.
    pub banks: &'static [Bank<'static>],
    /// The map of its first input, and the line on which the map of all inputs is.
    pub map: InputMap,
    /// See `map`.
    pub line: Line,
}

impl Only {
    /// Reads what is to be known of a model.
    #[must_use]
    pub const fn of(model: &Model<'static>, banks: &'static [Bank<'static>]) -> Self {
        Self { blob: model.blob(), banks, map: model.input_map(0), line: model.line() }
    }
}

/// Serves every model, fast.
#[derive(Clone, Copy, Debug)]
pub struct Any;

impl Profile for Any {
    const NEEDS: Needs = Needs::ALL;
    const FORM: Form = Form::Fast;
}

/// Serves what `P` does, in the small form.
#[derive(Clone, Copy, Debug)]
pub struct Small<P = Any>(PhantomData<P>);

impl<P: Profile> Profile for Small<P> {
    const NEEDS: Needs = P::NEEDS;
    const FORM: Form = Form::Small;
    const ONLY: Option<Only> = P::ONLY;
}

/// The number of inputs, where it is known when compiling.
#[inline(always)]
pub(crate) const fn known_inputs<P: Profile>() -> Option<u16> {
    match P::ONLY {
        Some(only) => Some(u16_at(only.blob, field::INPUTS)),
        None => None,
    }
}

/// Whether the profile serves `part`; known when compiling.
#[inline(always)]
pub(crate) const fn serves<P: Profile>(part: Needs) -> bool {
    P::NEEDS.covers(part)
}

/// Whether the core is of the smallest ones, ARMv6-M: it neither reads words at odd places nor
/// does anything on a condition but branching.
pub(crate) const SMALLEST: bool = cfg!(all(target_arch = "arm", not(target_has_atomic = "32")));

/// Said in a loop: the smallest cores are spared copies of it, which cargo's own profile for
/// releases makes. It is no instruction.
#[inline(always)]
pub(crate) fn rolled() {
    if SMALLEST {
        core::hint::black_box(());
    }
}
