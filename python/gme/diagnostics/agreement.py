"""Whether nodes that the graph joins are alike in text: what can be told of a graph without questions."""

from __future__ import annotations

import numpy as np

from .._core import Graph
from ..types import Vectors
from .results import Agreement
from .structure import Adjacency, Ints

_MOST_PAIRS = 100_000  # edges looked at, and as many random pairs: an error of the mean below .001
_BLOCK = 8192


def agreement(graph: Graph, arrays: Adjacency, vectors: Vectors, generator: np.random.Generator) -> Agreement | None:
    """Compare the ends of edges with random pairs of nodes; None without edges.

    The second node of a random pair is the end of another edge, so nodes with many neighbors count as often as they do
    among the edges. What remains is whether the graph chose this pair.

    Returns:
        ``edges``: how many were looked at. ``linked``, ``random``: the mean cosine of the ends of edges, and of random
        pairs. ``more_alike``: how often an edge's ends are more alike than a random pair, 0.5 if edges are random.
    """
    ends = len(arrays.neighbors)
    if not ends:
        return None
    # Draws run over nodes in the order of their ids, so that they do not depend on the order of files; neighbors
    # are in that order already.
    order = graph.order.astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(arrays.degrees[order])])
    places = np.arange(ends) if ends <= _MOST_PAIRS else np.sort(generator.integers(0, ends, _MOST_PAIRS))
    owner = np.searchsorted(bounds, places, side="right") - 1
    first = order[owner]
    second = arrays.neighbors[arrays.starts[first] + places - bounds[owner]].astype(np.int64)
    other = second[generator.permutation(len(second))]
    linked, random = _cosines(vectors, first, second), _cosines(vectors, first, other)
    return {
        "edges": len(places) // 2 if ends <= _MOST_PAIRS else len(places),
        "linked": float(linked.mean()),
        "random": float(random.mean()),
        "more_alike": float((linked > random).mean() + (linked == random).mean() / 2),
    }


def _cosines(vectors: Vectors, first: Ints, second: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    result = np.zeros(len(first))
    for begin in range(0, len(first), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        a, b = vectors[first[part]].astype(np.float64), vectors[second[part]].astype(np.float64)
        norms = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
        products = (a * b).sum(axis=1)
        result[part] = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return result
