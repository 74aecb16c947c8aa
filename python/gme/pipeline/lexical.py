"""The lexical index of a workspace. It is built at the first use, saved, mapped, and built again when it is stale.

Like every index it is derived data. If it is missing, damaged or stale, no command fails for it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from ..errors import GmeError, ReadOnlyError
from ..lexical.index import K1, TERMS, B, LexicalIndex, write_index
from ..reporting import SILENT, Reporter
from ..storage import locks
from ..storage.atomic import atomic_group, atomic_write, staged
from ..storage.files import sha256, write_json
from ..stores.store import Rows, sorted_ranks
from ..types import Progress
from ..version import gme_version
from ..workspace import Workspace
from ..workspace.layout import NODES
from ..workspace.manifests import Manifest
from .index import why_unusable

LEXICAL_INDEX = "indexes/lexical@words.bm25"
"""No collection's name has an ``@``, so no other index has this name."""

_numbers = itertools.count(1)


def open_lexical(workspace: Workspace, *, threads: int = 0, reporter: Reporter = SILENT) -> LexicalIndex:
    """Open the lexical index of the nodes' texts, and build it if needed. A node with a blank text counts by its title.

    Args:
        threads: for building and searching; 0 means all cores. The result does not depend on it.
        reporter: hears when the index has to be built, and the progress in texts.

    Example:
        >>> import gme
        >>> index = gme.open_lexical(gme.Workspace("corpus"))
        >>> index.texts
        6
    """
    ranks = sorted_ranks(workspace.nodes.ids)
    path = workspace.path(LEXICAL_INDEX)
    inputs = {NODES: workspace.hash(NODES)}
    expected: Manifest = {"inputs": inputs, "rows": len(ranks), "k1": K1, "b": B, "terms": TERMS}
    index, _ = _load(path, expected, ranks, threads)
    if index is not None:
        return index
    try:
        with workspace.writing(LEXICAL_INDEX, waiting=reporter):
            index, reason = _load(path, expected, ranks, threads)  # the process that held the lock may have built it
            if index is None:
                reporter.note(f"building {path} ({len(ranks):,} texts): index {reason}")
                index = _build_and_save(workspace, expected, ranks, threads, reporter)
            return index
    except ReadOnlyError:
        reporter.note(f"building a lexical index ({len(ranks):,} texts) for now: {path} can't be saved")
        with _progress(reporter) as progress:
            data = write_index(_texts(workspace), ranks, threads=threads, progress=progress)
        assert data is not None
        return LexicalIndex(data, ranks, threads)


def _load(path: Path, expected: Manifest, ranks: Rows, threads: int) -> tuple[LexicalIndex | None, str]:
    """The index at `path`, or the reason why it can't be used."""
    reason = why_unusable(path, expected, "texts")
    if reason is not None:
        return None, reason
    try:
        return _mapped(path, ranks, threads), ""
    except (GmeError, ValueError) as error:
        return None, f"cannot be loaded ({error})"


def _mapped(path: Path, ranks: Rows, threads: int) -> LexicalIndex:
    return LexicalIndex(np.memmap(path, dtype=np.uint64, mode="r"), ranks, threads)


def _texts(workspace: Workspace) -> list[str]:
    """The text of each node, or its title if the text is blank."""
    nodes = workspace.nodes
    return [text if text.strip() else title or "" for text, title in zip(nodes.texts, nodes.titles, strict=True)]


def _build_and_save(
    workspace: Workspace, expected: Manifest, ranks: Rows, threads: int, reporter: Reporter
) -> LexicalIndex:
    started, path, texts = time.perf_counter(), workspace.path(LEXICAL_INDEX), _texts(workspace)
    with atomic_group(workspace.folder):
        with atomic_write(path) as handle, _spill(path) as spill, _progress(reporter) as progress:
            write_index(texts, ranks, Path(handle.name), spill=spill, threads=threads, progress=progress)
            digest = sha256(Path(handle.name))
        facts: Manifest = {"method": "bm25", "gme": gme_version(), "sha256": digest}
        facts["seconds"] = round(time.perf_counter() - started, 3)
        write_json(path.with_suffix(".json"), {**expected, **facts})
    return _mapped(staged(path), ranks, threads)


def _progress(reporter: Reporter) -> AbstractContextManager[Progress]:
    return reporter.progress("index words", "texts")


@contextlib.contextmanager
def _spill(path: Path) -> Iterator[Path]:
    """An empty file beside `path` during the block. If a crash leaves it, the next command removes it."""
    handle = locks.create(lambda: path.with_name(f".{path.name}.{os.getpid()}-spill{next(_numbers)}.tmp"))
    try:
        with handle:
            yield Path(handle.name)
    finally:
        Path(handle.name).unlink(missing_ok=True)
