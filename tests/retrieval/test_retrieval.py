"""Strategies against their slow twin, and what must hold for all of them."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_cases import lists, make, twin_answer, words

from gme.graph.construction import build_graph
from gme.lexical.index import K1, B
from gme.retrieval.batch import retrieve, strategy_options
from gme.retrieval.schedule import parse_schedule
from gme.retrieval.strategies import STRATEGIES, split_turns
from gme.stores.exact import ExactStore
from gme.stores.hnsw import build_hnsw
from gme.stores.store import NO_ROW, sorted_ranks
from properties import examples
from reference.lexical import bm25, rest
from reference.retrieval import Twin

# One variant or more of every strategy; budgets are small so that small corpora exercise every stage.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"budget": 7}),
    ("bm25", {"budget": 7}),
    ("hybrid", {"budget": 7}),
    ("hybrid", {"budget": 45, "lexical_weight": 0.4}),
    ("modified", {"budget": 7}),
    ("split", {"budget": 9}),
    ("split", {"budget": 10, "modified_share": 0.8}),
    ("rerank", {"budget": 6, "mix": 0.7}),
    ("fused", {"budget": 8}),
    ("fused", {"budget": 8, "mix": 0.0, "pool_depth": 1}),
    ("requery", {"budget": 10, "shift": 0.5}),
    ("chained", {"budget": 12, "mix": 0.3}),
    ("chained", {"schedule": "original:2,fused:2,fused:3,fused:3", "pool_depth": 2}),
    ("fused", {"schedule": "modified:3,shifted:3,fused:3"}),
    ("envelope", {"budget": 9, "seeds": 4, "mix": 0.5}),
    ("envelope", {"budget": 9}),
    ("envelope", {"budget": 9, "lexical": True}),
    ("envelope", {"budget": 9, "lexical": False}),
    ("envelope", {"budget": 9, "lift": 6.0, "rest_weight": 3.0}),
    ("envelope", {"budget": 9, "rest_weight": 0.0}),
    ("envelope", {"budget": 9, "lexical": True, "lexical_weight": 0.5, "pinned": 2, "redundancy_penalty": 0.0}),
    ("envelope", {"budget": 3, "mix": 0.5, "lexical": True}),
    ("envelope", {"budget": 6, "mix": 0.4, "neighborhoods": "per_seed", "lexical": True}),
    ("envelope", {"budget": 3, "mix": 0.5}),
    ("envelope", {"budget": 5, "pinned": 9}),
    ("envelope", {"budget": 4, "pool_depth": 1}),
    (
        "envelope",
        {
            "budget": 7,
            "seeds": 3,
            "lift": 0.7,
            "margin": 0.5,
            "closeness": 1.0,
            "sharpness": 1.0,
            "redundancy_penalty": 0.4,
            "pinned": 2,
        },
    ),
    ("envelope", {"budget": 30, "redundancy_penalty": 0.0, "closeness": 2.5}),
    ("envelope", {"budget": 9, "seeds": 5, "mix": 0.5, "neighborhoods": "per_seed", "temperature": 0.2, "pinned": 3}),
    ("envelope", {"budget": 9, "seeds": 6, "neighborhoods": "per_seed", "mix": 0.4, "pool_depth": 1}),
]
NAMES = [f"{strategy}-{number}" for number, (strategy, _) in enumerate(VARIANTS)]
every_variant = pytest.mark.parametrize(("strategy", "options"), VARIANTS, ids=NAMES)


def test_every_strategy_has_a_variant_here() -> None:
    """But for those that need the graph: test_spread, test_pagerank."""
    assert {strategy for strategy, _ in VARIANTS} == {
        name for name, entry in STRATEGIES.items() if not entry.needs_graph
    }


def _rest(texts: dict[str, Any], question: int, seed: int, row: int) -> float:
    return rest(texts["texts"], texts["questions"][question], seed, row, K1, B)


@every_variant
@examples(12)
@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(1, 70), restrict=st.booleans())
def test_agrees_with_the_twin(strategy: str, options: dict[str, Any], seed: int, nodes: int, restrict: bool) -> None:
    x, z, queries, ids = make(seed, nodes)
    allowed = np.random.default_rng(seed).random(nodes) < 0.6 if restrict else None
    texts = words(nodes, seed=seed)
    retrieved = retrieve(strategy, x, z, queries, ids=ids, allowed=allowed, **texts, **options)
    twin = Twin(x, z, ids, None if allowed is None else allowed.tolist())
    scores = bm25(texts["texts"], texts["questions"], K1, B)
    for question, found in enumerate(lists(retrieved)):
        twin.words = scores[question]
        twin.rest = partial(_rest, texts, question)
        expected = twin_answer(twin, strategy, options, queries[question])
        assert found == [row for row, _, _ in expected]
        # float32 cosines, raised to the eighth power and lifted to scores of several units
        expected_scores = [score for _, score, _ in expected]
        np.testing.assert_allclose(retrieved.scores[question, : len(found)], expected_scores, rtol=1e-6, atol=2e-6)
        assert list(retrieved.stages[: len(found)]) == [stage for _, _, stage in expected]


@every_variant
def test_a_result_has_distinct_nodes_within_the_budget(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(1, 200, questions=20)
    retrieved = retrieve(strategy, x, z, queries, ids=ids, **words(200, 20), **options)
    budget = strategy_options(strategy, options).as_dict()["budget"]
    assert retrieved.rows.shape == retrieved.scores.shape == (20, budget)
    assert all(len(set(found)) == len(found) == budget for found in lists(retrieved))


@pytest.mark.parametrize("budget", [61, 1000, 2**63 - 1])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_budget_beyond_the_corpus_gives_all_its_nodes_and_takes_no_more_room(strategy: str, budget: int) -> None:
    x, z, queries, ids = make(1, 60, questions=3)
    graph = build_graph(ids, list(pairwise(ids)))
    allowed = np.arange(60) % 3 == 0
    for mask, eligible in ((None, range(60)), (allowed, np.flatnonzero(allowed))):
        retrieved = retrieve(strategy, x, z, queries, ids=ids, graph=graph, allowed=mask, budget=budget, **words(60))
        assert retrieved.rows.shape == retrieved.scores.shape == (3, 60)
        assert all(sorted(found) == list(eligible) for found in lists(retrieved))


@every_variant
def test_a_question_alone_gets_the_same_bytes_as_in_a_batch(
    strategy: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, z, queries, ids = make(2, 150, questions=11)
    texts = words(150, 11)
    atomic_group = retrieve(strategy, x, z, queries, ids=ids, threads=2, **texts, **options)
    monkeypatch.setattr("gme.retrieval.batch.QUESTION_BLOCK", 4)
    blocks = retrieve(strategy, x, z, queries, ids=ids, threads=1, **texts, **options)
    assert blocks.rows.tobytes() == atomic_group.rows.tobytes()
    assert blocks.scores.tobytes() == atomic_group.scores.tobytes()
    for question in range(len(queries)):
        one = slice(question, question + 1)
        asked = {"texts": texts["texts"], "questions": texts["questions"][one]}
        exclusive_lock = retrieve(strategy, x, z, queries[one], ids=ids, threads=1, **asked, **options)
        assert exclusive_lock.rows.tobytes() == atomic_group.rows[question].tobytes()
        assert exclusive_lock.scores.tobytes() == atomic_group.scores[question].tobytes()


@every_variant
def test_the_order_of_nodes_does_not_matter(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(3, 90, questions=8)
    order = np.random.default_rng(4).permutation(len(ids))
    shuffled = [ids[row] for row in order]
    texts = words(90, 8)
    moved = {"texts": [texts["texts"][row] for row in order], "questions": texts["questions"]}
    first = retrieve(strategy, x, z, queries, ids=ids, **texts, **options)
    second = retrieve(strategy, x[order], z[order], queries, ids=shuffled, **moved, **options)
    assert [[ids[r] for r in found] for found in lists(first)] == [[shuffled[r] for r in f] for f in lists(second)]
    assert first.scores.tobytes() == second.scores.tobytes()


@every_variant
def test_a_budget_beyond_the_corpus_returns_every_node(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(5, 3)
    retrieved = retrieve(strategy, x, z, queries, ids=ids, **words(3), **options)
    assert [sorted(found) for found in lists(retrieved)] == [[0, 1, 2]] * len(queries)


@every_variant
def test_no_question_gives_an_empty_result(strategy: str, options: dict[str, Any]) -> None:
    x, z, _, ids = make(6, 30)
    retrieved = retrieve(strategy, x, z, np.empty((0, 6), dtype=np.float32), ids=ids, **words(30, 0), **options)
    assert len(retrieved.rows) == 0


@every_variant
def test_only_allowed_nodes_are_returned(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(7, 80)
    allowed = np.arange(80) % 3 == 0
    assert all(
        row % 3 == 0
        for found in lists(retrieve(strategy, x, z, queries, ids=ids, allowed=allowed, **words(80), **options))
        for row in found
    )


@pytest.mark.parametrize(
    ("strategy", "calls"),
    [
        ("plain", 1),
        ("bm25", 1),
        ("hybrid", 2),
        ("modified", 1),
        ("split", 2),
        ("rerank", 1),
        ("fused", 3),
        ("requery", 4),
        ("chained", 5),
        ("envelope", 5),
    ],
)
def test_search_calls_are_those_of_the_paper(strategy: str, calls: int) -> None:
    x, z, queries, _ = make(8, 200)
    assert retrieve(strategy, x, z, queries, **words(200)).search_calls == calls


def test_fused_with_mix_0_is_relevance_only() -> None:
    x, z, queries, ids = make(9, 200)
    fused = retrieve("fused", x, z, queries, ids=ids, mix=0)
    assert fused.rows.tobytes() == retrieve("plain", x, None, queries, ids=ids).rows.tobytes()


def test_modified_vectors_equal_to_the_original_make_modified_equal_to_plain() -> None:
    x, _, queries, ids = make(10, 200)
    first, second = (retrieve(name, x, x, queries, ids=ids) for name in ("plain", "modified"))
    assert first.rows.tobytes() == second.rows.tobytes()


def test_a_default_schedule_scales_with_the_budget() -> None:
    x, z, queries, _ = make(11, 200)
    retrieved = retrieve("chained", x, z, queries, budget=20)
    assert str(retrieved.schedule) == "original:3,fused:3,shifted:7,shifted:7"


@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=6), total=st.integers(1, 200))
def test_scaled_schedules_keep_total_and_proportions(sizes: list[int], total: int) -> None:
    kinds = ["original", *["fused"] * (len(sizes) - 1)]
    schedule = parse_schedule(",".join(f"{kind}:{size}" for kind, size in zip(kinds, sizes, strict=True)))
    scaled = schedule.scaled(total)
    assert scaled.total == total
    assert scaled.stages[0].kind == "original"
    assert scaled.stages[0].size >= 1
    if len(scaled.stages) == len(sizes):
        exact = [size * total / sum(sizes) for size in sizes]
        # Within one of the exact share; within two where the first stage had to be given a node.
        limit = 1 if exact[0] >= 1 else 2
        assert all(abs(stage.size - want) < limit for stage, want in zip(scaled.stages, exact, strict=True))


def test_the_split_alternates_at_one_half_and_catches_up_otherwise() -> None:
    assert split_turns(6, 0.5) == [0, 1, 0, 1, 0, 1]
    assert split_turns(10, 0.8) == [1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    assert split_turns(5, 0.0) == [0] * 5
    assert split_turns(5, 1.0) == [1] * 5
    for share in (0.2, 0.35, 0.8):
        turns = split_turns(40, share)
        assert sum(turns) == round(40 * share)
        assert all(abs(sum(turns[:place]) - share * place) < 1 for place in range(1, 41))


def test_a_collection_of_another_dimension_can_guide() -> None:
    x, _, queries, ids = make(14, 60)
    signature = np.random.default_rng(0).standard_normal((60, 17), dtype=np.float32)
    for strategy in ("rerank", "fused", "requery", "chained", "envelope"):
        assert (retrieve(strategy, x, signature, queries, ids=ids).rows[:, :40] != NO_ROW).all()


def test_hnsw_gives_the_scores_and_nearly_all_nodes_of_exact_search() -> None:
    generator = np.random.default_rng(15)
    centers = generator.standard_normal((30, 24), dtype=np.float32)
    x = (centers[generator.integers(0, 30, 1500)] + 0.6 * generator.standard_normal((1500, 24))).astype(np.float32)
    z = (x + 0.3 * generator.standard_normal(x.shape)).astype(np.float32)
    queries = (x[:40] + 0.2 * generator.standard_normal((40, 24))).astype(np.float32)
    ranks = sorted_ranks([f"n{number}" for number in generator.permutation(1500)])
    exact = [ExactStore(vectors, ranks) for vectors in (x, z)]
    hnsw = [build_hnsw(store) for store in exact]
    texts = words(1500, 40)
    for strategy in {strategy for strategy, _ in VARIANTS}:
        want, got = (retrieve(strategy, original, guide, queries, **texts) for original, guide in (exact, hnsw))
        same = [len(set(a) & set(b)) / 40 for a, b in zip(lists(want), lists(got), strict=True)]
        assert np.mean(same) > 0.95
        if strategy in ("plain", "modified"):
            scores = [dict(zip(r.rows[0].tolist(), r.scores[0].tolist(), strict=True)) for r in (want, got)]
            assert all(scores[1][row] == score for row, score in scores[0].items() if row in scores[1])
