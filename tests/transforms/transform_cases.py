"""What the tests of transformations work on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import Run

NODES = [f"n{i:03d}" for i in range(120)]


def community_edges(seed: int = 3) -> list[tuple[str, str]]:
    generator = np.random.default_rng(seed)
    edges = []
    for a in range(len(NODES)):
        for b in range(a):
            if generator.random() < (0.6 if a // 20 == b // 20 else 0.01):
                edges.append((NODES[a], NODES[b]))
    return edges


@pytest.fixture
def sourced(small_workspace: Path, gme: Run) -> Path:
    """`small_workspace` with a modified collection, the source of a residual."""
    assert gme("transform", "hop1", "-w", small_workspace)[0] == 0
    return small_workspace


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(len(NODES), 16)).astype(np.float32)
