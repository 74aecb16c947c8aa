"""Graphs from a workspace's records: from all edges or from some types, with optional weights by type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from .._core import Graph, NodeTable
from ..errors import GmeError, shorten, unknown
from ..types import Progress, as_float, is_number
from .records import Edges, Nodes

SHARED_NAME = "shared_name"
"""The edge type of `gme graph names`: between two passages in which the same names stand."""

COUNTED_BY_WEIGHT = frozenset({SHARED_NAME})
"""Edge types whose weights always count. They are many and mostly weak: with weight 1 each they drown all others."""


def workspace_graph(
    nodes: Nodes | NodeTable,
    edges: Edges,
    edge_types: Sequence[str] | None = None,
    progress: Progress | None = None,
    *,
    type_weights: Mapping[str, float] | None = None,
    own_weights: bool = True,
) -> Graph:
    """The graph of a workspace's records. All edge types count alike unless weights by type are given.

    Args:
        nodes: the nodes, or their ids alone.
        edges: the edges, as rows of `nodes`.
        edge_types: take only edges of these types; None takes all.
        progress: called with (edges done, edges to do); each edge is counted twice.
        type_weights: type -> the factor for the weights of its edges. Other types have the factor 1. Edges of types
            with 0 are left out. Of parallel edges, the heaviest counts.
        own_weights: whether to multiply the edges' weights from the records. If false, `type_weights` multiply 1,
            except for the types in `COUNTED_BY_WEIGHT`.

    Raises:
        GmeError: no edge has one of the types (the closest existing one is named), or a weight is not a number from
            0 on. Or the weights leave no edge, or leave the range of float32.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("corpus")
        >>> graph = gme.workspace_graph(workspace.nodes, workspace.edges)
        >>> graph.nodes, graph.edges
        (6, 5)
    """
    table = nodes if isinstance(nodes, NodeTable) else nodes.table
    if type_weights or (not own_weights and counted_by_weight(edges.type_names, edge_types)):
        chosen, products = _weighed(edges, type_weights or {}, edge_types, own_weights)
        return Graph(table, edges.sources[chosen], edges.targets[chosen], products, progress=progress)
    weights = edges.stored_weights
    if edge_types is None:
        return Graph(table, edges.sources, edges.targets, weights, progress=progress)
    names = check_edge_types(edges, edge_types)
    chosen = np.array([name in names for name in edges.type_names])[edges.types]
    chosen_weights = None if weights is None else weights[chosen]
    return Graph(table, edges.sources[chosen], edges.targets[chosen], chosen_weights, progress=progress)


def counted_by_weight(type_names: Iterable[str], edge_types: Sequence[str] | None = None) -> bool:
    """Whether edges of a type in `COUNTED_BY_WEIGHT` are among those taken; see `workspace_graph`."""
    taken = COUNTED_BY_WEIGHT.intersection(type_names)
    return bool(taken if edge_types is None else taken.intersection(edge_types))


def check_edge_types(edges: Edges, edge_types: Sequence[str]) -> list[str]:
    """The types, sorted and each once. A type that no edge has raises a `GmeError` with the closest match."""
    if isinstance(edge_types, str) or not edge_types:
        raise GmeError(
            f"edge types must be a list of at least one name, found {shorten(edge_types)}",
            f"known: {', '.join(sorted(edges.type_names)) or 'none'}",
        )
    for name in edge_types:
        if name not in edges.type_names:
            raise unknown("edge type", name, edges.type_names)
    return sorted(set(edge_types))


def _weighed(
    edges: Edges, type_weights: Mapping[str, float], edge_types: Sequence[str] | None, own_weights: bool
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Which edges are taken, bool (edges,), and their weights, float64 (taken,)."""
    if type_weights:
        check_edge_types(edges, list(type_weights))
    taken = edges.type_names if edge_types is None else check_edge_types(edges, edge_types)
    for name, weight in type_weights.items():
        if name not in taken:
            raise GmeError(
                f"edge type {name!r} has a weight, but is not among the edge types chosen", "drop one of both"
            )
        if not is_number(weight) or not 0 <= as_float(weight) < np.inf:
            raise GmeError(f"the weight of edge type {name!r} is {shorten(weight)}, but must be a number from 0 on")
    factors = np.array(
        [as_float(type_weights.get(name, 1)) if name in taken else 0.0 for name in edges.type_names], dtype=np.float64
    )
    if not factors.any():
        raise GmeError("all edge types have the weight 0: no edge is left", f"known: {', '.join(sorted(taken))}")
    chosen = (factors > 0)[edges.types]
    weights: npt.NDArray[np.float64] = factors[edges.types[chosen]]
    if edges.stored_weights is not None:
        counts = np.array([own_weights or name in COUNTED_BY_WEIGHT for name in edges.type_names], dtype=bool)
        weights = np.where(counts[edges.types[chosen]], weights * edges.stored_weights[chosen], weights)
    with np.errstate(over="ignore", under="ignore"):
        narrow = weights.astype(np.float32)
    wrong = np.flatnonzero((narrow == 0) | ~np.isfinite(narrow))
    if len(wrong):
        name = edges.type_names[edges.types[chosen][wrong[0]]]
        raise GmeError(
            f"an edge of type {name!r} would weigh {weights[wrong[0]]:g}, beyond the range of float32",
            "only ratios of weights matter: scale them all",
        )
    return chosen, weights
