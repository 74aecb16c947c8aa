//! Lists of rows, one for each query.

use crate::error::Error;

/// A list of rows for each query. The list of query `i` is `rows[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Clone, Copy)]
pub struct Lists<'a> {
    offsets: &'a [u64],
    pub(super) rows: &'a [u32],
}

impl<'a> Lists<'a> {
    /// Checks and wraps the two arrays.
    ///
    /// # Errors
    /// Offsets that do not fit `lists` lists over `rows`.
    pub fn new(offsets: &'a [u64], rows: &'a [u32], lists: usize) -> Result<Self, Error> {
        let what = "excluded offsets";
        if offsets.len() != lists + 1 {
            return Err(Error::Length {
                what: what.into(),
                found: offsets.len(),
                needed: lists + 1,
                rule: "one more than there are queries",
            });
        }
        let falls = offsets.windows(2).position(|pair| pair[0] > pair[1]).map(|position| position + 1);
        let starts = (offsets[0] != 0).then_some(0);
        let ends = (offsets[lists] != rows.len() as u64).then_some(lists);
        match starts.or(falls).or(ends) {
            Some(position) => Err(Error::Offsets { what, position }),
            None => Ok(Self { offsets, rows }),
        }
    }

    pub(super) fn get(&self, list: usize) -> &'a [u32] {
        &self.rows[self.offsets[list] as usize..self.offsets[list + 1] as usize]
    }
}
