//! The runtime in C, `koan.h` and `koan.c`, as text: `koan export` writes it beside models.

/// The text of `koan.h`.
pub const HEADER: &str = include_str!("koan.h");

/// The text of `koan.c`.
pub const SOURCE: &str = include_str!("koan.c");
