//! Smoothing: a compromise between each node's vector and its neighbours' (GME: convex), or its community's mean
//! (GME: Louvain).

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::means::{Mean, check_alpha};
use crate::prefetch::{AHEAD, MOST, prefetch_all};
use crate::scratch::Scratch;
use crate::slabs::sum_lanes;
use crate::vectors::{Matrix, simd};

/// The most columns one task sweeps.
const WIDTH: usize = 64;
/// Rows whose columns lie together while sweeping; see [`Tiles`].
const ROWS: usize = 1024;

/// The parameters of [`convex`].
#[derive(Debug, Clone, Copy)]
pub struct Convex {
    /// a: what it costs to leave one's own vector. Above 0.
    pub anchor_weight: f64,
    /// b: what an edge between different vectors costs. At least 0.
    pub edge_weight: f64,
    /// Stop once no node moves by this much in a sweep.
    pub tolerance: f64,
    /// Stop after this many sweeps in any case.
    pub max_sweeps: usize,
}

impl Convex {
    fn check(&self) -> Result<(), Error> {
        // Wide enough for any use, and narrow enough that no product overflows.
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

/// How the sweeps ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sweeps {
    /// Sweeps done.
    pub sweeps: usize,
    /// The furthest any node moved in the last one.
    pub displacement: f64,
    /// Whether that is below the tolerance.
    pub converged: bool,
}

/// The minimiser of a Σ‖z_i − x_i‖² + b Σ_{(i,j)∈E}‖z_i − z_j‖², by Gauss–Seidel sweeps over sorted ids.
///
/// Each sweep sets z_i to (a x_i + b Σ z_j) / (a + b deg_i) and uses new values at once, so it cannot be cut by rows; it
/// is cut by columns, which are independent. Edge weights are not part of the formula. An isolated node keeps its vector.
///
/// # Errors
/// Parameters out of range, a matrix that does not fit the graph or is not finite, cancellation.
pub fn convex(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Convex,
    control: &Control,
    out: &mut [f32],
) -> Result<Sweeps, Error> {
    options.check()?;
    x.expect_rows("x", graph.nodes())?;
    x.expect_same_size(out)?;
    x.expect_finite("x")?;
    to_tiles(x, out);
    let mut tiles = cut(out, x.dim());
    let mut sweeps = 0;
    let mut displacement = 0.0;
    control.expect(options.max_sweeps.saturating_mul(tiles.len()));
    while sweeps < options.max_sweeps {
        tiles.par_iter_mut().try_for_each(|tiles| {
            sweep(graph, x, options, tiles, control)?;
            control.advance(1)
        })?;
        sweeps += 1;
        displacement = furthest(graph.nodes(), &tiles);
        if displacement < options.tolerance {
            break;
        }
    }
    drop(tiles);
    to_rows(out, x.dim());
    Ok(Sweeps { sweeps, displacement, converged: displacement < options.tolerance })
}

/// A few columns of the matrix for all rows: while sweeping, each run of [`ROWS`] rows is stored column block by column
/// block. So a block's part is as good as contiguous, and going back to rows needs no second matrix.
struct Tiles<'a> {
    first_column: usize,
    width: usize,
    runs: Vec<&'a mut [f32]>,
    /// For each row the square of how far it moved in these columns.
    moved: Vec<f32>,
}

/// The column blocks, as (first column, width): as many of [`WIDTH`] as fit, then smaller powers of two.
fn blocks(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    std::iter::successors(Some((0, 0)), move |&(first, width)| {
        let first = first + width;
        let rest = dim - first;
        (rest > 0).then(|| (first, WIDTH.min(1 << rest.ilog2())))
    })
    .skip(1)
}

fn to_tiles(x: Matrix<'_>, tiled: &mut [f32]) {
    let dim = x.dim();
    tiled.par_chunks_mut(ROWS * dim).zip(x.data().par_chunks(ROWS * dim)).for_each(|(tiles, rows)| {
        let mut start = 0;
        for (first, width) in blocks(dim) {
            for row in rows.chunks_exact(dim) {
                tiles[start..start + width].copy_from_slice(&row[first..first + width]);
                start += width;
            }
        }
    });
}

/// Back to rows in place, by way of a buffer of one run.
fn to_rows(data: &mut [f32], dim: usize) {
    let scratch = Scratch::new(|| vec![0.0; ROWS * dim]);
    data.par_chunks_mut(ROWS * dim).for_each(|run| {
        scratch.lend(|buffer| {
            let tiles = &mut buffer[..run.len()];
            tiles.copy_from_slice(run);
            let mut start = 0;
            for (first, width) in blocks(dim) {
                for row in run.chunks_exact_mut(dim) {
                    row[first..first + width].copy_from_slice(&tiles[start..start + width]);
                    start += width;
                }
            }
        });
    });
}

/// Hands each column block its part of every run.
fn cut(data: &mut [f32], dim: usize) -> Vec<Tiles<'_>> {
    let rows = data.len() / dim;
    let tiles = |(first_column, width)| Tiles { first_column, width, runs: Vec::new(), moved: vec![0.0; rows] };
    let mut tiles: Vec<Tiles<'_>> = blocks(dim).map(tiles).collect();
    for mut run in data.chunks_mut(ROWS * dim) {
        let count = run.len() / dim;
        for tiles in &mut tiles {
            let (part, rest) = run.split_at_mut(tiles.width * count);
            tiles.runs.push(part);
            run = rest;
        }
    }
    tiles
}

fn sweep(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Convex,
    tiles: &mut Tiles<'_>,
    control: &Control,
) -> Result<(), Error> {
    // With the width known to the compiler, a lane stays in registers.
    match tiles.width {
        WIDTH => sweep_lanes::<WIDTH>(graph, x, options, tiles, control),
        32 => sweep_lanes::<32>(graph, x, options, tiles, control),
        16 => sweep_lanes::<16>(graph, x, options, tiles, control),
        8 => sweep_lanes::<8>(graph, x, options, tiles, control),
        4 => sweep_lanes::<4>(graph, x, options, tiles, control),
        2 => sweep_lanes::<2>(graph, x, options, tiles, control),
        _ => sweep_lanes::<1>(graph, x, options, tiles, control),
    }
}

fn sweep_lanes<const W: usize>(
    graph: &Graph,
    x: Matrix<'_>,
    options: &Convex,
    tiles: &mut Tiles<'_>,
    control: &Control,
) -> Result<(), Error> {
    let mut runs: Vec<&mut [[f32; W]]> = tiles.runs.iter_mut().map(|run| run.as_chunks_mut().0).collect();
    for order in graph.order().chunks(4 * ROWS) {
        simd(
            #[inline(always)]
            || {
                for (place, &row) in order.iter().enumerate() {
                    let row = row as usize;
                    if let Some(&later) = order.get(place + AHEAD) {
                        prefetch_all(&x.row(later as usize)[tiles.first_column..tiles.first_column + W]);
                        for &other in graph.neighbours(later as usize).iter().take(MOST) {
                            prefetch_all(&runs[other as usize / ROWS][other as usize % ROWS]);
                        }
                    }
                    if graph.degree(row) > 0 {
                        let own = &x.row(row)[tiles.first_column..];
                        tiles.moved[row] = update(graph, own, options, &mut runs, row);
                    }
                }
            },
        );
        control.check()?;
    }
    Ok(())
}

/// Moves one node in some columns, where its own vector is `own`; returns the square of how far.
#[inline(always)]
fn update<const W: usize>(
    graph: &Graph,
    own: &[f32],
    options: &Convex,
    runs: &mut [&mut [[f32; W]]],
    row: usize,
) -> f32 {
    let neighbours = graph.neighbours(row);
    let sum = sum_lanes(
        neighbours,
        #[inline(always)]
        |other| &runs[other / ROWS][other % ROWS],
    );
    let (a, b) = (options.anchor_weight, options.edge_weight);
    let share = 1.0 / (a + b * neighbours.len() as f64);
    let lane = &mut runs[row / ROWS][row % ROWS];
    let mut moved = [0.0f64; W];
    for column in 0..W {
        let before = f64::from(lane[column]);
        lane[column] = ((a * f64::from(own[column]) + b * sum[column]) * share) as f32;
        let step = f64::from(lane[column]) - before;
        moved[column] = step * step;
    }
    moved.iter().sum::<f64>() as f32
}

/// The largest displacement of any row over all columns.
fn furthest(rows: usize, tiles: &[Tiles<'_>]) -> f64 {
    let squares = (0..rows).into_par_iter().with_min_len(ROWS);
    let square = |row: usize| tiles.iter().map(|tiles| f64::from(tiles.moved[row])).sum::<f64>();
    squares.map(square).reduce(|| 0.0, f64::max).sqrt()
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
    x.expect_finite("x")?;
    if labels.len() != graph.nodes() {
        return Err(Error::Length { what: "labels", found: labels.len(), needed: graph.nodes(), rule: "one per node" });
    }
    // Members by label and then by rank, so that sums run in an order of their own.
    let mut members = graph.order().to_vec();
    members.par_sort_by_key(|&row| labels[row as usize]);
    // A group of one is its own mean: at most half as many means as nodes are ever held.
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
                        |_| 1,
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

    const CONVEX: Convex = Convex { anchor_weight: 1.0, edge_weight: 1.0, tolerance: 1e-7, max_sweeps: 200 };

    #[test]
    fn blocks_cover_all_columns() {
        assert_eq!(blocks(200).collect::<Vec<_>>(), [(0, 64), (64, 64), (128, 64), (192, 8)]);
        assert_eq!(blocks(7).collect::<Vec<_>>(), [(0, 4), (4, 2), (6, 1)]);
    }

    #[test]
    fn tiles_and_back() {
        for (rows, dim) in [(5, 3), (1030, 37), (2048, 16), (2, 200)] {
            let data: Vec<f32> = (0..rows * dim).map(|i| i as f32).collect();
            let mut tiled = vec![0.0; data.len()];
            to_tiles(Matrix::new("x", &data, rows, dim).unwrap(), &mut tiled);
            let tiles = cut(&mut tiled, dim);
            assert_eq!(tiles[0].runs[0][tiles[0].width], dim as f32); // the first column of the second row
            to_rows(&mut tiled, dim);
            assert_eq!(tiled, data);
        }
    }

    #[test]
    fn a_pair_of_nodes_has_a_closed_form() {
        let graph = Graph::new(&["a", "b", "c"], &[0], &[1], None).unwrap();
        let data = [3.0, 0.0, 5.0];
        let x = Matrix::new("x", &data, 3, 1).unwrap();
        let mut z = [0.0; 3];
        let sweeps = convex(&graph, x, &CONVEX, &Control::new(), &mut z).unwrap();
        // 2 z_a = 3 + z_b and 2 z_b = z_a.
        for (found, wanted) in z.iter().zip([2.0, 1.0, 5.0]) {
            assert!((found - wanted).abs() < 1e-6, "{z:?}");
        }
        assert!(sweeps.converged);
        let once = convex(&graph, x, &Convex { max_sweeps: 1, ..CONVEX }, &Control::new(), &mut z).unwrap();
        assert_eq!((z, once.sweeps, once.converged), ([1.5, 0.75, 5.0], 1, false));
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
