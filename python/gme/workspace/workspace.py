"""A workspace: the folder that the commands read and write. The README's table lists its files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .._core import Graph, NodeTable
from ..deprecation import deprecated
from ..errors import GmeError, StaleError, shorten, unknown
from ..storage.arrays import NewArray, open_vectors
from ..storage.atomic import atomic_group, atomic_write
from ..storage.files import write_json
from ..version import gme_version
from .folder import Folder
from .graphs import counted_by_weight, workspace_graph
from .layout import EDGES, NODES, ORIGINAL, QUESTION_VECTORS, QUESTIONS, WRITERS
from .manifests import Manifest, is_inside, read_manifest
from .records import Edges, Nodes, Questions, read_edges, read_ids, read_nodes, read_questions
from .staleness import refuse_stale, rerun_hint


@dataclass(frozen=True)
class Collection:
    """A named array of embeddings with a row for each node: float32, C order, memory-mapped and read-only."""

    name: str
    vectors: npt.NDArray[np.float32]
    manifest: Manifest


class Workspace(Folder):
    """The files of one experiment. Reading checks them. Writing is atomic and puts a manifest beside every array.

    If a crash left renames of related files unfinished, they are finished before anything is read.

    Args:
        folder: need not exist yet; the first write makes it.
        reporter: told about reading and hashing, which take long for large files, and about arrays of unknown origin.
    """

    _graph: tuple[Any, Graph] | None = None
    """The last graph, and the arguments it was built with."""

    _edge_type_names: list[str] | None = None
    """The types of edges, once they have been read."""

    def forget(self) -> None:
        """Forget everything that was read. Call it after files have been written."""
        for name in ("nodes", "ids", "edges", "questions"):
            vars(self).pop(name, None)
        self._graph = self._edge_type_names = None
        self._read.clear()

    # ---- what is read -----------------------------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes, read once."""
        path = self._reading(NODES)
        with self.reporter.progress(f"read {NODES}", "bytes") as progress:
            return read_nodes(path, progress)

    @cached_property
    def ids(self) -> NodeTable:
        """The ids of the nodes, read once. They are enough wherever no text is needed."""
        if "nodes" in vars(self):
            return self.nodes.table
        path = self._reading(NODES)
        with self.reporter.progress(f"read {NODES}", "bytes") as progress:
            return read_ids(path, progress)

    @cached_property
    def edges(self) -> Edges:
        """The edges as node rows, read once."""
        return self._read_edges()

    def _read_edges(self) -> Edges:
        ids = self.ids  # read first, so that an empty folder raises the error about nodes.jsonl
        path = self._reading(EDGES)
        refuse_stale(self, [EDGES])
        with self.reporter.progress(f"read {EDGES}", "bytes") as progress:
            edges = read_edges(path, ids, progress)
        self._edge_type_names = edges.type_names
        return edges

    @property
    def edge_type_names(self) -> list[str]:
        """The types of edges. After `graph` nothing is read for them."""
        return self.edges.type_names if self._edge_type_names is None else self._edge_type_names

    def graph(
        self,
        edge_types: Sequence[str] | None = None,
        type_weights: Mapping[str, float] | None = None,
        *,
        own_weights: bool = True,
    ) -> Graph:
        """The graph of all edges, or of the edges of some types. The last graph is kept.

        Node texts and edge lists are not kept: they take several times the memory of the graph.

        Args:
            edge_types: see `gme.workspace.graphs.workspace_graph`.
            type_weights: see the same function.
            own_weights: see the same function.

        Raises:
            GmeError: see `gme.workspace.graphs.workspace_graph`; or a file is not valid.
        """
        edges = vars(self).get("edges")
        if self._edge_type_names is None:
            edges = edges or self._read_edges()
        weighed = None
        if type_weights or (not own_weights and counted_by_weight(self.edge_type_names, edge_types)):
            weighed = (tuple(sorted((type_weights or {}).items())), own_weights)
        key = (None if edge_types is None else frozenset(edge_types), weighed)
        if self._graph is None or self._graph[0] != key:
            edges = edges or self._read_edges()
            with self.reporter.progress("build graph", "edges") as progress:
                graph = workspace_graph(
                    self.ids, edges, edge_types, progress, type_weights=type_weights, own_weights=own_weights
                )
                self._graph = key, graph
        return self._graph[1]

    @cached_property
    def questions(self) -> Questions:
        """The questions, read once. Their gold ids are checked against the nodes."""
        nodes = self.nodes
        return read_questions(self._reading(QUESTIONS), nodes)

    @property
    def question_digest(self) -> str:
        """A hash of the questions' ids and texts. Embeddings and runs depend on nothing else of the questions."""
        questions = self.questions
        return hashlib.sha256(json.dumps([*questions.ids, *questions.texts]).encode()).hexdigest()

    @property
    def asked(self) -> str:
        """The former name of `question_digest`."""
        deprecated("gme.Workspace.asked", "gme.Workspace.question_digest")
        return self.question_digest

    def _reading(self, relative: str) -> Path:
        """The path of a file that is about to be read. Its present state is remembered."""
        path = self.require(relative)
        if relative != NODES or "ids" not in vars(self):  # ids and texts must be of one version
            self._remember(relative)
        return path

    # ---- arrays and their manifests -------------------------------------------------------------------------------

    def write_array(
        self, relative: str, vectors: npt.NDArray[np.float32], *, inputs: Sequence[str], started: float, **facts: Any
    ) -> Manifest:
        """Write an array and its manifest, and return the manifest.

        Args:
            relative: the array's path in the workspace, ending in ``.npy``; the manifest gets the ending ``.json``.
            vectors: float32 (rows, dim), C order.
            inputs: the workspace files that the array was made from; the manifest gets their SHA-256.
            started: `time.perf_counter()` at the beginning of the work.
            facts: other fields of the manifest (method, parameters, seed, …).
        """
        with self.new_array(relative, *vectors.shape) as array:
            array.fill(vectors)
            return self.describe(relative, array, inputs=inputs, started=started, **facts)

    @contextlib.contextmanager
    def new_array(self, relative: str, rows: int, dim: int) -> Iterator[NewArray]:
        """Make a float32 array whose `vectors` are written in place. The file appears, whole, when the block ends.

        Call `describe` at the end of the block. It hashes the array and writes its manifest. Both appear together.
        """
        path = self.path(relative)
        with self.writing(relative), atomic_group(self.folder), atomic_write(path) as handle:
            yield NewArray(handle, path, rows, dim)

    def describe(
        self, relative: str, array: NewArray, *, inputs: Sequence[str], started: float, **facts: Any
    ) -> Manifest:
        """Write the manifest of a new array, and return it. The arguments are those of `write_array`.

        Raises:
            StaleError: an input has changed since it was read.
        """
        hashes = {name: self.hash(name) for name in inputs}
        with self.reporter.progress(f"write {relative}", "bytes") as progress:
            digest = array.digest(progress)
        rows, dim = array.vectors.shape
        manifest: Manifest = {
            **cast(Manifest, facts),
            "gme": gme_version(),
            "rows": rows,
            "dim": dim,
            "dtype": str(array.vectors.dtype),
            "sha256": digest,
            "inputs": hashes,
            "seconds": round(time.perf_counter() - started, 3),
        }
        write_json(self.path(relative).with_suffix(".json"), manifest)
        return manifest

    def collection(self, name: str, *, verify: bool = True) -> Collection:
        """Open `embeddings/NAME.npy`, checked against the nodes, its manifest and all of its inputs.

        Raises:
            GmeError: no such collection (the closest name is suggested), or a wrong dtype, shape or row count.
            StaleError: an input has changed since it was made.
        """
        relative = f"embeddings/{name}.npy"
        if not is_inside(name) or "/" in name:
            raise GmeError(f"collection name {shorten(name)} is not a file name", "use letters, digits, '.', '-', '_'")
        if name == "questions" or not self.path(relative).is_file():
            if name == "original":
                self.require(ORIGINAL)
            raise unknown("collection", name, self.collections(), where=f" in {self.path('embeddings')}")
        return self._open(name, relative, len(self.ids), "nodes.jsonl", verify)

    def collections(self) -> list[str]:
        """The names of the existing collections, with `original`."""
        return sorted(path.stem for path in self.path("embeddings").glob("*.npy") if path.stem != "questions")

    def files_of(self, names: Iterable[str]) -> list[str]:
        """The array files of those collections that exist."""
        there = self.collections()
        return [f"embeddings/{name}.npy" for name in names if name in there]

    def question_vectors(self) -> npt.NDArray[np.float32]:
        """Open `embeddings/questions.npy`, float32 (questions, dim), checked like a collection."""
        self.require(QUESTIONS)  # checked first, because without questions there is nothing to embed
        self.require(QUESTION_VECTORS)
        questions = self._open("questions", QUESTION_VECTORS, len(self.questions), QUESTIONS, True)
        nodes = self.path(ORIGINAL).with_suffix(".json")
        self._one_model(read_manifest(nodes), questions.manifest)
        return questions.vectors

    def _one_model(self, nodes: Manifest, questions: Manifest) -> None:
        """Refuse embeddings of questions and nodes by different models. Arrays without a manifest can't be checked."""
        if "key" in nodes and "key" in questions and nodes["key"] != questions["key"]:
            hint = rerun_hint([nodes.get("command") or WRITERS[ORIGINAL]])
            if str(nodes.get("model")).startswith("file:") and "--questions-file" not in hint:
                hint += " --questions-file QUESTIONS.npy"
            raise StaleError(
                f"{self.path(QUESTION_VECTORS)} was made by {questions.get('model')}, "
                f"but {self.path(ORIGINAL)} by {nodes.get('model')}",
                hint,
            )

    def _open(self, name: str, relative: str, rows: int, rows_of: str, verify: bool) -> Collection:
        path = self.path(relative)
        self._remember(relative)
        manifest = read_manifest(path.with_suffix(".json"))
        if verify:
            refuse_stale(self, [relative])
        if not manifest and self._had_manifest(name):
            self.reporter.warn(
                f"{path} has no manifest: nothing shows whether it belongs to these nodes and edges",
                f"if gme made it, make it again: {WRITERS.get(relative, 'gme transform')}",
            )
        return Collection(name, open_vectors(path, rows, rows_of), manifest)

    def _had_manifest(self, name: str) -> bool:
        """Whether an array without a manifest must have lost it. People bring originals, but seldom collections."""
        others = {"original": QUESTION_VECTORS, "questions": ORIGINAL}
        return name not in others or self.path(others[name]).with_suffix(".json").is_file()


def check_name(name: str, kind: str) -> str:
    """Check a name that becomes a file name: letters, digits, '.', '-', '_', and not reserved. Returns the name."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}", name):
        raise GmeError(
            f"{kind} name {shorten(name)} is not usable as a file name", "use letters, digits, '.', '-', '_'"
        )
    if kind == "collection" and name in ("original", "questions"):
        raise GmeError(f"the collection name {name!r} is reserved", "choose another name")
    return name


_Work = TypeVar("_Work", bound=Callable[..., Any])


def exclusive_lock(work: _Work) -> _Work:
    """Decorate a step on a workspace: it runs alone in the workspace, and its files appear together at its end."""

    @wraps(work)
    def held(workspace: Workspace, *arguments: Any, **named: Any) -> Any:
        with workspace.exclusive_lock(), atomic_group(workspace.folder):
            result = work(workspace, *arguments, **named)
        workspace.forget()
        return result

    return cast(_Work, held)


def shared_lock(work: _Work) -> _Work:
    """Decorate a step on a workspace: it runs beside others, but not during one with an exclusive lock."""

    @wraps(work)
    def held(workspace: Workspace, *arguments: Any, **named: Any) -> Any:
        with workspace.shared_lock():
            return work(workspace, *arguments, **named)

    return cast(_Work, held)
