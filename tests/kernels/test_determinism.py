"""What must hold for every kernel whatever the graph: weights, untouched nodes, and the same bytes again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import CALLS, PROPERTY, Case, cases, town

from gme import _core

TOWNS = [town(), town(weighted=True)]
EITHER_TOWN = pytest.mark.parametrize("case", TOWNS, ids=["plain", "weighted"])
EVERY_KERNEL = pytest.mark.parametrize("name", CALLS)


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if "alpha" in call.options])
@given(case=cases())
@PROPERTY
def test_alpha_one_is_the_identity(name: str, case: Case) -> None:
    np.testing.assert_array_equal(CALLS[name](case, alpha=1.0), case.x)


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith("signature") and name != "group_means"])
@given(case=cases())
@PROPERTY
def test_an_isolated_node_keeps_its_vector(name: str, case: Case) -> None:
    exclusive_lock = [row for row, of_row in enumerate(case.twin.neighbors) if not of_row]
    np.testing.assert_array_equal(CALLS[name](case)[exclusive_lock], case.x[exclusive_lock])


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith(("signature", "gradient"))])
@given(case=cases())
@PROPERTY
def test_weights_are_positive_and_sum_to_one(name: str, case: Case) -> None:
    """A constant column stays what it is, and every other one stays between its smallest and its largest entry."""
    constant = Case(case.ids, case.edges, np.column_stack((np.full(len(case.x), 3.25, np.float32), case.x)))
    z = CALLS[name](constant)
    np.testing.assert_allclose(z[:, 0], 3.25, rtol=2e-6)
    if len(z):
        assert (z >= constant.x.min(axis=0) - 1e-5).all()
        assert (z <= constant.x.max(axis=0) + 1e-5).all()


@EVERY_KERNEL
@EITHER_TOWN
def test_same_bytes_on_any_number_of_threads(name: str, case: Case) -> None:
    one = CALLS[name](case, threads=1)
    for threads in (2, 5, 0):
        assert CALLS[name](case, threads=threads).tobytes() == one.tobytes()


@EVERY_KERNEL
@EITHER_TOWN
def test_same_bytes_for_any_order_of_nodes_and_edges(name: str, case: Case) -> None:
    permuted, order = case.permuted(3)
    assert CALLS[name](permuted).tobytes() == CALLS[name](case)[order].tobytes()


@EVERY_KERNEL
@given(case=cases(), seed=st.integers(0, 99))
@PROPERTY
def test_same_bytes_for_any_order_in_small_graphs(name: str, case: Case, seed: int) -> None:
    permuted, order = case.permuted(seed)
    assert CALLS[name](permuted).tobytes() == CALLS[name](case)[order].tobytes()


@pytest.mark.parametrize("name", ["convex, cg", "shared, cg"])
def test_conjugate_gradients_add_in_the_order_of_ids(name: str) -> None:
    """Sums in the order of rows changed the last bit of few vectors: some of these, before they were mended."""
    generator = np.random.default_rng(0)
    for seed in range(100):
        x = generator.random((3, 64), dtype=np.float32)
        x[2] = 0
        case = Case([":", "B", "::"], [(0, 1, 1.0), (2, 0, 1.0), (2, 1, 1.0)], x)
        permuted, order = case.permuted(seed)
        assert CALLS[name](permuted).tobytes() == CALLS[name](case)[order].tobytes()


ITERATING = ("convex", "diffuse", "signature", "signature, damped")


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ITERATING])
@EITHER_TOWN
def test_an_unrelated_node_changes_nothing(name: str, case: Case) -> None:
    """Nor does an unrelated component: ids before, between and after the others, put in front of them."""
    new = ["a", "n1x", "zz", "zzz"]
    edges = [(0, 2, 1.0), (2, 3, 1.0), *((a + 4, b + 4, weight) for a, b, weight in case.edges)]
    dim = case.x.shape[1]
    grown = Case([*new, *case.ids], edges, np.concatenate((np.ones((4, dim), np.float32), case.x)))
    if name == "group_means":
        labels = np.arange(len(case.ids), dtype=np.uint32) % 7
        shifted = np.concatenate((np.full(4, 9, np.uint32), labels))
        before = _core.group_means(case.graph, case.x, labels, alpha=0.5)
        after = _core.group_means(grown.graph, grown.x, shifted, alpha=0.5)
    else:
        before, after = CALLS[name](case), CALLS[name](grown)
    assert after[4:].tobytes() == before.tobytes()


@pytest.mark.parametrize("name", ITERATING)
@EITHER_TOWN
def test_an_unrelated_isolated_node_changes_no_iteration(name: str, case: Case) -> None:
    dim = case.x.shape[1]
    grown = Case(
        ["zz", *case.ids], [(a + 1, b + 1, w) for a, b, w in case.edges], np.ones((len(case.x) + 1, dim), "f4")
    )
    grown.x[1:] = case.x
    assert CALLS[name](grown)[1:].tobytes() == CALLS[name](case).tobytes()


@pytest.mark.parametrize(
    "name", ["walk", "walk, no return", "signature", "signature, damped", "signature, roots", "gradient"]
)
def test_another_seed_draws_something_else(name: str) -> None:
    first, second = (CALLS[name](TOWNS[0], seed=seed) for seed in (42, 43))
    connected = [row for row, of_row in enumerate(TOWNS[0].twin.neighbors) if len(of_row) > 3]
    connected = [row for row in connected if name != "gradient" or TOWNS[0].x[row].any()]  # a zero vector never moves
    same = (first[connected] == second[connected]).all(axis=1)
    assert same.mean() < 0.05


def test_every_node_has_draws_of_its_own() -> None:
    """Two nodes with the same neighbors do not walk in step."""
    ids = [f"n{number}" for number in range(42)]
    case = Case(ids, [(start, end, 1.0) for start in (0, 1) for end in range(2, 42)], np.zeros((42, 1), np.float32))
    starts, ends, counts = _core.walk_endpoints(case.graph, steps=1, walks=100, seed=42, returns=True)
    first, second = (slice(starts[row], starts[row + 1]) for row in (0, 1))
    assert (ends[first].tolist(), counts[first].tolist()) != (ends[second].tolist(), counts[second].tolist())


def test_unweighted_methods_ignore_weights() -> None:
    weighted = TOWNS[1]
    assert weighted.graph.weighted
    bare = Case(weighted.ids, [(a, b, 1.0) for a, b, _ in weighted.edges], weighted.x)
    for name in ("hop1", "hop2", "convex", "signature", "gradient", "group_means"):
        assert CALLS[name](bare).tobytes() == CALLS[name](weighted).tobytes()
    assert CALLS["diffuse"](bare).tobytes() == CALLS["diffuse"](weighted, weighted=False).tobytes()
    for name in ("walk", "walk, exact", "diffuse", "signature, damped", "signature, roots"):
        assert CALLS[name](bare).tobytes() != CALLS[name](weighted).tobytes()


@EVERY_KERNEL
def test_no_nodes(name: str) -> None:
    case = Case([], [], np.zeros((0, 5), np.float32))
    assert CALLS[name](case).shape == (0, 48 if name.startswith("signature") else 5)
