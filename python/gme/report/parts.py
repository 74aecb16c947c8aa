"""What several figures share: sizes, names cut to fit, legends, grids and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import joined
from ..evaluation.results import EvaluatedRun
from ..formatting import percent
from .data import ReportData
from .svg import CHARACTER, Drawing, Scale
from .text import clean, shortened

WIDTH = 760
ROW = 20
LABEL = 34
"""The most characters of a label. Pointing at it shows the whole name."""


def grid(drawing: Drawing, scale: Scale, top: float, bottom: float, *, signed: bool = False) -> None:
    """Vertical lines at round values, with the values above or, for differences, below."""
    for tick in scale.ticks():
        drawing.line(scale(tick), top, scale(tick), bottom, "grid")
        text = f"{100 * tick + 0.0:+.4g}" if signed and abs(tick) > 1e-12 else f"{100 * abs(tick):.4g}"
        drawing.text(scale(tick), bottom + 16 if signed else top - 4, text, "muted small", anchor="middle")


def _legend_rows(names: Sequence[str], left: float) -> Iterator[list[tuple[int, float]]]:
    """The rows of a legend, as lists of (number of the name, where it begins)."""
    row: list[tuple[int, float]] = []
    x = left
    for number, name in enumerate(names):
        width = 26 + CHARACTER * min(len(name), LABEL)
        if row and x + width > WIDTH:
            yield row
            row, x = [], left
        row.append((number, x))
        x += width
    if row:
        yield row


def legend_height(names: Sequence[str], left: float) -> float:
    """The height of the legend of these names."""
    return 20.0 * len(list(_legend_rows(names, left)))


def legend(drawing: Drawing, entries: Sequence[tuple[str, str]], left: float) -> None:
    """Draws names with their colors along the upper edge, in as many rows as they need."""
    for line, row in enumerate(_legend_rows([name for name, _ in entries], left)):
        for number, x in row:
            name, color = entries[number]
            drawing.rectangle(x, 4 + 20 * line, 12, 12, f"fill-{color}")
            drawing.text(x + 17, 14 + 20 * line, shortened(name, LABEL), "small")


def label_width(runs: Sequence[EvaluatedRun]) -> float:
    """The width of the longest label of a run."""
    return 12 + CHARACTER * max(min(len(run["name"]), LABEL) for run in runs)


def recovery_of(data: ReportData, name: str) -> float:
    """The recovery of a run on the main population."""
    value: float = data.run(name)["populations"][data.main]["recovery"]
    return value


def population_label(data: ReportData, name: str) -> str:
    """The label of a population, such as ``hard questions (540)``."""
    entry = next(entry for entry in data.evaluation["populations"] if entry["name"] == name)
    return f"{clean(name)} questions ({entry['questions']})"


def best_run(data: ReportData) -> str:
    """A sentence about the best run, for readers who do not see the figure."""
    # Rounding errors do not break ties. Of equal runs, the baseline comes first, then those with fewer searches.
    best = max(data.featured, key=lambda name: round(recovery_of(data, name), 9))
    text = f"Best on {population_label(data, data.main)}: {best}, {percent(recovery_of(data, best))} %"
    tied = data.runs_tied_with(best)
    if tied:
        text += f", tied with {joined(tied, 3, last=' and ')}"
    if data.baseline is None or best == data.baseline:
        return text + "."
    return f"{text}; {data.baseline}: {percent(recovery_of(data, data.baseline))} %."
