//! Nodes and edges read from their files: blocks and lines, ids and rows, and the rules that records keep.

pub mod ids;
pub mod jsonl;
pub mod records;
