//! Gradient steps toward cosines that fall with the distance in the graph (GME: gradient).

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::graph::local_pairs::{HOPS, Limits, Pair, Pairs, pairs};
use crate::linalg::prefetch::{prefetch_all, rows_ahead};
use crate::linalg::vectors::{Matrix, dots, filled, norm, row_norms, simd};
use crate::memory::scratch::Scratch;

/// The number of rows in a task. They are few, so that a hub among them does not delay the end of a step.
const ROWS: usize = 16;
/// The number of pairs whose cosines are computed together.
const TILE: usize = 4;

/// The parameters of [`gradient`].
#[derive(Debug, Clone, Copy)]
pub struct Gradient {
    /// The target cosines of two nodes that are 1, 2, 3 and 4 hops apart.
    pub targets: [f64; HOPS],
    /// The size of a step.
    pub step: f64,
    /// The furthest that a node may move from its original vector, in lengths of that vector.
    pub max_shift: f64,
    /// Number of steps.
    pub steps: usize,
    /// The limits on each patch.
    pub limits: Limits,
}

impl Gradient {
    fn check(&self) -> Result<(), Error> {
        if let Some(target) = self.targets.iter().find(|target| !(-1.0..=1.0).contains(*target)) {
            return Err(Error::parameter("targets", target, "cosines between -1 and 1"));
        }
        for (what, value) in [("step", self.step), ("max_shift", self.max_shift)] {
            if !(value > 0.0 && value <= 1e6) {
                return Err(Error::parameter(what, value, "a positive number (up to 1e6)"));
            }
        }
        if self.steps == 0 {
            return Err(Error::parameter("steps", 0, "at least 1"));
        }
        Ok(())
    }
}

/// What the steps did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// The mean of (cos − target)² over all pairs, before the first step and after the last one.
    pub losses: [f64; 2],
    /// The furthest move of any node, in lengths of its vector.
    pub displacement: f64,
    /// Number of patches.
    pub patches: usize,
    /// How many of the patches were above the limits and were sampled.
    pub drawn: usize,
}

/// Steps down the gradient of Σ (cos(z_i, z_j) − target(hops between i and j))² over the pairs of all patches, from z = x.
///
/// A pair counts in every patch that holds it ([`crate::graph::local_pairs`]). All nodes step at once, from their
/// places after the last step: z_i ← z_i − step · ‖x_i‖² · ∂/∂z_i / (number of i's pairs). A node that is then further
/// than `max_shift` · ‖x_i‖ from x_i moves back to that distance. The factor ‖x_i‖² makes the result scale with x. The
/// division gives `step` one meaning for leaves and hubs. A node without pairs keeps its vector, and so does one whose
/// vector is zero.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, too little memory, cancellation.
pub fn gradient(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Gradient,
    control: &Control,
    out: &mut [f32],
) -> Result<Descent, Error> {
    options.check()?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    let norms = row_norms("x", x, control)?;
    let reach = 1.0 + options.max_shift as f32;
    if let Some(row) = norms.iter().position(|norm| !(norm * reach).is_finite()) {
        return Err(Error::NotFinite { what: "x".into(), row, entry: None }); // a move could overflow
    }
    control.expect(graph.nodes().saturating_mul(options.steps.saturating_add(3)));
    let far = options.targets[1..].iter().any(|target| *target != options.targets[1]);
    let pairs = pairs(graph, &options.limits, far, control)?;
    // The unit vectors are read at random places, so they are in `out` until the end. Its memory is in huge pages.
    let mut z = filled("the moved vectors", 0.0f32, x.rows(), x.dim())?;
    x.copy_to(&mut z);
    let mut losses = vec![0.0; x.rows()];
    let mut before = 0.0;
    let field = Field { graph, x, norms: &norms, pairs: &pairs, options };
    for step in 0..=options.steps {
        normalize(&z, x.dim(), out);
        let units = Matrix::new("unit vectors", out, x.rows(), x.dim())?;
        field.pass(units, step < options.steps, control, &mut z, &mut losses)?;
        if step == 0 {
            before = field.mean(&losses);
        }
    }
    let displacement = field.displacement(&z);
    Matrix::new("the moved vectors", &z, x.rows(), x.dim())?.copy_to(out);
    Ok(Descent { losses: [before, field.mean(&losses)], displacement, patches: pairs.patches, drawn: pairs.drawn })
}

/// Scales every row to length 1. Zero rows stay zero.
fn normalize(z: &[f32], dim: usize, units: &mut [f32]) {
    units.par_chunks_mut(ROWS * dim).zip(z.par_chunks(ROWS * dim)).for_each(|(units, z)| {
        simd(
            #[inline(always)]
            || {
                for (unit, row) in units.chunks_exact_mut(dim).zip(z.chunks_exact(dim)) {
                    let length = norm(row);
                    for (unit, value) in unit.iter_mut().zip(row) {
                        *unit = if length > 0.0 { value / length } else { 0.0 };
                    }
                }
            },
        );
    });
}

/// What a step needs besides the vectors themselves.
struct Field<'a> {
    graph: &'a Graph,
    x: Matrix<'a>,
    norms: &'a [f32],
    pairs: &'a Pairs,
    options: &'a Gradient,
}

impl Field<'_> {
    /// Computes the loss of every row at `units`. If `moves` is set, it also takes a step of `z`.
    fn pass(
        &self,
        units: Matrix<'_>,
        moves: bool,
        control: &Control,
        z: &mut [f32],
        losses: &mut [f64],
    ) -> Result<(), Error> {
        let dim = self.x.dim();
        let scratch = Scratch::new(|| NodeGradient { sum: vec![0.0; dim], along: 0.0, loss: 0.0, pairs: 0.0 });
        z.par_chunks_mut(ROWS * dim).zip(losses.par_chunks_mut(ROWS)).enumerate().try_for_each(
            |(task, (rows, losses))| {
                scratch.lend(|node_gradient| {
                    for (offset, (z, loss)) in rows.chunks_exact_mut(dim).zip(losses.iter_mut()).enumerate() {
                        let row = task * ROWS + offset;
                        let list = self.list(row);
                        let next = if row + 1 < self.graph.nodes() { self.list(row + 1) } else { &[] };
                        simd(
                            #[inline(always)]
                            || {
                                node_gradient.collect(units, row, list, next, &self.options.targets);
                                if moves && node_gradient.pairs > 0.0 && self.norms[row] > 0.0 {
                                    self.step(node_gradient, units.row(row), row, z);
                                }
                            },
                        );
                        *loss = node_gradient.loss;
                    }
                });
                control.advance(losses.len())
            },
        )
    }

    fn list(&self, row: usize) -> &[Pair] {
        self.pairs.of(self.graph.ranks()[row] as usize)
    }

    /// Moves one row against its gradient, and back to the largest distance if it went too far.
    #[inline(always)]
    fn step(&self, node_gradient: &mut NodeGradient, unit: &[f32], row: usize, z: &mut [f32]) {
        let (own, length) = (self.x.row(row), f64::from(self.norms[row]));
        let stride =
            self.options.step * length * (length / f64::from(norm(z)).max(f64::MIN_POSITIVE)) / node_gradient.pairs;
        let mut square = 0.0;
        for column in 0..z.len() {
            let slope = node_gradient.sum[column] - node_gradient.along * f64::from(unit[column]);
            let shift = f64::from(z[column]) - stride * slope - f64::from(own[column]);
            node_gradient.sum[column] = shift;
            square += shift * shift;
        }
        let (shift, most) = (square.sqrt(), self.options.max_shift * length);
        let back = if shift > most { most / shift } else { 1.0 };
        for column in 0..z.len() {
            z[column] = (f64::from(own[column]) + node_gradient.sum[column] * back) as f32;
        }
    }

    /// The mean loss of a pair. Both its nodes have counted it. The sum runs in rank order.
    fn mean(&self, losses: &[f64]) -> f64 {
        let sum: f64 = self.graph.order().iter().map(|&row| losses[row as usize]).sum();
        let pairs = |rank: usize| self.pairs.of(rank).iter().map(|pair| f64::from(pair.count)).sum::<f64>();
        let count: f64 = (0..self.graph.nodes()).map(pairs).sum();
        if count > 0.0 { sum / count } else { 0.0 }
    }

    fn displacement(&self, z: &[f32]) -> f64 {
        let dim = self.x.dim();
        let moved = |(row, z): (usize, &[f32])| {
            let square = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).powi(2);
            let shift = z.iter().zip(self.x.row(row)).map(square).sum::<f64>().sqrt();
            if self.norms[row] > 0.0 { shift / f64::from(self.norms[row]) } else { 0.0 }
        };
        z.par_chunks_exact(dim).enumerate().map(moved).reduce(|| 0.0, f64::max)
    }
}

/// The gradient at one node without the factor 1 / ‖z_i‖: Σ 2 (cos − target)(u_j − cos · u_i).
struct NodeGradient {
    /// Σ 2 (cos − target) u_j.
    sum: Vec<f64>,
    /// Σ 2 (cos − target) cos.
    along: f64,
    /// Σ (cos − target)².
    loss: f64,
    /// Number of pairs.
    pairs: f64,
}

impl NodeGradient {
    /// Adds up the gradient over a row's pairs. `next` holds the pairs of the next row, which are prefetched.
    #[inline(always)]
    fn collect(&mut self, units: Matrix<'_>, row: usize, list: &[Pair], next: &[Pair], targets: &[f64; HOPS]) {
        self.sum.fill(0.0);
        (self.along, self.loss, self.pairs) = (0.0, 0.0, 0.0);
        let own = units.row(row);
        let (tiles, rest) = list.as_chunks::<TILE>();
        let ahead = rows_ahead(own.len()).max(TILE);
        for (i, tile) in tiles.iter().enumerate() {
            for later in list.iter().chain(next).skip(i * TILE + ahead).take(TILE) {
                prefetch_all(units.row(later.row as usize));
            }
            self.add(own, tile.map(|pair| units.row(pair.row as usize)), tile, targets);
        }
        for pair in rest {
            self.add(own, [units.row(pair.row as usize)], &[*pair], targets);
        }
    }

    #[inline(always)]
    fn add<const P: usize>(&mut self, own: &[f32], others: [&[f32]; P], list: &[Pair; P], targets: &[f64; HOPS]) {
        let [cosines] = dots([own], others);
        let mut pulls = [0.0f32; P];
        for place in 0..P {
            let (count, cosine) = (f64::from(list[place].count), f64::from(cosines[place]));
            let miss = cosine - targets[list[place].hop as usize - 1];
            pulls[place] = (2.0 * count * miss) as f32;
            self.along += 2.0 * count * miss * cosine;
            self.loss += count * miss * miss;
            self.pairs += count;
        }
        let others = others.map(|other| &other[..own.len()]);
        for (column, sum) in self.sum.iter_mut().enumerate() {
            let mut together = 0.0;
            for place in 0..P {
                together = others[place][column].mul_add(pulls[place], together);
            }
            *sum += f64::from(together);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { fan_out: 32, pairs: 64, seed: 42 };
    const NONE: Gradient =
        Gradient { targets: [1.0, 0.0, 0.0, 0.0], step: 0.5, max_shift: 1.0, steps: 30, limits: LIMITS };

    fn run(graph: &Graph, data: &[f32], options: &Gradient) -> Result<(Vec<f32>, Descent), Error> {
        let x = Matrix::new("x", data, graph.nodes(), 2)?;
        let mut out = vec![0.0; data.len()];
        gradient(graph, x, options, &Control::new(), &mut out).map(|descent| (out, descent))
    }

    #[test]
    fn a_pair_turns_towards_each_other() {
        let graph = Graph::new(&["a", "b", "c", "d"], &[0, 3], &[1, 0], None).unwrap();
        // c is isolated, d is zero.
        let data = [1.0, 0.0, 0.0, 1.0, 5.0, 6.0, 0.0, 0.0];
        let (z, descent) = run(&graph, &data, &NONE).unwrap();
        assert_eq!(z[4..], data[4..]);
        assert!(z[0] > 0.0 && (z[0] - z[3]).abs() < 1e-6 && (z[1] - z[2]).abs() < 1e-6, "{z:?}");
        assert!(descent.losses[1] < 0.7 * descent.losses[0], "{descent:?}");
        assert_eq!((descent.patches, descent.drawn), (3, 0));
    }

    #[test]
    fn nobody_leaves_the_ball() {
        let graph = Graph::new(&["a", "b"], &[0], &[1], None).unwrap();
        let (z, descent) = run(&graph, &[1.0, 0.0, 0.0, 2.0], &Gradient { max_shift: 0.1, ..NONE }).unwrap();
        assert!((descent.displacement - 0.1).abs() < 1e-6);
        assert!((f64::from(z[2]).hypot(f64::from(z[3]) - 2.0) - 0.2).abs() < 1e-6, "{z:?}");
    }

    #[test]
    fn refuses_bad_parameters() {
        let graph = Graph::new(&["a", "b"], &[0], &[1], None).unwrap();
        for bad in [
            Gradient { step: 0.0, ..NONE },
            Gradient { max_shift: f64::NAN, ..NONE },
            Gradient { steps: 0, ..NONE },
            Gradient { targets: [2.0, 0.0, 0.0, 0.0], ..NONE },
            Gradient { limits: Limits { pairs: 0, ..LIMITS }, ..NONE },
            Gradient { limits: Limits { fan_out: 0, ..LIMITS }, ..NONE },
        ] {
            assert!(matches!(run(&graph, &[1.0; 4], &bad), Err(Error::Parameter { .. })));
        }
    }
}
