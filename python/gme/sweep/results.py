"""The types of a sweep's report, as it is written to `reports/sweep-NAME.json`, and of the lines of its ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from ..evaluation.results import Evaluation

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class PopulationCurves(TypedDict):
    """Recovery, and the share of questions with all gold found, after 1, 2, … nodes."""

    curve: list[float]
    all_supporting: list[float]


class ConfigurationScores(TypedDict):
    """A configuration's scores at every depth. `depth` is the depth of its results, or None if they hold all nodes."""

    search_calls: int
    budget: int
    depth: int | None
    kinds: dict[str, str]
    populations: dict[str, PopulationCurves]
    measures: dict[str, float]


class Record(TypedDict):
    """A line of the ledger without its key: the result of a finished configuration."""

    name: str
    workspace: str
    milliseconds_per_question: float
    seconds: float
    scores: ConfigurationScores


class Kept(TypedDict):
    """A constraint's value, and whether it holds."""

    value: float | None
    holds: bool


class Values(TypedDict):
    """Values read off a configuration's scores: that of the criterion, those shown, and those of the constraints."""

    value: float | None
    shown: dict[str, float | None]
    constraints: dict[str, Kept]


class Row(Values):
    """A configuration's line of the table. Baselines have no rank."""

    name: str
    strategy: str
    collection: str | None
    options: dict[str, Any]
    budget: int
    search_calls: int
    eligible: bool
    nodes_to_match: int | None
    rank: NotRequired[int]


class PairedDifference(TypedDict):
    """A difference from the baseline in points, with its interval and its measure."""

    compared: str
    difference: float
    interval: list[float]
    nodes_to_match: int | None


class ComparedRow(Values):
    """A configuration on one workspace. All but baselines have a `PairedDifference`."""

    name: str
    run: str
    baseline: bool
    search_calls: int
    compared: NotRequired[str]
    difference: NotRequired[float]
    interval: NotRequired[list[float]]
    nodes_to_match: NotRequired[int | None]


class Comparison(TypedDict):
    """The selected configurations beside their baselines on one workspace, with an evaluation for each budget."""

    workspace: str
    confirmed: bool
    rows: list[ComparedRow]
    evaluations: list[Evaluation]


class CurveLine(TypedDict):
    """Recovery of runs with each budget, and of the first nodes of the full run (None if it has fewer nodes)."""

    name: str
    rerun: list[float]
    first_nodes: list[float | None]
    same: bool


class Curves(TypedDict):
    """Recovery by budget on one workspace."""

    workspace: str
    measure: str
    budgets: list[int]
    lines: list[CurveLine]


class SweepReport(TypedDict):
    """What `gme.run_sweep` returns.

    ``plugins`` is there if other packages took part: what each contributed (``transform average``) -> where that comes
    from, as in manifests (`gme.registry.Registry.source`).
    """

    name: str
    selected_on: str
    confirmed_on: list[str]
    criterion: str
    lower_is_better: bool
    constraints: list[str]
    shown: list[str]
    baselines: list[Row]
    configurations: list[Row]
    selected: list[str]
    comparisons: list[Comparison]
    curves: list[Curves]
    plugins: NotRequired[dict[str, dict[str, str]]]
