"""How well signatures tell what they stand for, and what a change of the graph does to them: for signature_study.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.stats

import gme
from gme import _core
from gme._core import Graph
from gme.transforms.diffusion import SignatureOptions
from gme.types import Vectors

BINS, PAIRS_A_BIN = 10, 2_000
NEIGHBORS, CLOSE = 40, 0.05
CHANGES = 25
FARTHEST = 5

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Exact:
    """What signatures of a graph estimate, and the pairs of nodes on which they are held against it.

    Attributes:
        kernel: cosines of the roots of the rows of c Σ (1−c)^k P^k, float32 (connected, connected): of the nodes
            that have edges.
        connected: their rows.
        pairs: (2, any) places in `connected`: from each tenth of the cosine's range from 0 to 1 at most `PAIRS_A_BIN`.
    """

    graph: Graph
    kernel: Vectors
    connected: npt.NDArray[np.intp]
    pairs: npt.NDArray[np.intp]

    @staticmethod
    def of(graph: Graph) -> Exact:
        """By diffusing the identity."""
        options = SignatureOptions()
        rows, _, residual = _core.diffuse(
            graph,
            np.eye(graph.nodes, dtype=np.float32),
            restart=options.restarts,
            tolerance=1e-7,
            max_iterations=1000,
            weighted=False,
        )
        assert residual < 1e-7
        connected = np.flatnonzero(graph.degrees)
        rows = np.sqrt(np.maximum(rows[connected], 0))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        kernel = rows @ rows.T
        return Exact(graph, kernel, connected, _stratified(kernel))

    @property
    def exact(self) -> Floats:
        """The cosines of the pairs."""
        cosines: Floats = self.kernel[tuple(self.pairs)].astype(np.float64)
        return cosines

    def estimated(self, signatures: Vectors) -> Floats:
        """The same by signatures."""
        a, b = signatures[self.connected[self.pairs]].astype(np.float64)
        return np.asarray((a * b).sum(axis=1))

    def recall(self, signatures: Vectors) -> Floats:
        """By node, the share of its nearest others that are among the nearest by signature.

        Its nearest are the `NEIGHBORS` with the largest exact cosines, those below `CLOSE` left out.
        """
        chosen = np.random.default_rng(5).permutation(len(self.connected))[:1000]
        own = signatures[self.connected]
        exact, estimated = self.kernel[chosen], own[chosen] @ own.T
        exact[np.arange(len(chosen)), chosen] = estimated[np.arange(len(chosen)), chosen] = -2
        shares = []
        for of_exact, of_estimated in zip(exact, estimated, strict=True):
            best = np.argpartition(-of_exact, NEIGHBORS)[:NEIGHBORS]
            best = best[of_exact[best] >= CLOSE]
            found = np.argpartition(-of_estimated, NEIGHBORS)[:NEIGHBORS]
            if len(best):
                shares.append(np.isin(best, found).mean())
        return np.array(shares)


def _stratified(kernel: Vectors) -> npt.NDArray[np.intp]:
    generator = np.random.default_rng(3)
    first, second = np.triu_indices(len(kernel), 1)
    bins = np.minimum((kernel[first, second] * BINS).astype(np.int8), BINS - 1)
    chosen = []
    for number in range(BINS):
        members = np.flatnonzero(bins == number)
        chosen.append(generator.permutation(members)[:PAIRS_A_BIN])
    places = np.concatenate(chosen)
    return np.stack([first[places], second[places]])


FIDELITY_HEADER = ("Pearson", "Spearman", "RMS error", "by theory", "largest error", f"recall@{NEIGHBORS}")


def fidelity(graphs: list[Exact], **options: Any) -> list[str]:
    """The cells of a line: signatures with these options against what they estimate, on all graphs together.

    Theory: the cosine of two random projections to d numbers has the standard error (1 − ρ²)/√d.
    """
    signatures = [gme.transform("signature", each.graph, **options).vectors for each in graphs]
    exact = np.concatenate([each.exact for each in graphs])
    estimated = np.concatenate([each.estimated(s) for each, s in zip(graphs, signatures, strict=True)])
    recall = np.concatenate([each.recall(s) for each, s in zip(graphs, signatures, strict=True)])
    error = estimated - exact
    theory = (1 - exact**2) / np.sqrt(signatures[0].shape[1])
    return [
        f"{np.corrcoef(exact, estimated)[0, 1]:.4f}",
        f"{scipy.stats.spearmanr(exact, estimated).statistic:.4f}",
        f"{np.sqrt((error**2).mean()):.4f}",
        f"{np.sqrt((theory**2).mean()):.4f}",
        f"{np.abs(error).max():.3f}",
        f"{recall.mean():.3f}",
    ]


# ---- changes -------------------------------------------------------------------------------------------------------


def distances(graph: Graph, starts: list[int]) -> npt.NDArray[np.float64]:
    """Hops from the nearest start; infinite where there is no path."""
    indptr, indices, weights = graph.csr()
    matrix = scipy.sparse.csr_array(
        (weights, indices.astype(np.int64), indptr.astype(np.int64)), shape=(graph.nodes, graph.nodes)
    )
    hops: npt.NDArray[np.float64] = scipy.sparse.csgraph.dijkstra(
        matrix, indices=starts, unweighted=True, min_only=True
    )
    return hops


NEW = "a new node"


def changes(graph: Graph, ids: list[str], degree: int) -> tuple[dict[str, Floats], Floats]:
    """What a change does to the signatures of the nodes that were there before.

    Args:
        degree: 0: an edge is added, between two nodes at random. Else: a node with so many edges, to nodes at random.

    Returns:
        Cosines of a node's old and new signature by its distance from the change, those of `CHANGES` changes together;
        and |cos(old, new) − cos(new, new)| of pairs of different nodes, drawn at random.
    """
    generator = np.random.default_rng(8)
    edges = [(ids[row], ids[other]) for row in range(len(ids)) for other in graph.neighbors(row) if row < other]
    old = gme.transform("signature", graph).vectors
    connected = np.flatnonzero(graph.degrees)
    by_distance: dict[str, list[Floats]] = {}
    mixed = []
    for _ in range(CHANGES):
        ends = generator.choice(connected, degree or 2, replace=False).tolist()
        names = [ids[end] for end in ends]
        more = [(NEW, name) for name in names] if degree else [(names[0], names[1])]
        changed = gme.build_graph([*ids, NEW] if degree else ids, [*edges, *more])
        new = gme.transform("signature", changed).vectors
        cosines = (old * new[: len(old)]).sum(axis=1).astype(np.float64)
        hops = distances(changed, ends)[: len(old)]
        for label, members in _rings(hops):
            by_distance.setdefault(label, []).append(cosines[members])
        a, b = generator.choice(connected, (2, 2000))
        crossed, direct = (old[a] * new[b]).sum(axis=1), (new[a] * new[b]).sum(axis=1)
        mixed.append(np.abs(crossed - direct)[a != b])
    return {label: np.concatenate(parts) for label, parts in by_distance.items()}, np.concatenate(mixed)


RINGS = ("0", *(str(hops) for hops in range(1, FARTHEST)), f"{FARTHEST} and more", "no path")


def _rings(hops: npt.NDArray[np.float64]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    for number, label in enumerate(RINGS):
        if label == "no path":
            members = np.isinf(hops)
        elif number == FARTHEST:
            members = np.isfinite(hops) & (hops >= FARTHEST)
        else:
            members = hops == number
        if members.any():
            yield label, members
