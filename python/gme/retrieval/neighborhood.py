"""What the pairs of a question's hits and candidates say: whether text and graph agree, and what stands together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..stores.store import NO_ROW, Rows, best
from ..types import Vectors
from .search import Search

Floats = npt.NDArray[np.float64]

NEIGHBORHOOD = 160
"""How many hits tell whether text and graph agree around a question."""

REDUNDANCY_DEPTH = 80
"""How many candidates are looked at for redundancy: twice the paper's budget. Those behind keep their order."""

BELIEF = (0.04, 0.10)
"""Up to the first agreement the graph is not believed, from the second on it is believed fully. Shuffled graphs lie
below the first, and most questions of the development sets above the second with their own graph. Graphs that follow
the texts but lead nowhere, such as edges between texts of one topic, lie in between and above: stricter bounds would
spare what they cost, and cost more where shared names are edges. docs/research/graph-check.md has the figures."""

PRIOR_PAIRS = 1.0
"""The weight of what a question starts with: few pairs are no evidence."""

PAIR_CLOSENESS = 8.0
"""Exponent of the cosine of two signatures in the weight of a pair: pairs count that edges join, not those that hubs
bring somewhat nearer."""

_QUESTIONS = 32
"""Questions whose pairs are held at a time."""

_POWERS_BY_MULTIPLICATION = 16


def graph_confidence(search: Search, hits: Rows, seeds: Rows, pool: Rows, close: Vectors, text: Vectors) -> Floats:
    """How far the graph is believed, 0 to 1 per question: are nodes that it puts close to each other alike in text?

    Agreement is (Σ w·(t − t̄) + `PRIOR_PAIRS`·a) / (Σ w + `PRIOR_PAIRS`) over the pairs of the question's hits; w =
    max(0, cos(s_i, s_j))^`PAIR_CLOSENESS`, t = cos(x_i, x_j), t̄ its mean over the pairs. It rises to full confidence
    along `BELIEF`. A graph that has nothing to do with the texts gets none, and `envelope` falls back to `plain`, or to
    `hybrid`.

    a is what counts where hardly two hits are linked, as on a sparse graph: that says nothing about the graph, but
    seeds have neighbors there as well. It is the agreement over the pairs of a seed and a candidate, with 0 in place of
    a.

    Args:
        hits, seeds, pool: uint32 (questions, any).
        close, text: float32 (seeds, questions, candidates), the cosines of signatures and of texts.
    """
    agreement: Floats = np.zeros(len(hits))
    for part in _parts(len(hits)):
        others = (pool[part] != seeds[part].T[:, :, None]) & (pool[part] != NO_ROW)
        counted = others & (seeds[part] != NO_ROW).T[:, :, None]
        alike, near = text[:, part].transpose(1, 0, 2), close[:, part].transpose(1, 0, 2)
        prior = np.maximum(_agreement(alike, near, counted.transpose(1, 0, 2), 0.0), 0.0)
        of_hits = search.original.pair_cosines(hits[part]), search.modified.pair_cosines(hits[part])
        agreement[part] = _agreement(*of_hits, np.isfinite(of_hits[0]), prior=prior)
    least, full = BELIEF
    return np.clip((agreement - least) / (full - least), 0.0, 1.0)


def _agreement(text: Vectors, close: Vectors, counted: npt.NDArray[Any], prior: Floats | float) -> Floats:
    """The agreement of each question's pairs, (questions, pairs or any shape of them), of those that are counted."""
    questions = len(text)
    counts = counted.reshape(questions, -1)
    alike = np.where(counts, text.reshape(questions, -1), 0.0).astype(np.float64)
    weights = raised(np.maximum(close.reshape(questions, -1).astype(np.float64), 0.0), PAIR_CLOSENESS) * counts
    total = weights.sum(axis=1)
    middle = alike.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    result: Floats = ((weights * alike).sum(axis=1) - total * middle + PRIOR_PAIRS * prior) / (total + PRIOR_PAIRS)
    return result


def penalize_redundancy(
    search: Search, pool: Rows, scores: Vectors, penalty: Floats, closeness: float
) -> tuple[Rows, Vectors]:
    """Lower the scores of candidates for which others at the same place in the graph stand in already; best first.

    Score i falls by penalty·redundancy_i with redundancy_i = Σ_j max(0, cos(s_i, s_j))^closeness over the candidates j
    before it. The best `REDUNDANCY_DEPTH` are looked at. All after them fall as much as the one of these that falls
    most, and so stay after them.

    Args:
        pool, scores: uint32 and float32 (questions, candidates); -inf at `NO_ROW`.
        penalty: float64 (questions, 1). closeness: the exponent.
    """
    rows, before = best(pool, scores, search.original.ranks, pool.shape[1])
    front = rows[:, :REDUNDANCY_DEPTH]
    width = front.shape[1]
    first, second = np.triu_indices(width, 1)
    redundancy = np.zeros(rows.shape)
    for part in _parts(len(rows)):
        close = np.zeros((len(front[part]), width, width))
        close[:, first, second] = raised(np.maximum(search.modified.pair_cosines(front[part]), 0.0), closeness)
        redundancy[part, :width] = close.sum(axis=1)
    redundancy[:, width:] = redundancy[:, :width].max(axis=1, keepdims=True, initial=0.0)
    after = np.where(rows == NO_ROW, -np.inf, before - penalty * redundancy).astype(np.float32)
    return rows, after


def at_place(scores: Vectors, place: int) -> Floats:
    """The score of each question's hit at this place, counted from 1, float64 (questions, 1).

    A question with fewer hits has that of the last one. So has one for which a store finds fewer: other packages'
    stores may. A question without any hit has 0.

    Args:
        scores: float32 (questions, hits), best first, -inf where there is no hit.
    """
    front = scores[:, :place]
    last = np.maximum(np.isfinite(front).sum(axis=1, keepdims=True) - 1, 0)
    found: Floats = np.take_along_axis(front, last, axis=1).astype(np.float64)
    return np.where(np.isfinite(found), found, 0.0)


def raised(base: npt.NDArray[np.floating], exponent: float) -> Floats:
    """base^exponent in float64; whole exponents by multiplication, which is many times as fast."""
    factor: Floats = base.astype(np.float64)
    if exponent != int(exponent) or not 1 <= exponent <= _POWERS_BY_MULTIPLICATION:
        return factor**exponent
    power, left = np.ones_like(factor), int(exponent)
    while left:
        if left & 1:
            power = power * factor
        factor, left = factor * factor, left >> 1
    return power


def _parts(questions: int) -> Iterator[slice]:
    return (slice(start, start + _QUESTIONS) for start in range(0, questions, _QUESTIONS))
