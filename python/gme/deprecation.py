"""Names that were given up: they work for one release and warn with the name that took their place."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


class FormerNameWarning(DeprecationWarning):
    """A name that was given up is used; it works for the last time in this release.

    Args:
        former: what was used. now: what to use.
    """

    def __init__(self, former: str, now: str) -> None:
        super().__init__(f"{former} is deprecated: use {now}")
        self.former = former
        self.now = now


def deprecated(former: str, now: str) -> None:
    """Warn of a former name, at the line outside this package that used it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(FormerNameWarning(former, now), stacklevel=level)


def former_names_of(module: str, names: Mapping[str, tuple[str, Callable[[], Any]]]) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that knows its former names.

    Args:
        module: the module's name.
        names: former name -> (what to use, as messages call it; a function that returns it).
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        now, present = names[name]
        deprecated(f"{module}.{name}", now)
        return present()

    return get
