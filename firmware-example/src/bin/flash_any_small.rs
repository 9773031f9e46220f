//! The parser, and every kind of model in the small form.

#![no_std]
#![no_main]

use koan::{Model, Predictor, Small};
use koan_firmware::flash::{Short, class_of};

koan_firmware::flash!(|row, blob| {
    let model = Model::parse(blob).ok()?;
    let predictor = Predictor::<_, Small, _>::serving(&model, Short::new()).ok()?;
    class_of(predictor, row)
});
