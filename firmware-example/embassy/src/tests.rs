//! Samples on both sides of a gap.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::vec::Vec;

// It is linked for what it brings to this host.
use critical_section as _;

use crate::queue::Numbered;
use crate::{Queue, ROOM, Recognizer, SAMPLES, Sample, exercises};

/// The sample that waits.
fn take(queue: &Queue) -> Numbered {
    match pin!(queue.take()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(taken) => taken,
        Poll::Pending => panic!("no sample waits"),
    }
}

#[test]
fn a_sample_from_before_a_gap_opens_no_window_after_it() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sample = || -> Sample { [random.f32(), random.f32(), random.f32()] };
    let (queue, mut recognizer) = (Queue::new(), Recognizer::new());
    (0..ROOM).for_each(|_| queue.put(sample()));
    // On its way while the queue gets full and is emptied.
    let before = take(&queue);
    queue.put(sample());
    queue.put(sample());
    assert_eq!(queue.waiting(), 0);
    assert!(recognizer.push(before).unwrap().is_none());
    let mut window: Vec<Sample> = Vec::new();
    for number in 1..=SAMPLES {
        window.push(sample());
        queue.put(window[number - 1]);
        let heard = recognizer.push(take(&queue)).unwrap();
        let heard = heard.map(|heard| heard.scores.to_vec());
        let expected = || exercises::predictor().scores(window.as_flattened()).unwrap().to_vec();
        assert_eq!(heard, (number == SAMPLES).then(expected), "sample {number}");
    }
    // Nothing was lost since: the next window is whole a hop later.
    for number in 1..=ROOM {
        queue.put(sample());
        assert_eq!(recognizer.push(take(&queue)).unwrap().is_some(), number == ROOM);
    }
}
