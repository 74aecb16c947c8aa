"""Ctrl-C and requests to end: delayed during file operations that belong together, and kept through libraries."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]

_STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C and requests to end until the block ends. Use it for a few file operations that belong together."""
    came: list[int] = []
    try:
        with _handled(lambda handler: lambda number, frame: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(came[0])


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise the error of a signal's handler even if a library stops and raises an error of its own instead.

    USearch is such a library: Ctrl-C during its searches and additions becomes a `RuntimeError`.
    """
    raised: list[BaseException] = []

    def kept(handler: Handler) -> Handler:
        def call(number: int, frame: FrameType | None) -> None:
            try:
                handler(number, frame)
            except BaseException as error:
                raised.append(error)
                raise

        return call

    try:
        with _handled(kept):
            yield
    except Exception:
        if not raised:
            raise
    if raised:
        raise raised[0]


@contextlib.contextmanager
def _handled(replaced: Callable[[Handler], Handler]) -> Iterator[None]:
    """Replace the handlers of signals that ask to end, within the block."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread handles signals
        return
    # A signal without a Python handler ends the process or does nothing. Such signals are left as they are.
    handlers = {number: handler for number in _STOPPING if callable(handler := signal.getsignal(number))}
    try:
        for number, handler in handlers.items():
            signal.signal(number, replaced(handler))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
