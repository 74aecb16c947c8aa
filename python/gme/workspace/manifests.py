"""Manifests read back: what stands beside an array, a run or an index, checked before anything relies on it.

Workspaces are passed on, so a manifest may say anything. What is read of one is of the kind that the commands write,
and the inputs it names are files of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import GmeError, shorten
from ..storage.files import read_json

_AGAIN = "the file is damaged: remove it, and re-run the command that wrote it"


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest; one that is not there is empty.

    Raises:
        GmeError: no JSON object, a field of another kind than is written, an input outside of the workspace.
    """
    if not path.is_file():
        return {}
    manifest = read_json(path)
    _check(path, manifest, "")
    for name, part in manifest.get("builders", {}).items():
        if not isinstance(part, dict) or not {"command", "inputs"} <= part.keys():
            raise GmeError(f"{path}: 'builders' must hold commands and inputs, found {shorten(part)}", _AGAIN)
        _check(path, part, f"builders.{name}.")
    return manifest


def is_inside(name: str) -> bool:
    """Whether a relative path names a file below its folder, without ``..``, a root or characters no name has."""
    path = PurePosixPath(name)
    plain = name.isprintable() and "\\" not in name
    fits = plain and all(len(part.encode()) <= 255 for part in path.parts)
    return fits and bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _check(path: Path, manifest: dict[str, Any], above: str) -> None:
    for key, (holds, kind) in _FIELDS.items():
        if key in manifest and not holds(manifest[key]):
            raise GmeError(f"{path}: {above}{key} must be {kind}, found {shorten(manifest[key])}", _AGAIN)


def _text(value: object) -> bool:
    return isinstance(value, str)


def _text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _object(value: object) -> bool:
    return isinstance(value, dict)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _hashes(value: object) -> bool:
    return isinstance(value, dict) and all(is_inside(name) and isinstance(part, str) for name, part in value.items())


def _graph(value: object) -> bool:
    return isinstance(value, dict) and _names(value.get("edge_types", []))


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_Rule = tuple[Callable[[object], bool], str]

_FIELDS: dict[str, _Rule] = {
    "command": (_text, "a string"),
    "sha256": (_text, "a string"),
    "asked": (_text, "a string"),
    "inputs": (_hashes, "an object of file names in the workspace and their hashes"),
    "rows": (_count, "a number of rows"),
    "dim": (_count, "a number of columns"),
    "model": (_text_or_none, "a string"),
    "key": (_text, "a string"),
    "method": (_text, "a string"),
    "strategy": (_text_or_none, "a string"),
    "collection": (_text_or_none, "a string"),
    "types": (_names, "a list of strings"),
    "search_calls": (_count, "a number"),
    "parameters": (_object, "an object"),
    "options": (_object, "an object"),
    "facts": (_object, "an object"),
    "source": (_object, "an object"),
    "builders": (_object, "an object"),
    "plugins": (_object, "an object"),
    "graph": (_graph, "an object whose edge_types are strings"),
}
