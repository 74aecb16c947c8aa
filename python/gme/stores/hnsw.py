"""The HNSW store (USearch): an index proposes candidates, and the exact kernel scores them."""

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
"""How widely USearch searches while it builds and while it searches. Both use one value, because multi-threaded
searches fail if an index is loaded with another value than it was built with (unum-cloud/usearch#567)."""

PRECISIONS = {"f32": 4, "f16": 2, "i8": 1}
"""The number formats of an HNSW index's copy of the vectors -> bytes per number. The index only proposes candidates;
their scores always come from the collection's float32 vectors. Sizes, recall, recovery: docs/research/signature.md."""

_BUILD_BLOCK = 1024  # rows added before progress is reported and an interrupt is possible


@dataclass(frozen=True)
class HnswStore(CandidateStore):
    """Finds candidates in an HNSW graph over unit vectors, and scores them exactly.

    The index holds unit rows, as float32 or smaller numbers, and compares them by inner product. Zero rows stay zero
    and have cosine 0 with everything. Keys are ranks, inserted in rank order, so that the order of files does not
    matter. If a question gets too few candidates (through exclusions, allowed nodes or a zero query), it is searched
    exactly instead.
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
        # For a single query USearch returns only what it found, without counts.
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
        threads: 1 gives the same index every time. More are faster, but give another index each time: USearch
            inserts in the order in which threads run. Runs are then reproducible only while that index is kept.

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
    # Imported late because both are heavy and exact search needs neither. onnxruntime comes first: loaded after USearch
    # it crashes (1.32 after 2.26.6; both carry parts of the C++ runtime), and a question asked later may need it.
    import onnxruntime  # noqa: F401
    from usearch.index import Index

    return Index(
        ndim=dim,
        metric="ip",
        dtype=precision,  # without it USearch would choose bf16
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION,
        expansion_search=EXPANSION,
    )
