"""Which edges can be built."""

from __future__ import annotations

from ..errors import unknown
from .entities import EntityOptions, find_entities
from .links import LinkOptions, find_link_edges
from .mentions import TITLE_MENTION, MentionOptions, find_mentions
from .protocol import BY, EdgeBuilder, by


def lookup(name: str) -> EdgeBuilder:
    """The registry's entry; an unknown name is a `GmeError` with the closest match."""
    if name not in EDGE_BUILDERS:
        raise unknown("edge builder", name, EDGE_BUILDERS)
    return EDGE_BUILDERS[name]


EDGE_BUILDERS: dict[str, EdgeBuilder] = {
    "entities": EdgeBuilder(
        "Add nodes for names, and connect the passages that mention them.",
        EntityOptions,
        find_entities,
        lambda record: record.get(BY) == by("entities"),
        "no name is in several chunks; lower --min-chunks, or give a list with --entities",
    ),
    "links": EdgeBuilder(
        "Connect passages by the wiki links and Markdown links in their texts.",
        LinkOptions,
        find_link_edges,
        lambda record: record.get(BY) == by("links"),
        "links look like [[Title]], [[id|label]] or [label](id)",
    ),
    "mentions": EdgeBuilder(
        "Connect passages to the passages whose titles they mention.",
        MentionOptions,
        find_mentions,
        lambda record: record.get("type") == TITLE_MENTION,
        "try --ignore-case, or bring edges of your own",
    ),
}
