"""A batch of questions on its way through a strategy: what was returned so far, and how many searches it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..errors import GmeError
from ..formatting import counted
from ..lexical.index import LexicalIndex
from ..stores.checks import kind_of
from ..stores.store import NO_ROW, Rows, Store, best, rank_keys
from ..types import Vectors

Mix = float | npt.NDArray[np.float64]


@dataclass
class Search:
    """State of one batch.

    Every array has a line a question, and no line is computed from another: a question gets the same bytes alone and in
    a batch. Sums run over results in returned order, in float64.

    Attributes:
        original: the store relevance is measured by. modified_store: the one that guides; None when none was given.
        queries: float32 (questions, dim).
        named: uint32 (questions, any): nodes that each question names, `NO_ROW` elsewhere; None: none.
        allowed: bool (nodes,), the only nodes that may be returned; None: all.
        graph: for strategies that need it at query time. entities: bool (nodes,), which nodes are entities; None: none.
        texts: the nodes' texts, indexed. questions: the questions' own; None: none were given.
        threads: for walking the graph; 0 means all cores.
        calls: searches per question so far.
        rows, scores: what was returned so far, in order.
        stages: the stage that returned each column of `rows`.
        taken: whether a strategy has returned anything, be it no column.
    """

    original: Store
    modified_store: Store | None
    queries: Vectors
    allowed: npt.NDArray[np.bool_] | None = None
    graph: Graph | None = None
    entities: npt.NDArray[np.bool_] | None = None
    threads: int = 0
    named: Rows | None = None
    texts: LexicalIndex | None = None
    questions: Sequence[str] | None = None
    calls: int = 0
    rows: Rows = field(init=False)
    scores: Vectors = field(init=False)
    stages: list[str] = field(default_factory=list)
    taken: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.rows = np.empty((len(self.queries), 0), dtype=np.uint32)
        self.scores = np.empty((len(self.queries), 0), dtype=np.float32)

    @property
    def modified(self) -> Store:
        """The modified store; strategies are only run when those they need are there."""
        assert self.modified_store is not None
        return self.modified_store

    @property
    def links(self) -> Graph:
        """The graph; strategies are only run when what they need is there."""
        assert self.graph is not None
        return self.graph

    def top(self, store: Store, queries: Vectors, k: int, everywhere: bool = False) -> tuple[Rows, Vectors]:
        """One search call: the k nearest nodes that were not returned yet; `everywhere`: also among those not allowed.

        What must not be returned may still guide.
        """
        self.calls += 1
        excluded = self.rows if self.rows.shape[1] else None
        allowed = None if everywhere else self.allowed
        return store.search(queries, min(k, len(store.vectors)), excluded, allowed)

    def top_by_words(self, k: int, everywhere: bool = False) -> tuple[Rows, Vectors]:
        """One search call: the k nodes that share most words with the question; `everywhere` as for `top`."""
        assert self.texts is not None
        assert self.questions is not None
        self.calls += 1
        return self.texts.search(self.questions, self.capped(k), None if everywhere else self.allowed)

    def neighbors(self, store: Store, targets: Vectors, k: int) -> Rows:
        """One search call for each of a question's targets, all in one pass: the k nearest nodes to each.

        Args:
            targets: float32 (questions, targets, dim).

        Returns:
            uint32 (questions, targets · k): those of the first target, then those of the second, and so on.
        """
        questions, count, dim = targets.shape
        self.calls += count
        excluded = self.rows.repeat(count, axis=0) if self.rows.shape[1] else None
        k = min(k, len(store.vectors))
        rows, _ = store.search(targets.reshape(questions * count, dim), k, excluded, self.allowed)
        return rows.reshape(questions, count * k)

    def pool(self, queries: Vectors, target: Vectors, k: int) -> Rows:
        """Two search calls: the k nearest to the question by original vectors and to `target` by modified ones."""
        near_question, _ = self.top(self.original, queries, k)
        near_target, _ = self.top(self.modified, target, k)
        return union([near_question, near_target], self.original.ranks)

    def take(self, stage: str, rows: Rows, scores: Vectors) -> Rows:
        """Return these nodes as the results of a stage; gives them back.

        Args:
            rows: uint32 (questions, any), as `top` gives them. scores: float32, of the same shape.

        Raises:
            GmeError: no such arrays.
        """
        _check_taken("take", rows, scores, len(self.queries))
        self.rows = np.concatenate([self.rows, rows], axis=1)
        self.scores = np.concatenate([self.scores, scores], axis=1)
        self.stages += [stage] * rows.shape[1]
        self.taken = True
        return rows

    def capped(self, k: int) -> int:
        """`k`, or the number of nodes if there are fewer: results are made as wide, and a budget may be any number."""
        return min(k, len(self.original.vectors))

    def take_best(self, stage: str, pool: Rows, scores: Vectors, k: int) -> Rows:
        """Return the k best of a pool as the results of a stage; arguments and errors as for `take`."""
        _check_taken("take_best", pool, scores, len(self.queries))
        return self.take(stage, *best(pool, scores, self.original.ranks, self.capped(k)))


def _check_taken(method: str, rows: object, scores: object, questions: int) -> None:
    """Refuse what can't be appended to results. Whether the nodes are legal is looked at when a strategy has ended."""
    shapes = [value.shape if isinstance(value, np.ndarray) else None for value in (rows, scores)]
    if shapes[0] is None or shapes[0] != shapes[1] or len(shapes[0]) != 2 or shapes[0][0] != questions:
        raise GmeError(
            f"search.{method} got rows {kind_of(rows)} and scores {kind_of(scores)}",
            f"both must be arrays ({counted(questions, 'question')}, any), rows uint32 and scores float32, as "
            "search.top returns them",
        )


def only(rows: Rows, mask: npt.NDArray[np.bool_]) -> Rows:
    """The rows that a mask over all nodes has, `NO_ROW` in place of the others."""
    present = rows != NO_ROW
    return np.where(present & mask[np.where(present, rows, 0)], rows, np.uint32(NO_ROW))


def union(parts: list[Rows], ranks: Rows) -> Rows:
    """The distinct rows of each question's candidates, sorted by rank; `NO_ROW` fills up the line."""
    rows = np.concatenate(parts, axis=1)
    keys = rank_keys(rows, ranks)
    order = np.argsort(keys, axis=1, kind="stable")
    rows, keys = np.take_along_axis(rows, order, axis=1), np.take_along_axis(keys, order, axis=1)
    rows[:, 1:][keys[:, 1:] == keys[:, :-1]] = NO_ROW
    return rows


def mean(vectors: Vectors, rows: Rows, weights: npt.NDArray[np.float64] | None = None) -> Vectors:
    """The plain or weighted mean of each question's rows, float32 (questions, dim); zero where there is no row.

    Args:
        weights: float64 like `rows`; they should sum to 1 over the rows present. None: a plain mean.
    """
    present = rows != NO_ROW
    if weights is None:
        weights = present / np.maximum(present.sum(axis=1, keepdims=True), 1)
    total = np.zeros((len(rows), vectors.shape[1]), dtype=np.float64)
    for column in range(rows.shape[1]):
        weight = np.where(present[:, column], weights[:, column], 0.0)
        total += vectors[np.where(present[:, column], rows[:, column], 0)] * weight[:, None]
    return total.astype(np.float32)


def blend(relevance: Vectors, guidance: Vectors, mix: Mix) -> Vectors:
    """(1 − mix)·relevance + mix·guidance in float64, rounded to float32; -inf where either is.

    Args:
        relevance, guidance: float32 (questions, candidates).
        mix: one number, or float64 (questions,).
    """
    share = np.asarray(mix, dtype=np.float64).reshape(-1, 1)
    present = np.isfinite(relevance) & np.isfinite(guidance)
    blended = (1 - share) * np.where(present, relevance, 0.0) + share * np.where(present, guidance, 0.0)
    return np.where(present, blended, -np.inf).astype(np.float32)


def shifted(queries: Vectors, towards: Vectors, shift: float) -> Vectors:
    """(1 − shift)·queries + shift·towards, not normalized again (GME: requery)."""
    return ((1 - shift) * queries.astype(np.float64) + shift * towards.astype(np.float64)).astype(np.float32)
