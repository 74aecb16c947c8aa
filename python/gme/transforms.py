"""The transformations: each turns the original embeddings and the graph into one modified vector a node.

To add one: an options class, a function, a line in `TRANSFORMS`. The command line, its help, the manifests and the
parametrised tests derive from that table.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import _core
from ._core import Graph
from .arrays import NewArray, check_finite, crowded, release
from .communities import BACKENDS, louvain_labels
from .errors import GmeError, HubError, unknown
from .files import read_json
from .gradient import GradientOptions, gradient
from .options import Options, make, option
from .residual import ResidualOptions, residual
from .types import Context, Progress, Transformed, Vectors
from .workspace import EDGES, NODES, ORIGINAL, Collection, Workspace, check_name


@dataclass(frozen=True)
class HopOptions(Options):
    """Options of `hop1`, and of `hop2` but for one."""

    share: float = option(0.2, "share of the eligible neighbours that is averaged", above=0, high=1)
    alpha: float = option(0.2, "weight of the original vector", low=0, high=1)
    pick: str = option("least", "which neighbours: the least or the most similar ones", choices=("least", "most"))
    min_neighbors: int = option(2, "average at least this many where there are as many", low=1)


SOLVERS = ("auto", "gauss-seidel", "cg")
CG_FROM = 50_000
"""Nodes from which `auto` takes conjugate gradients, which need fewer passes over the graph."""


@dataclass(frozen=True)
class Hop2Options(HopOptions):
    """Options of `hop2`."""

    max_hub_degree: int = option(0, "leave out paths through nodes with more neighbours than this; 0: none", low=0)


@dataclass(frozen=True)
class ConvexOptions(Options):
    """Options of `convex`."""

    anchor_weight: float = option(1.0, "a: pull towards the original vector", above=0)
    edge_weight: float = option(1.0, "b: pull along every edge", low=0)
    sweeps: int = option(0, "stop after this many sweeps; 0 means sweep until converged", low=0)
    tolerance: float = option(1e-6, "converged when no vector moves farther than this in a sweep", above=0)
    max_sweeps: int = option(200, "give up converging after this many sweeps", low=1)
    solver: str = option("auto", f"auto is cg from {CG_FROM:,} nodes on; the minimiser is the same", choices=SOLVERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sweeps and self.solver == "cg":
            raise GmeError("--sweeps counts Gauss-Seidel sweeps, which --solver cg does not make", "leave one out")


@dataclass(frozen=True)
class SharedOptions(ConvexOptions):
    """Options of `shared`."""

    shared_weight: float = option(3.0, "c: pull between nodes that share a neighbour and are not adjacent", low=0)
    max_hub_degree: int = option(0, "nodes with more neighbours do not count as shared ones; 0: no limit", low=0)


@dataclass(frozen=True)
class WalkOptions(Options):
    """Options of `walk`."""

    steps: int = option(2, "transitions per walk", low=1, high=1000)
    alpha: float = option(0.0, "weight of the original vector", low=0, high=1)
    walks: int = option(100, "walks per node", low=1)
    seed: int = option(42, "seed of the draws", low=0, high=2**64 - 1)
    no_return: bool = option(False, "redraw walks that end where they began")
    exact: bool = option(False, "the expectation over all walks instead of samples")


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


@dataclass(frozen=True)
class DiffusionOptions(Options):
    """Options of `ppr`."""

    restart: float = option(0.15, "probability of returning to the start at each step", above=0, high=1)
    weighted: bool = option(False, "follow edges in proportion to their weight")
    tolerance: float = option(1e-6, "stop when no coordinate changes by more than this", above=0)
    max_iterations: int = option(500, "give up converging after this many iterations", low=1)


@dataclass(frozen=True)
class SignatureOptions(Options):
    """Options of `signature`."""

    dim: int = option(512, "numbers per signature", low=8, high=65_536)
    restart: float = option(0.1, "probability of returning to the start at each step", above=0, high=1)
    seed: int = option(42, "seed of the random unit vectors", low=0, high=2**64 - 1)
    weighted: bool = option(False, "follow edges in proportion to their weight")
    tolerance: float = option(1e-6, "stop when no coordinate changes by more than this", above=0)
    max_iterations: int = option(500, "give up converging after this many iterations", low=1)


def _hop(hops: int) -> Callable[[Graph, Vectors, HopOptions, Context], Transformed]:
    def transform(graph: Graph, vectors: Vectors, options: HopOptions, context: Context) -> Transformed:
        # 0.2 · 35 is 7, but the float product rounds up to 8: the share goes in as the decimal the user wrote.
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


def _convex(graph: Graph, vectors: Vectors, options: ConvexOptions, context: Context) -> Transformed:
    result, sweeps, displacement, converged = _core.convex(graph, vectors, **_minimising(graph, options, context))
    return Transformed(result, _solver_facts(graph, options, sweeps, displacement, converged))


def _shared(graph: Graph, vectors: Vectors, options: SharedOptions, context: Context) -> Transformed:
    result, sweeps, displacement, converged, pairs = _core.shared(
        graph,
        vectors,
        shared_weight=options.shared_weight,
        max_hub_degree=options.max_hub_degree,
        **_minimising(graph, options, context),
    )
    return Transformed(result, _solver_facts(graph, options, sweeps, displacement, converged) | {"pairs": pairs})


def _minimising(graph: Graph, options: ConvexOptions, context: Context) -> dict[str, Any]:
    """The arguments that `convex` and `shared` have in common."""
    return {
        "anchor_weight": options.anchor_weight,
        "edge_weight": options.edge_weight,
        # A fixed number of sweeps is the same loop with a tolerance that nothing meets.
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
    return "cg" if graph.nodes >= CG_FROM and not options.sweeps else "gauss-seidel"


def _solver_facts(
    graph: Graph, options: ConvexOptions, sweeps: int, displacement: float, converged: bool
) -> dict[str, Any]:
    facts = {"solver": _solver(graph, options), "sweeps": sweeps, "final_displacement": displacement}
    # A fixed number of sweeps is not meant to converge.
    return facts if options.sweeps else facts | {"converged": converged}


def _walk(graph: Graph, vectors: Vectors, options: WalkOptions, context: Context) -> Transformed:
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


def _louvain(graph: Graph, vectors: Vectors, options: LouvainOptions, context: Context) -> Transformed:
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
    return Transformed(result, {"communities": int(labels.max()) + 1, "backend": backend})


def _ppr(graph: Graph, vectors: Vectors, options: DiffusionOptions, context: Context) -> Transformed:
    result, iterations, residual = _core.diffuse(
        graph,
        vectors,
        restart=options.restart,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        weighted=options.weighted,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, _diffusion_facts(iterations, residual, options.tolerance))


def _signature(graph: Graph, vectors: Vectors | None, options: SignatureOptions, context: Context) -> Transformed:
    result, iterations, residual = _core.signature(
        graph,
        dim=options.dim,
        restart=options.restart,
        seed=options.seed,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        weighted=options.weighted,
        threads=context.threads,
        progress=context.progress,
        out=context.out,
    )
    return Transformed(result, _diffusion_facts(iterations, residual, options.tolerance))


def _diffusion_facts(iterations: int, residual: float, tolerance: float) -> dict[str, Any]:
    return {"iterations": iterations, "residual": residual, "converged": residual < tolerance}


@dataclass(frozen=True)
class Transform:
    """An entry of `TRANSFORMS`."""

    summary: str
    options: type[Options]
    run: Callable[[Graph, Any, Any, Context], Transformed]
    needs_vectors: bool = True
    needs_source: bool = False
    """Whether it works on a modified collection beside the original one: `Context.source`."""


def transform(
    method: str,
    graph: Graph,
    vectors: Vectors | None = None,
    *,
    threads: int = 0,
    progress: Progress | None = None,
    source: Vectors | None = None,
    **options: Any,
) -> Transformed:
    """Transform embeddings with a graph.

    Args:
        method: a key of `TRANSFORMS`.
        graph: the graph; row i of `vectors` belongs to its i-th id.
        vectors: float32 (nodes, dim), C order; may be memory-mapped. Not needed by `signature`.
        threads: 0 means all cores; any number gives the same bytes.
        progress: called with (done, total).
        source: modified vectors, float32 (nodes, dim), for a method that works on them (`residual`).
        options: the method's options; unset ones have the defaults of the paper's main configuration.

    Raises:
        GmeError: unknown method or option, a value out of range, or arrays that do not fit the graph.
    """
    entry = lookup(method)
    if not isinstance(graph, Graph):
        raise GmeError(
            f"expected a graph as the second argument, found {type(graph).__name__}", "make one with gme.build_graph"
        )
    if entry.needs_vectors and vectors is None:
        raise GmeError(f"transform {method!r} needs the original vectors", "pass them as the third argument")
    if source is not None and not entry.needs_source:
        raise GmeError(f"transform {method!r} takes no source", "leave it out")
    checked = make(entry.options, options, f"transform {method!r}")
    return entry.run(graph, vectors, checked, Context(threads, progress, source))


def lookup(method: str) -> Transform:
    """The registry's entry, or a `GmeError` with the closest name."""
    if method not in TRANSFORMS:
        raise unknown("transform", method, TRANSFORMS)
    return TRANSFORMS[method]


def transform_workspace(
    workspace: Workspace,
    method: str,
    options: Options | None = None,
    *,
    name: str | None = None,
    edge_types: Sequence[str] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[str, dict[str, Any]]:
    """Transform a workspace's original collection into `embeddings/NAME.npy`.

    Args:
        workspace: needs nodes.jsonl, edges.jsonl and (except for `signature`) embeddings/original.npy.
        method: a key of `TRANSFORMS`.
        options: an instance of the entry's options class; defaults if not given.
        name: of the new collection; default: the method, the options that differ from its defaults, the edge types.
        edge_types: use only edges of these types; None uses all.
        threads: 0 means all cores.
        progress: called with (done, total).

    Returns:
        (name, manifest).
    """
    entry = lookup(method)
    options = options or entry.options()
    started = time.perf_counter()
    graph = workspace.graph(edge_types)
    types = None if edge_types is None else sorted(set(edge_types))
    default_name = method + options.suffix() + (f"-edge-types-{_file_name(types)}" if types else "")
    name = check_name(name or default_name, "collection")
    original = _original(workspace) if entry.needs_vectors else None
    source = _source(workspace, options, name) if entry.needs_source else None
    vectors = original.vectors if original else None
    given = f" --edge-types {shlex.quote(','.join(types))}" if types else ""
    given += "" if name == default_name else f" --name {name}"
    relative = f"embeddings/{name}.npy"
    dim = options.as_dict()["dim"] if vectors is None else vectors.shape[1]
    with workspace.new_array(relative, graph.nodes, dim) as array:
        context = Context(
            threads,
            _releasing(array, vectors, progress),
            source=source.vectors if source else None,
            out=array.vectors,
        )
        try:
            result = entry.run(graph, vectors, options, context)
        except HubError as error:
            raise error.named(workspace.ids[error.row]) from None
        array.fill(result.vectors)
        manifest = workspace.describe(
            relative,
            array,
            inputs=[
                *([NODES, EDGES, ORIGINAL] if original else [NODES, EDGES]),
                *([f"embeddings/{source.name}.npy"] if source else []),
            ],
            started=started,
            method=method,
            parameters=options.as_dict(),
            seed=options.as_dict().get("seed"),
            command=f"gme transform {method}{options.command()}{given}",
            facts=result.facts,
            graph={"nodes": graph.nodes, "edges": graph.edges} | ({"edge_types": types} if types else {}),
            source={key: original.manifest.get(key) for key in ("model", "rows", "dim")} if original else {},
        )
    return name, manifest


def _original(workspace: Workspace) -> Collection:
    """The original collection, all of its vectors checked."""
    original = workspace.collection("original")
    with workspace.watch("check vectors", "rows") as progress:
        check_finite(original.vectors, str(workspace.path(ORIGINAL)), workspace.ids, progress=progress)
    release(original.vectors)
    return original


def _source(workspace: Workspace, options: Any, name: str) -> Collection:
    """The modified collection that a method's `source` option names, for a collection called `name`."""
    modified = [existing for existing in workspace.collections() if existing != "original"]
    if not options.source:
        hint = f"one of: {', '.join(modified)}" if modified else "make a modified collection first: gme transform walk"
        raise GmeError("--source is missing: the modified collection to work on", hint)
    if options.source not in modified:
        raise unknown("collection", options.source, modified, where=f" in {workspace.folder}")
    source = workspace.collection(options.source)
    if f"embeddings/{name}.npy" in _made_from(workspace, f"embeddings/{source.name}.npy"):
        raise GmeError(f"collection {name!r} cannot replace what it is made from", "choose another --name")
    return source


def _made_from(workspace: Workspace, relative: str) -> set[str]:
    """An array and every array it was made from, however far back."""
    manifest = workspace.path(relative).with_suffix(".json")
    inputs = read_json(manifest).get("inputs", {}) if manifest.is_file() else {}
    arrays = (_made_from(workspace, other) for other in inputs if other.endswith(".npy"))
    return {relative}.union(*arrays)


_LET_GO_EVERY = 1.0  # seconds
_CROWDED_EVERY = 10.0  # seconds: what is let go of too soon has to be fetched again


def _releasing(array: NewArray, vectors: Vectors | None, progress: Progress | None) -> Progress:
    """A hook that now and then lets go of mapped memory, and passes on what it is told.

    Kernels write the rows of a result, or its slabs of columns, one after the other and seldom come back. The original
    vectors are let go of only where half of the machine's memory is taken, because many kernels jump around in them.
    """
    last = looked = time.monotonic()

    def hook(done: int, total: int) -> None:
        nonlocal last, looked
        now = time.monotonic()
        if now - last > _LET_GO_EVERY:
            array.release()
            last = now
        if vectors is not None and now - looked > _CROWDED_EVERY:
            if crowded():
                release(vectors)
            looked = now
        if progress is not None:
            progress(done, total)

    return hook


def _file_name(types: list[str]) -> str:
    """Edge types as part of a file name; what a file name can't hold, or is too long, is told apart by a hash."""
    joined = "-".join(types)
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", joined)[:80]
    unambiguous = plain == joined and not any("-" in name for name in types)
    return plain if unambiguous else f"{plain}-{hashlib.sha256(joined.encode()).hexdigest()[:8]}"


TRANSFORMS: dict[str, Transform] = {
    "hop1": Transform("blend with the least similar direct neighbours (GME)", HopOptions, _hop(1)),
    "hop2": Transform("blend with the least similar nodes at distance two (GME)", Hop2Options, _hop(2)),
    "convex": Transform("stay near the original and near all neighbours (GME)", ConvexOptions, _convex),
    "shared": Transform("convex, and near nodes with a neighbour in common (GME)", SharedOptions, _shared),
    "walk": Transform("blend with the ends of random walks (GME)", WalkOptions, _walk),
    "louvain": Transform("blend with the mean of the Louvain community (GME)", LouvainOptions, _louvain),
    "gradient": Transform("step towards cosines that fall with hop distance (GME)", GradientOptions, gradient),
    "residual": Transform(
        "what another collection adds to the original directions (GME)", ResidualOptions, residual, needs_source=True
    ),
    "ppr": Transform("diffuse by random walk with restart (RT)", DiffusionOptions, _ppr),
    "signature": Transform(
        "sketch the graph itself: diffused random vectors (ours)", SignatureOptions, _signature, needs_vectors=False
    ),
}
