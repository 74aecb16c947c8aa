"""The version of gme, as manifests, reports and ``gme --version`` show it."""

from __future__ import annotations

from functools import cache
from importlib import metadata

DISTRIBUTION = "graph-modified-embeddings"
"""The name that pip knows. The package and the command are called ``gme``."""


@cache
def gme_version() -> str:
    """The version of the installed distribution, or ``0+unknown`` for sources that were never installed.

    Examples:
        >>> gme_version().split(".")[0]
        '0'
    """
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+unknown"


def install_hint(extra: str) -> str:
    """The command that installs an optional part of gme.

    Examples:
        >>> install_hint("report")
        "pip install 'graph-modified-embeddings[report]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"
