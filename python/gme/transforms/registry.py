"""The registry of transformations. Each turns the original embeddings and the graph into one modified vector per node.

To add one to this package, write an options class and a function in a module beside this one, and add a line to `_OWN`.
The command line, its help, the manifests and the parametrized tests derive from that table. To add one from another
package, use an entry point in the group ``gme.transforms``, or `register_transform`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import Graph
from ..errors import GmeError
from ..formatting import counted
from ..options import Options, make
from ..registry import Registry, Rules
from ..types import Progress, TransformContext, Transformed, Vectors
from .diffusion import DiffusionOptions, SignatureOptions, ppr, signature
from .facts import json_ready
from .gradient import GradientOptions, gradient
from .neighbors import Hop2Options, HopOptions, hop
from .residual import ResidualOptions, residual
from .smoothing import ConvexOptions, LouvainOptions, SharedOptions, convex, louvain, shared
from .walks import WalkOptions, walk

_LOOKED_AT = 16 << 20
"""How many bytes of a result are checked for NaN. Reading all of a large result would take long."""


@dataclass(frozen=True)
class Transform:
    """An entry of `TRANSFORMS`.

    Attributes:
        summary: one line for the help.
        options: the option class.
        run: a function ``(graph, vectors, options, context)``. Row i of the vectors belongs to node i of the graph. It
            returns finite float32 vectors, one row per node, and facts for the manifest.
        needs_vectors: whether it works on the original vectors. If not, they are None, and an option ``dim`` says how
            many columns the result has.
        needs_source: whether it also works on a modified collection, `TransformContext.source`. If so, an option
            ``source`` names that collection.
    """

    summary: str
    options: type[Options]
    run: Callable[[Graph, Any, Any, TransformContext], Transformed]
    needs_vectors: bool = True
    needs_source: bool = False


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
        graph: the graph. Row i of `vectors` belongs to its i-th id.
        vectors: float32 (nodes, dim) in C order. They may be memory-mapped. `signature` does not need them.
        threads: 0 means all cores. Any number gives the same bytes.
        progress: called with (done, total).
        source: modified vectors, float32 (nodes, dim), for a method that works on them (`residual`).
        options: the method's options. Defaults are those of the paper's main configuration.

    Raises:
        GmeError: unknown method or option, a value out of range, arrays that do not match the graph, or a result that
            is not a collection.

    Example:
        >>> import gme, numpy as np
        >>> graph = gme.build_graph(["a", "b", "c"], [("a", "b"), ("b", "c")])
        >>> vectors = np.eye(3, dtype=np.float32)
        >>> made = gme.transform("hop1", graph, vectors, alpha=0.5, share=1.0)
        >>> made.vectors.round(2).tolist()
        [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]]
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
    return apply(method, graph, vectors, checked, TransformContext(threads, progress, source))


def apply(
    method: str, graph: Graph, vectors: Vectors | None, options: Options, context: TransformContext
) -> Transformed:
    """Run a method and check its result: finite float32 vectors, with a row for each node.

    Raises:
        GmeError: a wrong result, or an error of the method.
    """
    entry = lookup(method)
    with TRANSFORMS.blaming(method):
        result = entry.run(graph, vectors, options, context)
    fault = _fault(result, graph)
    if fault:
        raise GmeError(
            f"{TRANSFORMS.described(method)} returned {fault}",
            f"it must return Transformed(vectors, facts), with finite float32 vectors, one row for each of the "
            f"{counted(graph.nodes, 'node')}, in C order",
        )
    if method in TRANSFORMS.own:
        return result
    return Transformed(result.vectors, json_ready(result.facts, TRANSFORMS.described(method)))


def _fault(result: object, graph: Graph) -> str:
    """What is wrong with the result of a method, or "" if nothing is. Of large arrays only some rows are read."""
    if not isinstance(result, Transformed):
        return f"no Transformed, but {type(result).__name__}"
    vectors: Any = result.vectors
    if not isinstance(vectors, np.ndarray):
        return f"no array of vectors, but {type(vectors).__name__}"
    if vectors.dtype != np.float32:
        return f"vectors of type {vectors.dtype}"
    if vectors.ndim != 2 or len(vectors) != graph.nodes:
        return f"vectors of shape {vectors.shape}"
    if not vectors.flags.c_contiguous:
        return "vectors that are not in C order"
    step = 1 + vectors.nbytes // _LOOKED_AT
    bad = np.flatnonzero(~np.isfinite(vectors[::step]).all(axis=1))
    return f"NaN or infinity in row {step * int(bad[0])}" if len(bad) else ""


def lookup(method: str) -> Transform:
    """The entry of a method. Raises a `GmeError` with the closest name if there is none."""
    return TRANSFORMS.find(method)


def register_transform(name: str, entry: Transform, *, replace: bool = False) -> None:
    """Add a transform for as long as this process runs. See `Registry.register`.

    Example:
        >>> import gme
        >>> keep = gme.Transform(
        ...     "change nothing",
        ...     gme.Options,
        ...     lambda graph, vectors, options, context: gme.Transformed(vectors, {}),
        ... )
        >>> gme.register_transform("keep", keep)
        >>> gme.TRANSFORMS["keep"].summary
        'change nothing'
        >>> gme.TRANSFORMS.unregister("keep")
    """
    TRANSFORMS.register(name, entry, replace=replace)


def _check(entry: Transform, own: Mapping[str, Transform]) -> str:
    fields = entry.options.__dataclass_fields__
    if not entry.needs_vectors and "dim" not in fields:
        return "a transform that needs no vectors must have an option --dim: how many columns its result has"
    if entry.needs_source and "source" not in fields:
        return "a transform that needs a source must have an option --source: the collection's name"
    return ""


_OWN: dict[str, Transform] = {
    "hop1": Transform("blend with the least similar direct neighbors (GME)", HopOptions, hop(1)),
    "hop2": Transform("blend with the least similar nodes at distance two (GME)", Hop2Options, hop(2)),
    "convex": Transform("stay near the original and near all neighbors (GME)", ConvexOptions, convex),
    "shared": Transform("convex, and near nodes with a neighbor in common (GME)", SharedOptions, shared),
    "walk": Transform("blend with the ends of random walks (GME)", WalkOptions, walk),
    "louvain": Transform("blend with the mean of the Louvain community (GME)", LouvainOptions, louvain),
    "gradient": Transform("step towards cosines that fall with hop distance (GME)", GradientOptions, gradient),
    "residual": Transform(
        "what another collection adds to the original directions (GME)", ResidualOptions, residual, needs_source=True
    ),
    "ppr": Transform("diffuse by random walk with restart (RT)", DiffusionOptions, ppr),
    "signature": Transform(
        "sketch the graph itself: diffused random vectors (ours)", SignatureOptions, signature, needs_vectors=False
    ),
}

TRANSFORMS: Registry[Transform] = Registry(
    "transform",
    "gme.transforms",
    Transform,
    _OWN,
    rules=Rules(
        names=("original", "questions"),  # its collections would have these names
        options=("edge_types", "graph", "method", "name", "progress", "quiet", "threads", "vectors", "workspace"),
        function="run",
        check=_check,
    ),
    about=lambda entry: entry.summary,
)
"""All transforms by name: those of this package, then those of other packages."""
