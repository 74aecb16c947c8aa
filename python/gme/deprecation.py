"""Former names. They work for one release, and using one warns and names the replacement."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


class FormerNameWarning(DeprecationWarning):
    """Somebody used a former name. It works for the last time in this release.

    Args:
        former: the name that was used. now: the name to use.
    """

    def __init__(self, former: str, now: str) -> None:
        super().__init__(f"{former} is deprecated: use {now}")
        self.former = former
        self.now = now


def deprecated(former: str, now: str) -> None:
    """Warn that a former name was used. The warning points to the line outside this package that used it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(FormerNameWarning(former, now), stacklevel=level)


def former_names_of(module: str, names: Mapping[str, tuple[str, Callable[[], Any]]]) -> Callable[[str], Any]:
    """Make a module's ``__getattr__`` that resolves its former names.

    Args:
        module: the module's name.
        names: former name -> (the name to use, as messages show it; a function that returns the object).
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        now, present = names[name]
        deprecated(f"{module}.{name}", now)
        return present()

    return get
