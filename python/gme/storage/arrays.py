"""Arrays in `.npy` files: opened as memory maps, checked, and written through memory maps."""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import NodeTable
from ..errors import GmeError, shorten
from ..types import Progress, Vectors
from . import platform

_STEP = 64 << 20  # bytes; a multiple of every page size
_CHECKED_BYTES = 256 << 20


class NewArray:
    """A new float32 array. `vectors` is a memory map of the file, so that assigning to it writes the file.

    Room on the disk is reserved first. A full disk then raises an error here. Without this, writing to the map would
    kill the process.

    Args:
        handle: an empty file, open for reading and writing. path: what error messages call it.
        rows, dim: the shape.
    """

    vectors: Vectors

    def __init__(self, handle: IO[bytes], path: Path, rows: int, dim: int) -> None:
        self._handle, self._path = handle, path
        self._lay_out(rows, dim)

    def _lay_out(self, rows: int, dim: int) -> None:
        header = io.BytesIO()
        descr = np.lib.format.dtype_to_descr(np.dtype(np.float32))
        np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": (rows, dim)})
        start = header.tell()
        self._size = start + rows * dim * np.dtype(np.float32).itemsize
        self._handle.seek(0)
        self._handle.truncate()
        self._handle.write(header.getvalue())
        self._handle.flush()
        try:
            platform.reserve(self._handle, start, self._size)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        self._map = mmap.mmap(self._handle.fileno(), self._size)
        self.vectors = np.ndarray((rows, dim), np.float32, self._map, offset=start)

    def fill(self, vectors: Vectors) -> None:
        """Make `vectors` the content, whatever their shape. Does nothing if they were written in place."""
        if vectors is self.vectors:
            return
        if vectors.shape != self.vectors.shape:
            self._unmap()
            self._lay_out(*vectors.shape)
        rows = max(1, _STEP // max(1, vectors.shape[1] * vectors.itemsize))
        for start in range(0, len(vectors), rows):
            self.vectors[start : start + rows] = vectors[start : start + rows]
            self.release()

    def _unmap(self) -> None:
        """Close the map, because Windows can't truncate a mapped file. Somebody's array may still use the map."""
        self.vectors = self.vectors[:0].copy()
        with contextlib.suppress(BufferError):
            self._map.close()

    def release(self) -> None:
        """Free the memory of what is written so far. The system keeps it in its cache until it is on the disk."""
        platform.release_map(self._map)

    def digest(self, progress: Progress | None = None) -> str:
        """Write everything to the disk, and return the SHA-256 of the file in hex. `progress` is called with bytes."""
        digest = hashlib.sha256()
        self.release()
        # Step by step, so that Ctrl-C does not wait for a slow disk.
        for start in range(0, self._size, _STEP):
            end = min(start + _STEP, self._size)
            self._map.flush(start, end - start)
            with memoryview(self._map) as whole, whole[start:end] as part:
                digest.update(part)
            self.release()
            if progress is not None:
                progress(end, self._size)
        return digest.hexdigest()


def release(vectors: npt.NDArray[Any]) -> None:
    """Free the memory of an array that `load_array` has mapped. Reading it again loads it from the file."""
    if isinstance(vectors.base, mmap.mmap) and not vectors.flags.writeable:
        platform.release_map(vectors.base)


def open_vectors(path: Path, rows: int, rows_of: str) -> npt.NDArray[np.float32]:
    """Memory-map a float32 (rows, dim) array. Pickled arrays are never loaded.

    Raises:
        GmeError: not an array file, wrong dtype, not two-dimensional, or a row count that is not `rows`.
    """
    vectors = load_array(path)
    if vectors.dtype != np.float32 or not vectors.flags.c_contiguous:
        raise GmeError(
            f"{path}: expected float32 in C order, found {vectors.dtype}",
            f"convert it: numpy.save({path.name!r}, numpy.ascontiguousarray(array, dtype='float32'))",
        )
    if vectors.ndim != 2:
        raise GmeError(f"{path}: expected the shape (rows, dim), found {vectors.shape}", "one row a vector")
    if len(vectors) != rows:
        raise GmeError(
            f"{path} has {len(vectors)} rows, but {rows_of} has {rows}",
            f"row i belongs to line i of {rows_of}: make the array again from this file",
        )
    return vectors


def load_array(path: Path) -> npt.NDArray[Any]:
    """Memory-map any `.npy` array; a damaged, truncated or pickled file is a `GmeError`."""
    try:
        with path.open("rb") as handle:
            magic = handle.read(6)
    except FileNotFoundError:
        raise GmeError(f"{path} is missing", "check the path") from None
    if magic.startswith(b"PK"):
        raise GmeError(f"{path}: expected one .npy array, found an archive", "save the array with numpy.save")
    if magic != b"\x93NUMPY":  # numpy would call it a pickle and advise to load it unsafely
        raise _unreadable(path, "it is damaged or holds Python objects")
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # on a damaged header numpy raises a dozen kinds of errors
        raise _unreadable(path, " ".join(str(error).split())[:300]) from error
    return array


def _unreadable(path: Path, reason: str) -> GmeError:
    return GmeError(
        f"{path}: not a readable .npy array: {reason}",
        "write it again with numpy.save; arrays of objects (pickles) are never loaded",
    )


def check_finite(
    vectors: npt.NDArray[np.floating[Any]],
    what: str,
    ids: Sequence[str] | NodeTable,
    *,
    zero: bool = False,
    progress: Progress | None = None,
) -> None:
    """Refuse rows with NaN or infinity and, unless `zero` is true, zero rows. The message names the row and its id."""
    step = max(1, _CHECKED_BYTES // max(1, vectors[:1].nbytes))
    for start in range(0, len(vectors), step):
        part = vectors[start : start + step]
        if not _pass_quick_check(part, zero):
            _find_bad_row(part, start, what, ids, zero)
        if progress is not None:
            progress(start + len(part), len(vectors))


def _pass_quick_check(vectors: npt.NDArray[np.floating[Any]], zero: bool) -> bool:
    """Whether every row surely has a finite length above 0. False only means that a closer look is needed."""
    if vectors.dtype != np.float32 or not vectors.flags.c_contiguous or vectors.ndim != 2 or not vectors.shape[1]:
        return False
    try:
        norms = _core.row_norms(vectors)
    except GmeError:
        return False
    return zero or bool(norms.all())


def _find_bad_row(
    vectors: npt.NDArray[np.floating[Any]], first: int, what: str, ids: Sequence[str] | NodeTable, zero: bool
) -> None:
    for start in range(0, len(vectors), 65_536):
        # A float64 sum of squares is finite exactly when every float32 entry is.
        squares = np.einsum(
            "ij,ij->i", vectors[start : start + 65_536], vectors[start : start + 65_536], dtype=np.float64
        )
        bad = np.flatnonzero(~np.isfinite(squares) | ((squares == 0) & (not zero)))
        if len(bad):
            row = first + start + int(bad[0])
            kind = "is zero" if math.isfinite(squares[bad[0]]) else "holds NaN or infinity"
            raise GmeError(
                f"{what}: row {row} (id {shorten(ids[row])}) {kind}",
                "every vector needs a direction to be compared by cosine (rows count from 0)",
            )
