//! Banks with lists of kept features.

use koan::numerics::Scale;
use koan::{Conv, Family, Law, Width};
use koan_tests::arbitrary::kinds;
use koan_tests::golden::Golden;
use koan_tests::random::Random;

use crate::parts::{bank, inputs_of, kept, kind_name, of_its_own, sized, small};
use crate::shapes::{IMAGE, kind};

/// A model with a list for every kind, and some of several banks, one of which has
/// all its features.
pub fn models(first: usize) -> Vec<Golden> {
    let fourier = (Family::Fourier, Law::Hadamard, false);
    let stump = (Family::Stump, Law::Uniform, false);
    let kinds = kinds().into_iter().filter(|kind| !of_its_own(kind.0));
    let mut lists: Vec<_> = kinds.map(|kind| vec![kind]).collect();
    lists.push(vec![fourier, (Family::Sigmoid, Law::Hadamard, false), stump]);
    lists.push(vec![(Family::Linear, Law::None, false), fourier]);
    let mut models: Vec<Golden> = lists
        .into_iter()
        .enumerate()
        .map(|(k, kinds)| {
            let number = first + k;
            let mut random = Random::new(0x6e97 + number as u64);
            let inputs = inputs_of(number);
            let banks = kinds.iter().enumerate().map(|(b, &kind)| {
                let few = matches!(kind.0, Family::Bin { .. });
                // 140 is more than a run of features has.
                let features = if few { 4 } else { [17, 33, 140][number % 3] };
                let all = bank(kind, inputs, features);
                // Near each other, or blocks of a transform apart, or far.
                let far = [3, 100, 7000][(number + b) % 3];
                if b == 1 { all } else { kept(all, far, inputs, &mut random) }
            });
            let name: Vec<_> = kinds.iter().map(|&kind| kind_name(kind)).collect();
            let name = format!("kept-{}", name.join("+"));
            let width = Width::new(Width::BITS[k % 5], k % 2 == 0).unwrap();
            small(number, &name, banks.collect(), width, if number % 3 == 2 { 1 } else { 3 })
        })
        .collect();
    models.extend(convolutions(first + models.len()));
    models
}

/// Some of the features of some filters, over several blocks, for every length of the
/// transform: all rows of a block count, also where only some of its filters are left.
fn convolutions(first: usize) -> Vec<Golden> {
    let series = Conv { height: 1, kernel: 7, grid: 2, transform: 32, ..IMAGE };
    let shapes = [
        // How far features are apart: within a cell, a block, over many blocks.
        (20, Conv { grid: 2, dilated: true, ..IMAGE }),
        (3, Conv { grid: 2, transform: 16, proportion: true, ..IMAGE }),
        (90, Conv { dilated: true, ..series }),
        (7000, Conv { transform: 64, stride: 3, ..series }),
    ];
    shapes
        .into_iter()
        .enumerate()
        .map(|(k, (far, conv))| {
            let number = first + k;
            let mut random = Random::new(number as u64);
            let mut banks = vec![kept(bank(kind(conv), 56, 36), far, 56, &mut random)];
            if k % 2 == 0 {
                banks[0].scale = Scale::ONE;
            }
            let width = Width::new(Width::BITS[(k + 2) % 5], true).unwrap();
            let name = format!("kept-conv-{}", conv.transform);
            sized(number, &name, 56, banks, width, [3, 1][k % 2])
        })
        .collect()
}
