//! The border to Python: the lexical index.

use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::{Any, Column, Matrix32, Progress, array, column, into_numpy, run, table, thread_count};
use crate::error::Error;
use crate::lexical::build::{Builder, HELD};
use crate::lexical::layout::Index;
use crate::lexical::rest::{self, Shape};
use crate::lexical::search::{self, Corpus};
use crate::lexical::weights::Bm25;
use crate::lexical::words;

/// A lexical index in the making.
#[pyclass(frozen, module = "gme._core")]
pub(super) struct LexicalBuilder(Mutex<Option<Builder>>);

impl LexicalBuilder {
    fn taken(&self) -> PyResult<Builder> {
        let builder = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        builder.ok_or_else(|| Error::parameter("the builder", "finished or failed", "made anew").into())
    }
}

#[pymethods]
impl LexicalBuilder {
    #[new]
    #[pyo3(signature = (texts, *, k1, b, spill=None, held=HELD))]
    fn new(texts: usize, k1: f64, b: f64, spill: Option<PathBuf>, held: usize) -> PyResult<Self> {
        let spill = spill.map(|path| File::options().read(true).write(true).open(path)).transpose()?;
        Ok(Self(Mutex::new(Some(Builder::new(texts, Bm25 { k1, b }, spill, held)?))))
    }

    #[pyo3(signature = (texts, ranks, *, threads=0, progress=None))]
    fn add(
        &self,
        py: Python<'_>,
        texts: Vec<PyBackedStr>,
        ranks: Any<'_, '_>,
        #[pyo3(from_py_with = thread_count)] threads: usize,
        progress: Progress<'_, '_>,
    ) -> PyResult<()> {
        let ranks: PyReadonlyArray1<'_, u32> = column("ranks", ranks)?;
        let (ranks, mut builder) = (ranks.as_slice()?, self.taken()?);
        run(py, threads, progress, |control| builder.add(&texts, ranks, control))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(builder);
        Ok(())
    }

    #[pyo3(signature = (path=None, *, threads=0, progress=None))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        path: Option<PathBuf>,
        #[pyo3(from_py_with = thread_count)] threads: usize,
        progress: Progress<'_, '_>,
    ) -> PyResult<Option<Column<'py, u64>>> {
        let builder = self.taken()?;
        if let Some(path) = path {
            let out = BufWriter::new(File::options().write(true).open(path)?);
            run(py, threads, progress, |control| builder.finish(out, control))?;
            return Ok(None);
        }
        let mut out = Cursor::new(Vec::new());
        run(py, threads, progress, |control| builder.finish(&mut out, control))?;
        Ok(Some(bytemuck::allocation::pod_collect_to_vec::<u8, u64>(&out.into_inner()).into_pyarray(py)))
    }
}

#[pyfunction]
pub(super) fn lexical_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words::each_word(text, |word| found.push(word.to_owned()));
    found
}

#[pyfunction]
pub(super) fn lexical_facts(index: Any<'_, '_>) -> PyResult<(usize, u64, u64, u64, f64)> {
    let index = column("index", index)?;
    let index = Index::new(index.as_slice()?)?;
    Ok((index.texts, index.terms(), index.postings(), index.length, index.step))
}

#[pyfunction]
#[pyo3(signature = (index, order, questions, k, *, allowed=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python keyword arguments")]
pub(super) fn lexical_search<'py>(
    py: Python<'py>,
    index: Any<'_, 'py>,
    order: Any<'_, 'py>,
    questions: Vec<PyBackedStr>,
    k: usize,
    allowed: Option<Any<'_, 'py>>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
    progress: Progress<'_, '_>,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Matrix32<'py>)> {
    let (index, order) = (column("index", index)?, column("order", order)?);
    let (index, order) = (Index::new(index.as_slice()?)?, order.as_slice()?);
    let allowed: Option<PyReadonlyArray1<'_, bool>> = allowed.map(|allowed| array("allowed", allowed)).transpose()?;
    let corpus = Corpus { order, allowed: allowed.as_ref().map(|allowed| allowed.as_slice()).transpose()? };
    let (rows, scores) = run(py, threads, progress, |control| search::top(&index, &questions, k, corpus, control))?;
    Ok((into_numpy(py, rows, questions.len(), k)?, into_numpy(py, scores, questions.len(), k)?))
}

#[pyfunction]
#[pyo3(signature = (index, questions, ranks, *, threads=0))]
pub(super) fn lexical_scores<'py>(
    py: Python<'py>,
    index: Any<'_, 'py>,
    questions: Vec<PyBackedStr>,
    ranks: Any<'_, 'py>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
) -> PyResult<Matrix32<'py>> {
    let (index, ranks) = (column("index", index)?, table("ranks", ranks)?);
    let index = Index::new(index.as_slice()?)?;
    let (ranks, width) = (ranks.as_slice()?, ranks.shape()[1]);
    let scores = run(py, threads, None, |control| search::scores(&index, &questions, ranks, width, control))?;
    into_numpy(py, scores, questions.len(), width)
}

#[pyfunction]
#[pyo3(signature = (index, questions, seeds, ranks, *, threads=0))]
pub(super) fn lexical_rest<'py>(
    py: Python<'py>,
    index: Any<'_, 'py>,
    questions: Vec<PyBackedStr>,
    seeds: Any<'_, 'py>,
    ranks: Any<'_, 'py>,
    #[pyo3(from_py_with = thread_count)] threads: usize,
) -> PyResult<Matrix32<'py>> {
    let (index, seeds, ranks) = (column("index", index)?, table("seeds", seeds)?, table("ranks", ranks)?);
    let index = Index::new(index.as_slice()?)?;
    let shape = Shape { seeds: seeds.shape()[1], candidates: ranks.shape()[1] };
    let (seeds, ranks) = (seeds.as_slice()?, ranks.as_slice()?);
    let shares = run(py, threads, None, |control| rest::rest(&index, &questions, seeds, ranks, shape, control))?;
    into_numpy(py, shares, questions.len() * shape.seeds, shape.candidates)
}
