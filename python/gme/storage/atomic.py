"""Files that appear whole or not at all, one by one or several together.

A file is written beside its place under a hidden name, which its process keeps locked, and renamed when it is on the
disk. Files of one `atomic_group` block are renamed after all of them are on the disk, and a journal that lists them is
too: what a crash leaves between two renames is finished by whoever opens the workspace next (`recover`).

Why there is a journal, though manifests hold the hashes of their files. A process that is killed between two renames
leaves new files beside old ones. Without the journal the fault tests (tests/faults, 115 kills, one before each rename)
find that 29 times, with it never:

- 18 times a collection or a run lies beside the manifest of another. The hash tells, and the hint names the command
  that makes it again; but what hours of embedding have made is lost, though all of it is on the disk.
- 4 times a new run has no manifest yet. `evaluate` takes it for a file of the user's, which is never outdated.
- 7 times nodes, edges, questions and their manifests are not of one reading. Nothing compares these with their
  manifests, because users may edit them: old edges between new nodes are used without a word.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

import orjson

from ..errors import GmeError, joined
from ..formatting import silently
from . import locks, platform
from .signals import uninterrupted

_numbers = itertools.count(1)
_JOURNAL = "commit"
_TEMPORARY = "tmp"


class _Staged(NamedTuple):
    """A file that is written and waits under its hidden name; `handle` keeps it locked."""

    handle: IO[bytes]
    temporary: Path


class _Group:
    """The files of a `atomic_group` block, by the places they will take."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.staged: dict[Path, _Staged] = {}

    def add(self, path: Path, staged: _Staged) -> None:
        if path in self.staged:
            _discard(self.staged.pop(path))
        self.staged[path] = staged

    def commit(self) -> None:
        """Rename them all. An error before the first leaves the old files; one after it is made good by `recover`."""
        with uninterrupted():
            if len(self.staged) < 2:
                for path, (handle, temporary) in self.staged.items():
                    _rename(handle, temporary, path)
                return
            with _journal(self.folder, self.staged):
                staged, self.staged = self.staged, {}  # from here on nothing is taken back
                try:
                    for path, (handle, temporary) in staged.items():
                        _rename(handle, temporary, path)
                finally:
                    for handle, _ in staged.values():
                        handle.close()

    def close(self) -> None:
        """Remove what was not renamed."""
        with uninterrupted():
            for staged in self.staged.values():
                _discard(staged)


_group: ContextVar[_Group | None] = ContextVar("files that appear together", default=None)


@contextlib.contextmanager
def atomic_group(folder: Path) -> Iterator[None]:
    """Let all files that the block writes with `atomic_write` below `folder` appear when it ends, or none of them.

    A block inside a block belongs to the outer one. Within, `staged` says where a file lies that has been written.
    """
    if _group.get() is not None:
        yield
        return
    group = _Group(folder)
    token = _group.set(group)
    try:
        yield
        group.commit()
    finally:
        _group.reset(token)
        group.close()


def staged(path: Path) -> Path:
    """Where the content of `path` lies now: under a hidden name if a `atomic_group` block around has written it."""
    group = _group.get()
    return group.staged[path].temporary if group is not None and path in group.staged else path


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open `path` for binary writing (and reading back, or mapping) so that it appears whole or not at all.

    The bytes go to a hidden temporary file beside it, which is flushed to the disk and renamed over `path` when the
    block (or a `atomic_group` block around it) ends, and removed when the block raises.
    """
    _make_folder(path.parent)
    exclusive_lock = _Group(path.parent)
    group = _group.get() or exclusive_lock
    handle: IO[bytes] | None = None
    try:
        with uninterrupted():
            handle = locks.create(lambda: path.with_name(f".{path.name}.{_unique()}.{_TEMPORARY}"))
        yield handle
        handle.flush()
        os.fsync(handle.fileno())
        with uninterrupted():
            group.add(path, _Staged(handle, Path(handle.name)))
            handle = None
        exclusive_lock.commit()
    finally:
        if handle is not None:
            with uninterrupted():
                _discard(_Staged(handle, Path(handle.name)))
        exclusive_lock.close()


def _unique() -> str:
    return f"{os.getpid()}-{next(_numbers)}"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise locks.no_folder(folder) from error


def _rename(handle: IO[bytes], temporary: Path, path: Path) -> None:
    platform.replace(temporary, path)  # before it is closed, which unlocks it: a sweep would remove it
    handle.close()
    platform.sync_folder(path.parent)


def _discard(staged: _Staged) -> None:
    with contextlib.suppress(OSError):
        platform.remove(staged.temporary)
    with contextlib.suppress(OSError):  # a full disk is told of once
        staged.handle.close()


# ---- journals -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _journal(folder: Path, staged: dict[Path, _Staged]) -> Iterator[None]:
    """A list, on the disk for the length of the block, of the renames in it; it stays if they fail."""
    moves = [[_relative(temporary, folder), _relative(path, folder)] for path, (_, temporary) in staged.items()]
    handle = _create_journal(folder)
    path = Path(handle.name)
    try:
        handle.write(orjson.dumps({"renames": moves}))
        handle.flush()
        os.fsync(handle.fileno())
    except BaseException:
        _discard(_Staged(handle, path))
        _remove_if_empty(path.parent)
        raise
    platform.sync_folder(path.parent)
    with handle:
        yield
        platform.remove(path)
    _remove_if_empty(path.parent)


def _create_journal(folder: Path) -> IO[bytes]:
    hidden = folder / locks.FOLDER
    while True:
        _make_folder(hidden)
        try:
            return locks.create(lambda: hidden / f"journal.{_unique()}.{_JOURNAL}")
        except FileNotFoundError:
            continue  # another process has just removed the folder, which was empty


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def recover(folder: Path, parts: Sequence[str] = ()) -> None:
    """Make good what killed processes left in a workspace: finish their commits, remove their temporary files.

    Files of living processes, which are locked, stay.

    Args:
        parts: the folders in it where temporary files may lie; none: only finish commits.
    """
    journals = sorted((folder / locks.FOLDER).glob(f"*.{_JOURNAL}"))
    left = [path for part in parts for path in (folder / part).glob(f".*.{_TEMPORARY}")]
    old = [*(folder / locks.FOLDER).glob("*.lock")] if parts else []
    if not journals and not left and not old:
        return
    with locks.hold(folder, "recovery", busy=silently):  # one at a time: a sweep must not outrun a commit
        for journal in journals:
            with locks.abandoned(journal) as dead:
                if dead:
                    _finish(journal, folder)
        for path in (*left, *old):
            with locks.abandoned(path) as dead:
                if dead:
                    platform.remove(path)


def refuse_cut_short(folder: Path, because: Exception) -> None:
    """Refuse a workspace that can't be made good, if a crash left some files of a commit new and others old.

    Args:
        because: what kept `recover` from finishing it.

    Raises:
        GmeError: there is such a commit; a copy of the folder can be made good.
    """
    for journal in sorted((folder / locks.FOLDER).glob(f"*.{_JOURNAL}")):
        if locks.in_use(journal):
            continue
        moves = _moves(journal)
        waiting = [path for temporary, path in moves if (folder / temporary).is_file()]
        if 0 < len(waiting) < len(moves):
            reason = because.strerror if isinstance(because, OSError) else because
            raise GmeError(
                f"a crash left {joined(waiting, 5)} in {folder} older than what belongs to it, "
                f"and that can't be made good: {reason}",
                "copy the folder, its hidden files too, to where it can be written to: the next command there makes it "
                "good; so does any command here, once it can be written to",
            ) from because


def _moves(journal: Path) -> list[tuple[str, str]]:
    """The renames that a journal lists; one that was cut off stands for none.

    Raises:
        GmeError: the journal is not one of ours.
    """
    try:
        moves = [(str(temporary), str(path)) for temporary, path in orjson.loads(journal.read_bytes())["renames"]]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        moves = []
    for temporary, path in moves:
        _check_move(journal, PurePosixPath(temporary), PurePosixPath(path))
    return moves


def _finish(journal: Path, folder: Path) -> None:
    """Do the renames of a journal that are still to be done."""
    moves = _moves(journal)
    for temporary, path in moves:
        with contextlib.suppress(FileNotFoundError):  # done before the crash
            platform.replace(folder / temporary, folder / path)
    for parent in {(folder / path).parent for _, path in moves}:
        platform.sync_folder(parent)
    platform.remove(journal)


def _check_move(journal: Path, temporary: PurePosixPath, path: PurePosixPath) -> None:
    """A workspace may come from anywhere: its journal renames our temporary files to their places and nothing else."""
    inside = not path.is_absolute() and ".." not in path.parts
    ours = temporary.parent == path.parent and temporary.name.startswith(f".{path.name}.")
    if not (inside and ours and temporary.suffix == f".{_TEMPORARY}"):
        raise GmeError(
            f"{journal} was not written by gme: it moves {temporary} to {path}",
            "remove that file, or work on a copy of the folder without it",
        )
