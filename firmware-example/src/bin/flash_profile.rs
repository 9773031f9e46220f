//! The parser, and one kind of model: a profile of the program's own.

#![no_std]
#![no_main]

use koan::{Model, Predictor};
use koan_firmware::flash::{Fast, Fourier, class_of};

koan_firmware::flash!(|row, blob| {
    let model = Model::parse(blob).ok()?;
    let predictor = Predictor::<_, Fourier, _>::serving(&model, Fast::new()).ok()?;
    class_of(predictor, row)
});
