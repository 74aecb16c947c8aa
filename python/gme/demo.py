"""The paper's experiment from end to end on the synthetic benchmark: what ``gme demo`` runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .benchmark import write_benchmark
from .embedders import EmbedOptions, embed_workspace
from .evaluation import evaluate_workspace
from .retrieval import RetrievalSetting, retrieve_workspace
from .transforms import transform_workspace
from .types import Progress
from .workspace import Workspace

SPLITS = ("development", "validation")
COLLECTIONS = ("hop1", "hop2", "convex", "walk", "louvain", "signature")
PAPER_STRATEGIES = ("modified", "split", "rerank", "fused", "requery", "chained")

_Begin = Callable[[str, str], Any]


@dataclass(frozen=True)
class Configuration:
    """A strategy on a collection, with options other than its defaults."""

    strategy: str
    collection: str
    options: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def run(self) -> str:
        """The name of its run."""
        return self.note or (self.strategy if self.strategy == "plain" else f"{self.strategy}-{self.collection}")


@dataclass(frozen=True)
class DemoResult:
    """Evaluations by split, as `evaluate` returns them, and how long everything took."""

    configurations: list[Configuration]
    evaluations: dict[str, dict[str, Any]]
    selected: str
    seconds: dict[str, float]

    def scores(self, split: str, run: str) -> dict[str, Any]:
        """One run's scores by population."""
        for entry in self.evaluations[split]["runs"]:
            if entry["name"] == run:
                scores: dict[str, Any] = entry["populations"]
                return scores
        raise KeyError(run)


def configurations() -> list[Configuration]:
    """Plain retrieval, the paper's strategies on the paper's collections, its two controls, and ours."""
    paper = [Configuration(s, c) for s in PAPER_STRATEGIES for c in COLLECTIONS if c != "signature"]
    controls = [
        Configuration("fused", "walk", {"mix": 0.0}, note="fused-mix0"),
        Configuration("fused", "original", note="fused-original"),
    ]
    return [Configuration("plain", "original"), *paper, *controls, Configuration("envelope", "signature")]


def run_demo(
    folder: Path,
    *,
    people: int | None = None,
    questions: int = 90,
    model: str = "local",
    seed: int = 42,
    threads: int = 0,
    begin: _Begin | None = None,
) -> DemoResult:
    """Generate, embed, transform, retrieve and evaluate on the development and on the validation split.

    The best of the paper's configurations is selected on development; the caller reports it on validation.

    Args:
        folder: gets one workspace a split.
        people: persons per split; None: the paper's size.
        questions: per family.
        model: of ``gme embed``.
        seed: of the benchmark.
        threads: 0 means all cores.
        begin: called with (split, step) when a step begins; returns a context manager that yields a progress function.
    """
    begin = begin or _silent
    listed = configurations()
    evaluations: dict[str, dict[str, Any]] = {}
    seconds: dict[str, float] = {}
    for split in SPLITS:
        workspace = Workspace(folder / split)

        def timed(step: str, work: Callable[[Progress | None], Any], split: str = split) -> Any:
            started = time.perf_counter()
            with begin(split, step) as progress:
                result = work(progress)
            seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - started
            return result

        timed("generate", lambda p: write_benchmark(workspace, split=split, seed=seed, people=people, questions=questions))
        options = EmbedOptions(model=model)
        cache = workspace.path("cache")
        timed("embed", lambda p: embed_workspace(workspace, options, cache=cache, threads=threads, progress=p))
        timed("transform", lambda p: _transform(workspace, threads, p))
        timed("retrieve", lambda p: _retrieve(workspace, listed, threads, p))
        names = [configuration.run for configuration in listed]
        evaluations[split] = timed("evaluate", lambda p: evaluate_workspace(workspace, names, baseline="plain"))
    development = {run["name"]: run["populations"] for run in evaluations["development"]["runs"]}
    papers = [c.run for c in listed if c.strategy in PAPER_STRATEGIES and not c.note]
    hard = "hard" if "hard" in development["plain"] else "all"
    selected = max(papers, key=lambda run: development[run][hard]["recovery"])
    return DemoResult(listed, evaluations, selected, seconds)


def _transform(workspace: Workspace, threads: int, progress: Progress | None) -> None:
    for number, method in enumerate(COLLECTIONS):
        transform_workspace(workspace, method, threads=threads)
        if progress is not None:
            progress(number + 1, len(COLLECTIONS))


def _retrieve(workspace: Workspace, listed: list[Configuration], threads: int, progress: Progress | None) -> None:
    for number, configuration in enumerate(listed):
        plain = configuration.strategy == "plain"
        setting = RetrievalSetting(collection="" if plain else configuration.collection, threads=threads)
        retrieve_workspace(workspace, configuration.strategy, setting, name=configuration.run, **configuration.options)
        if progress is not None:
            progress(number + 1, len(listed))


def _silent(split: str, step: str) -> Any:
    from contextlib import nullcontext

    return nullcontext(None)
