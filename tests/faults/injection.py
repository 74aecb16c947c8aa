"""One fault in one run of a command, at a step that is given by its number."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
TAKES_SPACE = frozenset({"open", "mkdir", "write", "allocate", "sync", "truncate"})
"""The steps that a full disk refuses; files can still be renamed and removed on it."""


@dataclass(frozen=True)
class Fault:
    """What happens at a step.

    Attributes:
        happen: called before the step, and in the middle of one that writes.
        codes: how the command may then end: negative numbers are signals.
        steps: the kinds of steps it can happen at; None: all.
        lasting: whether it also happens at every later one.
        clean: whether the command must remove all that it has not finished by itself.
    """

    happen: Callable[[], None]
    codes: tuple[int, ...]
    steps: frozenset[str] | None = None
    lasting: bool = False
    clean: bool = True


def _no_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


FAULTS = {
    "killed": Fault(lambda: os.kill(os.getpid(), signal.SIGKILL), (-signal.SIGKILL,), clean=False),
    # A signal that comes during the last steps may be handled when the work is done.
    "interrupted": Fault(lambda: signal.raise_signal(signal.SIGINT), (130, 0)),
    "terminated": Fault(lambda: signal.raise_signal(signal.SIGTERM), (143, 0)),
    # What only makes a rename durable, or signs a lock, may fail without harm.
    "disk full": Fault(_no_space, (1, 0), steps=TAKES_SPACE, lasting=True),
}


class Injector:
    """Counts a process's steps in a folder, and lets a fault happen at one of them.

    Steps are seen through an audit hook (opening for writing, renaming, removing, folders) and, for what raises no
    events (writing, syncing, reserving space), by wrapping the few functions that do it.
    """

    def __init__(self, root: Path, fault: Fault | None = None, at: int | None = None) -> None:
        self.root = str(root)
        self.fault, self.at = fault, at
        self.counts: dict[str, int] = {}
        self.steps = 0
        self._inside = False

    def step(self, kind: str) -> None:
        """One step begins."""
        if self._inside:
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        fault = self.fault
        if fault is None or self.at is None or (fault.steps is not None and kind not in fault.steps):
            return
        number, self.steps = self.steps, self.steps + 1
        if number == self.at or (fault.lasting and number > self.at):
            self._inside = not fault.lasting
            fault.happen()

    def install(self) -> None:
        """Watch this process from now on."""
        sys.addaudithook(self._audit)
        self._wrap(os, "fsync", "sync")
        self._wrap(os, "posix_fallocate", "allocate")
        self._wrap(os, "write", "write")
        self._wrap(os, "ftruncate", "truncate")

        from gme.embedders import cache
        from gme.storage import arrays, locks

        create = locks.create

        def counting(name: Callable[[], Path]) -> IO[bytes]:
            return _Counting(create(name), self)

        locks.create = counting
        self._wrap(arrays.NewArray, "fill", "array")
        self._wrap(arrays.NewArray, "digest", "array")
        self._wrap(cache.VectorCache, "put", "cache")

    def _wrap(self, owner: Any, name: str, kind: str) -> None:
        function = getattr(owner, name)

        def stepping(*arguments: Any, **named: Any) -> Any:
            self.step(kind)
            return function(*arguments, **named)

        setattr(owner, name, stepping)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str) and isinstance(flags, int) and flags & WRITING and path.startswith(self.root):
                self.step("open")
        elif event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir") and str(arguments[0]).startswith(self.root):
            self.step(event.removeprefix("os."))


class _Counting(io.BufferedRandom):
    """A file whose writes are steps, ever fewer of them; each is cut in two, with the first half on the disk."""

    def __init__(self, handle: IO[bytes], injector: Injector) -> None:
        super().__init__(handle.detach())  # type: ignore[attr-defined]
        self._injector, self._writes = injector, 0

    def write(self, data: Any) -> int:
        self._writes += 1
        if self._writes & (self._writes - 1):  # not a power of two
            return super().write(data)
        half = len(data) // 2
        super().write(data[:half])
        self.flush()
        self._injector.step("write")
        return half + super().write(data[half:])
