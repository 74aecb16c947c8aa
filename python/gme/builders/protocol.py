"""What an edge builder is: a function from nodes to edges, and which lines of `edges.jsonl` are its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..options import Options
from ..types import Progress
from ..workspace.records import Nodes

Record = dict[str, Any]

BY = "by"
"""The field that says which command wrote a line, where the edge's type is one that others write as well."""


@dataclass
class Found:
    """What a builder found.

    Attributes:
        edges: the records of its edges; may be produced while they are written.
        nodes: the records of nodes that it adds; None for a builder that adds none to any corpus. Only ``entities``
            adds any so far.
        facts: sentences about what was looked at, for people.
        hint: what to try if these are no edges, where that of the builder's entry would not be true.
    """

    edges: Iterable[Record]
    nodes: list[Record] | None = None
    facts: list[str] = field(default_factory=list)
    hint: str = ""


@dataclass(frozen=True)
class EdgeBuilder:
    """An entry of `EDGE_BUILDERS`.

    Attributes:
        summary: one line for the help.
        options: the option class.
        find: a function ``(nodes, options, threads, progress)``. It gets the corpus without the entity layer, so that
            what one builder finds does not depend on whether another one ran before it.
        owns: whether a line of edges.jsonl is from an earlier run of this builder, and to be replaced. None: the lines
            whose field `BY` names it; the pipeline writes that field into its records.
        wider: values of options with which more is found. Those that would have helped are named when nothing is.
        hint: what to try when they would not have.
    """

    summary: str
    options: type[Options]
    find: Callable[[Nodes, Any, int, Progress | None], Found]
    owns: Callable[[Record], bool] | None = None
    wider: Mapping[str, Any] = field(default_factory=dict)
    hint: str = ""


def by(name: str) -> str:
    """What the field `BY` says in lines that builder `name` wrote."""
    return f"gme graph {name}"
