"""The lexical index of some texts, in memory or as a map of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import GmeError, shorten
from ..stores.store import NO_ROW, Rows, sorted_ranks
from ..types import Progress, Vectors
from ..unicode_normalization import is_encodable

K1, B = 0.9, 0.4
"""Parameters of BM25: how soon repetitions stop counting, how much less long texts count. Pyserini's for passages."""

TERMS = 1
"""The version of what the terms of a text are: one more whenever ``rust/lexical/words.rs`` finds others."""

_TEXTS = 1 << 16
"""Texts handed over at a time."""


@dataclass(frozen=True)
class LexicalIndex:
    """BM25 over the words of texts, and over every two words that follow each other.

    Words are compared in lower case, in any script, as UAX 29 separates them. Words of ASCII letters count as English:
    function words are left out and a plural s is cut. Where a script sets no spaces, words are characters (Chinese and
    Japanese) or two characters (Thai, Lao, Khmer and Burmese). `gme._core.lexical_words` gives the words of a text.

    Scores are whole multiples of `step`, a 65,535th of what a term can be worth, so that they are the same to the bit
    for any number of threads and any order of texts.

    Args:
        data: what `build` made, uint64; may be a memory map.
        ranks: uint32 (texts,): the rank of each text's id in sorted order.
        threads: for searching; 0 means all cores, any number gives the same bytes.

    Attributes:
        texts, terms, postings: how many texts, different terms, and pairs of a term and a text that holds it.
        step: what one step of a score is worth.
        order: uint32 (texts,): the row of each rank.

    Example:
        >>> import gme
        >>> index = gme.LexicalIndex.build(["a red fox", "the house of the fox", "red houses"])
        >>> rows, scores = index.search(["Which house is red?"], 2)
        >>> rows.tolist()
        [[2, 0]]
    """

    data: npt.NDArray[np.uint64] = field(repr=False)
    ranks: Rows = field(repr=False)
    threads: int = 0
    texts: int = field(init=False)
    terms: int = field(init=False)
    postings: int = field(init=False)
    step: float = field(init=False)
    order: Rows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        texts, terms, postings, _, step = _core.lexical_facts(self.data)
        if len(self.ranks) != texts:
            raise GmeError(f"there are {len(self.ranks)} ranks for {texts} indexed texts", "one rank a text")
        if not np.array_equal(np.sort(self.ranks), np.arange(texts)):
            raise GmeError(f"the ranks are not the numbers from 0 to {texts - 1}, each once", "one rank a text")
        order = np.empty(texts, dtype=np.uint32)
        order[self.ranks] = np.arange(texts, dtype=np.uint32)
        facts = {"texts": texts, "terms": terms, "postings": postings, "step": step, "order": order}
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    @classmethod
    def build(
        cls,
        texts: Sequence[str],
        ids: Sequence[str] | None = None,
        *,
        k1: float = K1,
        b: float = B,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> LexicalIndex:
        """Index texts in memory.

        Args:
            texts: any strings, empty ones too.
            ids: of the texts, distinct; ties go to the smaller. Default: to the smaller row.
            k1, b: the parameters of BM25.
            threads: 0 means all cores; any number builds the same bytes.
            progress: called with (texts, all texts).

        Raises:
            GmeError: something that is no text, another number of ids, parameters out of range.
        """
        if ids is not None and len(ids) != len(texts):
            raise GmeError(f"there are {len(ids)} ids for {len(texts)} texts", "one id a text")
        ranks = np.arange(len(texts), dtype=np.uint32) if ids is None else sorted_ranks(ids)
        return cls.of_ranks(texts, ranks, k1=k1, b=b, threads=threads, progress=progress)

    @classmethod
    def of_ranks(
        cls,
        texts: Sequence[str],
        ranks: Rows,
        *,
        k1: float = K1,
        b: float = B,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> LexicalIndex:
        """`build` for ids of which only the ranks are known."""
        data = write_index(texts, ranks, k1=k1, b=b, threads=threads, progress=progress)
        assert data is not None
        return cls(data, ranks, threads)

    def search(
        self, questions: Sequence[str], k: int, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Rows, Vectors]:
        """The k texts with the highest scores for each question, best first; ties go to the smaller rank.

        Args:
            questions: texts; a term that a question repeats counts once.
            k: how many.
            allowed: bool (texts,): the only texts any question may get.

        Returns:
            Rows uint32 (questions, k) and scores float32 (questions, k), above 0; a question that fewer texts share a
            term with ends in `gme.stores.store.NO_ROW` and -inf.
        """
        questions = checked_texts(questions, "question")
        return _core.lexical_search(self.data, self.order, questions, k, allowed=allowed, threads=self.threads)

    def scores(self, questions: Sequence[str], rows: Rows) -> Vectors:
        """The score of question i in each of the texts ``rows[i]``, float32 of the same shape; -inf at `NO_ROW`.

        Args:
            questions: texts.
            rows: uint32 (questions, any).
        """
        questions = checked_texts(questions, "question")
        return _core.lexical_scores(self.data, questions, self._ranks_of(rows, "rows"), threads=self.threads)

    def rest(self, questions: Sequence[str], seeds: Rows, rows: Rows) -> Vectors:
        """What each of the texts ``rows[i]`` says of question i that each of the texts ``seeds[i]`` does not say.

        That is the BM25 score of the question's words that the seed does not hold, as a share of the inverse document
        frequencies of all its words. A text of average length that holds every word of the question once, beside a seed
        that holds none, has 1. Pairs of words do not count.

        Args:
            questions: texts.
            seeds, rows: uint32 (questions, any), `NO_ROW` where there is none.

        Returns:
            float32 (questions, seeds, rows), 0 where either is `NO_ROW`.

        Example:
            >>> import gme, numpy as np
            >>> index = gme.LexicalIndex.build(["Bonnie May, a film by Li Wu", "Li Wu was born in Rome", "Rome"])
            >>> seeds, rows = np.array([[0]]), np.array([[0, 1, 2]])
            >>> (index.rest(["Where was the maker of Bonnie May born?"], seeds, rows) > 0).tolist()
            [[[False, True, False]]]
        """
        questions = checked_texts(questions, "question")
        first, others = self._ranks_of(seeds, "seeds"), self._ranks_of(rows, "rows")
        found = _core.lexical_rest(self.data, questions, first, others, threads=self.threads)
        return found.reshape(len(first), first.shape[1], others.shape[1])

    def _ranks_of(self, rows: Rows, name: str) -> Rows:
        """The ranks of rows, `NO_ROW` where there is none."""
        rows = np.asarray(rows)
        if rows.size and rows.dtype.kind not in "iu":
            hint = f"convert with {name}.astype('uint32')"
            raise GmeError(f"{name} must be whole numbers, found {rows.dtype}", hint)
        absent = rows == NO_ROW
        if ((rows < 0) | ((rows >= self.texts) & ~absent)).any():
            raise GmeError(f"{name} holds a row that none of the {self.texts} texts has", "fill places with NO_ROW")
        rows = rows.astype(np.uint32)
        ranks = np.where(absent, np.uint32(NO_ROW), self.ranks[np.where(absent, 0, rows)] if self.texts else rows)
        return np.ascontiguousarray(ranks)


def write_index(
    texts: Sequence[str],
    ranks: Rows,
    path: Path | None = None,
    *,
    spill: Path | None = None,
    k1: float = K1,
    b: float = B,
    threads: int = 0,
    progress: Progress | None = None,
) -> npt.NDArray[np.uint64] | None:
    """Index texts into the file at `path`, or without one into an array, which is returned.

    Args:
        ranks: uint32 (texts,), distinct: the rank of each text's id.
        path: an existing file, which is written over.
        spill: an existing, empty file for what the memory should not hold: more than 32 million postings.
        threads, progress, k1, b: as for `LexicalIndex.build`.
    """
    builder = _core.LexicalBuilder(len(texts), k1=k1, b=b, spill=None if spill is None else str(spill))
    for start, part in _parts(texts):
        builder.add(part, np.ascontiguousarray(ranks[start : start + len(part)]), threads=threads)
        if progress is not None:
            progress(start + len(part), len(texts))
    return builder.finish(None if path is None else str(path), threads=threads)


def _parts(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    for start in range(0, len(texts), _TEXTS):
        yield start, checked_texts(texts[start : start + _TEXTS], "text", start)


def checked_texts(texts: Sequence[str], what: str, first: int = 0) -> list[str]:
    """The texts as a list, or a `GmeError` that names the first that is none.

    Args:
        what: they are, for the message. first: the number of the first.
    """
    if isinstance(texts, str):
        raise GmeError(f"{what}s must be a list of texts, found one text", f"use [{what}]")
    texts = list(texts)
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise GmeError(f"{what} {first + number} is {shorten(text)}, must be a text", 'for no text use ""')
        if not text.isascii() and not is_encodable(text):
            raise GmeError(f"{what} {first + number} is not valid Unicode: {shorten(text)}", "decode it again")
    return texts
