"""The slow, obvious twin of `gme.retrieval`: one question at a time, float64, plain loops. It says what each does."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        self.eligible = [row for row in range(len(x)) if allowed is None or allowed[row]]

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
        temperature: float,
        pinned: int,
        neighbourhoods: str,
    ) -> list[Result]:
        depth = max(pool_depth * budget, seeds)
        near = self.top(self.x, q, depth)
        chosen = near[:seeds]
        likeness = [rounded(cosine(q, self.x[row])) for row in chosen]
        strength = [math.exp((value - likeness[0]) / temperature) for value in likeness]
        weight = [value / sum(strength) for value in strength]
        if mix == "auto":
            unit = [self.unit(self.z[row]) for row in chosen]
            centre = sum((w * u for w, u in zip(weight, unit, strict=True)), np.zeros(self.z.shape[1]))
            concentration = float(np.linalg.norm(centre))
            mix = min(0.6, max(0.1, 0.1 + 0.5 * (concentration - 0.5) / 0.2))
        assert isinstance(mix, float)
        first = near[: min(pinned, budget)]
        results = [(row, cosine(q, self.x[row]), "pinned") for row in first]
        if neighbourhoods == "mean":
            targets = [
                sum(
                    (w * self.z[row].astype(np.float64) for w, row in zip(weight, chosen, strict=True)),
                    np.zeros(self.z.shape[1]),
                ).astype(np.float32)
            ]
            guides = [(1.0, targets[0])]
        else:
            targets = [self.z[row] for row in chosen[:4]]
            guides = list(zip(strength, (self.z[row] for row in chosen), strict=True))
        pool = set(near) - set(first)
        for target in targets:
            pool |= set(self.top(self.z, target, depth, first))
        score = {
            row: (1 - mix) * cosine(q, self.x[row])
            + mix * max(w * rounded(cosine(guide, self.z[row])) for w, guide in guides)
            for row in pool
        }
        return results + [(row, score[row], "envelope") for row in self.best(sorted(pool), score, budget - len(first))]

    @staticmethod
    def unit(vector: Vector) -> Vector:
        length = float(np.linalg.norm(vector.astype(np.float64)))
        unit: Vector = vector.astype(np.float64) / (length or 1.0)
        return unit
