"""From what a builder finds to the files of a workspace: its own lines replaced where they stood, all others kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import orjson

from ..builders.documents import Documents, between_documents, documents_of
from ..builders.mentions import MentionOptions
from ..builders.protocol import BY, Record, by
from ..builders.registry import EDGE_BUILDERS, lookup
from ..command_line import command_line
from ..errors import GmeError
from ..formatting import counted
from ..options import Options
from ..registry import made_by
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.atomic import atomic_write
from ..storage.files import parse_line, read_lines, sha256
from ..workspace import Workspace, exclusive_lock
from ..workspace.layout import EDGES, NODES
from ..workspace.manifests import Part
from ..workspace.records import Nodes
from ..workspace.staleness import DROPPED

_LAYER = by("entities")


@dataclass(frozen=True)
class Built:
    """What was written: `edges` by this call, `kept` edges of others, `nodes` added; and what there is to say.

    `hint` is what to try where there are no edges, empty where there are.
    """

    edges: int
    kept: int
    nodes: int
    facts: list[str] = field(default_factory=list)
    hint: str = ""


@takes_callbacks
@exclusive_lock
def add_edges(
    workspace: Workspace,
    builder: str,
    options: Options | None = None,
    *,
    threads: int = 0,
    reporter: Reporter = SILENT,
) -> Built:
    """Find edges and write them into a workspace's `edges.jsonl`, and for `entities` their nodes into `nodes.jsonl`.

    What the builder wrote before is replaced, in place, so that running it twice changes nothing; every other line
    stays as it is, byte for byte. Builders may be combined in any order, and find the same edges in each. When nodes
    change later, the edges are stale, and the message names the commands of all builders that have lines in the file.

    No edge is written between a document and its own parts, or among these: `part_of` edges hold them together. Nor for
    the mention of a document's title in its own text, where other documents have that title too.

    Args:
        workspace: needs nodes.jsonl.
        builder: a key of `EDGE_BUILDERS`.
        options: an instance of the entry's options class; defaults if not given.
        threads: 0 means all cores; any number gives the same bytes.
        reporter: told of progress.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("benchmark")
        >>> _ = gme.write_benchmark(workspace, people=20, questions=1)
        >>> gme.add_edges(workspace, "mentions").edges
        315
    """
    entry = lookup(builder)
    options = options or entry.options()
    nodes = without_layer(workspace)
    before = workspace.hash(NODES)
    parts = builders_of(workspace)
    documents = documents_of(nodes, workspace.path(EDGES))
    with reporter.progress(f"graph {builder}", "passages") as progress:
        found = entry.find(nodes, options, threads, progress)
    if found.nodes is not None and builder != "entities":
        raise GmeError(f"edge builder {builder!r} returned nodes", "only the builder 'entities' can add nodes")
    added = 0
    with ExitStack() as stack:
        edge_file = stack.enter_context(atomic_write(workspace.path(EDGES)))
        records: Iterable[Record] = between_documents(found.edges, documents, nodes)
        owns = entry.owns
        if owns is None:
            owns, records = _owned_by(builder), _stamped(records, builder)
        edges, kept = _replace(workspace.path(EDGES), edge_file, owns, records)
        if found.nodes is not None:
            node_file = stack.enter_context(atomic_write(workspace.path(NODES)))
            added, _ = _replace(workspace.path(NODES), node_file, _in_layer, found.nodes)
    workspace.hash(NODES)  # as it was read, or else these edges are not its own
    _record(workspace, parts, builder, builder_command(builder, options), before)
    hint = "" if edges else _wider(builder, options, nodes, documents, threads) or found.hint or entry.hint
    return Built(edges, kept, added, found.facts, hint)


@takes_callbacks
def write_mentions(
    workspace: Workspace,
    options: MentionOptions | None = None,
    *,
    threads: int = 0,
    reporter: Reporter = SILENT,
) -> Built:
    """Add title mentions to a workspace's `edges.jsonl`: `add_edges` with the builder ``mentions``.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("benchmark")
        >>> _ = gme.write_benchmark(workspace, people=20, questions=1)
        >>> gme.write_mentions(workspace).edges
        315
    """
    return add_edges(workspace, "mentions", options, threads=threads, reporter=reporter)


def _wider(builder: str, options: Options, nodes: Nodes, documents: Documents, threads: int) -> str:
    """With which of its wider options the builder finds edges, as a command, if there are such; else empty."""
    entry = EDGE_BUILDERS[builder]
    usual = {name: vars(entry.options())[name] for name in entry.wider}
    changes = [usual, *({**usual, name: value} for name, value in entry.wider.items())]
    tried = [options]
    for change in [*changes, entry.wider]:
        wider = replace(options, **change)
        if wider in tried:
            continue
        tried.append(wider)
        edges = sum(1 for _ in between_documents(entry.find(nodes, wider, threads, None).edges, documents, nodes))
        if edges:
            return f"{builder_command(builder, wider)} finds {counted(edges, 'edge')}"
    return ""


def builder_command(builder: str, options: Options) -> str:
    """The command line that finds the same edges again."""
    return command_line("gme graph", [builder], options.changed())


def without_layer(workspace: Workspace) -> Nodes:
    """The nodes of a workspace, those left out that ``gme graph entities`` added."""
    nodes = workspace.nodes
    mark = _LAYER.encode()
    path = workspace.path(NODES)
    layer = {
        record["id"]
        for number, line in read_lines(path)
        if mark in line and _in_layer(record := parse_line(path, number, line))
    }
    if not layer:
        return nodes
    rows = [row for row, node_id in enumerate(nodes.ids) if node_id not in layer]
    ids = [nodes.ids[row] for row in rows]
    return Nodes(
        ids,
        [nodes.types[row] for row in rows],
        [nodes.texts[row] for row in rows],
        [nodes.titles[row] for row in rows],
        {node_id: row for row, node_id in enumerate(ids)},
    )


def _owned_by(builder: str) -> Callable[[Record], bool]:
    return lambda record: record.get(BY) == by(builder)


def _stamped(records: Iterable[Record], builder: str) -> Iterable[Record]:
    return ({**record, BY: by(builder)} for record in records)


def _in_layer(record: Record) -> bool:
    return record.get(BY) == _LAYER


def _replace(
    path: Path, handle: IO[bytes], owns: Callable[[Record], bool], records: Iterable[Record]
) -> tuple[int, int]:
    """Copy a file with the owned lines replaced by `records`, at the place of the first one, else at the end.

    Returns:
        How many records were written, and how many lines kept.
    """
    written = kept = 0
    pending = True
    for number, line in read_lines(path) if path.is_file() else ():
        if owns(parse_line(path, number, line)):
            if pending:
                written, pending = _write(handle, records), False
        else:
            kept += 1
            handle.write(line + b"\n")  # not the parsed record: a number too long for float64 would be rounded
    if pending:
        written = _write(handle, records)
    return written, kept


def _write(handle: IO[bytes], records: Iterable[Record]) -> int:
    count = 0
    for record in records:
        handle.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        count += 1
    return count


def builders_of(workspace: Workspace) -> dict[str, Part]:
    """Builder -> its command and inputs, for all that wrote the file as it is; a file edited since is the user's."""
    origin = workspace.origin(EDGES)
    if origin is None:
        return {}
    parts: dict[str, Part] = origin.get("builders", {})
    if not parts and origin["command"].startswith("gme graph mentions"):  # as written before builders were combined
        parts = {"mentions": {"command": origin["command"], "inputs": origin["inputs"]}}
    return parts


def remember_dropped(workspace: Workspace, parts: dict[str, Part]) -> list[str]:
    """Remember the builders whose lines a new `edges.jsonl` lacks, so that it is stale until each has run again.

    Returns:
        Their commands, in the order in which to run them.
    """
    for part in parts.values():
        part["inputs"] = {NODES: DROPPED}
    return _write_origin(workspace, parts, DROPPED)


def _record(workspace: Workspace, parts: dict[str, Part], builder: str, again: str, before: str) -> None:
    """Remember all builders. The file is as old as its oldest part: one that is stale makes the whole file so."""
    now = sha256(workspace.path(NODES))
    for part in parts.values():
        # No builder looks at the entity layer, so what was found in the nodes without it holds with it.
        if part["inputs"].get(NODES) == before:
            part["inputs"] = {NODES: now}
    parts[builder] = {"command": again, "inputs": {NODES: now}, **made_by(builder=EDGE_BUILDERS.source(builder))}
    stale = [part["inputs"][NODES] for part in parts.values() if part["inputs"].get(NODES, now) != now]
    _write_origin(workspace, parts, min(stale, default=now))


def _write_origin(workspace: Workspace, parts: dict[str, Part], nodes: str) -> list[str]:
    """Remember builders, and the hash of the nodes that all edges count as made from; returns their commands."""
    listed = {name: parts[name] for name in sorted(parts, key=EDGE_BUILDERS.place)}
    commands = [str(part["command"]) for part in listed.values()]
    workspace.record_origin(EDGES, " && ".join(commands), builders=listed, inputs={NODES: nodes})
    return commands
