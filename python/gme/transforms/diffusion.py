"""The transformations `ppr` and `signature`: random walks with restart, of texts and of the graph itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _core
from .._core import Graph
from ..command_line import flag
from ..errors import GmeError
from ..options import compact, option
from ..types import TransformContext, Transformed, Vectors
from .type_weights import TypeWeighted, type_weights_option

ROOTS, DIFFUSED = "roots", "diffused"
"""The forms of `signature`."""

ROOT_RESTART, DIFFUSED_RESTART = 0.25, 0.1


_WEIGHTED = "follow edges in proportion to their weight, as edges of type shared_name always are"


@dataclass(frozen=True)
class DiffusionOptions(TypeWeighted):
    """Options of `ppr`."""

    restart: float = option(0.15, "probability of returning to the start at each step", above=0, high=1)
    weighted: bool = option(False, _WEIGHTED)
    tolerance: float = option(1e-6, "stop when no coordinate changes by more than this", above=0)
    max_iterations: int = option(500, "give up converging after this many iterations", low=1)
    edge_type_weights: str = type_weights_option()


@dataclass(frozen=True)
class SignatureOptions(TypeWeighted):
    """Options of `signature`. The restart was chosen on development data, for each form: docs/research/signature.md."""

    form: str = option(
        ROOTS,
        "roots: square roots of where walks are, row by row; diffused: random vectors diffused over the whole graph",
        choices=(ROOTS, DIFFUSED),
    )
    dim: int = option(512, "numbers per signature", low=8, high=65_536)
    restart: float | None = option(
        None,
        f"probability of returning to the start at each step; default: {ROOT_RESTART:g}, "
        f"or {DIFFUSED_RESTART:g} with --form {DIFFUSED}",
        above=0,
        high=1,
    )
    drop: float = option(
        1e-4, f"leave out nodes where walks are less often than this; only with --form {ROOTS}", low=1e-7, high=1
    )
    seed: int = option(42, "seed of the random vectors", low=0, high=2**64 - 1)
    weighted: bool = option(False, _WEIGHTED)
    tolerance: float = option(
        1e-6, f"stop when no coordinate changes by more than this; only with --form {DIFFUSED}", above=0
    )
    max_iterations: int = option(
        500, f"give up converging after this many iterations; only with --form {DIFFUSED}", low=1
    )
    hub_damping: float = option(
        0.0,
        "weigh what walks meet by degree to the power of minus this; 0.5: symmetric normalization; "
        f"only with --form {DIFFUSED}",
        low=0,
        high=1,
    )
    edge_type_weights: str = type_weights_option()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self.changed().items():
            if name in _IDLE[self.form]:
                other = DIFFUSED if self.form == ROOTS else ROOTS
                raise GmeError(
                    f"--{flag(name)} is {compact(value)}, but has no effect with --form {self.form}",
                    f"it belongs to --form {other}",
                )
        if self.form == ROOTS and self.drop > self.restarts:
            raise GmeError(
                f"--drop is {compact(self.drop)}, but must be at most the restart of {compact(self.restarts)}",
                "a walk is at its start that often: nothing would be left",
            )

    @property
    def restarts(self) -> float:
        """The restart: `restart`, or what stands for it."""
        if self.restart is not None:
            return self.restart
        return ROOT_RESTART if self.form == ROOTS else DIFFUSED_RESTART

    def as_dict(self) -> dict[str, Any]:
        """See `Options.as_dict`; says which restart it is."""
        return {**super().as_dict(), "restart": self.restarts}


_IDLE = {ROOTS: ("tolerance", "max_iterations", "hub_damping"), DIFFUSED: ("drop",)}
"""By form, the options of `signature` that do nothing with it."""


def ppr(graph: Graph, vectors: Vectors, options: DiffusionOptions, context: TransformContext) -> Transformed:
    """Diffuse by random walk with restart (RT)."""
    options.check_type_weights(context.type_weighted)
    result, iterations, residual = _core.diffuse(
        graph,
        vectors,
        restart=options.restart,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        weighted=options.weighted or context.type_weighted,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, _diffusion_facts(iterations, residual, options.tolerance))


def signature(
    graph: Graph, vectors: Vectors | None, options: SignatureOptions, context: TransformContext
) -> Transformed:
    """Sketch the graph itself (ours): where walks from a node are, in a few numbers."""
    options.check_type_weights(context.type_weighted)
    return (_roots if options.form == ROOTS else _diffused)(graph, options, context)


def _roots(graph: Graph, options: SignatureOptions, context: TransformContext) -> Transformed:
    result, (total, largest, dropped, steps) = _core.root_signature(
        graph,
        dim=options.dim,
        restart=options.restarts,
        drop=options.drop,
        seed=options.seed,
        weighted=options.weighted or context.type_weighted,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    rows = max(graph.nodes, 1)
    facts = {
        "entries_mean": total / rows,
        "entries_largest": largest,
        "mass_dropped_mean": dropped / rows,
        "edges_followed_mean": steps / rows,
    }
    return Transformed(result, facts)


def _diffused(graph: Graph, options: SignatureOptions, context: TransformContext) -> Transformed:
    result, iterations, residual = _core.signature(
        graph,
        dim=options.dim,
        restart=options.restarts,
        seed=options.seed,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        weighted=options.weighted or context.type_weighted,
        damping=options.hub_damping,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, _diffusion_facts(iterations, residual, options.tolerance))


def _diffusion_facts(iterations: int, residual: float, tolerance: float) -> dict[str, Any]:
    return {"iterations": iterations, "residual": residual, "converged": residual < tolerance}
