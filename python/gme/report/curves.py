"""Recovery over the first k nodes returned."""

from __future__ import annotations

from collections.abc import Sequence

from ..formatting import DASH, percent
from .data import ReportData
from .parts import LABEL, WIDTH, best_run, legend, legend_height, population_label
from .svg import Drawing, Scale
from .text import shortened


def curves(data: ReportData) -> Drawing:
    """The recovery of the main population over the first k nodes returned."""
    return _curve_panels(data, [data.main], 400)


def curves_by_group(data: ReportData) -> Drawing | None:
    """The recovery of each group over the first k nodes returned."""
    groups = [entry["name"] for entry in data.populations("group")]
    return _curve_panels(data, groups, 260) if len(groups) > 1 else None


def _curve_panels(data: ReportData, populations: Sequence[str], panel: float) -> Drawing:
    """A panel for each population. Dots mark ends of stages; rings mark where a run reaches the baseline's recovery."""
    across = 1 if len(populations) == 1 else 2
    entries = [(_with_nodes(data, name, populations), data.color(name)) for name in data.featured]
    top = 14 + legend_height([name for name, _ in entries], 44)
    rows = -(-len(populations) // across)
    height = top + rows * (panel + 34)
    which = population_label(data, populations[0]) if across == 1 else "by group"
    description = _matches(data, populations[0]) if across == 1 else best_run(data)
    drawing = Drawing(WIDTH, height, f"Recovery over the first k nodes, {which}", description)
    legend(drawing, entries, 44)
    width = WIDTH / across
    for number, population in enumerate(populations):
        left, above = width * (number % across), top + (panel + 34) * (number // across)
        _curve_panel(drawing, data, population, (left + 44, left + width - 14), (above + 26, above + panel))
    return drawing


def _curve_panel(
    drawing: Drawing, data: ReportData, population: str, across: tuple[float, float], down: tuple[float, float]
) -> None:
    scores = {name: data.run(name)["populations"][population] for name in data.featured}
    deepest = max(len(entry["curve"]) for entry in scores.values())
    x = Scale(0, deepest, *across)
    y = Scale(0, max(0.01, *(entry["recovery"] for entry in scores.values())) * 1.05, down[1], down[0])
    drawing.text(across[0], down[0] - 10, population_label(data, population), "strong")
    for tick in y.ticks():
        drawing.line(across[0], y(tick), across[1], y(tick), "grid")
        drawing.text(across[0] - 6, y(tick) + 4, f"{100 * tick:.4g}", "muted small", anchor="end")
    for tick in x.ticks(8):
        drawing.text(x(tick), down[1] + 16, f"{tick:.4g}", "muted small", anchor="middle")
    target = scores[data.baseline]["recovery"] if data.baseline is not None else None
    if target is not None:
        level = f"{data.baseline} at {len(scores[str(data.baseline)]['curve'])}"
        drawing.line(across[0], y(target), across[1], y(target), "target", hint=f"{level}: {percent(target)} %")
        drawing.text(across[0] + 4, y(target) - 6, shortened(level, LABEL), "muted small")
    for name, entry in reversed(scores.items()):
        color, curve = data.color(name), entry["curve"]
        line = [(x(0), y(0)), *((x(k), y(value)) for k, value in enumerate(curve, start=1))]
        drawing.path(line, f"line stroke-{color}", hint=name)
        for end, stage in data.results[name].stage_ends:
            if end <= len(curve):
                hint = f"{name}: {stage or 'stage'} ends at {end}, {percent(curve[end - 1])} %"
                drawing.circle(x(end), y(curve[end - 1]), 3.5, f"fill-{color}", hint=hint)
        reached = entry.get("nodes_to_match")
        if target is not None and reached is not None and name != data.baseline:
            hint = f"{name} reaches {data.baseline}'s recovery with {reached} nodes"
            drawing.circle(x(reached), y(target), 4.5, "ring", hint=hint)


def _with_nodes(data: ReportData, name: str, populations: Sequence[str]) -> str:
    """The name for a legend. With one panel it also says how many nodes reach the baseline's recovery."""
    if data.baseline in (None, name) or len(populations) > 1:
        return name
    nodes = data.run(name)["populations"][populations[0]]["nodes_to_match"]
    return f"{shortened(name, LABEL - 8)}: {'never' if nodes is None else nodes}"


def _matches(data: ReportData, population: str) -> str:
    """A sentence that says which runs reach the baseline's recovery, and with how many nodes."""
    if data.baseline is None:
        return best_run(data)
    needed = {
        name: data.run(name)["populations"][population].get("nodes_to_match")
        for name in data.featured
        if name != data.baseline
    }
    listed = ", ".join(f"{name} {DASH if nodes is None else nodes}" for name, nodes in needed.items())
    return f"Nodes that reach {data.baseline}'s recovery: {listed or 'no other run'}."
