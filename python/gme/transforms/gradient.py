"""The transformation `gradient`: steps toward cosines that fall with the distance in the graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import _core
from .._core import Graph
from ..options import Options, option
from ..types import TransformContext, Transformed, Vectors


def _sech(hops: int) -> float:
    # It is rounded, because the last bit of cosh differs from machine to machine.
    return round(1 / math.cosh(hops), 12)


CURVES: dict[str, tuple[float, float, float, float]] = {
    "none": (1.0, 0.0, 0.0, 0.0),
    "linear_steep": (0.5, 0.0, 0.0, 0.0),
    "hyperbolic_sech": (_sech(1), _sech(2), _sech(3), _sech(4)),
}
"""The target cosines of two nodes that are h = 1, 2, 3 and 4 hops apart: 1 at h = 1 and else 0; max(0, 1 - h/2);
sech(h). GME gives the names; the formulas are ours. Two nodes of a patch are never further apart than 4 hops."""


@dataclass(frozen=True)
class GradientOptions(Options):
    """Options of `gradient`. GME has no main configuration, so curve, step and max_shift are the middle of its grid."""

    curve: str = option("linear_steep", "target cosine by hop distance", choices=tuple(CURVES))
    step: float = option(0.5, "how far a step goes", above=0, high=1e6)
    max_shift: float = option(1.0, "no node moves further than this times its vector's length", above=0, high=1e6)
    steps: int = option(30, "number of steps", low=1)
    pairs: int = option(64, "use this many pairs of a patch, drawn where there are more", low=1, high=1 << 20)
    fan_out: int = option(32, "follow this many neighbors of a node, drawn where there are more", low=1, high=1 << 16)
    seed: int = option(42, "seed of the draws", low=0, high=2**64 - 1)


def gradient(graph: Graph, vectors: Vectors, options: GradientOptions, context: TransformContext) -> Transformed:
    """Gradient steps so that cos(z_i, z_j) follows a target of hop distance (GME: gradient).

    The loss is ``sum (cos(z_i, z_j) - t(h_ij))^2`` over the pairs of overlapping patches. The steps begin at z = x. GME
    gives the idea, the radius of patches, the bound and the grid. The rest is our choice:

    - A patch is a node with all nodes within two hops of it. Each node with neighbors has one. A pair counts once in
      every patch that holds it. So near nodes, which share more patches, weigh more, as a sum over overlapping patches
      implies. h is the distance in the whole graph and does not depend on the patches. It is at most 4, so GME's
      "target 0 beyond hop 4" always holds.
    - A step is ``z_i <- z_i - step * |x_i|^2 * (gradient at z_i) / (number of i's pairs)``. It uses the mean over
      pairs, not the sum, so that one `step` suits leaves and hubs. The factor |x_i|^2 makes the result scale with x. It
      is 1 for unit vectors.
    - All nodes step at once, from their places after the last step (Jacobi), so that the order of nodes does not
      matter. Then each node is brought back to within ``max_shift * |x_i|`` of x_i. Isolated nodes and zero vectors do
      not move.
    - Hubs would make patches huge. If a node has more than `fan_out` neighbors, a patch follows `fan_out` of them,
      drawn at random. If a patch has more than `pairs` pairs, `pairs` of them are drawn, so that the patch of a hub
      does not outweigh all others. They are drawn only once, keyed by (seed, center, node), so that all steps minimize
      the same loss. Time and memory grow with nodes times `pairs` (at most 24 bytes per node and pair).

    The facts are `loss_before` and `loss_after`, means over pairs; `displacement`, the furthest move of any node in
    lengths of its vector; `steps`; `patches`, their number; `sampled_patches`, how many of them were sampled.
    """
    result, losses, displacement, (patches, drawn) = _core.gradient(
        graph,
        vectors,
        targets=CURVES[options.curve],
        step=options.step,
        max_shift=options.max_shift,
        steps=options.steps,
        fan_out=options.fan_out,
        pairs=options.pairs,
        seed=options.seed,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    facts = {
        "loss_before": losses[0],
        "loss_after": losses[1],
        "displacement": displacement,
        "steps": options.steps,
        "patches": patches,
        "sampled_patches": drawn,
    }
    return Transformed(result, facts)
