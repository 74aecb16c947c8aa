"""What is particular to `envelope`: calls, pinned hits, neighbors, trust, crowds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from retrieval_cases import lists, make, twin_answer, words

from gme.retrieval.batch import retrieve
from gme.retrieval.neighborhood import REDUNDANCY_DEPTH, graph_confidence, penalize_redundancy, raised
from gme.retrieval.search import Search
from gme.stores.exact import ExactStore
from gme.stores.store import NO_ROW
from gme.types import Vectors
from reference.retrieval import Twin


def test_an_envelope_apart_takes_five_calls_at_most() -> None:
    x, z, queries, _ = make(8, 200)
    assert retrieve("envelope", x, z, queries, mix=0.5, neighborhoods="per_seed").search_calls == 5
    assert retrieve("envelope", x, z, queries, mix=0.5, neighborhoods="per_seed", seeds=2).search_calls == 3
    assert retrieve("envelope", x, z, queries, mix=0.5).search_calls == 2


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ({}, 5),
        ({"seeds": 1}, 4),
        ({"seeds": 20, "budget": 100}, 5),
        ({"mix": 0.5}, 3),
        ({"mix": 0.5, "neighborhoods": "per_seed"}, 5),
        ({"mix": 0.5, "neighborhoods": "per_seed", "seeds": 2}, 4),
    ],
)
def test_an_envelope_that_returns_only_some_nodes_takes_five_calls_at_most(options: dict[str, Any], calls: int) -> None:
    x, z, queries, _ = make(8, 200)
    assert retrieve("envelope", x, z, queries, allowed=np.arange(200) % 2 == 0, **options).search_calls == calls


@pytest.mark.parametrize(("budget", "pinned"), [(1, 0), (3, 0), (4, 1), (5, 1), (8, 2), (10, 2), (12, 3), (40, 3)])
def test_pinned_hits_are_three_and_a_quarter_of_the_budget_at_most(budget: int, pinned: int) -> None:
    x, z, queries, _ = make(16, 200)
    assert retrieve("envelope", x, z, queries, budget=budget, mix=0.5).stages.count("pinned") == pinned
    assert retrieve("envelope", x, z, queries, budget=budget).stages.count("pinned") == 0


def clustered(seed: int, nodes: int = 400) -> tuple[Vectors, Vectors, Vectors]:
    """Texts in 40 clusters, and signatures that know them: text and graph agree. Questions are near ten texts."""
    generator = np.random.default_rng(seed)
    cluster = np.arange(nodes) % 40
    centers, hidden = generator.standard_normal((40, 16)), generator.standard_normal((40, 32))
    x = (centers[cluster] + 0.8 * generator.standard_normal((nodes, 16))).astype(np.float32)
    z = (hidden[cluster] + 0.3 * generator.standard_normal((nodes, 32))).astype(np.float32)
    return x, z, (x[:10] + 0.3 * generator.standard_normal((10, 16))).astype(np.float32)


def test_an_envelope_brings_the_neighbors_of_the_best_hit_into_the_results() -> None:
    x, z, queries = clustered(18)
    for budget in (5, 10, 40):
        mates = {
            strategy: np.mean(retrieve(strategy, x, z, queries, budget=budget).rows % 40 == np.arange(10)[:, None])
            for strategy in ("plain", "envelope")
        }
        assert mates["envelope"] > 1.1 * mates["plain"]


def test_an_envelope_that_gets_somebody_elses_graph_is_plain() -> None:
    x, z, queries = clustered(19)
    plain = retrieve("plain", x, None, queries).rows
    assert retrieve("envelope", x, z, queries).rows.tobytes() != plain.tobytes()
    shuffled = np.ascontiguousarray(z[np.random.default_rng(2).permutation(len(z))])
    same = retrieve("envelope", x, shuffled, queries).rows == plain
    assert same.all(axis=1).mean() >= 0.9


@pytest.mark.parametrize("signature", ["zero", "orthogonal", "equal"])
def test_an_envelope_without_any_overlap_of_signatures_is_plain(signature: str) -> None:
    x, _, queries, ids = make(20, 60, questions=8)
    z = {"zero": np.zeros((60, 60)), "orthogonal": np.eye(60), "equal": np.ones((60, 60))}[signature].astype(np.float32)
    envelope = retrieve("envelope", x, z, queries, ids=ids)
    assert envelope.rows.tobytes() == retrieve("plain", x, None, queries, ids=ids).rows.tobytes()


@pytest.mark.parametrize("signature", ["zero", "orthogonal", "equal"])
def test_with_words_but_without_any_overlap_of_signatures_it_is_hybrid(signature: str) -> None:
    x, _, queries, ids = make(20, 90, questions=8)
    texts = words(90, 8)
    z = {"zero": np.zeros((90, 90)), "orthogonal": np.eye(90), "equal": np.ones((90, 90))}[signature].astype(np.float32)
    envelope = retrieve("envelope", x, z, queries, ids=ids, **texts)
    hybrid = retrieve("hybrid", x, None, queries, ids=ids, **texts)
    assert envelope.rows.tobytes() == hybrid.rows.tobytes()
    assert envelope.rows.tobytes() != retrieve("plain", x, None, queries, ids=ids).rows.tobytes()


def test_words_count_where_texts_and_questions_are_given_unless_told_otherwise() -> None:
    x, z, queries = clustered(27)
    texts = words(len(x), len(queries))
    without = retrieve("envelope", x, z, queries)
    both = retrieve("envelope", x, z, queries, **texts)
    assert both.search_calls == without.search_calls + 1
    assert both.rows.tobytes() != without.rows.tobytes()
    assert retrieve("envelope", x, z, queries, lexical=True, **texts).rows.tobytes() == both.rows.tobytes()
    for given in ({"lexical": False, **texts}, {"texts": texts["texts"]}, {"questions": texts["questions"]}):
        same = retrieve("envelope", x, z, queries, **given)
        assert (same.rows.tobytes(), same.search_calls) == (without.rows.tobytes(), without.search_calls)


def test_a_neighbor_that_says_the_rest_of_the_question_comes_before_one_that_does_not() -> None:
    """Rows 40, 80, … lie beside row 0, which says half of the question; only the last of them says the other half."""
    x, z, _ = clustered(28)
    texts = ["wind"] * len(x)
    texts[0], texts[360] = "bonnie may", "born"
    x[40:400:40], z[40:400:40] = x[40], z[40]
    given: dict[str, Any] = {"texts": texts, "questions": ["Who was born in Bonnie May?"], "lexical_weight": 0.0}
    places = [
        retrieve("envelope", x, z, x[:1], rest_weight=weight, budget=100, **given).rows[0].tolist().index(360)
        for weight in (0.0, 1.0)
    ]
    assert places[1] < places[0]


def test_named_nodes_that_are_hits_come_before_all_others() -> None:
    """Rows 40, 80, … stand beside row 0 and are lifted above row 1, which has no place. Row 399 is no hit."""
    x, z, _ = clustered(29)
    z[0:400:40], z[1] = z[0], 0
    x[1] = 0.9 * x[0] + 0.3 * x[1]
    x[399] = -x[0]
    named = np.array([[0, 1, 399]], dtype=np.uint32)
    found = retrieve("envelope", x, z, x[:1], named=named)
    assert set(found.rows[0, :2].tolist()) == {0, 1}
    assert found.rows[0, 2] % 40 == 0
    assert np.diff(found.scores[0]).max() <= 0


def test_an_envelope_of_one_node_and_of_a_budget_of_one() -> None:
    x, z, queries, _ = make(21, 1)
    assert retrieve("envelope", x, z, queries, budget=1).rows.tolist() == [[0]] * len(queries)
    x, z, queries = clustered(22)
    best = retrieve("plain", x, None, queries, budget=1).rows
    assert retrieve("envelope", x, z, queries, budget=1).rows.tobytes() == best.tobytes()


def test_nodes_that_may_not_be_returned_guide_an_envelope() -> None:
    """The hub is what the question names, and only its signature is near the node that answers."""
    generator = np.random.default_rng(26)
    x, z, queries = clustered(23)
    hub, answer = 0, 399
    x[answer] = 0.3 * x[hub] + generator.standard_normal(16)
    z[answer] = z[hub] + 0.05 * generator.standard_normal(32)
    queries = np.ascontiguousarray(x[hub : hub + 1])
    allowed = np.arange(len(x)) != hub
    assert answer in retrieve("envelope", x, z, queries, allowed=allowed, budget=10).rows[0]
    assert answer not in retrieve("plain", x, None, queries, allowed=allowed, budget=10).rows[0]
    assert hub not in retrieve("envelope", x, z, queries, allowed=allowed, budget=40).rows[0]


def test_a_smaller_budget_returns_the_beginning_of_a_larger_one() -> None:
    x, z, queries = clustered(24)
    small, large = (retrieve("envelope", x, z, queries, budget=budget).rows for budget in (10, 40))
    assert small.tobytes() == np.ascontiguousarray(large[:, :10]).tobytes()


def test_a_small_envelope_is_not_plain() -> None:
    x, z, queries = clustered(17)
    ids = None
    for budget in (3, 5):
        envelope = retrieve("envelope", x, z, queries, ids=ids, budget=budget)
        assert envelope.rows.tobytes() != retrieve("plain", x, None, queries, ids=ids, budget=budget).rows.tobytes()


def trust(x: Vectors, guide: Vectors, queries: Vectors) -> npt.NDArray[np.float64]:
    """The confidence of each question, with its five first hits as seeds and all nodes as candidates."""
    ranks = np.arange(len(x), dtype=np.uint32)
    original, modified = ExactStore(x, ranks), ExactStore(guide, ranks)
    hits, _ = original.search(queries, 160)
    pool = np.tile(ranks, (len(queries), 1))
    close, text = (
        np.stack([store.cosines(store.vectors[seed], pool) for seed in hits[:, :5].T]) for store in (modified, original)
    )
    return graph_confidence(Search(original, modified, queries), hits, hits[:, :5], pool, close, text)


def test_trust_is_full_where_text_and_graph_agree_and_none_where_they_do_not() -> None:
    x, z, queries = clustered(25)
    shuffled = np.ascontiguousarray(z[np.random.default_rng(2).permutation(len(z))])
    for guide, low, high in ((z, 0.99, 1.0), (shuffled, 0.0, 0.2), (np.ones_like(z), 0.0, 0.0)):
        assert low <= trust(x, guide, queries).mean() <= high


def test_a_sparse_graph_is_believed_where_it_says_something() -> None:
    """Only seeds have neighbors, and none of these is a hit: no two hits are linked."""
    generator = np.random.default_rng(4)
    x = generator.standard_normal((900, 16)).astype(np.float32)
    queries = x[:10] + 0.1 * generator.standard_normal((10, 16)).astype(np.float32)
    z = np.eye(900, dtype=np.float32)
    ranks = np.arange(900, dtype=np.uint32)
    hits, _ = ExactStore(x, ranks).search(queries, 160)
    for seeds in hits[:, :5]:
        beyond = np.setdiff1d(ranks, hits)[-50:] if len(np.setdiff1d(ranks, hits)) else ranks[-50:]
        z[beyond[: len(seeds)]] = z[seeds]
    alike, unlike = x.copy(), x.copy()
    for seeds in hits[:, :5]:
        alike[beyond[: len(seeds)]] = x[seeds] + 0.3 * generator.standard_normal((5, 16)).astype(np.float32)
    believed, doubted = (trust(texts, z, queries[-1:]).mean() for texts in (alike, unlike))
    assert believed > 0.9
    assert doubted < 0.3


def test_what_stands_at_one_place_in_the_graph_crowds() -> None:
    """Rows 0 to 2 lie at one place, row 3 elsewhere; row 4 opposite, which is no neighbor of any."""
    z = np.array([[1, 0], [2, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    ranks = np.arange(5, dtype=np.uint32)
    search = Search(ExactStore(z, ranks), ExactStore(z, ranks), z[:2])
    pool = np.array([[4, 3, 2, 1, 0], [0, 1, NO_ROW, NO_ROW, NO_ROW]], dtype=np.uint32)
    scores = np.array([[0.1, 0.65, 0.7, 0.8, 0.9], [0.5, 0.5, -np.inf, -np.inf, -np.inf]], dtype=np.float32)
    rows, after = penalize_redundancy(search, pool, scores, np.array([[0.1], [0.0]]), 4.0)
    assert rows.tolist() == [[0, 1, 2, 3, 4], [0, 1, NO_ROW, NO_ROW, NO_ROW]]
    np.testing.assert_allclose(after[0], [0.9, 0.8 - 0.1, 0.7 - 0.2, 0.65, 0.1], atol=1e-6)
    assert after[1].tolist() == scores[1].tolist()


def test_candidates_behind_the_crowd_stay_behind_it_in_their_order() -> None:
    x, z, queries, ids = make(31, 300, dim=12)
    options: dict[str, Any] = {"budget": 200, "redundancy_penalty": 0.3}
    retrieved = retrieve("envelope", x, z, queries, ids=ids, **options)
    twin = Twin(x, z, ids)
    for question, found in enumerate(lists(retrieved)):
        assert found == [row for row, _, _ in twin_answer(twin, "envelope", options, queries[question])]
        uncrowded = retrieve(
            "envelope", x, z, queries[question : question + 1], ids=ids, **{**options, "redundancy_penalty": 0}
        )
        assert set(found[:REDUNDANCY_DEPTH]) == set(uncrowded.rows[0, :REDUNDANCY_DEPTH].tolist())
        assert found[:REDUNDANCY_DEPTH] != uncrowded.rows[0, :REDUNDANCY_DEPTH].tolist()
        assert found[REDUNDANCY_DEPTH:] == uncrowded.rows[0, REDUNDANCY_DEPTH:].tolist()


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 7.0, 16.0, 17.0, 100.0])
def test_powers_by_multiplication_are_powers(exponent: float) -> None:
    base = np.linspace(0, 1, 101, dtype=np.float32)
    np.testing.assert_allclose(raised(base, exponent), base.astype(np.float64) ** exponent, rtol=1e-14)
