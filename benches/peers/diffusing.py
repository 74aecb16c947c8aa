"""Diffusion: one step, to the fixed point, signatures, and personalized PageRank."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cells import Cell, Outcome, Task, Traffic, Work
from .inputs import Floats, Inputs, Size

RESTART, TOLERANCE = 0.15, 1e-6
COLUMNS = 64
TOP = 100


def _floats(size: Size) -> float:
    return 2 * size.edges * size.dim / 1e9


def _diffuse(inputs: Inputs, x: Floats, max_iterations: int) -> Task:
    from gme import _core

    graph = inputs.graph
    return Task(
        lambda: _core.diffuse(
            graph,
            x,
            restart=RESTART,
            tolerance=TOLERANCE,
            max_iterations=max_iterations,
            weighted=False,
            threads=inputs.threads,
        ),
        outcome=lambda result: result[0][:: max(1, len(x) // 1000)].astype(np.float64),
        passes=lambda result: int(result[1]),
        note=lambda result: f"{result[1]} passes" if max_iterations > 1 else "",
    )


def gme_step(inputs: Inputs) -> Task:
    return _diffuse(inputs, inputs.x, 1)


def gme_converged(inputs: Inputs) -> Task:
    return _diffuse(inputs, inputs.x, 1000)


def gme_converged_columns(inputs: Inputs) -> Task:
    return _diffuse(inputs, inputs.columns(COLUMNS), 1000)


def scipy_step(inputs: Inputs) -> Task:
    transition, x = inputs.transition, inputs.x
    restart, rest = np.float32(RESTART), np.float32(1 - RESTART)
    return Task(lambda: restart * x + rest * (transition @ x))


def _scipy_loop(inputs: Inputs, x: Floats) -> Task:
    """Plain steps until one changes no entry by the tolerance, the criterion that ours stops by."""
    transition = inputs.transition
    rest = np.float32(1 - RESTART)

    def loop() -> tuple[Floats, int]:
        own = np.float32(RESTART) * x
        z, passes = x, 0
        while True:
            following = own + rest * (transition @ z)
            passes += 1
            change = np.max(np.abs(following - z))
            z = following
            if change < TOLERANCE:
                return z, passes

    return Task(
        loop,
        outcome=lambda result: result[0][:: max(1, len(x) // 1000)].astype(np.float64),
        passes=lambda result: result[1],
        note=lambda result: f"{result[1]} passes",
    )


def scipy_loop(inputs: Inputs) -> Task:
    return _scipy_loop(inputs, inputs.x)


def scipy_loop_columns(inputs: Inputs) -> Task:
    return _scipy_loop(inputs, inputs.columns(COLUMNS))


def gme_signature(inputs: Inputs) -> Task:
    from gme import _core

    graph = inputs.graph
    return Task(
        lambda: _core.signature(
            graph,
            dim=256,
            restart=0.1,
            seed=42,
            tolerance=TOLERANCE,
            max_iterations=1000,
            weighted=False,
            threads=inputs.threads,
        ),
        outcome=None,
        passes=lambda result: int(result[1]),
        note=lambda result: f"{result[1]} passes",
    )


# ---- root signatures, and the rows they are made of ------------------------------------------------------------------


def gme_roots(inputs: Inputs) -> Task:
    """As `gme transform signature` does by default."""
    from gme import _core
    from gme.transforms.diffusion import SignatureOptions

    graph, options = inputs.graph, SignatureOptions()
    return Task(
        lambda: _core.root_signature(
            graph,
            dim=options.dim,
            restart=options.restarts,
            drop=options.drop,
            seed=options.seed,
            weighted=False,
            threads=inputs.threads,
        ),
        outcome=None,
        note=lambda result: f"{result[1][0] / inputs.size.nodes:.0f} entries a row",
    )


def gme_diffused(inputs: Inputs) -> Task:
    """As `gme transform signature --form diffused`."""
    import gme

    graph = inputs.graph
    return Task(
        lambda: gme.transform("signature", graph, form="diffused", threads=inputs.threads),
        outcome=None,
        note=lambda result: f"{result.facts['iterations']} passes",
    )


ROWS, ROW_RESTART, ROW_DROP = 20, 0.25, 1e-4


def gme_rows(inputs: Inputs) -> Task:
    from gme import _core

    graph, rows = inputs.graph, _some_nodes(inputs).astype(np.uint32)
    return Task(
        lambda: _core.walk_masses(
            graph, rows=rows, restart=ROW_RESTART, drop=ROW_DROP, weighted=False, threads=inputs.threads
        ),
        outcome=lambda result: np.array([part.max() for part in np.split(result[2], result[0][1:-1].astype(np.int64))]),
    )


def sknetwork_rows(inputs: Inputs) -> Task:
    """Whole rows, each by plain iteration until what is left is as small as the entries we drop."""
    from sknetwork.ranking import PageRank

    adjacency, nodes = inputs.adjacency.astype(np.float64), _some_nodes(inputs).tolist()
    passes = int(np.ceil(np.log(ROW_DROP) / np.log(1 - ROW_RESTART)))
    ranking = PageRank(damping_factor=1 - ROW_RESTART, solver="piteration", n_iter=passes)
    return Task(
        lambda: [ranking.fit_predict(adjacency, {node: 1.0}) for node in nodes],
        outcome=lambda rows: np.array([row.max() for row in rows], dtype=np.float64),
    )


def _some_nodes(inputs: Inputs) -> Any:
    """Nodes with edges, spread over the graph."""
    connected = np.flatnonzero(inputs.degrees)
    return connected[:: max(1, len(connected) // ROWS)][:ROWS]


# ---- personalized PageRank of one query ------------------------------------------------------------------------------


def gme_pagerank(inputs: Inputs) -> Task:
    """With the same vector everywhere, so that the products it ranks by are the masses themselves."""
    from gme import _core

    graph, nodes = inputs.graph, inputs.size.nodes
    same = np.ones((nodes, 1), dtype=np.float32)
    vectors = _core.VectorSet(same, graph.ranks)
    starts, strengths = _starts(nodes)
    return Task(
        lambda: _core.pagerank(
            graph,
            vectors,
            same[:1],
            starts.astype(np.uint32)[None],
            strengths.astype(np.float32)[None],
            TOP,
            restart=RESTART,
            tolerance=TOLERANCE,
            weighted=False,
            threads=inputs.threads,
        ),
        outcome=lambda result: result[1][0].astype(np.float64),
    )


def _starts(nodes: int) -> tuple[Any, Any]:
    """Five nodes and their strengths, as a query's best hits would be."""
    return np.linspace(0, nodes - 1, 5).astype(np.int64), np.array([0.9, 0.8, 0.7, 0.6, 0.5])


def _largest(masses: Any) -> Outcome:
    values = np.sort(np.asarray(masses, dtype=np.float64))[::-1][:TOP]
    return values


def sknetwork_pagerank(inputs: Inputs) -> Task:
    from sknetwork.ranking import PageRank

    adjacency = inputs.adjacency.astype(np.float64)
    weights = dict(zip(*(part.tolist() for part in _starts(inputs.size.nodes)), strict=True))
    ranking = PageRank(damping_factor=1 - RESTART, solver="piteration", n_iter=_plain_passes())
    return Task(lambda: ranking.fit_predict(adjacency, weights), outcome=_largest)


def networkx_pagerank(inputs: Inputs) -> Task:
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(inputs.size.nodes))
    graph.add_edges_from(np.stack(inputs.edges, axis=1).tolist())
    weights = dict(zip(*(part.tolist() for part in _starts(inputs.size.nodes)), strict=True))
    tolerance = TOLERANCE / inputs.size.nodes  # networkx multiplies by the number of nodes
    return Task(
        lambda: networkx.pagerank(graph, alpha=1 - RESTART, personalization=weights, tol=tolerance, max_iter=1000),
        outcome=lambda masses: _largest(list(masses.values())),
    )


def _plain_passes() -> int:
    """Passes of plain iteration that leave the tolerance of the first distance."""
    return int(np.ceil(np.log(TOLERANCE) / np.log(1 - RESTART)))


DIFFUSING = (
    Work(
        "step",
        "diffusion, one step",
        (Cell("gme", gme_step), Cell("scipy c·x + (1−c)·P·x", scipy_step)),
        _floats,
        "G floats/s",
        traffic=Traffic(
            "a row for both ends of every edge, x read, z written",
            lambda inputs: 2.0 * inputs.size.edges * inputs.size.dim * 4 + 2 * inputs.size.matrix_bytes,
        ),
    ),
    Work(
        "ppr",
        "diffusion to 1e-6",
        (Cell("gme", gme_converged), Cell("scipy, plain steps", scipy_loop, slow=True)),
        _floats,
        "G floats/s",
        grows=True,
    ),
    Work(
        "ppr-columns",
        f"diffusion to 1e-6, {COLUMNS} columns",
        (Cell("gme", gme_converged_columns), Cell("scipy, plain steps", scipy_loop_columns)),
        lambda size: 2 * size.edges * min(COLUMNS, size.dim) / 1e9,
        "G floats/s",
    ),
    Work(
        "signature",
        "signature, 256 numbers a node",
        (Cell("gme", gme_signature),),
        lambda size: 2 * size.edges * 256 / 1e9,
        "G floats/s",
        grows=True,
    ),
    Work(
        "roots",
        "signature by default, 512 numbers a node",
        (Cell("gme, roots", gme_roots), Cell("gme, diffused", gme_diffused)),
        lambda size: size.nodes / 1e6,
        "M nodes/s",
        grows=True,
    ),
    Work(
        "rows",
        f"{ROWS} rows of the walk with restart {ROW_RESTART:g}",
        (Cell("gme, entries from 1e-4", gme_rows), Cell("scikit-network, whole rows", sknetwork_rows)),
        lambda size: ROWS / 1e3,
        "k rows/s",
        tolerance=5e-3,
    ),
    Work(
        "pagerank",
        "personalized PageRank, 1 query",
        (
            Cell("gme", gme_pagerank),
            Cell("scikit-network", sknetwork_pagerank),
            Cell("networkx", networkx_pagerank),
        ),
        lambda size: 1.0,
        "queries/s",
        tolerance=TOLERANCE,
    ),
)
