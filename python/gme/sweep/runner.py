"""One workspace of a sweep: makes each collection once, and computes the scores of each configuration once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import GmeError, StaleError, shorten
from ..evaluation.gold import Gold, collect_gold, judge
from ..evaluation.ir_measures import measure, read_measures
from ..evaluation.runs import Run
from ..pipeline.index import AUTO, STORES
from ..pipeline.prepare import RetrievalSetting, prepare_retrieval
from ..pipeline.transform import describes, is_fresh, transform_command, transform_workspace
from ..registry import made_by
from ..reporting import SILENT, Reporter
from ..retrieval.result import Retrieved
from ..retrieval.strategies import STRATEGIES
from ..storage.arrays import check_finite
from ..storage.files import sha256
from ..stores.store import NO_ROW
from ..transforms.type_weights import TypeWeighted
from ..types import Vectors
from ..version import gme_version
from ..workspace import Workspace
from ..workspace.graphs import check_edge_types
from ..workspace.layout import EDGES, NODES, ORIGINAL, QUESTION_VECTORS, QUESTIONS
from ..workspace.manifests import read_manifest
from .configurations import CONTROL, CollectionPlan, Configuration, required
from .grid import Grid
from .ledger import Ledger, content_key
from .results import ConfigurationScores, PopulationCurves, Record


@dataclass(frozen=True)
class Bench:
    """A workspace, the grid, and the ledger of finished configurations.

    Attributes:
        measures: the names of ir-measures to compute, too.
        threads: 0 means all cores.
        reporter: is told of the collections that are made.
    """

    workspace: Workspace
    grid: Grid
    ledger: Ledger
    measures: Sequence[str] = ()
    threads: int = 0
    reporter: Reporter = SILENT

    @cached_property
    def gold(self) -> Gold:
        """The questions with evidence."""
        return collect_gold(self.workspace.questions, self.workspace.nodes)

    @cached_property
    def _queries(self) -> Vectors:
        queries = self.workspace.question_vectors()
        check_finite(queries, str(self.workspace.path(QUESTION_VECTORS)), self.workspace.questions.ids)
        return queries

    @property
    def name(self) -> str:
        """The folder of the workspace, as the user gave it."""
        return str(self.workspace.folder)

    # ---- collections --------------------------------------------------------------------------------------------

    def check_edge_types(self) -> None:
        """Refuse types that no edge of the workspace has, before the first collection is made."""
        named = set(self.grid.edge_types)
        for collection in self.grid.collections.values():
            weighed = collection.options.named_types if isinstance(collection.options, TypeWeighted) else ()
            named.update(collection.edge_types, weighed)
        if named:
            try:
                check_edge_types(self.workspace.edges, sorted(named))
            except GmeError as error:
                raise GmeError(f"{self.workspace.path(EDGES)}: {error.message}", error.hint) from error

    def outdated(self, configurations: Iterable[Configuration]) -> list[CollectionPlan]:
        """The missing and stale collections that these configurations need. Sources come first."""
        names = dict.fromkeys(c.collection for c in configurations if c.collection not in (None, CONTROL))
        needed = required(filter(None, names), self.grid.collections)
        stale: list[str] = []
        for collection in needed:
            sources = required([collection.name], self.grid.collections)
            if any(source.name in stale for source in sources) or not self._fresh(collection):
                stale.append(collection.name)
        return [collection for collection in needed if collection.name in stale]

    def _fresh(self, collection: CollectionPlan) -> bool:
        """Whether the file with this name is this collection, made from the present inputs.

        Raises:
            GmeError: somebody else made the file, and the sweep would overwrite it.
        """
        wanted = (collection.method, collection.options, collection.edge_types)
        path = self.workspace.path(f"embeddings/{collection.name}.npy")
        if path.is_file():
            manifest = read_manifest(path.with_suffix(".json"))
            own = manifest.get("method") != collection.method or " --name " in str(manifest.get("command"))
            if own and not describes(manifest, *wanted):
                raise GmeError(
                    f"{path} was not made by {transform_command(collection.method, collection.options)}",
                    "the sweep would overwrite it: rename or remove it",
                )
        return is_fresh(self.workspace, collection.name, *wanted)

    def make(self, collection: CollectionPlan, step: str) -> None:
        """Make one collection under its default name. `step` describes this step in words."""
        self.reporter.note(step)
        _, manifest = transform_workspace(
            self.workspace,
            collection.method,
            collection.options,
            name=collection.name,
            edge_types=list(collection.edge_types) or None,
            threads=self.threads,
            reporter=self.reporter.labeled(step),
        )
        if manifest["facts"].get("converged") is False:
            self.reporter.warn(
                f"{collection.name} stopped before it converged", "raise the cap on sweeps or iterations"
            )

    # ---- scores -------------------------------------------------------------------------------------------------

    def finished(self, configuration: Configuration) -> ConfigurationScores | None:
        """The scores of a configuration if they are in the ledger. Its collection must be up to date."""
        record = self.ledger.get(self._key(configuration))
        return None if record is None else record["scores"]

    def scores(self, configuration: Configuration) -> ConfigurationScores:
        """The scores of a configuration from the ledger. If they are not there, they are computed and added.

        Returns:
            JSON-ready: ``search_calls``, ``budget``, ``depth`` (of the results; None if they hold all nodes), ``kinds``
            of populations, ``populations`` (name -> ``curve`` of recovery and ``all_supporting``, both after 1, 2, …
            nodes) and ``measures``.
        """
        key = self._key(configuration)
        record = self.ledger.get(key)
        if record is not None:
            return record["scores"]
        started = time.perf_counter()
        retrieved = self._retrieve(configuration)
        scores = self.score(self._as_run(configuration, retrieved), retrieved.search_calls, configuration.budget)
        finished: Record = {
            "name": configuration.name,
            "workspace": self.name,
            "milliseconds_per_question": round(1000 * retrieved.seconds / len(self._queries), 4),
            "seconds": round(time.perf_counter() - started, 3),
            "scores": scores,
        }
        self.ledger.add(key, finished)
        return scores

    def setting(self, configuration: Configuration, **more: Any) -> RetrievalSetting:
        """The setting with which a configuration is run on this workspace."""
        return RetrievalSetting(
            collection=configuration.collection or "",
            index=self.grid.index,
            types=self.grid.types,
            edge_types=self.grid.edge_types if STRATEGIES[configuration.strategy].needs_graph else (),
            threads=self.threads,
            **more,
        )

    def _retrieve(self, configuration: Configuration) -> Retrieved:
        try:
            ready = prepare_retrieval(
                self.workspace, configuration.strategy, self.setting(configuration), configuration.options
            )
            questions = self.workspace.questions.texts
            return ready.answer(self._queries, ready.match_titles(self._queries, questions), questions=questions)
        except StaleError:
            raise
        except GmeError as error:
            raise GmeError(f"{configuration.name}: {error.message}", error.hint) from error

    def _as_run(self, configuration: Configuration, retrieved: Retrieved) -> Run:
        results = {
            question: [row for row in rows if row != NO_ROW]
            for question, rows in zip(self.workspace.questions.ids, retrieved.rows.tolist(), strict=True)
        }
        return Run(configuration.name, results, {"options": configuration.options.as_dict()})

    def score(self, run: Run, search_calls: int, budget: int) -> ConfigurationScores:
        """Compare a run with the gold at every depth. The scores are the same as those of `gme.evaluate`."""
        judged = judge(run, self.gold)
        populations: dict[str, PopulationCurves] = {
            name: {
                "curve": judged.found[lines].mean(axis=0).tolist(),
                "all_supporting": (judged.found[lines] >= 1).mean(axis=0, dtype=float).tolist(),
            }
            for name, lines in self.gold.populations.items()
        }
        return {
            "search_calls": search_calls,
            "budget": budget,
            "depth": None if judged.depth == float("inf") else int(judged.depth),
            "kinds": self.gold.kinds,
            "populations": populations,
            "measures": measure(run, self.gold, read_measures(self.measures)),
        }

    def _key(self, configuration: Configuration) -> str:
        """A hash of everything the scores depend on: the configuration and the content of its inputs."""
        inputs = [NODES, QUESTIONS, ORIGINAL, QUESTION_VECTORS]
        graph = STRATEGIES[configuration.strategy].needs_graph
        if graph:
            inputs.append(EDGES)
        if configuration.collection not in (None, CONTROL):
            inputs.append(f"embeddings/{configuration.collection}.npy")
        return content_key(
            {
                "strategy": configuration.strategy,
                "collection": CONTROL if configuration.collection == CONTROL else None,  # others by content, below
                "options": configuration.options.as_dict(),
                "index": self.grid.index,
                "types": sorted(self.grid.types),
                "edge_types": sorted(self.grid.edge_types) if graph else [],
                "measures": sorted(self.measures),
                "gme": gme_version(),
                **made_by(strategy=STRATEGIES.source(configuration.strategy), index=self._index_source()),
                "inputs": [sha256(self.workspace.require(name)) for name in inputs],
            }
        )

    def _index_source(self) -> dict[str, str]:
        return {} if self.grid.index == AUTO else STORES.source(self.grid.index)


def check_distinct(selection: Workspace, others: Sequence[Workspace]) -> None:
    """Refuse to confirm on the workspace of the selection, or on another one with the same questions.

    Raises:
        GmeError: a folder or a questions.jsonl that occurs twice.
    """
    seen = [selection]
    for other in others:
        for earlier in seen:
            same = other.folder.resolve() == earlier.folder.resolve()
            if same or sha256(other.require(QUESTIONS)) == sha256(earlier.require(QUESTIONS)):
                what = "is" if same else "holds the questions of"
                where = "the workspace of the selection" if earlier is selection else "another --confirm"
                raise GmeError(
                    f"--confirm {shorten(str(other.folder))} {what} {where}",
                    "a selection is confirmed on questions that it has not seen, for example another split",
                )
        seen.append(other)
