//! Exact cosine search: the k best rows for each query, and the cosines of given pairs.
//!
//! A score is `dot(q / |q|, x) / |x|`, 0 where either is a zero vector, and depends on those two vectors only: the same
//! bits for any batch, order of rows or thread count. Best first; ties go to the row with the smaller rank.

use std::array;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::vectors::{Matrix, dots, filled, row_norms, simd};

/// Stands in a result for "no row left".
pub const NO_ROW: u32 = u32::MAX;

/// Queries that pass over the rows together.
const GROUP: usize = 64;
/// Queries and rows whose dot products are computed together, in registers.
const TILE: usize = 4;
/// Rows that stay in the cache while a group of queries passes over them.
const BLOCK: usize = 64;

/// A list of rows for each query: those of query `i` are `rows[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Clone, Copy)]
pub struct Lists<'a> {
    offsets: &'a [u64],
    rows: &'a [u32],
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
                what,
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

    fn get(&self, list: usize) -> &'a [u32] {
        &self.rows[self.offsets[list] as usize..self.offsets[list + 1] as usize]
    }
}

/// Rows to search in, with their norms.
#[derive(Debug, Clone, Copy)]
pub struct Collection<'a> {
    x: Matrix<'a>,
    norms: &'a [f32],
}

/// What to search for, and where not to.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// One query a row.
    pub queries: Matrix<'a>,
    /// How many rows each query wants.
    pub k: usize,
    /// The place of each row of the collection in the order of ids.
    pub ranks: &'a [u32],
    /// Rows each query must not get.
    pub excluded: Option<Lists<'a>>,
    /// For each row, whether any query may get it.
    pub allowed: Option<&'a [bool]>,
}

/// The best rows of every query, `k` for each: padded with [`NO_ROW`] and -infinity.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Rows, best first.
    pub rows: Vec<u32>,
    /// Their scores.
    pub scores: Vec<f32>,
}

/// A row that may be among the best. Greater means worse, so that the worst stands on top of a heap.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    score: f32,
    rank: u32,
    row: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.rank.cmp(&other.rank))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// The best candidates of one query so far.
struct Best {
    k: usize,
    excluded: Vec<u32>,
    heap: BinaryHeap<Candidate>,
}

impl Best {
    fn new(k: usize, excluded: &[u32]) -> Self {
        let mut excluded = excluded.to_vec();
        excluded.sort_unstable();
        Self { k, excluded, heap: BinaryHeap::new() }
    }

    /// The score below which nothing can enter any more.
    #[inline(always)]
    fn floor(&self) -> f32 {
        if self.heap.len() < self.k {
            return f32::NEG_INFINITY;
        }
        self.heap.peek().map_or(f32::INFINITY, |worst| worst.score)
    }

    #[inline(never)]
    fn offer(&mut self, candidate: Candidate) {
        if self.excluded.binary_search(&candidate.row).is_ok() {
            return;
        }
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }
}

impl<'a> Collection<'a> {
    /// Wraps a matrix with the norms [`row_norms`] gave.
    ///
    /// # Errors
    /// Lengths that differ, norms that are not finite.
    pub fn new(x: Matrix<'a>, norms: &'a [f32]) -> Result<Self, Error> {
        expect_length("norms", norms.len(), x.rows())?;
        match norms.iter().position(|norm| !norm.is_finite()) {
            Some(row) => Err(Error::NotFinite { what: "norms", row, entry: None }),
            None => Ok(Self { x, norms }),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.x.rows()
    }

    /// The `k` best rows for every query, without those excluded for it and those not allowed for any.
    ///
    /// # Errors
    /// Queries of another width or not finite; arrays of another length; excluded rows that do not exist; cancellation.
    pub fn top(&self, request: &Request<'_>, control: &Control) -> Result<Found, Error> {
        let &Request { queries, k, excluded, .. } = request;
        expect_length("ranks", request.ranks.len(), self.x.rows())?;
        let units = self.unit_queries(queries)?;
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
        // Few queries: split the rows as well. The order of candidates is total, so the split changes no result.
        let parts = (4 * rayon::current_num_threads()).div_ceil(groups).clamp(1, rows.div_ceil(8 * BLOCK).max(1));
        let slots = found
            .rows
            .par_chunks_mut(GROUP.saturating_mul(k))
            .zip(found.scores.par_chunks_mut(GROUP.saturating_mul(k)));
        slots.enumerate().try_for_each(|(group, (row_slots, score_slots))| {
            let group = group * GROUP..((group + 1) * GROUP).min(queries.rows());
            let partial: Vec<Vec<Best>> = (0..parts)
                .into_par_iter()
                .map(|part| {
                    let range = rows * part / parts..rows * (part + 1) / parts;
                    let best = |query| Best::new(k, excluded.map_or(&[], |lists| lists.get(query)));
                    let mut best: Vec<Best> = group.clone().map(best).collect();
                    let scan = Scan { x: self.x, norms: self.norms, ranks: request.ranks, units, first: group.start };
                    scan.range(range, eligible.as_deref(), &mut best, control)?;
                    Ok(best)
                })
                .collect::<Result<_, Error>>()?;
            merge(partial, k, row_slots, score_slots);
            control.advance(group.len())
        })?;
        Ok(found)
    }

    /// The scores of given pairs: `rows` holds lines of `per_line`, each for as many queries in a row as there are for a
    /// line; [`NO_ROW`] scores -infinity. One line of scores a query.
    ///
    /// # Errors
    /// Queries of another width or not finite, or not the same number for each line; rows that do not exist; no memory.
    pub fn cosines(&self, queries: Matrix<'_>, rows: &[u32], per_line: usize) -> Result<Vec<f32>, Error> {
        let units = self.unit_queries(queries)?;
        let units = Matrix::new("queries", &units, queries.rows(), queries.dim())?;
        let lines = rows.len().checked_div(per_line).unwrap_or(0);
        let each = queries.rows().checked_div(lines).unwrap_or(0);
        if lines * per_line != rows.len() || each * lines != queries.rows() && per_line > 0 || each == 0 && lines > 0 {
            return Err(Error::Length {
                what: "rows",
                found: rows.len(),
                needed: per_line.saturating_mul(queries.rows()),
                rule: "the same number for each query",
            });
        }
        self.expect_rows("rows", rows)?;
        let mut scores = filled("the scores", f32::NEG_INFINITY, queries.rows(), per_line)?;
        if !scores.is_empty() {
            let slots = scores.par_chunks_mut(each * per_line).zip(rows.par_chunks(per_line)).enumerate();
            slots.for_each(|(line, (slots, rows))| {
                simd(
                    #[inline(always)]
                    || self.score_line(units, line * each, rows, slots),
                );
            });
        }
        Ok(scores)
    }

    /// Scores one line of rows for its queries, which start at `first`; leaves slots at [`NO_ROW`] as they are.
    #[inline(always)]
    fn score_line(&self, units: Matrix<'_>, first: usize, rows: &[u32], slots: &mut [f32]) {
        let queries = slots.len() / rows.len();
        for (tile, present) in rows.chunks(TILE).enumerate() {
            // Four at a time, because one sum would wait for itself; what is missing is computed and not used.
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

    /// The scores of every two rows of each group of `size`, the first of a pair as the query of the second.
    ///
    /// Pairs stand as the upper triangle of a square is read, line by line: `size · (size − 1) / 2` for each group.
    /// Those with [`NO_ROW`] score -infinity. A group's rows are gathered once, so that they stay in the cache.
    ///
    /// # Errors
    /// A number of rows that is no multiple of `size`; rows that do not exist; no memory.
    pub fn pairs(&self, groups: &[u32], size: usize) -> Result<Vec<f32>, Error> {
        let count = groups.len().checked_div(size).unwrap_or(0);
        if count * size != groups.len() {
            let rule = "a multiple of the size of a group";
            return Err(Error::Length { what: "rows", found: groups.len(), needed: (count + 1) * size, rule });
        }
        self.expect_rows("rows", groups)?;
        let pairs = size * size.saturating_sub(1) / 2;
        let mut scores = filled("the pairs", f32::NEG_INFINITY, count, pairs)?;
        if pairs > 0 {
            let slots = scores.par_chunks_mut(pairs).zip(groups.par_chunks(size));
            slots.for_each(|(slots, rows)| {
                let group = Group::gather(self, rows);
                simd(
                    #[inline(always)]
                    || group.pairs(slots),
                );
            });
        }
        Ok(scores)
    }

    /// The queries, scaled to length 1.
    fn unit_queries(&self, queries: Matrix<'_>) -> Result<Vec<f32>, Error> {
        if queries.dim() != self.x.dim() {
            return Err(Error::Length {
                what: "each query",
                found: queries.dim(),
                needed: self.x.dim(),
                rule: "as many columns as x; embed both with the same model",
            });
        }
        let norms = row_norms("queries", queries)?;
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

/// One pass of a group of queries over some rows.
struct Scan<'a> {
    x: Matrix<'a>,
    norms: &'a [f32],
    ranks: &'a [u32],
    units: Matrix<'a>,
    /// The group's first query.
    first: usize,
}

impl Scan<'_> {
    /// Offers the rows in `range` (positions among the eligible ones) to the queries.
    fn range(
        &self,
        range: Range<usize>,
        eligible: Option<&[u32]>,
        best: &mut [Best],
        control: &Control,
    ) -> Result<(), Error> {
        let mut rows = Vec::with_capacity(BLOCK);
        for start in range.clone().step_by(BLOCK) {
            let block = start..(start + BLOCK).min(range.end);
            rows.clear();
            match eligible {
                Some(eligible) => rows.extend_from_slice(&eligible[block]),
                None => rows.extend(block.map(|row| row as u32)),
            }
            simd(
                #[inline(always)]
                || self.block(&rows, best),
            );
            control.check()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn block(&self, rows: &[u32], best: &mut [Best]) {
        for (tile, best) in best.chunks_mut(TILE).enumerate() {
            let first = self.first + tile * TILE;
            match best.len() {
                TILE => self.tiles(self.queries::<TILE>(first), rows, best),
                3 => self.tiles(self.queries::<3>(first), rows, best),
                2 => self.tiles(self.queries::<2>(first), rows, best),
                _ => self.tiles(self.queries::<1>(first), rows, best),
            }
        }
    }

    #[inline(always)]
    fn queries<const Q: usize>(&self, first: usize) -> [&[f32]; Q] {
        array::from_fn(|offset| self.units.row(first + offset))
    }

    #[inline(always)]
    fn tiles<const Q: usize>(&self, queries: [&[f32]; Q], rows: &[u32], best: &mut [Best]) {
        let (tiles, rest) = rows.as_chunks::<TILE>();
        for tile in tiles {
            let dots = dots(queries, tile.map(|row| self.x.row(row as usize)));
            for (best, dots) in best.iter_mut().zip(dots) {
                self.offer(best, tile, dots);
            }
        }
        for &row in rest {
            let dots = dots(queries, [self.x.row(row as usize)]);
            for (best, dots) in best.iter_mut().zip(dots) {
                self.offer(best, &[row], dots);
            }
        }
    }

    #[inline(always)]
    fn offer<const R: usize>(&self, best: &mut Best, rows: &[u32; R], dots: [f32; R]) {
        for (&row, dot) in rows.iter().zip(dots) {
            let score = score(dot, self.norms[row as usize]);
            if score >= best.floor() {
                let rank = self.ranks[row as usize];
                best.offer(Candidate { score, rank, row });
            }
        }
    }
}

/// Some rows of a collection, gathered: as they are, and scaled to length 1.
struct Group<'a> {
    rows: &'a [u32],
    norms: Vec<f32>,
    x: Vec<f32>,
    units: Vec<f32>,
    dim: usize,
}

impl<'a> Group<'a> {
    /// Zeros stand at [`NO_ROW`].
    fn gather(collection: &Collection<'_>, rows: &'a [u32]) -> Self {
        let dim = collection.x.dim();
        let mut x = vec![0.0; rows.len() * dim];
        let mut norms = vec![0.0; rows.len()];
        for ((slot, norm), &row) in x.chunks_exact_mut(dim).zip(&mut norms).zip(rows) {
            if row != NO_ROW {
                slot.copy_from_slice(collection.x.row(row as usize));
                *norm = collection.norms[row as usize];
            }
        }
        let units = scaled(&x, &norms, dim);
        Self { rows, norms, x, units, dim }
    }

    /// See [`Collection::pairs`].
    #[inline(always)]
    fn pairs(&self, slots: &mut [f32]) {
        let size = self.rows.len();
        for top in (0..size).step_by(TILE) {
            for left in (top..size).step_by(TILE) {
                let dots = dots(self.tile(&self.units, top), self.tile(&self.x, left));
                for (first, dots) in (top..size).zip(dots) {
                    for (second, dot) in (left..size).zip(dots).filter(|&(second, _)| second > first) {
                        if self.rows[first] != NO_ROW && self.rows[second] != NO_ROW {
                            let line = first * (2 * size - first - 1) / 2;
                            slots[line + second - first - 1] = score(dot, self.norms[second]);
                        }
                    }
                }
            }
        }
    }

    /// Rows from `first` on; the last one again where there are no more.
    #[inline(always)]
    fn tile<'b>(&self, data: &'b [f32], first: usize) -> [&'b [f32]; TILE] {
        array::from_fn(|offset| {
            let row = (first + offset).min(self.rows.len() - 1);
            &data[row * self.dim..(row + 1) * self.dim]
        })
    }
}

fn expect_length(what: &'static str, found: usize, needed: usize) -> Result<(), Error> {
    if found == needed {
        return Ok(());
    }
    Err(Error::Length { what, found, needed, rule: "one per row of x" })
}

/// Rows divided by their lengths; zero rows as they are.
fn scaled(data: &[f32], norms: &[f32], dim: usize) -> Vec<f32> {
    let mut units = data.to_vec();
    for (row, &norm) in units.chunks_exact_mut(dim).zip(norms) {
        if norm > 0.0 {
            row.iter_mut().for_each(|value| *value /= norm);
        }
    }
    units
}

/// The cosine from the dot product of a unit query with a row of length `norm`.
#[inline(always)]
fn score(dot: f32, norm: f32) -> f32 {
    // Adding 0 turns -0 into 0, which the order of candidates would tell apart.
    if norm > 0.0 { dot / norm + 0.0 } else { 0.0 }
}

fn merge(partial: Vec<Vec<Best>>, k: usize, rows: &mut [u32], scores: &mut [f32]) {
    let queries = rows.len() / k;
    let mut all: Vec<Vec<Candidate>> = vec![Vec::new(); queries];
    for part in partial {
        for (all, best) in all.iter_mut().zip(part) {
            all.extend(best.heap);
        }
    }
    for (query, mut all) in all.into_iter().enumerate() {
        all.sort_unstable();
        for (place, candidate) in all.into_iter().take(k).enumerate() {
            rows[query * k + place] = candidate.row;
            scores[query * k + place] = candidate.score;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(k: usize, excluded: Option<Lists<'a>>, allowed: Option<&'a [bool]>) -> Found {
        // Row 1 is row 0 doubled, row 3 is zero; ranks put row 1 before row 0.
        let data = [1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let x = Matrix::new("x", &data, 4, 2).unwrap();
        let norms = row_norms("x", x).unwrap();
        let queries = Matrix::new("queries", &[3.0, 0.0], 1, 2).unwrap();
        let request = Request { queries, k, ranks: &[1, 0, 2, 3], excluded, allowed };
        Collection::new(x, &norms).unwrap().top(&request, &Control::new()).unwrap()
    }

    #[test]
    fn ties_go_to_the_smaller_rank_and_missing_rows_are_padded() {
        let all = found(5, None, None);
        assert_eq!(all.rows, [1, 0, 2, 3, NO_ROW]);
        assert_eq!(all.scores, [1.0, 1.0, 0.0, 0.0, f32::NEG_INFINITY]);
        assert_eq!(found(0, None, None).rows, [0u32; 0]);
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
        let norms = row_norms("x", x).unwrap();
        let collection = Collection::new(x, &norms).unwrap();
        let groups = [6, 3, NO_ROW, 0, 5, 0, 1, 2, 3, 4, 5, 6];
        let mut expected = Vec::new();
        for group in groups.chunks(6) {
            for (place, &first) in group.iter().enumerate() {
                let rows = &group[place + 1..];
                expected.extend(match first {
                    NO_ROW => vec![f32::NEG_INFINITY; rows.len()],
                    _ => {
                        let query = Matrix::new("query", x.row(first as usize), 1, 5).unwrap();
                        collection.cosines(query, rows, rows.len()).unwrap()
                    }
                });
            }
        }
        assert_eq!(collection.pairs(&groups, 6).unwrap(), expected);
        assert_eq!(collection.pairs(&groups, 1).unwrap(), [0.0; 0]);
        assert_eq!(collection.pairs(&[], 0).unwrap(), [0.0; 0]);
        assert!(collection.pairs(&groups, 5).is_err());
        assert!(collection.pairs(&groups, 0).is_err());
        assert!(collection.pairs(&[0, 7], 2).is_err());
    }
}
