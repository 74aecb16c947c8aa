"""The errors gme raises on purpose. Every one says what is wrong and, as a hint, what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

_MOST_NEAR = 3
_SHORTEST_PART = 2
"""Fewer characters are in too many names."""


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
        if hint:
            self.__notes__ = [f"hint: {hint}"]  # shown under a traceback from Python 3.11 on


class OptionError(GmeError):
    """An option has a value that it can't have.

    Args:
        message: what is wrong. hint: what to do.
        option: the option's name, as its class declares it.
    """

    def __init__(self, message: str, hint: str | None, option: str) -> None:
        super().__init__(message, hint)
        self.option = option


class StaleError(GmeError):
    """A file was made from inputs that have changed since."""


class ReadOnlyError(GmeError):
    """A folder can't be written to."""


class PluginWarning(UserWarning):
    """What another package adds is left out; `error` says why, and what to do."""

    def __init__(self, error: GmeError) -> None:
        super().__init__(f"{error.message} ({error.hint})" if error.hint else error.message)
        self.error = error


class HubError(GmeError):
    """A node has so many neighbors that a kernel would follow too many paths of two edges.

    Args:
        kernel: the kernel that refuses.
        row: the row with the most neighbors.
        neighbors: how many it has.
        paths: how many paths the kernel would follow.
        budget: how many it may follow.
        hint: what to do.
        node: what the message calls the row; default: ``row N``.
    """

    def __init__(
        self, kernel: str, row: int, neighbors: int, paths: int, budget: int, hint: str | None, node: str = ""
    ) -> None:
        super().__init__(
            f"{kernel} would follow {paths} paths of two edges, at most {budget} are allowed; "
            f"the largest hub is {node or f'row {row}'} with {neighbors} neighbors",
            hint,
        )
        self.kernel = kernel
        self.row = row
        self.neighbors = neighbors
        self.paths = paths
        self.budget = budget

    def at(self, node_id: str) -> HubError:
        """The same error, whose message has the id of the hub."""
        counts = (self.row, self.neighbors, self.paths, self.budget)
        return HubError(self.kernel, *counts, self.hint, node=shorten(node_id))


class RefusedLine(Exception):  # noqa: N818 - never reaches a user
    """The compiled reader refuses a line; `gme.workspace.records` reads it again and says why.

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


def unknown(
    kind: str,
    name: str,
    known: Iterable[str],
    *,
    about: Mapping[str, str] | None = None,
    where: str = "",
    listing: str = "",
) -> GmeError:
    """The error for a name that no registry or folder holds; the hint has what may have been meant, and what exists.

    Args:
        known: the names. about: words about each, which may hold what was asked for.
        listing: says what exists, where the names themselves would be too many.
    """
    names = sorted(known)
    near = [shorten(each, 200) for each in _near(name, names, about or {})[:_MOST_NEAR]]
    guess = f"did you mean {joined(near, last=' or ')}? " if near else ""
    return GmeError(
        f"unknown {kind} {shorten(name, 200)}{where}", guess + (listing or f"known: {joined(names) or 'none'}")
    )


def _near(name: str, names: list[str], about: Mapping[str, str]) -> list[str]:
    """Names that begin with it, look like it or hold it; else those described by it."""
    wanted = name.lower()
    lower = {each.lower(): each for each in names}
    near = [lower[match] for match in get_close_matches(wanted, lower, n=1)]
    if len(wanted) < _SHORTEST_PART:
        return near
    short = sorted(names, key=len)
    begin = [each for each in short if each.lower().startswith(wanted)]
    near = begin + near + [each for each in short if wanted in each.lower()]
    return list(dict.fromkeys(near or [each for each in names if wanted in about.get(each, "").lower()]))


def joined(words: Iterable[str], most: int = 40, *, separator: str = ", ", last: str = "") -> str:
    """The words as one text; of many the first, and how many more there are.

    Args:
        last: between the last two, where none is left out; default: the separator.
    """
    words = list(words)
    if len(words) > most:
        return f"{separator.join(words[:most])} … and {len(words) - most:,} more"
    return (last or separator).join(filter(None, [separator.join(words[:-1]), *words[-1:]]))


def shorten(value: object, limit: int = 60) -> str:
    """``repr(value)``, cut to `limit` characters so that a huge value does not flood an error message."""
    try:
        return cut(repr(value), limit)
    except ValueError:  # Python writes whole numbers of up to 4,300 digits
        return f"{type(value).__name__} of too many digits"


def cut(text: str, limit: int = 300) -> str:
    """The text, or the beginning of one that would flood an error message."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
