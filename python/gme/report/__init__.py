"""``gme report``: figures from runs, as in the paper, and a page that shows them with the questions behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..command_line import command_line
from ..errors import GmeError
from ..evaluation.runs import check_own_name
from ..pipeline.evaluate import evaluate_workspace, write_evaluation
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.atomic import atomic_group, atomic_write
from ..version import install_hint
from ..workspace import Workspace, shared_lock
from .data import collect_report_data, drill_down
from .figures import FIGURES
from .images import can_draw_png, png
from .page import render
from .svg import Drawing
from .theme import LIGHT, figure_style

QUESTIONS = 500
"""How many questions a page shows in detail by default. Then it has a few megabytes."""

__all__ = ["QUESTIONS", "write_report"]


@takes_callbacks
@shared_lock
def write_report(
    workspace: Workspace,
    names: Sequence[str] = (),
    *,
    baseline: str | None = None,
    name: str = "report",
    questions: int = QUESTIONS,
    reporter: Reporter = SILENT,
) -> list[Path]:
    """Evaluate runs and write `reports/NAME.html`, its figures as SVG and PNG, and the evaluation as JSON.

    The same runs give the same bytes. PNG files need the packages of the ``report`` extra. Without it they are left
    out.

    Args:
        names, baseline: as for `gme.pipeline.evaluate.evaluate_workspace`, which gives the numbers.
        questions: how many questions the page shows in detail: those on which runs differ most.
        reporter: as for `evaluate_workspace`. It also gets a warning if PNG files cannot be drawn.

    Returns:
        The files that were written, the page first.

    Raises:
        GmeError: a name that is not a file name, a negative number of questions, or runs that cannot be evaluated.
        StaleError: a stale run was named, or all runs are stale.
    """
    check_own_name(name)
    if questions < 0:
        raise GmeError(f"--questions is {questions}, but must be at least 0", "for example: --questions 500")
    evaluation = evaluate_workspace(workspace, names, baseline=baseline, report=None, reporter=reporter)
    data = collect_report_data(workspace, evaluation)
    drawings = {key: drawing for key, figure in FIGURES.items() if (drawing := figure.draw(data)) is not None}
    command = _command(names, baseline, name, questions)
    page = render(name, command, data, drawings, drill_down(data, workspace, questions))
    if not can_draw_png():
        reporter.warn("figures are written as SVG only", f"for PNG files as well: {install_hint('report')}")
    html, folder = workspace.path(f"reports/{name}.html"), workspace.path("reports/figures")
    with workspace.writing(f"reports/{name}.html"):
        with atomic_group(workspace.folder):
            json = write_evaluation(workspace, name, evaluation)
            figures = list(_write_figures(folder, name, drawings))
            with atomic_write(html) as handle:
                handle.write(page.encode())
        # Figures of an earlier report with this name that are not part of this one are removed.
        for path in (folder / f"{name}-{key}.{ending}" for key in FIGURES for ending in ("svg", "png")):
            if path not in figures:
                path.unlink(missing_ok=True)
    return [html, json, *figures]


def _write_figures(folder: Path, name: str, drawings: dict[str, Drawing]) -> Iterator[Path]:
    """Write the drawings as SVG and, if possible, as PNG."""
    style = figure_style(LIGHT)
    for key, drawing in drawings.items():
        svg = drawing.render(key, style)
        files = {"svg": svg.encode() + b"\n"} | ({"png": png(svg)} if can_draw_png() else {})
        for ending, content in files.items():
            path = folder / f"{name}-{key}.{ending}"
            with atomic_write(path) as handle:
                handle.write(content)
            yield path


def _command(names: Sequence[str], baseline: str | None, name: str, questions: int) -> str:
    """The command line that makes the report again."""
    given = {
        "baseline": baseline,
        "name": name if name != "report" else None,
        "questions": questions if questions != QUESTIONS else None,
    }
    return command_line("gme report", names, given)
