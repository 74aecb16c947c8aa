"""Markdown without formatting, as a reader sees it. Chunks are embedded from this text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from .links import Replacement, link_markup
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
        self._replacements: list[Replacement] = []
        end = 0
        found = [*link_markup(page), *(_markup(page) if page.markdown else ())]
        for replacement in sorted(found, key=lambda replacement: (replacement.start, -replacement.end)):
            if replacement.end > end:  # skip a replacement that lies within the one before it
                self._replacements.append(
                    replacement if replacement.start >= end else Replacement(end, replacement.end)
                )
                end = replacement.end
        self._ends = [replacement.end for replacement in self._replacements]

    def slice(self, start: int, end: int) -> str:
        """Characters `start` to `end` without markup, and without space at the two ends."""
        parts: list[str] = []
        for number in range(bisect_right(self._ends, start), len(self._replacements)):
            replacement = self._replacements[number]
            if replacement.start >= end:
                break
            parts += [self._text[start : replacement.start], replacement.shown if replacement.start >= start else ""]
            start = replacement.end
        return "".join([*parts, self._text[start:end]]).strip()

    def title(self, heading: Heading) -> str:
        """A heading without markup."""
        return self.slice(heading.title.start, heading.title.stop)


def _markup(page: Page) -> Iterator[Replacement]:
    """All markup except that of links."""
    for heading in page.headings:
        yield from (Replacement(heading.line, heading.title.start), Replacement(heading.title.stop, heading.end))
    yield from (Replacement(*comment) for comment in page.comments)
    yield from (Replacement(place, place + 1) for place in page.escapes)
    masked = _ADDRESS.sub(lambda match: FILL * len(match[0]), page.masked)
    for pattern in _EMPHASIS:
        marks = [match.span(group) for match in pattern.finditer(masked) for group in (1, 2)]
        yield from (Replacement(*mark) for mark in marks)
        rest = list(masked)
        for start, end in marks:
            rest[start:end] = FILL * (end - start)
        masked = "".join(rest)
