"""The transformations `convex`, `shared` and `louvain`: a compromise with neighbors, or with a community."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _core
from .._core import Graph
from ..command_line import flag
from ..errors import GmeError
from ..graph.communities import BACKENDS, louvain_labels
from ..options import Options, option
from ..types import TransformContext, Transformed, Vectors

SOLVERS = ("auto", "gauss-seidel", "cg")
CG_FROM = 50_000
"""The number of nodes from which `auto` takes conjugate gradients, which need fewer passes over the graph."""
STEEP = 1e4
"""The largest ratio of the other weights to the anchor weight at which `auto` takes conjugate gradients."""


@dataclass(frozen=True)
class ConvexOptions(Options):
    """Options of `convex`."""

    anchor_weight: float = option(1.0, "a: pull towards the original vector", above=0)
    edge_weight: float = option(1.0, "b: pull along every edge", low=0)
    sweeps: int = option(0, "stop after this many sweeps; 0 means sweep until converged", low=0)
    tolerance: float = option(1e-6, "converged when no vector moves (cg: would move) this far in a sweep", above=0)
    max_sweeps: int = option(200, "give up converging after this many sweeps (cg: passes)", low=1)
    solver: str = option("auto", f"auto is cg from {CG_FROM:,} nodes on; the minimizer is the same", choices=SOLVERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sweeps and self.solver == "cg":
            raise GmeError("--sweeps counts Gauss-Seidel sweeps, which --solver cg does not make", "leave one out")
        for name in ("tolerance", "max_sweeps"):
            if self.sweeps and name in self.changed():
                raise GmeError(
                    f"--{flag(name)} has no effect with --sweeps {self.sweeps}",
                    "it belongs to sweeping until converged: leave one out",
                )


@dataclass(frozen=True)
class SharedOptions(ConvexOptions):
    """Options of `shared`."""

    shared_weight: float = option(3.0, "c: pull between nodes that share a neighbor and are not adjacent", low=0)
    max_hub_degree: int = option(0, "nodes with more neighbors do not count as shared ones; 0: no limit", low=0)


@dataclass(frozen=True)
class LouvainOptions(Options):
    """Options of `louvain`."""

    resolution: float = option(0.5, "Newman's gamma: larger gives smaller communities", above=0)
    alpha: float = option(0.5, "weight of the original vector", low=0, high=1)
    seed: int = option(42, "seed of the order of visits", low=0, high=2**32 - 1)
    backend: str = option(
        "auto",
        "library that finds the communities; python-louvain stops early unless resolution is 1",
        choices=("auto", *BACKENDS),
    )


def convex(graph: Graph, vectors: Vectors, options: ConvexOptions, context: TransformContext) -> Transformed:
    """A vector near the original and near all neighbors (GME: convex)."""
    result, sweeps, displacement, converged = _core.convex(graph, vectors, **_minimizing(graph, options, context))
    return Transformed(result, _solver_facts(graph, options, sweeps, displacement, converged))


def shared(graph: Graph, vectors: Vectors, options: SharedOptions, context: TransformContext) -> Transformed:
    """As `convex`, and also near the nodes with a neighbor in common (GME: shared neighbors)."""
    result, sweeps, displacement, converged, pairs = _core.shared(
        graph,
        vectors,
        shared_weight=options.shared_weight,
        max_hub_degree=options.max_hub_degree,
        **_minimizing(graph, options, context),
    )
    return Transformed(result, _solver_facts(graph, options, sweeps, displacement, converged) | {"pairs": pairs})


def _minimizing(graph: Graph, options: ConvexOptions, context: TransformContext) -> dict[str, Any]:
    """The arguments that `convex` and `shared` have in common."""
    return {
        "anchor_weight": options.anchor_weight,
        "edge_weight": options.edge_weight,
        # With a tolerance of 0 the loop never stops early, so it makes a fixed number of sweeps.
        "tolerance": 0.0 if options.sweeps else options.tolerance,
        "max_sweeps": options.sweeps or options.max_sweeps,
        "solver": _solver(graph, options),
        "threads": context.threads,
        "progress": context.progress,
        "out": context.out,
    }


def _solver(graph: Graph, options: ConvexOptions) -> str:
    if options.solver != "auto":
        return options.solver
    # In float32, conjugate gradients cannot reach a minimizer that hardly depends on the original vectors.
    steep = options.edge_weight + getattr(options, "shared_weight", 0.0) > STEEP * options.anchor_weight
    return "cg" if graph.nodes >= CG_FROM and not options.sweeps and not steep else "gauss-seidel"


def _solver_facts(
    graph: Graph, options: ConvexOptions, sweeps: int, displacement: float, converged: bool
) -> dict[str, Any]:
    facts = {"solver": _solver(graph, options), "sweeps": sweeps, "final_displacement": displacement}
    # A fixed number of sweeps is not meant to converge.
    return facts if options.sweeps else facts | {"converged": converged}


def louvain(graph: Graph, vectors: Vectors, options: LouvainOptions, context: TransformContext) -> Transformed:
    """A blend of each vector with the mean of its Louvain community (GME: Louvain)."""
    labels, backend = louvain_labels(graph, resolution=options.resolution, seed=options.seed, backend=options.backend)
    result = _core.group_means(
        graph,
        vectors,
        labels,
        alpha=options.alpha,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, {"communities": int(labels.max()) + 1 if len(labels) else 0, "backend": backend})
