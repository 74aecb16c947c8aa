"""Ctrl-C and requests to end, where libraries turn them into errors of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest

from gme.storage.signals import interruptible
from gme.stores.exact import ExactStore
from gme.stores.hnsw import build_hnsw

ROWS, DIM = 4000, 64


class Ended(BaseException):
    """What the handler of a command raises on SIGTERM."""


def end(number: int, frame: object) -> None:
    raise Ended


@pytest.fixture
def exact() -> ExactStore:
    vectors = np.random.default_rng(1).standard_normal((ROWS, DIM), dtype=np.float32)
    return ExactStore(vectors, np.arange(ROWS, dtype=np.uint32))


def interrupt_while(work: Callable[[], object], number: int, seconds: float) -> None:
    """Do it again and again until the signal comes, which is most likely in the middle of it."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
    timer.start()
    try:
        while timer.is_alive():
            work()
        work()
    finally:
        timer.join()


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.15])
def test_an_index_is_interrupted_while_it_is_built(exact: ExactStore, seconds: float) -> None:
    build_hnsw(ExactStore(exact.vectors[:2]))  # USearch is imported here, not while the interrupt comes
    with pytest.raises(KeyboardInterrupt):
        interrupt_while(lambda: build_hnsw(exact), signal.SIGINT, seconds)


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.15])
def test_a_search_is_ended(exact: ExactStore, seconds: float) -> None:
    store = build_hnsw(exact)
    queries = exact.vectors[:2000]
    before = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(Ended):
            interrupt_while(lambda: store.search(queries, 20), signal.SIGTERM, seconds)
        assert signal.getsignal(signal.SIGTERM) is end
    finally:
        signal.signal(signal.SIGTERM, before)


def library(number: int | None, error: Exception | None) -> None:
    """Stands for one that looks for signals, and loses what their handlers raise."""
    with contextlib.suppress(BaseException):
        if number is not None:
            signal.raise_signal(number)
    if error is not None:
        raise error


def test_errors_of_the_library_stay_its_own() -> None:
    with pytest.raises(RuntimeError, match="out of room"), interruptible():
        library(None, RuntimeError("out of room"))


@pytest.mark.parametrize("error", [RuntimeError("terminated"), None])
def test_what_a_library_loses_is_raised(error: Exception | None) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        library(signal.SIGINT, error)


def test_a_handler_that_raises_nothing_changes_nothing() -> None:
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        with interruptible():
            library(signal.SIGTERM, None)
        with pytest.raises(RuntimeError, match="out of room"), interruptible():
            library(signal.SIGTERM, RuntimeError("out of room"))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM] * 2
