//! The border to Python. Only this module and its submodules use PyO3 and numpy.
//!
//! A function here checks its arguments, releases the GIL, calls the core and maps the error. Matrices are read in
//! place, even from memory maps. Results move out without a copy.
//!
//! There is one caveat (PyO3/rust-numpy#497). A read-only borrow cannot stop *other Python threads* from writing into
//! an array while a kernel reads it without the GIL. Nothing in gme does that, and callers must not do it either: do
//! not change an array until the call that got it returns. The graph is owned by Rust and cannot change at all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use numpy::ndarray::{Array2, Dimension};
use numpy::{
    Element, IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray,
    PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::PyErrArguments;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PySlice;

use crate::control::Control;
use crate::error::Error;
use crate::graph;
use crate::linalg::vectors::Matrix;
use crate::mentions::{self, Mentions};

mod lexical;
mod reading;
mod searching;
mod transforms;

use reading::NodeTable;

type Any<'a, 'py> = &'a Bound<'py, PyAny>;
type Matrix32<'py> = Bound<'py, PyArray2<f32>>;
type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Progress<'a, 'py> = Option<&'a Bound<'py, PyAny>>;
type Out<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

// --- errors ---------------------------------------------------------------------------------------------------------

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match &error {
            Error::Cancelled => PyKeyboardInterrupt::new_err(()),
            Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
            Error::System(message) => PyOSError::new_err(message.clone()),
            &Error::Hub { what, row, degree, found, limit } => {
                raise("HubError", (what, row, degree, found, limit, error.hint()))
            }
            &Error::Line { line, offset, first } => raise("RefusedLine", (line, offset, first)),
            _ => gme_error(error.to_string(), error.hint()),
        }
    }
}

/// A `gme.errors.GmeError`.
fn gme_error(message: String, hint: Option<&'static str>) -> PyErr {
    raise("GmeError", (message, hint))
}

/// An exception of `gme.errors`.
fn raise(class: &str, arguments: impl PyErrArguments + 'static) -> PyErr {
    Python::attach(|py| {
        match py.import("gme.errors").and_then(|module| module.getattr(class)?.cast_into().map_err(Into::into)) {
            Ok(class) => PyErr::from_type(class, arguments),
            Err(error) => error,
        }
    })
}

// --- arrays ---------------------------------------------------------------------------------------------------------

/// Borrows an array of exactly this type and number of dimensions. For any other object, the error says how to make
/// one.
fn array<'py, T: Element, D: Dimension>(name: &str, object: Any<'_, 'py>) -> PyResult<PyReadonlyArray<'py, T, D>> {
    let refuse = |message: String| gme_error(message, None);
    let Ok(untyped) = object.cast::<PyUntypedArray>() else {
        let kind = object.get_type().name()?;
        return Err(refuse(format!("{name} is a {kind}, must be a numpy array: pass numpy.asarray({name})")));
    };
    let (found, needed) = (untyped.dtype(), dtype::<T>(object.py()));
    if !found.is_equiv_to(&needed) {
        return Err(refuse(format!("{name} has dtype {found}, must be {needed}: pass {name}.astype(numpy.{needed})")));
    }
    if D::NDIM.is_some_and(|dimensions| dimensions != untyped.ndim()) {
        let (shape, needed) = (untyped.shape(), D::NDIM.unwrap_or_default());
        return Err(refuse(format!("{name} has shape {shape:?}, must have {needed} dimension(s)")));
    }
    if !untyped.is_c_contiguous() || !object.getattr("flags")?.getattr("aligned")?.is_truthy()? {
        return Err(refuse(format!(
            "{name} is not C-contiguous and aligned: pass numpy.ascontiguousarray({name}) or a copy"
        )));
    }
    let typed = object.cast::<PyArray<T, D>>()?;
    typed.try_readonly().map_err(|error| refuse(format!("{name} cannot be read: {error}")))
}

/// [`array`] with one dimension.
fn column<'py, T: Element>(name: &str, object: Any<'_, 'py>) -> PyResult<PyReadonlyArray1<'py, T>> {
    array(name, object)
}

/// [`array`] with two dimensions.
fn table<'py, T: Element>(name: &str, object: Any<'_, 'py>) -> PyResult<PyReadonlyArray2<'py, T>> {
    array(name, object)
}

/// Borrows the matrix inside an array.
fn matrix<'a>(name: &str, array: &'a PyReadonlyArray2<'_, f32>) -> PyResult<Matrix<'a>> {
    let &[rows, dim] = array.shape() else { return Err(gme_error(format!("{name} must be a matrix"), None)) };
    Ok(Matrix::new(name.to_owned(), array.as_slice()?, rows, dim)?)
}

/// Moves a matrix out without a copy.
fn give<T: Element>(py: Python<'_>, data: Vec<T>, rows: usize, columns: usize) -> PyResult<Bound<'_, PyArray2<T>>> {
    let matrix =
        Array2::from_shape_vec((rows, columns), data).map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(matrix.into_pyarray(py))
}

// --- running --------------------------------------------------------------------------------------------------------

/// The most threads. More would only cost time, and no result depends on their number.
const MOST_THREADS: usize = 256;

/// The number of threads that Python asks for.
fn thread_count(object: Any<'_, '_>) -> PyResult<usize> {
    let rule = "a whole number of at least 0, where 0 means all cores";
    object.extract().or_else(|_| {
        let value = object.py().import("gme.errors")?.call_method1("shorten", (object,))?;
        Err(Error::parameter("threads", value, rule).into())
    })
}

/// Runs a kernel on threads of its own (0: one per core). Meanwhile the calling thread looks for signals such as Ctrl-C
/// and reports progress, about ten times a second. The thread pool ends with the call, so that a later fork of the
/// process is safe.
fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Progress<'_, '_>,
    work: impl FnOnce(&Control) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let control = Control::new();
    let finished = AtomicBool::new(false);
    let caller = std::thread::current();
    let report = || {
        let counts = control.progress();
        progress.filter(|_| counts.1 > 0).map_or(Ok(()), |progress| progress.call1(counts).map(drop))
    };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(MOST_THREADS)).build();
            let result =
                pool.map_err(|error| Error::System(error.to_string())).and_then(|pool| pool.install(|| work(&control)));
            finished.store(true, Ordering::Release);
            caller.unpark();
            result
        });
        let mut stopped = Ok(());
        while stopped.is_ok() && !finished.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| std::thread::park_timeout(Duration::from_millis(100)));
            stopped = py.check_signals().and_then(|()| report());
        }
        if stopped.is_err() {
            control.cancel();
        }
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The end is always reported, even if the kernel ends before the first report or between two.
        if stopped.is_ok() && result.is_ok() {
            stopped = report();
        }
        stopped.and(result.map_err(PyErr::from))
    })
}

/// Runs a kernel that writes a matrix into `out`, or into new memory, and returns that matrix.
///
/// New memory comes from `numpy.empty`, which asks the system for huge pages. First accesses and jumps in it are
/// several times cheaper than in memory that Rust allocates, or `numpy.zeros` of numpy 1. Its content does not matter,
/// because kernels overwrite `out`. The matrix begins at a cache line, so that no lane of a kernel straddles two.
fn transform<'py, T: Send>(
    py: Python<'py>,
    (rows, columns): (usize, usize),
    (out, read): (Out<'_, 'py>, &[f32]),
    (threads, progress): (usize, Progress<'_, '_>),
    kernel: impl FnOnce(&Control, &mut [f32]) -> Result<T, Error> + Send,
) -> PyResult<(Matrix32<'py>, T)> {
    if let Some(out) = out {
        let mut borrowed = writable(out, (rows, columns), read)?;
        let values = borrowed.as_slice_mut()?;
        let result = run(py, threads, progress, |control| kernel(control, values))?;
        return Ok((out.cast::<PyArray2<f32>>()?.clone(), result));
    }
    const LINE: usize = 64;
    let room = LINE / size_of::<f32>();
    let fits = |count: &usize| Vec::<f32>::new().try_reserve_exact(count.saturating_add(room)).is_ok();
    let count = rows.checked_mul(columns).filter(fits).ok_or(Error::Memory { what: "the result", rows, columns })?;
    let whole = py.import("numpy")?.call_method1("empty", (count + room, f32::get_dtype(py)))?;
    let whole = whole.cast_into::<PyArray1<f32>>()?;
    let mut borrowed = whole.try_readwrite().map_err(|error| gme_error(error.to_string(), None))?;
    let start = borrowed.as_slice()?.as_ptr().align_offset(LINE).min(room);
    let values = &mut borrowed.as_slice_mut()?[start..start + count];
    let result = run(py, threads, progress, |control| kernel(control, values))?;
    drop(borrowed);
    let part = PySlice::new(py, start as isize, (start + count) as isize, 1);
    let matrix = whole.get_item(part)?.call_method1("reshape", ((rows, columns),))?;
    Ok((matrix.cast_into()?, result))
}

/// Borrows the matrix that a kernel is to write. It must have the shape of the result, and must not overlap with what
/// the kernel reads.
fn writable<'py>(
    out: Any<'_, 'py>,
    (rows, columns): (usize, usize),
    read: &[f32],
) -> PyResult<PyReadwriteArray2<'py, f32>> {
    // This borrow ends before the array is borrowed again for writing.
    let shape = {
        let readable = table::<f32>("out", out)?;
        let (written, read) = (readable.as_slice()?.as_ptr_range(), read.as_ptr_range());
        if written.start < read.end && read.start < written.end {
            return Err(gme_error("out overlaps x: pass another array".to_owned(), None));
        }
        [readable.shape()[0], readable.shape()[1]]
    };
    if shape != [rows, columns] {
        return Err(gme_error(format!("out has shape {shape:?}, must have [{rows}, {columns}]"), None));
    }
    let typed = out.cast::<PyArray2<f32>>()?;
    typed.try_readwrite().map_err(|error| gme_error(format!("out cannot be written: {error}"), None))
}

// --- the graph ------------------------------------------------------------------------------------------------------

/// Node ids, as Python passes them.
enum Named<'py> {
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
struct Graph(graph::Graph);

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

// --- mentions -------------------------------------------------------------------------------------------------------

#[pyfunction]
#[pyo3(signature = (titles, texts, *, ignore_case, min_length, threads=0, progress=None))]
fn title_mentions<'py>(
    py: Python<'py>,
    titles: Vec<PyBackedStr>,
    texts: Vec<PyBackedStr>,
    ignore_case: bool,
    min_length: usize,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Column<'py, u32>, Column<'py, u32>)> {
    let options = Mentions { ignore_case, min_length };
    let pairs = run(py, threads, progress, |control| mentions::title_mentions(&titles, &texts, &options, control))?;
    let title_index = PyArray1::from_iter(py, pairs.iter().map(|pair| pair.0));
    Ok((title_index, PyArray1::from_iter(py, pairs.iter().map(|pair| pair.1))))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Graph>()?;
    module.add_class::<NodeTable>()?;
    module.add_class::<searching::VectorSet>()?;
    module.add_function(wrap_pyfunction!(reading::read_ids, module)?)?;
    module.add_function(wrap_pyfunction!(reading::read_nodes, module)?)?;
    module.add_function(wrap_pyfunction!(reading::read_edges, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::hop, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::walk, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::walk_endpoints, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::convex, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::shared, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::diffuse, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::signature, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::root_signature, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::walk_masses, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::gradient, module)?)?;
    module.add_function(wrap_pyfunction!(transforms::group_means, module)?)?;
    module.add_function(wrap_pyfunction!(title_mentions, module)?)?;
    module.add_class::<lexical::LexicalBuilder>()?;
    module.add_function(wrap_pyfunction!(lexical::lexical_words, module)?)?;
    module.add_function(wrap_pyfunction!(lexical::lexical_facts, module)?)?;
    module.add_function(wrap_pyfunction!(lexical::lexical_search, module)?)?;
    module.add_function(wrap_pyfunction!(lexical::lexical_scores, module)?)?;
    module.add_function(wrap_pyfunction!(searching::row_norms, module)?)?;
    module.add_function(wrap_pyfunction!(searching::search, module)?)?;
    module.add_function(wrap_pyfunction!(searching::cosines, module)?)?;
    module.add_function(wrap_pyfunction!(searching::pair_cosines, module)?)?;
    module.add_function(wrap_pyfunction!(searching::spread, module)?)?;
    module.add_function(wrap_pyfunction!(searching::pagerank, module)?)?;
    Ok(())
}
