"""Explicit links in texts: [[Target]], [[Target|label]] and [label](target), resolved to nodes by id and title."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import shorten
from ..formatting import counted
from ..options import Options, option
from ..readers.links import Targets, find_links, is_document
from ..types import Progress
from ..workspace.records import Nodes
from .protocol import BY, Found, Record, by

LINK = "link"
"""The edge type of links: from the node whose text links to the node that the link means."""

_EXAMPLES = 3
_EVERY = 1024  # texts between two progress reports


@dataclass(frozen=True)
class LinkOptions(Options):
    """Options for matching the targets of links."""

    exact_case: bool = option(False, "do not fall back to ids and titles in another case")


def find_link_edges(nodes: Nodes, options: LinkOptions, threads: int, progress: Progress | None) -> Found:
    """Find links as edge records, one for each pair of linked nodes. Links that lead nowhere are counted."""
    targets = Targets(nodes.ids, nodes.titles, options.exact_case)
    edges: list[Record] = []
    lost: list[str] = []
    lost_count = count = 0
    for row, text in enumerate(nodes.texts):
        if progress is not None and row % _EVERY == 0:
            progress(row, len(nodes))
        reached: dict[int, None] = {}
        for link in sorted(find_links(text), key=lambda link: link.offset) if "[" in text else ():
            if not link.target:
                continue  # a link to a heading of the text itself
            count += 1
            rows = targets.resolve(link, nodes.ids[row])
            if not rows and is_document(link.target):
                lost_count += 1
                if len(lost) < _EXAMPLES:
                    lost.append(f"{shorten(nodes.ids[row])}: {shorten(link.target)}")
            reached.update(dict.fromkeys(rows))
        reached.pop(row, None)
        edges += [
            {"source": nodes.ids[row], "target": nodes.ids[target], "type": LINK, BY: by("links")} for target in reached
        ]
    found = Found(edges, facts=[f"{counted(count, 'link')} in {counted(len(nodes), 'text')}"])
    if lost_count:
        more = ", …" if lost_count > len(lost) else ""
        what = "1 link leads" if lost_count == 1 else f"{lost_count} links lead"
        found.facts.append(f"{what} to no id or title: {'; '.join(lost)}{more}")
    if count:
        found.hint = "a link connects two nodes where it names the 'id' or the 'title' of the other one"
    return found
