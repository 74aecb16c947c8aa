"""Makes the embedder that ``--model`` names."""

from __future__ import annotations

from typing import Any

from ..errors import unknown
from ..registry import load_function
from ..reporting import SILENT, Reporter, takes_callbacks
from .models import MODELS
from .options import EmbedOptions
from .protocol import Embedder


@takes_callbacks
def make_embedder(model: str = "local", *, threads: int = 0, reporter: Reporter = SILENT, **settings: Any) -> Embedder:
    """Build the embedder that ``--model`` names.

    Args:
        model: ``local``, ``onnx:FOLDER``, ``openai:NAME``, or the form of another entry of `MODELS`.
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
    embedder: Embedder = load_function(MODELS[options.kind].build)(options, threads)
    embedder.reporter = reporter
    return embedder


def check_model(model: str) -> None:
    """Refuse a model whose kind is unknown, with the closest match as the hint."""
    if model.partition(":")[0] not in MODELS:
        raise unknown("model", model, [entry.form for entry in MODELS.values()])
