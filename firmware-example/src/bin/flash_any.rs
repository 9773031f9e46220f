//! The parser, and every kind of model.

#![no_std]
#![no_main]

use koan::{Model, Predictor};
use koan_firmware::flash::{Fast, class_of};

koan_firmware::flash!(|row, blob| {
    let model = Model::parse(blob).ok()?;
    let predictor = Predictor::new(&model, Fast::new()).ok()?;
    class_of(predictor, row)
});
