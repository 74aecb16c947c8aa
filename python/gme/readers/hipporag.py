"""HippoRAG's OpenIE results: passages with the entities and triples that a language model found in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten
from ..options import Options, option
from .entities import MENTIONS, RELATION, entity_id, entity_record
from .json_stream import elements
from .protocol import ReadContext, Record, Where, identifier, text_of, with_extra

_HINT = "they are left out, as HippoRAG does; --strict makes it an error"
_TITLE = 120


@dataclass(frozen=True)
class HipporagOptions(Options):
    """Options of `hipporag`."""

    strict: bool = option(False, "stop at triples that are not three strings")


def read_hipporag(paths: list[Path], options: HipporagOptions, context: ReadContext) -> Iterator[Record]:
    """Yield nodes and edges. Passages keep their `idx`, or get HippoRAG's own ``chunk-`` and MD5. Entities get the id
    `entity:NAME`.

    Entities are the listed ones and the ends of triples. Their spelling is kept (RT), while HippoRAG folds case and
    drops punctuation. The edges are `mentions` from passage to entity, and `relation` between a triple's ends, with its
    verb as `predicate`. A passage that occurs twice is one node.
    """
    context.expect(paths, passes=2)
    seen: set[str] = set()
    names: set[str] = set()
    for where, doc in _docs(paths, context):
        node = _passage(doc, where)
        if node["id"] not in seen or doc.get("idx") is not None:
            seen.add(node["id"])
            yield Record("nodes", node, where)
        for name in _entities(doc, _triples(doc, where, context), where, context):
            if name not in names:
                names.add(name)
                yield Record("nodes", entity_record(name, "", {}), where)
    silent = ReadContext()
    for where, doc in _docs(paths, context):
        passage = _passage(doc, where)["id"]
        triples = _triples(doc, where, silent)
        for name in _entities(doc, triples, where, silent):
            yield Record("edges", {"source": passage, "target": entity_id(name), "type": MENTIONS}, where)
        for subject, predicate, target in triples:
            ends = {"source": entity_id(subject), "target": entity_id(target)}
            yield Record("edges", {**ends, "type": RELATION, "predicate": predicate, "passage": passage}, where)


def _docs(paths: list[Path], context: ReadContext) -> Iterator[tuple[Where, dict[str, Any]]]:
    for path in paths:
        for where, doc in elements(path, context, "docs"):
            where = where._replace(detail=where.detail.replace("element", "doc"))
            if not isinstance(doc, dict):
                raise GmeError(f"{where}: expected a JSON object, found {shorten(doc)}")
            yield where, doc


def _passage(doc: dict[str, Any], where: Where) -> dict[str, Any]:
    """The passage's node. Its title is the first line of the text, as in HippoRAG's corpora, if there is no other."""
    text = text_of(doc, "passage", where)
    digest = md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    identity = identifier(doc["idx"], "idx", where) if doc.get("idx") is not None else f"chunk-{digest}"
    first, line_break, rest = text.partition("\n")
    title = doc.get("title") or (first.strip() if line_break and rest.strip() and len(first) <= _TITLE else "")
    node: dict[str, Any] = {"id": identity, "type": "chunk", "text": text}
    if title:
        node["title"] = title
    known = ("idx", "passage", "title", "extracted_entities", "extracted_triples")
    return with_extra(node, {key: doc[key] for key in doc if key not in known})


def _triples(doc: dict[str, Any], where: Where, context: ReadContext) -> list[tuple[str, str, str]]:
    found = []
    for triple in _list(doc, "extracted_triples", where):
        parts = triple if isinstance(triple, list) else []
        if len(parts) == 3 and all(isinstance(part, str) for part in parts) and parts[0].strip() and parts[2].strip():
            found.append((parts[0], parts[1], parts[2]))
        else:
            context.add_warning("triples that are not three strings", f"{where}: {shorten(triple)}", _HINT)
    return list(dict.fromkeys(found))


def _entities(
    doc: dict[str, Any], triples: list[tuple[str, str, str]], where: Where, context: ReadContext
) -> list[str]:
    """The distinct names in a passage, in the order in which they occur."""
    names: dict[str, None] = {}
    for name in _list(doc, "extracted_entities", where):
        if isinstance(name, str) and name.strip():
            names[name] = None
        else:
            context.add_warning("entities that are not strings", f"{where}: {shorten(name)}", _HINT)
    names.update((end, None) for triple in triples for end in (triple[0], triple[2]))
    return list(names)


def _list(doc: dict[str, Any], key: str, where: Where) -> list[Any]:
    value = doc.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise GmeError(f"{where}: {key!r} must be a list, found {shorten(value)}")
    return value
