"""The step ``gme graph read``: writes records to the files of a workspace. All are written before any is renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import orjson

from ..errors import GmeError
from ..options import Options
from ..readers.checking import records_of
from ..readers.protocol import Kind, ReadContext, ReadResult, Record
from ..readers.registry import lookup
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.atomic import atomic_write
from ..workspace import Workspace, exclusive_lock
from ..workspace.layout import EDGES
from ..workspace.staleness import rerun_hint
from .edges import builders_of, remember_dropped

_FILES: tuple[Kind, ...] = ("nodes", "edges", "questions")

_COUNTED = {"nodes": "type", "edges": "type", "questions": "family"}


@takes_callbacks
@exclusive_lock
def read_workspace(
    workspace: Workspace,
    name: str,
    paths: Sequence[Path | str],
    options: Options | None = None,
    *,
    force: bool = False,
    reporter: Reporter = SILENT,
) -> ReadResult:
    """Read a source into nodes.jsonl, edges.jsonl and questions.jsonl of a workspace. Not every source fills all three.

    All new files are complete before the first is renamed, so a failure leaves the old files as they were. If the
    source is no graph, edges.jsonl is not touched; an edge builder writes it. If edges.jsonl is replaced, the edges of
    builders are lost, and the file is stale until the builders have run again.

    Args:
        workspace: the workspace to write to.
        name: a key of `READERS`.
        paths: files or folders, depending on the format.
        options: an instance of the entry's options class; None takes the defaults.
        force: replace existing files. Without it they are an error.
        reporter: hears the progress in bytes.

    Example:
        >>> import gme
        >>> result = gme.read_workspace(gme.Workspace("new"), "text", ["notes"])
        >>> result.written, dict(result.counts["nodes"])
        (['nodes', 'edges'], {'document': 1, 'chunk': 1})
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
    builders = builders_of(workspace)
    with reporter.progress(f"read {name}", "bytes") as progress:
        context = ReadContext(strict=bool(options.as_dict().get("strict")), progress=progress)
        records = records_of(name, paths, options, context)
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
                f"{workspace.path(EDGES)} is written again, without the edges of these commands: {', '.join(commands)}",
                f"{rerun_hint(commands)}; to go on without them, remove that file and read again",
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


def _write(workspace: Workspace, records: Iterable[Record], always: list[Kind]) -> tuple[dict[Kind, Counter[str]], int]:
    """Write the records. The first record of a kind begins its file. The files in `always` are begun in any case.

    Returns:
        How many records of each type or family there are, and how many nodes have a title.
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
