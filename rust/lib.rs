//! Graph-modified embeddings: the kernels behind the `gme` Python package.
//!
//! Arrays are row-major `f32` matrices, one row per node. Every kernel gives the same bits for any thread count, any
//! order of nodes and edges, and any instruction set. The one exception is `hub_damping`: it takes powers with the
//! mathematics library of the system.

pub mod control;
pub mod error;
pub mod graph;
pub mod io;
pub mod lexical;
pub mod linalg;
pub mod memory;
pub mod mentions;
pub mod random;
pub mod retrieval;
pub mod transforms;

#[cfg(feature = "python")]
mod python;
