//! Everything that can be called with a model that nothing was checked of.

use koan::{
    Any, Bank, BufferSizes, Buffers, Family, Form, Model, Predictor, Profile, Small, steps,
};

use crate::memory::Memory;

/// Calls all there is, as far as that is not much work: what a model means that was not
/// checked is not bounded by anything.
pub fn exercise(model: &Model<'_>) {
    describe(model);
    let work = model.banks().map(|bank| cost(&bank, model.inputs())).fold(0, usize::saturating_add);
    let sizes = [Form::Fast, Form::Small].map(|form| model.buffer_sizes(form).bytes());
    let columns = model.features().saturating_mul(model.outputs() + 2);
    if work < 20_000 && sizes.iter().all(|&bytes| bytes < 1 << 20) && columns < 100_000 {
        run::<Any>(model);
        run::<Small>(model);
    }
}

/// What a model says of itself, however little it means.
pub fn describe(model: &Model<'_>) {
    for form in [Form::Fast, Form::Small] {
        let _ = model.buffer_sizes(form).bytes();
    }
    let _ = (model.work(), model.features(), model.codes(), model.classes(), model.task());
    let _ = (model.seed(), model.check_word(), model.golden_digest(), model.map_bytes());
    let _ = (model.map_per_input(), model.gain_per_input(), model.input_limit());
    let _ = (model.score_scale(), model.weight_bytes(), model.notes(), model.calibration());
    let _ = (model.needs().to_string(), model.bank_count());
    let golden = model.golden();
    for index in [0, 1, 7, model.inputs(), golden.count(), 65_535, usize::MAX] {
        let _ = (model.input_map(index), model.class_name(index), model.bias(index));
        for second in [0, 1, model.outputs(), usize::MAX] {
            let _ = (model.multiplier(index, second), model.section(second as u8));
            let _ = (golden.input(index, second), golden.score(index, second));
        }
    }
    for bank in model.banks() {
        let _ = (bank.columns(), bank.row_bytes(), bank.codes(), bank.kept_bytes());
        let _ = (bank.is_kept(), bank.is_grouped(), bank.groups().count());
        let _ = bank.indices().take(300).last();
    }
}

/// A bound on what a bank takes: there may be any number of blocks, groups need not
/// cover the inputs, and a shared pool is there without features as well.
fn cost(bank: &Bank<'_>, inputs: usize) -> usize {
    let features = usize::from(bank.features()).max(1);
    let each = match bank.family() {
        Family::Maxout { pool, shared } => usize::from(pool) + usize::from(shared),
        Family::Conv(conv) => {
            let positions = conv.positions(inputs as u16).max(1);
            let position = conv.taps() + 10 * usize::from(conv.transform);
            return features.saturating_mul(positions).saturating_mul(position);
        }
        _ => 1,
    };
    let groups: usize = bank.groups().map(|group| usize::from(group.inputs) + 1).sum();
    let transform = inputs.next_power_of_two().max(8);
    let projection = transform * (1 + transform.ilog2() as usize) + groups;
    features.saturating_mul(each).saturating_mul(projection)
}

/// Predictions, and the steps of them with buffers that do not suit.
fn run<P: Profile>(model: &Model<'_>) {
    let sizes = model.buffer_sizes(P::FORM);
    let mut row = vec![1.5f32; model.inputs()];
    if let Some(first) = row.first_mut() {
        *first = f32::NAN;
    }
    let words = vec![-7i16; model.inputs()];
    let bytes = vec![200u8; model.inputs()];
    if let Ok(mut core) = Predictor::<_, P>::serving(*model, Memory::new(sizes)) {
        let _ = core.scores(&row).map(<[i32]>::len);
        let _ = (core.classify(&words), core.predict(&bytes));
        let _ = core.values(&row, &mut vec![0.0; model.outputs()]);
        let _ = core.probabilities(&row, &mut vec![0.0; model.classes()]);
        let _ = core.codes(&row, &mut vec![0; model.codes()]);
        let mut features = vec![0; model.features()];
        let _ = core.features(&words, &mut features);
        let _ = (core.golden_digest(), core.self_test());
    }
    for sizes in [sizes, BufferSizes { inputs: 3, block: 5, wide: 9, outputs: 2 }] {
        let mut memory = Memory::new(sizes);
        let mut q = vec![3; sizes.inputs];
        for number in [0, 3, usize::MAX] {
            steps::draw_golden(model, number, &mut q);
        }
        steps::quantise::<P, _>(model, &row, &mut q);
        steps::quantise::<P, _>(model, &words, &mut q);
        let _ = steps::score::<P>(model, &mut memory).len();
        let mut features = vec![0; model.features() / 2];
        steps::features::<P>(model, &mut memory.workspace(), &mut features);
        for bank in model.banks().take(9) {
            let Some(drawn) = steps::Drawn::of(&bank, sizes.inputs) else { continue };
            for number in [0, drawn.pool(), usize::MAX] {
                let mut weights = [7; 32];
                drawn.weights(number, number & !31, &mut weights);
                let _ = drawn.features(number, &weights.map(|weight| i32::from(weight) << 16));
            }
        }
    }
}
