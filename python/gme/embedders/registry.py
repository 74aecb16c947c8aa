"""Makes the embedder that ``--model`` names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import GmeError, joined, unknown
from ..registry import load_function
from ..reporting import SILENT, Reporter, takes_callbacks
from ..types import Vectors
from .models import MODELS
from .options import EmbedOptions
from .protocol import Embedder


@takes_callbacks
def make_embedder(model: str = "local", *, threads: int = 0, reporter: Reporter = SILENT, **settings: Any) -> Embedder:
    """Build the embedder that ``--model`` names.

    Args:
        model: ``local``, ``static``, ``onnx:FOLDER``, ``openai:NAME``, or the form of another entry of `MODELS`.
        threads: for models on this machine; 0 means all cores. The result does not depend on it.
        reporter: hears when the work has to wait.
        settings: the other fields of `EmbedOptions`.

    Raises:
        GmeError: an unknown model (the closest match is suggested), or a model that can't be loaded.

    Example:
        >>> import gme
        >>> embedder = gme.make_embedder("local", threads=1)
        >>> embedder.name, embedder.dim
        ('local', 384)
    """
    return from_options(EmbedOptions(model=model, **settings), threads=threads, reporter=reporter)


def from_options(options: EmbedOptions, *, threads: int = 0, reporter: Reporter = SILENT) -> Embedder:
    """Build the embedder that the options describe; see `make_embedder`."""
    check_model(options.model)
    entry = MODELS[options.kind]
    with MODELS.blaming(options.kind):
        embedder: Embedder = load_function(entry.build)(options, threads)
    if options.kind not in MODELS.own:
        _blame(embedder, options.kind)
    embedder.reporter = reporter
    return embedder


def _blame(embedder: Embedder, kind: str) -> None:
    """Let the errors of another package's embedder name that package."""
    missing = [name for name in ("name", "key", "dim", "stream", "embed", "facts") if not hasattr(embedder, name)]
    if missing:
        raise GmeError(
            f"{MODELS.described(kind)} returned no embedder, but {type(embedder).__name__}, without {joined(missing)}",
            "return a subclass of gme.Embedder with name, key, dim and stream",
        )
    stream = embedder.stream

    def blamed(texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        with MODELS.blaming(kind):
            yield from stream(texts)

    embedder.stream = blamed  # type: ignore[method-assign]  # of this one object


def check_model(model: str) -> None:
    """Refuse a model whose kind is unknown, with the closest match as the hint."""
    if model.partition(":")[0] not in MODELS:
        raise unknown("model", model, [entry.form for entry in MODELS.values()])
