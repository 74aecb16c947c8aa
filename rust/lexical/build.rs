//! Building an index from texts that come block by block, in no more memory than a fixed amount beside the texts.
//!
//! Postings are dealt out to the parts as they come. What does not fit the memory goes to one file, part by part. In
//! the end each part is read back, sorted and written. No step depends on the order of texts or the number of threads.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use rayon::prelude::*;

use super::layout::{HEAD, Part, head};
use super::weights::{Bm25, Weights};
use super::{PARTS, part_of, words};
use crate::control::Control;
use crate::error::Error;

/// Texts a task works on.
const TEXTS: usize = 64;

/// Postings that are held in memory at most, of 16 bytes each: half a gigabyte.
pub const HELD: usize = 32 << 20;

/// Parts that are sorted at a time.
const AT_ONCE: usize = 8;

/// That a term stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct Posting {
    term: u64,
    rank: u32,
    count: u32,
}

/// The place in the file of a part's postings that were written at one time.
#[derive(Debug, Clone, Copy)]
struct Run {
    part: usize,
    start: u64,
    postings: usize,
}

/// An index in the making.
#[derive(Debug)]
pub struct Builder {
    options: Bm25,
    /// The number of terms of each text, by rank; `MISSING` where it is still to come.
    lengths: Vec<u32>,
    parts: Vec<Vec<Posting>>,
    held: usize,
    most_held: usize,
    spill: Option<File>,
    runs: Vec<Run>,
    spilled: u64,
}

const MISSING: u32 = u32::MAX;

impl Builder {
    /// An index of so many texts. `spill` is an empty file, open for reading and writing, that takes what the memory
    /// should not hold: of more than `most_held` postings. Without it all stay in memory.
    ///
    /// # Errors
    /// Parameters out of range; more texts than 32 bits can number.
    pub fn new(texts: usize, options: Bm25, spill: Option<File>, most_held: usize) -> Result<Self, Error> {
        if texts >= u32::MAX as usize {
            return Err(Error::TooMany { what: "texts", found: texts, limit: u32::MAX as usize - 1 });
        }
        if !(options.k1.is_finite() && options.k1 >= 0.0) {
            return Err(Error::parameter("k1", options.k1, "a number of at least 0"));
        }
        if !(0.0..=1.0).contains(&options.b) {
            return Err(Error::parameter("b", options.b, "between 0 and 1"));
        }
        let (lengths, parts) = (vec![MISSING; texts], vec![Vec::new(); PARTS]);
        Ok(Self { options, lengths, parts, held: 0, most_held, spill, runs: Vec::new(), spilled: 0 })
    }

    /// Adds texts, with the rank of each one's id among all.
    ///
    /// # Errors
    /// Another number of ranks, a rank that is too large or was there before, a full disk, cancellation.
    pub fn add<T: AsRef<str> + Sync>(&mut self, texts: &[T], ranks: &[u32], control: &Control) -> Result<(), Error> {
        if ranks.len() != texts.len() {
            let (what, found, needed) = ("ranks", ranks.len(), texts.len());
            return Err(Error::Length { what: what.into(), found, needed, rule: "one rank per text" });
        }
        control.expect(texts.len());
        let found: Vec<(Vec<Posting>, Vec<u32>)> = (texts.par_chunks(TEXTS), ranks.par_chunks(TEXTS))
            .into_par_iter()
            .map(|(texts, ranks)| {
                let mut postings = Vec::new();
                let lengths = texts.iter().zip(ranks).map(|(text, &rank)| count(text.as_ref(), rank, &mut postings));
                let lengths = lengths.collect();
                control.advance(texts.len()).map(|()| (postings, lengths))
            })
            .collect::<Result<_, Error>>()?;
        for (&rank, length) in ranks.iter().zip(found.iter().flat_map(|part| &part.1)) {
            self.take_length(rank, *length)?;
        }
        for posting in found.iter().flat_map(|part| &part.0) {
            self.parts[part_of(posting.term)].push(*posting);
        }
        self.held += found.iter().map(|part| part.0.len()).sum::<usize>();
        if self.held > self.most_held && self.spill.is_some() { self.spill() } else { Ok(()) }
    }

    fn take_length(&mut self, rank: u32, length: u32) -> Result<(), Error> {
        let limit = self.lengths.len();
        let place = self.lengths.get_mut(rank as usize).ok_or(Error::OutOfRange {
            what: "ranks",
            position: 0,
            value: rank.into(),
            limit,
        })?;
        if *place != MISSING {
            return Err(Error::parameter("ranks", rank, "given once"));
        }
        *place = length;
        Ok(())
    }

    /// Moves all postings from memory to the file.
    fn spill(&mut self) -> Result<(), Error> {
        let Some(file) = &mut self.spill else { return Ok(()) };
        for (part, postings) in self.parts.iter_mut().enumerate() {
            let bytes: &[u8] = cast_slice(postings);
            file.write_all(bytes).map_err(system)?;
            self.runs.push(Run { part, start: self.spilled, postings: postings.len() });
            self.spilled += bytes.len() as u64;
            postings.clear();
        }
        self.held = 0;
        Ok(())
    }

    /// Writes the index to `out`.
    ///
    /// # Errors
    /// Texts are missing, a full disk, cancellation.
    pub fn finish(mut self, mut out: impl Write + Seek, control: &Control) -> Result<(), Error> {
        let (texts, missing) = (self.lengths.len(), self.lengths.iter().filter(|&&length| length == MISSING).count());
        if missing > 0 {
            let (what, found, needed) = ("texts", texts - missing, texts);
            return Err(Error::Length { what: what.into(), found, needed, rule: "as many as were announced" });
        }
        let terms = self.lengths.iter().map(|&length| u64::from(length)).sum();
        let weights = Weights::new(self.options, texts, terms);
        control.expect(PARTS);
        let mut directory: Vec<Part> = Vec::with_capacity(PARTS);
        out.write_all(&[0; HEAD * size_of::<u64>()]).map_err(system)?;
        for first in (0..PARTS).step_by(AT_ONCE) {
            let unsorted = (first..first + AT_ONCE).map(|part| self.whole(part)).collect::<Result<Vec<_>, _>>()?;
            let lengths = &self.lengths;
            let made: Vec<(Part, Vec<u64>)> =
                unsorted.into_par_iter().map(|postings| encode(postings, lengths, &weights)).collect();
            for (mut part, data) in made {
                part.start = directory.last().map_or(HEAD as u64, Part::end);
                directory.push(part);
                out.write_all(cast_slice(&data)).map_err(system)?;
            }
            control.advance(AT_ONCE)?;
        }
        out.seek(SeekFrom::Start(0)).map_err(system)?;
        out.write_all(cast_slice(&head(texts, terms, weights.step, &directory))).map_err(system)?;
        out.flush().map_err(system)
    }

    /// All postings of a part, those in the file too.
    fn whole(&mut self, part: usize) -> Result<Vec<Posting>, Error> {
        let mut postings = std::mem::take(&mut self.parts[part]);
        let Some(file) = &mut self.spill else { return Ok(postings) };
        for run in self.runs.iter().filter(|run| run.part == part) {
            let held = postings.len();
            postings.resize(held + run.postings, Posting::zeroed());
            file.seek(SeekFrom::Start(run.start)).map_err(system)?;
            file.read_exact(cast_slice_mut(&mut postings[held..])).map_err(system)?;
        }
        Ok(postings)
    }
}

/// Appends the postings of a text; gives its length in terms.
fn count(text: &str, rank: u32, postings: &mut Vec<Posting>) -> u32 {
    let mut terms = Vec::new();
    words::terms(text, &mut terms);
    terms.sort_unstable();
    let equal = terms.chunk_by(|first, second| first == second);
    postings.extend(equal.map(|equal| Posting { term: equal[0], rank, count: shortened(equal.len()) }));
    shortened(terms.len())
}

/// A number of terms: a text of four thousand million counts as one less.
fn shortened(count: usize) -> u32 {
    count.min(MISSING as usize - 1) as u32
}

/// A part as it is written; where it begins is not known yet.
fn encode(mut postings: Vec<Posting>, lengths: &[u32], weights: &Weights) -> (Part, Vec<u64>) {
    postings.sort_unstable();
    let (mut terms, mut starts) = (Vec::new(), vec![0_u32]);
    let mut steps: Vec<u16> = Vec::with_capacity(postings.len());
    for equal in postings.chunk_by(|first, second| first.term == second.term) {
        let rarity = weights.rarity(equal.len());
        steps.extend(equal.iter().map(|it| weights.steps(rarity, it.count, lengths[it.rank as usize])));
        terms.push(equal[0].term);
        starts.push(steps.len() as u32);
    }
    let part = Part { start: 0, terms: terms.len() as u64, postings: steps.len() as u64 };
    let ranks: Vec<u32> = postings.iter().map(|posting| posting.rank).collect();
    let mut data = terms;
    append(&mut data, cast_slice(&starts));
    append(&mut data, cast_slice(&ranks));
    append(&mut data, cast_slice(&steps));
    (part, data)
}

/// Appends bytes, and zeros up to the next whole number.
fn append(data: &mut Vec<u64>, bytes: &[u8]) {
    let held = data.len();
    data.resize(held + bytes.len().div_ceil(size_of::<u64>()), 0);
    cast_slice_mut(&mut data[held..])[..bytes.len()].copy_from_slice(bytes);
}

fn system(error: std::io::Error) -> Error {
    Error::System(error.to_string())
}
