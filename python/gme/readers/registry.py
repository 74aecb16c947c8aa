"""The formats that can be read."""

from __future__ import annotations

from ..registry import Registry, Rules
from .attributes import AttributeOptions
from .beir import BeirOptions
from .edge_list import EdgeListOptions
from .graphrag import GraphragOptions
from .hipporag import HipporagOptions
from .lightrag import LightragOptions
from .multihop import MultihopOptions, MusiqueOptions
from .protocol import Reader
from .text import TextOptions


def lookup(name: str) -> Reader:
    """The format with this name. An unknown name raises a `GmeError` with the closest match."""
    return READERS.find(name)


def register_reader(name: str, entry: Reader, *, replace: bool = False) -> None:
    """Add a format until this process ends; see `Registry.register`.

    Example:
        >>> import gme
        >>> from gme.readers.protocol import Record, Where
        >>> def read(paths, options, context):
        ...     for number, line in enumerate(paths[0].read_text().splitlines(), start=1):
        ...         node = {"id": str(number), "type": "chunk", "text": line}
        ...         yield Record("nodes", node, Where(paths[0], number))
        >>> lines = gme.Reader("A text file, a node a line.", gme.Options, read, ("nodes",), several=False)
        >>> gme.register_reader("lines", lines)
        >>> gme.READERS.unregister("lines")
    """
    READERS.register(name, entry, replace=replace)


_OWN: dict[str, Reader] = {
    "hotpotqa": Reader(
        "HotpotQA's distractor JSON, passages pooled over questions.",
        MultihopOptions,
        "gme.readers.multihop:read_sentences",
        ("nodes", "questions"),
    ),
    "2wiki": Reader(
        "2WikiMultihopQA's JSON, passages pooled over questions.",
        MultihopOptions,
        "gme.readers.multihop:read_sentences",
        ("nodes", "questions"),
    ),
    "musique": Reader(
        "MuSiQue's JSON lines, paragraphs pooled over questions.",
        MusiqueOptions,
        "gme.readers.multihop:read_musique",
        ("nodes", "questions"),
    ),
    "beir": Reader(
        "A BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv.",
        BeirOptions,
        "gme.readers.beir:read_beir",
        ("nodes", "questions"),
        several=False,
    ),
    "text": Reader(
        "Folders of text and Markdown files as chunks; links as edges.",
        TextOptions,
        "gme.readers.text:read_text",
        ("nodes", "edges"),
    ),
    "edges": Reader(
        "Edges in CSV, TSV, Parquet or JSON lines; texts by --nodes.",
        EdgeListOptions,
        "gme.readers.edge_list:read_edges",
        ("nodes", "edges"),
        graph=True,
    ),
    "graphml": Reader(
        "A GraphML file.",
        AttributeOptions,
        "gme.readers.networkx_graphs:read_graphml",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "gexf": Reader(
        "A GEXF file, as Gephi and networkx write it.",
        AttributeOptions,
        "gme.readers.networkx_graphs:read_gexf",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "node-link": Reader(
        "Node-link JSON, as networkx and D3 write it.",
        AttributeOptions,
        "gme.readers.networkx_graphs:read_node_link",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "lightrag": Reader(
        "LightRAG's folder: chunks, documents, entities, relations.",
        LightragOptions,
        "gme.readers.lightrag:read_lightrag",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "graphrag": Reader(
        "Microsoft GraphRAG's output folder of Parquet tables.",
        GraphragOptions,
        "gme.readers.graphrag:read_graphrag",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "hipporag": Reader(
        "HippoRAG's OpenIE results in JSON.",
        HipporagOptions,
        "gme.readers.hipporag:read_hipporag",
        ("nodes", "edges"),
        graph=True,
    ),
}

READERS: Registry[Reader] = Registry(
    "format",
    "gme.readers",
    Reader,
    _OWN,
    rules=Rules(
        options=("force", "path", "paths", "progress", "quiet", "workspace"), function="function", deferred=True
    ),
)
"""All formats by name: those of this package, then those of other packages."""
