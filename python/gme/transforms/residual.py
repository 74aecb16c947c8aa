"""The transformation `residual`: the change that another transformation has made to the direction of each vector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._core import Graph
from ..errors import GmeError
from ..options import Options, option
from ..types import TransformContext, Transformed, Vectors

_ROWS = 16_384


@dataclass(frozen=True)
class ResidualOptions(Options):
    """Options of `residual`."""

    source: str = option("", "the modified collection whose change is wanted; required")

    def suffix(self) -> str:
        """``-walk``, for example: each source has one residual."""
        return f"-{self.source}" if self.source else ""


def residual(graph: Graph, vectors: Vectors, options: ResidualOptions, context: TransformContext) -> Transformed:
    """``z_i / |z_i| - x_i / |x_i|`` with z from `context.source`, float32 (nodes, dim) (GME: residual).

    A vector of length 0 has no direction and contributes 0. The residual is zero where z and x have the same direction.
    For most sources these are the nodes without edges. The fact `unchanged` counts them.

    Raises:
        GmeError: no source, a source of another shape, dtype or layout, or vectors that are not finite.
    """
    source = context.source
    if source is None:
        raise GmeError("transform 'residual' needs the vectors of its source", "pass them as source=")
    if np.shape(source) != np.shape(vectors):
        raise GmeError(
            f"the source of a residual must have the shape of the original, {np.shape(vectors)}, "
            f"found {np.shape(source)}",
            "take a collection of as many dimensions; a signature has none in common with the original",
        )
    norms = _core.row_norms(source, context.threads, name="source"), _core.row_norms(vectors, context.threads)
    scales = [_inverse(each) for each in norms]
    result = np.empty(vectors.shape, np.float32) if context.out is None else context.out
    unchanged = 0
    for start in range(0, len(result), _ROWS):
        rows = slice(start, start + _ROWS)
        changed, original = (each[rows] * scale[rows] for each, scale in zip((source, vectors), scales, strict=True))
        result[rows] = changed - original
        unchanged += int((~result[rows].any(axis=1)).sum())
        if context.progress:
            context.progress(min(start + _ROWS, len(result)), len(result))
    return Transformed(result, {"unchanged": unchanged})


def _inverse(norms: Vectors) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """1 / norm as a column, and 0 for 0. It is float64, in which the inverse of every float32 is finite."""
    wide = norms.astype(np.float64)[:, np.newaxis]
    return np.divide(1.0, wide, out=np.zeros_like(wide), where=wide > 0)
