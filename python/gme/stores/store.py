"""The interface of a store, and helpers that stores share: rows, ranks, and the best of some candidates.

All stores give the same score for the same pair of vectors, because the exact kernel scores every candidate. Stores
differ only in which nodes they find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..types import Vectors

Rows: TypeAlias = npt.NDArray[np.uint32]
"""Node rows, uint32. `NO_ROW` fills empty places."""

NO_ROW = 0xFFFFFFFF


class Store(Protocol):
    """A collection that can be searched. Row i of `vectors` belongs to node i. Ties go to the smaller rank."""

    @property
    def kind(self) -> str:
        """The store's name in the registry of stores."""
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
            k: how many nodes, a whole number from 0. If fewer are eligible, `NO_ROW` with score -inf fills the end.
            excluded: uint32 (questions, any): rows that each question must not get again; `NO_ROW` is ignored.
            allowed: bool (nodes,): the only nodes that a question may get.

        Returns:
            Rows uint32 (questions, k) and scores float32 (questions, k).

        Raises:
            GmeError: arguments of other types or shapes.
        """
        ...

    def cosines(self, queries: Vectors, rows: Rows) -> Vectors:
        """The cosine of query i with each of ``rows[i]``, float32 of the same shape; -inf at `NO_ROW`.

        If there are t times as many queries as lines of rows, query i is compared with ``rows[i // t]``.
        """
        ...

    def pair_cosines(self, rows: Rows) -> Vectors:
        """The cosine of each pair among ``rows[i]``, float32 (questions, pairs); -inf if one of the two is `NO_ROW`.

        The order of pairs is that of ``numpy.triu_indices(rows.shape[1], 1)``.
        """
        ...


def best(rows: Rows, scores: Vectors, ranks: Rows, k: int) -> tuple[Rows, Vectors]:
    """The k best candidates of each question, best first, ties by rank. `NO_ROW` and -inf fill up to k columns.

    Args:
        rows: uint32 (questions, candidates), distinct within a question except `NO_ROW`.
        scores: float32 of the same shape; values at `NO_ROW` are ignored.
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
    """The rank of each id in code-point order, uint32 (len(ids),)."""
    ranks = np.empty(len(ids), dtype=np.uint32)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.uint32)
    return ranks


def contained(rows: Rows, excluded: Rows, count: int) -> npt.NDArray[np.bool_]:
    """Which of each question's `rows` occur in its line of `excluded`."""
    offsets = (np.arange(len(rows), dtype=np.int64) * (count + 1))[:, None]
    clipped = [np.minimum(part, count).astype(np.int64) + offsets for part in (rows, excluded)]
    return np.isin(clipped[0], clipped[1])


def scaled_to_unit(vectors: Vectors, norms: Vectors) -> Vectors:
    """Rows scaled to length 1; zero rows stay zero."""
    scale = np.where(norms > 0, norms, np.float32(1))
    return np.ascontiguousarray(vectors / scale[:, None], dtype=np.float32)
