//! Weighted means of rows, and how they are mixed with a node's own vector.

use crate::error::Error;
use crate::vectors::Matrix;

/// Rows added together, so that the memory system has several in flight. Changes no bit: they still add up one by one.
const ROWS: usize = 4;

/// A running sum of rows in f64: for a hub with a million neighbours an f32 sum would lose half its digits.
#[derive(Debug)]
pub struct Mean {
    sums: Vec<f64>,
    weight: f64,
}

impl Mean {
    /// An empty mean of rows with `dim` columns.
    pub fn new(dim: usize) -> Self {
        Self { sums: vec![0.0; dim], weight: 0.0 }
    }

    /// Forgets all rows.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.sums.fill(0.0);
        self.weight = 0.0;
    }

    /// Adds rows of `x`, each with a weight, in the order given.
    #[inline(always)]
    pub fn add(&mut self, x: Matrix<'_>, rows: &[u32], weight: impl Fn(usize) -> f64) {
        let (tiles, rest) = rows.as_chunks::<ROWS>();
        for (tile, rows) in tiles.iter().enumerate() {
            self.add_tile(rows.map(|row| x.row(row as usize)), [0, 1, 2, 3].map(|i| weight(tile * ROWS + i)));
        }
        for (offset, &row) in rest.iter().enumerate() {
            self.add_tile([x.row(row as usize)], [weight(tiles.len() * ROWS + offset)]);
        }
    }

    #[inline(always)]
    fn add_tile<const R: usize>(&mut self, rows: [&[f32]; R], weights: [f64; R]) {
        let dim = self.sums.len();
        let rows = rows.map(|row| &row[..dim]);
        for (column, sum) in self.sums.iter_mut().enumerate() {
            for (row, weight) in rows.iter().zip(weights) {
                *sum = f64::from(row[column]).mul_add(weight, *sum);
            }
        }
        self.weight += weights.iter().sum::<f64>();
    }

    /// Writes `alpha * own + (1 - alpha) * mean`, or `own` as it is when no row was added.
    #[inline(always)]
    pub fn blend(&self, alpha: f64, own: &[f32], out: &mut [f32]) {
        if self.weight == 0.0 {
            out.copy_from_slice(own);
            return;
        }
        let share = (1.0 - alpha) / self.weight;
        for ((out, own), sum) in out.iter_mut().zip(own).zip(&self.sums) {
            *out = alpha.mul_add(f64::from(*own), share * sum) as f32;
        }
    }
}

/// Checks that `alpha`, the part of its own vector a node keeps, lies in 0..=1.
///
/// # Errors
/// [`Error::Parameter`].
pub fn check_alpha(alpha: f64) -> Result<(), Error> {
    if (0.0..=1.0).contains(&alpha) {
        return Ok(());
    }
    Err(Error::parameter("alpha", alpha, "between 0 and 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_change_no_bit() {
        let data: Vec<f32> = (0..7 * 5).map(|i| (i as f32 * 0.37).sin()).collect();
        let x = Matrix::new("x", &data, 7, 5).unwrap();
        let (mut together, mut apart) = (Mean::new(5), Mean::new(5));
        let rows: Vec<u32> = (0..7).collect();
        together.add(x, &rows, |i| 1.0 + i as f64);
        for (i, row) in rows.iter().enumerate() {
            apart.add(x, &[*row], |_| 1.0 + i as f64);
        }
        assert_eq!(together.sums, apart.sums);
    }

    #[test]
    fn no_rows_leave_the_node_as_it_is() {
        let mut out = [0.0; 2];
        Mean::new(2).blend(0.5, &[1.0, 2.0], &mut out);
        assert_eq!(out, [1.0, 2.0]);
    }
}
