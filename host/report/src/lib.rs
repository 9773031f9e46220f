//! Pages for people: what a koan model is and how good it is, as HTML.
//!
//! [`of_training`] makes the page that `koan train --report` writes, [`of_evaluation`] that of
//! `koan eval --report`: one text that needs no network and no script. What is on them is drawn
//! with [`page`], which serves other pages too. Nothing here knows a command line, a terminal or a
//! file: names and commands are given as texts, and the page comes back as one.
//!
//! ```
//! use koan_data::TableBuilder;
//! use koan_report::{Evaluation, Origin, of_evaluation};
//! use koan_trainer::{Progress, TrainOptions, train};
//!
//! let x: Vec<f32> = (0..200).map(|i| (i * 37 % 200) as f32 / 20.0).collect();
//! let state: Vec<&str> = x.iter().map(|x| if x.sin() > 0.0 { "on" } else { "off" }).collect();
//! let table = TableBuilder::new(200).column("x", &x[..]).classes("state", &state[..]).build()?;
//! let (seen, unseen): (Vec<usize>, Vec<usize>) = (0..200).partition(|row| row % 2 == 0);
//! let options = TrainOptions { features: vec![32], ..TrainOptions::default() };
//! let blob = train(&table.select(&seen), None, &options, &Progress::none())?.blob;
//! let evaluation = Evaluation {
//!     blob: &blob,
//!     table: &table.select(&unseen),
//!     baselines: None,
//!     origin: &Origin::of_command("m.koan", "koan eval m.koan unseen.csv"),
//! };
//! let html = of_evaluation(&evaluation)?;
//! assert!(html.contains("<h1>m.koan: an evaluation</h1>") && html.contains("Confusion matrix"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod origin;
pub mod page;
mod report;
mod search;
pub mod words;

use error::Result;

pub use error::Error;
pub use origin::{Asked, File, Origin};
pub use report::{Evaluation, Training, of_evaluation, of_training};
pub use search::{Search, Searched, of_search, of_search_with_warnings, shown};
