"""Finds edges in a corpus. Each builder is an entry of `EDGE_BUILDERS`, which the command line reads."""

from __future__ import annotations

from .entities import EntityOptions
from .links import LinkOptions
from .mentions import TITLE_MENTION, MentionOptions, mention_edges, read_titles
from .names import NameCoverage, NameOptions, SharedNames, name_coverage, shared_names
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
    "NameCoverage",
    "NameOptions",
    "SharedNames",
    "mention_edges",
    "name_coverage",
    "read_titles",
    "shared_names",
]
