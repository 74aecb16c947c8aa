"""The figures of a report, after figures 3 to 9 of the GME paper; the registry is at the end of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .material import Material
from .svg import CHARACTER, Drawing, Scale
from .text import DASH, clean, interval, percent, points, shortened
from .theme import SERIES

WIDTH = 760
_ROW = 20
_SLOT_DEPTH = 10
_LABEL = 34
"""Characters of the longest label; the whole name is shown when pointed at."""


@dataclass(frozen=True)
class Figure:
    """A kind of figure.

    Attributes:
        heading: its title on the page. caption: how to read it.
        draw: gives the drawing, or None where the report has nothing for it.
    """

    heading: str
    caption: str
    draw: Callable[[Material], Drawing | None]


def _recovery(material: Material) -> Drawing:
    """Bars of every run, by strategy, coloured by collection, with the baseline's recovery as a line."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for run in material.runs:
        groups.setdefault(str(run["strategy"] or "other runs"), []).append(run)
    collections = sorted({str(run["collection"]) for run in material.runs if run["collection"]})
    left = _label_width(material.runs) + 10
    top = 34 + 20 * len(list(_legend_rows(collections, left)))
    height = top + sum(26 + _ROW * len(runs) for runs in groups.values()) + 10
    drawing = Drawing(WIDTH, height, f"Recovery by run, {_population(material, material.main)}", _best(material))
    _legend(drawing, [(name, f"s{n % SERIES}") for n, name in enumerate(collections)], left)
    scale = Scale(0, max(0.01, max(_recovered(material, run["name"]) for run in material.runs)), left, WIDTH - 50)
    _grid(drawing, scale, top - 12, height - 8)
    y = float(top)
    for strategy, runs in groups.items():
        drawing.text(4, y + 14, shortened(strategy, _LABEL), "strong")
        y += 22
        for run in runs:
            value = run["populations"][material.main]["recovery"]
            colour = f"s{collections.index(run['collection']) % SERIES}" if run["collection"] else "base"
            hint = f"{run['name']}: {percent(value)} %"
            drawing.text(left - 8, y + 14, shortened(run["name"], _LABEL), "muted", anchor="end")
            drawing.rectangle(left, y + 3, scale(value) - left, _ROW - 6, f"fill-{colour}", hint=hint)
            drawing.text(scale(value) + 5, y + 14, percent(value), "small")
            y += _ROW
        y += 4
    if material.baseline is not None:
        x = scale(_recovered(material, material.baseline))
        drawing.line(x, top - 12, x, height - 8, "target", hint=f"{material.baseline}")
    return drawing


def _curves(material: Material) -> Drawing:
    """The main population's recovery over the first k returned."""
    return _curve_panels(material, [material.main], 400)


def _curves_by_group(material: Material) -> Drawing | None:
    """The same for each group."""
    groups = [entry["name"] for entry in material.populations("group")]
    return _curve_panels(material, groups, 260) if len(groups) > 1 else None


def _curve_panels(material: Material, populations: Sequence[str], panel: float) -> Drawing:
    """Panels one below the other, with stage ends as dots and the place where the baseline's level is reached."""
    across = 1 if len(populations) == 1 else 2
    entries = [(name, material.colour(name)) for name in material.featured]
    top = 14 + 20 * len(list(_legend_rows([name for name, _ in entries], 44)))
    rows = -(-len(populations) // across)
    height = top + rows * (panel + 34)
    title = f"Recovery over the first k nodes, {', '.join(_population(material, name) for name in populations)}"
    drawing = Drawing(WIDTH, height, title, _matches(material, populations[0]))
    _legend(drawing, entries, 44)
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
    drawing.text(across[0], down[0] - 10, _population(material, population), "strong")
    for tick in y.ticks():
        drawing.line(across[0], y(tick), across[1], y(tick), "grid")
        drawing.text(across[0] - 6, y(tick) + 4, f"{100 * tick:.4g}", "muted small", anchor="end")
    for tick in x.ticks(8):
        drawing.text(x(tick), down[1] + 16, f"{tick:.4g}", "muted small", anchor="middle")
    target = scores[material.baseline]["recovery"] if material.baseline is not None else None
    if target is not None:
        level = f"{material.baseline} at {len(scores[str(material.baseline)]['curve'])}"
        drawing.line(across[0], y(target), across[1], y(target), "target", hint=f"{level}: {percent(target)} %")
        drawing.text(across[1], y(target) + 14, shortened(level, _LABEL), "muted small", anchor="end")
    for name, entry in reversed(scores.items()):
        colour, curve = material.colour(name), entry["curve"]
        line = [(x(0), y(0)), *((x(k), y(value)) for k, value in enumerate(curve, start=1))]
        drawing.path(line, f"line stroke-{colour}", hint=name)
        for end, stage in material.results[name].marks():
            if end <= len(curve):
                hint = f"{name}: {stage or 'stage'} ends at {end}, {percent(curve[end - 1])} %"
                drawing.circle(x(end), y(curve[end - 1]), 3.5, f"fill-{colour}", hint=hint)
        reached = entry.get("nodes_to_match")
        if target is not None and reached is not None and name != material.baseline:
            hint = f"{name} reaches {material.baseline}'s recovery with {reached} nodes"
            drawing.circle(x(reached), y(target), 4.5, "ring", hint=hint)
            drawing.text(x(reached), y(target) - 8, str(reached), "small", anchor="middle")


def _changes_by_group(material: Material) -> Drawing | None:
    return _changes(material, material.populations("all", "hard", "group"), "group")


def _changes_by_family(material: Material) -> Drawing | None:
    return _changes(material, material.populations("family"), "family")


def _changes(material: Material, populations: Sequence[dict[str, Any]], what: str) -> Drawing | None:
    """Differences from the baseline with their intervals: a row a population, a dot a run."""
    others = [name for name in material.featured if name != material.baseline]
    if material.baseline is None or not others or not populations:
        return None
    labels = [f"{entry['name']} ({entry['questions']})" for entry in populations]
    left = 20 + CHARACTER * max(min(len(label), _LABEL) for label in labels)
    top = 30 + 20 * len(list(_legend_rows(others, left)))
    row = 11 * len(others) + 12
    height = top + row * len(populations) + 28
    ends = [
        end
        for entry in populations
        for name in others
        for end in material.run(name)["populations"][entry["name"]]["interval"]
    ]
    margin = 0.03 * max(0.01, max(ends) - min(ends))
    scale = Scale(min(0, *ends) - margin, max(0, *ends) + margin, left, WIDTH - 16)
    title = f"Change against {material.baseline} by {what}, in points"
    drawing = Drawing(WIDTH, height, title, _best(material))
    _legend(drawing, [(name, material.colour(name)) for name in others], left)
    _grid(drawing, scale, top, top + row * len(populations), signed=True)
    drawing.line(scale(0), top, scale(0), top + row * len(populations), "zero")
    for number, (entry, label) in enumerate(zip(populations, labels, strict=True)):
        y = top + row * number
        if number:
            drawing.line(4, y, WIDTH - 16, y, "grid")
        drawing.text(left - 10, y + row / 2 + 4, shortened(label, _LABEL), anchor="end")
        for place, name in enumerate(others):
            scores = material.run(name)["populations"][entry["name"]]
            low, high = scores["interval"]
            middle, colour = y + 12 + 11 * place, material.colour(name)
            hint = f"{name}, {entry['name']}: {points(scores['difference'])} {interval((low, high))}"
            drawing.line(scale(low), middle, scale(high), middle, f"whisker stroke-{colour}", hint=hint)
            drawing.circle(scale(scores["difference"]), middle, 4, f"fill-{colour}", hint=hint)
    return drawing


def _families(material: Material) -> Drawing | None:
    """Every run by family: the change against the baseline, or recovery where there is none."""
    families = material.populations("family")
    if len(families) < 2:
        return None
    compared = material.baseline is not None and len(material.runs) > 1
    rows = []
    for run in material.runs:
        scores = [run["populations"][entry["name"]] for entry in families]
        if compared and run["name"] != material.baseline:
            cells = [(entry["difference"], points(entry["difference"])) for entry in scores]
        else:
            cells = [(None if compared else entry["recovery"], percent(entry["recovery"])) for entry in scores]
        rows.append((run["name"], cells))
    title = f"Change against {material.baseline} by family, in points" if compared else "Recovery by family, in percent"
    return _heat(title, _best(material), rows, [f"{entry['name']} ({entry['questions']})" for entry in families])


def _slots(material: Material) -> Drawing | None:
    """How often the first, second, … piece of evidence lies within k, by hops."""
    if not material.with_hops:
        return None
    k = str(_SLOT_DEPTH)
    columns = [
        f"{entry['hops']}-hop g{slot['slot']} ({slot['questions']})"
        for entry in material.runs[0]["slots"]
        for slot in entry["slots"]
    ]
    rows = []
    for run in material.runs:
        shares = [slot["within"][k] for entry in run["slots"] for slot in entry["slots"]]
        rows.append((run["name"], [(share, percent(share)) for share in shares]))
    title = f"Slot coverage: questions whose i-th gold node lies within the first {k}, in percent"
    return _heat(title, "g1 is the gold node found first, g2 the second, and so on.", rows, columns)


def _heat(
    title: str, description: str, rows: Sequence[tuple[str, Sequence[tuple[float | None, str]]]], columns: Sequence[str]
) -> Drawing:
    """A table with coloured cells; a cell without a value stays without colour."""
    left = 18 + CHARACTER * max(min(len(name), _LABEL) for name, _ in rows)
    top = 24 + 0.66 * CHARACTER * max(min(len(name), _LABEL) for name in columns)
    cell = max(48.0, (WIDTH - left - 60) / len(columns))
    largest = max((abs(value) for _, cells in rows for value, _ in cells if value is not None), default=0) or 1
    signed = any(value is not None and value < 0 for _, cells in rows for value, _ in cells)
    drawing = Drawing(left + cell * len(columns) + 60, top + _ROW * len(rows) + 8, title, description)
    for number, column in enumerate(columns):
        drawing.text(left + cell * (number + 0.4), top - 6, shortened(column, _LABEL), "muted small", turned=True)
    for line, (name, cells) in enumerate(rows):
        y = top + _ROW * line
        drawing.text(left - 8, y + 14, shortened(name, _LABEL), anchor="end")
        for number, (value, text) in enumerate(cells):
            x = left + cell * number
            if value is not None:
                style = "fill-amount" if not signed else "fill-gain" if value >= 0 else "fill-loss"
                hint = f"{name}, {columns[number]}: {text}"
                strength = 0.6 * abs(value) / largest
                drawing.rectangle(x + 1, y + 1, cell - 2, _ROW - 2, style, hint=hint, opacity=strength)
            drawing.text(x + cell / 2, y + 14, text, "small" if value is not None else "small muted", anchor="middle")
    return drawing


def _supporting(material: Material) -> Drawing | None:
    """All-supporting@k of the featured runs as lines over the depths."""
    depths = material.evaluation["k"]
    shares = {name: material.run(name)["populations"]["all"]["all_supporting"] for name in material.featured}
    known = [share for by_depth in shares.values() for share in by_depth.values() if share is not None]
    if not known:
        return None
    entries = [(name, material.colour(name)) for name in material.featured]
    top = 20 + 20 * len(list(_legend_rows([name for name, _ in entries], 44)))
    height = top + 280.0
    drawing = Drawing(WIDTH, height, "Questions with all gold found within k, in percent", _best(material))
    _legend(drawing, entries, 44)
    x = Scale(0, max(depths), 44, WIDTH - 20)
    y = Scale(0, max(0.01, *known) * 1.05, height - 28, top)
    for tick in y.ticks():
        drawing.line(44, y(tick), WIDTH - 20, y(tick), "grid")
        drawing.text(38, y(tick) + 4, f"{100 * tick:.4g}", "muted small", anchor="end")
    for k in depths:
        drawing.text(x(k), height - 10, f"@{k}", "muted small", anchor="middle")
    for name, colour in reversed(entries):
        reached = [(k, shares[name][str(k)]) for k in depths if shares[name][str(k)] is not None]
        drawing.path([(x(k), y(share)) for k, share in reached], f"line stroke-{colour}", hint=name)
        for k, share in reached:
            drawing.circle(x(k), y(share), 3.5, f"fill-{colour}", hint=f"{name}, @{k}: {percent(share)} %")
    return drawing


def _cost(material: Material) -> Drawing | None:
    """Recovery against what a question costs: milliseconds where they were measured, else searches."""
    timed = {name: material.latency(name) for name in material.featured}
    unit = "milliseconds a question, median" if any(timed.values()) else "vector searches a question"
    costs = timed if any(timed.values()) else {name: material.run(name)["search_calls"] for name in material.featured}
    known = {name: float(cost) for name, cost in costs.items() if isinstance(cost, int | float)}
    if len(known) < 2:
        return None
    top = 20 + 20 * len(list(_legend_rows(list(known), 44)))
    height = top + 260.0
    drawing = Drawing(WIDTH, height, f"Recovery against {unit}, {_population(material, material.main)}", _best(material))
    _legend(drawing, [(name, material.colour(name)) for name in known], 44)
    x = Scale(0, max(known.values()) * 1.08, 44, WIDTH - 20)
    y = Scale(0, max(0.01, *(_recovered(material, name) for name in known)) * 1.08, height - 44, top)
    for tick in y.ticks():
        drawing.line(44, y(tick), WIDTH - 20, y(tick), "grid")
        drawing.text(38, y(tick) + 4, f"{100 * tick:.4g}", "muted small", anchor="end")
    for tick in x.ticks():
        drawing.text(x(tick), height - 26, f"{tick:.4g}", "muted small", anchor="middle")
    drawing.text(WIDTH / 2, height - 8, unit, "muted", anchor="middle")
    for name, cost in known.items():
        value = _recovered(material, name)
        drawing.circle(x(cost), y(value), 6, f"fill-{material.colour(name)}", hint=f"{name}: {cost:g}, {percent(value)} %")
    return drawing


# ---- what several figures share -------------------------------------------------------------------------------------


def _grid(drawing: Drawing, scale: Scale, top: float, bottom: float, *, signed: bool = False) -> None:
    """Vertical lines at round values, with the values above or, for differences, below."""
    for tick in scale.ticks():
        drawing.line(scale(tick), top, scale(tick), bottom, "grid")
        text = f"{100 * tick + 0.0:+.4g}" if signed and abs(tick) > 1e-12 else f"{100 * abs(tick):.4g}"
        drawing.text(scale(tick), bottom + 16 if signed else top - 4, text, "muted small", anchor="middle")


def _legend_rows(names: Sequence[str], left: float) -> Iterator[list[tuple[int, float]]]:
    """The rows that a legend needs: (number of the name, where it begins)."""
    row: list[tuple[int, float]] = []
    x = left
    for number, name in enumerate(names):
        width = 26 + CHARACTER * min(len(name), _LABEL)
        if row and x + width > WIDTH:
            yield row
            row, x = [], left
        row.append((number, x))
        x += width
    if row:
        yield row


def _legend(drawing: Drawing, entries: Sequence[tuple[str, str]], left: float) -> None:
    for line, row in enumerate(_legend_rows([name for name, _ in entries], left)):
        for number, x in row:
            name, colour = entries[number]
            drawing.rectangle(x, 4 + 20 * line, 12, 12, f"fill-{colour}")
            drawing.text(x + 17, 14 + 20 * line, shortened(name, _LABEL), "small")


def _label_width(runs: Sequence[dict[str, Any]]) -> float:
    return 12 + CHARACTER * max(min(len(run["name"]), _LABEL) for run in runs)


def _recovered(material: Material, name: str) -> float:
    value: float = material.run(name)["populations"][material.main]["recovery"]
    return value


def _population(material: Material, name: str) -> str:
    """``hard questions (540)``."""
    entry = next(entry for entry in material.evaluation["populations"] if entry["name"] == name)
    return f"{clean(name)} questions ({entry['questions']})"


def _best(material: Material) -> str:
    """The best run in a sentence, for those who do not see the figure."""
    best = max(material.featured, key=lambda name: _recovered(material, name))
    text = f"Best on {_population(material, material.main)}: {best}, {percent(_recovered(material, best))} %"
    if material.baseline is None or best == material.baseline:
        return text + "."
    return f"{text}; {material.baseline}: {percent(_recovered(material, material.baseline))} %."


def _matches(material: Material, population: str) -> str:
    """Who reaches the baseline's recovery, and with how many nodes."""
    if material.baseline is None:
        return _best(material)
    needed = {
        name: material.run(name)["populations"][population].get("nodes_to_match")
        for name in material.featured
        if name != material.baseline
    }
    listed = ", ".join(f"{name} {DASH if nodes is None else nodes}" for name, nodes in needed.items())
    return f"Nodes that reach {material.baseline}'s recovery: {listed or 'no other run'}."


FIGURES = {
    "recovery": Figure(
        "Recovery by strategy and collection",
        "Share of a question's gold evidence among the nodes returned, averaged over questions. Dashed: the baseline.",
        _recovery,
    ),
    "curves": Figure(
        "How soon the evidence comes",
        "Recovery over the first k returned. Dots: where a stage ends. Dashed: the baseline with all its nodes; "
        "rings and numbers: with how many nodes a run gets there.",
        _curves,
    ),
    "curves-groups": Figure("The same, by group of questions", "Marks as above.", _curves_by_group),
    "changes": Figure(
        "Change against the baseline",
        "Difference in points with its paired-bootstrap interval; one that keeps clear of zero is no accident of "
        "these questions.",
        _changes_by_group,
    ),
    "changes-families": Figure("Change by family of questions", "Marks as above.", _changes_by_family),
    "families": Figure(
        "Families at a glance", "Every run by family; the stronger the colour, the larger the value.", _families
    ),
    "supporting": Figure(
        "Questions answered in full", "Share of questions with every gold node within the first k.", _supporting
    ),
    "slots": Figure(
        "Slot coverage by hops",
        "A question's gold nodes, sorted by the rank they were found at, are its slots g1, g2, …; later slots are the "
        "ones that multi-hop questions miss.",
        _slots,
    ),
    "cost": Figure(
        "What it costs", "Recovery against the price of a question; up and to the left is better.", _cost
    ),
}
