"""Which embedder ``--model`` names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..errors import unknown
from .options import EmbedOptions
from .protocol import Embedder, Tell


def make_embedder(model: str = "local", *, threads: int = 0, tell: Tell | None = None, **settings: Any) -> Embedder:
    """Build the embedder that ``--model`` names.

    Args:
        model: ``local``, ``onnx:FOLDER`` or ``openai:NAME``.
        threads: for models on this machine; 0 means all cores. Any number gives the same bytes.
        tell: is told, in a line, when the work has to wait.
        settings: the other fields of `EmbedOptions`.

    Raises:
        GmeError: unknown model (the closest match is suggested), or a model that can't be loaded.
    """
    return from_options(EmbedOptions(model=model, **settings), threads=threads, tell=tell)


def from_options(options: EmbedOptions, *, threads: int = 0, tell: Tell | None = None) -> Embedder:
    """Build the embedder that the options describe; see `make_embedder`."""
    check_model(options.model)
    module, factory = MODELS[options.kind]
    build: Callable[[EmbedOptions, int], Embedder] = getattr(import_module(f".{module}", __package__), factory)
    embedder = build(options, threads)
    if tell is not None and hasattr(embedder, "tell"):
        embedder.tell = tell
    return embedder


def check_model(model: str) -> None:
    """Refuse a model whose kind is unknown, with the closest match as the hint."""
    if model.partition(":")[0] not in MODELS:
        raise unknown("model", model, FORMS)


# kind -> the module of this package and the function in it that takes (options, threads)
MODELS: dict[str, tuple[str, str]] = {
    "file": ("precomputed", "no_new_texts"),
    "local": ("local", "local"),
    "onnx": ("onnx", "onnx_folder"),
    "openai": ("openai_api", "openai_model"),
}
FORMS = ("file:NODES.npy", "local", "onnx:FOLDER", "openai:NAME")
