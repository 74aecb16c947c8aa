"""Which formats can be read."""

from __future__ import annotations

from ..errors import unknown
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
    """The registry's entry; an unknown name is a `GmeError` with the closest match."""
    if name not in READERS:
        raise unknown("format", name, READERS)
    return READERS[name]


READERS: dict[str, Reader] = {
    "hotpotqa": Reader(
        "HotpotQA's distractor JSON, passages pooled over questions.",
        MultihopOptions,
        "multihop:read_sentences",
        ("nodes", "questions"),
    ),
    "2wiki": Reader(
        "2WikiMultihopQA's JSON, passages pooled over questions.",
        MultihopOptions,
        "multihop:read_sentences",
        ("nodes", "questions"),
    ),
    "musique": Reader(
        "MuSiQue's JSON lines, paragraphs pooled over questions.",
        MusiqueOptions,
        "multihop:read_musique",
        ("nodes", "questions"),
    ),
    "beir": Reader(
        "A BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv.",
        BeirOptions,
        "beir:read_beir",
        ("nodes", "questions"),
        several=False,
    ),
    "text": Reader(
        "Folders of text and Markdown files, cut into chunks; links become edges.",
        TextOptions,
        "text:read_text",
        ("nodes", "edges"),
    ),
    "edges": Reader(
        "Edge lists in CSV, TSV, Parquet or JSON lines, with --nodes for their texts.",
        EdgeListOptions,
        "edge_list:read_edges",
        ("nodes", "edges"),
        graph=True,
    ),
    "graphml": Reader(
        "A GraphML file.",
        AttributeOptions,
        "networkx_graphs:read_graphml",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "gexf": Reader(
        "A GEXF file, as Gephi and networkx write it.",
        AttributeOptions,
        "networkx_graphs:read_gexf",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "node-link": Reader(
        "Node-link JSON, as networkx and D3 write it.",
        AttributeOptions,
        "networkx_graphs:read_node_link",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "lightrag": Reader(
        "LightRAG's working folder: chunks, documents, entities, relations.",
        LightragOptions,
        "lightrag:read_lightrag",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "graphrag": Reader(
        "Microsoft GraphRAG's output folder of Parquet tables.",
        GraphragOptions,
        "graphrag:read_graphrag",
        ("nodes", "edges"),
        graph=True,
        several=False,
    ),
    "hipporag": Reader(
        "HippoRAG's OpenIE results in JSON.",
        HipporagOptions,
        "hipporag:read_hipporag",
        ("nodes", "edges"),
        graph=True,
    ),
}
