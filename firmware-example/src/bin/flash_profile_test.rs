//! The parser, one kind of model, and its self test.

#![no_std]
#![no_main]

use koan::{Model, Predictor};
use koan_firmware::flash::{Fast, Fourier, class_of};

koan_firmware::flash!(|row, blob| {
    let model = Model::parse(blob).ok()?;
    let mut predictor = Predictor::<_, Fourier, _>::serving(&model, Fast::new()).ok()?;
    predictor.self_test().ok()?;
    class_of(predictor, row)
});
