//! The border to Python. Only this module and its submodules use PyO3 and numpy.
//!
//! A function here checks its arguments, releases the GIL, calls the core and maps the error. Matrices are read in
//! place, even from memory maps. Results move out without a copy.
//!
//! There is one caveat (PyO3/rust-numpy#497). A read-only borrow cannot stop *other Python threads* from writing into
//! an array while a kernel reads it without the GIL. Nothing in gme does that, and callers must not do it either: do
//! not change an array until the call that got it returns. The graph is owned by Rust and cannot change at all.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

mod arrays;
mod errors;
mod graph;
mod lexical;
mod mentions;
mod reading;
mod running;
mod searching;
mod transforms;

use arrays::{array, column, into_numpy, matrix, table};
use graph::Graph;
use reading::NodeTable;
use running::{run, thread_count, transform};

type Any<'a, 'py> = &'a Bound<'py, PyAny>;
type Matrix32<'py> = Bound<'py, PyArray2<f32>>;
type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Progress<'a, 'py> = Option<&'a Bound<'py, PyAny>>;
type Out<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

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
    module.add_function(wrap_pyfunction!(mentions::title_mentions, module)?)?;
    module.add_class::<lexical::LexicalBuilder>()?;
    module.add_function(wrap_pyfunction!(lexical::lexical_words, module)?)?;
    module.add_function(wrap_pyfunction!(lexical::lexical_facts, module)?)?;
    module.add_function(wrap_pyfunction!(lexical::lexical_search, module)?)?;
    module.add_function(wrap_pyfunction!(lexical::lexical_scores, module)?)?;
    module.add_function(wrap_pyfunction!(lexical::lexical_rest, module)?)?;
    module.add_function(wrap_pyfunction!(searching::row_norms, module)?)?;
    module.add_function(wrap_pyfunction!(searching::search, module)?)?;
    module.add_function(wrap_pyfunction!(searching::cosines, module)?)?;
    module.add_function(wrap_pyfunction!(searching::pair_cosines, module)?)?;
    module.add_function(wrap_pyfunction!(searching::spread, module)?)?;
    module.add_function(wrap_pyfunction!(searching::pagerank, module)?)?;
    Ok(())
}
