"""What a strategy returned."""

from __future__ import annotations

from dataclasses import dataclass

from ..stores.store import Rows
from ..types import Vectors
from .schedule import Schedule


@dataclass(frozen=True)
class Retrieved:
    """What a strategy returned.

    Attributes:
        rows: uint32 (questions, budget), or as wide as there are nodes if the budget is larger: node rows in returned
            order; lines that found fewer end in `gme.stores.store.NO_ROW`.
        scores: float32 of the same shape, the score each node was chosen by; -inf where there is no node.
        stages: the stage that returned each column.
        search_calls: searches per question.
        schedule: the stages run, for staged strategies.
        seconds: wall time of the whole batch.
    """

    rows: Rows
    scores: Vectors
    stages: tuple[str, ...]
    search_calls: int
    schedule: Schedule | None
    seconds: float
