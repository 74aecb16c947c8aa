"""Documents cut into chunks: at headings first, then by length at the best place near the limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

# A word is a run without spaces; scripts written without spaces count a word a character, and so that base64 and the
# like can't make a chunk of any length, a run counts as a word every 64 characters.
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]{{1,64}}")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n")
_SENTENCE = re.compile(r"[.!?。!?][\"')\]”’]*\s|[。!?]")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")


@dataclass(frozen=True)
class Chunk:
    """A slice of a document: characters `start` to `end` of its text, and the headings it stands under."""

    start: int
    end: int
    headings: tuple[str, ...]


def chunks(text: str, *, size: int, overlap: int, markdown: bool) -> list[Chunk]:
    """Cut a text.

    Without overlap the chunks, joined, are the text without some of the space between them. A heading without text of
    its own stays with what follows.

    Args:
        text: the document.
        size: most words a chunk; see `_WORD`.
        overlap: how many words a chunk repeats of the one before it in the same section.
        markdown: whether lines that start with # are headings.
    """
    found: list[Chunk] = []
    for start, end, headings in _sections(text, markdown):
        found.extend(Chunk(first, last, headings) for first, last in _cut(text, start, end, size, overlap))
    return found


def mask_code(text: str, mask: str = " ") -> str:
    """The text with code replaced by `mask`, character for character, so that links in code are not found."""
    masked = list(text)
    for start, end in _code_blocks(text):
        masked[start:end] = [mask] * (end - start)
    without = "".join(masked)
    return _INLINE_CODE.sub(lambda match: mask * len(match[0]), without)


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """(offset, level, title) of each Markdown heading outside of code."""
    for start, match in _heading_lines(text):
        yield start, len(match[1]), (match[2] or "").strip()


def heading_marks(text: str) -> Iterator[tuple[int, slice, int]]:
    """(offset, where the title stands, end of the line) of each of them."""
    for start, match in _heading_lines(text):
        first, last = match.span(2) if match[2] is not None else (match.end(), match.end())
        yield start, slice(start + first, start + last), start + match.end()


def _heading_lines(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    code = list(_code_blocks(text))
    block = 0
    for start, line in _lines(text):
        while block < len(code) and code[block][1] <= start:
            block += 1
        if block < len(code) and code[block][0] <= start:
            continue
        match = _HEADING.match(line)
        if match:
            yield start, match


def _sections(text: str, markdown: bool) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(start, end, headings above) of each section; sections without text of their own are joined to the next."""
    found = list(headings(text)) if markdown else []
    if not found or text[: found[0][0]].strip():
        yield 0, found[0][0] if found else len(text), ()
    path: list[tuple[int, str]] = []
    begin: int | None = None
    bounds = [*(offset for offset, _, _ in found), len(text)]
    for (start, end), (_, level, title) in zip(pairwise(bounds), found, strict=True):
        path = [*(entry for entry in path if entry[0] < level), (level, title)]
        begin = start if begin is None else begin
        if text[start:end].strip().count("\n") or end == len(text):
            yield begin, end, tuple(title for _, title in path)
            begin = None


def _cut(text: str, start: int, end: int, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    words = [match.span() for match in _WORD.finditer(text, start, end)]
    first = before = 0
    while first < len(words):
        last = min(first + size, len(words))  # exclusive
        if last < len(words):
            last = _best(text, words, max(first + (last - first) // 2, before), last)
        yield words[first][0], words[last - 1][1]
        if last == len(words):
            return
        first, before = max(last - overlap, first + 1), last


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


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start:end].rstrip("\r")
        start = end + 1


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each fenced block, its fences included."""
    fence, begin = "", 0
    for start, line in _lines(text):
        match = _FENCE.match(line)
        if not fence and match:
            fence, begin = match[1], start
        elif fence and match and match[1].startswith(fence) and not line.strip().strip(fence[0]):
            yield begin, start + len(line)
            fence = ""
    if fence:
        yield begin, len(text)
