"""``gme evaluate``: scores runs against the gold. Prints tables or JSON."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ..formatting import counted
from . import _output
from ._output import JsonOption, QuietOption, WorkspaceOption

_COMMA = re.compile(r",(?![^(]*\))")
"""A comma outside the parentheses with a measure's parameters."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate)


def evaluate(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Runs to score; default: all but those of sweeps.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Run to compare with; default: plain, if there is one of this strategy.", show_default=False),
    ] = None,
    k: Annotated[str, typer.Option(help="Depths of recall and all-supporting, with commas between.")] = "5,10,20,40",
    measures: Annotated[
        str, typer.Option(help="Measures of the ir-measures package as well, e.g. nDCG@10,R@10,Success@1.")
    ] = "",
    slots: Annotated[
        bool,
        typer.Option(
            "--slots", help="Show how deep the first, second, … gold passage of a question lies; --json always does."
        ),
    ] = False,
    qrels: Annotated[
        bool, typer.Option("--qrels", help="Also write the gold as runs/qrels.trec, for any TREC tool.")
    ] = False,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 42,
    name: Annotated[str, typer.Option(help="Name of the report.")] = "evaluation",
    workspace: WorkspaceOption = Path(),
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score runs: evidence recovery by group and family, all-supporting@k, differences with 95 % intervals."""
    from ..evaluation.runs import QRELS, check_own_name
    from ..evaluation.significance import EvaluationOptions
    from ..pipeline.evaluate import evaluate_workspace, write_evaluation
    from ..pipeline.qrels import write_qrels
    from ..pipeline.runs import run_names
    from ._evaluation_tables import tables

    opened = _output.open_workspace(workspace, quiet)
    if qrels or opened.path(f"runs/{QRELS}.trec").is_file():  # an existing file would otherwise keep old gold
        _output.note(f"gold: {write_qrels(opened)}")
        if qrels and not runs and not run_names(opened):
            return
    check_own_name(name)
    report = evaluate_workspace(
        opened,
        runs or (),
        baseline=baseline or None,
        ks=_depths(k),
        measures=[part.strip() for part in _COMMA.split(measures) if part.strip()],
        options=EvaluationOptions(resamples=resamples, seed=seed),
        report=None,
        reporter=_output.reporter,
    )
    if report["without_gold"]:
        _output.note(f"left out because they have no gold evidence: {counted(report['without_gold'], 'question')}")
    if json:
        _output.data_json(report)
    else:
        for title, table in tables(report, slots):
            _output.data(title)
            _output.table(table)
    written = write_evaluation(opened, name, report)  # last, so that tables are shown even if this fails
    if not json:
        _output.note(f"in full: {written}")


def _depths(text: str) -> list[int]:
    from ..errors import GmeError, shorten

    try:
        depths = [int(part) for part in text.split(",")]
    except ValueError:
        depths = []
    if not depths or min(depths) < 1:
        raise GmeError(
            f"--k is {shorten(text)}, but must be whole numbers of at least 1", "for example: --k 5,10,20,40"
        )
    return sorted(set(depths))
