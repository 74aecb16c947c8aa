//! The pairs of nodes within small patches of a graph, and the number of hops between the two.
//!
//! A patch is a node with all nodes within two hops of it. Each node with neighbors has one, and patches overlap. Two
//! nodes of one patch are at most four hops apart. Hubs would make patches huge, so their size is limited. If a node
//! has more than `fan_out` neighbors, the patch follows `fan_out` of them, drawn at random. If a patch has more than
//! `pairs` pairs, `pairs` of them are drawn. Draws are keyed by (seed, center, node), so they depend neither on file
//! order nor on nodes elsewhere. Time and memory grow with the nodes times `fan_out`² + `pairs`, whatever the degrees.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::memory::scratch::Scratch;
use crate::random::{Stream, below};

/// The most hops between two nodes of a patch.
pub const HOPS: usize = 4;
/// The number of rows in a task.
const ROWS: usize = 64;
/// Lists longer than this are searched, not read, when distances are measured.
const HUB: usize = 1024;

/// How much of each patch is used.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most neighbors followed from one node.
    pub fan_out: usize,
    /// The most pairs taken from one patch.
    pub pairs: usize,
    /// The random seed of the draws for patches above these limits.
    pub seed: u64,
}

impl Limits {
    /// # Errors
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        if !(1..=1 << 16).contains(&self.fan_out) {
            return Err(Error::parameter("fan_out", self.fan_out, "between 1 and 65536"));
        }
        if !(1..=1 << 20).contains(&self.pairs) {
            return Err(Error::parameter("pairs", self.pairs, "between 1 and 1048576"));
        }
        Ok(())
    }
}

/// An entry in the list of a node: the other node of a pair.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pair {
    /// The other node's row.
    pub row: u32,
    /// In how many patches the two are paired, at most 65,535.
    pub count: u16,
    /// Hops between the two in the whole graph, 1 to [`HOPS`].
    pub hop: u8,
}

/// The pairs of each node, sorted by the rank of the other node. A pair is in the lists of both its nodes.
#[derive(Debug)]
pub struct Pairs {
    pairs: Vec<Pair>,
    /// Where each node's list starts and how long it is, by rank. Merged repetitions of a pair leave gaps between
    /// lists.
    starts: Vec<u64>,
    lengths: Vec<u32>,
    /// Number of patches.
    pub patches: usize,
    /// How many of the patches were above the limits and were sampled.
    pub drawn: usize,
}

impl Pairs {
    /// The pairs of the node with this rank.
    #[inline(always)]
    pub fn of(&self, rank: usize) -> &[Pair] {
        let start = self.starts[rank] as usize;
        &self.pairs[start..start + self.lengths[rank] as usize]
    }
}

/// Collects the pairs of all patches. Without `far`, every distance above one hop counts as two, which is cheaper.
///
/// # Errors
/// Limits out of range, too little memory, cancellation.
pub fn pairs(graph: &Graph, limits: &Limits, far: bool, control: &Control) -> Result<Pairs, Error> {
    limits.check()?;
    let scratch = Scratch::new(Patch::default);
    let collect = |task: usize| {
        let (mut found, mut drawn) = (Vec::new(), 0);
        let rows = task * ROWS..graph.nodes().min((task + 1) * ROWS);
        scratch.lend(|patch| {
            for row in rows.clone().filter(|&row| graph.degree(row) > 0) {
                control.check()?;
                drawn += usize::from(!patch.collect(graph, row, limits, &mut found));
            }
            Ok(())
        })?;
        control.advance(rows.len()).map(|()| (found, drawn))
    };
    let tasks = (0..graph.nodes().div_ceil(ROWS)).into_par_iter();
    let found: Vec<(Vec<[u32; 2]>, usize)> = tasks.map(collect).collect::<Result<_, _>>()?;
    let patches = (0..graph.nodes()).filter(|&row| graph.degree(row) > 0).count();
    let drawn = found.iter().map(|(_, drawn)| drawn).sum();
    let (starts, mut pairs) = lists(graph.nodes(), found, control)?;
    let mut rest = pairs.as_mut_slice();
    let mut lists = Vec::with_capacity(graph.nodes());
    for (rank, bounds) in starts.windows(2).enumerate() {
        let (list, tail) = rest.split_at_mut((bounds[1] - bounds[0]) as usize);
        lists.push((graph.order()[rank] as usize, list));
        rest = tail;
    }
    let scratch = Scratch::new(|| TwoHopNeighborhood::new(graph.nodes()));
    let finish = |(row, list): (usize, &mut [Pair])| {
        let length = merge(list);
        scratch.lend(|neighborhood| measure(graph, neighborhood, row, &mut list[..length], far));
        control.advance(1).map(|()| length as u32)
    };
    let lengths = lists.into_par_iter().with_min_len(ROWS).map(finish).collect::<Result<_, _>>()?;
    Ok(Pairs { pairs, starts, lengths, patches, drawn })
}

/// Writes each pair into the lists of both its nodes (a counting sort by rank). `row` holds the other node's rank here.
fn lists(nodes: usize, found: Vec<(Vec<[u32; 2]>, usize)>, control: &Control) -> Result<(Vec<u64>, Vec<Pair>), Error> {
    let mut starts = vec![0u64; nodes + 1];
    for &[a, b] in found.iter().flat_map(|(pairs, _)| pairs) {
        starts[a as usize + 1] += 1;
        starts[b as usize + 1] += 1;
    }
    for rank in 0..nodes {
        starts[rank + 1] += starts[rank];
    }
    let mut pairs = crate::linalg::vectors::filled("pairs of nodes", Pair::default(), starts[nodes] as usize, 1)?;
    let mut next = starts.clone();
    for (chunk, _) in found {
        control.check()?;
        for [a, b] in chunk {
            for (own, other) in [(a, b), (b, a)] {
                let slot = &mut next[own as usize];
                pairs[*slot as usize] = Pair { row: other, count: 1, hop: 0 };
                *slot += 1;
            }
        }
    }
    Ok((starts, pairs))
}

/// Sorts a list and merges repetitions, with their count. Returns how many entries are left at the beginning of the
/// list.
fn merge(list: &mut [Pair]) -> usize {
    list.sort_unstable_by_key(|pair| pair.row);
    let mut length = 0;
    for position in 0..list.len() {
        if length > 0 && list[length - 1].row == list[position].row {
            list[length - 1].count = list[length - 1].count.saturating_add(1);
        } else {
            list[length] = list[position];
            length += 1;
        }
    }
    length
}

/// Turns the ranks of a list into rows, and measures the hops to each of them.
fn measure(graph: &Graph, neighborhood: &mut TwoHopNeighborhood, row: usize, list: &mut [Pair], far: bool) {
    if far && !list.is_empty() {
        neighborhood.mark(graph, row);
    }
    for pair in list {
        pair.row = graph.order()[pair.row as usize];
        let other = pair.row as usize;
        pair.hop = match adjacent(graph, row, other) {
            true => 1,
            false if far => neighborhood.hop(graph, other),
            false => 2,
        };
    }
}

/// The buffers with which one thread collects a patch.
#[derive(Default)]
struct Patch {
    ranks: Vec<u32>,
    picked: Vec<u64>,
}

impl Patch {
    /// Appends the pairs of the patch around `center` as ranks. Returns false if the patch or its pairs were sampled.
    fn collect(&mut self, graph: &Graph, center: usize, limits: &Limits, found: &mut Vec<[u32; 2]>) -> bool {
        self.ranks.clear();
        let mut whole = self.follow(graph, center, center, limits);
        for near in 0..self.ranks.len() {
            let row = graph.order()[self.ranks[near] as usize] as usize;
            whole &= self.follow(graph, center, row, limits);
        }
        self.ranks.push(graph.ranks()[center]);
        self.ranks.sort_unstable();
        self.ranks.dedup();
        let members = self.ranks.len() as u64;
        let (total, wanted) = (members * (members - 1) / 2, limits.pairs as u64);
        if total > wanted {
            sample(total, wanted, Stream::new(limits.seed, graph.keys()[center], 0), &mut self.picked);
            found.extend(self.picked.iter().map(|&index| pair_at(index).map(|place| self.ranks[place as usize])));
            return false;
        }
        for (place, &larger) in self.ranks.iter().enumerate() {
            found.extend(self.ranks[..place].iter().map(|&smaller| [smaller, larger]));
        }
        whole
    }

    /// Adds the neighbors of `row`, at most `fan_out` of them. Returns whether these are all.
    fn follow(&mut self, graph: &Graph, center: usize, row: usize, limits: &Limits) -> bool {
        let list = graph.neighbors(row);
        let rank = |&row: &u32| graph.ranks()[row as usize];
        if list.len() <= limits.fan_out {
            self.ranks.extend(list.iter().map(rank));
            return true;
        }
        let stream = Stream::new(limits.seed, graph.keys()[center], graph.keys()[row]);
        sample(list.len() as u64, limits.fan_out as u64, stream, &mut self.picked);
        self.ranks.extend(self.picked.iter().map(|&place| rank(&list[place as usize])));
        false
    }
}

/// Draws `count` of the numbers below `total`, in ascending order. Each set is equally likely (Floyd's algorithm).
fn sample(total: u64, count: u64, stream: Stream, picked: &mut Vec<u64>) {
    let mut drawn = BTreeSet::new();
    for (draw, last) in (total - count..total).enumerate() {
        if !drawn.insert(below(stream.draw(draw as u64), last + 1)) {
            drawn.insert(last); // larger than all numbers drawn before
        }
    }
    picked.clear();
    picked.extend(drawn);
}

/// The pair with this number in the sequence (0, 1), (0, 2), (1, 2), (0, 3), …
fn pair_at(index: u64) -> [u64; 2] {
    let mut larger = ((1.0 + (1.0 + 8.0 * index as f64).sqrt()) / 2.0) as u64;
    // Rounding may leave the root off by one.
    while larger * (larger - 1) / 2 > index {
        larger -= 1;
    }
    while larger * (larger + 1) / 2 <= index {
        larger += 1;
    }
    [index - larger * (larger - 1) / 2, larger]
}

/// Whether there is an edge between two nodes. It searches the shorter of their lists.
fn adjacent(graph: &Graph, a: usize, b: usize) -> bool {
    let (short, other) = if graph.degree(a) <= graph.degree(b) { (a, b) } else { (b, a) };
    let rank = graph.ranks()[other];
    graph.neighbors(short).binary_search_by_key(&rank, |&row| graph.ranks()[row as usize]).is_ok()
}

/// The nodes within two hops of a marked node.
struct TwoHopNeighborhood {
    /// For each row, the stamp of the last marked node that is near it.
    stamps: Vec<u32>,
    stamp: u32,
    /// The rows near the marked node, except those reached only through hubs.
    met: Vec<u32>,
    /// Neighbors with more than [`HUB`] neighbors, which are not read.
    hubs: Vec<u32>,
}

impl TwoHopNeighborhood {
    fn new(nodes: usize) -> Self {
        Self { stamps: vec![0; nodes], stamp: 0, met: Vec::new(), hubs: Vec::new() }
    }

    fn mark(&mut self, graph: &Graph, row: usize) {
        self.stamp += 1;
        self.met.clear();
        self.hubs.clear();
        self.mark_near(graph.neighbors(row));
        for &near in graph.neighbors(row) {
            if graph.degree(near as usize) > HUB {
                self.hubs.push(near);
            } else {
                self.mark_near(graph.neighbors(near as usize));
            }
        }
    }

    fn mark_near(&mut self, rows: &[u32]) {
        for &row in rows {
            let stamp = &mut self.stamps[row as usize];
            if *stamp != self.stamp {
                *stamp = self.stamp;
                self.met.push(row);
            }
        }
    }

    /// The hops from the marked node to another node of the same patch, which is not adjacent to it.
    fn hop(&self, graph: &Graph, other: usize) -> u8 {
        let within_two = |row: usize| {
            self.stamps[row] == self.stamp || self.hubs.iter().any(|&hub| adjacent(graph, hub as usize, row))
        };
        let within_three = || {
            if self.hubs.is_empty() && graph.degree(other) > self.met.len() {
                return self.met.iter().any(|&row| adjacent(graph, row as usize, other));
            }
            graph.neighbors(other).iter().any(|&row| within_two(row as usize))
        };
        match within_two(other) {
            true => 2,
            false if within_three() => 3,
            false => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Limits = Limits { fan_out: 1 << 16, pairs: 1 << 20, seed: 1 };

    #[test]
    fn pairs_are_numbered() {
        let expected: Vec<[u64; 2]> = (1..60).flat_map(|b| (0..b).map(move |a| [a, b])).collect();
        assert_eq!((0..expected.len() as u64).map(pair_at).collect::<Vec<_>>(), expected);
        assert_eq!(pair_at((1 << 31) * ((1 << 31) - 1) / 2), [0, 1 << 31]);
    }

    #[test]
    fn samples_are_uniform_and_distinct() {
        let mut counts = [0u32; 10];
        let mut picked = Vec::new();
        for walk in 0..10_000 {
            sample(10, 4, Stream::new(3, 5, walk), &mut picked);
            assert!(picked.len() == 4 && picked.windows(2).all(|pair| pair[0] < pair[1]));
            picked.iter().for_each(|&number| counts[number as usize] += 1);
        }
        // Each is binomial with mean 4,000 and deviation 49.
        assert!(counts.iter().all(|&count| (3_800..4_200).contains(&count)), "{counts:?}");
    }

    #[test]
    fn a_path_of_six() {
        let ids = ["a", "b", "c", "d", "e", "f"];
        let graph = Graph::new(&ids, &[0, 1, 2, 3, 4], &[1, 2, 3, 4, 5], None).unwrap();
        let found = pairs(&graph, &ALL, true, &Control::new()).unwrap();
        assert_eq!((found.patches, found.drawn), (6, 0));
        let list: Vec<_> = found.of(0).iter().map(|pair| (pair.row, pair.count, pair.hop)).collect();
        // a lies in the patches of a, b and c.
        assert_eq!(list, [(1, 3, 1), (2, 3, 2), (3, 2, 3), (4, 1, 4)]);
        let near = pairs(&graph, &ALL, false, &Control::new()).unwrap();
        assert_eq!(near.of(0).iter().map(|pair| pair.hop).collect::<Vec<_>>(), [1, 2, 2, 2]);
        let few = pairs(&graph, &Limits { pairs: 2, ..ALL }, true, &Control::new()).unwrap();
        assert_eq!(few.drawn, 6);
        assert_eq!((0..6).flat_map(|rank| few.of(rank)).map(|pair| pair.count).sum::<u16>(), 24);
    }

    #[test]
    fn hops_behind_hubs_are_the_same() {
        // Two hubs of 1,100 leaves each, a node joined to both, and a chain from a leaf.
        let leaves = 1_100;
        let ids: Vec<String> = (0..2 * leaves + 5).map(|row| format!("n{row:05}")).collect();
        let (one, two, bridge, far) = (2 * leaves, 2 * leaves + 1, 2 * leaves + 2, 2 * leaves + 3);
        let mut edges: Vec<[usize; 2]> = (0..leaves).flat_map(|leaf| [[one, leaf], [two, leaves + leaf]]).collect();
        edges.extend([[bridge, one], [bridge, two], [far, 0], [far + 1, far]]);
        let ends = |end: usize| edges.iter().map(|edge| edge[end] as u32).collect::<Vec<_>>();
        let graph = Graph::new(&ids, &ends(0), &ends(1), None).unwrap();
        let mut neighborhood = TwoHopNeighborhood::new(graph.nodes());
        neighborhood.mark(&graph, 0);
        assert_eq!(neighborhood.hubs, [one as u32]);
        assert_eq!([1, bridge, two, leaves].map(|row| neighborhood.hop(&graph, row)), [2, 2, 3, 4]);
        neighborhood.mark(&graph, far + 1);
        assert_eq!([0, one, 1].map(|row| neighborhood.hop(&graph, row)), [2, 3, 4]);
    }
}
