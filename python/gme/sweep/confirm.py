"""The comparison of the selected configurations with the baseline on one workspace, as runs with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..evaluation.gold import judge
from ..evaluation.measures import scores_by_run
from ..evaluation.results import Evaluation, Scores
from ..evaluation.significance import EvaluationOptions, bootstrap
from ..pipeline.evaluate import evaluate_workspace
from ..pipeline.retrieve import retrieve_workspace
from ..pipeline.runs import read_run
from .configurations import Configuration
from .criteria import Constraint, Measure, read_off
from .results import ComparedRow, Comparison, PairedDifference
from .runner import Bench

KS = (5, 10, 20, 40)


def compare(
    bench: Bench,
    chosen: Sequence[Configuration],
    criterion: Measure,
    constraints: Sequence[Constraint],
    shown: Sequence[Measure],
    name: str,
    confirmed: bool,
) -> Comparison:
    """Store the chosen configurations and their baselines as runs, evaluate them, and read off the criterion.

    Args:
        confirmed: whether this workspace had no part in the selection.

    Returns:
        JSON-ready: ``workspace``, ``confirmed``, ``rows`` and ``evaluations``. Each configuration and each baseline has
        a row with its ``name``, ``run``, ``value`` of the criterion, ``shown`` and ``constraints``. Rows of
        configurations also have the ``difference`` in points with its ``interval`` and the ``compared`` measure. Each
        budget has an evaluation, as `gme.evaluate_workspace` returns it.
    """
    depths = sorted({*KS, *(m.depth for m in (criterion, *(c.measure for c in constraints)) if m.depth)})
    rows: list[ComparedRow] = []
    evaluations: list[Evaluation] = []
    for budget in dict.fromkeys(c.budget for c in chosen):
        baseline = bench.grid.baseline.at_budget(budget)
        group = list({c.name: c for c in (baseline, *chosen) if c.budget == budget}.values())
        for configuration in group:
            retrieve_workspace(
                bench.workspace,
                configuration.strategy,
                bench.setting(configuration),
                name=bench.grid.run(configuration),
                **configuration.given,
            )
        evaluation = evaluate_workspace(
            bench.workspace,
            [bench.grid.run(c) for c in group],
            baseline=bench.grid.run(baseline),
            ks=depths,
            measures=bench.measures,
            report=f"budget{budget}-sweep-{name}",
        )
        evaluations.append(evaluation)
        evaluated = scores_by_run(evaluation)
        for configuration in group:
            scores, reference = bench.scores(configuration), bench.scores(baseline)
            values = read_off(scores, reference, criterion, constraints, shown)
            row: ComparedRow = {
                "name": configuration.name,
                "run": bench.grid.run(configuration),
                "baseline": configuration == baseline,
                "value": values["value"],
                "shown": values["shown"],
                "constraints": values["constraints"],
                "search_calls": scores["search_calls"],
            }
            if configuration != baseline:
                own = evaluated[bench.grid.run(configuration)]
                paired = _difference(bench, configuration, baseline, own, criterion)
                row["compared"], row["difference"] = paired["compared"], paired["difference"]
                row["interval"], row["nodes_to_match"] = paired["interval"], paired["nodes_to_match"]
            rows.append(row)
    return {"workspace": bench.name, "confirmed": confirmed, "rows": rows, "evaluations": evaluations}


def _difference(
    bench: Bench,
    configuration: Configuration,
    baseline: Configuration,
    evaluated: dict[str, Scores],
    criterion: Measure,
) -> PairedDifference:
    """The paired difference that belongs to the criterion, from the scores of this run by population.

    The worst family or group stands for all of them. Criteria without a value for each question, such as search calls,
    are replaced by recovery.
    """
    scores, reference = bench.scores(configuration), bench.scores(baseline)
    if criterion.kind not in ("recovery", "gain", "recall", "all-supporting"):
        criterion = Measure("recovery", "recovery")
    population = criterion.worst(scores, reference)
    compared = Measure(criterion.text.replace("gain", "recovery"), criterion.kind, criterion.depth, population)
    entry = evaluated[population]
    difference, interval = entry["difference"], entry["interval"]
    if criterion.kind == "all-supporting":
        supporting = entry["all_supporting_difference"][str(criterion.depth)]
        assert supporting is not None, "the depths are checked against the budgets before anything runs"
        difference, interval = supporting["difference"], supporting["interval"]
    elif criterion.kind == "recall":
        difference, interval = _recall_difference(bench, configuration, baseline, compared)
    return {
        "compared": str(compared),
        "difference": 100 * difference,
        "interval": [100 * end for end in interval],
        "nodes_to_match": entry["nodes_to_match"],
    }


def _recall_difference(
    bench: Bench, configuration: Configuration, baseline: Configuration, compared: Measure
) -> tuple[float, list[float]]:
    """The paired difference of recall@k. `gme.evaluate` gives it only at the full budget."""
    lines = bench.gold.populations[compared.population]
    own, reference = (
        judge(read_run(bench.workspace, bench.grid.run(c)), bench.gold).recall(compared.depth)[lines]
        for c in (configuration, baseline)
    )
    interval = bootstrap(np.stack([own - reference], axis=1), EvaluationOptions())[0]
    return float((own - reference).mean()), interval.tolist()
