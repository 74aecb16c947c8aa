"""Locks on files of a workspace. The system releases them when their process ends, however it ends.

A lock of the operating system (`gme.storage.platform`) is put on a file in the hidden folder `.gme` of a workspace. The
file says who holds the lock, and is removed on release. A file that a killed process leaves is not locked and blocks
nobody. Where the file system has no such locks, the work goes on without them, and a warning says so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn
from urllib.parse import quote

import orjson

from ..errors import GmeError, ReadOnlyError, shorten
from ..formatting import ignore_message
from . import platform
from .signals import uninterrupted

FOLDER = ".gme"
"""The folder in a workspace for locks and unfinished commits. It exists only while it holds something."""

Warn = Callable[[str, str | None], None]

_ALONE = "do not run two commands that write to one workspace there at the same time"
_warned_folders: set[Path] = set()
_WAIT = 0.05  # seconds between two attempts to take a lock that another process holds


@contextlib.contextmanager
def abandoned(path: Path) -> Iterator[bool]:
    """Whether nobody holds a lock on a file. If so, this process holds it during the block.

    Where there are no locks, the process number in the file's name (`….PROCESS-NUMBER.ENDING`) decides. Only there,
    because other machines and containers that share the folder have process numbers of their own.
    """
    try:
        descriptor = platform.open_descriptor(path, os.O_RDWR)
    except (FileNotFoundError, PermissionError):  # the file is gone, or belongs to another user
        yield False
        return
    try:
        free = platform.lock(descriptor)
        if free is None:
            process = path.name.split(".")[-2].split("-")[0]
            free = process.isdigit() and not platform.is_alive(int(process))
        yield free and is_at(descriptor, path)
    finally:
        os.close(descriptor)


def in_use(path: Path) -> bool:
    """Whether a process holds a lock on a file. Permission to read the file is enough to ask."""
    try:
        descriptor = platform.open_descriptor(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return platform.lock(descriptor, shared=True) is False
    finally:
        os.close(descriptor)


def create(name: Callable[[], Path]) -> IO[bytes]:
    """Create a file that is open for writing and reading and locked. `name` returns a name that is not taken."""
    while True:
        path = name()
        handle = platform.create_file(path)
        if platform.lock(handle.fileno()) is not False and is_at(handle.fileno(), path):
            return handle
        handle.close()  # another process removed the file before it was locked


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at `path`. A cleanup may have removed it before it was locked."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (FileNotFoundError, PermissionError):  # on Windows: it is removed, but somebody has it open
        return False


@contextlib.contextmanager
def hold(
    folder: Path,
    name: str,
    *,
    shared: bool = False,
    busy: Callable[[str], None] | None = None,
    warn: Warn | None = None,
) -> Iterator[None]:
    """Hold the lock `name` of a workspace's folder during a block, alone or shared with others.

    Args:
        name: what is locked, as messages call it: a path in the folder, or ``""`` for the folder itself.
        busy: called once with who holds the lock; then the lock is waited for. Without it, that is an error.
        warn: called with a text and a hint if there are no locks here.

    Raises:
        GmeError: another process, which the message names, holds the lock; or the folder can't be written to.
    """
    with _folders(folder):
        lock = _Lock(folder, name, shared)
        try:
            while not lock.acquire(warn):
                if busy is None:
                    raise GmeError(lock.describe_holders(), "wait until it has ended, then run the command again")
                busy(lock.describe_holders())
                busy = ignore_message
                time.sleep(_WAIT)
            yield
        finally:
            lock.release()


class _Lock:
    """A file that is locked while its name is in use. Each holder adds a line that says who it is."""

    def __init__(self, folder: Path, name: str, shared: bool) -> None:
        self._folder = folder
        self._what = folder / name
        self._path = folder / FOLDER / f"{quote(name or 'workspace', safe='')}.lock"
        self._shared = shared
        self._descriptor: int | None = None

    def acquire(self, warn: Warn | None) -> bool:
        """Try to take the lock. Returns whether this process holds it now."""
        with uninterrupted():
            while True:
                descriptor = self._open()
                taken = platform.lock(descriptor, shared=self._shared)
                if taken and not is_at(descriptor, self._path):
                    os.close(descriptor)  # its last holder has removed it since it was opened
                    continue
                if taken is False:
                    os.close(descriptor)
                    return False
                self._descriptor = descriptor
                break
            self._write_holder(descriptor)
        if taken is None and warn is not None and self._folder not in _warned_folders:
            _warned_folders.add(self._folder)
            warn(f"{self._folder} lies on a file system without locks", _ALONE)
        return True

    def _open(self) -> int:
        while True:
            try:
                self._path.parent.mkdir(exist_ok=True)
                return platform.open_descriptor(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            except FileNotFoundError:
                if not self._folder.is_dir():
                    raise
                # Another process has just removed `.gme`, which was empty.
            except OSError as error:
                if isinstance(error, PermissionError) and self._path.exists():
                    # The file belongs to another user. It can be locked, but no line can be added.
                    return platform.open_descriptor(self._path, os.O_RDONLY)
                _refuse(error, self._folder)

    def _write_holder(self, descriptor: int) -> None:
        """Add a line that says who holds the lock. On a full disk the lock works without that line."""
        words = [Path(sys.argv[0]).name, *sys.argv[1:]] if sys.argv else []
        holder = {
            "command": shlex.join(words),
            "host": socket.gethostname(),
            "process": os.getpid(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        with contextlib.suppress(OSError):
            if not self._shared:
                os.ftruncate(descriptor, 0)
            os.write(descriptor, orjson.dumps(holder, option=orjson.OPT_APPEND_NEWLINE))

    def describe_holders(self) -> str:
        """Who holds the lock, in words."""
        holders = self._holders()
        if not holders:
            return f"{self._what} is in use by another process"
        first, others = holders[0], len(holders) - 1
        where = "" if first["host"] == socket.gethostname() else f" on {first['host']}"
        more = f" and {others} more" if others else ""
        return (
            f"{self._what} is in use by {shorten(first['command'], 120)} "
            f"(process {first['process']}{where}, since {first['since']}){more}"
        )

    def _holders(self) -> list[dict[str, Any]]:
        """The holders in the file, without those that were killed. The file may hold anything."""
        found = []
        with contextlib.suppress(OSError):
            with os.fdopen(platform.open_descriptor(self._path, os.O_RDONLY), "rb") as handle:
                lines = handle.read().splitlines()
            for line in lines:
                with contextlib.suppress(orjson.JSONDecodeError, KeyError, TypeError):
                    holder = {name: orjson.loads(line)[name] for name in ("command", "host", "process", "since")}
                    living = holder["host"] != socket.gethostname() or platform.is_alive(holder["process"])
                    if living and all(str(value).isprintable() for value in holder.values()):
                        found.append(holder)
        return found

    def release(self) -> None:
        """Release the lock, and remove the file if nobody shares it."""
        with uninterrupted():
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is None:
                return
            try:
                # If this process gets the lock alone, nobody shares it. Where there are no locks, nobody can tell.
                if platform.lock(descriptor) is not False and is_at(descriptor, self._path):
                    platform.remove(self._path)
            finally:
                platform.unlock(descriptor)  # a forked child may have the file open too
                os.close(descriptor)


@contextlib.contextmanager
def _folders(folder: Path) -> Iterator[None]:
    """Make the folder. At the end, remove what was made for the lock and is empty: folder, parents and `.gme`."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            _refuse(error, folder)
        yield
    finally:
        with uninterrupted():
            for path in (folder / FOLDER, *made):
                with contextlib.suppress(OSError):
                    path.rmdir()


def no_folder(path: Path | str) -> GmeError:
    """The error for a file where a folder is needed."""
    return GmeError(f"{path} is a file, but a folder is needed there", "remove or rename that file")


def _refuse(error: OSError, folder: Path) -> NoReturn:
    """Raise an error that says why a folder can't be written to."""
    if isinstance(error, FileExistsError):
        raise no_folder(error.filename) from error
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        raise ReadOnlyError(
            f"{folder} can't be written to: {error.strerror}",
            "change its permissions, or name another folder with --workspace",
        ) from error
    raise error
