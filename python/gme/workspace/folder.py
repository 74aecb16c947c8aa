"""A workspace as a folder: who writes in it, what has changed while it was in use, where its files come from."""

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
    """Files that appear whole, under locks, and know when they have changed; `gme.Workspace` tells of its arguments."""

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
        """The path of a file that must exist; else a `GmeError` that says which command writes it."""
        path = self.path(relative)
        if not path.is_file():
            raise GmeError(f"{path} is missing", f"write it with: {writer or WRITERS[relative]}")
        return path

    # ---- one writer at a time ---------------------------------------------------------------------------------------

    def exclusive_lock(self) -> AbstractContextManager[None]:
        """Have the workspace for oneself, but for readers: for writing what everything else is made from.

        Raises:
            GmeError: another process, which the message names, writes here; or the folder can't be written to.
        """
        return self._hold("")

    def shared_lock(self) -> AbstractContextManager[None]:
        """Keep away who wants the workspace `exclusive_lock`; others who add to it may do so at the same time."""
        return self._hold("", shared=True)

    def writing(self, relative: str, waiting: Reporter | None = None) -> AbstractContextManager[None]:
        """Be the only one who writes a file.

        Args:
            waiting: told who else writes it, whose end is then waited for; None: that is an error.
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
        """Take a file as it is now for what is read."""
        self._read[relative] = _state(self.path(relative))

    def hash(self, relative: str) -> str:
        """The SHA-256 of a file, which must be as it was when it was read here.

        Raises:
            StaleError: it has changed since then, or is gone: what was made from it can't name what it was made from.
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
        """Remember that a command of ours wrote a JSONL file, as it is now, from `inputs`: as they are, or by hash."""
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
        """What is remembered of a JSONL file no longer holds: it is written anew, perhaps with the same bytes."""
        manifest = self.path(f"manifests/{Path(relative).stem}.json")
        if manifest.is_file():
            write_json(manifest, {})

    def origin(self, relative: str) -> Manifest | None:
        """What `record_origin` remembers of a file, or None for a file that is not there or was changed since."""
        manifest = self.path(f"manifests/{Path(relative).stem}.json")
        if not manifest.is_file() or not self.path(relative).is_file():
            return None
        origin: Manifest = {"command": "", "inputs": {}, **read_manifest(manifest)}
        return origin if origin.get("sha256") == sha256(self.path(relative)) else None


def _refuse_file(folder: Path) -> None:
    """Refuse a file in the place of a workspace, or above it; the hint names the workspace that it lies in."""
    for path in (folder, *folder.parents):
        with contextlib.suppress(OSError):  # what can't be looked at is told when it is used
            if path.exists() and not path.is_dir():
                own = next((each for each in path.parents if (each / NODES).is_file()), None)
                hint = f"give its folder: -w {shlex.quote(str(own))}" if own else "name a folder with --workspace"
                raise GmeError(f"{path} is a file, but a workspace is a folder", hint)


def _state(path: Path) -> tuple[int, int, int]:
    """What tells one version of a file from another without reading it."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
