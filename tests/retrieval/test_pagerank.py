"""Personalized PageRank at query time: networkx, a dense solve, and the strategy that runs on it."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import PROPERTY, Case, cases, town, vectors

from gme import _core, build_graph, retrieve
from gme.errors import GmeError
from gme.retrieval.graph_strategies import softmax
from gme.retrieval.result import Retrieved
from gme.stores.store import NO_ROW
from reference import kernels as reference

Floats = npt.NDArray[np.float32]
RULE: dict[str, Any] = {"restart": 0.15, "tolerance": 1e-9, "weighted": True}


def run(case: Case, queries: Floats, starts: Any, strengths: Any, k: int, **rule: Any) -> tuple[Any, Any]:
    return _core.pagerank(
        case.graph,
        _core.VectorSet(case.x, case.graph.ranks),
        queries,
        np.array(starts, dtype=np.uint32).reshape(len(queries), -1),
        np.array(strengths, dtype=np.float32).reshape(len(queries), -1),
        k,
        **{**RULE, **rule},
    )


def masses(case: Case, starts: Any, strengths: Any, **rule: Any) -> npt.NDArray[np.float64]:
    """(questions, nodes): with one column of ones every cosine is 1, and what is left of a score is the mass."""
    ones = Case(case.ids, case.edges, np.ones((len(case.ids), 1), dtype=np.float32))
    queries = np.ones((len(starts), 1), dtype=np.float32)
    rows, scores = run(ones, queries, starts, strengths, len(case.ids), **rule)
    result = np.zeros((len(starts), len(case.ids)))
    for query, found in enumerate(rows.tolist()):
        for row, score in zip(found, scores[query].tolist(), strict=True):
            if row != NO_ROW:
                result[query, row] = score
    return result


def test_two_nodes() -> None:
    """m_a = c + (1−c) m_b and m_b = (1−c) m_a."""
    case = Case(["a", "b", "c"], [(0, 1, 1.0)], np.ones((3, 1), np.float32))
    np.testing.assert_allclose(masses(case, [[0]], [[1.0]], restart=0.5), [[2 / 3, 1 / 3, 0]], atol=1e-6)


def test_a_star_gives_its_hub_half() -> None:
    """Walks from one leaf of many: hub (1−c)/(2−c), by symmetry of leaving and coming back."""
    star = Case([f"n{i}" for i in range(500)], [(0, i, 1.0) for i in range(1, 500)], np.ones((500, 1), np.float32))
    found = masses(star, [[7]], [[1.0]])[0]
    np.testing.assert_allclose(found[0], 0.85 / 1.85, atol=2e-6)
    np.testing.assert_allclose(found[8], 0.85 * found[0] / 499, atol=1e-8)
    np.testing.assert_allclose(found.sum(), 1, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("restart", [0.1, 0.15, 0.5])
def test_masses_are_those_of_networkx(weighted: bool, restart: float) -> None:
    case = town(weighted=weighted)
    generator = np.random.default_rng(4)
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(case.ids)))
    graph.add_weighted_edges_from((i, j, w) for i, of_row in enumerate(case.twin.neighbors) for j, w in of_row.items())
    starts = generator.choice(len(case.ids), (3, 10), replace=True)
    starts[0, :2] = np.flatnonzero(case.graph.degrees == 0)[:2]
    strengths = generator.random((3, 10)).astype(np.float32)
    found = masses(case, starts, strengths, restart=restart)
    for query in range(3):
        personal = dict.fromkeys(range(len(case.ids)), 0.0)
        for row, strength in zip(starts[query].tolist(), strengths[query].tolist(), strict=True):
            personal[row] += strength
        peer = networkx.pagerank(graph, alpha=1 - restart, personalization=personal, tol=1e-12, max_iter=2000)
        np.testing.assert_allclose(found[query], [peer[row] for row in range(len(case.ids))], atol=1e-6, rtol=1e-4)


@given(cases(least_nodes=1), st.sampled_from((0.15, 0.5, 1.0)), st.booleans(), st.data())
@PROPERTY
def test_agrees_with_the_twin(case: Case, restart: float, weighted: bool, data: st.DataObject) -> None:
    nodes, queries = len(case.ids), data.draw(st.sampled_from((1, 3, 20)))
    generator = np.random.default_rng(nodes + queries)
    question = vectors(queries, case.x.shape[1], data.draw(st.integers(0, 99)))
    starts = generator.integers(0, nodes, (queries, 3)).astype(np.uint32)
    starts[generator.random(starts.shape) < 0.2] = NO_ROW
    strengths = generator.uniform(-0.2, 1, starts.shape).astype(np.float32)
    allowed = data.draw(st.none() | st.lists(st.booleans(), min_size=nodes, max_size=nodes))
    mask = None if allowed is None else np.array(allowed)
    k = data.draw(st.integers(0, nodes + 2))
    rows, scores = run(case, question, starts, strengths, k, restart=restart, weighted=weighted, allowed=mask)
    for query in range(queries):
        pairs = zip(starts[query].tolist(), strengths[query].tolist(), strict=True)
        mass = reference.pagerank(case.twin, [p for p in pairs if p[0] != NO_ROW], restart=restart, weighted=weighted)
        product = np.array(
            [m * max(reference.cosine(question[query], x), 0) for m, x in zip(mass, case.x, strict=True)]
        )
        product[~np.array(allowed if allowed is not None else [True] * nodes, dtype=bool)] = 0
        found = [row for row in rows[query].tolist() if row != NO_ROW]
        assert len(set(found)) == len(found)
        # Equal products may come in another order than here, where they differ by rounding: the values must not.
        np.testing.assert_allclose(scores[query, : len(found)], product[found], atol=1e-6)
        best = np.sort(product)[::-1][:k]
        np.testing.assert_allclose(np.pad(product[found], (0, len(best) - len(found))), best, atol=1e-6)


def test_the_nodes_it_does_not_look_at_could_not_be_among_the_best() -> None:
    """Few wanted of many, the best ones with little mass: the search must go on past the heaviest nodes."""
    case = town(2000, 24)
    queries = vectors(30, 24, 3)
    everything = run(case, queries, [[5, 9]] * 30, [[1.0, 0.5]] * 30, len(case.ids))
    for k in (1, 3, 40):
        few = run(case, queries, [[5, 9]] * 30, [[1.0, 0.5]] * 30, k)
        assert few[0].tolist() == everything[0][:, :k].tolist()
        assert few[1].tobytes() == np.ascontiguousarray(everything[1][:, :k]).tobytes()


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_the_tolerance_is_kept(tolerance: float) -> None:
    """In the norm Σ m²/degree, relative to how far the starts are from the fixed point."""
    case = town()
    degrees = np.maximum(case.graph.degrees, 1)
    start = np.eye(1, len(case.ids), 3)[0]
    exact = reference.pagerank(case.twin, [(3, 1.0)], restart=0.15)
    error = masses(case, [[3]], [[1.0]], tolerance=tolerance)[0] - exact
    assert np.sqrt((error**2 / degrees).sum()) <= tolerance * np.sqrt(((start - exact) ** 2 / degrees).sum()) + 2e-7


# --- the strategy ---------------------------------------------------------------------------------------------------


def test_softmax() -> None:
    weights = softmax(np.array([[0.5, 0.4, -np.inf], [-np.inf] * 3, [0.9, 0.9, 0.9]], dtype=np.float32), 0.1)
    np.testing.assert_allclose(weights[0], np.array([np.e, 1, 0]) / (1 + np.e), rtol=1e-6)
    assert weights[1].tolist() == [0, 0, 0]
    np.testing.assert_allclose(weights[2], 1 / 3)
    assert np.isfinite(softmax(np.array([[1.0, -1.0]], dtype=np.float32), 1e-300)).all()


def test_the_strategy_is_mass_times_similarity() -> None:
    case = town()
    queries = vectors(4, case.x.shape[1], 8)
    found = retrieve("pagerank", case.x, None, queries, ids=case.ids, graph=case.graph, starts=6, temperature=0.2)
    for query in range(4):
        cosines = np.array([reference.cosine(queries[query], x) for x in case.x])
        starts = sorted(range(len(case.ids)), key=lambda row: (-round(float(cosines[row]), 6), case.ids[row]))[:6]
        strengths = [(row, float(np.exp((cosines[row] - cosines[starts[0]]) / 0.2))) for row in starts]
        product = reference.pagerank(case.twin, strengths, restart=0.15) * np.maximum(cosines, 0)
        rows = found.rows[query].astype(int)
        np.testing.assert_allclose(found.scores[query], product[rows], atol=3e-6)
        np.testing.assert_allclose(np.sort(product)[::-1][:40], product[rows], atol=3e-6)


ENTITIES = np.array([False, False, False, True, True])
"""Chunks a, b, c and entities A and B; the question names B, and b is about it."""
NAMED = Case(
    ["a", "b", "c", "A", "B"],
    [(0, 3, 1.0), (1, 4, 1.0), (2, 3, 1.0)],
    np.array([[0.8, 0.6], [0.1, 1], [0.7, 0.7], [0, 1], [1, 0]], dtype=np.float32),
)


def first(**options: Any) -> str:
    query = np.array([[1, 0]], dtype=np.float32)
    chunks = options.pop("allowed", ~ENTITIES)
    found = retrieve(
        "pagerank",
        NAMED.x,
        None,
        query,
        ids=NAMED.ids,
        graph=NAMED.graph,
        allowed=chunks,
        budget=1,
        starts=1,
        **options,
    )
    return NAMED.ids[int(found.rows[0, 0])]


def test_what_walks_start_from() -> None:
    assert first() == "b"  # nobody said that B is no chunk
    assert first(entities=ENTITIES) == "b"
    assert first(entities=ENTITIES, start="entities") == "b"
    assert first(entities=ENTITIES, start="chunks") == "a"
    assert first(entities=ENTITIES, start="both", temperature=100.0) == "a"
    assert first(entities=ENTITIES, allowed=None) == "B"
    with pytest.raises(GmeError, match="cannot start from entities: there are none"):
        first(start="entities")
    with pytest.raises(GmeError, match=r"entities must be a bool array \(5,\)"):
        first(entities=np.ones(3, dtype=bool))


def test_searches_are_counted() -> None:
    def calls(**options: Any) -> int:
        given: dict[str, Any] = {"ids": NAMED.ids, "graph": NAMED.graph, **options}
        found: Retrieved = retrieve("pagerank", NAMED.x, None, NAMED.x[:1], **given)
        return found.search_calls

    assert calls() == 1
    assert calls(allowed=~ENTITIES) == 2
    assert calls(entities=ENTITIES) == 2
    assert calls(entities=ENTITIES, start="both") == 3


def test_no_nodes_and_no_similarity() -> None:
    x = np.zeros((3, 2), dtype=np.float32)
    ids = ["a", "b", "c"]
    found = retrieve("pagerank", x, None, x[:2], ids=ids, graph=build_graph(ids, [("a", "b")]), budget=3)
    assert found.rows.tolist() == [[0, 1, 2]] * 2
    assert found.scores.tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize("rule", [{"restart": 0.0}, {"restart": 1.1}, {"tolerance": 0.0}, {"tolerance": 1.0}])
def test_parameters_out_of_range(rule: dict[str, float]) -> None:
    with pytest.raises(GmeError, match=f"{next(iter(rule))} is .*, must be above 0"):
        masses(NAMED, [[0]], [[1.0]], **rule)


@pytest.mark.parametrize("titles", ["seeds", "only"])
def test_masses_from_named_nodes_are_those_of_networkx(titles: str) -> None:
    """Starts are the nearest nodes and those named, as near as the nearest, or only those."""
    case = town()
    queries = vectors(4, case.x.shape[1], 8)
    network = networkx.Graph()
    network.add_nodes_from(range(len(case.ids)))
    network.add_weighted_edges_from(
        (i, j, w) for i, of_row in enumerate(case.twin.neighbors) for j, w in of_row.items()
    )
    named = np.array([[70, 3]] * 4, dtype=np.uint32)
    given: dict[str, Any] = {"ids": case.ids, "graph": case.graph, "named": named}
    found = retrieve("pagerank", case.x, None, queries, titles=titles, starts=6, temperature=0.2, **given)
    for query in range(4):
        cosines = np.array([reference.cosine(queries[query], x) for x in case.x])
        relevance = cosines.copy()
        relevance[[70, 3]] = cosines.max()
        starts = sorted(range(len(case.ids)), key=lambda row: (-round(float(relevance[row]), 6), case.ids[row]))[:6]
        starts = [70, 3] if titles == "only" else starts
        personal = {row: float(np.exp((relevance[row] - relevance.max()) / 0.2)) for row in starts}
        mass = networkx.pagerank(network, alpha=0.85, personalization=personal, tol=1e-12, max_iter=2000)
        product = np.array([mass[row] for row in range(len(case.ids))]) * np.maximum(cosines, 0)
        rows = found.rows[query].astype(int)
        reached = found.scores[query] > 0
        np.testing.assert_allclose(found.scores[query][reached], product[rows][reached], atol=3e-6)
        np.testing.assert_allclose(found.scores[query], np.sort(product)[::-1][:40], atol=3e-6)
