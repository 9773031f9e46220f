//! Series: every width, one and several channels, lists, kernels and dilations of all lengths,
//! gains at both ends.

use koan::{Family, Gain, Law, Series, Width};
use koan_tests::golden::Golden;
use koan_tests::random::Random;
use koan_trainer::internal::blob::BankSpec;

use crate::parts::{Kind, bank, kept, sized};

/// The number of the first model, from which maps, sections and rows follow.
const FIRST: usize = 700;

/// Gains for |q| of about 10,000.
pub const SERIES: Series = Series {
    channels: 1,
    kernel: 9,
    dilations: 3,
    samples: Gain { level: 72, slope: 5 },
    differences: Gain { level: 80, slope: -3 },
};

pub fn kind(series: Series) -> Kind {
    (Family::Series(series), Law::Hadamard, false)
}

pub fn models() -> Vec<Golden> {
    let lowest = Gain { level: 0, slope: 0 };
    let highest = Gain { level: 255, slope: -63 };
    let shapes = [
        // A whole block, and a part of the fourth.
        ("usual", 37, SERIES, 27),
        ("channels", 3 * 20, Series { channels: 3, kernel: 5, ..SERIES }, 130),
        // The shortest kernel, and the most dilations that fit: to 32 of 33 samples.
        ("short-kernel", 33, Series { kernel: 2, dilations: 6, ..SERIES }, 99),
        // 64 taps of 65 samples, folded to 8.
        ("long-kernel", 65, Series { kernel: 64, dilations: 1, ..SERIES }, 19),
        // A filter that is nearly as long as the series; gains that saturate, and that leave
        // nothing.
        ("gains", 34, Series { samples: highest, differences: lowest, ..SERIES }, 48),
        // Two samples are the fewest.
        ("two-samples", 2, Series { kernel: 2, dilations: 1, ..SERIES }, 21),
    ];
    let mut models = Vec::new();
    for (s, (name, inputs, series, features)) in shapes.into_iter().enumerate() {
        for (t, outputs) in [3, 1].into_iter().enumerate() {
            let width = Width::new(Width::BITS[(s + 2 * t) % 5], (s + t) % 2 == 0).unwrap();
            let banks = vec![bank(kind(series), inputs, features)];
            let number = FIRST + 3 * models.len();
            models.push(sized(number, &format!("series-{name}"), inputs, banks, width, outputs));
        }
    }
    models.extend(with_lists());
    models
}

/// Filters near each other and far apart; the last that there are; beside other features.
fn with_lists() -> Vec<Golden> {
    let list =
        |far: usize, seed: u64| kept(bank(kind(SERIES), 37, 40), far, 37, &mut Random::new(seed));
    let ends = BankSpec {
        kept: Some(vec![0, 7, 8, 65_535, 65_536, (1 << 20) - 1]),
        ..bank(kind(SERIES), 37, 6)
    };
    let linear = bank((Family::Linear, Law::None, false), 37, 37);
    let fourier = bank((Family::Fourier, Law::Hadamard, false), 37, 21);
    let all = [
        ("kept-series-near", vec![list(3, 1)]),
        ("kept-series-far", vec![list(900, 2)]),
        ("kept-series-last-indices", vec![ends]),
        ("series+linear+series", vec![bank(kind(SERIES), 37, 12), linear, list(20, 3)]),
        ("fourier+series", vec![fourier, bank(kind(SERIES), 37, 33)]),
    ];
    let model = |(k, (name, banks)): (usize, (&str, Vec<BankSpec>))| {
        let width = Width::new(Width::BITS[k % 5], k % 2 == 0).unwrap();
        sized(FIRST + 60 + 3 * k, name, 37, banks, width, [3, 1][k % 2])
    };
    all.into_iter().enumerate().map(model).collect()
}
