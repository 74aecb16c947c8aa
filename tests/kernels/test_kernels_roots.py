"""Root signatures against their twin in `reference`, against PageRank, and row by row."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import PROPERTY, Case, cases, close, graph_of, town

from gme import _core
from gme.errors import GmeError
from reference import kernels as reference

WALKS: dict[str, Any] = {"restart": 0.2, "drop": 1.1e-4, "weighted": True}
SKETCH: dict[str, Any] = {"dim": 64, "seed": 7}


def masses(graph: _core.Graph, **options: Any) -> npt.NDArray[np.float64]:
    offsets, nodes, values = _core.walk_masses(graph, **options)
    shape = (len(offsets) - 1, graph.nodes)
    return np.asarray(sp.csr_array((values, nodes.astype(np.int64), offsets.astype(np.int64)), shape=shape).todense())


def signs(case: Case, dim: int, seed: int) -> npt.NDArray[np.float32]:
    """With restart 1 a walk is where it began: what is left are the random signs, over √dim."""
    return _core.root_signature(case.graph, dim=dim, seed=seed, restart=1.0, drop=0.5, weighted=False)[0]


@given(
    cases(), st.sampled_from((8, 33, 513)), st.sampled_from((0.13, 0.31)), st.sampled_from((1.1e-4, 0.017)),
    st.integers(0, 2**64 - 1), st.booleans(),
)  # fmt: skip
@PROPERTY
def test_roots(case: Case, dim: int, restart: float, drop: float, seed: int, weighted: bool) -> None:
    walks: dict[str, Any] = {"restart": restart, "drop": drop, "weighted": weighted}
    wanted = reference.walk_masses(case.twin, **walks)
    np.testing.assert_allclose(masses(case.graph, **walks), wanted, atol=2e-6)
    found, (total, largest, dropped, _) = _core.root_signature(case.graph, dim=dim, seed=seed, **walks)
    close(found, reference.root_signature(wanted, signs(case, dim, seed)))
    counts = (wanted > 0).sum(axis=1)
    assert (total, largest) == (counts.sum(), counts.max(initial=0))
    np.testing.assert_allclose(dropped, (1 - wanted.sum(axis=1)).sum(), atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_roots_in_a_town(weighted: bool) -> None:
    """With hubs and isolated nodes, at the drop of the default."""
    case = town(300, weighted=True)
    walks = WALKS | {"drop": 1e-4, "weighted": weighted}
    wanted = reference.walk_masses(case.twin, **walks)
    found, _ = _core.root_signature(case.graph, **SKETCH, **walks)
    exact = reference.root_signature(wanted, signs(case, SKETCH["dim"], SKETCH["seed"]))
    assert np.abs((found * exact).sum(axis=1) - 1).max() < 1e-6


@pytest.mark.parametrize("weighted", [False, True])
def test_masses_are_those_of_pagerank(weighted: bool) -> None:
    """Against networkx, and within the bound: what is not followed is at most a fifth of `drop` for each edge."""
    case = town(150, weighted=True, seed=8)
    size, drop, restart = len(case.ids), 1e-4, 0.2
    offsets, others, weights = case.graph.csr()
    values = weights if weighted else np.ones_like(weights)
    adjacency = sp.csr_array((values.astype(np.float64), others.astype(np.int64), offsets.astype(np.int64)))
    adjacency.resize(size, size)
    degrees = case.graph.degrees.astype(np.float64)
    rows = np.flatnonzero(degrees)
    steps = adjacency.toarray() / np.maximum(adjacency.sum(axis=1), 1e-300)[:, None]
    everywhere = restart * np.linalg.inv(np.eye(size) - (1 - restart) * steps)
    network = nx.from_scipy_sparse_array(adjacency)
    ranks = nx.pagerank(network, alpha=1 - restart, personalization={int(rows[0]): 1.0}, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(everywhere[rows[0]], [ranks[node] for node in range(size)], atol=1e-6)
    found, exact = masses(case.graph, restart=restart, drop=drop, weighted=weighted), everywhere[rows]
    kept = found[rows] > 0
    assert (found[rows] <= exact + 1e-6).all()
    missed = 0.2 * drop * degrees @ everywhere  # what each node holds at the end, wherever it would go
    assert (np.where(kept, exact - found[rows], 0) <= missed + 1e-6).all()
    assert (exact[~kept] < drop + np.broadcast_to(missed, exact.shape)[~kept]).all()
    assert 0.9 < found[rows].sum(axis=1).mean() < 1


@pytest.mark.parametrize("case", [town(), town(weighted=True)], ids=["plain", "weighted"])
def test_rows_alone_are_those_of_a_full_run(case: Case) -> None:
    """Byte by byte: any of them, in any order, one by one, and with a graph that has changed elsewhere."""
    everything = _core.root_signature(case.graph, **SKETCH, **WALKS)[0]
    rows = np.random.default_rng(3).permutation(len(case.ids))[:150].astype(np.uint32)
    some = _core.root_signature(case.graph, rows=rows, threads=2, **SKETCH, **WALKS)[0]
    assert some.tobytes() == everything[rows].tobytes()
    for row in rows[:20].tolist():
        alone = _core.root_signature(case.graph, rows=np.array([row], np.uint32), **SKETCH, **WALKS)[0]
        assert alone.tobytes() == everything[row].tobytes()
    offsets, nodes, values = _core.walk_masses(case.graph, **WALKS)
    for row in rows[:20].tolist():
        part = slice(int(offsets[row]), int(offsets[row + 1]))
        _, own_nodes, own_values = _core.walk_masses(case.graph, rows=np.array([row], np.uint32), **WALKS)
        assert (own_nodes.tolist(), own_values.tolist()) == (nodes[part].tolist(), values[part].tolist())


def test_a_change_is_not_felt_where_walks_do_not_come() -> None:
    """Rows whose walks met neither end of a new edge are the same bytes."""
    chain = [(row, row + 1, 1.0) for row in range(299)]
    ids = [f"n{row:03}" for row in range(300)]
    before, after = graph_of(ids, chain), graph_of(ids, [*chain, (10, 200, 1.0)])
    one, other = (_core.root_signature(graph, **SKETCH, **WALKS)[0] for graph in (before, after))
    changed = np.flatnonzero((one != other).any(axis=1))
    assert set(changed.tolist()) >= {10, 200}
    far = [row for row in range(300) if min(abs(row - 10), abs(row - 200)) > 60]
    assert not set(changed.tolist()) & set(far)


def test_a_large_hub() -> None:
    """50,000 neighbors: no row follows more edges than the bound says, and leaves resemble each other."""
    leaves = 50_000
    ids = [f"n{row:05}" for row in range(leaves + 2)]
    hub, other = np.zeros(leaves, np.uint32), np.arange(1, leaves + 1, dtype=np.uint32)
    graph = _core.Graph(ids, np.append(hub, 1).astype(np.uint32), np.append(other, 2).astype(np.uint32))
    drop = 1e-4
    rows = np.array([0, 1, 2, 3, 4, leaves + 1], np.uint32)
    for row in rows:
        z, (total, _, _, followed) = _core.root_signature(
            graph, rows=np.array([row], np.uint32), restart=0.2, drop=drop, weighted=False, **SKETCH
        )
        assert followed <= 5 / (0.2 * drop)
        assert total <= 1 / drop
        np.testing.assert_allclose(np.linalg.norm(z), 1, atol=1e-6)
    z = _core.root_signature(graph, rows=rows, restart=0.2, drop=drop, weighted=False, **SKETCH)[0]
    cosines = z @ z.T
    assert cosines[0, 3] > 0.4 < cosines[3, 4]
    assert abs(cosines[0, 5]) < 0.5


def test_signs_are_fair_and_belong_to_ids_and_columns() -> None:
    case = Case([f"n{number}" for number in range(4000)], [], np.zeros((4000, 1), np.float32))
    random = signs(case, 520, 42).astype(np.float64)
    np.testing.assert_allclose(np.abs(random), 1 / np.sqrt(520), rtol=1e-6)
    covariance = np.sign(random).T @ np.sign(random) / len(random)
    assert np.abs(covariance - np.eye(520)).max() < 6 / np.sqrt(len(random))
    assert np.abs(np.sign(random).mean(axis=0)).max() < 5 / np.sqrt(len(random))
    assert np.abs(np.sign(random).mean(axis=1)).max() < 5 / np.sqrt(520)
    narrow = signs(case, 40, 42)
    assert (np.sign(narrow) == np.sign(random[:, :40])).all()


def test_cosines_estimate_the_coefficient_of_bhattacharyya() -> None:
    case = town(300, seed=2)
    p = reference.walk_masses(case.twin, **WALKS)
    roots = np.sqrt(p / p.sum(axis=1, keepdims=True))
    exact = roots @ roots.T
    pairs = np.triu_indices(len(exact), 1)
    for dim in (64, 1024):
        z = _core.root_signature(case.graph, dim=dim, seed=1, **WALKS)[0]
        error = (z @ z.T - exact)[pairs] * np.sqrt(dim) / (1 - exact[pairs] ** 2)
        assert 0.6 < np.sqrt((error**2).mean()) < 1.1  # signs scatter less than normal numbers


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"restart": 0.0}, "restart is 0, must be at least 0.001 and at most 1"),
        ({"restart": float("nan")}, "restart is NaN"),
        ({"drop": 0.0}, "drop is 0, must be at least 1e-7 and at most restart"),
        ({"drop": 0.5}, "drop is 0.5, must be at least 1e-7 and at most restart"),
        ({"dim": 0}, "dim is 0, must be at least 1"),
        ({"rows": np.array([0, 9], np.uint32)}, r"rows\[1\] is 9, must be below 3"),
        ({"rows": np.array([0])}, "rows has dtype int64"),
        ({"out": np.zeros((2, 64), np.float32)}, "out has shape"),
    ],
)
def test_bad_arguments(change: dict[str, Any], message: str) -> None:
    graph = graph_of(["a", "b", "c"], [(0, 1, 1.0)])
    with pytest.raises(GmeError, match=message):
        _core.root_signature(graph, **(SKETCH | WALKS | change))


def test_weights_as_far_apart_as_they_can_be() -> None:
    """No NaN and no repeated entry, where shares of edges vanish in float32."""
    ring = [(row, (row + 1) % 19, 1e-45 if row < 9 else 3e38) for row in range(19)]
    graph = graph_of([f"n{row}" for row in range(20)], ring)
    z = _core.root_signature(graph, **SKETCH, **WALKS)[0]
    np.testing.assert_allclose(np.linalg.norm(z, axis=1), 1, atol=1e-6)
    offsets, nodes, values = _core.walk_masses(graph, **WALKS)
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        assert len(set(nodes[start:end].tolist())) == end - start
        assert values[start:end].sum() <= 1 + 1e-6


def test_no_rows() -> None:
    graph = graph_of(["a", "b"], [(0, 1, 1.0)])
    z, facts = _core.root_signature(graph, rows=np.zeros(0, np.uint32), **SKETCH, **WALKS)
    assert (z.shape, facts) == ((0, 64), (0, 0, 0.0, 0))
