//! Sums of random signs.

use super::Roots;
use crate::linalg::vectors::{norm, simd};
use crate::random::Stream;

/// Numbers that are summed side by side, and groups of them that are summed at once: as many as registers hold.
const LANES: usize = 16;
const GROUPS: usize = 16;
/// Columns a pass over the entries sums, and columns whose signs are drawn together.
const PASS: usize = LANES * GROUPS;
const BLOCK: usize = 2 * PASS;
const SIGN: u32 = 1 << 31;

/// The signs of a node in `BLOCK` columns: bit 31 − g of lane l is that of column 16 g + l. Set: minus.
type Signs = [u32; LANES];

/// Sums the vectors of random signs of some nodes, each times its weight, and scales the sum to length 1.
pub(super) struct Sketcher {
    seed: u64,
    signs: Vec<(Signs, f32)>,
}

impl Sketcher {
    pub(super) fn new(options: &Roots) -> Self {
        Self { seed: options.seed, signs: Vec::new() }
    }

    /// The sketch of the roots of `entries`, into `out`.
    pub(super) fn sketch(&mut self, keys: &[u64], entries: &[(u32, f32)], out: &mut [f32]) {
        simd(
            #[inline(always)]
            || {
                for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                    self.draw(keys, entries, block as u64);
                    for (pass, out) in out.chunks_mut(PASS).enumerate() {
                        let sums = add(&self.signs, (GROUPS * pass) as u32);
                        out.copy_from_slice(&sums.as_flattened()[..out.len()]);
                    }
                }
                let length = norm(out);
                if length > 0.0 {
                    out.iter_mut().for_each(|value| *value /= length);
                }
            },
        );
    }

    /// Draws the signs of a block of columns for all entries.
    #[inline(always)]
    fn draw(&mut self, keys: &[u64], entries: &[(u32, f32)], block: u64) {
        self.signs.clear();
        for &(node, visits) in entries {
            let stream = Stream::new(self.seed, keys[node as usize], block);
            let draws: [u64; LANES / 2] = std::array::from_fn(
                #[inline(always)]
                |step| stream.draw(step as u64),
            );
            let mut signs = [0; LANES];
            for (pair, draw) in draws.iter().enumerate() {
                (signs[2 * pair], signs[2 * pair + 1]) = (*draw as u32, (*draw >> 32) as u32);
            }
            self.signs.push((signs, visits.sqrt()));
        }
    }
}

/// The sums of `PASS` columns; `shift` is by how much the signs of the first of them lie below the uppermost bit.
#[inline(always)]
fn add(signs: &[(Signs, f32)], shift: u32) -> [[f32; LANES]; GROUPS] {
    let mut sums = [[0.0f32; LANES]; GROUPS];
    for (signs, weight) in signs {
        let mut signs = signs.map(
            #[inline(always)]
            |lane| lane << shift,
        );
        for sum in &mut sums {
            for lane in 0..LANES {
                sum[lane] += f32::from_bits(weight.to_bits() ^ (signs[lane] & SIGN));
                signs[lane] <<= 1;
            }
        }
    }
    sums
}
