"""Graphs with vectors for the tests of the kernels: every one both for the core and for its twin in `reference`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from gme import _core
from gme._core import Graph
from properties import examples
from reference import kernels as reference

PROPERTY = examples(60)
"""How the properties of kernels are tested."""

WEIGHTS = (0.25, 0.5, 1.0, 1.5, 3.0, 8.0)


@dataclass(frozen=True)
class Case:
    """Nodes with one vector each, and edges as they might stand in a file."""

    ids: list[str]
    edges: list[reference.Edge]
    x: npt.NDArray[np.float32] = field(repr=False)

    @cached_property
    def graph(self) -> Graph:
        return graph_of(self.ids, self.edges)

    @cached_property
    def twin(self) -> reference.Graph:
        return reference.build(self.ids, self.edges)

    def permuted(self, seed: int) -> tuple[Case, npt.NDArray[np.int64]]:
        """The same with nodes and edges in another order, edges turned round; row i was row ``order[i]`` before."""
        generator = np.random.default_rng(seed)
        order = generator.permutation(len(self.ids))
        new_row = np.argsort(order)
        edges = [(int(new_row[b]), int(new_row[a]), weight) for a, b, weight in self.edges]
        shuffled = [edges[i] for i in generator.permutation(len(edges))]
        return Case([self.ids[row] for row in order], shuffled, np.ascontiguousarray(self.x[order])), order


def graph_of(ids: list[str], edges: list[reference.Edge]) -> Graph:
    sources = np.array([a for a, _, _ in edges], dtype=np.uint32)
    targets = np.array([b for _, b, _ in edges], dtype=np.uint32)
    weights = np.array([weight for _, _, weight in edges], dtype=np.float64)
    return Graph(ids, sources, targets, weights if np.any(weights != 1) else None)


def vectors(rows: int, dim: int, seed: int) -> npt.NDArray[np.float32]:
    """Normal vectors; some are zero and some are the same as others, so that similarities tie."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, dim)).astype(np.float32)
    kind = generator.random(rows)
    x[kind < 0.1] = 0
    twins = np.flatnonzero(kind > 0.7)
    if len(twins):
        x[twins] = x[generator.choice(twins[:2], len(twins))]
    return x


@st.composite
def cases(draw: st.DrawFn, least_nodes: int = 0) -> Case:
    """Small graphs: isolated nodes, self-loops, parallel edges (of different weights), now and then a hub."""
    # Code points below, between and above the UTF-16 surrogates: their order is not that of UTF-16.
    alphabet = st.sampled_from("aBb:é\uffee\U0001d538")
    ids = draw(st.lists(st.text(alphabet, min_size=1, max_size=3), min_size=least_nodes, max_size=14, unique=True))
    row = st.integers(0, max(len(ids) - 1, 0))
    weighted: bool = draw(st.booleans())
    weight = st.sampled_from(WEIGHTS if weighted else (1.0,))
    edges = draw(st.lists(st.tuples(row, row, weight), max_size=30)) if ids else []
    with_hub: bool = draw(st.booleans())
    if ids and with_hub:
        hub = draw(row)
        edges += [(hub, other, draw(weight)) for other in range(len(ids))]
    dim = draw(st.sampled_from((1, 2, 7, 15, 16, 17, 40)))
    return Case(ids, edges, vectors(len(ids), dim, draw(st.integers(0, 999))))


def town(nodes: int = 400, dim: int = 37, *, weighted: bool = False, seed: int = 5) -> Case:
    """A larger graph with what real ones have: three hubs, a sparse rest, parallel edges, loops and isolated nodes."""
    generator = np.random.default_rng(seed)
    connected = nodes - nodes // 20
    ends: list[Any] = generator.integers(0, connected, size=(2 * nodes, 2)).tolist()
    ends += [(hub, int(other)) for hub in range(3) for other in generator.integers(0, connected, nodes // 3)]
    weights = generator.choice(WEIGHTS, len(ends)).tolist() if weighted else [1.0] * len(ends)
    edges = [(a, b, weight) for (a, b), weight in zip(ends, weights, strict=True)]
    ids = [f"n{number}" for number in generator.permutation(nodes)]
    return Case(ids, edges, vectors(nodes, dim, seed))


@dataclass(frozen=True)
class Call:
    """A typical call of a kernel that gives one vector a node."""

    kernel: Callable[..., Any]
    options: dict[str, Any]

    def __call__(self, case: Case, **changes: Any) -> npt.NDArray[np.float32]:
        """The vectors."""
        result = self.kernel(*self.arguments(case), **(self.options | changes))
        z: npt.NDArray[np.float32] = result[0] if isinstance(result, tuple) else result
        return z

    def arguments(self, case: Case) -> list[Any]:
        if self.kernel in (_core.signature, _core.root_signature):
            return [case.graph]
        if self.kernel is _core.group_means:
            # Groups go by id, so that they stay when rows are permuted.
            return [case.graph, case.x, np.array([len(node_id.encode()) % 3 for node_id in case.ids], dtype=np.uint32)]
        return [case.graph, case.x]


_WALK = {"steps": 2, "alpha": 0.5, "walks": 100, "seed": 42, "returns": True, "exact": False}
_RESTART = {"restart": 0.15, "tolerance": 1e-7, "max_iterations": 1000, "weighted": True}
_CONVEX = {"anchor_weight": 1.0, "edge_weight": 1.0, "tolerance": 1e-6, "max_sweeps": 200}
_ROOTS = {"restart": 0.2, "drop": 1e-3, "seed": 42}
_GRADIENT = {"targets": (0.6, 0.3, 0.1, 0.0), "step": 0.5, "max_shift": 0.5, "steps": 5, "seed": 42}
CALLS: dict[str, Call] = {
    "hop1": Call(_core.hop, {"hops": 1, "share": (1, 5), "alpha": 0.2, "least": True, "min_neighbors": 2}),
    "hop2": Call(_core.hop, {"hops": 2, "share": (1, 2), "alpha": 0.2, "least": False, "min_neighbors": 1}),
    "walk": Call(_core.walk, _WALK | {"steps": 3}),
    "walk, no return": Call(_core.walk, _WALK | {"returns": False}),
    "walk, exact": Call(_core.walk, _WALK | {"exact": True}),
    "walk, exact, no return": Call(_core.walk, _WALK | {"exact": True, "returns": False}),
    "convex": Call(_core.convex, _CONVEX),
    "convex, cg": Call(_core.convex, _CONVEX | {"solver": "cg"}),
    "shared": Call(_core.shared, _CONVEX | {"shared_weight": 3.0}),
    "shared, cg": Call(_core.shared, _CONVEX | {"shared_weight": 3.0, "max_hub_degree": 50, "solver": "cg"}),
    "diffuse": Call(_core.diffuse, _RESTART),
    "signature": Call(_core.signature, _RESTART | {"dim": 48, "seed": 42, "weighted": False}),
    "signature, damped": Call(_core.signature, _RESTART | {"dim": 48, "seed": 42, "damping": 0.5}),
    "signature, roots": Call(_core.root_signature, _ROOTS | {"dim": 48, "weighted": True}),
    "gradient": Call(_core.gradient, _GRADIENT | {"fan_out": 6, "pairs": 20}),
    "gradient, whole patches": Call(_core.gradient, _GRADIENT | {"fan_out": 1 << 16, "pairs": 1 << 20}),
    "group_means": Call(_core.group_means, {"alpha": 0.5}),
}


TOLERANCE = 1e-5
ALPHAS = st.sampled_from((0.0, 0.2, 0.5, 0.8, 1.0))
TOWNS = [town(), town(weighted=True)]


def close(found: npt.NDArray[np.float32], expected: reference.Doubles, tolerance: float = TOLERANCE) -> None:
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=tolerance, rtol=tolerance)
