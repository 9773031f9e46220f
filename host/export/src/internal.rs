//! What the command `koan` takes from the inside. No promise is made about any of it.

pub use crate::files::{may_be_model, may_replace};
pub use crate::stream::{Streamed, stream_of};
