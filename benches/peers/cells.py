"""What a cell of the table is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .inputs import Inputs, Size

Outcome = npt.NDArray[np.float64]


def some_rows(matrix: npt.NDArray[Any]) -> Outcome:
    """About a thousand rows, spread over the matrix: what is compared of a result too large to keep."""
    return matrix[:: max(1, len(matrix) // 1000)].astype(np.float64)


@dataclass(frozen=True)
class Task:
    """One contestant, ready to run; only `run` is timed."""

    run: Callable[[], Any]
    outcome: Callable[[Any], Outcome] | None = some_rows
    """The part of the result that is compared with ours; None where the peer does only part of the work."""
    passes: Callable[[Any], int] = lambda _: 1
    """How many passes over the graph the result took."""
    note: Callable[[Any], str] = lambda _: ""
    """What else to print about the result."""


@dataclass(frozen=True)
class Cell:
    """One contestant at one piece of work: `prepare` loads and returns what is timed."""

    who: str
    prepare: Callable[[Inputs], Task]
    slow: bool = False
    """Left out unless `--slow`."""
    alike: bool = True
    """Whether the outcome must agree with ours; if not, the difference is only shown."""


@dataclass(frozen=True)
class Traffic:
    """The bytes that a memory-bound piece of work must move in one pass."""

    model: str
    bytes: Callable[[Inputs], float]


def largest_difference(theirs: Outcome, ours: Outcome) -> float:
    """The largest absolute difference between two entries."""
    return float(np.max(np.abs(theirs - ours)))


def relative_difference(theirs: Outcome, ours: Outcome) -> float:
    """The largest difference between two entries, as a part of ours."""
    return float(np.max(np.abs(theirs / ours - 1)))


def off_the_slope(exact: Outcome, sampled: Outcome) -> float:
    """How far the slope of the regression of ours on theirs is from 1, for means that ours only samples."""
    return float(abs(np.sum(sampled * exact) / np.sum(exact * exact) - 1))


def not_shared(theirs: Outcome, ours: Outcome) -> float:
    """The share of entries that only one of two sets has."""
    return float(1 - len(np.intersect1d(theirs, ours)) / len(np.union1d(theirs, ours)))


@dataclass(frozen=True)
class Work:
    """A piece of work and who does it; the first cell is what the others are compared with."""

    key: str
    title: str
    cells: tuple[Cell, ...]
    amount: Callable[[Size], float]
    """Units of work in one pass."""
    unit: str
    difference: Callable[[Outcome, Outcome], float] = largest_difference
    tolerance: float = 1e-5
    traffic: Traffic | None = None
    grows: bool = False
    """Whether the work is part of the growth series."""
