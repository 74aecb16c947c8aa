"""Helpers of the readers of knowledge graphs: ids and records of entities and relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..workspace.records import is_weight
from .protocol import ReadContext, Where, with_extra

PART_OF, MENTIONS, RELATION = "part_of", "mentions", "relation"
"""Edge types: chunk to document, chunk to entity, entity to entity."""

_TITLE = 200


def entity_id(name: str) -> str:
    """The id of an entity that has only a name. Surface forms stay distinct: nothing is folded or trimmed (RT)."""
    return f"entity:{name}"


def entity_record(
    name: str, description: str, attributes: Mapping[str, Any], identity: str | None = None
) -> dict[str, Any]:
    """An entity's node. Its text is the name, followed by the description if there is one.

    The source's own `type` (person, organization, …) is kept as `entity_type`.
    """
    record: dict[str, Any] = {
        "id": identity or entity_id(name),
        "type": "entity",
        "title": name,
        "text": f"{name}\n{description}" if description else name,
    }
    extra = dict(attributes)
    if "type" in extra:
        extra.setdefault("entity_type", extra.pop("type"))
    return with_extra(record, extra)


def relation_record(
    source: str, target: str, attributes: Mapping[str, Any], where: Where, context: ReadContext
) -> dict[str, Any]:
    """A relation's edge. A weight that a graph can't take is left out and counted."""
    record: dict[str, Any] = {"source": source, "target": target, "type": RELATION}
    extra = dict(attributes)
    weight = extra.pop("weight", None)
    if is_weight(weight):
        record["weight"] = weight
    elif weight is not None:
        context.add_warning(
            "relations whose weight is no positive number of float32", f"{where}: {weight}", "they count as 1"
        )
    if "type" in extra:
        extra.setdefault("relation_type", extra.pop("type"))
    return with_extra(record, extra)


def first_line(text: str) -> str:
    """The first line that is not blank, cut to the length of a title."""
    stripped = text.strip()
    return stripped.splitlines()[0].strip()[:_TITLE] if stripped else ""
