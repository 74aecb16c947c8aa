"""Parses Markdown into code, comments, headings, link definitions and paragraphs.

It follows CommonMark as far as the text and its links need it. In doubt, a part stays text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

FILL = "\ufffc"
"""Replaces hidden characters in a masked text. It is neither space nor part of a word."""

_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]+|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|(\d{1,9})[.)])(?=[ \t]|$)")
_FENCE = re.compile(r"((?:[ ]{0,3}>)*)(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_RULE = re.compile(r"[ ]{0,3}(?:([-_*])(?:[ \t]*\1){2,}|=+|-+)[ \t]*$")
_TITLE = r"(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\((?:[^()\\\n]|\\.)*\))"
_DEFINITION = re.compile(
    r"[ \t]*\[(?!\^|[ \t]*\])((?:[^\[\]\\\n]|\\.)+)\]:[ \t]*(<[^<>\n]*>|[^\s<]\S*)"  # [^note]: is a footnote
    rf"(?:(?:[ \t]+|[ \t]*\r?\n[ \t]*){_TITLE}[ \t]*(?=\r?\n|\r?\Z)|[ \t]*(?=\r?\n|\r?\Z))(?:\r?\n)?"
)
_ESCAPE = r"\\[!-/:-@\[-`{-~]"  # only ASCII punctuation can be escaped
_INLINE = re.compile(rf"{_ESCAPE}|`+|<!--")
_ESCAPED = re.compile(_ESCAPE)
_TICKS = re.compile(r"`+")
_VISIBLE = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Heading:
    """A heading: where its line begins, where its first # is, its level, its title, and where its line ends."""

    line: int
    start: int
    level: int
    title: slice
    end: int


@dataclass(frozen=True)
class Definition:
    """A link definition, `[label]: address "title"`, at characters `start` to `end`."""

    start: int
    end: int
    label: str
    address: str


class Page:
    """A text and its parts. A part is (start, end) in characters unless it has a class of its own.

    Attributes:
        text: the text.
        markdown: whether it is Markdown. In other texts only code between backticks and links are special.
        paragraphs: text and titles of headings. A link begins and ends within one paragraph.
        comments: from <!-- to -->.
        escapes: the positions of backslashes that only escape the next character.
        masked: the text with FILL for code, comments, definitions and escaped characters. Line breaks stay.
    """

    def __init__(self, text: str, markdown: bool = True) -> None:
        self.text = text
        self.markdown = markdown
        self.headings: list[Heading] = []
        self.definitions: list[Definition] = []
        self.paragraphs: list[tuple[int, int]] = []
        self.comments: list[tuple[int, int]] = []
        self.escapes: list[int] = []
        self._hidden: list[tuple[int, int]] = []
        self._paragraph: int | None = None  # where the open paragraph begins
        self._item = 0  # the column from which a line belongs to the open list; 0 outside lists
        self._last_comment_end = text.rfind("-->")
        position = 0
        while position < len(text):
            position = self._take(position)
        self._close(len(text))
        self.masked = self._mask()

    def _take(self, start: int) -> int:
        """Read the line that begins here, or a whole block. Returns where the next line begins."""
        line, after = self._line(start)
        if not line.strip(" \t>"):  # blank, also within a quotation
            self._close(start)
            return after
        indent = _columns(line)
        if self._paragraph is None:
            if not _ITEM.match(line):
                self._follow_list(line)
            if indent >= 4 and not self._item and self.markdown:
                self._hidden.append((start, after))
                return after
        fence = _FENCE.match(line)
        if fence and (indent < 4 or self._item):
            return self._fenced(start, after, fence)
        if not self.markdown:
            return self._text(start, after, line)
        if indent < 4 or self._item:
            if line.lstrip(" \t").startswith("<!--") and start < self._last_comment_end:
                return self._commented(start)
            heading = _HEADING.match(line)
            if heading:
                self._close(start)
                self._follow_list(line)
                self._heading(start, line, heading)
                return after
        return self._text(start, after, line)

    def _text(self, start: int, after: int, line: str) -> int:
        if _RULE.match(line):
            self._close(start)
            return after
        item = _ITEM.match(line)
        if item and self._paragraph is not None and not self._item and item[1] not in (None, "1"):
            item = None  # the line only happens to begin with a number
        first = line.lstrip(" \t")[0]
        quoted = first == ">" and self._paragraph is not None and self.text[self._paragraph] != ">"
        if item or first == "|" or quoted:  # each list item and table row is a paragraph of its own
            self._close(start)
        if item:
            self._follow_list(line)
        if self._paragraph is None:
            definition = _DEFINITION.match(self.text, start)
            if definition:
                label, address = definition[1], definition[2]
                self.definitions.append(Definition(start, definition.end(), label, address))
                self._hidden.append((start, definition.end()))
                return definition.end()
            self._paragraph = start
        return after

    def _heading(self, start: int, line: str, match: re.Match[str]) -> None:
        title = line[match.end() :].rstrip(" \t")
        without = title.rstrip("#")
        if not without or without[-1] in " \t":  # other # belong to the title, as in C#
            title = without.rstrip(" \t")
        first = start + match.end()
        place = slice(first, first + len(title))
        self.headings.append(Heading(start, start + match.start(1), len(match[1]), place, start + len(line)))
        self._read(place.start, place.stop)

    def _fenced(self, start: int, after: int, fence: re.Match[str]) -> int:
        """Read code up to marks as long as the first, or to the end of its list or quotation."""
        self._close(start)
        quoted, marks = bool(fence[1]), fence[2]
        self._follow_list(fence.string)
        position = after
        while position < len(self.text):
            line, after = self._line(position)
            bare = line.strip(" \t>" if quoted else " \t")
            if (quoted and not line.lstrip(" ").startswith(">")) or (bare and _columns(line) < self._item):
                break
            position = after
            if bare.startswith(marks) and not bare.strip(marks[0]):
                break
        self._hidden.append((start, position))
        return position

    def _commented(self, start: int) -> int:
        self._close(start)
        begin = self.text.index("<!--", start)
        end = self.text.index("-->", begin) + 3
        self.comments.append((begin, end))
        rest, after = self._line(end)
        if rest.strip():
            self._paragraph = end
        return after

    def _line(self, start: int) -> tuple[str, int]:
        """The rest of a line, and where the next line begins."""
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        return self.text[start:end].rstrip("\r"), min(end + 1, len(self.text))

    def _follow_list(self, line: str) -> None:
        """Begin a list at an item's mark outside any list. End a list at a line that does not belong to it."""
        indent = _columns(line)
        if indent < self._item or not self._item:
            item = _ITEM.match(line)
            self._item = indent + len(item[0].strip()) + 1 if item else 0

    def _close(self, end: int) -> None:
        if self._paragraph is not None:
            self._read(self._paragraph, end)
            self._paragraph = None

    def _read(self, start: int, end: int) -> None:
        """Add a paragraph, and find its code, comments and escapes."""
        self.paragraphs.append((start, end))
        ticks: dict[int, list[int]] | None = None
        last_comment_end = self.text.rfind("-->", start, end)
        position = start
        while match := _INLINE.search(self.text, position, end):
            begin, position = match.span()
            if match[0] == "<!--":
                if self.markdown and begin < last_comment_end:
                    position = self.text.index("-->", begin) + 3
                    self.comments.append((begin, position))
            elif match[0][0] == "\\":
                if self.markdown:
                    self.escapes.append(begin)
                else:
                    position = begin + 1
            else:
                ticks = self._ticks(begin, end) if ticks is None else ticks
                same = ticks.get(len(match[0]), [])
                closing = bisect_left(same, position)
                if closing < len(same):
                    position = same[closing] + len(match[0])
                    self._hidden.append((begin, position))

    def _ticks(self, start: int, end: int) -> dict[int, list[int]]:
        """Length of a run of backticks -> where runs of that length begin."""
        found: dict[int, list[int]] = {}
        for run in _TICKS.finditer(self.text, start, end):
            found.setdefault(len(run[0]), []).append(run.start())
        return found

    def _mask(self) -> str:
        # The bar of a wiki link in a table is escaped, but still separates its label.
        escaped = [(place, place + 2) for place in self.escapes if self.text[place + 1] != "|"]
        parts: list[str] = []
        position = 0
        for start, end in sorted([*self._hidden, *self.comments, *escaped]):
            parts += [self.text[position:start], _VISIBLE.sub(FILL, self.text[start:end])]
            position = end
        return "".join([*parts, self.text[position:]])


def unescaped(text: str) -> str:
    """A piece of Markdown without the backslashes that escape characters."""
    return _ESCAPED.sub(lambda escape: escape[0][1:], text)


def _columns(line: str) -> int:
    """The width of a line's indentation. A tab reaches to the next multiple of four."""
    space = line[: len(line) - len(line.lstrip(" \t"))]
    return len(space.expandtabs(4))
