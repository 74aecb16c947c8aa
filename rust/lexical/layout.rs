//! How an index is laid out: whole numbers of 64 bits in the machine's order, so that a map of the file is the index.
//!
//! A head says how many texts there are, what a step is worth and where the parts lie. A part holds its terms in
//! ascending order, then where each one's postings begin (and, at the end, their number), the ranks of the texts that
//! hold each, ascending, and what each is worth there: `u64`, `u32`, `u32`, `u16`, each filled up to 64 bits.

use std::ops::Range;

use bytemuck::cast_slice;

use super::{PARTS, part_of};
use crate::error::Error;

/// What an index begins with: its kind, and the version of what terms and layout are.
const MARK: u64 = u64::from_le_bytes(*b"gmelex01");

/// The length of the head, in numbers of 64 bits.
pub(super) const HEAD: usize = 5 + PARTS * 3;

/// What the head says of a part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Part {
    /// Where it begins.
    pub start: u64,
    /// Its terms.
    pub terms: u64,
    /// Their postings.
    pub postings: u64,
}

impl Part {
    /// Numbers of 64 bits that hold so many of so many bytes.
    fn room(count: u64, bytes: u64) -> u64 {
        (count * bytes).div_ceil(size_of::<u64>() as u64)
    }

    /// Where the four arrays of the part end.
    fn ends(&self) -> [u64; 4] {
        let terms = self.start + self.terms;
        let starts = terms + Self::room(self.terms + 1, 4);
        let ranks = starts + Self::room(self.postings, 4);
        [terms, starts, ranks, ranks + Self::room(self.postings, 2)]
    }

    /// Where the part ends.
    pub fn end(&self) -> u64 {
        self.ends()[3]
    }
}

/// The head of an index.
pub(super) fn head(texts: usize, terms: u64, step: f64, parts: &[Part]) -> Vec<u64> {
    let end = parts.last().map_or(HEAD as u64, Part::end);
    let mut head = vec![MARK, texts as u64, terms, step.to_bits(), end];
    head.extend(parts.iter().flat_map(|part| [part.start, part.terms, part.postings]));
    head
}

/// An index as it lies in memory or in a file.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    data: &'a [u64],
    /// Number of texts.
    pub texts: usize,
    /// Their terms, repetitions too.
    pub length: u64,
    /// What one step is worth.
    pub step: f64,
}

/// The texts that hold a term, by rank, and what it is worth in each, in steps.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// Ascending.
    pub ranks: &'a [u32],
    /// As many.
    pub steps: &'a [u16],
}

impl<'a> Index<'a> {
    /// Reads the head.
    ///
    /// # Errors
    /// It is no index, or one that was cut off.
    pub fn new(data: &'a [u64]) -> Result<Self, Error> {
        let damaged = || Error::parameter("the lexical index", "damaged or of another version", "built again");
        let head = data.get(..HEAD).ok_or_else(damaged)?;
        let index = Self { data, texts: head[1] as usize, length: head[2], step: f64::from_bits(head[3]) };
        let mut end = HEAD as u64;
        for number in 0..PARTS {
            let part = index.part(number);
            let sane = part.start == end && part.terms <= data.len() as u64 && part.postings <= 4 * data.len() as u64;
            end = if sane { part.end() } else { return Err(damaged()) };
        }
        let fits = index.texts < u32::MAX as usize && index.step.is_finite() && end == data.len() as u64;
        if head[0] == MARK && head[4] == end && fits { Ok(index) } else { Err(damaged()) }
    }

    fn part(&self, number: usize) -> Part {
        let at = 5 + number * 3;
        Part { start: self.data[at], terms: self.data[at + 1], postings: self.data[at + 2] }
    }

    /// Distinct terms.
    pub fn terms(&self) -> u64 {
        (0..PARTS).map(|number| self.part(number).terms).sum()
    }

    /// Pairs of a term and a text that holds it.
    pub fn postings(&self) -> u64 {
        (0..PARTS).map(|number| self.part(number).postings).sum()
    }

    /// The texts that hold a term; none of what lies beyond its place in a damaged index.
    pub fn find(&self, term: u64) -> Option<Postings<'a>> {
        let part = self.part(part_of(term));
        let [terms, starts, ranks, steps] = part.ends().map(|end| end as usize);
        let place = self.data[part.start as usize..terms].binary_search(&term).ok()?;
        let bounds: &[u32] = cast_slice(&self.data[terms..starts]);
        let range: Range<usize> = bounds[place] as usize..bounds[place + 1] as usize;
        let (ranks, steps): (&[u32], &[u16]) =
            (cast_slice(&self.data[starts..ranks]), cast_slice(&self.data[ranks..steps]));
        Some(Postings { ranks: ranks.get(range.clone())?, steps: steps.get(range)? })
    }
}
