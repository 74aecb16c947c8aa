"""The paper's experiment from end to end on the synthetic benchmark: what ``gme demo`` runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..benchmark import check, write_benchmark
from ..embedders.options import EmbedOptions
from ..embedders.registry import check_model
from ..evaluation.measures import scores_by_run
from ..evaluation.results import Evaluation, Scores
from ..pipeline.embed import embed_workspace
from ..pipeline.evaluate import evaluate_workspace
from ..pipeline.prepare import RetrievalSetting
from ..pipeline.retrieve import retrieve_workspace
from ..pipeline.transform import transform_workspace
from ..reporting import SILENT, Reporter
from ..types import Progress
from ..workspace import Workspace
from .grids import MAIN, PaperCollection, build_collections, select_collections

SPLITS = ("development", "validation")
PAPER_STRATEGIES = ("modified", "split", "rerank", "fused", "requery", "chained")


@dataclass(frozen=True)
class Configuration:
    """A strategy on a collection. If its options differ from the defaults, it has a name of its own."""

    strategy: str
    collection: str
    options: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.name or (self.strategy if self.strategy == "plain" else f"{self.strategy}-{self.collection}")


@dataclass(frozen=True)
class DemoResult:
    """The evaluations by split, as `evaluate` returns them, and how long each step took."""

    configurations: list[Configuration]
    evaluations: dict[str, Evaluation]
    selected: str
    seconds: dict[str, float]

    def scores(self, split: str, run: str) -> dict[str, Scores]:
        """The scores of one run by population."""
        return scores_by_run(self.evaluations[split])[run]


def configurations() -> list[Configuration]:
    """Plain retrieval, the paper's strategies on the paper's collections, its two controls, and ours."""
    paper = [Configuration(s, c) for s in PAPER_STRATEGIES for c in MAIN]
    controls = [
        Configuration("fused", "walk", {"mix": 0.0}, name="fused-mix0"),
        Configuration("fused", "original", name="fused-original"),
    ]
    return [Configuration("plain", "original"), *paper, *controls, Configuration("envelope", "signature")]


def run_demo(
    folder: Path,
    *,
    people: int | None = None,
    questions: int = 90,
    model: str = "local",
    seed: int = 42,
    collections: str = "main",
    threads: int = 0,
    reporter: Reporter = SILENT,
    splits: Sequence[str] = SPLITS,
) -> DemoResult:
    """Generate, embed, transform, retrieve and evaluate on each split: the development and the validation split.

    The best of the paper's configurations is selected on the development split. The caller reports it on validation.

    Args:
        folder: the folder that gets one workspace per split.
        people: the number of persons per split. None takes the paper's number.
        questions: the number of questions per family.
        model: the model, as for ``gme embed``.
        seed: the random seed of the benchmark.
        collections: the collections to make besides the main ones, as for ``gme transform --collections``.
        threads: 0 means all cores.
        reporter: is told when each step begins, and of progress.
        splits: the splits to run. Development must be among them.

    Example:
        >>> import gme
        >>> from pathlib import Path
        >>> result = gme.run_demo(Path("demo"), people=4, questions=1, collections="walk", threads=1)
        >>> result.selected
        'modified-hop2'
    """
    for split in splits:
        check(split, seed, people, questions)
    check_model(model)
    embedding = EmbedOptions(model=model)
    listed = configurations()
    wanted = select_collections(f"main,{collections}")
    seconds: dict[str, float] = {}
    experiments = {split: _Experiment(Workspace(folder / split), split, threads, reporter, seconds) for split in splits}
    sizes: dict[str, Any] = {"people": people, "questions": questions, "seed": seed}
    with Workspace(folder).writing("demo"):
        evaluations = {
            split: experiment.run(listed, wanted, embedding, **sizes) for split, experiment in experiments.items()
        }
    development = scores_by_run(evaluations["development"])
    papers = [c.run for c in listed if c.strategy in PAPER_STRATEGIES and not c.name]
    hard = "hard" if "hard" in development["plain"] else "all"
    selected = max(papers, key=lambda run: development[run][hard]["recovery"])
    return DemoResult(listed, evaluations, selected, seconds)


@dataclass(frozen=True)
class _Experiment:
    """The workspace of one split, with the steps to run and time on it."""

    workspace: Workspace
    split: str
    threads: int
    reporter: Reporter
    seconds: dict[str, float]

    def run(
        self, listed: list[Configuration], wanted: list[PaperCollection], options: EmbedOptions, **benchmark: Any
    ) -> Evaluation:
        """Run all steps and return the evaluation."""
        cache = self.workspace.path("cache")
        with self._step("generate"):
            write_benchmark(self.workspace, split=self.split, **benchmark)
        with self._step("embed"):
            step = self.reporter.labeled(f"{self.split}: embed")
            embed_workspace(self.workspace, options, cache=cache, threads=self.threads, reporter=step)
        with self._step("transform") as progress:
            transform_workspace(self.workspace, "signature", threads=self.threads)
            for number, _ in enumerate(build_collections(self.workspace, wanted, threads=self.threads), start=1):
                progress(number, len(wanted))
        with self._step("retrieve") as progress:
            for number, configuration in enumerate(listed, start=1):
                self._retrieve(configuration)
                progress(number, len(listed))
        with self._step("evaluate"):
            return evaluate_workspace(self.workspace, [c.run for c in listed], baseline="plain")

    def _retrieve(self, configuration: Configuration) -> None:
        collection = "" if configuration.strategy == "plain" else configuration.collection
        setting = RetrievalSetting(collection=collection, threads=self.threads)
        name, options = configuration.run, configuration.options
        retrieve_workspace(self.workspace, configuration.strategy, setting, name=name, **options)

    @contextmanager
    def _step(self, step: str) -> Iterator[Progress]:
        started = time.perf_counter()
        self.reporter.note(f"{self.split}: {step}")
        with self.reporter.progress(f"{self.split}: {step}") as progress:
            yield progress
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - started
