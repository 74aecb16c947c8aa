//! Exact cosine search: the `k` best rows for each query, and the cosines of given pairs.
//!
//! A score is `dot(q / |q|, x) / |x|`, or 0 if either is a zero vector. It depends on these two vectors only: its bits
//! are the same for any batch, order of rows and thread count. The best come first. Ties go to the row with the smaller
//! rank.

use std::array;

use rayon::prelude::*;

use self::group::Group;
pub use self::lists::Lists;
use self::scan::Scan;
use self::top_k::{TopK, merge};
use crate::control::Control;
use crate::error::Error;
use crate::linalg::vectors::{Matrix, dots, filled, row_norms, simd};

mod group;
mod lists;
mod scan;
mod top_k;

/// In a result, this stands for "no row left".
pub const NO_ROW: u32 = u32::MAX;

/// The number of queries that pass over the rows together.
const GROUP: usize = 64;
/// The number of queries, and of rows, whose dot products are computed together in registers.
const TILE: usize = 4;
/// The number of rows that stay in the cache while a group of queries passes over them.
const BLOCK: usize = 64;

/// The rows to search in, with their norms and the ranks of their ids.
#[derive(Debug, Clone, Copy)]
pub struct VectorSet<'a> {
    x: Matrix<'a>,
    norms: &'a [f32],
    ranks: &'a [u32],
}

/// What to search for, and the rows to leave out.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// One query per row.
    pub queries: Matrix<'a>,
    /// How many rows each query wants.
    pub k: usize,
    /// For each query, the rows it must not get.
    pub excluded: Option<Lists<'a>>,
    /// For each row, whether any query may get it.
    pub allowed: Option<&'a [bool]>,
}

/// The best `k` rows of every query, padded with [`NO_ROW`] and -infinity.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Rows, best first.
    pub rows: Vec<u32>,
    /// Their scores.
    pub scores: Vec<f32>,
}

impl<'a> VectorSet<'a> {
    /// Wraps a matrix with the finite norms that [`row_norms`] gave, and the rank of each row's id.
    ///
    /// # Errors
    /// Lengths that differ.
    pub fn new(x: Matrix<'a>, norms: &'a [f32], ranks: &'a [u32]) -> Result<Self, Error> {
        expect_length("norms", norms.len(), x.rows())?;
        expect_length("ranks", ranks.len(), x.rows())?;
        Ok(Self { x, norms, ranks })
    }

    /// Refuses ranks that are not the numbers from 0, each once. They decide ties, which would then be open.
    ///
    /// # Errors
    /// A rank that is too large, or given to two rows.
    pub fn check_ranks(&self) -> Result<(), Error> {
        let mut seen = filled("the check of ranks", false, self.ranks.len(), 1)?;
        for (position, &rank) in self.ranks.iter().enumerate() {
            let limit = self.ranks.len();
            let out_of_range = Error::OutOfRange { what: "ranks", position, value: rank.into(), limit };
            if std::mem::replace(seen.get_mut(rank as usize).ok_or(out_of_range)?, true) {
                return Err(Error::parameter(format!("ranks[{position}]"), rank, "a rank that no other row has"));
            }
        }
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.x.rows()
    }

    /// The number of columns.
    pub fn dim(&self) -> usize {
        self.x.dim()
    }

    /// The `k` best rows for every query, without the rows that are excluded for it or not allowed for any.
    ///
    /// # Errors
    /// Queries of another width or not finite; arrays of another length; excluded rows that do not exist; cancellation.
    pub fn top(&self, request: &Request<'_>, control: &Control) -> Result<Found, Error> {
        let &Request { queries, k, excluded, .. } = request;
        let units = self.unit_queries(queries, control)?;
        let units = Matrix::new("queries", &units, queries.rows(), queries.dim())?;
        let eligible = self.eligible(request.allowed)?;
        if let Some(lists) = excluded {
            self.expect_rows("excluded rows", lists.rows)?;
        }
        control.expect(queries.rows());
        let mut found = Found {
            rows: filled("the result", NO_ROW, queries.rows(), k)?,
            scores: filled("the result", f32::NEG_INFINITY, queries.rows(), k)?,
        };
        if k == 0 {
            return Ok(found);
        }
        let rows = eligible.as_ref().map_or(self.x.rows(), Vec::len);
        let groups = queries.rows().div_ceil(GROUP).max(1);
        // With few queries the rows are split as well. The order of candidates is total, so the split changes no
        // result.
        let parts = (4 * rayon::current_num_threads()).div_ceil(groups).clamp(1, rows.div_ceil(8 * BLOCK).max(1));
        let slots = found
            .rows
            .par_chunks_mut(GROUP.saturating_mul(k))
            .zip(found.scores.par_chunks_mut(GROUP.saturating_mul(k)));
        slots.enumerate().try_for_each(|(group, (row_slots, score_slots))| {
            let group = group * GROUP..((group + 1) * GROUP).min(queries.rows());
            let partial: Vec<Vec<TopK>> = (0..parts)
                .into_par_iter()
                .map(|part| {
                    let range = rows * part / parts..rows * (part + 1) / parts;
                    let best = |query| TopK::new(k, excluded.map_or(&[], |lists| lists.get(query)));
                    let mut best: Vec<TopK> = group.clone().map(best).collect();
                    let scan = Scan { x: self.x, norms: self.norms, ranks: self.ranks, units, first: group.start };
                    scan.range(range, eligible.as_deref(), &mut best, control)?;
                    Ok(best)
                })
                .collect::<Result<_, Error>>()?;
            merge(partial, k, row_slots, score_slots);
            control.advance(group.len())
        })?;
        Ok(found)
    }

    /// The scores of given pairs. `rows` holds lines of `per_line` rows. Every line belongs to the same number of
    /// consecutive queries. [`NO_ROW`] scores -infinity. The result has one line of scores for each query.
    ///
    /// # Errors
    /// Queries of another width or not finite, or not the same number for each line; rows that do not exist; no memory.
    pub fn cosines(
        &self,
        queries: Matrix<'_>,
        rows: &[u32],
        per_line: usize,
        control: &Control,
    ) -> Result<Vec<f32>, Error> {
        let units = self.unit_queries(queries, control)?;
        let units = Matrix::new("queries", &units, queries.rows(), queries.dim())?;
        let lines = rows.len().checked_div(per_line).unwrap_or(0);
        let each = queries.rows().checked_div(lines).unwrap_or(0);
        if lines * per_line != rows.len() || each * lines != queries.rows() && per_line > 0 || each == 0 && lines > 0 {
            return Err(Error::Length {
                what: "rows".into(),
                found: rows.len(),
                needed: per_line.saturating_mul(queries.rows()),
                rule: "the same number for each query",
            });
        }
        self.expect_rows("rows", rows)?;
        let mut scores = filled("the scores", f32::NEG_INFINITY, queries.rows(), per_line)?;
        if !scores.is_empty() {
            let slots = scores.par_chunks_mut(each * per_line).zip(rows.par_chunks(per_line)).enumerate();
            slots.try_for_each(|(line, (slots, rows))| {
                control.check()?;
                simd(
                    #[inline(always)]
                    || self.score_line(units, line * each, rows, slots),
                );
                Ok(())
            })?;
        }
        Ok(scores)
    }

    /// Scores one line of rows for its queries, which start at `first`. Slots of [`NO_ROW`] stay as they are.
    #[inline(always)]
    fn score_line(&self, units: Matrix<'_>, first: usize, rows: &[u32], slots: &mut [f32]) {
        let queries = slots.len() / rows.len();
        for (tile, present) in rows.chunks(TILE).enumerate() {
            // Rows are taken four at a time, because a single sum would wait for its own last addition. Missing rows
            // are computed and not used.
            let four: [&[f32]; TILE] = array::from_fn(|place| match present.get(place) {
                Some(&row) if row != NO_ROW => self.x.row(row as usize),
                _ => units.row(first),
            });
            let mut keep = |query: usize, dots: [f32; TILE]| {
                let slots = &mut slots[query * rows.len() + tile * TILE..];
                for ((slot, &row), dot) in slots.iter_mut().zip(present).zip(dots) {
                    if row != NO_ROW {
                        *slot = score(dot, self.norms[row as usize]);
                    }
                }
            };
            let whole = queries - queries % TILE;
            for query in (0..whole).step_by(TILE) {
                let dots = dots(array::from_fn::<_, TILE, _>(|offset| units.row(first + query + offset)), four);
                dots.into_iter().enumerate().for_each(|(offset, dots)| keep(query + offset, dots));
            }
            for query in whole..queries {
                let [dots] = dots([units.row(first + query)], four);
                keep(query, dots);
            }
        }
    }

    /// The scores of all pairs of rows within each group of `size` rows. The first row of a pair is the query.
    ///
    /// The pairs are in the order of the upper triangle of a square, line by line: `size · (size − 1) / 2` for each
    /// group. Pairs with [`NO_ROW`] score -infinity. The rows of a group are copied together, so that they stay in the
    /// cache.
    ///
    /// # Errors
    /// A number of rows that is not a multiple of `size`; rows that do not exist; no memory.
    pub fn pairs(&self, groups: &[u32], size: usize, control: &Control) -> Result<Vec<f32>, Error> {
        let count = groups.len().checked_div(size).unwrap_or(0);
        if count * size != groups.len() {
            let rule = "a multiple of the size of a group";
            return Err(Error::Length { what: "rows".into(), found: groups.len(), needed: (count + 1) * size, rule });
        }
        self.expect_rows("rows", groups)?;
        let pairs = size * size.saturating_sub(1) / 2;
        let mut scores = filled("the pairs", f32::NEG_INFINITY, count, pairs)?;
        if pairs > 0 {
            let slots = scores.par_chunks_mut(pairs).zip(groups.par_chunks(size));
            slots.try_for_each(|(slots, rows)| {
                control.check()?;
                let group = Group::gather(self, rows);
                simd(
                    #[inline(always)]
                    || group.pairs(slots),
                );
                Ok(())
            })?;
        }
        Ok(scores)
    }

    /// The queries, scaled to length 1.
    fn unit_queries(&self, queries: Matrix<'_>, control: &Control) -> Result<Vec<f32>, Error> {
        if queries.dim() != self.x.dim() {
            return Err(Error::Length {
                what: "each query".into(),
                found: queries.dim(),
                needed: self.x.dim(),
                rule: "as many columns as x; embed both with the same model",
            });
        }
        let norms = row_norms("queries", queries, control)?;
        Ok(scaled(queries.data(), &norms, queries.dim()))
    }

    fn eligible(&self, allowed: Option<&[bool]>) -> Result<Option<Vec<u32>>, Error> {
        let Some(allowed) = allowed else { return Ok(None) };
        expect_length("allowed", allowed.len(), self.x.rows())?;
        Ok(Some((0..self.x.rows() as u32).filter(|&row| allowed[row as usize]).collect()))
    }

    fn expect_rows(&self, what: &'static str, rows: &[u32]) -> Result<(), Error> {
        let limit = self.x.rows();
        match rows.iter().position(|&row| row != NO_ROW && row as usize >= limit) {
            Some(position) => Err(Error::OutOfRange { what, position, value: u64::from(rows[position]), limit }),
            None => Ok(()),
        }
    }
}

fn expect_length(what: &'static str, found: usize, needed: usize) -> Result<(), Error> {
    if found == needed {
        return Ok(());
    }
    Err(Error::Length { what: what.into(), found, needed, rule: "one per row of x" })
}

/// The rows, divided by their lengths. Zero rows stay as they are.
fn scaled(data: &[f32], norms: &[f32], dim: usize) -> Vec<f32> {
    let mut units = data.to_vec();
    for (row, &norm) in units.chunks_exact_mut(dim).zip(norms) {
        if norm > 0.0 {
            row.iter_mut().for_each(|value| *value /= norm);
        }
    }
    units
}

/// The cosine, given the dot product of a unit query with a row of length `norm`.
#[inline(always)]
fn score(dot: f32, norm: f32) -> f32 {
    // Adding 0 turns -0 into 0. The order of candidates would distinguish the two.
    if norm > 0.0 { dot / norm + 0.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(k: usize, excluded: Option<Lists<'a>>, allowed: Option<&'a [bool]>) -> Found {
        // Row 1 is row 0 doubled, row 3 is zero; ranks put row 1 before row 0.
        let data = [1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let x = Matrix::new("x", &data, 4, 2).unwrap();
        let norms = row_norms("x", x, &Control::new()).unwrap();
        let queries = Matrix::new("queries", &[3.0, 0.0], 1, 2).unwrap();
        let request = Request { queries, k, excluded, allowed };
        VectorSet::new(x, &norms, &[1, 0, 2, 3]).unwrap().top(&request, &Control::new()).unwrap()
    }

    #[test]
    fn ties_go_to_the_smaller_rank_and_missing_rows_are_padded() {
        let all = found(5, None, None);
        assert_eq!(all.rows, [1, 0, 2, 3, NO_ROW]);
        assert_eq!(all.scores, [1.0, 1.0, 0.0, 0.0, f32::NEG_INFINITY]);
        assert_eq!(found(0, None, None).rows, [0u32; 0]);
    }

    #[test]
    fn every_rank_belongs_to_one_row() {
        let x = Matrix::new("x", &[1.0; 3], 3, 1).unwrap();
        let check = |ranks: &[u32]| VectorSet::new(x, &[1.0; 3], ranks).unwrap().check_ranks();
        assert_eq!(check(&[2, 0, 1]), Ok(()));
        assert_eq!(check(&[2, 0, 3]).unwrap_err().to_string(), "ranks[2] is 3, must be below 3");
        assert_eq!(check(&[2, 0, 2]).unwrap_err().to_string(), "ranks[2] is 2, must be a rank that no other row has");
    }

    #[test]
    fn masks_and_exclusions() {
        let excluded = Lists::new(&[0, 1], &[1], 1).unwrap();
        assert_eq!(found(2, Some(excluded), None).rows, [0, 2]);
        assert_eq!(found(2, Some(excluded), Some(&[false, true, false, true])).rows, [3, NO_ROW]);
        assert!(Lists::new(&[0, 2], &[1], 1).is_err());
    }

    #[test]
    fn pairs_score_as_cosines_do() {
        // 7 rows of 5 numbers, the fourth zero; groups of 6 fill no tile evenly.
        let data: Vec<f32> = (0..35u16).map(|i| if i / 5 == 3 { 0.0 } else { f32::from(i * 37 % 11) - 4.0 }).collect();
        let x = Matrix::new("x", &data, 7, 5).unwrap();
        let norms = row_norms("x", x, &Control::new()).unwrap();
        let set = VectorSet::new(x, &norms, &[0, 1, 2, 3, 4, 5, 6]).unwrap();
        let groups = [6, 3, NO_ROW, 0, 5, 0, 1, 2, 3, 4, 5, 6];
        let control = Control::new();
        let mut expected = Vec::new();
        for group in groups.chunks(6) {
            for (place, &first) in group.iter().enumerate() {
                let rows = &group[place + 1..];
                expected.extend(match first {
                    NO_ROW => vec![f32::NEG_INFINITY; rows.len()],
                    _ => {
                        let query = Matrix::new("query", x.row(first as usize), 1, 5).unwrap();
                        set.cosines(query, rows, rows.len(), &control).unwrap()
                    }
                });
            }
        }
        assert_eq!(set.pairs(&groups, 6, &control).unwrap(), expected);
        assert_eq!(set.pairs(&groups, 1, &control).unwrap(), [0.0; 0]);
        assert_eq!(set.pairs(&[], 0, &control).unwrap(), [0.0; 0]);
        assert!(set.pairs(&groups, 5, &control).is_err());
        assert!(set.pairs(&groups, 0, &control).is_err());
        assert!(set.pairs(&[0, 7], 2, &control).is_err());
    }
}
