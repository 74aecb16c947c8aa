//! Means over where random walks of a fixed length end (GME: random-walk averaging).
//!
//! Every draw is a function of (seed, node key, walk, step), so a node's walks depend on nothing but the graph around it:
//! neither on the thread that walks them nor on nodes elsewhere.

use std::ops::Range;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::means::{Mean, check_alpha};
use crate::prefetch::prefetch;
use crate::random::{Stream, below, unit};
use crate::scratch::Scratch;
use crate::vectors::{Matrix, simd};

/// Rows a task works on.
const ROWS: usize = 64;
/// Walks that take their steps together: enough to hide the memory behind them, few enough for the cache.
const TOGETHER: usize = 1024;

/// The parameters of the walks.
#[derive(Debug, Clone, Copy)]
pub struct Walks {
    /// Transitions of each walk.
    pub steps: usize,
    /// Walks from each node.
    pub walks: usize,
    /// Seed of all draws.
    pub seed: u64,
    /// Whether a walk may end where it began.
    pub returns: bool,
}

impl Walks {
    fn check(&self) -> Result<(), Error> {
        // Each takes memory while it walks, and the exact expectation has no noise at all.
        if !(1..1 << 24).contains(&self.walks) {
            return Err(Error::parameter(
                "walks",
                self.walks,
                "at least 1 and below 2^24; or take the exact expectation",
            ));
        }
        check_steps(self.steps)
    }
}

pub(crate) fn check_steps(steps: usize) -> Result<(), Error> {
    if steps == 0 { Err(Error::parameter("steps", steps, "at least 1")) } else { Ok(()) }
}

/// For each node, where its walks end and how many of them: those of row i are entries `offsets[i]..offsets[i + 1]`,
/// sorted by rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoints {
    /// Where each row's entries start.
    pub offsets: Vec<u64>,
    /// Rows the walks ended at.
    pub rows: Vec<u32>,
    /// How many walks ended there.
    pub counts: Vec<u32>,
}

/// One thread's walkers.
struct Walker {
    /// The walks of several rows, one row's after the other's.
    streams: Vec<Stream>,
    /// Where each walk stands.
    places: Vec<u32>,
    /// Which entry of the graph's neighbours each walk goes to next.
    targets: Vec<u64>,
    /// Where the walks of one row end, as ranks.
    ends: Vec<u32>,
    /// Distinct endpoints by rank, and how many walks ended at each.
    rows: Vec<u32>,
    counts: Vec<u32>,
    mean: Mean,
}

impl Walker {
    fn new(dim: usize) -> Self {
        Self {
            streams: Vec::new(),
            places: Vec::new(),
            targets: Vec::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            counts: Vec::new(),
            mean: Mean::new(dim),
        }
    }

    /// Walks all walks of some rows and calls `finish` for each row in order, with its endpoints in `rows` and `counts`.
    ///
    /// These are empty for an isolated node, and for one whose walks all return when they must not.
    fn walk(
        &mut self,
        graph: &Graph,
        transitions: &Transitions,
        rows: Range<usize>,
        options: &Walks,
        control: &Control,
        mut finish: impl FnMut(&mut Self, usize),
    ) -> Result<(), Error> {
        let together = (TOGETHER / options.walks).max(1);
        for first in rows.clone().step_by(together) {
            let batch = first..rows.end.min(first + together);
            self.start(graph, batch.clone(), options);
            for step in 0..options.steps as u64 {
                transitions.step(graph, step, &self.streams, &mut self.places, &mut self.targets);
                control.check()?;
            }
            let mut walked = 0;
            for row in batch {
                self.rows.clear();
                self.counts.clear();
                if graph.degree(row) > 0 {
                    self.gather(graph, row, walked, options);
                    walked += options.walks;
                }
                finish(self, row);
            }
        }
        Ok(())
    }

    /// Places all walks of the rows that have neighbours at their beginning.
    fn start(&mut self, graph: &Graph, batch: Range<usize>, options: &Walks) {
        self.streams.clear();
        self.places.clear();
        for row in batch.filter(|&row| graph.degree(row) > 0) {
            let key = graph.keys()[row];
            self.streams.extend((0..options.walks as u64).map(|walk| Stream::new(options.seed, key, walk)));
            self.places.resize(self.places.len() + options.walks, row as u32);
        }
        self.targets.resize(self.places.len(), 0);
    }

    /// Counts where the walks of `row` ended; they are those from number `first` on.
    fn gather(&mut self, graph: &Graph, row: usize, first: usize, options: &Walks) {
        self.ends.clear();
        let places = &self.places[first..first + options.walks];
        self.ends.extend(places.iter().map(|&place| graph.ranks()[place as usize]));
        self.ends.sort_unstable();
        for run in self.ends.chunk_by(|a, b| a == b) {
            self.rows.push(graph.order()[run[0] as usize]);
            self.counts.push(run.len() as u32);
        }
        if !options.returns {
            self.redraw(row, first, options);
        }
    }

    /// Sends every walk that ended at `row` to an endpoint drawn from the frequencies of the others.
    fn redraw(&mut self, row: usize, first: usize, options: &Walks) {
        let Some(own) = self.rows.iter().position(|&end| end as usize == row) else { return };
        self.rows.remove(own);
        let returned = self.counts.remove(own) as usize;
        let others = (options.walks - returned) as u64;
        if others == 0 {
            return;
        }
        let cumulative: Vec<u64> = self
            .counts
            .iter()
            .scan(0, |sum, &count| {
                *sum += u64::from(count);
                Some(*sum)
            })
            .collect();
        // Which walks returned does not matter to the result; their number does. Draw `steps` is one no walk has used.
        for stream in &self.streams[first..first + returned] {
            let target = below(stream.draw(options.steps as u64), others);
            self.counts[cumulative.partition_point(|&sum| sum <= target)] += 1;
        }
    }
}

/// What a step needs besides the graph: running sums of each row's weights, or nothing when all weights are 1.
struct Transitions(Vec<f64>);

impl Transitions {
    fn new(graph: &Graph) -> Self {
        let mut sums = Vec::with_capacity(graph.all_weights().len());
        for row in 0..graph.nodes() {
            let mut sum = 0.0;
            sums.extend(graph.weights(row).iter().map(|&weight| {
                sum += f64::from(weight);
                sum
            }));
        }
        Self(sums)
    }

    /// Takes one step of every walk, in two passes that each ask for the memory of the next: every walk would else wait
    /// for two places in the graph, one after the other.
    fn step(&self, graph: &Graph, step: u64, streams: &[Stream], places: &mut [u32], targets: &mut [u64]) {
        let offsets = graph.offsets();
        let neighbours = graph.all_neighbours();
        for ((target, place), stream) in targets.iter_mut().zip(places.iter()).zip(streams) {
            let (start, end) = (offsets[*place as usize], offsets[*place as usize + 1]);
            *target = start + self.pick(start, end, stream.draw(step));
            prefetch(&neighbours[*target as usize]);
        }
        for (place, target) in places.iter_mut().zip(targets.iter()) {
            *place = neighbours[*target as usize];
            prefetch(&offsets[*place as usize]);
        }
    }

    /// Which of the neighbours that are entries `start..end` a draw means.
    #[inline(always)]
    fn pick(&self, start: u64, end: u64, draw: u64) -> u64 {
        if self.0.is_empty() {
            return below(draw, end - start);
        }
        let sums = &self.0[start as usize..end as usize];
        let target = unit(draw) * sums[sums.len() - 1];
        // Rounding may put the target on the total itself.
        sums.partition_point(|&sum| sum <= target).min(sums.len() - 1) as u64
    }
}

/// For each node i: `alpha * x_i + (1 - alpha) * mean of x` over the endpoints of its walks, each as often as it was hit.
///
/// Steps are uniform over neighbours, or proportional to weight in a weighted graph. When a walk must not end where it
/// began, one that does is moved to an endpoint drawn from the frequencies of the node's other walks. A node with no
/// walk left keeps its vector, and so does an isolated one.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, cancellation.
pub fn walk(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Walks,
    alpha: f64,
    control: &Control,
    out: &mut [f32],
) -> Result<(), Error> {
    options.check()?;
    check_alpha(alpha)?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    x.expect_finite("x")?;
    control.expect(graph.nodes());
    let transitions = Transitions::new(graph);
    let scratch = Scratch::new(|| Walker::new(x.dim()));
    out.par_chunks_mut(ROWS * x.dim()).enumerate().try_for_each(|(chunk, out)| {
        scratch.lend(|walker| {
            let first = chunk * ROWS;
            let rows = first..first + out.len() / x.dim();
            walker.walk(graph, &transitions, rows, options, control, |walker, row| {
                let out = &mut out[(row - first) * x.dim()..][..x.dim()];
                simd(
                    #[inline(always)]
                    || {
                        let counts = &walker.counts;
                        walker.mean.set(
                            x,
                            &walker.rows,
                            #[inline(always)]
                            |i| counts[i],
                        );
                        walker.mean.blend(alpha, x.row(row), out);
                    },
                );
            })?;
            control.advance(out.len() / x.dim())
        })
    })
}

/// Where the walks of [`walk`] end. Isolated nodes, and nodes with no walk left, have no entries.
///
/// # Errors
/// Parameters out of range, cancellation.
pub fn endpoints(graph: &Graph, options: &Walks, control: &Control) -> Result<Endpoints, Error> {
    options.check()?;
    control.expect(graph.nodes());
    let transitions = Transitions::new(graph);
    let scratch = Scratch::new(|| Walker::new(0));
    let parts: Vec<Endpoints> = (0..graph.nodes().div_ceil(ROWS))
        .into_par_iter()
        .map(|chunk| {
            let mut part = Endpoints { offsets: Vec::new(), rows: Vec::new(), counts: Vec::new() };
            scratch.lend(|walker| {
                let rows = chunk * ROWS..((chunk + 1) * ROWS).min(graph.nodes());
                walker.walk(graph, &transitions, rows, options, control, |walker, _| {
                    part.rows.extend_from_slice(&walker.rows);
                    part.counts.extend_from_slice(&walker.counts);
                    part.offsets.push(part.rows.len() as u64);
                })?;
                control.advance(part.offsets.len())
            })?;
            Ok(part)
        })
        .collect::<Result<_, Error>>()?;
    let mut all = Endpoints { offsets: vec![0], rows: Vec::new(), counts: Vec::new() };
    for part in parts {
        let start = all.rows.len() as u64;
        all.offsets.extend(part.offsets.iter().map(|offset| start + offset));
        all.rows.extend(part.rows);
        all.counts.extend(part.counts);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Walks = Walks { steps: 2, walks: 100, seed: 42, returns: true };

    fn path() -> Graph {
        Graph::new(&["a", "b", "c", "d"], &[0, 1], &[1, 2], None).unwrap()
    }

    #[test]
    fn two_steps_on_a_path() {
        let ends = endpoints(&path(), &TWO, &Control::new()).unwrap();
        assert_eq!(ends.offsets, [0, 2, 3, 5, 5]);
        assert_eq!(ends.rows, [0, 2, 1, 0, 2]);
        assert_eq!(ends.counts.iter().sum::<u32>(), 300);
        assert!(ends.counts[0] > 25 && ends.counts[1] > 25);
    }

    #[test]
    fn walks_that_must_not_return_are_redrawn() {
        let ends = endpoints(&path(), &Walks { returns: false, ..TWO }, &Control::new()).unwrap();
        assert_eq!(ends.offsets, [0, 1, 1, 2, 2]);
        assert_eq!((ends.rows, ends.counts), (vec![2, 0], vec![100, 100]));
    }

    #[test]
    fn weights_steer() {
        let graph = Graph::new(&["a", "b", "c"], &[0, 0], &[1, 2], Some(&[1.0, 999.0])).unwrap();
        let ends = endpoints(&graph, &Walks { steps: 1, walks: 1000, ..TWO }, &Control::new()).unwrap();
        assert_eq!(ends.rows.last(), Some(&0));
        assert!(ends.counts[ends.offsets[1] as usize - 1] > 980);
    }

    #[test]
    fn refuses_no_walks() {
        assert!(endpoints(&path(), &Walks { walks: 0, ..TWO }, &Control::new()).is_err());
        assert!(endpoints(&path(), &Walks { steps: 0, ..TWO }, &Control::new()).is_err());
    }
}
