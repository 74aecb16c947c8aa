"""Whether runs are comparable with their baseline. They are not if they return more nodes, or nodes of other types."""

from __future__ import annotations

from ..command_line import command_line
from ..errors import joined
from ..reporting import Reporter
from .results import Evaluation
from .runs import Run

_NAMED = 5  # the most runs that a message names


def types_of(run: Run, kinds: list[str]) -> list[str] | None:
    """The types of nodes that a run may return, sorted. None if its manifest does not say.

    Args:
        kinds: all types of the corpus, sorted. An empty list in the manifest stands for them.
    """
    listed = run.manifest.get("types")
    return None if listed is None else sorted(set(listed)) or kinds


def of_other_types(evaluation: Evaluation) -> dict[str, list[str]]:
    """The runs of an evaluation that may return other types of nodes than the baseline, with these types.

    Runs of the baseline's own strategy are left out, because a user who makes them wants to compare the types.
    """
    usual = next((run for run in evaluation["runs"] if run["name"] == evaluation["baseline"]), None)
    if usual is None or usual["types"] is None:
        return {}
    return {
        run["name"]: types
        for run in evaluation["runs"]
        if (types := run["types"]) is not None and types != usual["types"] and run["strategy"] != usual["strategy"]
    }


def types_in_words(others: dict[str, list[str]]) -> str:
    """The result of `of_other_types` as text: ``envelope-signature (chunk)`` for each run."""
    return joined([f"{name} ({', '.join(types)})" for name, types in others.items()], _NAMED)


def warn_of_differences(evaluation: Evaluation, reporter: Reporter) -> None:
    """Warn of runs whose budget or node types differ from those of the baseline."""
    usual = next((run for run in evaluation["runs"] if run["name"] == evaluation["baseline"]), None)
    if usual is None:
        return
    budgets = {run["name"]: run["budget"] for run in evaluation["runs"] if run["budget"] != usual["budget"]}
    if budgets:
        listed = ", ".join(f"{name} {budget}" for name, budget in budgets.items())
        reporter.warn(
            f"not all runs return {usual['budget']} nodes as the baseline {usual['name']} does: {listed}",
            f"their recovery costs more or less: retrieve again with --budget {usual['budget']}, "
            "or compare at a depth all reach",
        )
    others, own = of_other_types(evaluation), usual["types"]
    if others and own is not None:
        fewer = next((types for types in others.values() if set(types) < set(own)), None)
        given = {"types": fewer or own}
        reporter.warn(
            f"not all runs return nodes of the same types as the baseline {usual['name']} "
            f"({', '.join(own)}): {types_in_words(others)}",
            f"a baseline of the same types: {command_line('gme retrieve', ['plain'], given)}, "
            "then --baseline with the name it prints"
            if fewer
            else command_line("retrieve them again with", (), given),
        )
