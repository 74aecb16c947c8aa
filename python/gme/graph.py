"""The graph of a workspace, and edges found in a corpus by the titles its passages mention."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from orjson import Fragment

from ._core import Graph, title_mentions
from .errors import GmeError, shorten, unknown
from .files import parse_line, read_lines, write_jsonl
from .options import Options, option
from .records import Edges, Nodes
from .types import Progress
from .workspace import EDGES, NODES, Workspace

TITLE_MENTION = "title_mention"
"""The edge type of title mentions: from the passage that mentions to the passage that is mentioned."""


@dataclass(frozen=True)
class MentionOptions(Options):
    """How titles are looked for in texts (NG: literal whole-word matches, disambiguators in parentheses kept)."""

    ignore_case: bool = option(False, "match titles whatever their case")
    min_length: int = option(3, "shortest title to look for, in characters", low=1)


def build_graph(ids: Sequence[str], edges: Iterable[tuple[str, str] | tuple[str, str, float]]) -> Graph:
    """A graph from node ids and edges between them, for use without a workspace.

    Args:
        ids: one id a node; row i of every array belongs to ``ids[i]``.
        edges: (id, id) or (id, id, positive weight). Undirected: direction, duplicates and self-loops do not matter.

    Raises:
        GmeError: duplicate ids, an edge to an unknown id, or a weight that is not a positive number.
    """
    for node_id in ids:
        if not isinstance(node_id, str):
            raise GmeError(f"node ids must be strings, found {shorten(node_id)}", "for example: [str(i) for i in ids]")
    rows = {node_id: row for row, node_id in enumerate(ids)}
    listed = list(edges)
    for edge in listed:
        if len(edge) not in (2, 3) or (len(edge) == 3 and not isinstance(edge[2], int | float)):
            raise GmeError(f"an edge must be (id, id) or (id, id, weight), found {shorten(edge)}")
        for end in edge[:2]:
            if end not in rows:
                raise GmeError(f"edge {edge!r} names the unknown node {end!r}", "list every node in ids")
    sources = np.array([rows[edge[0]] for edge in listed], dtype=np.uint32)
    targets = np.array([rows[edge[1]] for edge in listed], dtype=np.uint32)
    weights = np.array([edge[2] if len(edge) > 2 else 1.0 for edge in listed], dtype=np.float64)
    return Graph(list(ids), sources, targets, weights)


def workspace_graph(nodes: Nodes, edges: Edges, edge_types: Sequence[str] | None = None) -> Graph:
    """The graph of a workspace's records; all edge types count alike.

    Args:
        nodes: the nodes.
        edges: the edges, as rows of `nodes`.
        edge_types: take only edges of these types; None takes all.

    Raises:
        GmeError: no edge has one of the types; the closest one that exists is named.
    """
    if edge_types is None:
        return Graph(nodes.ids, edges.sources, edges.targets, edges.weights)
    names = check_edge_types(edges, edge_types)
    chosen = np.isin(edges.types, [number for number, name in enumerate(edges.type_names) if name in names])
    return Graph(nodes.ids, edges.sources[chosen], edges.targets[chosen], edges.weights[chosen])


def check_edge_types(edges: Edges, edge_types: Sequence[str]) -> list[str]:
    """The types, each once and sorted; one that no edge has is a `GmeError` with the closest match."""
    if isinstance(edge_types, str) or not edge_types:
        raise GmeError(
            f"edge types must be a list of at least one name, found {shorten(edge_types)}",
            f"known: {', '.join(sorted(edges.type_names)) or 'none'}",
        )
    for name in edge_types:
        if name not in edges.type_names:
            raise unknown("edge type", name, edges.type_names)
    return sorted(set(edge_types))


def mention_edges(
    nodes: Nodes,
    options: MentionOptions | None = None,
    *,
    stop_titles: Iterable[str] = (),
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Find which passages mention which titles (NG: passage A's text contains passage B's title as whole words).

    Args:
        nodes: those with a title are looked for in the texts of all; a title several nodes share leads to each.
        options: matching options.
        stop_titles: titles that are never looked for.
        threads: 0 means all cores; any number gives the same edges.
        progress: called with (passages done, passages).

    Returns:
        (mentioning rows, mentioned rows), uint32, sorted by mentioning row, self-mentions left out.
    """
    options = options or MentionOptions()
    stopped = set(stop_titles)
    titled = [row for row, title in enumerate(nodes.titles) if title and title not in stopped]
    patterns, texts = title_mentions(
        [nodes.titles[row] or "" for row in titled],
        nodes.texts,
        ignore_case=options.ignore_case,
        min_length=options.min_length,
        threads=threads,
        progress=progress,
    )
    mentioned = np.array(titled, dtype=np.uint32)[patterns]
    others = mentioned != texts
    mentioning, mentioned = texts[others], mentioned[others]
    order = np.lexsort((mentioned, mentioning))
    return mentioning[order], mentioned[order]


def write_mentions(
    workspace: Workspace,
    options: MentionOptions | None = None,
    *,
    stop_file: Path | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Add title mentions to a workspace's `edges.jsonl`; edges of other types stay as they are, line for line.

    Args:
        workspace: its nodes need titles.
        options: matching options.
        stop_file: a list of titles that are never looked for, see `read_titles`.
        threads: 0 means all cores.
        progress: called with (passages done, passages).

    Returns:
        Counts: ``edges`` written by this call, ``kept`` edges of other types, ``titles`` looked for, ``passages``.
    """
    nodes = workspace.nodes
    if not any(nodes.titles):
        raise GmeError(
            f"no node of {workspace.path('nodes.jsonl')} has a title", "give the nodes that may be mentioned a 'title'"
        )
    stop_titles = read_titles(stop_file) if stop_file else []
    mentioning, mentioned = mention_edges(nodes, options, stop_titles=stop_titles, threads=threads, progress=progress)
    kept = 0

    def records() -> Iterator[dict[str, Any] | Fragment]:
        nonlocal kept
        path = workspace.path(EDGES)
        if path.is_file():
            for number, line in read_lines(path):
                if parse_line(path, number, line).get("type") != TITLE_MENTION:
                    kept += 1
                    yield Fragment(line)  # not the parsed record: a number too long for float64 would be rounded
        for source, target in zip(mentioning.tolist(), mentioned.tolist(), strict=True):
            yield {"source": nodes.ids[source], "target": nodes.ids[target], "type": TITLE_MENTION}

    write_jsonl(workspace.path(EDGES), records())
    stop = "".join(f" --stop-titles {shlex.quote(str(path))}" for path in [stop_file] if path)
    workspace.record_origin(EDGES, f"gme graph mentions{(options or MentionOptions()).command()}{stop}", [NODES])
    titles = sum(title is not None for title in nodes.titles)
    return {"edges": len(mentioning), "kept": kept, "titles": titles, "passages": len(nodes)}


def read_titles(path: Path) -> list[str]:
    """Read a stop-title list: one title a line, UTF-8, blank lines ignored."""
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise GmeError(f"{path}: not UTF-8 text: {error}", "save the list as UTF-8, one title a line") from error
