"""Microsoft GraphRAG's output tables: documents, text units, entities and relationships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten
from ..options import Options, option
from .entities import MENTIONS, PART_OF, entity_record, first_line, relation_record
from .protocol import ReadContext, Record, Where, identifier, text_of, with_extra
from .tables import parquet_file, parquet_rows

# Columns with vectors, layouts, or references that the edges hold already. They are never read.
_SKIPPED = {
    "description_embedding",
    "name_embedding",
    "graph_embedding",
    "text_embedding",
    "raw_content_embedding",
    "covariate_ids",
    "relationship_ids",
    "x",
    "y",
}


@dataclass(frozen=True)
class GraphragOptions(Options):
    """Options of `graphrag`."""

    names_only: bool = option(False, "the text of an entity is its name, without GraphRAG's description")
    strict: bool = option(False, "stop at references to documents, chunks or entities that are missing")


def read_graphrag(paths: list[Path], options: GraphragOptions, context: ReadContext) -> Iterator[Record]:
    """Yield nodes and edges. Text units and entities keep their ids. A document gets the id `document:ID`, because a
    document of one chunk has the same id as its chunk.

    The edges are `part_of` from chunk to document, `mentions` from chunk to entity, and `relation` with GraphRAG's
    weight.
    Communities, their reports and claims are left out.
    """
    tables = {name: _table(paths[0], name) for name in ("documents", "text_units", "entities", "relationships")}
    for name in ("text_units", "entities"):
        if tables[name] is None:
            raise GmeError(
                f"{paths[0]} holds no {name}.parquet or create_final_{name}.parquet", "name GraphRAG's output folder"
            )
    found = {name: path for name, path in tables.items() if path is not None}
    context.expect(list(found.values()))
    documents: set[str] = set()
    for where, row in _rows(found.get("documents"), context):
        node = _document(row, where)
        documents.add(node["id"])
        yield Record("nodes", node, where)
    links = _Links(context)
    chunks: set[str] = set()
    for where, row in _rows(found["text_units"], context):
        chunk = identifier(row.pop("id", None), "id", where)
        chunks.add(chunk)
        document = row.get("document_id")
        for target in _list(row.pop("document_ids", None)) or ([document] if document else []):
            links.add(chunk, f"document:{target}", PART_OF, where)
        for entity in _list(row.pop("entity_ids", None)):
            links.add(chunk, entity, MENTIONS, where)
        node = {"id": chunk, "type": "chunk", "text": text_of(row, "text", where, default=row.pop("chunk", None))}
        yield Record("nodes", with_extra(node, {key: row[key] for key in row if key != "text"}), where)
    entities: dict[str, str] = {}
    for where, row in _rows(found["entities"], context):
        entity = identifier(row.pop("id", None), "id", where)
        name = text_of(row, "title" if "title" in row else "name", where)
        entities.setdefault(name, entity)
        for chunk in _list(row.pop("text_unit_ids", None)):
            links.add(chunk, entity, MENTIONS, where)
        extra = {key: row[key] for key in row if key not in ("title", "name")}
        description = "" if options.names_only else str(row.get("description") or "")
        yield Record("nodes", entity_record(name, description, extra, entity), where)
    yield from links.edges(documents | chunks | set(entities.values()))
    for where, row in _rows(found.get("relationships"), context):
        ends = [text_of(row, end, where) for end in ("source", "target")]
        missing = [end for end in ends if end not in entities]
        if missing:
            context.add_warning("relationships of unknown entities", f"{where}: {shorten(missing[0])}", links.hint)
            continue
        extra = {key: row[key] for key in row if key not in ("source", "target")}
        source, target = (entities[end] for end in ends)
        yield Record("edges", relation_record(source, target, extra, where, context), where)


class _Links:
    """Edges that are written after all nodes. GraphRAG stores each in two directions; here each comes out once."""

    hint = "they make no edge; --strict makes it an error"

    def __init__(self, context: ReadContext) -> None:
        self._context = context
        self._found: dict[tuple[str, str, str], Where] = {}

    def add(self, source: str, target: str, kind: str, where: Where) -> None:
        self._found.setdefault((source, target, kind), where)

    def edges(self, nodes: set[str]) -> Iterator[Record]:
        for (source, target, kind), where in self._found.items():
            if source in nodes and target in nodes:
                yield Record("edges", {"source": source, "target": target, "type": kind}, where)
            else:
                lost = source if source not in nodes else target
                self._context.add_warning(f"{kind} references to unknown nodes", f"{where}: {shorten(lost)}", self.hint)


def _document(row: dict[str, Any], where: Where) -> dict[str, Any]:
    """A document's node. Its text is its title, because its chunks already hold its text."""
    identity = identifier(row.get("id"), "id", where)
    content = row.get("text") or row.get("raw_content") or ""
    title = str(row.get("title") or "") or first_line(str(content)) or identity
    node = {"id": f"document:{identity}", "type": "document", "title": title, "text": title}
    dropped = ("id", "title", "text", "raw_content", "text_unit_ids")
    return with_extra(node, {key: row[key] for key in row if key not in dropped})


def _table(folder: Path, name: str) -> Path | None:
    """A table's file, under its present name or its name before GraphRAG 1.2, in the folder or its output folders."""
    for below in (folder, folder / "output", folder / "artifacts", folder / "output" / "artifacts"):
        for file in (f"{name}.parquet", f"create_final_{name}.parquet"):
            if (below / file).is_file():
                return below / file
    return None


def _rows(path: Path | None, context: ReadContext) -> Iterator[tuple[Where, dict[str, Any]]]:
    if path is not None:
        names: Iterable[str] = parquet_file(path).schema_arrow.names
        yield from parquet_rows(path, context, [name for name in names if name not in _SKIPPED])


def _list(value: object) -> list[Any]:
    """The value of a list column; empty for null."""
    return list(value) if isinstance(value, list | tuple) else []
