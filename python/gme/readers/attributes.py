"""Graphs whose nodes and edges have attributes: which attribute becomes which field."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import GmeError, shorten
from ..options import Options, option
from ..types import as_float, is_number
from .protocol import Where, with_extra


@dataclass(frozen=True)
class AttributeOptions(Options):
    """Options of the readers of graphs with attributes. A missing attribute is no error."""

    text_attribute: str = option("text", "node attribute of the text; without it the title, without that the id")
    title_attribute: str = option("title", "node attribute of the title; without it: label")
    type_attribute: str = option("type", "node attribute of the type")
    node_type: str = option("chunk", "type of nodes that name none")
    edge_type_attribute: str = option("type", "edge attribute of the type; without it: label, relation")
    edge_type: str = option("link", "type of edges that name none")
    weight_attribute: str = option("weight", "edge attribute of the weight")


def node_id(value: object, where: Where) -> str:
    """A graph's node as an id. A string stays as it is. Anything else is written as Python prints it: 1 gives "1"."""
    text = value if isinstance(value, str) else str(value)
    if value is None or not text:
        raise GmeError(f"{where}: a node without an id")
    return text


def node_record(
    identity: str, attributes: Mapping[Hashable, Any], options: AttributeOptions, where: Where
) -> dict[str, Any]:
    """A node's line of nodes.jsonl. Attributes without a field of their own are kept."""
    rest = dict(attributes)
    title = _string(rest, (options.title_attribute, "label"), where)
    text = _string(rest, (options.text_attribute,), where)
    kind = _string(rest, (options.type_attribute,), where)
    record: dict[str, Any] = {
        "id": identity,
        "type": kind or options.node_type,
        "text": (title or identity) if text is None else text,
    }
    if title:
        record["title"] = title
    return with_extra(record, {str(key): value for key, value in rest.items()})


def edge_record(
    source: str, target: str, attributes: Mapping[Hashable, Any], options: AttributeOptions, where: Where
) -> dict[str, Any]:
    """An edge's line of edges.jsonl. Attributes without a field of their own are kept."""
    rest = dict(attributes)
    kind = _string(rest, (options.edge_type_attribute, "label", "relation"), where)
    record: dict[str, Any] = {"source": source, "target": target, "type": kind or options.edge_type}
    weight = rest.pop(options.weight_attribute, None)
    if weight is not None:
        if not is_number(weight) or not 0 < weight < float("inf"):
            raise GmeError(
                f"{where}: edge {shorten(source)} – {shorten(target)}: {options.weight_attribute!r} must be a "
                f"positive number, found {shorten(weight)}",
                "choose another attribute, or one that is not there, with --weight-attribute",
            )
        record["weight"] = weight if isinstance(weight, int | float) else as_float(weight)
    return with_extra(record, {str(key): value for key, value in rest.items()})


def _string(attributes: dict[Hashable, Any], names: tuple[str, ...], where: Where) -> str | None:
    """Take the first attribute that exists. Numbers become digits, and NaN counts as missing."""
    for name in names:
        value = attributes.get(name)
        if value is None or value != value or (value == "" and name != names[0]):
            continue
        if isinstance(value, str) or is_number(value):
            del attributes[name]
            return str(value)
        raise GmeError(f"{where}: attribute {name!r} must be a string, found {shorten(value)}")
    return None
