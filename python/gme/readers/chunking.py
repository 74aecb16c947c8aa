"""Cuts documents into chunks: first at headings, then by length, at the best place near the limit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .markdown import Heading

# A word is a run without spaces. In scripts without spaces every character is a word. A run counts as one more word
# every 64 characters, so that base64 and the like can't make a chunk of unbounded length.
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]{{1,64}}")
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n")
_SENTENCE = re.compile(r"[.!?。!?][\"')\]”’]*\s|[。!?]")


@dataclass(frozen=True)
class Chunk:
    """A slice of a document: characters `start` to `end` of its text, and the headings above it."""

    start: int
    end: int
    headings: tuple[Heading, ...]


def chunks(text: str, headings: Sequence[Heading], *, size: int, overlap: int, sections: bool = True) -> list[Chunk]:
    """Cut a text into chunks.

    Without overlap the chunks together are the text, except for some space between them. A heading without text of its
    own stays with what follows. A heading is never cut, even if it is longer than a chunk.

    Args:
        text: the document.
        headings: the document's headings; none for plain text.
        size: the most words in a chunk; see `_WORD`.
        overlap: how many words a chunk repeats from the chunk before it in the same section.
        sections: whether to cut at headings.
    """
    found: list[Chunk] = []
    places = [heading.start for heading in headings]
    for start, end, above in _sections(text, headings if sections else ()):
        lines = headings[bisect_left(places, start) : bisect_left(places, end)]
        found.extend(Chunk(first, last, above) for first, last in _cut(text, start, end, lines, size, overlap))
    return found


def _sections(text: str, headings: Sequence[Heading]) -> Iterator[tuple[int, int, tuple[Heading, ...]]]:
    """(start, end, headings above) of each section. A section without text of its own is joined to the next."""
    if not headings or text[: headings[0].start].strip():
        yield 0, headings[0].start if headings else len(text), ()
    path: list[Heading] = []
    begin: int | None = None
    bounds = [*(heading.start for heading in headings), len(text)]
    for (start, end), heading in zip(pairwise(bounds), headings, strict=True):
        path = [*(above for above in path if above.level < heading.level), heading]
        begin = start if begin is None else begin
        if text[start:end].strip().count("\n") or end == len(text):
            yield begin, end, tuple(path)
            begin = None


def _cut(
    text: str, start: int, end: int, headings: Sequence[Heading], size: int, overlap: int
) -> Iterator[tuple[int, int]]:
    words = [match.span() for match in _WORD.finditer(text, start, end)]
    heading_of: dict[int, tuple[int, int]] = {}  # word in a heading -> the heading's first word, the word after it
    for heading in headings:
        begin, behind = bisect_left(words, (heading.start,)), bisect_left(words, (heading.end,))
        heading_of.update(dict.fromkeys(range(begin + 1, behind), (begin, behind)))
    first = before = 0
    while first < len(words):
        last = min(first + size, len(words))  # exclusive
        if last < len(words):
            last = _best(text, words, max(first + (last - first) // 2, before), last)
            begin, behind = heading_of.get(last, (last, last))
            last = begin if begin > max(first, before) else behind
        yield words[first][0], words[last - 1][1]
        if last == len(words):
            return
        first, before = max(last - overlap, first + 1), last
        first = heading_of.get(first, (first, first))[1]


def _best(text: str, words: list[tuple[int, int]], lowest: int, last: int) -> int:
    """Where a chunk ends: after word `lowest` and at most `last`, at the end of a paragraph, else of a sentence."""
    sentence = 0
    for place in range(last, lowest, -1):
        gap = text[words[place - 1][0] : words[place][0]]
        if _PARAGRAPH.search(gap):
            return place
        if not sentence and _SENTENCE.search(gap):
            sentence = place
    return sentence or last
