//! The border to Python: the graph.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::reading::NodeTable;
use super::{Any, Progress, array, run};
use crate::error::Error;
use crate::graph;

/// Node ids, as Python passes them.
pub(super) enum Named<'py> {
    Table(Bound<'py, NodeTable>),
    List(Vec<PyBackedStr>),
}

impl<'py> FromPyObject<'_, 'py> for Named<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<NodeTable>() {
            Ok(table) => Ok(Self::Table(table.to_owned())),
            Err(_) => object.extract().map(Self::List),
        }
    }
}

/// An undirected graph over node rows, owned by Rust.
#[pyclass(frozen, module = "gme._core")]
pub(super) struct Graph(pub(super) graph::Graph);

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (ids, sources, targets, weights=None, *, progress=None))]
    fn new(
        py: Python<'_>,
        ids: Named<'_>,
        sources: Any<'_, '_>,
        targets: Any<'_, '_>,
        weights: Option<Any<'_, '_>>,
        progress: Progress<'_, '_>,
    ) -> PyResult<Self> {
        let sources: PyReadonlyArray1<'_, u32> = array("sources", sources)?;
        let targets: PyReadonlyArray1<'_, u32> = array("targets", targets)?;
        let weights: Option<PyReadonlyArray1<'_, f64>> =
            weights.map(|weights| array("weights", weights)).transpose()?;
        let (sources, targets) = (sources.as_slice()?, targets.as_slice()?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let table = match &ids {
            Named::Table(table) => Some(&table.get().0),
            Named::List(_) => None,
        };
        let list = match &ids {
            Named::Table(_) => &[],
            Named::List(list) => list.as_slice(),
        };
        run(py, 0, progress, |control| match table {
            Some(ids) => graph::Graph::build(ids.len(), |row| ids.get(row), sources, targets, weights, control),
            None => graph::Graph::build(list.len(), |row| list[row].as_ref(), sources, targets, weights, control),
        })
        .map(Self)
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    #[getter]
    fn edges(&self) -> usize {
        self.0.edges()
    }

    #[getter]
    fn weighted(&self) -> bool {
        self.0.weighted()
    }

    #[getter]
    fn ranks<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.0.ranks())
    }

    #[getter]
    fn order<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.0.order())
    }

    #[getter]
    fn degrees<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_iter(py, (0..self.0.nodes()).map(|row| self.0.degree(row) as u32))
    }

    fn neighbors<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyArray1<u32>>> {
        if row >= self.0.nodes() {
            return Err(Error::parameter("row", row, "a row of the graph").into());
        }
        Ok(PyArray1::from_slice(py, self.0.neighbors(row)))
    }

    #[expect(clippy::type_complexity, reason = "three arrays, as the stub says")]
    fn csr<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>) {
        let (neighbors, weights) = (self.0.all_neighbors(), self.0.all_weights());
        let weights = if weights.is_empty() { vec![1.0; neighbors.len()] } else { weights.to_vec() };
        (PyArray1::from_slice(py, self.0.offsets()), PyArray1::from_slice(py, neighbors), weights.into_pyarray(py))
    }

    fn __repr__(&self) -> String {
        format!("Graph(nodes={}, edges={}, weighted={})", self.0.nodes(), self.0.edges(), self.0.weighted())
    }
}
