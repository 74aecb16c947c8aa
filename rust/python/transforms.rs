//! The border to Python: the transformations.

use numpy::IntoPyArray;
use pyo3::prelude::*;

use super::{Any, Column, Graph, Matrix32, Out, Progress, column, matrix, run, table, thread_count, transform};
use crate::control::Control;
use crate::error::Error;
use crate::graph::local_pairs::Limits;
use crate::transforms::diffusion::{self, Restart};
use crate::transforms::exact_walks;
use crate::transforms::gradient::Gradient;
use crate::transforms::neighbors::{self, Hop};
use crate::transforms::roots::{self, Roots};
use crate::transforms::signature::{Sketch, signature as diffused_signature};
use crate::transforms::smoothing::{self, Convex, Solver};
use crate::transforms::walks::{self, Walks};

#[pyfunction]
#[pyo3(signature = (graph, x, *, hops, share, alpha, least, min_neighbors, max_hub_degree=0, threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn hop<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    hops: u32,
    share: (u128, u128),
    alpha: f64,
    least: bool,
    min_neighbors: usize,
    max_hub_degree: usize,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<Matrix32<'py>> {
    let x = table("x", x)?;
    let x = matrix("x", &x)?;
    let options = Hop { hops, share, alpha, least, min_neighbors, max_hub_degree };
    let kernel = |control: &Control, out: &mut [f32]| neighbors::hop(&graph.0, x, &options, control, out);
    Ok(transform(py, (x.rows(), x.dim()), (out, x.data()), (threads, progress), kernel)?.0)
}

#[pyfunction]
#[pyo3(signature = (graph, x, *, steps, alpha, walks, seed, returns, exact, threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn walk<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    steps: usize,
    alpha: f64,
    walks: usize,
    seed: u64,
    returns: bool,
    exact: bool,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<Matrix32<'py>> {
    let x = table("x", x)?;
    let x = matrix("x", &x)?;
    let options = Walks { steps, walks, seed, returns };
    let kernel = |control: &Control, out: &mut [f32]| match exact {
        true => exact_walks::walk_exactly(&graph.0, x, steps, alpha, returns, control, out),
        false => walks::walk(&graph.0, x, &options, alpha, control, out),
    };
    Ok(transform(py, (x.rows(), x.dim()), (out, x.data()), (threads, progress), kernel)?.0)
}

#[pyfunction]
#[pyo3(signature = (graph, *, steps, walks, seed, returns, threads=0))]
pub(super) fn walk_endpoints<'py>(
    py: Python<'py>,
    graph: &Graph,
    steps: usize,
    walks: usize,
    seed: u64,
    returns: bool,
    #[pyo3(from_py_with = thread_count)] threads: usize,
) -> PyResult<(Column<'py, u64>, Column<'py, u32>, Column<'py, u32>)> {
    let options = Walks { steps, walks, seed, returns };
    let ends = run(py, threads, None, |control| walks::endpoints(&graph.0, &options, control))?;
    Ok((ends.offsets.into_pyarray(py), ends.rows.into_pyarray(py), ends.counts.into_pyarray(py)))
}

#[pyfunction]
#[pyo3(signature = (graph, x, *, anchor_weight, edge_weight, tolerance, max_sweeps, solver="gauss-seidel", threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn convex<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    anchor_weight: f64,
    edge_weight: f64,
    tolerance: f64,
    max_sweeps: usize,
    solver: &str,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<(Matrix32<'py>, usize, f64, bool)> {
    let x = table("x", x)?;
    let x = matrix("x", &x)?;
    let options = Convex { anchor_weight, edge_weight, tolerance, max_sweeps, solver: solver_of(solver)? };
    let kernel = |control: &Control, out: &mut [f32]| smoothing::convex(&graph.0, x, &options, control, out);
    let (z, solved) = transform(py, (x.rows(), x.dim()), (out, x.data()), (threads, progress), kernel)?;
    Ok((z, solved.sweeps, solved.displacement, solved.converged))
}

#[pyfunction]
#[pyo3(signature = (graph, x, *, anchor_weight, edge_weight, shared_weight, tolerance, max_sweeps, max_hub_degree=0, solver="gauss-seidel", threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn shared<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    anchor_weight: f64,
    edge_weight: f64,
    shared_weight: f64,
    tolerance: f64,
    max_sweeps: usize,
    max_hub_degree: usize,
    solver: &str,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<(Matrix32<'py>, usize, f64, bool, usize)> {
    let x = table("x", x)?;
    let x = matrix("x", &x)?;
    let options = Convex { anchor_weight, edge_weight, tolerance, max_sweeps, solver: solver_of(solver)? };
    let pairs = (shared_weight, max_hub_degree);
    let kernel = |control: &Control, out: &mut [f32]| smoothing::shared(&graph.0, x, &options, pairs, control, out);
    let (z, (solved, pairs)) = transform(py, (x.rows(), x.dim()), (out, x.data()), (threads, progress), kernel)?;
    Ok((z, solved.sweeps, solved.displacement, solved.converged, pairs))
}

/// The solver with this name.
fn solver_of(name: &str) -> Result<Solver, Error> {
    match name {
        "gauss-seidel" => Ok(Solver::GaussSeidel),
        "cg" => Ok(Solver::ConjugateGradient),
        _ => Err(Error::parameter("solver", name, "gauss-seidel or cg")),
    }
}

#[pyfunction]
#[pyo3(signature = (graph, x, *, restart, tolerance, max_iterations, weighted, threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn diffuse<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    restart: f64,
    tolerance: f64,
    max_iterations: usize,
    weighted: bool,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<(Matrix32<'py>, usize, f64)> {
    let x = table("x", x)?;
    let x = matrix("x", &x)?;
    let options = Restart { restart, tolerance, max_iterations, weighted };
    let kernel = |control: &Control, out: &mut [f32]| diffusion::diffuse(&graph.0, x, &options, control, out);
    let (z, passes) = transform(py, (x.rows(), x.dim()), (out, x.data()), (threads, progress), kernel)?;
    Ok((z, passes.iterations, passes.residual))
}

#[pyfunction]
#[pyo3(signature = (graph, *, dim, restart, seed, tolerance, max_iterations, weighted, damping=0.0, threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn signature<'py>(
    py: Python<'py>,
    graph: &Graph,
    dim: usize,
    restart: f64,
    seed: u64,
    tolerance: f64,
    max_iterations: usize,
    weighted: bool,
    damping: f64,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<(Matrix32<'py>, usize, f64)> {
    let (sketch, options) = (Sketch { dim, seed, damping }, Restart { restart, tolerance, max_iterations, weighted });
    let kernel = |control: &Control, out: &mut [f32]| diffused_signature(&graph.0, &sketch, &options, control, out);
    let (z, passes) = transform(py, (graph.0.nodes(), dim), (out, &[]), (threads, progress), kernel)?;
    Ok((z, passes.iterations, passes.residual))
}

#[pyfunction]
#[pyo3(signature = (graph, *, dim, restart, drop, seed, weighted, rows=None, threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn root_signature<'py>(
    py: Python<'py>,
    graph: &Graph,
    dim: usize,
    restart: f64,
    drop: f64,
    seed: u64,
    weighted: bool,
    rows: Option<Any<'_, 'py>>,
    threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<(Matrix32<'py>, (u64, u64, f64, u64))> {
    let rows = rows.map(|rows| column("rows", rows)).transpose()?;
    let rows = rows.as_ref().map(|rows| rows.as_slice()).transpose()?;
    let options = Roots { restart, drop, dim, seed, weighted };
    let kernel = |control: &Control, out: &mut [f32]| roots::signature(&graph.0, rows, &options, control, out);
    let count = rows.map_or(graph.0.nodes(), <[u32]>::len);
    let (z, entries) = transform(py, (count, dim), (out, &[]), (threads, progress), kernel)?;
    Ok((z, (entries.total, entries.largest, entries.dropped, entries.steps)))
}

#[pyfunction]
#[pyo3(signature = (graph, *, restart, drop, weighted, rows=None, threads=0))]
pub(super) fn walk_masses<'py>(
    py: Python<'py>,
    graph: &Graph,
    restart: f64,
    drop: f64,
    weighted: bool,
    rows: Option<Any<'_, 'py>>,
    threads: usize,
) -> PyResult<(Column<'py, u64>, Column<'py, u32>, Column<'py, f32>)> {
    let rows = rows.map(|rows| column("rows", rows)).transpose()?;
    let rows = rows.as_ref().map(|rows| rows.as_slice()).transpose()?;
    let options = Roots { restart, drop, dim: 1, seed: 0, weighted };
    let found = run(py, threads, None, |control| roots::masses(&graph.0, rows, &options, control))?;
    Ok((found.offsets.into_pyarray(py), found.rows.into_pyarray(py), found.masses.into_pyarray(py)))
}

#[pyfunction]
#[pyo3(signature = (graph, x, *, targets, step, max_shift, steps, fan_out, pairs, seed, threads=0, progress=None, out=None))]
#[expect(
    clippy::too_many_arguments,
    clippy::type_complexity,
    reason = "Python keyword arguments, and what the stub says"
)]
pub(super) fn gradient<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    targets: [f64; 4],
    step: f64,
    max_shift: f64,
    steps: usize,
    fan_out: usize,
    pairs: usize,
    seed: u64,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<(Matrix32<'py>, (f64, f64), f64, (usize, usize))> {
    let x = table("x", x)?;
    let x = matrix("x", &x)?;
    let options = Gradient { targets, step, max_shift, steps, limits: Limits { fan_out, pairs, seed } };
    let kernel =
        |control: &Control, out: &mut [f32]| crate::transforms::gradient::gradient(&graph.0, x, &options, control, out);
    let (z, descent) = transform(py, (x.rows(), x.dim()), (out, x.data()), (threads, progress), kernel)?;
    Ok((z, descent.losses.into(), descent.displacement, (descent.patches, descent.drawn)))
}

#[pyfunction]
#[pyo3(signature = (graph, x, labels, *, alpha, threads=0, progress=None, out=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn group_means<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    labels: Any<'_, 'py>,
    alpha: f64,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
    out: Out<'_, 'py>,
) -> PyResult<Matrix32<'py>> {
    let (x, labels) = (table("x", x)?, column("labels", labels)?);
    let (x, labels) = (matrix("x", &x)?, labels.as_slice()?);
    let kernel = |control: &Control, out: &mut [f32]| smoothing::group_means(&graph.0, x, labels, alpha, control, out);
    Ok(transform(py, (x.rows(), x.dim()), (out, x.data()), (threads, progress), kernel)?.0)
}
