"""Embedders: from texts to unit vectors, by a model on this machine, a server, or a file of vectors that exist."""

from __future__ import annotations

from .protocol import Embedder, EmbedOptions, TextError
from .question import embed_question, embedder_for
from .registry import MODELS, make_embedder
from .run import Embedded, embed_texts, embed_workspace

__all__ = [
    "MODELS",
    "EmbedOptions",
    "Embedded",
    "Embedder",
    "TextError",
    "embed_question",
    "embed_texts",
    "embed_workspace",
    "embedder_for",
    "make_embedder",
]
