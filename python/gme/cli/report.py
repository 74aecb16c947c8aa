"""``gme report``: makes the figures and the page of an evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _output
from ._output import QuietOption, WorkspaceOption


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Runs to show; default: all but those of sweeps.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Run to compare with; default: plain, if there is one of this strategy.", show_default=False),
    ] = None,
    questions: Annotated[
        int, typer.Option(help="How many questions the page shows in detail: those on which runs differ most.")
    ] = 500,
    name: Annotated[str, typer.Option(help="Name of the report.")] = "report",
    workspace: WorkspaceOption = Path(),
    quiet: QuietOption = False,
) -> None:
    """Show runs: one self-contained HTML page with every question behind it, and figures as SVG and PNG."""
    from ..report import write_report

    opened = _output.open_workspace(workspace, quiet)
    written = write_report(
        opened,
        runs or (),
        baseline=baseline or None,
        name=name,
        questions=questions,
        reporter=_output.reporter,
    )
    for path in written:
        _output.data(str(path))
