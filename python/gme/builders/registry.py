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
        {"max_share": 1.0, "min_chunks": 2, "min_length": 1, "ignore_case": True},
        "no name is in two chunks; give names and aliases that are in a list: --entities FILE",
    ),
    "links": EdgeBuilder(
        "Connect passages by the wiki links and Markdown links in their texts.",
        LinkOptions,
        find_link_edges,
        lambda record: record.get(BY) == by("links"),
        {"exact_case": False},
        "links look like [[Title]], [[id|label]] or [label](id); gme graph read text makes edges of a folder's itself",
    ),
    "mentions": EdgeBuilder(
        "Connect passages to the passages whose titles they mention.",
        MentionOptions,
        find_mentions,
        lambda record: record.get("type") == TITLE_MENTION,
        {"ignore_case": True, "min_length": 1, "stop_titles": None, "strip_disambiguators": True},
        "no text has another one's title in it; gme graph entities connects texts by the names in them",
    ),
}
