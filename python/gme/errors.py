"""The errors gme raises on purpose. Every one says what is wrong and, as a hint, what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class GmeError(ValueError):
    """Bad input, with a hint.

    Args:
        message: what is wrong, naming the file, the line and the value where there are any.
        hint: what the user can do; printed on a line of its own by the command line.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class StaleError(GmeError):
    """A file was made from inputs that have changed since."""


class ReadOnlyError(GmeError):
    """A folder can't be written to."""


class HubError(GmeError):
    """A node has so many neighbours that the work at it would exceed a budget.

    Args:
        message: what would be too much; it names the hub as ``row N``.
        hint: what to do.
        row: the hub's row.
    """

    def __init__(self, message: str, hint: str, row: int) -> None:
        super().__init__(message, hint)
        self.row = row

    def named(self, node_id: str) -> GmeError:
        """The same with the hub's id."""
        return GmeError(self.message.replace(f"row {self.row} ", f"{shorten(node_id)} "), self.hint)


class RefusedLine(Exception):  # noqa: N818 - never reaches a user
    """The compiled reader refuses a line; `gme.records` reads it again and says why.

    Args:
        line: its number, from 1.
        offset: where it begins in the file, in bytes.
        first: the line that has the same id, where that is what is wrong.
    """

    def __init__(self, line: int, offset: int, first: int | None = None) -> None:
        super().__init__(line, offset, first)
        self.line = line
        self.offset = offset
        self.first = first


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> GmeError:
    """The error for a name that no registry or folder holds, with the closest match as its hint."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    listing = ", ".join(names) if names else "none"
    hint = f"did you mean {close[0]!r}? known: {listing}" if close else f"known: {listing}"
    return GmeError(f"unknown {kind} {shorten(name, 200)}{where}", hint)


def shorten(value: object, limit: int = 60) -> str:
    """``repr(value)``, cut to `limit` characters so that a huge value does not flood an error message."""
    return cut(repr(value), limit)


def cut(text: str, limit: int = 300) -> str:
    """The text, or the beginning of one that would flood an error message."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
