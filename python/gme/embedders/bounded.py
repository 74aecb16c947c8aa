"""Limits for whole answers, so that a server that sends slowly or without end does not block the work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

LONGEST_ANSWER = 1 << 30
"""The most bytes of an answer, as sent. 2,048 vectors of 8,192 decimal numbers are less than half of it."""

_STARTED = "gme_started"


def event_hooks(timeout: float, longest: int) -> dict[str, list[Callable[[Any], None]]]:
    """Hooks for the HTTP client of `openai`. The client itself times each read of a body, but not the whole answer.

    Args:
        timeout: seconds from sending a request to the last byte of its answer, whatever the answer's status.
        longest: the most bytes in the body of an answer.

    If a limit is exceeded, the client raises its own `ReadTimeout` or `ReadError`.
    """

    def record_start(request: Any) -> None:
        request.extensions = {**request.extensions, _STARTED: time.monotonic()}

    def bound(response: Any) -> None:
        response.stream = _bounded(response, response.request.extensions[_STARTED] + timeout, longest)

    return {"request": [record_start], "response": [bound]}


def _bounded(response: Any, deadline: float, longest: int) -> Any:
    # The class must come from the client's own package: httpx, or httpx2 with newer versions of openai.
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
