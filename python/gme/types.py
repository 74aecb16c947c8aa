"""Types that many signatures share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from .deprecation import deprecated, former_names_of

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Embeddings: float32, C order, (rows, dim)."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with (done, total)."""


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number of Python or numpy. Booleans are not numbers here."""
    return isinstance(value, Real) and not isinstance(value, bool)


def as_float(number: float) -> float:
    """A number as float64. A number out of range, such as 10**400, becomes infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@dataclass(frozen=True)
class TransformContext:
    """What a transformation gets besides the graph, the original vectors and its options."""

    threads: int = 0
    progress: Progress | None = None
    source: Vectors | None = None
    out: Vectors | None = None
    """Where kernels write the result; None allocates memory. A method may return another array."""
    type_weighted: bool = False
    """Whether the method must follow the graph's weights: they are by edge type, or of a type that counts by weight."""

    @property
    def weighed(self) -> bool:
        """The former name of `type_weighted`."""
        deprecated("gme.types.TransformContext.weighed", "type_weighted")
        return self.type_weighted


@dataclass(frozen=True)
class Transformed:
    """A modified collection: float32 (nodes, dim), with facts about how the method made it."""

    vectors: Vectors
    facts: dict[str, Any]


__getattr__ = former_names_of(__name__, {"Context": ("gme.types.TransformContext", lambda: TransformContext)})
