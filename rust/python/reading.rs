//! The border to Python: reading nodes and edges from files.

use std::collections::HashMap;
use std::path::PathBuf;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString};

use super::{Column, Progress, run, thread_count};
use crate::io::ids::{Ids, Strings};
use crate::io::jsonl::Sizes;
use crate::io::records::{self, Codes};

/// The distinct ids of nodes, by row. Rust owns them.
#[pyclass(frozen, module = "gme._core")]
pub(super) struct NodeTable(pub(super) Ids);

#[pymethods]
impl NodeTable {
    #[new]
    fn new(py: Python<'_>, ids: Vec<PyBackedStr>) -> PyResult<Self> {
        run(py, 0, None, |_| Ids::new(ids.iter().collect())).map(Self)
    }

    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.strings().iter())
    }

    fn row(&self, id: &str) -> Option<u32> {
        self.0.row(id)
    }

    fn __getitem__(&self, row: isize) -> PyResult<&str> {
        let place = usize::try_from(row).ok().filter(|&row| row < self.0.len());
        place
            .map(|row| self.0.get(row))
            .ok_or_else(|| pyo3::exceptions::PyIndexError::new_err(format!("row {row} of {} nodes", self.0.len())))
    }

    fn __contains__(&self, id: &str) -> bool {
        self.0.row(id).is_some()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("NodeTable(nodes={})", self.0.len())
    }
}

#[pyfunction]
#[pyo3(signature = (path, *, block, longest, threads=0, progress=None))]
pub(super) fn read_ids(
    py: Python<'_>,
    path: PathBuf,
    block: usize,
    longest: usize,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<NodeTable> {
    let sizes = Sizes { block, longest };
    run(py, threads, progress, |control| records::read_nodes(&path, false, sizes, control))
        .map(|read| NodeTable(read.0))
}

type List<'py> = Bound<'py, PyList>;

#[pyfunction]
#[pyo3(signature = (path, *, block, longest, threads=0, progress=None))]
pub(super) fn read_nodes<'py>(
    py: Python<'py>,
    path: PathBuf,
    block: usize,
    longest: usize,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(NodeTable, List<'py>, List<'py>, List<'py>)> {
    let sizes = Sizes { block, longest };
    let (ids, contents) = run(py, threads, progress, |control| records::read_nodes(&path, true, sizes, control))?;
    let titles = contents.titles.iter().zip(&contents.titled).map(|(title, &titled)| titled.then_some(title));
    let titles = PyList::new(py, titles.collect::<Vec<_>>())?;
    Ok((NodeTable(ids), shared(py, &contents.types)?, PyList::new(py, contents.texts.iter())?, titles))
}

/// A list in which equal strings are one object.
fn shared<'py>(py: Python<'py>, strings: &Strings) -> PyResult<List<'py>> {
    let mut made: HashMap<&str, Bound<'py, PyString>> = HashMap::new();
    let list: Vec<_> =
        strings.iter().map(|string| made.entry(string).or_insert_with(|| PyString::new(py, string)).clone()).collect();
    PyList::new(py, list)
}

type EdgeColumns<'py> = (Column<'py, u32>, Column<'py, u32>, Option<Column<'py, f64>>, Bound<'py, PyAny>, Vec<String>);

#[pyfunction]
#[pyo3(signature = (path, nodes, *, block, longest, threads=0, progress=None))]
pub(super) fn read_edges<'py>(
    py: Python<'py>,
    path: PathBuf,
    nodes: &NodeTable,
    block: usize,
    longest: usize,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<EdgeColumns<'py>> {
    let sizes = Sizes { block, longest };
    let edges = run(py, threads, progress, |control| records::read_edges(&path, &nodes.0, sizes, control))?;
    let types = match edges.types {
        Codes::Narrow(types) => types.into_pyarray(py).into_any(),
        Codes::Wide(types) => types.into_pyarray(py).into_any(),
    };
    let weights = (!edges.weights.is_empty()).then(|| edges.weights.into_pyarray(py));
    Ok((edges.sources.into_pyarray(py), edges.targets.into_pyarray(py), weights, types, edges.type_names))
}
