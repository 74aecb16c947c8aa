//! The border to Python: exact search, and the graph at query time.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::{Any, Graph, Matrix32, Progress, array, column, give, matrix, run, table};
use crate::control::Control;
use crate::error::Error;
use crate::linalg::vectors::{self, Matrix};
use crate::retrieval::pagerank::Pagerank;
use crate::retrieval::search::{Collection, Found, Lists, Request};
use crate::retrieval::spread::{Activation, Starts};

#[pyfunction]
#[pyo3(signature = (x, threads=0))]
pub(super) fn row_norms<'py>(py: Python<'py>, x: Any<'_, 'py>, threads: usize) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let x = array("x", x)?;
    let x = matrix("x", &x)?;
    Ok(run(py, threads, None, |control| vectors::row_norms("x", x, control))?.into_pyarray(py))
}

#[pyfunction]
#[pyo3(signature = (x, norms, ranks, queries, k, *, excluded=None, allowed=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn search<'py>(
    py: Python<'py>,
    x: Any<'_, 'py>,
    norms: Any<'_, 'py>,
    ranks: Any<'_, 'py>,
    queries: Any<'_, 'py>,
    k: usize,
    excluded: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    allowed: Option<Any<'_, 'py>>,
    threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let (x, norms, ranks, queries) =
        (table("x", x)?, column("norms", norms)?, column("ranks", ranks)?, table("queries", queries)?);
    let (x, queries) = (matrix("x", &x)?, matrix("queries", &queries)?);
    let collection = Collection::new(x, norms.as_slice()?)?;
    let excluded = excluded
        .map(|(offsets, rows)| PyResult::Ok((array("excluded offsets", &offsets)?, array("excluded rows", &rows)?)));
    let excluded: Option<(PyReadonlyArray1<'_, u64>, PyReadonlyArray1<'_, u32>)> = excluded.transpose()?;
    let lists = excluded
        .as_ref()
        .map(|(offsets, rows)| PyResult::Ok(Lists::new(offsets.as_slice()?, rows.as_slice()?, queries.rows())?));
    let lists = lists.transpose()?;
    let allowed: Option<PyReadonlyArray1<'_, bool>> = allowed.map(|allowed| array("allowed", allowed)).transpose()?;
    let allowed = allowed.as_ref().map(|allowed| allowed.as_slice()).transpose()?;
    let request = Request { queries, k, ranks: ranks.as_slice()?, excluded: lists, allowed };
    let found = run(py, threads, progress, |control| collection.top(&request, control))?;
    Ok((give(py, found.rows, queries.rows(), k)?, give(py, found.scores, queries.rows(), k)?))
}

#[pyfunction]
#[pyo3(signature = (x, norms, queries, rows, threads=0))]
pub(super) fn cosines<'py>(
    py: Python<'py>,
    x: Any<'_, 'py>,
    norms: Any<'_, 'py>,
    queries: Any<'_, 'py>,
    rows: Any<'_, 'py>,
    threads: usize,
) -> PyResult<Matrix32<'py>> {
    let (x, norms, queries, rows) =
        (table("x", x)?, column("norms", norms)?, table("queries", queries)?, table("rows", rows)?);
    let (x, queries) = (matrix("x", &x)?, matrix("queries", &queries)?);
    let (pairs, per_line) = (rows.as_slice()?, rows.shape()[1]);
    let collection = Collection::new(x, norms.as_slice()?)?;
    let scores = run(py, threads, None, |control| collection.cosines(queries, pairs, per_line, control))?;
    give(py, scores, queries.rows(), per_line)
}

#[pyfunction]
#[pyo3(signature = (x, norms, rows, threads=0))]
pub(super) fn pair_cosines<'py>(
    py: Python<'py>,
    x: Any<'_, 'py>,
    norms: Any<'_, 'py>,
    rows: Any<'_, 'py>,
    threads: usize,
) -> PyResult<Matrix32<'py>> {
    let (x, norms, rows) = (table("x", x)?, column("norms", norms)?, table("rows", rows)?);
    let (groups, size) = (rows.shape()[0], rows.shape()[1]);
    let collection = Collection::new(matrix("x", &x)?, norms.as_slice()?)?;
    let rows = rows.as_slice()?;
    let scores = run(py, threads, None, |control| collection.pairs(rows, size, control))?;
    give(py, scores, groups, size * size.saturating_sub(1) / 2)
}

// --- the graph at query time ----------------------------------------------------------------------------------------

/// Borrows what both kernels below take, runs one on it and moves its result out.
#[expect(clippy::too_many_arguments, reason = "what Python gave, one by one")]
fn run_on_graph<'py>(
    py: Python<'py>,
    graph: &Graph,
    (x, norms, queries): (Any<'_, 'py>, Any<'_, 'py>, Any<'_, 'py>),
    (starts, strengths): (Any<'_, 'py>, Any<'_, 'py>),
    k: usize,
    allowed: Option<Any<'_, 'py>>,
    (threads, progress): (usize, Progress<'_, '_>),
    kernel: impl Fn(&Collection<'_>, Matrix<'_>, Starts<'_>, Option<&[bool]>, &Control) -> Result<Found, Error> + Sync,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let (x, norms, queries) = (table("x", x)?, column("norms", norms)?, table("queries", queries)?);
    let (x, queries) = (matrix("x", &x)?, matrix("queries", &queries)?);
    let collection = Collection::new(x, norms.as_slice()?)?;
    let (starts, strengths) = (table("starts", starts)?, table("strengths", strengths)?);
    let per_query = starts.shape()[1];
    let starts = Starts::new(&graph.0, starts.as_slice()?, strengths.as_slice()?, queries.rows(), per_query)?;
    let allowed: Option<PyReadonlyArray1<'_, bool>> = allowed.map(|allowed| array("allowed", allowed)).transpose()?;
    let allowed = allowed.as_ref().map(|allowed| allowed.as_slice()).transpose()?;
    let found = run(py, threads, progress, |control| kernel(&collection, queries, starts, allowed, control))?;
    Ok((give(py, found.rows, queries.rows(), k)?, give(py, found.scores, queries.rows(), k)?))
}

#[pyfunction]
#[pyo3(signature = (graph, x, norms, queries, starts, strengths, k, *, decay, hops, gated, allowed=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn spread<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    norms: Any<'_, 'py>,
    queries: Any<'_, 'py>,
    starts: Any<'_, 'py>,
    strengths: Any<'_, 'py>,
    k: usize,
    decay: f64,
    hops: usize,
    gated: bool,
    allowed: Option<Any<'_, 'py>>,
    threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let options = Activation { decay, hops, gated };
    let (vectors, starts, running) = ((x, norms, queries), (starts, strengths), (threads, progress));
    run_on_graph(py, graph, vectors, starts, k, allowed, running, |collection, queries, starts, allowed, control| {
        crate::retrieval::spread::spread(&graph.0, collection, queries, starts, k, allowed, &options, control)
    })
}

#[pyfunction]
#[pyo3(signature = (graph, x, norms, queries, starts, strengths, k, *, restart, tolerance, weighted, allowed=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn pagerank<'py>(
    py: Python<'py>,
    graph: &Graph,
    x: Any<'_, 'py>,
    norms: Any<'_, 'py>,
    queries: Any<'_, 'py>,
    starts: Any<'_, 'py>,
    strengths: Any<'_, 'py>,
    k: usize,
    restart: f64,
    tolerance: f64,
    weighted: bool,
    allowed: Option<Any<'_, 'py>>,
    threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let options = Pagerank { restart, tolerance, weighted };
    let (vectors, starts, running) = ((x, norms, queries), (starts, strengths), (threads, progress));
    run_on_graph(py, graph, vectors, starts, k, allowed, running, |collection, queries, starts, allowed, control| {
        crate::retrieval::pagerank::pagerank(&graph.0, collection, queries, starts, k, allowed, &options, control)
    })
}
