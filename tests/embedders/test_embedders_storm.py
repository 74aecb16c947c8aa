"""The fast form of `python tests/embedders/storm.py`: no sleeping between tries, stopped once half-way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_openai_server import DIM, FakeServer, running, unit_of
from storm import KEY, Storm, kinds, texts_of

from gme.embedders.cache import VectorCache
from gme.embedders.openai_api import OpenAIEmbedder
from gme.embedders.options import EmbedOptions
from gme.embedders.texts import embed_texts
from gme.types import Progress, Vectors
from recorder import Recorder

TEXTS = texts_of(2_000)


def embedder_for(server: FakeServer) -> OpenAIEmbedder:
    options = EmbedOptions(
        model="openai:fake",
        base_url=server.url,
        batch_size=8,
        dimensions=DIM,
        timeout=1.0,
        concurrency=8,
        api_key_env="STORM_KEY",
    )
    embedder = OpenAIEmbedder(options)
    embedder.backoff.sleep = lambda seconds: None
    return embedder


class _Stopping(Recorder):
    """Presses Ctrl-C when half of the work is done."""

    @contextlib.contextmanager
    def progress(self, label: str, unit: str = "") -> Iterator[Progress]:
        def stop_half_way(done: int, total: int) -> None:
            if done > total / 2:
                raise KeyboardInterrupt

        yield stop_half_way


def test_every_text_gets_its_vector_in_a_storm_and_none_is_paid_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORM_KEY", KEY)
    storm = Storm(seed=1, share=0.3, late=3.0)
    recorder = _Stopping()
    with running() as server, VectorCache(tmp_path, "k") as cache:
        server.weather, server.keys, server.shuffle = storm, {KEY}, True
        first, second = embedder_for(server), embedder_for(server)
        first.reporter = second.reporter = recorder
        with pytest.raises(KeyboardInterrupt):
            embed_texts(first, TEXTS, cache=cache, reporter=recorder)
        vectors, counts = embed_texts(second, TEXTS, cache=cache)
        retries = first.backoff.retries + second.backoff.retries
    assert_same(vectors)
    assert counts.reused + counts.embedded == len(TEXTS)
    assert counts.reused > len(TEXTS) / 2
    assert {text: times for text, times in server.paid.items() if times != 1} == {}
    assert set(server.paid) == set(TEXTS)
    assert set(storm.seen) == set(kinds(1.0)), "every kind of fault was met"
    assert sum(storm.seen.values()) > 80
    assert retries >= sum(storm.seen.values()) - 8, "a request under way when the work stops is not tried again"
    assert "are embedded and kept" in recorder.notes[-1]
    assert KEY not in "".join(recorder.notes)


def assert_same(vectors: Vectors) -> None:
    np.testing.assert_allclose(vectors, np.stack([unit_of(text) for text in TEXTS]), atol=1e-6)
