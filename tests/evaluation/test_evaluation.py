"""Measures against hand-computed values, and differences against direct resampling, scipy and ir-measures."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gme.errors import GmeError
from gme.evaluation.gold import collect_gold, judge
from gme.evaluation.ir_measures import NAMES
from gme.evaluation.measures import evaluate
from gme.evaluation.results import Evaluation
from gme.evaluation.runs import Run
from gme.evaluation.significance import EvaluationOptions, bootstrap, mcnemar
from gme.evaluation.slots import SLOTS, median_rank
from gme.workspace.records import Nodes, Questions
from properties import examples

INF = float("inf")

TYPES = ["chunk", "chunk", "chunk", "chunk", "document", "entity", "passage"]
NODES = Nodes([f"n{i}" for i in range(7)], TYPES, [""] * 7, [None] * 7, {f"n{i}": i for i in range(7)})
QUICK = EvaluationOptions(resamples=50)


def make_questions(*entries: tuple[str, list[str], str, str]) -> Questions:
    ids, gold, families, groups = (list(column) for column in zip(*entries, strict=True))
    return Questions(ids, [""] * len(ids), gold, families, groups, [0] * len(ids))


QUESTIONS = make_questions(
    ("q3", ["n0", "n1"], "hop2", "relational"),
    ("q1", ["n2"], "collect_local", "single-fact"),
    ("q2", ["n3", "n4", "n6"], "extremize", "extremisation"),
    ("q4", ["n4", "n5"], "hop2", "relational"),  # documents and entities only: no evidence
    ("q5", [], "hop2", "relational"),
)
PLAIN = Run("plain", {"q1": [5, 2, 0], "q2": [3, 0, 1], "q3": [4, 1, 2], "q4": [], "q5": [0]}, {"search_calls": 1})
OTHER = Run("other", {"q1": [2, 5, 0, 1], "q2": [6, 3], "q3": [0, 5, 6, 1], "q4": [4], "q5": []}, {})


def scores(report: Evaluation, run: str, population: str = "all") -> Any:
    found: Any = next(r for r in report["runs"] if r["name"] == run)["populations"][population]
    return found


def test_recovery_by_hand() -> None:
    report = evaluate([PLAIN, OTHER], QUESTIONS, NODES, ks=[1, 2, 9], options=QUICK)
    assert (report["questions"], report["without_gold"]) == (3, 2)
    # q1: n2 on place 2; q2: n3 of {n3, n6} on place 1 (a document is no evidence); q3: n1 of {n0, n1} on place 2
    plain = scores(report, "plain")
    assert plain["curve"] == pytest.approx([0.5 / 3, (1 + 0.5 + 0.5) / 3, 2 / 3])
    assert plain["recovery"] == pytest.approx(2 / 3)
    assert plain["recall"] == {"1": pytest.approx(0.5 / 3), "2": pytest.approx(2 / 3), "9": None}
    assert plain["all_supporting"] == {"1": 0, "2": pytest.approx(1 / 3), "9": None}  # it returns three nodes
    other = scores(report, "other")
    assert other["curve"] == pytest.approx([(1 + 0.5 + 0.5) / 3, (1 + 1 + 0.5) / 3, 2.5 / 3, 1])
    assert scores(report, "other", "hard")["recovery"] == 1
    assert scores(report, "plain", "relational")["recovery"] == 0.5
    assert [(p["name"], p["kind"], p["questions"]) for p in report["populations"]] == [
        ("all", "all", 3),
        ("hard", "hard", 2),
        ("single-fact", "group", 1),
        ("extremisation", "group", 1),
        ("relational", "group", 1),
        ("collect_local", "family", 1),
        ("extremize", "family", 1),
        ("hop2", "family", 1),
    ]
    assert "difference" not in plain
    assert [run["search_calls"] for run in report["runs"]] == [1, None]


def test_differences_from_the_baseline_by_hand() -> None:
    plain = replace(PLAIN, manifest={"options": {"budget": 4}})
    report = evaluate([plain, OTHER], QUESTIONS, NODES, baseline="plain", ks=[1, 4], options=QUICK)
    other = scores(report, "other")
    assert other["difference"] == pytest.approx(1 / 3)
    assert other["nodes_to_match"] == 1
    assert scores(report, "plain")["nodes_to_match"] == 2
    assert other["all_supporting_difference"]["4"]["difference"] == pytest.approx(2 / 3)
    assert other["all_supporting_difference"]["4"]["p"] == 0.5  # two won, none lost
    assert scores(report, "other", "single-fact")["interval"] == [0, 0]
    back = evaluate([OTHER, PLAIN], QUESTIONS, NODES, baseline="other", options=QUICK)
    assert scores(back, "plain")["nodes_to_match"] is None
    assert scores(back, "plain")["difference"] == pytest.approx(-1 / 3)


def test_nothing_is_said_of_depths_beyond_a_budget() -> None:
    shallow = evaluate([PLAIN, OTHER], QUESTIONS, NODES, baseline="plain", ks=[3, 4], options=QUICK)
    assert [scores(shallow, run)["recall"]["4"] is None for run in ("plain", "other")] == [True, False]
    assert scores(shallow, "other")["all_supporting_difference"]["4"] is None
    assert scores(shallow, "other")["all_supporting_difference"]["3"]["p"] == 1
    # A run that asked for more and found no more, and one that holds all nodes, reach any depth they asked for.
    asked = evaluate([replace(PLAIN, manifest={"options": {"budget": 9}})], QUESTIONS, NODES, ks=[9, 10])
    assert scores(asked, "plain")["recall"] == {"9": pytest.approx(2 / 3), "10": None}
    whole = Run("whole", {question: list(range(7)) for question in QUESTIONS.ids}, {})
    assert scores(evaluate([whole], QUESTIONS, NODES, ks=[40]), "whole")["recall"] == {"40": 1}


def test_slots_by_hand() -> None:
    questions = replace(QUESTIONS, hops=[2, 0, 2, 2, 2])  # q3 and q2 two hops with two gold, q1 one gold
    slots = evaluate([PLAIN], questions, NODES, ks=[1, 2, 4], options=QUICK)["runs"][0]["slots"]
    # q1: n2 on place 2; q2: n3 on place 1, n6 missing; q3: n1 on place 2, n0 missing
    assert slots == [
        {
            "hops": 1,
            "questions": 1,
            "slots": [{"slot": 1, "questions": 1, "median_rank": 2, "within": {"1": 0, "2": 1, "4": None}}],
        },
        {
            "hops": 2,
            "questions": 2,
            "slots": [
                {"slot": 1, "questions": 2, "median_rank": 1.5, "within": {"1": 0.5, "2": 1, "4": None}},
                {"slot": 2, "questions": 2, "median_rank": None, "within": {"1": 0, "2": 0, "4": None}},
            ],
        },
    ]


def test_the_slots_of_a_question_fill_in_order_and_stand_for_its_gold() -> None:
    generator = np.random.default_rng(11)
    nodes = Nodes([f"n{i}" for i in range(40)], ["chunk"] * 40, [""] * 40, [None] * 40, {f"n{i}": i for i in range(40)})
    entries = [(f"q{i}", [f"n{g}" for g in generator.permutation(40)[: 1 + i % 13]], "", "") for i in range(65)]
    run = Run("r", {e[0]: generator.permutation(40)[:20].tolist() for e in entries}, {})
    report = evaluate([run], make_questions(*entries), nodes, ks=[5, 20])
    assert [entry["hops"] for entry in report["runs"][0]["slots"]] == list(range(1, 14))  # none given: gold nodes
    for entry in report["runs"][0]["slots"]:
        assert len(entry["slots"]) == min(entry["hops"], SLOTS)
        assert {slot["questions"] for slot in entry["slots"]} == {entry["questions"]}
        for k in (5, 20):
            shares = [share for slot in entry["slots"] if (share := slot["within"][str(k)]) is not None]
            assert len(shares) == len(entry["slots"])
            assert shares == sorted(shares, reverse=True)
            lines = [e for e in entries if len(e[1]) == entry["hops"]]
            if entry["hops"] <= SLOTS:
                found = [len(set(gold) & {f"n{row}" for row in run.results[q][:k]}) for q, gold, *_ in lines]
                assert sum(shares) == pytest.approx(np.mean(found))


@pytest.mark.parametrize(
    ("ranks", "median"),
    [
        ([3], 3),
        ([1, 4], 2.5),
        ([4, 1, 2], 2),
        ([INF], None),
        ([1, INF], 1),
        ([1, INF, INF], None),
        ([9, 2, INF, INF], 9),
    ],
)
def test_a_median_rank_needs_half_of_the_questions(ranks: list[float], median: float | None) -> None:
    assert median_rank(ranks) == median


def test_unknown_measures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ir_measures")
    for name, message in (
        ("nope@3", "unknown measure 'nope'"),
        ("nDCG@x", "measure 'nDCG@x'"),
        ("nDCG(wrong=1)@3", "has no parameter 'wrong'"),
        ("RBP", "cannot be computed"),
    ):
        with pytest.raises(GmeError, match=message) as raised:
            evaluate([PLAIN], QUESTIONS, NODES, measures=[name])
        assert "nDCG@10" in str(raised.value.hint)
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(GmeError, match="need the ir-measures package") as raised:
        evaluate([PLAIN], QUESTIONS, NODES, measures=["R@10"])
    assert raised.value.hint == "install it: pip install ir-measures"
    with pytest.raises(GmeError, match="unknown measure 'Sucess'") as mistyped:
        evaluate([PLAIN], QUESTIONS, NODES, measures=["Sucess@10"])
    assert str(mistyped.value.hint).startswith("did you mean 'Success'? ")


def test_the_names_of_measures_are_those_of_the_package() -> None:
    package = pytest.importorskip("ir_measures")
    assert set(NAMES) <= set(package.measures.registry)


def test_real_sets_have_families_and_no_groups() -> None:
    questions = make_questions(("q1", ["n0"], "bridge", ""), ("q2", ["n1"], "all", ""), ("q3", ["n1"], "", ""))
    gold = collect_gold(questions, NODES)
    assert gold.kinds == {"all": "all", "family all": "family", "bridge": "family"}
    assert gold.populations["family all"].tolist() == [1]


def test_the_order_of_questions_does_not_matter() -> None:
    generator = np.random.default_rng(5)
    entries = [(f"q{i}", [f"n{g}" for g in generator.permutation(4)[:2]], f"f{i % 3}", "relational") for i in range(60)]
    runs = [Run(name, {e[0]: generator.permutation(7)[:5].tolist() for e in entries}, {}) for name in ("a", "b")]
    options = EvaluationOptions(resamples=200)
    first = evaluate(runs, make_questions(*entries), NODES, baseline="a", options=options)
    shuffled = [entries[i] for i in generator.permutation(60)]
    assert evaluate(runs, make_questions(*shuffled), NODES, baseline="a", options=options) == first


def test_no_evidence_at_all_is_an_error() -> None:
    with pytest.raises(GmeError, match="no question has gold evidence"):
        evaluate([PLAIN], make_questions(("q1", ["n4"], "", "")), NODES)
    with pytest.raises(GmeError, match="--k"):
        evaluate([PLAIN], QUESTIONS, NODES, ks=[0])


@examples(40)
@given(seed=st.integers(0, 10_000))
def test_curves_rise_and_end_at_the_recovery(seed: int) -> None:
    generator = np.random.default_rng(seed)
    entries = [(f"q{i}", [f"n{g}" for g in generator.permutation(4)[: 1 + i % 3]], "", "") for i in range(5)]
    run = Run("r", {e[0]: generator.permutation(7)[: generator.integers(0, 8)].tolist() for e in entries}, {})
    gold = collect_gold(make_questions(*entries), NODES)
    judged = judge(run, gold)
    assert (np.diff(judged.found, axis=1) >= 0).all()
    for line, (question, rows) in enumerate(zip(gold.ids, gold.rows, strict=True)):
        for k in (1, 3, 7):
            found = len(rows & set(run.results[question][:k])) / len(rows)
            assert judged.recall(k)[line] == found
            assert judged.all_supporting(k)[line] == (found == 1)


def test_the_bootstrap_is_direct_resampling() -> None:
    differences = np.random.default_rng(1).normal(0.1, 1, (37, 3))
    options = EvaluationOptions(resamples=400, seed=9)
    drawn = np.random.Generator(np.random.PCG64(9)).integers(0, 37, size=(400, 37))
    means = differences[drawn].mean(axis=1)
    np.testing.assert_allclose(
        bootstrap(differences, options), np.quantile(means, [0.025, 0.975], axis=0).T, atol=1e-12
    )


def test_the_memory_bound_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(1).normal(size=(20, 2))
    options = EvaluationOptions(resamples=101)
    whole = bootstrap(differences, options)
    monkeypatch.setattr("gme.evaluation.significance._RESAMPLES_AT_ONCE", 7 * 20)
    assert bootstrap(differences, options).tobytes() == whole.tobytes()


def test_the_bootstrap_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(2).gamma(2, 1, 200) - 1.5
    low, high = bootstrap(values[:, None])[0]
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=3).confidence_interval
    assert low == pytest.approx(theirs.low, abs=0.02)
    assert high == pytest.approx(theirs.high, abs=0.02)


def test_the_seed_matters_and_is_enough() -> None:
    values = np.random.default_rng(2).normal(size=(50, 1))
    first = bootstrap(values, EvaluationOptions(seed=1, resamples=500))
    assert first.tobytes() == bootstrap(values, EvaluationOptions(seed=1, resamples=500)).tobytes()
    assert first.tobytes() != bootstrap(values, EvaluationOptions(seed=2, resamples=500)).tobytes()


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (5, 5), (9, 2), (2, 9), (1, 0), (300, 250)])
def test_mcnemar_is_the_binomial_test(won: int, lost: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = 1.0 if won + lost == 0 else stats.binomtest(won, won + lost).pvalue
    assert mcnemar(won, lost) == pytest.approx(expected)


def test_recall_agrees_with_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    generator = np.random.default_rng(3)
    entries = [(f"q{i}", [f"n{g}" for g in generator.permutation(4)[: 1 + i % 3]], "", "") for i in range(30)]
    run = Run("r", {e[0]: generator.permutation(7)[:6].tolist() for e in entries}, {})
    qrels = [ir_measures.Qrel(e[0], g, 1) for e in entries for g in e[1]]
    scored = [
        ir_measures.ScoredDoc(q, f"n{row}", 100.0 - place)
        for q, rows in run.results.items()
        for place, row in enumerate(rows)
    ]
    report = evaluate([run], make_questions(*entries), NODES, ks=[2, 5])
    theirs = ir_measures.calc_aggregate([ir_measures.R @ 2, ir_measures.R @ 5], qrels, scored)
    assert scores(report, "r")["recall"] == {
        "2": pytest.approx(theirs[ir_measures.R @ 2]),
        "5": pytest.approx(theirs[ir_measures.R @ 5]),
    }
