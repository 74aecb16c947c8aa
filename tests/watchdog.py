"""An end to what hangs. It is generous: a busy machine must pass, since no test asserts how long something takes."""

from __future__ import annotations

import contextlib
import faulthandler
from collections.abc import Iterator

GENEROUS = 120.0
"""Seconds for what takes less than one on an idle machine."""


@contextlib.contextmanager
def watchdog(seconds: float = GENEROUS) -> Iterator[None]:
    """End this process, with the stack of every thread, if what is inside does not come to an end."""
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
