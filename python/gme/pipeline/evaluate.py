"""The step ``gme evaluate``: chooses runs and baseline of a workspace, and writes the report."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from ..errors import GmeError, StaleError, joined, unknown
from ..evaluation.comparability import warn_of_differences
from ..evaluation.measures import evaluate
from ..evaluation.results import Evaluation
from ..evaluation.runs import OF_SWEEPS, Run, usual_runs
from ..evaluation.significance import EvaluationOptions
from ..formatting import counted
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.files import write_json
from ..workspace import Workspace
from ..workspace.layout import NODES, QUESTIONS
from ..workspace.manifests import read_manifest
from ..workspace.staleness import in_order, rerun_hint
from .runs import StaleRunError, read_run, run_names

DEFAULT_BASELINE = "plain"


@takes_callbacks
def evaluate_workspace(
    workspace: Workspace,
    names: Sequence[str] = (),
    *,
    baseline: str | None = None,
    ks: Sequence[int] = (5, 10, 20, 40),
    measures: Sequence[str] = (),
    options: EvaluationOptions | None = None,
    report: str | None = "evaluation",
    reporter: Reporter = SILENT,
) -> Evaluation:
    """Evaluate runs of a workspace.

    Args:
        names: the runs to evaluate. Empty takes all runs except those of sweeps, sorted; see
            `gme.evaluation.runs.usual_runs`.
        baseline: the run to compare with. It is added if it is not among `names`. None: see `usual_baseline`.
        report: write the result to `reports/REPORT.json`; None writes nothing.
        reporter: hears which runs of sweeps are left out, and that there is no baseline. It is warned of stale runs
            that nobody named (they are left out, and ``stale`` lists them), of a run that is not the baseline in spite
            of its name, and of budgets and node types that differ from the baseline's.

    Raises:
        GmeError: no run, an unknown run or baseline (the closest is suggested), or a run that is not valid.
        StaleError: a run that was named is stale, or all runs are stale.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("corpus")
        >>> name, _ = gme.retrieve_workspace(workspace, "plain")
        >>> scores = gme.evaluate_workspace(workspace)
        >>> [run["name"] for run in scores["runs"]]
        ['plain']
    """
    known = run_names(workspace)
    if not known:
        for relative in (NODES, QUESTIONS):  # runs are made from these files
            workspace.require(relative)
        raise GmeError(f"{workspace.path('runs')} holds no runs", "make one with: gme retrieve plain")
    if baseline is not None and baseline not in known:
        raise unknown("baseline run", baseline, known, where=f" in {workspace.path('runs')}")
    named = {*names, *([baseline] if baseline else [])}
    if baseline is None:
        baseline = usual_baseline(workspace, known, reporter)
    chosen = list(dict.fromkeys([*([baseline] if baseline else []), *(names or usual_runs(known))]))
    if not names and len(chosen) < len(known):
        rest = counted(len(known) - len(chosen), "run")
        reporter.note(f"left out {rest} of gme sweep ({OF_SWEEPS}…): they are shown when named")
    runs, stale = _read(workspace, chosen, named)
    if stale:
        text = f"{len(stale)} stale run{'' if len(stale) == 1 else 's'}"
        reasons = {error.reason: [each.name for each in stale if each.reason == error.reason] for error in stale}
        listed = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
        hint = f"re-make them, or delete them: {in_order(command for error in stale for command in error.commands)}"
        if not runs:
            raise StaleError(f"{workspace.path('runs')} holds nothing but {text}: {listed}", hint)
        reporter.warn(f"left out {text}: {listed}", hint)
    outdated = [error.name for error in stale]
    if baseline in outdated:
        baseline = None
    if baseline is None:
        how = _how_to_choose(workspace, known, outdated)
        reporter.note(f"no differences are shown, because there is no baseline run: {how}")
    result = evaluate(
        runs, workspace.questions, workspace.nodes, baseline=baseline, ks=ks, measures=measures, options=options
    )
    result["stale"] = outdated
    warn_of_differences(result, reporter)
    if report is not None:
        write_evaluation(workspace, report, result)
    return result


def usual_baseline(workspace: Workspace, known: Sequence[str], reporter: Reporter = SILENT) -> str | None:
    """The baseline if none is named: the run ``plain``, unless its manifest names another strategy.

    If all runs are of sweeps, it is ``sweep-plain``, else the only run with the strategy ``plain``.

    Args:
        known: the names of all runs. reporter: warned if a run ``plain`` has another strategy.
    """
    among = usual_runs(known)
    of_sweeps = all(name.startswith(OF_SWEEPS) for name in among)
    usual = f"{OF_SWEEPS}{DEFAULT_BASELINE}" if of_sweeps else DEFAULT_BASELINE
    if usual in known:
        strategy = _strategy(workspace, usual)
        if strategy in (None, DEFAULT_BASELINE):  # a file without a manifest has only its name
            return usual
        reporter.warn(
            f"the run {usual} was made with the strategy {strategy}, so it is not taken as the baseline",
            f"choose one with --baseline, or if you mean this one: --baseline {usual}",
        )
        return None
    plain = [name for name in among if of_sweeps and _strategy(workspace, name) == DEFAULT_BASELINE]
    return plain[0] if len(plain) == 1 else None


def _how_to_choose(workspace: Workspace, known: Sequence[str], outdated: Sequence[str]) -> str:
    """How to get a baseline if none was found."""
    there = [name for name in known if name not in outdated]
    plain = [name for name in there if _strategy(workspace, name) == DEFAULT_BASELINE]
    if plain:
        return f"choose one with --baseline: {joined(plain, 5)}"
    # A run of another strategy may have that name, and must not be overwritten.
    return "choose one with --baseline" if DEFAULT_BASELINE in there else "gme retrieve plain"


def _strategy(workspace: Workspace, name: str) -> str | None:
    """The strategy in a run's manifest; None if there is none or it can't be read."""
    with contextlib.suppress(GmeError):
        return read_manifest(workspace.path(f"runs/{name}.json")).get("strategy")
    return None


def write_evaluation(workspace: Workspace, name: str, result: Evaluation) -> Path:
    """Write the result of `evaluate_workspace` to `reports/NAME.json`. Returns the path."""
    relative = f"reports/{name}.json"
    with workspace.writing(relative, waiting=SILENT):
        write_json(workspace.path(relative), result)
    return workspace.path(relative)


def _read(workspace: Workspace, chosen: Sequence[str], named: set[str]) -> tuple[list[Run], list[StaleRunError]]:
    """Read the runs. Returns them, and an error for each stale run that nobody named.

    Raises:
        StaleError: runs that were named are stale; the message has the commands that make them again.
    """
    runs, stale = [], []
    for name in chosen:
        try:
            runs.append(read_run(workspace, name))
        except StaleRunError as error:
            stale.append(error)
    refused = [error for error in stale if error.name in named]
    if len(refused) > 1:
        listed = joined([error.name for error in refused], 5)
        commands = [command for error in refused for command in error.commands]
        raise StaleError(f"{len(refused)} runs are stale: {listed}; {refused[0].message}", rerun_hint(commands))
    if refused:
        raise refused[0]
    return runs, stale
