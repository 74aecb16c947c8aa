//! Matrices stored in tiles, for algorithms that pass over a few columns of all rows again and again.
//!
//! Each run of [`ROWS`] rows is stored column block by column block, so a block's part of a run is contiguous. Loading
//! or storing it moves whole pages, each of them once, as a memory-mapped result needs it. Going back to rows takes a
//! buffer of one run, not a second matrix.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::linalg::vectors::Matrix;
use crate::memory::scratch::Scratch;

/// The number of rows in a run.
pub const ROWS: usize = 1024;

/// The columns of a matrix cut into blocks.
#[derive(Debug, Clone)]
pub struct Blocks {
    dim: usize,
    /// The first column and the width of each block.
    blocks: Vec<(usize, usize)>,
}

impl Blocks {
    /// Blocks of `width` columns, and a last one with the columns that are left.
    pub fn of(dim: usize, width: usize) -> Self {
        let blocks = (0..dim).step_by(width).map(|first| (first, width.min(dim - first))).collect();
        Self { dim, blocks }
    }

    /// Blocks of `width` columns, a power of two, followed by blocks of smaller powers of two.
    pub fn of_powers(dim: usize, width: usize) -> Self {
        let mut blocks = Vec::new();
        let mut first = 0;
        while first < dim {
            let width = width.min(1 << (dim - first).ilog2());
            blocks.push((first, width));
            first += width;
        }
        Self { dim, blocks }
    }

    /// Number of columns.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The first column and the width of each block.
    pub fn list(&self) -> &[(usize, usize)] {
        &self.blocks
    }

    /// Tiles a matrix.
    ///
    /// # Errors
    /// Cancellation. The same holds for the functions below.
    pub fn tile(&self, x: Matrix<'_>, tiled: &mut [f32], control: &Control) -> Result<(), Error> {
        let run = ROWS * self.dim;
        tiled.par_chunks_mut(run).zip(x.data().par_chunks(run)).try_for_each(|(tiles, rows)| {
            self.tile_run(rows, tiles);
            control.check()
        })
    }

    /// Tiles a matrix whose rows `fill` writes.
    pub fn tile_made(
        &self,
        tiled: &mut [f32],
        control: &Control,
        fill: impl Fn(usize, &mut [f32]) + Sync,
    ) -> Result<(), Error> {
        let scratch = Scratch::new(|| vec![0.0; ROWS * self.dim]);
        tiled.par_chunks_mut(ROWS * self.dim).enumerate().try_for_each(|(run, tiles)| {
            scratch.lend(|buffer| {
                let rows = &mut buffer[..tiles.len()];
                for (offset, row) in rows.chunks_exact_mut(self.dim).enumerate() {
                    fill(run * ROWS + offset, row);
                }
                self.tile_run(rows, tiles);
            });
            control.check()
        })
    }

    fn tile_run(&self, rows: &[f32], tiles: &mut [f32]) {
        let mut start = 0;
        for &(first, width) in &self.blocks {
            for row in rows.chunks_exact(self.dim) {
                tiles[start..start + width].copy_from_slice(&row[first..first + width]);
                start += width;
            }
        }
    }

    /// Turns tiles back into rows, in place. `finish` gets each row as soon as it is complete.
    pub fn untile(
        &self,
        data: &mut [f32],
        control: &Control,
        finish: impl Fn(usize, &mut [f32]) + Sync,
    ) -> Result<(), Error> {
        let scratch = Scratch::new(|| vec![0.0; ROWS * self.dim]);
        data.par_chunks_mut(ROWS * self.dim).enumerate().try_for_each(|(number, run)| {
            scratch.lend(|buffer| {
                let tiles = &mut buffer[..run.len()];
                tiles.copy_from_slice(run);
                let mut start = 0;
                for &(first, width) in &self.blocks {
                    for row in run.chunks_exact_mut(self.dim) {
                        row[first..first + width].copy_from_slice(&tiles[start..start + width]);
                        start += width;
                    }
                }
                for (offset, row) in run.chunks_exact_mut(self.dim).enumerate() {
                    finish(number * ROWS + offset, row);
                }
            });
            control.check()
        })
    }

    /// One block's part of every run.
    pub fn parts<'a>(
        &self,
        (first, width): (usize, usize),
        tiled: &'a mut [f32],
    ) -> impl IndexedParallelIterator<Item = &'a mut [f32]> {
        let dim = self.dim;
        tiled.par_chunks_mut(ROWS * dim).map(move |run| {
            let rows = run.len() / dim;
            &mut run[first * rows..(first + width) * rows]
        })
    }

    /// The parts of every run for each block.
    pub fn cut<'a>(&self, tiled: &'a mut [f32]) -> Vec<Vec<&'a mut [f32]>> {
        let mut blocks: Vec<Vec<&mut [f32]>> = self.blocks.iter().map(|_| Vec::new()).collect();
        for mut run in tiled.chunks_mut(ROWS * self.dim) {
            let rows = run.len() / self.dim;
            for (&(_, width), parts) in self.blocks.iter().zip(&mut blocks) {
                let (part, rest) = run.split_at_mut(width * rows);
                parts.push(part);
                run = rest;
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_all_columns() {
        assert_eq!(Blocks::of_powers(200, 64).list(), [(0, 64), (64, 64), (128, 64), (192, 8)]);
        assert_eq!(Blocks::of_powers(7, 64).list(), [(0, 4), (4, 2), (6, 1)]);
        assert_eq!(Blocks::of(70, 32).list(), [(0, 32), (32, 32), (64, 6)]);
    }

    #[test]
    fn tiles_and_back() {
        for (rows, dim) in [(5, 3), (1030, 37), (2048, 16), (2, 200)] {
            let data: Vec<f32> = (0..rows * dim).map(|i| i as f32).collect();
            for blocks in [Blocks::of(dim, 32), Blocks::of_powers(dim, 64)] {
                let mut tiled = vec![0.0; data.len()];
                let control = Control::new();
                blocks.tile(Matrix::new("x", &data, rows, dim).unwrap(), &mut tiled, &control).unwrap();
                let mut made = vec![0.0; data.len()];
                let copy = |row: usize, out: &mut [f32]| out.copy_from_slice(&data[row * dim..(row + 1) * dim]);
                blocks.tile_made(&mut made, &control, copy).unwrap();
                assert_eq!(made, tiled);
                let width = blocks.list()[0].1;
                assert_eq!(blocks.cut(&mut made)[0][0][width], dim as f32); // the first column of the second row
                blocks.untile(&mut tiled, &control, |_, _| {}).unwrap();
                assert_eq!(tiled, data);
            }
        }
    }
}
