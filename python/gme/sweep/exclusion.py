"""Exclusions: what a grid expands to and leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..errors import GmeError, unknown
from ..retrieval.strategies import STRATEGIES
from ..transforms.registry import TRANSFORMS
from .configurations import defaults
from .document import Document


class Exclusion:
    """One [[exclude]]: of collections where it has a `method`, else of configurations."""

    def __init__(self, document: Document, number: int, table: Mapping[str, Any]) -> None:
        self.document, self.number = document, number
        self.kind = "method" if "method" in table else "strategy"
        self.wanted = {name: value if isinstance(value, list) else [value] for name, value in table.items()}
        self.used = False
        registry: Mapping[str, Any] = TRANSFORMS if self.kind == "method" else STRATEGIES
        options = {name for entry in registry.values() for name in defaults(entry.options)}
        known = ("method", *options) if self.kind == "method" else ("strategy", "collection", *options)
        document.check_keys(table, tuple(sorted(known)), "exclude", number)
        for name in self.wanted.get(self.kind, []):
            if not any(fnmatchcase(entry, str(name)) for entry in registry):
                error = unknown(self.kind, str(name), registry)
                raise GmeError(f"{document.where('exclude', number, self.kind)}: {error.message}", error.hint)

    def excludes(self, kind: str, values: Mapping[str, Any]) -> bool:
        """Whether all of its keys match; a key that these values lack does not."""
        hit = kind == self.kind and all(
            name in values and any(_same(values[name], value) for value in wanted)
            for name, wanted in self.wanted.items()
        )
        self.used |= hit
        return hit

    def idle(self) -> str | None:
        """A note for people if it has excluded nothing."""
        return None if self.used else f"{self.document.where('exclude', self.number)} excludes nothing"


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return fnmatchcase(value, wanted) if isinstance(value, str) and isinstance(wanted, str) else bool(value == wanted)
