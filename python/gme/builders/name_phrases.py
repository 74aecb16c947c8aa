"""Phrases of capitalized words, and in which texts they stand: what `gme graph names` takes for names.

A run is a line's adjacent capitalized words: "University of Oxford", "J. R. R. Tolkien", "Apollo 11". Linking words in
lower case may stand inside it. Its phrases of two to four words count as names, because one text says "Sir Isaac
Newton" and another "Isaac Newton". All comparisons are of numbers: each distinct word has one, and so has each phrase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ..types import Progress
from ..unicode_normalization import nfc

MOST_WORDS = 4
"""Words in the longest phrase."""

_LONGEST_RUN = 10  # words; longer runs are headlines
_HEADLINE = 0.6  # the share of its words that have a capital, in a headline
_EVERY = 1024  # texts between two progress reports
_BETWEEN = "|"  # stands between two runs; no word holds it

_LINKING = ("of", "the", "and", "de", "da", "di", "do", "dos", "del", "della", "la", "le", "les", "du", "des", "van",
            "von", "der", "den", "ten", "ter", "al", "el", "bin", "ibn", "af", "av", "y", "e")  # fmt: skip
_OPENING = frozenset(
    """a an in on at by from after before during for he she it his her they we you i this that these those with as when
    while where although however its their one two since under but or if to there some most many all both not no what
    who which how""".split()  # noqa: SIM905 - easier to read than a list
)
"""Words that often begin a sentence. They neither begin nor end a name."""

_GERMAN = (" und ", " ist ", " wird ", " wurde ", " nicht ", " eine ", " einer ")
"""In a text with one of these words all nouns have a capital, so that linking words prove no name."""

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """The words of all runs, one after the other.

    Attributes:
        words: the number of each word, int64 (words,); 0 stands after each run.
        texts: the number of each word's text, int64 (words,).
        edges: bool (distinct words,): which words may begin or end a name.
        begins: bool (distinct words,): which words may begin a name.
        headlines: how many texts are written in capitals throughout. If most are, `words` is empty.
        without_capitals: how many texts have no capital letter.
    """

    words: Rows
    texts: Rows
    edges: npt.NDArray[np.bool_]
    begins: npt.NDArray[np.bool_]
    headlines: int
    without_capitals: int


class _Vocabulary(dict[str, int]):
    """Word as written -> its number. Words that differ in case, or in a possessive s, have the same number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {_BETWEEN: 0}
        super().__init__({_BETWEEN: 0})

    def __missing__(self, written: str) -> int:
        word = written.rstrip(".").lower()
        if word.endswith(("'s", "’s")):
            word = word[:-2]
        number = self[written] = self.numbers.setdefault(word, len(self.numbers))
        return number


@cache
def _finders() -> tuple[Callable[[str], list[str]], Callable[[str], list[str]]]:
    """Find the runs of two or more words in a text: with linking words inside them, and without."""
    # Letters beyond U+FFFF, as of Deseret and Adlam, are left out: with them the search takes ten times as long.
    capitals = "".join(letter for letter in map(chr, range(0x10000)) if letter.isupper() or letter.istitle())
    part = r"[^\W_][\w\u0300-\u036f]*"
    joined = rf"(?:['’.\-‑]{part})*"
    # One or two letters with a full stop are an initial or an abbreviation: J. R. R. Tolkien, St. Louis.
    capital = rf"(?:[{capitals}]\w?\.(?= )|[{capitals}][\w\u0300-\u036f]*{joined})"
    more = rf"[ \u00a0](?:{capital}|\d{part}|\d)"
    linking = rf"(?:[ \u00a0](?:{'|'.join(_LINKING)})(?![^\W_])){{0,2}}"
    start = rf"(?<![\w\u0300-\u036f]){capital}"
    return re.compile(rf"{start}(?:{linking}{more})+").findall, re.compile(rf"{start}(?:{more})+").findall


def read_words(texts: Sequence[str], progress: Progress | None = None) -> Words:
    """Find the runs of all texts. If most texts are ALL CAPS or Title Case Everywhere, capitals tell no names."""
    linked, adjacent = _finders()
    vocabulary = _Vocabulary()
    numbers: list[npt.NDArray[np.int32]] = []
    lengths = np.zeros(len(texts), dtype=np.int64)
    headlines = without_capitals = 0
    for row, text in enumerate(map(nfc, texts)):
        if progress is not None and row % _EVERY == 0:
            progress(row, len(texts))
        runs = (adjacent if any(word in text for word in _GERMAN) else linked)(text)
        headlines += _is_headline(text)
        if not runs:
            without_capitals += text == text.lower()
            continue
        words = f" {_BETWEEN} ".join(runs).split()
        words.append(_BETWEEN)
        numbers.append(np.fromiter(map(vocabulary.__getitem__, words), dtype=np.int32, count=len(words)))
        lengths[row] = len(words)
    if 2 * headlines > len(texts):
        numbers, lengths = [], np.zeros_like(lengths)
    listed = list(vocabulary.numbers)
    edges = np.array([word not in _OPENING and word not in _LINKING for word in listed], dtype=bool)
    return Words(
        np.concatenate(numbers).astype(np.int64) if numbers else np.zeros(0, dtype=np.int64),
        np.repeat(np.arange(len(texts)), lengths),
        edges,
        edges & np.array([not word[0].isdigit() for word in listed], dtype=bool),
        headlines,
        without_capitals,
    )


def _is_headline(text: str) -> bool:
    """Whether capitals tell no names here: most words have one, and of the longer ones all. Names are short texts."""
    words = text.split()
    if len(words) <= MOST_WORDS or any(len(word) > 4 and word[0].islower() for word in words):
        return False
    return sum(word[0].isupper() for word in words) >= _HEADLINE * len(words)


def phrase_texts(words: Words, most: int) -> tuple[list[Rows], int]:
    """In which texts the phrases stand, for those in 2 to `most` texts.

    Phrases of exactly the same texts are one name, so each set of texts is listed once.

    Returns:
        For each k from 2 to `most` an array (names, k) of text numbers, each row ascending, the rows sorted; and how
        many phrases stand in more texts.
    """
    count = int(words.texts[-1]) + 1 if len(words.texts) else 0
    parts: list[list[Rows]] = [[] for _ in range(most + 1)]
    frequent = 0
    starts = _in_short_runs(words.words)
    phrase = words.words[starts]
    for length in range(2, MOST_WORDS + 1):
        last = starts + length - 1
        inside = (last < len(words.words)) & (words.words[np.minimum(last, len(words.words) - 1)] > 0)
        starts, last, phrase = starts[inside], last[inside], phrase[inside]
        keys, phrase = np.unique(phrase * len(words.edges) + words.words[last], return_inverse=True)
        pairs = np.unique(phrase * count + words.texts[starts])
        found = np.bincount(pairs // max(count, 1), minlength=len(keys))
        # A phrase in one text only is no part of a longer one in two.
        kept = found[phrase] >= 2
        starts, last, phrase = starts[kept], last[kept], phrase[kept]
        named = np.zeros(len(keys), dtype=bool)
        named[phrase] = words.begins[words.words[starts]] & words.edges[words.words[last]]
        frequent += int((named & (found > most)).sum())
        pair_counts = np.where(named, found, 0)[pairs // max(count, 1)]
        for size in range(2, most + 1):
            parts[size].append((pairs[pair_counts == size] % max(count, 1)).reshape(-1, size))
    return [np.unique(np.concatenate(part), axis=0) for part in parts[2:]], frequent


def _in_short_runs(words: Rows) -> Rows:
    """The places of the words in runs that are no headlines."""
    ends = np.flatnonzero(words == 0)
    lengths = np.diff(ends, prepend=-1)
    short = np.repeat(lengths - 1 <= _LONGEST_RUN, lengths)
    return np.flatnonzero(short & (words > 0))
