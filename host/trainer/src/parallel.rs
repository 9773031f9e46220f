//! Work on all threads of the pool. Every caller has closures of its own; rayon's own code, which
//! divides the work, is compiled once, for [`run`], and not once for each caller.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

/// What `work` makes of 0 to `count`, in this order. Each is a job of its own: where one takes less
/// than microseconds, [`in_runs`] does some of them together.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut places: Vec<Mutex<Option<T>>> = Vec::with_capacity(count);
    places.resize_with(count, || Mutex::new(None));
    run(count, &|place| {
        let made = work(place);
        *locked(&places[place]) = Some(made);
    });
    let mut made = Vec::with_capacity(count);
    for place in places {
        made.extend(place.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    made
}

/// [`map`] of work that may fail: the first error in this order. Jobs behind one that failed are not
/// begun any more; those before it are, so that the error is the same on any number of threads.
pub fn try_map<T: Send, E: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let failed = AtomicUsize::new(usize::MAX);
    let made = map(count, |number| {
        (number < failed.load(Relaxed)).then(|| {
            work(number).inspect_err(|_| {
                failed.fetch_min(number, Relaxed);
            })
        })
    });
    made.into_iter().flatten().collect()
}

/// What `work` makes of runs of 0 to `count`, in order, each of `length` numbers, the last of fewer.
pub fn in_runs<T: Send>(
    count: usize,
    length: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let run = |number: usize| number * length..count.min((number + 1) * length);
    map(count.div_ceil(length), |number| work(run(number)))
}

/// What `work` makes of the number of each part and the part, which may lend what one thread
/// changes.
pub fn each<P: Send, T: Send>(
    parts: impl IntoIterator<Item = P>,
    work: impl Fn(usize, P) -> T + Sync,
) -> Vec<T> {
    each_with(parts, || (), |(), number, part| work(number, part))
}

/// [`each`] with something that `start` made and that no other thread has meanwhile, such as a
/// buffer.
pub fn each_with<P: Send, S: Send, T: Send>(
    parts: impl IntoIterator<Item = P>,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, P) -> T + Sync,
) -> Vec<T> {
    let parts: Vec<Mutex<Option<P>>> =
        parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let started = Mutex::new(Vec::new());
    let made = map(parts.len(), |number| {
        let mut with = locked(&started).pop().unwrap_or_else(&start);
        let part = locked(&parts[number]).take();
        let made = part.map(|part| work(&mut with, number, part));
        locked(&started).push(with);
        made
    });
    made.into_iter().flatten().collect()
}

/// Jobs begin in order, whichever thread is free: where time ends the first are done, and not some
/// of each half.
fn run(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    (0..count).into_par_iter().with_max_len(1).for_each(|_| work(next.fetch_add(1, Relaxed)));
}

/// Where a job panicked, the whole does: what it left is of no use to anybody.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_comes_in_order() {
        for count in [0, 1, 1000] {
            let squares: Vec<usize> = (0..count).map(|n| n * n).collect();
            assert_eq!(map(count, |n| n * n), squares);
            assert_eq!(try_map(count, |n| Ok::<_, ()>(n * n)), Ok(squares.clone()));
            for length in [1, 7, 2000] {
                let runs = in_runs(count, length, |run| run.map(|n| n * n).collect::<Vec<_>>());
                assert_eq!(runs.concat(), squares);
            }
        }
    }

    #[test]
    fn the_first_error_is_returned() {
        let odd = |n: usize| if n.is_multiple_of(2) { Ok(n) } else { Err(n) };
        assert_eq!(try_map(100, odd), Err(1));
    }

    #[test]
    fn nothing_is_begun_behind_an_error() {
        let begun = AtomicUsize::new(0);
        let fails = |n: usize| {
            begun.fetch_add(1, Relaxed);
            if n < 7 { Ok(n) } else { Err(n) }
        };
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(|| try_map(1000, fails)), Err(7));
        assert_eq!(begun.into_inner(), 8);
    }

    /// Where only the first have time, these are the first, not the first of each thread's share.
    #[test]
    fn jobs_begin_in_order() {
        let begun = AtomicUsize::new(0);
        let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let made = two.install(|| {
            map(100, |job| {
                let place = begun.fetch_add(1, Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(1));
                (place, job)
            })
        });
        // Some may be overtaken between taking their number and counting; halves begin 50 apart.
        assert!(made.iter().all(|&(place, job)| place.abs_diff(job) < 25), "{made:?}");
    }

    #[test]
    fn each_part_is_changed_once() {
        let mut numbers = vec![0; 103];
        each(numbers.chunks_mut(10), |part, numbers| numbers.iter_mut().for_each(|n| *n += part));
        let expected: Vec<usize> = (0..103).map(|place| place / 10).collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn no_two_threads_have_the_same_at_once() {
        let started = AtomicUsize::new(0);
        let start = || (started.fetch_add(1, Relaxed), 0);
        let mut jobs = each_with(0..1000, start, |(id, seen), number, part| {
            *seen += 1;
            assert_eq!(number, part);
            (*id, *seen)
        });
        // Each job found what the one before had left.
        jobs.sort_unstable();
        let of_each = jobs.chunk_by(|a, b| a.0 == b.0);
        assert!(of_each.clone().count() <= rayon::current_num_threads());
        for jobs in of_each {
            assert!(jobs.iter().zip(1..).all(|(&(_, seen), place)| seen == place), "{jobs:?}");
        }
        assert_eq!(jobs.len(), 1000);
    }
}
