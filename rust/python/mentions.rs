//! The border to Python: title mentions.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::{Column, Progress, run, thread_count};
use crate::mentions::{self, Mentions};

#[pyfunction]
#[pyo3(signature = (titles, texts, *, ignore_case, min_length, threads=0, progress=None))]
pub(super) fn title_mentions<'py>(
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
