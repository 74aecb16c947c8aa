"""Embedders turn texts into unit vectors, by a model on this machine, a server, or a file of existing vectors."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cache import VectorCache as VectorCache
    from .models import MODELS as MODELS
    from .models import EmbedderKind as EmbedderKind
    from .models import register_embedder as register_embedder
    from .options import EmbedOptions as EmbedOptions
    from .protocol import Embedder as Embedder
    from .protocol import TextError as TextError
    from .registry import make_embedder as make_embedder
    from .texts import embed_texts as embed_texts

# name -> the module of this package that defines it, imported at the first use so that the command line starts fast
_PUBLIC = {
    "EmbedOptions": "options",
    "Embedder": "protocol",
    "EmbedderKind": "models",
    "MODELS": "models",
    "TextError": "protocol",
    "VectorCache": "cache",
    "embed_texts": "texts",
    "make_embedder": "registry",
    "register_embedder": "models",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
