//! The random walks of several nodes at once, and their endpoints.

use std::ops::Range;

use super::transitions::Transitions;
use super::{Endpoints, Walks};
use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::gather;
use crate::linalg::means::Mean;
use crate::linalg::vectors::simd;
use crate::random::{Source, Stream, below};

/// The number of walks that step together: enough to hide the latency of memory, and few enough for the cache.
const TOGETHER: usize = 512;
/// The number of rows whose endpoints are sorted at once: a multiple of what a register holds.
const LANES: usize = 16;
/// With more walks per row than this, rows are processed one by one to save memory.
const MANY: usize = 1024;

/// The walks of one thread.
///
/// Several rows walk at once. Entry `walk * lanes + lane` of a list belongs to the row in that lane, so that the
/// endpoints of all lanes can be sorted at once.
pub(super) struct Walker {
    /// The random source of each lane.
    sources: Vec<Source>,
    streams: Vec<Stream>,
    /// The place of each walk, as a row. At the end it is turned into a rank for sorting.
    places: Vec<u32>,
    /// Each walk's draw, and then the entry of the graph's neighbors that it selects.
    moves: Vec<u64>,
    /// The endpoints of the walks. Its first node is the first of the rows that walked last. There may be unused room
    /// after the last entry.
    pub(super) found: Endpoints,
    pub(super) mean: Mean,
}

impl Walker {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            sources: Vec::new(),
            streams: Vec::new(),
            places: Vec::new(),
            moves: Vec::new(),
            found: Endpoints::new(),
            mean: Mean::new(dim),
        }
    }

    /// Takes all walks from some rows and finds their endpoints.
    ///
    /// An isolated node has no endpoints. Neither has a node whose walks all return although they must not.
    pub(super) fn walk(
        &mut self,
        transitions: &Transitions<'_>,
        rows: Range<usize>,
        options: &Walks,
        control: &Control,
    ) -> Result<(), Error> {
        let graph = transitions.graph;
        self.found.offsets.truncate(1);
        let together =
            if options.walks > MANY { 1 } else { (TOGETHER / options.walks).next_multiple_of(LANES).max(LANES) };
        let mut end = 0;
        for first in rows.clone().step_by(together) {
            let batch = first..rows.end.min(first + together);
            let lanes = self.start(graph, batch.clone(), options);
            for step in 0..options.steps as u64 {
                transitions.step(step, &self.streams, &mut self.places, &mut self.moves);
                control.check()?;
            }
            simd(
                #[inline(always)]
                || gather::look_up(graph.ranks(), &mut self.places),
            );
            sort_lanes(&mut self.places, lanes);
            simd(
                #[inline(always)]
                || gather::look_up(graph.order(), &mut self.places),
            );
            // This makes room for as many endpoints as walks, although most often there are fewer.
            if self.found.rows.len() < end + self.places.len() {
                self.found.rows.resize(end + self.places.len(), 0);
                self.found.counts.resize(end + self.places.len(), 0);
            }
            let mut lane = 0;
            for row in batch {
                if graph.degree(row) > 0 {
                    end = self.gather(row, (lane, lanes), end, options);
                    lane += 1;
                }
                self.found.offsets.push(end as u64);
            }
        }
        Ok(())
    }

    /// Puts all walks at their beginnings. Each row with neighbors gets a lane. Returns the number of lanes.
    fn start(&mut self, graph: &Graph, batch: Range<usize>, options: &Walks) -> usize {
        let rows = batch.filter(|&row| graph.degree(row) > 0);
        self.sources.clear();
        self.sources.extend(rows.clone().map(|row| Source::new(options.seed, graph.keys()[row])));
        let (sources, lanes) = (&self.sources, self.sources.len());
        self.streams.resize(lanes * options.walks, Stream::default());
        self.moves.resize(lanes * options.walks, 0);
        self.places.clear();
        self.places.extend(rows.map(|row| row as u32));
        self.places.resize(lanes * options.walks, 0);
        for walk in 1..options.walks {
            self.places.copy_within(..lanes, walk * lanes);
        }
        simd(
            #[inline(always)]
            || {
                for (walk, streams) in self.streams.chunks_exact_mut(lanes.max(1)).enumerate() {
                    for (stream, source) in streams.iter_mut().zip(sources) {
                        *stream = source.stream(walk as u64);
                    }
                }
            },
        );
        lanes
    }

    /// Writes the endpoints of `row` from entry `start` on. The row walked in lane `lane` of `lanes`. Returns where the
    /// entries end.
    fn gather(&mut self, row: usize, (lane, lanes): (usize, usize), start: usize, options: &Walks) -> usize {
        let rows = &mut self.found.rows[start..][..options.walks];
        let counts = &mut self.found.counts[start..][..options.walks];
        // The loop has no branch on whether an endpoint is new, because the processor could not predict it.
        let (mut length, mut count, mut last) = (0, 0, u32::MAX);
        for &end in self.places[lane..].iter().step_by(lanes) {
            let new = end != last;
            length += usize::from(new);
            count = if new { 1 } else { count + 1 };
            rows[length - 1] = end;
            counts[length - 1] = count;
            last = end;
        }
        match rows[..length].iter().position(|&end| end as usize == row && !options.returns) {
            Some(own) => start + self.redraw(own, (lane, lanes), start..start + length, options),
            None => start + length,
        }
    }

    /// Moves every walk that ended at entry number `own` to another entry, drawn by the frequencies of the others.
    /// Returns how many entries are left.
    fn redraw(&mut self, own: usize, (lane, lanes): (usize, usize), entries: Range<usize>, options: &Walks) -> usize {
        let (rows, counts) = (&mut self.found.rows[entries.clone()], &mut self.found.counts[entries]);
        let returned = counts[own] as usize;
        rows[own..].rotate_left(1);
        counts[own..].rotate_left(1);
        let others = counts.len() - 1;
        counts[others] = 0;
        let counts = &mut counts[..others];
        let cumulative: Vec<u64> = counts
            .iter()
            .scan(0, |sum, &count| {
                *sum += u64::from(count);
                Some(*sum)
            })
            .collect();
        let Some(&total) = cumulative.last() else { return 0 };
        // Only the number of walks that returned matters, not which ones. No walk has used draw number `steps` yet.
        for stream in self.streams[lane..].iter().step_by(lanes).take(returned) {
            let target = below(stream.draw(options.steps as u64), total);
            counts[cumulative.partition_point(|&sum| sum <= target)] += 1;
        }
        others
    }
}

/// Sorts each lane of a list. Entry i of a lane is entry `i * lanes + lane` of the list.
///
/// This is Batcher's merge exchange (Knuth, The Art of Computer Programming 5.2.2, algorithm M). Its comparisons do not
/// depend on the entries, so each of them is made in all lanes at once.
fn sort_lanes(values: &mut [u32], lanes: usize) {
    if lanes <= 1 {
        return values.sort_unstable();
    }
    let length = values.len() / lanes;
    let top = length.next_power_of_two() / 2;
    simd(
        #[inline(always)]
        || {
            let mut size = top;
            while size > 0 {
                let (mut reach, mut rest, mut distance) = (top, 0, size);
                loop {
                    for i in (0..length - distance).filter(|i| i & size == rest) {
                        let (low, high) = values.split_at_mut((i + distance) * lanes);
                        for (low, high) in low[i * lanes..][..lanes].iter_mut().zip(&mut high[..lanes]) {
                            (*low, *high) = ((*low).min(*high), (*low).max(*high));
                        }
                    }
                    if reach == size {
                        break;
                    }
                    distance = reach - size;
                    reach /= 2;
                    rest = size;
                }
                size /= 2;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_sorted() {
        for (length, lanes) in [(1, 1), (1, 5), (2, 3), (7, 16), (10, 51), (100, 16), (33, 1)] {
            let stream = Stream::new(3, 0, length);
            let values: Vec<u32> = (0..length * lanes).map(|i| below(stream.draw(i), 50) as u32).collect();
            let lanes = lanes as usize;
            let mut sorted = values.clone();
            sort_lanes(&mut sorted, lanes);
            for lane in 0..lanes {
                let mut expected: Vec<u32> = values[lane..].iter().step_by(lanes).copied().collect();
                expected.sort_unstable();
                assert!(sorted[lane..].iter().step_by(lanes).eq(&expected));
            }
        }
    }
}
