//! Why there is no page.

use crate::page::plot::PlotError;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model does not suit the rows, or what is fitted for the page cannot be; or whoever
    /// listens to the progress wanted the work to end.
    #[error(transparent)]
    Training(#[from] koan_trainer::Error),
    /// A figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

impl From<koan::Error> for Error {
    fn from(error: koan::Error) -> Self {
        Self::Training(error.into())
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;
