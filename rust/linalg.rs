//! What the kernels share: matrices and dot products, weighted means, and how both are cut into pieces that fit caches.

pub(crate) mod gather;
pub mod means;
pub(crate) mod prefetch;
pub mod slabs;
pub(crate) mod tiles;
pub mod vectors;
