//! Estimates of cosines with a bound on their error, from half the memory.
//!
//! Choosing among hundreds of nodes takes a cosine with each of them, and nearly all cosines are far from that of the
//! last chosen node. So a copy of each vector is scaled to length [`LENGTH`] and rounded to whole numbers of 16 bits.
//! Rounding moves a vector by at most half the square root of its dimension, which bounds the error of every product
//! (Cauchy-Schwarz). If the bound cannot decide about a node, its cosine is computed from the vectors themselves. So
//! quantizing changes no result.

use rayon::prelude::*;

use crate::error::Error;
use crate::linalg::prefetch::prefetch_far;
use crate::linalg::vectors::{Matrix, simd};
use crate::memory::huge_pages::Pages;

/// The length of the rounded vectors. The product of two of them, and every partial sum of it, fits 32 bits.
const LENGTH: f32 = 32_000.0;
/// The most columns for which that holds.
const MOST_COLUMNS: usize = 1 << 16;
/// The numbers in a cache line. Rows take whole lines.
const LINE: usize = 32;
/// Adding this to a float rounds it to a whole number, which is then in the low bits.
const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23
/// The norms of vectors whose cosines float32 computes without loss of digits.
const NORMS: std::ops::RangeInclusive<f32> = 1e-15..=1e15;
/// The number of rows in a task.
const ROWS: usize = 64;

/// All vectors, rounded to whole numbers.
pub(super) struct QuantizedVectors {
    numbers: Pages<i16>,
    width: usize,
    margin: i64,
}

impl QuantizedVectors {
    /// Quantizes all vectors. `None` if it would take over 2 GiB, or if a vector is too short or too long to bound the
    /// rounding of float32.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub(super) fn new(x: Matrix<'_>, norms: &[f32]) -> Result<Option<Self>, Error> {
        const MOST: usize = (2 << 30) / size_of::<i16>();
        let width = x.dim().next_multiple_of(LINE);
        let fits = x.dim() <= MOST_COLUMNS && x.rows().saturating_mul(width) <= MOST;
        if !fits || norms.iter().any(|&norm| norm != 0.0 && !NORMS.contains(&norm)) {
            return Ok(None);
        }
        let mut numbers = Pages::zeroed("a screen of the vectors", x.rows() * width)?;
        numbers.par_chunks_mut(ROWS * width).enumerate().for_each(|(chunk, numbers)| {
            simd(
                #[inline(always)]
                || {
                    for (i, slots) in numbers.chunks_exact_mut(width).enumerate() {
                        let row = chunk * ROWS + i;
                        round(x.row(row), norms[row], slots);
                    }
                },
            );
        });
        Ok(Some(Self { numbers, width, margin: margin(x.dim()) }))
    }

    /// The product of two rows: approximately their cosine times the square of [`LENGTH`].
    #[inline(always)]
    pub(super) fn product(&self, a: usize, b: usize) -> i32 {
        self.row(a).iter().zip(self.row(b)).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
    }

    /// If two products differ by more than this, the two cosines in float32 differ in the same direction.
    pub(super) fn margin(&self) -> i64 {
        self.margin
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, row: usize) {
        prefetch_far(self.row(row));
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[i16] {
        &self.numbers[row * self.width..(row + 1) * self.width]
    }
}

/// Scales a vector and rounds it to whole numbers.
#[inline(always)]
fn round(x: &[f32], norm: f32, slots: &mut [i16]) {
    if norm > 0.0 {
        let factor = LENGTH / norm;
        for (slot, value) in slots.iter_mut().zip(x) {
            *slot = value.mul_add(factor, ROUND).to_bits() as i16;
        }
    }
}

/// Twice the largest difference between a product and the cosine times the square of [`LENGTH`], rounded up.
fn margin(dim: usize) -> i64 {
    let (length, dim, epsilon) = (f64::from(LENGTH), dim as f64, f64::from(f32::EPSILON));
    // The error of a vector of length 1: from rounding to whole numbers, and from the floats before that.
    let moved = dim.sqrt() / 2.0 / length + 4.0 * epsilon;
    // The error of a dot product in float32, and of dividing by norms.
    let sums = (dim / 16.0 + 16.0) * epsilon;
    (2.0 * length * length * (2.0 * moved + moved * moved + sums)).ceil() as i64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::linalg::vectors::{dots, row_norms};

    #[test]
    fn products_are_within_half_the_margin_of_the_cosines() {
        for dim in [1, 2, 31, 32, 33, 100, 384, 5000] {
            let rows = 40;
            let data: Vec<f32> = (0..rows * dim)
                .map(|i| match i / dim % 4 {
                    0 => ((i * 37) as f32).sin(),
                    1 => ((i * 37) as f32).sin() * 1e-12,
                    2 => f32::from(u8::from(i % dim == i / dim % dim)) * -3e14, // one entry, or none
                    _ => 1.0 + ((i * 11) as f32).cos() * 1e-4,
                })
                .collect();
            let x = Matrix::new("x", &data, rows, dim).unwrap();
            let norms = row_norms("x", x, &Control::new()).unwrap();
            let quantized = QuantizedVectors::new(x, &norms).unwrap().unwrap();
            let square = f64::from(LENGTH) * f64::from(LENGTH);
            for (a, b) in (0..rows).flat_map(|a| (0..rows).map(move |b| (a, b))) {
                let own: Vec<f32> = x.row(a).iter().map(|value| value / norms[a].max(f32::MIN_POSITIVE)).collect();
                let cosine = dots([&own], [x.row(b)])[0][0] / norms[b].max(f32::MIN_POSITIVE);
                let plain: i64 =
                    quantized.row(a).iter().zip(quantized.row(b)).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum();
                let product = i64::from(quantized.product(a, b));
                assert_eq!(product, plain);
                assert!((product as f64 - f64::from(cosine) * square).abs() * 2.0 <= quantized.margin() as f64);
            }
        }
    }

    #[test]
    fn extreme_norms_are_not_quantized() {
        for (value, usable) in [(1.0, true), (0.0, true), (1e-20, false), (1e20, false)] {
            let data = [value, 0.0, 1.0, 1.0];
            let x = Matrix::new("x", &data, 2, 2).unwrap();
            assert_eq!(
                QuantizedVectors::new(x, &row_norms("x", x, &Control::new()).unwrap()).unwrap().is_some(),
                usable
            );
        }
    }
}
