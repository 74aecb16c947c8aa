"""Which nodes are parts of which document. Builders use it so that no document is connected with itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ..readers.entities import PART_OF
from ..storage.files import parse_line, read_lines
from ..unicode_normalization import nfc
from ..workspace.records import Nodes
from .mentions import TITLE_MENTION
from .protocol import Record

Documents = dict[str, frozenset[str]]
"""Node id -> its documents. A document is part of itself. Nodes of no document are left out."""


def documents_of(nodes: Nodes, edges: Path) -> Documents:
    """The documents of each node, from the `part_of` edges to nodes of type `document`, as readers write them."""
    own = {node_id: frozenset([node_id]) for row, node_id in enumerate(nodes.ids) if nodes.types[row] == "document"}
    found: Documents = dict(own)
    mark = PART_OF.encode()
    for number, line in read_lines(edges) if own and edges.is_file() else ():
        if mark not in line:
            continue
        edge = parse_line(edges, number, line)
        part, whole = edge.get("source"), edge.get("target")
        if edge.get("type") == PART_OF and isinstance(part, str) and whole in own:
            found[part] = found[part] | own[whole] if part in found else own[whole]
    return found


def between_documents(edges: Iterable[Record], documents: Documents, nodes: Nodes) -> Iterator[Record]:
    """Leave out the edges within one document, because its `part_of` edges already connect its parts.

    A chunk often names its own document's title, mostly in its first words. This says nothing about the chunk, and it
    does not mean other documents with the same title. Otherwise, of n notes called README, each part would be connected
    with all parts of all the others.
    """
    none: frozenset[str] = frozenset()

    @cache
    def title(node_id: str) -> str:
        return nfc(nodes.titles[nodes.rows[node_id]] or "").casefold()

    for edge in edges:
        source, target = edge["source"], edge["target"]
        own = documents.get(source, none)
        if not own.isdisjoint(documents.get(target, none)):
            continue
        if own and edge["type"] == TITLE_MENTION and title(target) in {title(each) for each in (source, *own)}:
            continue
        yield edge
