"""Readers turn the files of other data sets, tools and libraries into a workspace's nodes, edges and questions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..deprecation import deprecated

if TYPE_CHECKING:
    from .checking import read_records as read_records
    from .networkx_graphs import from_networkx as from_networkx
    from .protocol import ReadContext as ReadContext
    from .protocol import Reader as Reader
    from .protocol import ReadResult as ReadResult
    from .protocol import Record as Record
    from .registry import READERS as READERS

# name -> the module of this package that defines it, imported at the first use so that the command line starts fast
_PUBLIC = {
    "ReadContext": "protocol",
    "READERS": "registry",
    "ReadResult": "protocol",
    "Reader": "protocol",
    "Record": "protocol",
    "from_networkx": "networkx_graphs",
    "read_records": "checking",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name == "Context":
        deprecated("gme.readers.Context", "gme.readers.ReadContext")
        name = "ReadContext"
    if name in _PUBLIC:
        return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
