//! The graph that all transformations use: an undirected adjacency in compressed sparse rows.

pub mod local_pairs;

use rayon::prelude::*;

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

fn check_edges(nodes: usize, sources: &[u32], targets: &[u32], weights: Option<&[f64]>) -> Result<(), Error> {
    if nodes >= u32::MAX as usize {
        return Err(Error::TooMany { what: "nodes", found: nodes, limit: u32::MAX as usize - 1 });
    }
    let same_length = |what: &'static str, found| {
        if found == sources.len() {
            return Ok(());
        }
        Err(Error::Length { what: what.into(), found, needed: sources.len(), rule: "one per edge, as many as sources" })
    };
    same_length("targets", targets.len())?;
    same_length("weights", weights.map_or(sources.len(), <[f64]>::len))?;
    for (what, rows) in [("sources", sources), ("targets", targets)] {
        if let Some(position) = rows.iter().position(|&row| row as usize >= nodes) {
            return Err(Error::OutOfRange { what, position, value: u64::from(rows[position]), limit: nodes });
        }
    }
    let usable = |weight: f64| weight as f32 > 0.0 && (weight as f32).is_finite();
    match weights
        .and_then(|weights| weights.iter().position(|&weight| !usable(weight)).map(|edge| (edge, weights[edge])))
    {
        Some((edge, value)) => Err(Error::Weight { edge, value }),
        None => Ok(()),
    }
}

/// The number of edges between two checks whether to stop.
const EDGES: usize = 1 << 20;

/// The rows sorted by id, and the place of each row in that order.
fn sort_ids<'a>(nodes: usize, id: &(impl Fn(usize) -> &'a str + Sync)) -> Result<(Vec<u32>, Vec<u32>), Error> {
    // The byte order of UTF-8 is the order of code points. Most pairs differ in their first eight bytes, and comparing
    // these needs no access to the ids.
    let mut sorted: Vec<(u64, u32)> =
        (0..nodes).into_par_iter().map(|row| (first_bytes(id(row)), row as u32)).collect();
    sorted.par_sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| id(a.1 as usize).cmp(id(b.1 as usize))).then(a.1.cmp(&b.1))
    });
    let same = |a: &(u64, u32), b: &(u64, u32)| a.0 == b.0 && id(a.1 as usize) == id(b.1 as usize);
    if let Some(pair) = sorted.windows(2).find(|pair| same(&pair[0], &pair[1])) {
        let rows = (pair[0].1 as usize, pair[1].1 as usize);
        return Err(Error::DuplicateId { id: id(rows.0).to_owned(), rows });
    }
    let mut ranks = vec![0; nodes];
    for (rank, &(_, row)) in sorted.iter().enumerate() {
        ranks[row as usize] = rank as u32;
    }
    Ok((sorted.into_iter().map(|(_, row)| row).collect(), ranks))
}

/// The first eight bytes as a number. It is smaller than that of another string only if this string sorts first.
fn first_bytes(string: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = string.len().min(8);
    bytes[..length].copy_from_slice(&string.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// Where the entries of each row start while parallel edges still count separately.
fn row_slots(nodes: usize, sources: &[u32], targets: &[u32], control: &Control) -> Result<Vec<u64>, Error> {
    let mut slots = vec![0u64; nodes + 1];
    for (sources, targets) in sources.chunks(EDGES).zip(targets.chunks(EDGES)) {
        control.advance(sources.len())?;
        for (&source, &target) in sources.iter().zip(targets) {
            if source != target {
                slots[source as usize + 1] += 1;
                slots[target as usize + 1] += 1;
            }
        }
    }
    for row in 0..nodes {
        slots[row + 1] += slots[row];
    }
    Ok(slots)
}

/// Writes both directions of every edge into the slots of its row (a counting sort by row).
fn scatter<T>(
    slots: &[u64],
    (sources, targets): (&[u32], &[u32]),
    ranks: &[u32],
    entries: &mut [T],
    entry: impl Fn(u32, usize) -> T,
    control: &Control,
) -> Result<(), Error> {
    let mut next = slots[..slots.len() - 1].to_vec();
    let mut put = |row: u32, other: u32, edge: usize| {
        let slot = &mut next[row as usize];
        entries[*slot as usize] = entry(ranks[other as usize], edge);
        *slot += 1;
    };
    let parts = sources.chunks(EDGES).zip(targets.chunks(EDGES));
    for (part, (sources, targets)) in parts.enumerate() {
        control.advance(sources.len())?;
        for (edge, (&source, &target)) in (part * EDGES..).zip(sources.iter().zip(targets)) {
            if source != target {
                put(source, target, edge);
                put(target, source, edge);
            }
        }
    }
    Ok(())
}

/// Sorts the entries of each row, keeps the first entry of each rank, and closes the gaps. Returns the new offsets.
fn sort_rows<T: Copy + Send>(
    mut slots: Vec<u64>,
    entries: &mut Vec<T>,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering + Sync,
    rank: impl Fn(&T) -> u32,
    control: &Control,
) -> Result<Vec<u64>, Error> {
    let mut rest = entries.as_mut_slice();
    let mut rows = Vec::with_capacity(slots.len());
    for pair in slots.windows(2) {
        let (row, tail) = rest.split_at_mut((pair[1] - pair[0]) as usize);
        rows.push(row);
        rest = tail;
    }
    rows.into_par_iter().with_min_len(64).try_for_each(|row| {
        row.sort_unstable_by(&compare);
        control.check()
    })?;
    let mut kept = 0;
    let mut start = 0;
    for slot in &mut slots[1..] {
        let first = kept;
        for position in start..*slot as usize {
            if kept == first || rank(&entries[kept - 1]) != rank(&entries[position]) {
                entries[kept] = entries[position];
                kept += 1;
            }
        }
        start = *slot as usize;
        *slot = kept as u64;
    }
    entries.truncate(kept);
    entries.shrink_to_fit();
    Ok(slots)
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
