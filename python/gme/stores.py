"""What can be searched: an exact store (every vector compared) and an HNSW store (USearch), with one interface.

Both give the same score for the same pair of vectors, because the candidates an HNSW index proposes are scored again by
the exact kernel; they can differ only in which nodes they find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import about_array
from .interrupts import interruptible
from .types import Vectors

Rows: TypeAlias = npt.NDArray[np.uint32]
"""Node rows, uint32; `NO_ROW` fills places that no node takes."""

NO_ROW = 0xFFFFFFFF

OVERFETCH = 2
"""An HNSW index is asked for so many times the nodes wanted: it searches wider for it. Measured by
benches/index_threshold.py on 30,000 clustered vectors of 384 dimensions: recall@160 .936 at 1 and .973 at 2."""


class Store(Protocol):
    """A collection that can be searched. Row i of `vectors` is node i; ties go to the smaller rank."""

    @property
    def kind(self) -> str:
        """Its name in the registry of index kinds."""
        ...

    @property
    def vectors(self) -> Vectors:
        """Float32 (nodes, dim)."""
        ...

    @property
    def norms(self) -> Vectors:
        """The L2 norm of each vector, float32 (nodes,)."""
        ...

    @property
    def ranks(self) -> Rows:
        """The rank of each row's id in sorted order, uint32 (nodes,)."""
        ...

    def search(
        self, queries: Vectors, k: int, excluded: Rows | None = None, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Rows, Vectors]:
        """The k nodes nearest to each query by cosine, best first.

        Args:
            queries: float32 (questions, dim).
            k: how many; fewer eligible nodes leave `NO_ROW` with score -inf at the end.
            excluded: uint32 (questions, any): rows each question must not get again; `NO_ROW` is skipped.
            allowed: bool (nodes,): the only nodes any question may get.

        Returns:
            Rows uint32 (questions, k) and scores float32 (questions, k).
        """
        ...

    def cosines(self, queries: Vectors, rows: Rows) -> Vectors:
        """The cosine of query i with each of ``rows[i]``, float32 of the same shape; -inf at `NO_ROW`.

        With t times as many queries as lines of rows, query i is compared with each of ``rows[i // t]``.
        """
        ...

    def pair_cosines(self, rows: Rows) -> Vectors:
        """The cosine of every two of ``rows[i]``, float32 (questions, pairs); -inf where one is `NO_ROW`.

        Pairs stand as in ``numpy.triu_indices(rows.shape[1], 1)``.
        """
        ...


@dataclass(frozen=True)
class ExactStore:
    """Compares a query with every vector.

    Args:
        vectors: float32 (nodes, dim), C order; may be memory-mapped.
        ranks: uint32 (nodes,): the rank of each node's id in sorted order.
        threads: 0 means all cores; any number gives the same bytes.
    """

    vectors: Vectors
    ranks: Rows
    threads: int = 0
    norms: Vectors = field(init=False, repr=False)
    kind: str = field(default="exact", init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "norms", _core.row_norms(self.vectors, threads=self.threads))

    def search(
        self, queries: Vectors, k: int, excluded: Rows | None = None, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Rows, Vectors]:
        """See `Store.search`."""
        pairs = None if excluded is None else _sparse(excluded)
        return _core.search(
            self.vectors,
            self.norms,
            self.ranks,
            np.ascontiguousarray(queries, dtype=np.float32),
            k,
            excluded=pairs,
            allowed=allowed,
            threads=self.threads,
        )

    def cosines(self, queries: Vectors, rows: Rows) -> Vectors:
        """See `Store.cosines`."""
        return _core.cosines(
            self.vectors,
            self.norms,
            np.ascontiguousarray(queries, dtype=np.float32),
            np.ascontiguousarray(rows),
            threads=self.threads,
        )

    def pair_cosines(self, rows: Rows) -> Vectors:
        """See `Store.pair_cosines`."""
        return _core.pair_cosines(self.vectors, self.norms, np.ascontiguousarray(rows), threads=self.threads)


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


def best(rows: Rows, scores: Vectors, ranks: Rows, k: int) -> tuple[Rows, Vectors]:
    """The k best of each question's candidates, best first, ties by rank; padded with `NO_ROW` and -inf to k columns.

    Args:
        rows: uint32 (questions, candidates), distinct within a question but for `NO_ROW`.
        scores: float32, the same shape; what stands at `NO_ROW` is ignored.
    """
    keys = rank_keys(rows, ranks)
    by_rank = np.argsort(keys, axis=1, kind="stable")
    sorted_rows = np.take_along_axis(rows, by_rank, axis=1)
    masked = np.where(rows == NO_ROW, np.float32(-np.inf), scores).astype(np.float32)
    sorted_scores = np.take_along_axis(masked, by_rank, axis=1)
    order = np.argsort(-sorted_scores, axis=1, kind="stable")[:, :k]
    top_rows = np.take_along_axis(sorted_rows, order, axis=1)
    top_scores = np.take_along_axis(sorted_scores, order, axis=1)
    missing = k - top_rows.shape[1]
    if missing > 0:
        top_rows = np.pad(top_rows, ((0, 0), (0, missing)), constant_values=NO_ROW)
        top_scores = np.pad(top_scores, ((0, 0), (0, missing)), constant_values=-np.inf)
    return top_rows, top_scores


def rank_keys(rows: Rows, ranks: Rows) -> npt.NDArray[np.int64]:
    """The rank of each row as int64; `NO_ROW` sorts last."""
    safe = np.where(rows == NO_ROW, 0, rows)
    return np.where(rows == NO_ROW, np.int64(NO_ROW), ranks[safe].astype(np.int64))


def sorted_ranks(ids: Sequence[str]) -> Rows:
    """The rank of each id among all in code-point order, uint32 (len(ids),)."""
    ranks = np.empty(len(ids), dtype=np.uint32)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.uint32)
    return ranks


def _sparse(excluded: Rows) -> tuple[npt.NDArray[np.uint64], Rows]:
    """A padded (questions, any) array as (indptr, rows), the form the kernel takes."""
    present = excluded != NO_ROW
    indptr = np.zeros(len(excluded) + 1, dtype=np.uint64)
    np.cumsum(present.sum(axis=1), out=indptr[1:])
    return indptr, np.ascontiguousarray(excluded[present])


def contained(rows: Rows, excluded: Rows, count: int) -> npt.NDArray[np.bool_]:
    """Which of each question's `rows` stand in its line of `excluded`."""
    offsets = (np.arange(len(rows), dtype=np.int64) * (count + 1))[:, None]
    clipped = [np.minimum(part, count).astype(np.int64) + offsets for part in (rows, excluded)]
    return np.isin(clipped[0], clipped[1])


def unit(vectors: Vectors, norms: Vectors) -> Vectors:
    """Rows scaled to length 1; zero rows stay zero."""
    scale = np.where(norms > 0, norms, np.float32(1))
    return np.ascontiguousarray(vectors / scale[:, None], dtype=np.float32)
