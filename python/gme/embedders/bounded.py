"""Answers bounded as a whole: a server that sends a byte now and then, or bytes without end, holds nobody up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

LONGEST_ANSWER = 1 << 30
"""Bytes of an answer, as sent. 2,048 vectors of 8,192 numbers in decimal are less than half of it."""

_STARTED = "gme_started"


def event_hooks(timeout: float, longest: int) -> dict[str, list[Callable[[Any], None]]]:
    """Hooks for the HTTP client that `openai` uses, which times each read of a body but not the whole of it.

    Args:
        timeout: seconds from sending a request to the last byte of its answer, whatever its status.
        longest: bytes that the body of an answer may have.

    The client then raises its own `ReadTimeout` or `ReadError`.
    """

    def note_the_time(request: Any) -> None:
        request.extensions = {**request.extensions, _STARTED: time.monotonic()}

    def bound(response: Any) -> None:
        response.stream = _bounded(response, response.request.extensions[_STARTED] + timeout, longest)

    return {"request": [note_the_time], "response": [bound]}


def _bounded(response: Any, deadline: float, longest: int) -> Any:
    # httpx, or httpx2 with newer versions of openai; an answer's body must be of its own class.
    http = import_module(type(response).__module__.partition(".")[0])
    source = response.stream

    class Bounded(http.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in source:
                size += len(chunk)
                if size > longest:
                    raise http.ReadError(f"an answer of more than {longest:,} bytes")
                if time.monotonic() > deadline:
                    raise http.ReadTimeout("the answer was not whole in time")
                yield chunk

        def close(self) -> None:
            source.close()

    return Bounded()
