"""The figures of a report, modeled on figures 3 to 9 of the GME paper. The registry is at the end of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..evaluation.results import EvaluatedRun
from ..formatting import percent
from .changes import changes_by_family, changes_by_group, families, slots
from .curves import curves, curves_by_group
from .data import ReportData
from .parts import LABEL, ROW, WIDTH, best_run, grid, label_width, legend, legend_height, population_label, recovery_of
from .svg import Drawing, Scale
from .text import shortened
from .theme import SERIES


@dataclass(frozen=True)
class Figure:
    """A kind of figure.

    Attributes:
        heading: its title on the page.
        caption: how to read it.
        draw: makes the drawing, or returns None if the report has nothing for it.
    """

    heading: str
    caption: str
    draw: Callable[[ReportData], Drawing | None]


def _recovery(data: ReportData) -> Drawing:
    """Bars of every run, by strategy, colored by collection, with the baseline's recovery as a line."""
    groups: dict[str, list[EvaluatedRun]] = {}
    for run in data.runs:
        groups.setdefault(str(run["strategy"] or "other runs"), []).append(run)
    collections = sorted({str(run["collection"]) for run in data.runs if run["collection"]})
    left = label_width(data.runs) + 10
    top = 34 + legend_height(collections, left)
    height = top + sum(26 + ROW * len(runs) for runs in groups.values()) + 10
    drawing = Drawing(WIDTH, height, f"Recovery by run, {population_label(data, data.main)}", best_run(data))
    legend(drawing, [(name, f"s{n % SERIES}") for n, name in enumerate(collections)], left)
    scale = Scale(0, max(0.01, max(recovery_of(data, run["name"]) for run in data.runs)), left, WIDTH - 50)
    grid(drawing, scale, top - 12, height - 8)
    y = float(top)
    for strategy, runs in groups.items():
        drawing.text(4, y + 14, shortened(strategy, LABEL), "strong")
        y += 22
        for run in runs:
            value = run["populations"][data.main]["recovery"]
            color = f"s{collections.index(str(run['collection'])) % SERIES}" if run["collection"] else "base"
            hint = f"{run['name']}: {percent(value)} %"
            drawing.text(left - 8, y + 14, shortened(run["name"], LABEL), "muted", anchor="end")
            drawing.rectangle(left, y + 3, scale(value) - left, ROW - 6, f"fill-{color}", hint=hint)
            drawing.text(WIDTH - 4, y + 14, percent(value), "small", anchor="end")
            y += ROW
        y += 4
    if data.baseline is not None:
        x = scale(recovery_of(data, data.baseline))
        drawing.line(x, top - 12, x, height - 8, "target", hint=f"{data.baseline}")
    return drawing


def _supporting(data: ReportData) -> Drawing | None:
    """All-supporting@k of the featured runs, as lines over k."""
    depths = data.evaluation["k"]
    shares = {name: data.run(name)["populations"]["all"]["all_supporting"] for name in data.featured}
    known = [share for by_depth in shares.values() for share in by_depth.values() if share is not None]
    if not known:
        return None
    entries = [(name, data.color(name)) for name in data.featured]
    top = 20 + legend_height([name for name, _ in entries], 44)
    height = top + 280.0
    drawing = Drawing(
        WIDTH, height, f"All gold found within k, percent of {population_label(data, 'all')}", best_run(data)
    )
    legend(drawing, entries, 44)
    x = Scale(0, max(depths), 44, WIDTH - 20)
    y = Scale(0, max(0.01, *known) * 1.05, height - 28, top)
    for tick in y.ticks():
        drawing.line(44, y(tick), WIDTH - 20, y(tick), "grid")
        drawing.text(38, y(tick) + 4, f"{100 * tick:.4g}", "muted small", anchor="end")
    for k in depths:
        drawing.text(x(k), height - 10, f"@{k}", "muted small", anchor="middle")
    for name, color in reversed(entries):
        reached = [(k, share) for k in depths if (share := shares[name][str(k)]) is not None]
        drawing.path([(x(k), y(share)) for k, share in reached], f"line stroke-{color}", hint=name)
        for k, share in reached:
            drawing.circle(x(k), y(share), 3.5, f"fill-{color}", hint=f"{name}, @{k}: {percent(share)} %")
    return drawing


def _cost(data: ReportData) -> Drawing | None:
    """Recovery over the cost of a question: in milliseconds if they were measured, else in searches."""
    timed = {name: data.latency(name) for name in data.featured}
    unit = "milliseconds a question, median" if any(timed.values()) else "vector searches a question"
    costs = timed if any(timed.values()) else {name: data.run(name)["search_calls"] for name in data.featured}
    known = {name: float(cost) for name, cost in costs.items() if isinstance(cost, int | float)}
    if len(known) < 2:
        return None
    top = 20 + legend_height(list(known), 44)
    height = top + 260.0
    drawing = Drawing(WIDTH, height, f"Recovery against {unit}, {population_label(data, data.main)}", best_run(data))
    legend(drawing, [(name, data.color(name)) for name in known], 44)
    x = Scale(0, max(known.values()) * 1.08, 44, WIDTH - 20)
    y = Scale(0, max(0.01, *(recovery_of(data, name) for name in known)) * 1.08, height - 44, top)
    for tick in y.ticks():
        drawing.line(44, y(tick), WIDTH - 20, y(tick), "grid")
        drawing.text(38, y(tick) + 4, f"{100 * tick:.4g}", "muted small", anchor="end")
    for tick in x.ticks():
        drawing.text(x(tick), height - 26, f"{tick:.4g}", "muted small", anchor="middle")
    drawing.text(WIDTH / 2, height - 8, unit, "muted", anchor="middle")
    for name, cost in known.items():
        value = recovery_of(data, name)
        drawing.circle(x(cost), y(value), 6, f"fill-{data.color(name)}", hint=f"{name}: {cost:g}, {percent(value)} %")
    return drawing


# Names have no hyphen, so that NAME-FIGURE.svg belongs to a single report, whatever the report's name.
FIGURES = {
    "recovery": Figure(
        "Recovery by strategy and collection",
        "Share of a question's gold evidence among the nodes returned, averaged over questions. Dashed: the baseline.",
        _recovery,
    ),
    "curves": Figure(
        "How soon the evidence comes",
        "Recovery over the first k returned. Dots: where a stage ends. Dashed: the baseline with all its nodes; "
        "rings, and numbers beside the names: with how many nodes a run gets there.",
        curves,
    ),
    "curves_by_group": Figure("The same, by group of questions", "Marks as above.", curves_by_group),
    "changes": Figure(
        "Change against the baseline",
        "Difference in points with its paired-bootstrap interval: how it would vary with other questions of the same "
        "kinds. Among many runs and groups some intervals keep clear of zero by chance.",
        changes_by_group,
    ),
    "changes_by_family": Figure("Change by family of questions", "Marks as above.", changes_by_family),
    "families": Figure(
        "Families at a glance",
        "Every run by family; the stronger a cell's color, the larger its number; losses have a color of their own.",
        families,
    ),
    "supporting": Figure(
        "Questions answered in full", "Share of questions with every gold node within the first k.", _supporting
    ),
    "slots": Figure(
        "Slot coverage by hops",
        "A question's gold nodes, sorted by the rank they were found at, are its slots g1, g2, …; the first four are "
        "shown. Later ones are those that plain search misses.",
        slots,
    ),
    "cost": Figure("What it costs", "Recovery against the price of a question; up and to the left is better.", _cost),
}
