//! Signatures: random vectors, one for each node, diffused over the graph (ours).

use super::diffusion::{Convergence, Passes, Restart, USUAL_PASSES, diffuse_tiles};
use crate::control::{Control, Pace};
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::slabs::WIDTH;
use crate::linalg::tiles::Blocks;
use crate::linalg::vectors::norm;
use crate::random::{Stream, normal};

/// The largest factor by which damping multiplies or divides a vector. More would leave the range of f32 during the
/// iteration.
const WIDEST: f64 = 1e30;

/// The parameters of a signature, except those of the walk.
#[derive(Debug, Clone, Copy)]
pub struct Sketch {
    /// The number of columns.
    pub dim: usize,
    /// The random seed of the unit vectors.
    pub seed: u64,
    /// β: how much less hubs count. See [`signature`].
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

/// Draws one random unit vector per node, diffuses them as [`super::diffusion::diffuse`] does, and scales the results to length 1.
///
/// The entries of a node's vector are normal numbers, drawn by (seed, node key, column). So the cosine of two
/// signatures estimates how much the walk neighborhoods of their nodes overlap.
///
/// With a damping β, the vector of node j is multiplied by degree(j)^−β before it is diffused. A hub that every walk
/// visits tells little about where a walk began, and damping makes it count less. β = 1/2 is the symmetric
/// normalization: with M = c Σ (1−c)^k P^k, c Σ (1−c)^k (D^−½ A D^−½)^k = D^½ M D^−½, and the rows are scaled to length
/// 1 in any case. With damping, norms of rows differ by orders of magnitude before this scaling. So the change of a row
/// is measured relative to its norm.
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
    let convergence = if damping > 0.0 {
        Convergence::Relative { dim, norms: vec![0.0; graph.nodes()] }
    } else {
        Convergence::Absolute
    };
    let passes = diffuse_tiles(graph, out, &blocks, options, convergence, (control, pace))?;
    blocks.untile(out, control, |_, row| scale_to_one(row))?;
    Ok(passes)
}

/// The number of a node's edges or, if `weighted`, their total weight. `None` for an isolated node.
fn degree(graph: &Graph, row: usize, weighted: bool) -> Option<f64> {
    match (graph.neighbors(row).len(), graph.weights(row)) {
        (0, _) => None,
        (count, []) => Some(count as f64),
        (count, _) if !weighted => Some(count as f64),
        (_, weights) => Some(weights.iter().map(|&weight| f64::from(weight)).sum()),
    }
}

/// The geometric mean of the smallest and the largest degree.
///
/// Only the ratios of degrees matter to signatures, since rows are scaled to length 1. Degrees are divided by this
/// mean, so that f32 can hold the vectors even if edge weights differ extremely.
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

#[cfg(test)]
mod tests {
    use super::*;

    const RESTART: Restart = Restart { restart: 0.5, tolerance: 1e-7, max_iterations: 100, weighted: true };

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
