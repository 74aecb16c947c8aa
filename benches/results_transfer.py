"""The section of docs/research/results.md on what transfers: gains over plain side by side, and sentences on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from gme.evaluation.measures import scores_by_run

ALIAS = {"envelope-signature": "envelope"}
"""Runs of the synthetic benchmark that the real sets call otherwise."""

Gains = dict[str, dict[str, dict[str, Any]]]  # set, run, difference and interval


def transfer(synthetic: Mapping[str, dict[str, Any]], real: Mapping[str, dict[str, Any]]) -> list[str]:
    """The section: a table of gains and what follows from it."""
    gains: Gains = {f"{name}, hard@40": population_gains(evaluation, "hard") for name, evaluation in synthetic.items()}
    gains |= {f"{name}, recovery@40": population_gains(evaluation, "all") for name, evaluation in real.items()}
    first_ten = {f"{name}, all@10": real_gains(evaluation) for name, evaluation in real.items()}
    runs = [run for run in list(gains.values())[-1] if run not in ("plain", "envelope-3-seeds")]
    lines = ["## What transfers and what does not", ""]
    lines += [
        "Points over `plain` with their intervals: evidence recovered with 40 nodes, on the synthetic splits for hard"
    ]
    lines += [
        "questions; and on the real sets all gold passages among the first ten, where `fused` and `requery` cannot"
    ]
    lines += ["differ from `plain`, whose hits they return first. Empty: not run there.", ""]
    columns = {**gains, **first_ten}
    lines += [f"| run | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for run in runs:
        lines.append(f"| `{run}` | {' | '.join(shown(found.get(run)) for found in columns.values())} |")
    complete = [run for run in runs if all(run in found for found in gains.values())]
    lines += ["", "With 40 nodes:", "", *verdicts(gains, complete), *correlations(gains, complete)]
    lines += [beside_the_graph(name, evaluation) for name, evaluation in real.items()]
    return [*lines, *losses({**synthetic, **real}), ""]


def scores(evaluation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By run: its scores by population."""
    return {ALIAS.get(run, run): populations for run, populations in scores_by_run(evaluation).items()}


def population_gains(evaluation: dict[str, Any], population: str) -> dict[str, dict[str, Any]]:
    """By run: the gain in recovery on some questions."""
    found = {run: populations[population] for run, populations in scores(evaluation).items()}
    return {run: gain for run, gain in found.items() if "difference" in gain}


def real_gains(evaluation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By run: the gain in questions with all gold among the first ten."""
    found = {run: populations["all"] for run, populations in scores(evaluation).items()}
    return {run: all_["all_supporting_difference"]["10"] for run, all_ in found.items() if "difference" in all_}


def shown(gain: dict[str, Any] | None) -> str:
    """A gain in points with its interval."""
    if gain is None:
        return ""
    low, high = gain["interval"]
    return f"{100 * gain['difference']:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def verdicts(gains: Gains, runs: Sequence[str]) -> Iterator[str]:
    """Which runs gain on every set, which lose on one, by their intervals."""
    everywhere = [run for run in runs if all(found[run]["interval"][0] > 0 for found in gains.values())]
    nowhere = [run for run in runs if all(found[run]["interval"][0] <= 0 for found in gains.values())]
    losing = [run for run in runs if any(found[run]["interval"][1] < 0 for found in gains.values())]
    mixed = [run for run in runs if run not in everywhere and run not in nowhere]
    yield f"- {len(runs)} ran on all {len(gains)} sets; these gain on each (interval above 0): {named(everywhere)}."
    yield f"- These gain on some, and show nothing or lose on others: {named(mixed)}."
    yield f"- These gain on none: {named(nowhere)}. These lose on one or more (interval below 0): {named(losing)}."


def correlations(gains: Gains, runs: Sequence[str]) -> Iterator[str]:
    """Whether methods that gain more on one set gain more on another: rank correlations, without ours."""
    others = [run for run in runs if run != "envelope"]
    ranks = {name: midranks([found[run]["difference"] for run in others]) for name, found in gains.items()}
    pairs = []
    for first, second in combinations(ranks, 2):
        varied = ranks[first].std() > 0 and ranks[second].std() > 0
        value = f"{np.corrcoef(ranks[first], ranks[second])[0, 1]:+.2f}" if varied else "none"
        pairs.append(f"{first.split(',')[0]} and {second.split(',')[0]} {value}")
    yield f"- Rank correlation of the gains of the {len(others)} others, by pairs of sets: {'; '.join(pairs)}."


def midranks(values: Sequence[float]) -> Any:
    """Ranks, ties at their mean."""
    table = np.asarray(values)
    below = (table[:, None] > table[None, :]).sum(axis=1)
    return below + ((table[:, None] == table[None, :]).sum(axis=1) + 1) / 2


def beside_the_graph(name: str, evaluation: dict[str, Any]) -> str:
    """`envelope` against the best that walks the graph at query time."""
    found = {run: populations["all"]["all_supporting"]["10"] for run, populations in scores(evaluation).items()}
    walkers = [run for run in found if run.startswith(("spread", "pagerank"))]
    best = max(walkers, key=lambda run: found[run])
    ours, theirs = 100 * found["envelope"], 100 * found[best]
    return (
        f"- {name}, all gold among the first ten: `envelope` {ours:.1f}, the best with the graph `{best}` {theirs:.1f}."
    )


def losses(evaluations: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """The families in which `envelope` finds less than plain."""
    lost = []
    for name, evaluation in evaluations.items():
        families = [entry for entry in evaluation["populations"] if entry["kind"] == "family"]
        ours = scores(evaluation)["envelope"]
        for family in families:
            gain = ours[family["name"]]
            if gain["difference"] < 0:
                lost.append(f"{family['name']} of {name} {shown(gain)}")
    yield f"- Families in which `envelope` finds less than `plain` with 40 nodes: {'; '.join(lost) or 'none'}."


def named(runs: Sequence[str]) -> str:
    """Runs as a list in words."""
    return ", ".join(f"`{run}`" for run in runs) or "none"
