"""Differences from the baseline, with intervals and as heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..evaluation.results import Population
from ..formatting import interval, percent, points
from .data import ReportData
from .parts import LABEL, ROW, WIDTH, best_run, grid, legend, legend_height
from .svg import CHARACTER, Drawing, Scale
from .text import shortened

_SLOT_DEPTH = 10
_SLOTS_SHOWN = 4
_SPACING = 11  # pixels from one interval to the next


def changes_by_group(data: ReportData) -> Drawing | None:
    """Intervals for all questions, for hard questions and for each group."""
    return _changes(data, data.populations("all", "hard", "group"), "group")


def changes_by_family(data: ReportData) -> Drawing | None:
    """Intervals for each family."""
    return _changes(data, data.populations("family"), "family")


def _changes(data: ReportData, populations: Sequence[Population], what: str) -> Drawing | None:
    """Differences from the baseline with their intervals. Each population is a row, and each run a dot."""
    others = [name for name in data.featured if name != data.baseline]
    if data.baseline is None or not others or not populations:
        return None
    labels = [f"{entry['name']} ({entry['questions']})" for entry in populations]
    left = 20 + CHARACTER * max(min(len(label), LABEL) for label in labels)
    top = 12 + legend_height(others, left)
    row = _SPACING * len(others) + 12
    height = top + row * len(populations) + 28
    ends = [
        end
        for entry in populations
        for name in others
        for end in data.run(name)["populations"][entry["name"]]["interval"]
    ]
    margin = 0.03 * max(0.01, max(ends) - min(ends))
    scale = Scale(min(0, *ends) - margin, max(0, *ends) + margin, left, WIDTH - 16)
    title = f"Change against {data.baseline} by {what}, in points"
    drawing = Drawing(WIDTH, height, title, best_run(data))
    legend(drawing, [(name, data.color(name)) for name in others], left)
    grid(drawing, scale, top, top + row * len(populations), signed=True)
    drawing.line(scale(0), top, scale(0), top + row * len(populations), "zero")
    for number, (entry, label) in enumerate(zip(populations, labels, strict=True)):
        y = top + row * number
        if number:
            drawing.line(4, y, WIDTH - 16, y, "grid")
        drawing.text(left - 10, y + row / 2 + 4, shortened(label, LABEL), anchor="end")
        for place, name in enumerate(others):
            scores = data.run(name)["populations"][entry["name"]]
            low, high = scores["interval"]
            middle, color = y + 12 + _SPACING * place, data.color(name)
            hint = f"{name}, {entry['name']}: {points(scores['difference'])} {interval((low, high))}"
            drawing.line(scale(low), middle, scale(high), middle, f"whisker stroke-{color}", hint=hint)
            drawing.circle(scale(scores["difference"]), middle, 4, f"fill-{color}", hint=hint)
    return drawing


def families(data: ReportData) -> Drawing | None:
    """Every run by family: the difference from the baseline. The baseline shows recovery; without one, all do."""
    families = data.populations("family")
    if len(families) < 2:
        return None
    compared = data.baseline is not None and len(data.runs) > 1
    rows = []
    cells: list[tuple[float | None, str]]
    for run in data.runs:
        scores = [run["populations"][entry["name"]] for entry in families]
        if compared and run["name"] != data.baseline:
            cells = [(entry["difference"], points(entry["difference"])) for entry in scores]
        else:
            cells = [(None if compared else entry["recovery"], percent(entry["recovery"])) for entry in scores]
        rows.append((run["name"], cells))
    title = "Recovery by family, in percent"
    if compared:
        title = f"Change against {data.baseline} by family, in points ({data.baseline} itself: recovery in percent)"
    return _heat(title, best_run(data), rows, [f"{entry['name']} ({entry['questions']})" for entry in families])


def slots(data: ReportData) -> Drawing | None:
    """How often the first, second, … gold node is within k, by hops."""
    if not data.with_hops:
        return None
    k = str(_SLOT_DEPTH)
    columns = [
        f"{entry['hops']}-hop g{slot['slot']} ({slot['questions']})"
        for entry in data.runs[0]["slots"]
        for slot in entry["slots"][:_SLOTS_SHOWN]
    ]
    rows = []
    for run in data.runs:
        shares = [slot["within"][k] for entry in run["slots"] for slot in entry["slots"][:_SLOTS_SHOWN]]
        rows.append((run["name"], [(share, percent(share)) for share in shares]))
    title = f"Slot coverage: questions whose i-th gold node lies within the first {k}, in percent"
    return _heat(title, "g1 is the gold node found first, g2 the second, and so on.", rows, columns)


def _heat(
    title: str, description: str, rows: Sequence[tuple[str, Sequence[tuple[float | None, str]]]], columns: Sequence[str]
) -> Drawing:
    """A table with colored cells. A cell without a value has no color."""
    left = 18 + CHARACTER * max(min(len(name), LABEL) for name, _ in rows)
    top = 18 + 0.58 * CHARACTER * max(min(len(name), LABEL) for name in columns)
    cell = max(48.0, (WIDTH - left - 60) / len(columns))
    largest = max((abs(value) for _, cells in rows for value, _ in cells if value is not None), default=0) or 1
    signed = any(value is not None and value < 0 for _, cells in rows for value, _ in cells)
    drawing = Drawing(left + cell * len(columns) + 60, top + ROW * len(rows) + 8, title, description)
    for number, column in enumerate(columns):
        drawing.text(left + cell * (number + 0.4), top - 6, shortened(column, LABEL), "muted small", turned=True)
    for line, (name, cells) in enumerate(rows):
        y = top + ROW * line
        drawing.text(left - 8, y + 14, shortened(name, LABEL), anchor="end")
        for number, (value, text) in enumerate(cells):
            x = left + cell * number
            if value is not None:
                style = "fill-amount" if not signed else "fill-gain" if value >= 0 else "fill-loss"
                hint = f"{name}, {columns[number]}: {text}"
                strength = 0.65 * math.sqrt(abs(value) / largest)  # an outlier leaves some color to others
                drawing.rectangle(x + 1, y + 1, cell - 2, ROW - 2, style, hint=hint, opacity=strength)
            drawing.text(x + cell / 2, y + 14, text, "small" if value is not None else "small muted", anchor="middle")
    return drawing
