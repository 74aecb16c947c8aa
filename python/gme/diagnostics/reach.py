"""Hop distances of many pairs at once, by breadth-first search from 64 sources. Each source is one bit of a word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..types import Progress
from .structure import Adjacency, Ints

BATCH = 64
"""How many sources fit one word."""
Bits = npt.NDArray[np.uint64]


def hops_to_targets(
    graph: Adjacency,
    seeds: Sequence[npt.NDArray[np.integer]] | npt.NDArray[np.integer],
    sources: Ints,
    targets: Ints,
    max_hops: int,
    progress: Progress | None = None,
) -> npt.NDArray[np.uint8]:
    """The distance of each target from its source, up to a limit.

    Args:
        graph: the graph.
        seeds: the rows of each source: one row or several. The nearest counts.
        sources: int64 (pairs,): the entry of `seeds` at which a pair begins.
        targets: int64 (pairs,): the row at which a pair ends.
        max_hops: the search ends here.
        progress: called with (pairs done, pairs).

    Returns:
        uint8 (pairs,): 0 … max_hops, and max_hops + 1 for everything beyond.
    """
    distances = np.full(len(sources), max_hops + 1, dtype=np.uint8)
    order = np.argsort(sources, kind="stable")
    used, first = np.unique(sources[order], return_index=True)
    bounds = np.append(first, len(order))
    for begin in range(0, len(used), BATCH):
        batch = used[begin : begin + BATCH]
        end = begin + len(batch)
        pairs = order[bounds[begin] : bounds[end]]
        bits = np.uint64(1) << np.repeat(np.arange(len(batch)), np.diff(bounds[begin : end + 1])).astype(np.uint64)
        mask = np.zeros(len(graph), dtype=np.uint64)
        for bit, source in enumerate(batch):
            mask[np.atleast_1d(seeds[source])] |= np.uint64(1 << bit)
        distances[pairs] = _search(graph, mask, targets[pairs], bits, max_hops)
        if progress is not None:
            progress(int(bounds[end]), len(order))
    return distances


def count_reached(graph: Adjacency, sources: Ints, types: Ints, kinds: int, max_hops: int) -> Ints:
    """How many pairs of a source and a node are within 1, 2 … hops, by the node's type. A source reaches itself.

    Args:
        graph: the graph.
        sources: int64 (up to 64,): different rows.
        types: int64 (nodes,): the number of each row's type, below `kinds`.
        kinds: how many types there are.
        max_hops: the search ends here.

    Returns:
        int64 (max_hops, kinds).
    """
    mask = np.zeros(len(graph), dtype=np.uint64)
    mask[sources] = np.uint64(1) << np.arange(len(sources), dtype=np.uint64)
    counts = np.zeros((max_hops, kinds), dtype=np.int64)
    for hop in range(max_hops):
        mask = _step(graph, mask)
        rows = np.flatnonzero(mask)
        ones = np.unpackbits(mask[rows].view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1, dtype=np.int64)
        counts[hop] = np.bincount(types[rows], ones, kinds).astype(np.int64)
    return counts


def _search(graph: Adjacency, mask: Bits, targets: Ints, bits: Bits, max_hops: int) -> npt.NDArray[np.uint8]:
    """Distances of one batch. `mask`: the sources that have reached a row. `bits`: the source that a pair asks for."""
    found = np.where(mask[targets] & bits, 0, max_hops + 1).astype(np.uint8)
    for hop in range(1, max_hops + 1):
        open_pairs = np.flatnonzero(found > max_hops)
        if not len(open_pairs):
            break
        if hop == max_hops:  # the last step needs to reach the targets only
            rows, back = np.unique(targets[open_pairs], return_inverse=True)
            reached = _gather(graph, mask, rows)[back]
        else:
            mask = _step(graph, mask)
            reached = mask[targets[open_pairs]]
        found[open_pairs[(reached & bits[open_pairs]) != 0]] = hop
    return found


def _step(graph: Adjacency, mask: Bits) -> Bits:
    """The sources that have reached each row after one more hop."""
    reached = mask.copy()
    frontier = np.flatnonzero(mask)
    if 2 * int(graph.degrees[frontier].sum()) < len(graph.neighbors):
        at = _entries(graph, frontier)
        np.bitwise_or.at(reached, graph.neighbors[at], np.repeat(mask[frontier], graph.degrees[frontier]))
    else:
        linked = np.flatnonzero(graph.degrees)
        reached[linked] |= np.bitwise_or.reduceat(mask[graph.neighbors], graph.starts[linked])
    return reached


def _gather(graph: Adjacency, mask: Bits, rows: Ints) -> Bits:
    """For each of `rows`, the sources that have reached one of its neighbors."""
    reached = np.zeros(len(rows), dtype=np.uint64)
    linked = np.flatnonzero(graph.degrees[rows])
    if len(linked):
        degrees = graph.degrees[rows[linked]]
        at = _entries(graph, rows[linked])
        reached[linked] = np.bitwise_or.reduceat(mask[graph.neighbors[at]], np.cumsum(degrees) - degrees)
    return reached


def _entries(graph: Adjacency, rows: Ints) -> Ints:
    """The positions of the neighbors of `rows` in the graph's arrays, one row after the other."""
    degrees = graph.degrees[rows]
    offsets = np.repeat(graph.starts[rows] - (np.cumsum(degrees) - degrees), degrees)
    entries: Ints = np.arange(int(degrees.sum()), dtype=np.int64) + offsets
    return entries
