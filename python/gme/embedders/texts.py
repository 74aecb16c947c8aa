"""Embeds texts with one embedder and one cache, each distinct text once."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import GmeError
from ..reporting import SILENT, Reporter, takes_callbacks
from ..types import Vectors
from .cache import VectorCache
from .parallel import drain_after
from .protocol import Embedder, TextError, check_texts

# Seconds before finished vectors without cost are stored. Writing to the disk after each batch would be slow.
_STORE_SECONDS = 1.0


@dataclass(frozen=True)
class Counts:
    """How many distinct texts there were, how many of them were cached, and how many were embedded."""

    distinct: int
    reused: int
    embedded: int


@takes_callbacks
def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    cache: VectorCache | None = None,
    reporter: Reporter = SILENT,
) -> tuple[Vectors, Counts]:
    """Embed texts through a cache, each distinct text once: float32 (len(texts), dim), row i for ``texts[i]``.

    If an error or Ctrl-C ends the work, everything finished is in the cache, and `reporter` hears how much that is.

    Raises:
        TextError: a text has no vector; `position` is its row.
        GmeError: `texts` is no list of strings; the model, the server or the cache is not usable; or the dimension
        changes.

    Example:
        >>> import gme
        >>> embedder = gme.make_embedder("local", threads=1)
        >>> vectors, counts = gme.embed_texts(embedder, ["a bridge", "a museum", "a bridge"])
        >>> vectors.shape, bool((vectors[0] == vectors[2]).all())
        ((3, 384), True)
    """
    check_texts(texts)
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    first: dict[bytes, int] = {}
    # For each row, the first row with the same text.
    first_row = np.fromiter((first.setdefault(digest, row) for row, digest in enumerate(digests)), np.intp, len(texts))
    rows = _Rows(len(texts), embedder.dim)
    if cache is not None:
        for digest, vector in cache.get(list(first)):
            rows.set([first[digest]], vector[None], f"vectors in {cache.path}")
    missing = [row for row in first.values() if not rows.filled[row]]
    if missing:
        _embed_missing(embedder, texts, digests, missing, rows, cache, reporter)
    repeated = np.flatnonzero(first_row != np.arange(len(texts)))
    rows.vectors[repeated] = rows.vectors[first_row[repeated]]
    return rows.vectors, Counts(len(first), len(first) - len(missing), len(missing))


class _Rows:
    """The array to fill. It is allocated when the dimension is known."""

    def __init__(self, count: int, dim: int | None) -> None:
        self.filled = np.zeros(count, dtype=bool)
        self.vectors: Vectors = np.empty((count, dim or 0), dtype=np.float32)
        self._source: str | None = None

    def set(self, rows: list[int], vectors: Vectors, source: str) -> None:
        if self._source is None:
            self.vectors = np.empty((len(self.filled), vectors.shape[1]), dtype=np.float32)
            self._source = source
        elif vectors.shape[1] != self.vectors.shape[1]:
            raise GmeError(
                f"{source}: {vectors.shape[1]} dimensions, but {self._source}: {self.vectors.shape[1]}",
                "the model has changed under its name: start anew with --no-cache or another --cache folder",
            )
        self.vectors[rows] = vectors
        self.filled[rows] = True


def _embed_missing(
    embedder: Embedder,
    texts: Sequence[str],
    digests: Sequence[bytes],
    missing: list[int],
    rows: _Rows,
    cache: VectorCache | None,
    reporter: Reporter,
) -> None:
    done, saved_at = 0, time.monotonic()
    unsaved: list[int] = []

    def save() -> None:
        nonlocal saved_at
        if cache is not None and unsaved:
            cache.put([digests[row] for row in unsaved], rows.vectors[unsaved])
            unsaved.clear()
        saved_at = time.monotonic()

    def keep(positions: Sequence[int], vectors: Vectors) -> None:
        nonlocal done
        target = [missing[position] for position in positions]
        rows.set(target, vectors, f"vectors from {embedder.name}")
        unsaved.extend(target)
        done += len(target)

    batches = embedder.stream([texts[row] for row in missing])
    try:
        with reporter.progress("embed", "texts") as progress:
            for positions, vectors in batches:
                keep(positions, vectors)
                if embedder.paid or time.monotonic() - saved_at > _STORE_SECONDS:
                    save()
                progress(done, len(missing))
        save()
    except BaseException as error:
        # Whatever ended the loop, the embedder's threads must stop sending paid requests. Requests on their way are
        # already paid, so their results are kept. A second Ctrl-C ends the waiting for them.
        with contextlib.suppress(BaseException):
            for positions, vectors in drain_after(batches, error):
                keep(positions, vectors)
        if isinstance(batches, Generator):
            batches.close()
        save()
        if done and cache is not None:
            kept = f"{done:,} of {len(missing):,} texts are embedded and kept"
            reporter.note(f"{kept}: the same command goes on from there")
        if isinstance(error, TextError):
            raise TextError(missing[error.position], error.problem, error.hint) from error
        raise
    left = [row for row in missing if not rows.filled[row]]
    if left:
        raise TextError(left[0], f"{embedder.name} gave no vector for it")
