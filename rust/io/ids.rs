//! Node ids: the id of each row, and the row of each id.

use std::hash::{BuildHasher, RandomState};

use rayon::prelude::*;

use crate::error::Error;
use crate::linalg::prefetch::prefetch;

/// Many strings in one buffer. Each takes a few bytes besides its text; a `String` takes 24 and an allocation.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Strings {
    text: String,
    /// Where each string ends.
    ends: Vec<usize>,
}

impl Strings {
    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a string at the end.
    pub fn push(&mut self, string: &str) {
        self.text.push_str(string);
        self.ends.push(self.text.len());
    }

    /// Adds all strings of another.
    pub fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }

    /// String number `index`.
    ///
    /// # Panics
    /// If there is no string with this number.
    #[inline(always)]
    pub fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// Distinct ids by row, and rows by id.
///
/// ```
/// use gme::io::ids::Ids;
/// let ids = Ids::new(["b", "a"].iter().collect()).unwrap();
/// assert_eq!((ids.get(1), ids.row("a"), ids.row("c")), ("a", Some(1), None));
/// ```
#[derive(Debug)]
pub struct Ids {
    strings: Strings,
    /// A hash table with open addressing and linear probing. The low half of a slot is a row; the high half is the high
    /// half of the hash of its id.
    slots: Vec<u64>,
    /// The random seed differs in each process, so that nobody can craft a file whose ids collide. The row of an id
    /// does not depend on it.
    hasher: RandomState,
}

const EMPTY: u64 = u64::MAX;
/// The high half of a hash and of a slot.
const TAG: u64 = !(u32::MAX as u64);

/// The rows of two equal ids, the earlier one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuplicateIds(pub usize, pub usize);

impl Ids {
    /// Indexes ids.
    ///
    /// # Errors
    /// [`Error::DuplicateId`] if two are equal; [`Error::TooMany`] if there are more than 32 bits can number.
    pub fn new(strings: Strings) -> Result<Self, Error> {
        match Self::index(strings)? {
            Ok(ids) => Ok(ids),
            Err((strings, DuplicateIds(first, second))) => {
                Err(Error::DuplicateId { id: strings.get(first).to_owned(), rows: (first, second) })
            }
        }
    }

    /// Does what [`Ids::new`] does. If an id is repeated, it gives the ids back with the earliest row that repeats
    /// another.
    pub(crate) fn index(strings: Strings) -> Result<Result<Self, (Strings, DuplicateIds)>, Error> {
        if strings.len() >= u32::MAX as usize {
            return Err(Error::TooMany { what: "nodes", found: strings.len(), limit: u32::MAX as usize - 1 });
        }
        // The table is never more than three quarters full.
        let room = (strings.len() + strings.len() / 3 + 1).next_power_of_two();
        let mut ids = Self { strings, slots: vec![EMPTY; room], hasher: RandomState::new() };
        let hashes: Vec<u64> =
            (0..ids.len()).into_par_iter().map(|row| ids.hasher.hash_one(ids.strings.get(row))).collect();
        for (row, &hash) in hashes.iter().enumerate() {
            if let Some(coming) = hashes.get(row + BATCH) {
                prefetch(&ids.slots[ids.home(*coming)]);
            }
            match ids.find(hash, ids.strings.get(row)) {
                Ok(first) => return Ok(Err((ids.strings, DuplicateIds(first as usize, row)))),
                Err(slot) => ids.slots[slot] = hash & TAG | row as u64,
            }
        }
        Ok(Ok(ids))
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// The id of a row. Panics if there is no such row.
    #[inline(always)]
    pub fn get(&self, row: usize) -> &str {
        self.strings.get(row)
    }

    /// All ids in the order of their rows.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    /// The row of an id.
    pub fn row(&self, id: &str) -> Option<u32> {
        self.find(self.hasher.hash_one(id), id).ok()
    }

    /// The rows of at most [`BATCH`] ids.
    ///
    /// Each look-up needs three accesses to memory that is not in a cache. Here each of the three is made for all ids
    /// at once, so that these accesses overlap.
    ///
    /// # Errors
    /// The index of the first unknown id.
    pub(crate) fn rows(&self, wanted: &[&str], rows: &mut [u32; BATCH]) -> Result<(), usize> {
        let mut hashes = [0; BATCH];
        for (hash, id) in hashes.iter_mut().zip(wanted) {
            *hash = self.hasher.hash_one(id);
            prefetch(&self.slots[self.home(*hash)]);
        }
        let hashes = &hashes[..wanted.len()];
        let candidates = || hashes.iter().map(|&hash| self.slots[self.home(hash)]).filter(|&slot| slot != EMPTY);
        for slot in candidates() {
            prefetch(&self.strings.ends[slot as u32 as usize]);
        }
        for slot in candidates() {
            let end = self.strings.ends[slot as u32 as usize];
            prefetch(&self.strings.text.as_bytes()[end.saturating_sub(1)]);
        }
        for (index, (&hash, id)) in hashes.iter().zip(wanted).enumerate() {
            rows[index] = self.find(hash, id).map_err(|_| index)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// The row of an id, or the slot it would take.
    #[inline(always)]
    fn find(&self, hash: u64, id: &str) -> Result<u32, usize> {
        let mut place = self.home(hash);
        loop {
            let slot = self.slots[place];
            if slot == EMPTY {
                return Err(place);
            }
            let row = slot as u32;
            if slot & TAG == hash & TAG && self.strings.get(row as usize) == id {
                return Ok(row);
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }
}

/// The number of look-ups whose memory accesses overlap.
pub(crate) const BATCH: usize = 32;

impl<S: AsRef<str>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut made = Self::default();
        strings.into_iter().for_each(|string| made.push(string.as_ref()));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 4, 100, 5000] {
            let ids = Ids::new((0..count).map(|row| format!("n{row}")).collect()).unwrap();
            assert!((0..count).all(|row| ids.row(&format!("n{row}")) == Some(row as u32)));
            assert_eq!((ids.row("n"), ids.row(""), ids.row(&format!("n{count}"))), (None, None, None));
        }
    }

    #[test]
    fn the_first_repetition_is_named() {
        let error = Ids::new(["a", "b", "c", "b", "a"].iter().collect()).unwrap_err();
        assert_eq!(error, Error::DuplicateId { id: "b".into(), rows: (1, 3) });
    }

    #[test]
    fn batches_find_what_single_looks_find() {
        let ids = Ids::new((0..1000).map(|row| format!("n{row}")).collect()).unwrap();
        let names: Vec<String> = (0..BATCH).map(|row| format!("n{}", row * 7)).collect();
        let mut wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut rows = [0; BATCH];
        assert_eq!(ids.rows(&wanted, &mut rows), Ok(()));
        assert!(rows.iter().enumerate().all(|(index, &row)| row == 7 * index as u32));
        wanted[17] = "";
        assert_eq!(ids.rows(&wanted, &mut rows), Err(17));
    }
}
