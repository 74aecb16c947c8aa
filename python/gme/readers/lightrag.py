"""LightRAG's working folder: chunks, documents, entities and relations, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten
from ..options import Options, option
from .entities import MENTIONS, PART_OF, entity_id, entity_record, first_line, relation_record
from .json_stream import members
from .networkx_graphs import load_xml
from .protocol import ReadContext, Record, Where, text_of, with_extra

SEPARATOR = "<SEP>"
_GRAPH, _CHUNKS, _DOCUMENTS = (
    "graph_chunk_entity_relation.graphml",
    "kv_store_text_chunks.json",
    "kv_store_full_docs.json",
)


@dataclass(frozen=True)
class LightragOptions(Options):
    """Options of `lightrag`."""

    names_only: bool = option(False, "the text of an entity is its name, without LightRAG's description")
    strict: bool = option(False, "stop at entities whose chunks are missing")


def read_lightrag(paths: list[Path], options: LightragOptions, context: ReadContext) -> Iterator[Record]:
    """Yield nodes and edges. Chunks and documents keep their ids. An entity gets the id `entity:NAME`.

    The edges are `part_of` from chunk to document, `mentions` from chunk to entity (by the entity's source_id), and
    `relation` between entities. Without kv_store_full_docs.json there are no documents.
    """
    import networkx

    folder = _folder(paths[0])
    graph_path, chunks_path, documents_path = (folder / name for name in (_GRAPH, _CHUNKS, _DOCUMENTS))
    with_documents = documents_path.is_file()
    context.expect([graph_path, chunks_path, *([documents_path] if with_documents else [])])
    documents: set[str] = set()
    if with_documents:
        for where, name, value in members(documents_path, context):
            documents.add(name)
            yield Record("nodes", _document(name, _object(value, where), where), where)
    chunks: dict[str, str] = {}
    for where, name, value in members(chunks_path, context):
        record = dict(_object(value, where))
        chunks[name] = str(record.get("full_doc_id") or "")
        node = {"id": name, "type": "chunk", "text": text_of(record, "content", where)}
        yield Record("nodes", with_extra(node, {key: record[key] for key in record if key != "content"}), where)
    for chunk, document in chunks.items():
        if document in documents:
            yield Record("edges", {"source": chunk, "target": document, "type": PART_OF}, Where(chunks_path))
    graph = load_xml(graph_path, networkx.read_graphml)
    context.advance(graph_path.stat().st_size)
    where = Where(graph_path)
    for name, attributes in graph.nodes(data=True):
        description = str(attributes.get("description") or "").replace(SEPARATOR, "\n")
        yield Record("nodes", entity_record(name, "" if options.names_only else description, attributes), where)
    for name, attributes in graph.nodes(data=True):
        for chunk in dict.fromkeys(filter(None, str(attributes.get("source_id") or "").split(SEPARATOR))):
            if chunk in chunks:
                yield Record("edges", {"source": chunk, "target": entity_id(name), "type": MENTIONS}, where)
            else:
                context.add_warning(
                    f"source chunks of entities that {_CHUNKS} lacks",
                    f"{graph_path}: entity {shorten(name)}: chunk {shorten(chunk)}",
                    "they make no edge; --strict makes it an error",
                )
    for source, target, attributes in graph.edges(data=True):
        here = where._replace(detail=f"edge {shorten(source)} – {shorten(target)}")
        yield Record("edges", relation_record(entity_id(source), entity_id(target), attributes, here, context), here)


def _folder(path: Path) -> Path:
    """The folder with the files: the given one, or its only workspace folder (newer versions of LightRAG make one)."""
    below = sorted(other.parent for other in path.glob(f"*/{_GRAPH}")) if path.is_dir() else []
    if (path / _GRAPH).is_file() or not below:
        return path
    if len(below) > 1:
        raise GmeError(f"{path} holds several workspaces: {', '.join(folder.name for folder in below)}", "name one")
    return below[0]


def _document(name: str, record: dict[str, Any], where: Where) -> dict[str, Any]:
    """A document's node. Its text is its name, because its chunks already hold its text."""
    title = str(record.get("file_path") or "") or first_line(text_of(record, "content", where)) or name
    node = {"id": name, "type": "document", "title": title, "text": title}
    return with_extra(node, {key: record[key] for key in record if key != "content"})


def _object(value: object, where: Where) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise GmeError(f"{where}: expected a JSON object, found {shorten(value)}")
    return value
