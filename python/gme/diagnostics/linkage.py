"""Whether the graph leads from one gold node of a question to another, more often than between random nodes (NG)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..types import Progress
from .reach import hops_to_targets
from .structure import Adjacency, Ints

_MOST_GOLD = 100  # nodes of a question, whose pairs grow with the square


@dataclass(frozen=True)
class Pairs:
    """All pairs of gold nodes of the questions that have two or more: question number and the two rows, int64."""

    question: Ints
    first: Ints
    second: Ints
    questions: int

    def weights(self) -> npt.NDArray[np.float64]:
        """Per pair, its share of the questions' mean: every question counts alike, however many pairs it has."""
        counts = np.bincount(self.question, minlength=self.questions)
        weights: npt.NDArray[np.float64] = 1.0 / (counts[self.question] * self.questions)
        return weights


def gold_pairs(gold: list[Ints], most: int, generator: np.random.Generator) -> Pairs:
    """The pairs of the questions with two or more gold nodes.

    Of more than `most` such questions a random sample, and of a question with more than 100 gold nodes 100 of them.
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
    """Draws nodes of given types. Rows are kept in the order of their ids, so that draws do not depend on files.

    Args:
        types: int64 (nodes,): the number of each row's type.
        order: the rows in the order of their ids.
    """

    def __init__(self, types: Ints, order: npt.NDArray[np.uint32]) -> None:
        self.types = types
        self.rows = [order[types[order] == number].astype(np.int64) for number in range(int(types.max()) + 1)]
        self.counts = np.array([len(rows) for rows in self.rows], dtype=np.int64)

    def draw(self, types: Ints, generator: np.random.Generator) -> Ints:
        """One node of each of the types, int64 (draws,)."""
        return self._pick(types, generator.integers(0, self.counts[types]))

    def draw_pairs(self, first: Ints, second: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
        """Two different nodes of the types `first` and `second`, int64 (draws,) each."""
        same = first == second
        places = generator.integers(0, self.counts[first])
        others = generator.integers(0, self.counts[second] - same)
        return self._pick(first, places), self._pick(second, others + (same & (others >= places)))

    def _pick(self, types: Ints, places: Ints) -> Ints:
        rows = np.zeros(len(types), dtype=np.int64)
        for number in np.unique(types):
            chosen = types == number
            rows[chosen] = self.rows[number][places[chosen]]
        return rows


def adjacent_share(graph: Adjacency, pairs: Pairs, nodes: TypedNodes) -> float:
    """The probability that two random nodes, of the types of a random question's random gold pair, are adjacent.

    Exact, by counting: adjacent pairs are so rare among random ones that a sample would see few or none.
    """
    kinds = len(nodes.counts)
    owners = np.repeat(np.arange(len(graph)), graph.degrees)
    ends = np.bincount(nodes.types[owners] * kinds + nodes.types[graph.neighbors], minlength=kinds * kinds)
    possible = np.outer(nodes.counts, nodes.counts) - np.diag(nodes.counts)
    density = np.divide(ends.reshape(kinds, kinds), possible, out=np.zeros((kinds, kinds)), where=possible > 0)
    return float((pairs.weights() * density[nodes.types[pairs.first], nodes.types[pairs.second]]).sum())


def reachability(
    graph: Adjacency,
    pairs: Pairs,
    nodes: TypedNodes,
    *,
    max_hops: int,
    draws: int,
    generator: np.random.Generator,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Per number of hops, how many questions and pairs the graph connects within it, and how many random pairs.

    Returns:
        A line for 1, 2 … max_hops: ``any``, the share of questions with a gold pair within so many hops;
        ``connected``, of those whose gold nodes are all joined by such pairs; ``gold_pairs``, the share of a question's
        pairs, averaged over questions; ``random_pairs``, the share of random pairs of the same types; ``lift``, the
        ratio of the two, None where no random pair is.
    """
    total = draws + len(pairs.question)
    report: Progress | None = (lambda done, _: progress(done, total)) if progress else None
    rows, number = np.unique(pairs.first, return_inverse=True)
    gold = hops_to_targets(graph, rows, number, pairs.second, max_hops, report)
    drawn = generator.choice(len(pairs.question), draws, p=pairs.weights())
    left, right = nodes.draw_pairs(nodes.types[pairs.first[drawn]], nodes.types[pairs.second[drawn]], generator)
    rows, number = np.unique(left, return_inverse=True)
    shift = len(pairs.question)
    report = (lambda done, _: progress(shift + done, total)) if progress else None
    random = hops_to_targets(graph, rows, number, right, max_hops, report)
    adjacent = adjacent_share(graph, pairs, nodes)
    lines = []
    for hops in range(1, max_hops + 1):
        near = gold <= hops
        among_gold = float((pairs.weights() * near).sum())
        among_random = adjacent if hops == 1 else max(adjacent, float((random <= hops).mean()))
        lines.append(
            {
                "hops": hops,
                "any": float((np.bincount(pairs.question, near, pairs.questions) > 0).mean()),
                "connected": float(_connected(pairs, near).mean()),
                "gold_pairs": among_gold,
                "random_pairs": among_random,
                "lift": among_gold / among_random if among_random else None,
            }
        )
    return lines


def _connected(pairs: Pairs, near: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Per question, whether the pairs that are `near` join all of its gold nodes."""
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
