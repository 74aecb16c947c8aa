"""Runs a sweep: collections, configurations, selection on one workspace, confirmation on others, budget curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from ..errors import GmeError, shorten
from ..formatting import counted
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.files import write_json
from ..workspace import Workspace, shared_lock
from .configurations import Configuration
from .confirm import compare
from .criteria import WORST, Constraint, Measure, check_populations, has_questions, read_off
from .grid import SHOWN, Grid
from .ledger import Ledger
from .results import Comparison, ConfigurationScores, CurveLine, Curves, Row, SweepReport
from .runner import Bench, check_distinct


@takes_callbacks
@dataclass(frozen=True)
class SweepSetting:
    """How to run a sweep, besides what the grid says.

    Attributes:
        criterion: replaces the criterion of the grid.
        constraints: constraints besides those of the grid.
        top: how many of the best are compared with the baseline and confirmed.
        name: the name of the report and the ledger. Empty means the name of the grid.
        threads: 0 means all cores. Any number gives the same report.
        reporter: is told when each step begins, and gets warnings about what a table does not show.
    """

    criterion: Measure | None = None
    constraints: Sequence[Constraint] = ()
    top: int = 1
    name: str = ""
    threads: int = 0
    reporter: Reporter = field(default=SILENT, repr=False)


@shared_lock
def run_sweep(
    workspace: Workspace, grid: Grid, *, confirm: Sequence[Workspace] = (), setting: SweepSetting | None = None
) -> SweepReport:
    """Try all configurations of a grid on one workspace, select by the criterion, and confirm the selection on others.

    Finished configurations are in the ledger `reports/sweep-NAME.jsonl`. So an interrupted sweep goes on where it
    stopped, and a second sweep computes only what has changed. The result is written to `reports/sweep-NAME.json`. The
    best and the baseline are stored as runs `sweep-…` on every workspace, and are evaluated there in
    `reports/budget…-sweep-NAME.json`.

    Args:
        workspace: the workspace for the selection. It needs what ``gme embed`` leaves there.
        confirm: other workspaces, with other questions.

    Returns:
        JSON-ready, and the same bytes for any number of threads: ``criterion``, ``constraints``, ``configurations`` by
        rank (eligible ones first), ``baselines`` by budget, ``selected`` (names, best first), ``comparisons`` (one for
        each workspace: `gme.sweep.confirm.compare`) and ``curves``.

    Raises:
        GmeError: the errors of the steps; a confirmation on the questions of the selection; a confirmation when no
            configuration meets the constraints.

    Example:
        >>> import gme
        >>> found = gme.run_sweep(gme.Workspace("corpus"), gme.read_grid("grid.toml"))
        >>> len(found["configurations"])
        2
    """
    setting = setting or SweepSetting()
    if setting.top < 1:
        raise GmeError(f"--top is {setting.top}, but must be at least 1")
    check_distinct(workspace, confirm)
    name = setting.name or grid.name
    with ExitStack() as stack:
        for each in (workspace, *confirm):
            stack.enter_context(each.writing(f"reports/sweep-{name}.jsonl"))
        return _sweep(workspace, grid, confirm, setting, name)


def _sweep(
    workspace: Workspace, grid: Grid, confirm: Sequence[Workspace], setting: SweepSetting, name: str
) -> SweepReport:
    constraints = (*grid.constraints, *setting.constraints)
    asked = [
        m for m in (setting.criterion or grid.criterion, *(c.measure for c in constraints), *(grid.show or ())) if m
    ]
    ir_measures = tuple(sorted({m.text for m in asked if m.kind == "ir"}))
    benches = [
        Bench(each, grid, _ledger(each, name, setting), ir_measures, setting.threads, setting.reporter)
        for each in (workspace, *confirm)
    ]
    first = benches[0]
    criterion = setting.criterion or grid.criterion or _usual(first)
    shown = grid.show
    if shown is None:
        shown = tuple(m for m in SHOWN if all(has_questions(m, bench.gold.kinds) for bench in benches))
    for bench in benches:
        check_populations([criterion, *asked], bench.gold.kinds, bench.name)
        bench.check_edge_types()
    _check_depths([criterion, *(c.measure for c in constraints)], grid)

    baselines = grid.baselines()
    what = _beside(grid.configurations, baselines)
    scored = _score_all(first, [*baselines, *grid.configurations], setting, what)
    rows = [_row(c, scored, grid, criterion, constraints, shown) for c in grid.configurations]
    rows.sort(key=lambda row: _order(row, criterion))
    for rank, row in enumerate(rows, start=1):
        row["rank"] = rank
    by_name = {c.name: c for c in grid.configurations}
    chosen = [by_name[row["name"]] for row in rows if row["eligible"]][: setting.top]
    report: SweepReport = {
        "name": name,
        "selected_on": first.name,
        "confirmed_on": [bench.name for bench in benches[1:]],
        "criterion": str(criterion),
        "lower_is_better": criterion.lower_is_better,
        "constraints": [str(c) for c in constraints],
        "shown": [str(m) for m in shown],
        "baselines": [_row(c, scored, grid, criterion, constraints, shown) for c in grid.baselines()],
        "configurations": rows,
        "selected": [c.name for c in chosen],
        "comparisons": [],
        "curves": [],
    }
    if outside := grid.plugins():
        report["plugins"] = outside
    if not chosen and confirm:
        write_json(workspace.path(f"reports/sweep-{name}.json"), report)
        raise GmeError(
            f"no configuration meets {', '.join(report['constraints'])}: there is nothing to confirm",
            f"see the values in {workspace.path(f'reports/sweep-{name}.json')}, or loosen a constraint",
        )
    _tell(report, first, benches[1:], setting)
    for bench in benches if chosen else []:
        baselines = [grid.baseline.at_budget(c.budget) for c in chosen]
        _score_all(bench, [*baselines, *chosen], setting, _beside(chosen, baselines, "selected configuration"))
        comparison = compare(bench, chosen, criterion, constraints, shown, name, bench is not first)
        _tell_broken(comparison, setting)
        report["comparisons"].append(comparison)
    for bench in benches if chosen and grid.curve else []:
        report["curves"].append(_curves(bench, chosen, criterion, setting))
    write_json(workspace.path(f"reports/sweep-{name}.json"), report)
    return report


def _ledger(workspace: Workspace, name: str, setting: SweepSetting) -> Ledger:
    ledger = Ledger(workspace.path(f"reports/sweep-{name}.jsonl"))
    if ledger.damaged:
        setting.reporter.warn(f"{ledger.path} has damaged lines ({ledger.damaged})", "what they held is computed again")
    return ledger


def _tell(report: SweepReport, first: Bench, others: Sequence[Bench], setting: SweepSetting) -> None:
    """Warn of what the table does not show: a selection that gains nothing, or questions that were seen before."""
    budgets = {row["budget"] for row in report["configurations"]}
    if len(budgets) > 1:
        listed = ", ".join(map(str, sorted(budgets)))
        setting.reporter.warn(
            f"configurations of different budgets are ranked together: {listed}", "more nodes find more"
        )
    if not report["selected"]:
        setting.reporter.warn(f"no configuration meets {', '.join(report['constraints'])}", "loosen a constraint")
        return
    best = next(row for row in report["configurations"] if row["eligible"])
    baseline = next(row for row in report["baselines"] if row["budget"] == best["budget"])
    if best["value"] is not None and baseline["value"] is not None:
        gain = round(best["value"] - baseline["value"], 9) * (-1 if report["lower_is_better"] else 1)
        if gain <= 0:
            setting.reporter.warn(f"no configuration beats the baseline {baseline['name']} by {report['criterion']}")
    seen = set(_asked(first))
    for bench in others:
        again = sum(question in seen for question in _asked(bench))
        if again:
            setting.reporter.warn(
                f"{again} of the {len(bench.workspace.questions)} questions in {bench.name} are also in {first.name}",
                "the confirmation is not independent of the selection",
            )


def _asked(bench: Bench) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The text and the gold of each question. Two corpora may ask the same question with different evidence."""
    questions = bench.workspace.questions
    for text, gold in zip(questions.texts, questions.gold, strict=True):
        yield text, tuple(sorted(gold))


def _tell_broken(comparison: Comparison, setting: SweepSetting) -> None:
    for row in comparison["rows"] if comparison["confirmed"] else []:
        broken = [text for text, kept in row["constraints"].items() if not kept["holds"]]
        if broken and not row["baseline"]:
            setting.reporter.warn(f"{row['name']} does not keep {', '.join(broken)} on {comparison['workspace']}")


def _usual(bench: Bench) -> Measure:
    return Measure("recovery", "recovery", 0, "hard" if "hard" in bench.gold.kinds else "all")


def _check_depths(measures: Sequence[Measure], grid: Grid) -> None:
    """Refuse a depth that some configuration does not reach, because that configuration could not be ranked."""
    for measure in measures:
        short = [c for c in grid.configurations if c.budget < measure.depth]
        if short:
            raise GmeError(
                f"{measure} needs {measure.depth} nodes, but {shorten(short[0].name)} returns {short[0].budget}",
                "give it a larger budget, or choose a smaller depth",
            )


def _score_all(
    bench: Bench, configurations: Sequence[Configuration], setting: SweepSetting, what: str
) -> dict[str, ConfigurationScores]:
    """Make the missing and stale collections, then score the configurations that are not finished.

    Args:
        what: the configurations in words, for the display of progress.
    """
    wanted = list({c.name: c for c in configurations}.values())
    stale = bench.outdated(wanted)
    for number, collection in enumerate(stale, start=1):
        bench.make(collection, f"{bench.name}: making collection {number} of {len(stale)}, {collection.name}")
    missing = [c for c in wanted if bench.finished(c) is None]
    if missing:
        finished = len(wanted) - len(missing)
        ledger = f": {len(missing)} to run, {finished} in the ledger" if finished else ""
        step = f"{bench.name}: {what}{ledger}"
        setting.reporter.note(step)
        with setting.reporter.progress(step) as progress:
            for number, configuration in enumerate(missing, start=1):
                bench.scores(configuration)
                progress(number, len(missing))
    return {c.name: bench.scores(c) for c in wanted}


def _beside(tried: Sequence[Configuration], baselines: Sequence[Configuration], kind: str = "configuration") -> str:
    """The configurations in words, such as ``8 configurations and 1 baseline``."""
    others = {c.name for c in baselines} - {c.name for c in tried}
    rest = f" and {counted(len(others), 'baseline')}" if others else ", the baseline among them"
    return f"{counted(len(tried), kind)}{rest}"


def _row(
    configuration: Configuration,
    scored: dict[str, ConfigurationScores],
    grid: Grid,
    criterion: Measure,
    constraints: Sequence[Constraint],
    shown: Sequence[Measure],
) -> Row:
    """A configuration's line of the table."""
    scores = scored[configuration.name]
    baseline = scored[grid.baseline.at_budget(configuration.budget).name]
    population = "all" if criterion.population in WORST else criterion.population
    values = read_off(scores, baseline, criterion, constraints, shown)
    needed = Measure("nodes-to-match", "nodes-to-match", 0, population).value(scores, baseline)
    return {
        "name": configuration.name,
        "strategy": configuration.strategy,
        "collection": configuration.collection,
        "options": configuration.options.as_dict(),
        "budget": configuration.budget,
        "search_calls": scores["search_calls"],
        "value": values["value"],
        "shown": values["shown"],
        "constraints": values["constraints"],
        "eligible": all(kept["holds"] for kept in values["constraints"].values()),
        "nodes_to_match": None if needed is None else int(needed),
    }


def _order(row: Row, criterion: Measure) -> tuple[Any, ...]:
    """The sort key of a row: eligible ones first, then the best value, then fewer searches, then the smaller name."""
    value = None if row["value"] is None else round(row["value"], 9)  # rounding errors do not break ties
    worse = float("inf") if value is None else value if criterion.lower_is_better else -value
    return (not row["eligible"], worse, row["search_calls"], row["name"])


def _curves(bench: Bench, chosen: Sequence[Configuration], criterion: Measure, setting: SweepSetting) -> Curves:
    """Recovery by budget: of each configuration run with each budget, and of the first nodes of its full run.

    The two are the same if the results for a small budget are the first results for a large one. They differ if stages
    or pools grow with the budget.
    """
    grid = bench.grid
    population = "all" if criterion.population in WORST else criterion.population
    baseline = grid.baseline.at_budget(chosen[0].budget)
    lines = list({c.name: c for c in (baseline, *chosen)}.values())
    budgets = counted(len(grid.curve), "budget")
    what = f"budget curves of {counted(len(lines), 'configuration')}, the baseline among them, at {budgets}"
    scored = _score_all(bench, [c.at_budget(b) for c in lines for b in (c.budget, *grid.curve)], setting, what)
    curves: list[CurveLine] = []
    for configuration in lines:
        full = scored[configuration.name]["populations"][population]["curve"]
        again = [scored[configuration.at_budget(b).name]["populations"][population]["curve"] for b in grid.curve]
        cut = [100 * full[b - 1] if b <= len(full) else None for b in grid.curve]
        within = [curve == full[: len(curve)] for curve, b in zip(again, grid.curve, strict=True) if b <= len(full)]
        curves.append(
            {
                "name": configuration.name,
                "rerun": [100 * curve[-1] for curve in again],
                "first_nodes": cut,
                "same": all(within),
            }
        )
    return {
        "workspace": bench.name,
        "measure": f"recovery:{population}",
        "budgets": list(grid.curve),
        "lines": curves,
    }
