"""The reader interface: a function from paths to records, and the context that it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..deprecation import deprecated, former_names_of
from ..errors import GmeError, shorten
from ..options import Options
from ..registry import load_function
from ..types import Progress

Kind = Literal["nodes", "edges", "questions"]
"""The workspace file that a record goes to."""

_EXAMPLES = 3
_REPORT = 1 << 18


class Where(NamedTuple):
    """The origin of a record, for messages."""

    path: Path
    line: int = 0
    detail: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.detail}" if self.detail else place


class Record(NamedTuple):
    """One line of a workspace file, and where it was read. A reader yields nodes before the edges between them."""

    kind: Kind
    value: dict[str, Any]
    where: Where


class ReadContext:
    """Receives a reader's progress, and what the reader could not use.

    Args:
        strict: raise an error for each warning instead of counting it.
        progress: called with (bytes read, bytes to read).
    """

    def __init__(self, *, strict: bool = False, progress: Progress | None = None) -> None:
        self.strict = strict
        self.notes: list[str] = []
        self._progress = progress
        self._total = 0
        self._done = 0
        self._unreported = 0
        self._warnings: Counter[tuple[str, str]] = Counter()
        self._examples: dict[tuple[str, str], list[str]] = {}

    def expect(self, paths: Sequence[Path], passes: int = 1) -> None:
        """Announce files that will be read. Each must exist."""
        for path in paths:
            if not path.is_file():
                raise GmeError(f"{path} is missing or not a file", "check the path")
            self._total += path.stat().st_size * passes

    def advance(self, count: int) -> None:
        """Report that `count` more bytes have been read."""
        self._done += count
        self._unreported += count
        if self._progress is not None and self._unreported >= _REPORT:
            self._unreported = 0
            self._progress(min(self._done, self._total), self._total)

    def add_warning(self, what: str, where: object, hint: str) -> None:
        """Count something that is left out. If strict, raise it as an error.

        Args:
            what: the kind of warning, a phrase in the plural: "supporting facts that name no passage".
            where: this case: the file, the line, the question's id.
            hint: what the user can do.
        """
        if self.strict:
            raise GmeError(f"{where} ({what})", hint)
        key = (what, hint)
        self._warnings[key] += 1
        examples = self._examples.setdefault(key, [])
        if len(examples) < _EXAMPLES:
            examples.append(str(where))

    def odd(self, what: str, where: object, hint: str) -> None:
        """The former name of `add_warning`."""
        deprecated("gme.readers.protocol.ReadContext.odd", "add_warning")
        self.add_warning(what, where, hint)

    def warnings(self) -> Iterator[tuple[str, str]]:
        """(message, hint) for each kind of warning, with the number of cases and the first few."""
        for (what, hint), count in self._warnings.items():
            examples = "; ".join(self._examples[what, hint])
            more = ", …" if count > _EXAMPLES else ""
            yield f"{what} ({count:,}): {examples}{more}", hint


Read = Callable[[list[Path], Any, ReadContext], Iterator[Record]]


@dataclass(frozen=True)
class Reader:
    """An entry of the registry.

    Args:
        summary: one line for the help.
        options: the option class.
        function: a function ``(paths, options, context)`` that yields records, or its ``module:name``. With the
            second form the help does not import it.
        writes: the workspace files that such a source may fill.
        graph: whether the source is a graph. If a graph has no edges, an empty edges.jsonl is written to say so.
        several: whether more than one path may be given.
    """

    summary: str
    options: type[Options]
    function: str | Read
    writes: tuple[Kind, ...]
    graph: bool = False
    several: bool = True

    def read(self, paths: list[Path], options: Options, context: ReadContext) -> Iterator[Record]:
        """Yield the records of `paths`."""
        function: Read = load_function(self.function)
        return function(paths, options, context)


@dataclass
class ReadResult:
    """What was read: counts by type (nodes, edges) or family (questions), warnings as (message, hint), and notes."""

    counts: dict[Kind, Counter[str]]
    written: list[Kind]
    warnings: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def text_of(record: dict[str, Any], key: str, where: Where, *, default: str | None = None) -> str:
    """The string at `key`. If it is missing or no string, a `GmeError` names the field."""
    value = record.get(key, default)
    if value is None:
        raise GmeError(f"{where}: {key!r} is missing", f"found the fields {', '.join(sorted(record)) or 'none'}")
    if not isinstance(value, str):
        raise GmeError(f"{where}: {key!r} must be a string, found {shorten(value)}")
    return value


def identifier(value: object, name: str, where: Where) -> str:
    """An id as a string. Whole numbers become digits. Anything else but a string raises a `GmeError`."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or value == "":
        raise GmeError(f"{where}: {name!r} is missing or empty")
    raise GmeError(f"{where}: {name!r} must be a string or a whole number, found {shorten(value)}")


def with_extra(record: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Add the source's other fields. Those whose names are taken go into ``metadata``, so that nothing is lost."""
    taken = {key: value for key, value in extra.items() if key in record}
    record.update((key, value) for key, value in extra.items() if key not in taken and value is not None)
    if taken:
        metadata = record.get("metadata")
        record["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), **taken}
    return record


def titled(title: str, text: str, bare: bool) -> str:
    """A text that starts with its title unless `bare`. Retrieval corpora are usually embedded with titles."""
    return text if bare or not title else f"{title}. {text}"


__getattr__ = former_names_of(__name__, {"Context": ("gme.readers.ReadContext", lambda: ReadContext)})
