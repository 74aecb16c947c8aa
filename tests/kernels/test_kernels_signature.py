"""Signatures and the gradient against their twins in `reference`, on random input."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import PROPERTY, Case, cases, close, town

from gme import _core
from reference import kernels as reference


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
    close(found, reference.signature(case.twin, _random_vectors(case, dim, seed), **walk))


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
    close(found, expected, 3e-5)
    lowered = [reference.gradient_loss(case.twin, z, options["targets"]) for z in (np.asarray(case.x), expected)]
    np.testing.assert_allclose(losses, lowered, atol=1e-4)
    lengths = reference.row_norms(case.x)
    shifts = reference.row_norms(found - case.x) / np.where(lengths > 0, lengths, 1)
    np.testing.assert_allclose(displacement, shifts.max(initial=0), atol=1e-6)
    assert displacement <= options["max_shift"] * (1 + 1e-6)
    assert (patches, drawn) == (sum(bool(of_row) for of_row in case.twin.neighbors), 0)


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
    for center in range(len(case.ids)):
        near = {center} | reference.at_distance(case.twin, center, 1) | reference.at_distance(case.twin, center, 2)
        inside = [miss[i, j] for i in near for j in near if i < j]
        if inside:
            total += min(drawn, len(inside)) * float(np.mean(inside))
            pairs += min(drawn, len(inside))
    error = np.std(losses) / np.sqrt(len(losses))
    assert 0 < error < 1e-3
    assert abs(np.mean(losses) - total / pairs) < 4 * error
