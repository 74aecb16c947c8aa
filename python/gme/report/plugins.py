"""Which other packages took part in the runs of a report, by what the manifests say."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import GmeError
from ..plugins import origin
from ..workspace import Workspace
from ..workspace.manifests import Manifest, read_manifest


def taking_part(workspace: Workspace, runs: Iterable[Manifest]) -> dict[str, list[str]]:
    """The other packages behind runs, each with what it contributed: "transform average", say.

    A run's own manifest names its strategy and its store. The manifests of its inputs, and of theirs, name the
    transform, the embedder and the edge builders.

    Args:
        runs: the manifests of the runs.
    """
    found: dict[str, set[str]] = {}
    seen: set[str] = set()
    waiting = list(runs)
    while waiting:
        manifest = waiting.pop()
        for part, source in _contributions(manifest):
            if package := _package(source):
                found.setdefault(package, set()).add(part)
        inputs = manifest.get("inputs", {}).keys() - seen
        seen |= inputs
        waiting += [_manifest(workspace, name) for name in inputs]
    return {package: sorted(found[package]) for package in sorted(found)}


def _manifest(workspace: Workspace, name: str) -> Manifest:
    """The manifest of a file. One that can't be read says nothing here: the commands that need it report it."""
    with contextlib.suppress(GmeError, OSError):
        beside = workspace.path(name).with_suffix(".json")
        return read_manifest(beside if name.endswith(".npy") else workspace.path(f"manifests/{Path(name).stem}.json"))
    return {}


def _package(source: object) -> str:
    """A source in words; empty if the manifest holds none that gme wrote."""
    if not isinstance(source, Mapping) or not ({"distribution", "version"} <= source.keys() or "module" in source):
        return ""
    return origin(source)


def _contributions(manifest: Manifest) -> Iterator[tuple[str, object]]:
    """What other packages contributed to one file, and where that comes from."""
    names = {
        "strategy": f"strategy {manifest.get('strategy')}",
        "index": f"store {_store(manifest)}",
        "method": f"transform {manifest.get('method')}",
        "model": f"embedder {manifest.get('model')}",
    }
    for part, source in manifest.get("plugins", {}).items():
        yield names.get(part, part), source
    for name, each in manifest.get("builders", {}).items():
        for source in each.get("plugins", {}).values():
            yield f"edge builder {name}", source


def _store(manifest: Manifest) -> str:
    """The kind of store that a run searched."""
    index: object = manifest.get("index")
    return str(index.get("original")) if isinstance(index, Mapping) else ""
