//! Means over the least or most similar nodes one or two hops away (GME: 1-hop and 2-hop averaging).

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::means::{Mean, check_alpha};
use crate::scratch::Scratch;
use crate::vectors::{Matrix, dots, row_norms, simd};

/// Rows a task works on; few enough that a hub among them does not hold up the end of the run.
const ROWS: usize = 16;
/// Similarities computed together.
const TILE: usize = 4;

/// The parameters of [`hop`].
#[derive(Debug, Clone, Copy)]
pub struct Hop {
    /// 1: direct neighbours. 2: nodes at distance exactly 2.
    pub hops: u32,
    /// The part of the neighbours to select, as an exact fraction: 0.2 · 35 is 7, although in floats it rounds up to 8.
    pub share: (u64, u64),
    /// The part of its own vector a node keeps.
    pub alpha: f64,
    /// Whether to select the least similar neighbours rather than the most similar ones.
    pub least: bool,
    /// Select at least this many, where there are as many.
    pub min_neighbors: usize,
}

impl Hop {
    fn check(&self) -> Result<(), Error> {
        let (part, whole) = self.share;
        if !(1..=2).contains(&self.hops) {
            return Err(Error::parameter("hops", self.hops, "1 or 2"));
        }
        if whole == 0 || part > whole {
            return Err(Error::parameter("share", format!("{part}/{whole}"), "a fraction between 0 and 1"));
        }
        check_alpha(self.alpha)
    }

    /// How many of `n` neighbours are selected: min(n, max(min_neighbors, ⌈share · n⌉)).
    ///
    /// ```
    /// # use gme::neighbours::Hop;
    /// let hop = Hop { hops: 1, share: (1, 5), alpha: 0.2, least: true, min_neighbors: 2 };
    /// assert_eq!([1, 2, 10, 11, 35].map(|n| hop.count(n)), [1, 2, 2, 3, 7]);
    /// ```
    pub fn count(&self, n: usize) -> usize {
        let share = (u128::from(self.share.0) * n as u128).div_ceil(u128::from(self.share.1)) as usize;
        share.max(self.min_neighbors).min(n)
    }
}

/// For each node i: `alpha * x_i + (1 - alpha) * mean of x_j` over the selected nodes j.
///
/// Similarity is the cosine of the original vectors; ties go to the smaller id. A node with no eligible neighbour keeps
/// its vector. At two hops only one node's list per thread exists at a time.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, cancellation.
pub fn hop(graph: &Graph, x: Matrix<'_>, options: &Hop, control: &Control, out: &mut [f32]) -> Result<(), Error> {
    options.check()?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    // Norms are only needed to choose among neighbours. Where there are none, each row is checked when its turn comes,
    // which saves a pass over the matrix.
    let all = options.share.0 == options.share.1;
    let norms = if all { Vec::new() } else { row_norms("x", x)? };
    let finite = AtomicBool::new(true);
    control.expect(graph.nodes());
    let scratch = Scratch::new(|| Selector::new(graph, x.dim(), options));
    out.par_chunks_mut(ROWS * x.dim()).enumerate().try_for_each(|(chunk, out)| {
        scratch.lend(|selector| {
            for (offset, out) in out.chunks_exact_mut(x.dim()).enumerate() {
                let row = chunk * ROWS + offset;
                selector.collect(graph, row, options.hops);
                simd(
                    #[inline(always)]
                    || selector.select(graph, x, &norms, row, options),
                );
                simd(
                    #[inline(always)]
                    || {
                        selector.mean.set(
                            x,
                            &selector.rows,
                            #[inline(always)]
                            |_| 1,
                        );
                        if all && !x.is_finite(row) {
                            finite.store(false, Ordering::Relaxed);
                        }
                        selector.mean.blend(options.alpha, x.row(row), out);
                    },
                );
            }
        });
        control.advance(out.len() / x.dim())
    })?;
    if finite.into_inner() { Ok(()) } else { x.expect_finite("x") }
}

/// One thread's lists.
struct Selector {
    /// For each rank the last row (plus one) that has met it; only used at two hops.
    seen: Vec<u32>,
    ranks: Vec<u32>,
    /// The nodes to average, by rank.
    rows: Vec<u32>,
    scored: Vec<(f32, u32)>,
    own: Vec<f32>,
    mean: Mean,
}

impl Selector {
    fn new(graph: &Graph, dim: usize, options: &Hop) -> Self {
        let seen = if options.hops == 2 { vec![0; graph.nodes()] } else { Vec::new() };
        Self { seen, ranks: Vec::new(), rows: Vec::new(), scored: Vec::new(), own: Vec::new(), mean: Mean::new(dim) }
    }

    /// Fills `rows` with the nodes at distance exactly `hops` from `row`.
    fn collect(&mut self, graph: &Graph, row: usize, hops: u32) {
        self.rows.clear();
        if hops == 1 {
            self.rows.extend_from_slice(graph.neighbours(row));
            return;
        }
        let stamp = row as u32 + 1;
        self.ranks.clear();
        self.seen[graph.ranks()[row] as usize] = stamp;
        for &near in graph.neighbours(row) {
            self.seen[graph.ranks()[near as usize] as usize] = stamp;
        }
        for &near in graph.neighbours(row) {
            for &far in graph.neighbours(near as usize) {
                let rank = graph.ranks()[far as usize];
                if self.seen[rank as usize] != stamp {
                    self.seen[rank as usize] = stamp;
                    self.ranks.push(rank);
                }
            }
        }
        self.ranks.sort_unstable();
        self.rows.extend(self.ranks.iter().map(|&rank| graph.order()[rank as usize]));
    }

    /// Cuts `rows` down to the selected ones, still by rank.
    #[inline(always)]
    fn select(&mut self, graph: &Graph, x: Matrix<'_>, norms: &[f32], row: usize, options: &Hop) {
        let count = options.count(self.rows.len());
        if count == self.rows.len() {
            return;
        }
        self.scored.clear();
        // Scaled to length 1, or the products of tiny vectors would vanish and those of huge ones overflow.
        self.own.clear();
        self.own.extend(x.row(row).iter().map(|value| if norms[row] > 0.0 { value / norms[row] } else { 0.0 }));
        let own = self.own.as_slice();
        let (tiles, rest) = self.rows.as_chunks::<TILE>();
        for tile in tiles {
            let [dots] = dots([own], tile.map(|row| x.row(row as usize)));
            self.scored.extend(tile.iter().zip(dots).map(|(&row, dot)| (dot, row)));
        }
        for &row in rest {
            self.scored.push((dots([own], [x.row(row as usize)])[0][0], row));
        }
        for (score, place) in &mut self.scored {
            let norm = norms[*place as usize];
            // The cosine, negated where the largest come first. Adding 0 turns -0 into 0, which `total_cmp` would tell apart.
            let sign = if options.least { 1.0 } else { -1.0 };
            *score = if norm > 0.0 { sign * *score / norm + 0.0 } else { 0.0 };
            *place = graph.ranks()[*place as usize];
        }
        if count > 0 {
            self.scored.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        self.scored.truncate(count);
        self.scored.sort_unstable_by_key(|scored| scored.1);
        self.rows.clear();
        self.rows.extend(self.scored.iter().map(|scored| graph.order()[scored.1 as usize]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Hop = Hop { hops: 1, share: (1, 2), alpha: 0.0, least: true, min_neighbors: 1 };

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
    fn two_hops_leave_out_the_source_and_its_neighbours() {
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
