"""Recovery over the first k nodes returned."""

from __future__ import annotations

from collections.abc import Sequence

from ..formatting import DASH, percent
from .material import Material
from .parts import LABEL, WIDTH, best_run, legend, legend_height, population_label
from .svg import Drawing, Scale
from .text import shortened


def curves(material: Material) -> Drawing:
    """The recovery of the main population over the first k nodes returned."""
    return _curve_panels(material, [material.main], 400)


def curves_by_group(material: Material) -> Drawing | None:
    """The recovery of each group over the first k nodes returned."""
    groups = [entry["name"] for entry in material.populations("group")]
    return _curve_panels(material, groups, 260) if len(groups) > 1 else None


def _curve_panels(material: Material, populations: Sequence[str], panel: float) -> Drawing:
    """A panel for each population. Dots mark ends of stages; rings mark where a run reaches the baseline's recovery."""
    across = 1 if len(populations) == 1 else 2
    entries = [(_with_nodes(material, name, populations), material.color(name)) for name in material.featured]
    top = 14 + legend_height([name for name, _ in entries], 44)
    rows = -(-len(populations) // across)
    height = top + rows * (panel + 34)
    which = population_label(material, populations[0]) if across == 1 else "by group"
    description = _matches(material, populations[0]) if across == 1 else best_run(material)
    drawing = Drawing(WIDTH, height, f"Recovery over the first k nodes, {which}", description)
    legend(drawing, entries, 44)
    width = WIDTH / across
    for number, population in enumerate(populations):
        left, above = width * (number % across), top + (panel + 34) * (number // across)
        _curve_panel(drawing, material, population, (left + 44, left + width - 14), (above + 26, above + panel))
    return drawing


def _curve_panel(
    drawing: Drawing, material: Material, population: str, across: tuple[float, float], down: tuple[float, float]
) -> None:
    scores = {name: material.run(name)["populations"][population] for name in material.featured}
    deepest = max(len(entry["curve"]) for entry in scores.values())
    x = Scale(0, deepest, *across)
    y = Scale(0, max(0.01, *(entry["recovery"] for entry in scores.values())) * 1.05, down[1], down[0])
    drawing.text(across[0], down[0] - 10, population_label(material, population), "strong")
    for tick in y.ticks():
        drawing.line(across[0], y(tick), across[1], y(tick), "grid")
        drawing.text(across[0] - 6, y(tick) + 4, f"{100 * tick:.4g}", "muted small", anchor="end")
    for tick in x.ticks(8):
        drawing.text(x(tick), down[1] + 16, f"{tick:.4g}", "muted small", anchor="middle")
    target = scores[material.baseline]["recovery"] if material.baseline is not None else None
    if target is not None:
        level = f"{material.baseline} at {len(scores[str(material.baseline)]['curve'])}"
        drawing.line(across[0], y(target), across[1], y(target), "target", hint=f"{level}: {percent(target)} %")
        drawing.text(across[0] + 4, y(target) - 6, shortened(level, LABEL), "muted small")
    for name, entry in reversed(scores.items()):
        color, curve = material.color(name), entry["curve"]
        line = [(x(0), y(0)), *((x(k), y(value)) for k, value in enumerate(curve, start=1))]
        drawing.path(line, f"line stroke-{color}", hint=name)
        for end, stage in material.results[name].marks:
            if end <= len(curve):
                hint = f"{name}: {stage or 'stage'} ends at {end}, {percent(curve[end - 1])} %"
                drawing.circle(x(end), y(curve[end - 1]), 3.5, f"fill-{color}", hint=hint)
        reached = entry.get("nodes_to_match")
        if target is not None and reached is not None and name != material.baseline:
            hint = f"{name} reaches {material.baseline}'s recovery with {reached} nodes"
            drawing.circle(x(reached), y(target), 4.5, "ring", hint=hint)


def _with_nodes(material: Material, name: str, populations: Sequence[str]) -> str:
    """The name for a legend. With one panel it also says how many nodes reach the baseline's recovery."""
    if material.baseline in (None, name) or len(populations) > 1:
        return name
    nodes = material.run(name)["populations"][populations[0]]["nodes_to_match"]
    return f"{shortened(name, LABEL - 8)}: {'never' if nodes is None else nodes}"


def _matches(material: Material, population: str) -> str:
    """A sentence that says which runs reach the baseline's recovery, and with how many nodes."""
    if material.baseline is None:
        return best_run(material)
    needed = {
        name: material.run(name)["populations"][population].get("nodes_to_match")
        for name in material.featured
        if name != material.baseline
    }
    listed = ", ".join(f"{name} {DASH if nodes is None else nodes}" for name, nodes in needed.items())
    return f"Nodes that reach {material.baseline}'s recovery: {listed or 'no other run'}."
