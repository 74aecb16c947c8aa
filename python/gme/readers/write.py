"""From records to the files of a workspace: checked on the way, all written before any is renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import orjson

from ..commits import atomic_write
from ..errors import GmeError, shorten
from ..options import Options, make
from ..records import MAX_ID_LENGTH, check_weight
from ..staleness import remake
from ..types import Progress
from ..workspace import EDGES, Workspace, alone
from .protocol import Context, Kind, Reader, ReadResult, Record, Where
from .registry import lookup

_FILES: tuple[Kind, ...] = ("nodes", "edges", "questions")
_COUNTED = {"nodes": "type", "edges": "type", "questions": "family"}


def read_records(
    name: str,
    paths: Sequence[Path | str],
    *,
    context: Context | None = None,
    **options: Any,
) -> Iterator[Record]:
    """Read a source and yield its records, checked like those that are written.

    Args:
        name: a key of `READERS`.
        paths: files or folders, as the format has it.
        context: told of progress and oddities.
        options: the reader's options.

    Raises:
        GmeError: unknown format or option, or a record that is wrong; the message names file and line.
    """
    entry = lookup(name)
    made = make(entry.options, options, f"reader {name!r}")
    context = context or Context(strict=bool(options.get("strict")))
    return checked(entry.read(_paths(entry, name, paths), made, context))


@alone
def read_workspace(
    workspace: Workspace,
    name: str,
    paths: Sequence[Path | str],
    options: Options | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> ReadResult:
    """Read a source into a workspace's nodes.jsonl, edges.jsonl and questions.jsonl, whichever it has.

    The files are complete beside the old ones before the first is renamed, so that a failure leaves the old ones as
    they were. A source that is no graph leaves edges.jsonl alone, for an edge builder to write. Where edges.jsonl is
    replaced, what builders had added to it is lost: it is stale until they have run again.

    Args:
        workspace: where to write.
        name: a key of `READERS`.
        paths: files or folders, as the format has it.
        options: an instance of the entry's options class; defaults if not given.
        force: replace files that exist; without it they are an error.
        progress: called with (bytes read, bytes to read).
    """
    entry = lookup(name)
    options = options or entry.options()
    there = [kind for kind in _FILES if workspace.path(f"{kind}.jsonl").exists()]
    taken = [kind for kind in there if kind in entry.writes]
    if taken and not force:
        raise GmeError(
            f"{workspace.path(f'{taken[0]}.jsonl')} exists already",
            "add --force to replace it, or name another folder with -w",
        )
    from ..builders.write import builders_of, remember_dropped  # builders know of readers

    builders = builders_of(workspace)
    context = Context(strict=bool(options.as_dict().get("strict")), progress=progress)
    records = checked(entry.read(_paths(entry, name, paths), options, context))
    counts, titles = _write(workspace, records, ["nodes", "edges"] if entry.graph else ["nodes"])
    written = [kind for kind in _FILES if kind in counts]
    if "edges" not in written:
        builder = "mentions" if titles else "entities"
        context.notes.append(f"this source has no edges; find some, for example with: gme graph {builder}")
    result = ReadResult(counts, written, list(context.warnings()), context.notes)
    if "edges" in written and not builders:
        workspace.forget_origin(EDGES)
    elif "edges" in written:
        commands = remember_dropped(workspace, builders)
        result.warnings.append(
            (
                f"{workspace.path(EDGES)} was written anew, without what these had added: {', '.join(commands)}",
                f"{remake(commands)}; to go on without them, remove that file and read again",
            )
        )
    for kind in there:
        if kind not in written:
            result.warnings.append(
                (
                    f"{workspace.path(f'{kind}.jsonl')} was there before and stays as it was",
                    f"this source has no {kind}; remove the file if it belongs to other nodes",
                )
            )
    return result


def _paths(entry: Reader, name: str, paths: Sequence[Path | str]) -> list[Path]:
    given = [Path(path) for path in paths]
    if not given or (len(given) > 1 and not entry.several):
        raise GmeError(f"{name} takes {'at least ' if entry.several else ''}one path, found {len(given)}")
    for path in given:
        if not path.exists():
            raise GmeError(f"{path} does not exist", "check the path")
    return given


def _write(workspace: Workspace, records: Iterable[Record], always: list[Kind]) -> tuple[dict[Kind, Counter[str]], int]:
    """Write the records; a file is begun by its first record, those in `always` in any case.

    Returns:
        How many of each sort there are, and how many nodes have a title.
    """
    counts: dict[Kind, Counter[str]] = {}
    titles = 0
    handles: dict[Kind, IO[bytes]] = {}
    with ExitStack() as stack:

        def begin(kind: Kind) -> None:
            counts[kind] = Counter()
            handles[kind] = stack.enter_context(atomic_write(workspace.path(f"{kind}.jsonl")))

        for kind in always:
            begin(kind)
        for record in records:
            if record.kind not in handles:
                begin(record.kind)
            handles[record.kind].write(_line(record))
            counts[record.kind][record.value.get(_COUNTED[record.kind], "")] += 1
            titles += record.kind == "nodes" and bool(record.value.get("title"))
        if not counts["nodes"]:
            raise GmeError("the source holds no nodes", "check the path and the format")
    return counts, titles


def _line(record: Record) -> bytes:
    try:
        return orjson.dumps(record.value, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    except TypeError as error:  # lone surrogates, numbers beyond 64 bits
        raise GmeError(f"{record.where}: can't be written as JSON: {error}", "correct the value there") from error


def checked(records: Iterable[Record]) -> Iterator[Record]:
    """Pass records through, refusing what `records.read_nodes` and its kin would refuse later without the place."""
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
