"""Opens the indexes of a workspace's collections. HNSW indexes are built, saved, loaded and verified.

An index is derived data. If it is missing, damaged or stale, it is built again, with a note. No command fails for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import GmeError, ReadOnlyError, joined, shorten, unknown
from ..registry import Registry, Rules
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.arrays import check_finite
from ..storage.atomic import atomic_group, atomic_write
from ..storage.files import sha256, write_json
from ..stores.exact import ExactStore
from ..stores.hnsw import CONNECTIVITY, EXPANSION, PRECISIONS, HnswStore, _empty_index, build_hnsw
from ..stores.store import Store, sorted_ranks
from ..version import gme_version
from ..workspace import Workspace
from ..workspace.layout import NODES
from ..workspace.manifests import Manifest, read_manifest

EXACT_BELOW = 200_000
"""From so many rows on, `auto` uses an index. With fewer it searches exactly.

Measured with ``python benches/index_threshold.py`` (2 cores, 384 dimensions, clustered vectors, 160 results each),
milliseconds a question:

    rows     exact one  exact batch  hnsw one  hnsw batch  build s  recall@40  recall@160
    10,000        1.06         0.15      2.40        0.44      2.7      1.000       .991
    30,000        4.59         0.52      7.85        1.38     14.3      1.000       .973
    100,000       6.34         0.86      3.27        1.31     80.6      1.000       .935

(The machine was busy at 30,000.) At 100,000 rows, exact search is still faster in a batch. For a single question it
takes 3 ms more, against 81 s of building and missed nodes. Its time grows with the rows: at 200,000 rows a question
takes about 13 ms. From there on `auto` prefers an index."""

AUTO = "auto"

_MARK = b"usearch"


@takes_callbacks
@dataclass(frozen=True)
class OpenSettings:
    """How `open_store` opens a collection.

    Attributes:
        threads: for searching. build_threads: for building an HNSW index; see `build_hnsw`.
        reporter: hears when an index has to be built, and the progress in rows.
        precision: the number format of an HNSW index, one of `PRECISIONS`.
    """

    threads: int = 0
    build_threads: int = 1
    reporter: Reporter = SILENT
    precision: str = "f32"


@dataclass(frozen=True)
class OpenRequest:
    """What a function that opens a store gets besides the vectors.

    Attributes:
        workspace: the workspace of the collection. A store that saves what it builds keeps it below
            ``workspace.path("indexes")``, and writes it in a ``with workspace.writing(...)``.
        name: the name of the collection.
        settings: how to open it.
    """

    workspace: Workspace
    name: str
    settings: OpenSettings


@dataclass(frozen=True)
class StoreKind:
    """An entry of `STORES`.

    Attributes:
        summary: one line for the help.
        open: a function ``(exact, request)`` that returns a `Store` whose `kind` is the entry's name. `exact` is the
            exact store: it has the collection's vectors, norms and ranks, and gives exact scores.
        builds: whether it builds an index, and so uses ``precision`` and ``build_threads`` of the settings.
    """

    summary: str
    open: Callable[[ExactStore, OpenRequest], Store]
    builds: bool = False


def open_store(workspace: Workspace, name: str, kind: str = "auto", settings: OpenSettings | None = None) -> Store:
    """Open a collection of a workspace for searching.

    Args:
        kind: a key of `STORES`, or ``auto``: exact below `EXACT_BELOW` rows, else an HNSW index.

    Raises:
        GmeError: no such collection, kind or precision; NaN or infinity in it. StaleError: its inputs have changed.

    Example:
        >>> import gme
        >>> store = gme.open_store(gme.Workspace("corpus"), "original")
        >>> store.vectors.shape
        (6, 8)
    """
    if kind != AUTO:
        check_index(kind)
    settings = settings or OpenSettings()
    if settings.precision not in PRECISIONS:
        raise unknown("precision", settings.precision, PRECISIONS)
    vectors = workspace.collection(name).vectors
    # A transformation may make a zero vector, which is similar to nothing. An embedded text must have a direction.
    path = workspace.path(f"embeddings/{name}.npy")
    check_finite(vectors, str(path), workspace.nodes.ids, zero=name != "original")
    exact = ExactStore(vectors, sorted_ranks(workspace.nodes.ids), settings.threads)
    chosen = kind if kind != AUTO else ("exact" if len(vectors) < EXACT_BELOW else "hnsw")
    entry = STORES[chosen]
    with STORES.blaming(chosen):
        store = entry.open(exact, OpenRequest(workspace, name, settings))
    if chosen not in STORES.own:
        _check_outside(store, chosen)
    return store


def _check_outside(store: Any, chosen: str) -> None:
    """Refuse what a plugin returned if it is no store, or one under another name."""
    members = ("kind", "vectors", "norms", "ranks", "search", "cosines", "pair_cosines")
    missing = [name for name in members if not hasattr(store, name)]
    if missing:
        raise GmeError(
            f"{STORES.described(chosen)} returned no store, but {type(store).__name__}, without {joined(missing)}",
            "its function must return an object with the members of gme.Store, such as a gme.CandidateStore",
        )
    if store.kind != chosen:
        raise GmeError(f"store {chosen!r} says that its kind is {shorten(store.kind)}", "both must be the same name")


def check_index(kind: str) -> None:
    """Refuse a name that is neither ``auto`` nor a store's. The hint suggests the closest name."""
    if kind != AUTO and kind not in STORES:
        raise unknown("index kind", kind, [AUTO, *STORES])


def index_option(kind: str) -> dict[str, object]:
    """The option that chooses a store on the command line; empty for ``auto``."""
    if kind == AUTO:
        return {}
    return {kind: True} if kind in STORES.own else {"index": kind}


def _open_exact(exact: ExactStore, request: OpenRequest) -> Store:
    return exact


def _open_hnsw(exact: ExactStore, request: OpenRequest) -> Store:
    """Load `indexes/NAME.usearch` if it fits its manifest and the present vectors. Otherwise build and save it.

    Every precision except f32 has a file of its own, such as `indexes/NAME@i8.usearch`. No collection's name has an
    ``@``.
    """
    workspace, name, settings = request.workspace, request.name, request.settings
    ending = "" if settings.precision == "f32" else f"@{settings.precision}"
    relative = f"indexes/{name}{ending}.usearch"
    path = workspace.path(relative)
    expected: Manifest = {
        "inputs": {entry: sha256(workspace.path(entry)) for entry in (NODES, f"embeddings/{name}.npy")},
        "connectivity": CONNECTIVITY,
        "expansion": EXPANSION,
        "dtype": settings.precision,
        "metric": "ip",
        "rows": len(exact.vectors),
        "dim": int(exact.vectors.shape[1]),
    }
    store, _ = _load(path, exact, expected)
    if store is not None:
        return store
    try:
        with workspace.writing(relative, waiting=settings.reporter):
            store, reason = _load(path, exact, expected)  # the process that held the lock may have built it
            if store is None:
                settings.reporter.note(f"building {path} ({len(exact.vectors):,} vectors): index {reason}")
                store = _build_and_save(workspace, path, exact, expected, settings)
            return store
    except ReadOnlyError:
        settings.reporter.note(f"building an index ({len(exact.vectors):,} vectors) for now: {path} can't be saved")
        return _build(exact, settings)


def _load(path: Path, exact: ExactStore, expected: Manifest) -> tuple[HnswStore | None, str]:
    """The store at `path`, or the reason why it can't be used."""
    reason = why_unusable(path, expected, "vectors")
    if reason is not None:
        return None, reason
    index = _empty_index(expected["dim"], expected["dtype"])
    try:
        _check_header(path, expected)
        index.view(str(path))  # mapped: it opens at once, and all processes that read it share its memory
    except (RuntimeError, ValueError) as error:
        return None, f"cannot be loaded ({error})"
    if len(index) != expected["rows"]:
        return None, f"holds {len(index)} vectors"
    return HnswStore(exact, index), ""


def _check_header(path: Path, expected: Manifest) -> None:
    """Check that the file begins with vectors of this shape and USearch's mark. Otherwise raise a `ValueError`.

    USearch (2.25.3 and before) crashes when it maps a file with arbitrary values in its first two numbers.
    """
    rows, width = expected["rows"], expected["dim"] * PRECISIONS[expected["dtype"]]
    with path.open("rb") as handle:
        shape = np.frombuffer(handle.read(8).ljust(8, b"\0"), dtype="<u4")
        handle.seek(8 + rows * width)
        if shape.tolist() != [rows, width] or handle.read(len(_MARK)) != _MARK:
            raise ValueError("no index of this size")


def why_unusable(path: Path, expected: Manifest, made_from: str) -> str | None:
    """Why the index at `path` can't be used, as words after "index"; None if it can.

    Args:
        expected: what its manifest must say. made_from: what it was built from, for the message.
    """
    manifest_path = path.with_suffix(".json")
    if not path.is_file() or not manifest_path.is_file():
        return "is missing"
    try:
        manifest = read_manifest(manifest_path)
    except GmeError:
        return "has a damaged manifest"
    if any(manifest.get(key) != value for key, value in expected.items()):
        return f"was built from other {made_from} or with other settings"
    return None if manifest.get("sha256") == sha256(path) else "is not the file its manifest describes"


def _build(exact: ExactStore, settings: OpenSettings) -> HnswStore:
    with settings.reporter.progress("build index", "rows") as progress:
        return build_hnsw(exact, threads=settings.build_threads, precision=settings.precision, progress=progress)


def _build_and_save(
    workspace: Workspace, path: Path, exact: ExactStore, expected: Manifest, settings: OpenSettings
) -> HnswStore:
    started = time.perf_counter()
    store = _build(exact, settings)
    with atomic_group(workspace.folder):
        with atomic_write(path) as handle:
            store.index.save(handle.name)
        facts = {
            "method": "hnsw",
            "gme": gme_version(),
            "usearch": version("usearch"),
            "threads": settings.build_threads,
            "sha256": sha256(path),
            "seconds": round(time.perf_counter() - started, 3),
        }
        write_json(path.with_suffix(".json"), {**expected, **facts})
    return store


def register_store(name: str, entry: StoreKind, *, replace: bool = False) -> None:
    """Add a store until this process ends; see `Registry.register`.

    Example:
        >>> import gme
        >>> class Slow(gme.ExactStore):
        ...     kind = "slow"
        >>> def open_slow(exact, request):
        ...     return Slow(exact.vectors, exact.ranks, exact.threads)
        >>> gme.register_store("slow", gme.StoreKind("compare with every vector, slowly", open_slow))
        >>> gme.STORES.unregister("slow")
    """
    STORES.register(name, entry, replace=replace)


_OWN: dict[str, StoreKind] = {
    "exact": StoreKind("compare with every vector", _open_exact),
    "hnsw": StoreKind("search an HNSW index", _open_hnsw, builds=True),
}

STORES: Registry[StoreKind] = Registry(
    "index kind",
    "gme.stores",
    StoreKind,
    _OWN,
    rules=Rules(names=(AUTO,), function="open"),
    about=lambda entry: entry.summary,
)
"""All stores by name: those of this package, then those of other packages."""
