"""Means over neighborhoods and communities, and the convex compromise."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cells import Cell, Task, Traffic, Work
from .inputs import Floats, Inputs, Size

TOLERANCE = 1e-6


def _floats(size: Size) -> float:
    return 2 * size.edges * size.dim / 1e9


def _edge_rows(inputs: Inputs) -> float:
    """Bytes of one row for both ends of every edge."""
    return 2.0 * inputs.size.edges * inputs.size.dim * 4


# ---- hop1, hop2 -----------------------------------------------------------------------------------------------------


def _hop(inputs: Inputs, *, hops: int, share: tuple[int, int], alpha: float) -> Task:
    from gme import _core

    graph, x = inputs.graph, inputs.x
    return Task(
        lambda: _core.hop(
            graph, x, hops=hops, share=share, alpha=alpha, least=True, min_neighbors=2, threads=inputs.threads
        )
    )


def gme_hop1_all(inputs: Inputs) -> Task:
    return _hop(inputs, hops=1, share=(1, 1), alpha=0.0)


def gme_hop1(inputs: Inputs) -> Task:
    return _hop(inputs, hops=1, share=(1, 5), alpha=0.2)


def gme_hop2(inputs: Inputs) -> Task:
    return _hop(inputs, hops=2, share=(1, 5), alpha=0.2)


def scipy_hop1(inputs: Inputs) -> Task:
    transition, x = inputs.transition, inputs.x
    return Task(lambda: transition @ x)


def scipy_square(inputs: Inputs) -> Task:
    adjacency = inputs.adjacency
    return Task(lambda: adjacency @ adjacency, outcome=None, note=lambda square: f"{square.nnz / 1e6:.1f} M pairs")


# ---- convex ---------------------------------------------------------------------------------------------------------


def _convex(inputs: Inputs, x: Floats, **solver: str) -> Task:
    from gme import _core

    graph = inputs.graph
    return Task(
        lambda: _core.convex(
            graph,
            x,
            anchor_weight=1.0,
            edge_weight=1.0,
            tolerance=TOLERANCE,
            max_sweeps=500,
            threads=inputs.threads,
            **solver,
        ),
        outcome=lambda result: result[0][:: max(1, len(x) // 1000)].astype(np.float64),
        passes=lambda result: int(result[1]),
        note=lambda result: f"{result[1]} passes",
    )


def gme_convex(inputs: Inputs) -> Task:
    return _convex(inputs, inputs.x)


def gme_convex_conjugate(inputs: Inputs) -> Task:
    return _convex(inputs, inputs.x, solver="cg")


def gme_convex_columns(inputs: Inputs) -> Task:
    return _convex(inputs, inputs.columns(COLUMNS))


def gme_convex_columns_conjugate(inputs: Inputs) -> Task:
    return _convex(inputs, inputs.columns(COLUMNS), solver="cg")


def scipy_jacobi(inputs: Inputs) -> Task:
    adjacency, x, weights = inputs.adjacency, inputs.x, 1 + inputs.degrees[:, None]

    def sweeps() -> Floats:
        z = x
        for _ in range(10):
            z = (x + adjacency @ z) / weights
        return z

    return Task(sweeps, passes=lambda _: 10, note=lambda _: "10 passes, not converged")


def scipy_conjugate(inputs: Inputs) -> Task:
    from scipy import sparse
    from scipy.sparse.linalg import cg

    system = (sparse.diags(1 + inputs.degrees, dtype=np.float32) - inputs.adjacency).tocsr()
    x = inputs.columns(COLUMNS)
    passes = 0

    def count(_: Any) -> None:
        nonlocal passes
        passes += 1

    def solve() -> Floats:
        nonlocal passes
        passes = 0
        return np.stack([cg(system, column, rtol=TOLERANCE, callback=count)[0] for column in x.T], axis=1)

    # One pass here is over all columns, as ours is.
    return Task(solve, passes=lambda _: round(passes / COLUMNS), note=lambda _: f"{passes / COLUMNS:.0f} passes")


COLUMNS = 16


def _with_conjugate(first: Cell, other: Cell, *peers: Cell) -> tuple[Cell, ...]:
    """The second solver as well, where the installed gme has one."""
    from gme import _core

    has_solver = "solver" in (_core.convex.__text_signature__ or "")
    return (first, other, *peers) if has_solver else (first, *peers)


# ---- communities' means ---------------------------------------------------------------------------------------------


def gme_group_means(inputs: Inputs) -> Task:
    from gme import _core

    graph, x, labels = inputs.graph, inputs.x, inputs.labels
    return Task(lambda: _core.group_means(graph, x, labels, alpha=0.5, threads=inputs.threads))


def scipy_group_means(inputs: Inputs) -> Task:
    from scipy import sparse

    x, labels, nodes = inputs.x, inputs.labels, inputs.size.nodes
    half = np.float32(0.5)
    ones = np.ones(nodes, dtype=np.float32)
    members = sparse.csr_matrix((ones, (labels, np.arange(nodes))), shape=(int(labels.max()) + 1, nodes))
    sizes = np.bincount(labels).astype(np.float32)[:, None]
    spread = members.T.tocsr()
    return Task(lambda: half * x + half * (spread @ ((members @ x) / sizes)))


SMOOTHING = (
    Work(
        "hop1-all",
        "hop1: mean of all neighbors",
        (Cell("gme", gme_hop1_all), Cell("scipy P·x", scipy_hop1)),
        _floats,
        "G floats/s",
        traffic=Traffic(
            "a row for both ends of every edge, z written",
            lambda inputs: _edge_rows(inputs) + inputs.size.matrix_bytes,
        ),
    ),
    Work(
        "hop1",
        "hop1: least similar fifth",
        (Cell("gme", gme_hop1),),
        lambda size: size.nodes / 1e6,
        "M nodes/s",
        grows=True,
    ),
    Work(
        "hop2",
        "hop2: least similar fifth",
        (Cell("gme", gme_hop2), Cell("scipy A·A: pairs only", scipy_square)),
        lambda size: size.nodes / 1e6,
        "M nodes/s",
        grows=True,
    ),
    Work(
        "convex",
        "convex to 1e-6",
        _with_conjugate(
            Cell("gme Gauss-Seidel", gme_convex),
            Cell("gme conjugate gradient", gme_convex_conjugate),
            Cell("scipy, 10 Jacobi sweeps", scipy_jacobi, alike=False),
        ),
        _floats,
        "G floats/s",
        traffic=Traffic(
            "each sweep: a row for both ends of every edge, x read, z written",
            lambda inputs: _edge_rows(inputs) + 2 * inputs.size.matrix_bytes,
        ),
        grows=True,
    ),
    Work(
        "convex-columns",
        f"convex to 1e-6, {COLUMNS} columns",
        _with_conjugate(
            Cell("gme Gauss-Seidel", gme_convex_columns),
            Cell("gme conjugate gradient", gme_convex_columns_conjugate),
            Cell("scipy cg", scipy_conjugate),
        ),
        lambda size: 2 * size.edges * COLUMNS / 1e9,
        "G floats/s",
    ),
    Work(
        "group-means",
        "louvain: means of groups of 100",
        (Cell("gme", gme_group_means), Cell("scipy M·(Mᵀ·x)", scipy_group_means)),
        lambda size: size.nodes / 1e6,
        "M nodes/s",
        traffic=Traffic(
            "x read twice (to sum, to blend), z written",
            lambda inputs: 3.0 * inputs.size.matrix_bytes,
        ),
        grows=True,
    ),
)
