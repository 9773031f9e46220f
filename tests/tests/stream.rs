//! A stream gives the bits of whole windows: models of all kinds, convolutions most, over
//! hops of every length.

use std::cell::Cell;
use std::num::NonZeroU16;

use koan::{Family, Form, Model, Predictor, Task};
use koan_stream::{Stream, cache_words};
use koan_tests::arbitrary::{bank_of, head, kinds, map, number, runner};
use koan_trainer::internal::blob::{MapSpec, ModelSpec};
use koan_trainer::internal::heap::HeapBuffers;
use proptest::collection::vec;
use proptest::prelude::*;

const CHANNELS: usize = 3;
const SAMPLES: usize = 40;
const INPUTS: u16 = (CHANNELS * SAMPLES) as u16;
/// More than any of these models needs.
const CACHE: usize = 1 << 17;

fn model() -> impl Strategy<Value = ModelSpec> {
    let convolutions = kinds().into_iter().filter(|kind| matches!(kind.0, Family::Conv(_)));
    let first = bank_of(INPUTS, convolutions.collect());
    let banks = (first, vec(bank_of(INPUTS, kinds()), 0..=1), any::<bool>());
    let banks = banks.prop_map(|(first, mut banks, last)| {
        banks.insert(if last { banks.len() } else { 0 }, first);
        banks
    });
    (banks, 1usize..=3, any::<u64>()).prop_flat_map(|(banks, outputs, seed)| {
        let maps = prop_oneof![
            map().prop_map(MapSpec::Shared),
            vec(map(), CHANNELS).prop_map(MapSpec::PerChannel),
        ];
        (maps, head(&banks, outputs)).prop_map(move |(maps, head)| {
            let features = ModelSpec::features(seed, INPUTS, maps, banks.clone());
            ModelSpec { task: Task::Regression, head: Some(head), ..features }
        })
    })
}

#[test]
fn streams_give_the_bits_of_whole_windows() {
    let series = vec(number(), CHANNELS * (SAMPLES + 1)..CHANNELS * 4 * SAMPLES);
    let hop = prop_oneof![1u16..=12, 1u16..=2 * SAMPLES as u16];
    let (kept, windows) = (Cell::new(0), Cell::new(0));
    runner(1200, 24)
        .run(&(model(), series, hop, any::<bool>()), |(spec, series, hop, gap)| {
            let blob = spec.encode().unwrap();
            let model = Model::parse(&blob).unwrap();
            let hop = NonZeroU16::new(hop).unwrap();
            kept.update(|kept| {
                kept + usize::from(cache_words(&model, CHANNELS * usize::from(hop.get())) > 0)
            });
            let buffers = || HeapBuffers::new(model.buffer_sizes(Form::Fast));
            let mut whole = Predictor::new(model, buffers()).unwrap();
            let stream = Stream::<CHANNELS, SAMPLES, CACHE, _, _>::new(model, buffers(), hop);
            let mut stream = Box::new(stream);
            stream.self_test().unwrap();
            let samples = series.as_chunks::<CHANNELS>().0;
            let (before, after) = samples.split_at(if gap { samples.len() / 2 } else { 0 });
            for part in [before, after] {
                for (number, &sample) in part.iter().enumerate() {
                    let since = (number + 1).checked_sub(SAMPLES);
                    let due = since.is_some_and(|n| n.is_multiple_of(hop.get().into()));
                    let scores = stream.push(sample).unwrap().map(<[i32]>::to_vec);
                    prop_assert_eq!(scores.is_some(), due);
                    if let Some(scores) = scores {
                        let row = part[number + 1 - SAMPLES..=number].concat();
                        prop_assert_eq!(scores, whole.scores(&row).unwrap());
                        windows.update(|windows| windows + 1);
                    }
                }
                stream.restart();
            }
            Ok(())
        })
        .unwrap();
    // Otherwise nothing was tested.
    let (kept, windows) = (kept.get(), windows.get());
    assert!(kept > 250 && windows > 5000, "{kept} models kept sums, {windows} windows");
}
