//! Memory: large arrays in huge pages, and scratch space that each thread keeps.

pub mod huge_pages;
pub(crate) mod scratch;
