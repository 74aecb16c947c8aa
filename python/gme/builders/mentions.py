"""Title mentions (NG): a passage is connected with each passage whose title its text contains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .._core import title_mentions
from ..errors import GmeError, shorten
from ..formatting import counted
from ..options import Options, option
from ..storage.files import read_whole
from ..types import Progress
from ..unicode_normalization import nfc
from ..workspace.records import Nodes
from .protocol import Found

TITLE_MENTION = "title_mention"
"""The edge type of title mentions: from the mentioning passage to the mentioned one."""

_MANY = 20
"""A title of at least this many nodes is reported. A few are normal: a document and its first chunk share one."""

_DISAMBIGUATED = re.compile(r"(.*\S)\s*\([^()]+\)\s*", re.DOTALL)


@dataclass(frozen=True)
class MentionOptions(Options):
    """Options for finding titles in texts (NG: literal whole-word matches, with disambiguators in parentheses)."""

    ignore_case: bool = option(False, "match titles whatever their case")
    min_length: int = option(3, "shortest title to look for, in characters", low=1)
    stop_titles: Path | None = option(  # noqa: RUF009 - a field, and Path is immutable
        None, "a file of titles that are never looked for, one a line"
    )
    strip_disambiguators: bool = option(
        False, "find 'Mercury (planet)' as 'Mercury' too; measured by NG to hurt: more edges, more of them wrong"
    )


def mention_edges(
    nodes: Nodes,
    options: MentionOptions | None = None,
    *,
    stop_titles: Iterable[str] = (),
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Find which passages mention which titles (NG: passage A's text contains passage B's title as whole words).

    Args:
        nodes: each title is looked for in all texts. A title that several nodes share leads to each of them.
        options: matching options.
        stop_titles: titles that are never looked for, in addition to the file in the options.
        threads: 0 means all cores. The result does not depend on it.
        progress: called with (passages done, passages).

    Returns:
        (mentioning rows, mentioned rows), uint32, distinct, sorted by mentioning row, without self-mentions.

    Example:
        >>> import gme, networkx
        >>> graph = networkx.Graph()
        >>> graph.add_node("a", text="She lives in Oslo.", title="Ada")
        >>> graph.add_node("o", text="A city.", title="Oslo")
        >>> nodes, _ = gme.from_networkx(graph)
        >>> sources, targets = gme.mention_edges(nodes)
        >>> sources.tolist(), targets.tolist()
        ([0], [1])
    """
    options = options or MentionOptions()
    return _mention_edges(nodes, options, _stopped(options, stop_titles), threads, progress)


def _mention_edges(
    nodes: Nodes, options: MentionOptions, stopped: set[str], threads: int, progress: Progress | None
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    forms: list[str] = []
    rows: list[int] = []
    for row, title in enumerate(nodes.titles):
        for form in _forms(nfc(title), options.strip_disambiguators) if title else ():
            if form not in stopped:
                forms.append(form)
                rows.append(row)
    patterns, texts = title_mentions(
        forms,
        [nfc(text) for text in nodes.texts],
        ignore_case=options.ignore_case,
        min_length=options.min_length,
        threads=threads,
        progress=progress,
    )
    mentioned = np.array(rows, dtype=np.uint32)[patterns]
    others = mentioned != texts
    mentioning, mentioned = texts[others], mentioned[others]
    order = np.lexsort((mentioned, mentioning))
    mentioning, mentioned = mentioning[order], mentioned[order]
    # A text may contain both forms of one title.
    first = np.ones(len(order), dtype=bool)
    first[1:] = (mentioning[1:] != mentioning[:-1]) | (mentioned[1:] != mentioned[:-1])
    return mentioning[first], mentioned[first]


def find_mentions(nodes: Nodes, options: MentionOptions, threads: int, progress: Progress | None) -> Found:
    """Title mentions as edge records."""
    if not any(nodes.titles):
        raise GmeError(
            "no node of nodes.jsonl has a title",
            "give those that may be mentioned a 'title', or connect texts by the names in them: gme graph entities",
        )
    stopped = _stopped(options)
    mentioning, mentioned = _mention_edges(nodes, options, stopped, threads, progress)
    edges = (
        {"source": nodes.ids[source], "target": nodes.ids[target], "type": TITLE_MENTION}
        for source, target in zip(mentioning.tolist(), mentioned.tolist(), strict=True)
    )
    titles = sum(title is not None for title in nodes.titles)
    facts = [f"{counted(titles, 'title')} in {counted(len(nodes), 'passage')}"]
    return Found(edges, facts=[*facts, *_shared_titles(nodes, options, stopped)])


def _shared_titles(nodes: Nodes, options: MentionOptions, stopped: set[str]) -> Iterator[str]:
    """Report titles that many nodes share: each mention of such a title makes that many edges."""
    nodes_of = Counter(nfc(title) for title in nodes.titles if title and len(title) >= options.min_length)
    for title in stopped:
        del nodes_of[title]
    shared = [(title, count) for title, count in nodes_of.most_common() if count >= _MANY]
    if shared:
        title, count = shared[0]
        more = f" (so do {counted(len(shared) - 1, 'other title')} {_MANY} or more)" if len(shared) > 1 else ""
        yield (
            f"{counted(count, 'node')} share the title {shorten(title)}{more}: a text that names it is connected with "
            "all; --stop-titles FILE leaves out the titles in a list"
        )


def _stopped(options: MentionOptions, stop_titles: Iterable[str] = ()) -> set[str]:
    """The titles that are never looked for, in NFC."""
    listed = read_titles(options.stop_titles) if options.stop_titles else []
    return {nfc(title) for title in (*stop_titles, *listed)}


def read_titles(path: Path) -> list[str]:
    """Read a list of stop titles: UTF-8, one title a line. Blank lines are ignored."""
    try:
        return [line for line in read_whole(path).decode("utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise GmeError(f"{path}: not UTF-8 text: {error}", "save the list as UTF-8, one title a line") from error


def _forms(title: str, strip: bool) -> list[str]:
    """The title and, if `strip` is true, the title without the parentheses at its end."""
    match = _DISAMBIGUATED.fullmatch(title) if strip else None
    return [title, match[1]] if match else [title]
