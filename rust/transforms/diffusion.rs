//! Diffusion of vectors over the graph: random walks with restart (RT), and the same of random vectors (ours: signatures).

use rayon::prelude::*;

use crate::control::{Control, Pace};
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::means::Mean;
use crate::linalg::slabs::{self, Lane, Spread, WIDTH, each_row, each_slab};
use crate::linalg::tiles::Blocks;
use crate::linalg::vectors::{Matrix, norm, simd};
use crate::memory::huge_pages::copy;
use crate::memory::scratch::Scratch;
use crate::random::{Stream, normal};

/// How many passes a slab is taken to need, for the progress shown.
const USUAL_PASSES: usize = 32;
/// The most that damping multiplies or divides a vector by: more would leave the range of f32 on the way.
const WIDEST: f64 = 1e30;

/// The parameters of a random walk with restart.
#[derive(Debug, Clone, Copy)]
pub struct Restart {
    /// c: the chance to go back to the start at every step.
    pub restart: f64,
    /// Stop once a further step `c x + (1 - c) P z` would change no entry of z by this much; of damped signatures, no entry
    /// of a row by this much of the row's length.
    pub tolerance: f64,
    /// Stop after this many passes in any case.
    pub max_iterations: usize,
    /// Whether steps are proportional to edge weights.
    pub weighted: bool,
}

impl Restart {
    fn check(&self) -> Result<(), Error> {
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

/// What a signature is made of, apart from the walk.
#[derive(Debug, Clone, Copy)]
pub struct Sketch {
    /// Numbers per node.
    pub dim: usize,
    /// Seed of the random unit vectors.
    pub seed: u64,
    /// β: how much less it tells to meet a hub. See [`signature`].
    pub damping: f64,
}

impl Sketch {
    fn check(&self) -> Result<(), Error> {
        if self.dim == 0 {
            return Err(Error::parameter("dim", self.dim, "at least 1"));
        }
        if !(0.0..=1.0).contains(&self.damping) {
            return Err(Error::parameter("damping", self.damping, "at least 0 and at most 1"));
        }
        Ok(())
    }
}

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// Passes over the graph, the most any slab of columns took.
    pub iterations: usize,
    /// The largest change a plain step would make to any entry; of the iterate before the last, if it is not below the
    /// tolerance.
    pub residual: f64,
}

/// z = c Σ_k (1−c)^k P^k x with P = D⁻¹A: each node's vectors averaged over where walks from it are when they restart.
///
/// An isolated node stays where it is (P_ii = 1) and keeps its vector.
///
/// The fixed point of z = c x + (1−c) P z is found by Chebyshev semi-iteration (Golub and Varga 1961): P is similar to
/// a symmetric matrix with eigenvalues in −1..1, so each plain step can be extrapolated, and a restart of 0.1 takes some
/// 30 passes where plain steps take 130. Stopping is judged by the plain step.
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
    // Before anything is written: whoever watches may want to let go of what has been.
    let pace = Pace::new(control, blocks.list().len(), USUAL_PASSES);
    blocks.tile(x, out, control)?;
    let passes = diffuse_tiles(graph, out, &blocks, options, Judge::Entries, (control, pace))?;
    blocks.untile(out, control, |_, _| {})?;
    Ok(passes)
}

/// What [`diffuse`] does in one pass, from rows where they lie: cutting them into slabs pays only over several passes.
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

/// One random unit vector per node, diffused as in [`diffuse`] and scaled to length 1.
///
/// The entries of a node's vector are normal numbers drawn by (seed, node key, column), so the cosine of two signatures
/// estimates how much the walk neighborhoods of their nodes overlap.
///
/// With a damping β the vector of node j is multiplied by degree(j)^−β before it is diffused, so that a hub which every
/// walk meets tells less about where a walk began. β = 1/2 is the symmetric normalization: with M = c Σ (1−c)^k P^k,
/// c Σ (1−c)^k (D^−½ A D^−½)^k = D^½ M D^−½, and the rows are scaled to length 1 in any case. The lengths of rows then
/// differ by orders of magnitude before that, so the change of a row is judged by its length.
///
/// # Errors
/// Parameters out of range, cancellation.
pub fn signature(
    graph: &Graph,
    sketch: &Sketch,
    options: &Restart,
    control: &Control,
    out: &mut [f32],
) -> Result<Passes, Error> {
    options.check()?;
    sketch.check()?;
    let Sketch { dim, seed, damping } = *sketch;
    if dim.checked_mul(graph.nodes()) != Some(out.len()) {
        let needed = dim.saturating_mul(graph.nodes());
        return Err(Error::Length { what: "out".into(), found: out.len(), needed, rule: "nodes times dim" });
    }
    let middle = if damping > 0.0 { middle_degree(graph, options.weighted) } else { 1.0 };
    let blocks = Blocks::of(dim, WIDTH);
    let pace = Pace::new(control, blocks.list().len(), USUAL_PASSES);
    blocks.tile_made(out, control, |row, values| {
        let stream = Stream::new(seed, graph.keys()[row], 0);
        for (column, value) in values.iter_mut().enumerate() {
            *value = normal(stream.draw(column as u64)) as f32;
        }
        scale_to_one(values);
        if damping > 0.0
            && let Some(degree) = degree(graph, row, options.weighted)
        {
            let scale = (degree / middle).powf(-damping).clamp(1.0 / WIDEST, WIDEST) as f32;
            values.iter_mut().for_each(|value| *value *= scale);
        }
    })?;
    let judge = if damping > 0.0 { Judge::Rows { dim, lengths: vec![0.0; graph.nodes()] } } else { Judge::Entries };
    let passes = diffuse_tiles(graph, out, &blocks, options, judge, (control, pace))?;
    blocks.untile(out, control, |_, row| scale_to_one(row))?;
    Ok(passes)
}

/// The number or, with weights, the total weight of a node's edges; None of an isolated node.
fn degree(graph: &Graph, row: usize, weighted: bool) -> Option<f64> {
    match (graph.neighbors(row).len(), graph.weights(row)) {
        (0, _) => None,
        (count, []) => Some(count as f64),
        (count, _) if !weighted => Some(count as f64),
        (_, weights) => Some(weights.iter().map(|&weight| f64::from(weight)).sum()),
    }
}

/// The middle between the least and the largest degree, on a logarithmic scale.
///
/// Only the ratios of degrees matter to signatures, since rows are scaled to length 1. Measured against the middle, degrees
/// as far apart as weights can be leave vectors that f32 can hold.
fn middle_degree(graph: &Graph, weighted: bool) -> f64 {
    let degrees = (0..graph.nodes()).filter_map(|row| degree(graph, row, weighted));
    let (least, most) = degrees.fold((f64::INFINITY, 0.0f64), |(least, most), d| (least.min(d), most.max(d)));
    least.sqrt() * most.sqrt()
}

fn scale_to_one(row: &mut [f32]) {
    let length = norm(row);
    if length > 0.0 {
        row.iter_mut().for_each(|value| *value /= length);
    }
}

/// What the change of a row is measured by.
#[derive(Debug)]
enum Judge {
    /// Nothing: every entry counts as it is.
    Entries,
    /// The length of the row, all `dim` columns of it, as the parts of it in this slab and those before tell.
    Rows {
        /// Columns of all slabs.
        dim: usize,
        /// By row, the largest length a slab before has told: the last slab may have one column only, which tells little.
        lengths: Vec<f64>,
    },
}

impl Judge {
    /// What to multiply changes by, in a row that has this part in the slab.
    #[inline(always)]
    fn factor(&self, row: usize, part: &[f32; WIDTH]) -> f64 {
        match self {
            Self::Entries => 1.0,
            // Where a length is zero so is the change, but for rows that have not been reached yet.
            Self::Rows { dim, lengths } => 1.0 / length(part, *dim).max(lengths[row]).max(f64::MIN_POSITIVE),
        }
    }

    /// Takes note of the rows of a slab that is done.
    fn learn(&mut self, slab: &[Lane]) {
        if let Self::Rows { dim, lengths } = self {
            for (known, part) in lengths.iter_mut().zip(slab) {
                *known = known.max(length(&part.0, *dim));
            }
        }
    }
}

/// The length of a row of `dim` columns, as a slab's part of it tells.
#[inline(always)]
fn length(part: &[f32; WIDTH], dim: usize) -> f64 {
    let square: f64 = part.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    (square * dim as f64 / WIDTH as f64).sqrt()
}

fn diffuse_tiles(
    graph: &Graph,
    tiled: &mut [f32],
    blocks: &Blocks,
    options: &Restart,
    mut judge: Judge,
    (control, mut pace): (&Control, Pace<'_>),
) -> Result<Passes, Error> {
    let (mut iterations, mut residual) = (0, 0.0f64);
    let (mut start, mut other) = (slabs::slab(graph.nodes())?, slabs::slab(graph.nodes())?);
    each_slab(tiled, blocks, control, |slab| {
        copy(slab, &mut start);
        copy(slab, &mut other);
        let (passes, change) = solve(graph, &start, slab, &mut other, (options, &judge), control, &mut pace)?;
        judge.learn(slab);
        iterations = iterations.max(passes);
        residual = residual.max(change);
        pace.item()
    })?;
    Ok(Passes { iterations, residual })
}

/// Iterates one slab to the tolerance; the result is in `slab`. `other` holds the iterate before, and takes the next.
fn solve(
    graph: &Graph,
    start: &[Lane],
    slab: &mut [Lane],
    other: &mut [Lane],
    (options, judge): (&Restart, &Judge),
    control: &Control,
    pace: &mut Pace<'_>,
) -> Result<(usize, f64), Error> {
    let keep = 1.0 - options.restart;
    let spread = Spread::new(graph, options.weighted);
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
                let mean = spread.mean(current, row);
                let (own, now) = (&start[row].0, &current[row].0);
                let measure = judge.factor(row, now);
                for column in 0..WIDTH {
                    let plain = keep * mean[column] + options.restart * f64::from(own[column]);
                    let change = (plain - f64::from(now[column])).abs() * measure;
                    changes[column] = if change > changes[column] { change } else { changes[column] };
                    let before = f64::from(lane.0[column]);
                    let ahead = (factor * (plain - before) + before) as f32;
                    // Not `clamp`, which checks its bounds, and so would go column by column: twice as long.
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
    // `now` is the iterate the residual belongs to or, if it never fell below the tolerance, the one after. After an odd
    // number of swaps it lives in the other buffer.
    let swaps = if residual < options.tolerance { passes - 1 } else { passes };
    if swaps % 2 == 1 {
        copy(other, slab);
    }
    Ok((passes, residual))
}

/// The largest absolute value of each column. The fixed point, a mean, has none that is larger; extrapolated steps have
/// where the weights of a graph differ by dozens of orders of magnitude, up to infinity.
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

    #[test]
    fn signatures_are_unit_and_belong_to_ids() {
        let (one, other) = (
            Graph::new(&["a", "b", "c"], &[0], &[1], None).unwrap(),
            Graph::new(&["z", "b", "a"], &[2], &[1], None).unwrap(),
        );
        let sign = |graph| {
            let mut out = vec![0.0; 24];
            let sketch = Sketch { dim: 8, seed: 1, damping: 0.5 };
            signature(graph, &sketch, &RESTART, &Control::new(), &mut out).unwrap();
            out
        };
        let (one, other) = (sign(&one), sign(&other));
        assert_eq!(one[..8], other[16..]);
        assert!(one.chunks(8).all(|row| (norm(row) - 1.0).abs() < 1e-6));
    }
}
