"""Markdown without formatting, as a reader sees it. Chunks are embedded from this text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from .links import Cut, link_markup
from .markdown import FILL, Heading, Page

# Lengths are bounded. Otherwise a line of nothing but stars would take quadratic time.
_EMPHASIS = (
    re.compile(r"(\*\*)(?=\S)[^\n]{1,1000}?(?<=\S)(\*\*)"),
    re.compile(r"(?<!\w)(__)(?=\S)[^\n]{1,1000}?(?<=\S)(__)(?!\w)"),
    re.compile(r"(~~)(?=\S)[^\n]{1,1000}?(?<=\S)(~~)"),
    re.compile(r"(?<!\*)(\*)(?=[^\s*])[^\n*]{1,1000}(?<=\S)(\*)(?!\*)"),
    re.compile(r"(?<!\w)(_)(?=[^\s_])[^\n]{1,1000}?(?<=\S)(_)(?!\w)"),
)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>()\[\]]+")


class PlainText:
    """A text of which any slice can be read without its markup.

    Headings lose their #, links and images everything but their label, words their emphasis. Comments are removed.
    Lists, quotations and tables stay as they are written. Code stays too, with its marks, and nothing in it is markup.
    In plain text only links are markup.
    """

    def __init__(self, page: Page) -> None:
        self._text = page.text
        self._cuts: list[Cut] = []
        end = 0
        found = [*link_markup(page), *(_markup(page) if page.markdown else ())]
        for cut in sorted(found, key=lambda cut: (cut.start, -cut.end)):
            if cut.end > end:  # skip a cut that lies within the one before it
                self._cuts.append(cut if cut.start >= end else Cut(end, cut.end))
                end = cut.end
        self._ends = [cut.end for cut in self._cuts]

    def slice(self, start: int, end: int) -> str:
        """Characters `start` to `end` without markup, and without space at the two ends."""
        parts: list[str] = []
        for number in range(bisect_right(self._ends, start), len(self._cuts)):
            cut = self._cuts[number]
            if cut.start >= end:
                break
            parts += [self._text[start : cut.start], cut.shown if cut.start >= start else ""]
            start = cut.end
        return "".join([*parts, self._text[start:end]]).strip()

    def title(self, heading: Heading) -> str:
        """A heading without markup."""
        return self.slice(heading.title.start, heading.title.stop)


def _markup(page: Page) -> Iterator[Cut]:
    """All markup except that of links."""
    for heading in page.headings:
        yield from (Cut(heading.line, heading.title.start), Cut(heading.title.stop, heading.end))
    yield from (Cut(*comment) for comment in page.comments)
    yield from (Cut(place, place + 1) for place in page.escapes)
    masked = _ADDRESS.sub(lambda match: FILL * len(match[0]), page.masked)
    for pattern in _EMPHASIS:
        marks = [match.span(group) for match in pattern.finditer(masked) for group in (1, 2)]
        yield from (Cut(*mark) for mark in marks)
        rest = list(masked)
        for start, end in marks:
            rest[start:end] = FILL * (end - start)
        masked = "".join(rest)
