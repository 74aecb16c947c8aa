"""The slow, obvious twin of `gme.retrieval`: one question at a time, float64, plain loops. It says what each does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.floating[Any]]
Result = tuple[int, float, str]  # row, score, stage


def cosine(a: Vector, b: Vector) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    length = math.sqrt(float(a @ a)) * math.sqrt(float(b @ b))
    return float(a @ b) / length if length else 0.0


def rounded(score: float) -> float:
    return float(np.float32(score))


class Twin:
    """Original vectors x, modified vectors z, and ids that break ties."""

    def __init__(self, x: Vector, z: Vector, ids: Sequence[str], allowed: Sequence[bool] | None = None) -> None:
        self.x, self.z, self.ids = x, z, ids
        self.restricted = allowed is not None
        self.eligible = [row for row in range(len(x)) if allowed is None or allowed[row]]
        self.named: set[int] = set()
        """The nodes that the question names, for `envelope`."""
        self.words: list[float] | None = None
        """BM25 of every node for the question; None: there are no texts."""
        self.rest: Callable[[int, int], float] = lambda seed, row: 0.0
        """What a node says of the question that a seed does not say."""
        self.gains: dict[int, float] = {}
        """What words add to the similarity of a node."""

    def top(self, vectors: Vector, query: Vector, k: int, without: Sequence[int] = ()) -> list[int]:
        rows = [row for row in self.eligible if row not in without]
        return sorted(rows, key=lambda row: (-rounded(cosine(query, vectors[row])), self.ids[row]))[:k]

    def best(self, pool: Sequence[int], score: dict[int, float], k: int) -> list[int]:
        return sorted(pool, key=lambda row: (-rounded(score[row]), self.ids[row]))[:k]

    def blend(self, question: Vector, target: Vector, pool: Sequence[int], mix: float) -> dict[int, float]:
        return {row: (1 - mix) * cosine(question, self.x[row]) + mix * cosine(target, self.z[row]) for row in pool}

    # ---- strategies ----------------------------------------------------------------------------

    def plain(self, q: Vector, budget: int) -> list[Result]:
        return [(row, cosine(q, self.x[row]), "original") for row in self.top(self.x, q, budget)]

    def bm25(self, q: Vector, budget: int) -> list[Result]:
        words = self.words or []
        chosen = self.best(self.eligible, dict(enumerate(words)), budget)
        return [(row, words[row], "bm25") for row in chosen]

    def hybrid(self, q: Vector, budget: int, lexical_weight: float) -> list[Result]:
        self.gains = self.word_gains(q, lexical_weight)
        return [(row, self.similarity(q, row), "hybrid") for row in self.hits(q, budget, self.eligible)]

    def word_gains(self, q: Vector, weight: float) -> dict[int, float]:
        """What words add to the similarity of the 40 nodes that share most of them with the question."""
        rows = list(range(len(self.x)))
        last = min(40, len(rows)) - 1
        near = sorted((rounded(cosine(q, self.x[row])) for row in rows), reverse=True)
        words = [rounded(score) for score in self.words or []]
        worth = sorted(words, reverse=True)
        above = worth[0] - worth[last]
        if not above:
            return {}
        chosen = self.best(rows, dict(enumerate(words)), 40)
        return {row: weight * (near[0] - near[last]) * (words[row] - worth[last]) / above for row in chosen}

    def similarity(self, q: Vector, row: int) -> float:
        """Similarity, and what words add to it."""
        return rounded(rounded(cosine(q, self.x[row])) + self.gains.get(row, 0.0))

    def modified(self, q: Vector, budget: int) -> list[Result]:
        return [(row, cosine(q, self.z[row]), "modified") for row in self.top(self.z, q, budget)]

    def split(self, q: Vector, budget: int, modified_share: float) -> list[Result]:
        spaces = {"original": self.x, "modified": self.z}
        rankings = {name: self.top(vectors, q, budget) for name, vectors in spaces.items()}
        shares = {"modified": Fraction(str(modified_share)), "original": 1 - Fraction(str(modified_share))}
        given = {"original": 0, "modified": 0}
        results: list[Result] = []
        while len(results) < min(budget, len(self.eligible)):
            behind = {name: shares[name] * (len(results) + 1) - given[name] for name in spaces}
            turn = "modified" if behind["modified"] > behind["original"] else "original"
            given[turn] += 1
            taken = [row for row, _, _ in results]
            row = next(row for row in rankings[turn] if row not in taken)
            results.append((row, cosine(q, spaces[turn][row]), turn))
        return results

    def rerank(self, q: Vector, budget: int, mix: float, pool_depth: int) -> list[Result]:
        pool = self.top(self.x, q, pool_depth * budget)
        m = np.mean(self.z[pool[: max(1, budget // 2)]].astype(np.float64), axis=0).astype(np.float32)
        score = self.blend(q, m, pool, mix)
        return [(row, score[row], "rerank") for row in self.best(pool, score, budget)]

    def staged(
        self, q: Vector, schedule: Sequence[tuple[str, int]], mix: float, shift: float, pool_depth: int
    ) -> list[Result]:
        budget = sum(size for _, size in schedule)
        results: list[Result] = []
        previous: list[int] = []
        for kind, size in schedule:
            taken = [row for row, _, _ in results]
            if kind == "original":
                score = {row: cosine(q, self.x[row]) for row in self.eligible}
                chosen = self.top(self.x, q, size, taken)
            elif kind == "modified":
                score = {row: cosine(q, self.z[row]) for row in self.eligible}
                chosen = self.top(self.z, q, size, taken)
            elif kind == "fused":
                m = self.mean(self.z, previous)
                depth = pool_depth * budget
                pool = {*self.top(self.x, q, depth, taken), *self.top(self.z, m, depth, taken)}
                score = self.blend(q, m, sorted(pool), mix)
                chosen = self.best(sorted(pool), score, size)
            else:
                moved = (1 - shift) * q.astype(np.float64) + shift * self.mean(self.x, previous).astype(np.float64)
                moved = moved.astype(np.float32)
                score = {row: cosine(moved, self.x[row]) for row in self.eligible}
                chosen = self.top(self.x, moved, size, taken)
            results += [(row, score[row], kind) for row in chosen]
            previous = chosen
        return results

    @staticmethod
    def mean(vectors: Vector, rows: Sequence[int]) -> Vector:
        if not rows:
            return np.zeros(vectors.shape[1], dtype=np.float32)
        average: Vector = np.mean(vectors[list(rows)].astype(np.float64), axis=0).astype(np.float32)
        return average

    def envelope(
        self,
        q: Vector,
        budget: int,
        mix: float | str,
        pool_depth: int,
        seeds: int,
        lift: float,
        margin: float,
        closeness: float,
        sharpness: float,
        redundancy_penalty: float,
        temperature: float,
        pinned: int,
        neighborhoods: str,
        ignore_titles: bool,
        lexical: bool | None,
        lexical_weight: float,
        rest_weight: float,
    ) -> list[Result]:
        if ignore_titles:
            self.named = set()
        searched = self.words is not None and lexical is not False
        self.gains = self.word_gains(q, lexical_weight) if searched else {}
        depth = max(pool_depth * budget, seeds, 160 if mix == "auto" else 40 if searched else 0)
        named, self.named = self.named, set()
        likely = named & set(self.hits(q, depth, list(range(len(self.x))))[:40])
        self.named = named
        guides = self.hits(q, depth, list(range(len(self.x))))
        near = self.hits(q, depth, self.eligible)
        first = near[: min(pinned, budget)]
        results = [(row, self.relevance(q, row), "pinned") for row in first]
        if mix == "auto":
            weights = (lift, margin, closeness, sharpness, redundancy_penalty, rest_weight if searched else 0.0)
            score = self.lifted(q, near, guides, first, likely, depth, seeds, *weights)
        else:
            assert isinstance(mix, float)
            score = self.blended(q, near, guides[:seeds], first, depth, mix, temperature, neighborhoods)
        return results + [(row, score[row], "envelope") for row in self.best(sorted(score), score, budget - len(first))]

    def hits(self, q: Vector, depth: int, eligible: Sequence[int]) -> list[int]:
        score = {row: self.relevance(q, row) for row in eligible}
        return self.best(eligible, score, depth)

    def relevance(self, q: Vector, row: int) -> float:
        """What the question names is as near as the nearest."""
        nearest = range(len(self.x)) if row in self.named else [row]
        return max(self.similarity(q, other) for other in nearest)

    def lifted(
        self,
        q: Vector,
        near: Sequence[int],
        guides: Sequence[int],
        first: Sequence[int],
        likely: set[int],
        depth: int,
        seeds: int,
        lift: float,
        margin: float,
        closeness: float,
        sharpness: float,
        redundancy_penalty: float,
        rest_weight: float,
    ) -> dict[int, float]:
        height = {row: self.relevance(q, row) for row in guides}
        horizon = height[guides[min(40, len(guides)) - 1]]
        gap = height[guides[0]] - horizon
        chosen = guides[:seeds]
        share = {row: (height[row] - horizon) ** sharpness * (2 if row in likely else 1) for row in chosen}
        whole = sum(share.values())
        share = {row: value / whole if whole else 0.0 for row, value in share.items()}
        middle = sum((share[row] * self.unit(self.z[row]) for row in chosen), np.zeros(self.z.shape[1]))
        pool = set(near) - set(first)
        for target in [middle.astype(np.float32), *(self.z[row] for row in chosen[:2])]:
            pool |= set(self.top(self.z, target, depth, first))
        crowd_pairs = [(i, j) for number, i in enumerate(guides[:160]) for j in guides[:number]]
        seed_pairs = [(seed, row) for seed in chosen for row in sorted(pool) if row != seed]
        agreement = self.agreement(crowd_pairs, max(0.0, self.agreement(seed_pairs, 0.0)))
        trust = min(1.0, max(0.0, (agreement - 0.04) / 0.06))
        score = {}
        for row in pool:
            relevance = self.relevance(q, row)
            near_seed = {seed: max(0.0, cosine(self.z[seed], self.z[row])) for seed in chosen}
            worth = {seed: height[seed] + margin * gap - relevance for seed in chosen}
            twin = max(0.0, *(near_seed[seed] ** closeness * worth[seed] for seed in chosen))
            rest = {seed: 1 + rest_weight * self.rest(seed, row) if rest_weight else 1.0 for seed in chosen}
            shared = lift * gap * sum(share[seed] * near_seed[seed] * rest[seed] for seed in chosen)
            score[row] = rounded(relevance + trust * (twin**1.5 + shared**1.5) ** (2 / 3))
        order = self.best(sorted(pool), score, len(pool))
        crowd = [
            sum(max(0.0, cosine(self.z[before], self.z[row])) ** closeness for before in order[:place])
            for place, row in enumerate(order[:80])
        ]
        loss = {row: crowd[place] if place < 80 else max(crowd) for place, row in enumerate(order)}
        return self.named_first(
            {row: score[row] - redundancy_penalty * trust * gap * loss[row] for row in order}, likely
        )

    @staticmethod
    def named_first(score: dict[int, float], likely: set[int]) -> dict[int, float]:
        """Each named node above all others, in the order they had."""
        score = {row: rounded(value) for row, value in score.items()}
        names, others = score.keys() & likely, score.keys() - likely
        if not names or not others:
            return score
        highest = max(score[row] for row in others)
        raised = max(0.0, highest - min(score[row] for row in names))
        above = float(np.nextafter(np.float32(highest), np.float32(np.inf)))
        return {**score, **{row: max(rounded(score[row] + raised), above) for row in names}}

    def agreement(self, pairs: Sequence[tuple[int, int]], prior: float) -> float:
        """How much more alike in text pairs are that are close in the graph."""
        text = [cosine(self.x[i], self.x[j]) for i, j in pairs]
        graph = [max(0.0, cosine(self.z[i], self.z[j])) ** 8 for i, j in pairs]
        average = sum(text) / max(len(pairs), 1)
        return float(sum((w * (t - average) for w, t in zip(graph, text, strict=True)), prior) / (sum(graph) + 1))

    def blended(
        self,
        q: Vector,
        near: Sequence[int],
        chosen: Sequence[int],
        first: Sequence[int],
        depth: int,
        mix: float,
        temperature: float,
        neighborhoods: str,
    ) -> dict[int, float]:
        likeness = [self.relevance(q, row) for row in chosen]
        strength = [math.exp((value - likeness[0]) / temperature) for value in likeness]
        weight = [value / sum(strength) for value in strength]
        if neighborhoods == "mean":
            targets = [
                sum(
                    (w * self.z[row].astype(np.float64) for w, row in zip(weight, chosen, strict=True)),
                    np.zeros(self.z.shape[1]),
                ).astype(np.float32)
            ]
            guides = [(1.0, targets[0])]
        else:
            targets = [self.z[row] for row in chosen[: 3 if self.restricted else 4]]
            guides = list(zip(strength, (self.z[row] for row in chosen), strict=True))
        pool = set(near) - set(first)
        for target in targets:
            pool |= set(self.top(self.z, target, depth, first))
        return {
            row: (1 - mix) * self.relevance(q, row)
            + mix * max(w * rounded(cosine(guide, self.z[row])) for w, guide in guides)
            for row in pool
        }

    @staticmethod
    def unit(vector: Vector) -> Vector:
        length = float(np.linalg.norm(vector.astype(np.float64)))
        unit: Vector = vector.astype(np.float64) / (length or 1.0)
        return unit
