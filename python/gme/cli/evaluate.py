"""``gme evaluate``: score runs against the gold, as tables for people or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _output
from ._output import JsonOption, QuietOption, WorkspaceOption

if TYPE_CHECKING:
    from rich.table import Table

Scores = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate)


def evaluate(
    runs: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="Runs to score; default: all.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Run to compare with; default: plain, if there is one.", show_default=False)
    ] = None,
    k: Annotated[str, typer.Option(help="Depths of recall and all-supporting, with commas between.")] = "5,10,20,40",
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 42,
    name: Annotated[str, typer.Option(help="Name of the report.")] = "evaluation",
    workspace: WorkspaceOption = Path(),
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score runs: evidence recovery by group and family, all-supporting@k, differences with 95 % intervals."""
    from ..evaluation import evaluate_workspace
    from ..runs import check_run_name
    from ..significance import EvaluationOptions

    opened = _output.open_workspace(workspace, quiet)
    report = evaluate_workspace(
        opened,
        runs or (),
        baseline=baseline or None,
        ks=_depths(k),
        options=EvaluationOptions(resamples=resamples, seed=seed),
        report=check_run_name(name),
    )
    if report["without_gold"]:
        _output.note(f"left out for want of gold evidence: {_questions(report['without_gold'])}")
    if report["baseline"] is None:
        _output.note("no differences are shown, for want of a baseline run: gme retrieve plain")
    if json:
        _output.data_json(report)
        return
    for title, table in tables(report):
        _output.data(title)
        _output.table(table)
    _output.note(f"in full: {opened.path(f'reports/{name}.json')}")


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


def tables(report: dict[str, Any]) -> Iterator[tuple[str, Table]]:
    """Titles and tables of an evaluation: recovery, families, depths, differences from the baseline; all in percent."""
    wide = [p for p in report["populations"] if p["kind"] != "family"]
    families = [p for p in report["populations"] if p["kind"] == "family"]
    title = f"Evidence recovery in percent, {_questions(report['questions'])}"
    yield title, _table(report, wide, _recovery, extra=_facts)
    if families:
        yield "Evidence recovery by family", _table(report, families, _recovery)
    depths = "All questions: gold found (recall@k) and questions with all gold found (all-supporting@k)"
    yield depths, _depth_table(report)
    if report["baseline"] is None or len(report["runs"]) < 2:
        return
    percent = f"{report['options']['confidence']:.0%}"
    title = f"Difference from {report['baseline']} in points, with the {percent} bootstrap interval"
    yield title, _table(report, wide, _difference, extra=_matching)
    if families:
        yield "Difference by family", _table(report, families, _difference)


def _table(
    report: dict[str, Any],
    populations: list[dict[str, Any]],
    cell: Callable[[Scores], str],
    extra: Callable[[dict[str, Any]], dict[str, str]] | None = None,
) -> Table:
    """A line a run, a column a population, after the columns `extra` gives."""
    table = _empty()
    for heading in extra(report["runs"][0]) if extra else {}:
        table.add_column(heading, justify="right", overflow="fold")
    for population in populations:
        heading = population["name"].replace("_", "_\n")
        table.add_column(f"{heading}\n({population['questions']})", justify="right", overflow="fold")
    for run in report["runs"]:
        more = extra(run).values() if extra else ()
        table.add_row(run["name"], *more, *(cell(run["populations"][p["name"]]) for p in populations))
    return table


def _empty() -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("run", overflow="fold")
    return table


def _depth_table(report: dict[str, Any]) -> Table:
    """recall@k and all-supporting@k over all questions."""
    table = _empty()
    for measure in ("recall", "all-supporting"):
        for k in report["k"]:
            table.add_column(f"{measure}\n@{k}", justify="right")
    for run in report["runs"]:
        scores = run["populations"]["all"]
        cells = [_percent(scores[m][str(k)]) for m in ("recall", "all_supporting") for k in report["k"]]
        table.add_row(run["name"], *cells)
    return table


def _facts(run: dict[str, Any]) -> dict[str, str]:
    calls = run["search_calls"]
    return {"nodes": str(run["budget"]), "search\ncalls": "" if calls is None else str(calls)}


def _matching(run: dict[str, Any]) -> dict[str, str]:
    nodes = run["populations"]["all"].get("nodes_to_match")
    return {"nodes to\nmatch it": "never" if nodes is None else str(nodes)}


def _recovery(scores: Scores) -> str:
    return _percent(scores["recovery"])


def _difference(scores: Scores) -> str:
    if "difference" not in scores:
        return "baseline"
    low, high = (_points(end) for end in scores["interval"])
    return f"{_points(scores['difference'])}\n[{low}, {high}]"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _points(value: float) -> str:
    return f"{100 * value + 0.0:+.1f}"


def _questions(count: int) -> str:
    return f"{count} question{'' if count == 1 else 's'}"
