"""An HNSW store (USearch): candidates from an index, scored again by the exact kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import unknown
from ..storage.signals import interruptible
from ..types import Progress, Vectors
from .candidates import CandidateStore
from .exact import ExactStore
from .store import NO_ROW, Rows, scaled_to_unit

CONNECTIVITY = 16

EXPANSION = 128
"""Search breadth while building and while searching: one value for both, because USearch fails in multi-threaded
searches of an index that was loaded with another value than it was built with (unum-cloud/usearch#567)."""

PRECISIONS = {"f32": 4, "f16": 2, "i8": 1}
"""How an HNSW index may hold its copy of the vectors: the bytes of a number. It only proposes candidates, which are
scored by the float32 vectors of the collection in any case. Sizes, recall and recovery: docs/research/signature.md."""

_BUILD_BLOCK = 1024  # rows added between two progress reports and two chances to interrupt


@dataclass(frozen=True)
class HnswStore(CandidateStore):
    """Looks for candidates in an HNSW graph over the unit vectors and scores them exactly.

    The index holds unit rows, in float32 or less, under the inner product; zero rows stay zero, so that they have
    cosine 0 with everything. Its keys are ranks, inserted in rank order, so that the order of files does not matter. A
    question that gets too few candidates (exclusions, allowed nodes, a zero query) is searched exactly instead.
    """

    exact: ExactStore
    index: Any
    kind: str = field(default="hnsw", init=False)
    order: npt.NDArray[np.intp] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", np.argsort(self.exact.ranks))

    def candidates(self, directions: Vectors, wanted: int) -> Rows:
        """See `CandidateStore.candidates`."""
        with interruptible():
            found = self.index.search(directions, wanted, threads=self.exact.threads)
        keys = np.asarray(found.keys).reshape(len(directions), -1)
        # A batch of one comes back as a single answer that holds nothing but what was found.
        counts = np.asarray(found.counts if len(directions) > 1 else [keys.shape[1]])[:, None]
        empty = np.arange(keys.shape[1]) >= counts
        rows: Rows = self.order[np.where(empty, 0, keys).astype(np.intp)].astype(np.uint32)
        rows[empty] = NO_ROW
        return rows


def build_hnsw(
    exact: ExactStore, *, threads: int = 1, precision: str = "f32", progress: Progress | None = None
) -> HnswStore:
    """Build an HNSW index over a collection.

    Args:
        precision: one of `PRECISIONS`.
        threads: 1 gives the same index every time; more are faster and give another index each time (USearch inserts
            in the order the threads happen to run), so runs are reproducible only while that index is kept.

    Example:
        >>> import gme, numpy as np
        >>> vectors = np.eye(4, dtype=np.float32)
        >>> store = gme.build_hnsw(gme.ExactStore(vectors, np.arange(4, dtype=np.uint32)))
        >>> rows, scores = store.search(vectors[2:3], 1)
        >>> rows.tolist()
        [[2]]
    """
    index = _empty_index(exact.vectors.shape[1], precision)
    order = np.argsort(exact.ranks)
    for start in range(0, len(order), _BUILD_BLOCK):
        rows = order[start : start + _BUILD_BLOCK]
        keys = np.arange(start, start + len(rows), dtype=np.uint64)
        with interruptible():
            index.add(keys, scaled_to_unit(exact.vectors[rows], exact.norms[rows]), threads=threads)
        if progress is not None:
            progress(start + len(rows), len(order))
    return HnswStore(exact, index)


def _empty_index(dim: int, precision: str) -> Any:
    if precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)
    # Heavy, and not needed for exact search. onnxruntime goes first because it crashes when it is loaded after USearch
    # (1.32 after 2.26.6: both carry parts of the C++ runtime), and an ad-hoc question may need it later.
    import onnxruntime  # noqa: F401
    from usearch.index import Index

    return Index(
        ndim=dim,
        metric="ip",
        dtype=precision,  # USearch would take bf16
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION,
        expansion_search=EXPANSION,
    )
