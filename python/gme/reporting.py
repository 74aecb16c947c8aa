"""What a step reports while it works: notes, warnings and progress, through one object.

Steps on a workspace take a `reporter`, and so does other work that may last minutes. Functions on arrays take a plain
`progress`, which is called with (done, total); they report nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .deprecation import deprecated

if TYPE_CHECKING:
    from .types import Progress


class Reporter:
    """Reports to nobody. Subclass it, and override the methods that you want to hear.

    `note` and `warn` may be called from any thread.

    Example:
        >>> class Printing(Reporter):
        ...     def warn(self, text: str, hint: str | None = None) -> None:
        ...         print(f"warning: {text}")
        >>> Printing().warn("the graph has no edges")
        warning: the graph has no edges
    """

    def note(self, text: str) -> None:
        """Receive a sentence about what happens."""

    def warn(self, text: str, hint: str | None = None) -> None:
        """Receive a warning about what is probably a mistake, and a hint."""

    def progress(self, label: str, unit: str = "") -> AbstractContextManager[Progress]:
        """Receive the start of work that may take long. The work ends when the block ends.

        Args:
            label: what is being done. unit: what is counted, such as ``rows``; ``bytes`` are shown as sizes.

        Returns:
            A context manager. It gives a function that is called now and then with (done, total).
        """
        return nullcontext(_ignore)

    def labeled(self, label: str) -> Reporter:
        """The same reporter for one step of several. It shows the step's progress under this label."""
        return _Labeled(self, label)


SILENT = Reporter()
"""A reporter that reports to nobody."""


def _ignore(done: int, total: int) -> None:
    pass


class _Labeled(Reporter):
    def __init__(self, reporter: Reporter, label: str) -> None:
        self._reporter, self._label = reporter, label
        self.note, self.warn = reporter.note, reporter.warn  # type: ignore[method-assign]

    def progress(self, label: str, unit: str = "") -> AbstractContextManager[Progress]:
        """See `Reporter.progress`."""
        return self._reporter.progress(self._label, unit)


# ---- the callbacks of 0.1, kept for one release -------------------------------------------------------------------

_FORMER = ("note", "warn", "tell", "watch", "begin", "progress")

_Takes = TypeVar("_Takes", bound=Callable[..., Any])


class _Callbacks(Reporter):
    """The functions that 0.1 took as separate arguments."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = {name: function for name, function in given.items() if function is not None}

    def note(self, text: str) -> None:
        """See `Reporter.note`."""
        for name in ("note", "tell"):
            if name in self._given:
                self._given[name](text)

    def warn(self, text: str, hint: str | None = None) -> None:
        """See `Reporter.warn`."""
        if "warn" in self._given:
            self._given["warn"](text, hint)

    def progress(self, label: str, unit: str = "") -> AbstractContextManager[Progress]:
        """See `Reporter.progress`."""
        if "watch" in self._given:
            return cast("AbstractContextManager[Progress]", self._given["watch"](label, unit))
        if "begin" in self._given:
            return cast("AbstractContextManager[Progress]", self._given["begin"](label))
        return nullcontext(self._given.get("progress", _ignore))


def takes_callbacks(takes: _Takes) -> _Takes:
    """Decorate a function or a class that takes a `reporter`, so that it also takes the callbacks of 0.1.

    The callbacks warn, and the next release removes them.
    """

    function: Callable[..., Any] = takes.__init__ if isinstance(takes, type) else takes  # type: ignore[misc]

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        given = {name: named.pop(name) for name in _FORMER if name in named}
        if given:
            listed = ", ".join(f"{name}=" for name in given)
            owner = takes.__qualname__.removesuffix(".__init__")
            deprecated(f"{listed} of {owner}", "reporter=")
            named["reporter"] = _Callbacks(given)
        return function(*arguments, **named)

    if isinstance(takes, type):
        takes.__init__ = call  # type: ignore[misc]
        return takes
    return cast(_Takes, call)
