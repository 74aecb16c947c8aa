"""Registries: tables of the names that the command line knows. Other packages can add entries.

A registry holds a table of this package's own entries. Another package adds an entry in one of two ways: it calls
`register` in the same process, or its distribution declares an entry point. Entry points are looked at only when
somebody asks for a name that is not in the table, or lists all names. All other commands pay nothing for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from .errors import GmeError, PluginWarning, joined, shorten, unknown
from .plugin_checks import Rules as Rules
from .plugin_checks import entry_fault
from .plugins import (
    blaming,
    blaming_each,
    described,
    entry_points_of,
    origin,
    owner,
    remember_code,
    source_of_entry,
    source_of_point,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Entry = TypeVar("Entry")
Item = TypeVar("Item")


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Entries by name: this package's own in the order of their table, then those of other packages, sorted by name.

    If the plugin of an entry is broken, reading the entry raises a `GmeError`, and listing all entries leaves it out
    with a `PluginWarning`. This package's own entries always work.

    Args:
        kind: what messages call an entry, such as "transform".
        group: the group of its entry points, such as "gme.transforms".
        type: the class of its entries.
        own: the entries of this package.
        rules: what entries of other packages must observe.
        about: describes an entry in a line. The suggestions for an unknown name search these lines.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        type: type[Entry],
        own: Mapping[str, Entry],
        *,
        rules: Rules | None = None,
        about: Callable[[Entry], str] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self.type = type
        self.own = dict(own)
        self._rules = rules or Rules()
        self._about = about
        self._registered: dict[str, Entry] = {}
        self._loaded: dict[str, Entry | GmeError] = {}
        self._told: set[str] = set()

    def __getitem__(self, name: str) -> Entry:
        for known in (self.own, self._registered):
            if name in known:
                return known[name]
        if name not in entry_points_of(self.group):
            raise KeyError(name)
        loaded = self._load(name)
        if isinstance(loaded, GmeError):
            raise loaded
        return loaded

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._registered or name in entry_points_of(self.group)

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from self.outside()

    def __len__(self) -> int:
        return len(self.own) + len(self.outside())

    def find(self, name: str) -> Entry:
        """The entry with this name.

        Raises:
            GmeError: no entry has this name (the closest names are suggested), or its plugin is broken.
        """
        if name in self:
            return self[name]
        about = {known: self._about(entry) for known, entry in self.items()} if self._about else None
        raise unknown(self.kind, name, self, about=about)

    def outside(self) -> dict[str, Entry]:
        """The entries of other packages, sorted by name. Warns once about each entry that can't be used."""
        found = dict(self._registered)
        for name in entry_points_of(self.group):
            loaded = None if name in found else self._load(name)
            if isinstance(loaded, GmeError):
                self._warn(name, loaded)
            elif loaded is not None:
                found[name] = loaded
        return dict(sorted(found.items()))

    def names(self) -> list[str]:
        """All names in order. No plugin is loaded for this, so some of the names may belong to broken plugins."""
        return [*self.own, *sorted({*self._registered, *entry_points_of(self.group)} - self.own.keys())]

    def place(self, name: str) -> tuple[int, str]:
        """A key that sorts names as the registry lists them. It loads no entry points; unknown names come last."""
        return (list(self.own).index(name), "") if name in self.own else (len(self.own), name)

    def register(self, name: str, entry: Entry, *, replace: bool = False) -> None:
        """Add an entry until this process ends.

        Args:
            name: lower-case letters and digits, in parts joined by ``-``.
            entry: an instance of the registry's type.
            replace: replace an entry registered before under this name. A notebook cell that runs again needs this.

        Raises:
            GmeError: the name is taken or not legal, or the entry is not legal.
        """
        try:
            fault = entry_fault(name, entry, self.type, self.own, self._rules)
        except Exception as error:  # such as an option of a type that is not defined
            fault = f"{type(error).__name__}: {error}"
        if not fault and not replace and name in self:
            fault = "the name is taken"
        if fault:
            hint = "pass replace=True to replace it" if name in self._registered else f"see gme.{self.type.__name__}"
            raise GmeError(f"{self.kind} {shorten(name)} can't be registered: {fault}", hint)
        self._registered[name] = entry
        remember_code(entry)

    def unregister(self, name: str) -> None:
        """Remove what `register` added."""
        del self._registered[name]

    def source(self, name: str) -> dict[str, str]:
        """Where an entry comes from, for manifests; empty for this package's own.

        Returns:
            ``distribution`` and ``version``. If the code that registered the entry belongs to no distribution, it is
            the ``module`` that defines the entry. ``code_sha256`` is the hash of the file that defines the entry, or of
            two files if its function lies in another; it is missing where there is no file, as in a notebook.
        """
        if name in self.own:
            return {}
        if name in self._registered:
            return source_of_entry(self._registered[name])
        return source_of_point(entry_points_of(self.group)[name][0], self._load(name))

    def described(self, name: str) -> str:
        """An entry in words, with where it comes from: "transform 'average' of gme-examples 0.1"."""
        where = origin(self.source(name))
        return f"{self.kind} {name!r}{f' of {where}' if where else ''}"

    def blaming(self, name: str) -> AbstractContextManager[None]:
        """A block that runs the code of an entry: see `plugins.blaming`. Nothing changes for this package's own."""
        return nullcontext() if name in self.own else blaming(self.described(name))

    def blaming_each(self, name: str, items: Iterable[Item]) -> Iterable[Item]:
        """What the code of an entry yields: see `plugins.blaming_each`."""
        return items if name in self.own else blaming_each(self.described(name), items)

    def _warn(self, name: str, error: GmeError) -> None:
        if name not in self._told:
            self._told.add(name)
            warnings.warn(PluginWarning(error), stacklevel=4)

    def _load(self, name: str) -> Entry | GmeError:
        """The entry that the entry points of this name give, or the reason why it can't be used. Loaded only once."""
        if name not in self._loaded:
            self._loaded[name] = self._load_now(name, entry_points_of(self.group)[name])
        return self._loaded[name]

    def _load_now(self, name: str, points: list[EntryPoint]) -> Entry | GmeError:
        first = described(points[0])
        if name in self.own:
            return GmeError(
                f"{first} is left out: {self.kind} {name!r} is one of gme's own", _HINT.format(owner(points[0]))
            )
        if len(points) > 1:
            several = joined((described(point) for point in points), last=" and ")
            return GmeError(f"{several} both add {self.kind} {name!r}: neither is used", "uninstall one of them")
        try:
            entry = points[0].load()
            fault = entry_fault(name, entry, self.type, self.own, self._rules)
        except (Exception, SystemExit) as error:  # a plugin's module may do anything
            entry, fault = None, f"{type(error).__name__}: {error}".removesuffix(": ")
            cause: BaseException | None = error
        else:
            cause = None
        if not fault:
            remember_code(entry, points[0].module)
            return entry  # type: ignore[no-any-return]  # its type is checked
        failure = GmeError(f"{first} can't be used: {fault}", _HINT.format(owner(points[0])))
        failure.__cause__ = cause
        return failure


_HINT = "update {0}, or uninstall it"


class Plugins(TypedDict, total=False):
    """The manifest field that `made_by` returns."""

    plugins: dict[str, dict[str, str]]


def made_by(**sources: Mapping[str, str]) -> Plugins:
    """The manifest field ``plugins``: the other packages that took part. Without any there is no such field.

    Args:
        sources: what the manifest calls a part (method, strategy, …) -> `Registry.source` of that part.
    """
    outside = {part: dict(source) for part, source in sources.items() if source}
    return {"plugins": outside} if outside else {}


def load_function(target: str | Callable[..., Any]) -> Callable[..., Any]:
    """A function, given as itself or as ``module:name``. The second form is imported only when it is needed."""
    if callable(target):
        return target
    module, _, name = target.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
