"""A server that pretends, and embedders that ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fake_openai_server import DIM, FakeServer, running, unit_of

from gme.embedders.openai_api import OpenAIEmbedder
from gme.embedders.options import EmbedOptions
from gme.types import Vectors

TEXTS = [f"text number {n}" for n in range(50)]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with running() as state:
        yield state


@pytest.fixture
def make(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., OpenAIEmbedder]:
    monkeypatch.setenv("TEST_KEY", "sk-secret-123")

    def build(**settings: Any) -> OpenAIEmbedder:
        given = {"model": "openai:fake", "base_url": server.url, "batch_size": 8, "api_key_env": "TEST_KEY"}
        embedder = OpenAIEmbedder(EmbedOptions(**{**given, **settings}))
        embedder.slept = []  # type: ignore[attr-defined]
        embedder.backoff.sleep = embedder.slept.append  # type: ignore[attr-defined]
        return embedder

    return build


Make = Callable[..., OpenAIEmbedder]


def expect(texts: list[str], dim: int = DIM) -> Vectors:
    return np.stack([unit_of(text, dim) for text in texts])


def kept_until_error(embedder: OpenAIEmbedder, kept: dict[int, Vectors]) -> None:
    """Consume the stream as the cache does; what arrived before the error is in `kept`."""
    for positions, vectors in embedder.stream(TEXTS):
        kept.update(zip(positions, vectors, strict=True))


def assert_right(vectors: Vectors, texts: list[str] = TEXTS, dim: int = DIM) -> None:
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(vectors, expect(texts, dim), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
