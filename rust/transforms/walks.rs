//! Means over the endpoints of random walks of a fixed length (GME: random-walk averaging).
//!
//! Every draw is a function of (seed, node key, walk, step). So a node's walks depend only on the graph around it:
//! neither on the thread nor on nodes elsewhere.

use rayon::prelude::*;

use self::transitions::Transitions;
use self::walker::Walker;
use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::means::check_alpha;
use crate::linalg::vectors::{Matrix, simd};
use crate::memory::scratch::Scratch;

mod transitions;
mod walker;

/// The number of rows in a task that averages, and in a task that only counts endpoints.
const AVERAGED: usize = 64;
const COUNTED: usize = 1024;

/// The parameters of the walks.
#[derive(Debug, Clone, Copy)]
pub struct Walks {
    /// The number of steps of each walk.
    pub steps: usize,
    /// The number of walks from each node.
    pub walks: usize,
    /// The random seed of all draws.
    pub seed: u64,
    /// Whether a walk may end where it began.
    pub returns: bool,
}

impl Walks {
    fn check(&self) -> Result<(), Error> {
        // Each walk takes memory. Instead of very many walks, a user can take the exact expectation, which has no
        // noise.
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

/// For each node, the endpoints of its walks, and how many walks end there. Those of row i are entries
/// `offsets[i]..offsets[i + 1]`, sorted by rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoints {
    /// Where each row's entries start.
    pub offsets: Vec<u64>,
    /// The rows at which walks ended.
    pub rows: Vec<u32>,
    /// How many walks ended there.
    pub counts: Vec<u32>,
}

impl Endpoints {
    fn new() -> Self {
        Self { offsets: vec![0], rows: Vec::new(), counts: Vec::new() }
    }

    /// A copy without the unused room after the last entry.
    fn trimmed(&self) -> Self {
        let end = self.offsets[self.offsets.len() - 1] as usize;
        Self { offsets: self.offsets.clone(), rows: self.rows[..end].to_vec(), counts: self.counts[..end].to_vec() }
    }

    /// The rows at which the walks of a node ended, and how many ended at each.
    #[inline(always)]
    fn of(&self, node: usize) -> (&[u32], &[u32]) {
        let entries = self.offsets[node] as usize..self.offsets[node + 1] as usize;
        (&self.rows[entries.clone()], &self.counts[entries])
    }
}

/// For each node i: `alpha * x_i + (1 - alpha) * mean of x` over the endpoints of its walks. An endpoint counts once
/// for each walk that ends there.
///
/// Steps are uniform over neighbors, or proportional to weight in a weighted graph. If `returns` is false, a walk that
/// ends where it began is moved to another endpoint, drawn by the frequencies of the node's other walks. A node with no
/// walk left keeps its vector, and so does an isolated node.
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
    x.expect_finite("x", control)?;
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

/// The endpoints of the walks of [`walk`]. Isolated nodes, and nodes with no walk left, have no entries.
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
            control.advance(rows.len()).map(|()| walker.found.trimmed())
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

/// Joins the lists of all parts. They are copied in parallel, because first accesses to fresh memory are slow.
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
    fn refuses_no_walks() {
        assert!(endpoints(&path(), &Walks { walks: 0, ..TWO }, &Control::new()).is_err());
        assert!(endpoints(&path(), &Walks { steps: 0, ..TWO }, &Control::new()).is_err());
    }
}
