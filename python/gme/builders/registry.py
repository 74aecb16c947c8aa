"""The registry of edge builders."""

from __future__ import annotations

from ..registry import Registry, Rules
from ..workspace.graphs import SHARED_NAME
from .entities import EntityOptions, find_entities
from .links import LinkOptions, find_link_edges
from .mentions import TITLE_MENTION, MentionOptions, find_mentions
from .names import NameOptions, find_shared_names
from .protocol import BY, EdgeBuilder, by


def lookup(name: str) -> EdgeBuilder:
    """The builder with this name. An unknown name raises a `GmeError` with the closest match."""
    return EDGE_BUILDERS.find(name)


def register_builder(name: str, entry: EdgeBuilder, *, replace: bool = False) -> None:
    """Add an edge builder until this process ends; see `Registry.register`.

    Example:
        >>> import gme
        >>> from gme.builders import Found
        >>> def chain(nodes, options, threads, progress):
        ...     pairs = zip(nodes.ids, nodes.ids[1:])
        ...     return Found({"source": a, "target": b, "type": "next"} for a, b in pairs)
        >>> builder = gme.EdgeBuilder("Connect each node to the next.", gme.Options, chain)
        >>> gme.register_builder("chain", builder)
        >>> gme.EDGE_BUILDERS.unregister("chain")
    """
    EDGE_BUILDERS.register(name, entry, replace=replace)


_OWN: dict[str, EdgeBuilder] = {
    "entities": EdgeBuilder(
        "Add nodes for names, and connect the passages that mention them.",
        EntityOptions,
        find_entities,
        lambda record: record.get(BY) == by("entities"),
        {"max_share": 1.0, "min_chunks": 2, "min_length": 1, "ignore_case": True},
        "no name is in two chunks; give names and aliases that are in a list: --entities FILE",
    ),
    "links": EdgeBuilder(
        "Connect passages by the wiki and Markdown links in their texts.",
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
    "names": EdgeBuilder(
        "Connect passages that share names, the more the rarer these are.",
        NameOptions,
        find_shared_names,
        lambda record: record.get("type") == SHARED_NAME,
        {"max_passages": 100},
        "no two capitalized words stand together in two passages; gme graph entities also takes names from a list",
    ),
}

EDGE_BUILDERS: Registry[EdgeBuilder] = Registry(
    "edge builder",
    "gme.builders",
    EdgeBuilder,
    _OWN,
    rules=Rules(
        names=("check", "read"), options=("builder", "progress", "quiet", "threads", "workspace"), function="find"
    ),
)
"""All edge builders by name: those of this package, then those of other packages."""
