"""Finds every stale file at once, and the commands that make these files again, in order."""

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
"""Stands in place of the nodes' hash after edges that a builder had found in them were dropped."""


@dataclass(frozen=True)
class Stale:
    """A file that differs from its manifest, or that was made from inputs that have changed.

    Attributes:
        relative: the file's path in the workspace. reason: what has changed, as words after "is". command: makes the
            file again.
    """

    relative: str
    reason: str
    command: str


def find_stale(workspace: Workspace, relatives: Iterable[str]) -> list[Stale]:
    """The stale files among these and among everything they were made from. Inputs come before results.

    A file that is missing, or has no manifest because somebody put it there, can't be checked and does not count.

    Raises:
        GmeError: an input is missing, or a manifest damaged.
    """
    seen: set[str] = set()  # manifests may name each other in a circle

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
        StaleError: names the first stale file and all commands to run, in order. GmeError: as in `find_stale`.
    """
    found = find_stale(workspace, relatives)
    if not found:
        return
    first, *others = found
    also = f"; stale as well: {joined([each.relative for each in others], _MOST_NAMES)}" if others else ""
    raise StaleError(
        f"{workspace.path(first.relative)} is {first.reason}{also}", rerun_hint(each.command for each in found)
    )


def rerun_hint(commands: Iterable[str]) -> str:
    """The hint for stale files."""
    return f"re-run: {in_order(commands)}"


def in_order(commands: Iterable[str]) -> str:
    """Commands as one line for the shell, each once. A long list is cut and says how many more there are.

    Commands that make the graph come first, because they may add nodes, and nodes must be embedded.
    """
    single = dict.fromkeys(part for command in commands for part in command.split(_JOINT))
    graph_first = sorted(single, key=lambda command: not command.startswith("gme graph "))
    return joined(graph_first, _MOST_COMMANDS, separator=_JOINT)


def is_as_recorded(workspace: Workspace, name: str, manifest: Manifest) -> bool:
    """Whether an input is unchanged where it matters. Embeddings and runs use only the questions' ids and texts."""
    if workspace.digest(name) == manifest["inputs"][name]:
        return True
    return name == QUESTIONS and "asked" in manifest and manifest["asked"] == workspace.question_digest


def _manifest(workspace: Workspace, relative: str) -> Manifest:
    if relative == EDGES:
        # Edges that no command wrote have no manifest, or the manifest of an earlier file.
        return workspace.origin(EDGES) or {}
    path = workspace.path(relative)
    return read_manifest(path.with_suffix(".json")) if path.suffix == ".npy" else {}


def _differs(workspace: Workspace, relative: str, name: str, manifest: Manifest) -> bool:
    workspace.require(name, WRITERS.get(name, f"the command that made {relative}"))
    return not is_as_recorded(workspace, name, manifest)


def _reason(workspace: Workspace, changed: list[str], manifest: Manifest) -> str:
    """What has changed among the inputs. Of several changes, the most informative is named."""
    name = next((telling for telling in (NODES, ORIGINAL) if telling in changed), changed[0])
    if manifest["inputs"][name] == DROPPED:
        return "a corpus was read again, and the edges found in it before are gone"
    return f"{name} has changed since it was made{_change(workspace, name, manifest)}"


def _change(workspace: Workspace, name: str, manifest: Manifest) -> str:
    """The known difference, for the message. Row counts and models say more than hashes."""
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
