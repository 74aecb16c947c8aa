"""Strategies against their slow twin, and what must hold for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gme.errors import GmeError
from gme.index import build_hnsw
from gme.retrieval import STRATEGIES, Retrieved, parse_schedule, retrieve, strategy_options
from gme.retrieval.neighbourhood import CROWD, agreement_trust, crowded, raised
from gme.retrieval.search import Search
from gme.retrieval.strategies import split_turns
from gme.stores import NO_ROW, ExactStore, sorted_ranks
from gme.types import Vectors
from reference_retrieval import Result, Twin

# One variant or more of every strategy; budgets are small so that small corpora exercise every stage.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"budget": 7}),
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
            "crowding": 0.4,
            "pinned": 2,
        },
    ),
    ("envelope", {"budget": 30, "crowding": 0.0, "closeness": 2.5}),
    ("envelope", {"budget": 9, "seeds": 5, "mix": 0.5, "neighbourhoods": "apart", "temperature": 0.2, "pinned": 3}),
    ("envelope", {"budget": 9, "seeds": 6, "neighbourhoods": "apart", "mix": 0.4, "pool_depth": 1}),
]
NAMES = [f"{strategy}-{number}" for number, (strategy, _) in enumerate(VARIANTS)]
every_variant = pytest.mark.parametrize(("strategy", "options"), VARIANTS, ids=NAMES)


def make(seed: int, nodes: int, dim: int = 6, questions: int = 3) -> tuple[Vectors, Vectors, Vectors, list[str]]:
    """Original, modified and question vectors with a zero modified row and exact duplicates, and shuffled ids."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((nodes, dim), dtype=np.float32)
    z = (x + 0.7 * generator.standard_normal((nodes, dim), dtype=np.float32)).astype(np.float32)
    copies = generator.integers(0, nodes, (2, nodes // 4))
    x[copies[0]], z[copies[0]] = x[copies[1]], z[copies[1]]
    z[generator.integers(nodes)] = 0
    ids = [f"n{number}" for number in generator.permutation(nodes)]
    return x, z, generator.standard_normal((questions, dim), dtype=np.float32), ids


def twin_answer(twin: Twin, strategy: str, options: dict[str, Any], question: Vectors) -> list[Result]:
    checked = strategy_options(strategy, options)
    values = checked.as_dict()
    schedule = STRATEGIES[strategy].schedule
    if schedule is not None:
        stages = checked.stages(schedule).stages  # type: ignore[attr-defined]
        keep = {name: values[name] for name in ("mix", "shift", "pool_depth")}
        return twin.staged(question, [(stage.kind, stage.size) for stage in stages], **keep)
    answer: list[Result] = getattr(twin, strategy)(question, **values)
    return answer


def lists(retrieved: Retrieved) -> list[list[int]]:
    return [[row for row in line if row != NO_ROW] for line in retrieved.rows.tolist()]


def test_every_strategy_has_a_variant_here() -> None:
    """But for those that need the graph: test_spread, test_pagerank."""
    assert {strategy for strategy, _ in VARIANTS} == {
        name for name, entry in STRATEGIES.items() if not entry.needs_graph
    }


@every_variant
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(1, 70), restrict=st.booleans())
def test_agrees_with_the_twin(strategy: str, options: dict[str, Any], seed: int, nodes: int, restrict: bool) -> None:
    x, z, queries, ids = make(seed, nodes)
    allowed = np.random.default_rng(seed).random(nodes) < 0.6 if restrict else None
    retrieved = retrieve(strategy, x, z, queries, ids=ids, allowed=allowed, **options)
    twin = Twin(x, z, ids, None if allowed is None else allowed.tolist())
    for question, found in enumerate(lists(retrieved)):
        expected = twin_answer(twin, strategy, options, queries[question])
        assert found == [row for row, _, _ in expected]
        np.testing.assert_allclose(retrieved.scores[question, : len(found)], [s for _, s, _ in expected], atol=2e-6)
        assert list(retrieved.stages[: len(found)]) == [stage for _, _, stage in expected]


@every_variant
def test_a_result_has_distinct_nodes_within_the_budget(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(1, 200, questions=20)
    retrieved = retrieve(strategy, x, z, queries, ids=ids, **options)
    budget = strategy_options(strategy, options).as_dict()["budget"]
    assert retrieved.rows.shape == retrieved.scores.shape == (20, budget)
    assert all(len(set(found)) == len(found) == budget for found in lists(retrieved))


@every_variant
def test_a_question_alone_gets_the_same_bytes_as_in_a_batch(
    strategy: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, z, queries, ids = make(2, 150, questions=11)
    together = retrieve(strategy, x, z, queries, ids=ids, threads=2, **options)
    monkeypatch.setattr("gme.retrieval.batch.QUESTION_BLOCK", 4)
    blocks = retrieve(strategy, x, z, queries, ids=ids, threads=1, **options)
    assert blocks.rows.tobytes() == together.rows.tobytes()
    assert blocks.scores.tobytes() == together.scores.tobytes()
    for question in range(len(queries)):
        alone = retrieve(strategy, x, z, queries[question : question + 1], ids=ids, threads=1, **options)
        assert alone.rows.tobytes() == together.rows[question].tobytes()
        assert alone.scores.tobytes() == together.scores[question].tobytes()


@every_variant
def test_the_order_of_nodes_does_not_matter(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(3, 90, questions=8)
    order = np.random.default_rng(4).permutation(len(ids))
    shuffled = [ids[row] for row in order]
    first = retrieve(strategy, x, z, queries, ids=ids, **options)
    second = retrieve(strategy, x[order], z[order], queries, ids=shuffled, **options)
    assert [[ids[r] for r in found] for found in lists(first)] == [[shuffled[r] for r in f] for f in lists(second)]
    assert first.scores.tobytes() == second.scores.tobytes()


@every_variant
def test_a_budget_beyond_the_corpus_returns_every_node(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(5, 3)
    retrieved = retrieve(strategy, x, z, queries, ids=ids, **options)
    assert [sorted(found) for found in lists(retrieved)] == [[0, 1, 2]] * len(queries)


@every_variant
def test_no_question_gives_an_empty_result(strategy: str, options: dict[str, Any]) -> None:
    x, z, _, ids = make(6, 30)
    retrieved = retrieve(strategy, x, z, np.empty((0, 6), dtype=np.float32), ids=ids, **options)
    assert len(retrieved.rows) == 0


@every_variant
def test_only_allowed_nodes_are_returned(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(7, 80)
    allowed = np.arange(80) % 3 == 0
    assert all(
        row % 3 == 0
        for found in lists(retrieve(strategy, x, z, queries, ids=ids, allowed=allowed, **options))
        for row in found
    )


@pytest.mark.parametrize(
    ("strategy", "calls"),
    [
        ("plain", 1),
        ("modified", 1),
        ("split", 2),
        ("rerank", 1),
        ("fused", 3),
        ("requery", 4),
        ("chained", 5),
        ("envelope", 4),
    ],
)
def test_search_calls_are_those_of_the_paper(strategy: str, calls: int) -> None:
    x, z, queries, _ = make(8, 200)
    assert retrieve(strategy, x, z, queries).search_calls == calls


def test_an_envelope_apart_takes_five_calls_at_most() -> None:
    x, z, queries, _ = make(8, 200)
    assert retrieve("envelope", x, z, queries, mix=0.5, neighbourhoods="apart").search_calls == 5
    assert retrieve("envelope", x, z, queries, mix=0.5, neighbourhoods="apart", seeds=2).search_calls == 3
    assert retrieve("envelope", x, z, queries, mix=0.5).search_calls == 2


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ({}, 5),
        ({"seeds": 1}, 4),
        ({"seeds": 20, "budget": 100}, 5),
        ({"mix": 0.5}, 3),
        ({"mix": 0.5, "neighbourhoods": "apart"}, 5),
        ({"mix": 0.5, "neighbourhoods": "apart", "seeds": 2}, 4),
    ],
)
def test_an_envelope_that_returns_only_some_nodes_takes_five_calls_at_most(options: dict[str, Any], calls: int) -> None:
    x, z, queries, _ = make(8, 200)
    assert retrieve("envelope", x, z, queries, allowed=np.arange(200) % 2 == 0, **options).search_calls == calls


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not of the form kind:size"),
        ("original", "'original' is not of the form kind:size"),
        ("original:6,fusd:6", "unknown stage kind 'fusd' in --schedule"),
        ("original:0", "not a whole number of at least 1"),
        ("original:-3", "not a whole number of at least 1"),
        ("original:2.5", "not a whole number of at least 1"),
        ("fused:6", "starts with 'fused'"),
        ("shifted:6,original:3", "starts with 'shifted'"),
    ],
)
def test_bad_schedules_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(GmeError, match=message):
        parse_schedule(text)


def test_the_split_alternates_at_one_half_and_catches_up_otherwise() -> None:
    assert split_turns(6, 0.5) == [0, 1, 0, 1, 0, 1]
    assert split_turns(10, 0.8) == [1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    assert split_turns(5, 0.0) == [0] * 5
    assert split_turns(5, 1.0) == [1] * 5
    for share in (0.2, 0.35, 0.8):
        turns = split_turns(40, share)
        assert sum(turns) == round(40 * share)
        assert all(abs(sum(turns[:place]) - share * place) < 1 for place in range(1, 41))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "chaned"}, "unknown strategy 'chaned'"),
        ({"strategy": "plain", "mix": 0.5}, "plain has no option --mix"),
        ({"strategy": "fused", "mix": 1.5}, "--mix is 1.5, but must be at least 0 and at most 1"),
        ({"strategy": "fused", "mix": "auto"}, "--mix"),
        ({"strategy": "fused", "mix": "half"}, "--mix is 'half'"),
        ({"strategy": "envelope", "mix": "2"}, "--mix is 2"),
        ({"strategy": "envelope", "temperature": 0.0}, "--temperature"),
        ({"strategy": "envelope", "neighbourhoods": "far"}, "neighbourhoods"),
        ({"strategy": "envelope", "temperature": 0.2}, "--temperature is 0.2, but has no effect with --mix auto"),
        ({"strategy": "envelope", "neighbourhoods": "apart"}, "--neighbourhoods is 'apart', but has no effect"),
        ({"strategy": "envelope", "mix": 0.5, "lift": 3.0}, "--lift is 3.0, but has no effect with --mix 0.5"),
        ({"strategy": "envelope", "mix": 0, "crowding": 0.0}, "--crowding is 0.0, but has no effect with --mix 0"),
        ({"strategy": "plain", "budget": 0}, "--budget is 0"),
        (
            {"strategy": "fused", "schedule": "original:3,fused:3", "budget": 9},
            "--budget is 9, but the sizes in --schedule sum to 6",
        ),
    ],
)
def test_bad_options_say_what_is_wrong(options: dict[str, Any], message: str) -> None:
    x, z, queries, _ = make(12, 20)
    strategy = options.pop("strategy")
    with pytest.raises(GmeError, match=message):
        retrieve(strategy, x, z, queries, **options)


def test_inputs_that_do_not_belong_together_are_refused() -> None:
    x, z, queries, _ = make(13, 20)
    with pytest.raises(GmeError, match="the questions have 5 dimensions, the original vectors 6"):
        retrieve("plain", x, None, queries[:, :5])
    with pytest.raises(GmeError, match="fused needs a modified collection"):
        retrieve("fused", x, None, queries)
    with pytest.raises(GmeError, match="has 19 rows, the original one 20"):
        retrieve("fused", x, z[:19], queries)
    with pytest.raises(GmeError, match="compares questions"):
        retrieve("split", x, np.ascontiguousarray(z[:, :4]), queries)
    with pytest.raises(GmeError, match="question vectors hold NaN or infinity"):
        retrieve("plain", x, None, np.full_like(queries, np.nan))
    with pytest.raises(GmeError, match="float64"):
        retrieve("plain", x.astype(np.float64), None, queries)


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (
            {"queries": np.ones(6, np.float32)},
            r"queries must be \(questions, dim\), found \(6,\)",
            "use question[None]",
        ),
        ({"queries": [1.0] * 6}, r"queries must be \(questions, dim\), found \(6,\)", "use question[None]"),
        ({"queries": ["who?"]}, "queries must be an array .*, found a list", "the order is"),
        ({"queries": None}, "queries must be an array .*, found None", "the order is"),
        ({"original": [[1.0]]}, "the original vectors must be a float32 array .*, found a list", "numpy.asarray"),
        ({"original": "plain"}, "the original vectors must be .*, found 'plain'", "the order is"),
        ({"modified": [[1.0]]}, "the modified vectors must be a float32 array .*, found a list", "numpy.asarray"),
        ({"modified": "walk"}, "the modified vectors must be .*, found 'walk'", "the order is"),
        ({"strategy": np.ones((2, 6), np.float32)}, "must be a name, found a float32 array of shape", "the order is"),
        ({"ids": ["a"]}, "there are 1 ids for 20 original vectors", "the order is"),
        ({"original": np.ones((3, 6), np.float32)}, "there are 20 ids for 3 original vectors", "the order is"),
        ({"allowed": [True] * 20}, r"allowed must be a bool array \(20,\), found a list", "True where"),
        ({"allowed": np.ones(3, bool)}, r"allowed must be .* found a bool array of shape \(3,\)", "True where"),
    ],
)
def test_wrong_arguments_are_told_what_goes_where(change: dict[str, Any], message: str, hint: str) -> None:
    x, z, queries, ids = make(13, 20)
    given = {"strategy": "fused", "original": x, "modified": z, "queries": queries, "ids": ids} | change
    with pytest.raises(GmeError, match=message) as raised:
        retrieve(**given)
    assert hint in str(raised.value.hint)


@pytest.mark.parametrize(("budget", "pinned"), [(1, 0), (3, 0), (4, 1), (5, 1), (8, 2), (10, 2), (12, 3), (40, 3)])
def test_pinned_hits_are_three_and_a_quarter_of_the_budget_at_most(budget: int, pinned: int) -> None:
    x, z, queries, _ = make(16, 200)
    assert retrieve("envelope", x, z, queries, budget=budget, mix=0.5).stages.count("pinned") == pinned
    assert retrieve("envelope", x, z, queries, budget=budget).stages.count("pinned") == 0


def clustered(seed: int, nodes: int = 400) -> tuple[Vectors, Vectors, Vectors]:
    """Texts in 40 clusters, and signatures that know them: text and graph agree. Questions are near ten texts."""
    generator = np.random.default_rng(seed)
    cluster = np.arange(nodes) % 40
    centres, hidden = generator.standard_normal((40, 16)), generator.standard_normal((40, 32))
    x = (centres[cluster] + 0.8 * generator.standard_normal((nodes, 16))).astype(np.float32)
    z = (hidden[cluster] + 0.3 * generator.standard_normal((nodes, 32))).astype(np.float32)
    return x, z, (x[:10] + 0.3 * generator.standard_normal((10, 16))).astype(np.float32)


def test_an_envelope_brings_the_neighbours_of_the_best_hit_into_the_results() -> None:
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


def test_a_collection_of_another_dimension_can_guide() -> None:
    x, _, queries, ids = make(14, 60)
    signature = np.random.default_rng(0).standard_normal((60, 17), dtype=np.float32)
    for strategy in ("rerank", "fused", "requery", "chained", "envelope"):
        assert (retrieve(strategy, x, signature, queries, ids=ids).rows[:, :40] != NO_ROW).all()


def test_trust_is_full_where_text_and_graph_agree_and_none_where_they_do_not() -> None:
    x, z, queries = clustered(25)
    ranks = np.arange(len(x), dtype=np.uint32)
    original = ExactStore(x, ranks)
    hits, _ = original.search(queries, 160)
    shuffled = np.ascontiguousarray(z[np.random.default_rng(2).permutation(len(z))])
    for guide, low, high in ((z, 0.99, 1.0), (shuffled, 0.0, 0.2), (np.ones_like(z), 0.0, 0.0)):
        trust = agreement_trust(Search(original, ExactStore(guide, ranks), queries), hits, 4.0)
        assert low <= trust.mean() <= high


def test_what_stands_at_one_place_in_the_graph_crowds() -> None:
    """Rows 0 to 2 lie at one place, row 3 elsewhere; row 4 opposite, which is no neighbour of any."""
    z = np.array([[1, 0], [2, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    ranks = np.arange(5, dtype=np.uint32)
    search = Search(ExactStore(z, ranks), ExactStore(z, ranks), z[:2])
    pool = np.array([[4, 3, 2, 1, 0], [0, 1, NO_ROW, NO_ROW, NO_ROW]], dtype=np.uint32)
    scores = np.array([[0.1, 0.65, 0.7, 0.8, 0.9], [0.5, 0.5, -np.inf, -np.inf, -np.inf]], dtype=np.float32)
    rows, after = crowded(search, pool, scores, np.array([[0.1], [0.0]]), 4.0)
    assert rows.tolist() == [[0, 1, 2, 3, 4], [0, 1, NO_ROW, NO_ROW, NO_ROW]]
    np.testing.assert_allclose(after[0], [0.9, 0.8 - 0.1, 0.7 - 0.2, 0.65, 0.1], atol=1e-6)
    assert after[1].tolist() == scores[1].tolist()


def test_candidates_behind_the_crowd_stay_behind_it_in_their_order() -> None:
    x, z, queries, ids = make(31, 300, dim=12)
    options: dict[str, Any] = {"budget": 200, "crowding": 0.3}
    retrieved = retrieve("envelope", x, z, queries, ids=ids, **options)
    twin = Twin(x, z, ids)
    for question, found in enumerate(lists(retrieved)):
        assert found == [row for row, _, _ in twin_answer(twin, "envelope", options, queries[question])]
        uncrowded = retrieve("envelope", x, z, queries[question : question + 1], ids=ids, **{**options, "crowding": 0})
        assert set(found[:CROWD]) == set(uncrowded.rows[0, :CROWD].tolist())
        assert found[:CROWD] != uncrowded.rows[0, :CROWD].tolist()
        assert found[CROWD:] == uncrowded.rows[0, CROWD:].tolist()


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 7.0, 16.0, 17.0, 100.0])
def test_powers_by_multiplication_are_powers(exponent: float) -> None:
    base = np.linspace(0, 1, 101, dtype=np.float32)
    np.testing.assert_allclose(raised(base, exponent), base.astype(np.float64) ** exponent, rtol=1e-14)


def test_hnsw_gives_the_scores_and_nearly_all_nodes_of_exact_search() -> None:
    generator = np.random.default_rng(15)
    centres = generator.standard_normal((30, 24), dtype=np.float32)
    x = (centres[generator.integers(0, 30, 1500)] + 0.6 * generator.standard_normal((1500, 24))).astype(np.float32)
    z = (x + 0.3 * generator.standard_normal(x.shape)).astype(np.float32)
    queries = (x[:40] + 0.2 * generator.standard_normal((40, 24))).astype(np.float32)
    ranks = sorted_ranks([f"n{number}" for number in generator.permutation(1500)])
    exact = [ExactStore(vectors, ranks) for vectors in (x, z)]
    hnsw = [build_hnsw(store) for store in exact]
    for strategy in {strategy for strategy, _ in VARIANTS}:
        want, got = (retrieve(strategy, original, guide, queries) for original, guide in (exact, hnsw))
        same = [len(set(a) & set(b)) / 40 for a, b in zip(lists(want), lists(got), strict=True)]
        assert np.mean(same) > 0.95
        if strategy in ("plain", "modified"):
            scores = [dict(zip(r.rows[0].tolist(), r.scores[0].tolist(), strict=True)) for r in (want, got)]
            assert all(scores[1][row] == score for row, score in scores[0].items() if row in scores[1])
