//! The border to Python: running a kernel without the GIL, with progress and signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use super::arrays::writable;
use super::errors::gme_error;
use super::{Any, Matrix32, Out, Progress};
use crate::control::Control;
use crate::error::Error;

/// The most threads. More would only cost time, and no result depends on their number.
const MOST_THREADS: usize = 256;

/// The number of threads that Python asks for.
pub(super) fn thread_count(object: Any<'_, '_>) -> PyResult<usize> {
    let rule = "a whole number of at least 0, where 0 means all cores";
    object.extract().or_else(|_| {
        let value = object.py().import("gme.errors")?.call_method1("shorten", (object,))?;
        Err(Error::parameter("threads", value, rule).into())
    })
}

/// Runs a kernel on threads of its own (0: one per core). Meanwhile the calling thread looks for signals such as Ctrl-C
/// and reports progress, about ten times a second. The thread pool ends with the call, so that a later fork of the
/// process is safe.
pub(super) fn run<T: Send>(
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
pub(super) fn transform<'py, T: Send>(
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
