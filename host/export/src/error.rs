//! Why a model was not exported.

use std::io;
use std::path::{Path, PathBuf};

use crate::folder::SKETCH_CHARACTERS;

/// Why a model was not exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system would not read or write a file, or make a folder.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it was not done.
        source: io::Error,
    },
    /// The model itself would be written over.
    #[error("cannot write {}: it is an input{also}", path.display())]
    Input {
        /// What was to be written.
        path: PathBuf,
        /// A comma and the other name of the file, if it has one.
        also: String,
    },
    /// A file that is there, and that no export has written.
    #[error(
        "{} is there and not of `koan export`: rename it, or name another folder", path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The same of a file of Rust.
    #[error("{} is there and not of `koan export`: name another file", path.display())]
    ForeignModule {
        /// The file.
        path: PathBuf,
    },
    /// In the place of the blob that a file of Rust includes there is something else.
    #[error("{} is there and no model: name a file in another folder", path.display())]
    NoModel {
        /// The file in that place.
        path: PathBuf,
    },
    /// The folder has another model, or what no export has written in the place of the macros.
    #[error(
        "{} is {whose}: export into another folder; docs/c.md says how several models go into one \
         program", path.display()
    )]
    OtherModel {
        /// The file with the macros.
        path: PathBuf,
        /// Whose it is.
        whose: String,
    },
    /// The model's name is that of the runtime.
    #[error("{}: a file of the runtime has this name; rename the model", model.display())]
    RuntimeName {
        /// The model.
        model: PathBuf,
    },
    /// The file of Rust would be the blob.
    #[error("{}: the blob and the file of Rust have one name; rename the model", model.display())]
    OneName {
        /// The model.
        model: PathBuf,
    },
    /// The name of the model's file cannot stand in a file of Rust.
    #[error("{}: its name is not UTF-8", model.display())]
    NotUtf8 {
        /// The model.
        model: PathBuf,
    },
    /// A model's file cannot have this name.
    #[error("{file:?} cannot be the name of a model's file")]
    FileName {
        /// The name.
        file: String,
    },
    /// A sketch has the name of its folder, and this one has none.
    #[error("{}: a sketch needs the name of a folder", folder.display())]
    NoFolderName {
        /// The folder.
        folder: PathBuf,
    },
    /// Arduino does not open a sketch of this name.
    #[error(
        "{}: Arduino opens no sketch of this name: 1 to {SKETCH_CHARACTERS} letters from A to Z, \
         digits, and '_', '.' and '-', the first a letter, digit or '_', the last no '.'",
        folder.display()
    )]
    SketchName {
        /// The folder, which has the sketch's name.
        folder: PathBuf,
    },
    /// Names that cannot be those of the training data.
    #[error("{problem}")]
    Names {
        /// What is wrong with them.
        problem: String,
    },
    /// Columns without names, which name nothing.
    #[error("the columns have no names")]
    NoNames,
    /// In the place of the blob that a file of Rust includes there is another model, which the file
    /// does not include yet.
    #[error(
        "{} is there and another model: remove it, name the model otherwise, or name a file in \
         another folder", path.display()
    )]
    OtherBlob {
        /// The file in that place.
        path: PathBuf,
    },
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What the operating system would not do with a path.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// What is wrong with names.
    pub(crate) fn names(problem: impl Into<String>) -> Self {
        Self::Names { problem: problem.into() }
    }
}
