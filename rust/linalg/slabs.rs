//! Matrices cut into slabs of a few columns, for algorithms that pass over the graph again and again.
//!
//! A pass reads, for every node, the rows of its neighbors. With whole rows the memory traffic is the edges times the
//! columns. A slab has [`WIDTH`] columns, one cache line or two per node, and fits a cache. Columns are independent of
//! each other in all of these algorithms, so cutting changes no bit.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::prefetch::{AHEAD, MOST, prefetch_all};
use crate::linalg::tiles::{self, Blocks};
use crate::linalg::vectors::simd;
use crate::memory::huge_pages::Pages;

/// The number of columns in a slab.
pub const WIDTH: usize = 32;
/// The number of rows in a task.
pub const ROWS: usize = 512;

/// A node's part of a slab. It begins at a cache line boundary; straddling a boundary would double the traffic.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Lane(pub [f32; WIDTH]);

/// A lane while it is being summed.
pub type Sum = [f64; WIDTH];

/// The transition matrix P = D⁻¹A of a walk: uniform or by weight.
pub struct TransitionMatrix<'a> {
    graph: &'a Graph,
    weighted: bool,
}

impl<'a> TransitionMatrix<'a> {
    /// Steps are proportional to weight if `weighted` is set and the graph has weights.
    pub fn new(graph: &'a Graph, weighted: bool) -> Self {
        Self { graph, weighted: weighted && graph.weighted() }
    }

    /// The mean of a slab over the neighbors of `row`: a row of P x, with P = D⁻¹A. The row must have neighbors.
    #[inline(always)]
    pub fn mean(&self, slab: &[Lane], row: usize) -> Sum {
        if row + AHEAD < slab.len() {
            for &other in self.graph.neighbors(row + AHEAD).iter().take(MOST) {
                prefetch_all(&slab[other as usize].0);
            }
        }
        let neighbors = self.graph.neighbors(row);
        let mut sum = [0.0; WIDTH];
        let mut total = 0.0;
        if self.weighted {
            for (&other, &weight) in neighbors.iter().zip(self.graph.weights(row)) {
                let weight = f64::from(weight);
                let lane = &slab[other as usize].0;
                for column in 0..WIDTH {
                    sum[column] = f64::from(lane[column]).mul_add(weight, sum[column]);
                }
                total += weight;
            }
        } else {
            sum = sum_lanes(
                neighbors,
                #[inline(always)]
                |other| &slab[other].0,
            );
            total = neighbors.len() as f64;
        }
        let share = 1.0 / total;
        sum.map(|value| value * share)
    }
}

/// The sum of lanes in f64. For a hub with a million neighbors, a sum in f32 would lose half its digits.
#[inline(always)]
pub fn sum_lanes<'a, const W: usize>(rows: &[u32], lane: impl Fn(usize) -> &'a [f32; W]) -> [f64; W] {
    let mut sum = [0.0f64; W];
    for &row in rows {
        let lane = lane(row as usize);
        for column in 0..W {
            sum[column] += f64::from(lane[column]);
        }
    }
    sum
}

/// Calls `work` on every slab of a tiled matrix, and writes the changed slab back. Slabs are processed one after the
/// other. So the scratch slabs that `work` keeps exist only once, whatever the number of threads.
pub fn each_slab(
    tiled: &mut [f32],
    blocks: &Blocks,
    control: &Control,
    mut work: impl FnMut(&mut [Lane]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut slab = slab(tiled.len() / blocks.dim())?;
    for &block in blocks.list() {
        let width = block.1;
        slab.par_chunks_mut(tiles::ROWS).zip(blocks.parts(block, tiled)).try_for_each(|(lanes, part)| {
            for (lane, row) in lanes.iter_mut().zip(part.chunks_exact(width)) {
                *lane = Lane([0.0; WIDTH]);
                lane.0[..width].copy_from_slice(row);
            }
            control.check()
        })?;
        work(&mut slab)?;
        slab.par_chunks(tiles::ROWS).zip(blocks.parts(block, tiled)).try_for_each(|(lanes, part)| {
            for (lane, row) in lanes.iter().zip(part.chunks_exact_mut(width)) {
                row.copy_from_slice(&lane.0[..width]);
            }
            control.check()
        })?;
    }
    Ok(())
}

/// An empty slab for the rows of a graph.
///
/// # Errors
/// [`Error::Memory`].
pub fn slab(rows: usize) -> Result<Pages<Lane>, Error> {
    Pages::zeroed("a slab of columns", rows)
}

/// Runs `update(row, lane, changes)` over all rows that have neighbors, in parallel. `update` raises each entry of
/// `changes` to the change of its column, if that is larger. Returns the largest change.
pub fn each_row(
    graph: &Graph,
    slab: &mut [Lane],
    control: &Control,
    update: impl Fn(usize, &mut Lane, &mut Sum) + Sync,
) -> Result<f64, Error> {
    let largest = |chunk: usize, lanes: &mut [Lane]| {
        simd(
            #[inline(always)]
            || {
                let mut changes = [0.0; WIDTH];
                for (offset, lane) in lanes.iter_mut().enumerate() {
                    let row = chunk * ROWS + offset;
                    if graph.degree(row) > 0 {
                        update(row, lane, &mut changes);
                    }
                }
                changes.into_iter().fold(0.0, f64::max)
            },
        )
    };
    slab.par_chunks_mut(ROWS)
        .enumerate()
        .map(|(chunk, lanes)| control.check().map(|()| largest(chunk, lanes)))
        .try_reduce(|| 0.0, |a, b| Ok(a.max(b)))
}
