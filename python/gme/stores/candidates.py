"""The base of approximate stores. They propose candidates, which are then scored exactly and filtered."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import GmeError
from ..plugins import blaming, origin, source_of_module
from ..types import Vectors
from .checks import check_count, checked_queries, rows_fault
from .exact import ExactStore
from .store import NO_ROW, Rows, best, contained, scaled_to_unit

OVERFETCH = 2
"""A store is asked for this many times the wanted candidates, which makes an HNSW index search wider. By
benches/index_threshold.py, on 30,000 clustered vectors of 384 dimensions: recall@160 .936 at 1 and .973 at 2."""

FEW = 1_000
"""Norms of fewer queries are computed by one thread. For so little work, starting several takes longer."""


class CandidateStore(ABC):
    """A `Store` that proposes candidates in its own way. A subclass defines `kind` and `candidates`.

    The exact kernel computes the scores, so they are the same in every store. If a question gets too few candidates
    (through exclusions, allowed nodes or a zero query), it is searched exactly instead.

    Attributes:
        exact: the exact store over the same collection.
        kind: the store's name in the registry of stores.
    """

    exact: ExactStore
    kind: str

    @abstractmethod
    def candidates(self, directions: Vectors, wanted: int) -> Rows:
        """Rows that may be near each direction, by the store's own estimate, in any order.

        Args:
            directions: float32 (questions, dim), each row of length 1; a zero query stays zero.
            wanted: how many candidates; always fewer than there are vectors.

        Returns:
            uint32 (questions, wanted), distinct within a question; `NO_ROW` fills places without a candidate.
        """

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

    @property
    def vector_set(self) -> _core.VectorSet:
        """The stored vectors with their norms and ranks."""
        return self.exact.vector_set

    def cosines(self, queries: Vectors, rows: Rows) -> Vectors:
        """See `Store.cosines`."""
        return self.exact.cosines(queries, rows)

    def pair_cosines(self, rows: Rows) -> Vectors:
        """See `Store.pair_cosines`."""
        return self.exact.pair_cosines(rows)

    def search(
        self, queries: Vectors, k: int, excluded: Rows | None = None, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Rows, Vectors]:
        """See `Store.search`. The result is approximate."""
        count = len(self.vectors)
        check_count(k)
        queries = checked_queries(queries)
        if not self._fits(queries, excluded, allowed):
            return self.exact.search(queries, k, excluded, allowed)  # says what is wrong
        wanted = OVERFETCH * k + (0 if excluded is None else excluded.shape[1])
        eligible = count if allowed is None else int(np.count_nonzero(allowed))
        if allowed is not None and eligible:
            wanted = wanted * count // eligible
        if not (len(queries) and k and eligible) or wanted >= count:
            return self.exact.search(queries, k, excluded, allowed)
        norms = _core.row_norms(queries, threads=1 if len(queries) < FEW else 0, name="queries")
        candidates = self._checked(scaled_to_unit(queries, norms), wanted)
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

    def _checked(self, directions: Vectors, wanted: int) -> Rows:
        """The candidates. Those of another package's store are checked, and its errors name it."""
        owner = type(self).__module__
        if owner.partition(".")[0] == "gme":
            return self.candidates(directions, wanted)
        what = f"store {self.kind!r} of {origin(source_of_module(owner))}"
        with blaming(what):
            rows = self.candidates(directions, wanted)
        fault, line = rows_fault(rows, len(directions), len(self.vectors))
        if fault:
            raise GmeError(
                f"{what} proposed {fault}{'' if line is None else f' for question {line + 1}'}",
                "candidates are uint32 (questions, any), distinct for each question, with NO_ROW in empty places",
            )
        return rows.copy()  # it may be an array that the store keeps

    def _fits(self, queries: Vectors, excluded: Rows | None, allowed: npt.NDArray[np.bool_] | None) -> bool:
        """Whether these are arguments that the kernel takes."""
        count, dim = self.vectors.shape
        if queries.shape[1] != dim:
            return False
        if allowed is not None and (getattr(allowed, "dtype", None) != np.bool_ or allowed.shape != (count,)):
            return False
        if excluded is None:
            return True
        fits = (
            isinstance(excluded, np.ndarray)
            and excluded.ndim == 2
            and excluded.dtype == np.uint32
            and len(excluded) == len(queries)
        )
        return fits and bool(((excluded < count) | (excluded == NO_ROW)).all())
