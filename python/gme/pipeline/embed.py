"""The step ``gme embed``: embeds all texts of a workspace with one embedder and one cache."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from ..command_line import command_line
from ..embedders.cache import VectorCache
from ..embedders.models import MODELS
from ..embedders.options import EmbedOptions
from ..embedders.precomputed import read_vectors
from ..embedders.protocol import TextError
from ..embedders.registry import check_model, from_options
from ..embedders.texts import embed_texts
from ..errors import GmeError, shorten
from ..formatting import counted
from ..registry import made_by
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.files import sha256
from ..types import Vectors
from ..workspace import Workspace, exclusive_lock
from ..workspace.layout import NODES, ORIGINAL, QUESTION_VECTORS, QUESTIONS
from ..workspace.manifests import Values


@dataclass(frozen=True)
class Embedded:
    """What `embed_workspace` did.

    `written` lists the arrays. `texts` counts nodes and questions, and `distinct` their distinct texts. Of these,
    `reused` came from the cache, and the model made `embedded`. `dim` is the dimension of the vectors.
    """

    written: tuple[str, ...]
    texts: int
    distinct: int
    reused: int
    embedded: int
    dim: int
    facts: Values


@takes_callbacks
@exclusive_lock
def embed_workspace(
    workspace: Workspace,
    options: EmbedOptions | None = None,
    *,
    cache: Path | None = None,
    threads: int = 0,
    reporter: Reporter = SILENT,
) -> Embedded:
    """Write `embeddings/original.npy` and, if there is a `questions.jsonl`, `embeddings/questions.npy`.

    Both are computed before either is written, so both always come from one model.

    Args:
        workspace: needs `nodes.jsonl`.
        options: the model and its settings.
        cache: the folder of the vector cache; None uses no cache.
        threads: for models on this machine; 0 means all cores. The result does not depend on it.
        reporter: hears the progress through texts that are not cached, and when the work has to wait.

    Raises:
        GmeError: bad input files, model or server. If a text can't be embedded, the message names its id.

    Example:
        >>> import gme
        >>> done = gme.embed_workspace(gme.Workspace("corpus"), gme.EmbedOptions(model="local"), threads=1)
        >>> done.dim
        384
    """
    options = options or EmbedOptions()
    started = time.perf_counter()
    check_model(options.model)
    names = [NODES, QUESTIONS] if workspace.path(QUESTIONS).is_file() else [NODES]
    before = {name: sha256(workspace.require(name)) for name in names}
    embedding = _Embedding(workspace, options, before, started)
    if options.kind == "file":
        return _take_file(embedding, reporter)
    texts = [*workspace.nodes.texts, *(workspace.questions.texts if QUESTIONS in names else ())]
    embedder = from_options(options, threads=threads, reporter=reporter)
    blank = [row for row, text in enumerate(texts) if not text.strip()]
    if blank:
        first = _name(workspace, blank[0])
        reporter.note(f"{counted(len(blank), 'blank text')}: such a vector means nothing; the first is {first}")
    try:
        with VectorCache(cache, embedder.key) if cache is not None else contextlib.nullcontext() as store:
            vectors, counts = embed_texts(embedder, texts, cache=store, reporter=reporter)
    except TextError as error:
        raise GmeError(f"{_name(workspace, error.position)}: {error.problem}", error.hint) from error
    facts = {**embedder.facts(), "distinct_texts": counts.distinct, "texts_from_cache": counts.reused}
    rows = len(workspace.nodes)
    arrays = {ORIGINAL: (NODES, vectors[:rows]), QUESTION_VECTORS: (QUESTIONS, vectors[rows:])}
    for relative, (name, array) in list(arrays.items())[: len(names)]:
        embedding.write(relative, name, array, embedder.key, facts)
    written = tuple(list(arrays)[: len(names)])
    return Embedded(written, len(texts), counts.distinct, counts.reused, counts.embedded, vectors.shape[1], facts)


@dataclass(frozen=True)
class _Embedding:
    """What the arrays that one call writes have in common.

    Attributes:
        before: the hash of each file of texts when the work began.
        started: the time when the work began.
    """

    workspace: Workspace
    options: EmbedOptions
    before: dict[str, str]
    started: float

    def write(self, relative: str, name: str, array: Vectors, key: str, facts: Values) -> None:
        """Write the vectors of the texts in the file `name`, unless it has changed."""
        workspace, options = self.workspace, self.options
        command = embed_command(options)
        if sha256(workspace.path(name)) != self.before[name]:
            raise GmeError(f"{workspace.path(name)} changed while it was embedded", f"run again: {command}")
        workspace.write_array(
            relative,
            array,
            inputs=[name],
            started=self.started,
            method="embed",
            model=options.model,
            dimensions=options.dimensions,
            parameters=options.as_dict(),
            command=command,
            key=key,
            **({"asked": workspace.question_digest} if name == QUESTIONS else {}),
            **made_by(model=MODELS.source(options.kind)),
            **facts,
        )


def _take_file(embedding: _Embedding, reporter: Reporter) -> Embedded:
    """Read the vectors of nodes and questions from the user's own arrays (``file:``)."""
    workspace, options = embedding.workspace, embedding.options
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
    elif QUESTIONS in embedding.before:
        reporter.note(
            "the questions get no new vectors: add --questions-file QUESTIONS.npy to retrieve for questions.jsonl"
        )
    key = f"file sha256={sha256(nodes_file)}"
    for relative, (name, array, source) in arrays.items():
        facts = {"source_file": str(source), "source_sha256": sha256(source)}
        embedding.write(relative, name, array, key, facts)
    texts = sum(len(array) for _, array, _ in arrays.values())
    return Embedded(tuple(arrays), texts, texts, 0, 0, vectors.shape[1], {})


def embed_command(options: EmbedOptions) -> str:
    """The command line that makes the same arrays again."""
    return command_line("gme embed", (), options.changed())


def _name(workspace: Workspace, row: int) -> str:
    """A row of the nodes and questions together, as file, row and id."""
    count = len(workspace.nodes)
    if row < count:
        return f"{workspace.path(NODES)}: row {row} (id {shorten(workspace.nodes.ids[row])})"
    return f"{workspace.path(QUESTIONS)}: row {row - count} (id {shorten(workspace.questions.ids[row - count])})"
