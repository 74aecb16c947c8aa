"""Explicit links in texts: [[Target]], [[Target|label]] and [label](target), resolved to ids and titles of nodes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from ..errors import shorten
from ..options import Options, option
from ..readers.links import Link, find_links, is_document
from ..records import Nodes
from ..types import Progress
from .protocol import BY, Found, Record, by

LINK = "link"
"""The edge type of links: from the node whose text links to the node it means."""

_EXAMPLES = 3
_EVERY = 1024  # texts between two reports of progress


@dataclass(frozen=True)
class LinkOptions(Options):
    """How targets of links are matched."""

    exact_case: bool = option(False, "do not fall back to ids and titles in another case")


class Targets:
    """Finds the nodes that a link means: by id, then by title, then by both whatever the case.

    A target is tried as it is written, then with underscores as spaces (MediaWiki), URL-decoded, as a path relative to
    the linking node's id, and as a file name without folder and ending. The part after # is ignored.

    Args:
        nodes: a title several nodes share leads to each.
        exact_case: do not look for other cases.
    """

    def __init__(self, nodes: Nodes, exact_case: bool) -> None:
        self._ids = nodes.ids
        tables: list[dict[str, list[int]]] = [{node_id: [row] for row, node_id in enumerate(nodes.ids)}, {}]
        for row, title in enumerate(nodes.titles):
            if title:
                tables[1].setdefault(title, []).append(row)
        if not exact_case:
            for table in tables[:2]:
                folded: dict[str, list[int]] = {}
                for key, rows in table.items():
                    folded.setdefault(key.casefold(), []).extend(rows)
                tables.append(folded)
        self._exact, self._folded = tables[:2], tables[2:]

    def resolve(self, link: Link, source: int) -> list[int]:
        """The rows the link leads to, its own among them if it does; none where nothing has that id or title."""
        forms = list(dict.fromkeys(form for form in self._forms(link, source) if form))
        for tables, fold in ((self._exact, False), (self._folded, True)):
            for form in forms:
                for table in tables:
                    rows = table.get(form.casefold() if fold else form)
                    if rows:
                        return rows
        return []

    def _forms(self, link: Link, source: int) -> Iterator[str]:
        target = link.target
        yield target
        yield target.replace("_", " ")
        yield unquote(target)
        yield unquote(target).replace("_", " ")
        folder = posixpath.dirname(self._ids[source])
        path = posixpath.normpath(posixpath.join("" if target.startswith("/") else folder, target.lstrip("/")))
        yield path
        if not link.wiki:
            yield posixpath.splitext(posixpath.basename(path))[0]


def find_link_edges(nodes: Nodes, options: LinkOptions, threads: int, progress: Progress | None) -> Found:
    """Links as edge records, one a pair of nodes however often it is linked; what leads nowhere is counted."""
    targets = Targets(nodes, options.exact_case)
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
            rows = targets.resolve(link, row)
            if not rows and is_document(link.target):
                lost_count += 1
                if len(lost) < _EXAMPLES:
                    lost.append(f"{shorten(nodes.ids[row])}: {shorten(link.target)}")
            reached.update(dict.fromkeys(rows))
        reached.pop(row, None)
        edges += [
            {"source": nodes.ids[row], "target": nodes.ids[target], "type": LINK, BY: by("links")} for target in reached
        ]
    found = Found(edges, facts=[f"{count} links in {len(nodes)} texts"])
    if lost_count:
        more = ", …" if lost_count > len(lost) else ""
        found.facts.append(f"{lost_count} links lead to no id or title: {'; '.join(lost)}{more}")
    return found
