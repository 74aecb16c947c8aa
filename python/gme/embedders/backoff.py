"""When to ask a server again: after growing pauses with jitter, or after the time that the server asks for."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
# If a server asks for more seconds than this, the work ends with an error.
LONGEST_WAIT = 600.0


class Backoff:
    """Pauses that all threads of an embedder share. If the server asks one of them to wait, all wait.

    Attributes:
        sleep: called with seconds. Tests replace it. By default it ends early when `stop` is called.
        retries: how many pauses there were.
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._resume_at = 0.0
        self.sleep: Callable[[float], object] = self._wait
        self.retries = 0

    def start(self) -> None:
        """Allow sleeping again after a `stop`."""
        self._stopped = threading.Event()

    def _wait(self, duration: float) -> None:
        self._stopped.wait(duration)

    def wait_until_due(self) -> None:
        """Sleep until the pause that the server asked for is over."""
        with self._lock:
            left = self._resume_at - time.monotonic()
        if left > 0 and not self._stopped.is_set():
            self.sleep(left)

    def pause(self, attempt: int, server_delay: float | None) -> None:
        """Count the failed attempt number `attempt` (from 0) and sleep.

        If the server named a time, all threads wait for it: each sleeps in `wait_until_due` before its next request.
        """
        with self._lock:
            self.retries += 1
            if server_delay:
                self._resume_at = max(self._resume_at, time.monotonic() + server_delay)
        if not server_delay and not self._stopped.is_set():
            self.sleep(seconds(attempt))

    @property
    def stopped(self) -> bool:
        """Whether the work has ended by an error elsewhere or Ctrl-C."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Wake all sleepers, and let no thread sleep again."""
        self._stopped.set()


def seconds(attempt: int) -> float:
    """How long to wait if the server does not say: it doubles up to a limit, times a random factor from 0.5 to 1."""
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt) * random.uniform(0.5, 1.0))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a response asks to wait: ``retry-after-ms``, or ``Retry-After`` as seconds or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            wait = float(value) * unit
        except ValueError:
            wait = _until(value)
        if wait == wait:  # not NaN
            return max(0.0, wait)
    return None


def _until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return float("nan")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - datetime.now(timezone.utc)).total_seconds()
