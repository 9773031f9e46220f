//! Every public way through a prediction, in both forms and with rows of every type, on
//! bytes that the compiler does not know. `cargo xtask outside` links this for bare metal and
//! the browser, and looks for what panics in the names of the functions that are left.

#![no_std]
#![no_main]

use core::hint::black_box;

use koan::steps::Drawn;
use koan::{Any, Error, Input, Limits, Model, OwnedBuffers, Predictor, Profile, Small};

koan::include_model!(mod fast = "../../golden/digits.koan");
koan::include_model!(small mod small = "../../golden/digits.koan");

type Buffers = OwnedBuffers<256, 256, 256, 16>;

/// What may come of anything, so that nothing is left out.
#[derive(Default)]
struct Results {
    values: [f32; 16],
    features: [i16; 32],
    codes: [u16; 32],
    number: usize,
}

/// The bytes of a blob, as a program that is linked alone may have them.
fn blob() -> &'static [u8] {
    static BYTES: [u8; 64] = [0; 64];
    black_box(&BYTES)
}

fn row<I: Copy>(zero: I) -> [I; 64] {
    black_box([black_box(zero); 64])
}

fn run() -> Result<(), Error> {
    let model = Model::parse_within(blob(), Limits { work: black_box(1), memory: black_box(1) })?;
    let mut results = Results::default();
    of_model(&model, &mut results);
    of_profile::<Any>(model, &mut results)?;
    of_profile::<Small>(model, &mut results)?;
    let row: [i16; 64] = black_box([0; 64]);
    results.number += fast::predictor().classify(&row)?;
    fast::predictor().self_test()?;
    results.number += small::predictor().classify(&row)?;
    small::predictor().self_test()?;
    black_box(&results);
    Ok(())
}

#[inline(never)]
fn of_profile<P: Profile>(model: Model<'_>, results: &mut Results) -> Result<(), Error> {
    let mut predictor = Predictor::<_, P>::serving(model, Buffers::new())?;
    predictor.self_test()?;
    results.number += predictor.golden_digest()? as usize;
    of_row(&mut predictor, &row(0i16), results)?;
    of_row(&mut predictor, &row(0u8), results)?;
    of_row(&mut predictor, &row(0f32), results)
}

#[inline(never)]
fn of_row<I: Input, P: Profile>(
    predictor: &mut Predictor<'_, Buffers, P>,
    row: &[I; 64],
    results: &mut Results,
) -> Result<(), Error> {
    let row = black_box(row.as_slice());
    let length = |length: usize| black_box(length).min(8);
    results.number += predictor.classify(row)?;
    results.number += predictor.predict(row)? as usize;
    let scores = predictor.scores(row)?;
    results.number += scores.len();
    predictor.values(row, results.values.get_mut(..length(8)).unwrap_or_default())?;
    predictor.probabilities(row, results.values.get_mut(..length(8)).unwrap_or_default())?;
    predictor.features(row, results.features.get_mut(..length(8)).unwrap_or_default())?;
    predictor.codes(row, results.codes.get_mut(..length(8)).unwrap_or_default())
}

/// What a model says of itself.
#[inline(never)]
fn of_model(model: &Model<'_>, results: &mut Results) {
    let at = black_box(1);
    for bank in model.banks() {
        let columns = bank.columns() as usize;
        results.number += columns + bank.row_bytes() + bank.kept_bytes();
        results.number += bank.indices().sum::<usize>() + usize::from(bank.codes());
        results.number += bank.groups().count();
        if let Some(drawn) = Drawn::of(&bank, black_box(64)) {
            let mut weights = [0; 32];
            drawn.weights(at * drawn.pool(), black_box(32), &mut weights);
            let features = drawn.features(at, &weights.map(i32::from));
            results.number += features[0] as usize;
        }
    }
    results.number += model.features() + model.codes() + model.work() as usize;
    results.number += model.buffer_sizes(koan::Form::Small).bytes();
    results.number += model.input_map(at).mult() as usize + model.multiplier(at, at) as usize;
    results.number += model.bias(at) as usize + model.weight_bytes().len();
    results.number += model.class_name(at).unwrap_or_default().len() + model.notes().len();
    results.number += usize::from(model.calibration().is_some());
    results.number += model.golden().input(at, at) as usize;
    results.number += model.golden().score(at, at) as usize;
    let again = Model::from_words(model.blob(), black_box(model.to_words()));
    results.number += again.inputs();
    results.number += usize::from(Model::examine(model.blob(), black_box(true)).is_ok());
}

/// Where the linker starts.
#[unsafe(no_mangle)]
extern "C" fn _start() -> usize {
    match run() {
        Ok(()) => 0,
        Err(error) => error.message().len(),
    }
}

/// Not linked, if nothing can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
