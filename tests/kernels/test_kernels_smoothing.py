"""Smoothing and diffusion against their twins in `reference`, on random input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import PROPERTY, TOLERANCE, TOWNS, Case, cases, close

from gme import _core
from reference import kernels as reference


@given(cases(), st.sampled_from((0.5, 1.0, 2.5)), st.sampled_from((0.0, 0.5, 1.0, 9.0)), st.integers(1, 4))
@PROPERTY
def test_convex_sweeps(case: Case, anchor_weight: float, edge_weight: float, sweeps: int) -> None:
    options: dict[str, Any] = {"anchor_weight": anchor_weight, "edge_weight": edge_weight}
    found, done, displacement, converged = _core.convex(case.graph, case.x, tolerance=0.0, max_sweeps=sweeps, **options)
    expected, _, last = reference.convex(case.twin, case.x, tolerance=0.0, max_sweeps=sweeps, **options)
    close(found, expected)
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
    close(found, expected)
    assert not converged
    np.testing.assert_allclose(displacement, last if done == sweeps else 0.0, atol=TOLERANCE, rtol=1e-4)


def test_convex_in_a_town() -> None:
    case = TOWNS[1]
    options: dict[str, Any] = {"anchor_weight": 1.0, "edge_weight": 1.0, "tolerance": 1e-6, "max_sweeps": 200}
    found, sweeps, displacement, converged = _core.convex(case.graph, case.x, **options)
    expected, needed, _ = reference.convex(case.twin, case.x, **options)
    close(found, expected)
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
    close(
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
    close(found, expected)
    assert residual == pytest.approx(np.abs(expected - case.x).max(initial=0), abs=TOLERANCE, rel=TOLERANCE)
    assert iterations == 1
    # A start that no step would change by the tolerance is the result.
    unmoved, *_ = _core.diffuse(case.graph, case.x, tolerance=1e300, **options)
    np.testing.assert_array_equal(unmoved, case.x)
