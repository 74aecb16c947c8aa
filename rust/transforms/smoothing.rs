//! Smoothing: a compromise between each node's vector and those of its neighbors (GME: convex, shared neighbors), or
//! the mean of its community (GME: Louvain).

mod conjugate_gradient;
mod gauss_seidel;
pub mod pairs;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::means::{Mean, check_alpha};
use crate::linalg::prefetch::{AHEAD, MOST, prefetch_all};
use crate::linalg::slabs::{Lane, Sum, sum_lanes};
use crate::linalg::vectors::{Matrix, simd};
use crate::memory::scratch::Scratch;

/// The parameters of [`convex`] and [`shared`].
#[derive(Debug, Clone, Copy)]
pub struct Convex {
    /// a: the cost of the distance from a node's own vector. Above 0.
    pub anchor_weight: f64,
    /// b: the cost of the distance between the vectors of neighbors. At least 0.
    pub edge_weight: f64,
    /// The iteration stops once no node moves by this much in a sweep.
    pub tolerance: f64,
    /// The iteration stops after this many sweeps in any case.
    pub max_sweeps: usize,
    /// The method that finds the minimizer.
    pub solver: Solver,
}

impl Convex {
    fn check(&self) -> Result<(), Error> {
        // The range is wide enough for any use, and narrow enough that no product overflows.
        if !(1e-30..=1e30).contains(&self.anchor_weight) {
            return Err(Error::parameter("anchor_weight", self.anchor_weight, "a positive number (1e-30 to 1e30)"));
        }
        if !(0.0..=1e30).contains(&self.edge_weight) {
            return Err(Error::parameter("edge_weight", self.edge_weight, "a number of at least 0 (up to 1e30)"));
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "a number of at least 0"));
        }
        if self.max_sweeps == 0 {
            return Err(Error::parameter("max_sweeps", 0, "at least 1"));
        }
        Ok(())
    }
}

/// The methods that find the minimizer. Their results agree to about the tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// Sweeps in the order of the ids, as GME describes them.
    GaussSeidel,
    /// Fewer passes over the graph.
    ConjugateGradient,
}

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// The number of sweeps. For conjugate gradients, the most passes that any slab of columns took.
    pub sweeps: usize,
    /// The largest move of any node in the last sweep. For conjugate gradients, the largest move that a Jacobi sweep
    /// would make.
    pub displacement: f64,
    /// Whether the displacement is below the tolerance.
    pub converged: bool,
}

/// The minimizer of a Σ‖z_i − x_i‖² + b Σ_{(i,j)∈E}‖z_i − z_j‖².
///
/// The formula does not use edge weights. An isolated node keeps its vector.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, cancellation.
pub fn convex(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Convex,
    control: &Control,
    out: &mut [f32],
) -> Result<Solved, Error> {
    let edges = SmoothnessTerm { offsets: graph.offsets(), others: graph.all_neighbors(), weight: options.edge_weight };
    minimize(graph, x, vec![edges], options, control, out)
}

/// The minimizer of the sum of [`convex`] plus c Σ‖z_i − z_j‖² over the pairs that share a neighbor and are not
/// adjacent (GME: shared neighbors). Each pair counts once. Returns the number of such pairs, too.
///
/// Nodes with more than `max_hub_degree` neighbors (0: no limit) do not count as shared neighbors.
///
/// # Errors
/// Those of [`convex`]; [`Error::Hub`] if there may be more pairs than [`pairs::MOST`].
pub fn shared(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Convex,
    (shared_weight, max_hub_degree): (f64, usize),
    control: &Control,
    out: &mut [f32],
) -> Result<(Solved, usize), Error> {
    options.check()?;
    if !(0.0..=1e30).contains(&shared_weight) {
        return Err(Error::parameter("shared_weight", shared_weight, "a number of at least 0 (up to 1e30)"));
    }
    x.expect_rows("x", graph.nodes())?;
    let pairs = pairs::pairs(graph, max_hub_degree, control)?;
    let edges = SmoothnessTerm { offsets: graph.offsets(), others: graph.all_neighbors(), weight: options.edge_weight };
    let shared = SmoothnessTerm { offsets: &pairs.offsets, others: &pairs.others, weight: shared_weight };
    let solved = minimize(graph, x, vec![edges, shared], options, control, out)?;
    Ok((solved, pairs.others.len() / 2))
}

fn minimize(
    graph: &Graph,
    x: Matrix<'_>,
    terms: Vec<SmoothnessTerm<'_>>,
    options: &Convex,
    control: &Control,
    out: &mut [f32],
) -> Result<Solved, Error> {
    options.check()?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    x.expect_finite("x", control)?;
    let objective = Objective { anchor: options.anchor_weight, terms };
    match options.solver {
        Solver::GaussSeidel => gauss_seidel::solve(graph, x, &objective, options, control, out),
        // Sums over all rows go in the order of the ids, so that the bytes do not depend on the order of the file.
        Solver::ConjugateGradient if graph.order().is_sorted() => {
            conjugate_gradient::solve(x, &objective, None, options, control, out)
        }
        Solver::ConjugateGradient => {
            let lists: Vec<_> = objective.terms.iter().map(|term| term.by_rank(graph)).collect();
            let weights = objective.terms.iter().map(|term| term.weight);
            let terms =
                lists.iter().zip(weights).map(|((offsets, others), weight)| SmoothnessTerm { offsets, others, weight });
            let objective = Objective { anchor: objective.anchor, terms: terms.collect() };
            conjugate_gradient::solve(x, &objective, Some(graph), options, control, out)
        }
    }
}

/// A smoothness term of the objective: pairs of nodes that attract each other, all with the same weight, in compressed
/// rows.
pub(crate) struct SmoothnessTerm<'a> {
    pub offsets: &'a [u64],
    pub others: &'a [u32],
    pub weight: f64,
}

impl SmoothnessTerm<'_> {
    #[inline(always)]
    fn others(&self, row: usize) -> &[u32] {
        &self.others[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The same pairs between the ranks of the nodes instead of their rows: offsets and others.
    fn by_rank(&self, graph: &Graph) -> (Vec<u64>, Vec<u32>) {
        let (order, ranks) = (graph.order(), graph.ranks());
        let mut offsets = Vec::with_capacity(order.len() + 1);
        offsets.push(0);
        let mut others = Vec::with_capacity(self.others.len());
        for &row in order {
            others.extend(self.others(row as usize).iter().map(|&other| ranks[other as usize]));
            offsets.push(others.len() as u64);
        }
        (offsets, others)
    }
}

/// The function to minimize, as one row of its normal equations: (a + Σ w) z_i = a x_i + Σ w z_j.
pub(crate) struct Objective<'a> {
    pub anchor: f64,
    terms: Vec<SmoothnessTerm<'a>>,
}

impl Objective<'_> {
    /// Whether any other node attracts this one.
    #[inline(always)]
    pub fn has_neighbors(&self, row: usize) -> bool {
        self.terms.iter().any(|term| term.offsets[row] < term.offsets[row + 1])
    }

    /// a + Σ w.
    #[inline(always)]
    pub fn total(&self, row: usize) -> f64 {
        let mut total = self.anchor;
        for term in &self.terms {
            total += term.weight * (term.offsets[row + 1] - term.offsets[row]) as f64;
        }
        total
    }

    /// Σ w z_j in some columns.
    #[inline(always)]
    pub fn neighbor_sum<'l, const W: usize>(
        &self,
        row: usize,
        lane: impl Fn(usize) -> &'l [f32; W] + Copy,
    ) -> [f64; W] {
        let mut total = [0.0; W];
        for term in &self.terms {
            let sum = sum_lanes(term.others(row), lane);
            for column in 0..W {
                total[column] += term.weight * sum[column];
            }
        }
        total
    }

    /// [`Objective::neighbor_sum`] from a slab. It also prefetches what a later row needs.
    #[inline(always)]
    pub fn neighbor_sum_ahead(&self, slab: &[Lane], row: usize) -> Sum {
        if row + AHEAD < slab.len() {
            self.prefetch(
                row + AHEAD,
                #[inline(always)]
                |other| &slab[other].0,
            );
        }
        self.neighbor_sum(
            row,
            #[inline(always)]
            |other| &slab[other].0,
        )
    }

    /// Prefetches the lanes that [`Objective::neighbor_sum`] will read.
    #[inline(always)]
    pub fn prefetch<'l, const W: usize>(&self, row: usize, lane: impl Fn(usize) -> &'l [f32; W]) {
        for term in &self.terms {
            for &other in term.others(row).iter().take(MOST) {
                prefetch_all(lane(other as usize));
            }
        }
    }
}

/// For each node i: `alpha * x_i + (1 - alpha) * mean of x` over the nodes with the same label, i among them.
///
/// # Errors
/// A matrix or labels that do not fit the graph, a matrix that is not finite, `alpha` out of range, cancellation.
pub fn group_means(
    graph: &Graph,
    x: Matrix<'_>,
    labels: &[u32],
    alpha: f64,
    control: &Control,
    out: &mut [f32],
) -> Result<(), Error> {
    check_alpha(alpha)?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    x.expect_finite("x", control)?;
    if labels.len() != graph.nodes() {
        return Err(Error::Length {
            what: "labels".into(),
            found: labels.len(),
            needed: graph.nodes(),
            rule: "one per node",
        });
    }
    // Members are sorted by label and then by rank, so that the order of sums does not depend on the file.
    let mut members = graph.order().to_vec();
    members.par_sort_by_key(|&row| labels[row as usize]);
    // The mean of a group of one is its own vector and is not stored. So there are at most half as many means as nodes.
    let groups: Vec<&[u32]> =
        members.chunk_by(|&a, &b| labels[a as usize] == labels[b as usize]).filter(|group| group.len() > 1).collect();
    let mut group_of = vec![u32::MAX; graph.nodes()];
    for (index, group) in groups.iter().enumerate() {
        group.iter().for_each(|&row| group_of[row as usize] = index as u32);
    }
    control.expect(groups.len());
    let mut means = vec![0.0; groups.len() * x.dim()];
    let scratch = Scratch::new(|| Mean::new(x.dim()));
    means.par_chunks_exact_mut(x.dim()).zip(&groups).try_for_each(|(out, group)| {
        scratch.lend(|mean| {
            simd(
                #[inline(always)]
                || {
                    mean.set(
                        x,
                        group,
                        #[inline(always)]
                        |_| 1.0,
                    );
                    mean.blend(0.0, x.row(group[0] as usize), out);
                },
            );
        });
        control.advance(1)
    })?;
    x.copy_to(out);
    out.par_chunks_exact_mut(x.dim()).zip(&group_of).filter(|(_, group)| **group != u32::MAX).for_each(
        |(row, &group)| {
            let mean = &means[group as usize * x.dim()..(group as usize + 1) * x.dim()];
            for (value, &mean) in row.iter_mut().zip(mean) {
                *value = alpha.mul_add(f64::from(*value), (1.0 - alpha) * f64::from(mean)) as f32;
            }
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONVEX: Convex =
        Convex { anchor_weight: 1.0, edge_weight: 1.0, tolerance: 1e-7, max_sweeps: 200, solver: Solver::GaussSeidel };

    #[test]
    fn a_pair_of_nodes_has_a_closed_form() {
        let graph = Graph::new(&["a", "b", "c"], &[0], &[1], None).unwrap();
        let data = [3.0, 0.0, 5.0];
        let x = Matrix::new("x", &data, 3, 1).unwrap();
        let mut z = [0.0; 3];
        for solver in [Solver::GaussSeidel, Solver::ConjugateGradient] {
            let solved = convex(&graph, x, &Convex { solver, ..CONVEX }, &Control::new(), &mut z).unwrap();
            // 2 z_a = 3 + z_b and 2 z_b = z_a.
            for (found, wanted) in z.iter().zip([2.0, 1.0, 5.0]) {
                assert!((found - wanted).abs() < 1e-6, "{z:?}");
            }
            assert!(solved.converged);
        }
        let once = convex(&graph, x, &Convex { max_sweeps: 1, ..CONVEX }, &Control::new(), &mut z).unwrap();
        assert_eq!((z, once.sweeps, once.converged), ([1.5, 0.75, 5.0], 1, false));
    }

    #[test]
    fn ends_that_share_a_neighbor_attract_each_other() {
        let graph = Graph::new(&["a", "b", "c"], &[0, 1], &[1, 2], None).unwrap();
        let data = [1.0, 0.0, -1.0];
        let x = Matrix::new("x", &data, 3, 1).unwrap();
        let mut z = [0.0; 3];
        let (_, pairs) = shared(&graph, x, &CONVEX, (3.0, 0), &Control::new(), &mut z).unwrap();
        // z_a = -z_c and z_b = 0 by symmetry: (1 + 1 + 3) z_a = 1 + 3 z_c.
        assert_eq!(pairs, 1);
        assert!((z[0] - 0.125).abs() < 1e-6 && z[1].abs() < 1e-6, "{z:?}");
        let (_, pairs) = shared(&graph, x, &CONVEX, (3.0, 1), &Control::new(), &mut z).unwrap();
        assert_eq!(pairs, 0);
    }

    #[test]
    fn groups() {
        let graph = Graph::new(&["a", "b", "c"], &[], &[], None).unwrap();
        let data = [1.0, 3.0, 5.0];
        let x = Matrix::new("x", &data, 3, 1).unwrap();
        let mut means = [0.0; 3];
        group_means(&graph, x, &[7, 7, 0], 0.5, &Control::new(), &mut means).unwrap();
        assert_eq!(means, [1.5, 2.5, 5.0]);
        assert!(group_means(&graph, x, &[7], 0.5, &Control::new(), &mut means).is_err());
    }
}
