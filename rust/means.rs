//! Weighted means of rows, and how they are mixed with a node's own vector.

use crate::error::Error;
use crate::vectors::Matrix;

/// Rows added together, so that the memory system has several in flight.
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
        let rows = rows.map(
            #[inline(always)]
            |row| &row[..dim],
        );
        for (column, sum) in self.sums.iter_mut().enumerate() {
            for i in 0..R {
                *sum = f64::from(rows[i][column]).mul_add(weights[i], *sum);
            }
        }
        for weight in weights {
            self.weight += weight;
        }
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
    fn weighted_means() {
        let data: Vec<f32> = (0..7 * 5).map(|i| (i as f32 * 0.37).sin()).collect();
        let x = Matrix::new("x", &data, 7, 5).unwrap();
        let mut mean = Mean::new(5);
        mean.add(x, &[0, 1, 2, 3, 4, 5, 6], |i| 1.0 + i as f64);
        let mut out = [0.0; 5];
        mean.blend(0.25, x.row(3), &mut out);
        for (column, found) in out.iter().enumerate() {
            let sum: f32 = (0..7).map(|row| (1.0 + row as f32) * x.row(row)[column]).sum();
            assert!((found - (0.25 * x.row(3)[column] + 0.75 * sum / 28.0)).abs() < 1e-6);
        }
    }

    #[test]
    fn no_rows_leave_the_node_as_it_is() {
        let mut out = [0.0; 2];
        Mean::new(2).blend(0.5, &[1.0, 2.0], &mut out);
        assert_eq!(out, [1.0, 2.0]);
    }
}
