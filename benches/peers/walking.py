"""Random walks: the steps alone, and the means over where they end."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .cells import Cell, Outcome, Task, Traffic, Work, off_the_slope, relative_difference
from .inputs import Inputs, Size

STEPS, WALKS = 10, 10


def _steps(size: Size) -> float:
    return size.nodes * STEPS * WALKS / 1e6


def gme_walks(inputs: Inputs) -> Task:
    from gme import _core

    graph = inputs.graph

    def outcome(result: Any) -> Outcome:
        indptr, ends, counts = result
        starts = np.repeat(np.arange(inputs.size.nodes), np.diff(indptr).astype(np.int64))
        return _where_walks_end(inputs, np.repeat(starts, counts), np.repeat(ends, counts))

    return Task(
        lambda: _core.walk_endpoints(graph, steps=STEPS, walks=WALKS, seed=42, returns=True, threads=inputs.threads),
        outcome,
    )


def _where_walks_end(inputs: Inputs, starts: Any, ends: Any) -> Outcome:
    """Share of walks that end in the community they began in, and the mean degree of the ends."""
    home = inputs.labels[starts] == inputs.labels[ends]
    return np.array([home.mean(), inputs.degrees[ends].mean(dtype=np.float64)])


def csrgraph_walks(inputs: Inputs) -> Task:
    import csrgraph
    from scipy import sparse

    csrgraph.csrgraph(sparse.csr_matrix(np.ones((2, 2), dtype=np.float32))).random_walks(walklen=3)  # compiles
    graph = csrgraph.csrgraph(inputs.adjacency)
    return Task(
        lambda: graph.random_walks(walklen=STEPS + 1, epochs=WALKS),
        lambda paths: _where_walks_end(inputs, paths[:, 0].astype(np.int64), paths[:, -1].astype(np.int64)),
    )


def pecanpy_walks(inputs: Inputs) -> Task:
    from scipy import sparse

    ring = sparse.csr_matrix(np.roll(np.eye(4, dtype=np.float32), 1, axis=1) + np.roll(np.eye(4), -1, axis=1))
    _pecanpy(ring).simulate_walks(num_walks=1, walk_length=2)  # compiles
    graph = _pecanpy(inputs.adjacency)

    def outcome(paths: Any) -> Outcome:
        ends = np.array([(int(path[0]), int(path[-1])) for path in paths])
        return _where_walks_end(inputs, ends[:, 0], ends[:, 1])

    return Task(lambda: graph.simulate_walks(num_walks=WALKS, walk_length=STEPS), outcome)


def _pecanpy(adjacency: Any) -> Any:
    from pecanpy.pecanpy import FirstOrderUnweighted

    graph = FirstOrderUnweighted(p=1, q=1, workers=os.cpu_count() or 1, random_state=42)
    graph.set_node_ids([str(row) for row in range(adjacency.shape[0])])
    graph.indptr = adjacency.indptr.astype(np.uint32)
    graph.indices = adjacency.indices.astype(np.uint32)
    graph.data = adjacency.data
    return graph


def _transform(inputs: Inputs, *, exact: bool) -> Task:
    from gme import _core

    graph, x = inputs.graph, inputs.x
    return Task(
        lambda: _core.walk(
            graph, x, steps=2, alpha=0.0, walks=100, seed=42, returns=True, exact=exact, threads=inputs.threads
        )
    )


def gme_sampled(inputs: Inputs) -> Task:
    return _transform(inputs, exact=False)


def gme_exact(inputs: Inputs) -> Task:
    return _transform(inputs, exact=True)


def scipy_two_steps(inputs: Inputs) -> Task:
    transition, x = inputs.transition, inputs.x
    return Task(lambda: transition @ (transition @ x))


def _endpoint_bytes(inputs: Inputs) -> float:
    from gme import _core

    _, rows, _ = _core.walk_endpoints(inputs.graph, steps=2, walks=100, seed=42, returns=True)
    return len(rows) * inputs.size.dim * 4 + inputs.size.matrix_bytes


def _floats(size: Size) -> float:
    return 2 * size.edges * size.dim / 1e9


def _two_steps(size: Size) -> float:
    return 2 * _floats(size)


WALKING = (
    Work(
        "walks",
        "walks: 10 of 10 steps a node",
        (
            Cell("gme, ends counted", gme_walks),
            Cell("csrgraph, paths kept", csrgraph_walks),
            Cell("pecanpy, paths kept", pecanpy_walks),
        ),
        _steps,
        "M steps/s",
        relative_difference,
        tolerance=0.03,
    ),
    Work(
        "walk-sampled",
        "walk: 100 x 2 steps, sampled",
        (Cell("gme", gme_sampled), Cell("scipy P·(P·x), exact", scipy_two_steps)),
        lambda size: size.nodes * 200 / 1e6,
        "M steps/s",
        off_the_slope,
        tolerance=0.02,
        traffic=Traffic("a row for every distinct end of a node's walks, z written; not the steps", _endpoint_bytes),
        grows=True,
    ),
    Work(
        "walk-exact",
        "walk: 2 steps, exact",
        (Cell("gme --exact", gme_exact), Cell("scipy P·(P·x)", scipy_two_steps)),
        _two_steps,
        "G floats/s",
        traffic=Traffic(
            "two passes, each: a row for both ends of every edge, a matrix written",
            lambda inputs: 4 * inputs.size.edges * inputs.size.dim * 4 + 2 * inputs.size.matrix_bytes,
        ),
        grows=True,
    ),
)
