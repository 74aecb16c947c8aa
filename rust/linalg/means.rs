//! Weighted means of rows, and their mix with a node's own vector.

use crate::error::Error;
use crate::linalg::vectors::Matrix;

/// The number of rows added at once: as many as the memory system can fetch in parallel.
const ROWS: usize = 8;
/// The number of columns whose sums stay in registers.
const COLUMNS: usize = 64;

/// A weighted mean of rows.
///
/// Eight rows at a time are added in f32, at the cost of a few roundings. These sums are added in f64: in f32 a hub
/// with a million neighbors would lose half its digits. Weights are scaled by a power of two, which is exact. So no sum
/// is larger than the largest entry, and none overflows.
#[derive(Debug)]
pub struct Mean {
    sums: Vec<f64>,
    /// The sum of the scaled weights. 0 without rows.
    weight: f64,
}

impl Mean {
    /// An empty mean of rows with `dim` columns.
    pub fn new(dim: usize) -> Self {
        Self { sums: vec![0.0; dim], weight: 0.0 }
    }

    /// Makes this the weighted mean of some rows of `x`, added in the given order.
    #[inline(always)]
    pub fn set(&mut self, x: Matrix<'_>, rows: &[u32], weight: impl Fn(usize) -> f64) {
        let mut total = 0.0;
        for i in 0..rows.len() {
            total += weight(i);
        }
        let scale = 1.0 / power_of_two_from(total);
        self.weight = total * scale;
        self.sums.fill(0.0);
        let (blocks, tail) = self.sums.as_chunks_mut::<COLUMNS>();
        let tail_start = blocks.len() * COLUMNS;
        for (run, rows) in rows.chunks(ROWS).enumerate() {
            let mut weights = [0.0; ROWS];
            for (i, slot) in weights[..rows.len()].iter_mut().enumerate() {
                *slot = (weight(run * ROWS + i) * scale) as f32;
            }
            for (block, sums) in blocks.iter_mut().enumerate() {
                let mut sum = [0.0f32; COLUMNS];
                for (&row, weight) in rows.iter().zip(weights) {
                    let values = x.row(row as usize)[block * COLUMNS..].first_chunk::<COLUMNS>();
                    let Some(values) = values else { continue };
                    for column in 0..COLUMNS {
                        sum[column] = values[column].mul_add(weight, sum[column]);
                    }
                }
                for column in 0..COLUMNS {
                    sums[column] += f64::from(sum[column]);
                }
            }
            for (&row, weight) in rows.iter().zip(weights) {
                for (sum, &value) in tail.iter_mut().zip(&x.row(row as usize)[tail_start..]) {
                    *sum += f64::from(value * weight);
                }
            }
        }
    }

    /// Writes `alpha * own + (1 - alpha) * mean`. Without rows it writes `own` unchanged.
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

/// The smallest power of two that is at least `total`; 1 for 0.
#[inline(always)]
fn power_of_two_from(total: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    if total == 0.0 { 1.0 } else { f64::from_bits((total.to_bits() + FRACTION) & !FRACTION) }
}

/// Checks that `alpha` lies in 0..=1. It is the share of its own vector that a node keeps.
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
        mean.set(x, &[0, 1, 2, 3, 4, 5, 6], |i| 1.0 + i as f64);
        let mut out = [0.0; 5];
        mean.blend(0.25, x.row(3), &mut out);
        for (column, found) in out.iter().enumerate() {
            let sum: f32 = (0..7).map(|row| (1.0 + row as f32) * x.row(row)[column]).sum();
            assert!((found - (0.25 * x.row(3)[column] + 0.75 * sum / 28.0)).abs() < 1e-6);
        }
    }

    #[test]
    fn powers_of_two() {
        for (total, wanted) in [(0.0, 1.0), (1.0, 1.0), (3.0, 4.0), (4.0, 4.0), (0.3, 0.5), (1e-40, 2f64.powi(-132))] {
            assert_eq!(power_of_two_from(total), wanted);
        }
    }

    #[test]
    fn no_rows_leave_the_node_as_it_is() {
        let mut out = [0.0; 2];
        Mean::new(2).blend(0.5, &[1.0, 2.0], &mut out);
        assert_eq!(out, [1.0, 2.0]);
    }
}
