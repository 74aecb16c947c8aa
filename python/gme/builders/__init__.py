"""Finds edges in a corpus. Each builder is an entry of `EDGE_BUILDERS`, which the command line reads."""

from __future__ import annotations

from .entities import EntityOptions
from .links import LinkOptions
from .mentions import TITLE_MENTION, MentionOptions, mention_edges, read_titles
from .protocol import EdgeBuilder, Found
from .registry import EDGE_BUILDERS

__all__ = [
    "EDGE_BUILDERS",
    "TITLE_MENTION",
    "EdgeBuilder",
    "EntityOptions",
    "Found",
    "LinkOptions",
    "MentionOptions",
    "mention_edges",
    "read_titles",
]
