"""``file:NODES.npy``: existing vectors, checked and converted to the workspace's form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from ..errors import GmeError, shorten
from ..storage.arrays import load_array
from ..types import Vectors
from .options import EmbedOptions
from .protocol import normalized

_BLOCK = 16_384
_TYPES = (np.float16, np.float32, np.float64)


def read_vectors(path: Path, ids: Sequence[str], rows_of: str) -> Vectors:
    """Read (rows, dim) vectors of any float type and order. Returns them as float32, C order, L2-normalized.

    The file is memory-mapped and converted in blocks, so the result is the only copy in memory.

    Args:
        path: a ``.npy`` file.
        ids: the ids of its rows, in order.
        rows_of: the file with these ids, for messages.

    Raises:
        GmeError: a missing or damaged file, objects or integers, a wrong shape or row count, or a row that is zero, NaN
            or infinite (named by row and id).
    """
    source = load_array(path)
    if source.dtype.newbyteorder("=") not in _TYPES:
        raise GmeError(
            f"{path}: expected float16, float32 or float64, found {source.dtype}",
            f"convert it: numpy.save({path.name!r}, array.astype('float32'))",
        )
    if source.ndim != 2 or source.shape[1] == 0:
        raise GmeError(f"{path}: expected the shape (rows, dim), found {source.shape}", "one row a vector")
    if len(source) != len(ids):
        raise GmeError(
            f"{path} has {len(source)} rows, but {rows_of} has {len(ids)}",
            f"row i belongs to line i of {rows_of}: they must be as many",
        )
    out = np.empty(source.shape, dtype=np.float32)
    for start in range(0, len(source), _BLOCK):
        block = source[start : start + _BLOCK]
        vectors, bad = normalized(block)
        if bad is not None:
            row = start + bad
            kind = "is zero" if not np.any(block[bad]) else "holds NaN, infinity or numbers too large"
            raise GmeError(
                f"{path}: row {row} (id {shorten(ids[row])} of {rows_of}) {kind}",
                "every vector needs a direction to be compared by cosine: make this one again (rows count from 0)",
            )
        out[start : start + _BLOCK] = vectors
    return out


def no_new_texts(options: EmbedOptions, threads: int) -> NoReturn:
    """The registry's entry for ``file:``. It always raises an error, because a file can't embed new texts."""
    raise GmeError(
        f"the vectors came from {options.model}, so a new text can't be embedded with the model that made them",
        "name that model: --model local, onnx:FOLDER or openai:NAME",
    )
