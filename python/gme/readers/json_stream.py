"""Reads JSON files that are too large to load: the elements of an array or the members of an object, one at a time.

Python's own decoder reads the values. The code here gives it the file in blocks and counts lines. No package does this:

- `ijson` reports neither lines nor elements, so an error could only say that a file of gigabytes is not valid JSON. It
  also nests without bound (100,000 brackets in a file of 100 kB took more than 4 GB of memory), turns a lone surrogate
  into a question mark, refuses a byte order mark, and takes 1.2 times as long for 71 MB of questions with passages.
- `msgspec` and `orjson` decode only whole values, and somebody else would have to find where each value ends.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import GmeError, shorten
from ..storage.files import LONGEST_LINE, read_jsonl
from .protocol import ReadContext, Where
from .tables import not_utf8

_BLOCK = 1 << 20
_SPACE = " \t\n\r"
# If text is cut off inside a literal or an escape, the decoder's error points at most this far before the end.
_CUT = 16


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def objects(path: Path, context: ReadContext) -> Iterator[tuple[Where, dict[str, Any]]]:
    """The objects of a file that holds one JSON array or JSON lines. The first character tells which."""
    if _first(path) == "{":
        for number, record in read_jsonl(path, context.advance):
            yield Where(path, number), record
        return
    for where, value in elements(path, context):
        if not isinstance(value, dict):
            raise GmeError(f"{where}: expected a JSON object, found {shorten(value)}")
        yield where, value


def elements(path: Path, context: ReadContext, key: str | None = None) -> Iterator[tuple[Where, Any]]:
    """The elements of a top-level array, or of the array at member `key` of a top-level object."""
    with path.open("rb") as handle:
        cursor = _Cursor(path, handle, context)
        if key is None:
            yield from cursor.array()
            cursor.end()
            return
        found = False
        for name in cursor.names():
            if name == key and cursor.peek() == "[":
                found = True
                yield from cursor.array()
            else:
                cursor.value()
        cursor.end()
        if not found:
            raise GmeError(f"{path}: has no array {key!r}", "is it a file of this format?")


def members(path: Path, context: ReadContext) -> Iterator[tuple[Where, str, Any]]:
    """The members of a top-level object as (where, name, value)."""
    with path.open("rb") as handle:
        cursor = _Cursor(path, handle, context)
        for name in cursor.names():
            where = Where(path, cursor.line, f"member {shorten(name)}")
            yield where, name, cursor.value()
        cursor.end()


def member_names(path: Path, context: ReadContext) -> list[str]:
    """The names of a top-level object's members. Their values are read but not kept."""
    return [name for _, name, _ in members(path, context)]


def _first(path: Path) -> str:
    with path.open("rb") as handle:
        while block := handle.read(4096):
            start = block.removeprefix(b"\xef\xbb\xbf").lstrip()
            if start:
                return start[:1].decode("latin-1")
    raise GmeError(f"{path} is empty")


class _Cursor:
    """A position in a JSON text that is read in blocks. `line` counts from 1."""

    def __init__(self, path: Path, handle: IO[bytes], context: ReadContext) -> None:
        self.path = path
        self.line = 1
        self._handle = handle
        self._context = context
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._position = 0
        self._ended = False

    def array(self) -> Iterator[tuple[Where, Any]]:
        """Read an array and yield its elements, numbered from 1."""
        for number in self._entries("[", "]"):
            where = Where(self.path, self.line, f"element {number}")
            yield where, self.value(where)

    def names(self) -> Iterator[str]:
        """Read an object and yield each member's name. The caller must read the value before the next name."""
        for _ in self._entries("{", "}"):
            if self.peek() != '"':
                raise self._error("expected a member name in quotes")
            name = self.value()
            self._take(":")
            self.peek()
            yield name

    def _entries(self, opening: str, closing: str) -> Iterator[int]:
        """Read brackets and commas, and yield the number of each entry. The caller must read the entry itself."""
        self._take(opening)
        number = 0
        while self.peek() != closing:
            if number:
                self._take(",")
                self.peek()
            number += 1
            yield number
        self._take(closing)

    def value(self, where: Where | None = None) -> Any:
        """Read one value of any kind."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._position)
            except json.JSONDecodeError as error:
                cut = error.pos + _CUT >= len(self._buffer) or error.msg.startswith("Unterminated string")
                if cut and self._fill():
                    continue
                line = self.line + self._buffer.count("\n", self._position, error.pos)
                detail = f" ({where.detail})" if where is not None else ""
                raise GmeError(
                    f"{self.path}:{line}{detail}: not valid JSON: {error.msg}", "is the file cut off?"
                ) from None
            except ValueError as error:
                raise self._error(str(error)) from None
            except RecursionError:
                raise self._error("nested too deeply") from None
            # A number at the end of the buffer may continue: `1`, `1.`, `1e` and `1e+` may become `1e+16`.
            if end + 2 >= len(self._buffer) and not self._buffer[end:].strip(".eE+-") and self._fill():
                continue
            self._move(end)
            return value

    def peek(self) -> str:
        """The next character that is not space. The position stays before it."""
        found = self._next()
        if not found:
            raise self._error("the file ends too early")
        return found

    def end(self) -> None:
        """Check that nothing but space is left."""
        if self._next():
            raise self._error(f"unexpected {shorten(self._buffer[self._position :][:20])} after the end")

    def _next(self) -> str:
        """Like `peek`, but empty at the end of the file."""
        while True:
            position, buffer = self._position, self._buffer
            while position < len(buffer) and buffer[position] in _SPACE:
                position += 1
            self._move(position)
            if position < len(buffer):
                return buffer[position]
            if not self._fill():
                return ""

    def _take(self, wanted: str) -> None:
        found = self.peek()
        if found != wanted:
            raise self._error(f"expected {wanted!r}, found {found!r}")
        self._position += 1

    def _move(self, position: int) -> None:
        self.line += self._buffer.count("\n", self._position, position)
        self._position = position

    def _fill(self) -> bool:
        """Read another block. Returns false at the end of the file."""
        if self._ended:
            return False
        if len(self._buffer) - self._position > LONGEST_LINE:
            raise self._error(f"one value has more than {LONGEST_LINE:,} characters")
        # Each block is at least as long as the unread rest, so that a huge value is not decoded again for every block.
        block = self._handle.read(max(_BLOCK, len(self._buffer) - self._position))
        self._ended = not block
        try:
            more = self._decoder.decode(block, final=self._ended)
        except UnicodeDecodeError as error:
            raise not_utf8(self.path) from error
        self._context.advance(len(block))
        self._buffer = self._buffer[self._position :] + more
        self._position = 0
        return bool(block)

    def _error(self, message: str) -> GmeError:
        return GmeError(f"{self.path}:{self.line}: not valid JSON: {message}", "is it a file of this format?")
