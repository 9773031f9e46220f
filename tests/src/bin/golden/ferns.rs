//! Ferns: every width, every depth, lists, many inputs, inputs that equal thresholds.

use koan::numerics::Scale;
use koan::{Family, Law, Width};
use koan_tests::golden::Golden;
use koan_tests::random::Random;
use koan_tests::reference::features;
use koan_trainer::internal::blob::{BankSpec, MapSpec, ModelSpec};

use crate::parts::{Kind, SAME, bank, blob_of, exact, inputs_of, kept, kind_name, sized, small};

/// The number of the first model, from which maps, sections and rows follow.
const FIRST: usize = 500;

pub fn kind(depth: u8, law: Law) -> Kind {
    (Family::Fern { depth }, law, false)
}

pub fn models() -> Vec<Golden> {
    let mut models = in_every_width();
    models.extend(with_lists());
    models.extend(of_many_inputs());
    models.push(several_banks());
    models.extend([Law::Gaussian, Law::Uniform].map(thresholds));
    models
}

/// Three comparisons in every width; the other depths and the other law in some.
fn in_every_width() -> Vec<Golden> {
    let mut models = Vec::new();
    let mut add = |depth: u8, law: Law, width: Width, outputs: usize| {
        let number = FIRST + models.len();
        // Of one column to sixteen; an odd number of ferns ends amid a byte.
        let bank = bank(kind(depth, law), inputs_of(number), 9 + (number % 3) as u16);
        let name = format!("{}-{depth}", kind_name(kind(depth, law)));
        models.push(small(number, &name, vec![bank], width, outputs));
    };
    for (w, bits) in Width::BITS.into_iter().enumerate() {
        for (t, outputs) in [1, 3].into_iter().enumerate() {
            add(3, Law::Gaussian, Width::new(bits, (w + t) % 2 == 0).unwrap(), outputs);
        }
        let (depth, odd) = ([1, 2, 4][w % 3], w % 2 == 0);
        add(depth, Law::Uniform, Width::new(bits, odd).unwrap(), [3, 1][w % 2]);
        add(depth, Law::Gaussian, Width::new(bits, !odd).unwrap(), [1, 3][w % 2]);
    }
    models
}

/// Ferns near each other, far apart, and the last ones that there are.
fn with_lists() -> Vec<Golden> {
    let last = (1 << 20) - 1;
    let mut models = Vec::new();
    for (k, (depth, law, far)) in
        [(3, Law::Gaussian, 7000), (2, Law::Uniform, 3), (4, Law::Gaussian, 200)]
            .into_iter()
            .enumerate()
    {
        let number = FIRST + 100 + k;
        let inputs = inputs_of(number);
        let all = bank(kind(depth, law), inputs, 19);
        let bank = kept(all, far, inputs, &mut Random::new(number as u64));
        let name = format!("kept-{}-{depth}", kind_name(kind(depth, law)));
        let width = Width::new([4, 3, 2][k], k % 2 == 0).unwrap();
        models.push(small(number, &name, vec![bank], width, [1, 3, 2][k]));
    }
    let ends = BankSpec {
        kept: Some(vec![0, 65_535, 65_536, 600_000, last - 1, last]),
        ..bank(kind(3, Law::Gaussian), 11, 6)
    };
    let width = Width::new(8, true).unwrap();
    models.push(sized(FIRST + 110, "kept-fern-last-indices", 11, vec![ends], width, 2));
    models
}

/// More inputs than a byte counts: fewer thresholds each; one input, which has all.
fn of_many_inputs() -> Vec<Golden> {
    [(300, "many-inputs"), (1, "one-input")]
        .into_iter()
        .enumerate()
        .map(|(k, (inputs, name))| {
            let bank = bank(kind(4, Law::Gaussian), inputs, 23);
            let width = Width::new(4, true).unwrap();
            // A shared map: one for each input would be most of the blob.
            sized(FIRST + 121 + 3 * k, &format!("fern-{name}"), inputs, vec![bank], width, 1)
        })
        .collect()
}

/// Ferns of two depths around features that are added in runs.
fn several_banks() -> Golden {
    let inputs = 14;
    let banks = vec![
        bank(kind(2, Law::Gaussian), inputs, 13),
        bank((Family::Fourier, Law::Gaussian, false), inputs, 21),
        bank(kind(4, Law::Uniform), inputs, 7),
    ];
    let width = Width::new(4, true).unwrap();
    sized(FIRST + 130, "fern+fourier+fern", inputs, banks, width, 3)
}

/// Inputs that equal thresholds.
fn thresholds(law: Law) -> Golden {
    const INPUTS: u16 = 5;
    let scale = Scale::new(1, 0).unwrap();
    let bank = BankSpec { scale, ..bank(kind(3, law), INPUTS, 40) };
    let seed = 501;
    let spec = ModelSpec::features(seed, INPUTS, MapSpec::Shared(SAME), vec![bank.clone()]);
    let (_, reference) = blob_of("thresholds of ferns", &spec);
    let drawn: Vec<_> = (0..40)
        .flat_map(|k| {
            let reference = &reference.banks[0];
            (0..3).map(move |j| features::comparison(reference, seed, k, j, INPUTS.into()))
        })
        .collect();
    let equal = |nth: usize| -> Vec<f32> {
        (0..usize::from(INPUTS))
            .map(|i| {
                let mut its = drawn.iter().filter(|its| its.input == i);
                its.nth(nth).map_or(0.0, |its| its.threshold as f32)
            })
            .collect()
    };
    let bytes = (0..INPUTS).map(|i| f32::from(9 * i)).collect();
    let rows = vec![equal(0), equal(1), equal(7), equal(13), bytes];
    exact(
        &format!("fern-thresholds-{}", law.name()),
        seed,
        INPUTS,
        MapSpec::Shared(SAME),
        bank,
        rows,
    )
}
