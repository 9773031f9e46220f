//! The parser, one kind of model in the small form, and its self test.

#![no_std]
#![no_main]

use koan::{Model, Predictor, Small};
use koan_firmware::flash::{Fourier, Short, class_of};

koan_firmware::flash!(|row, blob| {
    let model = Model::parse(blob).ok()?;
    let mut predictor = Predictor::<_, Small<Fourier>, _>::serving(&model, Short::new()).ok()?;
    predictor.self_test().ok()?;
    class_of(predictor, row)
});
