//! Conjugate gradients (Hestenes and Stiefel 1952) with Jacobi preconditioning. They need fewer passes than sweeps.
//!
//! The minimizer solves (D − W) z = a x. W holds the weights of the pairs, and the diagonal matrix D holds a plus the
//! sum of each row of W. D − W is symmetric and positive definite, and each column of z is a system of its own. The
//! algorithm keeps s = D⁻¹ (a x − (D − W) z) instead of the residual: s_i is also the move that a Jacobi sweep would
//! make at node i. The iteration stops by the length of these moves, as the other solver does. Sums over rows are added
//! chunk by chunk in the order of the ids.

use rayon::prelude::*;

use crate::control::{Control, Pace};
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::slabs::{Lane, ROWS, Sum, WIDTH, each_slab, slab};
use crate::linalg::tiles::Blocks;
use crate::linalg::vectors::{Matrix, simd};
use crate::memory::huge_pages::{Pages, copy};
use crate::transforms::smoothing::{Convex, Objective, Solved};

/// How many passes the progress display assumes for a slab.
const USUAL_PASSES: usize = 24;

/// Iterates each slab of columns until no vector would move by the tolerance.
///
/// With `ranked`, the objective is about the ranks of that graph's nodes instead of their rows.
pub(crate) fn solve(
    x: Matrix<'_>,
    objective: &Objective<'_>,
    ranked: Option<&Graph>,
    options: &Convex,
    control: &Control,
    out: &mut [f32],
) -> Result<Solved, Error> {
    let blocks = Blocks::of(x.dim(), WIDTH);
    // Progress begins before anything is written. A caller that watches it may release memory at its beginning.
    let mut pace = Pace::new(control, blocks.list().len(), USUAL_PASSES);
    blocks.tile(x, out, control)?;
    // The squares of displacements add up over the slabs. Each slab gets a part of the limit in proportion to its
    // width.
    let limit = options.tolerance * options.tolerance / x.dim() as f64;
    let mut widths = blocks.list().iter().map(|block| block.1 as f64);
    let mut moved = vec![0.0f64; x.rows()];
    let mut system = System::new(objective, x.rows(), control)?;
    let mut sorted = slab(if ranked.is_some() { x.rows() } else { 0 })?;
    let mut passes = 0;
    let mut converged = true;
    each_slab(out, &blocks, control, |slab| {
        let limit = limit * widths.next().unwrap_or_default();
        let mut solve = |slab: &mut [Lane]| system.solve(slab, limit, options.max_sweeps, &mut pace, &mut moved);
        let (done, settled) = match ranked {
            None => solve(slab)?,
            Some(graph) => {
                gather(slab, graph.order(), &mut sorted);
                let solved = solve(&mut sorted)?;
                gather(&sorted, graph.ranks(), slab);
                solved
            }
        };
        passes = passes.max(done);
        converged &= settled;
        pace.item()
    })?;
    blocks.untile(out, control, |_, _| {})?;
    let displacement = moved.iter().fold(0.0, |most, &square| larger(most, square)).sqrt();
    // A slab below its part of the limit may make up for another one above it.
    Ok(Solved { sweeps: passes, displacement, converged: converged || displacement < options.tolerance })
}

/// The slabs of one system. `solve` starts from the slab it gets.
struct System<'a> {
    objective: &'a Objective<'a>,
    control: &'a Control,
    /// x.
    own: Pages<Lane>,
    /// s: the residual divided by D.
    step: Pages<Lane>,
    /// p: the direction of the next step.
    direction: Pages<Lane>,
    /// D⁻¹ (D − W) p.
    image: Pages<Lane>,
}

impl<'a> System<'a> {
    fn new(objective: &'a Objective<'a>, rows: usize, control: &'a Control) -> Result<Self, Error> {
        let (own, step, direction, image) = (slab(rows)?, slab(rows)?, slab(rows)?, slab(rows)?);
        Ok(Self { objective, control, own, step, direction, image })
    }

    /// Returns the number of passes, and whether the squared length of every node's last step is below the limit. Adds
    /// these squares to `moved`.
    ///
    /// Conjugate gradients update the steps, and rounding makes them drift from the true ones. So the true steps are
    /// computed once the updated ones are small enough. If the true ones are too large, the algorithm starts again from
    /// the present z, as long as that helps.
    fn solve(
        &mut self,
        slab: &mut [Lane],
        limit: f64,
        most: usize,
        pace: &mut Pace<'_>,
        moved: &mut [f64],
    ) -> Result<(usize, bool), Error> {
        copy(slab, &mut self.own);
        let mut passes = 0;
        let mut before = f64::INFINITY;
        let furthest = loop {
            let (mut length, mut furthest) = self.start(slab)?;
            let helped = furthest < before / 4.0;
            if furthest < limit || passes >= most || !helped {
                break furthest;
            }
            before = furthest;
            while furthest >= limit && passes < most {
                let curvature = self.apply()?;
                pace.pass()?;
                passes += 1;
                let share = ratio(&length, &curvature);
                let (shorter, far) = self.advance(slab, &share);
                self.turn(&ratio(&shorter, &length));
                (length, furthest) = (shorter, far);
            }
        };
        moved.par_iter_mut().with_min_len(ROWS).zip(self.step.par_iter()).for_each(|(moved, step)| {
            *moved += step.0.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>();
        });
        Ok((passes, furthest < limit))
    }

    /// Sets s = p = D⁻¹ (a x + W z) − z for the z in the slab. Returns Σ D s² and the largest |s_i|².
    fn start(&mut self, slab: &[Lane]) -> Result<(Sum, f64), Error> {
        let (objective, control, own) = (self.objective, self.control, &self.own[..]);
        let chunks = self.step.par_chunks_mut(ROWS).zip(self.direction.par_chunks_mut(ROWS)).enumerate();
        let parts = chunks.map(|(chunk, (step, direction))| {
            control.check()?;
            Ok(simd(
                #[inline(always)]
                || {
                    let (mut sum, mut furthest) = ([0.0; WIDTH], 0.0f64);
                    for (offset, (step, direction)) in step.iter_mut().zip(direction).enumerate() {
                        let row = chunk * ROWS + offset;
                        *step = Lane([0.0; WIDTH]);
                        if objective.has_neighbors(row) {
                            let total = objective.total(row);
                            let inverse = 1.0 / total;
                            let neighbors = objective.neighbor_sum_ahead(slab, row);
                            let (x, z) = (&own[row].0, &slab[row].0);
                            for column in 0..WIDTH {
                                let best = (objective.anchor * f64::from(x[column]) + neighbors[column]) * inverse;
                                step.0[column] = (best - f64::from(z[column])) as f32;
                            }
                            furthest = larger(furthest, add_squares(&mut sum, &step.0, total));
                        }
                        *direction = *step;
                    }
                    (sum, furthest)
                },
            ))
        });
        Ok(add(parts.collect::<Result<_, Error>>()?))
    }

    /// Computes the image of the direction. Returns Σ p (D − W) p.
    fn apply(&mut self) -> Result<Sum, Error> {
        let (objective, control) = (self.objective, self.control);
        let direction: &[Lane] = &self.direction;
        let chunks = self.image.par_chunks_mut(ROWS).enumerate();
        let parts = chunks.map(|(chunk, image)| {
            control.check()?;
            Ok(simd(
                #[inline(always)]
                || {
                    let mut sum = [0.0; WIDTH];
                    for (offset, image) in image.iter_mut().enumerate() {
                        let row = chunk * ROWS + offset;
                        if objective.has_neighbors(row) {
                            let total = objective.total(row);
                            let inverse = 1.0 / total;
                            let neighbors = objective.neighbor_sum_ahead(direction, row);
                            let own = &direction[row].0;
                            for column in 0..WIDTH {
                                let own = f64::from(own[column]);
                                let value = own - neighbors[column] * inverse;
                                sum[column] += total * own * value;
                                image.0[column] = value as f32;
                            }
                        }
                    }
                    (sum, 0.0)
                },
            ))
        });
        Ok(add(parts.collect::<Result<_, Error>>()?).0)
    }

    /// Sets z += α p and s −= α D⁻¹ (D − W) p. Returns Σ D s² and the largest |s_i|².
    fn advance(&mut self, slab: &mut [Lane], share: &Sum) -> (Sum, f64) {
        let objective = self.objective;
        let read = self.direction.par_chunks(ROWS).zip(self.image.par_chunks(ROWS));
        let chunks = slab.par_chunks_mut(ROWS).zip(self.step.par_chunks_mut(ROWS)).zip(read).enumerate();
        let parts = chunks.map(|(chunk, ((slab, step), (direction, image)))| {
            simd(
                #[inline(always)]
                || {
                    let (mut sum, mut furthest) = ([0.0; WIDTH], 0.0f64);
                    for offset in 0..slab.len() {
                        let total = objective.total(chunk * ROWS + offset);
                        let (z, s) = (&mut slab[offset].0, &mut step[offset].0);
                        let (p, q) = (&direction[offset].0, &image[offset].0);
                        for column in 0..WIDTH {
                            // z does not follow a direction that has overflowed. `solve` then starts again from this z.
                            let next = share[column].mul_add(f64::from(p[column]), f64::from(z[column])) as f32;
                            z[column] = if next.is_finite() { next } else { z[column] };
                            s[column] = (-share[column]).mul_add(f64::from(q[column]), f64::from(s[column])) as f32;
                        }
                        furthest = larger(furthest, add_squares(&mut sum, s, total));
                    }
                    (sum, furthest)
                },
            )
        });
        add(parts.collect())
    }

    /// Sets p = s + β p.
    fn turn(&mut self, keep: &Sum) {
        self.direction.par_chunks_mut(ROWS).zip(self.step.par_chunks(ROWS)).for_each(|(direction, step)| {
            simd(
                #[inline(always)]
                || {
                    for (direction, step) in direction.iter_mut().zip(step) {
                        let (p, s) = (&mut direction.0, &step.0);
                        for column in 0..WIDTH {
                            p[column] = keep[column].mul_add(f64::from(p[column]), f64::from(s[column])) as f32;
                        }
                    }
                },
            );
        });
    }
}

/// Copies the rows `from[rows[0]]`, `from[rows[1]]`, … into `to`.
fn gather(from: &[Lane], rows: &[u32], to: &mut [Lane]) {
    to.par_iter_mut().with_min_len(ROWS).zip(rows).for_each(|(to, &row)| *to = from[row as usize]);
}

/// Adds D s² to the sums. Returns |s|².
#[inline(always)]
fn add_squares(sum: &mut Sum, step: &[f32; WIDTH], weight: f64) -> f64 {
    let mut squares = [0.0f64; WIDTH];
    for column in 0..WIDTH {
        let value = f64::from(step[column]);
        squares[column] = value * value;
        sum[column] = squares[column].mul_add(weight, sum[column]);
    }
    squares.iter().sum()
}

/// The larger of two numbers, or NaN if one of them is NaN. A value that has overflowed must not count as converged.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// The ratio in each column. 0 for a column that is already solved.
fn ratio(above: &Sum, below: &Sum) -> Sum {
    std::array::from_fn(|column| if below[column] > 0.0 { above[column] / below[column] } else { 0.0 })
}

/// Adds the results of the chunks in their order, whichever threads computed them.
fn add(parts: Vec<(Sum, f64)>) -> (Sum, f64) {
    parts.into_iter().fold(([0.0; WIDTH], 0.0), |(mut sum, most), (part, far)| {
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        (sum, larger(most, far))
    })
}
