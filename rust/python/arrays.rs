//! The border to Python: arrays that are borrowed and given back.

use numpy::ndarray::{Array2, Dimension};
use numpy::{
    Element, IntoPyArray, PyArray, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1,
    PyReadonlyArray2, PyReadwriteArray2, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use super::Any;
use super::errors::gme_error;
use crate::linalg::vectors::Matrix;

/// Borrows an array of exactly this type and number of dimensions. For any other object, the error says how to make
/// one.
pub(super) fn array<'py, T: Element, D: Dimension>(
    name: &str,
    object: Any<'_, 'py>,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
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
pub(super) fn column<'py, T: Element>(name: &str, object: Any<'_, 'py>) -> PyResult<PyReadonlyArray1<'py, T>> {
    array(name, object)
}

/// [`array`] with two dimensions.
pub(super) fn table<'py, T: Element>(name: &str, object: Any<'_, 'py>) -> PyResult<PyReadonlyArray2<'py, T>> {
    array(name, object)
}

/// Borrows the matrix inside an array.
pub(super) fn matrix<'a>(name: &str, array: &'a PyReadonlyArray2<'_, f32>) -> PyResult<Matrix<'a>> {
    let &[rows, dim] = array.shape() else { return Err(gme_error(format!("{name} must be a matrix"), None)) };
    Ok(Matrix::new(name.to_owned(), array.as_slice()?, rows, dim)?)
}

/// Moves a matrix out without a copy.
pub(super) fn into_numpy<T: Element>(
    py: Python<'_>,
    data: Vec<T>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let matrix =
        Array2::from_shape_vec((rows, columns), data).map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(matrix.into_pyarray(py))
}

/// Borrows the matrix that a kernel is to write. It must have the shape of the result, and must not overlap with what
/// the kernel reads.
pub(super) fn writable<'py>(
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
