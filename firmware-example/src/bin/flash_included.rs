//! A model that was checked when compiling.

#![no_std]
#![no_main]

use koan_firmware::flash::class_of;

koan::include_model!(mod model = "../../../tests/models/digits-fourier-512.koan");

koan_firmware::flash!(|row, _blob| class_of(model::predictor(), row));
