//! The transformations: modified vectors from a graph and original vectors. Each family has a module.

pub mod diffusion;
pub mod exact_walks;
pub mod gradient;
pub mod neighbors;
pub mod roots;
pub mod signature;
pub mod smoothing;
pub mod walks;
