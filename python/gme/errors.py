"""The errors that gme raises on purpose. Each one says what is wrong and, in a hint, what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

_MOST_NEAR = 3
_SHORTEST_PART = 2
"""A shorter text is a part of too many names to suggest any."""


class GmeError(ValueError):
    """Bad input, with a hint.

    Args:
        message: what is wrong, naming the file, the line and the value where there are any.
        hint: what the user can do. The command line prints it on a line of its own.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.__notes__ = [f"hint: {hint}"]  # Python 3.11 and later show it under a traceback


class OptionError(GmeError):
    """An option has a value that is not legal.

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
    """An extension of another package is left out. `error` says why, and what to do."""

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
    """The compiled reader refuses a line. `gme.workspace.records` reads the line again and says why.

    Args:
        line: the line's number, from 1.
        offset: where the line begins in the file, in bytes.
        first: the earlier line with the same id, if the id is a duplicate.
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
    """The error for a name that no registry or folder has. The hint suggests close names and lists what exists.

    Args:
        known: the names. about: a description of each; a description that contains `name` suggests its name.
        listing: says what exists when there are too many names to list.
    """
    names = sorted(known)
    near = [shorten(each, 200) for each in _near(name, names, about or {})[:_MOST_NEAR]]
    guess = f"did you mean {joined(near, last=' or ')}? " if near else ""
    return GmeError(
        f"unknown {kind} {shorten(name, 200)}{where}", guess + (listing or f"known: {joined(names) or 'none'}")
    )


def _near(name: str, names: list[str], about: Mapping[str, str]) -> list[str]:
    """Names that begin with the given one, look like it or contain it; else those whose description contains it."""
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
    """The words as one text. A long list is cut after `most` words, and the text says how many more there are.

    Args:
        last: the separator before the last word of a list that is not cut; default: the same separator.
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
    """The text; one that would flood an error message is cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
