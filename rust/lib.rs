//! Graph-modified embeddings: the kernels behind the `gme` Python package.
//!
//! Arrays are row-major `f32` matrices, one row per node. Every kernel gives the same bits for any thread count, any
//! order of nodes and edges, and any instruction set; but `hub_damping` takes powers by the system's own mathematics.

mod conjugate_gradient;
pub mod control;
pub mod diffusion;
pub mod error;
pub mod expectation;
mod gather;
mod gauss_seidel;
pub mod gradient;
pub mod graph;
pub mod ids;
pub mod jsonl;
pub mod means;
pub mod mentions;
pub mod neighbours;
pub mod pagerank;
pub mod pages;
pub mod pairs;
pub mod patches;
mod prefetch;
pub mod random;
pub mod records;
mod scratch;
pub mod search;
pub mod slabs;
pub mod smoothing;
pub mod spread;
mod tiles;
pub mod vectors;
pub mod walks;

#[cfg(feature = "python")]
mod python;
