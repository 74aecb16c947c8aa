"""The data of a report: the evaluation, the runs shown in full, their stages, and the questions shown in detail."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, TypedDict

import numpy as np

from ..evaluation.gold import Floats, Gold, collect_gold, judge
from ..evaluation.results import EvaluatedRun, Evaluation, Population
from ..pipeline.runs import read_run
from ..storage.files import read_jsonl
from ..workspace import Workspace
from ..workspace.manifests import Manifest, read_manifest
from .plugins import taking_part
from .text import clean, shortened

FEATURED = 8
"""The most runs with curves, intervals and results on the page. More colors could not be told apart."""
EXCERPT, SHORT_EXCERPT = 280, 100
"""The characters of a node's text on the page: first for gold and early results, then for all others."""
EARLY = 10
"""How many of a run's first results have the longer excerpt. Texts make up most of the size of a page."""

_MOST_MARKS = 6
"""The most marks. A run whose stages change more often alternates between them, and marks would not help."""

_EXACT = 2**53
"""Every float from here on is a whole number."""


class DrillDown(TypedDict):
    """The data of the page's drill-down. See `drill_down`."""

    nodes: list[list[str]]
    stages: list[str]
    runs: list[RunColumn]
    baseline: int | None
    questions: list[QuestionEntry]


class RunColumn(TypedDict):
    """A run on the page. A layout is a list of (stage, number of consecutive results)."""

    name: str
    color: str
    decimals: int
    layouts: list[tuple[tuple[int, int], ...]]


class QuestionEntry(TypedDict):
    """A question on the page. `runs` holds nodes, scores and the number of the layout for each run."""

    id: str
    question: str
    family: str
    group: str
    hops: int
    gold: list[int]
    runs: list[list[Any]]


@dataclass(frozen=True)
class Results:
    """The results of one run for all questions, in the order of the gold.

    Attributes:
        rows: the returned node rows of each question.
        scores: the scores of these nodes. None if the file gives no number.
        stages: the stages of these nodes. "" if the file gives none.
        found: float64 (questions, places), as in `gme.evaluation.gold.JudgedRun`.
    """

    rows: list[list[int]]
    scores: list[list[float | None]]
    stages: list[list[str]]
    found: Floats

    @property
    def recovery(self) -> Floats:
        """The share of the gold of each question that was found: float64 (questions,)."""
        return self.found[:, -1]

    @cached_property
    def stage_ends(self) -> list[tuple[int, str]]:
        """Where stages end for most questions, and their names. Empty for a single stage or for alternating ones."""
        longest = max(map(len, self.stages))
        usual = []
        for place in range(longest):
            counts = Counter(stages[place] for stages in self.stages if len(stages) > place)
            usual.append(min(counts, key=lambda stage: (-counts[stage], stage)))
        ends = [place for place in range(1, longest) if usual[place] != usual[place - 1]]
        if not ends or len(ends) > _MOST_MARKS:
            return []
        return [(end, usual[end - 1]) for end in [*ends, longest]]


@dataclass(frozen=True)
class ReportData:
    """Everything that the figures and the page show.

    Attributes:
        evaluation: as `gme.evaluate` returns it.
        manifests: the manifests of all runs by name. Empty for runs without one.
        featured: the names of the runs shown in full. The baseline comes first, then the best by recovery of `main`.
            Ties go by fewer searches, then by name.
        results: the results of the featured runs, by name.
        main: the population of the headline: ``hard`` if there is one, else ``all``.
        with_hops: whether questions say how many hops they need.
        plugins: the other packages that took part, each with what it contributed.
    """

    evaluation: Evaluation
    manifests: dict[str, Manifest]
    gold: Gold
    featured: list[str]
    results: dict[str, Results]
    main: str
    with_hops: bool
    plugins: dict[str, list[str]]

    @property
    def baseline(self) -> str | None:
        """The name of the run that the others are compared with."""
        return self.evaluation["baseline"]

    @property
    def runs(self) -> list[EvaluatedRun]:
        """The evaluation's entries for all runs."""
        return self.evaluation["runs"]

    def run(self, name: str) -> EvaluatedRun:
        """The evaluation's entry for one run."""
        return next(entry for entry in self.runs if entry["name"] == name)

    def runs_tied_with(self, name: str) -> list[str]:
        """The other runs with the same recovery of `main`, best first."""
        ranks = sorted(_rank(entry, self.main) for entry in self.runs)
        own = _rank(self.run(name), self.main)
        return [other for recovery, _, other in ranks if recovery == own[0] and other != name]

    def populations(self, *kinds: str) -> list[Population]:
        """The populations of these kinds: name, kind and number of questions."""
        return [entry for entry in self.evaluation["populations"] if entry["kind"] in kinds]

    def color(self, name: str) -> str:
        """The color of a featured run: ``base`` for the baseline, else ``s0``, ``s1`` and so on."""
        if name == self.baseline:
            return "base"
        return f"s{self.featured.index(name) - (self.baseline is not None)}"

    def latency(self, name: str) -> float | None:
        """The median milliseconds of a single question. None if `gme retrieve --latency` has not measured them."""
        measured = self.manifests[name].get("latency_milliseconds")
        return _number(measured.get("p50")) if isinstance(measured, dict) else None


def _rank(entry: EvaluatedRun, main: str) -> tuple[float, float, str]:
    """The sort key of `gme sweep`, best first: most recovery, then fewer searches, then the smaller name."""
    calls = entry["search_calls"]
    return -round(entry["populations"][main]["recovery"], 9), float("inf") if calls is None else calls, entry["name"]


def collect_report_data(workspace: Workspace, evaluation: Evaluation) -> ReportData:
    """Read what the report needs besides the evaluation."""
    gold = collect_gold(workspace.questions, workspace.nodes)
    main = "hard" if any(entry["kind"] == "hard" for entry in evaluation["populations"]) else "all"
    names = [entry["name"] for entry in evaluation["runs"]]
    ranked = [entry["name"] for entry in sorted(evaluation["runs"], key=lambda entry: _rank(entry, main))]
    featured = sorted(ranked, key=lambda name: name != evaluation["baseline"])[:FEATURED]
    manifests = {}
    for name in names:
        path = workspace.path(f"runs/{name}.json")
        manifests[name] = read_manifest(path)
    results = {name: _results(workspace, name, gold) for name in featured}
    plugins = taking_part(workspace, manifests.values())
    return ReportData(evaluation, manifests, gold, featured, results, main, any(workspace.questions.hops), plugins)


def _results(workspace: Workspace, name: str, gold: Gold) -> Results:
    run = read_run(workspace, name)
    scores: dict[str, list[float | None]] = {}
    stages: dict[str, list[str]] = {}
    for _, record in read_jsonl(workspace.path(f"runs/{name}.jsonl")):
        scores[record["question_id"]] = [_number(result.get("score")) for result in record["results"]]
        stages[record["question_id"]] = [_stage(result.get("stage")) for result in record["results"]]
    return Results(
        [run.results[question] for question in gold.ids],
        [scores[question] for question in gold.ids],
        [stages[question] for question in gold.ids],
        judge(run, gold).found,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _stage(value: object) -> str:
    return value if isinstance(value, str) else ""


def largest_changes(data: ReportData, most: int) -> list[int]:
    """The questions, as lines of the gold, on which the featured runs differ most. By falling difference, then by id.

    The difference is the largest difference from the baseline. Without one it is that between the best and the worst
    run.
    """
    recovery = np.stack([data.results[name].recovery for name in data.featured])
    first = recovery[0] if data.baseline is not None else recovery.min(axis=0)
    changes = np.abs(recovery - first).max(axis=0).round(9)
    order: list[int] = np.argsort(-changes, kind="stable")[:most].tolist()
    return order


def drill_down(data: ReportData, workspace: Workspace, most: int) -> DrillDown:
    """The data of the page's drill-down, JSON-ready and compact: each text once, scores as whole numbers.

    Returns:
        ``nodes``: id, type, title, excerpt.
        ``stages``: their names.
        ``runs``: name, color, ``decimals`` of the scores and ``layouts``, each a list of (stage, number of consecutive
        results).
        ``questions``: id, question, family, group, gold (numbers of nodes) and, for each run, the nodes, their scores
        (times ten to the power of ``decimals``) and the number of the layout.
        ``baseline``: the number of a run, or None.
    """
    lines = largest_changes(data, most)
    nodes, questions = workspace.nodes, workspace.questions
    stages = sorted({stage for results in data.results.values() for line in lines for stage in results.stages[line]})
    columns = [_Column(data.results[name], lines, stages) for name in data.featured]
    shown: dict[int, int] = {}
    prominent: set[int] = set()
    entries: list[QuestionEntry] = []
    numbers = {question: number for number, question in enumerate(questions.ids)}
    for line in lines:
        number = numbers[data.gold.ids[line]]
        gold = sorted(data.gold.rows[line], key=nodes.ids.__getitem__)
        prominent.update(gold, *(results.rows[line][:EARLY] for results in data.results.values()))
        entries.append(
            {
                "id": clean(questions.ids[number]),
                "question": clean(questions.texts[number]),
                "family": clean(questions.families[number]),
                "group": clean(questions.groups[number]),
                "hops": questions.hops[number],
                "gold": [shown.setdefault(row, len(shown)) for row in gold],
                "runs": [column.entry(line, shown) for column in columns],
            }
        )
    return {
        "nodes": [
            [
                clean(nodes.ids[row]),
                clean(nodes.types[row]),
                clean(nodes.titles[row] or ""),
                clean(shortened(nodes.texts[row], EXCERPT if row in prominent else SHORT_EXCERPT)),
            ]
            for row in shown
        ],
        "stages": [clean(stage) for stage in stages],
        "runs": [
            {
                "name": clean(name),
                "color": data.color(name),
                "decimals": column.decimals,
                "layouts": list(column.layouts),
            }
            for name, column in zip(data.featured, columns, strict=True)
        ],
        "baseline": None if data.baseline is None else 0,
        "questions": entries,
    }


class _Column:
    """The results of one run in the drill-down."""

    def __init__(self, results: Results, lines: Sequence[int], stages: Sequence[str]) -> None:
        self._results = results
        self._stages = {stage: number for number, stage in enumerate(stages)}
        self.layouts: dict[tuple[tuple[int, int], ...], int] = {}
        largest = max((abs(score) for line in lines for score in results.scores[line] if score), default=1.0)
        # A reader compares about four digits of the largest score.
        self.decimals = min(15, max(0, 3 - math.floor(math.log10(largest))))

    def entry(self, line: int, shown: dict[int, int]) -> list[Any]:
        """Nodes, scores and layout of one question. Nodes are numbered in the order in which they first occur."""
        return [
            [shown.setdefault(row, len(shown)) for row in self._results.rows[line]],
            [None if score is None else self._whole(score) for score in self._results.scores[line]],
            self.layouts.setdefault(self._layout(self._results.stages[line]), len(self.layouts)),
        ]

    def _whole(self, score: float) -> float:
        """The score as a whole number. The largest floats are whole already, and too large for the integers of JSON."""
        scaled: float = score * 10**self.decimals
        return round(scaled) if abs(scaled) < _EXACT else scaled

    def _layout(self, stages: Sequence[str]) -> tuple[tuple[int, int], ...]:
        return tuple((self._stages[stage], len(list(group))) for stage, group in groupby(stages))
