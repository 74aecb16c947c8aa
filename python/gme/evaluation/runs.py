"""A run in memory, the names that runs may have, and ids as TREC columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import GmeError, shorten
from ..workspace.manifests import Manifest

_TO_ENCODE = re.compile(r"[\s%\x00-\x1f\x7f-\x9f]")

OF_SWEEPS = "sweep-"
"""How the names of the runs of ``gme sweep`` begin. Often ``gme retrieve`` has written a run with the same results."""

QRELS = "qrels"
"""The name under which the gold is written in TREC format, beside the runs."""

_NAME = re.compile(r"[^\s/\\.][^/\\]*")


@dataclass(frozen=True)
class Run:
    """A run read from a file.

    Attributes:
        name: the file's name without its ending.
        results: node rows in returned order by question id.
        manifest: empty for a run without a manifest.
    """

    name: str
    results: dict[str, list[int]]
    manifest: Manifest


def check_run_name(name: str) -> str:
    """Refuse a name that is not a plain file name."""
    if not _NAME.fullmatch(name) or not name.isprintable() or len(name.encode()) > 200:
        raise GmeError(
            f"run name {shorten(name)} is not a file name",
            "use letters, digits, - and _, say; no slashes, no dot or space in front, 200 bytes at most",
        )
    if name == QRELS:
        raise GmeError(f"the name {name!r} belongs to the gold evidence", "use another name")
    return name


def check_own_name(name: str) -> str:
    """Refuse a name that is not a plain file name, or that belongs to runs and reports of ``gme sweep``."""
    if check_run_name(name).startswith(OF_SWEEPS):
        raise GmeError(f"the name {name!r} is one of gme sweep's, which begin with {OF_SWEEPS!r}", "use another name")
    return name


def encode(identifier: str) -> str:
    """An id as a TREC column: white space, control characters and ``%`` percent-encoded (UTF-8).

    So the line keeps its six columns. Ids stay distinct for programs in C too, whose strings end at NUL.
    """
    return _TO_ENCODE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), identifier)


def usual_runs(names: Sequence[str]) -> list[str]:
    """The runs that a command takes if none is named: all but those of sweeps, or all if there are no others."""
    return [name for name in names if not name.startswith(OF_SWEEPS)] or list(names)
