"""``gme sweep GRID``: tries a grid on one workspace, selects, and confirms on others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..formatting import counted
from . import _output
from ._output import JsonOption, QuietOption, ThreadsOption, WorkspaceOption

if TYPE_CHECKING:
    from ..sweep.grid import Grid


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sweep", short_help="Try a grid on one workspace, select, confirm on others.")(sweep)


def sweep(
    grid: Annotated[Path, typer.Argument(metavar="GRID", help="A grid file, TOML or YAML: see docs/guides/sweep.md.")],
    confirm: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Confirm the selection on this workspace; may be given several times."),
    ] = None,
    criterion: Annotated[
        str,
        typer.Option(
            metavar="MEASURE",
            help="Select by this, e.g. recovery:hard, all-supporting@10, gain:families, nDCG@10; "
            "default: the grid's, or recovery on hard questions.",
        ),
    ] = "",
    constraint: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Select only among those that keep it, e.g. 'gain:families >= -1'."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many of the best to compare and confirm.")] = 1,
    rows: Annotated[
        int | None, typer.Option(min=0, help="Lines of the table; 0: all. [default: 20]", show_default=False)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the names of all configurations, run none.")
    ] = False,
    name: Annotated[str, typer.Option(help="Name of the report; default: the grid file's.")] = "",
    workspace: WorkspaceOption = Path(),
    threads: ThreadsOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Try every configuration of a grid on one workspace, rank them, and confirm the best on others.

    Collections are made once; what is finished is kept in reports/sweep-NAME.jsonl, so an interrupted sweep goes on
    where it was, and a second one computes only what has changed.
    """
    from ..errors import GmeError
    from ..evaluation.runs import check_run_name
    from ..plugins import origin
    from ..sweep.criteria import parse_constraint, parse_measure
    from ..sweep.grid import read_grid
    from ..sweep.run import SweepSetting, run_sweep
    from ..workspace import Workspace
    from ._sweep_tables import tables

    opened = _output.open_workspace(workspace, quiet)
    if rows is not None and (json or dry_run):
        raise GmeError(
            f"--rows has no effect with {'--json' if json else '--dry-run'}", "it belongs to the tables for people"
        )
    shown = 20 if rows is None else rows
    setting = SweepSetting(
        criterion=parse_measure(criterion) if criterion else None,
        constraints=[parse_constraint(text) for text in constraint or ()],
        top=top,
        name=check_run_name(name) if name else "",
        threads=threads,
        reporter=_output.reporter,
    )
    expanded = read_grid(grid)
    for note in expanded.notes:
        _output.note(note)
    _output.note(
        f"{counted(len(expanded.configurations), 'configuration')} "
        f"on {counted(len(expanded.collections), 'collection')}"
    )
    if dry_run:
        _dry(expanded, json)
        return
    report = run_sweep(opened, expanded, confirm=[Workspace(folder) for folder in confirm or ()], setting=setting)
    if json:
        _output.data_json(report)
    else:
        for title, table in tables(report, shown):
            _output.data(title)
            _output.table(table)
    hidden = len(report["configurations"]) - shown
    if shown and hidden > 0 and not json:
        _output.note(f"{counted(hidden, 'more configuration')}: --rows 0 shows all")
    for what, source in report.get("plugins", {}).items():
        _output.note(f"{what} is of {origin(source)}")
    path = opened.path(f"reports/sweep-{report['name']}.json")
    _output.note(f"in full: {path}")


def _dry(grid: Grid, json: bool) -> None:
    names = [configuration.name for configuration in grid.configurations]
    if json:
        _output.data_json({"collections": list(grid.collections), "configurations": names})
        return
    for each in names:
        _output.data(each)
