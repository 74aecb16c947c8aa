"""Nodes that a question names: their titles stand in its text (ours)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from .._core import title_mentions
from ..deprecation import deprecated
from ..errors import GmeError
from ..stores.store import NO_ROW, Rows, Store, sorted_ranks
from ..types import Vectors
from ..unicode_normalization import nfc
from .batch import as_store
from .checks import check_list

MIN_LENGTH = 3
"""Titles of fewer characters are not looked for, as in ``gme graph mentions``."""

_WORD = re.compile(r"\w+")


class TitleMatcher:
    """The titles of nodes, made ready once and then looked for in any number of questions.

    Args:
        titles: of each node; None or blank: it has none.
    """

    def __init__(self, titles: Sequence[str | None]) -> None:
        self._nodes = len(titles)
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(titles):
            if title and title.strip():
                rows.setdefault(nfc(title.strip()), []).append(row)
        self._forms, self._rows = list(rows), list(rows.values())
        # A text that holds a title holds each of its words: it is enough to look for those whose rarest word is there.
        words = [_words(form) for form in self._forms]
        counts = Counter(chain.from_iterable(words))
        self._by_word: dict[str, list[int]] = {}
        self._without_words: list[int] = []
        for number, each in enumerate(words):
            if each:
                self._by_word.setdefault(min(each, key=counts.__getitem__), []).append(number)
            else:
                self._without_words.append(number)

    def match(
        self,
        questions: Sequence[str],
        queries: Vectors,
        original: Store | Vectors,
        *,
        ids: Sequence[str] | None = None,
        threads: int = 0,
    ) -> Rows:
        """The nodes that questions name: `match_titles` with these titles."""
        check_list(questions, "questions")
        if len(queries) != len(questions):
            raise GmeError(f"{len(queries)} vectors for {len(questions)} questions", "one vector a question")
        store = as_store(original, "original", None if ids is None else sorted_ranks(ids), threads)
        if self._nodes != len(store.vectors):
            raise GmeError(f"there are {self._nodes} titles for {len(store.vectors)} nodes", "None for no title")
        questions = [nfc(question) for question in questions]
        found: list[dict[str, list[int]]] = [{} for _ in questions]
        for number, text in self._found(questions, threads):
            form = self._forms[number]
            several = len(form.split()) > 1
            if several or re.search(rf"(?<!\w){re.escape(form)}(?!\w)", questions[text]):
                found[text].setdefault(form.lower() if several else form, []).extend(self._rows[number])
        chosen = [
            sorted((_nearest(rows, query, store) for rows in by_title.values()), key=store.ranks.item)
            for by_title, query in zip(found, queries, strict=True)
        ]
        named = np.full((len(questions), max(map(len, chosen), default=0)), NO_ROW, dtype=np.uint32)
        for line, rows in zip(named, chosen, strict=True):
            line[: len(rows)] = rows
        return named

    def named(self, *arguments: Any, **options: Any) -> Rows:
        """The former name of `match`."""
        deprecated("TitleMatcher.named", "TitleMatcher.match")
        return self.match(*arguments, **options)

    def _found(self, questions: Sequence[str], threads: int) -> list[tuple[int, int]]:
        """Which of the forms stand in which questions, whatever their case."""
        words = {word for question in questions for word in _words(question)}
        likely = sorted([*self._without_words, *(number for word in words for number in self._by_word.get(word, ()))])
        forms = [self._forms[number] for number in likely]
        patterns, texts = title_mentions(forms, questions, ignore_case=True, min_length=MIN_LENGTH, threads=threads)
        return [(likely[pattern], text) for pattern, text in zip(patterns.tolist(), texts.tolist(), strict=True)]


def match_titles(
    titles: Sequence[str | None],
    questions: Sequence[str],
    queries: Vectors,
    original: Store | Vectors,
    *,
    ids: Sequence[str] | None = None,
    threads: int = 0,
) -> Rows:
    """The nodes whose titles each question contains as whole words, one for each title.

    The longest title at a place counts, whatever its case; a title of one word must be written as in the question,
    because `Time` is not what "the last time" means. Of several nodes with one title, such as the chunks of a document,
    the nearest to the question is taken. Who asks often makes `TitleMatcher` once.

    Args:
        titles: of each node; None or blank: it has none.
        questions: texts. queries: float32 (questions, dim), their vectors.
        original: float32 (nodes, dim) or a store: the original vectors of the nodes.
        ids: node ids, for breaking ties when an array is given, as in `gme.retrieve`.
        threads: 0 means all cores; any number gives the same rows.

    Returns:
        uint32 (questions, most named): rows by rank, then `NO_ROW`.

    Example:
        >>> import gme, numpy as np
        >>> original = np.eye(3, dtype=np.float32)
        >>> gme.match_titles(["Ada", "Oslo", None], ["Where is Oslo?"], original[:1], original).tolist()
        [[1]]
    """
    return TitleMatcher(titles).match(questions, queries, original, ids=ids, threads=threads)


def _words(text: str) -> list[str]:
    return _WORD.findall(_lower(text))


def _lower(text: str) -> str:
    """A text in lower case, letter by letter, as the compiled search has it: final sigma as sigma."""
    return text.lower().replace("ς", "σ")


def _nearest(rows: list[int], query: Vectors, store: Store) -> int:
    """The one of these rows that is nearest to the question; ties go to the smaller rank."""
    if len(rows) == 1:
        return rows[0]
    rows = sorted(rows, key=store.ranks.item)
    return rows[int(np.argmax(store.cosines(query[None], np.array([rows], dtype=np.uint32))[0]))]
