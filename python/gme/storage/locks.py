"""Who writes where: locks that the system lets go of when their process ends, however it ends.

A lock is one of the system's (`gme.storage.platform`) on a file in the hidden folder `.gme` of a workspace. The file
says who has it and is removed on release; one that a killed process leaves is locked by nobody and stands in no one's
way. Where the file system has no such locks, the work goes on without, and a warning says so.
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
from ..formatting import silently
from . import platform
from .signals import uninterrupted

FOLDER = ".gme"
"""The folder in a workspace that holds locks and unfinished commits; it is there only while something is."""

Warn = Callable[[str, str | None], None]

_ALONE = "do not run two commands that write to one workspace there at the same time"
_told: set[Path] = set()
_WAIT = 0.05  # seconds between two looks at a lock that another process has


@contextlib.contextmanager
def abandoned(path: Path) -> Iterator[bool]:
    """Whether nobody has a file locked; if so, it is locked for the length of the block.

    Where there are no locks the process counts that the file's name, `….PROCESS-NUMBER.ENDING`, ends with. Only there:
    other machines and containers that share a folder number processes of their own.
    """
    try:
        descriptor = platform.open_descriptor(path, os.O_RDWR)
    except (FileNotFoundError, PermissionError):  # gone, or another user's
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
    """Whether a process has a file locked, as far as one can tell who may only read it."""
    try:
        descriptor = platform.open_descriptor(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return platform.lock(descriptor, shared=True) is False
    finally:
        os.close(descriptor)


def create(name: Callable[[], Path]) -> IO[bytes]:
    """A new file, open for writing and reading and locked; `name` gives a name that is not taken."""
    while True:
        path = name()
        handle = platform.create_file(path)
        if platform.lock(handle.fileno()) is not False and is_at(handle.fileno(), path):
            return handle
        handle.close()  # cleared up before it was locked


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at `path`: whoever clears up may have been faster than the lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (FileNotFoundError, PermissionError):  # Windows: it is removed, but somebody has it open
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
    """Have the lock `name` of a workspace's folder for the length of a block, alone or with others that share it.

    Args:
        name: what is locked, as messages call it: a path in the folder, or ``""`` for the folder itself.
        busy: told who has the lock, once, and then the lock is waited for; None: that is an error.
        warn: told with a hint when there are no locks here.

    Raises:
        GmeError: another process, which the message names, has the lock; or the folder can't be written to.
    """
    with _folders(folder):
        lock = _Lock(folder, name, shared)
        try:
            while not lock.take(warn):
                if busy is None:
                    raise GmeError(lock.taken(), "wait until it has ended, then run the command again")
                busy(lock.taken())
                busy = silently
                time.sleep(_WAIT)
            yield
        finally:
            lock.let_go()


class _Lock:
    """A file that is locked while its name is in use; each holder adds a line that says who it is."""

    def __init__(self, folder: Path, name: str, shared: bool) -> None:
        self._folder = folder
        self._what = folder / name
        self._path = folder / FOLDER / f"{quote(name or 'workspace', safe='')}.lock"
        self._shared = shared
        self._descriptor: int | None = None

    def take(self, warn: Warn | None) -> bool:
        """Whether the lock is ours now."""
        with uninterrupted():
            while True:
                descriptor = self._open()
                taken = platform.lock(descriptor, shared=self._shared)
                if taken and not is_at(descriptor, self._path):
                    os.close(descriptor)  # removed by its last holder in between
                    continue
                if taken is False:
                    os.close(descriptor)
                    return False
                self._descriptor = descriptor
                break
            self._sign(descriptor)
        if taken is None and warn is not None and self._folder not in _told:
            _told.add(self._folder)
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
                    # Another user's: it can be locked, but not signed.
                    return platform.open_descriptor(self._path, os.O_RDONLY)
                _refuse(error, self._folder)

    def _sign(self, descriptor: int) -> None:
        """Say who has it. On a full disk the lock stays without a signature."""
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

    def taken(self) -> str:
        """Who has it, in words."""
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
        """Those that have signed, but for the ones that were killed. The file may hold anything, as a workspace may."""
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

    def let_go(self) -> None:
        """Unlock, and remove the file if nobody shares it."""
        with uninterrupted():
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is None:
                return
            try:
                # Where we get it alone, nobody shares it; where there are no locks, nobody can tell.
                if platform.lock(descriptor) is not False and is_at(descriptor, self._path):
                    platform.remove(self._path)
            finally:
                platform.unlock(descriptor)  # a child that was forked may have the file open too
                os.close(descriptor)


@contextlib.contextmanager
def _folders(folder: Path) -> Iterator[None]:
    """Remove at the end what of a workspace's folder, its parents and its `.gme` was made for a lock and is empty."""
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
    """The error for a file in a folder's place."""
    return GmeError(f"{path} is a file, but a folder is needed there", "remove or rename that file")


def _refuse(error: OSError, folder: Path) -> NoReturn:
    """Raise what is the matter with a folder that can't be written to."""
    if isinstance(error, FileExistsError):
        raise no_folder(error.filename) from error
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        raise ReadOnlyError(
            f"{folder} can't be written to: {error.strerror}",
            "change its permissions, or name another folder with --workspace",
        ) from error
    raise error
