"""Spreading activation: paths worked out by hand, the twin in `reference`, and the strategy that runs on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import PROPERTY, Case, cases, town, vectors

from conftest import Run
from gme import _core, build_graph, retrieve
from gme.errors import GmeError
from gme.retrieval.strategies import STRATEGIES
from gme.storage.files import read_json
from gme.stores.store import NO_ROW
from gme.workspace import Workspace
from reference import kernels as reference

Floats = npt.NDArray[np.float32]
RULE: dict[str, Any] = {"decay": 0.5, "hops": 2, "gated": False}
GRAPH_STRATEGIES = [name for name, entry in STRATEGIES.items() if entry.needs_graph]
every_graph_strategy = pytest.mark.parametrize("strategy", GRAPH_STRATEGIES)


def spread(case: Case, queries: Floats, starts: Any, strengths: Any, k: int, **rule: Any) -> tuple[Any, Any]:
    return _core.spread(
        case.graph,
        _core.VectorSet(case.x, case.graph.ranks),
        queries,
        np.array(starts, dtype=np.uint32).reshape(len(queries), -1),
        np.array(strengths, dtype=np.float32).reshape(len(queries), -1),
        k,
        **{**RULE, **rule},
    )


def active(case: Case, *starts: tuple[int, float], **rule: Any) -> dict[str, float]:
    """Activations by id for one question along the first axis."""
    query = np.eye(1, case.x.shape[1], dtype=np.float32)
    rows, scores = spread(case, query, [row for row, _ in starts], [s for _, s in starts], len(case.ids), **rule)
    found = [
        (case.ids[row], round(float(score), 6)) for row, score in zip(rows[0], scores[0], strict=True) if score > 0
    ]
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    return dict(found)


def on_a_line(ids: str, edges: list[reference.Edge], cosines: list[float]) -> Case:
    """Vectors with these cosines to the first axis."""
    x = np.array([(c, np.sqrt(1 - c * c)) for c in cosines], dtype=np.float32)
    return Case(list(ids), edges, x)


PATH = on_a_line("abcde", [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)], [1, 0.8, 0.5, 1, 1])


def test_activation_halves_at_every_edge_and_stops_after_its_hops() -> None:
    assert active(PATH, (0, 0.8)) == {"a": 0.8, "b": 0.4, "c": 0.2}
    assert active(PATH, (0, 0.8), hops=1) == {"a": 0.8, "b": 0.4}
    assert active(PATH, (0, 0.8), hops=9) == {"a": 0.8, "b": 0.4, "c": 0.2, "d": 0.1}
    assert active(PATH, (0, 0.8), hops=0) == {"a": 0.8}


def test_a_gate_lets_in_what_resembles_the_question() -> None:
    assert active(PATH, (0, 1.0), gated=True, hops=3) == {"a": 1.0, "b": 0.4, "c": 0.1, "d": 0.05}
    closed = on_a_line("abc", [(0, 1, 1.0), (1, 2, 1.0)], [1, -0.2, 1])
    assert active(closed, (0, 1.0), gated=True) == {"a": 1.0}
    assert active(closed, (0, 1.0)) == {"a": 1.0, "b": 0.5, "c": 0.25}


def test_the_best_path_counts_not_the_sum_nor_the_first() -> None:
    """From a to d: directly over a weak edge, or over b, c; with more hops the longer path is the better one."""
    edges = [(0, 3, 0.0625), (0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 2, 0.25)]
    case = on_a_line("abcd", edges, [1, 1, 1, 1])
    assert active(case, (0, 1.0), decay=1.0, hops=1) == {"a": 1.0, "b": 1.0, "c": 0.25, "d": 0.0625}
    assert active(case, (0, 1.0), decay=1.0, hops=2) == {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.25}
    assert active(case, (0, 1.0), decay=1.0, hops=3) == {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}


def test_a_seed_can_be_lit_up_by_a_stronger_one() -> None:
    assert active(PATH, (1, 0.1), (0, 0.8), (4, 0.3)) == {"a": 0.8, "b": 0.4, "e": 0.3, "c": 0.2, "d": 0.025}
    assert active(PATH, (0, 0.8), (1, -0.5), (4, 0.0)) == {"a": 0.8, "b": 0.4, "c": 0.2}


def test_a_hub_passes_on_as_much_as_anyone() -> None:
    star = Case([f"n{i:03}" for i in range(300)], [(0, i, 1.0) for i in range(1, 300)], np.ones((300, 3), np.float32))
    reached = active(star, (5, 1.0))
    assert len(reached) == 300
    assert (reached["n000"], reached["n299"]) == (0.5, 0.25)


@given(cases(least_nodes=1), st.integers(0, 3), st.booleans(), st.sampled_from((0.3, 0.85, 1.0)), st.data())
@PROPERTY
def test_agrees_with_the_twin(case: Case, hops: int, gated: bool, decay: float, data: st.DataObject) -> None:
    nodes, queries = len(case.ids), 3
    question = vectors(queries, case.x.shape[1], data.draw(st.integers(0, 99)))
    row = st.integers(0, nodes - 1) | st.just(NO_ROW)
    starts = data.draw(st.lists(st.lists(row, min_size=2, max_size=2), min_size=queries, max_size=queries))
    strengths = np.random.default_rng(nodes).uniform(-0.3, 1, (queries, 2)).astype(np.float32)
    allowed = data.draw(st.none() | st.lists(st.booleans(), min_size=nodes, max_size=nodes))
    mask = None if allowed is None else np.array(allowed)
    k = data.draw(st.integers(0, nodes + 2))
    rows, scores = spread(
        case, question, starts, strengths, k, decay=decay, hops=min(hops, 3), gated=gated, allowed=mask
    )
    everything = np.tile(np.arange(nodes, dtype=np.uint32), (queries, 1))
    cosines = _core.cosines(_core.VectorSet(case.x), question, everything)
    for query in range(queries):
        pairs = zip(starts[query], strengths[query].tolist(), strict=True)
        given_starts = [(start, strength) for start, strength in pairs if start != NO_ROW]
        walked = reference.spread(case.twin, cosines[query], given_starts, decay=decay, hops=hops, gated=gated)
        # Results are float32, and so is the order.
        active = {row: np.float32(value) for row, value in walked.items() if np.float32(value) > 0}
        best = sorted(active, key=lambda row: (-active[row], -cosines[query, row], case.ids[row]))
        best = [row for row in best if allowed is None or allowed[row]][:k]
        assert rows[query].tolist() == best + [NO_ROW] * (k - len(best))
        np.testing.assert_allclose(scores[query, : len(best)], [active[row] for row in best], rtol=1e-6)


def test_arrays_that_do_not_fit_are_refused() -> None:
    query = np.ones((1, 2), np.float32)
    with pytest.raises(GmeError, match=r"starts\[0\] is 5, must be below 5"):
        spread(PATH, query, [5], [1.0], 3)
    with pytest.raises(GmeError, match="strengths has 2 entries, needs 1"):
        spread(PATH, query, [0], [1.0, 2.0], 3)
    with pytest.raises(GmeError, match="strengths holds NaN"):
        spread(PATH, query, [0], [np.nan], 3)
    with pytest.raises(GmeError, match=r"decay is 1\.5, must be above 0 and at most 1"):
        spread(PATH, query, [0], [1.0], 3, decay=1.5)
    with pytest.raises(GmeError, match="allowed has 2 entries, needs 5"):
        spread(PATH, query, [0], [1.0], 3, allowed=np.ones(2, dtype=bool))


# --- what holds for both strategies on the graph --------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@every_graph_strategy
def test_same_bytes_for_any_threads_batch_and_file_order(strategy: str, weighted: bool) -> None:
    case = town(weighted=weighted)
    queries = vectors(40, case.x.shape[1], 8)
    answer = retrieve(strategy, case.x, None, queries, ids=case.ids, graph=case.graph, threads=1)
    for threads in (2, 5):
        again = retrieve(strategy, case.x, None, queries, ids=case.ids, graph=case.graph, threads=threads)
        assert (again.rows.tobytes(), again.scores.tobytes()) == (answer.rows.tobytes(), answer.scores.tobytes())
    for size in (1, 5):
        part = retrieve(strategy, case.x, None, queries[7 : 7 + size], ids=case.ids, graph=case.graph)
        assert part.rows.tobytes() == answer.rows[7 : 7 + size].tobytes()
        assert part.scores.tobytes() == answer.scores[7 : 7 + size].tobytes()
    turned, order = case.permuted(3)
    other = retrieve(strategy, turned.x, None, queries, ids=turned.ids, graph=turned.graph)
    assert order[other.rows].tolist() == answer.rows.tolist()
    assert other.scores.tobytes() == answer.scores.tobytes()


@every_graph_strategy
def test_without_edges_it_finds_what_plain_finds(strategy: str) -> None:
    case = town()
    queries = vectors(9, case.x.shape[1], 8)
    empty = build_graph(case.ids, [])
    found = retrieve(strategy, case.x, None, queries, ids=case.ids, graph=empty)
    assert found.rows.tolist() == retrieve("plain", case.x, None, queries, ids=case.ids).rows.tolist()


@every_graph_strategy
def test_results_are_distinct_allowed_and_fill_the_budget(strategy: str) -> None:
    case = town()
    queries = vectors(9, case.x.shape[1], 8)
    allowed = np.arange(len(case.ids)) % 3 == 0
    found = retrieve(strategy, case.x, None, queries, ids=case.ids, graph=case.graph, allowed=allowed, budget=120)
    assert all(len(set(rows)) == 120 and all(row % 3 == 0 for row in rows) for rows in found.rows.tolist())
    everything = retrieve(strategy, case.x, None, queries, ids=case.ids, graph=case.graph, budget=len(case.ids) + 5)
    assert [sorted(rows) for rows in everything.rows.tolist()] == [[*range(len(case.ids))]] * 9
    assert (everything.scores[:, 1:] <= everything.scores[:, :-1]).all()


@every_graph_strategy
def test_a_graph_is_needed_and_must_fit(strategy: str) -> None:
    x = vectors(4, 3, 0)
    ids = list("abcd")

    def refused(**given: Any) -> GmeError:
        with pytest.raises(GmeError) as error:
            retrieve(strategy, x, None, x[:1], ids=ids, **given)
        return error.value

    assert str(refused()) == f"{strategy} needs the graph at query time"
    assert refused().hint == "pass graph=gme.build_graph(ids, edges)"
    assert "the graph has 3 nodes, the original vectors 4 rows" in str(refused(graph=build_graph(ids[:3], [])))
    assert "in another order" in str(refused(graph=build_graph(ids[::-1], [])))
    assert "must be a gme.Graph" in str(refused(graph={"a": ["b"]}))
    without_ids = retrieve(strategy, x, None, x[:1], graph=build_graph(ids[::-1], []))
    assert without_ids.rows.shape == (1, 4)


@every_graph_strategy
def test_a_run_says_that_it_needed_the_graph(strategy: str, small_workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", strategy, "-w", small_workspace, "--latency")
    assert (code, out) == (0, f"{strategy}\n")
    manifest = json.loads((small_workspace / f"runs/{strategy}.json").read_text())
    assert manifest["graph_at_query_time"] is True
    assert "edges.jsonl" in manifest["inputs"]
    assert manifest["search_calls"] == 1
    assert manifest["latency_milliseconds"]["p50"] > 0
    with (small_workspace / "edges.jsonl").open("a") as edges:
        edges.write('{"source": "e", "target": "f", "type": "link"}\n')
    code, _, err = gme("evaluate", "-w", small_workspace, strategy)
    assert code != 0
    assert "edges.jsonl" in err


def test_plain_reads_no_edges(small_workspace: Path, gme: Run) -> None:
    (small_workspace / "edges.jsonl").write_text("not JSON\n")
    assert gme("retrieve", "plain", "-w", small_workspace)[0] == 0
    manifest = json.loads((small_workspace / "runs/plain.json").read_text())
    assert manifest["graph_at_query_time"] is False
    assert "edges.jsonl" not in manifest["inputs"]
    code, _, err = gme("retrieve", "spread", "-w", small_workspace)
    assert code == 1
    assert "edges.jsonl:1" in err


# --- the strategy ---------------------------------------------------------------------------------------------------


def test_spread_from_arrays() -> None:
    """a is nearest, b and c next; e lies far from the question but next to a."""
    case = on_a_line("abcde", [(0, 4, 1.0)], [0.9, 0.8, 0.7, 0.6, 0.1])
    query = np.array([[1, 0]], dtype=np.float32)

    def order(**options: Any) -> str:
        found = retrieve("spread", case.x, None, query, ids=case.ids, graph=case.graph, budget=5, **options)
        return "".join(case.ids[row] for row in found.rows[0])

    assert order(seeds=2, gate="none") == "abecd"  # e: .9 · .85 = .765
    assert order(seeds=1, gate="none") == "aebcd"
    assert order(seeds=2) == "abecd"  # e: .9 · .85 · .1
    assert order(seeds=3) == "abced"
    assert order(seeds=200) == "abcde"
    assert order(seeds=200, gate="none") == "abecd"
    assert order(seeds=200, gate="none", decay=0.5) == "abcde"


def test_many_seeds_are_plain_where_the_gate_is_on() -> None:
    """A neighbor gets less than its own cosine, so once everything near is a seed nothing is left to pass on."""
    case = town()
    queries = vectors(20, case.x.shape[1], 8)
    many = retrieve("spread", case.x, None, queries, ids=case.ids, graph=case.graph, seeds=200, budget=40)
    assert many.rows.tolist() == retrieve("plain", case.x, None, queries, ids=case.ids).rows.tolist()
    few = retrieve("spread", case.x, None, queries, ids=case.ids, graph=case.graph, seeds=5, budget=40)
    assert few.rows.tolist() != many.rows.tolist()


def test_seeds_are_hits_that_may_be_returned_and_activation_passes_through_the_rest() -> None:
    case = on_a_line("abcd", [(0, 1, 1.0), (1, 2, 1.0)], [0.9, 0.8, 0.1, 0.5])
    query = np.array([[1, 0]], dtype=np.float32)
    allowed = np.array([True, False, True, True])
    found = retrieve(
        "spread", case.x, None, query, ids=case.ids, graph=case.graph, allowed=allowed, budget=3, seeds=1, gate="none"
    )
    assert found.rows.tolist() == [[0, 2, 3]]
    np.testing.assert_allclose(found.scores, [[0.9, 0.9 * 0.85**2, 0]], rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gate": "sigmoid"}, "unknown value for --gate: 'sigmoid'"),
        ({"decay": 0.0}, r"--decay is 0\.0, but must be at most 1 and above 0"),
        ({"hops": 0}, "--hops is 0, but must be at least 1"),
        ({"seeds": 0}, "--seeds is 0, but must be at least 1"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GmeError, match=message):
        retrieve("spread", PATH.x, None, PATH.x[:1], graph=PATH.graph, **options)


@pytest.mark.parametrize("strategy", GRAPH_STRATEGIES)
def test_the_help_says_what_it_needs(strategy: str, gme: Run) -> None:
    assert "needs the graph at query time" in STRATEGIES[strategy].help
    assert STRATEGIES[strategy].help in gme("retrieve", "--help")[1]


def test_one_question_typed_here(small_workspace: Path, gme: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    vector = Workspace(small_workspace).question_vectors()[:1]
    monkeypatch.setattr("gme.pipeline.question.embed_question", lambda *_, **__: vector)
    code, out, err = gme("retrieve", "spread", "-w", small_workspace, "--question", "who?", "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert answer["graph_at_query_time"] is True
    assert {result["stage"] for result in answer["results"]} == {"spread"}


def test_weights_count_as_they_are_whatever_edges_lie_elsewhere() -> None:
    vectors = np.eye(4, dtype=np.float32)
    query = vectors[:1]
    for more in ([], [("c", "d", 1000.0)]):
        graph = build_graph(list("abcd"), [("a", "b", 0.5), *more])
        found = retrieve("spread", vectors, None, query, graph=graph, ids=list("abcd"), gate="none", seeds=1, budget=2)
        assert found.rows[0].tolist() == [0, 1]
        np.testing.assert_allclose(found.scores[0], [1.0, 0.85 * 0.5], rtol=1e-6)


def test_only_edges_of_the_named_types_are_walked(small_workspace: Path, gme: Run) -> None:
    with (small_workspace / "edges.jsonl").open("a") as handle:
        handle.write('{"source": "e", "target": "f", "type": "other"}\n')
    code, out, err = gme("retrieve", "spread", "--budget", 3, "--edge-types", "other", "-w", small_workspace)
    assert (code, out) == (0, "spread-budget3-edges-other\n"), err
    manifest = read_json(small_workspace / "runs" / "spread-budget3-edges-other.json")
    assert manifest["edge_types"] == ["other"]
    assert " --edge-types other" in manifest["command"]
    code, _, err = gme("retrieve", "spread", "--edge-types", "othr", "-w", small_workspace)
    assert code == 1
    assert "did you mean 'other'?" in err


# --- what the question names, and words -----------------------------------------------------------------------------


@every_graph_strategy
def test_titles_and_words_change_nothing_unless_asked_for(strategy: str) -> None:
    case = town()
    queries = vectors(9, case.x.shape[1], 8)
    known: dict[str, Any] = {"ids": case.ids, "graph": case.graph}
    named = np.full((9, 1), 70, dtype=np.uint32)
    texts = [f"word{row} other" for row in range(len(case.ids))]
    plain = retrieve(strategy, case.x, None, queries, **known)
    same = retrieve(strategy, case.x, None, queries, named=named, texts=texts, questions=["word3"] * 9, **known)
    assert (same.rows.tobytes(), same.scores.tobytes()) == (plain.rows.tobytes(), plain.scores.tobytes())
    for titles in ("seeds", "only"):
        nothing = retrieve(strategy, case.x, None, queries, named=np.full_like(named, NO_ROW), titles=titles, **known)
        assert nothing.rows.tobytes() == plain.rows.tobytes()
        assert retrieve(strategy, case.x, None, queries, named=named, titles=titles, **known).rows.tolist() != (
            plain.rows.tolist()
        )
    lexical: dict[str, Any] = {"texts": texts, "questions": ["word3"] * 9, "lexical": True}
    weightless = retrieve(strategy, case.x, None, queries, **known, **lexical, lexical_weight=0.0)
    assert weightless.rows.tolist() == plain.rows.tolist()
    assert retrieve(strategy, case.x, None, queries, **known, **lexical).rows.tolist() != plain.rows.tolist()


@every_graph_strategy
def test_same_bytes_for_any_threads_and_order_with_titles_and_words(strategy: str) -> None:
    case = town()
    queries = vectors(9, case.x.shape[1], 8)
    named = np.tile(np.array([[70, 3, 11]], dtype=np.uint32), (9, 1))
    texts = [f"word{int(name[1:]) % 20} other" if name[1:].isdigit() else name for name in case.ids]
    asked: dict[str, Any] = {"questions": ["word3 other"] * 9, "titles": "seeds", "lexical": True}
    known: dict[str, Any] = {"ids": case.ids, "graph": case.graph, "texts": texts, "named": named}
    answer = retrieve(strategy, case.x, None, queries, threads=1, **known, **asked)
    again = retrieve(strategy, case.x, None, queries, threads=3, **known, **asked)
    assert (again.rows.tobytes(), again.scores.tobytes()) == (answer.rows.tobytes(), answer.scores.tobytes())
    turned, order = case.permuted(3)
    places = np.argsort(order).astype(np.uint32)
    known = {"ids": turned.ids, "graph": turned.graph, "texts": [texts[row] for row in order], "named": places[named]}
    other = retrieve(strategy, turned.x, None, queries, **known, **asked)
    assert order[other.rows].tolist() == answer.rows.tolist()
    assert other.scores.tobytes() == answer.scores.tobytes()


@pytest.mark.parametrize("titles", ["seeds", "only"])
def test_a_named_node_is_a_seed_as_near_as_the_nearest_whether_or_not_it_may_be_returned(titles: str) -> None:
    """The question names d, which must not be returned, and next to which is only e. The twin walks from both seeds."""
    case = on_a_line("abcde", [(0, 1, 1.0), (3, 4, 1.0)], [0.9, 0.8, 0.7, 0.1, 0.2])
    query, named = np.array([[1, 0]], dtype=np.float32), np.array([[3]], dtype=np.uint32)
    allowed = np.array([True, True, True, False, True])
    given: dict[str, Any] = {"ids": case.ids, "graph": case.graph, "allowed": allowed, "named": named, "budget": 4}
    found = retrieve("spread", case.x, None, query, titles=titles, seeds=2, gate="none", **given)
    starts = [(3, 0.9)] if titles == "only" else [(0, 0.9), (3, 0.9)]
    walked = reference.spread(case.twin, case.x[:, 0], starts, decay=0.85, hops=2, gated=False)
    reached = sorted((row for row in walked if allowed[row]), key=lambda row: (-walked[row], -case.x[row, 0]))
    rest = [row for row in (0, 1, 2, 4) if row not in reached]
    assert found.rows.tolist() == [reached + rest]
    np.testing.assert_allclose(found.scores[0], [walked.get(row, 0) for row in reached + rest], rtol=1e-6)


def test_a_weight_without_words_is_refused() -> None:
    with pytest.raises(GmeError, match=r"--lexical-weight is 1\.0, but has no effect without --lexical"):
        retrieve("spread", PATH.x, None, PATH.x[:1], graph=PATH.graph, lexical_weight=1.0)


@every_graph_strategy
@pytest.mark.parametrize("titles", ["seeds", "only"])
def test_named_nodes_where_no_node_may_be_returned(strategy: str, titles: str) -> None:
    case = on_a_line("abc", [(0, 1, 1.0)], [1, 0.8, 0.5])
    found = retrieve(
        strategy,
        case.x,
        None,
        np.eye(1, 2, dtype=np.float32),
        graph=case.graph,
        ids=case.ids,
        named=np.array([[0, NO_ROW]], dtype=np.uint32),
        allowed=np.zeros(3, dtype=np.bool_),
        titles=titles,
    )
    assert (found.rows == NO_ROW).all()
