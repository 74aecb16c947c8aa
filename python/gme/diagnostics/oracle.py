"""How much dense retrieval leaves to win (NG: re-ranking oracle), and whether its best hits lead there in the graph."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Graph
from ..types import Progress, Vectors
from .linkage import TypedNodes
from .reach import hops_to_targets
from .results import Oracle, Routes
from .room import Ranked, room
from .structure import Adjacency, Ints

_DRAWS = 10  # random nodes that each missing gold node is compared with


def oracle(
    graph: Graph,
    arrays: Adjacency,
    gold: list[Ints],
    vectors: Vectors,
    questions: Vectors,
    nodes: TypedNodes,
    *,
    top: int,
    depth: int,
    seeds: int,
    max_hops: int,
    generator: np.random.Generator,
    threads: int = 0,
    progress: Progress | None = None,
) -> Oracle:
    """Sort questions by how deep dense retrieval finds their gold, and look for routes to the missing gold.

    Args:
        graph: the graph. arrays: the same graph as arrays.
        gold: the gold rows of each question, at least one.
        vectors: float32 (nodes, dim). questions: float32 (questions, dim).
        nodes: random nodes are drawn from these.
        top: the gold is right within this many hits. depth: re-ranking can fix it within this many.
        seeds: how many hits a route may begin at.
        max_hops: the longest route.

    Returns:
        ``right``, ``fixable``, ``not_retrieved``: shares of questions with all gold in the first `top`, with all in the
        first `depth`, and the rest. ``missing_top`` and ``missing_depth``: how many gold nodes are not among the first
        `top` and `depth`; for each number of hops, the share of them within it from one of the first `seeds` hits; and
        the same share for random nodes of the same types. ``room``: see `gme.diagnostics.room.room`.
    """
    depth = min(depth, len(vectors))
    hits, _ = _core.search(
        _core.VectorSet(vectors, graph.ranks, threads=threads),
        np.ascontiguousarray(questions),
        depth,
        threads=threads,
        progress=progress,
    )
    sizes = np.array([len(rows) for rows in gold], dtype=np.int64)
    question = np.repeat(np.arange(len(gold)), sizes)
    rows = np.concatenate(gold)
    place = np.concatenate([_places(hits[n], wanted) for n, wanted in enumerate(gold)])
    worst = np.maximum.reduceat(place, np.cumsum(sizes) - sizes)
    best = hits[:, :seeds].astype(np.int64)
    lacking = np.flatnonzero(place >= top)
    distances = hops_to_targets(arrays, best, question[lacking], rows[lacking], max_hops)
    sources = np.repeat(question[lacking], _DRAWS)
    drawn = nodes.draw(np.repeat(nodes.types[rows[lacking]], _DRAWS), generator)
    chance = hops_to_targets(arrays, best, sources, drawn, max_hops)
    beyond = place[lacking] >= depth
    again = np.repeat(beyond, _DRAWS)
    return {
        "top": top,
        "depth": depth,
        "seeds": seeds,
        "questions": len(gold),
        "right": float((worst < top).mean()),
        "fixable": float(((worst >= top) & (worst < depth)).mean()),
        "not_retrieved": float((worst >= depth).mean()),
        "missing_top": _routes(distances, chance, max_hops),
        "missing_depth": _routes(distances[beyond], chance[again], max_hops),
        "room": room(arrays, Ranked(hits, sizes, question, rows, place), top=top, seeds=seeds, max_hops=max_hops),
    }


def _places(hits: npt.NDArray[np.uint32], wanted: Ints) -> Ints:
    """The position of each wanted row among the hits; the number of hits for a row that is not there."""
    found = hits[None, :] == wanted[:, None]
    return np.where(found.any(axis=1), found.argmax(axis=1), len(hits))


def _routes(gold: npt.NDArray[np.uint8], random: npt.NDArray[np.uint8], max_hops: int) -> Routes:
    random = random[random > 0]  # a missing node is never among the best hits, so a drawn one must not be there either
    return {
        "count": len(gold),
        "within": [
            {
                "hops": hops,
                "gold": float((gold <= hops).mean()) if len(gold) else None,
                "random": float((random <= hops).mean()) if len(random) else None,
            }
            for hops in range(1, max_hops + 1)
        ],
    }
