"""The transformations `ppr` and `signature`: random walks with restart, of texts and of the graph itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _core
from .._core import Graph
from ..options import option
from ..types import TransformContext, Transformed, Vectors
from .type_weights import TypeWeighted, type_weights_option


@dataclass(frozen=True)
class DiffusionOptions(TypeWeighted):
    """Options of `ppr`."""

    restart: float = option(0.15, "probability of returning to the start at each step", above=0, high=1)
    weighted: bool = option(False, "follow edges in proportion to their weight")
    tolerance: float = option(1e-6, "stop when no coordinate changes by more than this", above=0)
    max_iterations: int = option(500, "give up converging after this many iterations", low=1)
    edge_type_weights: str = type_weights_option()


@dataclass(frozen=True)
class SignatureOptions(TypeWeighted):
    """Options of `signature`."""

    dim: int = option(512, "numbers per signature", low=8, high=65_536)
    restart: float = option(0.1, "probability of returning to the start at each step", above=0, high=1)
    seed: int = option(42, "seed of the random unit vectors", low=0, high=2**64 - 1)
    weighted: bool = option(False, "follow edges in proportion to their weight")
    tolerance: float = option(1e-6, "stop when no coordinate changes by more than this", above=0)
    max_iterations: int = option(500, "give up converging after this many iterations", low=1)
    hub_damping: float = option(
        0.0, "weigh what walks meet by degree to the power of minus this; 0.5: symmetric normalization", low=0, high=1
    )
    edge_type_weights: str = type_weights_option()


def ppr(graph: Graph, vectors: Vectors, options: DiffusionOptions, context: TransformContext) -> Transformed:
    """Diffuse by random walk with restart (RT)."""
    options.check_weighed(context.weighed)
    result, iterations, residual = _core.diffuse(
        graph,
        vectors,
        restart=options.restart,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        weighted=options.weighted or context.weighed,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, _diffusion_facts(iterations, residual, options.tolerance))


def signature(
    graph: Graph, vectors: Vectors | None, options: SignatureOptions, context: TransformContext
) -> Transformed:
    """Sketch the graph itself: diffused random vectors (ours)."""
    options.check_weighed(context.weighed)
    result, iterations, residual = _core.signature(
        graph,
        dim=options.dim,
        restart=options.restart,
        seed=options.seed,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        weighted=options.weighted or context.weighed,
        damping=options.hub_damping,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, _diffusion_facts(iterations, residual, options.tolerance))


def _diffusion_facts(iterations: int, residual: float, tolerance: float) -> dict[str, Any]:
    return {"iterations": iterations, "residual": residual, "converged": residual < tolerance}
