"""An evaluation as tables: shares in percent, differences in points, and a dash for a depth beyond the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..formatting import DASH, counted, interval, percent, points

if TYPE_CHECKING:
    from rich.table import Table

    from ..evaluation.results import EvaluatedRun, Evaluation, Population, Scores

Column = tuple[str, Sequence[str]]

_RUNS_ACROSS = 6
"""Up to so many runs become columns, with a row for each population, in tables by family and of differences."""
_HEADING = 14
"""A longer heading is broken after hyphens and underscores."""
_NAME = 14
"""Names of rows may be folded to this width on a narrow terminal. Numbers are never folded."""


def tables(report: Evaluation, slots: bool = False) -> Iterator[tuple[str, Table]]:
    """Titles and tables: recovery, families, depths, outside measures, slots, differences from the baseline."""
    runs, populations = report["runs"], report["populations"]
    wide = [p for p in populations if p["kind"] != "family"]
    families = [p for p in populations if p["kind"] == "family"]
    title = f"Evidence recovery in percent, {counted(report['questions'], 'question')}"
    yield title, _by_run(runs, [*_facts(runs), *_columns(runs, wide, _recovery)])
    if families:
        yield "Evidence recovery by family", _crossed(runs, runs, families, _recovery)
    depths = "All questions: gold found (recall@k) and questions with all gold found (all-supporting@k)"
    yield depths, _by_run(runs, _depths(report))
    if runs[0]["measures"]:
        cells = ((name, [f"{run['measures'][name]:.4f}" for run in runs]) for name in runs[0]["measures"])
        yield "All questions: ir-measures", _by_run(runs, cells)
    if slots:
        yield from _slots(report)
    others = [run for run in runs if run["name"] != report["baseline"]]
    if report["baseline"] is None or not others:
        return
    confidence = f"{report['options']['confidence']:.0%}"
    title = f"Difference from {report['baseline']} in points, with the {confidence} bootstrap interval"
    yield title, _crossed(runs, others, wide, _difference, matching=True)
    if families:
        yield "Difference by family", _crossed(runs, others, families, _difference)


def _by_run(runs: Sequence[EvaluatedRun], columns: Iterable[Column]) -> Table:
    return _table(("run", [run["name"] for run in runs]), columns)


def _crossed(
    runs: Sequence[EvaluatedRun],
    few: Sequence[EvaluatedRun],
    populations: Sequence[Population],
    cell: Callable[[Scores], str],
    matching: bool = False,
) -> Table:
    """A row for each population and a column for each run in `few`; if those are many, a row for each of `runs`."""
    if len(few) > _RUNS_ACROSS:
        return _by_run(runs, [*([_matching(runs)] if matching else []), *_columns(runs, populations, cell)])
    names = [f"{population['name']} ({population['questions']})" for population in populations]
    columns = [(_broken(run["name"]), [cell(run["populations"][p["name"]]) for p in populations]) for run in few]
    if matching:
        heading, needed = _matching(few)
        names.append(" ".join(heading.split()))
        for (_, cells), nodes in zip(columns, needed, strict=True):
            cells.append(nodes)
    return _table(("questions", names), columns)


def _table(names: Column, columns: Iterable[Column]) -> Table:
    """A table. Its first column may be folded. Its other columns are as wide as their longest line."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    heading, rows = names
    table.add_column(heading, overflow="fold", min_width=min(_NAME, _width(rows)))
    filled = list(columns)
    for heading, cells in filled:
        table.add_column(heading, justify="right", no_wrap=True, min_width=_width([heading, *cells]))
    for row in zip(rows, *(cells for _, cells in filled), strict=True):
        table.add_row(*row)
    return table


def _width(cells: Iterable[str]) -> int:
    return max((len(line) for cell in cells for line in cell.splitlines()), default=0)


def _broken(name: str) -> str:
    """A name as a heading. A long one is broken after hyphens and underscores."""
    lines = [""]
    for piece in re.split(r"(?<=[-_])", name):
        if lines[-1] and len(lines[-1] + piece) > _HEADING:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def _columns(
    runs: Sequence[EvaluatedRun], populations: Sequence[Population], cell: Callable[[Scores], str]
) -> Iterator[Column]:
    for population in populations:
        heading = f"{_broken(population['name'])}\n({population['questions']})"
        yield heading, [cell(run["populations"][population["name"]]) for run in runs]


def _depths(report: Evaluation) -> Iterator[Column]:
    """recall@k and all-supporting@k over all questions."""
    scores = [run["populations"]["all"] for run in report["runs"]]
    found, complete = [each["recall"] for each in scores], [each["all_supporting"] for each in scores]
    for heading, shares in (("recall", found), ("all-sup.", complete)):
        for k in map(str, report["k"]):
            yield f"{heading}\n@{k}", [percent(by_k[k]) for by_k in shares]


def _slots(report: Evaluation) -> Iterator[tuple[str, Table]]:
    """For each number of hops, the share of questions whose first, second, … gold passage is within the first k."""
    runs = report["runs"]
    for number, entry in enumerate(runs[0]["slots"]):
        rows = [
            (run["name"] if slot["slot"] == 1 else "", slot) for run in runs for slot in run["slots"][number]["slots"]
        ]
        found = [slot for _, slot in rows]
        columns = [
            ("gold", [f"g{slot['slot']}" for slot in found]),
            ("questions", [str(slot["questions"]) for slot in found]),
            ("median\nrank", [_rank(slot["median_rank"]) for slot in found]),
            *((f"@{k}", [percent(slot["within"][k]) for slot in found]) for k in map(str, report["k"])),
        ]
        hops = counted(entry["hops"], "hop")
        title = (
            f"Slots, {hops} ({counted(entry['questions'], 'question')}): i-th gold passage within the first k, percent"
        )
        yield title, _table(("run", [name for name, _ in rows]), columns)


def _facts(runs: Sequence[EvaluatedRun]) -> Iterator[Column]:
    yield "nodes", [str(run["budget"]) for run in runs]
    yield "search\ncalls", ["" if run["search_calls"] is None else str(run["search_calls"]) for run in runs]


def _matching(runs: Sequence[EvaluatedRun]) -> Column:
    needed = [run["populations"]["all"].get("nodes_to_match") for run in runs]
    return "all: nodes\nto match it", ["never" if nodes is None else str(nodes) for nodes in needed]


def _recovery(scores: Scores) -> str:
    return percent(scores["recovery"])


def _difference(scores: Scores) -> str:
    if "difference" not in scores:
        return "baseline"
    return f"{points(scores['difference'])}\n{interval(scores['interval'])}"


def _rank(value: float | None) -> str:
    return DASH if value is None else f"{value:g}"
