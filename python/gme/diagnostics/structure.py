"""The shape of a graph: components, degrees and their skew. It uses only numpy on the CSR arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import Graph
from .results import Structure, TypeCounts

Ints = npt.NDArray[np.int64]


class Adjacency(NamedTuple):
    """A graph as plain arrays: the neighbors of row i are ``neighbors[starts[i] : starts[i + 1]]``."""

    starts: Ints
    neighbors: npt.NDArray[np.uint32]
    degrees: Ints

    def __len__(self) -> int:
        return len(self.degrees)


def adjacency(graph: Graph) -> Adjacency:
    """The arrays of a graph."""
    starts, neighbors, _ = graph.csr()
    signed = starts.astype(np.int64)
    return Adjacency(signed, neighbors, np.diff(signed))


def components(graph: Adjacency) -> Ints:
    """The smallest row in the connected component of each row, int64 (nodes,).

    This is Shiloach and Vishkin's scheme. Every round hooks the root of each tree to the smallest adjacent label, then
    halves all paths. So a path of n nodes takes O(log n) rounds instead of n.
    """
    labels = np.arange(len(graph), dtype=np.int64)
    linked = np.flatnonzero(graph.degrees)
    if not len(linked):
        return labels
    while True:
        beside = labels.copy()
        smallest = np.minimum.reduceat(labels[graph.neighbors], graph.starts[linked])
        beside[linked] = np.minimum(beside[linked], smallest)
        hooked = beside.copy()
        np.minimum.at(hooked, labels, beside)
        while not np.array_equal(shorter := hooked[hooked], hooked):
            hooked = shorter
        if np.array_equal(hooked, labels):
            return labels
        labels = hooked


def gini(values: npt.NDArray[np.integer[Any]]) -> float:
    """How unevenly a total is spread: 0 if all are equal, near 1 if one has all. A total of 0 gives 0."""
    total, count = int(values.sum()), len(values)
    if total == 0:
        return 0.0
    places = np.arange(1, count + 1, dtype=np.float64)
    return float(2 * (places * np.sort(values)).sum() / (count * total) - (count + 1) / count)


def structure(graph: Adjacency, types: Sequence[str]) -> Structure:
    """Counts that need no questions: node types, components, degrees, skew, isolated nodes."""
    nodes, degrees = len(graph), graph.degrees
    ends = int(degrees.sum())
    sizes = np.bincount(components(graph), minlength=1)
    top = -(-nodes // 100)
    names, of_type = np.unique(np.array(types, dtype=object).astype(str), return_inverse=True)
    by_type: dict[str, TypeCounts] = {
        str(name): {
            "count": int((of_type == number).sum()),
            "isolated": int((degrees[of_type == number] == 0).sum()),
            "mean_degree": float(degrees[of_type == number].mean()),
        }
        for number, name in enumerate(names)
    }
    return {
        "nodes": {"count": nodes, "types": by_type},
        "edges": {"count": ends // 2},
        "components": {
            "count": int((sizes > 0).sum()),
            "largest": int(sizes.max()),
            "largest_share": float(sizes.max() / nodes),
        },
        "degree": {
            "min": int(degrees.min()),
            "median": float(np.median(degrees)),
            "mean": float(degrees.mean()),
            "max": int(degrees.max()),
        },
        "skew": {
            "top_percent_share": float(np.sort(degrees)[nodes - top :].sum() / ends) if ends else 0.0,
            "gini": gini(degrees),
        },
        "isolated": {"count": int((degrees == 0).sum()), "share": float((degrees == 0).mean())},
    }
