"""The registry of embedders, which ``--model`` names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..registry import Registry, Rules

if TYPE_CHECKING:
    from .options import EmbedOptions
    from .protocol import Embedder


@dataclass(frozen=True)
class EmbedderKind:
    """An entry of `MODELS`.

    Attributes:
        form: what a user writes after ``--model``: the entry's name, and what it needs after a colon.
        build: a function ``(options, threads)`` that returns an `Embedder`, or its ``module:name``. With the second
            form, naming another model does not import it. ``options.rest`` is the text after the colon.
        settings: the fields of `EmbedOptions` that it uses, besides ``model``. Other fields are refused.
        summary: one line for the help.
    """

    form: str
    build: str | Callable[[EmbedOptions, int], Embedder]
    settings: tuple[str, ...] = ()
    summary: str = ""


def register_embedder(name: str, entry: EmbedderKind, *, replace: bool = False) -> None:
    """Add a kind of embedder until this process ends; see `Registry.register`.

    Example:
        >>> import gme
        >>> import numpy as np
        >>> class Lengths(gme.Embedder):
        ...     name, key, dim = "lengths", "lengths 1", 2
        ...     def stream(self, texts):
        ...         angles = np.array([len(text) for text in texts], dtype=np.float32)
        ...         yield range(len(texts)), np.stack([np.cos(angles), np.sin(angles)], axis=1)
        >>> kind = gme.EmbedderKind("lengths", lambda options, threads: Lengths())
        >>> gme.register_embedder("lengths", kind)
        >>> gme.make_embedder("lengths").embed(["one", "three"]).shape
        (2, 2)
        >>> gme.MODELS.unregister("lengths")
    """
    MODELS.register(name, entry, replace=replace)


_SERVER = ("base_url", "dimensions", "concurrency", "timeout", "retries", "api_key_env")

_OWN: dict[str, EmbedderKind] = {
    "local": EmbedderKind("local", "gme.embedders.local:local", ("batch_size",)),
    "static": EmbedderKind("static", "gme.embedders.static:static"),
    "onnx": EmbedderKind("onnx:FOLDER", "gme.embedders.onnx:onnx_folder", ("batch_size",)),
    "openai": EmbedderKind("openai:NAME", "gme.embedders.openai_api:openai_model", ("batch_size", *_SERVER)),
    "file": EmbedderKind("file:NODES.npy", "gme.embedders.precomputed:no_new_texts", ("questions_file",)),
}

MODELS: Registry[EmbedderKind] = Registry(
    "model",
    "gme.embedders",
    EmbedderKind,
    _OWN,
    rules=Rules(function="build", deferred=True),
    about=lambda entry: entry.summary,
)
"""All kinds of embedders by name: those of this package, then those of other packages."""
