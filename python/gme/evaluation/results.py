"""The contents of an evaluation, as it is written to `reports/evaluation.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Difference(TypedDict):
    """A paired difference from the baseline: its mean, the two ends of its interval, and McNemar's p."""

    difference: float
    interval: list[float]
    p: float


class Scores(TypedDict):
    """The scores of one run on one population of questions. A score by k is None at a k that the run does not reach."""

    recovery: float
    recall: dict[str, float | None]
    all_supporting: dict[str, float | None]
    curve: list[float]
    nodes_to_match: NotRequired[int | None]
    difference: NotRequired[float]
    interval: NotRequired[list[float]]
    all_supporting_difference: NotRequired[dict[str, Difference | None]]


class Population(TypedDict):
    """A set of questions (``all``, ``hard``, a group or a family), and the number of questions in it."""

    name: str
    kind: str
    questions: int


class Slot(TypedDict):
    """The i-th gold node: how many questions have one, its median rank, and the share of questions with it within k."""

    slot: int
    questions: int
    median_rank: float | None
    within: dict[str, float | None]


class SlotCoverage(TypedDict):
    """The slots of the questions with one hop count."""

    hops: int
    questions: int
    slots: list[Slot]


class EvaluatedRun(TypedDict):
    """One run: the facts of its manifest, and its scores by population."""

    name: str
    budget: int
    search_calls: int | None
    strategy: str | None
    collection: str | None
    types: list[str] | None
    slots: list[SlotCoverage]
    measures: dict[str, float]
    populations: dict[str, Scores]


class Evaluation(TypedDict):
    """What `gme.evaluate` returns; `gme.evaluate_workspace` adds the names of the runs that are outdated."""

    questions: int
    without_gold: int
    baseline: str | None
    k: list[int]
    options: dict[str, Any]
    populations: list[Population]
    runs: list[EvaluatedRun]
    stale: NotRequired[list[str]]
