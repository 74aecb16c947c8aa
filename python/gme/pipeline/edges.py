"""Writes what a builder finds to a workspace. Its own lines are replaced in place, and all other lines are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import orjson

from ..builders.documents import Documents, between_documents, documents_of
from ..builders.mentions import MentionOptions
from ..builders.protocol import BY, Found, Record, by
from ..builders.registry import EDGE_BUILDERS, lookup
from ..command_line import command_line
from ..errors import GmeError
from ..formatting import counted
from ..options import Options
from ..registry import made_by
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.atomic import atomic_write
from ..storage.files import parse_line, read_lines, sha256
from ..types import Progress
from ..workspace import Workspace, exclusive_lock
from ..workspace.layout import EDGES, NODES
from ..workspace.manifests import Part
from ..workspace.records import Nodes
from ..workspace.staleness import DROPPED

_LAYER = by("entities")


@dataclass(frozen=True)
class AddedEdges:
    """The result of `add_edges`.

    `edges` counts the edges written, `kept` the edges of others, and `nodes` the nodes added. `facts` are sentences
    for people. `hint` says what to try if no edges were found; else it is empty.
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
) -> AddedEdges:
    """Find edges and write them into a workspace's `edges.jsonl`. The builder `entities` also writes `nodes.jsonl`.

    The builder's earlier lines are replaced in place, so running it twice changes nothing. Every other line stays as it
    is, byte for byte. Builders may run in any order and find the same edges. If nodes change later, the edges are
    stale, and the message names the commands of all builders with lines in the file.

    No edge is written between a document and its own parts or among these parts, because `part_of` edges already
    connect them. If a text mentions its own document's title, no edge leads to other documents with that title either.

    Args:
        workspace: needs nodes.jsonl.
        builder: a key of `EDGE_BUILDERS`.
        options: an instance of the entry's options class; None takes the defaults.
        threads: 0 means all cores. The result does not depend on it.
        reporter: hears the progress.

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
        found = _find(builder, nodes, options, threads, progress)
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
    workspace.hash(NODES)  # raises if the nodes have changed since, because the edges would not belong to them
    _record(workspace, parts, builder, builder_command(builder, options), before)
    hint = "" if edges else _wider(builder, options, nodes, documents, threads) or found.hint or entry.hint
    return AddedEdges(edges, kept, added, found.facts, hint)


@takes_callbacks
def write_mentions(
    workspace: Workspace,
    options: MentionOptions | None = None,
    *,
    threads: int = 0,
    reporter: Reporter = SILENT,
) -> AddedEdges:
    """Add title mentions to a workspace's `edges.jsonl`: `add_edges` with the builder ``mentions``.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("benchmark")
        >>> _ = gme.write_benchmark(workspace, people=20, questions=1)
        >>> gme.write_mentions(workspace).edges
        315
    """
    return add_edges(workspace, "mentions", options, threads=threads, reporter=reporter)


def _find(builder: str, nodes: Nodes, options: Options, threads: int, progress: Progress | None) -> Found:
    """What a builder finds. An error of another package's builder names that package."""
    entry = lookup(builder)
    with EDGE_BUILDERS.blaming(builder):
        found = entry.find(nodes, options, threads, progress)
    if not isinstance(found, Found):
        raise GmeError(
            f"{EDGE_BUILDERS.described(builder)} returned {type(found).__name__}", "return gme.builders.Found"
        )
    return replace(found, edges=EDGE_BUILDERS.blaming_each(builder, found.edges))


def _wider(builder: str, options: Options, nodes: Nodes, documents: Documents, threads: int) -> str:
    """The command with wider options that finds edges, and how many; empty if none does."""
    entry = EDGE_BUILDERS[builder]
    usual = {name: vars(entry.options())[name] for name in entry.wider}
    changes = [usual, *({**usual, name: value} for name, value in entry.wider.items())]
    tried = [options]
    for change in [*changes, entry.wider]:
        wider = replace(options, **change)
        if wider in tried:
            continue
        tried.append(wider)
        edges = sum(1 for _ in between_documents(_find(builder, nodes, wider, threads, None).edges, documents, nodes))
        if edges:
            return f"{builder_command(builder, wider)} finds {counted(edges, 'edge')}"
    return ""


def builder_command(builder: str, options: Options) -> str:
    """The command line that finds the same edges again."""
    return command_line("gme graph", [builder], options.changed())


def without_layer(workspace: Workspace) -> Nodes:
    """The nodes of a workspace, without those that ``gme graph entities`` added."""
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
    """Copy a file with the owned lines replaced by `records`. They go where the first owned line was, else to the end.

    Returns:
        How many records were written, and how many lines were kept.
    """
    written = kept = 0
    pending = True
    for number, line in read_lines(path) if path.is_file() else ():
        if owns(parse_line(path, number, line)):
            if pending:
                written, pending = _write(handle, records), False
        else:
            kept += 1
            handle.write(line + b"\n")  # the line itself, because parsing would round a number too long for float64
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
    """Builder -> its command and inputs, for all that wrote the file; none if somebody has edited the file since."""
    origin = workspace.origin(EDGES)
    if origin is None:
        return {}
    parts: dict[str, Part] = origin.get("builders", {})
    if not parts and origin["command"].startswith("gme graph mentions"):  # the form before builders were combined
        parts = {"mentions": {"command": origin["command"], "inputs": origin["inputs"]}}
    return parts


def remember_dropped(workspace: Workspace, parts: dict[str, Part]) -> list[str]:
    """Record the builders whose lines a new `edges.jsonl` lacks. The file is stale until each of them has run again.

    Returns:
        Their commands, in the order in which to run them.
    """
    for part in parts.values():
        part["inputs"] = {NODES: DROPPED}
    return _write_origin(workspace, parts, DROPPED)


def _record(workspace: Workspace, parts: dict[str, Part], builder: str, again: str, before: str) -> None:
    """Record all builders. One builder whose edges are stale makes the whole file stale."""
    now = sha256(workspace.path(NODES))
    for part in parts.values():
        # Builders do not see the entity layer, so edges found without it are still right with it.
        if part["inputs"].get(NODES) == before:
            part["inputs"] = {NODES: now}
    parts[builder] = {"command": again, "inputs": {NODES: now}, **made_by(builder=EDGE_BUILDERS.source(builder))}
    stale = [part["inputs"][NODES] for part in parts.values() if part["inputs"].get(NODES, now) != now]
    _write_origin(workspace, parts, min(stale, default=now))


def _write_origin(workspace: Workspace, parts: dict[str, Part], nodes: str) -> list[str]:
    """Record the builders, and the hash of the nodes that all edges count as made from. Returns their commands."""
    listed = {name: parts[name] for name in sorted(parts, key=EDGE_BUILDERS.place)}
    commands = [str(part["command"]) for part in listed.values()]
    workspace.record_origin(EDGES, " && ".join(commands), builders=listed, inputs={NODES: nodes})
    return commands
