"""An HNSW store (USearch): candidates from an index, scored again by the exact kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import about_array, unknown
from ..storage.signals import interruptible
from ..types import Progress, Vectors
from .exact import ExactStore
from .store import NO_ROW, Rows, best, contained, unit

CONNECTIVITY = 16

EXPANSION = 128
"""Search breadth while building and while searching: one value for both, because USearch fails in multi-threaded
searches of an index that was loaded with another value than it was built with (unum-cloud/usearch#567)."""

PRECISIONS = {"f32": 4, "f16": 2, "i8": 1}
"""How an HNSW index may hold its copy of the vectors: the bytes of a number. It only proposes candidates, which are
scored by the float32 vectors of the collection in any case. docs/research/signature.md has sizes, recall, recovery."""

_BUILD_BLOCK = 1024  # rows added between two progress reports and two chances to interrupt

OVERFETCH = 2
"""An HNSW index is asked for so many times the nodes wanted: it searches wider for it. Measured by
benches/index_threshold.py on 30,000 clustered vectors of 384 dimensions: recall@160 .936 at 1 and .973 at 2."""


@dataclass(frozen=True)
class HnswStore:
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

    @property
    def vectors(self) -> Vectors:
        """The stored vectors."""
        return self.exact.vectors

    @property
    def norms(self) -> Vectors:
        """The L2 norm of each vector."""
        return self.exact.norms

    @property
    def ranks(self) -> Rows:
        """The rank of each row's id."""
        return self.exact.ranks

    def cosines(self, queries: Vectors, rows: Rows) -> Vectors:
        """See `Store.cosines`."""
        return self.exact.cosines(queries, rows)

    def pair_cosines(self, rows: Rows) -> Vectors:
        """See `Store.pair_cosines`."""
        return self.exact.pair_cosines(rows)

    def search(
        self, queries: Vectors, k: int, excluded: Rows | None = None, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Rows, Vectors]:
        """See `Store.search`; approximate."""
        count = len(self.vectors)
        wanted = OVERFETCH * k + (0 if excluded is None else excluded.shape[1])
        eligible = count if allowed is None else int(np.count_nonzero(allowed))
        if allowed is not None and eligible:
            wanted = wanted * count // eligible
        if not (len(queries) and k and eligible) or wanted >= count:
            return self.exact.search(queries, k, excluded, allowed)
        candidates, norms = self._candidates(queries, wanted)
        if excluded is not None:
            candidates[contained(candidates, excluded, count)] = NO_ROW
        if allowed is not None:
            candidates[~allowed[np.minimum(candidates, count - 1)]] = NO_ROW
        rows, scores = best(candidates, self.cosines(queries, candidates), self.ranks, k)
        short = ((rows == NO_ROW).any(axis=1)) | (norms == 0)
        if short.any():
            left_out = None if excluded is None else excluded[short]
            rows[short], scores[short] = self.exact.search(queries[short], k, left_out, allowed)
        return rows, scores

    def _candidates(self, queries: Vectors, wanted: int) -> tuple[Rows, Vectors]:
        """Rows (questions, wanted) that the index proposes, `NO_ROW` where it proposes fewer, and the query norms."""
        with about_array("queries"):
            norms = _core.row_norms(np.ascontiguousarray(queries, dtype=np.float32))
        with interruptible():
            found = self.index.search(unit(queries, norms), wanted, threads=self.exact.threads)
        keys = np.asarray(found.keys).reshape(len(queries), -1)
        # A batch of one comes back as a single answer that holds nothing but what was found.
        counts = np.asarray(found.counts if len(queries) > 1 else [keys.shape[1]])[:, None]
        empty = np.arange(keys.shape[1]) >= counts
        rows = self.order[np.where(empty, 0, keys).astype(np.intp)].astype(np.uint32)
        rows[empty] = NO_ROW
        return rows, norms


def build_hnsw(
    exact: ExactStore, *, threads: int = 1, precision: str = "f32", progress: Progress | None = None
) -> HnswStore:
    """Build an HNSW index over a collection.

    Args:
        precision: one of `PRECISIONS`.
        threads: 1 gives the same index every time; more are faster and give another index each time (USearch inserts
            in the order the threads happen to run), so runs are reproducible only while that index is kept.
    """
    index = _empty_index(exact.vectors.shape[1], precision)
    order = np.argsort(exact.ranks)
    for start in range(0, len(order), _BUILD_BLOCK):
        rows = order[start : start + _BUILD_BLOCK]
        keys = np.arange(start, start + len(rows), dtype=np.uint64)
        with interruptible():
            index.add(keys, unit(exact.vectors[rows], exact.norms[rows]), threads=threads)
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
