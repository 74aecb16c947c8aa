"""Markdown as it reads: without what only tells how to show it. This is what a chunk is embedded by."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from .links import Cut, link_markup
from .markdown import FILL, Heading, Page

# Lengths are bounded, or a line of nothing but stars would take its square in time.
_EMPHASIS = (
    re.compile(r"(\*\*)(?=\S)[^\n]{1,1000}?(?<=\S)(\*\*)"),
    re.compile(r"(?<!\w)(__)(?=\S)[^\n]{1,1000}?(?<=\S)(__)(?!\w)"),
    re.compile(r"(~~)(?=\S)[^\n]{1,1000}?(?<=\S)(~~)"),
    re.compile(r"(?<!\*)(\*)(?=[^\s*])[^\n*]{1,1000}(?<=\S)(\*)(?!\*)"),
    re.compile(r"(?<!\w)(_)(?=[^\s_])[^\n]{1,1000}?(?<=\S)(_)(?!\w)"),
)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>()\[\]]+")


class PlainText:
    """A text from which any slice can be had without its markup.

    Headings lose their #, links and images all but their label, words their emphasis; comments go. Lists, quotations
    and tables stay as they are written, and so does code with its marks, in which nothing is markup. In plain text only
    links are markup.
    """

    def __init__(self, page: Page) -> None:
        self._text = page.text
        self._cuts: list[Cut] = []
        end = 0
        found = [*link_markup(page), *(_markup(page) if page.markdown else ())]
        for cut in sorted(found, key=lambda cut: (cut.start, -cut.end)):
            if cut.end > end:  # not within the one before it
                self._cuts.append(cut if cut.start >= end else Cut(end, cut.end))
                end = cut.end
        self._ends = [cut.end for cut in self._cuts]

    def slice(self, start: int, end: int) -> str:
        """Characters `start` to `end` without markup, and without space at either end."""
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
    """What is markup apart from links."""
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
