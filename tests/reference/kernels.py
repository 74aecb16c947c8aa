"""The slow, obvious twin of the Rust core: what every kernel computes, in float64 and as the formulas read.

Rows are node rows, as in the core. A graph is small here: transitions are a dense matrix and neighbors are dicts.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Doubles: TypeAlias = npt.NDArray[np.float64]
Edge: TypeAlias = tuple[int, int, float]


# --- the graph ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Graph:
    """Undirected, without self-loops or parallel edges: `neighbors[i]` maps each neighbor of row i to the weight."""

    ids: list[str]
    neighbors: list[dict[int, float]]

    @property
    def order(self) -> list[int]:
        """The rows in the order of their ids. Python compares strings by code point."""
        return sorted(range(len(self.ids)), key=lambda row: self.ids[row])

    @property
    def edges(self) -> int:
        return sum(len(of_row) for of_row in self.neighbors) // 2

    @property
    def weighted(self) -> bool:
        return any(weight != 1 for of_row in self.neighbors for weight in of_row.values())


def build(ids: Sequence[str], edges: Iterable[Edge]) -> Graph:
    """Self-loops are ignored; parallel edges become one, with the largest weight among them."""
    neighbors: list[dict[int, float]] = [{} for _ in ids]
    for a, b, weight in edges:
        if a != b:
            largest = max(weight, neighbors[a].get(b, 0.0))
            neighbors[a][b] = neighbors[b][a] = largest
    return Graph(list(ids), neighbors)


def at_distance(graph: Graph, start: int, hops: int, max_hub_degree: int = 0) -> set[int]:
    """The nodes whose shortest path from `start` has exactly `hops` edges; none leads through a larger hub (0: any)."""
    seen, ring = {start}, {start}
    for _ in range(hops):
        passed = {row for row in ring if row == start or len(graph.neighbors[row]) <= (max_hub_degree or inf)}
        ring = {neighbor for row in passed for neighbor in graph.neighbors[row]} - seen
        seen |= ring
    return ring


def transitions(graph: Graph, *, weighted: bool = True) -> Doubles:
    """P = D⁻¹A: the chance to step from i to j. A walk on an isolated node stays there."""
    matrix = np.zeros((len(graph.ids), len(graph.ids)))
    for row, of_row in enumerate(graph.neighbors):
        for neighbor, weight in of_row.items():
            matrix[row, neighbor] = weight if weighted else 1.0
        if not of_row:
            matrix[row, row] = 1.0
    totals: Doubles = matrix.sum(axis=1, keepdims=True)
    return matrix / totals


# --- transformations ------------------------------------------------------------------------------------------------


def cosine(a: Floats, b: Floats) -> float:
    """The cosine of a zero vector with anything is 0."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


def selected(n: int, share: Fraction, min_neighbors: int) -> int:
    """How many of n neighbors count; the product is exact: 0.2 · 35 is 7."""
    return min(n, max(min_neighbors, ceil(share * n)))


def hop(
    graph: Graph,
    x: Floats,
    *,
    hops: int,
    share: Fraction,
    alpha: float,
    least: bool,
    min_neighbors: int,
    max_hub_degree: int = 0,
) -> Doubles:
    """z_i = α x_i + (1−α) · mean over the least (or most) similar of the nodes at this distance."""
    z = x.astype(np.float64)
    for i in range(len(x)):
        # Rounded, so that equal vectors tie whatever the last bits of a float64 sum say.
        similarity = {j: round(cosine(x[i], x[j]), 12) for j in at_distance(graph, i, hops, max_hub_degree)}
        best_first = sorted(similarity, key=lambda j: (similarity[j] if least else -similarity[j], graph.ids[j]))
        chosen = best_first[: selected(len(best_first), share, min_neighbors)]
        if chosen:
            z[i] = alpha * x[i] + (1 - alpha) * x[chosen].astype(np.float64).mean(axis=0)
    return z


def walk_of_endpoints(x: Floats, endpoints: Sequence[dict[int, int]], alpha: float) -> Doubles:
    """z_i = α x_i + (1−α) · mean over the endpoints of i's walks, each as often as it was reached."""
    z = x.astype(np.float64)
    for i, counts in enumerate(endpoints):
        if counts:
            total = sum((count * x[j].astype(np.float64) for j, count in counts.items()), np.zeros(x.shape[1]))
            z[i] = alpha * x[i] + (1 - alpha) * total / sum(counts.values())
    return z


def endpoint_chances(graph: Graph, steps: int, *, returns: bool) -> Doubles:
    """Where a walk from each row ends; a row of zeros for a node whose walk has nowhere (else) to end."""
    chances = np.linalg.matrix_power(transitions(graph), steps)
    for i, of_row in enumerate(graph.neighbors):
        if not of_row:
            chances[i] = 0.0
        elif not returns:
            chances[i, i] = 0.0
            if chances[i].any():
                chances[i] /= chances[i].sum()
    return chances


def walk_exactly(graph: Graph, x: Floats, *, steps: int, alpha: float, returns: bool) -> Doubles:
    """z_i = α x_i + (1−α) · what walks of this length see on average, given that they end elsewhere if they must."""
    chances = endpoint_chances(graph, steps, returns=returns)
    z = alpha * x.astype(np.float64) + (1 - alpha) * (chances @ x.astype(np.float64))
    nowhere = ~chances.any(axis=1)
    z[nowhere] = x[nowhere]
    return z


def convex(
    graph: Graph,
    x: Floats,
    *,
    anchor_weight: float,
    edge_weight: float,
    tolerance: float,
    max_sweeps: int,
    shared_weight: float = 0.0,
    max_hub_degree: int = 0,
) -> tuple[Doubles, int, float]:
    """Gauss–Seidel sweeps over sorted ids, newest values used at once. Returns z, the sweeps and the last δ."""
    tied = ties(graph, edge_weight, shared_weight, max_hub_degree)
    z = x.astype(np.float64)
    sweeps, displacement = 0, np.inf
    while sweeps < max_sweeps and displacement >= tolerance:
        sweeps, displacement = sweeps + 1, 0.0
        for i in graph.order:
            total = anchor_weight * x[i].astype(np.float64)
            for j in np.flatnonzero(tied[i]):
                total = total + tied[i, j] * z[j]
            after = total / (anchor_weight + tied[i].sum())
            displacement = max(displacement, float(np.linalg.norm(after - z[i])))
            z[i] = after
    return z, sweeps, displacement


def ties(graph: Graph, edge_weight: float, shared_weight: float = 0.0, max_hub_degree: int = 0) -> Doubles:
    """What pulls at what, and how much: b for edges, c for pairs that share a neighbor and are not adjacent."""
    size = len(graph.neighbors)
    weights: Doubles = np.zeros((size, size))
    for near in graph.neighbors:
        if max_hub_degree == 0 or len(near) <= max_hub_degree:
            for i, j in itertools.permutations(near, 2):
                weights[i, j] = shared_weight
    for i, near in enumerate(graph.neighbors):
        for j in near:
            weights[i, j] = edge_weight
    return weights


def convex_minimum(x: Floats, tied: Doubles, anchor_weight: float) -> Doubles:
    """The minimizer of a Σ‖z_i−x_i‖² + Σ_{i<j} w_ij ‖z_i−z_j‖² from its normal equations."""
    laplacian = np.diag(tied.sum(axis=1)) - tied
    matrix = anchor_weight * np.eye(len(x)) + laplacian
    return np.asarray(np.linalg.solve(matrix, anchor_weight * x.astype(np.float64)), dtype=np.float64)


def convex_objective(graph: Graph, x: Floats, z: Floats, anchor_weight: float, edge_weight: float) -> float:
    """a Σ‖z_i−x_i‖² + b Σ_{(i,j)∈E}‖z_i−z_j‖², what `convex` minimizes."""
    x, z = x.astype(np.float64), z.astype(np.float64)
    stay = float(((z - x) ** 2).sum())
    edges = [(i, j) for i, of_row in enumerate(graph.neighbors) for j in of_row if i < j]
    return anchor_weight * stay + edge_weight * sum(float(((z[i] - z[j]) ** 2).sum()) for i, j in edges)


def diffuse(graph: Graph, x: Floats, *, restart: float, weighted: bool) -> Doubles:
    """z = c Σ_k (1−c)^k P^k x, term by term until no weight is left."""
    matrix = transitions(graph, weighted=weighted)
    term, weight, z = x.astype(np.float64), restart, np.zeros(x.shape)
    while weight > 1e-12:
        z += weight * term
        term, weight = matrix @ term, (1 - restart) * weight
    return z


def signature(graph: Graph, random: Floats, *, restart: float, weighted: bool, damping: float = 0.0) -> Doubles:
    """The diffusion of one random unit vector per node times its degree^−damping, each scaled to length 1."""
    degrees = [sum(of_row.values()) if weighted else len(of_row) for of_row in graph.neighbors]
    scales = np.array([(degree or 1.0) ** -damping for degree in degrees])
    diffused = diffuse(graph, scales[:, np.newaxis] * random, restart=restart, weighted=weighted)
    return diffused / row_norms(diffused)[:, np.newaxis]


def walk_masses(graph: Graph, *, restart: float, drop: float, weighted: bool) -> Doubles:
    """Where random walks with restart from each node are, (nodes, nodes): pushed out in rounds, all nodes at once.

    A node keeps the share `restart` of what it holds and passes on the rest, while it holds a fifth of `drop` for each
    of its edges. Entries below `drop` are 0.
    """
    matrix, size = transitions(graph, weighted=weighted), len(graph.ids)
    enough = 0.2 * drop * np.array([len(of_row) or np.inf for of_row in graph.neighbors])
    masses: Doubles = np.zeros((size, size))
    for row in range(size):
        held = np.eye(size)[row]
        while (held >= enough).any():
            passed = np.where(held >= enough, held, 0.0)
            masses[row] += restart * passed
            held = held - passed + (1 - restart) * passed @ matrix
        masses[row] += restart * held if graph.neighbors[row] else held
    return np.where(masses >= drop, masses, 0.0)


def root_signature(masses: Doubles, signs: Floats) -> Doubles:
    """Σ_j √p_ij r_j for each row, scaled to length 1."""
    sums = np.sqrt(masses) @ signs.astype(np.float64)
    return sums / row_norms(sums)[:, np.newaxis]


def patch_pairs(graph: Graph) -> dict[tuple[int, int], int]:
    """How many balls of two hops hold both i and j, for every pair i < j that any of them holds."""
    counts: dict[tuple[int, int], int] = {}
    for center in range(len(graph.ids)):
        ball = sorted({center} | at_distance(graph, center, 1) | at_distance(graph, center, 2))
        for pair in ((i, j) for i in ball for j in ball if i < j):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def hop_targets(graph: Graph, targets: Sequence[float]) -> dict[tuple[int, int], float]:
    """The target of every pair of `patch_pairs`, by its distance in the whole graph."""
    hops = {i: {j: h for h in range(1, 5) for j in at_distance(graph, i, h)} for i in range(len(graph.ids))}
    return {(i, j): targets[hops[i][j] - 1] for i, j in patch_pairs(graph)}


def gradient_loss(graph: Graph, z: Floats, targets: Sequence[float]) -> float:
    """Σ (cos(z_i, z_j) − t(h_ij))² over the pairs of all patches, on average."""
    counts, wanted = patch_pairs(graph), hop_targets(graph, targets)
    total = sum(count * (cosine(z[i], z[j]) - wanted[i, j]) ** 2 for (i, j), count in counts.items())
    return total / sum(counts.values()) if counts else 0.0


def gradient(
    graph: Graph, x: Floats, *, targets: Sequence[float], step: float, max_shift: float, steps: int
) -> Doubles:
    """All nodes go down the gradient of the loss at once, each divided by its pairs, and back into its ball."""
    counts, wanted = patch_pairs(graph), hop_targets(graph, targets)
    lengths = row_norms(x)
    z = x.astype(np.float64)
    for _ in range(steps):
        slopes, pairs, norms = np.zeros(z.shape), np.zeros(len(z)), row_norms(z)
        for (a, b), count in counts.items():
            pairs[[a, b]] += count
            if norms[a] and norms[b]:
                miss = cosine(z[a], z[b]) - wanted[a, b]
                for i, j in ((a, b), (b, a)):
                    turn = z[j] / norms[j] - cosine(z[i], z[j]) * z[i] / norms[i]  # the derivative, times the norm
                    slopes[i] += count * 2 * miss * turn / norms[i]
        for i in np.flatnonzero(pairs).tolist():
            shift = z[i] - step * lengths[i] ** 2 * slopes[i] / pairs[i] - x[i]
            shrink = min(1.0, max_shift * lengths[i] / (np.linalg.norm(shift) or 1.0))
            z[i] = x[i] + shrink * shift
    return z


def group_means(x: Floats, labels: Sequence[int], alpha: float) -> Doubles:
    """z_i = α x_i + (1−α) · the mean of i's group, i among them."""
    groups = np.asarray(labels)
    z = x.astype(np.float64)
    for label in set(labels):
        members = groups == label
        z[members] = alpha * x[members] + (1 - alpha) * x[members].astype(np.float64).mean(axis=0)
    return z


# --- title mentions -------------------------------------------------------------------------------------------------


def is_word(character: str) -> bool:
    """Letters, digits, the underscore, and marks: an accent belongs to its letter."""
    return character == "_" or unicodedata.category(character)[0] in "LNM"


def fold(text: str) -> str:
    """Lower case, character by character: the final sigma of a word is a sigma."""
    return "".join(character.lower() for character in text).replace("ς", "σ")


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word of `text` goes on over either end of ``text[start:end]``."""

    def inside_a_word(at: int) -> bool:
        return 0 < at < len(text) and is_word(text[at - 1]) and is_word(text[at])

    return not inside_a_word(start) and not inside_a_word(end)


def title_mentions(
    titles: Sequence[str], texts: Sequence[str], *, ignore_case: bool, min_length: int
) -> list[tuple[int, int]]:
    """Sorted pairs (title, text): from left to right, at each place the longest title that is a whole word there."""
    if ignore_case:
        folded = [fold(title) for title in titles]
        texts = [fold(text) for text in texts]
    else:
        folded = list(titles)
    usable = [i for i, title in enumerate(titles) if title.strip() and len(title) >= min_length]
    found = set()
    for j, text in enumerate(texts):
        at = 0
        while at < len(text):
            here = [i for i in usable if text.startswith(folded[i], at) and is_whole(text, at, at + len(folded[i]))]
            longest = max((len(folded[i]) for i in here), default=0)
            found |= {(i, j) for i in here if len(folded[i]) == longest}
            at += max(longest, 1)
    return sorted(found)


# --- search ---------------------------------------------------------------------------------------------------------


def row_norms(x: Floats) -> Doubles:
    squares: Doubles = (x.astype(np.float64) ** 2).sum(axis=1)
    return np.sqrt(squares)


def search(
    scores: Floats,
    ids: Sequence[str],
    k: int,
    excluded: Sequence[Iterable[int]] | None = None,
    allowed: Sequence[bool] | None = None,
) -> list[list[int]]:
    """For every row of `scores` (queries, nodes), the k best nodes, best first, ties by smaller id."""
    results = []
    for query, of_query in enumerate(scores):
        barred = set(excluded[query]) if excluded is not None else set()
        eligible = [row for row in range(len(ids)) if row not in barred and (allowed is None or allowed[row])]
        results.append(sorted(eligible, key=lambda row: (-of_query[row], ids[row]))[:k])
    return results


# --- the graph at query time ----------------------------------------------------------------------------------------


def spread(
    graph: Graph, cosines: Floats, starts: Iterable[tuple[int, float]], *, decay: float, hops: int, gated: bool
) -> dict[int, float]:
    """What each node gets from the best of all walks of at most `hops` edges, every walk gone by itself."""
    reached: dict[int, float] = {}

    def go(row: int, activation: float, left: int) -> None:
        if activation > 0:
            reached[row] = max(reached.get(row, 0.0), activation)
            for neighbor, weight in graph.neighbors[row].items() if left else ():
                gate = min(max(float(cosines[neighbor]), 0.0), 1.0) if gated else 1.0
                go(neighbor, activation * decay * weight * gate, left - 1)

    for row, strength in starts:
        go(row, strength, hops)
    return reached


def pagerank(graph: Graph, starts: Iterable[tuple[int, float]], *, restart: float, weighted: bool = True) -> Doubles:
    """m = c s + (1−c) Pᵀ m, solved; a walk on a node without edges goes back to the starts."""
    share: Doubles = np.zeros(len(graph.ids))
    for row, strength in starts:
        share[row] += max(strength, 0.0)
    if not share.any():
        return share
    share /= share.sum()
    matrix = transitions(graph, weighted=weighted)
    for row, of_row in enumerate(graph.neighbors):
        if not of_row:
            matrix[row] = share
    masses = np.linalg.solve(np.eye(len(share)) - (1 - restart) * matrix.T, restart * share)
    return np.asarray(masses, dtype=np.float64)
