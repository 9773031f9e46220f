//! What is to be said of an export.

use std::fmt;
use std::path::PathBuf;

/// What is to be said of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The model is not called as its file.
    Renamed {
        /// What it is called.
        name: String,
        /// What its file is called, as the name of a variable.
        wanted: String,
    },
    /// An example that was changed stays as it is.
    Kept {
        /// The example.
        path: PathBuf,
        /// The model's header, if it has other constants than the example was written for.
        unlike: Option<String>,
    },
    /// The model has codes, such as `#a+`, in place of names.
    Coded {
        /// Of columns, of values of text columns, or of both.
        what: &'static str,
    },
    /// The model has no names of columns.
    Nameless,
    /// Usual values of inputs are beyond an `int16_t`.
    Beyond {
        /// The inputs.
        inputs: String,
        /// The function that takes rows of float.
        call: String,
    },
    /// Usual values of inputs are fractions, or few whole numbers.
    Coarse {
        /// The inputs.
        inputs: String,
        /// The function that takes rows of float.
        call: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Renamed { name, wanted } => write!(
                f,
                "the model is called {name}: {wanted} is a name of C, C++, Arduino or koan.h"
            ),
            Self::Kept { path, unlike } => {
                write!(f, "{} is there already and stays as it is", path.display())?;
                match unlike {
                    None => Ok(()),
                    Some(header) => write!(
                        f,
                        ", but {header} has other constants than before: it may not fit this model"
                    ),
                }
            }
            Self::Coded { what } => write!(
                f,
                "names of {what} are codes such as #a+, since the model has no room for the names \
                 themselves"
            ),
            Self::Nameless => f.write_str(
                "the model has no names of columns, and the constants have their numbers",
            ),
            Self::Beyond { inputs, call } => write!(
                f,
                "usual values of {inputs} are beyond -32768 to 32767, what rows of int16_t carry: \
                 call {call} with rows of float"
            ),
            Self::Coarse { inputs, call } => write!(
                f,
                "usual values of {inputs} differ by little more than one, if at all, and rows of \
                 int16_t carry whole numbers only: unless the values are such, call {call} with \
                 rows of float, or train on values in a smaller unit"
            ),
        }
    }
}
