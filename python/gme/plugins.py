"""Where the entries of other packages come from, and errors that name the package whose code failed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import GmeError, cut

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Item = TypeVar("Item")


@cache
def all_entry_points() -> Any:
    """The entry points of all installed distributions."""
    from importlib.metadata import entry_points

    return entry_points()


@cache
def entry_points_of(group: str) -> dict[str, list[EntryPoint]]:
    """The entry points of a group by name, sorted. Several of one name are sorted by distribution."""
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(
        all_entry_points().select(group=group), key=lambda point: (point.name, owner(point), point.value)
    ):
        found.setdefault(point.name, []).append(point)
    return found


def owner(point: EntryPoint) -> str:
    """The distribution that declares an entry point."""
    return str(point.dist.name) if point.dist is not None else "an unknown distribution"


def described(point: EntryPoint) -> str:
    """An entry point with its distribution, as messages name it."""
    return f"{owner(point)} {_version(point)} ({point.group}: {point.name} = {point.value})"


def source_of_point(point: EntryPoint, entry: object) -> dict[str, str]:
    """Where the entry of an entry point comes from: see `Registry.source`."""
    named = {"distribution": owner(point), "version": _version(point)}
    return named | _code({point.module, module_of(entry)})


def source_of_entry(entry: object) -> dict[str, str]:
    """Where an entry that code registered comes from: see `Registry.source`."""
    module = module_of(entry)
    return source_of_module(module) | _code({module})


def source_of_module(module: str) -> dict[str, str]:
    """``distribution`` and ``version`` of a module, or ``module`` if it belongs to no distribution."""
    from importlib.metadata import packages_distributions, version

    owners = packages_distributions().get(module.partition(".")[0], [])
    return {"distribution": owners[0], "version": version(owners[0])} if owners else {"module": module}


def module_of(entry: object) -> str:
    """The module that defines the function which an entry runs; empty if the entry has none."""
    parts = vars(entry).values() if hasattr(entry, "__dict__") else ()
    return next((part.__module__ or "" for part in parts if callable(part) and not isinstance(part, type)), "")


def _version(point: EntryPoint) -> str:
    return str(point.dist.version) if point.dist is not None else ""


_LOADED: dict[str, tuple[object, bytes]] = {}
"""The content of each module's file when it was first asked for, with the module's spec; a reload makes a new spec."""


def remember_code(entry: object, module: str = "") -> None:
    """Read the files that define an entry while they are still the code that runs: an author may edit them meanwhile.

    Args:
        module: another one to read, where the entry's function lies elsewhere.
    """
    for name in {module_of(entry), module}:
        _content(name)


def _content(name: str) -> bytes | None:
    """The content of the file that a module was loaded from; None if there is none."""
    module = sys.modules.get(name)
    file, spec = getattr(module, "__file__", None), getattr(module, "__spec__", None)
    if file is None or name.partition(".")[0] == "gme":
        return None
    if name not in _LOADED or _LOADED[name][0] is not spec:
        try:
            _LOADED[name] = spec, Path(file).read_bytes()
        except OSError:  # a module in an archive
            return None
    return _LOADED[name][1]


def _code(modules: set[str]) -> dict[str, str]:
    """The hash of the files of modules that are loaded, without gme's own; empty where no module has a file.

    A version often stays the same while its author works on the code. Without the hash, what older code made would
    count as made by the present code.
    """
    digest, read = hashlib.sha256(), False
    for name in sorted(modules):
        content = _content(name)
        if content is None:
            continue
        digest.update(content)
        read = True
    return {"code_sha256": digest.hexdigest()} if read else {}


def origin(source: Mapping[str, str]) -> str:
    """A source in words: a distribution with its version, or a module."""
    if "distribution" in source:
        return f"{source['distribution']} {source['version']}".rstrip()
    return f"module {source['module']}" if source.get("module") else ""


@contextmanager
def blaming(what: str) -> Iterator[None]:
    """An exception in the block becomes a `GmeError` that says whose code failed.

    A `GmeError` passes, for the plugin has said itself what is wrong. So do interrupts and a lack of memory.

    Args:
        what: whose code the block runs, such as "transform 'average' of gme-examples 0.1".
    """
    try:
        yield
    except (GmeError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # a plugin's code may raise anything
        message = f"{type(error).__name__}: {cut(str(error))}".removesuffix(": ")
        raise GmeError(f"{what} failed: {message}", "set GME_DEBUG=1 to see where in its code") from error


def blaming_each(what: str, items: Iterable[Item]) -> Iterator[Item]:
    """The items. An exception of the code that makes them becomes a `GmeError`: see `blaming`."""
    with blaming(what):
        yield from items
