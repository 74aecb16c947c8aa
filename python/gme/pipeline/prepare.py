"""A strategy made ready for the questions of a workspace: options checked, collections chosen, stores opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..errors import GmeError, unknown
from ..formatting import counted
from ..lexical.index import LexicalIndex
from ..options import Options
from ..reporting import SILENT, Reporter, takes_callbacks
from ..retrieval.batch import answer, find_strategy, needs_modified, searches_words, strategy_options
from ..retrieval.graph_strategies import ENTITY
from ..retrieval.options import StagedOptions
from ..retrieval.result import Retrieved
from ..retrieval.schedule import NEEDS_MODIFIED, Schedule
from ..retrieval.strategies import CHUNK, STRATEGIES
from ..retrieval.title_matching import TitleMatcher
from ..stores.store import Rows, Store
from ..types import Progress, Vectors
from ..workspace import Workspace
from ..workspace.graphs import workspace_graph
from ..workspace.layout import EDGES, NODES, ORIGINAL, QUESTION_VECTORS
from ..workspace.staleness import refuse_stale
from .index import STORES, OpenSettings, open_store
from .lexical import open_lexical


@takes_callbacks
@dataclass(frozen=True)
class RetrievalSetting:
    """The settings of a retrieval on a workspace, apart from the strategy's own options.

    Attributes:
        collection: the modified collection; empty: see `choose_collection`. ``original`` is the control.
        index: ``auto`` or a key of `STORES`.
        types: only nodes of these types are returned; empty: see `returned_types`.
        edge_types: strategies that need the graph walk along edges of these types only; empty: all.
        threads: for searching, 0 means all cores.
        build_threads: for building an index, see `gme.stores.build_hnsw`.
        reporter: hears what was chosen, which options have no effect, and the progress.
        precision: the number format of an HNSW index, one of `gme.stores.hnsw.PRECISIONS`.
    """

    collection: str = ""
    index: str = "auto"
    types: Sequence[str] = ()
    edge_types: Sequence[str] = ()
    threads: int = 0
    build_threads: int = 1
    reporter: Reporter = field(default=SILENT, repr=False)
    precision: str = "f32"


@dataclass(frozen=True)
class Prepared:
    """A strategy with its options and the stores it runs on, ready for any number of questions."""

    workspace: Workspace
    strategy: str
    options: Options
    collection: str | None
    original: Store
    modified: Store | None
    allowed: npt.NDArray[np.bool_] | None
    setting: RetrievalSetting = field(repr=False)
    graph: Graph | None = None
    entities: npt.NDArray[np.bool_] | None = field(default=None, repr=False)
    types: Sequence[str] = ()
    texts: LexicalIndex | None = field(default=None, repr=False)

    @cached_property
    def titles(self) -> TitleMatcher:
        """Finds the nodes whose titles a question contains."""
        return TitleMatcher(self.workspace.nodes.titles)

    def match_titles(self, queries: Vectors, texts: Sequence[str]) -> Rows | None:
        """The nodes that questions name, or None if the strategy does not use them; see `gme.match_titles`."""
        if getattr(self.options, "ignore_titles", True):
            return None
        return self.titles.match(texts, queries, self.original, threads=self.setting.threads)

    def answer(
        self,
        queries: Vectors,
        named: Rows | None = None,
        progress: Progress | None = None,
        questions: Sequence[str] | None = None,
    ) -> Retrieved:
        """Answer questions, given as vectors float32 (questions, dim).

        Args:
            named: the nodes that the questions name; see `match_titles`.
            questions: the texts of the questions. Only strategies that search words need them.
        """
        return answer(
            self.strategy,
            self.options,
            self.original,
            self.modified,
            queries,
            allowed=self.allowed,
            graph=self.graph,
            entities=self.entities,
            named=named,
            texts=self.texts,
            questions=questions,
            threads=self.setting.threads,
            progress=progress,
        )

    def note_large_budget(self) -> None:
        """Tell the reporter if the budget is larger than the corpus. Call it after an answer, which checks all else."""
        eligible, kind = len(self.workspace.nodes), ""
        if self.allowed is not None:
            eligible, kind = int(np.count_nonzero(self.allowed)), f" of type {' or '.join(self.types)}"
        budget = self.options.as_dict()["budget"]
        if budget > eligible:
            there = "there is: it is" if eligible == 1 else "there are: all of them are"
            self.setting.reporter.note(
                f"the budget of {budget} is larger than the {counted(eligible, 'node')}{kind} {there} returned"
            )


def prepare_retrieval(
    workspace: Workspace,
    strategy: str,
    setting: RetrievalSetting,
    options: Options | Mapping[str, Any],
    *,
    all_questions: bool = False,
) -> Prepared:
    """Check the options, and choose and open the collections. Edges are read only if the strategy needs the graph.

    Args:
        options: the strategy's options. A mapping is checked here.
        all_questions: whether the workspace's questions are answered. Their vectors must then be up to date too.

    Raises:
        GmeError: an unknown strategy, option, collection, index kind or node type; a value out of range; bad vectors.
        StaleError: a collection's inputs have changed.
    """
    checked = options if isinstance(options, Options) else strategy_options(strategy, options)
    if setting.edge_types and not find_strategy(strategy).needs_graph:
        walking = ", ".join(name for name, entry in STRATEGIES.items() if entry.needs_graph)
        setting.reporter.warn(f"{strategy} walks no graph: --edge-types has no effect", f"it belongs to {walking}")
    types = returned_types(workspace, strategy, setting)
    allowed = _allowed(workspace, types)
    collection = _collection(workspace, strategy, checked, setting)
    needed = [EDGES] if find_strategy(strategy).needs_graph else []
    needed += [ORIGINAL, QUESTION_VECTORS] if all_questions else [ORIGINAL]
    refuse_stale(workspace, [*needed, *workspace.files_of([collection or "original"])])
    settings = OpenSettings(setting.threads, setting.build_threads, setting.reporter, setting.precision)
    original = open_store(workspace, "original", setting.index, settings)
    _warn_of_unused_index_options(setting, original.kind)
    modified = original if collection == "original" else None
    if collection is not None and modified is None:
        modified = open_store(workspace, collection, setting.index, settings)
    graph = entities = None
    if find_strategy(strategy).needs_graph:
        graph = workspace_graph(workspace.nodes, workspace.edges, list(setting.edge_types) or None)
        entities = np.array([kind == ENTITY for kind in workspace.nodes.types], dtype=bool)
    texts = None
    if searches_words(strategy, checked, any(map(str.strip, workspace.nodes.texts))):
        texts = open_lexical(workspace, threads=setting.threads, reporter=setting.reporter)
    return Prepared(
        workspace, strategy, checked, collection, original, modified, allowed, setting, graph, entities, types, texts
    )


def _warn_of_unused_index_options(setting: RetrievalSetting, kind: str) -> None:
    """Warn about options of an index if the store builds none. It may be chosen, or the corpus may be small."""
    if STORES[kind].builds:
        return
    hint, warn = "it belongs to --hnsw", setting.reporter.warn
    if setting.precision != "f32":
        warn(f"{kind} search compares float32: --precision {setting.precision} has no effect", hint)
    if setting.build_threads != 1:
        warn(f"{kind} search builds no index: --build-threads {setting.build_threads} has no effect", hint)


def returned_types(workspace: Workspace, strategy: str, setting: RetrievalSetting) -> Sequence[str]:
    """The node types to return: the requested ones, else the strategy's own type if the corpus has it. Empty means all.

    `envelope` returns chunks. Documents and entities are names: they guide to evidence, but a reader can't cite them.
    The other strategies return all types, as in GME, where names take places in the budget. A note tells which.
    """
    own, kinds = find_strategy(strategy).returns, set(workspace.nodes.types)
    if setting.types or CHUNK not in kinds or len(kinds) == 1:
        return setting.types
    listed = ",".join(sorted(kinds))
    if not own:
        setting.reporter.note(f"{strategy} returns nodes of all types, {listed}; for {CHUNK} only: --types {CHUNK}")
        return ()
    setting.reporter.note(f"{strategy} returns nodes of type {own}, all types guide; for all: --types {listed}")
    return (own,)


def _collection(workspace: Workspace, strategy: str, options: Options, setting: RetrievalSetting) -> str | None:
    if not needs_modified(strategy, options):
        if setting.collection:
            reason, hint = _without_collection(strategy, options)
            setting.reporter.warn(f"{reason}: --collection {setting.collection} has no effect", hint)
        return None
    return setting.collection or choose_collection(workspace, strategy, setting.reporter)


def _without_collection(strategy: str, options: Options) -> tuple[str, str]:
    """Why a strategy with these options uses no modified collection, and a hint at what does."""
    if not isinstance(options, StagedOptions):
        guided = ", ".join(name for name, entry in STRATEGIES.items() if entry.needs_modified)
        return f"{strategy} searches original vectors only", f"it belongs to {guided}"
    if options.schedule is not None:
        return (
            f"no stage of {options.schedule} searches modified vectors",
            f"of the stages, {' and '.join(NEEDS_MODIFIED)} do",
        )
    left = options.stages(cast(Schedule, find_strategy(strategy).schedule))
    return (
        f"at a budget of {options.budget}, {strategy} has no stage left that searches modified vectors ({left})",
        "give a larger --budget, or a --schedule",
    )


def choose_collection(workspace: Workspace, strategy: str, reporter: Reporter = SILENT) -> str:
    """The modified collection if none is named: the one that the strategy prefers, or the only one.

    Raises:
        GmeError: there is none, or there are several.
    """
    modified = [name for name in workspace.collections() if name != "original"]
    if prefers := find_strategy(strategy).prefers:
        preferred = [name for name in modified if name == prefers] or [
            name for name in modified if name.startswith(prefers)
        ]
        if len(preferred) == 1:
            return preferred[0]
    if not modified:
        raise GmeError(
            f"{workspace.path('embeddings')} has no modified collection, and {strategy} needs one",
            f"make one with, for example: gme transform {prefers or 'walk'}",
        )
    if len(modified) > 1:
        raise GmeError(
            f"{strategy} needs a collection, and {workspace.path('embeddings')} has {len(modified)} modified ones",
            f"choose with --collection: {', '.join(modified)}",
        )
    reporter.note(f"collection: {modified[0]}, the only modified one")
    return modified[0]


def _allowed(workspace: Workspace, types: Sequence[str]) -> npt.NDArray[np.bool_] | None:
    if not types:
        return None
    known = set(workspace.nodes.types)
    for name in types:
        if name not in known:
            raise unknown("node type", name, known, where=f" in {workspace.path(NODES)}")
    if known <= set(types):
        return None
    return np.array([kind in types for kind in workspace.nodes.types])
