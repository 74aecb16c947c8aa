"""Measures over runs: evidence recovery by group and family, all-supporting@k, curves, and paired differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..errors import GmeError
from ..workspace.records import Nodes, Questions
from .comparability import types_of
from .gold import Floats, JudgedRun, collect_gold, judge
from .ir_measures import measure, read_measures
from .results import Evaluation, Scores
from .runs import Run
from .significance import EvaluationOptions, bootstrap, mcnemar
from .slots import slot_coverage


def evaluate(
    runs: Sequence[Run],
    questions: Questions,
    nodes: Nodes,
    *,
    baseline: str | None = None,
    ks: Sequence[int] = (5, 10, 20, 40),
    measures: Sequence[str] = (),
    options: EvaluationOptions | None = None,
) -> Evaluation:
    """Score runs, and compare each with the baseline among them.

    Args:
        baseline: the name of one of `runs`. None computes no differences.
        ks: the depths of recall@k and all-supporting@k.
        measures: measures of the ir-measures package to compute as well, such as ``nDCG@10``.

    Returns:
        JSON-ready: ``questions``, ``without_gold``, ``populations`` (name, kind, questions) and ``runs``.

        Each run has its name, budget and search calls, the ``types`` of nodes it may return (None if its manifest does
        not say), ``slots`` (see `slot_coverage`), ``measures`` and ``populations``.

        Each population of a run has ``recovery`` (the mean share of gold among all returned nodes), ``recall`` and
        ``all_supporting`` by k (None at a k that the run does not reach), and ``curve`` (the recovery after 1, 2, …
        nodes). With a baseline it also has the ``difference`` of recovery with its ``interval``, the same for
        all-supporting@k with McNemar's p, and ``nodes_to_match``: the fewest nodes with which the run reaches the
        recovery that the baseline has with its whole budget (None if it never does).

    Raises:
        GmeError: no question has gold, a depth below 1, a measure that is not known or cannot be computed.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("corpus")
        >>> name, _ = gme.retrieve_workspace(workspace, "plain")
        >>> run = gme.read_run(workspace, name)
        >>> scores = gme.evaluate([run], workspace.questions, workspace.nodes, ks=[5])
        >>> scores["runs"][0]["name"], scores["questions"]
        ('plain', 2)
    """
    options = options or EvaluationOptions()
    if any(k < 1 for k in ks) or not ks:
        raise GmeError(f"--k is {','.join(map(str, ks)) or 'empty'}, but each depth must be at least 1")
    wanted = read_measures(measures)
    gold = collect_gold(questions, nodes)
    judged = {run.name: judge(run, gold) for run in runs}
    reference = judged[baseline] if baseline is not None else None
    kinds = sorted(set(nodes.types))
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
                "types": types_of(run, kinds),
                "slots": slot_coverage(judged[run.name], gold, ks),
                "measures": measure(run, gold, wanted),
                "populations": scored[run.name],
            }
            for run in runs
        ],
    }


def scores_by_run(evaluation: Evaluation) -> dict[str, dict[str, Scores]]:
    """The scores of an evaluation: by run, then by population."""
    return {run["name"]: run["populations"] for run in evaluation["runs"]}


def _scores(run: JudgedRun, lines: npt.NDArray[np.intp], ks: Sequence[int]) -> Scores:
    curve = run.found[lines].mean(axis=0)
    return {
        "recovery": float(curve[-1]),
        "recall": {str(k): float(run.recall(k)[lines].mean()) if run.reaches(k) else None for k in ks},
        "all_supporting": {str(k): float(run.all_supporting(k)[lines].mean()) if run.reaches(k) else None for k in ks},
        "curve": curve.tolist(),
    }


def _compare(
    others: Sequence[JudgedRun],
    reference: JudgedRun,
    population: str,
    lines: npt.NDArray[np.intp],
    ks: Sequence[int],
    options: EvaluationOptions,
    scored: dict[str, dict[str, Scores]],
) -> None:
    """Add differences, intervals, p values and nodes to match to the scores of one population."""
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
            if run.reaches(k) and reference.reaches(k)
            else None
            for place, k in enumerate(ks, start=1)
        }


def _measures(run: JudgedRun, lines: npt.NDArray[np.intp], ks: Sequence[int]) -> Floats:
    """Recovery at full budget, then all-supporting@k: float64 (questions, 1 + len(ks))."""
    return np.stack([run.found[lines, -1], *(run.all_supporting(k)[lines] for k in ks)], axis=1)


def _nodes_to_match(run: JudgedRun, lines: npt.NDArray[np.intp], target: float) -> int | None:
    # The same mean, added in another order, may differ in the last bits.
    reached = np.flatnonzero(run.found[lines].mean(axis=0) >= target - 1e-12)
    return int(reached[0]) + 1 if len(reached) else None
