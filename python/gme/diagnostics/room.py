"""What is left to win at a budget, and how much of it the graph points to better than similarity does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .reach import hops_to_targets
from .results import Pointed, Room
from .structure import Adjacency, Ints

PEERS = 10
"""Hits that each missing gold node is compared with: those next to it in the order of similarity."""


@dataclass(frozen=True)
class Ranked:
    """Where dense retrieval finds the gold of each question.

    Attributes:
        hits: uint32 (questions, depth): the rows found, best first.
        sizes: int64 (questions,): how many gold nodes each question has.
        question, rows, place: int64 (gold nodes,): the question of each gold node, its row, and its position among the
            hits; ``depth`` for a row that is not there.
    """

    hits: npt.NDArray[np.uint32]
    sizes: Ints
    question: Ints
    rows: Ints
    place: Ints


def room(graph: Adjacency, ranked: Ranked, *, top: int, seeds: int, max_hops: int) -> Room:
    """Count what the first `top` hits lack and have a place for, and see whether the graph points there.

    A question with 30 gold nodes cannot have more than 10 of them among the first 10. So each question has
    min(gold, top) places, and what is open is this number less the gold that is found, as a share of its gold.

    The graph points to a missing gold node if the node is near the best hits. Nodes that are similar to the question
    are near them in any graph that follows the texts. So a missing node counts only as far as it is near more often
    than its peers: the hits beside it in the order of similarity, or the last ones for a node beyond all hits.

    Returns:
        ``open``: the mean open share, the most that recall at `top` can rise. ``winnable``: the share of questions that
        lack gold and whose gold fits. ``too_many``: the share of questions with more gold than `top`. ``pointed``: for
        each number of hops, the part of ``open`` that the graph points to beyond the peers (below 0 if it points away),
        and ``error``, the standard error of that over questions.
    """
    questions = len(ranked.sizes)
    found = np.bincount(ranked.question, ranked.place < top, questions)
    places = np.minimum(ranked.sizes, top)
    lacking = np.flatnonzero(ranked.place >= top)
    missing = np.bincount(ranked.question[lacking], minlength=questions)
    worth = (places - found) / ranked.sizes
    best = ranked.hits[:, :seeds].astype(np.int64)
    peers, counted = _peers(ranked, lacking, top)
    of = ranked.question[lacking]
    distances = hops_to_targets(graph, best, of, ranked.rows[lacking], max_hops)
    beside = hops_to_targets(graph, best, np.repeat(of, peers.shape[1]), peers.ravel(), max_hops).reshape(peers.shape)
    pointed: list[Pointed] = []
    for hops in range(1, max_hops + 1):
        among_peers = ((beside <= hops) & counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
        excess = np.bincount(of, (distances <= hops) - among_peers, questions) / np.maximum(missing, 1)
        each = worth * excess
        error = float(each.std(ddof=1) / questions**0.5) if questions > 1 else None
        pointed.append({"hops": hops, "share": float(each.mean()), "error": error})
    return {
        "open": float(worth.mean()),
        "winnable": float(((found < ranked.sizes) & (ranked.sizes <= top)).mean()),
        "too_many": float((ranked.sizes > top).mean()),
        "pointed": pointed,
    }


def _peers(ranked: Ranked, lacking: Ints, top: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The rows beside each missing gold node in the order of similarity, and which of them are no gold themselves."""
    depth = ranked.hits.shape[1]
    width = max(0, min(PEERS + 1, depth - top))
    first = np.clip(ranked.place[lacking] - PEERS // 2, top, max(top, depth - width))
    rows = ranked.hits[ranked.question[lacking, None], first[:, None] + np.arange(width)].astype(np.int64)
    total = int(ranked.hits.max(initial=0)) + int(ranked.rows.max(initial=0)) + 1
    gold = ranked.question * total + ranked.rows
    counted = ~np.isin(ranked.question[lacking, None] * total + rows, gold)
    return rows, counted
