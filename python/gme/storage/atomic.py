"""Files that appear whole or not at all, one by one or several together.

A file is written next to its final path, under a hidden name that its process keeps locked. When its bytes are on the
disk it is renamed. The files of one `atomic_group` block are renamed after all of them are on the disk. Before that, a
journal with the list of renames is written to the disk. If a crash leaves renames undone, whoever opens the workspace
next finishes them (`recover`).

The journal is needed although manifests hold the hashes of their files. A process that is killed between two renames
leaves new files beside old ones. The fault tests (tests/faults) kill 115 times, once before each rename. Without the
journal they find that mixture 29 times, with it never:

- 18 times a collection or a run lies beside the manifest of another. The hash shows it, and the hint names the command
  that makes it again. But hours of embedding are lost, although all of the result is on the disk.
- 4 times a new run has no manifest yet. `evaluate` takes it for a file of the user's, which is never stale.
- 7 times nodes, edges, questions and their manifests come from different readings. Nothing compares these files with
  their manifests, because users may edit them. Old edges between new nodes are then used without a warning.
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
from ..formatting import ignore_message
from . import locks, platform
from .signals import uninterrupted

_numbers = itertools.count(1)
_JOURNAL = "commit"
_TEMPORARY = "tmp"


class _Staged(NamedTuple):
    """A file that is written under its hidden name and not yet renamed. `handle` keeps it locked."""

    handle: IO[bytes]
    temporary: Path


class _Group:
    """The files of an `atomic_group` block, by their final paths."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.staged: dict[Path, _Staged] = {}

    def add(self, path: Path, staged: _Staged) -> None:
        if path in self.staged:
            _discard(self.staged.pop(path))
        self.staged[path] = staged

    def commit(self) -> None:
        """Rename all files. An error before the first rename leaves the old files; after it, `recover` finishes."""
        with uninterrupted():
            if len(self.staged) < 2:
                for path, (handle, temporary) in self.staged.items():
                    _rename(handle, temporary, path)
                return
            with _journal(self.folder, self.staged):
                staged, self.staged = self.staged, {}  # from here on the renames are not undone
                try:
                    for path, (handle, temporary) in staged.items():
                        _rename(handle, temporary, path)
                finally:
                    for handle, _ in staged.values():
                        handle.close()

    def close(self) -> None:
        """Remove the files that were not renamed."""
        with uninterrupted():
            for staged in self.staged.values():
                _discard(staged)


_group: ContextVar[_Group | None] = ContextVar("files that appear together", default=None)


@contextlib.contextmanager
def atomic_group(folder: Path) -> Iterator[None]:
    """Make the files that the block writes below `folder` appear together at its end, or not at all.

    A block inside another belongs to the outer one. Inside, `staged` tells where a written file lies.
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
    """Where the content of `path` lies now: under a hidden name if an enclosing `atomic_group` block has written it."""
    group = _group.get()
    return group.staged[path].temporary if group is not None and path in group.staged else path


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open `path` for binary writing, reading back and mapping. The file appears whole or not at all.

    The bytes go to a hidden temporary file beside it. When the block ends, or an `atomic_group` block around it, the
    file is flushed to the disk and renamed to `path`. If the block raises, the temporary file is removed.
    """
    _make_folder(path.parent)
    own = _Group(path.parent)
    group = _group.get() or own
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
        own.commit()
    finally:
        if handle is not None:
            with uninterrupted():
                _discard(_Staged(handle, Path(handle.name)))
        own.close()


def _unique() -> str:
    return f"{os.getpid()}-{next(_numbers)}"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise locks.no_folder(folder) from error


def _rename(handle: IO[bytes], temporary: Path, path: Path) -> None:
    platform.replace(temporary, path)  # closing unlocks the file, and a cleanup could remove it, so it is renamed first
    handle.close()
    platform.sync_folder(path.parent)


def _discard(staged: _Staged) -> None:
    with contextlib.suppress(OSError):
        platform.remove(staged.temporary)
    with contextlib.suppress(OSError):  # a full disk already raised an error
        staged.handle.close()


# ---- journals -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _journal(folder: Path, staged: dict[Path, _Staged]) -> Iterator[None]:
    """Keep a list of the renames on the disk during the block. The list stays if a rename fails."""
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
    """Repair what killed processes left in a workspace: finish their renames and remove their temporary files.

    Files of living processes are locked, and stay.

    Args:
        parts: the folders in it to search for temporary files. Without any, only renames are finished.
    """
    journals = sorted((folder / locks.FOLDER).glob(f"*.{_JOURNAL}"))
    left = [path for part in parts for path in (folder / part).glob(f".*.{_TEMPORARY}")]
    old = [*(folder / locks.FOLDER).glob("*.lock")] if parts else []
    if not journals and not left and not old:
        return
    # One at a time: a cleanup must not remove files of a commit.
    with locks.hold(folder, "recovery", busy=ignore_message):
        for journal in journals:
            with locks.abandoned(journal) as dead:
                if dead:
                    _finish(journal, folder)
        for path in (*left, *old):
            with locks.abandoned(path) as dead:
                if dead:
                    platform.remove(path)


def refuse_cut_short(folder: Path, because: Exception) -> None:
    """Refuse a workspace that can't be repaired and in which a crash left some files of a commit new and others old.

    Args:
        because: the error that kept `recover` from finishing the commit.

    Raises:
        GmeError: there is such a commit. A copy of the folder can be repaired.
    """
    for journal in sorted((folder / locks.FOLDER).glob(f"*.{_JOURNAL}")):
        if locks.in_use(journal):
            continue
        moves = _moves(journal)
        waiting = [path for temporary, path in moves if (folder / temporary).is_file()]
        if 0 < len(waiting) < len(moves):
            reason = because.strerror if isinstance(because, OSError) else because
            raise GmeError(
                f"a crash left {joined(waiting, 5)} in {folder} older than the files that belong to it, "
                f"and this can't be repaired: {reason}",
                "make the folder writable, or copy it with its hidden files to a place that is: the next command there "
                "repairs it",
            ) from because


def _moves(journal: Path) -> list[tuple[str, str]]:
    """The renames that a journal lists. A journal that was cut off lists none.

    Raises:
        GmeError: gme did not write the journal.
    """
    try:
        moves = [(str(temporary), str(path)) for temporary, path in orjson.loads(journal.read_bytes())["renames"]]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        moves = []
    for temporary, path in moves:
        _check_move(journal, PurePosixPath(temporary), PurePosixPath(path))
    return moves


def _finish(journal: Path, folder: Path) -> None:
    """Do the renames of a journal that are not done yet."""
    moves = _moves(journal)
    for temporary, path in moves:
        with contextlib.suppress(FileNotFoundError):  # this rename was done before the crash
            platform.replace(folder / temporary, folder / path)
    for parent in {(folder / path).parent for _, path in moves}:
        platform.sync_folder(parent)
    platform.remove(journal)


def _check_move(journal: Path, temporary: PurePosixPath, path: PurePosixPath) -> None:
    """Allow only renames of gme's temporary files to their final paths. A workspace may come from anywhere."""
    inside = not path.is_absolute() and ".." not in path.parts
    ours = temporary.parent == path.parent and temporary.name.startswith(f".{path.name}.")
    if not (inside and ours and temporary.suffix == f".{_TEMPORARY}"):
        raise GmeError(
            f"{journal} was not written by gme: it moves {temporary} to {path}",
            "remove that file, or work on a copy of the folder without it",
        )
