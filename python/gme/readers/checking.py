"""Reads a source and checks its records like those of a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten
from ..options import Options, make
from ..workspace.records import MAX_ID_LENGTH, check_weight
from .protocol import ReadContext, Reader, Record, Where
from .registry import READERS, lookup


def read_records(
    name: str,
    paths: Sequence[Path | str],
    *,
    context: ReadContext | None = None,
    **options: Any,
) -> Iterator[Record]:
    """Read a source and yield its records, checked like those that a workspace gets.

    Args:
        name: a key of `READERS`.
        paths: files or folders, depending on the format.
        context: gets progress and warnings.
        options: the reader's options.

    Raises:
        GmeError: an unknown format or option, or a record that is not valid; the message names file and line.

    Example:
        >>> import gme
        >>> [record.kind for record in gme.read_records("text", ["notes"])]
        ['nodes', 'nodes', 'edges']
    """
    entry = lookup(name)
    made = make(entry.options, options, f"reader {name!r}")
    context = context or ReadContext(strict=bool(options.get("strict")))
    return records_of(name, paths, made, context)


def records_of(name: str, paths: Sequence[Path | str], options: Options, context: ReadContext) -> Iterator[Record]:
    """`read_records` with options that are checked already."""
    entry = lookup(name)
    given = existing_paths(entry, name, paths)
    with READERS.blaming(name):
        records = entry.read(given, options, context)
    return checked(READERS.blaming_each(name, records))


def existing_paths(entry: Reader, name: str, paths: Sequence[Path | str]) -> list[Path]:
    """The paths of a source, as many as its format takes. All of them exist, or it is a `GmeError`."""
    given = [Path(path) for path in paths]
    if not given or (len(given) > 1 and not entry.several):
        raise GmeError(f"{name} takes {'at least ' if entry.several else ''}one path, found {len(given)}")
    for path in given:
        if not path.exists():
            raise GmeError(f"{path} does not exist", "check the path")
    return given


def checked(records: Iterable[Record]) -> Iterator[Record]:
    """Yield records, and refuse those that reading the workspace would refuse later without naming their origin."""
    nodes: dict[str, int] = {}
    questions: dict[str, int] = {}
    for record in records:
        value, where = record.value, record.where
        if record.kind == "nodes":
            _check_id(value["id"], nodes, where)
        elif record.kind == "edges":
            for end in ("source", "target"):
                if value[end] not in nodes:
                    raise GmeError(
                        f"{where}: edge {end} {shorten(value[end])} is no node", "add the node or remove the edge"
                    )
            check_weight(value.get("weight", 1.0), where)
        else:
            _check_id(value["id"], questions, where)
            for gold in value["gold"]:
                if gold not in nodes:
                    raise GmeError(f"{where}: gold id {shorten(gold)} is no node", "gold lists the ids of nodes")
        yield record


def _check_id(value: str, seen: dict[str, int], where: Where) -> None:
    if not value:
        raise GmeError(f"{where}: the id is empty")
    if len(value) > MAX_ID_LENGTH:
        raise GmeError(
            f"{where}: the id has {len(value)} characters, the limit is {MAX_ID_LENGTH}: {shorten(value)}",
            "ids are keys, repeated in every run: use a short one and keep the long form in another field",
        )
    if value in seen:
        first = f", first seen on line {seen[value]}" if seen[value] else ""
        raise GmeError(f"{where}: duplicate id {shorten(value)}{first}", "ids must be unique")
    seen[value] = where.line
