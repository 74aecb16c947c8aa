"""The embedder for OpenAI-compatible servers when they fail, are slow or misbehave."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import openai_cases
import pytest
from fake_openai_server import DIM, FakeServer, Fault, running
from openai_cases import TEXTS, Make, assert_right, kept_until_error

from gme.embedders.backoff import FIRST_PAUSE, LONGEST_PAUSE, retry_after, seconds
from gme.errors import GmeError
from gme.types import Vectors
from recorder import Recorder

server = openai_cases.server
make = openai_cases.make


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429),
        Fault(status=500),
        Fault(status=502),
        Fault(status=503),
        Fault(status=504),
        Fault(status=408),
        Fault(truncate=True),
        Fault(cut=True),
        Fault(drop=True),
        Fault(reset=True),
        Fault(change=lambda answer: [entry.update(embedding=[1.0] * 3) for entry in answer["data"]]),
        Fault(change=lambda answer: answer["data"].pop()),
        Fault(change=lambda answer: answer["data"][0].update(index=1)),
        Fault(change=lambda answer: answer["data"][0].update(index="0")),
        Fault(change=lambda answer: answer["data"][0].update(embedding="AAA")),
        Fault(change=lambda answer: answer["data"][0].update(embedding=[1.0, "x"])),
        Fault(change=lambda answer: answer["data"][0].update(embedding=[1.0] * 3)),
        Fault(change=lambda answer: answer["data"][0].update(embedding=[])),
        Fault(change=lambda answer: answer.pop("data")),
    ],
    ids=str,
)
def test_passing_faults_are_asked_again(server: FakeServer, make: Make, fault: Fault) -> None:
    embedder = make(dimensions=DIM)
    embedder.embed(TEXTS[:1])  # a server whose first answer has the wrong size is not asked again
    server.paid.clear()
    server.faults.extend([fault, Fault(), fault, fault])
    assert_right(embedder.embed(TEXTS))
    assert server.paid == dict.fromkeys(TEXTS, 1), "no text is paid beyond the faulty answers"
    assert embedder.facts()["retries"] == 3
    assert len(embedder.slept) >= 3  # type: ignore[attr-defined]


def test_slow_answers_time_out_and_are_asked_again(server: FakeServer, make: Make) -> None:
    server.faults.extend([Fault(delay=1.0), Fault(delay=1.0)])
    embedder = make(timeout=0.2)
    assert_right(embedder.embed(TEXTS))
    assert server.paid == dict.fromkeys(TEXTS, 1)
    assert embedder.facts()["retries"] == 2


def test_retry_after_is_respected_in_seconds(server: FakeServer, make: Make) -> None:
    server.faults.append(Fault(status=429, headers={"Retry-After": "7"}))
    embedder = make(concurrency=1)
    embedder.reporter = recorder = Recorder()
    assert_right(embedder.embed(TEXTS))
    assert embedder.slept[0] == pytest.approx(7, abs=0.5)  # type: ignore[attr-defined]
    assert "waiting 7 seconds" in recorder.notes[0]
    assert "sk-secret" not in recorder.notes[0]


def test_retry_after_is_respected_as_a_date(server: FakeServer, make: Make) -> None:
    moment = datetime.now(timezone.utc) + timedelta(seconds=20)
    server.faults.append(Fault(status=503, headers={"Retry-After": format_datetime(moment, usegmt=True)}))
    embedder = make(concurrency=1)
    assert_right(embedder.embed(TEXTS))
    assert 15 < embedder.slept[0] <= 20  # type: ignore[attr-defined]


def test_retry_after_really_waits(server: FakeServer, make: Make) -> None:
    server.faults.append(Fault(status=429, headers={"Retry-After": "0.4"}))
    embedder = make(concurrency=1)
    embedder.backoff.sleep = time.sleep
    assert_right(embedder.embed(TEXTS[:8]), TEXTS[:8])
    assert server.arrivals[1] - server.arrivals[0] >= 0.39


def test_one_thread_s_retry_after_holds_all_threads(server: FakeServer, make: Make) -> None:
    server.faults.append(Fault(status=429, headers={"Retry-After": "30"}))
    server.pause = 0.05
    embedder = make(batch_size=2, concurrency=4)
    assert_right(embedder.embed(TEXTS))
    assert sum(seconds > 25 for seconds in embedder.slept) > 4  # type: ignore[attr-defined]


def test_a_wait_of_hours_is_an_error(server: FakeServer, make: Make) -> None:
    server.faults.append(Fault(status=429, headers={"Retry-After": "7200"}))
    with pytest.raises(GmeError, match="asks to wait 7,200 seconds"):
        make().embed(TEXTS)


def test_retries_end(server: FakeServer, make: Make) -> None:
    server.faults.extend([Fault(status=500)] * 100)
    embedder = make(retries=3, concurrency=1)
    with pytest.raises(GmeError, match=r"answered 500: injected \(4 tries\)"):
        embedder.embed(TEXTS)
    assert len(server.requests) == 4


def test_an_unreachable_server_is_told_soon(make: Make) -> None:
    embedder = make(base_url="http://127.0.0.1:9/v1", concurrency=1)
    with pytest.raises(GmeError, match=r"can't be reached .*\(4 tries\)"):
        embedder.embed(TEXTS)


def test_pauses_grow_and_are_capped() -> None:
    for attempt in range(12):
        full = min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)
        assert all(full / 2 <= seconds(attempt) <= full for _ in range(50))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_reading_retry_after(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers) == expected


def test_what_a_halved_batch_has_paid_survives_an_error_in_its_other_half(server: FakeServer, make: Make) -> None:
    refusal, broken = Fault(status=400, message="refused"), Fault(status=401)
    server.faults.extend([refusal, Fault(), broken])  # the whole, its first half, its second half
    kept: dict[int, Vectors] = {}
    with pytest.raises(GmeError, match="401"):
        kept_until_error(make(batch_size=50, concurrency=1), kept)
    assert sorted(kept) == list(range(25))
    assert server.paid == dict.fromkeys(TEXTS[:25], 1)


@pytest.mark.parametrize("status", [200, 500])
def test_a_body_that_drips_is_given_up_in_time(server: FakeServer, make: Make, status: int) -> None:
    """Each piece comes in time, and the whole would take twenty times as long as one may wait."""
    server.faults.append(Fault(status=status, drip=0.2))
    embedder = make(timeout=1.0, concurrency=1)
    assert_right(embedder.embed(TEXTS[:8]), TEXTS[:8])
    assert server.drips == 0, "the client has not waited for the whole"
    assert server.paid == dict.fromkeys(TEXTS[:8], 1)
    assert embedder.facts()["retries"] == 1


def test_an_answer_without_end_is_not_read_to_its_end(
    server: FakeServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gme.embedders.openai_api.LONGEST_ANSWER", 2_000)
    server.faults.append(Fault(change=lambda answer: answer.update(model="m" * 10_000)))
    embedder = make(concurrency=1)
    assert_right(embedder.embed(TEXTS[:8]), TEXTS[:8])
    assert embedder.facts()["retries"] == 1


def test_the_key_does_not_follow_a_redirect_to_another_server(server: FakeServer, make: Make) -> None:
    with running() as elsewhere:
        elsewhere.keys = {"sk-secret-123"}
        server.faults.extend([Fault(status=307, headers={"Location": f"{elsewhere.url}/embeddings"})] * 9)
        with pytest.raises(GmeError, match="401"):
            make(concurrency=1).embed(TEXTS)
        assert len(elsewhere.requests) == 1
