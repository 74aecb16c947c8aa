"""What a text says of a question that another text does not say, against the slow twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gme.errors import GmeError
from gme.lexical import LexicalIndex
from gme.lexical.index import K1, B
from gme.stores.store import NO_ROW
from properties import examples
from reference import lexical as reference

WORDS = st.lists(st.sampled_from(["red", "the", "foxes", "fox", "houses", "of", "Fox.", "paris", "東京"]), max_size=8)
TEXT = WORDS.map(" ".join)


@given(st.lists(TEXT, min_size=1, max_size=9), st.lists(TEXT, min_size=1, max_size=3), st.data())
@examples(150)
def test_the_rest_is_the_twins(texts: list[str], questions: list[str], data: st.DataObject) -> None:
    ids = [f"n{number}" for number in data.draw(st.permutations(range(len(texts))))]
    row = st.integers(0, len(texts) - 1) | st.just(int(NO_ROW))

    def table(width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
        line = st.lists(row, min_size=width, max_size=width)
        lines = data.draw(st.lists(line, min_size=len(questions), max_size=len(questions)))
        return np.array(lines, dtype=np.uint32).reshape(len(questions), width)

    seeds, rows = table(data.draw(st.integers(0, 4))), table(data.draw(st.integers(0, 12)))
    found = LexicalIndex.build(texts, ids).rest(questions, seeds, rows)
    assert found.shape == (len(questions), seeds.shape[1], rows.shape[1])
    for line, question in enumerate(questions):
        for k, seed in enumerate(seeds[line].tolist()):
            for place, node in enumerate(rows[line].tolist()):
                absent = NO_ROW in (seed, node)
                want = 0.0 if absent else reference.rest(texts, question, seed, node, K1, B)
                assert found[line, k, place] == pytest.approx(want, rel=1e-6)


def test_any_number_of_threads_and_any_order_of_texts_give_the_same_bytes() -> None:
    generator = np.random.default_rng(5)
    known = [f"word{number}" for number in range(60)]
    texts = [" ".join(generator.choice(known, 12)) for _ in range(500)]
    questions = [" ".join(generator.choice(known, 6)) for _ in range(40)]
    ids = [f"n{number:03}" for number in range(500)]
    seeds, rows = (generator.integers(0, 500, (40, width)).astype(np.uint32) for width in (5, 90))
    want = LexicalIndex.build(texts, ids, threads=1).rest(questions, seeds, rows)
    assert want.max() > 0.5
    order = generator.permutation(500)
    place = np.argsort(order).astype(np.uint32)
    for threads in (1, 3):
        index = LexicalIndex.build([texts[row] for row in order], [ids[row] for row in order], threads=threads)
        index = LexicalIndex(index.data, index.ranks, threads)
        assert index.rest(questions, place[seeds], place[rows]).tobytes() == want.tobytes()
    one = LexicalIndex.build(texts, ids)
    assert one.rest(questions[3:4], seeds[3:4], rows[3:4]).tobytes() == want[3:4].tobytes()


def test_rows_and_lines_that_do_not_fit_are_refused() -> None:
    index = LexicalIndex.build(["red fox", "house"])
    rows = np.array([[0, 1]], dtype=np.uint32)
    bad: list[tuple[Any, Any, str]] = [
        (rows, np.array([[2]], dtype=np.uint32), "rows holds a row that none of the 2 texts has"),
        (np.array([[-1]]), rows, "seeds holds a row that none of the 2 texts has"),
        (rows / 2, rows, "seeds must be whole numbers"),
        (np.repeat(rows, 2, axis=0), rows, "seeds has 4 entries|a line per question"),
    ]
    for seeds, others, message in bad:
        with pytest.raises(GmeError, match=message):
            index.rest(["red"], seeds, others)
    with pytest.raises(GmeError, match="questions must be a list of texts"):
        index.rest("red", rows, rows)
