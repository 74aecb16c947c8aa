"""Reading manifests: the JSON files beside arrays, runs and indexes, checked before anything relies on them.

People pass workspaces on, so a manifest may hold anything. Every field that is read must be of the kind that the
commands write, and every input must be a file of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict, cast, get_type_hints

from ..errors import GmeError, shorten
from ..storage.files import read_json

if TYPE_CHECKING:
    from typing_extensions import NotRequired

_AGAIN = "the file is damaged: remove it, and re-run the command that wrote it"


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. A missing manifest gives an empty one.

    Raises:
        GmeError: the file holds no JSON object, a field is of the wrong kind, or an input lies outside the workspace.
    """
    if not path.is_file():
        return {}
    manifest = read_json(path)
    _check(path, manifest, "")
    for name, part in manifest.get("builders", {}).items():
        if not isinstance(part, dict) or not {"command", "inputs"} <= part.keys():
            raise GmeError(f"{path}: 'builders' must hold commands and inputs, found {shorten(part)}", _AGAIN)
        _check(path, part, f"builders.{name}.")
    return cast(Manifest, manifest)


def is_inside(name: str) -> bool:
    """Whether a relative path names a file below its folder, without ``..``, a root or unusable characters."""
    path = PurePosixPath(name)
    plain = name.isprintable() and "\\" not in name
    fits = plain and all(len(part.encode()) <= 255 for part in path.parts)
    return fits and bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _check(path: Path, manifest: Mapping[str, object], above: str) -> None:
    for key, rule in RULES.items():
        if key in manifest and not rule.holds(manifest[key]):
            raise GmeError(f"{path}: {above}{key} must be {rule.kind}, found {shorten(manifest[key])}", _AGAIN)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _are_hashes(value: object) -> bool:
    return isinstance(value, dict) and all(is_inside(name) and isinstance(part, str) for name, part in value.items())


def _is_graph(value: object) -> bool:
    return isinstance(value, dict) and _are_names(value.get("edge_types", []))


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


@dataclass(frozen=True)
class Rule:
    """The rule for a field that is read from a file: a test, and the same in words."""

    holds: Callable[[object], bool]
    kind: str


_TEXT = Rule(_is_text, "a string")
_TEXT_OR_NONE = Rule(_is_text_or_none, "a string")
_OBJECT = Rule(_is_object, "an object")

Values: TypeAlias = dict[str, Any]
"""Options, parameters and facts by name. Other packages bring their own, so any JSON value is allowed."""


class Part(TypedDict):
    """What one edge builder wrote: its command, and the hash of the nodes in which it found the edges."""

    command: str
    inputs: dict[str, str]
    plugins: NotRequired[dict[str, dict[str, str]]]


class GraphFacts(TypedDict, total=False):
    """The graph that a collection follows, with the edge types if not all were used."""

    nodes: int
    edges: int
    edge_types: list[str]


class Source(TypedDict, total=False):
    """Model and size of the original embeddings. A message about a stale file can then say what has changed."""

    model: str | None
    rows: int | None
    dim: int | None


class Latency(TypedDict):
    """Milliseconds for a question asked alone: median, 95th percentile, and how many questions were measured."""

    p50: float
    p95: float
    questions: int


class Manifest(TypedDict, total=False):
    """A manifest of any kind, as written and as read. The fields depend on the file that it describes.

    Reading checks the fields with a `Rule`. The others are only for people and for later comparisons.
    """

    # All manifests: the command that made the file, its inputs, and its hash.
    command: Annotated[str, _TEXT]
    inputs: Annotated[dict[str, str], Rule(_are_hashes, "an object of file names in the workspace and their hashes")]
    sha256: Annotated[str, _TEXT]
    gme: str
    seconds: float
    plugins: Annotated[dict[str, dict[str, str]], _OBJECT]
    # Arrays and indexes.
    rows: Annotated[int, Rule(_is_count, "a number of rows")]
    dim: Annotated[int, Rule(_is_count, "a number of columns")]
    dtype: str
    method: Annotated[str, _TEXT]
    # Embeddings.
    model: Annotated[str | None, _TEXT_OR_NONE]
    key: Annotated[str, _TEXT]
    parameters: Annotated[Values, _OBJECT]
    # Collections, which also have `parameters`.
    seed: int | None
    facts: Annotated[Values, _OBJECT]
    graph: Annotated[GraphFacts, Rule(_is_graph, "an object whose edge_types are strings")]
    # Collections and runs.
    source: Annotated[Source, _OBJECT]
    # Runs. Question embeddings also have `asked`.
    asked: Annotated[str, _TEXT]
    strategy: Annotated[str | None, _TEXT_OR_NONE]
    collection: Annotated[str | None, _TEXT_OR_NONE]
    options: Annotated[Values, _OBJECT]
    graph_at_query_time: bool
    types: Annotated[list[str], Rule(_are_names, "a list of strings")]
    edge_types: list[str]
    index: dict[str, str]
    precision: str
    search_calls: Annotated[int, Rule(_is_count, "a number")]
    schedule: str | None
    questions: int
    milliseconds_per_question: float
    latency_milliseconds: Latency
    # Indexes.
    k1: float
    b: float
    terms: int
    connectivity: int
    expansion: int
    metric: str
    usearch: str
    threads: int
    # edges.jsonl.
    builders: Annotated[dict[str, Part], _OBJECT]


RULES: dict[str, Rule] = {
    name: rule
    for name, declared in get_type_hints(Manifest, include_extras=True).items()
    for rule in getattr(declared, "__metadata__", ())
}
"""The fields that `read_manifest` checks."""
