"""Graphs, transformations and title mentions against their twins in `reference`, on random input."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from gme import _core
from gme.errors import GmeError
from kernel_cases import PROPERTY, Case, cases, graph_of, town

TOLERANCE = 1e-5
ALPHAS = st.sampled_from((0.0, 0.2, 0.5, 0.8, 1.0))
TOWNS = [town(), town(weighted=True)]


def _close(found: npt.NDArray[np.float32], expected: reference.Doubles, tolerance: float = TOLERANCE) -> None:
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=tolerance, rtol=tolerance)


def _endpoints(case: Case, **options: Any) -> list[dict[int, int]]:
    starts, rows, counts = (array.tolist() for array in _core.walk_endpoints(case.graph, **options))
    return [dict(zip(rows[start:end], counts[start:end], strict=True)) for start, end in pairwise(starts)]


# --- the graph ------------------------------------------------------------------------------------------------------


@given(cases())
@PROPERTY
def test_graph(case: Case) -> None:
    graph, twin = case.graph, case.twin
    assert (graph.nodes, graph.edges, graph.weighted) == (len(twin.ids), twin.edges, twin.weighted)
    assert graph.order.tolist() == twin.order
    assert graph.ranks[graph.order].tolist() == list(range(graph.nodes))
    starts, rows, weights = (array.tolist() for array in graph.csr())
    for row, neighbours in enumerate(twin.neighbours):
        by_id = sorted(neighbours, key=lambda neighbour: twin.ids[neighbour])
        assert graph.neighbors(row).tolist() == by_id
        assert graph.degrees[row] == len(by_id)
        assert rows[starts[row] : starts[row + 1]] == by_id
        assert weights[starts[row] : starts[row + 1]] == [neighbours[neighbour] for neighbour in by_id]


def test_ids_sort_by_code_point_and_not_by_utf16() -> None:
    ids = ["\U0001d538", "\uffee", "b", "B", "ab", "a", ""]
    assert graph_of(ids, []).order.tolist() == [6, 3, 5, 4, 2, 1, 0]


# --- transformations against their twins ----------------------------------------------------------------------------

SHARES = st.sampled_from((Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(1, 1000)))


def _check_hop(
    case: Case, hops: int, share: Fraction, alpha: float, least: bool, min_neighbors: int, max_hub_degree: int = 0
) -> None:
    found = _core.hop(
        case.graph,
        case.x,
        hops=hops,
        share=(share.numerator, share.denominator),
        alpha=alpha,
        least=least,
        min_neighbors=min_neighbors,
        max_hub_degree=max_hub_degree,
    )
    expected = reference.hop(
        case.twin,
        case.x,
        hops=hops,
        share=share,
        alpha=alpha,
        least=least,
        min_neighbors=min_neighbors,
        max_hub_degree=max_hub_degree,
    )
    _close(found, expected)


@given(cases(), st.sampled_from((1, 2)), SHARES, ALPHAS, st.booleans(), st.integers(1, 4))
@PROPERTY
def test_hop(case: Case, hops: int, share: Fraction, alpha: float, least: bool, min_neighbors: int) -> None:
    _check_hop(case, hops, share, alpha, least, min_neighbors)


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("least", [True, False])
def test_hop_in_a_town(hops: int, least: bool) -> None:
    _check_hop(TOWNS[0], hops, Fraction(1, 5), 0.2, least, 2)


@given(cases(), SHARES, st.booleans(), st.integers(1, 6))
@PROPERTY
def test_hop_around_hubs(case: Case, share: Fraction, least: bool, max_hub_degree: int) -> None:
    _check_hop(case, 2, share, 0.2, least, 2, max_hub_degree)


@pytest.mark.parametrize("dim", [1, 16, 40, 400])
@pytest.mark.parametrize("scale", [1e-38, 1e-25, 1.0, 1e30])
@pytest.mark.parametrize("least", [True, False])
def test_hop_selects_exactly_what_exact_cosines_select(dim: int, scale: float, least: bool) -> None:
    """Near ties and true ties, vectors of one large entry, tiny and huge ones: coarse similarities must not decide."""
    nodes = 120
    generator = np.random.default_rng(dim)
    x = np.ones((nodes, dim)) + 1e-3 * generator.normal(size=(nodes, dim))
    x[::5] *= -1
    x[1::7, 0] += 50
    x[2::9] = x[2]
    edges = [(0, row, 1.0) for row in range(1, nodes)]
    case = Case([f"{row:03}" for row in range(nodes)], edges, (x * scale).astype(np.float32))
    norms = _core.row_norms(case.x)
    wanted = np.arange(1, nodes, dtype=np.uint32)[np.newaxis]
    scores = _core.cosines(case.x, norms, case.x[:1], wanted)[0]
    best = wanted[0][np.lexsort((wanted[0], scores if least else -scores))][
        : reference.selected(nodes - 1, Fraction(1, 5), 2)
    ]
    found = _core.hop(case.graph, case.x, hops=1, share=(1, 5), alpha=0.0, least=least, min_neighbors=2)
    np.testing.assert_allclose(found[0], case.x[best].astype(np.float64).mean(axis=0), rtol=2e-6, atol=2e-6 * scale)


def test_too_many_paths_through_hubs() -> None:
    """A star with n leaves has n² paths of two edges through its middle; 2^36 are allowed."""
    leaves = 2**18 + 1
    graph = graph_of([f"n{row:06}" for row in range(leaves + 1)], [(0, leaf, 1.0) for leaf in range(1, leaves + 1)])
    x = np.arange(leaves + 1, dtype=np.float32)[:, np.newaxis]
    options: dict[str, Any] = {"hops": 2, "share": (1, 1), "alpha": 0.0, "least": True, "min_neighbors": 1}
    with pytest.raises(GmeError, match=f"68720263170 paths.* largest hub is row 0 with {leaves} neighbours") as refused:
        _core.hop(graph, x, **options)
    assert "--max-hub-degree" in str(refused.value.hint)
    np.testing.assert_array_equal(_core.hop(graph, x, max_hub_degree=leaves - 1, **options), x)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(1, 60))
@PROPERTY
def test_the_share_of_neighbours_is_exact(part: int, whole: int, neighbours: int) -> None:
    """One neighbour's vector after the other is (1, …): the mean tells how many were selected."""
    part = min(part, whole)
    case = Case(
        [f"{number:02}" for number in range(neighbours + 1)],
        [(0, other, 1.0) for other in range(1, neighbours + 1)],
        np.array([[1, 0]] + [[1, other] for other in range(1, neighbours + 1)], dtype=np.float32),
    )
    found = _core.hop(case.graph, case.x, hops=1, share=(part, whole), alpha=0.0, least=False, min_neighbors=1)
    count = reference.selected(neighbours, Fraction(part, whole), 1)
    np.testing.assert_allclose(found[0, 1], np.arange(1, count + 1).mean(), rtol=1e-6)


@given(cases(), st.integers(1, 4), ALPHAS, st.booleans())
@PROPERTY
def test_exact_walk(case: Case, steps: int, alpha: float, returns: bool) -> None:
    found = _core.walk(case.graph, case.x, steps=steps, alpha=alpha, walks=1, seed=0, returns=returns, exact=True)
    _close(found, reference.walk_exactly(case.twin, case.x, steps=steps, alpha=alpha, returns=returns))


@pytest.mark.parametrize("case", TOWNS, ids=["plain", "weighted"])
@pytest.mark.parametrize("returns", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_exact_walk_in_a_town(case: Case, steps: int, returns: bool) -> None:
    found = _core.walk(case.graph, case.x, steps=steps, alpha=0.0, walks=1, seed=0, returns=returns, exact=True)
    _close(found, reference.walk_exactly(case.twin, case.x, steps=steps, alpha=0.0, returns=returns))


@pytest.mark.parametrize("heavy", [1e2, 1e4, 1e6])
def test_exact_walk_that_nearly_always_returns(heavy: float) -> None:
    """From a, two steps end at a or, rarely, at c. Without returning they end at c, so that z_a = x_c exactly."""
    x = np.array([[1, 3], [-3, 5], [0.7, 0.2]], dtype=np.float32)
    case = Case(["a", "b", "c"], [(0, 1, heavy), (1, 2, 1.0)], x)
    found = _core.walk(case.graph, x, steps=2, alpha=0.0, walks=1, seed=0, returns=False, exact=True)
    _close(found, reference.walk_exactly(case.twin, x, steps=2, alpha=0.0, returns=False))


@pytest.mark.parametrize("steps", [2, 4])
def test_exact_walk_from_a_document_with_many_leaves(steps: int) -> None:
    """One leaf in thousands has another neighbour, the only place where an even number of steps can end elsewhere."""
    leaves = 5000
    edges = [(0, leaf, 1.0) for leaf in range(1, leaves + 1)] + [(leaves, leaves + 1, 1.0)]
    x = np.random.default_rng(1).normal(size=(leaves + 2, 3)).astype(np.float32)
    case = Case([f"n{row}" for row in range(leaves + 2)], edges, x)
    found = _core.walk(case.graph, x, steps=steps, alpha=0.0, walks=1, seed=0, returns=False, exact=True)
    _close(found[0], x[leaves + 1].astype(np.float64))


@given(cases(), st.integers(1, 4), ALPHAS, st.integers(1, 30), st.integers(0, 2**64 - 1), st.booleans())
@PROPERTY
def test_sampled_walk(case: Case, steps: int, alpha: float, walks: int, seed: int, returns: bool) -> None:
    options: dict[str, Any] = {"steps": steps, "walks": walks, "seed": seed, "returns": returns}
    endpoints = _endpoints(case, **options)
    chances = reference.endpoint_chances(case.twin, steps, returns=returns)
    for row, counts in enumerate(endpoints):
        # Where returning is forbidden and all walks returned, none is left; otherwise all of them are.
        assert sum(counts.values()) in ({walks} if returns and case.twin.neighbours[row] else {0, walks})
        assert all(chances[row, end] > 0 for end in counts)
        assert returns or row not in counts
    found = _core.walk(case.graph, case.x, alpha=alpha, exact=False, **options)
    _close(found, reference.walk_of_endpoints(case.x, endpoints, alpha))


@given(cases(), st.sampled_from((0.5, 1.0, 2.5)), st.sampled_from((0.0, 0.5, 1.0, 9.0)), st.integers(1, 4))
@PROPERTY
def test_convex_sweeps(case: Case, anchor_weight: float, edge_weight: float, sweeps: int) -> None:
    options: dict[str, Any] = {"anchor_weight": anchor_weight, "edge_weight": edge_weight}
    found, done, displacement, converged = _core.convex(case.graph, case.x, tolerance=0.0, max_sweeps=sweeps, **options)
    expected, _, last = reference.convex(case.twin, case.x, tolerance=0.0, max_sweeps=sweeps, **options)
    _close(found, expected)
    assert done == sweeps or displacement == 0
    np.testing.assert_allclose(displacement, last if done == sweeps else 0.0, atol=TOLERANCE, rtol=1e-4)
    assert not converged


@given(cases(), st.sampled_from((0.5, 1.0, 2.5)), st.sampled_from((0.0, 0.5, 1.0)))
@PROPERTY
def test_convex_converges_to_the_minimum(case: Case, anchor_weight: float, edge_weight: float) -> None:
    found, sweeps, displacement, converged = _core.convex(
        case.graph,
        case.x,
        anchor_weight=anchor_weight,
        edge_weight=edge_weight,
        tolerance=1e-6,
        max_sweeps=2000,
    )
    assert converged
    assert displacement < 1e-6
    assert 1 <= sweeps < 2000
    best = reference.convex_objective(case.twin, case.x, found, anchor_weight, edge_weight)
    for seed in range(3):
        other = found + 0.01 * np.random.default_rng(seed).normal(size=found.shape)
        assert reference.convex_objective(case.twin, case.x, other, anchor_weight, edge_weight) >= best


@given(cases(), st.sampled_from((0.5, 1.0, 2.5)), st.sampled_from((0.0, 0.5, 9.0)), st.sampled_from((0.0, 1.0, 3.0)))
@PROPERTY
def test_solvers_find_the_minimum(case: Case, anchor_weight: float, edge_weight: float, shared_weight: float) -> None:
    options: dict[str, Any] = {"anchor_weight": anchor_weight, "edge_weight": edge_weight}
    # Sweeps creep up to the minimum with small steps; cg looks where it is, as exactly as float32 tells.
    solvers = {"gauss-seidel": 1e-7, "cg": 2e-6}
    for degree in (0, 3):
        tied = reference.ties(case.twin, edge_weight, shared_weight, degree)
        expected = reference.convex_minimum(case.x, tied, anchor_weight)
        for solver, tolerance in solvers.items():
            z, _, displacement, converged, pairs = _core.shared(
                case.graph,
                case.x,
                shared_weight=shared_weight,
                max_hub_degree=degree,
                max_sweeps=5000,
                solver=solver,
                tolerance=tolerance,
                **options,
            )
            np.testing.assert_allclose(z, expected, atol=1e-5)
            assert converged
            assert displacement < tolerance
            assert shared_weight == 0 or pairs == np.sum(np.triu(reference.ties(case.twin, 0.0, 1.0, degree)))
    capped = options | {"solver": "cg", "max_sweeps": 9, "tolerance": 1e-6}
    found = _core.convex(case.graph, case.x, **capped)[0]
    assert (found == _core.shared(case.graph, case.x, shared_weight=0.0, **capped)[0]).all()


@pytest.mark.parametrize("edge_weight", [1e2, 1e6])
@pytest.mark.parametrize("scale", [1.0, 1e36])
def test_cg_does_not_claim_what_float32_cannot_reach(edge_weight: float, scale: float) -> None:
    """It once carried its steps along into nowhere and called that converged."""
    case = TOWNS[0]
    x = (case.x * np.float32(scale)).astype(np.float32)
    options: dict[str, Any] = {"anchor_weight": 1e-6, "edge_weight": edge_weight, "solver": "cg", "max_sweeps": 500}
    _, _, displacement, converged = _core.convex(case.graph, x, tolerance=1e-8, **options)
    assert not converged
    assert not displacement < 1e-8
    near, _, displacement, converged = _core.convex(case.graph, case.x, tolerance=1e-4, **options)
    if converged:
        assert displacement < 1e-4
        assert np.linalg.norm(near, axis=1).max() <= 1.01 * np.linalg.norm(case.x, axis=1).max()


@given(cases(), st.integers(1, 4), st.sampled_from((0, 2)))
@PROPERTY
def test_shared_sweeps(case: Case, sweeps: int, degree: int) -> None:
    options: dict[str, Any] = {"anchor_weight": 1.0, "edge_weight": 1.0, "shared_weight": 3.0, "tolerance": 0.0}
    options |= {"max_sweeps": sweeps, "max_hub_degree": degree}
    found, _, displacement, converged, _ = _core.shared(case.graph, case.x, **options)
    expected, done, last = reference.convex(case.twin, case.x, **options)
    _close(found, expected)
    assert not converged
    np.testing.assert_allclose(displacement, last if done == sweeps else 0.0, atol=TOLERANCE, rtol=1e-4)


def test_convex_in_a_town() -> None:
    case = TOWNS[1]
    options: dict[str, Any] = {"anchor_weight": 1.0, "edge_weight": 1.0, "tolerance": 1e-6, "max_sweeps": 200}
    found, sweeps, displacement, converged = _core.convex(case.graph, case.x, **options)
    expected, needed, _ = reference.convex(case.twin, case.x, **options)
    _close(found, expected)
    assert converged
    assert displacement < 1e-6
    assert abs(sweeps - needed) <= 1, "δ is near the tolerance when sweeping ends, so rounding may cost or save a sweep"
    other, passes, displacement, converged = _core.convex(case.graph, case.x, solver="cg", **options)
    np.testing.assert_allclose(other, found, atol=1e-5)
    assert converged
    assert displacement < 1e-6
    assert passes < sweeps


@pytest.mark.parametrize("solver", ["gauss-seidel", "cg"])
def test_capped_solvers_say_so(solver: str) -> None:
    case = TOWNS[1]
    options: dict[str, Any] = {"anchor_weight": 1.0, "edge_weight": 1.0, "tolerance": 1e-6, "solver": solver}
    _, passes, displacement, converged = _core.convex(case.graph, case.x, max_sweeps=3, **options)
    assert (passes, converged) == (3, False)
    assert displacement > 1e-6


def _check_diffuse(case: Case, restart: float, weighted: bool) -> None:
    found, iterations, residual = _core.diffuse(
        case.graph, case.x, restart=restart, tolerance=1e-6, max_iterations=2000, weighted=weighted
    )
    assert iterations < 2000
    assert 0 <= residual < 1e-6
    # The rows of (I − (1−c)P)⁻¹ sum to 1/c: so much can a residual grow into an error.
    _close(
        found, reference.diffuse(case.twin, case.x, restart=restart, weighted=weighted), max(TOLERANCE, 1e-6 / restart)
    )


@given(cases(), st.sampled_from((0.1, 0.3, 0.9, 1.0)), st.booleans())
@PROPERTY
def test_diffuse(case: Case, restart: float, weighted: bool) -> None:
    _check_diffuse(case, restart, weighted)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("restart", [0.05, 0.15])
def test_diffuse_in_a_town(restart: float, weighted: bool) -> None:
    _check_diffuse(TOWNS[1], restart, weighted)


@given(cases(), st.sampled_from((0.1, 0.5, 1.0)), st.booleans())
@PROPERTY
def test_one_step_of_diffusion(case: Case, restart: float, weighted: bool) -> None:
    options: dict[str, Any] = {"restart": restart, "max_iterations": 1, "weighted": weighted}
    found, iterations, residual = _core.diffuse(case.graph, case.x, tolerance=1e-300, **options)
    moved = reference.transitions(case.twin, weighted=weighted) @ case.x.astype(np.float64)
    expected = restart * case.x + (1 - restart) * moved
    _close(found, expected)
    assert residual == pytest.approx(np.abs(expected - case.x).max(initial=0), abs=TOLERANCE, rel=TOLERANCE)
    assert iterations == 1
    # A start that no step would change by the tolerance is the result.
    unmoved, *_ = _core.diffuse(case.graph, case.x, tolerance=1e300, **options)
    np.testing.assert_array_equal(unmoved, case.x)


def _random_vectors(case: Case, dim: int, seed: int) -> npt.NDArray[np.float32]:
    """With restart 1 nothing is diffused: what is left are the random unit vectors."""
    options: dict[str, Any] = {"tolerance": 1e-7, "max_iterations": 1, "weighted": False}
    return _core.signature(case.graph, dim=dim, seed=seed, restart=1.0, **options)[0]


@given(
    cases(),
    st.sampled_from((8, 33)),
    st.sampled_from((0.1, 0.3)),
    st.integers(0, 2**64 - 1),
    st.booleans(),
    st.sampled_from((0.0, 0.5, 1.0)),
)
@PROPERTY
def test_signature(case: Case, dim: int, restart: float, seed: int, weighted: bool, damping: float) -> None:
    walk: dict[str, Any] = {"restart": restart, "weighted": weighted, "damping": damping}
    found, _, _ = _core.signature(case.graph, dim=dim, seed=seed, tolerance=1e-7, max_iterations=2000, **walk)
    _close(found, reference.signature(case.twin, _random_vectors(case, dim, seed), **walk))


@pytest.mark.parametrize("damping", [0.0, 0.5, 1.0])
def test_signature_in_a_town(damping: float) -> None:
    """With hubs, at the default tolerance."""
    case = town(2000, weighted=True)
    walk: dict[str, Any] = {"restart": 0.1, "weighted": True, "damping": damping}
    found, _, residual = _core.signature(case.graph, dim=32, seed=1, tolerance=1e-6, max_iterations=500, **walk)
    assert residual < 1e-6
    exact = reference.signature(case.twin, _random_vectors(case, 32, 1), **walk)
    assert np.abs((found * exact).sum(axis=1) - 1).max() < 1e-6


RING = [(i, (i + 1) % 19, 1.0) for i in range(19)]
UNLIKE_DEGREES = {
    "a weak tie": (20, [*RING, (0, 19, 1e-6)]),
    "a leaf": (60, [(i, j, 1.0) for i in range(59) for j in range(i)] + [(0, 59, 1.0)]),
    "a star": (500, [(0, i, 1.0) for i in range(1, 500)]),
    "weights 1 to 99, a leaf of .01": (
        101,
        [(i, (i * step + 7) % 100, float(1 + (i * step) % 99)) for i in range(100) for step in (3, 7, 11)]
        + [(3, 100, 0.01)],
    ),
    "weights 46 orders apart": (20, [(a, b, 1e-30 if a < 9 else 1e16) for a, b, _ in RING] + [(0, 19, 1e-8)]),
}


@pytest.mark.parametrize("damping", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("name", UNLIKE_DEGREES)
def test_damped_signatures_whatever_the_degrees(name: str, damping: float) -> None:
    """One node of small degree makes all other vectors small before they are scaled: that is not convergence."""
    nodes, edges = UNLIKE_DEGREES[name]
    case = Case([f"n{row}" for row in range(nodes)], edges, np.zeros((nodes, 1), np.float32))
    walk: dict[str, Any] = {"restart": 0.1, "weighted": True, "damping": damping}
    found, _, residual = _core.signature(case.graph, dim=40, seed=1, tolerance=1e-6, max_iterations=500, **walk)
    assert residual < 1e-6
    exact = reference.signature(case.twin, _random_vectors(case, 40, 1), **walk)
    assert np.abs((found * exact).sum(axis=1) - 1).max() < 1e-6


@pytest.mark.parametrize("dim", [33, 65, 257])
def test_damped_signatures_converge_where_the_last_slab_has_one_column(dim: int) -> None:
    case = town(2000)
    walk: dict[str, Any] = {"restart": 0.1, "weighted": False, "damping": 0.5}
    found, passes, residual = _core.signature(case.graph, dim=dim, seed=1, tolerance=1e-6, max_iterations=500, **walk)
    assert residual < 1e-6
    assert passes < 60
    exact = reference.signature(case.twin, _random_vectors(case, dim, 1), **walk)
    assert np.abs((found * exact).sum(axis=1) - 1).max() < 1e-6


@pytest.mark.parametrize("damping", [0.5, 1.0])
def test_damped_signatures_at_the_ends_of_float32(damping: float) -> None:
    weights = [1e-45 if row < 9 else 3e38 for row in range(19)]
    case = Case(
        [f"n{row}" for row in range(20)], [(a, b, weights[a]) for a, b, _ in RING], np.zeros((20, 1), np.float32)
    )
    options: dict[str, Any] = {"restart": 0.1, "weighted": True, "tolerance": 1e-6, "max_iterations": 500}
    found, _, residual = _core.signature(case.graph, dim=40, seed=1, damping=damping, **options)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert residual < 1e-6


def test_random_vectors_are_unit_and_isotropic() -> None:
    case = Case([f"n{number}" for number in range(4000)], [], np.zeros((4000, 1), np.float32))
    random = _random_vectors(case, 32, 42).astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(random, axis=1), 1, atol=1e-6)
    covariance = random.T @ random / len(random)
    # Standard errors are about 5e-4: ten of them, over 528 entries, is no accident.
    np.testing.assert_allclose(covariance, np.eye(32) / 32, atol=5e-3)
    np.testing.assert_allclose(random.mean(axis=0), 0, atol=0.03)
    others = random @ np.roll(random, 1, axis=0).T
    assert np.abs(np.mean(np.diag(others))) < 0.03


# --- gradient -------------------------------------------------------------------------------------------------------

WHOLE: dict[str, Any] = {"fan_out": 1 << 16, "pairs": 1 << 20, "seed": 0}
"""Limits that no patch of these graphs reaches: nothing is drawn."""
CURVES = st.sampled_from(((1.0, 0.0, 0.0, 0.0), (0.5, 0.0, 0.0, 0.0), (0.6, 0.3, 0.1, 0.05), (-0.5, 0.5, -1.0, 1.0)))


def _check_gradient(case: Case, **options: Any) -> None:
    found, losses, displacement, (patches, drawn) = _core.gradient(case.graph, case.x, **options, **WHOLE)
    expected = reference.gradient(case.twin, case.x, **options)
    _close(found, expected, 3e-5)
    lowered = [reference.gradient_loss(case.twin, z, options["targets"]) for z in (np.asarray(case.x), expected)]
    np.testing.assert_allclose(losses, lowered, atol=1e-4)
    lengths = reference.row_norms(case.x)
    shifts = reference.row_norms(found - case.x) / np.where(lengths > 0, lengths, 1)
    np.testing.assert_allclose(displacement, shifts.max(initial=0), atol=1e-6)
    assert displacement <= options["max_shift"] * (1 + 1e-6)
    assert (patches, drawn) == (sum(bool(of_row) for of_row in case.twin.neighbours), 0)


@given(cases(), CURVES, st.sampled_from((0.25, 1.0)), st.sampled_from((0.1, 0.5, 2.0)), st.integers(1, 3))
@PROPERTY
def test_gradient(
    case: Case, targets: tuple[float, float, float, float], step: float, max_shift: float, steps: int
) -> None:
    _check_gradient(case, targets=targets, step=step, max_shift=max_shift, steps=steps)


def test_gradient_in_a_village() -> None:
    _check_gradient(town(70, 17), targets=(0.6, 0.3, 0.1, 0.05), step=0.5, max_shift=0.7, steps=6)


@given(cases(), CURVES)
@PROPERTY
def test_small_steps_lower_the_loss(case: Case, targets: tuple[float, float, float, float]) -> None:
    options: dict[str, Any] = {"targets": targets, "step": 0.02, "max_shift": 1.0, "steps": 20}
    _, (before, after), displacement, _ = _core.gradient(case.graph, case.x, **options, **WHOLE)
    assert after <= before + 1e-7
    assert displacement == 0 or after < before + 1e-9


@given(cases(), st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**64 - 1))
@PROPERTY
def test_gradient_of_drawn_pairs_stays_in_the_ball(case: Case, pairs: int, fan_out: int, seed: int) -> None:
    options: dict[str, Any] = {"targets": (1.0, 0.0, 0.0, 0.0), "step": 1.0, "max_shift": 0.01, "steps": 10}
    found, _, displacement, (patches, drawn) = _core.gradient(
        case.graph, case.x, pairs=pairs, fan_out=fan_out, seed=seed, **options
    )
    assert drawn <= patches
    assert displacement <= 0.01 * (1 + 1e-5)
    np.testing.assert_allclose(found, case.x, atol=0.01 * np.abs(case.x).max(initial=0) * np.sqrt(case.x.shape[1]))


def test_drawn_pairs_are_a_fair_sample_of_each_patch() -> None:
    """The loss of drawn pairs scatters around what drawing from every patch, each pair as likely, gives on average."""
    case, drawn = town(120, 24), 40
    targets = (1.0, 0.3, 0.1, 0.0)
    options: dict[str, Any] = {"targets": targets, "step": 0.5, "max_shift": 1.0, "steps": 1, "fan_out": 1 << 16}
    losses = [_core.gradient(case.graph, case.x, pairs=drawn, seed=seed, **options)[1][0] for seed in range(60)]
    wanted = reference.hop_targets(case.twin, targets)
    miss = {(i, j): (reference.cosine(case.x[i], case.x[j]) - target) ** 2 for (i, j), target in wanted.items()}
    total, pairs = 0.0, 0
    for centre in range(len(case.ids)):
        near = {centre} | reference.at_distance(case.twin, centre, 1) | reference.at_distance(case.twin, centre, 2)
        inside = [miss[i, j] for i in near for j in near if i < j]
        if inside:
            total += min(drawn, len(inside)) * float(np.mean(inside))
            pairs += min(drawn, len(inside))
    error = np.std(losses) / np.sqrt(len(losses))
    assert 0 < error < 1e-3
    assert abs(np.mean(losses) - total / pairs) < 4 * error


@given(cases(), ALPHAS, st.randoms(use_true_random=False))
@PROPERTY
def test_group_means(case: Case, alpha: float, random: Any) -> None:
    labels = [random.choice((0, 1, 5, 4_000_000_000)) for _ in case.ids]
    found = _core.group_means(case.graph, case.x, np.array(labels, dtype=np.uint32), alpha=alpha)
    _close(found, reference.group_means(case.x, labels, alpha))


# --- title mentions -------------------------------------------------------------------------------------------------

# Letters with several lower cases or none, a letter outside the basic plane, a combining accent, and no letters.
LETTERS = st.sampled_from("aAbé\u0301Σσς\u0130ßẞ_1-\U0001d538 ")


@given(
    st.lists(st.text(LETTERS, max_size=4), max_size=12),
    st.lists(st.text(LETTERS, max_size=25), max_size=4),
    st.booleans(),
    st.integers(0, 3),
)
@settings(PROPERTY, max_examples=400)
def test_title_mentions(titles: list[str], texts: list[str], ignore_case: bool, min_length: int) -> None:
    found = _core.title_mentions(titles, texts, ignore_case=ignore_case, min_length=min_length)
    pairs = list(zip(found[0].tolist(), found[1].tolist(), strict=True))
    assert pairs == reference.title_mentions(titles, texts, ignore_case=ignore_case, min_length=min_length)


def test_title_mentions_of_many_texts_on_any_number_of_threads() -> None:
    generator = np.random.default_rng(8)
    letters = list("ab ")
    texts = ["".join(generator.choice(letters, 60)) for _ in range(700)]
    titles = ["".join(generator.choice(letters, generator.integers(1, 7))) for _ in range(80)]
    expected = reference.title_mentions(titles, texts, ignore_case=False, min_length=1)
    for threads in (1, 2, 5):
        found = _core.title_mentions(titles, texts, ignore_case=False, min_length=1, threads=threads)
        assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == expected
