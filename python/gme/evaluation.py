"""Measures over runs: evidence recovery by group and family, all-supporting@k, curves, and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import GmeError, unknown
from .files import write_json
from .records import Nodes, Questions
from .runs import Run, read_run, run_names
from .significance import EvaluationOptions, bootstrap, mcnemar
from .workspace import Workspace

GROUPS = ("single-fact", "extremisation", "relational")
HARD = ("extremisation", "relational")
NOT_EVIDENCE = frozenset({"document", "entity"})
"""Node types that consume budget and never count as gold."""

DEFAULT_BASELINE = "plain"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """A run against the gold, a line a question with gold, in sorted order of question ids.

    Attributes:
        found: float64 (questions, places): share of the question's gold among the first 1, 2, … returned nodes.
        budget: places, the longest result list of the run.
    """

    name: str
    found: Floats

    @property
    def budget(self) -> int:
        """How many nodes the run returns at most."""
        return int(self.found.shape[1])

    def recall(self, k: int) -> Floats:
        """Per question, the share of gold among the first k; k beyond the list means all of it."""
        return self.found[:, min(k, self.budget) - 1]

    def all_supporting(self, k: int) -> Floats:
        """Per question, 1 if the first k hold every gold node, else 0."""
        return (self.recall(k) >= 1).astype(np.float64)


@dataclass(frozen=True)
class Gold:
    """The questions that have evidence, sorted by id, and which populations each belongs to.

    Attributes:
        rows: the gold rows of each question.
        populations: name -> the lines of its questions: ``all``, ``hard`` (extremisation and relational), groups,
            families.
        kinds: name -> "all", "hard", "group" or "family".
        without: how many questions have no evidence and are left out.
    """

    ids: list[str]
    rows: list[set[int]]
    populations: dict[str, npt.NDArray[np.intp]]
    kinds: dict[str, str]
    without: int


def collect_gold(questions: Questions, nodes: Nodes) -> Gold:
    """Sort questions by id, keep those with evidence, and group them.

    Raises:
        GmeError: no question has any.
    """
    order = sorted(range(len(questions)), key=questions.ids.__getitem__)
    rows_of = [
        {row for row in map(nodes.rows.__getitem__, gold) if nodes.types[row] not in NOT_EVIDENCE}
        for gold in questions.gold
    ]
    kept = [number for number in order if rows_of[number]]
    if not kept:
        raise GmeError(
            "no question has gold evidence",
            "give questions.jsonl a 'gold' list of node ids (not documents or entities)",
        )
    groups = [questions.groups[number] for number in kept]
    families = [questions.families[number] for number in kept]
    populations: dict[str, npt.NDArray[np.intp]] = {"all": np.arange(len(kept))}
    kinds = {"all": "all"}
    hard = np.flatnonzero([group in HARD for group in groups])
    if len(hard):
        populations["hard"], kinds["hard"] = hard, "hard"
    for kind, labels, names in (
        ("group", groups, _group_order(groups)),
        ("family", families, _family_order(families, groups)),
    ):
        for name in names:
            key = name if name not in populations else f"{kind} {name}"
            populations[key], kinds[key] = np.flatnonzero([label == name for label in labels]), kind
    return Gold(
        [questions.ids[n] for n in kept], [rows_of[n] for n in kept], populations, kinds, len(order) - len(kept)
    )


def _group_order(groups: Sequence[str]) -> list[str]:
    present = set(groups) - {""}
    return [name for name in GROUPS if name in present] + sorted(present - set(GROUPS))


def _family_order(families: Sequence[str], groups: Sequence[str]) -> list[str]:
    """Families by group, then by name."""
    places = {name: place for place, name in enumerate(_group_order(groups))}
    group_of = {
        family: min(places.get(g, len(places)) for f, g in zip(families, groups, strict=True) if f == family)
        for family in set(families)
    }
    return sorted(set(families) - {""}, key=lambda family: (group_of[family], family))


def judge(run: Run, gold: Gold) -> Judged:
    """Compare a run with the gold."""
    budget = max([1, *(len(run.results[question]) for question in gold.ids)])
    hits = np.zeros((len(gold.ids), budget), dtype=np.int64)
    for line, (question, rows) in enumerate(zip(gold.ids, gold.rows, strict=True)):
        for place, row in enumerate(run.results[question]):
            hits[line, place] = row in rows
    sizes = np.array([len(rows) for rows in gold.rows])
    return Judged(run.name, np.cumsum(hits, axis=1) / sizes[:, None])


def evaluate(
    runs: Sequence[Run],
    questions: Questions,
    nodes: Nodes,
    *,
    baseline: str | None = None,
    ks: Sequence[int] = (5, 10, 20, 40),
    options: EvaluationOptions | None = None,
) -> dict[str, Any]:
    """Score runs, and compare each with the baseline among them.

    Args:
        baseline: the name of one of `runs`; None: no differences.
        ks: the depths of recall@k and all-supporting@k.

    Returns:
        JSON-ready: ``questions``, ``without_gold``, ``populations`` (name, kind, questions) and ``runs``: per run its
        name, budget, search calls and, per population, ``recovery`` (mean share of gold among all returned), ``recall``
        and ``all_supporting`` by k, ``curve`` (recovery after 1, 2, … nodes). Against the baseline: ``difference`` of
        recovery with its ``interval``, the same for all-supporting@k with McNemar's p, and ``nodes_to_match``, the
        fewest nodes that reach the baseline's recovery at its full budget, None if no number does.
    """
    options = options or EvaluationOptions()
    if any(k < 1 for k in ks) or not ks:
        raise GmeError(f"--k is {','.join(map(str, ks)) or 'empty'}, but each depth must be at least 1")
    gold = collect_gold(questions, nodes)
    judged = {run.name: judge(run, gold) for run in runs}
    reference = judged[baseline] if baseline is not None else None
    scored = {
        name: {p: _scores(run, lines, ks) for p, lines in gold.populations.items()} for name, run in judged.items()
    }
    if reference is not None:
        others = [run for run in judged.values() if run is not reference]
        for population, lines in gold.populations.items():
            _compare(others, reference, population, lines, ks, options, scored)
    return {
        "questions": len(gold.ids),
        "without_gold": gold.without,
        "baseline": baseline,
        "k": list(ks),
        "options": options.as_dict(),
        "populations": [
            {"name": p, "kind": gold.kinds[p], "questions": len(lines)} for p, lines in gold.populations.items()
        ],
        "runs": [
            {
                "name": run.name,
                "budget": judged[run.name].budget,
                "search_calls": run.manifest.get("search_calls"),
                "strategy": run.manifest.get("strategy"),
                "collection": run.manifest.get("collection"),
                "populations": scored[run.name],
            }
            for run in runs
        ],
    }


def _scores(run: Judged, lines: npt.NDArray[np.intp], ks: Sequence[int]) -> dict[str, Any]:
    curve = run.found[lines].mean(axis=0)
    return {
        "recovery": float(curve[-1]),
        "recall": {str(k): float(run.recall(k)[lines].mean()) for k in ks},
        "all_supporting": {str(k): float(run.all_supporting(k)[lines].mean()) for k in ks},
        "curve": curve.tolist(),
    }


def _compare(
    others: Sequence[Judged],
    reference: Judged,
    population: str,
    lines: npt.NDArray[np.intp],
    ks: Sequence[int],
    options: EvaluationOptions,
    scored: dict[str, dict[str, dict[str, Any]]],
) -> None:
    """Add differences, intervals, p values and nodes to match to what was scored for one population."""
    target = scored[reference.name][population]["recovery"]
    scored[reference.name][population]["nodes_to_match"] = _nodes_to_match(reference, lines, target)
    if not others:
        return
    differences = np.stack(
        [_measures(run, lines, ks) - _measures(reference, lines, ks) for run in others], axis=1
    )  # (questions, runs, measures)
    intervals = bootstrap(differences.reshape(len(lines), -1), options).reshape(len(others), -1, 2)
    means = differences.mean(axis=0)
    for number, run in enumerate(others):
        entry = scored[run.name][population]
        entry["nodes_to_match"] = _nodes_to_match(run, lines, target)
        entry["difference"] = float(means[number, 0])
        entry["interval"] = intervals[number, 0].tolist()
        entry["all_supporting_difference"] = {
            str(k): {
                "difference": float(means[number, place]),
                "interval": intervals[number, place].tolist(),
                "p": mcnemar(
                    int((differences[:, number, place] > 0).sum()), int((differences[:, number, place] < 0).sum())
                ),
            }
            for place, k in enumerate(ks, start=1)
        }


def _measures(run: Judged, lines: npt.NDArray[np.intp], ks: Sequence[int]) -> Floats:
    """Recovery at full budget, then all-supporting@k: float64 (questions, 1 + len(ks))."""
    return np.stack([run.found[lines, -1], *(run.all_supporting(k)[lines] for k in ks)], axis=1)


def _nodes_to_match(run: Judged, lines: npt.NDArray[np.intp], target: float) -> int | None:
    # Means of the same questions in another order of additions may differ in the last bits.
    reached = np.flatnonzero(run.found[lines].mean(axis=0) >= target - 1e-12)
    return int(reached[0]) + 1 if len(reached) else None


def evaluate_workspace(
    workspace: Workspace,
    names: Sequence[str] = (),
    *,
    baseline: str | None = None,
    ks: Sequence[int] = (5, 10, 20, 40),
    options: EvaluationOptions | None = None,
    report: str = "evaluation",
) -> dict[str, Any]:
    """Evaluate runs of a workspace and write `reports/REPORT.json`.

    Args:
        names: which runs; empty: all there are, sorted.
        baseline: the run to compare with, added if it is not among them; None: ``plain`` if there is one.

    Raises:
        GmeError: no run, an unknown run or baseline (the closest is suggested), or a bad one.
        StaleError: an outdated run.
    """
    known = run_names(workspace)
    if not known:
        raise GmeError(f"{workspace.path('runs')} holds no runs", "make one with: gme retrieve plain")
    if baseline is not None and baseline not in known:
        raise unknown("baseline run", baseline, known, where=f" in {workspace.path('runs')}")
    if baseline is None and DEFAULT_BASELINE in known:
        baseline = DEFAULT_BASELINE
    chosen = list(dict.fromkeys([*([baseline] if baseline else []), *(names or known)]))
    runs = [read_run(workspace, name) for name in chosen]
    result = evaluate(runs, workspace.questions, workspace.nodes, baseline=baseline, ks=ks, options=options)
    write_json(workspace.path(f"reports/{report}.json"), result)
    return result
