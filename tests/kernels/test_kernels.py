"""Graphs, neighbors, walks, means of groups and title mentions against their twins in `reference`, on random input."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import ALPHAS, PROPERTY, TOWNS, Case, cases, close, graph_of

from gme import _core
from gme.errors import HubError
from properties import examples
from reference import kernels as reference


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
    for row, neighbors in enumerate(twin.neighbors):
        by_id = sorted(neighbors, key=lambda neighbor: twin.ids[neighbor])
        assert graph.neighbors(row).tolist() == by_id
        assert graph.degrees[row] == len(by_id)
        assert rows[starts[row] : starts[row + 1]] == by_id
        assert weights[starts[row] : starts[row + 1]] == [neighbors[neighbor] for neighbor in by_id]


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
    close(found, expected)


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
    wanted = np.arange(1, nodes, dtype=np.uint32)[np.newaxis]
    scores = _core.cosines(_core.VectorSet(case.x), case.x[:1], wanted)[0]
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
    with pytest.raises(HubError, match=f"68720263170 paths.* largest hub is row 0 with {leaves} neighbors") as refused:
        _core.hop(graph, x, **options)
    error = refused.value
    assert (error.row, error.neighbors, error.paths, error.budget) == (0, leaves, 68720263170, 2**36)
    assert str(error.at("row 0 x")) == str(error).replace("row 0", "'row 0 x'")
    assert "--max-hub-degree" in str(error.hint)
    assert error.at("n").hint == error.hint
    np.testing.assert_array_equal(_core.hop(graph, x, max_hub_degree=leaves - 1, **options), x)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(1, 60))
@PROPERTY
def test_the_share_of_neighbors_is_exact(part: int, whole: int, neighbors: int) -> None:
    """One neighbor's vector after the other is (1, …): the mean tells how many were selected."""
    part = min(part, whole)
    case = Case(
        [f"{number:02}" for number in range(neighbors + 1)],
        [(0, other, 1.0) for other in range(1, neighbors + 1)],
        np.array([[1, 0]] + [[1, other] for other in range(1, neighbors + 1)], dtype=np.float32),
    )
    found = _core.hop(case.graph, case.x, hops=1, share=(part, whole), alpha=0.0, least=False, min_neighbors=1)
    count = reference.selected(neighbors, Fraction(part, whole), 1)
    np.testing.assert_allclose(found[0, 1], np.arange(1, count + 1).mean(), rtol=1e-6)


@given(cases(), st.integers(1, 4), ALPHAS, st.booleans())
@PROPERTY
def test_exact_walk(case: Case, steps: int, alpha: float, returns: bool) -> None:
    found = _core.walk(case.graph, case.x, steps=steps, alpha=alpha, walks=1, seed=0, returns=returns, exact=True)
    close(found, reference.walk_exactly(case.twin, case.x, steps=steps, alpha=alpha, returns=returns))


@pytest.mark.parametrize("case", TOWNS, ids=["plain", "weighted"])
@pytest.mark.parametrize("returns", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_exact_walk_in_a_town(case: Case, steps: int, returns: bool) -> None:
    found = _core.walk(case.graph, case.x, steps=steps, alpha=0.0, walks=1, seed=0, returns=returns, exact=True)
    close(found, reference.walk_exactly(case.twin, case.x, steps=steps, alpha=0.0, returns=returns))


@pytest.mark.parametrize("heavy", [1e2, 1e4, 1e6])
def test_exact_walk_that_nearly_always_returns(heavy: float) -> None:
    """From a, two steps end at a or, rarely, at c. Without returning they end at c, so that z_a = x_c exactly."""
    x = np.array([[1, 3], [-3, 5], [0.7, 0.2]], dtype=np.float32)
    case = Case(["a", "b", "c"], [(0, 1, heavy), (1, 2, 1.0)], x)
    found = _core.walk(case.graph, x, steps=2, alpha=0.0, walks=1, seed=0, returns=False, exact=True)
    close(found, reference.walk_exactly(case.twin, x, steps=2, alpha=0.0, returns=False))


@pytest.mark.parametrize("steps", [2, 4])
def test_exact_walk_from_a_document_with_many_leaves(steps: int) -> None:
    """One leaf in thousands has another neighbor, the only place where an even number of steps can end elsewhere."""
    leaves = 5000
    edges = [(0, leaf, 1.0) for leaf in range(1, leaves + 1)] + [(leaves, leaves + 1, 1.0)]
    x = np.random.default_rng(1).normal(size=(leaves + 2, 3)).astype(np.float32)
    case = Case([f"n{row}" for row in range(leaves + 2)], edges, x)
    found = _core.walk(case.graph, x, steps=steps, alpha=0.0, walks=1, seed=0, returns=False, exact=True)
    close(found[0], x[leaves + 1].astype(np.float64))


@given(cases(), st.integers(1, 4), ALPHAS, st.integers(1, 30), st.integers(0, 2**64 - 1), st.booleans())
@PROPERTY
def test_sampled_walk(case: Case, steps: int, alpha: float, walks: int, seed: int, returns: bool) -> None:
    options: dict[str, Any] = {"steps": steps, "walks": walks, "seed": seed, "returns": returns}
    endpoints = _endpoints(case, **options)
    chances = reference.endpoint_chances(case.twin, steps, returns=returns)
    for row, counts in enumerate(endpoints):
        # Where returning is forbidden and all walks returned, none is left; otherwise all of them are.
        assert sum(counts.values()) in ({walks} if returns and case.twin.neighbors[row] else {0, walks})
        assert all(chances[row, end] > 0 for end in counts)
        assert returns or row not in counts
    found = _core.walk(case.graph, case.x, alpha=alpha, exact=False, **options)
    close(found, reference.walk_of_endpoints(case.x, endpoints, alpha))


@given(cases(), ALPHAS, st.randoms(use_true_random=False))
@PROPERTY
def test_group_means(case: Case, alpha: float, random: Any) -> None:
    labels = [random.choice((0, 1, 5, 4_000_000_000)) for _ in case.ids]
    found = _core.group_means(case.graph, case.x, np.array(labels, dtype=np.uint32), alpha=alpha)
    close(found, reference.group_means(case.x, labels, alpha))


# --- title mentions -------------------------------------------------------------------------------------------------

# Letters with several lower cases or none, a letter outside the basic plane, a combining accent, and no letters.
LETTERS = st.sampled_from("aAbé\u0301Σσς\u0130ßẞ_1-\U0001d538 ")


@given(
    st.lists(st.text(LETTERS, max_size=4), max_size=12),
    st.lists(st.text(LETTERS, max_size=25), max_size=4),
    st.booleans(),
    st.integers(0, 3),
)
@examples(400)
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
