"""Louvain communities by three libraries. The result does not depend on the order of nodes.

All backends read `resolution` as Newman's gamma: larger values give smaller communities. But for any value except 1
python-louvain stops its loop over levels early. So it is a cross-check at 1, and otherwise runs only on request.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..errors import GmeError, unknown
from ..version import install_hint

FAST_FROM = 50_000
"""From so many nodes on, `auto` uses scikit-network. At 100,000 nodes and 965,000 edges it needs 1.6 s, networkx 82."""


def louvain_labels(
    graph: Graph, *, resolution: float, seed: int, backend: str = "auto"
) -> tuple[npt.NDArray[np.uint32], str]:
    """Assign every node to a community. Edge weights are ignored. An isolated node is a community of its own.

    Args:
        graph: the graph.
        resolution: Newman's gamma, above 0.
        seed: the random seed of the library's order of visits.
        backend: a key of `BACKENDS` or ``auto``.

    Returns:
        (uint32 labels, one a row, numbered by the smallest id in each community; the backend used).

    Example:
        >>> import gme
        >>> graph = gme.build_graph(["a", "b", "c", "d"], [("a", "b"), ("c", "d")])
        >>> labels, backend = gme.louvain_labels(graph, resolution=1.0, seed=42, backend="python-louvain")
        >>> labels.tolist()
        [0, 0, 1, 1]
    """
    if backend == "auto":
        backend = "scikit-network" if graph.nodes >= FAST_FROM else "networkx"
    if backend not in BACKENDS:
        raise unknown("Louvain backend", backend, ["auto", *BACKENDS])
    # Louvain depends on the order of its input. So nodes become ranks of their ids, and edges are sorted.
    edges = _ranked_edges(graph)
    if not len(edges):  # scikit-network refuses such a graph; the others leave each node alone
        return graph.ranks.copy(), backend
    by_rank = BACKENDS[backend](graph.nodes, edges, resolution, seed)
    _, first, inverse = np.unique(by_rank, return_index=True, return_inverse=True)
    renumbered = np.argsort(np.argsort(first)).astype(np.uint32)[inverse]
    return renumbered[graph.ranks], backend


def _ranked_edges(graph: Graph) -> npt.NDArray[np.int64]:
    """Each undirected edge once as (smaller rank, larger rank), sorted; int64 (edges, 2)."""
    indptr, indices, _ = graph.csr()
    heads = np.repeat(graph.ranks, np.diff(indptr).astype(np.int64)).astype(np.int64)
    tails = graph.ranks[indices].astype(np.int64)
    once = heads < tails
    edges = np.stack([heads[once], tails[once]], axis=1)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def _networkx(nodes: int, edges: npt.NDArray[np.int64], resolution: float, seed: int) -> npt.NDArray[np.int64]:
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges.tolist())
    labels = np.empty(nodes, dtype=np.int64)
    communities = networkx.community.louvain_communities(graph, weight=None, resolution=resolution, seed=seed)
    for label, members in enumerate(communities):
        labels[list(members)] = label
    return labels


def _python_louvain(nodes: int, edges: npt.NDArray[np.int64], resolution: float, seed: int) -> npt.NDArray[np.int64]:
    import community
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges.tolist())
    partition = community.best_partition(graph, resolution=resolution, random_state=seed)
    return np.array([partition[node] for node in range(nodes)], dtype=np.int64)


def _scikit_network(nodes: int, edges: npt.NDArray[np.int64], resolution: float, seed: int) -> npt.NDArray[np.int64]:
    try:
        from scipy import sparse
        from sknetwork.clustering import Louvain
    except ImportError as error:
        raise GmeError(
            f"the Louvain backend of scikit-network, the default from {FAST_FROM:,} nodes on, is not installed",
            f"{install_hint('fast-louvain')}, or take --backend networkx and minutes",
        ) from error
    ones = np.ones(2 * len(edges), dtype=np.float64)
    both = np.concatenate([edges, edges[:, ::-1]])
    adjacency = sparse.csr_matrix((ones, (both[:, 0], both[:, 1])), shape=(nodes, nodes))
    labels: npt.NDArray[np.int64] = Louvain(resolution=resolution, random_state=seed).fit_predict(adjacency)
    return labels


BACKENDS: dict[str, Callable[[int, npt.NDArray[np.int64], float, int], npt.NDArray[np.int64]]] = {
    "networkx": _networkx,
    "python-louvain": _python_louvain,
    "scikit-network": _scikit_network,
}
