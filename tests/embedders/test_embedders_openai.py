"""The embedder for OpenAI-compatible servers: what is asked, kept, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openai_cases
import pytest
from fake_openai_server import DIM, FakeServer, Fault
from openai_cases import TEXTS, Make, assert_right, expect, kept_until_error

from gme.embedders.cache import VectorCache
from gme.embedders.openai_api import _batches
from gme.embedders.protocol import TextError
from gme.embedders.texts import embed_texts
from gme.errors import GmeError
from gme.types import Vectors

server = openai_cases.server
make = openai_cases.make


def test_every_text_gets_its_own_vector_and_is_paid_once(server: FakeServer, make: Make) -> None:
    seen: list[tuple[int, int]] = []
    embedder = make()
    assert_right(embedder.embed(TEXTS, lambda done, total: seen.append((done, total))))
    assert server.paid == dict.fromkeys(TEXTS, 1)
    assert sorted(len(request["input"]) for request in server.requests) == [2, 8, 8, 8, 8, 8, 8]
    assert seen[-1] == (50, 50)
    assert embedder.dim == DIM
    assert embedder.facts()["tokens"] == 150
    assert embedder.facts()["served_model"] == "fake"


@pytest.mark.parametrize("how", ["only_floats", "refuse_base64", "shuffle"])
def test_servers_that_answer_differently(server: FakeServer, make: Make, how: str) -> None:
    setattr(server, how, True)
    assert_right(make().embed(TEXTS))
    assert server.paid == dict.fromkeys(TEXTS, 1)


def test_dimensions_are_asked_for(server: FakeServer, make: Make) -> None:
    assert_right(make(dimensions=5).embed(TEXTS), dim=5)
    assert {request["dimensions"] for request in server.requests} == {5}


def test_concurrency_is_used_and_bounded(server: FakeServer, make: Make) -> None:
    server.pause = 0.03
    make(batch_size=1, concurrency=3).embed(TEXTS[:12])
    assert server.most_at_once == 3


def test_concurrency_one_sends_one_request_at_a_time(server: FakeServer, make: Make) -> None:
    make(batch_size=4, concurrency=1).embed(TEXTS)
    assert server.most_at_once == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_variable_and_never_the_key(server: FakeServer, make: Make, status: int) -> None:
    server.faults.extend([Fault(status=status, message="bad key sk-secret-123")] * 9)
    with pytest.raises(GmeError) as caught:
        make(concurrency=1).embed(TEXTS)
    assert "$TEST_KEY" in caught.value.message
    assert str(status) in caught.value.message
    assert "--api-key-env" in str(caught.value.hint)
    assert "sk-secret" not in f"{caught.value.message}{caught.value.hint}"
    assert len(server.requests) == 1, "asking again is no use"


def test_a_missing_key(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY")
    with pytest.raises(GmeError, match="TEST_KEY is not set"):
        make(base_url="https://example.org/v1")


def test_a_server_on_this_machine_needs_no_key(server: FakeServer, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY")
    assert_right(make().embed(TEXTS))
    server.keys = {"sk-other"}
    with pytest.raises(GmeError, match=r"wants a key, and \$TEST_KEY is not set"):
        make().embed(TEXTS)


def test_a_key_with_a_line_break_is_refused_without_showing_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-sec\nret")
    with pytest.raises(GmeError) as caught:
        make()
    assert "TEST_KEY" in caught.value.message
    assert "ret" not in caught.value.message.replace("TEST_KEY", "")


def test_an_unknown_model(server: FakeServer, make: Make) -> None:
    server.faults.append(Fault(status=404, message="The model `fake` does not exist"))
    with pytest.raises(GmeError, match="knows no model 'fake'"):
        make(concurrency=1).embed(TEXTS)
    assert len(server.requests) == 1


def test_a_wrong_base_url(server: FakeServer, make: Make) -> None:
    with pytest.raises(GmeError, match="404") as caught:
        make(base_url=server.url.removesuffix("/v1"), concurrency=1).embed(TEXTS)
    assert "/v1" in str(caught.value.hint)


def test_a_used_up_quota_is_not_asked_again(server: FakeServer, make: Make) -> None:
    server.faults.append(Fault(status=429, code="insufficient_quota", message="You exceeded your current quota"))
    with pytest.raises(GmeError, match="quota is used up"):
        make(concurrency=1).embed(TEXTS)
    assert len(server.requests) == 1


@pytest.mark.parametrize("bad", [0, 13, 49])
def test_a_refused_text_is_found_and_the_others_are_kept(server: FakeServer, make: Make, bad: int) -> None:
    server.refused = {TEXTS[bad]}
    kept: dict[int, Vectors] = {}
    with pytest.raises(TextError, match="refused by policy") as caught:
        kept_until_error(make(batch_size=50), kept)
    assert caught.value.position == bad
    assert sorted(kept) == [row for row in range(50) if row != bad]
    np.testing.assert_allclose(
        np.stack([kept[row] for row in sorted(kept)]), expect([TEXTS[r] for r in sorted(kept)]), atol=1e-6
    )
    assert max(server.paid.values()) == 1
    assert len(server.requests) <= 13


def test_refused_dimensions_are_not_blamed_on_a_text(server: FakeServer, make: Make) -> None:
    server.faults.append(Fault(status=400, message="This model does not support specifying dimensions."))
    with pytest.raises(GmeError, match="does not support specifying dimensions") as caught:
        make(dimensions=4, concurrency=1).embed(TEXTS)
    assert not isinstance(caught.value, TextError)
    assert len(server.requests) == 1


def test_a_server_that_ignores_dimensions(server: FakeServer, make: Make) -> None:
    def widen(answer: dict[str, Any]) -> None:
        for entry in answer["data"]:
            entry["embedding"] = [1.0] * 6

    server.faults.append(Fault(change=widen))
    with pytest.raises(GmeError, match="6 dimensions, but --dimensions asks for 4"):
        make(dimensions=4, concurrency=1).embed(TEXTS)


def test_a_server_that_changes_its_dimension(server: FakeServer, make: Make) -> None:
    embedder = make(concurrency=1)
    embedder.embed(TEXTS[:8])
    server.dim = 3
    with pytest.raises(GmeError, match="3 dimensions after vectors of 8"):
        embedder.embed(TEXTS[8:])


DIRECTIONLESS = pytest.mark.parametrize(
    "value", [[0.0] * DIM, "AADAfwAAwH8AAMB/AADAfwAAwH8AAMB/AADAfwAAwH8="], ids=["zero", "nan"]
)


@DIRECTIONLESS
def test_a_vector_without_direction_is_asked_for_alone(server: FakeServer, make: Make, value: object) -> None:
    server.faults.extend([Fault(spoil=(3, value)), Fault(spoil=(0, value))])
    embedder = make(concurrency=1)
    assert_right(embedder.embed(TEXTS))
    assert server.paid == dict.fromkeys(TEXTS, 1)
    assert [len(request["input"]) for request in server.requests][:3] == [8, 1, 1]
    assert embedder.facts()["retries"] == 2


@DIRECTIONLESS
def test_a_vector_that_never_has_a_direction_is_blamed_on_its_text(
    server: FakeServer, make: Make, value: object
) -> None:
    server.faults.extend([Fault(spoil=(3, value)), Fault(spoil=(0, value)), Fault(spoil=(0, value))])
    kept: dict[int, Vectors] = {}
    with pytest.raises(TextError, match=r"zero or NaN \(3 tries\)") as caught:
        kept_until_error(make(concurrency=1, retries=2), kept)
    assert caught.value.position == 3
    assert {0, 1, 2, 4, 5, 6, 7} <= set(kept)


def test_empty_texts_are_refused_before_anything_is_sent(server: FakeServer, make: Make) -> None:
    with pytest.raises(TextError, match="empty") as caught:
        make().embed([*TEXTS, "", "more"])
    assert caught.value.position == 50
    assert server.requests == []


def test_an_error_keeps_what_others_have_finished(server: FakeServer, make: Make) -> None:
    server.faults.extend([Fault(), Fault(), Fault(status=401)])
    kept: dict[int, Vectors] = {}
    with pytest.raises(GmeError, match="401"):
        kept_until_error(make(concurrency=2), kept)
    assert sorted(TEXTS[row] for row in kept) == sorted(server.paid.elements())


def test_identical_texts_are_paid_once_and_cached_ones_never(server: FakeServer, make: Make, tmp_path: Path) -> None:
    texts = TEXTS[:10] + TEXTS[:5] + TEXTS[:1]
    with VectorCache(tmp_path, "k") as cache:
        fresh, counts = embed_texts(make(), texts, cache=cache)
        assert_right(fresh, texts)
        assert (counts.distinct, counts.reused, counts.embedded) == (10, 0, 10)
        assert server.paid == dict.fromkeys(TEXTS[:10], 1)
        again, counts = embed_texts(make(), texts, cache=cache)
    assert counts.reused == 10
    assert again.tobytes() == fresh.tobytes()
    assert server.paid == dict.fromkeys(TEXTS[:10], 1)


def test_vectors_of_another_size_in_the_cache(server: FakeServer, make: Make, tmp_path: Path) -> None:
    with VectorCache(tmp_path, "k") as cache:
        embed_texts(make(), TEXTS[:5], cache=cache)
        server.dim = 4
        with pytest.raises(GmeError, match=r"4 dimensions, but .*: 8") as caught:
            embed_texts(make(), TEXTS, cache=cache)
    assert "--no-cache" in str(caught.value.hint)


def test_a_stopped_embedder_can_be_used_again(server: FakeServer, make: Make) -> None:
    embedder = make()
    server.faults.append(Fault(status=401))
    with pytest.raises(GmeError, match="401"):
        embedder.embed(TEXTS)
    server.faults.append(Fault(status=503))
    assert_right(embedder.embed(TEXTS))


def test_batches_keep_order_and_limits() -> None:
    texts = ["a" * 100] * 10 + ["b" * 40_000] + ["c" * 15_000] * 70
    batches = list(_batches(texts, 64))
    assert [row for batch in batches for row in batch] == list(range(81))
    assert [10] in batches, "a text that may be too long goes alone"
    assert all(len(batch) <= 64 for batch in batches)
    assert all(sum(len(texts[row]) for row in batch) <= 500_000 for batch in batches)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("localhost:8000/v1", "not an http address"),
        ("http://user:pass@host/v1", "holds a user"),
        ("http://host/v1?key=sk-1", "holds a user"),
        ("http://host:port/v1", "port"),
        ("http://", "not an http address"),
    ],
)
def test_bad_base_urls(make: Make, url: str, problem: str) -> None:
    with pytest.raises(GmeError, match=problem) as caught:
        make(base_url=url)
    assert "pass@" not in str(caught.value)
    assert "sk-1" not in str(caught.value)


def test_the_key_of_the_cache_depends_on_all_that_changes_vectors(make: Make) -> None:
    keys = [make().key, make(dimensions=4).key, make(model="openai:b").key, make(base_url="http://127.0.0.1:1/v1").key]
    assert len(set(keys)) == 4
    assert make(batch_size=3, concurrency=9).key == keys[0]
    assert "sk-secret" not in "".join(keys)
