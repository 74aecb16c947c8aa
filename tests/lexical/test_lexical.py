"""The lexical index against its twin and bm25s: words, scores, ties; the same bytes for any order, threads and disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gme import _core
from gme.errors import GmeError
from gme.lexical import LexicalIndex
from gme.lexical.index import K1, B, write_index
from gme.stores.store import NO_ROW, sorted_ranks
from properties import examples
from reference import lexical as reference

LATIN = "abcsyiteABS éßσΣÖя क38,.':·’_-!\n\u0359\u00ad;"
OTHERS = "as 5.,'東京都のタ。กขมวเิ\u200b🙂"
TEXTS = st.one_of(st.text(LATIN, max_size=40), st.text(OTHERS, max_size=30), st.text("ab c", max_size=12))
WORDS = st.lists(st.sampled_from(["red", "the", "foxes", "fox", "houses", "of", "Fox.", "paris", "東京"]), max_size=8)


@given(TEXTS)
@example("The cities' boss's classes, 1,000.5 of A.B.s_3")
@example("มวิก ก กข")
@examples(400)
def test_words_are_the_twins(text: str) -> None:
    assert _core.lexical_words(text) == reference.words(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Who directed Obama's films?", ["directed", "obama", "film"]),
        ("", []),
        (" \t\n…—!?🙂", []),
        ("L'homme de l’État", ["l", "homme", "de", "l", "état"]),
        ("Die Häuser der Straße", ["die", "häuser", "der", "straße"]),
        ("Города Мира", ["города", "мира"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("서울에서 만나요", ["서울에서", "만나요"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("ﾀﾜｰ", ["タ", "ワ", "ー"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("ລາວ", ["ລາ", "າວ"]),
        ("ខ្មែរ", ["ខ្មែ", "មែរ"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
        ("caf\u0065\u0301 CAFÉ", ["café", "café"]),
        ("ＡＢＣ　ｄｅｆ", ["abc", "def"]),
    ],
)
def test_words_of_any_script(text: str, words: list[str]) -> None:
    assert _core.lexical_words(text) == words


@given(st.lists(WORDS.map(" ".join), max_size=9), st.lists(WORDS.map(" ".join), min_size=1, max_size=3), st.data())
@examples(150)
def test_scores_and_ranking_are_the_twins(texts: list[str], questions: list[str], data: st.DataObject) -> None:
    ids = [f"n{number}" for number in data.draw(st.permutations(range(len(texts))))]
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), dtype=bool)
    index = LexicalIndex.build(texts, ids)
    want = np.array(reference.bm25(texts, questions, K1, B)).reshape(len(questions), len(texts))
    every = np.tile(np.arange(len(texts), dtype=np.uint32), (len(questions), 1))
    np.testing.assert_allclose(index.scores(questions, every), want, rtol=1e-6)
    for mask in (None, allowed):
        k = len(texts) + 1
        rows, scores = index.search(questions, k, mask)
        for line, found, expected in zip(rows, scores, want, strict=True):
            eligible = [r for r in range(len(texts)) if expected[r] > 0 and (mask is None or mask[r])]
            order = sorted(eligible, key=lambda r: (-np.float32(expected[r]), ids[r]))
            assert line.tolist() == order + [NO_ROW] * (k - len(order))
            np.testing.assert_allclose(found[: len(order)], expected[order], rtol=1e-6)
            assert np.isneginf(found[len(order) :]).all()


def _corpus(count: int, seed: int = 0) -> list[str]:
    generator = np.random.default_rng(seed)
    vocabulary = [f"w{number}" for number in range(400)]
    shares = 1 / np.arange(1, 401)
    lengths = generator.integers(0, 60, count)
    return [" ".join(generator.choice(vocabulary, length, p=shares / shares.sum())) for length in lengths]


def test_scores_are_those_of_bm25s() -> None:
    bm25s = pytest.importorskip("bm25s", reason="pip install bm25s, to compare with a library nobody here wrote")
    texts, questions = _corpus(500), _corpus(20, 1)
    tokens = [["/".join(term) for term in reference.terms(text)] for text in (*texts, *questions)]
    peer = bm25s.BM25(method="lucene", k1=K1, b=B)
    peer.index(tokens[: len(texts)], show_progress=False)
    index = LexicalIndex.build(texts)
    every = np.tile(np.arange(len(texts), dtype=np.uint32), (len(questions), 1))
    ours = index.scores(questions, every)
    for line, question in zip(ours, tokens[len(texts) :], strict=True):
        theirs = peer.get_scores(sorted(set(question))) * (K1 + 1)  # it leaves the constant out
        np.testing.assert_allclose(line, theirs, atol=index.step * len(question))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_neither_threads_nor_order_nor_the_disk_change_a_byte(threads: int, tmp_path: Path) -> None:
    texts = _corpus(700)
    ids = [f"id{number:05}" for number in range(len(texts))]
    index = LexicalIndex.build(texts, ids)
    order = np.random.default_rng(threads).permutation(len(texts))
    moved_ids = [ids[row] for row in order]
    moved = LexicalIndex.build([texts[row] for row in order], moved_ids, threads=threads)
    assert moved.data.tobytes() == index.data.tobytes()
    questions = _corpus(9, 2)
    rows, scores = index.search(questions, 30)
    moved_rows, moved_scores = moved.search(questions, 30)
    assert moved_scores.tobytes() == scores.tobytes()
    assert [[moved_ids[row] for row in line if row != NO_ROW] for line in moved_rows] == [
        [ids[row] for row in line if row != NO_ROW] for line in rows
    ]
    path, spill = tmp_path / "index", tmp_path / "spill"
    for file in (path, spill):
        file.touch()
    builder = _core.LexicalBuilder(len(texts), k1=K1, b=B, spill=str(spill), held=500)
    for start in range(0, len(texts), 90):
        part = slice(start, start + 90)
        builder.add(texts[part], np.ascontiguousarray(sorted_ranks(ids)[part]), threads=threads)
    assert builder.finish(str(path), threads=threads) is None
    assert spill.stat().st_size > 0
    assert path.read_bytes() == index.data.tobytes()
    mapped = LexicalIndex(np.memmap(path, dtype=np.uint64, mode="r"), sorted_ranks(ids), threads)
    assert mapped.search(questions, 30)[0].tobytes() == rows.tobytes()


def test_a_question_gets_the_same_alone_and_in_a_batch() -> None:
    index, questions = LexicalIndex.build(_corpus(300)), _corpus(12, 3)
    rows, scores = index.search(questions, 20)
    for number, question in enumerate(questions):
        alone = index.search([question], 20)
        assert (alone[0].tobytes(), alone[1].tobytes()) == (rows[number].tobytes(), scores[number].tobytes())


def test_many_texts_are_searched_block_by_block() -> None:
    count = 70_000  # more than two blocks
    texts = [f"common t{number % 7}" for number in range(count)]
    texts[69_999] = texts[3] = "common rare"
    rows, scores = LexicalIndex.build(texts).search(["rare common", "t5", "nowhere"], 4)
    assert rows[0].tolist() == [3, 69_999, 0, 1]
    assert rows[1].tolist() == [5, 12, 19, 26]
    assert rows[2].tolist() == [NO_ROW] * 4
    assert scores[0][0] == scores[0][1]


def test_terms_that_add_too_little_are_left_out_and_change_nothing() -> None:
    """Zipf's law: once the best are found, lists of common words are not added up any more."""
    generator = np.random.default_rng(5)
    numbers = np.minimum(generator.zipf(1.3, (70_000, 4)), 3000)
    index = LexicalIndex.build([" ".join(f"w{number}" for number in line) for line in numbers])
    questions = ["w1 w2 w3 w4 w9", "w1 w700", "w1 w2 w40 w41 w2500", "w1", "w3 w3000"]
    allowed = generator.random(70_000) < 0.5
    every = np.arange(70_000, dtype=np.uint32)[None]
    for mask in (None, allowed):
        rows, scores = index.search(questions, 25, mask)
        for question, found, known in zip(questions, rows, scores, strict=True):
            whole = index.scores([question], every)[0]
            if mask is not None:
                whole = np.where(mask, whole, -1)
            order = np.argsort(-whole, kind="stable")[:25]
            assert found.tolist() == order.tolist()
            assert known.tolist() == whole[order].tolist()


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["", " ", "…"],
        ["word " * 200_000],
        ["x" * 1_000_000],
        ["\x00\x01", "\ufffe", "\U0010ffff", "a\u0301" * 9, "\u0301", "ิ", "\u200d\u200d", "\ufeff"],
        ["a"] * 300,
    ],
    ids=["none", "empty", "blank", "huge", "one long word", "odd", "equal"],
)
def test_odd_texts_are_indexed(texts: list[str]) -> None:
    index = LexicalIndex.build(texts)
    questions = ["", "word", "a", "x" * 1_000_000, *texts[:3]]
    rows, scores = index.search(questions, 3)
    assert rows.shape == scores.shape == (len(questions), 3)
    assert (rows[0] == NO_ROW).all()
    known = rows[rows != NO_ROW]
    assert (known < len(texts)).all()
    assert np.isfinite(scores[rows != NO_ROW]).all()


def test_rows_beyond_a_question_score_nothing() -> None:
    index = LexicalIndex.build(["red fox", "blue"])
    rows = np.array([[0, NO_ROW, 1]], dtype=np.uint32)
    scores = index.scores(["red"], rows)
    assert scores[0, 0] > 0
    assert np.isneginf(scores[0, 1])
    assert scores[0, 2] == 0
    assert index.scores([], np.empty((0, 3), dtype=np.uint32)).shape == (0, 3)


@pytest.mark.parametrize("rows", [[[-1]], [[0.7]], [[2**32]], [[True]]])
def test_rows_are_not_bent_into_other_rows(rows: list[list[Any]]) -> None:
    index = LexicalIndex.build(["red fox", "blue"])
    with pytest.raises(GmeError, match="rows"):
        index.scores(["red"], np.array(rows))


def test_more_results_than_the_memory_holds_are_refused() -> None:
    with pytest.raises(MemoryError, match="the results of 1 x"):
        LexicalIndex.build(["red fox"]).search(["red"], 10**15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"texts": "one text"}, "texts must be a list of texts"),
        ({"texts": ["a", None]}, "text 1 is None, must be a text"),
        ({"texts": ["a", "\ud800"]}, "text 1 is not valid Unicode"),
        ({"texts": ["a"], "ids": ["x", "y"]}, "there are 2 ids for 1 texts"),
        ({"texts": ["a"], "k1": -1.0}, "k1 is -1, must be a number of at least 0"),
        ({"texts": ["a"], "k1": float("nan")}, "k1 is NaN"),
        ({"texts": ["a"], "b": 1.5}, "b is 1.5, must be between 0 and 1"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GmeError, match=message):
        LexicalIndex.build(**arguments)


def test_bad_questions_are_refused() -> None:
    index = LexicalIndex.build(["a", "b"])
    with pytest.raises(GmeError, match="questions must be a list of texts"):
        index.search("a", 1)
    with pytest.raises(GmeError, match="question 0 is not valid Unicode"):
        index.search(["\udfff"], 1)
    with pytest.raises(GmeError, match="allowed has 3 entries, needs 2"):
        index.search(["a"], 1, np.ones(3, dtype=bool))
    with pytest.raises(GmeError, match="none of the 2 texts has"):
        index.scores(["a"], np.array([[5]], dtype=np.uint32))
    with pytest.raises(GmeError, match="there are 3 ranks for 2 indexed texts"):
        LexicalIndex(index.data, np.arange(3, dtype=np.uint32))
    for ranks in ([0, 0], [1, 2]):
        with pytest.raises(GmeError, match="the ranks are not the numbers from 0 to 1"):
            LexicalIndex(index.data, np.array(ranks, dtype=np.uint32))


def test_ranks_must_be_a_permutation() -> None:
    with pytest.raises(GmeError, match="given once"):
        write_index(["a", "b"], np.zeros(2, dtype=np.uint32))
    with pytest.raises(GmeError, match="must be below 2"):
        write_index(["a", "b"], np.array([0, 2], dtype=np.uint32))
    builder = _core.LexicalBuilder(2, k1=K1, b=B)
    builder.add(["a"], np.zeros(1, dtype=np.uint32))
    with pytest.raises(GmeError, match="texts has 1 entries, needs 2"):
        builder.finish()


@given(st.integers(0, 2**64 - 1), st.data())
@examples(200)
def test_a_damaged_index_is_refused_or_finds_something_else(value: int, data: st.DataObject) -> None:
    whole = LexicalIndex.build(_corpus(40)).data
    harmed = whole.copy()
    harmed[data.draw(st.integers(0, len(whole) - 1))] = value
    try:
        index = LexicalIndex(harmed, np.arange(40, dtype=np.uint32))
        index.search(["w1 w2 w3", "w30"], 5)
        index.scores(["w1 w2"], np.arange(40, dtype=np.uint32)[None])
    except GmeError:
        pass
    with pytest.raises(GmeError, match="lexical index"):
        LexicalIndex(harmed[: data.draw(st.integers(0, len(whole) - 1))], np.arange(40, dtype=np.uint32))
