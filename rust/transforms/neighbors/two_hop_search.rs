//! Finds the nodes two hops away from each of several consecutive rows, all at once.
//!
//! Rows near each other in a file often share neighbors. So each node has a mask of the rows that reach it, and
//! following an edge passes on the whole mask. That takes fewer steps than going row by row, and tells which rows need
//! the same vector.

use std::ops::Range;

use super::passable;
use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::prefetch::{AHEAD, MOST, prefetch};

/// The most rows at once. Each has one bit of a mask.
pub(crate) const ROWS: usize = 64;
/// How many edges are followed between two checks whether to stop.
const EDGES: usize = 1 << 20;

/// The buffers of one thread: two masks for each node.
pub(crate) struct TwoHopSearch {
    /// For each node, the rows it is a neighbor of. All zero between two calls, like `far`.
    near: Vec<u64>,
    /// For each node, the rows that reach it by two edges.
    far: Vec<u64>,
    /// The neighbors of the rows.
    middles: Vec<u32>,
    /// The nodes with a mask in `far`, in the order in which they were reached, and room for more.
    met: Vec<u32>,
    found: Vec<(u32, u64)>,
}

impl TwoHopSearch {
    pub(crate) fn new(nodes: usize) -> Self {
        Self { near: vec![0; nodes], far: vec![0; nodes], middles: Vec::new(), met: Vec::new(), found: Vec::new() }
    }

    /// The nodes at distance two from any of at most [`ROWS`] rows, by paths through [`passable`] nodes. Each comes
    /// with a mask of the rows at that distance: bit 0 is the first of `rows`.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn find(
        &mut self,
        graph: &Graph,
        rows: Range<usize>,
        max_hub_degree: usize,
        control: &Control,
    ) -> Result<&mut [(u32, u64)], Error> {
        // This check comes first. A call that was stopped leaves masks behind, and no later call may see them.
        control.check()?;
        for (bit, row) in rows.clone().enumerate() {
            for &middle in graph.neighbors(row) {
                let mask = &mut self.near[middle as usize];
                if *mask == 0 {
                    self.middles.push(middle);
                }
                *mask |= 1 << bit;
            }
        }
        let mut count = 0;
        let mut edges = 0;
        for (i, &middle) in self.middles.iter().enumerate() {
            self.prefetch(graph, i);
            let mask = self.near[middle as usize];
            if !passable(graph, middle as usize, max_hub_degree) {
                continue;
            }
            let others = graph.neighbors(middle as usize);
            if self.met.len() < count + others.len() {
                self.met.resize(count + others.len(), 0);
            }
            for &other in others {
                // There is no branch here. A branch would wait for the mask from memory, and would often be
                // mispredicted.
                let far = &mut self.far[other as usize];
                self.met[count] = other;
                count += usize::from(*far == 0);
                *far |= mask;
            }
            edges += others.len();
            if edges > EDGES {
                edges = 0;
                control.check()?;
            }
        }
        for (bit, row) in rows.enumerate() {
            self.far[row] &= !(1 << bit);
        }
        for middle in self.middles.drain(..) {
            self.far[middle as usize] &= !std::mem::take(&mut self.near[middle as usize]);
        }
        self.found.clear();
        let far = &mut self.far;
        let met = self.met[..count].iter().map(|&other| (other, std::mem::take(&mut far[other as usize])));
        self.found.extend(met.filter(|found| found.1 != 0));
        Ok(&mut self.found)
    }

    /// Prefetches what the next middle nodes need: their lists, and then the masks of the nodes in these lists.
    #[inline(always)]
    fn prefetch(&self, graph: &Graph, i: usize) {
        if let Some(&middle) = self.middles.get(i + 2 * AHEAD) {
            graph.neighbors(middle as usize).first().into_iter().for_each(prefetch);
        }
        if let Some(&middle) = self.middles.get(i + AHEAD) {
            for &other in graph.neighbors(middle as usize).iter().take(MOST) {
                prefetch(&self.far[other as usize]);
            }
        }
    }
}

/// The positions of the set bits of a mask, from the lowest.
#[inline(always)]
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        let some = mask != 0;
        mask &= mask.wrapping_sub(1);
        some.then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nodes at distance two from one row, found by itself.
    fn two_hops(graph: &Graph, row: usize, max_hub_degree: usize) -> Vec<u32> {
        let near = graph.neighbors(row);
        let middles = near.iter().map(|&near| near as usize).filter(|&near| passable(graph, near, max_hub_degree));
        let mut far: Vec<u32> = middles.flat_map(|middle| graph.neighbors(middle).to_vec()).collect();
        far.sort_unstable();
        far.dedup();
        far.retain(|far| *far as usize != row && !near.contains(far));
        far
    }

    #[test]
    fn masks_tell_what_each_row_finds_by_itself() {
        let nodes = 300;
        let ids: Vec<String> = (0..nodes).map(|row| format!("{}", row * 7 % nodes)).collect();
        let draw = |i: u64| (crate::random::key(&format!("{i}")) % nodes as u64) as u32;
        let (mut sources, mut targets): (Vec<u32>, Vec<u32>) = (0..500).map(|i| (draw(2 * i), draw(2 * i + 1))).unzip();
        // Two hubs.
        sources.extend((0..200).map(|i| i % 2));
        targets.extend((0..200).map(|i| 50 + i));
        let graph = Graph::new(&ids, &sources, &targets, None).unwrap();
        let mut search = TwoHopSearch::new(nodes);
        for (max_hub_degree, step) in [(0, ROWS), (0, 1), (20, ROWS), (3, 50)] {
            for start in (0..nodes).step_by(step) {
                let rows = start..nodes.min(start + step);
                let found = search.find(&graph, rows.clone(), max_hub_degree, &Control::new()).unwrap();
                for (bit, row) in rows.enumerate() {
                    let mut own: Vec<u32> =
                        found.iter().filter(|found| found.1 >> bit & 1 == 1).map(|found| found.0).collect();
                    own.sort_unstable();
                    assert_eq!(own, two_hops(&graph, row, max_hub_degree));
                }
            }
        }
    }

    #[test]
    fn stops_when_told_to() {
        let graph = Graph::new(&["a", "b", "c"], &[0, 1], &[1, 2], None).unwrap();
        let control = Control::new();
        control.cancel();
        assert!(matches!(TwoHopSearch::new(3).find(&graph, 0..3, 0, &control), Err(Error::Cancelled)));
    }

    #[test]
    fn positions_of_ones() {
        assert_eq!(bits(0).count(), 0);
        assert_eq!(bits(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }
}
