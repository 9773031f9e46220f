//! What others reach: published marks, and forests measured by a script.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::steps::root;

/// What `benches/forests.py` printed.
const FORESTS: &str = "benches/forests.json";

/// A model of someone else's.
#[derive(Clone, Debug)]
pub struct Rival {
    /// The part it belongs to.
    pub part: String,
    /// Method, and its source.
    pub name: String,
    pub kind: Kind,
    pub bytes: u64,
    /// A share.
    pub error: f64,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// From a paper or a project's page: the model alone.
    Published,
    /// Measured by the script: code and constants on a Cortex-M0.
    Forest,
}

/// Part, method and source, bytes of the model, error.
const PUBLISHED: [(&str, &str, u64, f64); 8] = [
    ("mnist", "Bonsai (Kumar, Goyal, Varma 2017)", 4_600, 0.052),
    ("mnist", "Bonsai", 8_400, 0.0405),
    ("mnist", "Bonsai", 84_000, 0.03),
    ("mnist", "ProtoNN (Gupta et al. 2017)", 63_000, 0.041),
    ("mnist", "FastGRNN (Kusupati et al. 2018)", 6_000, 0.018),
    ("mnist", "BitNetMCU, ternary convolutions", 1_100, 0.058),
    ("mnist", "BitNetMCU, ternary convolutions", 3_200, 0.011),
    ("mnist", "BitNetMCU, ternary convolutions", 11_000, 0.0045),
];

/// A line of the script's output.
#[derive(Deserialize)]
struct Forest {
    set: String,
    trees: u32,
    leaves: Option<Leaves>,
    error: f64,
    bytes: u64,
}

/// How large a tree may grow.
#[derive(Deserialize)]
#[serde(untagged)]
enum Leaves {
    Most(u32),
    /// As the project of that name does it.
    Like(String),
}

/// All of them.
pub fn all() -> Result<Vec<Rival>> {
    let text =
        std::fs::read_to_string(root()?.join(FORESTS)).with_context(|| FORESTS.to_owned())?;
    let forests = text.lines().filter(|line| !line.is_empty()).map(|line| {
        let Forest { set, trees, leaves, error, bytes } =
            serde_json::from_str(line).with_context(|| FORESTS.to_owned())?;
        let leaves = match leaves {
            Some(Leaves::Most(most)) => format!("{most} leaves"),
            Some(Leaves::Like(project)) => format!("as {project} trains it"),
            None => "grown out".into(),
        };
        let name = match trees {
            1 => format!("emlearn tree, {leaves}"),
            trees => format!("emlearn forest of {trees}, {leaves}"),
        };
        Ok(Rival { part: set, name, kind: Kind::Forest, bytes, error })
    });
    let published = PUBLISHED.iter().map(|&(part, name, bytes, error)| {
        let (part, name) = (part.to_owned(), name.to_owned());
        Ok(Rival { part, name, kind: Kind::Published, bytes, error })
    });
    published.chain(forests).collect()
}
