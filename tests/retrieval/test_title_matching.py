"""Nodes that questions name: which they are, and what `envelope` makes of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_cases import lists, make, twin_answer

import gme
from conftest import Run, write_lines
from gme._core import title_mentions
from gme.errors import GmeError
from gme.retrieval import title_matching as naming
from gme.retrieval.batch import retrieve
from gme.stores.exact import ExactStore
from gme.stores.store import NO_ROW
from properties import examples
from reference.retrieval import Twin

TITLES = ["Time", "Back to the Future", "Back to the Future", "Ada", None, "", "Back to the Future Part II", "Ö"]


def names(*questions: str, ids: str = "01234567", titles: list[Any] = TITLES) -> list[list[int]]:
    """Which rows the questions name; the vectors of rows 1 and 2 and of all questions are such that 2 is nearer."""
    vectors = np.eye(len(titles), dtype=np.float32)
    ranks = np.array([ids.index(str(row)) for row in range(len(titles))], dtype=np.uint32)
    queries = np.zeros((len(questions), len(titles)), dtype=np.float32)
    queries[:, 2:3] = 1
    found = gme.match_titles(titles, questions, queries, ExactStore(vectors, ranks))
    assert found.dtype == np.uint32
    return [[row for row in line if row != NO_ROW] for line in found.tolist()]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Ada?", [3]),
        ("Who is ada?", []),  # one word must be written as in the title
        ("What is Adam?", []),
        ("Was it Adam who was called ada?", []),
        ("When was the last time?", []),
        ("Who directed back to the future?", [2]),  # of two, the nearer one
        ("Who directed Back to the Future Part II?", [6]),  # the longest title at a place
        ("Did Ada see Back to the Future in Time?", [0, 2, 3]),
        ("Who is Ö?", []),  # too short
        ("", []),
    ],
)
def test_titles_are_found_in_questions(question: str, expected: list[int]) -> None:
    assert names(question) == [expected]


def test_each_question_has_a_line_of_its_own_in_the_order_of_ids() -> None:
    assert names("Time, Ada", "?", "Ada", ids="71236540") == [[3, 0], [], [3]]
    assert names("nothing") == [[]]
    assert names() == []
    assert names("Ada", ids="01", titles=[None, None]) == [[]]


def test_titles_are_told_apart_and_trimmed() -> None:
    assert names("Was sind Maße und Masse?", titles=["Maße", "Masse", "x"]) == [[0, 1]]
    assert names("Is Polish polish good?", titles=["Polish", "polish", "x"]) == [[0, 1]]
    assert names("Where is Paris?", titles=["x", " Paris ", "y"]) == [[1]]


def test_of_equally_near_nodes_with_one_title_the_smaller_id_counts() -> None:
    titles = ["a b", "c", "x", "A B"]
    assert names("a B", ids="0123", titles=titles) == [[0]]
    assert names("a B", ids="3120", titles=titles) == [[3]]


def test_a_vector_a_question() -> None:
    with pytest.raises(GmeError, match="1 vectors for 2 questions"):
        gme.match_titles(["Ada"], ["Ada?", "Ada!"], np.eye(1, dtype=np.float32), np.eye(1, dtype=np.float32))


def test_titles_are_made_ready_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that may stand in a question are looked for in it, whatever the number of questions."""
    asked: list[list[str]] = []

    def search(forms: list[str], texts: list[str], **options: Any) -> Any:
        asked.append(forms)
        return title_mentions(forms, texts, **options)

    monkeypatch.setattr(naming, "title_mentions", search)
    titles = gme.TitleMatcher([*(f"The book of page {number}" for number in range(1000)), "The Book", "???", None, " "])
    store = np.eye(1004, dtype=np.float32)
    for question, row in (("Who wrote The Book?", 1000), ("who wrote the book of page 17?", 17)):
        assert titles.match([question], store[:1], store).tolist() == [[row]]
        assert set(asked.pop()) <= {"The Book", "The book of page 17", "???"}
    assert titles.match(["The Book ???", "no"], store[:2], store).tolist() == [[1000, 1001], [NO_ROW, NO_ROW]]


PIECES = st.lists(st.sampled_from([*"aAbéÉ_1.-ΣσςßİıK東 ", "e\u0301", "\u0301", "\u2160", "x y"]), max_size=6).map(
    "".join
)


@given(st.lists(PIECES, max_size=8), st.lists(st.lists(PIECES, max_size=4).map("".join), max_size=4))
def test_what_is_found_is_what_a_search_for_all_titles_finds(titles: list[str], questions: list[str]) -> None:
    ready = gme.TitleMatcher(titles)
    forms = ready._forms
    patterns, texts = title_mentions(forms, questions, ignore_case=True, min_length=naming.MIN_LENGTH)
    assert ready._found(questions, 0) == list(zip(patterns.tolist(), texts.tolist(), strict=True))


def test_words_are_words_of_the_compiled_search_in_its_case() -> None:
    """What is a word here ends no word there within; and both make the same of capitals."""
    letters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    of_words = [letter for letter in letters if naming._WORD.fullmatch(letter)]
    assert len(of_words) > 100_000
    within, _ = title_mentions(["abc"], [f"abc{letter}" for letter in of_words], ignore_case=True, min_length=3)
    assert not len(within)
    capitals = [letter for letter in letters if letter.lower() != letter]
    for first in range(0, len(capitals), 64):
        some = capitals[first : first + 64]
        small = [f"a{naming._lower(letter)}b" for letter in some]
        pairs = title_mentions([f"a{letter}b" for letter in some], small, ignore_case=True, min_length=3)
        assert {(n, n) for n in range(len(some))} <= set(zip(*(side.tolist() for side in pairs), strict=True))


NAMED_VARIANTS: list[dict[str, Any]] = [
    {"budget": 9},
    {"budget": 60},
    {"budget": 5, "pinned": 3},
    {"budget": 9, "mix": 0.5},
    {"budget": 9, "ignore_titles": True},
]


@pytest.mark.parametrize("options", NAMED_VARIANTS, ids=str)
@examples(12)
@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(1, 70), restrict=st.booleans())
def test_agrees_with_the_twin(options: dict[str, Any], seed: int, nodes: int, restrict: bool) -> None:
    x, z, queries, ids = make(seed, nodes)
    generator = np.random.default_rng(seed)
    allowed = generator.random(nodes) < 0.6 if restrict else None
    named = generator.integers(0, nodes, (len(queries), 3)).astype(np.uint32)
    named[generator.random(named.shape) < 0.4] = NO_ROW
    retrieved = retrieve("envelope", x, z, queries, ids=ids, allowed=allowed, named=named, **options)
    for question, found in enumerate(lists(retrieved)):
        twin = Twin(x, z, ids, None if allowed is None else allowed.tolist())
        twin.named = set(named[question].tolist()) - {NO_ROW}
        expected = twin_answer(twin, "envelope", options, queries[question])
        assert found == [row for row, _, _ in expected]
        np.testing.assert_allclose(retrieved.scores[question, : len(found)], [s for _, s, _ in expected], atol=2e-6)
        exclusive_lock = retrieve(
            "envelope",
            x,
            z,
            queries[question : question + 1],
            ids=ids,
            allowed=allowed,
            named=named[question : question + 1],
            **options,
        )
        assert exclusive_lock.rows.tobytes() == retrieved.rows[question].tobytes()


def test_who_names_nothing_gets_what_he_got_without() -> None:
    x, z, queries, ids = make(3, 90, questions=8)
    plain = retrieve("envelope", x, z, queries, ids=ids).rows
    for named in (np.empty((8, 0), dtype=np.uint32), np.full((8, 2), NO_ROW, dtype=np.uint32)):
        assert retrieve("envelope", x, z, queries, ids=ids, named=named).rows.tobytes() == plain.tobytes()


@pytest.mark.parametrize("named", [[[90]], [[-1]], [[0.5]], [0], [[0], [1]], "a"])
def test_rows_that_no_node_has_are_refused(named: Any) -> None:
    x, z, queries, ids = make(3, 90, questions=1)
    with pytest.raises(GmeError, match="named"):
        retrieve("envelope", x, z, queries, ids=ids, named=named)


def test_on_the_command_line(small_workspace: Path, gme: Run) -> None:
    """The question that is most unlike a node gets it first when it names it."""
    assert gme("transform", "signature", "-w", small_workspace)[0] == 0
    vectors = np.load(small_workspace / "embeddings/original.npy")
    queries = np.load(small_workspace / "embeddings/questions.npy")
    farthest = "abcdef"[int(np.argmin(vectors @ queries[0]))]
    questions = [{"id": "q1", "question": f"Where is title {farthest.upper()}?", "gold": ["a"]}]
    write_lines(small_workspace / "questions.jsonl", questions)
    np.save(small_workspace / "embeddings/questions.npy", queries[:1])
    for words, name, first in (
        (["--no-lexical"], "envelope-signature-budget2-no-lexical", True),
        (["--ignore-titles", "--no-lexical"], "envelope-signature-budget2-ignore-titles-no-lexical", False),
    ):
        code, out, _ = gme("retrieve", "envelope", "--budget", 2, *words, "-w", small_workspace)
        assert (code, out) == (0, f"{name}\n")
        run = json.loads((small_workspace / f"runs/{name}.jsonl").read_text())
        assert (farthest in [result["id"] for result in run["results"]]) is first
        manifest = json.loads((small_workspace / f"runs/{name}.json").read_text())
        assert manifest["options"]["ignore_titles"] is not first
        assert manifest["command"].endswith(" ".join(["--budget 2", *words]))
