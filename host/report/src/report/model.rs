//! What the model is.

use crate::page::Page;
use koan::{Family, Form, Model};
use koan_trainer::internal::listing;
use koan_trainer::internal::select::Choice;

/// The model's facts and where its bytes go.
pub fn section(page: &mut Page, model: &Model<'_>, choice: Option<&Choice>) {
    page.heading("The model");
    let sizes = model.buffer_sizes(Form::Fast);
    let banks: Vec<String> = model
        .banks()
        .map(|bank| {
            let law = if bank.is_grouped() { "groups" } else { bank.law().name() };
            let extra = match bank.family() {
                Family::Bin { slot_bits } => format!(", grids of 2^{slot_bits} slots"),
                Family::Fern { depth } => format!(", {depth} comparisons each"),
                Family::Maxout { pool, shared: 0 } => format!(", pools of {pool}"),
                Family::Maxout { pool, shared } => {
                    format!(", pools of {pool} out of {shared} shared")
                }
                _ => String::new(),
            };
            let bits = bank.width().bits();
            format!(
                "{} {} ({law}){extra}, {bits} bits a weight",
                bank.features(),
                bank.family().name()
            )
        })
        .collect();
    let mut facts = vec![
        ("bytes", model.blob().len().to_string()),
        ("RAM of the predictor's buffers", format!("{} bytes", sizes.bytes())),
        ("banks", banks.join("; ")),
        ("inputs", model.inputs().to_string()),
        ("outputs", model.outputs().to_string()),
    ];
    if let Some(choice) = choice {
        facts.push(("input map", choice.kind.name().to_owned()));
        let logged = choice.normaliser.logged_inputs();
        facts.push(("inputs through their logarithm", logged.to_string()));
        let learned = if choice.relevance { "learned for every input" } else { "one for all" };
        facts.push(("frequency", learned.to_owned()));
    }
    if let Some(calibration) = model.calibration() {
        let (slope, intercept) = (calibration.slope, calibration.intercept);
        let text = format!("slope {slope:.3}, intercept {intercept:.3}");
        facts.push(("calibration of probabilities", text));
    }
    page.facts("Facts", facts);
    let parts = listing::parts(model);
    let rows = parts.iter().map(|part| [part.name.clone(), part.length.to_string()]);
    page.table("Where the bytes go", &["part", "bytes"], rows);
}
