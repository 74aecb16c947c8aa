//! The graph that all transformations use: an undirected adjacency in compressed sparse rows.

mod construction;
pub mod local_pairs;

use rayon::prelude::*;

use self::construction::{check_edges, row_slots, scatter, sort_ids, sort_rows};
use crate::control::Control;
use crate::error::Error;
use crate::memory::huge_pages::Pages;
use crate::random;

/// An undirected graph over the rows of a node file.
///
/// Rows keep the order of the file. The *rank* of a row is the place of its id among all ids, sorted by Unicode code
/// point. Whatever could depend on the order of the file runs in rank order instead. The constructor guarantees:
///
/// - `offsets` has one entry more than there are rows; the neighbors of row `r` are
///   `neighbors[offsets[r]..offsets[r + 1]]`;
/// - neighbors are sorted by rank, without repetition and without `r` itself;
/// - `b` is a neighbor of `a` exactly when `a` is one of `b`, with the same weight;
/// - parallel edges are one edge with the largest weight among them, so that their order does not matter;
/// - `order` lists the rows by rank, `ranks` is its inverse, and ids are distinct.
///
/// ```
/// use gme::graph::Graph;
/// // Rows 0, 1, 2 carry the ids c, a, b; the edges are c-a (twice), b-c and a self-loop.
/// let graph = Graph::new(&["c", "a", "b"], &[0, 1, 2, 1], &[1, 0, 0, 1], None).unwrap();
/// assert_eq!(graph.order(), [1, 2, 0]);
/// assert_eq!(graph.ranks(), [2, 0, 1]);
/// assert_eq!(graph.neighbors(0), [1, 2]); // c: a and b
/// assert_eq!(graph.neighbors(1), [0]);
/// assert_eq!(graph.edges(), 2);
/// ```
#[derive(Debug, PartialEq)]
pub struct Graph {
    offsets: Vec<u64>,
    neighbors: Pages<u32>,
    /// Parallel to `neighbors`; empty when every weight is 1.
    weights: Vec<f32>,
    order: Vec<u32>,
    ranks: Vec<u32>,
    keys: Vec<u64>,
}

impl Graph {
    /// Builds the graph from node ids and edges given as pairs of rows.
    ///
    /// It takes time linear in the edges, apart from sorting the ids and the list of each row. It takes no more extra
    /// memory than two entries per edge.
    ///
    /// # Errors
    /// Duplicate ids, rows that do not exist, arrays of different lengths, weights that are not positive.
    pub fn new<S: AsRef<str> + Sync>(
        ids: &[S],
        sources: &[u32],
        targets: &[u32],
        weights: Option<&[f64]>,
    ) -> Result<Self, Error> {
        Self::build(ids.len(), |row| ids[row].as_ref(), sources, targets, weights, &Control::new())
    }

    /// Does what [`Graph::new`] does, with ids from any place in memory. The caller can stop it.
    ///
    /// # Errors
    /// Those of [`Graph::new`], and [`Error::Cancelled`].
    pub fn build<'a>(
        nodes: usize,
        id: impl Fn(usize) -> &'a str + Sync,
        sources: &[u32],
        targets: &[u32],
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Self, Error> {
        check_edges(nodes, sources, targets, weights)?;
        control.expect(2 * sources.len());
        let (order, ranks) = sort_ids(nodes, &id)?;
        control.check()?;
        let keys = (0..nodes).into_par_iter().map(|row| random::key(id(row))).collect();
        let slots = row_slots(nodes, sources, targets, control)?;
        // Edges without weights need half the memory. So the two cases differ in their entry type only.
        let weighted = weights.is_some_and(|weights| weights.iter().any(|&weight| weight != 1.0));
        let (offsets, neighbors, weights) = if let (true, Some(weights)) = (weighted, weights) {
            let mut entries = vec![(0, 0.0); slots[nodes] as usize];
            let entry = |rank, edge| (rank, weights[edge] as f32);
            scatter(&slots, (sources, targets), &ranks, &mut entries, entry, control)?;
            let compare = |a: &(u32, f32), b: &(u32, f32)| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1));
            let offsets = sort_rows(slots, &mut entries, compare, |entry| entry.0, control)?;
            let neighbors: Vec<u32> = entries.iter().map(|entry| order[entry.0 as usize]).collect();
            // Self-loops and lighter parallel edges are gone, so all weights that are left may be 1.
            let plain = entries.iter().all(|entry| entry.1 == 1.0);
            let weights = if plain { Vec::new() } else { entries.iter().map(|entry| entry.1).collect() };
            (offsets, neighbors, weights)
        } else {
            let mut entries = vec![0; slots[nodes] as usize];
            scatter(&slots, (sources, targets), &ranks, &mut entries, |rank, _| rank, control)?;
            let offsets = sort_rows(slots, &mut entries, u32::cmp, |&rank| rank, control)?;
            entries.par_iter_mut().for_each(|entry| *entry = order[*entry as usize]);
            (offsets, entries, Vec::new())
        };
        let neighbors = Pages::copied("the graph's edges", &neighbors)?;
        Ok(Self { offsets, neighbors, weights, order, ranks, keys })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.order.len()
    }

    /// Number of distinct undirected edges.
    pub fn edges(&self) -> usize {
        self.neighbors.len() / 2
    }

    /// Whether any edge has a weight other than 1.
    pub fn weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// The rows in the order of their ids.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The rank of each row: its place in [`Graph::order`].
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The 64-bit hash of each row's id.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Where the neighbors of each row start in [`Graph::all_neighbors`], and at the end where the last ones end.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The neighbors of all rows, one list after the other.
    pub fn all_neighbors(&self) -> &[u32] {
        &self.neighbors
    }

    /// All weights, parallel to [`Graph::all_neighbors`]; empty when every weight is 1.
    pub fn all_weights(&self) -> &[f32] {
        &self.weights
    }

    /// The neighbors of `row`, sorted by rank.
    #[inline(always)]
    pub fn neighbors(&self, row: usize) -> &[u32] {
        &self.neighbors[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The neighbors of `row`, followed by those of all later rows.
    #[inline(always)]
    pub fn from_neighbors_of(&self, row: usize) -> &[u32] {
        &self.neighbors[self.offsets[row] as usize..]
    }

    /// The weights of the edges to [`Graph::neighbors`]; empty when every weight is 1.
    #[inline(always)]
    pub fn weights(&self, row: usize) -> &[f32] {
        if self.weights.is_empty() {
            return &[];
        }
        &self.weights[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The number of neighbors of `row`.
    #[inline(always)]
    pub fn degree(&self, row: usize) -> usize {
        (self.offsets[row + 1] - self.offsets[row]) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_weight_of_parallel_edges_wins_in_any_order() {
        let ids = ["a", "b", "c"];
        let one = Graph::new(&ids, &[0, 1, 1], &[1, 0, 2], Some(&[2.0, 3.0, 1.0])).unwrap();
        let other = Graph::new(&ids, &[2, 1, 0], &[1, 0, 1], Some(&[1.0, 3.0, 2.0])).unwrap();
        assert_eq!(one, other);
        assert_eq!(one.weights(1), [3.0, 1.0]);
        assert!(one.weighted());
    }

    #[test]
    fn weights_of_one_are_not_stored() {
        let plain = Graph::new(&["a", "b"], &[0], &[1], None).unwrap();
        assert_eq!(plain, Graph::new(&["a", "b"], &[0], &[1], Some(&[1.0])).unwrap());
        assert!(!plain.weighted());
        let dropped = Graph::new(&["a", "b"], &[0, 0, 1], &[0, 1, 0], Some(&[9.0, 1.0, 0.5])).unwrap();
        assert_eq!(plain, dropped);
    }

    #[test]
    fn empty_and_edgeless_graphs() {
        let empty = Graph::new::<&str>(&[], &[], &[], None).unwrap();
        assert_eq!((empty.nodes(), empty.edges()), (0, 0));
        let edgeless = Graph::new(&["b", "a"], &[1], &[1], None).unwrap();
        assert_eq!((edgeless.degree(0), edgeless.degree(1), edgeless.edges()), (0, 0, 0));
    }

    #[test]
    fn order_is_that_of_whole_ids() {
        let ids = ["a\0", "a", "", "abcdefghz", "abcdefgh", "abcdefgha", "b", "\u{e9}", "\u{1f980}", "\u{ffff}"];
        let graph = Graph::new(&ids, &[], &[], None).unwrap();
        let mut sorted = ids;
        sorted.sort_unstable();
        assert!(graph.order().iter().zip(sorted).all(|(&row, id)| ids[row as usize] == id));
        let twice = ["abcdefghi", "x", "abcdefghi"];
        assert!(matches!(Graph::new(&twice, &[], &[], None), Err(Error::DuplicateId { rows: (0, 2), .. })));
    }

    #[test]
    fn refuses_bad_input() {
        let ids = ["a", "b"];
        assert!(matches!(Graph::new(&["a", "a"], &[], &[], None), Err(Error::DuplicateId { rows: (0, 1), .. })));
        assert!(matches!(Graph::new(&ids, &[0], &[2], None), Err(Error::OutOfRange { what: "targets", .. })));
        assert!(matches!(Graph::new(&ids, &[0], &[], None), Err(Error::Length { what, .. }) if what == "targets"));
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-60] {
            assert!(matches!(Graph::new(&ids, &[0], &[1], Some(&[weight])), Err(Error::Weight { edge: 0, .. })));
        }
    }
}
