//! The steps of random walks from node to node.

use rayon::prelude::*;

use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::gather::{self, SIDE_BY_SIDE};
use crate::linalg::prefetch::prefetch;
use crate::linalg::vectors::simd;
use crate::memory::huge_pages::Pages;
use crate::random::{Stream, below, below_32, unit};

/// The number of rows whose offsets a task copies.
const COPIED: usize = 1024;

/// The graph in the form that steps need.
pub(super) struct Transitions<'a> {
    pub(super) graph: &'a Graph,
    /// The graph's offsets in half the memory, so that more of them stay in the cache. Empty if 32 bits are too few.
    offsets: Pages<u32>,
    /// The running sums of each row's weights. Empty when all weights are 1.
    sums: Vec<f64>,
}

impl<'a> Transitions<'a> {
    pub(super) fn new(graph: &'a Graph) -> Result<Self, Error> {
        let narrow = u32::try_from(graph.all_neighbors().len()).is_ok();
        let wide = if narrow { graph.offsets() } else { &[] };
        let mut offsets = Pages::zeroed("where rows begin", wide.len())?;
        offsets.par_iter_mut().with_min_len(COPIED).zip(wide).for_each(|(narrow, &wide)| *narrow = wide as u32);
        let mut sums = Vec::with_capacity(graph.all_weights().len());
        for row in 0..if graph.weighted() { graph.nodes() } else { 0 } {
            let mut sum = 0.0;
            sums.extend(graph.weights(row).iter().map(|&weight| {
                sum += f64::from(weight);
                sum
            }));
        }
        Ok(Self { graph, offsets, sums })
    }

    /// Takes one step of every walk.
    pub(super) fn step(&self, step: u64, streams: &[Stream], places: &mut [u32], moves: &mut [u64]) {
        if self.sums.is_empty() && !self.offsets.is_empty() {
            let (offsets, neighbors) = (&self.offsets[..], self.graph.all_neighbors());
            return simd(
                #[inline(always)]
                || step_uniformly(offsets, neighbors, step, streams, places),
            );
        }
        simd(
            #[inline(always)]
            || {
                for (draw, stream) in moves.iter_mut().zip(streams) {
                    *draw = stream.draw(step);
                }
            },
        );
        if self.offsets.is_empty() {
            self.step_all(self.graph.offsets(), places, moves);
        } else {
            self.step_all(&self.offsets, places, moves);
        }
    }

    /// Moves every walk by its draw, in two passes. Each pass prefetches the memory that the next one reads. In a
    /// single pass every walk would wait for two memory accesses, one after the other.
    #[inline(always)]
    fn step_all<T: Copy + Into<u64>>(&self, offsets: &[T], places: &mut [u32], moves: &mut [u64]) {
        let neighbors = self.graph.all_neighbors();
        for (choice, place) in moves.iter_mut().zip(places.iter()) {
            let (start, end) = (offsets[*place as usize].into(), offsets[*place as usize + 1].into());
            *choice = start + self.pick(start, end, *choice);
            prefetch(&neighbors[*choice as usize]);
        }
        for (place, choice) in places.iter_mut().zip(moves.iter()) {
            *place = neighbors[*choice as usize];
            prefetch(&offsets[*place as usize]);
        }
    }

    /// The neighbor that a draw selects, as its number among the entries `start..end`.
    #[inline(always)]
    fn pick(&self, start: u64, end: u64, draw: u64) -> u64 {
        if self.sums.is_empty() {
            return below(draw, end - start);
        }
        let sums = &self.sums[start as usize..end as usize];
        let target = unit(draw) * sums[sums.len() - 1];
        // Rounding may put the target on the total itself.
        sums.partition_point(|&sum| sum <= target).min(sums.len() - 1) as u64
    }
}

/// Takes a uniform step of every walk, several of them at once. Every place must have neighbors.
#[inline(always)]
fn step_uniformly(offsets: &[u32], neighbors: &[u32], step: u64, streams: &[Stream], places: &mut [u32]) {
    let next = |place: u32, stream: Stream| {
        let [start, end] = gather::pair(offsets, place as usize);
        let choice = start.wrapping_add(below_32(stream.draw(step), end.wrapping_sub(start)));
        gather::at(neighbors, choice as usize)
    };
    let (blocks, rest) = places.as_chunks_mut::<SIDE_BY_SIDE>();
    let (stream_blocks, rest_streams) = streams.as_chunks::<SIDE_BY_SIDE>();
    for (block, streams) in blocks.iter_mut().zip(stream_blocks) {
        // The compiler knows that a copy does not overlap with the tables.
        let mut places = *block;
        for (place, stream) in places.iter_mut().zip(streams) {
            *place = next(*place, *stream);
        }
        *block = places;
    }
    for (place, stream) in rest.iter_mut().zip(rest_streams) {
        *place = next(*place, *stream);
    }
}
