"""Whether the graph connects the gold nodes of a question with each other more often than random nodes (NG)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..types import Progress
from .reach import BATCH, count_reached, hops_to_targets
from .results import Reach
from .structure import Adjacency, Ints

_MOST_GOLD = 100  # gold nodes of a question; the number of pairs grows with the square
_MOST_ENTRIES = 10**9  # array entries that all searches from random nodes may read; takes some seconds
_FEW_HITS = 30  # with fewer random pairs within reach in a sample, the lift is given as a bound


@dataclass(frozen=True)
class Pairs:
    """All pairs of gold nodes, from questions with two or more: the question's number and the two rows, int64."""

    question: Ints
    first: Ints
    second: Ints
    questions: int

    def weights(self) -> npt.NDArray[np.float64]:
        """The weight of each pair in the mean over questions. Questions count alike, however many pairs they have."""
        counts = np.bincount(self.question, minlength=self.questions)
        weights: npt.NDArray[np.float64] = 1.0 / (counts[self.question] * self.questions)
        return weights


def gold_pairs(gold: list[Ints], most: int, generator: np.random.Generator) -> Pairs:
    """The pairs of the questions with two or more gold nodes.

    If there are more than `most` such questions, they are sampled at random. If a question has more than 100 gold
    nodes, 100 of them are.
    """
    several = [rows for rows in gold if len(rows) > 1]
    if len(several) > most:
        several = [several[number] for number in np.sort(generator.permutation(len(several))[:most])]
    question, first, second = [], [], []
    for number, rows in enumerate(several):
        if len(rows) > _MOST_GOLD:
            rows = rows[np.sort(generator.permutation(len(rows))[:_MOST_GOLD])]
        a, b = np.triu_indices(len(rows), 1)
        question.append(np.full(len(a), number))
        first.append(rows[a])
        second.append(rows[b])
    if not several:
        nothing = np.zeros(0, dtype=np.int64)
        return Pairs(nothing, nothing, nothing, 0)
    return Pairs(np.concatenate(question), np.concatenate(first), np.concatenate(second), len(several))


class TypedNodes:
    """Draws nodes of given types. Rows are kept in the order of ids, so that draws do not depend on files.

    Args:
        types: int64 (nodes,): the number of each row's type.
        order: the rows in the order of their ids.
    """

    def __init__(self, types: Ints, order: npt.NDArray[np.uint32]) -> None:
        self.types = types
        self.rows = [order[types[order] == number].astype(np.int64) for number in range(int(types.max()) + 1)]
        self.counts = np.array([len(rows) for rows in self.rows], dtype=np.int64)

    def draw(self, types: Ints, generator: np.random.Generator) -> Ints:
        """Draw one node for each of the types, int64 (draws,)."""
        return self._pick(types, generator.integers(0, self.counts[types]))

    def sample(self, types: Ints, most: int, generator: np.random.Generator) -> dict[int, Ints]:
        """Different nodes of each type: all, or `most` in total, shared evenly as far as types have enough nodes."""
        chosen, left = {}, most
        for place, number in enumerate(sorted(types.tolist(), key=lambda number: (self.counts[number], number))):
            count = min(int(self.counts[number]), max(1, left // (len(types) - place)))
            chosen[number] = self.rows[number][np.sort(generator.permutation(self.counts[number])[:count])]
            left -= count
        return chosen

    def _pick(self, types: Ints, places: Ints) -> Ints:
        rows = np.zeros(len(types), dtype=np.int64)
        for number in np.unique(types):
            chosen = types == number
            rows[chosen] = self.rows[number][places[chosen]]
        return rows


def adjacent_share(graph: Adjacency, pairs: Pairs, nodes: TypedNodes) -> float:
    """The probability that two random nodes are adjacent, exact by counting.

    Their types are those of a random question's random gold pair.
    """
    kinds = len(nodes.counts)
    owners = np.repeat(np.arange(len(graph)), graph.degrees)
    ends = np.bincount(nodes.types[owners] * kinds + nodes.types[graph.neighbors], minlength=kinds * kinds)
    possible = np.outer(nodes.counts, nodes.counts) - np.diag(nodes.counts)
    density = np.divide(ends.reshape(kinds, kinds), possible, out=np.zeros((kinds, kinds)), where=possible > 0)
    return float((pairs.weights() * density[nodes.types[pairs.first], nodes.types[pairs.second]]).sum())


@dataclass(frozen=True)
class RandomPairs:
    """Figures about random pairs of nodes with the types of gold pairs.

    Attributes:
        sources: how many nodes pairs were counted from. population: how many nodes of gold's types there are. If the
            two are equal, the counts are exact.
        hits: int64 (max_hops,): how many pairs of a source and a node, of the types of gold pairs, are within 1, 2 …
            hops.
        looked_at: how many such pairs there are at any distance.
        shares: float64 (max_hops,): the probability that a random pair is within 1, 2 … hops.
    """

    sources: int
    population: int
    hits: Ints
    looked_at: int
    shares: npt.NDArray[np.float64]

    def lift(self, hops: int, among_gold: float) -> tuple[float | None, float | None]:
        """(lift, None); with few hits in a sample (None, a bound that the lift exceeds); without any (None, None)."""
        share, hits = float(self.shares[hops - 1]), int(self.hits[hops - 1])
        if hops == 1 or self.sources == self.population or hits >= _FEW_HITS or not among_gold:
            return (among_gold / share if share else None), None
        # The upper end of the 95 % interval of a count, rounded up: 4 for a count of 0.
        most = hits + 2 * (hits + 1) ** 0.5 + 2
        return None, among_gold / min(1.0, max(share * most / hits if hits else share, most / self.looked_at))


def random_pairs(
    graph: Adjacency,
    pairs: Pairs,
    nodes: TypedNodes,
    *,
    max_hops: int,
    sources: int,
    generator: np.random.Generator,
    progress: Progress | None = None,
) -> RandomPairs:
    """How near two random nodes are. Their types are those of a random question's random gold pair.

    Near pairs are so rare that a sample of pairs would contain few or none. So this counts all nodes around each of
    many sources. The sources are all nodes of gold's types, or a sample of `sources`, or fewer in graphs of very many
    edges. At one hop the share is always exact. Beyond that, only the share of pairs farther than one hop is estimated.
    """
    kinds = len(nodes.counts)
    weights = np.zeros((kinds, kinds))
    np.add.at(weights, (nodes.types[pairs.first], nodes.types[pairs.second]), pairs.weights())
    weights = (weights + weights.T) / 2  # the graph is undirected, so each end of a pair can be the source
    used = np.flatnonzero(weights.any(axis=1))
    batches = max(1, _MOST_ENTRIES // (max_hops * (len(graph) + len(graph.neighbors))))
    chosen = nodes.sample(used, min(sources, BATCH * batches), generator)
    total = sum(map(len, chosen.values()))
    reached = np.zeros((max_hops, kinds, kinds), dtype=np.int64)
    done = 0
    for number, rows in chosen.items():
        for begin in range(0, len(rows), BATCH):
            batch = rows[begin : begin + BATCH]
            reached[:, number] += count_reached(graph, batch, nodes.types, kinds, max_hops)
            reached[:, number, number] -= len(batch)  # each of them has reached itself
            done += len(batch)
            if progress is not None:
                progress(done, total)
    taken = np.array([len(chosen.get(number, ())) for number in range(kinds)])
    asked = taken[:, None] * (nodes.counts - np.eye(kinds, dtype=np.int64))
    both = reached + reached.transpose(0, 2, 1)
    density = np.divide(both, asked + asked.T, out=np.zeros(both.shape), where=asked + asked.T > 0)
    shares = (weights * density).sum(axis=(1, 2))
    shares += adjacent_share(graph, pairs, nodes) - shares[0]
    wanted = weights > 0
    return RandomPairs(
        total, int(nodes.counts[used].sum()), reached[:, wanted].sum(axis=1), int(asked[wanted].sum()), shares
    )


def reachability(
    graph: Adjacency,
    pairs: Pairs,
    random: RandomPairs,
    *,
    max_hops: int,
    progress: Progress | None = None,
) -> list[Reach]:
    """The share of questions, gold pairs and random pairs that the graph connects, for each number of hops.

    Returns:
        An entry for each of 1, 2 … max_hops. ``any``: the share of questions with a gold pair within so many hops.
        ``connected``: the share of questions whose gold nodes are all joined by such pairs. ``gold_pairs``: the share
        of a question's pairs, averaged over questions. ``random_pairs``: the share of random pairs of the same types.
        ``random_hits``: how many of these were seen. ``lift``: the ratio of the two shares; None if no random pair is
        so near or too few were sampled. ``lift_above``: a bound that the lift exceeds in the second case, else None.
    """
    rows, number = np.unique(pairs.first, return_inverse=True)
    gold = hops_to_targets(graph, rows, number, pairs.second, max_hops, progress)
    lines: list[Reach] = []
    for hops in range(1, max_hops + 1):
        near = gold <= hops
        among_gold = float((pairs.weights() * near).sum())
        lift, above = random.lift(hops, among_gold)
        lines.append(
            {
                "hops": hops,
                "any": float((np.bincount(pairs.question, near, pairs.questions) > 0).mean()),
                "connected": float(_connected(pairs, near).mean()),
                "gold_pairs": among_gold,
                "random_pairs": float(random.shares[hops - 1]),
                "random_hits": int(random.hits[hops - 1]),
                "lift": lift,
                "lift_above": above,
            }
        )
    return lines


def _connected(pairs: Pairs, near: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether the pairs that are `near` join all gold nodes of a question, for each question."""
    counts = np.bincount(pairs.question, minlength=pairs.questions)
    ends = np.cumsum(counts)
    joined = np.zeros(pairs.questions, dtype=bool)
    for question, (end, count) in enumerate(zip(ends, counts, strict=True)):
        edges = near[end - count : end]
        if count == 1 or edges.all() or not edges.any():
            joined[question] = edges.all()
            continue
        size = round((1 + (1 + 8 * count) ** 0.5) / 2)
        matrix = np.eye(size, dtype=bool)
        matrix[np.triu_indices(size, 1)] = edges
        matrix |= matrix.T
        reached = matrix[0]
        while (more := matrix[reached].any(axis=0)).sum() > reached.sum():
            reached = more
        joined[question] = reached.all()
    return joined
