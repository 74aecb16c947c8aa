"""A light extractor of names that needs no model: it finds spans of capitalized words.

It works for scripts with capitals. For other scripts, give the entities in a file or rely on titles. A common word may
also have a capital at the beginning of a sentence. The corpus itself shows which words are common, so no language needs
a word list. Where the corpus is too small to show it, a capital at the beginning of a sentence proves no name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Letters and digits with combining marks, joined by hyphens and apostrophes: Jean-Luc, O'Brien, L’Oréal.
_WORD = re.compile(r"[^\W_][\w\u0300-\u036f]*(?:[-'’‑][^\W_][\w\u0300-\u036f]*)*")
_SENTENCE_END = re.compile(r"[.!?…。！？:;\n\r•|\"“”„«»()\[\]]")
_POSSESSIVE = re.compile(r"['’]s$")
_ELISION = re.compile(r"\w['’]\w")
_SPACES = (" ", "\u00a0", " & ")
_PARTICLES = frozenset(
    """of the de la le les du des der den dem von vom zu zum zur van ter ten da do dos das di del della dei degli al el
    los las y e i bin ibn ben af av""".split()  # noqa: SIM905 - easier to read than a list
)
_ABBREVIATIONS = frozenset("St Dr Mr Mrs Ms Mt Ft Prof Gen Sgt Capt Lt Col Rev Sen Gov Jr Sr Ste".split())  # noqa: SIM905
_MOST_WORDS = 10  # longer spans are headlines
_MOST_PARTICLES = 2
COMMON = 10
"""A word is common if it is this many times as often in lower case as capitalized within sentences."""


class Span(NamedTuple):
    """A capitalized span as written. `initial`: it begins a sentence, where every word has a capital."""

    surface: str
    initial: bool


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    capital: bool
    digit: bool
    initial: bool


def spans(text: str, lower: Counter[str] | None = None, capital: Counter[str] | None = None) -> Iterator[Span]:
    """The longest capitalized spans of a text.

    Words are joined over single spaces, ampersands, initials (J. R. R. Tolkien) and abbreviations (St. Louis). A span
    may contain up to two lower-case particles between capitalized words (Bank of the West), and digits after the first
    word (Apollo 11).

    Args:
        text: any text.
        lower: counts each lower-case word. capital: counts each capitalized word that does not begin a sentence.
    """
    run: list[_Word] = []  # the span so far; it may end in particles that the next word connects
    for word in _words(text):
        if word.capital:
            if capital is not None and not word.initial:
                capital[word.text] += 1
        elif lower is not None:
            lower[word.text] += 1
        if run and _joins(run, word, text):
            run.append(word)
            continue
        yield from _span(run, text)
        run = [word] if word.capital else []
    yield from _span(run, text)


def candidates(texts: Iterable[str]) -> set[str]:
    """The surface forms that look like names anywhere in the texts.

    A common word at the beginning of a sentence is no name, and is cut off the beginning of a span. The same holds for
    a word that begins a sentence as a span of its own and is capitalized nowhere else. Words in an uncommon form (NASA,
    McKinley) are exempt from this second rule.
    """
    lower: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    within: set[str] = set()
    initial: set[str] = set()
    for text in texts:
        for span in spans(text, lower, capital):
            (initial if span.initial else within).add(span.surface)
    for surface in initial:
        rest = surface
        while rest:
            word = _first(rest)
            if not _is_common(word, lower, capital) and not _is_unproven(word, initial, capital):
                break
            rest = _without_first(rest)
        if rest:
            within.add(rest)
    return within


def _is_common(word: str, lower: Counter[str], capital: Counter[str]) -> bool:
    small = lower[word.lower()]
    return small > 0 and small >= COMMON * capital[word]


def _is_unproven(word: str, initial: set[str], capital: Counter[str]) -> bool:
    return word in initial and not capital[word] and not any(each.isupper() or each.isdigit() for each in word[1:])


def _first(surface: str) -> str:
    """The first word of a span, in the form that is counted."""
    match = _WORD.match(surface)
    return _POSSESSIVE.sub("", match[0]) if match else ""


def _without_first(surface: str) -> str:
    """The span without its first word, from the next capitalized word on."""
    for match in list(_WORD.finditer(surface))[1:]:
        if _is_capital(match[0]):
            return surface[match.start() :]
    return ""


def _words(text: str) -> Iterator[_Word]:
    end = 0
    before: _Word | None = None
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        gap = text[end : match.start()]
        abbreviated = before is not None and gap in (". ", ".", ".\u00a0") and _is_abbreviated(before.text)
        initial = before is None or (bool(_SENTENCE_END.search(gap)) and not abbreviated)
        before = _Word(word, match.start(), match.start() + len(word), _is_capital(word), word[0].isdigit(), initial)
        yield before
        end = match.end()


def _is_capital(word: str) -> bool:
    return (
        word[0].isupper() or word[0].istitle() or (len(word) > 2 and bool(_ELISION.match(word)) and word[2].isupper())
    )


def _is_abbreviated(word: str) -> bool:
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def _joins(run: list[_Word], word: _Word, text: str) -> bool:
    last = run[-1]
    gap = text[last.end : word.start]
    particles = 0
    while particles < len(run) and not (run[-1 - particles].capital or run[-1 - particles].digit):
        particles += 1
    if word.capital:
        dotted = gap in (". ", ".", ".\u00a0") and particles == 0 and _is_abbreviated(last.text)
        return gap in _SPACES or dotted
    if word.digit:
        return gap in _SPACES and particles == 0
    return gap in _SPACES[:2] and word.text in _PARTICLES and particles < _MOST_PARTICLES


def _span(run: list[_Word], text: str) -> Iterator[Span]:
    while run and not (run[-1].capital or run[-1].digit):
        run = run[:-1]  # drop particles that connect nothing
    if run and len(run) <= _MOST_WORDS:
        yield Span(text[run[0].start : run[-1].end], run[0].initial)
