"""Schedules, options and arrays that do not fit: what is wrong, and what goes where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from retrieval_cases import make, words

from gme.errors import GmeError
from gme.graph.construction import build_graph
from gme.lexical import LexicalIndex
from gme.retrieval.batch import retrieve
from gme.retrieval.schedule import parse_schedule
from gme.retrieval.strategies import STRATEGIES


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
        ({"strategy": "envelope", "neighborhoods": "far"}, "neighborhoods"),
        ({"strategy": "envelope", "temperature": 0.2}, "--temperature is 0.2, but has no effect with --mix auto"),
        ({"strategy": "envelope", "neighborhoods": "per_seed"}, "--neighborhoods is 'per_seed', but has no effect"),
        ({"strategy": "envelope", "mix": 0.5, "lift": 3.0}, "--lift is 3.0, but has no effect with --mix 0.5"),
        (
            {"strategy": "envelope", "mix": 0, "redundancy_penalty": 0.0},
            "--redundancy-penalty is 0.0, but has no effect with --mix 0",
        ),
        (
            {"strategy": "envelope", "lexical_weight": 1.0, "lexical": False},
            "--lexical-weight is 1.0, but has no effect with --no-lexical",
        ),
        ({"strategy": "envelope", "lexical": 1}, "--lexical is 1, but must be true or false or None"),
        ({"strategy": "hybrid", "lexical": True}, "hybrid has no option --lexical"),
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


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_among_no_nodes_nothing_is_found(strategy: str) -> None:
    none, queries = np.zeros((0, 6), dtype=np.float32), np.ones((2, 6), dtype=np.float32)
    found = retrieve(strategy, none, none, queries, graph=build_graph([], []), **words(0, 2))
    assert (found.rows.shape, found.scores.shape) == ((2, 0), (2, 0))
    assert (found.stages, found.search_calls) == ((), 0)


@pytest.mark.parametrize("role", ["original", "modified"])
def test_vectors_that_can_not_be_used_are_named(role: str) -> None:
    x, z, queries, _ = make(13, 20)
    {"original": x, "modified": z}[role][4] = np.inf
    with pytest.raises(GmeError, match=f"^{role} holds inf at row 4"):
        retrieve("modified", x, z, queries)


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
    ("strategy", "options"),
    [("bm25", {}), ("hybrid", {}), ("envelope", {"lexical": True})],
    ids=lambda value: str(value),
)
def test_strategies_that_search_words_need_fitting_texts(strategy: str, options: dict[str, Any]) -> None:
    x, z, queries, ids = make(13, 20)
    given: dict[str, Any] = {"ids": ids, **words(20), **options}
    index = LexicalIndex.build(given["texts"], ids)
    want = retrieve(strategy, x, z, queries, **given)
    assert retrieve(strategy, x, z, queries, **{**given, "texts": index}).rows.tobytes() == want.rows.tobytes()
    for change, message in (
        ({"texts": None}, f"^{strategy} searches words and needs the nodes' texts"),
        ({"questions": None}, f"^{strategy} searches words and needs the questions' texts"),
        ({"texts": ["a"]}, "there are 1 texts for 20 vectors"),
        ({"questions": ["a"]}, "there are 1 questions for 3 vectors"),
        (
            {"texts": LexicalIndex.build(given["texts"])},
            "indexed texts are not those of the vectors, or in another order",
        ),
        ({"questions": [None] * 3}, "question 0 is None, must be a text"),
        ({"texts": "x" * 20}, "texts must be a list of texts"),
    ):
        with pytest.raises(GmeError, match=message):
            retrieve(strategy, x, z, queries, **{**given, **change})


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
