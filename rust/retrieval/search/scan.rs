//! One pass of some queries over some rows.

use std::array;
use std::ops::Range;

use super::top_k::{Candidate, TopK};
use super::{BLOCK, TILE, score};
use crate::control::Control;
use crate::error::Error;
use crate::linalg::vectors::{Matrix, dots, simd};

/// One pass of a group of queries over some rows.
pub(super) struct Scan<'a> {
    pub(super) x: Matrix<'a>,
    pub(super) norms: &'a [f32],
    pub(super) ranks: &'a [u32],
    pub(super) units: Matrix<'a>,
    /// The group's first query.
    pub(super) first: usize,
}

impl Scan<'_> {
    /// Offers the rows in `range` to the queries. `range` counts eligible rows only.
    pub(super) fn range(
        &self,
        range: Range<usize>,
        eligible: Option<&[u32]>,
        best: &mut [TopK],
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
    fn block(&self, rows: &[u32], best: &mut [TopK]) {
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
    fn tiles<const Q: usize>(&self, queries: [&[f32]; Q], rows: &[u32], best: &mut [TopK]) {
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
    fn offer<const R: usize>(&self, best: &mut TopK, rows: &[u32; R], dots: [f32; R]) {
        for (&row, dot) in rows.iter().zip(dots) {
            let score = score(dot, self.norms[row as usize]);
            if score >= best.floor() {
                let rank = self.ranks[row as usize];
                best.offer(Candidate { score, rank, row });
            }
        }
    }
}
