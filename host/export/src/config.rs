//! `koan_config.h`: what of the runtime a model does not need.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

use koan::{Model, Needs, Task};

use crate::error::{Error, Result};
use crate::name;

pub const FILE: &str = "koan_config.h";

/// What stands before and behind the model's file in the first line.
const BEFORE: &str = "/* What ";
const BEHIND: &str = " does not need of the runtime";

/// Parts of the runtime that a macro leaves out, beside those of [`Needs`].
const PARTS: [(Needs, &str); 21] = [
    (Needs::LINEAR, "LINEAR"),
    (Needs::FOURIER, "FOURIER"),
    (Needs::STUMP, "STUMP"),
    (Needs::BIN, "BIN"),
    (Needs::MAXOUT, "MAXOUT"),
    (Needs::SIGMOID, "SIGMOID"),
    (Needs::CONV, "CONV"),
    (Needs::FERN, "FERN"),
    (Needs::SERIES, "SERIES"),
    (Needs::HADAMARD, "HADAMARD"),
    (Needs::DENSE, "DENSE"),
    (Needs::GROUPS, "GROUPS"),
    (Needs::LISTS, "LISTS"),
    (Needs::LOGARITHM, "LOGARITHM"),
    (Needs::MAPS, "MAPS"),
    (Needs::BITS_2, "BITS_2"),
    (Needs::BITS_3, "BITS_3"),
    (Needs::BITS_4, "BITS_4"),
    (Needs::BITS_8, "BITS_8"),
    (Needs::BITS_16, "BITS_16"),
    (Needs::FEATURES, "FEATURES"),
];

/// The file's text; `file` is the model's, for a comment.
pub fn text(model: &Model<'_>, file: &str) -> String {
    let needs = model.needs();
    let mut text =
        format!("{BEFORE}{file}{BEHIND}: see koan.h. Without this file all is built. */\n");
    // Writing to a string cannot fail.
    let mut leave_out = |part: &str| _ = writeln!(text, "#define KOAN_NO_{part} 1");
    for (_, part) in PARTS.iter().filter(|(need, _)| !needs.covers(*need)) {
        leave_out(part);
    }
    if model.task() != Task::Classification {
        leave_out("PROBABILITIES");
    }
    text += "#if defined(__AVR__) /* where texts take RAM */\n#define KOAN_NO_TEXT 1\n#endif\n";
    _ = writeln!(text, "#define KOAN_INPUTS {}", model.inputs());
    text
}

/// Lines that do not compile with the file of a model that needs less, or of another number of
/// inputs: the runtime does not look at a constant model again, and would predict wrongly.
pub fn checks(model: &Model<'_>) -> String {
    let needs = model.needs();
    let needed = PARTS.iter().filter(|(need, _)| needs.covers(*need));
    let mut text = format!(
        "/* What {FILE} says must suit this model: docs/c.md, several models. */\n\
         #if defined(KOAN_INPUTS) && KOAN_INPUTS != {0}\n\
         #error \"{FILE} is another model's: this one has {0} inputs, not KOAN_INPUTS\"\n#endif\n",
        model.inputs()
    );
    for (_, part) in needed {
        _ = write!(
            text,
            "#if defined(KOAN_NO_{part}) && !KOAN_IS_0(KOAN_NO_{part})\n\
             #error \"this model needs what KOAN_NO_{part} leaves out: {FILE} is another model's, or \
             the library leaves it out on small boards\"\n\
             #endif\n"
        );
    }
    text
}

/// Fails if the file at `path` is there and is not that of the model of this name: both models
/// would be run by what is built for one.
pub fn check(path: &Path, name: &str) -> Result<()> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(()),
        read => read.map_err(Error::io("read", path))?,
    };
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next().unwrap_or_default();
    let file = line.strip_prefix(BEFORE).and_then(|rest| rest.split_once(BEHIND));
    let file = file.map(|(file, _)| Path::new(file));
    let stem = file.and_then(Path::file_stem).map(|stem| name::model(&stem.to_string_lossy()));
    if stem.is_some_and(|stem| stem == name) {
        return Ok(());
    }
    let whose = file.map_or("not of `koan export`".to_owned(), |file| {
        format!("of another model, {}", file.display())
    });
    Err(Error::OtherModel { path: path.to_owned(), whose })
}
