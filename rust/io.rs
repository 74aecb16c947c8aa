//! Reading nodes and edges from their files: blocks and lines, ids and rows, and the rules for records.

pub mod ids;
pub mod jsonl;
pub mod records;
