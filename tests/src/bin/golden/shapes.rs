//! Convolutions: images and series of every length of the transform.

use koan::numerics::Scale;
use koan::{Conv, Family, Law, Width};
use koan_tests::golden::Golden;

use crate::parts::{Kind, bank, sized};

/// What the shapes differ from.
pub const IMAGE: Conv = Conv {
    height: 7,
    channels: 1,
    kernel: 3,
    stride: 1,
    grid: 3,
    proportion: false,
    dilated: false,
    transform: 8,
};

pub fn kind(conv: Conv) -> Kind {
    (Family::Conv(conv), Law::Hadamard, false)
}

/// Name, inputs, shape and filters.
fn shapes() -> Vec<(&'static str, u16, Conv, u16)> {
    let series = Conv { height: 1, kernel: 9, grid: 1, dilated: true, ..IMAGE };
    let channels = Conv { height: 5, channels: 2, stride: 2, grid: 2, transform: 16, ..IMAGE };
    let dilated = Conv { grid: 2, proportion: true, dilated: true, ..IMAGE };
    let pooled = Conv {
        channels: 3,
        stride: 2,
        kernel: 4,
        grid: 5,
        dilated: false,
        proportion: true,
        ..series
    };
    let one_tap = Conv { kernel: 1, stride: 3, grid: 2, dilated: false, transform: 32, ..series };
    let wide = Conv { height: 9, kernel: 7, grid: 1, proportion: true, transform: 32, ..IMAGE };
    vec![
        // 9 taps folded to 8, filters 16 to 19 a part of a block, cells of unequal sizes.
        ("image", 7 * 8, IMAGE, 20),
        // 18 taps folded to 16.
        ("image-channels-stride", 5 * 6 * 2, channels, 20),
        // Two dilations, four blocks.
        ("image-dilated-proportion", 7 * 7, dilated, 28),
        // 9 taps of 16; three dilations, four blocks.
        ("series-dilated", 43, Conv { transform: 16, ..series }, 50),
        ("series-channels-proportion", 15 * 3, pooled, 11),
        // 70 taps folded to 64, whose signs are two draws.
        (
            "series-long-kernel",
            80,
            Conv { kernel: 70, grid: 4, dilated: false, transform: 64, ..series },
            70,
        ),
        // One tap of 32: all filters of a block see the same number.
        ("series-one-tap", 20, one_tap, 40),
        // 49 taps folded to 32.
        ("image-wide-proportion", 9 * 9, wide, 37),
        // 25 taps of 64, a whole block.
        (
            "image-long-transform",
            8 * 8,
            Conv { height: 8, kernel: 5, grid: 2, transform: 64, ..IMAGE },
            64,
        ),
    ]
}

pub fn models(first: usize) -> Vec<Golden> {
    let mut models = Vec::new();
    for (s, (shape, inputs, conv, filters)) in shapes().into_iter().enumerate() {
        for (t, outputs) in [3, 1].into_iter().enumerate() {
            let width = Width::new(Width::BITS[(s + 2 * t) % 5], (s + t) % 2 == 0).unwrap();
            let mut banks = vec![bank(kind(conv), inputs, filters * conv.cells())];
            // A scale of 1 for one of the two: runtimes may take a shorter way.
            if s % 2 == t {
                banks[0].scale = Scale::ONE;
            }
            let name = format!("conv-{shape}");
            models.push(sized(first + models.len(), &name, inputs, banks, width, outputs));
        }
    }
    // The same inputs as an image, as a series, and as they are.
    let series = Conv { height: 1, kernel: 5, dilated: true, transform: 32, ..IMAGE };
    let linear = (Family::Linear, Law::None, false);
    let banks = vec![
        bank(kind(Conv { height: 6, grid: 2, ..IMAGE }), 48, 12 * 4),
        bank(linear, 48, 48),
        bank(kind(series), 48, 33 * 3),
    ];
    let width = Width::new(4, true).unwrap();
    models.push(sized(first + models.len(), "conv-image+linear+conv-series", 48, banks, width, 3));
    models
}
