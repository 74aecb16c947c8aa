"""Strategies that search words: `bm25` alone, and `hybrid`, which adds what words say to what vectors say.

`WordEvidence` is what `hybrid` and `envelope` add to a node's similarity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..stores.store import NO_ROW, Rows, best, contained
from ..types import Vectors
from .neighborhood import Floats, at_place
from .options import Bm25Options, HybridOptions
from .schedule import Schedule
from .search import Search, only, union

BM25_SCORE = "BM25 over words and pairs of words; 0 where no word is shared, by id"
HYBRID_SCORE = "similarity to the question, and what its words say"

WORD_DEPTH = 40
"""Words stand out against the node at this place, as similarity does."""


@dataclass(frozen=True)
class WordEvidence:
    """What the words of each question add to the similarity of the nodes that share most of them.

    Attributes:
        rows: uint32 (questions, `WORD_DEPTH`), best first, `NO_ROW` where fewer nodes share a word.
        gains: float64 of the same shape: weight · Δ · z, 0 at `NO_ROW`.
    """

    rows: Rows
    gains: Floats

    @classmethod
    def find(cls, search: Search, similarity: Vectors, weight: float) -> WordEvidence:
        """One search by words, among all nodes: what must not be returned may still guide.

        z = (l − l_40) / (l_1 − l_40) of BM25 scores l; l_40 is 0 where fewer than 40 nodes share a word with the
        question. Δ is what the best similarity has above the 40th.

        Args:
            similarity: float32 (questions, any): the largest similarities of each question, best first, of all nodes.
            weight: what the best node by words gains, as a multiple of Δ.
        """
        rows, scores = search.top_by_words(WORD_DEPTH, everywhere=True)
        worth = np.where(rows == NO_ROW, 0.0, scores.astype(np.float64))
        above = worth - worth[:, -1:]
        shares = above / np.maximum(above[:, :1], np.finfo(np.float64).tiny)
        return cls(rows, weight * gap(similarity) * shares)

    def of(self, pool: Rows, nodes: int) -> Floats:
        """What each candidate gains, float64 like `pool`; `nodes` is the number of all nodes."""
        keys = _keys(self.rows, nodes).ravel()
        order = np.argsort(keys)
        sought = _keys(pool, nodes)
        places = np.minimum(np.searchsorted(keys, sought, sorter=order), max(len(keys) - 1, 0))
        if not len(keys):
            return np.zeros(pool.shape)
        found = order[places]
        known = (keys[found] == sought) & (pool != NO_ROW)
        gains: Floats = np.where(known, self.gains.ravel()[found], 0.0)
        return gains


def gap(similarity: Vectors) -> Floats:
    """Δ of each question, float64 (questions, 1): what the best similarity has above the `WORD_DEPTH`-th."""
    return at_place(similarity, 1) - at_place(similarity, WORD_DEPTH)


def with_words(search: Search, hits: Rows, evidence: WordEvidence, everywhere: bool = False) -> tuple[Rows, Vectors]:
    """As many hits as before, best first by similarity and words together; float32 cos(q, x) + gain.

    Args:
        hits: the nearest nodes; what words do not lift can only enter through them.
        everywhere: also nodes that must not be returned.
    """
    rows = evidence.rows
    if search.allowed is not None and not everywhere:
        rows = only(rows, search.allowed)
    pool = union([hits, rows], search.original.ranks)
    return best(pool, similarity_and_words(search, pool, evidence), search.original.ranks, hits.shape[1])


def nearest_with_words(search: Search, depth: int, weight: float) -> tuple[Rows, Vectors, WordEvidence]:
    """The best nodes that may be returned by similarity and words together, `depth` or `WORD_DEPTH` if that is more.

    Returns:
        Their rows and float32 cos(q, x) + gain, best first, and what words add to any node.
    """
    depth = max(depth, WORD_DEPTH)
    near, similarity = search.top(search.original, search.queries, depth, everywhere=True)
    evidence = WordEvidence.find(search, similarity, weight)
    if search.allowed is not None:
        near, _ = search.top(search.original, search.queries, depth)
    return *with_words(search, near, evidence), evidence


def similarity_and_words(search: Search, pool: Rows, evidence: WordEvidence | None) -> Vectors:
    """cos(q, x) of each candidate with what words add, float32; -inf at `NO_ROW`."""
    cosines = search.original.cosines(search.queries, pool)
    if evidence is None:
        return cosines
    return (cosines.astype(np.float64) + evidence.of(pool, len(search.original.vectors))).astype(np.float32)


def run_bm25(search: Search, options: Bm25Options, schedule: Schedule | None = None) -> None:
    """The nodes that share most words with the question, then those that share none, by id, with score 0."""
    count = search.capped(options.budget)
    rows, scores = search.top_by_words(count)
    if (rows == NO_ROW).any():
        assert search.texts is not None
        order = search.texts.order
        first = (order if search.allowed is None else order[search.allowed[order]])[:count]
        rest = np.broadcast_to(first, (len(rows), len(first)))
        rest = np.where(contained(rest, rows, len(order)), np.uint32(NO_ROW), rest)
        rows = np.concatenate([rows, rest], axis=1)
        scores = np.concatenate([scores, np.zeros(rest.shape, dtype=np.float32)], axis=1)
        rows, scores = best(rows, scores, search.original.ranks, count)
    search.take("bm25", rows, scores)


def run_hybrid(search: Search, options: HybridOptions, schedule: Schedule | None = None) -> None:
    """Similarity and words together: cos(q, x) + weight · Δ · z, as in `WordEvidence.find`."""
    rows, scores, _ = nearest_with_words(search, options.budget, options.lexical_weight)
    count = search.capped(options.budget)
    search.take("hybrid", rows[:, :count], scores[:, :count])


def _keys(rows: Rows, nodes: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """A number for each row of each question, that no other has; `NO_ROW` of a question shares one."""
    lines = np.arange(len(rows), dtype=np.int64)[:, None] * (nodes + 1)
    return lines + np.minimum(rows, nodes).astype(np.int64)
