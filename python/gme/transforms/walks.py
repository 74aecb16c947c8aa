"""The transformation `walk`: means over the endpoints of random walks."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
from .._core import Graph
from ..errors import GmeError
from ..options import option
from ..types import TransformContext, Transformed, Vectors
from .type_weights import TypeWeighted, type_weights_option


@dataclass(frozen=True)
class WalkOptions(TypeWeighted):
    """Options of `walk`."""

    steps: int = option(2, "transitions per walk", low=1, high=1000)
    alpha: float = option(0.0, "weight of the original vector", low=0, high=1)
    walks: int = option(100, "walks per node", low=1, high=2**24 - 1)
    seed: int = option(42, "seed of the draws", low=0, high=2**64 - 1)
    no_return: bool = option(False, "redraw walks that end where they began")
    exact: bool = option(False, "the expectation over all walks instead of samples")
    edge_type_weights: str = type_weights_option()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("walks", "seed"):
            if self.exact and name in self.changed():
                raise GmeError(f"--{name} has no effect with --exact", "it belongs to sampled walks: leave one out")


def walk(graph: Graph, vectors: Vectors, options: WalkOptions, context: TransformContext) -> Transformed:
    """A blend of each vector with those at the ends of random walks (GME: random-walk averaging)."""
    options.check_type_weights(context.type_weighted)
    result = _core.walk(
        graph,
        vectors,
        steps=options.steps,
        alpha=options.alpha,
        walks=options.walks,
        seed=options.seed,
        returns=not options.no_return,
        exact=options.exact,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, {})
