//! The exact expectation over random walks of a fixed length (GME: random-walk averaging). Sampled walks only estimate
//! it.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::means::check_alpha;
use crate::linalg::slabs::{self, TransitionMatrix, WIDTH, each_row, each_slab};
use crate::linalg::tiles::Blocks;
use crate::linalg::vectors::Matrix;
use crate::memory::huge_pages::copy;
use crate::transforms::walks::check_steps;

/// For each node i: `alpha * x_i + (1 - alpha) * (P^steps x)_i`. The second term is the mean over walks of that length.
///
/// If `returns` is false, the mean is over walks that do not end at i. This is what moving returned walks gives on
/// average. The term of x_i, with its chance p = (P^steps)_ii, is subtracted and the rest is divided by 1 − p. Nodes
/// whose walks cannot end elsewhere keep their vector, and so do isolated nodes. Steps are proportional to weight in a
/// weighted graph.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, cancellation.
pub fn walk_exactly(
    graph: &Graph,
    x: Matrix<'_>,
    steps: usize,
    alpha: f64,
    returns: bool,
    control: &Control,
    out: &mut [f32],
) -> Result<(), Error> {
    check_steps(steps)?;
    check_alpha(alpha)?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    x.expect_finite("x", control)?;
    powers(graph, x, steps, control, out)?;
    let distributions = WalkDistributions::new(graph);
    if !returns {
        control.expect(graph.nodes());
    }
    out.par_chunks_exact_mut(x.dim()).enumerate().filter(|(row, _)| graph.degree(*row) > 0).try_for_each(|(row, z)| {
        if !returns {
            distributions.exclude_returns(x, row, steps, z, control)?;
            control.advance(1)?;
        }
        for (value, &own) in z.iter_mut().zip(x.row(row)) {
            *value = alpha.mul_add(f64::from(own), (1.0 - alpha) * f64::from(*value)) as f32;
        }
        Ok(())
    })
}

/// Writes P^steps x.
fn powers(graph: &Graph, x: Matrix<'_>, steps: usize, control: &Control, out: &mut [f32]) -> Result<(), Error> {
    let blocks = Blocks::of(x.dim(), WIDTH);
    control.expect(blocks.list().len().saturating_mul(steps));
    let transitions = TransitionMatrix::new(graph, true);
    blocks.tile(x, out, control)?;
    let mut other = slabs::slab(graph.nodes())?;
    each_slab(out, &blocks, control, |slab| {
        for _ in 0..steps {
            copy(slab, &mut other);
            each_row(
                graph,
                slab,
                control,
                #[inline(always)]
                |row, lane, _| lane.0 = transitions.mean(&other, row).map(|value| value as f32),
            )?;
            control.advance(1)?;
        }
        Ok(())
    })?;
    blocks.untile(out, control, |_, _| {})
}

/// The places of walks from single nodes, as (rank, chance) pairs sorted by rank.
struct WalkDistributions<'a> {
    graph: &'a Graph,
    /// The sum of each row's weights.
    mass: Vec<f64>,
}

type Places = Vec<(u32, f64)>;

impl<'a> WalkDistributions<'a> {
    /// Above this chance of returning, subtracting the term of x_i would lose digits. Then the other terms are summed
    /// directly.
    const MOST: f64 = 0.5;

    fn new(graph: &'a Graph) -> Self {
        let mut distributions = Self { graph, mass: Vec::new() };
        let mass = |row| (0..graph.degree(row)).map(|index| distributions.weight(row, index)).sum();
        distributions.mass = (0..graph.nodes()).into_par_iter().map(mass).collect();
        distributions
    }

    fn weight(&self, row: usize, index: usize) -> f64 {
        self.graph.weights(row).get(index).map_or(1.0, |&weight| f64::from(weight))
    }

    /// The places after one more step.
    fn step(&self, places: &Places) -> Places {
        let mut next = Places::new();
        for &(rank, chance) in places {
            let row = self.graph.order()[rank as usize] as usize;
            let share = chance / self.mass[row];
            let others = self.graph.neighbors(row).iter().enumerate();
            next.extend(others.map(|(i, &other)| (self.graph.ranks()[other as usize], share * self.weight(row, i))));
        }
        // The sort is stable, so that the chances of a node add up in a fixed order.
        next.sort_by_key(|place| place.0);
        next.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
        next
    }

    fn after(&self, row: usize, steps: usize, control: &Control) -> Result<Places, Error> {
        let mut places = vec![(self.graph.ranks()[row], 1.0)];
        for _ in 0..steps {
            places = self.step(&places);
            control.check()?;
        }
        Ok(places)
    }

    /// (P^steps)_ii.
    ///
    /// Half of the steps are enough. With a = ⌈steps/2⌉, b = steps − a and sums of weights d, reversibility (d_i P_ij =
    /// d_j P_ji) gives (P^steps)_ii = Σ_j (P^a)_ij (P^b)_ij d_i / d_j.
    fn returning(&self, row: usize, steps: usize, control: &Control) -> Result<f64, Error> {
        let near = self.after(row, steps / 2, control)?;
        let far = if steps % 2 == 1 { self.step(&near) } else { near.clone() };
        let mut far = far.iter().peekable();
        let mut sum = 0.0;
        for (rank, chance) in near {
            while far.next_if(|place| place.0 < rank).is_some() {}
            if let Some(place) = far.next_if(|place| place.0 == rank) {
                sum += chance * place.1 * self.mass[row] / self.mass[self.graph.order()[rank as usize] as usize];
            }
        }
        Ok(sum)
    }

    /// Turns z = (P^steps x)_i into the mean over walks that do not end at i, or into x_i if there are no such walks.
    fn exclude_returns(
        &self,
        x: Matrix<'_>,
        row: usize,
        steps: usize,
        z: &mut [f32],
        control: &Control,
    ) -> Result<(), Error> {
        let chance = self.returning(row, steps, control)?;
        if chance <= Self::MOST {
            for (value, &own) in z.iter_mut().zip(x.row(row)) {
                *value = ((f64::from(*value) - chance * f64::from(own)) / (1.0 - chance)) as f32;
            }
            return Ok(());
        }
        let mut places = self.after(row, steps, control)?;
        places.retain(|&(rank, chance)| rank != self.graph.ranks()[row] && chance > 0.0);
        let total: f64 = places.iter().map(|place| place.1).sum();
        if places.is_empty() {
            z.copy_from_slice(x.row(row));
            return Ok(());
        }
        let mut sums = vec![0.0; z.len()];
        for (rank, chance) in places {
            let end = x.row(self.graph.order()[rank as usize] as usize);
            sums.iter_mut().zip(end).for_each(|(sum, &value)| *sum += chance / total * f64::from(value));
        }
        z.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum as f32);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(graph: &Graph, data: &[f32], steps: usize, returns: bool) -> Vec<f32> {
        let x = Matrix::new("x", data, graph.nodes(), 1).unwrap();
        let mut out = vec![0.0; data.len()];
        walk_exactly(graph, x, steps, 0.0, returns, &Control::new(), &mut out).unwrap();
        out
    }

    #[test]
    fn with_and_without_returning() {
        let graph = Graph::new(&["a", "b", "c"], &[0, 1], &[1, 2], Some(&[1.0, 3.0])).unwrap();
        let data = [1.0, 0.0, 5.0];
        assert_eq!(walk(&graph, &data, 2, true), [0.25 + 0.75 * 5.0, 0.0, 0.25 + 0.75 * 5.0]);
        assert_eq!(walk(&graph, &data, 2, false), [5.0, 0.0, 1.0]);
        assert_eq!(walk(&graph, &data, 3, false), [0.0, 4.0, 0.0]);
    }

    #[test]
    fn nearly_certain_returns_lose_no_digits() {
        let graph = Graph::new(&["a", "b", "c"], &[0, 1], &[1, 2], Some(&[1e12, 1.0])).unwrap();
        assert_eq!(walk(&graph, &[1.0, -3.0, 0.7], 2, false)[0], 0.7);
    }
}
