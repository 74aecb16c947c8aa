//! The cosines of all pairs within a group of rows.

use std::array;

use super::{NO_ROW, TILE, VectorSet, scaled, score};
use crate::linalg::vectors::dots;

/// A copy of some rows of a set: as they are, and scaled to length 1.
pub(super) struct Group<'a> {
    rows: &'a [u32],
    norms: Vec<f32>,
    x: Vec<f32>,
    units: Vec<f32>,
    dim: usize,
}

impl<'a> Group<'a> {
    /// Copies the rows. [`NO_ROW`] becomes zeros.
    pub(super) fn gather(set: &VectorSet<'_>, rows: &'a [u32]) -> Self {
        let dim = set.x.dim();
        let mut x = vec![0.0; rows.len() * dim];
        let mut norms = vec![0.0; rows.len()];
        for ((slot, norm), &row) in x.chunks_exact_mut(dim).zip(&mut norms).zip(rows) {
            if row != NO_ROW {
                slot.copy_from_slice(set.x.row(row as usize));
                *norm = set.norms[row as usize];
            }
        }
        let units = scaled(&x, &norms, dim);
        Self { rows, norms, x, units, dim }
    }

    /// See [`VectorSet::pairs`].
    #[inline(always)]
    pub(super) fn pairs(&self, slots: &mut [f32]) {
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

    /// The rows from `first` on. If there are too few, the last one is repeated.
    #[inline(always)]
    fn tile<'b>(&self, data: &'b [f32], first: usize) -> [&'b [f32]; TILE] {
        array::from_fn(|offset| {
            let row = (first + offset).min(self.rows.len() - 1);
            &data[row * self.dim..(row + 1) * self.dim]
        })
    }
}
