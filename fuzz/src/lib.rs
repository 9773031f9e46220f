//! What the fuzz targets share, most of it with the tests: their own source, without what
//! else those depend on.
//!
//! - [`reference`](mod@reference): the naive implementation, and [`naive`], what it takes.
//! - [`unchecked`]: everything that can be called with a model that was not checked.
//! - [`memory`]: buffers of exactly the lengths that are needed.
//! - [`repair`]: blobs that mostly parse, from any bytes.

#[path = "../../tests/golden-models/tests/robust/memory.rs"]
pub mod memory;
#[path = "../../tests/golden-models/tests/robust/naive.rs"]
pub mod naive;
#[path = "../../tests/src/reference/mod.rs"]
pub mod reference;
pub mod repair;
#[path = "../../tests/golden-models/tests/robust/unchecked.rs"]
pub mod unchecked;
