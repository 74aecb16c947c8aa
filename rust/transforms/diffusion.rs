//! Diffusion of vectors over the graph by random walks with restart (RT).

use rayon::prelude::*;

use crate::control::{Control, Pace};
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::means::Mean;
use crate::linalg::slabs::{self, Lane, TransitionMatrix, WIDTH, each_row, each_slab};
use crate::linalg::tiles::Blocks;
use crate::linalg::vectors::{Matrix, simd};
use crate::memory::huge_pages::copy;
use crate::memory::scratch::Scratch;

/// How many passes the progress display assumes for a slab.
pub(super) const USUAL_PASSES: usize = 32;
/// The parameters of a random walk with restart.
#[derive(Debug, Clone, Copy)]
pub struct Restart {
    /// c: the chance to go back to the start at every step.
    pub restart: f64,
    /// The iteration stops once a further step `c x + (1 - c) P z` would change no entry of z by this much. For damped
    /// signatures, the change is relative to the norm of the row.
    pub tolerance: f64,
    /// The iteration stops after this many passes in any case.
    pub max_iterations: usize,
    /// Whether steps are proportional to edge weights.
    pub weighted: bool,
}

impl Restart {
    pub(super) fn check(&self) -> Result<(), Error> {
        if !(self.restart > 0.0 && self.restart <= 1.0) {
            return Err(Error::parameter("restart", self.restart, "above 0 and at most 1"));
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "a positive number"));
        }
        if self.max_iterations == 0 {
            return Err(Error::parameter("max_iterations", 0, "at least 1"));
        }
        Ok(())
    }
}

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// The most passes over the graph that any slab of columns took.
    pub iterations: usize,
    /// The largest change that a plain step would make to any entry. If it is not below the tolerance, it belongs to
    /// the iterate before the last.
    pub residual: f64,
}

/// z = c Σ_k (1−c)^k P^k x with P = D⁻¹A: the mean of x over the nodes at which walks from a node are when they
/// restart.
///
/// A walk from an isolated node stays there (P_ii = 1), so the node keeps its vector.
///
/// Chebyshev semi-iteration (Golub and Varga 1961) finds the fixed point of z = c x + (1−c) P z. P is similar to a
/// symmetric matrix with eigenvalues in −1..1, so each plain step can be extrapolated. With a restart of 0.1 this takes
/// about 30 passes; plain steps take 130. The iteration stops by the size of the plain step.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, cancellation.
pub fn diffuse(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Restart,
    control: &Control,
    out: &mut [f32],
) -> Result<Passes, Error> {
    options.check()?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    x.expect_finite("x", control)?;
    if options.max_iterations == 1 {
        return one_step(graph, x, options, control, out);
    }
    let blocks = Blocks::of(x.dim(), WIDTH);
    // Progress begins before anything is written. A caller that watches it may release memory at its beginning.
    let pace = Pace::new(control, blocks.list().len(), USUAL_PASSES);
    blocks.tile(x, out, control)?;
    let passes = diffuse_tiles(graph, out, &blocks, options, Convergence::Absolute, (control, pace))?;
    blocks.untile(out, control, |_, _| {})?;
    Ok(passes)
}

/// One pass of [`diffuse`] over whole rows. Cutting rows into slabs pays only over several passes.
fn one_step(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Restart,
    control: &Control,
    out: &mut [f32],
) -> Result<Passes, Error> {
    const ROWS: usize = 16;
    control.expect(graph.nodes());
    let scratch = Scratch::new(|| Mean::new(x.dim()));
    let chunks = out.par_chunks_mut(ROWS * x.dim()).enumerate();
    let changes = chunks.map(|(chunk, out)| {
        let largest = scratch.lend(|mean| {
            simd(
                #[inline(always)]
                || {
                    let mut largest = 0.0f32;
                    for (offset, z) in out.chunks_exact_mut(x.dim()).enumerate() {
                        let row = chunk * ROWS + offset;
                        let (neighbors, own) = (graph.neighbors(row), x.row(row));
                        let weights = if options.weighted { graph.weights(row) } else { &[] };
                        mean.set(
                            x,
                            neighbors,
                            #[inline(always)]
                            |i| weights.get(i).map_or(1.0, |&weight| f64::from(weight)),
                        );
                        mean.blend(options.restart, own, z);
                        for (z, own) in z.iter().zip(own) {
                            let change = (z - own).abs();
                            largest = if change > largest { change } else { largest };
                        }
                    }
                    largest
                },
            )
        });
        control.advance(out.len() / x.dim()).map(|()| f64::from(largest))
    });
    let residual = changes.try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?;
    if residual < options.tolerance {
        x.copy_to(out); // it had converged before the step
    }
    Ok(Passes { iterations: 1, residual })
}

/// How the change of a row is measured to decide whether the iteration has converged.
#[derive(Debug)]
pub(super) enum Convergence {
    /// By its entries alone.
    Absolute,
    /// Relative to the norm of the row over all `dim` columns. The norm is estimated from this slab and those before
    /// it.
    Relative {
        /// Columns of all slabs.
        dim: usize,
        /// For each row, the largest estimate of its norm from the slabs before. The last slab may have only one
        /// column, which makes a poor estimate.
        norms: Vec<f64>,
    },
}

impl Convergence {
    /// The factor for the changes of a row. `part` is the part of the row in the present slab.
    #[inline(always)]
    fn factor(&self, row: usize, part: &[f32; WIDTH]) -> f64 {
        match self {
            Self::Absolute => 1.0,
            // If the norm is zero the change is zero too, except in rows that the walk has not reached yet.
            Self::Relative { dim, norms } => 1.0 / estimated_norm(part, *dim).max(norms[row]).max(f64::MIN_POSITIVE),
        }
    }

    /// Records the norms that a finished slab gives.
    fn record(&mut self, slab: &[Lane]) {
        if let Self::Relative { dim, norms } = self {
            for (known, part) in norms.iter_mut().zip(slab) {
                *known = known.max(estimated_norm(&part.0, *dim));
            }
        }
    }
}

/// The norm of a row of `dim` columns, estimated from its part in a slab.
#[inline(always)]
fn estimated_norm(part: &[f32; WIDTH], dim: usize) -> f64 {
    let square: f64 = part.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    (square * dim as f64 / WIDTH as f64).sqrt()
}

/// Diffuses a tiled matrix in place, slab by slab.
pub(super) fn diffuse_tiles(
    graph: &Graph,
    tiled: &mut [f32],
    blocks: &Blocks,
    options: &Restart,
    mut convergence: Convergence,
    (control, mut pace): (&Control, Pace<'_>),
) -> Result<Passes, Error> {
    let (mut iterations, mut residual) = (0, 0.0f64);
    let (mut start, mut other) = (slabs::slab(graph.nodes())?, slabs::slab(graph.nodes())?);
    each_slab(tiled, blocks, control, |slab| {
        copy(slab, &mut start);
        copy(slab, &mut other);
        let (passes, change) = solve(graph, &start, slab, &mut other, (options, &convergence), control, &mut pace)?;
        convergence.record(slab);
        iterations = iterations.max(passes);
        residual = residual.max(change);
        pace.item()
    })?;
    Ok(Passes { iterations, residual })
}

/// Iterates one slab to the tolerance. The result is in `slab`. `other` holds the iterate before, and the next one
/// replaces it.
fn solve(
    graph: &Graph,
    start: &[Lane],
    slab: &mut [Lane],
    other: &mut [Lane],
    (options, convergence): (&Restart, &Convergence),
    control: &Control,
    pace: &mut Pace<'_>,
) -> Result<(usize, f64), Error> {
    let keep = 1.0 - options.restart;
    let transitions = TransitionMatrix::new(graph, options.weighted);
    let (mut now, mut next) = (&mut *slab, &mut *other);
    let mut factor = 1.0f64;
    let mut passes = 0;
    let bounds = largest(start);
    let residual = loop {
        let current: &[Lane] = now;
        let residual = each_row(
            graph,
            next,
            control,
            #[inline(always)]
            |row, lane, changes| {
                let mean = transitions.mean(current, row);
                let (own, now) = (&start[row].0, &current[row].0);
                let measure = convergence.factor(row, now);
                for column in 0..WIDTH {
                    let plain = keep * mean[column] + options.restart * f64::from(own[column]);
                    let change = (plain - f64::from(now[column])).abs() * measure;
                    changes[column] = if change > changes[column] { change } else { changes[column] };
                    let before = f64::from(lane.0[column]);
                    let ahead = (factor * (plain - before) + before) as f32;
                    // This is not `clamp`, which checks its bounds. With `clamp` the loop is not vectorized and takes
                    // twice as long.
                    let bound = bounds[column];
                    let ahead = if ahead < -bound { -bound } else { ahead };
                    lane.0[column] = if ahead > bound { bound } else { ahead };
                }
            },
        )?;
        passes += 1;
        pace.pass()?;
        if residual < options.tolerance {
            break residual;
        }
        std::mem::swap(&mut now, &mut next);
        if passes == options.max_iterations {
            break residual;
        }
        let squared = keep * keep;
        factor = if passes == 1 { 1.0 / (1.0 - squared / 2.0) } else { 1.0 / (1.0 - squared * factor / 4.0) };
    };
    // `now` is the iterate that the residual belongs to. If the residual never fell below the tolerance, it is the one
    // after. After an odd number of swaps it is in the other buffer.
    let swaps = if residual < options.tolerance { passes - 1 } else { passes };
    if swaps % 2 == 1 {
        copy(other, slab);
    }
    Ok((passes, residual))
}

/// The largest absolute value of each column. The fixed point is a mean, so its entries are no larger. Extrapolated
/// steps can be larger, even infinite, if the weights of a graph differ by dozens of orders of magnitude.
fn largest(start: &[Lane]) -> [f32; WIDTH] {
    let larger = |a: [f32; WIDTH], b: [f32; WIDTH]| std::array::from_fn(|column| a[column].max(b[column]));
    let of_rows = |rows: &[Lane]| rows.iter().fold([0.0; WIDTH], |found, lane| larger(found, lane.0.map(f32::abs)));
    start.par_chunks(slabs::ROWS).map(of_rows).reduce(|| [0.0; WIDTH], larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESTART: Restart = Restart { restart: 0.5, tolerance: 1e-7, max_iterations: 100, weighted: true };

    #[test]
    fn a_pair_of_nodes_has_a_closed_form() {
        let graph = Graph::new(&["a", "b", "c"], &[0], &[1], None).unwrap();
        let data = [1.0, 0.0, 5.0];
        let x = Matrix::new("x", &data, 3, 1).unwrap();
        let mut z = [0.0; 3];
        let passes = diffuse(&graph, x, &RESTART, &Control::new(), &mut z).unwrap();
        // z_a = 1/2 + z_b / 2 and z_b = z_a / 2.
        for (found, wanted) in z.iter().zip([2.0 / 3.0, 1.0 / 3.0, 5.0]) {
            assert!((found - wanted).abs() < 1e-6, "{z:?}");
        }
        assert!(passes.residual < 1e-7 && passes.iterations < 30);
    }
}
