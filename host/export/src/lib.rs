//! Models as source of programs: C for any compiler, a sketch for Arduino, or a module of Rust.
//!
//! [`Export`] is a model on its way to a program. [`Export::write`] writes its files into a folder
//! and returns which they are, and what is to be said of them: nothing here prints, or knows a
//! command line. Files are written whole or not at all, those of somebody else are not replaced,
//! and an example that was changed stays.
//!
//! ```
//! use koan::Model;
//! use koan_data::TableBuilder;
//! use koan_export::{Export, Language};
//! use koan_trainer::{Progress, TrainOptions, train};
//!
//! let x: Vec<f32> = (0..200).map(|i| (i * 37 % 200) as f32 / 20.0).collect();
//! let state: Vec<&str> = x.iter().map(|x| if x.sin() > 0.0 { "on" } else { "off" }).collect();
//! let table = TableBuilder::new(200).column("x", &x[..]).classes("state", &state[..]).build()?;
//! let options = TrainOptions { features: vec![32], ..TrainOptions::default() };
//! let blob = train(&table, None, &options, &Progress::none())?.blob;
//!
//! let model = Model::parse(&blob)?;
//! let folder = tempfile::tempdir()?;
//! let written = Export::new(&model, "pump.koan")?.write(Language::C, folder.path())?;
//! let names: Vec<_> = written.files.iter().filter_map(|path| path.file_name()).collect();
//! assert_eq!(names, ["koan.h", "koan.c", "koan_config.h", "pump.h", "pump.c", "main.c"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod c;
mod c_size;
mod calls;
mod codes;
mod config;
mod error;
mod example;
mod files;
mod folder;
#[doc(hidden)]
pub mod internal;
mod name;
mod reach;
mod rust;
mod sketch;
mod stream;
mod warning;

use std::path::{Path, PathBuf};

use koan::Model;
use koan_data::Schema;
use koan_trainer::internal::blob;

use error::Result;

pub use c_size::{CSize, c_size};
pub use codes::lacks_names;
pub use error::Error;
pub use warning::Warning;

/// What a model is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// A folder with the runtime in C, the model, and a program that predicts standard input.
    C,
    /// The same as a sketch for Arduino, which has the folder's name.
    Arduino,
    /// A module of Rust, and the model's blob beside it: a file whose name ends in `.rs`, or a
    /// folder in which it is called as the model.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::C, Self::Arduino, Self::Rust];

    /// Its name, in small letters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Arduino => "arduino",
            Self::Rust => "rust",
        }
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The files, in order; not an example that stays as it is.
    pub files: Vec<PathBuf>,
    /// What is to be said of them.
    pub warnings: Vec<Warning>,
}

/// A model on its way to a program.
#[derive(Clone, Debug)]
pub struct Export<'m> {
    model: &'m Model<'m>,
    /// Models need not have notes.
    schema: Option<Schema>,
    /// Whether names were given.
    is_named: bool,
    /// What the model's file is called, which comments say.
    file: String,
    /// The file, if there is one: it is not written over.
    path: Option<PathBuf>,
}

impl<'m> Export<'m> {
    /// Of a model in memory. `file` is what its file is called, such as `pump.koan`: comments have
    /// this name, and `pump` names the variable, the constants and the files.
    ///
    /// # Errors
    /// [`Error::FileName`] where that is a path, or begins with its ending.
    pub fn new(model: &'m Model<'m>, file: &str) -> Result<Self> {
        let is_name = Path::new(file).file_name().is_some_and(|name| name == file);
        if !is_name || file.starts_with('.') || file.contains(['/', '\\', '\0']) {
            return Err(Error::FileName { file: file.to_owned() });
        }
        Ok(Self::of(model, file.to_owned(), None))
    }

    /// Of the model in this file, which is not written over.
    #[must_use]
    pub fn of_file(model: &'m Model<'m>, path: &Path) -> Self {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self::of(model, file, Some(path.to_owned()))
    }

    fn of(model: &'m Model<'m>, file: String, path: Option<PathBuf>) -> Self {
        Self { model, schema: blob::schema(model).ok(), is_named: false, file, path }
    }

    /// With the names that such columns have, in place of the codes that the model has for columns
    /// and values, and for columns that it has no names of; [`lacks_names`] tells where it does.
    /// `names` are all columns of the training data, with the values of those that are text.
    ///
    /// # Errors
    /// [`Error::Names`] where the columns cannot be those of the training data, [`Error::NoNames`]
    /// where they have no names.
    pub fn named_by(mut self, names: &Schema) -> Result<Self> {
        let problem = "the model's notes do not say how to read data";
        let schema = self.schema.as_ref().ok_or_else(|| Error::names(problem))?;
        self.schema = Some(codes::named(schema, names)?);
        self.is_named = true;
        Ok(self)
    }

    /// Writes the model to a folder, which may be there; of Rust also to a file.
    ///
    /// # Errors
    /// Before anything is written, where a file cannot be written or is not of an export, where the
    /// folder has another model, or the model a name that cannot be used.
    pub fn write(&self, language: Language, path: &Path) -> Result<Written> {
        match language {
            Language::C => folder::c(self, path),
            Language::Arduino => folder::arduino(self, path),
            Language::Rust => rust::write(self, path),
        }
    }

    /// What the constants do not name.
    fn unnamed(&self) -> Vec<Warning> {
        self.schema.as_ref().map_or_else(Vec::new, |schema| codes::told(schema, self.is_named))
    }

    /// The name of the file without its ending.
    fn stem(&self) -> String {
        Path::new(&self.file).file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The model as errors call it.
    fn shown(&self) -> PathBuf {
        self.path.clone().unwrap_or_else(|| PathBuf::from(&self.file))
    }
}
