//! Matrices of vectors, and the dot products and norms that all kernels share.
//!
//! The bits of a sum depend on the order of its terms. All dot products here use [`LANES`] interleaved partial sums and
//! add them in one fixed order at the end, whatever the width of the machine's registers. Every product is fused into
//! its sum (`mul_add`), in software if the hardware cannot do it. So a score is a function of the two vectors alone.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Name};
use crate::memory::huge_pages::{self, Pages};

/// Partial sums of a dot product: one AVX-512 register, two AVX2 ones, four of NEON.
pub const LANES: usize = 16;

/// `rows` times `columns` copies of a value, if there is memory for them.
///
/// # Errors
/// [`Error::Memory`].
pub fn filled<T: Copy>(what: &'static str, value: T, rows: usize, columns: usize) -> Result<Vec<T>, Error> {
    let count = rows.checked_mul(columns);
    // This is tried first, because a failed plain allocation ends the process.
    let fits = count.is_some_and(|count| Vec::<T>::new().try_reserve_exact(count).is_ok());
    match count {
        Some(count) if fits => Ok(vec![value; count]),
        _ => Err(Error::Memory { what, rows, columns }),
    }
}

/// A borrowed row-major matrix. Its numbers may not have been checked to be finite.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    dim: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix of `rows` rows over `data`.
    ///
    /// # Errors
    /// `dim` is 0, or `data` does not hold rows · dim numbers.
    pub fn new(what: impl Into<Name>, data: &'a [f32], rows: usize, dim: usize) -> Result<Self, Error> {
        if dim == 0 {
            return Err(Error::parameter(what, "0 columns wide", "at least 1 column wide"));
        }
        if rows.checked_mul(dim) != Some(data.len()) {
            return Err(Error::Length {
                what: what.into(),
                found: data.len(),
                needed: rows.saturating_mul(dim),
                rule: "rows times columns",
            });
        }
        Ok(Self { data, rows, dim })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// All entries, row by row.
    pub fn data(&self) -> &'a [f32] {
        self.data
    }

    /// Checks that `out` has as many numbers as this matrix.
    ///
    /// # Errors
    /// [`Error::Length`] with both counts.
    pub fn expect_same_size(&self, out: &[f32]) -> Result<(), Error> {
        if out.len() == self.data.len() {
            return Ok(());
        }
        Err(Error::Length { what: "out".into(), found: out.len(), needed: self.data.len(), rule: "as many as x" })
    }

    /// A copy in huge pages, for kernels that read each row about a hundred times. `None` if it would take over 2 GiB.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn in_pages(&self) -> Result<Option<Pages<f32>>, Error> {
        const MOST: usize = (2 << 30) / size_of::<f32>();
        (self.data.len() <= MOST).then(|| Pages::copied("a copy of the vectors", self.data)).transpose()
    }

    /// The same matrix, read from its copy if there is one.
    pub fn read_from<'b>(&self, copy: Option<&'b [f32]>) -> Matrix<'b>
    where
        'a: 'b,
    {
        Matrix { data: copy.unwrap_or(self.data), ..*self }
    }

    /// Copies the matrix in parallel.
    pub fn copy_to(&self, out: &mut [f32]) {
        huge_pages::copy(self.data, out);
    }

    /// One row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [f32] {
        &self.data[row * self.dim..(row + 1) * self.dim]
    }

    /// Checks that there is one row per node.
    ///
    /// # Errors
    /// [`Error::Length`] with both counts.
    pub fn expect_rows(&self, what: &'static str, needed: usize) -> Result<(), Error> {
        if self.rows == needed {
            return Ok(());
        }
        Err(Error::Length { what: what.into(), found: self.rows, needed, rule: "one row per node of the graph" })
    }

    /// Whether no entry of a row is NaN or infinite.
    #[inline(always)]
    pub fn is_finite(&self, row: usize) -> bool {
        let mut finite = true;
        for value in self.row(row) {
            finite &= value.is_finite();
        }
        finite
    }

    /// Checks that no entry is NaN or infinite.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the first such entry; cancellation.
    pub fn expect_finite(&self, what: &'static str, control: &Control) -> Result<(), Error> {
        let bad = self.data.par_chunks(1 << 16).enumerate().find_map_first(|(chunk, values)| {
            if let Err(stopped) = control.check() {
                return Some(stopped);
            }
            // The plain reduction vectorizes; the search for the position runs at most once.
            let usable = values.iter().fold(true, |all, value| all & value.is_finite());
            (!usable).then(|| {
                let place = (chunk << 16) + values.iter().position(|value| !value.is_finite()).unwrap_or(0);
                let entry = Some((place % self.dim, self.data[place]));
                Error::NotFinite { what: what.into(), row: place / self.dim, entry }
            })
        });
        bad.map_or(Ok(()), Err)
    }
}

/// Adds the partial sums in their fixed order: one half to the other, repeatedly, as registers can do it.
#[inline(always)]
fn add_lanes(lanes: [f32; LANES]) -> f32 {
    let mut half = [0.0; 8];
    for lane in 0..8 {
        half[lane] = lanes[lane] + lanes[lane + 8];
    }
    let quarter = [half[0] + half[4], half[1] + half[5], half[2] + half[6], half[3] + half[7]];
    (quarter[0] + quarter[2]) + (quarter[1] + quarter[3])
}

/// All dot products of `Q` vectors with `R` others, which must have the same length.
///
/// Call it only inside [`simd`]. Exact search is fast because the Q · R partial sums stay in registers: each loaded row
/// serves several queries.
#[inline(always)]
pub fn dots<const Q: usize, const R: usize>(left: [&[f32]; Q], right: [&[f32]; R]) -> [[f32; R]; Q] {
    let left = left.map(|row| row.as_chunks::<LANES>());
    let right = right.map(|row| row.as_chunks::<LANES>());
    let length = left.iter().chain(&right).map(|row| row.0.len()).min().unwrap_or(0);
    let left_body = left.map(|row| &row.0[..length]);
    let right_body = right.map(|row| &row.0[..length]);
    let mut sums = [[[0.0f32; LANES]; R]; Q];
    for chunk in 0..length {
        multiply_add(&mut sums, left_body.map(|row| &row[chunk]), right_body.map(|row| &row[chunk]));
    }
    if !left[0].1.is_empty() {
        let left_tail = left.map(|row| padded(row.1));
        let right_tail = right.map(|row| padded(row.1));
        multiply_add(&mut sums, left_tail.each_ref(), right_tail.each_ref());
    }
    sums.map(|row| row.map(add_lanes))
}

#[inline(always)]
fn multiply_add<const Q: usize, const R: usize>(
    sums: &mut [[[f32; LANES]; R]; Q],
    left: [&[f32; LANES]; Q],
    right: [&[f32; LANES]; R],
) {
    for q in 0..Q {
        for r in 0..R {
            for lane in 0..LANES {
                sums[q][r][lane] = left[q][lane].mul_add(right[r][lane], sums[q][r][lane]);
            }
        }
    }
}

#[inline(always)]
fn padded(tail: &[f32]) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    lanes[..tail.len()].copy_from_slice(tail);
    lanes
}

/// Runs `work` with the widest registers this machine has. Everything it calls must be inlined to profit.
#[inline(always)]
pub fn simd<T>(work: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(work)
}

/// The L2 norm of one vector. The sum is in f64, so that squares neither vanish nor overflow.
#[inline(always)]
pub fn norm(row: &[f32]) -> f32 {
    let mut sums = [0.0f64; LANES];
    let (body, tail) = row.as_chunks::<LANES>();
    for chunk in body.iter().chain(std::iter::once(&padded(tail))) {
        for lane in 0..LANES {
            let value = f64::from(chunk[lane]);
            sums[lane] = value.mul_add(value, sums[lane]);
        }
    }
    sums.iter().sum::<f64>().sqrt() as f32
}

/// The L2 norm of every row.
///
/// # Errors
/// [`Error::NotFinite`] for the first row that holds NaN or infinity, or whose norm is too large for float32;
/// cancellation.
pub fn row_norms(what: impl Into<Name>, x: Matrix<'_>, control: &Control) -> Result<Vec<f32>, Error> {
    const ROWS: usize = 64;
    let mut norms = vec![0.0; x.rows()];
    norms.par_chunks_mut(ROWS).enumerate().try_for_each(|(chunk, norms)| {
        control.check()?;
        simd(
            #[inline(always)]
            || {
                for (offset, slot) in norms.iter_mut().enumerate() {
                    *slot = norm(x.row(chunk * ROWS + offset));
                }
            },
        );
        Ok(())
    })?;
    match norms.iter().position(|norm| !norm.is_finite()) {
        Some(row) => Err(Error::NotFinite {
            what: what.into(),
            row,
            entry: x.row(row).iter().copied().enumerate().find(|(_, value)| !value.is_finite()),
        }),
        None => Ok(norms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_have_the_same_bits_in_any_tile_and_any_instruction_set() {
        for dim in [1, 15, 16, 17, 100, 384] {
            let row = |seed: usize| -> Vec<f32> { (0..dim).map(|i| ((i * 37 + seed * 101) as f32).sin()).collect() };
            let rows: Vec<Vec<f32>> = (0..6).map(row).collect();
            let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|i: usize| rows[i].as_slice());
            let tile = simd(
                #[inline(always)]
                || dots([a, b], [c, d, e, f]),
            );
            for (i, left) in [a, b].into_iter().enumerate() {
                for (j, right) in [c, d, e, f].into_iter().enumerate() {
                    assert_eq!(
                        simd(
                            #[inline(always)]
                            || dots([left], [right])
                        )[0][0]
                            .to_bits(),
                        tile[i][j].to_bits()
                    );
                    assert_eq!(dots([right], [left])[0][0].to_bits(), tile[i][j].to_bits());
                    let plain: f64 = left.iter().zip(right).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
                    assert!((f64::from(tile[i][j]) - plain).abs() < 1e-4);
                }
            }
        }
    }

    #[test]
    fn norms_survive_tiny_entries_and_name_bad_rows() {
        let data = [3e-30, 4e-30, 0.0, 0.0];
        let norms = row_norms("x", Matrix::new("x", &data, 2, 2).unwrap(), &Control::new()).unwrap();
        assert!((norms[0] / 5e-30 - 1.0).abs() < 1e-6 && norms[1] == 0.0);
        let data = [1.0, 0.0, f32::NAN, 0.0];
        let error = row_norms("x", Matrix::new("x", &data, 2, 2).unwrap(), &Control::new()).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 1, entry: Some((0, _)), .. }));
        let huge = [f32::MAX, f32::MAX];
        let error = row_norms("x", Matrix::new("x", &huge, 1, 2).unwrap(), &Control::new()).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 0, entry: None, .. }));
    }
}
