//! The lexical index: BM25 over words and pairs of adjacent words, as a file that is searched where it lies.
//!
//! [`words`] says what the terms of a text are, [`weights`] what a term is worth in a text, [`layout`] how an index is
//! laid out, [`build`] makes it, [`search`] and [`rest`] read it.
//!
//! A term is known by 64 bits of a hash. With a hundred million terms the chance that any two share one is 1 in 3,000,
//! and then two rare terms count for each other. In return, no dictionary of strings has to be kept or read.
//!
//! Texts are numbered by the ranks of their ids, so that a file does not depend on the order in which texts come, and
//! what a term is worth is stored as a whole number of steps, so that sums do not depend on the order of adding either.

pub mod build;
pub mod layout;
pub mod rest;
pub mod search;
pub mod weights;
pub mod words;

/// Parts of an index, by the leading bits of a term's hash: what is sorted at a time when it is built.
const PARTS: usize = 256;

/// The part that a term lies in.
#[inline(always)]
fn part_of(term: u64) -> usize {
    (term >> (u64::BITS - PARTS.trailing_zeros())) as usize
}
