"""The development sets of signature_study.py, and what `envelope` finds on them with any signatures, in any storage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from envelope_study import DEVELOPMENT, REAL, in_development
from graph_baselines import prepare

import gme
from gme._core import Graph
from gme.embedders.options import EmbedOptions
from gme.evaluation.gold import HARD, collect_gold
from gme.pipeline.prepare import RetrievalSetting, returned_types
from gme.stores.exact import ExactStore
from gme.stores.store import Store, sorted_ranks
from gme.types import Vectors
from gme.workspace import Workspace

BUDGET = 40

Found = npt.NDArray[np.float64]
"""Share of a question's gold among the first k nodes returned: (questions, `BUDGET`)."""


@dataclass(frozen=True)
class Set:
    """A workspace and the development questions on it."""

    name: str
    workspace: Workspace
    queries: Vectors
    gold: list[frozenset[int]]
    groups: npt.NDArray[np.str_]
    families: npt.NDArray[np.str_]
    allowed: npt.NDArray[np.bool_] | None

    @property
    def real(self) -> bool:
        """Whether its texts are not ours: its questions have no groups."""
        return self.name in REAL

    @cached_property
    def graph(self) -> Graph:
        """The graph, edges without weights."""
        return self.workspace.graph()

    @cached_property
    def original(self) -> ExactStore:
        """The original vectors."""
        return self.store(np.load(self.workspace.path("embeddings/original.npy")))

    @cached_property
    def plain(self) -> Found:
        """What plain search finds among nodes of all types."""
        return self.shares(gme.retrieve("plain", self.original, None, self.queries, budget=BUDGET).rows)

    @cached_property
    def plain_allowed(self) -> Found:
        """What plain search finds among the nodes that `envelope` may return."""
        found = gme.retrieve("plain", self.original, None, self.queries, allowed=self.allowed, budget=BUDGET)
        return self.shares(found.rows)

    def store(self, vectors: Vectors) -> ExactStore:
        """Vectors of the nodes, to be searched exactly."""
        return ExactStore(vectors, sorted_ranks(self.workspace.nodes.ids))

    def signatures(self, weights: dict[str, float] | None = None, **options: object) -> Vectors:
        """Signatures with these options; `weights` of edge types as ``--edge-type-weights`` takes them."""
        graph = self.workspace.graph(None, weights, own_weights=False) if weights else self.graph
        made: Vectors = gme.transform("signature", graph, weighted=bool(weights), **options).vectors
        return made

    def envelope(self, modified: Store, original: Store | None = None, **options: float) -> Found:
        """What `envelope` finds with its defaults or other options, told of no titles."""
        stores = (original or self.original, modified)
        rows = gme.retrieve("envelope", *stores, self.queries, allowed=self.allowed, budget=BUDGET, **options).rows
        return self.shares(rows)

    def shares(self, rows: npt.NDArray[np.uint32]) -> Found:
        """The share of each question's gold among its first k rows."""
        hits = [np.isin(line, list(gold)).cumsum() / len(gold) for line, gold in zip(rows, self.gold, strict=True)]
        return np.array(hits)


def load(folder: Path, data: Path) -> list[Set]:
    """The synthetic development splits and half of each real set; workspaces in `folder` are used as they are."""
    return [load_one(name, folder / name, data) for name in (*DEVELOPMENT, *REAL)]


def load_one(name: str, folder: Path, data: Path, *, unseen: bool = False) -> Set:
    """A set by name; of a real one the questions of the development half, or with `unseen` those of the other."""
    workspace = Workspace(folder)
    if not workspace.path("embeddings/questions.npy").is_file():
        if name in REAL:
            workspace = prepare(data / name, folder)
        else:
            split, seed = name.rsplit("-", 1)
            folder.mkdir()
            gme.write_benchmark(workspace, split=split, seed=int(seed))
            gme.embed_workspace(workspace, EmbedOptions())
    gold = collect_gold(workspace.questions, workspace.nodes)
    place = {question: row for row, question in enumerate(workspace.questions.ids)}
    kept = [row for row, question in enumerate(gold.ids) if name not in REAL or in_development(question) != unseen]
    chosen = [place[gold.ids[row]] for row in kept]
    types = returned_types(workspace, "envelope", RetrievalSetting())
    allowed = np.array([kind in types for kind in workspace.nodes.types]) if types else None
    return Set(
        name,
        workspace,
        np.ascontiguousarray(workspace.question_vectors()[chosen]),
        [frozenset(gold.rows[row]) for row in kept],
        np.array([workspace.questions.groups[row] for row in chosen]),
        np.array([workspace.questions.families[row] for row in chosen]),
        allowed,
    )


class Recovery:
    """Lines of a table of what `envelope` finds; the first line is what the others are compared with."""

    def __init__(self, sets: list[Set], *, real: bool = True) -> None:
        self.synthetic = [each for each in sets if not each.real]
        self.real = [each for each in sets if each.real and real]
        self.groups = np.concatenate([each.groups for each in self.synthetic])
        self.families = np.concatenate([each.families for each in self.synthetic])
        self.plain = np.concatenate([each.plain[:, -1] for each in self.synthetic])
        self.first: npt.NDArray[np.float64] | None = None
        self.header = ["hard", "over the first line", "single-fact", "worst family over plain"]
        self.header += [f"{each.name} @10/@40" for each in self.real]

    def cells(self, find: Callable[[Set], Found]) -> list[str]:
        """The cells of a line, from what is found on each set."""
        share = np.concatenate([find(each)[:, -1] for each in self.synthetic])
        hard, gain = np.isin(self.groups, HARD), share - self.plain
        worst, family = min((gain[self.families == name].mean(), name) for name in np.unique(self.families))
        cells = [
            f"{100 * share[hard].mean():.1f}",
            "" if self.first is None else points((share - self.first)[hard]),
            f"{100 * share[self.groups == 'single-fact'].mean():.1f}",
            f"{100 * worst:+.1f} {family}" if worst < 0 else "none",
        ]
        self.first = share if self.first is None else self.first
        for each in self.real:
            complete = find(each) > 0.999
            cells.append("/".join(f"{100 * complete[:, k - 1].mean():.1f}" for k in (10, 40)))
        return cells


def points(differences: npt.NDArray[np.float64]) -> str:
    """A mean difference in points with its paired bootstrap interval."""
    low, high = 100 * gme.bootstrap(differences[:, np.newaxis])[0]
    return f"{100 * differences.mean():+.1f} [{low:+.1f}, {high:+.1f}]"
