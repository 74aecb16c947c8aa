//! What runs per question: exact search over vectors, and the two baselines that walk the graph.

pub mod pagerank;
pub mod search;
pub mod spread;
