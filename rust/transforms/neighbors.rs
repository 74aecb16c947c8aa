//! Means over the least or most similar nodes one or two hops away (GME: 1-hop and 2-hop averaging).

mod keys;
mod quantized;
mod two_hop;
pub(crate) mod two_hop_search;

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use self::keys::{key, ordered, rank};
use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::means::{Mean, check_alpha};
use crate::linalg::prefetch::{prefetch, prefetch_all, rows_ahead};
use crate::linalg::vectors::{Matrix, dots, row_norms, simd};
use crate::memory::scratch::Scratch;

/// The number of rows in a task. They are few, so that a hub among them does not delay the end of the run.
const ROWS: usize = 16;
/// The number of similarities computed together.
const TILE: usize = 4;

/// The parameters of [`hop`].
#[derive(Debug, Clone, Copy)]
pub struct Hop {
    /// 1: direct neighbors. 2: nodes at distance exactly 2.
    pub hops: u32,
    /// The share of the neighbors to select, as an exact fraction. 0.2 · 35 is 7; with floats it would round up to 8.
    pub share: (u128, u128),
    /// The share of its own vector that a node keeps.
    pub alpha: f64,
    /// Whether to select the least similar neighbors rather than the most similar ones.
    pub least: bool,
    /// The least number of neighbors to select, if the node has so many.
    pub min_neighbors: usize,
    /// At two hops, paths through nodes with more neighbors than this are left out. 0 leaves out none.
    pub max_hub_degree: usize,
}

/// The most paths of two edges that [`hop`] follows: 2^36, hours of work on two cores.
pub const MOST_PATHS: u64 = 1 << 36;

/// Whether paths may lead through `row`: it must not have more than `max_hub_degree` neighbors (0: no limit).
#[inline(always)]
pub(crate) fn passable(graph: &Graph, row: usize, max_hub_degree: usize) -> bool {
    max_hub_degree == 0 || graph.degree(row) <= max_hub_degree
}

/// Checks that there are no more than `limit` paths of two edges i - j - k. A node j with n neighbors is the middle of
/// n².
///
/// # Errors
/// [`Error::Hub`] with the node that has the most neighbors among those that paths may lead through.
pub(crate) fn check_hubs(what: &'static str, graph: &Graph, max_hub_degree: usize, limit: u64) -> Result<(), Error> {
    let middles = || (0..graph.nodes()).filter(|&row| passable(graph, row, max_hub_degree));
    let found = middles().fold(0u64, |sum, row| sum.saturating_add((graph.degree(row) as u64).pow(2)));
    if found <= limit {
        return Ok(());
    }
    // Of several equally large ones, it is the first by id.
    let hub = middles().max_by_key(|&row| (graph.degree(row), std::cmp::Reverse(graph.ranks()[row])));
    let row = hub.unwrap_or(0);
    Err(Error::Hub { what, row, degree: graph.degree(row), found, limit })
}

impl Hop {
    fn check(&self) -> Result<(), Error> {
        let (part, whole) = self.share;
        if !(1..=2).contains(&self.hops) {
            return Err(Error::parameter("hops", self.hops, "1 or 2"));
        }
        if whole == 0 || part > whole || whole > u128::MAX >> u32::BITS {
            // `count` multiplies by a number of nodes.
            let rule = "a fraction between 0 and 1, its parts below 2^96";
            return Err(Error::parameter("share", format!("{part}/{whole}"), rule));
        }
        check_alpha(self.alpha)
    }

    /// How many of `n` neighbors are selected: min(n, max(min_neighbors, ⌈share · n⌉)).
    ///
    /// ```
    /// # use gme::transforms::neighbors::Hop;
    /// let hop = Hop { hops: 1, share: (1, 5), alpha: 0.2, least: true, min_neighbors: 2, max_hub_degree: 0 };
    /// assert_eq!([1, 2, 10, 11, 35].map(|n| hop.count(n)), [1, 2, 2, 3, 7]);
    /// ```
    pub fn count(&self, n: usize) -> usize {
        let share = (self.share.0 * n as u128).div_ceil(self.share.1) as usize;
        share.max(self.min_neighbors).min(n)
    }
}

/// For each node i: `alpha * x_i + (1 - alpha) * mean of x_j` over the selected nodes j.
///
/// Similarity is the cosine of the original vectors. Ties go to the smaller id. A node with no eligible neighbor keeps
/// its vector. At two hops, each thread lists the nodes for a few rows at a time, and [`MOST_PATHS`] limits the work.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, too many paths of two edges,
/// cancellation.
pub fn hop(graph: &Graph, x: Matrix<'_>, options: &Hop, control: &Control, out: &mut [f32]) -> Result<(), Error> {
    options.check()?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    if options.hops == 2 {
        check_hubs("hop2", graph, options.max_hub_degree, MOST_PATHS)?;
    }
    // Norms are needed only to choose among neighbors. Without norms, each row is checked when its turn comes, which
    // saves a pass over the matrix.
    let all = options.share.0 == options.share.1;
    let norms = if all { Vec::new() } else { row_norms("x", x, control)? };
    control.expect(graph.nodes());
    let finite = match options.hops {
        1 => one(graph, x, &norms, options, control, out)?,
        _ => two_hop::hop(graph, x, &norms, options, control, out)?,
    };
    if finite { Ok(()) } else { x.expect_finite("x", control) }
}

/// Means over direct neighbors. Returns whether all rows are finite. It checks that only if there are no norms, which
/// would have shown it.
fn one(
    graph: &Graph,
    x: Matrix<'_>,
    norms: &[f32],
    options: &Hop,
    control: &Control,
    out: &mut [f32],
) -> Result<bool, Error> {
    let finite = AtomicBool::new(true);
    let scratch = Scratch::new(|| Selector::new(x.dim()));
    out.par_chunks_mut(ROWS * x.dim()).enumerate().try_for_each(|(chunk, out)| {
        scratch.lend(|selector| {
            for (offset, out) in out.chunks_exact_mut(x.dim()).enumerate() {
                let row = chunk * ROWS + offset;
                simd(
                    #[inline(always)]
                    || selector.select(graph, x, norms, row, options),
                );
                simd(
                    #[inline(always)]
                    || {
                        selector.mean.set(
                            x,
                            &selector.rows,
                            #[inline(always)]
                            |_| 1.0,
                        );
                        if norms.is_empty() && !x.is_finite(row) {
                            finite.store(false, Ordering::Relaxed);
                        }
                        selector.mean.blend(options.alpha, x.row(row), out);
                    },
                );
            }
        });
        control.advance(out.len() / x.dim())
    })?;
    Ok(finite.into_inner())
}

/// The lists of one thread.
struct Selector {
    /// The nodes to average, by rank.
    rows: Vec<u32>,
    keys: Vec<u64>,
    own: Vec<f32>,
    mean: Mean,
}

impl Selector {
    fn new(dim: usize) -> Self {
        Self { rows: Vec::new(), keys: Vec::new(), own: Vec::new(), mean: Mean::new(dim) }
    }

    /// Fills `rows` with the selected neighbors, by rank.
    #[inline(always)]
    fn select(&mut self, graph: &Graph, x: Matrix<'_>, norms: &[f32], row: usize, options: &Hop) {
        let neighbors = graph.neighbors(row);
        let count = options.count(neighbors.len());
        self.rows.clear();
        if count == neighbors.len() {
            self.rows.extend_from_slice(neighbors);
        } else if count > 0 {
            self.choose(graph, x, norms, row, count, options.least);
        }
    }

    /// Fills `rows` with the best `count` of a node's neighbors.
    #[inline(always)]
    fn choose(&mut self, graph: &Graph, x: Matrix<'_>, norms: &[f32], row: usize, count: usize, least: bool) {
        let (neighbors, keys) = (graph.from_neighbors_of(row), &mut self.keys);
        keys.clear();
        scale(x.row(row), norms[row], &mut self.own);
        // Neighbors are sorted by rank, so the order of their places is the order of their ranks.
        score(
            x,
            norms,
            &self.own,
            neighbors,
            graph.degree(row),
            least,
            #[inline(always)]
            |score, place| keys.push(key(ordered(score), place as u32)),
        );
        keys.select_nth_unstable(count - 1);
        self.rows.extend(keys[..count].iter().map(|&key| rank(key)));
        self.rows.sort_unstable();
        for place in &mut self.rows {
            *place = neighbors[*place as usize];
        }
    }
}

/// Scales a row to length 1. Otherwise products of tiny vectors would vanish and those of huge ones would overflow.
#[inline(always)]
fn scale(row: &[f32], norm: f32, own: &mut Vec<f32>) {
    own.clear();
    own.extend(row.iter().map(|value| if norm > 0.0 { value / norm } else { 0.0 }));
}

/// Calls `push` for each of the first `count` of `rows`, with its cosine to `own` and its place. The cosine is negated
/// if the largest are to come first. The rows after them belong to later calls and are prefetched.
#[inline(always)]
fn score(
    x: Matrix<'_>,
    norms: &[f32],
    own: &[f32],
    rows: &[u32],
    count: usize,
    least: bool,
    mut push: impl FnMut(f32, usize),
) {
    let mut finish = |dot: f32, place: usize| {
        let norm = norms[rows[place] as usize];
        let sign = if least { 1.0 } else { -1.0 };
        // Adding 0 turns -0 into 0. The order of floats would distinguish the two.
        push(if norm > 0.0 { sign * dot / norm + 0.0 } else { 0.0 }, place);
    };
    let ahead = rows_ahead(x.dim()).max(TILE);
    for (start, tile) in (0..).step_by(TILE).zip(rows[..count].chunks(TILE)) {
        for &next in rows.iter().skip(start + ahead).take(tile.len()) {
            prefetch_all(x.row(next as usize));
            prefetch(&norms[next as usize]);
        }
        if let Some(tile) = tile.first_chunk::<TILE>() {
            let [dots] = dots([own], tile.map(|row| x.row(row as usize)));
            for (place, dot) in (start..).zip(dots) {
                finish(dot, place);
            }
        } else {
            for (place, &row) in (start..).zip(tile) {
                finish(dots([own], [x.row(row as usize)])[0][0], place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Hop = Hop { hops: 1, share: (1, 2), alpha: 0.0, least: true, min_neighbors: 1, max_hub_degree: 0 };

    fn hop(graph: &Graph, x: Matrix<'_>, options: &Hop) -> Result<Vec<f32>, Error> {
        let mut out = vec![0.0; x.data().len()];
        super::hop(graph, x, options, &Control::new(), &mut out).map(|()| out)
    }

    fn star() -> (Graph, Vec<f32>) {
        // a is joined to b, c and d; e stands alone.
        let graph = Graph::new(&["a", "b", "c", "d", "e"], &[0, 0, 0], &[1, 2, 3], None).unwrap();
        (graph, vec![1.0, 0.0, 2.0, 0.0, 0.0, 1.0, -1.0, 0.0, 7.0, 7.0])
    }

    #[test]
    fn least_and_most_similar() {
        let (graph, data) = star();
        let x = Matrix::new("x", &data, 5, 2).unwrap();
        let least = hop(&graph, x, &FIRST).unwrap();
        assert_eq!(least[..2], [-0.5, 0.5]); // d and c, not b
        assert_eq!(least[8..], [7.0, 7.0]);
        let most = hop(&graph, x, &Hop { least: false, ..FIRST }).unwrap();
        assert_eq!(most[..2], [1.0, 0.5]); // b and c
    }

    #[test]
    fn two_hops_leave_out_the_source_and_its_neighbors() {
        let (graph, data) = star();
        let x = Matrix::new("x", &data, 5, 2).unwrap();
        let two = hop(&graph, x, &Hop { hops: 2, share: (1, 1), ..FIRST }).unwrap();
        assert_eq!(two[..2], [1.0, 0.0]); // nothing is two hops from a
        assert_eq!(two[2..4], [-0.5, 0.5]); // from b: c and d
    }

    #[test]
    fn refuses_bad_parameters() {
        let (graph, data) = star();
        let x = Matrix::new("x", &data, 5, 2).unwrap();
        for bad in [Hop { hops: 3, ..FIRST }, Hop { share: (3, 2), ..FIRST }, Hop { alpha: f64::NAN, ..FIRST }] {
            assert!(matches!(hop(&graph, x, &bad), Err(Error::Parameter { .. })));
        }
    }
}
