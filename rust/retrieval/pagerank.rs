//! Personalized PageRank at query time (RT; HippoRAG works alike): how often random walks from a query's starts visit
//! each node.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::slabs::sum_lanes;
use crate::linalg::vectors::{Matrix, filled, simd};
use crate::retrieval::search::{Found, VectorSet};
use crate::retrieval::spread::{Hit, Starts, empty_result, expect_nodes, keep_best};

/// The number of rows in a task.
const ROWS: usize = 512;
/// How many nodes per wanted result are in the first batch whose vectors are read. Each further batch is twice as
/// large.
const HELPING: usize = 4;

/// The parameters of personalized PageRank.
#[derive(Debug, Clone, Copy)]
pub struct Pagerank {
    /// c: the chance to go back to a start at every step.
    pub restart: f64,
    /// The share of the distance between the starts and the fixed point that may remain, in the norm Σ m_v² /
    /// degree(v).
    pub tolerance: f64,
    /// Whether steps are proportional to edge weights.
    pub weighted: bool,
}

impl Pagerank {
    fn check(&self) -> Result<(), Error> {
        // A walk that hardly ever restarts would take too many passes.
        if !(self.restart >= 1e-6 && self.restart <= 1.0) {
            return Err(Error::parameter("restart", self.restart, "above 0 (1e-6 or more) and at most 1"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "above 0 and below 1"));
        }
        Ok(())
    }

    /// The number k of passes that reach the tolerance: T_k(1 / (1 - c)) >= 1 / tolerance for the Chebyshev polynomial
    /// T_k.
    ///
    /// It is known beforehand. So a query takes the same number alone and in a batch, and gets the same bits.
    fn passes(&self) -> usize {
        let keep = 1.0 - self.restart;
        if keep <= 0.0 {
            return 1;
        }
        // The reciprocal of a subnormal number is infinite.
        (self.tolerance.max(f64::MIN_POSITIVE).recip().acosh() / keep.recip().acosh()).ceil().max(1.0) as usize
    }
}

/// The `k` nodes with the largest mass · max(0, cos(q, v)) for each query. Ties are ordered by similarity, then by id.
///
/// The masses for a query are the fixed point of m = c s + (1 - c) Pᵀ m. Here s holds the strengths of its starts,
/// scaled to sum 1, and P = D⁻¹A. As in networkx, a walk at a node without edges goes back to the starts. Masses sum to
/// 1. Only products above 0 are results.
///
/// # Errors
/// Arrays that do not match, parameters out of range, too little memory, cancellation.
#[expect(clippy::too_many_arguments, reason = "a graph, vectors, and what is asked of them")]
pub fn pagerank(
    graph: &Graph,
    vectors: &VectorSet<'_>,
    queries: Matrix<'_>,
    starts: Starts<'_>,
    k: usize,
    allowed: Option<&[bool]>,
    options: &Pagerank,
    control: &Control,
) -> Result<Found, Error> {
    options.check()?;
    expect_nodes(graph, vectors, allowed)?;
    control.expect(queries.rows());
    let mut found = empty_result(queries.rows(), k)?;
    if k == 0 {
        return Ok(found);
    }
    let ranking = Ranking { graph, vectors, queries, starts, k, allowed, options, totals: totals(graph, options) };
    // One pass over the edges serves several queries at once. Lanes without a query would only cost time.
    match queries.rows() {
        0 => {}
        1 => ranking.blocks::<1>(&mut found, control)?,
        2..=8 => ranking.blocks::<8>(&mut found, control)?,
        _ => ranking.blocks::<16>(&mut found, control)?,
    }
    Ok(found)
}

/// The sum of the edge weights of each node. 0 for an isolated node.
fn totals(graph: &Graph, options: &Pagerank) -> Vec<f64> {
    let total = |row: usize| match options.weighted && graph.weighted() {
        true => graph.weights(row).iter().map(|&weight| f64::from(weight)).sum(),
        false => graph.degree(row) as f64,
    };
    (0..graph.nodes()).into_par_iter().map(total).collect()
}

struct Ranking<'a> {
    graph: &'a Graph,
    vectors: &'a VectorSet<'a>,
    queries: Matrix<'a>,
    starts: Starts<'a>,
    k: usize,
    allowed: Option<&'a [bool]>,
    options: &'a Pagerank,
    totals: Vec<f64>,
}

impl Ranking<'_> {
    /// Answers all queries, `W` at a time. Blocks are processed one after the other, so that there is one pair of
    /// slabs, whatever the number of threads.
    fn blocks<const W: usize>(&self, found: &mut Found, control: &Control) -> Result<(), Error> {
        let mut now = filled("masses", [0.0f32; W], self.graph.nodes(), 1)?;
        let mut other = now.clone();
        let slots = found.rows.chunks_mut(self.k * W).zip(found.scores.chunks_mut(self.k * W));
        for (block, (rows, scores)) in slots.enumerate() {
            let scales = self.start(block * W, &mut now);
            self.solve(&mut now, &mut other, control)?;
            let slots = rows.par_chunks_mut(self.k).zip(scores.par_chunks_mut(self.k)).enumerate();
            slots.try_for_each(|(lane, (rows, scores))| {
                let mass = |row: usize| (f64::from(now[row][lane]) * self.factor(row) * scales[lane]) as f32;
                let hits = self.best(block * W + lane, mass, control)?;
                for ((row, score), hit) in rows.iter_mut().zip(scores).zip(&hits) {
                    (*row, *score) = (hit.row, hit.score);
                }
                control.advance(1)
            })?;
        }
        Ok(())
    }

    /// Puts s_v / total(v) into every lane. Returns the factors that make the masses of each lane sum to 1.
    fn start<const W: usize>(&self, first: usize, slab: &mut [[f32; W]]) -> [f64; W] {
        slab.par_iter_mut().for_each(|lane| *lane = [0.0; W]);
        let mut scales = [0.0; W];
        for (lane, scale) in scales.iter_mut().enumerate().take(self.queries.rows() - first) {
            let sum: f64 = self.starts.of(first + lane).map(|(_, strength)| strength).sum();
            let mut mass = 0.0;
            for (row, strength) in self.starts.of(first + lane) {
                let (share, factor) = (strength / sum, self.factor(row));
                mass += if self.totals[row] > 0.0 { share } else { share * factor };
                slab[row][lane] += (if self.totals[row] > 0.0 { share / factor } else { share }) as f32;
            }
            *scale = if mass > 0.0 { 1.0 / mass } else { 0.0 };
        }
        scales
    }

    /// Iterates y = c s/total + (1 - c) P y. It is the same fixed point with every mass divided by its node's total, so
    /// that the sums run over a node's own neighbors. The method is Chebyshev semi-iteration, as in
    /// [`crate::transforms::diffusion`].
    fn solve<const W: usize>(
        &self,
        now: &mut Vec<[f32; W]>,
        other: &mut Vec<[f32; W]>,
        control: &Control,
    ) -> Result<(), Error> {
        let (restart, keep) = (self.options.restart, 1.0 - self.options.restart);
        let start = now.clone();
        other.copy_from_slice(&start);
        let mut factor = 1.0f64;
        for pass in 0..self.options.passes() {
            let current: &[[f32; W]] = now;
            other.par_chunks_mut(ROWS).enumerate().try_for_each(|(chunk, lanes)| {
                simd(
                    #[inline(always)]
                    || {
                        for (offset, lane) in lanes.iter_mut().enumerate() {
                            let row = chunk * ROWS + offset;
                            if self.graph.degree(row) > 0 {
                                let sum = self.sum(current, row);
                                let share = keep / self.totals[row];
                                for column in 0..W {
                                    let plain = share * sum[column] + restart * f64::from(start[row][column]);
                                    let before = f64::from(lane[column]);
                                    lane[column] = (factor * (plain - before) + before) as f32;
                                }
                            }
                        }
                    },
                );
                control.check()
            })?;
            std::mem::swap(now, other);
            let squared = keep * keep;
            factor = if pass == 0 { 1.0 / (1.0 - squared / 2.0) } else { 1.0 / (1.0 - squared * factor / 4.0) };
        }
        Ok(())
    }

    /// Σ w(u, v) y_u over the neighbors of a row.
    #[inline(always)]
    fn sum<const W: usize>(&self, slab: &[[f32; W]], row: usize) -> [f64; W] {
        let neighbors = self.graph.neighbors(row);
        if !(self.options.weighted && self.graph.weighted()) {
            return sum_lanes(
                neighbors,
                #[inline(always)]
                |other| &slab[other],
            );
        }
        let mut sum = [0.0; W];
        for (&other, &weight) in neighbors.iter().zip(self.graph.weights(row)) {
            let (weight, lane) = (f64::from(weight), &slab[other as usize]);
            for column in 0..W {
                sum[column] = f64::from(lane[column]).mul_add(weight, sum[column]);
            }
        }
        sum
    }

    /// The factor that turns a lane's value into a mass. A walk that starts at an isolated node goes back to the starts
    /// at once, so only the share c stays there.
    #[inline(always)]
    fn factor(&self, row: usize) -> f64 {
        if self.totals[row] > 0.0 { self.totals[row] } else { self.options.restart }
    }

    /// The best nodes for one query. Nodes are scored from the largest mass down. A cosine is at most 1, so scoring
    /// stops as soon as the mass alone is less than the product of the last result.
    fn best(&self, query: usize, mass: impl Fn(usize) -> f32, control: &Control) -> Result<Vec<Hit>, Error> {
        let question = Matrix::new("queries", self.queries.row(query), 1, self.queries.dim())?;
        let eligible = |row: &usize| self.allowed.is_none_or(|allowed| allowed[*row]);
        let masses = (0..self.graph.nodes()).filter(eligible).map(|row| (mass(row), row as u32));
        let mut masses: Vec<(f32, u32)> = masses.filter(|&(mass, _)| mass > 0.0).collect();
        let mut waiting = masses.as_mut_slice();
        let (mut hits, mut helping): (Vec<Hit>, usize) = (Vec::new(), self.k.saturating_mul(HELPING));
        while !waiting.is_empty() {
            control.check()?;
            if helping < waiting.len() {
                waiting.select_nth_unstable_by(helping - 1, |a, b| b.0.total_cmp(&a.0));
            }
            let (served, rest) = waiting.split_at_mut(helping.min(waiting.len()));
            let rows: Vec<u32> = served.iter().map(|entry| entry.1).collect();
            let cosines = self.vectors.cosines(question, &rows, rows.len(), control)?;
            let products = served.iter().zip(cosines).map(|(&(mass, row), cosine)| Hit {
                score: (f64::from(mass) * f64::from(cosine)) as f32,
                cosine,
                rank: self.graph.ranks()[row as usize],
                row,
            });
            hits.extend(products.filter(|hit| hit.score > 0.0));
            keep_best(&mut hits, self.k);
            let least = served.iter().fold(f32::INFINITY, |least, entry| least.min(entry.0));
            // Rounding may lift a cosine above 1, but by far less than half a thousandth.
            if hits.len() == self.k && hits[self.k - 1].score > least * 1.0005 {
                break;
            }
            (waiting, helping) = (rest, helping.saturating_mul(2));
        }
        Ok(hits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vectors::row_norms;

    /// Masses: with one column of ones every cosine is 1.
    fn masses(options: Pagerank, starts: &[u32], strengths: &[f32], queries: usize) -> Vec<f32> {
        let graph = Graph::new(&["a", "b", "c", "d"], &[0, 1], &[1, 2], None).unwrap();
        let x = Matrix::new("x", &[1.0; 4], 4, 1).unwrap();
        let norms = row_norms("x", x, &Control::new()).unwrap();
        let vectors = VectorSet::new(x, &norms, graph.ranks()).unwrap();
        let ones = vec![1.0; queries];
        let questions = Matrix::new("queries", &ones, queries, 1).unwrap();
        let starts = Starts::new(&graph, starts, strengths, queries, starts.len() / queries).unwrap();
        let found = pagerank(&graph, &vectors, questions, starts, 4, None, &options, &Control::new()).unwrap();
        let mut masses = vec![0.0; 4 * queries];
        for (place, (&row, &score)) in found.rows.iter().zip(&found.scores).enumerate() {
            if row != crate::retrieval::search::NO_ROW {
                masses[place / 4 * 4 + row as usize] = score;
            }
        }
        masses
    }

    const HALF: Pagerank = Pagerank { restart: 0.5, tolerance: 1e-8, weighted: true };

    fn close(found: &[f32], wanted: &[f32]) {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} is not {wanted:?}");
    }

    #[test]
    fn a_path_has_a_closed_form() {
        // m_a = 1/2 + m_b/4, m_b = (m_a + m_c)/2, m_c = m_b/4.
        close(&masses(HALF, &[0], &[3.0], 1), &[7.0 / 12.0, 1.0 / 3.0, 1.0 / 12.0, 0.0]);
    }

    #[test]
    fn an_isolated_start_sends_its_walks_back() {
        // Half the starts' strength at d, where c = 1/2 of it stays; all is scaled by 1 / (1/2 + 1/4).
        close(&masses(HALF, &[0, 3], &[0.1, 0.1], 1), &[7.0 / 18.0, 2.0 / 9.0, 1.0 / 18.0, 1.0 / 3.0]);
        close(&masses(HALF, &[3], &[1.0], 1), &[0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn lanes_do_not_see_each_other() {
        let alone = masses(HALF, &[0], &[1.0], 1);
        for queries in [2, 9, 40] {
            let mut starts = vec![2; queries];
            starts[queries - 1] = 0;
            let together = masses(HALF, &starts, &vec![1.0; queries], queries);
            assert_eq!(together[4 * (queries - 1)..], alone);
        }
    }

    #[test]
    fn a_restart_of_one_stays_at_the_start() {
        let stay = Pagerank { restart: 1.0, ..HALF };
        close(&masses(stay, &[0, 1], &[0.75, 0.25], 1), &[0.75, 0.25, 0.0, 0.0]);
    }
}
