"""A workspace as a folder: its locks, the check for files that change during use, and the origin of its files."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..errors import GmeError, ReadOnlyError, StaleError
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.atomic import recover, refuse_cut_short
from ..storage.files import sha256, write_json
from ..storage.locks import hold
from ..version import gme_version
from .layout import NODES, PARTS, WRITERS
from .manifests import Manifest, read_manifest


class Folder:
    """A folder of files that appear whole, under locks, and that know when they have changed. See `gme.Workspace`."""

    @takes_callbacks
    def __init__(self, folder: Path | str = ".", reporter: Reporter = SILENT) -> None:
        self.folder = Path(folder)
        _refuse_file(self.folder)
        self.reporter = reporter
        self._read: dict[str, tuple[int, int, int]] = {}
        try:
            recover(self.folder)
        except (OSError, ReadOnlyError) as error:
            refuse_cut_short(self.folder, error)

    def path(self, relative: str) -> Path:
        """The path of a file in this workspace."""
        return self.folder / relative

    def require(self, relative: str, writer: str | None = None) -> Path:
        """The path of a file that must exist. If it is missing, a `GmeError` says which command writes it."""
        path = self.path(relative)
        if not path.is_file():
            raise GmeError(f"{path} is missing", f"write it with: {writer or WRITERS[relative]}")
        return path

    # ---- one writer at a time ---------------------------------------------------------------------------------------

    def exclusive_lock(self) -> AbstractContextManager[None]:
        """Lock the workspace for one command alone; others may still read. Use it to write nodes, edges or questions.

        Raises:
            GmeError: another process, which the message names, writes here; or the folder can't be written to.
        """
        return self._hold("")

    def shared_lock(self) -> AbstractContextManager[None]:
        """Keep `exclusive_lock` out while this command adds files. Others that add files may run at the same time."""
        return self._hold("", shared=True)

    def writing(self, relative: str, waiting: Reporter | None = None) -> AbstractContextManager[None]:
        """Lock one file for writing.

        Args:
            waiting: told which command already writes the file, which is then waited for. None: that is an error.
        """
        return self._hold(relative, waiting=waiting)

    @contextlib.contextmanager
    def _hold(self, name: str, shared: bool = False, waiting: Reporter | None = None) -> Iterator[None]:
        def busy(who: str) -> None:
            if waiting is not None:
                waiting.note(f"{who}: waiting for it to end")

        warn = self.reporter.warn
        with hold(self.folder, name, shared=shared, busy=busy if waiting is not None else None, warn=warn):
            recover(self.folder, PARTS)
            yield

    # ---- what changes while it is in use -----------------------------------------------------------------------------

    def _remember(self, relative: str) -> None:
        """Remember the present state of a file as the state that is read."""
        self._read[relative] = _state(self.path(relative))

    def hash(self, relative: str) -> str:
        """The SHA-256 of a file, which must not have changed since it was read here.

        Raises:
            StaleError: the file has changed or is gone. A manifest could then not name what a result was made from.
        """
        path = self.path(relative)
        try:
            digest = self.digest(relative)
            changed = self._read.get(relative, state := _state(path)) != state
        except FileNotFoundError:
            if relative not in self._read:
                raise
            raise StaleError(
                f"{path} was removed while it was in use", "put it back and run the command again"
            ) from None
        if changed:
            raise StaleError(f"{path} changed while it was in use", "run the command again")
        return digest

    def digest(self, relative: str) -> str:
        """The SHA-256 of a file as it is now."""
        with self.reporter.progress(f"check {relative}", "bytes") as progress:
            return sha256(self.path(relative), progress)

    # ---- where records come from ------------------------------------------------------------------------------------

    def record_origin(
        self, relative: str, command: str, inputs: Sequence[str] | Mapping[str, str] = (), **facts: Any
    ) -> None:
        """Record which command wrote a JSONL file and from which `inputs`: their present state, or given hashes."""
        hashes = inputs if isinstance(inputs, Mapping) else {name: self.hash(name) for name in inputs}
        manifest = {
            **facts,
            "command": command,
            "sha256": sha256(self.path(relative)),
            "inputs": dict(hashes),
            "gme": gme_version(),
        }
        write_json(self.path(f"manifests/{Path(relative).stem}.json"), manifest)

    def forget_origin(self, relative: str) -> None:
        """Forget the origin of a JSONL file, because it is written again, perhaps with the same bytes."""
        manifest = self.path(f"manifests/{Path(relative).stem}.json")
        if manifest.is_file():
            write_json(manifest, {})

    def origin(self, relative: str) -> Manifest | None:
        """The origin that `record_origin` recorded; None if the file is missing or has changed since."""
        manifest = self.path(f"manifests/{Path(relative).stem}.json")
        if not manifest.is_file() or not self.path(relative).is_file():
            return None
        origin: Manifest = {"command": "", "inputs": {}, **read_manifest(manifest)}
        return origin if origin.get("sha256") == sha256(self.path(relative)) else None


def _refuse_file(folder: Path) -> None:
    """Refuse a path that is a file or lies below one. The hint names the workspace that the file lies in."""
    for path in (folder, *folder.parents):
        with contextlib.suppress(OSError):  # a path that can't be examined raises its error when it is used
            if path.exists() and not path.is_dir():
                own = next((each for each in path.parents if (each / NODES).is_file()), None)
                hint = f"give its folder: -w {shlex.quote(str(own))}" if own else "name a folder with --workspace"
                raise GmeError(f"{path} is a file, but a workspace is a folder", hint)


def _state(path: Path) -> tuple[int, int, int]:
    """Inode, size and modification time: they tell versions of a file apart without reading it."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
