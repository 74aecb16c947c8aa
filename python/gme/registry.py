"""Registries: tables of the names that the command line knows. Other packages can add entries.

A registry holds a table of this package's own entries. Another package adds an entry in one of two ways: it calls
`register` in the same process, or its distribution declares an entry point. Entry points are looked at only when
somebody asks for a name that is not in the table, or lists all names. All other commands pay nothing for them.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints

from .command_line import flag
from .errors import GmeError, PluginWarning, joined, shorten, unknown
from .options import Options

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Entry = TypeVar("Entry")

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TYPES = {bool, int, float, str, Path, NoneType}
"""The types that an option can have."""


@dataclass(frozen=True)
class Rules:
    """What an entry of another package must observe, beside its type.

    Attributes:
        names: forbidden names. The command line gives them another meaning.
        options: forbidden option names. The command or the function already has parameters of these names.
        check: called with (entry, the entries of this package). Returns what else is wrong, or an empty text.
    """

    names: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    check: Callable[[Any, Mapping[str, Any]], str] = lambda entry, own: ""


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
        if name not in _entry_points(self.group):
            raise KeyError(name)
        loaded = self._load(name)
        if isinstance(loaded, GmeError):
            raise loaded
        return loaded

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._registered or name in _entry_points(self.group)

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
        for name in _entry_points(self.group):
            loaded = None if name in found else self._load(name)
            if isinstance(loaded, GmeError):
                self._warn(name, loaded)
            elif loaded is not None:
                found[name] = loaded
        return dict(sorted(found.items()))

    def names(self) -> list[str]:
        """All names in order. No plugin is loaded for this, so some of the names may belong to broken plugins."""
        return [*self.own, *sorted({*self._registered, *_entry_points(self.group)} - self.own.keys())]

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
            fault = self._fault(name, entry)
        except Exception as error:  # such as an option of a type that is not defined
            fault = f"{type(error).__name__}: {error}"
        if not fault and not replace and name in self:
            fault = "the name is taken"
        if fault:
            hint = "pass replace=True to replace it" if name in self._registered else f"see gme.{self.type.__name__}"
            raise GmeError(f"{self.kind} {shorten(name)} can't be registered: {fault}", hint)
        self._registered[name] = entry

    def unregister(self, name: str) -> None:
        """Remove what `register` added."""
        del self._registered[name]

    def source(self, name: str) -> dict[str, str]:
        """Where an entry comes from, for manifests: ``distribution`` and ``version``; empty for this package's own.

        If the code that registered the entry belongs to no distribution, it is the ``module`` that defines the entry.
        """
        if name in self.own:
            return {}
        if name in self._registered:
            return _distribution_of(_module_of(self._registered[name]))
        point = _entry_points(self.group)[name][0]
        return {"distribution": _owner(point), "version": _version(point)}

    def _warn(self, name: str, error: GmeError) -> None:
        if name not in self._told:
            self._told.add(name)
            warnings.warn(PluginWarning(error), stacklevel=4)

    def _load(self, name: str) -> Entry | GmeError:
        """The entry that the entry points of this name give, or the reason why it can't be used. Loaded only once."""
        if name not in self._loaded:
            self._loaded[name] = self._load_now(name, _entry_points(self.group)[name])
        return self._loaded[name]

    def _load_now(self, name: str, points: list[EntryPoint]) -> Entry | GmeError:
        first = _described(points[0])
        if name in self.own:
            return GmeError(
                f"{first} is left out: {self.kind} {name!r} is one of gme's own", _HINT.format(_owner(points[0]))
            )
        if len(points) > 1:
            several = joined((_described(point) for point in points), last=" and ")
            return GmeError(f"{several} both add {self.kind} {name!r}: neither is used", "uninstall one of them")
        try:
            entry = points[0].load()
            fault = self._fault(name, entry)
        except (Exception, SystemExit) as error:  # a plugin's module may do anything
            entry, fault = None, f"{type(error).__name__}: {error}".removesuffix(": ")
            cause: BaseException | None = error
        else:
            cause = None
        if not fault:
            return entry  # type: ignore[no-any-return]  # its type is checked
        failure = GmeError(f"{first} can't be used: {fault}", _HINT.format(_owner(points[0])))
        failure.__cause__ = cause
        return failure

    def _fault(self, name: str, entry: object) -> str:
        """Why an entry of another package can't be used; empty if it can."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return "a name is of lower-case letters and digits, parts joined by '-'"
        if name in self.own or name in self._rules.names:
            return f"{name!r} has a meaning of its own in gme"
        if not isinstance(entry, self.type):
            return f"it must be a gme.{self.type.__name__}, found {shorten(entry)}"
        options = getattr(entry, "options", None)
        fault = "" if options is None else _options_fault(options, self._rules.options)
        return fault or self._rules.check(entry, self.own)


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


@cache
def _all_entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points()


@cache
def _entry_points(group: str) -> dict[str, list[EntryPoint]]:
    """The entry points of a group by name, sorted. Several of one name are sorted by distribution."""
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(
        _all_entry_points().select(group=group), key=lambda point: (point.name, _owner(point), point.value)
    ):
        found.setdefault(point.name, []).append(point)
    return found


def _owner(point: EntryPoint) -> str:
    return str(point.dist.name) if point.dist is not None else "an unknown distribution"


def _version(point: EntryPoint) -> str:
    return str(point.dist.version) if point.dist is not None else ""


def _described(point: EntryPoint) -> str:
    """An entry point with its distribution, as messages name it."""
    return f"{_owner(point)} {_version(point)} ({point.group}: {point.name} = {point.value})"


def _options_fault(options: object, taken: tuple[str, ...]) -> str:
    """Why an option class can't be shown and set on the command line; empty if it can."""
    if not (isinstance(options, type) and issubclass(options, Options) and dataclasses.is_dataclass(options)):
        return f"its options must be a dataclass derived from gme.Options, found {shorten(options)}"
    types = get_type_hints(options)
    for field in dataclasses.fields(options):
        if not {"help", "choices"} <= field.metadata.keys():
            return f"its option --{flag(field.name)} is not declared with gme.option"
        if field.name in taken:
            return f"the command has an option --{flag(field.name)} of its own"
        kind = types[field.name]
        if not set(get_args(kind) if get_origin(kind) in (Union, UnionType) else [kind]) <= _TYPES:
            return f"its option --{flag(field.name)} is of a type that no command line can give"
    try:
        options()
    except GmeError as error:
        return f"its defaults are not legal: {error.message}"
    return ""


def _module_of(entry: object) -> str:
    """The module that defines the function which an entry runs."""
    parts = vars(entry).values()
    return next((part.__module__ for part in parts if callable(part) and not isinstance(part, type)), "")


def _distribution_of(module: str) -> dict[str, str]:
    from importlib.metadata import packages_distributions, version

    owners = packages_distributions().get(module.partition(".")[0], [])
    return {"distribution": owners[0], "version": version(owners[0])} if owners else {"module": module}
