//! How many threads work.

use rayon::ThreadPoolBuilder;

use crate::Error;

/// Most threads that can be asked for.
const MOST: usize = 1024;

/// Does `work` with so many threads; without a number, with those of the caller's rayon,
/// which are as many as the machine has cores. What [`train()`](crate::train()),
/// [`tune()`](crate::tune()) and the others return is the same with any number.
///
/// ```
/// # use koan_trainer::{Error, with_threads};
/// let sum = with_threads(Some(2), || [1, 2, 3].iter().sum::<i32>())?;
/// assert_eq!(sum, 6);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// No thread, more than 1,024, or more than the system can start.
pub fn with_threads<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> R + Send,
) -> Result<R, Error> {
    let Some(threads) = threads else { return Ok(work()) };
    if threads == 0 || threads > MOST {
        return Err(Error::parameter("threads", format!("{threads} threads: from 1 to {MOST}")));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Impossible(format!("{threads} threads: {e}")))?;
    Ok(pool.install(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_asked_for() {
        for threads in [1, 3] {
            assert_eq!(with_threads(Some(threads), rayon::current_num_threads).unwrap(), threads);
        }
        let usual = rayon::current_num_threads();
        assert_eq!(with_threads(None, rayon::current_num_threads).unwrap(), usual);
        for threads in [0, MOST + 1, usize::MAX] {
            let error = with_threads(Some(threads), || ()).unwrap_err();
            assert_eq!(error.to_string(), format!("{threads} threads: from 1 to 1024"));
        }
    }
}
