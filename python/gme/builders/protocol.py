"""The interface of an edge builder: a function from nodes to edges. Also tells whose a line of `edges.jsonl` is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..options import Options
from ..types import Progress
from ..workspace.records import Nodes

Record = dict[str, Any]

BY = "by"
"""The field with the command that wrote a line. It is needed where other commands write the same edge type."""


@dataclass
class Found:
    """What a builder found.

    Attributes:
        edges: the records of its edges; they may be produced while they are written.
        nodes: the records of the nodes that it adds; None for a builder that never adds any. So far only ``entities``
            adds nodes.
        facts: sentences for people about what was examined.
        hint: what to try if there are no edges. It replaces the hint of the builder's entry, where that would be wrong.
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
            its result does not depend on which builders ran before.
        owns: whether a line of edges.jsonl comes from an earlier run of this builder and is to be replaced. None means
            the lines whose field `BY` names the builder; the pipeline then adds that field to its records.
        wider: options that find more. If nothing is found, the hint names those that would have helped.
        hint: what to try if none of them would have helped.
    """

    summary: str
    options: type[Options]
    find: Callable[[Nodes, Any, int, Progress | None], Found]
    owns: Callable[[Record], bool] | None = None
    wider: Mapping[str, Any] = field(default_factory=dict)
    hint: str = ""


def by(name: str) -> str:
    """The value of the field `BY` in lines of builder `name`."""
    return f"gme graph {name}"
