"""A grid and small workspaces for the tests of sweeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Run, write_lines
from gme.sweep.runner import Bench

NODES, QUESTIONS = 60, 24
GRID = """
criterion = "recovery:hard"
curve = [3, 6]

[[transform]]
method = "walk"
steps = [2, 3]

[[transform]]
method = "signature"
dim = 16

[[strategy]]
strategy = ["fused", "envelope"]
mix = [0.3, 0.7]
budget = 12

[[strategy]]
strategy = "spread"
budget = 12
"""
FAMILIES = [("easy", "single-fact"), ("most", "extremisation"), ("two", "relational")]

Make = Callable[[str, int], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Workspaces of random vectors, edges and questions in three families."""

    def make(name: str, seed: int) -> Path:
        generator = np.random.default_rng(seed)
        folder = tmp_path / name
        (folder / "embeddings").mkdir(parents=True)
        ids = [f"n{i:02}" for i in range(NODES)]
        centers = generator.normal(size=(6, 16))
        vectors = centers[np.arange(NODES) % 6] + 1.5 * generator.normal(size=(NODES, 16))
        gold = [sorted({ids[g] for g in generator.integers(NODES, size=3)}) for _ in range(QUESTIONS)]
        queries = [vectors[int(g[0][1:])] + generator.normal(size=16) for g in gold]
        ends = generator.integers(NODES, size=(150, 2))
        write_lines(folder / "nodes.jsonl", [{"id": i, "type": "chunk", "text": f"text {i}"} for i in ids])
        write_lines(
            folder / "edges.jsonl", [{"source": ids[a], "target": ids[b], "type": "link"} for a, b in ends if a != b]
        )
        write_lines(
            folder / "questions.jsonl",
            [
                {
                    "id": f"q{i}",
                    "question": f"{name} {i}?",
                    "gold": gold[i],
                    "family": FAMILIES[i % 3][0],
                    "group": FAMILIES[i % 3][1],
                }
                for i in range(QUESTIONS)
            ],
        )
        for array, rows in (("original", vectors), ("questions", np.array(queries))):
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            np.save(folder / "embeddings" / f"{array}.npy", unit.astype(np.float32))
        return folder

    return make


@pytest.fixture
def grid_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(GRID, encoding="utf-8")
    return path


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the configurations and collections that are computed, as they are."""
    computed: list[str] = []
    retrieve, collect = Bench._retrieve, Bench.make

    def counted(self: Bench, configuration: Any) -> Any:
        result = retrieve(self, configuration)
        computed.append(configuration.name)
        return result

    def made(self: Bench, collection: Any, progress: Any = None) -> None:
        computed.append(f"make {collection.name}")
        collect(self, collection, progress)

    monkeypatch.setattr(Bench, "_retrieve", counted)
    monkeypatch.setattr(Bench, "make", made)
    return computed


def sweep(gme: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = gme("sweep", *arguments, "--json")
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    return report
