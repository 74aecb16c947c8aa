//! What the fuzz targets do. Each `check` makes an input of arbitrary bytes and panics where something does not hold.
//!
//! The same functions run under libFuzzer (`cargo +nightly fuzz run TARGET`), which looks for bytes that reach new code,
//! and with bytes drawn from a seed (`cargo test`), which needs no nightly compiler.

pub mod draw;
pub mod graph;
pub mod kernels;
pub mod lexical;
pub mod mentions;
pub mod queries;
pub mod records;

/// A target: its name and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("records", records::check),
    ("graph", graph::check),
    ("mentions", mentions::check),
    ("kernels", kernels::check),
    ("queries", queries::check),
    ("lexical", lexical::check),
];
