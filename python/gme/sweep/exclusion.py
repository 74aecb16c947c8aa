"""Exclusions: the collections and configurations that a grid leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..errors import GmeError, unknown
from ..options import Options, former_names, present_choice, rename
from ..retrieval.strategies import STRATEGIES
from ..transforms.registry import TRANSFORMS
from .configurations import defaults
from .document import Document


class Exclusion:
    """One [[exclude]] table. It excludes collections if it has a `method`, and configurations otherwise."""

    def __init__(self, document: Document, number: int, table: Mapping[str, Any]) -> None:
        self.document, self.number = document, number
        self.kind = "method" if "method" in table else "strategy"
        self.used = False
        registry: Mapping[str, Any] = TRANSFORMS if self.kind == "method" else STRATEGIES
        classes = [entry.options for entry in registry.values()]
        table = rename(table, {former: name for each in classes for former, name in former_names(each).items()})
        self.wanted = {
            name: [_present(classes, name, each) for each in (value if isinstance(value, list) else [value])]
            for name, value in table.items()
        }
        options = {name for each in classes for name in defaults(each)}
        known = ("method", *options) if self.kind == "method" else ("strategy", "collection", *options)
        document.check_keys(table, tuple(sorted(known)), "exclude", number)
        for name in self.wanted.get(self.kind, []):
            if not any(fnmatchcase(entry, str(name)) for entry in registry):
                error = unknown(self.kind, str(name), registry)
                raise GmeError(f"{document.where('exclude', number, self.kind)}: {error.message}", error.hint)

    def excludes(self, kind: str, values: Mapping[str, Any]) -> bool:
        """Whether all of its keys match. A key that the values lack does not match."""
        hit = kind == self.kind and all(
            name in values and any(_same(values[name], value) for value in wanted)
            for name, wanted in self.wanted.items()
        )
        self.used |= hit
        return hit

    def idle(self) -> str | None:
        """A note for the user if it has excluded nothing."""
        return None if self.used else f"{self.document.where('exclude', self.number)} excludes nothing"


def _present(classes: Iterable[type[Options]], name: str, value: Any) -> Any:
    """The present name of a choice. An option class may have given it another name before."""
    for each in classes:
        if name in each.__dataclass_fields__:
            value = present_choice(each, name, value)
    return value


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return fnmatchcase(value, wanted) if isinstance(value, str) and isinstance(wanted, str) else bool(value == wanted)
