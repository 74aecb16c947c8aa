"""What was made from files that have changed since: all of it at once, with what makes it again, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import StaleError, joined
from .layout import EDGES, NODES, ORIGINAL, QUESTIONS, WRITERS
from .manifests import Manifest, read_manifest

if TYPE_CHECKING:
    from .workspace import Workspace

_JOINT = " && "
_MOST_COMMANDS = 12
_MOST_NAMES = 5

DROPPED = ""
"""In place of the hash of the nodes: edges that a builder had found in them were dropped since."""


@dataclass(frozen=True)
class Stale:
    """A file that is not what its manifest says, or was made from inputs that have changed.

    Attributes:
        relative: its path in the workspace. reason: what has changed, for after "is". command: makes it again.
    """

    relative: str
    reason: str
    command: str


def find_stale(workspace: Workspace, relatives: Iterable[str]) -> list[Stale]:
    """The stale ones among these files and all they were made from, however far back; inputs come before results.

    A file without a manifest (put there by hand), or that is not there, has nothing to verify against.

    Raises:
        GmeError: an input is missing, or a manifest damaged.
    """
    seen: set[str] = set()  # manifests may name each other

    def walk(relative: str) -> Iterator[Stale]:
        if relative in seen or not workspace.path(relative).is_file():
            return
        seen.add(relative)
        manifest = _manifest(workspace, relative)
        changed = [name for name in manifest.get("inputs", {}) if _differs(workspace, relative, name, manifest)]
        below = [stale for name in manifest.get("inputs", {}) for stale in walk(name)]
        yield from below
        command = manifest.get("command") or WRITERS.get(relative, "the command that wrote it")
        if "sha256" in manifest and workspace.digest(relative) != manifest["sha256"]:
            yield Stale(relative, "not the file its manifest describes", command)
        elif changed:
            yield Stale(relative, f"stale: {_reason(workspace, changed, manifest)}", command)
        elif below:
            yield Stale(relative, f"stale: {below[-1].relative} is stale itself", command)

    return [stale for relative in relatives for stale in walk(relative)]


def refuse_stale(workspace: Workspace, relatives: Iterable[str]) -> None:
    """Refuse to work with stale files.

    Raises:
        StaleError: the first, with all commands to run, in order. GmeError: as `find_stale`.
    """
    found = find_stale(workspace, relatives)
    if not found:
        return
    first, *others = found
    also = f"; stale as well: {joined([each.relative for each in others], _MOST_NAMES)}" if others else ""
    raise StaleError(
        f"{workspace.path(first.relative)} is {first.reason}{also}", remake(each.command for each in found)
    )


def remake(commands: Iterable[str]) -> str:
    """The hint for what is stale."""
    return f"re-run: {in_order(commands)}"


def in_order(commands: Iterable[str]) -> str:
    """Commands, each once, as a line for the shell; of many the first, and how many more there are.

    Those that make the graph come first: they may add nodes, which are to be embedded.
    """
    single = dict.fromkeys(part for command in commands for part in command.split(_JOINT))
    graph_first = sorted(single, key=lambda command: not command.startswith("gme graph "))
    return joined(graph_first, _MOST_COMMANDS, separator=_JOINT)


def is_as_recorded(workspace: Workspace, name: str, manifest: Manifest) -> bool:
    """Whether an input is what it was, as far as it matters: of questions, embeddings and runs use ids and texts."""
    if workspace.digest(name) == manifest["inputs"][name]:
        return True
    return name == QUESTIONS and "asked" in manifest and manifest["asked"] == workspace.asked


def _manifest(workspace: Workspace, relative: str) -> Manifest:
    if relative == EDGES:
        # Other edges may be anybody's: they have no manifest, or one of a file that was there before.
        return workspace.origin(EDGES) or {}
    path = workspace.path(relative)
    return read_manifest(path.with_suffix(".json")) if path.suffix == ".npy" else {}


def _differs(workspace: Workspace, relative: str, name: str, manifest: Manifest) -> bool:
    workspace.require(name, WRITERS.get(name, f"the command that made {relative}"))
    return not is_as_recorded(workspace, name, manifest)


def _reason(workspace: Workspace, changed: list[str], manifest: Manifest) -> str:
    """What has changed of the inputs, the most telling one of several."""
    name = next((telling for telling in (NODES, ORIGINAL) if telling in changed), changed[0])
    if manifest["inputs"][name] == DROPPED:
        return "a corpus was read anew, without the edges that were found in it before"
    return f"{name} has changed since it was made{_change(workspace, name, manifest)}"


def _change(workspace: Workspace, name: str, manifest: Manifest) -> str:
    """What is known to differ, for the message: row counts and models say more than hashes."""
    if name == NODES and "rows" in manifest and manifest["rows"] != len(workspace.ids):
        return f" ({manifest['rows']} nodes then, {len(workspace.ids)} now)"
    if name == ORIGINAL:
        now = read_manifest(workspace.path(ORIGINAL).with_suffix(".json"))
        then = manifest.get("source", {})
        parts = [
            f"{key} {then.get(key)} then, {now.get(key)} now"
            for key in ("model", "rows", "dim")
            if then.get(key) != now.get(key)
        ]
        return f" ({'; '.join(parts)})" if parts else ""
    return ""
