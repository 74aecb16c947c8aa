"""Checks of the arrays that stores are given, and of the rows that other code returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import GmeError, shorten
from ..types import Vectors
from .store import NO_ROW


def kind_of(value: object) -> str:
    """What something is that should have been something else, for messages."""
    if isinstance(value, np.ndarray):
        return f"a {value.dtype} array of shape {value.shape}"
    return shorten(value) if value is None or isinstance(value, (str, int, float)) else f"a {type(value).__name__}"


def numbers(values: Any) -> Vectors | None:
    """Values as float32 in C order, or None if they are no array of real numbers. A float32 array is not copied."""
    if not (isinstance(values, np.ndarray) and values.dtype == np.float32):
        try:
            values = np.asarray(values)
        except (TypeError, ValueError):  # lists of different lengths
            return None
        if not values.ndim or values.dtype.kind not in "fiub":  # text and complex numbers would convert
            return None
    return np.ascontiguousarray(values, dtype=np.float32)


def checked_queries(queries: Any) -> Vectors:
    """The queries of `Store.search` and `Store.cosines` as the kernels take them."""
    array = numbers(queries)
    if array is None or array.ndim != 2:
        hint = "use query[None] for one query" if array is not None and array.ndim == 1 else "embed the questions"
        raise GmeError(f"queries must be numbers (questions, dim), found {kind_of(queries)}", hint)
    return array


def check_count(k: object) -> None:
    """Refuse a `k` of `Store.search` that is no whole number from 0."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 0:
        raise GmeError(f"k must be a whole number from 0, found {kind_of(k)}", "k is how many nodes to find")


def check_rows(rows: object, name: str = "rows") -> None:
    """Refuse what is no array of node rows."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint32 or rows.ndim != 2:
        raise GmeError(
            f"{name} must be a uint32 array (questions, any), found {kind_of(rows)}",
            f"convert with numpy.asarray({name}, dtype='uint32')",
        )


def rows_fault(rows: object, lines: int, nodes: int) -> tuple[str, int | None]:
    """What is wrong with rows of nodes that other code made, and in which line.

    Returns:
        An empty text if they are uint32 (lines, any), below `nodes` or `NO_ROW`, and distinct in each line.
    """
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint32 or rows.ndim != 2 or len(rows) != lines:
        found = f"{rows.dtype} {rows.shape}" if isinstance(rows, np.ndarray) else type(rows).__name__
        return f"rows {found} where uint32 ({lines}, any) is needed", None
    outside = ((rows >= nodes) & (rows != NO_ROW)).any(axis=1)
    if outside.any():
        return f"a row that none of the {nodes} nodes has", int(outside.argmax())
    ordered = np.sort(rows, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_ROW)).any(axis=1)
    return ("a node twice", int(twice.argmax())) if twice.any() else ("", None)
