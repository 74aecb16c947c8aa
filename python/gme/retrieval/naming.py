"""Nodes that a question names: their titles stand in its text (ours)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .._core import title_mentions
from ..stores import NO_ROW, Rows, Store, sorted_ranks
from ..types import Vectors
from .batch import as_store

MIN_LENGTH = 3
"""Titles of fewer characters are not looked for, as in ``gme graph mentions``."""


def named_nodes(
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
    the nearest to the question is taken.

    Args:
        titles: of each node; None or blank: it has none.
        questions: texts. queries: float32 (questions, dim), their vectors.
        original: float32 (nodes, dim) or a store: the original vectors of the nodes.
        ids: node ids, for breaking ties when an array is given, as in `gme.retrieve`.
        threads: 0 means all cores; any number gives the same rows.

    Returns:
        uint32 (questions, most named): rows by rank, then `NO_ROW`.
    """
    store = as_store(original, "original", None if ids is None else sorted_ranks(ids), threads)
    titled = [row for row, title in enumerate(titles) if title]
    forms = [str(titles[row]).strip() for row in titled]
    patterns, texts = title_mentions(forms, questions, ignore_case=True, min_length=MIN_LENGTH, threads=threads)
    found: dict[int, dict[str, list[int]]] = {}
    for pattern, text in zip(patterns.tolist(), texts.tolist(), strict=True):
        form = forms[pattern]
        several = len(form.split()) > 1
        if several or re.search(rf"(?<!\w){re.escape(form)}(?!\w)", questions[text]):
            found.setdefault(text, {}).setdefault(form.lower() if several else form, []).append(titled[pattern])
    chosen = [
        sorted((_nearest(rows, queries[text], store) for rows in found.get(text, {}).values()), key=store.ranks.item)
        for text in range(len(questions))
    ]
    named = np.full((len(questions), max(map(len, chosen), default=0)), NO_ROW, dtype=np.uint32)
    for line, rows in zip(named, chosen, strict=True):
        line[: len(rows)] = rows
    return named


def _nearest(rows: list[int], query: Vectors, store: Store) -> int:
    """The one of these rows that is nearest to the question; ties go to the smaller rank."""
    if len(rows) == 1:
        return rows[0]
    rows = sorted(rows, key=store.ranks.item)
    return rows[int(np.argmax(store.cosines(query[None], np.array([rows], dtype=np.uint32))[0]))]
