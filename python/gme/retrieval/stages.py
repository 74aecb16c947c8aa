"""The stages that schedules are made of (GME: fused, requery, chained)."""

from __future__ import annotations

from collections.abc import Callable

from ..stores.store import Rows
from .options import StagedOptions
from .schedule import STAGE_KINDS, Schedule
from .search import Search, blend, mean, shifted

SIMILARITY = "similarity to the question"

STAGE_SCORES: dict[str, str] = {
    "original": SIMILARITY,
    "modified": "similarity of the question to the modified vector",
    "fused": "blend of similarity to the question and to the previous results' modified vectors",
    "shifted": "similarity to the question shifted towards the previous results",
}
"""What the scores of each kind of stage are."""


def run_schedule(search: Search, options: StagedOptions, schedule: Schedule | None) -> None:
    """Run the stages in order; each excludes what was returned before. Output = stages in order, not ranked again.

    A `fused` or `shifted` stage starts from the results of the stage before it, whatever that stage's kind: in an
    all-fused schedule the second fused stage follows the first one's results, not the seeds.
    """
    assert schedule is not None
    previous: Rows = search.rows
    for stage in schedule.stages:
        previous = _STAGES[stage.kind](search, stage.size, previous, options)


def _original(search: Search, size: int, previous: Rows, options: StagedOptions) -> Rows:
    """The nearest to the question by original vectors."""
    return search.take("original", *search.top(search.original, search.queries, size))


def _modified(search: Search, size: int, previous: Rows, options: StagedOptions) -> Rows:
    """The nearest to the question by modified vectors."""
    return search.take("modified", *search.top(search.modified, search.queries, size))


def _fused(search: Search, size: int, previous: Rows, options: StagedOptions) -> Rows:
    """The best of a pool by (1 − mix)·cos(q, x) + mix·cos(m, z), m = mean z of the previous results.

    The pool is the union of the nodes nearest to q and nearest to m, `pool_depth` times the whole budget from each.
    """
    target = mean(search.modified.vectors, previous)
    pool = search.pool(search.queries, target, options.pool_depth * options.budget)
    relevance = search.original.cosines(search.queries, pool)
    guidance = search.modified.cosines(target, pool)
    return search.take_best("fused", pool, blend(relevance, guidance, options.mix), size)


def _shifted(search: Search, size: int, previous: Rows, options: StagedOptions) -> Rows:
    """The nearest to q' = (1 − shift)·q + shift·(mean x of the previous results), always from the original q."""
    moved = shifted(search.queries, mean(search.original.vectors, previous), options.shift)
    return search.take("shifted", *search.top(search.original, moved, size))


_STAGES: dict[str, Callable[[Search, int, Rows, StagedOptions], Rows]] = {
    "original": _original,
    "modified": _modified,
    "fused": _fused,
    "shifted": _shifted,
}
assert tuple(_STAGES) == tuple(STAGE_SCORES) == STAGE_KINDS
