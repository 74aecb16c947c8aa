"""A graph from ids and edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .._core import Graph
from ..errors import GmeError, shorten
from ..types import as_float, is_number


def build_graph(ids: Sequence[str], edges: Iterable[tuple[str, str] | tuple[str, str, float]]) -> Graph:
    """A graph from node ids and edges between them, for use without a workspace.

    Args:
        ids: one id a node; row i of every array belongs to ``ids[i]``.
        edges: (id, id) or (id, id, positive weight). Undirected: direction, duplicates and self-loops do not matter.

    Raises:
        GmeError: duplicate ids, an edge to an unknown id, or a weight that is not a positive number.

    Example:
        >>> import gme
        >>> graph = gme.build_graph(["a", "b", "c"], [("a", "b"), ("b", "c", 2.0)])
        >>> graph.nodes, graph.edges
        (3, 2)
        >>> graph.neighbors(1).tolist()
        [0, 2]
    """
    for node_id in ids:
        if not isinstance(node_id, str):
            raise GmeError(f"node ids must be strings, found {shorten(node_id)}", "for example: [str(i) for i in ids]")
    rows = {node_id: row for row, node_id in enumerate(ids)}
    listed = list(edges)
    for edge in listed:
        if len(edge) not in (2, 3) or (len(edge) == 3 and not is_number(edge[2])):
            raise GmeError(f"an edge must be (id, id) or (id, id, weight), found {shorten(edge)}")
        for end in edge[:2]:
            if end not in rows:
                raise GmeError(f"edge {edge!r} names the unknown node {end!r}", "list every node in ids")
    sources = np.array([rows[edge[0]] for edge in listed], dtype=np.uint32)
    targets = np.array([rows[edge[1]] for edge in listed], dtype=np.uint32)
    weights = np.array([as_float(edge[2]) if len(edge) > 2 else 1.0 for edge in listed], dtype=np.float64)
    return Graph(list(ids), sources, targets, weights)
