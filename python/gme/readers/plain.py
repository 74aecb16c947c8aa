"""Markdown as it reads: without what only tells how to show it. This is what a chunk is embedded by."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from .chunking import heading_marks, mask_code
from .links import Cut, link_markup

# Lengths are bounded, or a line of nothing but stars would take its square in time.
_EMPHASIS = (
    re.compile(r"(?<!\\)(\*\*)(?=\S)[^\n]{1,1000}?(?<=[^\s\\])(\*\*)"),
    re.compile(r"(?<![\w\\])(__)(?=\S)[^\n]{1,1000}?(?<=[^\s\\])(__)(?!\w)"),
    re.compile(r"(?<!\\)(~~)(?=\S)[^\n]{1,1000}?(?<=[^\s\\])(~~)"),
    re.compile(r"(?<![\\*])(\*)(?=[^\s*])[^\n*]{1,1000}(?<=[^\s\\])(\*)(?!\*)"),
    re.compile(r"(?<![\w\\])(_)(?=[^\s_])[^\n]{1,1000}?(?<=[^\s\\])(_)(?!\w)"),
)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>()\[\]]+")
_ESCAPE = re.compile(r"\\(?=[-!#()*+.>_{|}~])")
_MARKS = re.compile(r"[\[#*_~<\\]")
"""Without one of these a text holds no markup."""
_TAKEN = "\ufffc"


class PlainText:
    """A text from which any slice can be had without its markup.

    Headings lose their #, links and images all but their label, words their emphasis; comments go. Lists, quotations
    and tables stay as they are written, and so does code with its marks, in which nothing is markup.

    Args:
        text: the text.
        markdown: whether it is Markdown; else only links are markup.
    """

    def __init__(self, text: str, markdown: bool) -> None:
        self._text = text
        self._cuts: list[Cut] = []
        end = 0
        found = [*link_markup(text, everything=markdown), *(_markup(text) if markdown else ())]
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


def plain_text(markdown: str) -> str:
    """A piece of Markdown without its markup."""
    if not _MARKS.search(markdown):
        return markdown.strip()
    return PlainText(markdown, True).slice(0, len(markdown))


def _markup(text: str) -> Iterator[Cut]:
    """What is markup apart from links."""
    for line, title, end in heading_marks(text):
        yield from (Cut(line, title.start), Cut(title.stop, end))
    masked = _ADDRESS.sub(lambda match: "x" * len(match[0]), mask_code(text, "x"))
    yield from (Cut(match.start(), match.end()) for match in _ESCAPE.finditer(masked))
    start = masked.find("<!--")
    while start >= 0:
        end = masked.find("-->", start)
        if end < 0:
            break
        yield Cut(start, end + 3)
        start = masked.find("<!--", end)
    for pattern in _EMPHASIS:
        marks = [match.span(group) for match in pattern.finditer(masked) for group in (1, 2)]
        yield from (Cut(*mark) for mark in marks)
        rest = list(masked)
        for start, end in marks:
            rest[start:end] = _TAKEN * (end - start)
        masked = "".join(rest)
