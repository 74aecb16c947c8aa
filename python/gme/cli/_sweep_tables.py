"""A sweep as tables: the ranking, the comparison with the baseline on each workspace, and budget curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..formatting import DASH, interval, points
from ._evaluation_tables import _broken, _table

if TYPE_CHECKING:
    from rich.table import Table

    from ..sweep.results import ComparedRow, Comparison, Curves, Kept, Row, SweepReport

_SHARES = ("recovery", "gain", "recall", "all-supporting")


def tables(report: SweepReport, rows: int) -> Iterator[tuple[str, Table]]:
    """Titles and tables: baselines and ranking, then one comparison for each workspace, then curves.

    Args:
        report: the result of `gme.sweep.run.run_sweep`. rows: the most configurations in the ranking; 0 means all.
    """
    constraints = f", subject to {', '.join(report['constraints'])} (×: broken)" if report["constraints"] else ""
    yield (
        f"By {report['criterion']}{constraints}; on {report['selected_on']}, shares in percent, gains in points",
        _ranking(report, rows),
    )
    for comparison in report["comparisons"]:
        yield f"{_role(report, comparison['workspace'])}: {report['criterion']}", _comparison(report, comparison)
    for curve in report["curves"]:
        role = _role(report, curve["workspace"])
        yield (
            f"{role}: {curve['measure']} with smaller budgets (in brackets: first nodes of the full run)",
            _curve(curve),
        )


def _role(report: SweepReport, workspace: str) -> str:
    if workspace == report["selected_on"]:
        return f"Selected on {workspace}, judged by the same questions"
    return f"Selected on {report['selected_on']}, confirmed on {workspace}"


def _ranking(report: SweepReport, rows: int) -> Table:
    """Baselines first, then the configurations by rank. A mark shows that a constraint is broken."""
    ranked = report["configurations"][: rows or None]
    lines = [*report["baselines"], *ranked]
    columns: list[tuple[str, Sequence[str]]] = [
        ("rank", ["" if "rank" not in line else f"{line['rank']}{'' if line['eligible'] else ' ×'}" for line in lines]),
        (_heading(report["criterion"]), [number(report["criterion"], line["value"]) for line in lines]),
    ]
    columns += _secondary(report, lines)
    columns += [
        ("search\ncalls", [str(line["search_calls"]) for line in lines]),
        ("nodes to\nmatch\nbaseline", [_nodes(line["nodes_to_match"]) for line in lines]),
    ]
    if len({line["budget"] for line in lines}) > 1:
        columns.append(("budget", [str(line["budget"]) for line in lines]))
    names = [line["name"] if "rank" in line else f"{line['name']} (baseline)" for line in lines]
    return _table(("configuration", names), columns)


def _comparison(report: SweepReport, comparison: Comparison) -> Table:
    rows = comparison["rows"]
    compared = next((row["compared"] for row in rows if "compared" in row), report["criterion"])
    over = "over baseline" if compared == report["criterion"] else f"{compared}\nover baseline"
    columns: list[tuple[str, Sequence[str]]] = [
        (_heading(report["criterion"]), [number(report["criterion"], row["value"]) for row in rows]),
        (over, [_interval(row, compared) for row in rows]),
        *_secondary(report, rows),
        ("search\ncalls", [str(row["search_calls"]) for row in rows]),
        ("nodes to\nmatch\nbaseline", ["" if row["baseline"] else _nodes(row["nodes_to_match"]) for row in rows]),
    ]
    names = [f"{row['name']} (baseline)" if row["baseline"] else row["name"] for row in rows]
    return _table(("configuration", names), columns)


def _secondary(report: SweepReport, lines: Sequence[Row | ComparedRow]) -> Iterator[tuple[str, Sequence[str]]]:
    """Columns of the constraints, with a mark for each broken one, and of the other measures."""
    bounded = {text.rsplit(" ", 2)[0].removesuffix(":all"): text for text in report["constraints"]}
    for text in report["shown"]:
        if text not in (report["criterion"], *bounded):
            yield _heading(text), [number(text, line["shown"][text]) for line in lines]
    for text in report["constraints"]:
        measure, sign, bound = text.rsplit(" ", 2)
        yield f"{_heading(measure)}\n{sign} {bound}", [_kept(text, line["constraints"][text]) for line in lines]


def _curve(curve: Curves) -> Table:
    columns = []
    for place, budget in enumerate(curve["budgets"]):
        cells = []
        for line in curve["lines"]:
            again, first = line["rerun"][place], line["first_nodes"][place]
            cells.append(f"{again:.1f}" + ("" if line["same"] or first is None else f" ({first:.1f})"))
        columns.append((f"@{budget}", cells))
    return _table(("configuration", [line["name"] for line in curve["lines"]]), columns)


def number(measure: str, value: float | None) -> str:
    """A value in its measure's format: one digit for percent, a sign for points, four digits for ir-measures."""
    if value is None:
        return DASH
    kind = measure.split()[0].split(":")[0].split("@")[0]
    if kind == "gain":
        return f"{value + 0.0:+.1f}"
    if kind in _SHARES:
        return f"{value:.1f}"
    return f"{value:g}" if kind in ("nodes-to-match", "search-calls", "budget") else f"{value:.4f}"


def _kept(text: str, constraint: Kept) -> str:
    return number(text, constraint["value"]) + ("" if constraint["holds"] else " ×")


def _interval(row: ComparedRow, compared: str) -> str:
    if "interval" not in row:
        return "baseline"
    own = "" if row["compared"] == compared else f" ({row['compared']})"
    return f"{points(row['difference'] / 100)} {interval([end / 100 for end in row['interval']])}{own}"


def _nodes(count: int | None) -> str:
    return "never" if count is None else str(count)


def _heading(text: str) -> str:
    name, colon, rest = text.partition(":")
    return f"{name}\n{_broken(rest)}" if colon else _broken(name)
