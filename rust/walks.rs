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
use crate::pages::Pages;
use crate::prefetch::prefetch;
use crate::random::{Source, Stream, below, unit};
use crate::scratch::Scratch;
use crate::vectors::{Matrix, simd};

/// Rows a task averages, and rows a task only counts the endpoints of.
const AVERAGED: usize = 64;
const COUNTED: usize = 1024;
/// Walks that take their steps together: enough to hide the memory behind them, few enough for the cache.
const TOGETHER: usize = 512;
/// Rows whose endpoints are sorted side by side, a multiple of what a register holds.
const LANES: usize = 16;
/// Rows of more walks than this are walked one by one, to save memory.
const MANY: usize = 1024;

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

impl Endpoints {
    fn new() -> Self {
        Self { offsets: vec![0], rows: Vec::new(), counts: Vec::new() }
    }

    fn clear(&mut self) {
        self.offsets.truncate(1);
        self.rows.clear();
        self.counts.clear();
    }

    /// The rows some node's walks ended at, and how many ended there.
    #[inline(always)]
    fn of(&self, node: usize) -> (&[u32], &[u32]) {
        let entries = self.offsets[node] as usize..self.offsets[node + 1] as usize;
        (&self.rows[entries.clone()], &self.counts[entries])
    }
}

/// One thread's walkers.
///
/// Several rows walk at once, and entry `walk * lanes + lane` of a list belongs to the row in that lane: so their endpoints
/// can be sorted side by side.
struct Walker {
    /// One for each lane.
    sources: Vec<Source>,
    streams: Vec<Stream>,
    /// Where each walk stands, as a row, and in the end as a rank.
    places: Vec<u32>,
    /// Each walk's draw, and then the entry of the graph's neighbours that it means.
    moves: Vec<u64>,
    /// Where the walks ended; the first node is the first of the rows that walked last.
    found: Endpoints,
    mean: Mean,
}

impl Walker {
    fn new(dim: usize) -> Self {
        Self {
            sources: Vec::new(),
            streams: Vec::new(),
            places: Vec::new(),
            moves: Vec::new(),
            found: Endpoints::new(),
            mean: Mean::new(dim),
        }
    }

    /// Walks all walks of some rows and finds their endpoints.
    ///
    /// There are none for an isolated node, and for one whose walks all return when they must not.
    fn walk(
        &mut self,
        transitions: &Transitions<'_>,
        rows: Range<usize>,
        options: &Walks,
        control: &Control,
    ) -> Result<(), Error> {
        let graph = transitions.graph;
        self.found.clear();
        let together =
            if options.walks > MANY { 1 } else { (TOGETHER / options.walks).next_multiple_of(LANES).max(LANES) };
        for first in rows.clone().step_by(together) {
            let batch = first..rows.end.min(first + together);
            let lanes = self.start(graph, batch.clone(), options);
            for step in 0..options.steps as u64 {
                transitions.step(step, &self.streams, &mut self.places, &mut self.moves);
                control.check()?;
            }
            for place in &mut self.places {
                *place = graph.ranks()[*place as usize];
            }
            sort_lanes(&mut self.places, lanes);
            // Room for as many endpoints as there are walks; most often they are fewer.
            let mut end = self.found.rows.len();
            self.found.rows.resize(end + self.places.len(), 0);
            self.found.counts.resize(end + self.places.len(), 0);
            let mut lane = 0;
            for row in batch {
                if graph.degree(row) > 0 {
                    end = self.gather(graph, row, (lane, lanes), end, options);
                    lane += 1;
                }
                self.found.offsets.push(end as u64);
            }
            self.found.rows.truncate(end);
            self.found.counts.truncate(end);
        }
        Ok(())
    }

    /// Places all walks of the rows that have neighbours at their beginning, a lane for each, and returns how many there are.
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

    /// Writes the endpoints of `row`, which walked in this lane of so many, from entry `start` on. Returns where they end.
    fn gather(
        &mut self,
        graph: &Graph,
        row: usize,
        (lane, lanes): (usize, usize),
        start: usize,
        options: &Walks,
    ) -> usize {
        let rows = &mut self.found.rows[start..][..options.walks];
        let counts = &mut self.found.counts[start..][..options.walks];
        // Without branches on whether an endpoint is a new one, which nobody could predict.
        let (mut length, mut last) = (0, u32::MAX);
        for &rank in self.places[lane..].iter().step_by(lanes) {
            length += usize::from(rank != last);
            rows[length - 1] = graph.order()[rank as usize];
            counts[length - 1] += 1;
            last = rank;
        }
        match rows[..length].iter().position(|&end| end as usize == row && !options.returns) {
            Some(own) => start + self.redraw(own, (lane, lanes), start..start + length, options),
            None => start + length,
        }
    }

    /// Sends every walk that ended at number `own` of these entries to another one, drawn from their frequencies. Returns how
    /// many entries are left.
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
        // Which walks returned does not matter to the result; their number does. Draw `steps` is one no walk has used.
        for stream in self.streams[lane..].iter().step_by(lanes).take(returned) {
            let target = below(stream.draw(options.steps as u64), total);
            counts[cumulative.partition_point(|&sum| sum <= target)] += 1;
        }
        others
    }
}

/// Sorts each lane of a list whose entry `i * lanes + lane` is entry i of that lane.
///
/// By Batcher's merge exchange (Knuth, The Art of Computer Programming 5.2.2, algorithm M): which entries it compares does not
/// depend on them, so all lanes take part in each comparison.
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

/// The graph as steps need it.
struct Transitions<'a> {
    graph: &'a Graph,
    /// The graph's offsets in half the memory, so that more of them stay in the cache; empty where 32 bits are too few.
    offsets: Pages<u32>,
    /// Running sums of each row's weights, or nothing when all weights are 1.
    sums: Vec<f64>,
}

impl<'a> Transitions<'a> {
    fn new(graph: &'a Graph) -> Result<Self, Error> {
        let narrow = u32::try_from(graph.all_neighbours().len()).is_ok();
        let wide = if narrow { graph.offsets() } else { &[] };
        let mut offsets = Pages::zeroed("where rows begin", wide.len())?;
        offsets.par_iter_mut().with_min_len(COUNTED).zip(wide).for_each(|(narrow, &wide)| *narrow = wide as u32);
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
    fn step(&self, step: u64, streams: &[Stream], places: &mut [u32], moves: &mut [u64]) {
        simd(
            #[inline(always)]
            || {
                for (draw, stream) in moves.iter_mut().zip(streams) {
                    *draw = stream.draw(step);
                }
            },
        );
        if self.offsets.is_empty() {
            self.go(self.graph.offsets(), places, moves);
        } else {
            self.go(&self.offsets, places, moves);
        }
    }

    /// Goes where the draws say, in two passes that each ask for the memory of the next: every walk would else wait for two
    /// places in the graph, one after the other.
    #[inline(always)]
    fn go<T: Copy + Into<u64>>(&self, offsets: &[T], places: &mut [u32], moves: &mut [u64]) {
        let neighbours = self.graph.all_neighbours();
        for (choice, place) in moves.iter_mut().zip(places.iter()) {
            let (start, end) = (offsets[*place as usize].into(), offsets[*place as usize + 1].into());
            *choice = start + self.pick(start, end, *choice);
            prefetch(&neighbours[*choice as usize]);
        }
        for (place, choice) in places.iter_mut().zip(moves.iter()) {
            *place = neighbours[*choice as usize];
            prefetch(&offsets[*place as usize]);
        }
    }

    /// Which of the neighbours that are entries `start..end` a draw means.
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
    let transitions = Transitions::new(graph)?;
    let copy = x.in_pages()?;
    let x = x.read_from(copy.as_deref());
    let scratch = Scratch::new(|| Walker::new(x.dim()));
    out.par_chunks_mut(AVERAGED * x.dim()).enumerate().try_for_each(|(chunk, out)| {
        let first = chunk * AVERAGED;
        let rows = first..first + out.len() / x.dim();
        scratch.lend(|walker| {
            walker.walk(&transitions, rows.clone(), options, control)?;
            for (node, out) in out.chunks_exact_mut(x.dim()).enumerate() {
                simd(
                    #[inline(always)]
                    || {
                        let (rows, counts) = walker.found.of(node);
                        walker.mean.set(
                            x,
                            rows,
                            #[inline(always)]
                            |i| f64::from(counts[i]),
                        );
                        walker.mean.blend(alpha, x.row(first + node), out);
                    },
                );
            }
            control.advance(rows.len())
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
    let transitions = Transitions::new(graph)?;
    let scratch = Scratch::new(|| Walker::new(0));
    let parts = (0..graph.nodes().div_ceil(COUNTED)).into_par_iter().map(|chunk| {
        let rows = chunk * COUNTED..((chunk + 1) * COUNTED).min(graph.nodes());
        scratch.lend(|walker| {
            walker.walk(&transitions, rows.clone(), options, control)?;
            control.advance(rows.len()).map(|()| walker.found.clone())
        })
    });
    let parts = parts.collect::<Result<Vec<_>, Error>>()?;
    let mut offsets = vec![0];
    for part in &parts {
        let start = offsets[offsets.len() - 1];
        offsets.extend(part.offsets[1..].iter().map(|offset| start + offset));
    }
    let rows = concatenate(&parts, |part| &part.rows);
    let counts = concatenate(&parts, |part| &part.counts);
    Ok(Endpoints { offsets, rows, counts })
}

/// One list of all parts, copied in parallel: fresh memory costs more to touch than to fill.
fn concatenate(parts: &[Endpoints], list: impl Fn(&Endpoints) -> &[u32] + Sync) -> Vec<u32> {
    let mut all = vec![0; parts.iter().map(|part| list(part).len()).sum()];
    let mut rest = all.as_mut_slice();
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        let (place, others) = rest.split_at_mut(list(part).len());
        places.push(place);
        rest = others;
    }
    places.into_par_iter().zip(parts).for_each(|(place, part)| place.copy_from_slice(list(part)));
    all
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

    #[test]
    fn refuses_no_walks() {
        assert!(endpoints(&path(), &Walks { walks: 0, ..TWO }, &Control::new()).is_err());
        assert!(endpoints(&path(), &Walks { steps: 0, ..TWO }, &Control::new()).is_err());
    }
}
