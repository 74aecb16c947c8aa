//! What the kernels share: matrices, dot products and weighted means, cut into pieces that fit the caches.

pub(crate) mod gather;
pub mod means;
pub(crate) mod prefetch;
pub mod slabs;
pub(crate) mod tiles;
pub mod vectors;
