"""The step ``gme transform``: makes a collection with a manifest from a workspace's files."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from ..command_line import command_line
from ..errors import GmeError, HubError, shorten, unknown
from ..options import Options, file_name
from ..registry import made_by
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.arrays import NewArray, check_finite, release
from ..storage.platform import memory_is_scarce
from ..transforms.registry import TRANSFORMS, apply, lookup
from ..transforms.type_weights import TypeWeighted
from ..types import Progress, TransformContext, Vectors
from ..workspace import Collection, Workspace, check_name, shared_lock
from ..workspace.graphs import check_edge_types, counted_by_weight
from ..workspace.layout import EDGES, NODES, ORIGINAL
from ..workspace.manifests import Manifest, read_manifest
from ..workspace.staleness import refuse_stale


@takes_callbacks
@shared_lock
def transform_workspace(
    workspace: Workspace,
    method: str,
    options: Options | None = None,
    *,
    name: str | None = None,
    edge_types: Sequence[str] | None = None,
    threads: int = 0,
    reporter: Reporter = SILENT,
) -> tuple[str, Manifest]:
    """Transform a workspace's original collection into `embeddings/NAME.npy`.

    Args:
        workspace: needs nodes.jsonl, edges.jsonl and (except for `signature`) embeddings/original.npy.
        method: a key of `TRANSFORMS`.
        options: an instance of the entry's options class; None takes the defaults.
        name: the name of the new collection; default: the method, its changed options and the edge types.
        edge_types: use only edges of these types; None uses all.
        threads: 0 means all cores.
        reporter: hears the progress in rows.

    Returns:
        (name, manifest).

    Raises:
        GmeError: bad input or options, or the name belongs to a collection of another method. StaleError: an input was
            made from files that have changed.

    Example:
        >>> import gme
        >>> name, manifest = gme.transform_workspace(gme.Workspace("corpus"), "walk")
        >>> name, manifest["graph"]["edges"]
        ('walk', 5)
    """
    entry = lookup(method)
    options = options or entry.options()
    if entry.needs_source and edge_types:
        raise GmeError(
            f"{method} follows no edges: --edge-types has no effect", "it belongs to the collection named by --source"
        )
    used = [*(["original"] if entry.needs_vectors else []), *([vars(options)["source"]] if entry.needs_source else [])]
    refuse_stale(workspace, [EDGES, *workspace.files_of(used)])
    started = time.perf_counter()
    weights = options.type_weights if isinstance(options, TypeWeighted) else {}
    if isinstance(options, TypeWeighted) and options.named_types:
        check_edge_types(workspace.edges, options.named_types)
    # Without --weighted every edge has weight 1, so only the factor of its type counts; some types keep their weights.
    own_weights = options.as_dict().get("weighted", True)
    graph = workspace.graph(edge_types, weights, own_weights=own_weights)
    by_weight = not own_weights and counted_by_weight(workspace.edge_type_names, edge_types)
    types = None if edge_types is None else sorted(set(edge_types))
    default_name = collection_name(method, options, types or ())
    name = check_name(name or default_name, "collection")
    source = _source(workspace, options, name) if entry.needs_source else None
    _refuse_to_replace(workspace, name, method)
    original = _original(workspace) if entry.needs_vectors else None
    vectors = original.vectors if original else None
    relative = f"embeddings/{name}.npy"
    dim = options.as_dict()["dim"] if vectors is None else vectors.shape[1]
    watched = reporter.progress(f"transform {method}", "rows")
    with watched as progress, workspace.new_array(relative, graph.nodes, dim) as array:
        context = TransformContext(
            threads,
            _releasing(array, vectors, progress),
            source=source.vectors if source else None,
            out=array.vectors,
            type_weighted=bool(weights) or by_weight,
        )
        try:
            result = apply(method, graph, vectors, options, context)
        except HubError as error:
            raise error.at(workspace.ids[error.row]) from None
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
            command=transform_command(method, options, types or (), None if name == default_name else name),
            facts=result.facts,
            graph={"nodes": graph.nodes, "edges": graph.edges} | ({"edge_types": types} if types else {}),
            source={key: original.manifest.get(key) for key in ("model", "rows", "dim")} if original else {},
            **made_by(method=TRANSFORMS.source(method)),
        )
    return name, manifest


def transform_command(method: str, options: Options, edge_types: Sequence[str] = (), name: str | None = None) -> str:
    """The command line that makes the collection again. Give `name` if it is not the default name."""
    given = {"edge_types": list(edge_types) or None, "name": name}
    return command_line("gme transform", [method], options.changed(), given)


def collection_name(method: str, options: Options, edge_types: Sequence[str] = ()) -> str:
    """The default name of a collection: the method, its changed options and the edge types (sorted)."""
    return method + options.suffix() + (f"-edge-types-{file_name(edge_types)}" if edge_types else "")


def is_fresh(workspace: Workspace, name: str, method: str, options: Options, edge_types: Sequence[str] = ()) -> bool:
    """Whether the workspace has exactly this collection under this name, made from the present inputs.

    A collection that another version of a plugin made, or other code of the same version, is not fresh.
    """
    if name not in workspace.collections():
        return False
    try:
        manifest = workspace.collection(name).manifest
    except GmeError:  # it is stale or has no usable array, so it must be made again
        return False
    made_now = manifest.get("plugins", {}).get("method", {}) == TRANSFORMS.source(method)
    return made_now and describes(manifest, method, options, edge_types)


def describes(manifest: Manifest, method: str, options: Options, edge_types: Sequence[str] = ()) -> bool:
    """Whether a manifest belongs to a collection of this method with these options and (sorted) edge types."""
    return (
        manifest.get("method") == method
        and manifest.get("parameters") == options.as_dict()
        and manifest.get("graph", {}).get("edge_types", []) == list(edge_types)
    )


def _original(workspace: Workspace) -> Collection:
    """The original collection, with all of its vectors checked."""
    original = workspace.collection("original")
    _check_vectors(workspace, original)
    return original


def _check_vectors(workspace: Workspace, collection: Collection, *, zero: bool = False) -> None:
    path = workspace.path(f"embeddings/{collection.name}.npy")
    with workspace.reporter.progress("check vectors", "rows") as progress:
        check_finite(collection.vectors, str(path), workspace.ids, zero=zero, progress=progress)
    release(collection.vectors)


def _source(workspace: Workspace, options: Any, name: str) -> Collection:
    """The modified collection that the option `source` names. The new collection is called `name`."""
    modified = [existing for existing in workspace.collections() if existing != "original"]
    if not options.source:
        hint = f"one of: {', '.join(modified)}" if modified else "make a modified collection first: gme transform walk"
        raise GmeError("--source is missing: the modified collection to work on", hint)
    if options.source not in modified:
        raise unknown("collection", options.source, modified, where=f" in {workspace.path('embeddings')}")
    source = workspace.collection(options.source)
    _check_vectors(workspace, source, zero=True)
    if f"embeddings/{name}.npy" in _made_from(workspace, f"embeddings/{source.name}.npy"):
        raise GmeError(f"collection {name!r} cannot replace what it is made from", "choose another --name")
    return source


def _refuse_to_replace(workspace: Workspace, name: str, method: str) -> None:
    """Refuse the name of a collection that another method made. A method may replace its own collection."""
    path = workspace.path(f"embeddings/{name}.npy")
    if not path.is_file():
        return
    made_by = method
    with contextlib.suppress(GmeError):  # a damaged manifest names no method, and may be replaced
        made_by = read_manifest(path.with_suffix(".json")).get("method", method)
    if made_by != method:
        raise GmeError(
            f"{path} was made by the method {shorten(made_by)}, and {method} would overwrite it",
            "choose another --name, or remove that file",
        )


def _made_from(workspace: Workspace, relative: str) -> set[str]:
    """An array and all arrays that it was made from, directly or not."""
    manifest = workspace.path(relative).with_suffix(".json")
    inputs = read_manifest(manifest).get("inputs", {})
    arrays = (_made_from(workspace, other) for other in inputs if other.endswith(".npy"))
    return {relative}.union(*arrays)


_LET_GO_EVERY = 1.0  # seconds

_CROWDED_EVERY = 5.0  # seconds; memory that is freed too early has to be read again


def _releasing(array: NewArray, vectors: Vectors | None, progress: Progress) -> Progress:
    """Wrap `progress` so that it also frees mapped memory from time to time.

    Kernels write the rows of a result, or blocks of its columns, in order and seldom return to them. The original
    vectors are freed only when memory is scarce, because many kernels read them in random order.
    """
    last = looked = time.monotonic()

    def hook(done: int, total: int) -> None:
        nonlocal last, looked
        now = time.monotonic()
        if now - last > _LET_GO_EVERY:
            array.release()
            last = now
        if vectors is not None and now - looked > _CROWDED_EVERY:
            if memory_is_scarce():
                release(vectors)
            looked = now
        progress(done, total)

    return hook
