//! Spreading activation at query time (NG): the best hits are active, and pass activation on to the nodes linked to
//! them.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::vectors::{Matrix, filled};
use crate::memory::scratch::Scratch;
use crate::retrieval::search::{Found, NO_ROW, VectorSet};

/// The parameters of spreading activation.
#[derive(Debug, Clone, Copy)]
pub struct Activation {
    /// The share of an activation that remains after one edge of weight 1. Above 0 and at most 1.
    pub decay: f64,
    /// The longest path, in edges.
    pub hops: usize,
    /// Whether a node v receives activation in proportion to its similarity to the query q: the factor max(0, cos(q,
    /// v)).
    pub gated: bool,
}

impl Activation {
    fn check(&self) -> Result<(), Error> {
        if !(self.decay > 0.0 && self.decay <= 1.0) {
            return Err(Error::parameter("decay", self.decay, "above 0 and at most 1"));
        }
        Ok(())
    }
}

/// The rows at which each query starts, and their strengths. Each query has the same number of rows; [`NO_ROW`] pads
/// them.
#[derive(Debug, Clone, Copy)]
pub struct Starts<'a> {
    rows: &'a [u32],
    strengths: &'a [f32],
    per_query: usize,
}

impl<'a> Starts<'a> {
    /// Checks and wraps the two arrays.
    ///
    /// # Errors
    /// Lengths that are not `queries` · `per_query`; rows beyond the graph; strengths of rows that are not finite.
    pub fn new(
        graph: &Graph,
        rows: &'a [u32],
        strengths: &'a [f32],
        queries: usize,
        per_query: usize,
    ) -> Result<Self, Error> {
        let needed = queries.saturating_mul(per_query);
        for (what, found) in [("starts", rows.len()), ("strengths", strengths.len())] {
            if found != needed {
                return Err(Error::Length { what: what.into(), found, needed, rule: "the same number for each query" });
            }
        }
        let limit = graph.nodes();
        if let Some(position) = rows.iter().position(|&row| row != NO_ROW && row as usize >= limit) {
            return Err(Error::OutOfRange { what: "starts", position, value: u64::from(rows[position]), limit });
        }
        let unusable = |position: &usize| rows[*position] != NO_ROW && !strengths[*position].is_finite();
        if let Some(position) = (0..needed).find(unusable) {
            let row = position / per_query.max(1);
            let entry = Some((position % per_query.max(1), strengths[position]));
            return Err(Error::NotFinite { what: "strengths".into(), row, entry });
        }
        Ok(Self { rows, strengths, per_query })
    }

    /// The starts of one query that have a row and a positive strength.
    pub fn of(&self, query: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
        let range = query * self.per_query..(query + 1) * self.per_query;
        let pairs = self.rows[range.clone()].iter().zip(&self.strengths[range]);
        pairs
            .filter(|&(&row, &strength)| row != NO_ROW && strength > 0.0)
            .map(|(&row, &strength)| (row as usize, f64::from(strength)))
    }
}

/// A node that may become a result. Hits are ordered by score, then by similarity, then by id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub score: f32,
    pub cosine: f32,
    pub rank: u32,
    pub row: u32,
}

impl Hit {
    pub fn compare(&self, other: &Self) -> Ordering {
        let better = other.score.total_cmp(&self.score).then(other.cosine.total_cmp(&self.cosine));
        better.then(self.rank.cmp(&other.rank))
    }
}

/// Keeps the `k` best hits, sorted.
pub(crate) fn keep_best(hits: &mut Vec<Hit>, k: usize) {
    if hits.len() > k {
        if k > 0 {
            hits.select_nth_unstable_by(k - 1, Hit::compare);
        }
        hits.truncate(k);
    }
    hits.sort_unstable_by(Hit::compare);
}

/// An empty result for `queries` queries.
pub(crate) fn empty_result(queries: usize, k: usize) -> Result<Found, Error> {
    Ok(Found {
        rows: filled("the result", NO_ROW, queries, k)?,
        scores: filled("the result", f32::NEG_INFINITY, queries, k)?,
    })
}

/// Checks that graph, vectors and mask have the same number of nodes.
pub(crate) fn expect_nodes(graph: &Graph, vectors: &VectorSet<'_>, allowed: Option<&[bool]>) -> Result<(), Error> {
    let mask = allowed.map_or(graph.nodes(), <[bool]>::len);
    for (what, found) in [("x", vectors.rows()), ("allowed", mask)] {
        if found != graph.nodes() {
            let rule = "one per node of the graph";
            return Err(Error::Length { what: what.into(), found, needed: graph.nodes(), rule });
        }
    }
    Ok(())
}

/// The activations of one query. All entries are zero between two queries, so that only touched nodes need clearing.
struct State {
    activation: Vec<f64>,
    incoming: Vec<f64>,
    cosine: Vec<f32>,
    seen: Vec<bool>,
    touched: Vec<u32>,
}

impl State {
    fn new(nodes: usize) -> Self {
        Self {
            activation: vec![0.0; nodes],
            incoming: vec![0.0; nodes],
            cosine: vec![0.0; nodes],
            seen: vec![false; nodes],
            touched: Vec::new(),
        }
    }

    fn meet(&mut self, row: usize) {
        if !self.seen[row] {
            self.seen[row] = true;
            self.touched.push(row as u32);
        }
    }

    fn clear(&mut self) {
        for &row in &self.touched {
            let row = row as usize;
            (self.activation[row], self.cosine[row], self.seen[row]) = (0.0, 0.0, false);
        }
        self.touched.clear();
    }
}

/// The `k` most active nodes for each query. They are ordered by activation, then by similarity to the query, then by
/// id.
///
/// The activation of a start is its strength. A neighbor v of u gets act(u) · decay · w(u, v) · gate(v). Weights are
/// not normalized: those above 1 amplify, at most to the largest float32. Of all paths of at most `hops` edges to a
/// node, the best one counts. A node whose best path carries nothing is not reached.
///
/// # Errors
/// Arrays that do not match, parameters out of range, cancellation.
#[expect(clippy::too_many_arguments, reason = "a graph, vectors, and what is asked of them")]
pub fn spread(
    graph: &Graph,
    vectors: &VectorSet<'_>,
    queries: Matrix<'_>,
    starts: Starts<'_>,
    k: usize,
    allowed: Option<&[bool]>,
    options: &Activation,
    control: &Control,
) -> Result<Found, Error> {
    options.check()?;
    expect_nodes(graph, vectors, allowed)?;
    control.expect(queries.rows());
    let mut found = empty_result(queries.rows(), k)?;
    if k == 0 {
        return Ok(found);
    }
    let spreading = Spreading { graph, vectors, options };
    let scratch = Scratch::new(|| State::new(graph.nodes()));
    let slots = found.rows.par_chunks_mut(k).zip(found.scores.par_chunks_mut(k)).enumerate();
    slots.try_for_each(|(query, (rows, scores))| {
        let question = Matrix::new("queries", queries.row(query), 1, queries.dim())?;
        let mut hits = scratch.lend(|state| {
            let hits = spreading.run(state, question, starts.of(query), allowed, control);
            state.clear();
            hits
        })?;
        keep_best(&mut hits, k);
        for ((row, score), hit) in rows.iter_mut().zip(scores).zip(&hits) {
            (*row, *score) = (hit.row, hit.score);
        }
        control.advance(1)
    })?;
    Ok(found)
}

struct Spreading<'a> {
    graph: &'a Graph,
    vectors: &'a VectorSet<'a>,
    options: &'a Activation,
}

impl Spreading<'_> {
    /// All nodes that one query reaches, in no particular order.
    fn run(
        &self,
        state: &mut State,
        question: Matrix<'_>,
        starts: impl Iterator<Item = (usize, f64)>,
        allowed: Option<&[bool]>,
        control: &Control,
    ) -> Result<Vec<Hit>, Error> {
        for (row, strength) in starts {
            state.meet(row);
            state.activation[row] = state.activation[row].max(strength);
        }
        self.look_up(state, question, 0, control)?;
        let mut frontier: Vec<(u32, f64)> =
            state.touched.iter().map(|&row| (row, state.activation[row as usize])).collect();
        // Activation spreads in rounds, so that no path has more than `hops` edges. A node that gained nothing in a
        // round has nothing new to pass on.
        for _ in 0..self.options.hops {
            if frontier.is_empty() {
                break;
            }
            frontier = self.step(state, question, &frontier, control)?;
            control.check()?;
        }
        if !self.options.gated {
            self.look_up(state, question, 0, control)?;
        }
        let reached = |&&row: &&u32| {
            (state.activation[row as usize] as f32) > 0.0 && allowed.is_none_or(|allowed| allowed[row as usize])
        };
        let hit = |&row: &u32| Hit {
            score: state.activation[row as usize] as f32,
            cosine: state.cosine[row as usize],
            rank: self.graph.ranks()[row as usize],
            row,
        };
        Ok(state.touched.iter().filter(reached).map(hit).collect())
    }

    /// One round: the frontier passes activation on to its neighbors. Returns the nodes that gained.
    fn step(
        &self,
        state: &mut State,
        question: Matrix<'_>,
        frontier: &[(u32, f64)],
        control: &Control,
    ) -> Result<Vec<(u32, f64)>, Error> {
        let known = state.touched.len();
        let mut receivers: Vec<u32> = Vec::new();
        for &(row, activation) in frontier {
            let passed = activation * self.options.decay;
            let weights = self.graph.weights(row as usize);
            for (place, &neighbor) in self.graph.neighbors(row as usize).iter().enumerate() {
                let weight = weights.get(place).map_or(1.0, |&weight| f64::from(weight));
                // Weights above 1 amplify in every round. The value is limited to the largest score that float32 can
                // hold.
                let value = (passed * weight).min(f64::from(f32::MAX));
                let receiver = neighbor as usize;
                // The gate can only lower a value. So a value that is no better than the present one needs no
                // similarity.
                if value > state.activation[receiver] && value > state.incoming[receiver] {
                    if state.incoming[receiver] == 0.0 {
                        receivers.push(neighbor);
                    }
                    state.incoming[receiver] = value;
                    state.meet(receiver);
                }
            }
        }
        if self.options.gated {
            self.look_up(state, question, known, control)?;
        }
        let mut gained = Vec::new();
        for row in receivers {
            let receiver = row as usize;
            let gate = if self.options.gated { f64::from(state.cosine[receiver].max(0.0)) } else { 1.0 };
            // Rounding may lift a cosine a little above 1.
            let value = state.incoming[receiver] * gate.min(1.0);
            state.incoming[receiver] = 0.0;
            if value > state.activation[receiver] {
                state.activation[receiver] = value;
                gained.push((row, value));
            }
        }
        Ok(gained)
    }

    /// Fills in the similarities of the touched nodes, starting with number `from`.
    fn look_up(&self, state: &mut State, question: Matrix<'_>, from: usize, control: &Control) -> Result<(), Error> {
        let rows = &state.touched[from..];
        if !rows.is_empty() {
            for (&row, cosine) in rows.iter().zip(self.vectors.cosines(question, rows, rows.len(), control)?) {
                state.cosine[row as usize] = cosine;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vectors::row_norms;

    /// a - b - c - d, and e alone; all vectors but c's point along the query, c's at 60 degrees to it.
    fn activations(options: Activation, starts: &[u32], strengths: &[f32]) -> Vec<(u32, f32)> {
        let graph = Graph::new(&["a", "b", "c", "d", "e"], &[0, 1, 2], &[1, 2, 3], None).unwrap();
        let data = [1.0, 0.0, 1.0, 0.0, 0.5, 0.75f32.sqrt(), 1.0, 0.0, 1.0, 0.0];
        let x = Matrix::new("x", &data, 5, 2).unwrap();
        let norms = row_norms("x", x, &Control::new()).unwrap();
        let vectors = VectorSet::new(x, &norms, graph.ranks()).unwrap();
        let queries = Matrix::new("queries", &[1.0, 0.0], 1, 2).unwrap();
        let starts = Starts::new(&graph, starts, strengths, 1, starts.len()).unwrap();
        let found = spread(&graph, &vectors, queries, starts, 5, None, &options, &Control::new()).unwrap();
        let rounded = found.scores.iter().map(|score| (score * 1e4).round() / 1e4);
        found.rows.into_iter().zip(rounded).filter(|&(row, _)| row != NO_ROW).collect()
    }

    #[test]
    fn activation_fades_along_a_path_and_ends_after_its_hops() {
        let plain = Activation { decay: 0.5, hops: 2, gated: false };
        assert_eq!(activations(plain, &[0], &[0.8]), [(0, 0.8), (1, 0.4), (2, 0.2)]);
        let gated = Activation { gated: true, hops: 3, ..plain };
        assert_eq!(activations(gated, &[0], &[0.8]), [(0, 0.8), (1, 0.4), (2, 0.1), (3, 0.05)]);
        // b gets more from a than it started with; e goes nowhere; what has no strength starts nothing.
        let several = activations(plain, &[1, 0, 4, 3], &[0.1, 0.8, 0.3, -1.0]);
        assert_eq!(several, [(0, 0.8), (1, 0.4), (4, 0.3), (2, 0.2), (3, 0.025)]);
    }

    #[test]
    fn starts_are_checked() {
        let graph = Graph::new(&["a"], &[], &[], None).unwrap();
        assert!(Starts::new(&graph, &[1], &[1.0], 1, 1).is_err());
        assert!(Starts::new(&graph, &[0], &[], 1, 1).is_err());
        assert!(Starts::new(&graph, &[0], &[f32::NAN], 1, 1).is_err());
        assert!(Starts::new(&graph, &[NO_ROW], &[f32::NEG_INFINITY], 1, 1).is_ok());
    }
}
