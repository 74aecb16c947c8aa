//! Gauss–Seidel sweeps: the solver that GME describes.
//!
//! Each sweep sets z_i to (a x_i + Σ w z_j) / (a + Σ w), in the order of the ids, and uses new values at once. So
//! threads cannot share the rows of a sweep. They share its columns, which are independent.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::prefetch::{AHEAD, prefetch_all};
use crate::linalg::tiles::{Blocks, ROWS};
use crate::linalg::vectors::{Matrix, simd};
use crate::transforms::smoothing::{Convex, Objective, Solved};

/// The most columns in a task.
const WIDTH: usize = 64;

/// Sweeps until no vector moves by the tolerance. A displacement is measured over all columns.
pub(crate) fn solve(
    graph: &Graph,
    x: Matrix<'_>,
    objective: &Objective<'_>,
    options: &Convex,
    control: &Control,
    out: &mut [f32],
) -> Result<Solved, Error> {
    let blocks = Blocks::of_powers(x.dim(), WIDTH);
    control.expect(options.max_sweeps.saturating_mul(blocks.list().len()));
    blocks.tile(x, out, control)?;
    let parts = blocks.cut(out).into_iter().zip(blocks.list());
    let columns = |(runs, &(first, width))| Columns { first, width, runs, moved: vec![0.0; x.rows()] };
    let mut columns: Vec<Columns<'_>> = parts.map(columns).collect();
    let mut sweeps = 0;
    let mut displacement = 0.0;
    while sweeps < options.max_sweeps {
        columns.par_iter_mut().try_for_each(|columns| {
            sweep(graph, x, objective, columns, control)?;
            control.advance(1)
        })?;
        sweeps += 1;
        displacement = largest_displacement(x.rows(), &columns);
        if displacement < options.tolerance {
            break;
        }
    }
    drop(columns);
    blocks.untile(out, control, |_, _| {})?;
    Ok(Solved { sweeps, displacement, converged: displacement < options.tolerance })
}

/// A few columns of all rows of the matrix.
struct Columns<'a> {
    first: usize,
    width: usize,
    runs: Vec<&'a mut [f32]>,
    /// For each row, how far it moved in these columns.
    moved: Vec<f32>,
}

fn sweep(
    graph: &Graph,
    x: Matrix<'_>,
    objective: &Objective<'_>,
    columns: &mut Columns<'_>,
    control: &Control,
) -> Result<(), Error> {
    // If the compiler knows the width, a lane stays in registers.
    match columns.width {
        WIDTH => sweep_lanes::<WIDTH>(graph, x, objective, columns, control),
        32 => sweep_lanes::<32>(graph, x, objective, columns, control),
        16 => sweep_lanes::<16>(graph, x, objective, columns, control),
        8 => sweep_lanes::<8>(graph, x, objective, columns, control),
        4 => sweep_lanes::<4>(graph, x, objective, columns, control),
        2 => sweep_lanes::<2>(graph, x, objective, columns, control),
        _ => sweep_lanes::<1>(graph, x, objective, columns, control),
    }
}

fn sweep_lanes<const W: usize>(
    graph: &Graph,
    x: Matrix<'_>,
    objective: &Objective<'_>,
    columns: &mut Columns<'_>,
    control: &Control,
) -> Result<(), Error> {
    let mut runs: Vec<&mut [[f32; W]]> = columns.runs.iter_mut().map(|run| run.as_chunks_mut().0).collect();
    for order in graph.order().chunks(4 * ROWS) {
        simd(
            #[inline(always)]
            || {
                for (place, &row) in order.iter().enumerate() {
                    let row = row as usize;
                    if let Some(&later) = order.get(place + AHEAD) {
                        prefetch_all(&x.row(later as usize)[columns.first..columns.first + W]);
                        objective.prefetch(
                            later as usize,
                            #[inline(always)]
                            |other| &runs[other / ROWS][other % ROWS],
                        );
                    }
                    if objective.has_neighbors(row) {
                        columns.moved[row] = update(&x.row(row)[columns.first..], objective, &mut runs, row);
                    }
                }
            },
        );
        control.check()?;
    }
    Ok(())
}

/// Moves one node in some columns. `own` is its original vector there. Returns how far it moved.
#[inline(always)]
fn update<const W: usize>(own: &[f32], objective: &Objective<'_>, runs: &mut [&mut [[f32; W]]], row: usize) -> f32 {
    let sum = objective.neighbor_sum(
        row,
        #[inline(always)]
        |other| &runs[other / ROWS][other % ROWS],
    );
    let share = 1.0 / objective.total(row);
    let lane = &mut runs[row / ROWS][row % ROWS];
    let mut moved = [0.0f64; W];
    for column in 0..W {
        let before = f64::from(lane[column]);
        lane[column] = ((objective.anchor * f64::from(own[column]) + sum[column]) * share) as f32;
        let step = f64::from(lane[column]) - before;
        moved[column] = step * step;
    }
    moved.iter().sum::<f64>().sqrt() as f32
}

/// The largest displacement of any row over all columns.
fn largest_displacement(rows: usize, columns: &[Columns<'_>]) -> f64 {
    let squares = (0..rows).into_par_iter().with_min_len(ROWS);
    let square = |row: usize| columns.iter().map(|columns| f64::from(columns.moved[row]).powi(2)).sum::<f64>();
    squares.map(square).reduce(|| 0.0, f64::max).sqrt()
}
