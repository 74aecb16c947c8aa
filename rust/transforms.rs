//! The transforms: modified vectors from a graph and original vectors, one module a family.

pub mod diffusion;
pub mod exact_walks;
pub mod gradient;
pub mod neighbors;
pub mod roots;
pub mod smoothing;
pub mod walks;
