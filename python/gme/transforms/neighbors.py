"""The transformations `hop1` and `hop2`: means of the least or most similar nodes one or two hops away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from .. import _core
from .._core import Graph
from ..options import Options, option
from ..types import TransformContext, Transformed, Vectors


@dataclass(frozen=True)
class HopOptions(Options):
    """Options of `hop1`. `hop2` has one more."""

    share: float = option(0.2, "share of the eligible neighbors that is averaged", low=1e-12, high=1)
    alpha: float = option(0.2, "weight of the original vector", low=0, high=1)
    pick: str = option("least", "which neighbors: the least or the most similar ones", choices=("least", "most"))
    min_neighbors: int = option(2, "average at least this many where there are as many", low=1)


@dataclass(frozen=True)
class Hop2Options(HopOptions):
    """Options of `hop2`."""

    max_hub_degree: int = option(0, "leave out paths through nodes with more neighbors than this; 0: none", low=0)


def hop(hops: int) -> Callable[[Graph, Vectors, HopOptions, TransformContext], Transformed]:
    """The transformation over nodes at distance `hops`, 1 or 2 (GME: 1-hop and 2-hop averaging)."""

    def transform(graph: Graph, vectors: Vectors, options: HopOptions, context: TransformContext) -> Transformed:
        # 0.2 · 35 is 7, but with floats it would round up to 8. So the share is passed as the user wrote it.
        share = Fraction(str(options.share))
        result = _core.hop(
            graph,
            vectors,
            hops=hops,
            share=(share.numerator, share.denominator),
            alpha=options.alpha,
            least=options.pick == "least",
            min_neighbors=options.min_neighbors,
            max_hub_degree=options.max_hub_degree if isinstance(options, Hop2Options) else 0,
            threads=context.threads,
            progress=context.progress,
            out=context.out,
        )
        return Transformed(result, {})

    return transform
