"""The work of ``gme embed``: all texts of a workspace through one embedder and one cache."""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import GmeError, shorten
from ..files import sha256
from ..options import flag
from ..types import Progress, Vectors
from ..words import counted
from ..workspace import NODES, ORIGINAL, QUESTION_VECTORS, QUESTIONS, Workspace, alone
from .cache import VectorCache
from .existing import read_vectors
from .options import EmbedOptions
from .parallel import late
from .protocol import Embedder, Tell, TextError, check_texts
from .registry import check_model, from_options

# How long finished vectors that cost nothing wait to be stored: a write to the disk for each batch would be felt.
_STORE_SECONDS = 1.0


@dataclass(frozen=True)
class Embedded:
    """What `embed_workspace` did.

    `written` lists the arrays; `texts` counts nodes and questions, `distinct` their different texts, `reused` those
    that the cache had, `embedded` those that the model made; `dim` is the vectors' dimension.
    """

    written: tuple[str, ...]
    texts: int
    distinct: int
    reused: int
    embedded: int
    dim: int
    facts: dict[str, Any]


@dataclass(frozen=True)
class Counts:
    """How many of the texts were different, how many of those were cached, and how many were embedded."""

    distinct: int
    reused: int
    embedded: int


@alone
def embed_workspace(
    workspace: Workspace,
    options: EmbedOptions | None = None,
    *,
    cache: Path | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Embedded:
    """Write `embeddings/original.npy` and, where there is a `questions.jsonl`, `embeddings/questions.npy`.

    Both are computed before either is written, so that they always come from one model.

    Args:
        workspace: holds `nodes.jsonl`.
        options: the model and its settings.
        cache: the folder of the vector cache; None keeps no cache.
        threads: for models on this machine; any number gives the same bytes.
        progress: told (done, total) of the texts that the cache does not have.
        tell: is told, in a line, when the work has to wait.

    Raises:
        GmeError: bad input files, model or server; a text that can't be embedded is named by its id.
    """
    options = options or EmbedOptions()
    started = time.perf_counter()
    check_model(options.model)
    names = [NODES, QUESTIONS] if workspace.path(QUESTIONS).is_file() else [NODES]
    before = {name: sha256(workspace.require(name)) for name in names}
    if options.kind == "file":
        return _take_file(workspace, options, before, started, tell or (lambda line: None))
    texts = [*workspace.nodes.texts, *(workspace.questions.texts if QUESTIONS in names else ())]
    embedder = from_options(options, threads=threads, tell=tell)
    blank = [row for row, text in enumerate(texts) if not text.strip()]
    if blank and tell is not None:
        first = _name(workspace, blank[0])
        tell(f"{counted(len(blank), 'blank text')}, of which a vector says nothing; the first is {first}")
    try:
        with VectorCache(cache, embedder.key) if cache is not None else contextlib.nullcontext() as store:
            vectors, counts = embed_texts(embedder, texts, cache=store, progress=progress, tell=tell)
    except TextError as error:
        raise GmeError(f"{_name(workspace, error.position)}: {error.problem}", error.hint) from error
    facts = {**embedder.facts(), "distinct_texts": counts.distinct, "texts_from_cache": counts.reused}
    rows = len(workspace.nodes)
    arrays = {ORIGINAL: (NODES, vectors[:rows]), QUESTION_VECTORS: (QUESTIONS, vectors[rows:])}
    for relative, (name, array) in list(arrays.items())[: len(names)]:
        _write(workspace, relative, name, array, before, started, options, embedder.key, facts)
    written = tuple(list(arrays)[: len(names)])
    return Embedded(written, len(texts), counts.distinct, counts.reused, counts.embedded, vectors.shape[1], facts)


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    cache: VectorCache | None = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> tuple[Vectors, Counts]:
    """Embed texts through a cache, each different text once: float32 (len(texts), dim), row i for ``texts[i]``.

    Whatever was finished when an error or Ctrl-C ends the work is in the cache, and `tell` hears how much that is.

    Raises:
        TextError: a text has no vector; `position` is its row.
        GmeError: no list of strings; the model, the server or the cache is not usable; the dimension changes half-way.
    """
    check_texts(texts)
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    first: dict[bytes, int] = {}
    # The first row that holds the same text as row i.
    twin = np.fromiter((first.setdefault(digest, row) for row, digest in enumerate(digests)), np.intp, len(texts))
    rows = _Rows(len(texts), embedder.dim)
    if cache is not None:
        for digest, vector in cache.get(list(first)):
            rows.set([first[digest]], vector[None], f"vectors in {cache.path}")
    missing = [row for row in first.values() if not rows.filled[row]]
    if missing:
        _embed_missing(embedder, texts, digests, missing, rows, cache, progress, tell)
    copies = np.flatnonzero(twin != np.arange(len(texts)))
    rows.vectors[copies] = rows.vectors[twin[copies]]
    return rows.vectors, Counts(len(first), len(first) - len(missing), len(missing))


class _Rows:
    """The array that is being filled; made when the dimension is known."""

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
    progress: Progress | None,
    tell: Tell | None,
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
        for positions, vectors in batches:
            keep(positions, vectors)
            if embedder.paid or time.monotonic() - saved_at > _STORE_SECONDS:
                save()
            if progress is not None:
                progress(done, len(missing))
        save()
    except BaseException as error:
        # Whatever ended the loop, the embedder's threads must not go on asking and paying, and what is on its way is
        # paid already. A second Ctrl-C ends the waiting for it.
        with contextlib.suppress(BaseException):
            for positions, vectors in late(batches, error):
                keep(positions, vectors)
        if isinstance(batches, Generator):
            batches.close()
        save()
        if done and cache is not None and tell is not None:
            tell(f"{done:,} of {len(missing):,} texts are embedded and kept: the same command goes on from there")
        if isinstance(error, TextError):
            raise TextError(missing[error.position], error.problem, error.hint) from error
        raise
    left = [row for row in missing if not rows.filled[row]]
    if left:
        raise TextError(left[0], f"{embedder.name} gave no vector for it")


def _take_file(
    workspace: Workspace, options: EmbedOptions, before: dict[str, str], started: float, tell: Tell
) -> Embedded:
    """``file:``: the vectors of nodes and questions from the user's own arrays."""
    nodes_file = Path(options.rest).expanduser()
    if not options.rest:
        raise GmeError("--model file: names no file", "write --model file:NODES.npy")
    vectors = read_vectors(nodes_file, workspace.nodes.ids, NODES)
    arrays: dict[str, tuple[str, Vectors, Path]] = {ORIGINAL: (NODES, vectors, nodes_file)}
    if options.questions_file is not None:
        workspace.require(QUESTIONS)
        questions_file = Path(options.questions_file).expanduser()
        questions = read_vectors(questions_file, workspace.questions.ids, QUESTIONS)
        if questions.shape[1] != vectors.shape[1]:
            raise GmeError(
                f"{questions_file} has {questions.shape[1]} dimensions, but {nodes_file} has {vectors.shape[1]}",
                "nodes and questions must be embedded by the same model",
            )
        arrays[QUESTION_VECTORS] = (QUESTIONS, questions, questions_file)
    elif QUESTIONS in before:
        tell("the questions get no new vectors: add --questions-file QUESTIONS.npy to retrieve for questions.jsonl")
    key = f"file sha256={sha256(nodes_file)}"
    for relative, (name, array, source) in arrays.items():
        facts = {"source_file": str(source), "source_sha256": sha256(source)}
        _write(workspace, relative, name, array, before, started, options, key, facts)
    texts = sum(len(array) for _, array, _ in arrays.values())
    return Embedded(tuple(arrays), texts, texts, 0, 0, vectors.shape[1], {})


def _write(
    workspace: Workspace,
    relative: str,
    name: str,
    array: npt.NDArray[np.float32],
    before: dict[str, str],
    started: float,
    options: EmbedOptions,
    key: str,
    facts: dict[str, Any],
) -> None:
    if sha256(workspace.path(name)) != before[name]:
        raise GmeError(f"{workspace.path(name)} changed while it was embedded", f"run again: {command(options)}")
    workspace.write_array(
        relative,
        array,
        inputs=[name],
        started=started,
        method="embed",
        model=options.model,
        dimensions=options.dimensions,
        parameters=options.as_dict(),
        command=command(options),
        key=key,
        **({"asked": workspace.asked} if name == QUESTIONS else {}),
        **facts,
    )


def command(options: EmbedOptions) -> str:
    """The command line that makes the same arrays again."""
    words = ["gme", "embed"]
    for name, value in options.changed().items():
        words += [f"--{flag(name)}", str(value)]
    return shlex.join(words)


def _name(workspace: Workspace, row: int) -> str:
    """A row of nodes and questions put together, as file, row and id."""
    count = len(workspace.nodes)
    if row < count:
        return f"{workspace.path(NODES)}: row {row} (id {shorten(workspace.nodes.ids[row])})"
    return f"{workspace.path(QUESTIONS)}: row {row - count} (id {shorten(workspace.questions.ids[row - count])})"
