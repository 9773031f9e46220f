//! Every family and law, alone and together.

use koan::numerics::Scale;
use koan::{Family, Law, Task, Width};
use koan_tests::arbitrary::kinds;
use koan_tests::golden::Golden;
use koan_tests::random::Random;
use koan_trainer::internal::blob::{BankSpec, MapSpec, ModelSpec};
use koan_trainer::internal::nearest;

use crate::parts::{bank, golden, head, inputs_of, kind_name, of_its_own, rows, small};

/// As large as a recogniser of digits: 8 × 8 pixels, 512 features, 10 classes.
fn digits() -> Golden {
    let mut random = Random::new(0xd161);
    let banks = vec![BankSpec {
        family: Family::Fourier,
        law: Law::Gaussian,
        features: 512,
        scale: Scale::new(201, 15).unwrap(),
        groups: Vec::new(),
        kept: None,
    }];
    let map = MapSpec::Shared(nearest::map(8.0, 1000.0, false));
    let mut row = || (0..64).map(|_| random.below(17) as f32).collect::<Vec<_>>();
    let rows = vec![row(), row(), row()];
    let head = head(&banks, Width::new(4, true).unwrap(), 10, &mut random);
    let mut spec = ModelSpec::features(random.bits(), 64, map, banks);
    spec.task = Task::Classification;
    spec.head = Some(head);
    spec.class_names = (0..10).map(|digit: i32| digit.to_string()).collect();
    spec.golden_rows = vec![rows[0].clone()];
    golden("digits".to_owned(), &spec, rows)
}

/// Widths and numbers of outputs of kind `k`: all of them, or two that differ in
/// everything.
fn variants(k: usize, all: bool) -> Vec<(Width, usize)> {
    if !all {
        let first_odd = k % 4 < 2;
        let variant = |w: usize, odd: bool, outputs: usize| {
            (Width::new(Width::BITS[(k + w) % 5], odd).unwrap(), outputs)
        };
        return vec![variant(1, first_odd, 3), variant(3, !first_odd, 1)];
    }
    let mut variants = Vec::new();
    for (w, bits) in Width::BITS.into_iter().enumerate() {
        for (t, outputs) in [1, 3].into_iter().enumerate() {
            // One of the two has odd weights, the other even ones.
            variants.push((Width::new(bits, (k + w + t).is_multiple_of(2)).unwrap(), outputs));
        }
    }
    variants
}

/// Models of one bank of every kind but convolutions and ferns, and of several banks. Those whose
/// features meet the weights in ways of their own come in every width: 16 bits, 8 bits, one
/// feature of each grid, and banks whose sums are added.
pub fn models() -> Vec<Golden> {
    let mut models = vec![digits()];
    let kinds = kinds().into_iter().filter(|kind| !of_its_own(kind.0));
    let mut kinds: Vec<_> = kinds.map(|kind| vec![kind]).collect();
    let fourier = (Family::Fourier, Law::Gaussian, false);
    let maxout = (Family::Maxout { pool: 2, shared: 0 }, Law::Sign, false);
    let bin = (Family::Bin { slot_bits: 3 }, Law::Gamma2, false);
    kinds.push(vec![(Family::Linear, Law::None, false), fourier]);
    kinds.push(vec![bin, maxout, (Family::Stump, Law::Gaussian, false)]);
    for (k, kind) in kinds.into_iter().enumerate() {
        let name: Vec<_> = kind.iter().map(|&kind| kind_name(kind)).collect();
        let all = match kind[..] {
            [(Family::Linear, ..)] | [(Family::Fourier, Law::Hadamard, _)] => true,
            [(Family::Bin { .. }, _, grouped)] => !grouped,
            [_] => false,
            _ => true,
        };
        for (width, outputs) in variants(k, all) {
            let number = models.len();
            let inputs = inputs_of(number);
            let banks = kind.iter().map(|&kind| {
                // Grids have 8 columns each. 17, 25 and 33 end amid bytes and runs.
                let more = (number % 3) as u16;
                let bin = matches!(kind.0, Family::Bin { .. });
                bank(kind, inputs, if bin { 3 + more } else { 17 + 8 * more })
            });
            models.push(small(number, &name.join("+"), banks.collect(), width, outputs));
        }
    }
    models
}

/// A gain for each input, some of which are off, with and without logarithm.
pub fn with_gains(first: usize) -> Vec<Golden> {
    [Law::Hadamard, Law::Gaussian]
        .into_iter()
        .enumerate()
        .map(|(k, law)| {
            let mut random = Random::new((first + k) as u64);
            let inputs = 37 + 4 * k as u16;
            let log = k == 1;
            let map = nearest::map(if log { 3.0 } else { 60.0 }, 2000.0, log);
            let gains = (0..inputs).map(|_| random.below(256).saturating_sub(40) as u8).collect();
            let banks = vec![bank((Family::Fourier, law, false), inputs, 41)];
            let head = head(&banks, Width::new(3, true).unwrap(), 2, &mut random);
            let rows = rows(first + k, usize::from(inputs), &mut random);
            let maps = MapSpec::GainPerInput(map, gains);
            let mut spec = ModelSpec::features(random.bits(), inputs, maps, banks);
            spec.task = Task::Regression;
            spec.head = Some(head);
            let name = format!("gains{}-fourier-{}", if log { "-log" } else { "" }, law.name());
            golden(name, &spec, rows)
        })
        .collect()
}

/// A map for each channel: as many as divide the inputs and as do not, of three families.
pub fn with_channels(first: usize) -> Vec<Golden> {
    let kinds = [
        ((Family::Fourier, Law::Hadamard, false), 3, 36),
        ((Family::Linear, Law::None, false), 5, 23),
        ((Family::Sigmoid, Law::Gaussian, false), 2, 8),
    ];
    let numbered = kinds.into_iter().enumerate();
    numbered
        .map(|(k, (kind, channels, inputs))| {
            let mut random = Random::new((first + k) as u64);
            let map = |channel: usize| {
                let log = channel == 2;
                nearest::map(20.0 * channel as f64, if log { 3000.0 } else { 90.0 }, log)
            };
            let maps = MapSpec::PerChannel((0..channels).map(map).collect());
            let banks = vec![bank(kind, inputs, 41)];
            let head = head(&banks, Width::new(4, true).unwrap(), 2, &mut random);
            let rows = rows(first + k, usize::from(inputs), &mut random);
            let mut spec = ModelSpec::features(random.bits(), inputs, maps, banks);
            spec.task = Task::Regression;
            spec.head = Some(head);
            golden(format!("channels-{channels}-{}", kind_name(kind)), &spec, rows)
        })
        .collect()
}
