//! The border to Python: exact search, and the graph at query time.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::{Any, Graph, Matrix32, Progress, array, column, into_numpy, matrix, run, table, thread_count};
use crate::control::Control;
use crate::error::Error;
use crate::linalg::vectors::{self, Matrix};
use crate::retrieval::pagerank::Pagerank;
use crate::retrieval::search::{self as exact, Found, Lists, Request};
use crate::retrieval::spread::{Activation, Starts};

#[pyfunction]
#[pyo3(signature = (x, threads=0, *, name="x"))]
pub(super) fn row_norms<'py>(
    py: Python<'py>,
    x: Any<'_, 'py>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    name: &str,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let x = array(name, x)?;
    let x = matrix(name, &x)?;
    Ok(run(py, threads, None, |control| vectors::row_norms(name.to_owned(), x, control))?.into_pyarray(py))
}

// --- vectors to search in -------------------------------------------------------------------------------------------

/// Vectors with their norms and the ranks of their ids.
///
/// It holds the arrays that Python passed, even memory maps, and copies none. Every call borrows and checks them anew,
/// because Python may have changed the shape or type of an array.
#[pyclass(frozen, module = "gme._core")]
pub(super) struct VectorSet {
    #[pyo3(get)]
    vectors: Py<PyAny>,
    #[pyo3(get)]
    norms: Py<PyAny>,
    #[pyo3(get)]
    ranks: Py<PyAny>,
}

#[pymethods]
impl VectorSet {
    #[new]
    #[pyo3(signature = (x, ranks=None, *, threads=0, name="x"))]
    fn new<'py>(
        py: Python<'py>,
        x: Any<'_, 'py>,
        ranks: Option<Any<'_, 'py>>,
        #[pyo3(from_py_with = thread_count)] threads: usize,
        name: &str,
    ) -> PyResult<Self> {
        let norms = row_norms(py, x, threads, name)?;
        norms.call_method1("setflags", (false,))?;
        let ranks = match ranks {
            Some(ranks) => ranks.clone(),
            None => PyArray1::from_iter(py, 0..norms.len() as u32).into_any(),
        };
        let set = Self { vectors: x.clone().unbind(), norms: norms.into_any().unbind(), ranks: ranks.unbind() };
        set.with(py, |set| Ok(set.check_ranks()?))?;
        Ok(set)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.vectors.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |set| Ok(format!("VectorSet(rows={}, dim={})", set.rows(), set.dim())))
    }
}

impl VectorSet {
    /// Borrows the arrays for one call of a kernel.
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(exact::VectorSet<'_>) -> PyResult<T>) -> PyResult<T> {
        let (x, norms) = (table("x", self.vectors.bind(py))?, column("norms", self.norms.bind(py))?);
        let ranks = column("ranks", self.ranks.bind(py))?;
        work(exact::VectorSet::new(matrix("x", &x)?, norms.as_slice()?, ranks.as_slice()?)?)
    }
}

#[pyfunction]
#[pyo3(signature = (vectors, queries, k, *, excluded=None, allowed=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn search<'py>(
    py: Python<'py>,
    vectors: &VectorSet,
    queries: Any<'_, 'py>,
    k: usize,
    excluded: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    allowed: Option<Any<'_, 'py>>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let queries = table("queries", queries)?;
    let queries = matrix("queries", &queries)?;
    let excluded = excluded
        .map(|(offsets, rows)| PyResult::Ok((array("excluded offsets", &offsets)?, array("excluded rows", &rows)?)));
    let excluded: Option<(PyReadonlyArray1<'_, u64>, PyReadonlyArray1<'_, u32>)> = excluded.transpose()?;
    let lists = excluded
        .as_ref()
        .map(|(offsets, rows)| PyResult::Ok(Lists::new(offsets.as_slice()?, rows.as_slice()?, queries.rows())?));
    let lists = lists.transpose()?;
    let allowed: Option<PyReadonlyArray1<'_, bool>> = allowed.map(|allowed| array("allowed", allowed)).transpose()?;
    let allowed = allowed.as_ref().map(|allowed| allowed.as_slice()).transpose()?;
    let request = Request { queries, k, excluded: lists, allowed };
    let found = vectors.with(py, |set| run(py, threads, progress, |control| set.top(&request, control)))?;
    Ok((into_numpy(py, found.rows, queries.rows(), k)?, into_numpy(py, found.scores, queries.rows(), k)?))
}

#[pyfunction]
#[pyo3(signature = (vectors, queries, rows, threads=0))]
pub(super) fn cosines<'py>(
    py: Python<'py>,
    vectors: &VectorSet,
    queries: Any<'_, 'py>,
    rows: Any<'_, 'py>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
) -> PyResult<Matrix32<'py>> {
    let (queries, rows) = (table("queries", queries)?, table("rows", rows)?);
    let queries = matrix("queries", &queries)?;
    let (pairs, per_line) = (rows.as_slice()?, rows.shape()[1]);
    let scores =
        vectors.with(py, |set| run(py, threads, None, |control| set.cosines(queries, pairs, per_line, control)))?;
    into_numpy(py, scores, queries.rows(), per_line)
}

#[pyfunction]
#[pyo3(signature = (vectors, rows, threads=0))]
pub(super) fn pair_cosines<'py>(
    py: Python<'py>,
    vectors: &VectorSet,
    rows: Any<'_, 'py>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
) -> PyResult<Matrix32<'py>> {
    let rows = table("rows", rows)?;
    let (groups, size) = (rows.shape()[0], rows.shape()[1]);
    let rows = rows.as_slice()?;
    let scores = vectors.with(py, |set| run(py, threads, None, |control| set.pairs(rows, size, control)))?;
    into_numpy(py, scores, groups, size * size.saturating_sub(1) / 2)
}

// --- the graph at query time ----------------------------------------------------------------------------------------

/// Borrows the arguments that both kernels below take, runs one of them and moves its result out.
#[expect(clippy::too_many_arguments, reason = "what Python gave, one by one")]
fn run_on_graph<'py>(
    py: Python<'py>,
    graph: &Graph,
    vectors: &VectorSet,
    queries: Any<'_, 'py>,
    (starts, strengths): (Any<'_, 'py>, Any<'_, 'py>),
    k: usize,
    allowed: Option<Any<'_, 'py>>,
    (threads, progress): (usize, Progress<'_, '_>),
    kernel: impl Fn(&exact::VectorSet<'_>, Matrix<'_>, Starts<'_>, Option<&[bool]>, &Control) -> Result<Found, Error> + Sync,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let queries = table("queries", queries)?;
    let queries = matrix("queries", &queries)?;
    let (starts, strengths) = (table("starts", starts)?, table("strengths", strengths)?);
    let per_query = starts.shape()[1];
    let starts = Starts::new(&graph.0, starts.as_slice()?, strengths.as_slice()?, queries.rows(), per_query)?;
    let allowed: Option<PyReadonlyArray1<'_, bool>> = allowed.map(|allowed| array("allowed", allowed)).transpose()?;
    let allowed = allowed.as_ref().map(|allowed| allowed.as_slice()).transpose()?;
    let found = vectors
        .with(py, |set| run(py, threads, progress, |control| kernel(&set, queries, starts, allowed, control)))?;
    Ok((into_numpy(py, found.rows, queries.rows(), k)?, into_numpy(py, found.scores, queries.rows(), k)?))
}

#[pyfunction]
#[pyo3(signature = (graph, vectors, queries, starts, strengths, k, *, decay, hops, gated, allowed=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn spread<'py>(
    py: Python<'py>,
    graph: &Graph,
    vectors: &VectorSet,
    queries: Any<'_, 'py>,
    starts: Any<'_, 'py>,
    strengths: Any<'_, 'py>,
    k: usize,
    decay: f64,
    hops: usize,
    gated: bool,
    allowed: Option<Any<'_, 'py>>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let options = Activation { decay, hops, gated };
    let (starts, running) = ((starts, strengths), (threads, progress));
    run_on_graph(py, graph, vectors, queries, starts, k, allowed, running, |set, queries, starts, allowed, control| {
        crate::retrieval::spread::spread(&graph.0, set, queries, starts, k, allowed, &options, control)
    })
}

#[pyfunction]
#[pyo3(signature = (graph, vectors, queries, starts, strengths, k, *, restart, tolerance, weighted, allowed=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn pagerank<'py>(
    py: Python<'py>,
    graph: &Graph,
    vectors: &VectorSet,
    queries: Any<'_, 'py>,
    starts: Any<'_, 'py>,
    strengths: Any<'_, 'py>,
    k: usize,
    restart: f64,
    tolerance: f64,
    weighted: bool,
    allowed: Option<Any<'_, 'py>>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let options = Pagerank { restart, tolerance, weighted };
    let (starts, running) = ((starts, strengths), (threads, progress));
    run_on_graph(py, graph, vectors, queries, starts, k, allowed, running, |set, queries, starts, allowed, control| {
        crate::retrieval::pagerank::pagerank(&graph.0, set, queries, starts, k, allowed, &options, control)
    })
}
