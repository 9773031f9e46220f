//! Where a page's figures come from, and how they are had again.

/// What asks for a page: it says which options a reader has, and what has to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The command `koan`, with its options.
    Command,
    /// The Python package's estimators, with their parameters.
    Python,
}

/// A file of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What its rows are for.
    pub part: &'static str,
    /// Its bytes.
    pub bytes: u64,
    /// Their CRC-32.
    pub crc: u32,
}

/// Where a page's figures come from, and how they are had again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What the model is called: the title begins with it.
    pub name: String,
    /// What asks for the page.
    pub asked: Asked,
    /// What is typed to have it again.
    pub lines: String,
    /// The files that are listed; none for rows from memory.
    pub files: Vec<File>,
    /// How many files there are beyond these.
    pub more_files: usize,
}

impl Origin {
    /// A model of this name, by a line of the command's, without files so far.
    #[must_use]
    pub fn of_command(name: &str, line: &str) -> Self {
        Self::new(Asked::Command, name, line)
    }

    /// A model of this name, by lines of Python, of rows from memory.
    #[must_use]
    pub fn of_python(name: &str, lines: &str) -> Self {
        Self::new(Asked::Python, name, lines)
    }

    fn new(asked: Asked, name: &str, lines: &str) -> Self {
        let (name, lines) = (name.to_owned(), lines.to_owned());
        Self { name, asked, lines, files: Vec::new(), more_files: 0 }
    }
}
