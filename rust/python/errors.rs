//! The border to Python: errors.

use pyo3::PyErrArguments;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::prelude::*;

use crate::error::Error;

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
pub(super) fn gme_error(message: String, hint: Option<&'static str>) -> PyErr {
    raise("GmeError", (message, hint))
}

/// An exception of `gme.errors`.
pub(super) fn raise(class: &str, arguments: impl PyErrArguments + 'static) -> PyErr {
    Python::attach(|py| {
        match py.import("gme.errors").and_then(|module| module.getattr(class)?.cast_into().map_err(Into::into)) {
            Ok(class) => PyErr::from_type(class, arguments),
            Err(error) => error,
        }
    })
}
